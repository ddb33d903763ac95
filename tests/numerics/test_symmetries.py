"""Maps of the parameters against the functions they should leave, and their generators against finite differences."""

import numpy as np
import pytest

from numerics.networks import MLP
from numerics.symmetries import balance, generators, permuted, rescaled, squares
from theory.activations import Identity, LeakyReLU, ReLU, Tanh
from theory.errors import InvalidInput
from theory.parametrisation import Parametrisation

NETWORKS = [
    MLP(3, (4, 5), 2),
    MLP(2, (3, 4), activation=LeakyReLU(), bias_std=0.5),
    MLP(2, (3,), activation=ReLU(), bias_std=1.0, parametrisation=Parametrisation.STANDARD),
    MLP(2, (2, 3, 2), 2, Identity()),
]


def drawn(network, batch=2, seed=0):
    rng = np.random.default_rng(seed)
    return network.sample(rng, batch), rng.standard_normal((6, network.dimension))


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_rescaling_leaves_the_function(network):
    parameters, X = drawn(network)
    for layer, units in enumerate(network.widths, start=1):
        image = rescaled(network, parameters, layer, np.linspace(0.5, 3, units))
        np.testing.assert_allclose(network(image, X), network(parameters, X), rtol=1e-11, atol=1e-12)
        assert not np.allclose(image, parameters)


@pytest.mark.parametrize("network", [*NETWORKS, MLP(2, (3, 3), activation=Tanh(), bias_std=1.0)], ids=str)
def test_permuting_leaves_the_function(network):
    parameters, X = drawn(network)
    for layer, units in enumerate(network.widths, start=1):
        image = permuted(network, parameters, layer, range(units)[::-1])
        np.testing.assert_allclose(network(image, X), network(parameters, X), rtol=1e-11, atol=1e-12)
        assert not np.allclose(image, parameters)
        np.testing.assert_array_equal(permuted(network, image, layer, range(units)[::-1]), parameters)


def test_rescaling_changes_a_function_that_is_not_homogeneous():
    network = MLP(2, (3,), activation=Tanh())
    parameters, X = drawn(network)
    assert not np.allclose(network(rescaled(network, parameters, 1, 2.0), X), network(parameters, X))


@pytest.mark.parametrize("network", [network for network in NETWORKS if network.activation != Identity()], ids=str)
def test_generators_are_derivatives_of_rescalings(network):
    parameters, _ = drawn(network)
    columns, h, column = generators(network, parameters), 1e-6, 0
    for layer, units in enumerate(network.widths, start=1):
        for unit in range(units):
            up, down = (rescaled(network, parameters, layer, np.exp(s * np.eye(units)[unit])) for s in (h, -h))
            np.testing.assert_allclose(columns[:, :, column], (up - down) / (2 * h), atol=1e-8)
            column += 1
    assert column == columns.shape[2]


def test_generators_of_linear_layers_are_derivatives_of_their_maps():
    network = NETWORKS[-1]
    parameters, _ = drawn(network, batch=1)
    columns, h, column = generators(network, parameters), 1e-6, 0
    for below, units in enumerate(network.widths):
        for i in range(units):
            for j in range(units):
                images = []
                for s in (h, -h):
                    S = np.eye(units)
                    S[i, j] += s
                    weights = [layer.weights[0].copy() for layer in network.layers(parameters)]
                    weights[below] = S @ weights[below]
                    weights[below + 1] = weights[below + 1] @ np.linalg.inv(S)
                    images.append(network.pack(weights))
                np.testing.assert_allclose(columns[0, :, column], (images[0] - images[1])[0] / (2 * h), atol=1e-8)
                column += 1
    assert column == columns.shape[2] == sum(units**2 for units in network.widths)


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_balance_unit_by_unit(network):
    parameters, _ = drawn(network)
    layers = network.layers(parameters)
    found = balance(network, parameters)
    assert [form.shape for form in found] == [(2, units, units) for units in network.widths]
    for index, form in enumerate(found):
        for net in range(2):
            for unit in range(network.widths[index]):
                biases = layers[index].biases
                own = (layers[index].weights[net, unit] ** 2).sum() + (0 if biases is None else biases[net, unit] ** 2)
                out = (layers[index + 1].weights[net, :, unit] ** 2).sum()
                assert form[net, unit, unit] == pytest.approx(out - own, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(squares(network, 2 * parameters)[0], 4 * found[0], rtol=1e-13)


def test_a_linear_model_has_no_symmetry():
    network = MLP(2, ())
    assert generators(network, [[1.0, 2.0]]).shape == (1, 2, 0)
    assert balance(network, [[1.0, 2.0]]) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda network, theta: permuted(network, theta, 0, range(4)),
        lambda network, theta: permuted(network, theta, 3, range(4)),
        lambda network, theta: permuted(network, theta, 1, [0, 0, 1, 2]),
        lambda network, theta: rescaled(network, theta, True, 2.0),
        lambda network, theta: rescaled(network, theta, 1, -1.0),
        lambda network, theta: rescaled(network, theta, 1, [1.0, 2.0]),
        lambda network, theta: rescaled(network, theta, 1, np.nan),
        lambda network, theta: generators(MLP(3, (4, 5), 2, Tanh()), theta),
        lambda network, theta: generators(MLP(3, (4, 5), 2, Identity(), bias_std=1.0), theta),
        lambda network, theta: balance(network, theta[:, 1:]),
    ],
)
def test_bad_input(wrong):
    network = NETWORKS[0]
    parameters, _ = drawn(network)
    with pytest.raises(InvalidInput):
        wrong(network, parameters)
