r"""Activations of power series, against mpmath's Taylor expansions of the composed function."""

import mpmath
import numpy as np
import pytest
from sympy import Symbol, diff, lambdify

from numerics.arithmetic import Float64, Multiprecision
from numerics.power_series import compose, multiply
from theory.activations import (
    Activation,
    Cos,
    Erf,
    Exp,
    Hermite,
    Identity,
    LeakyReLU,
    ReLU,
    Sin,
    Softplus,
    Tanh,
)
from theory.errors import InvalidInput
from theory.scaled_activations import Scaled, Sigmoid

SMOOTH = [Tanh(), Softplus(), Erf(), Sin(), Cos(), Exp(), Identity(), Hermite(0), Hermite(1), Hermite(4)]
SMOOTH += [Sigmoid(), Scaled(Tanh(), 2.0), Scaled(Softplus(), 0.5)]
s = Symbol("s")


def composed(activation: Activation, derivatives: int, u: list[float], order: int) -> list:
    """The Taylor coefficients of a derivative of φ at `Σ u_k t^k`, by mpmath's numerical derivatives in 150 digits."""
    context = mpmath.MPContext()
    context.dps = 150
    names = {name: getattr(context, name) for name in ("tanh", "erf", "sin", "cos", "exp", "log", "sqrt", "pi")}
    phi = lambdify(s, diff(activation.expression(s), s, derivatives), modules=[names])
    return context.taylor(lambda t: phi(context.polyval(u[::-1], t)), 0, order)


@pytest.mark.parametrize("activation", SMOOTH, ids=repr)
def test_series_of_value_slope_and_curvature(activation):
    rng = np.random.default_rng(3)
    u = np.concatenate([rng.standard_normal(4), np.zeros(5)])
    for derivatives, found in enumerate(compose(activation, u, Float64(), derivatives=2)):
        expected = np.array(composed(activation, derivatives, list(u), 8), dtype=float)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("activation", SMOOTH, ids=repr)
def test_to_order_16_in_two_arithmetics(activation):
    u = np.random.default_rng(5).standard_normal((17, 3)) * 0.5 ** np.arange(17)[:, None]
    arithmetic = Multiprecision(30)
    for found, precise in zip(
        compose(activation, u, Float64(), 2), compose(activation, arithmetic.array(u), arithmetic, 2), strict=True
    ):
        expected = precise.astype(float)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("activation", [Tanh(), Softplus(), Erf(), Sigmoid()], ids=repr)
@pytest.mark.parametrize("place", [-12.0, 12.0])
def test_slopes_in_the_tails_keep_their_relative_accuracy(activation, place):
    u = np.array([place, 0.25, -0.125])
    slope = compose(activation, u, Float64())[1]
    expected = np.array(composed(activation, 1, list(u), 2), dtype=float)
    np.testing.assert_allclose(slope, expected, rtol=1e-12)


def test_piecewise_linear_activations_off_their_kink():
    u = np.array([[2.0, -2.0], [1.0, 1.0], [0.5, 0.5]])
    value, slope, curvature = compose(LeakyReLU(a=0.75, b=0.25), u, Float64(), 2)
    np.testing.assert_array_equal(value, u * [1.0, 0.5])
    np.testing.assert_array_equal(slope, [[1.0, 0.5], [0, 0], [0, 0]])
    assert not curvature.any()
    with pytest.raises(InvalidInput, match="exactly 0"):
        compose(ReLU(), np.array([0.0, 1.0]), Float64())
    with pytest.raises(InvalidInput, match="not analytic"):
        compose(ReLU(), Multiprecision(20).array([1.0, 1.0]), Multiprecision(20))


def test_an_activation_without_a_recurrence_is_refused():
    class Cubic(Activation):
        def expression(self, s):
            return s**3

    class Steeper(Tanh):
        def expression(self, s):
            return super().expression(2 * s)

    for activation in (Cubic(), Steeper()):
        with pytest.raises(InvalidInput, match="no series"):
            compose(activation, np.array([1.0, 1.0]), Float64())


def test_the_product_is_that_of_polynomials():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 6, 4))
    product = multiply(a, b)
    for column in range(4):
        expected = np.polynomial.polynomial.polymul(a[:, column], b[:, column])[:6]
        np.testing.assert_allclose(product[:, column], expected, atol=1e-14)
