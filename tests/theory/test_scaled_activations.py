"""Scaled activations, the sigmoid and the lacunary series, against their definitions and the growth they are for."""

import math
from fractions import Fraction

import pytest
from sympy import Symbol, diff, exp, simplify, tanh

from theory.activations import Identity, Sin, Tanh
from theory.errors import InvalidInput
from theory.scaled_activations import LACUNARY_TERMS, Lacunary, Scaled, Sigmoid

s = Symbol("s", real=True)


def test_the_sigmoid_is_a_shifted_tanh():
    assert simplify((Sigmoid().expression(s) - (1 + tanh(s / 2)) / 2).rewrite(exp)) == 0


@pytest.mark.parametrize("inner", [Tanh(), Sin()], ids=repr)
def test_a_factor_multiplies_derivatives_by_its_powers(inner):
    scaled = Scaled(inner, 2.0).expression(s)
    for order in range(4):
        own = diff(inner.expression(s), s, order).subs(s, 2 * s)
        assert simplify(diff(scaled, s, order) - 2**order * own) == 0


def test_tanh_of_twice_its_argument_breaks_the_published_condition_and_tanh_does_not():
    """At 0, for odd k, the k-th derivative over (k + 1)!: the coefficients of the series, over k + 1."""
    series = {c: Scaled(Tanh(), c).expression(s).series(s, 0, 32).removeO() for c in (1.0, 2.0)}
    for c, first, last in ((1.0, 11, 31), (2.0, 11, 31)):
        ratios = [abs(float(series[c].coeff(s, k))) / (k + 1) for k in (first, last)]
        assert (ratios[1] > ratios[0]) == (c == 2.0)


def test_derivatives_of_the_lacunary_series_outgrow_factorials():
    """At 0 the terms of an even derivative have one sign; the root of its size over k! grows, up to what is kept."""
    sizes = {k: sum(4.0 ** (j * k) * math.exp(-(2**j)) for j in range(LACUNARY_TERMS)) for k in (2, 4, 8, 16)}
    at_zero = diff(Lacunary().expression(s), s, 4).subs(s, 0)
    assert float(at_zero) == pytest.approx(sizes[4], rel=1e-12)
    roots = [(size / math.factorial(k)) ** (1 / k) for k, size in sizes.items()]
    assert roots == sorted(roots)
    assert roots[-1] > 4 * roots[0]


@pytest.mark.parametrize("factor", [1e-300, 1e-17, 0.1, 3, Fraction(1, 3), 1e300])
def test_the_factor_is_the_one_given(factor):
    found = Scaled(Identity(), factor).expression(s) / s
    assert float(found) == pytest.approx(float(factor), rel=1e-14, abs=0)


@pytest.mark.parametrize(
    ("inner", "factor"),
    [("tanh", 1.0), *((Tanh(), wrong) for wrong in (0.0, -1, math.inf, math.nan, "2", None, 2j, True, 10**400))],
    ids=lambda value: str(value)[:20],
)
def test_bad_input(inner, factor):
    with pytest.raises(InvalidInput):
        Scaled(inner, factor)
