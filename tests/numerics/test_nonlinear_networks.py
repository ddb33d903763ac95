"""ReLU networks against their definition, gradients by differences of the stated loss; the linear case; bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.descent import NormBalance, Uniform, descend
from numerics.linear_networks import LinearNetwork
from numerics.nonlinear_networks import NonlinearDraw, NonlinearNetwork
from theory.activations import Identity, ReLU
from theory.errors import InvalidInput
from theory.layerwise_options import Updates

SHIFT = 1e-5  # of a central difference


def forward(x: np.ndarray, weights: list[np.ndarray], readout: np.ndarray) -> tuple[np.ndarray, float]:
    """ReLU: `f` at the rows of `x`, one run; and how near a preactivation comes to the kink.

    A preactivation is exactly 0 where all that feeds it is cut off; moving one entry a little leaves it there.
    """
    near = math.inf
    for layer in weights:
        u = x @ layer
        near, x = min(near, np.abs(u[u != 0]).min()), np.maximum(u, 0)
    return x @ readout / math.sqrt(len(readout)), near


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("layers", [3, 4])
def test_losses_are_those_of_the_definition(layers, updates):
    """Away from kinks the loss is quadratic in each entry, so a central difference is off by rounding alone."""
    linear = LinearNetwork(width=3, dimension=4, samples=5, layers=layers, noise=0.2)
    draw = NonlinearNetwork(linear=linear, test_points=6).sample(np.random.default_rng(1))
    weights = [layer[0].copy() for layer in draw.weights]
    X, beta, a = draw.linear.inputs[0], draw.linear.target[0], draw.linear.readout[0]
    y, x = X @ beta + draw.linear.label_noise[0], draw.test_inputs[0]

    def moving_loss(W):
        f, _ = forward(X, W, a)
        return -(f * y).sum() / 5 if updates is Updates.SIGNAL else ((f - y) ** 2).sum() / 10

    def losses(W):
        return ((forward(x, W, a)[0] - x @ beta) ** 2).mean(), ((forward(X, W, a)[0] - y) ** 2).sum() / 10

    expected = [losses(weights)]
    for _ in range(3):
        assert forward(X, weights, a)[1] > 20 * SHIFT, "too near a kink: choose another seed"
        slopes = []
        for i, layer in enumerate(weights):
            slope = np.empty_like(layer)
            for entry in np.ndindex(layer.shape):
                ends = []
                for shift in (SHIFT, -SHIFT):
                    moved = [other.copy() for other in weights]
                    moved[i][entry] += shift
                    ends.append(moving_loss(moved))
                slope[entry] = (ends[0] - ends[1]) / (2 * SHIFT)
            slopes.append(slope)
        weights = [layer - 0.7 * slope for layer, slope in zip(weights, slopes, strict=True)]
        expected.append(losses(weights))
    found = descend(draw, Uniform(0.7), steps=3, updates=updates)
    # a difference is off by some 1e-16/SHIFT, and three steps follow one another
    assert np.allclose(np.stack([found.test_loss[0], found.train_loss[0]], axis=1), expected, rtol=1e-9, atol=1e-10)
    assert abs(found.test_loss[0, -1] - found.test_loss[0, 0]) > 1e-3


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("layers", [3, 5])
def test_identity_is_the_linear_network(layers, updates):
    linear = LinearNetwork(width=4, dimension=5, samples=6, layers=layers, noise=0.3)
    draw = linear.sample(np.random.default_rng(2), 3, keep_inputs=True)
    points = np.tile(math.sqrt(5) * np.eye(5), (3, 1, 1))  # of covariance I, so their mean is the expectation
    schedule = NormBalance(0.8) if layers == 3 else Uniform(0.8)
    found = descend(NonlinearDraw(draw, points, Identity()), schedule, steps=20, updates=updates)
    expected = descend(draw, schedule, steps=20, updates=updates)
    assert np.allclose(found.test_loss, expected.test_loss, rtol=1e-10)
    assert np.allclose(found.train_loss, expected.train_loss, rtol=1e-10)


def test_relu_learns_and_divergence_is_named():
    network = NonlinearNetwork(linear=LinearNetwork(width=16, layers=3))
    draw = network.sample(np.random.default_rng(3), 3)
    run = descend(draw, Uniform(1.0), steps=100)
    assert not run.diverged.any()
    assert (run.train_loss[:, -1] < 0.2 * run.train_loss[:, 0]).all()
    wild = descend(draw, Uniform(1e4), steps=30)
    assert wild.diverged.any()
    assert not np.isnan(wild.test_loss).any()


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"linear": LinearNetwork(width=2)}, "layers"),
        ({"activation": "relu"}, "activation"),
        ({"test_points": 0}, "test_points"),
        ({"test_points": 2.0}, "test_points"),
    ],
)
def test_network_refuses(changed, argument):
    with pytest.raises(InvalidInput) as refusal:
        NonlinearNetwork(**({"linear": LinearNetwork(width=2, layers=3), "activation": ReLU()} | changed))
    assert refusal.value.argument == argument
