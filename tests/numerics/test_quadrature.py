"""Certified integrals against closed forms; the traps of branch cuts and of switches, seen failing without the care."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import pytest
import sympy
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import (
    Abs,
    Heaviside,
    Integral,
    Max,
    Min,
    Piecewise,
    Rational,
    acos,
    atan,
    cos,
    cosh,
    erf,
    exp,
    log,
    oo,
    pi,
    sin,
    sqrt,
)

from numerics import quadrature
from numerics.balls import ends, precision
from numerics.evaluate import enclose
from numerics.quadrature import integral
from numerics.real_rules import RULES
from numerics.walk import Walk
from theory.errors import InvalidInput, Undecidable
from theory.timelimit import OutOfTime

x, y = sympy.symbols("x y", real=True)
BITS = 120
half = Rational(1, 2)
gauss = exp(-(x**2) / 2) / sqrt(2 * pi)


def integrated(function, lower, upper, **values) -> arb:
    symbols = {sympy.Symbol(name, real=True): arb(number) for name, number in values.items()}
    return integral(function, x, sympy.sympify(lower), sympy.sympify(upper), Walk(RULES, symbols))


@pytest.mark.parametrize(
    ("function", "lower", "upper", "value"),
    [
        (x**2, 0, 1, Rational(1, 3)),
        (x, 1, 0, -half),
        (sqrt(x), 1, 4, Rational(14, 3)),
        (sqrt(1 - x**2), -1, 1, pi / 2),
        (log(x), 1, 2, 2 * log(2) - 1),
        (acos(x), -1, 1, pi),
        (atan(x), 0, 1, pi / 4 - log(2) / 2),
        (sympy.asin(x), 0, 1, pi / 2 - 1),
        (sympy.atanh(x), 0, half, log(Rational(3, 4)) / 2 + log(3) / 4),
        (sympy.acosh(x), 1, 2, 2 * sympy.acosh(2) - sqrt(3)),
        (x ** Rational(1, 3), 0, 1, Rational(3, 4)),
        (x**pi, 0, 1, 1 / (1 + pi)),
        (2**x, 0, 1, 1 / log(2)),
        (sin(x), 0, pi, 2),
        (1 / x, 1, sympy.E, 1),
        (gauss, -oo, oo, 1),
        (gauss, oo, -oo, -1),
        (x**4 * gauss, -oo, oo, 3),
        (Max(0, x) ** 2 * gauss, -oo, oo, half),
        (cos(x) * gauss, -oo, oo, exp(-half)),
        (exp(x) * gauss, -oo, oo, exp(half)),
        (erf(x) ** 2 * gauss, -oo, oo, 2 * sympy.asin(Rational(2, 3)) / pi),
        (exp(-x), 0, oo, 1),
        (exp(x), -oo, 1, sympy.E),
        (1 / (1 + x**2), -oo, oo, pi),
        (x ** Rational(-3, 2), 1, oo, 2),
        (1 / cosh(x), -oo, oo, pi),
        (exp(-(x**4)), 0, oo, sympy.gamma(Rational(5, 4))),
        (Heaviside(x - Rational(1, 3)), 0, 1, Rational(2, 3)),
        (sympy.sign(x), -1, 3, 2),
        (Abs(Abs(x) - 1), -2, 2, 2),  # the outer switch is linear only after the inner one is resolved
        (Max(Abs(x), 1 - 2 * x), -1, 1, Rational(8, 3)),
        (Abs(x**2 - 2), 0, 2, Rational(8, 3) * sqrt(2) - Rational(4, 3)),  # at a root that is not rational
        (Piecewise((x, x < Rational(1, 3)), (1, x < 2), (5, True)), 0, 3, Rational(1, 18) + Rational(5, 3) + 5),
        (Piecewise((1, (x > 0) & (x < 1)), (3, True)), -1, 2, 7),
        (Min(x, 1 - x) * gauss.subs(x, 0) * sqrt(2 * pi), 0, 1, Rational(1, 4)),
        (sqrt(Max(0, x)), -1, 1, Rational(2, 3)),
    ],
)
def test_closed_forms(function, lower, upper, value):
    with precision(BITS):
        found = integrated(function, lower, upper)
        assert found.overlaps(enclose(sympy.sympify(value), {}))
        assert found.rad() < arb(2) ** -50


def test_without_the_analytic_flag_a_narrow_ball_is_wrong():
    with precision(53):
        wrong = acb.integral(lambda z, analytic: z.sqrt(), 1, 4).real
        assert wrong.rad() < 1e-12
        assert not wrong.overlaps(arb(14) / 3)
        assert integrated(sqrt(x), 1, 4).overlaps(arb(14) / 3)


def test_what_lies_beyond_the_cut_is_in_the_ball(monkeypatch):
    monkeypatch.setattr(quadrature, "ctx", SimpleNamespace(prec=10))  # a cut far too early, at the precision used
    with precision(BITS):
        found = integrated(exp(-x), 0, oo)
        assert found.contains(arb(1))
        assert 1e-5 < found.rad() < 1e-3


numbers = st.fractions(min_value=-2, max_value=2, max_denominator=12)
lines = st.tuples(numbers, numbers)


@settings(max_examples=40, deadline=None)
@given(st.lists(lines, min_size=2, max_size=3, unique=True), numbers, numbers)
def test_the_maximum_of_lines(pieces, a, b):
    """Oracle: the exact integral, between the crossings of all pairs of lines."""
    lower, upper = min(a, b), max(a, b)
    crossings = {(d - b_) / (a_ - c) for a_, b_ in pieces for c, d in pieces if a_ != c}
    marks = [lower, *sorted(r for r in crossings if lower < r < upper), upper]
    exact = Fraction(0)
    for left, right in pairwise(marks):
        middle = (left + right) / 2
        exact += (right - left) * max(slope * middle + intercept for slope, intercept in pieces)
    function = Max(*(Rational(slope) * x + Rational(intercept) for slope, intercept in pieces))
    with precision(64):
        low, high = ends(integrated(function, Rational(lower), Rational(upper)))
    assert low <= exact <= high
    assert high - low < Fraction(1, 10**12)


def test_parameters_may_be_balls():
    with precision(BITS):
        found = integrated(Max(x, y) * exp(-y * x), 0, 1, y=2)
        assert found.overlaps(1 - arb(-2).exp())
        wide = integral(exp(-y * x), x, 0, oo, Walk(RULES, {y: arb(2, 0.125)}))
        assert wide.contains(arb(1) / 2)
        assert wide.contains(arb(1) / 2.1)


@pytest.mark.parametrize(
    ("function", "lower", "upper"),
    [
        (log(x), 0, 1),
        (1 / x, -1, 1),
        (1 / x**2, -1, 1),
        (sin(x) / x, 0, 1),
        (log(x), -2, -1),
        (sqrt(x), -1, 1),
        (x, 0, log(-y)),
    ],
)
def test_what_is_unbounded_or_not_real_gets_no_finite_ball(function, lower, upper):
    with precision(64):
        found = integrated(function, lower, upper, y=1)
        assert not found.is_finite() or found.rad() > 0.01


@pytest.mark.parametrize("function", [sin(x) / x, 1 / x, exp(x), sympy.tan(x)])
def test_an_infinite_end_without_a_bound_is_refused(function):
    with precision(64), pytest.raises(Undecidable, match=r"known|bound"):
        integrated(function, 1, oo)


def test_exceptions_pass_through_arb():
    with precision(64):
        with pytest.raises(InvalidInput, match="zeta"):
            integrated(sympy.zeta(x), 2, 3)
        interrupting = Walk(RULES, {x: arb(0)})
        interrupting.rules = {**RULES, type(y): lambda walk, node: (_ for _ in ()).throw(OutOfTime())}
        with pytest.raises(OutOfTime):
            integral(x * y, x, sympy.Integer(0), sympy.Integer(1), interrupting)


def test_many_digits_at_a_singular_end():
    with precision(700):
        found = enclose(Integral(sqrt(1 - x**2), (x, -1, 1)), {})
        assert found.overlaps(arb.pi() / 2)
        assert found.rel_accuracy_bits() > 600
