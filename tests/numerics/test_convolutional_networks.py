"""Finite convolutional networks against loops over their definition, and their gradients against finite differences."""

import itertools
import math

import numpy as np
import pytest

from numerics import kernels
from numerics.activations import pointwise
from numerics.convolutional_networks import CNN, empirical_cntk
from numerics.empirical import as_matrix
from numerics.gradients import floats_per_point, pullback
from numerics.networks import chunks
from theory.activations import ReLU, Tanh
from theory.errors import InvalidInput
from theory.pooling import Pooling

POOLINGS = tuple(Pooling)
FALSE_ALARM = 5.5  # standard deviations: a Gaussian passes them with probability 4e-8


def by_loops(network: CNN, parameters: np.ndarray, image: np.ndarray) -> list[float]:
    """The outputs of one network at one image, from the definition."""
    phi, (height, width, _) = pointwise(network.activation).value, network.image_shape
    g = {pixel: image[pixel] for pixel in itertools.product(range(height), range(width))}
    position = 0
    for layer, size in enumerate(network.channels):
        below = (network.image_shape[2], *network.channels)[layer]
        W = parameters[position : position + 9 * below * size].reshape(size, 3, 3, below)
        position += W.size
        u = {
            (i, j): sum(
                W[:, a + 1, b + 1] @ g[i + a, j + b] / 3
                for a, b in itertools.product((-1, 0, 1), repeat=2)
                if (i + a, j + b) in g
            )
            for i, j in g
        }
        c_phi = 2.0 if network.activation == ReLU() else 1 / 0.394294490398
        g = {pixel: math.sqrt(c_phi / size) * phi(value) for pixel, value in u.items()}
    features = np.array(list(g.values()))
    V = parameters[position:].reshape(network.outputs, -1)
    if network.pooling is Pooling.MEAN:
        return (V @ features.mean(axis=0)).tolist()
    return (V @ features.ravel() / math.sqrt(height * width)).tolist()


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("channels", [(), (3,), (4, 2)])
@pytest.mark.parametrize("activation", [ReLU(), Tanh()], ids=str)
def test_definition(pooling: Pooling, channels: tuple[int, ...], activation) -> None:
    rng = np.random.default_rng(1)
    network = CNN((3, 2, 2), channels, pooling, outputs=2, activation=activation)
    parameters, images = network.sample(rng, 3), rng.standard_normal((4, 3, 2, 2))
    expected = [[by_loops(network, own, image) for image in images] for own in parameters]
    np.testing.assert_allclose(network(parameters, images), expected, rtol=1e-10, atol=1e-12)
    assert np.array_equal(network(parameters, images), network.forward(parameters, images).outputs)


def jacobian(network: CNN, parameters: np.ndarray, images: np.ndarray) -> np.ndarray:
    """By central differences, error about 1e-9: `(batch, n·o, P)`."""
    columns = []
    for step in 1e-6 * np.eye(network.parameter_count):
        difference = network(parameters + step, images) - network(parameters - step, images)
        columns.append(difference.reshape(len(parameters), -1) / 2e-6)
    return np.stack(columns, axis=2)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("channels", [(), (3,), (2, 3)])
