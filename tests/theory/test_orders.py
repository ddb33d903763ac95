"""The rules of orders against their definition, on variables `n^A` with `A` on a finite probability space."""

import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Rational, Symbol, log, sqrt

from theory.errors import InvalidInput
from theory.orders import ExponentialTail, PowerTail, Sharpness, StochasticOrder

EXPONENTS = st.lists(st.integers(-3, 3), min_size=4, max_size=4)


def order_of(exponents):
    """Of `n^A`, `A` uniform on a list: every value has a probability that stays, so the largest is definite."""
    sharpness = Sharpness.EXACT if len(set(exponents)) == 1 else Sharpness.DEFINITE
    return StochasticOrder(max(exponents), sharpness=sharpness)


def fits(found, exponents):
    """Whether what is claimed of `n^A` is so by definition."""
    if found.power < max(exponents):
        return False
    if found.sharpness is Sharpness.EXACT:
        return set(exponents) == {found.power}
    return not found.definite or found.power == max(exponents)


@given(EXPONENTS, EXPONENTS)
def test_products_of_any_joint_law(a, b):
    assert fits(order_of(a) * order_of(b), [i + j for i, j in zip(a, b, strict=True)])


@given(EXPONENTS, EXPONENTS)
def test_products_of_independent_ones(a, b):
    found = order_of(a).product(order_of(b), independent=True)
    assert fits(found, [i + j for i in a for j in b])
    assert found.definite


@given(EXPONENTS, EXPONENTS)
def test_sums(a, b):
    """Positive terms do not cancel: the sum has the exponent of the larger one."""
    assert fits(order_of(a) + order_of(b), [max(i, j) for i, j in zip(a, b, strict=True)])


@given(EXPONENTS, st.integers(1, 3))
def test_powers(a, r):
    assert fits(order_of(a) ** r, [r * i for i in a])


def test_what_the_rules_do_not_promise():
    coin, exact = order_of([0, 1]), order_of([1])
    assert not (coin * coin).definite  # n or 1, times 1 or n
    assert (coin * exact).sharpness is Sharpness.DEFINITE
    assert not (exact + exact).definite  # X − X
    assert (exact + order_of([0, 0])).sharpness is Sharpness.EXACT
    assert not exact.contract(exact).definite
    assert exact.contract(exact).power == 2
    assert exact**-2 == StochasticOrder(-2, sharpness=Sharpness.EXACT)
    assert coin**0 == StochasticOrder(sharpness=Sharpness.EXACT)
    with pytest.raises(InvalidInput, match="exact bounds"):
        coin**-1


def test_logarithms_come_second():
    assert StochasticOrder(1, -7) < StochasticOrder(1) < StochasticOrder(1, 1) < StochasticOrder(Fraction(3, 2), -9)
    assert StochasticOrder(1, sharpness=Sharpness.EXACT) <= StochasticOrder(1)
    assert StochasticOrder(0, 2) + StochasticOrder(0, 3) == StochasticOrder(0, 3)


def test_maxima():
    entry = StochasticOrder(Fraction(1, 2), 1, Sharpness.EXACT)
    assert entry.uniform(3, PowerTail(2)) == StochasticOrder(2, 1)
    assert entry.uniform(3, ExponentialTail(Fraction(1, 2))) == StochasticOrder(Fraction(1, 2), 3)


def test_as_an_expression():
    n = Symbol("n", positive=True)
    assert StochasticOrder(Fraction(1, 2), -1).expression(n) == sqrt(n) / log(n)
    assert StochasticOrder(Rational(1, 3)).power == Fraction(1, 3)  # SymPy's rationals are rationals
    assert str(StochasticOrder(Fraction(-1, 2), 2)) == "O(n^(-1/2) log(n)^2)"
    assert str(StochasticOrder()) == "O(1)"


def test_the_larger_one_may_come_first():
    assert StochasticOrder(1) > StochasticOrder(0, 5) >= StochasticOrder(0, 5)
    assert not StochasticOrder(1) > StochasticOrder(1, sharpness=Sharpness.EXACT)


@pytest.mark.parametrize("other", [2, 0.5, None, "n", (1, 0)])
@pytest.mark.parametrize(
    "combine",
    [operator.mul, operator.add, operator.lt, operator.le, operator.gt, operator.ge],
)
def test_operands_that_are_no_orders(combine, other):
    for pair in ((StochasticOrder(1), other), (other, StochasticOrder(1))):
        with pytest.raises(InvalidInput, match="give a StochasticOrder"):
            combine(*pair)


@pytest.mark.parametrize("combine", [StochasticOrder.product, StochasticOrder.contract])
def test_methods_on_what_is_no_order(combine):
    with pytest.raises(InvalidInput, match="give a StochasticOrder"):
        combine(StochasticOrder(1), 2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: StochasticOrder(0.5),
        lambda: StochasticOrder(True),
        lambda: StochasticOrder(1, "1"),
        lambda: StochasticOrder(1, 0, 2),
        lambda: StochasticOrder(1) ** 0.5,
        lambda: PowerTail(0),
        lambda: ExponentialTail(-1),
        lambda: StochasticOrder(1).uniform(0, PowerTail(1)),
        lambda: StochasticOrder(1).uniform(1, None),
    ],
)
def test_bad_input(wrong):
    with pytest.raises(InvalidInput):
        wrong()
