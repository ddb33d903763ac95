"""Every reason accepts a right step and refuses a wrong one, or one whose hypotheses are not seen to hold."""

from typing import ClassVar

import pytest
from sympy import (
    Derivative,
    Expr,
    Function,
    Integer,
    Integral,
    Limit,
    Max,
    Rational,
    S,
    Sum,
    Symbol,
    atan,
    cos,
    exp,
    log,
    oo,
    pi,
    sin,
    sqrt,
    symbols,
    tan,
)

from theory.derivation import Derivation, How, Reason, Relation
from theory.reasons import Algebra, Antiderivative, Continuity, LowestTerm, StolzCesaro, equal, shown

x, y = symbols("x y", real=True)
p, q = symbols("p q", positive=True)
n = Symbol("n", integer=True, positive=True)
f, g = Function("f", positive=True)(n), Function("g")(n)


def accepts(reason: Reason, before: Expr, after: Expr) -> bool:
    return reason.check(before, after).proved


def known(start: Expr, conclusion: Expr, reason: Reason | None = None) -> Derivation:
    """A derivation of one step."""
    return Derivation(start, "k").then(conclusion, because="known", reason=reason or Always())


class Always:
    def check(self, before: Expr, after: Expr):
        return equal(Integer(0), Integer(0))


def test_equal() -> None:
    assert equal(sin(x) ** 2, 1 - cos(x) ** 2).how is How.ALGEBRA
    assert equal(Rational(1, 3), Rational(1, 2)).how is How.WRONG
    assert equal(sin(x), x).how is How.UNDECIDED
    assert equal(x + Rational(1, 3), x + 0.3333333333333333).how is not How.ALGEBRA  # floats are inexact


class TestAlgebra:
    def test_right_and_wrong(self) -> None:
        assert accepts(Algebra(), (x + y) ** 2, x**2 + 2 * x * y + y**2)
        assert not accepts(Algebra(), (x + y) ** 2, x**2 + y**2)

    def test_derivatives_and_finite_sums_are_written_out(self) -> None:
        assert accepts(Algebra(), Derivative(x**3, x), 3 * x**2)
        assert not accepts(Algebra(), Derivative(x**3, x), x**2)
        assert accepts(Algebra(), Sum(n, (n, 1, 4)), Integer(10))
        assert not accepts(Algebra(), Sum(n, (n, 1, 4)), Integer(9))

    def test_integrals_are_not_evaluated(self) -> None:
        """SymPy's `integrate` is wrong for positive parts of a Gaussian pair; nothing may rest on it."""
        density = exp(-(x**2 - x * y + y**2) * 2 / 3) / (pi * sqrt(3))
        moment = Integral(Max(0, x) * Max(0, y) * density, (x, -oo, oo), (y, -oo, oo))
        assert not accepts(Algebra(), moment, sqrt(3) / (4 * pi) + Rational(1, 6) + Rational(1, 100))
        assert accepts(Algebra(), 2 * moment, moment + moment)

    def test_given(self) -> None:
        assert accepts(Algebra(given={x: p**2}), sqrt(x), p)
        assert not accepts(Algebra(given={x: p**2}), sqrt(x), 2 * p)

    def test_given_is_a_name_or_an_identity(self) -> None:
        assert accepts(
            Algebra(given={cos(x): (exp(S.ImaginaryUnit * x) + exp(-S.ImaginaryUnit * x)) / 2}), cos(x), cos(x)
        )
        assert not accepts(Algebra(given={cos(x): Integer(1)}), cos(x), Integer(1))

    def test_known(self) -> None:
        proved = known(f, 2 * p, Always())
        assert accepts(Algebra(known=(proved,)), f + 1, 2 * p + 1)
        assert not accepts(Algebra(), f + 1, 2 * p + 1)
        unproved = known(f, 2 * p, Algebra())
        assert not accepts(Algebra(known=(unproved,)), f + 1, 2 * p + 1)