def test_gradients(pooling: Pooling, channels: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    network = CNN((2, 3, 2), channels, pooling, outputs=2, activation=Tanh())
    parameters = network.sample(rng, 2)
    images, other = rng.standard_normal((3, 2, 3, 2)), rng.standard_normal((2, 2, 3, 2))
    J, J2 = jacobian(network, parameters, images), jacobian(network, parameters, other)

    cotangents = rng.standard_normal((2, 3, 2))
    pulled = pullback(network, parameters, network.forward(parameters, images), cotangents)
    np.testing.assert_allclose(pulled, np.einsum("br,brp->bp", cotangents.reshape(2, -1), J), atol=1e-7)

    found = empirical_cntk(network, parameters, images, other)
    for kernel, where in zip(found.layers, network.slices, strict=True):
        np.testing.assert_allclose(as_matrix(kernel), J[:, :, where] @ J2[:, :, where].swapaxes(1, 2), atol=1e-6)
    own = as_matrix(empirical_cntk(network, parameters, images).total)
    np.testing.assert_allclose(own, J @ J.swapaxes(1, 2), atol=1e-6)
    assert np.array_equal(as_matrix(found.freeze(1)), as_matrix(found.total - found.layers[0])) or channels


@pytest.mark.parametrize("pooling", POOLINGS)
def test_expected_kernel_of_one_layer_is_the_limit(pooling: Pooling) -> None:
    rng, count = np.random.default_rng(3), 4000
    images = rng.standard_normal((2, 2, 3))
    limit = kernels.cntk(images, depth=1, pooling=pooling)
    covariance = kernels.cnn_nngp(images, depth=1, pooling=pooling)
    network = CNN((2, 3, 1), (2,), pooling)
    parameters = network.sample(rng, count)
    found = empirical_cntk(network, parameters, images).total[:, :, 0, :, 0]
    outputs = network(parameters, images)[:, :, 0]
    for sample, mean in ((found, limit), (outputs[:, :, None] * outputs[:, None], covariance)):
        error = sample.std(axis=0, ddof=1) / math.sqrt(count)
        assert np.all(np.abs(sample.mean(axis=0) - mean) < FALSE_ALARM * error)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_wide_networks_have_the_kernel_of_the_limit(pooling: Pooling) -> None:
    images = np.random.default_rng(4).standard_normal((2, 2, 2))
    network = CNN.of_depth((2, 2, 1), width=512, depth=2, pooling=pooling)
    found = empirical_cntk(network, network.sample(np.random.default_rng(5)), images).total[0, :, 0, :, 0]
    expected = kernels.cntk(images, depth=2, pooling=pooling)
    # the standard deviation of an entry is about 2 sqrt(Θ_11 Θ_22/512), a tenth of the kernel
    assert np.abs(found - expected).max() < 0.5 * expected.max()
    assert np.abs(found - expected).max() > 1e-6 * expected.max()


def test_sampling_does_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    network = CNN((2, 2, 1), (3,), Pooling.MEAN)
    together = network.sample(np.random.default_rng(6), 5)
    monkeypatch.setattr("numerics.networks.WORKSPACE", 2 * 8 * network.parameter_count)
    parts = list(network.sample_chunks(np.random.default_rng(6), 5))
    assert [len(part) for part in parts] == [2, 2, 1]
    assert np.array_equal(np.concatenate(parts), together)
    assert len(list(chunks(5, network.parameter_count))) == 3
    images = np.random.default_rng(7).standard_normal((3, 2, 2))
    few = network(together, images), empirical_cntk(network, together, images).total
    monkeypatch.undo()
    np.testing.assert_allclose(network(together, images), few[0], rtol=1e-14)
    np.testing.assert_allclose(empirical_cntk(network, together, images).total, few[1], rtol=1e-13)


def test_sizes() -> None:
    network = CNN((4, 3, 2), (5, 6), Pooling.NONE, outputs=7)
    assert network.depth == 2
    assert network.shapes == ((5, 18), (6, 45), (7, 72))
    assert network.parameter_count == 5 * 18 + 6 * 45 + 7 * 72
    assert [weights.shape for weights in network.weights(network.sample(np.random.default_rng(0), 3))] == [
        (3, 5, 18),
        (3, 6, 45),
        (3, 7, 72),
    ]
    assert floats_per_point(network) > 12 * (2 + 5 + 6)


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"image_shape": (8, 8)}, "image_shape"),
        ({"image_shape": 8}, "image_shape"),
        ({"image_shape": (8, 0, 1)}, "image_shape[1]"),
        ({"channels": 4}, "channels"),
        ({"channels": (4, 0)}, "channels[1]"),
        ({"channels": (True,)}, "channels[0]"),
        ({"outputs": 0}, "outputs"),
        ({"pooling": "mean"}, "pooling"),
        ({"activation": "relu"}, "activation"),
    ],
)
def test_architecture_refuses(changed: dict, argument: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        CNN(**({"image_shape": (8, 8, 1), "channels": (4,), "pooling": Pooling.MEAN} | changed))
    assert refusal.value.argument == argument


def test_runs_refuse() -> None:
    network = CNN((2, 2, 1), (3,), Pooling.MEAN)
    parameters = network.sample(np.random.default_rng(0))
    for images in (np.ones((1, 2, 3)), np.ones((1, 2, 2, 2)), np.full((1, 2, 2), np.nan), np.ones((2, 2))):
        for run in (network, network.forward, lambda p, x: empirical_cntk(network, p, x)):
            with pytest.raises(InvalidInput, match="images"):
                run(parameters, images)
    for wrong in (parameters[0], parameters[:, :-1], np.full_like(parameters, np.inf), parameters[:0]):
        with pytest.raises(InvalidInput, match="parameters"):
            network(wrong, np.ones((1, 2, 2)))
    with pytest.raises(InvalidInput, match="overflow"):
        network(1e200 * np.ones_like(parameters), 1e200 * np.ones((1, 2, 2)))
    with pytest.raises(InvalidInput, match="batch"):
        network.sample(np.random.default_rng(0), 0)
