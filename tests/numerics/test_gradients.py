"""Pullbacks against the Jacobian that is written out."""

import numpy as np
import pytest

from numerics.empirical import jacobian
from numerics.gradients import floats_per_point, pullback
from numerics.networks import MLP
from theory.activations import Erf, ReLU, Tanh
from theory.errors import InvalidInput
from theory.parametrisation import Parametrisation


@pytest.mark.parametrize("parametrisation", list(Parametrisation))
@pytest.mark.parametrize(
    ("widths", "outputs", "bias_std", "activation"),
    [((), 2, 0.0, ReLU()), ((7,), 1, 0.0, Tanh()), ((5, 1, 6), 3, 0.4, Erf()), ((8, 4), 2, 1.3, ReLU())],
)
def test_it_is_the_transposed_jacobian(widths, outputs, bias_std, activation, parametrisation):
    network = MLP(3, widths, outputs, activation, bias_std, parametrisation)
    rng = np.random.default_rng(0)
    parameters, X = network.sample(rng, 4), rng.normal(size=(6, 3))
    cotangents = rng.normal(size=(4, 6, outputs))
    found = pullback(network, parameters, network.forward(parameters, X), cotangents)
    expected = np.einsum("bnp,bn->bp", jacobian(network, parameters, X), cotangents.reshape(4, -1))
    # sums of a few dozen products: a relative rounding error below 1e-13 of the largest
    assert np.allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_the_arguments_stay_as_they_are():
    network, rng = MLP(2, (3,), bias_std=1.0), np.random.default_rng(1)
    parameters, cotangents = network.sample(rng, 2), rng.normal(size=(2, 4, 1))
    run, before = network.forward(parameters, rng.normal(size=(4, 2))), (parameters.copy(), cotangents.copy())
    first = pullback(network, parameters, run, cotangents)
    assert np.array_equal(parameters, before[0])
    assert np.array_equal(cotangents, before[1])
    assert np.array_equal(pullback(network, parameters, run, cotangents), first)


def test_another_kind_of_network_is_refused():
    for call in (lambda: pullback("network", np.ones((1, 1)), None, np.ones((1, 1, 1))), lambda: floats_per_point(3)):
        with pytest.raises(InvalidInput, match="register"):
            call()
