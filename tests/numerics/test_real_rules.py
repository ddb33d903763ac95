"""The ball of each function: it contains the value that mpmath gives, and never that of a number outside the domain."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext
from sympy import Heaviside, Max, Min, Piecewise, Product, Rational, Sum, Symbol, symbols

from numerics.balls import ball, ends, interval, precision
from numerics.real_rules import RULES
from numerics.walk import Walk
from theory.errors import InvalidInput, Undecidable

x, y = symbols("x y", real=True)
i, n = symbols("i n", integer=True)
mp = MPContext()
mp.dps = 40

INSIDE = {  # name in SymPy and mpmath: an interval of its domain
    **dict.fromkeys(
        ("sin", "cos", "tan", "exp", "sinh", "cosh", "tanh", "asinh", "atan", "erf", "erfc", "sech"), (-3, 3)
    ),
    **dict.fromkeys(("log", "sqrt", "gamma", "loggamma", "cot", "csc", "coth", "csch"), (0, 3)),
    **dict.fromkeys(("asin", "acos", "atanh"), (-1, 1)),
    "acosh": (1, 9),
    "sec": (-1, 1),
}


def enclosed(expression, box) -> tuple[Fraction, Fraction] | None:
    with precision(80):
        found = Walk(RULES, {symbol: interval(*e) for symbol, e in box.items()}, box)(expression)
        return ends(found) if found.is_finite() else None


def at(expression, **values):
    return enclosed(expression, {Symbol(name, real=True): (Fraction(v), Fraction(v)) for name, v in values.items()})


@given(
    st.sampled_from(sorted(INSIDE)),
    st.fractions(0, 1, max_denominator=99),
    st.fractions(0, 1, max_denominator=99),
    st.data(),
)
def test_a_ball_contains_the_function_on_its_interval(name, s, t, data):
    a, b = INSIDE[name]
    low, high = sorted((a + (b - a) * s, a + (b - a) * t))
    point = low + (high - low) * data.draw(st.fractions(0, 1, max_denominator=9))
    found = enclosed(getattr(sympy, name)(x), {x: (low, high)})
    if found is None:  # allowed at a pole or an open end, and where the interval is wide
        assert low in (a, b) or high in (a, b) or high > low
        return
    value = getattr(mp, name)(mp.mpf(point.numerator) / point.denominator)
    slack = mp.mpf(10) ** -35 * (1 + abs(value))
    assert mp.mpf(found[0].numerator) / found[0].denominator - slack <= value
    assert value <= mp.mpf(found[1].numerator) / found[1].denominator + slack


OUTSIDE = [
    *[(sympy.log(x), -1), (sympy.log(x), 0), (sympy.sqrt(x), -1), (x ** Rational(-1, 2), 0), (x ** Rational(1, 3), -8)],
    *[(sympy.acos(x), 2), (sympy.asin(x), -2), (sympy.acosh(x), 0), (sympy.atanh(x), 2), (sympy.loggamma(x), -1)],
    *[(1 / x, 0), (x**-3, 0), (sympy.gamma(x), -2), (sympy.tan(x) + sympy.oo, 0), (sympy.I * x, 1)],
]


@pytest.mark.parametrize(("expression", "outside"), OUTSIDE)
def test_there_is_no_finite_ball_outside_the_domain(expression, outside):
    assert at(expression, x=outside) is None


@pytest.mark.parametrize(
    ("expression", "third", "value"),
    [
        (sympy.acos(3 * x), Fraction(1, 3), 0),  # exact edges, though the ball of 1/3 is not exact
        (sympy.sqrt(3 * x - 1), Fraction(1, 3), 0),
        ((3 * x - 1) ** Rational(1, 3), Fraction(1, 3), 0),
        (sympy.sign(3 * x - 1), Fraction(1, 3), 0),
        (Heaviside(3 * x - 1), Fraction(1, 3), Fraction(1, 2)),
        (Heaviside(3 * x - 1, 0), Fraction(1, 3), 0),
        (Heaviside(x), Fraction(1, 3), 1),
        (Piecewise((1, 3 * x < 1), (2, sympy.Eq(3 * x, 1)), (3, True)), Fraction(1, 3), 2),
        (Piecewise((1, (x > 0) & (x < 1)), (2, True)), Fraction(1, 3), 1),
        (Piecewise((1, (x < 0) | (x > 1)), (2, True)), Fraction(1, 3), 2),
        (Max(x, 6 * x, 1), Fraction(1, 3), 2),
        (Min(x, 6 * x, -1), Fraction(1, 3), -1),
        (sympy.atan2(0 * x + 3 * x - 1, 1), Fraction(1, 3), 0),
        ((-2) ** (6 * x), Fraction(1, 3), 4),
        (sympy.factorial(9 * x), Fraction(1, 3), 6),
        (sympy.binomial(15 * x, 2), Fraction(1, 3), 10),
        (sympy.binomial(3, 15 * x), Fraction(1, 3), 0),
        (Sum(i * x, (i, 0, 9 * x)), Fraction(1, 3), 2),
        (Sum(i, (i, 5, 2)), Fraction(0), -7),  # Karr: minus the sum from 3 to 4
        (Product(i, (i, 1, 5)), Fraction(0), 120),
        (Sum(i * n, (n, 1, i), (i, 1, 4)), Fraction(0), 65),
    ],
)
def test_exact_points(expression, third, value):
    found = at(expression, x=third)
    assert found is not None
    assert found[0] <= value <= found[1]
    assert found[1] - found[0] < Fraction(1, 2**60)


def test_an_argument_is_not_cut_without_proof():
    for expression in (sympy.acos(x), sympy.asin(-x), sympy.sqrt(1 - x), sympy.log(1 - x), (1 - x) ** Rational(1, 3)):
        assert enclosed(expression, {x: (Fraction(1, 2), Fraction(3, 2))}) is None
    assert enclosed(sympy.acos(x), {x: (Fraction(1, 2), Fraction(1))}) is not None


def test_an_open_branch_is_the_union():
    found = enclosed(Piecewise((-3, x < 0), (5, True)), {x: (Fraction(-1), Fraction(1))})
    assert found is not None
    assert found[0] <= -3
    assert found[1] >= 5
    assert enclosed(Piecewise((1, x < 0)), {x: (Fraction(-1), Fraction(1))}) is None
    assert enclosed(Piecewise((1 / x, x < 0), (5, True)), {x: (Fraction(-1), Fraction(1))}) is None


def test_sums_need_certain_and_few_terms():
    with pytest.raises(Undecidable, match="certain to be an integer"):
        at(Sum(i, (i, 0, x)), x=Fraction(1, 2))
    with pytest.raises(Undecidable, match="certain to be an integer"):
        at(Sum(i, (i, 0, sympy.oo)))
    with pytest.raises(InvalidInput, match="1000000 terms"):
        at(Sum(i, (i, 0, 10**6)))
    with pytest.raises(InvalidInput, match="give comparisons"):
        at(Piecewise((1, sympy.Contains(x, sympy.Interval(0, 1))), (2, True)), x=1)


def test_constants_and_floats_are_exact():
    with precision(80):
        walk = Walk(RULES, {})
        assert walk(sympy.Float(0.1)).contains(ball(0.1))
        for constant in (sympy.pi, sympy.E, sympy.EulerGamma, sympy.Catalan, sympy.GoldenRatio):
            low, high = ends(walk(constant))
            assert low < Fraction(str(constant.evalf(40))) + Fraction(1, 10**38)
            assert high > Fraction(str(constant.evalf(40))) - Fraction(1, 10**38)
            assert high - low < Fraction(1, 10**20)
