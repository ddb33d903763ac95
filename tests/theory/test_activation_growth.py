r"""Bounds on derivatives: every line proved, and the bounds beside derivatives by SymPy."""

from functools import partial

import pytest
from sympy import Integer, Rational, Sum, Symbol, diff, erf, exp, log, oo, pi, tanh

from theory import activation_growth as growth
from theory.activation_growth import ODD, R, c, k, s
from theory.errors import InvalidInput

BOUNDS = [
    growth.tanh_derivatives,
    growth.tanh_bound,
    growth.lower_bound,
    growth.sigmoid_bound,
    growth.softplus_bound,
    growth.erf_bound,
    growth.sine_bound,
    growth.exponential_derivatives,
    growth.identity_derivatives,
    growth.scaled,
    growth.scaled_bound,
    growth.lacunary,
]
LIMITS = [
    (partial(growth.over_factorial, growth.tanh_bound), 0),
    (partial(growth.over_factorial, growth.sigmoid_bound), 0),
    (partial(growth.over_factorial, growth.softplus_bound, k + 1), 0),
    (partial(growth.over_factorial, growth.erf_bound, step=2), 0),
    (partial(growth.over_factorial, growth.sine_bound), 0),
    (partial(growth.over_factorial, growth.exponential_derivatives), 0),
    (partial(growth.over_factorial, partial(growth.scaled, Integer(2)), ODD), oo),
    (partial(growth.over_factorial, partial(growth.scaled, Rational(3, 2)), ODD), 0),
    (partial(growth.factorial_over, growth.lacunary, 2 * k), 0),
    (partial(growth.over_strip, growth.scaled_bound, pi / (4 * c)), 0),
    (partial(growth.strip_over, growth.lacunary, R, 2 * k), 0),
]


@pytest.mark.parametrize("derive", BOUNDS)
def test_every_line_is_proved(derive):
    checked = derive().check()
    assert checked
    assert [step.outcome.detail for step in checked if not step.outcome.proved] == []


@pytest.mark.parametrize(("derive", "limit"), LIMITS)
def test_limits(derive, limit):
    derivation = derive()
    assert derivation.conclusion == limit
    assert all(step.outcome.proved for step in derivation.check())


FUNCTIONS = [
    (tanh(s), growth.tanh_bound, 0),
    (1 / (1 + exp(-s)), growth.sigmoid_bound, 0),
    (log(1 + exp(s)), growth.softplus_bound, 1),
    (erf(s), growth.erf_bound, 0),
]


@pytest.mark.parametrize(("function", "bound", "shift"), FUNCTIONS, ids=["tanh", "sigmoid", "softplus", "erf"])
def test_the_bounds_hold(function, bound, shift):
    for order in range(1, 6):
        largest = float(bound().conclusion.subs(k, order))
        derivative = diff(function, s, order + shift)
        assert all(abs(float(derivative.subs(s, Rational(i, 4)))) <= largest * (1 + 1e-12) for i in range(-8, 9))


@pytest.mark.parametrize("order", [1, 3, 5])
def test_odd_derivatives_at_zero(order):
    """The first term of the sum over the poles is less than the derivative, by at most a quarter."""
    number = (order + 1) // 2
    value = abs(float(diff(tanh(s), s, order).subs(s, 0)))
    least = float(growth.lower_bound().conclusion.subs(k, number))
    assert least < value < 1.25 * least
    assert value <= float(growth.tanh_bound().conclusion.subs(k, order)) * (1 + 1e-12)
    at_zero = abs(float(diff(erf(s), s, order).subs(s, 0)))
    assert at_zero == pytest.approx(float(growth.erf_bound().conclusion.subs(k, order)))


def test_the_lacunary_bound_is_a_term_of_the_sum():
    for number, j in ((1, 2), (2, 3), (4, 4)):  # 4k = 2^j
        term = float(4 ** Integer(2 * j * number) * exp(-(2**j)))
        assert float(growth.lacunary().conclusion.subs(k, number)) == pytest.approx(term)


def test_what_the_ratio_does_not_tell_is_refused():
    with pytest.raises(InvalidInput, match="ratio test"):
        growth.over_factorial(growth.scaled, ODD)  # it depends on c


def test_the_sum_over_the_poles_is_tanh():
    series = growth.tanh_derivatives().conclusion
    assert isinstance(series, Sum)
    n = Symbol("n", integer=True, nonnegative=True)
    partial_sum = sum(complex(series.function.subs({s: Rational(1, 2), n: i})) for i in range(400))
    assert partial_sum.real == pytest.approx(float(tanh(Rational(1, 2))), abs=1e-3)
