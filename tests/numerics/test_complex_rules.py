"""Analytic where it says so: on its cut, no function gives a finite ball when asked to be analytic."""

from __future__ import annotations

import pytest
import sympy
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext
from sympy import Abs, Heaviside, Max, Min, Piecewise, Rational, exp, sign, symbols

from numerics.balls import interval, precision
from numerics.complex_rules import Integrand
from numerics.real_rules import RULES
from numerics.walk import Walk
from theory.errors import InvalidInput

x, y = symbols("x y", real=True)
mp = MPContext()
mp.dps = 30
SWITCHES = [Abs(x), sign(x), Heaviside(x), Max(x, 0), Min(x, 0), Piecewise((x, x > 0), (1, True))]
CUTS = {  # a point on the cut, one off it
    sympy.log(x): (-1, 1),
    sympy.sqrt(x): (-1, 1),
    x ** Rational(1, 3): (-1, 1),
    x**sympy.pi: (-1, 1),
    sympy.loggamma(x): (-0.5, 1),
    sympy.acosh(x): (0.5, 2),
    sympy.acos(x): (2, 0.5),
    sympy.asin(x): (-2, 0.5),
    sympy.atanh(x): (2, 0.5),
    sympy.atan(x): (2j, 2),
    sympy.asinh(x): (-2j, 2),
    **dict.fromkeys(SWITCHES, (0, 2)),
}


def at(expression, z, analytic: bool) -> acb:
    with precision(80):
        outer = Walk(RULES, {y: arb(1) / 3})
        return Integrand(expression, x, outer).at(acb(z), analytic)


@pytest.mark.parametrize(("expression", "points"), CUTS.items())
def test_not_analytic_on_the_cut(expression, points):
    on, off = map(acb, points)
    small = acb(arb(0, 1e-3), arb(0, 1e-3))
    assert not at(expression, on + small, analytic=True).is_finite()
    assert at(expression, on + small, analytic=False).is_finite()
    assert at(expression, off + small, analytic=True).is_finite()


NAMES = ["sin", "cos", "tan", "exp", "sinh", "cosh", "tanh", "erf", "erfc", "gamma", "log", "sqrt"]
NAMES += ["acos", "asin", "atan", "asinh", "acosh", "atanh", "loggamma"]
coordinates = st.floats(-2.5, 2.5).filter(lambda c: abs(c) > 1e-3)


@given(st.sampled_from(NAMES), coordinates, coordinates)
def test_values_off_the_line_are_those_of_mpmath(name, real, imaginary):
    found = at(getattr(sympy, name)(x), complex(real, imaginary), analytic=True)
    value = getattr(mp, name)(mp.mpc(real, imaginary))
    if found.is_finite():  # a point ball is narrow; mpmath is right to 30 digits
        assert abs(mp.mpf(float(found.real.mid())) - value.real) < 1e-14 * (1 + abs(value))
        assert abs(mp.mpf(float(found.imag.mid())) - value.imag) < 1e-14 * (1 + abs(value))


@pytest.mark.parametrize(
    ("expression", "left", "right"), list(zip(SWITCHES, (1, -1, 0, 0, -1, 1), (1, 1, 1, 1, 0, 1), strict=True))
)
def test_switches_take_the_branch_of_the_real_part_and_both_where_it_is_open(expression, left, right):
    for side, value in ((-1, left), (1, right)):
        assert at(expression, acb(side), analytic=True) == value
    with precision(80):
        both = at(expression, acb(interval(-1, 1)), analytic=False)
    assert both.contains(acb(left))
    assert both.contains(acb(right))


def test_constants_come_from_the_real_walk_and_conditions_may_be_joined():
    assert at(Max(x, y), acb(1), analytic=True) == 1
    joined = Piecewise((x, (x > 0) & (x < 1)), (y, True))
    assert at(joined, acb(0.5, 0.25), analytic=True) == acb(0.5, 0.25)
    assert at(joined, acb(2), analytic=True).real.overlaps(arb(1) / 3)
    assert not at(Piecewise((x, x > 0)), acb(-1), analytic=False).is_finite()


def test_a_power_that_vanishes_at_the_branch_point_stays_finite_there():
    found = at(x ** Rational(1, 3), acb(arb(0, 1e-6), 0), analytic=False)
    assert found.is_finite()
    assert abs(found) < 0.02
    assert not at(x ** Rational(-1, 3), acb(arb(0, 1e-6), 0), analytic=False).is_finite()


def test_an_unknown_function_is_refused():
    with pytest.raises(InvalidInput, match="zeta"):
        at(exp(sympy.zeta(x)), 2, analytic=False)
