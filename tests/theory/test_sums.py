"""Gradients, means and induction on sums: right steps accepted, wrong ones refused."""

import pytest
from sympy import Derivative, Expr, Function, IndexedBase, Integer, Product, Sum, Symbol, exp, symbols

from theory.derivation import How
from theory.sums import Gradient, Induction, Mean

n = Symbol("n", integer=True, nonnegative=True)
i, j, k = symbols("i j k", integer=True, positive=True)
m = Symbol("m", integer=True, positive=True)
w, a, b, F = (IndexedBase(name) for name in "wabF")
E = Function("E")


class TestGradient:
    square_norm = Sum(Derivative(Sum(w[j] * a[j], (j, 1, m)), w[k]) ** 2, (k, 1, m))

    def test_right(self) -> None:
        assert Gradient().check(self.square_norm, Sum(a[k] ** 2, (k, 1, m))).how is How.ALGEBRA

    def test_chain_rule(self) -> None:
        inner = Sum(exp(w[j]) * a[j], (j, 1, m))
        before = Sum(Derivative(inner, w[k]) * b[k], (k, 1, m))
        assert Gradient().check(before, Sum(exp(w[k]) * a[k] * b[k], (k, 1, m))).proved
        assert not Gradient().check(before, Sum(a[k] * b[k], (k, 1, m))).proved

    @pytest.mark.parametrize(
        "wrong", [Sum(a[k], (k, 1, m)), 2 * Sum(a[k] ** 2, (k, 1, m)), Sum(a[k] ** 2, (k, 1, m + 1)), m * a[k] ** 2]
    )
    def test_wrong(self, wrong: Expr) -> None:
        assert not Gradient().check(self.square_norm, wrong).proved

    def test_index_outside_the_inner_sum(self) -> None:
        """For `k = m + 1` the derivative is zero, not `a_k`."""
        before = Sum(Derivative(Sum(w[j] * a[j], (j, 1, m)), w[k]) ** 2, (k, 1, m + 1))
        assert not Gradient().check(before, Sum(a[k] ** 2, (k, 1, m + 1))).proved

    def test_constants_are_taken_out(self) -> None:
        assert (
            Gradient().check(Sum(a[i] * b[j], (j, 1, m), (i, 1, n)), Sum(a[i], (i, 1, n)) * Sum(b[j], (j, 1, m))).proved
        )
        before = Sum(a[i] * b[i], (i, 1, n))
        assert not Gradient().check(before, Sum(a[i], (i, 1, n)) * Sum(b[i], (i, 1, n))).proved


class TestMean:
    x, y = IndexedBase("X"), IndexedBase("Y")
    variance, fourth = symbols("variance fourth", positive=True)

    def reason(self) -> Mean:
        return Mean(E, (self.x, self.y), {self.x[k] ** 2: self.variance, self.y[k] ** 4: self.fourth})

    def test_right(self) -> None:
        before = E(3 * Sum(self.x[k] ** 2 * self.y[k] ** 4, (k, 1, m)) + 5)
        assert self.reason().check(before, 3 * m * self.variance * self.fourth + 5).proved
        assert (
            self.reason().check(E(Sum(self.x[k] ** 2 * a[k], (k, 1, m))), self.variance * Sum(a[k], (k, 1, m))).proved
        )

    def test_wrong(self) -> None:
        before = E(Sum(self.x[k] ** 2, (k, 1, m)))
        assert not self.reason().check(before, self.variance).proved
        assert not self.reason().check(before, m * self.variance**2).proved

    @pytest.mark.parametrize("power", [1, 3, 4])
    def test_means_that_are_not_known(self, power: int) -> None:
        before = E(Sum(self.x[k] ** power, (k, 1, m)))
        assert self.reason().check(before, m * self.variance ** (power // 2)).how is How.UNDECIDED

    def test_dependent_factors(self) -> None:
        """`X_k² X_j²` is a product of two monomials that are not independent where `j = k`."""
        reason = Mean(E, (self.x,), {self.x[k] ** 2: self.variance, self.x[j] ** 2: self.variance})
        before = E(Sum(self.x[k] ** 2 * self.x[j] ** 2, (k, 1, m), (j, 1, m)))
        assert not reason.check(before, m**2 * self.variance**2).proved

    def test_no_mean_at_all(self) -> None:
        assert self.reason().check(a[1], a[1]).how is How.UNDECIDED


class TestInduction:
    geometric = Sum(a[k] * Product(b[j], (j, k, n)), (k, 1, n + 1))  # F_0 = a_1, F_{n+1} = b_{n+1} F_n + a_{n+2}

    def reason(self, base: Expr = a[1], following: Expr = b[n + 1] * F[n] + a[n + 2]) -> Induction:
        return Induction(F[n], n, 0, base, following)

    def test_right(self) -> None:
        assert self.reason().check(F[n], self.geometric).how is How.LEMMA

    def test_wrong_base(self) -> None:
        outcome = self.reason(base=a[2]).check(F[n], self.geometric)
        assert not outcome.proved
        assert "first case" in outcome.detail

    @pytest.mark.parametrize(
        "following",
        [b[n + 1] * F[n] + a[n + 1], b[n] * F[n] + a[n + 2], F[n] + a[n + 2], 2 * b[n + 1] * F[n] + a[n + 2]],
    )
    def test_wrong_recursion(self, following: Expr) -> None:
        assert not self.reason(following=following).check(F[n], self.geometric).proved

    @pytest.mark.parametrize(
        "value",
        [
            Sum(a[k] * Product(b[j], (j, k, n)), (k, 1, n)) + a[n + 1] * 2,
            Sum(a[k] * Product(b[j], (j, k + 1, n)), (k, 1, n + 1)),
            Sum(a[k] * Product(b[j], (j, k, n + 1)), (k, 1, n + 1)),
            Sum(a[k] * b[k], (k, 1, n + 1)),
        ],
    )
    def test_wrong_value(self, value: Expr) -> None:
        assert not self.reason().check(F[n], value).proved

    def test_other_start(self) -> None:
        assert self.reason().check(2 * F[n], 2 * self.geometric).how is How.WRONG

    def test_sums_and_products_by_themselves(self) -> None:
        assert Induction(F[n], n, 0, Integer(0), F[n] + n + 1).check(F[n], Sum(k, (k, 1, n))).proved
        assert Induction(F[n], n, 0, Integer(0), F[n] + n + 1).check(F[n], n * (n + 1) / 2).proved
        assert not Induction(F[n], n, 0, Integer(0), F[n] + n + 1).check(F[n], n**2).proved
        assert Induction(F[n], n, 0, Integer(1), F[n] * b[n + 1]).check(F[n], Product(b[k], (k, 1, n))).proved
        assert not Induction(F[n], n, 0, Integer(1), F[n] * b[n]).check(F[n], Product(b[k], (k, 1, n))).proved

    def test_products_that_may_not_be_split(self) -> None:
        """`∏_{j=k}^n` for `k` up to `n + 2` has a range of length −1, on which conventions differ."""
        value = Sum(a[k] * Product(b[j], (j, k, n)), (k, 1, n + 3))
        assert not self.reason(base=value.subs(n, 0).doit()).check(F[n], value).proved
