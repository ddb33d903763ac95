"""The matrix simulator against its definition, gradients by differences of the stated loss; its laws; bad input.

The oracle knows nothing of gradients: `f` is affine in each entry of each weight matrix, so the loss is quadratic in
it, and a central difference with a step of 1 is its derivative exactly.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from numerics.descent import NEVER, Fixed, NormBalance, Uniform, descend
from numerics.linear_networks import Draw, LinearNetwork
from theory.errors import InvalidInput
from theory.layerwise_options import Gaussian, Inputs, Orthogonal, Updates, Vectors

ALARM = 1e-9


def outputs(x: np.ndarray, weights: list[np.ndarray], readout: np.ndarray | None) -> np.ndarray:
    """`f` at the rows of `x`, one run, as the module defines it."""
    h = len(weights[-1])
    for layer in weights:
        x = x @ layer
    return x / h if readout is None else x @ readout / math.sqrt(h)


def slow_losses(draw: Draw, run: int, rates, steps: int, updates: Updates) -> list[tuple[float, float]]:
    """Test and training losses of one run of a draw that kept its inputs."""
    weights = [layer[run].copy() for layer in draw.weights]
    readout = None if draw.readout is None else draw.readout[run]
    X, beta = draw.inputs[run], draw.target[run]
    noise = 0 if draw.label_noise is None else draw.label_noise[run]
    (n, d), y = X.shape, X @ beta + noise

    def train_loss(W):
        return ((outputs(X, W, readout) - y) ** 2).sum() / (2 * n)

    def moving_loss(W):  # signal-only: what the labels contribute to the gradient
        return -(outputs(X, W, readout) * y).sum() / n if updates is Updates.SIGNAL else train_loss(W)

    def test_loss(W):  # any points of covariance I give E‖xᵀD‖² exactly
        x = math.sqrt(d) * np.eye(d)
        return ((outputs(x, W, readout) - x @ beta) ** 2).sum() / d

    found = [(test_loss(weights), train_loss(weights))]
    for _ in range(steps):
        slopes = []
        for i, layer in enumerate(weights):
            slope = np.empty_like(layer)
            for entry in np.ndindex(layer.shape):
                ends = []
                for shift in (1, -1):
                    moved = [other.copy() for other in weights]
                    moved[i][entry] += shift
                    ends.append(moving_loss(moved))
                slope[entry] = (ends[0] - ends[1]) / 2
            slopes.append(slope)
        now = rates(weights)
        weights = [layer - rate * slope for layer, rate, slope in zip(weights, now, slopes, strict=True)]
        found.append((test_loss(weights), train_loss(weights)))
    return found


NETWORKS = [
    LinearNetwork(width=3),
    LinearNetwork(width=1, dimension=2, samples=3, noise=0.5),
    LinearNetwork(width=2, dimension=3, samples=4, noise=0.3),
    LinearNetwork(width=2, dimension=3, samples=5, initialisation=Gaussian(), inputs=Inputs.GAUSSIAN, noise=0.1),
    LinearNetwork(width=3, layers=3),
    LinearNetwork(width=2, dimension=3, layers=3, initialisation=Gaussian(), inputs=Inputs.GAUSSIAN, noise=0.2),
    LinearNetwork(width=2, layers=4, initialisation=Orthogonal(Vectors.GAUSSIAN), noise=0.1),
    LinearNetwork(width=2, dimension=3, layers=8),
]


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_losses_are_those_of_the_definition(network, updates):
    draw = network.sample(np.random.default_rng(1), batch=2, keep_inputs=True)
    rates = tuple(0.2 + 0.1 * i for i in range(len(draw.weights)))
    found = descend(draw, Fixed(rates), steps=3, updates=updates)
    for run in range(2):
        expected = np.array(slow_losses(draw, run, lambda weights: rates, 3, updates))
        assert np.allclose(found.test_loss[run], expected[:, 0], rtol=1e-12, atol=1e-13)
        assert np.allclose(found.train_loss[run], expected[:, 1], rtol=1e-12, atol=1e-13)
    assert (np.abs(np.diff(found.test_loss)) > 1e-3).any(), "nothing moved: the test could not fail"


def test_norm_balance_is_that_of_the_definition():
    network = LinearNetwork(width=2, dimension=3, initialisation=Gaussian())
    draw = network.sample(np.random.default_rng(2), keep_inputs=True)

    def balanced(weights):
        first, second = (math.sqrt((layer**2).sum()) for layer in weights)
        return 2 * second / (first + second) * 0.8, 2 * first / (first + second) * 0.8

    found = descend(draw, NormBalance(0.8), steps=4)
    expected = np.array(slow_losses(draw, 0, balanced, 4, Updates.FULL))
    assert np.allclose(found.test_loss[0], expected[:, 0], rtol=1e-12)
    assert not np.allclose(found.test_loss, descend(draw, Uniform(0.8), steps=4).test_loss, rtol=1e-4)


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("layers", [2, 3, 5])
def test_whitened_inputs_enter_through_their_covariance_alone(layers, updates):
    network = LinearNetwork(width=4, dimension=5, samples=7, layers=layers)
    runs = [
        descend(network.sample(np.random.default_rng(3), 6, keep_inputs=keep), Uniform(1.5), steps=10, updates=updates)
        for keep in (False, True)
    ]
    assert np.allclose(runs[0].test_loss, runs[1].test_loss, rtol=1e-10, atol=1e-12)
    assert np.allclose(runs[0].train_loss, runs[1].train_loss, rtol=1e-10, atol=1e-12)


def test_full_descent_learns_and_loses_nothing_to_rounding():
    """Below the threshold gradient descent interpolates; the loss is a sum of squares, so it may go far below 1e-16."""
    draw = LinearNetwork(width=8).sample(np.random.default_rng(4), 5)
    run = descend(draw, Uniform(0.5 * 8**1.5), steps=200)
    assert (run.divergence_step == NEVER).all()
    assert (run.test_loss[:, -1] < 1e-20).all()


def test_divergence_is_infinite_not_nan():
    draw = LinearNetwork(width=8, layers=3).sample(np.random.default_rng(5), 5)
    run = descend(draw, Uniform(1e4), steps=40)
    assert run.diverged.all()
    assert not np.isnan([run.test_loss, run.train_loss]).any()


@pytest.mark.parametrize("layers", [2, 4])
def test_orthogonal_laws(layers):
    network = LinearNetwork(width=3, dimension=5, samples=6, layers=layers)
    draw = network.sample(np.random.default_rng(6), 7, keep_inputs=True)
    assert [layer.shape for layer in draw.weights] == [(7, 5, 3)] + [(7, 3, 3)] * max(1, layers - 2)
    for layer in draw.weights:
        assert np.allclose(layer.swapaxes(1, 2) @ layer, np.eye(3), atol=1e-13)
    X = draw.inputs
    assert X is not None
    assert np.allclose(X.swapaxes(1, 2) @ X, 6 * np.eye(5), atol=1e-12)
    gram = draw.target.swapaxes(1, 2) @ draw.target
    if layers == 2:
        assert np.allclose(gram, np.eye(3) / 5, atol=1e-13)
    else:
        assert np.allclose(gram, 1, atol=1e-13)
        assert draw.readout is not None
        assert np.allclose(draw.readout.swapaxes(1, 2) @ draw.readout, 1, atol=1e-13)


@pytest.mark.parametrize(
    ("network", "variances"),
    [
        (LinearNetwork(width=3, dimension=5, initialisation=Gaussian(), noise=2.0), (1 / 5, 1 / 3, 1 / 25, None, 2.0)),
        (LinearNetwork(width=3, dimension=5, layers=4, initialisation=Gaussian()), (1 / 5, 1 / 3, 1 / 3, 1 / 3, None)),
        (
            LinearNetwork(width=3, layers=3, initialisation=Orthogonal(Vectors.GAUSSIAN)),
            (None, None, 1 / 3, 1 / 3, None),
        ),
    ],
)
def test_gaussian_laws(network, variances):
    draw = network.sample(np.random.default_rng(7), 2000)
    arrays = (draw.weights[0], draw.weights[-1], draw.target, draw.readout, draw.label_noise)
    for array, variance in zip(arrays, variances, strict=True):
        if variance is not None:
            # Σ x²/σ² is χ² with one degree per entry: exact bounds, false alarms 1e-9 for the five together
            low, high = stats.chi2.interval(1 - ALARM / 5, array.size)
            assert low <= np.square(array).sum() / variance <= high
            assert high < 1.3 * low, "the test would not see an error of 30 %"


def test_gaussian_inputs():
    draw = LinearNetwork(width=2, dimension=3, samples=4, inputs=Inputs.GAUSSIAN).sample(np.random.default_rng(8), 2000)
    assert draw.inputs is not None
    assert draw.inputs.shape == (2000, 4, 3)
    assert stats.kstest(draw.inputs.ravel(), stats.norm.cdf).pvalue >= ALARM


def test_a_run_does_not_depend_on_its_batch():
    draw = LinearNetwork(width=3, layers=3, noise=0.1).sample(np.random.default_rng(9), 4)
    whole = descend(draw, NormBalance(1.0), steps=5).test_loss
    for run in range(4):
        one = slice(run, run + 1)
        alone = Draw(
            tuple(layer[one] for layer in draw.weights),
            draw.target[one],
            draw.readout[one],
            draw.inputs[one],
            draw.label_noise[one],
        )
        assert np.allclose(descend(alone, NormBalance(1.0), steps=5).test_loss, whole[one], rtol=1e-12)


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"width": 0}, "width"),
        ({"width": 2.0}, "width"),
        ({"width": True}, "width"),
        ({"layers": 1}, "layers"),
        ({"layers": 2.5}, "layers"),
        ({"dimension": 2}, "dimension"),
        ({"dimension": 4.0}, "dimension"),
        ({"samples": 2}, "samples"),
        ({"dimension": 5, "samples": 4}, "samples"),
        ({"noise": -0.1}, "noise"),
        ({"noise": math.nan}, "noise"),
        ({"noise": math.inf}, "noise"),
        ({"inputs": "whitened"}, "inputs"),
        ({"initialisation": Orthogonal}, "initialisation"),
    ],
)
def test_network_refuses(changed, argument):
    with pytest.raises(InvalidInput) as refusal:
        LinearNetwork(**({"width": 3} | changed))
    assert refusal.value.argument == argument


@pytest.mark.parametrize("batch", [0, 1.0])
def test_sample_refuses(batch):
    with pytest.raises(InvalidInput, match="batch"):
        LinearNetwork(width=2, initialisation=Gaussian()).sample(np.random.default_rng(0), batch)


@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0)])
def test_sample_wants_a_generator(rng):
    with pytest.raises(InvalidInput, match="rng"):
        LinearNetwork(width=2).sample(rng)


def test_laws_and_schedules_given_as_text_or_numbers_are_refused():
    with pytest.raises(InvalidInput, match="vectors"):
        Orthogonal(vectors="unit")
    draw = LinearNetwork(width=2).sample(np.random.default_rng(0))
    for schedule in ("uniform", 1.0, None):
        with pytest.raises(InvalidInput, match="schedule"):
            descend(draw, schedule, steps=1)
