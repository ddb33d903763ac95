r"""Second derivatives along a direction: symmetric, the derivative of the gradient series, with the right norm."""

import numpy as np
import pytest

from numerics import jets
from numerics.hessian_jets import FEW, HessianSeries
from numerics.networks import MLP
from theory.activations import Erf, Identity, LeakyReLU, Softplus, Tanh
from theory.errors import InvalidInput

NETWORKS = [
    MLP(3, (5, 4), activation=Tanh(), bias_std=0.5),
    MLP(3, (6, 5, 4), activation=Softplus()),
    MLP(3, (9,), activation=Erf()),
    MLP(3, (7, 1), activation=Tanh()),
    MLP(3, (6, 6), activation=LeakyReLU()),
    MLP(3, ()),
]


def drawn(network: MLP):
    rng = np.random.default_rng(21)
    parameters, x, source = network.sample(rng), rng.standard_normal((1, 3)), rng.standard_normal((1, 3))
    return parameters, x, jets.gradient(network, parameters, source)


def gradient_coefficients(network: MLP, parameters, x, v, order: int) -> np.ndarray:
    run = jets.forward(network, parameters, x, v, order)
    deltas = [delta for delta, _ in jets.backward(network, parameters, run, v)]
    return np.stack(list(jets.gradient_series(network, run, deltas)))[order, 0, 0]


@pytest.mark.parametrize("network", NETWORKS, ids=repr)
@pytest.mark.parametrize("order", [0, 1, 3])
def test_it_is_the_derivative_of_the_gradient_series(network, order):
    """By a central difference of fourth order, with `v` held fixed."""
    parameters, x, v = drawn(network)
    matrix = HessianSeries.of(network, parameters, x, v, order).as_operator() @ np.eye(network.parameter_count)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-10, atol=1e-12)
    u, h = np.random.default_rng(0).standard_normal(network.parameter_count), 1e-3
    values = [gradient_coefficients(network, parameters + k * h * u, x, v, order) for k in (-2, -1, 1, 2)]
    slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    np.testing.assert_allclose(matrix @ u, slope, rtol=1e-6, atol=1e-7 * max(1.0, np.abs(slope).max()))


@pytest.mark.parametrize("network", NETWORKS, ids=repr)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_norm_in_reduced_coordinates_is_that_of_the_matrix(network, order):
    parameters, x, v = drawn(network)
    hessian = HessianSeries.of(network, parameters, x, v, order)
    matrix = hessian.as_operator() @ np.eye(network.parameter_count)
    assert hessian.spectral_norm() == pytest.approx(np.linalg.norm(matrix, 2), rel=1e-8, abs=1e-14)


def test_lanczos_agrees_with_the_matrix_beyond_few_coordinates():
    network = MLP(3, (24, 24), activation=Tanh(), bias_std=0.5)
    parameters, x, v = drawn(network)
    assert network.parameter_count > 5 * FEW
    hessian = HessianSeries.of(network, parameters, x, v, 1)
    matrix = hessian.as_operator() @ np.eye(network.parameter_count)
    assert hessian.spectral_norm() == pytest.approx(np.linalg.norm(matrix, 2), rel=1e-7)


def test_a_zero_operator_has_norm_zero():
    network = MLP(3, (4,), activation=Identity())
    parameters, x, v = drawn(network)
    hessian = HessianSeries.of(network, parameters, x, v, 1)
    assert hessian.spectral_norm() == 0  # F is quadratic in its parameters
    for tolerance in ("x", -1, 0, 1, np.inf, np.nan):  # refused though there is nothing to iterate on
        with pytest.raises(InvalidInput, match="tolerance"):
            hessian.spectral_norm(tolerance)