def test_shown_only_what_is_proved_and_equal() -> None:
    assert list(shown((known(x, y, Always()),))) == [(x, y)]
    assert not list(shown((known(x, y, Algebra()),)))
    tends = Derivation(x, "k").then(y, because="so", reason=Always(), relation=Relation.TENDS_TO)
    assert not list(shown((tends,)))
    bounded = known(x, y, Always()).then(S.Zero, because="so", reason=Algebra(), relation=Relation.EXCEEDS)
    assert list(shown((bounded,))) == [(x, y)]


class TestAntiderivative:
    def test_right_and_wrong(self) -> None:
        before = 3 * Integral(x**2, (x, 0, p)) + 1
        assert accepts(Antiderivative(x**3 / 3), before, p**3 + 1)
        assert not accepts(Antiderivative(x**3 / 3), before, p**3)
        assert not accepts(Antiderivative(x**3), before, 3 * p**3 + 1)

    def test_infinite_end(self) -> None:
        before = Integral(x * exp(-(x**2)), (x, 0, oo))
        assert accepts(Antiderivative(-exp(-(x**2)) / 2), before, Rational(1, 2))
        assert not accepts(Antiderivative(-exp(-(x**2)) / 2), before, Rational(1, 3))

    def test_across_a_pole(self) -> None:
        """`−1/x` differentiates to `1/x²`, but the integral over `(−1, 1)` is infinite, not −2."""
        assert not accepts(Antiderivative(-1 / x), Integral(x**-2, (x, -1, 1)), Integer(-2))

    def test_across_a_jump(self) -> None:
        """`atan(tan x)` differentiates to 1 on either side of its jump at `π/2`."""
        assert not accepts(Antiderivative(atan(tan(x))), Integral(1, (x, 0, pi)), Integer(0))

    def test_other_lines(self) -> None:
        two = Integral(x, (x, 0, 1)) + Integral(y, (y, 0, 1))
        assert Antiderivative(x**2 / 2).check(two, Integer(1)).how is How.UNDECIDED
        assert Antiderivative(x**2 / 2).check(x, x).how is How.UNDECIDED
        double = Integral(x * y, (x, 0, 1), (y, 0, 1))
        assert Antiderivative(x**2 / 2).check(double, Rational(1, 4)).how is How.UNDECIDED


class TestLowestTerm:
    def test_right_and_wrong(self) -> None:
        before = Limit((1 - cos(p)) / p**2, p, 0)
        assert accepts(LowestTerm(2), before, Rational(1, 2))
        assert not accepts(LowestTerm(2), before, Rational(1, 3))
        assert not accepts(LowestTerm(1), before, Rational(1, 2))

    def test_lower_derivatives_must_vanish(self) -> None:
        assert not accepts(LowestTerm(2), Limit((exp(p) - 1) / p**2, p, 0), Rational(1, 2))

    def test_other_lines(self) -> None:
        assert not accepts(LowestTerm(1), Limit(sqrt(p) / p, p, 0), Integer(0))
        assert LowestTerm(1).check(Limit(sin(p) / p, p, 1), Integer(1)).how is How.UNDECIDED
        assert LowestTerm(1).check(sin(p) / p, Integer(1)).how is How.UNDECIDED


