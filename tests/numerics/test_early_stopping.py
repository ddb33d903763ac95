"""The certified constants, against mpmath's roots and maxima in 40 digits."""

from fractions import Fraction

import pytest
from flint import arb
from mpmath import MPContext
from sympy import Integer, exp

from numerics.balls import precision
from numerics.certify import certify
from numerics.early_stopping import ALGORITHMS, bounds, peak, ridge_filter_constant
from numerics.subdivision import Outcome
from theory.dynamics import s
from theory.early_stopping import flow_filter
from theory.errors import InvalidInput

MP = MPContext()
MP.dps = 50


def largest_ratio():
    """`κ` as a maximum, from the slope of the ratio by mpmath's differentiation."""

    def ratio(at):
        return -MP.expm1(-at) * (1 + at) / at

    return ratio(MP.findroot(lambda at: MP.diff(ratio, at), 1.8, tol=1e-40))


@pytest.mark.parametrize("digits", [5, 15, 40])
def test_the_digits_of_the_constant(digits):
    assert str(certify(ridge_filter_constant, digits)) == MP.nstr(largest_ratio(), digits, strip_zeros=False)


def test_a_thousand_digits_solve_the_equation():
    with precision(3400):
        at = peak()
        assert ((1 + at + at * at) * (-at).exp() - 1).contains(0)
        assert at.rad() < arb(10) ** -1000


def test_the_registered_algorithm_is_the_constant():
    with precision(80):
        assert ALGORITHMS["ridge-filter-constant"]({}, 80).overlaps(ridge_filter_constant())


@pytest.mark.parametrize(
    ("constant", "outcome"),
    [("1.2985", Outcome.HOLDS), ("1.2984", Outcome.VIOLATED), ("5", Outcome.HOLDS), ("1.001", Outcome.VIOLATED)],
)
def test_a_bound_holds_from_the_constant_on(constant, outcome):
    assert bounds(Fraction(constant), flow_filter()) is outcome


def test_a_bound_on_another_function():
    assert bounds(Fraction(2), (1 - exp(-s)) ** 2) is Outcome.HOLDS
    assert bounds(Fraction(2), 1 - exp(-3 * s)) is Outcome.VIOLATED  # its slope at 0 is 3


@pytest.mark.parametrize("constant", [Fraction(1), Fraction(1, 2)])
def test_a_constant_that_no_ratio_can_keep_is_refused(constant):
    with pytest.raises(InvalidInput, match="constant"):
        bounds(constant, Integer(0))
