"""Bounds of tails: above the true tail, not absurdly so, and refused where growth is unknown."""

from __future__ import annotations

import pytest
import sympy
from mpmath.ctx_mp import MPContext
from sympy import (
    Abs,
    Heaviside,
    Max,
    Piecewise,
    Rational,
    cos,
    cosh,
    erf,
    exp,
    log,
    sech,
    sin,
    sinh,
    sqrt,
    symbols,
    tanh,
)

from numerics.balls import precision
from numerics.real_rules import RULES
from numerics.tails import above, tail
from numerics.walk import Walk
from theory.errors import Undecidable

x = symbols("x", real=True)
gauss = exp(-(x**2) / 2)
mp = MPContext()
mp.dps = 20

BOUNDED = [
    gauss,
    x**3 * gauss,
    Max(x, 1) ** 2 * gauss,
    Abs(x - 7) * gauss * tanh(x),
    log(1 + exp(x)) ** 2 * gauss,
    exp(x) * gauss,
    cosh(2 * x) * gauss,
    sinh(x) * gauss,
    exp(-x),
    x**2 * exp(-3 * x) * sin(x),
    exp(-(x**4)),
    1 / (1 + x**2),
    x / (2 + x**5) ** Rational(1, 2),
    sech(x),
    1 / (exp(x) + exp(-x)),
    (x + erf(x)) ** 3 * exp(-x / 2),
    sqrt(x + x**2) * exp(-x),
    (Abs(x) + Abs(x + 1) + Abs(x + 2)) ** 4 * exp(-x),
    Piecewise((x, x < 3), (cos(x), True)) * exp(-x),
    Heaviside(x - 5) * gauss,
]


def bound(function, X: int) -> float:
    with precision(64):
        return float(tail(above(function, x, Walk(RULES, {})), X).upper())


@pytest.mark.parametrize("function", BOUNDED)
@pytest.mark.parametrize("X", [2, 8])
def test_a_bound_is_above_the_tail_or_infinite(function, X):
    numeric = sympy.lambdify(x, Abs(function), modules=["mpmath", {"Heaviside": lambda s, h=0.5: mp.mpf(s > 0)}])
    true = mp.quad(lambda s: numeric(mp.mpf(s)), [X, X + 1, X + 3, X + 10, X + 40, mp.inf])
    assert bound(function, X) >= true * (1 - mp.mpf(10) ** -6)


@pytest.mark.parametrize("function", BOUNDED)
def test_a_bound_tends_to_zero(function):
    assert bound(function, 2**40) < 1e-5


def test_the_gaussian_bound_is_sharp():
    true = mp.sqrt(mp.pi / 2) * mp.erfc(8 / mp.sqrt(2))
    assert true < bound(gauss, 8) < 1.02 * true


@pytest.mark.parametrize("function", [1 / x, sin(x) / x, exp(x), x**2 * exp(x), exp(x**2 / 2), x**3, 1 + exp(-x)])
def test_a_divergent_tail_has_no_finite_bound(function):
    assert bound(function, 2**30) == float("inf")


@pytest.mark.parametrize(
    "function", [sympy.tan(x), 1 / (x - 3), exp(sin(x)), exp(x**3), 1 / sin(x), sympy.gamma(x), x**x]
)
def test_unknown_growth_is_refused(function):
    with pytest.raises(Undecidable, match=r"known|bound"):
        bound(function, 10)