class TestStolzCesaro:
    recursion: ClassVar = {f.subs(n, n + 1): f + 2 + 1 / n}
    before = Limit(f / n, n, oo)

    def test_classical(self) -> None:
        reason = StolzCesaro(n, f, n, self.recursion)
        assert accepts(reason, self.before, Limit(2 + 1 / n, n, oo))
        assert not accepts(reason, self.before, Limit(3 + 1 / n, n, oo))
        assert not accepts(reason, self.before, Integer(2))
        assert not accepts(reason, Limit(f / n**2, n, oo), Limit(2 + 1 / n, n, oo))

    @pytest.mark.parametrize("denominator", [1 / n, 1 - 1 / n, -n, (-1) ** n * n, Integer(1) + 0 * n])
    def test_denominator_must_grow(self, denominator: Expr) -> None:
        reason = StolzCesaro(n, f, denominator, self.recursion)
        assert not accepts(reason, Limit(f / denominator, n, oo), Limit(reason.increments(), n, oo))

    def test_weighted(self) -> None:
        """`N_{n+1} = (1 − a_n) N_n + 1` with `a_n → 0`: `N_n/n` tends to the limit of `1/(1 + n a_n)`."""
        damping = Function("a", nonnegative=True)(n)
        vanishing = known(Limit(damping, n, oo), S.Zero, Always())
        recursion: ClassVar = {f.subs(n, n + 1): (1 - damping) * f + 1}
        reason = StolzCesaro(n, f, n, recursion, damping=damping, using=(vanishing,))
        assert accepts(reason, self.before, Limit(1 / (1 + n * damping), n, oo))
        assert not accepts(reason, self.before, Limit(Integer(1), n, oo))
        without = StolzCesaro(n, f, n, recursion, damping=damping)
        assert not accepts(without, self.before, Limit(1 / (1 + n * damping), n, oo))

    def test_damping_must_not_be_negative(self) -> None:
        damping = Function("a", real=True)(n)
        vanishing = known(Limit(damping, n, oo), S.Zero, Always())
        recursion: ClassVar = {f.subs(n, n + 1): (1 - damping) * f + 1}
        reason = StolzCesaro(n, f, n, recursion, damping=damping, using=(vanishing,))
        assert not accepts(reason, self.before, Limit(1 / (1 + n * damping), n, oo))


class TestContinuity:
    def test_explicit_sequences(self) -> None:
        before = Limit(exp(1 / n) / (2 + 1 / n), n, oo)
        assert accepts(Continuity(exp(x) / (2 + x), {x: 1 / n}), before, Rational(1, 2))
        assert not accepts(Continuity(exp(x) / (2 + x), {x: 1 / n}), before, Rational(1, 3))
        assert not accepts(Continuity(exp(x) / (3 + x), {x: 1 / n}), before, Rational(1, 3))

    def test_sequence_that_does_not_vanish(self) -> None:
        assert not accepts(Continuity(x + 1, {x: 1 + 1 / n}), Limit(2 + 1 / n, n, oo), Integer(1))

    def test_sequence_known_by_a_derivation(self) -> None:
        vanishing = known(Limit(g, n, oo), Integer(3), Always())
        before = Limit(g**2, n, oo)
        reason = Continuity((x + 3) ** 2, {x: g - 3}, using=(vanishing,))
        assert accepts(reason, before, Integer(9))
        assert not accepts(Continuity((x + 3) ** 2, {x: g - 3}), before, Integer(9))
        unproved = known(Limit(g, n, oo), Integer(3), Algebra())
        assert not accepts(Continuity((x + 3) ** 2, {x: g - 3}, using=(unproved,)), before, Integer(9))
        elsewhere = known(Limit(g, n, 0), Integer(3), Always())
        assert not accepts(Continuity((x + 3) ** 2, {x: g - 3}, using=(elsewhere,)), before, Integer(9))

    def test_form_must_be_continuous(self) -> None:
        assert not accepts(Continuity(1 / x, {x: 1 / n}), Limit(n, n, oo), oo)
        assert not accepts(Continuity(log(x), {x: 1 / n}), Limit(log(1 / n), n, oo), -oo)
        assert not accepts(Continuity(x / y, {x: 1 / n, y: 2 / n}), Limit(Rational(1, 2) + 0 * n, n, oo), S.NaN)

    def test_index_outside_the_null_sequences(self) -> None:
        """`n x` does not tend to 0 because `x = 1/n` does."""
        assert not accepts(Continuity(n * x, {x: 1 / n}), Limit(Integer(1), n, oo), S.Zero)

    def test_not_a_limit(self) -> None:
        assert Continuity(x, {x: 1 / n}).check(1 / n, S.Zero).how is How.UNDECIDED
