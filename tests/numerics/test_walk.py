"""Exact bounds and signs of nodes: where they are exact, and that they never cut off a value."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import Rational, cos, sin, sqrt, symbols

from numerics.balls import interval, precision
from numerics.real_rules import RULES
from numerics.walk import Walk
from theory.errors import InvalidInput

x, y = symbols("x y", real=True)
small = st.fractions(min_value=-3, max_value=3, max_denominator=50)


def walk_over(box: dict) -> Walk:
    return Walk(RULES, {symbol: interval(*ends) for symbol, ends in box.items()}, box)


POLYNOMIALS = [1 - x**2, (x + y) ** 2 - x, x * y, x**3 - 2 * y, (x - 1) ** 2 * (y + 2), -(x**4) + Rational(1, 3)]


@given(st.sampled_from(POLYNOMIALS), small, small, small, small, st.fractions(0, 1), st.fractions(0, 1))
def test_bounds_of_polynomials_contain_their_values(polynomial, a, b, c, d, s, t):
    box = {x: (min(a, b), max(a, b)), y: (min(c, d), max(c, d))}
    inside = {
        symbol: low + share * (high - low) for (symbol, (low, high)), share in zip(box.items(), (s, t), strict=True)
    }
    truth = polynomial.subs({symbol: Rational(value) for symbol, value in inside.items()})
    with precision(64):
        low, high = walk_over(box).bounds(polynomial)
    assert low is not None
    assert high is not None
    assert low <= Fraction(int(truth.p), int(truth.q)) <= high


def test_bounds_at_a_rational_point_are_exact():
    third, four_fifths = Fraction(1, 3), Fraction(4, 5)
    with precision(64):
        walk = walk_over({x: (third, third), y: (four_fifths, four_fifths)})
        assert walk.bounds(3 * x - 1) == (0, 0)
        assert walk.sign(3 * x - 1) == 0
        assert walk.sign(9 * x**2 - y) == 1
        assert walk.bounds(1 - y**2 - Rational(9, 25)) == (0, 0)


def test_ranges_of_functions_are_known():
    box = {x: (Fraction(-1, 7), Fraction(1, 5))}
    with precision(64):
        walk = walk_over(box)
        assert walk.bounds(1 - cos(x) ** 2)[0] == 0
        assert walk.bounds(abs(x))[0] == 0
        assert walk.bounds(sqrt(x**2))[0] == 0
        assert walk_over({x: (Fraction(0), Fraction(1))}).bounds(x ** Rational(1, 3))[0] == 0
        assert walk.sign(x) is None
        low = walk.bounds(sin(x))[0]
        assert low is not None
        assert -1 <= low < -0.14


def test_nothing_is_known_of_what_has_no_finite_ball():
    with precision(64):
        assert walk_over({x: (Fraction(-1), Fraction(1))}).bounds(1 / x) == (None, None)
        assert walk_over({x: (Fraction(-1), Fraction(1))}).bounds(2 + 1 / x) == (None, None)


def test_a_symbol_without_value_and_an_unknown_function_are_refused():
    walk = walk_over({x: (Fraction(0), Fraction(1))})
    with pytest.raises(InvalidInput, match="y: this symbol has no value"):
        walk(x + y)
    with pytest.raises(InvalidInput, match="zeta has no certified evaluation"):
        walk(sympy.zeta(x))
    with pytest.raises(InvalidInput, match="sin has no certified evaluation"):
        walk(sympy.Function("sin")(x))  # undefined, though it has the name of the sine
