r"""The largest derivatives, against values of the derivatives themselves on a fine grid, and known numbers."""

from math import factorial

import numpy as np
import pytest
from sympy import Symbol, bernoulli, diff, erf, exp, lambdify, log, tanh

from numerics.activation_growth import BITS, Growing, lacunary_derivative, supremum
from numerics.balls import precision
from theory.errors import InvalidInput

s = Symbol("s")
FUNCTIONS = {
    Growing.TANH: tanh(s),
    Growing.SIGMOID: 1 / (1 + exp(-s)),
    Growing.SOFTPLUS: log(1 + exp(s)),
    Growing.ERF: erf(s),
}
GRID = np.linspace(-12, 12, 48001)


@pytest.mark.parametrize("activation", Growing)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_against_the_derivatives_on_a_grid(activation, k):
    values = np.abs(lambdify(s, diff(FUNCTIONS[activation], s, k), modules=["scipy", "numpy"])(GRID))
    largest = float(supremum(activation, k).mid())
    assert values.max() <= largest * (1 + 1e-9)
    assert values.max() >= largest * (1 - 1e-5)  # the grid is close to each extremum


@pytest.mark.parametrize("k", [1, 3, 5, 21, 59])
def test_odd_derivatives_of_tanh_at_zero_are_the_tangent_numbers(k):
    """`2^{k+1}(2^{k+1} − 1) |B_{k+1}|/(k+1)`: the coefficients of the tangent."""
    known = 2 ** (k + 1) * (2 ** (k + 1) - 1) * abs(bernoulli(k + 1)) / (k + 1)
    size = supremum(Growing.TANH, k)
    with precision(BITS):
        assert size.contains(int(known))
        assert size.rad() < 1e-20 * size


def test_the_lacunary_series_against_its_sum():
    for k in (1, 3):
        expected = sum(2.0 ** (4 * j * k) * np.exp(-(2.0**j)) for j in range(8))
        assert float(lacunary_derivative(k).mid()) == pytest.approx(expected, rel=1e-12)


def test_the_lacunary_series_outgrows_the_factorial():
    assert all(lacunary_derivative(k) > factorial(2 * k + 1) for k in range(1, 31))


def test_bad_input():
    for k in (0, -1, 1.0):
        with pytest.raises(InvalidInput, match="k"):
            supremum(Growing.TANH, k)
        with pytest.raises(InvalidInput, match="k"):
            lacunary_derivative(k)
