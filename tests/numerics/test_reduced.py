"""The reduced simulators against the matrices, run by run; their own draws against matrices' in law; bad input."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from numerics.descent import Fixed, NormBalance, Uniform, descend
from numerics.linear_networks import Draw, LinearNetwork
from numerics.reduced import ThreeLayers, TwoLayers
from theory.errors import InvalidInput
from theory.layerwise_options import Gaussian, Inputs, Orthogonal, Updates, Vectors

ALARM = 1e-9
SIZES = [1, 2, 3, 8, 41]


def assert_same_losses(draw, reduced, schedule, steps, updates):
    """The error `√loss` agrees to rounding, relative to itself or, where descent made it small, to the start."""
    matrices = descend(draw, schedule, steps=steps, updates=updates)
    found = descend(reduced, schedule, steps=steps, updates=updates)
    for literal, own in ((matrices.test_loss, found.test_loss), (matrices.train_loss, found.train_loss)):
        assert np.isfinite(literal).all()
        assert np.allclose(np.sqrt(own), np.sqrt(literal), rtol=1e-11, atol=1e-11)
    return matrices.test_loss


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("h", SIZES)
def test_two_layers_are_those_of_the_matrices(h, updates):
    """Small rates for many steps; rates near the threshold `h√h` and beyond for a few."""
    draw = LinearNetwork(width=h).sample(np.random.default_rng(h), 10)
    reduced, scale = TwoLayers.of(draw), h**1.5
    for schedule, steps in (
        (Fixed((0.2 * scale, 0.1 * scale)), 100),
        (NormBalance(0.15 * scale), 100),
        (Fixed((1.5 * scale, 0.5 * scale)), 3),
    ):
        losses = assert_same_losses(draw, reduced, schedule, steps, updates)
        assert (np.abs(losses[:, 1] - losses[:, 0]) > 1e-3 * losses[:, 0]).any()


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("vectors", Vectors)
@pytest.mark.parametrize("h", SIZES)
def test_three_layers_are_those_of_the_matrices(h, vectors, updates):
    network = LinearNetwork(width=h, layers=3, initialisation=Orthogonal(vectors))
    draw = network.sample(np.random.default_rng(h), 10)
    reduced = ThreeLayers.of(draw)
    for schedule, steps in (
        (Fixed((0.1 * math.sqrt(h), 0.05 * math.sqrt(h))), 100),
        (NormBalance(0.08 * math.sqrt(h)), 100),
        (Fixed((0.9 * h, 0.3 * h)), 2),
    ):
        losses = assert_same_losses(draw, reduced, schedule, steps, updates)
        assert (np.abs(losses[:, 1] - losses[:, 0]) > 1e-3 * losses[:, 0]).any()


def test_divergence_comes_at_the_same_step():
    for layers, kind in ((2, TwoLayers), (3, ThreeLayers)):
        draw = LinearNetwork(width=6, layers=layers).sample(np.random.default_rng(1), 10)
        matrices, own = (descend(task, Uniform(400.0), steps=30) for task in (draw, kind.of(draw)))
        assert matrices.diverged.all()
        assert np.array_equal(matrices.divergence_step, own.divergence_step)
        assert not np.isnan(own.test_loss).any()


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("h", [1, 3, 6])
def test_own_draws_have_the_law_of_the_matrices(layers, h):
    """Two-sample Kolmogorov-Smirnov on the loss after two steps, conservative with ties: false alarms `ALARM`."""
    schedule = Uniform(0.4 * h**1.5 if layers == 2 else 0.4 * h)
    draw = LinearNetwork(width=h, layers=layers).sample(np.random.default_rng(2), 20_000)
    own = (TwoLayers if layers == 2 else ThreeLayers).sample(np.random.default_rng(3), h, 20_000)
    losses = [descend(task, schedule, steps=2).test_loss[:, -1] for task in (draw, own)]
    assert stats.ks_2samp(losses[0].round(9), losses[1].round(9), method="asymp").pvalue >= ALARM


def test_gaussian_vectors_have_their_norms():
    own = ThreeLayers.sample(np.random.default_rng(4), 5, 5000, vectors=Vectors.GAUSSIAN)
    for norms in (own.readout_norm, own.target_norm):
        assert stats.kstest(5 * norms**2, stats.chi2(5).cdf).pvalue >= ALARM / 3
    assert stats.kstest((own.overlap + 1) / 2, stats.beta(2, 2).cdf).pvalue >= ALARM / 3


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("rates", [(0.3, 0.1), (1.0, 1.2)])
def test_expectation_is_exact_for_one_and_two_rows(rates, updates):
    """`O(1)` is ±1; in `O(2)` half of the matrices have eigenvalues 1, −1, the others `e^{±iθ}`, θ uniform."""

    def losses(h, angles, counts):
        schedule = Fixed(tuple(rate * h**1.5 for rate in rates))
        task = TwoLayers(h, np.array(angles, dtype=float), np.array(counts, dtype=float))
        return descend(task, schedule, steps=2, updates=updates).test_loss

    def expected(h):
        schedule = Fixed(tuple(rate * h**1.5 for rate in rates))
        return descend(TwoLayers.expectation(h), schedule, steps=2, updates=updates).test_loss[0]

    ends = losses(1, [[0.0], [math.pi]], [[1.0], [1.0]])
    assert np.allclose(expected(1), ends.mean(axis=0), rtol=1e-12)
    turns = np.linspace(0, 2 * math.pi, 1000, endpoint=False)[:, None]  # exact for polynomials of degree below 1000
    rotations = losses(2, turns, np.full(turns.shape, 2.0)).mean(axis=0)
    reflections = losses(2, [[0.0, math.pi]], [[1.0, 1.0]])[0]
    assert np.allclose(expected(2), (rotations + reflections) / 2, rtol=1e-12)


@pytest.mark.parametrize("updates", Updates)
def test_expectation_is_the_mean_of_the_matrices(updates):
    """By the normal approximation of a mean of bounded losses, false alarms `ALARM`, two-sided."""
    draw = LinearNetwork(width=5).sample(np.random.default_rng(5), 40_000)
    schedule = Fixed((0.8 * 5**1.5, 0.4 * 5**1.5))
    losses = descend(draw, schedule, steps=2, updates=updates).test_loss[:, 1:]
    predicted = descend(TwoLayers.expectation(5), schedule, steps=2, updates=updates).test_loss[0, 1:]
    bound = stats.norm.isf(ALARM / 4) * losses.std(axis=0, ddof=1) / math.sqrt(len(losses))
    assert (np.abs(losses.mean(axis=0) - predicted) <= bound).all()
    assert (bound < 0.05 * predicted).all(), "the test would not see an error of 5 %"


def test_expectation_before_the_first_step():
    """`Σ |1/h − z/√h|² = 1/h + 1 − 2 tr Z/(h√h)`, and `E tr Z = 0`."""
    for h in (1, 2, 7, 1000):
        run = descend(TwoLayers.expectation(h, nodes=8), Uniform(0.0), steps=0)
        assert np.allclose(run.test_loss, 1 + 1 / h, rtol=1e-13)


def test_expectation_has_no_norms():
    with pytest.raises(InvalidInput, match="constant rates"):
        descend(TwoLayers.expectation(3), NormBalance(1.0), steps=1)


@pytest.mark.parametrize(
    ("network", "argument"),
    [
        (LinearNetwork(width=3, dimension=4), "weights[0].shape"),
        (LinearNetwork(width=3, noise=0.1), "draw"),
        (LinearNetwork(width=3, inputs=Inputs.GAUSSIAN), "draw"),
        (LinearNetwork(width=3, initialisation=Gaussian()), "weights[0]"),
        (LinearNetwork(width=3, layers=4), "draw"),
    ],
)
@pytest.mark.parametrize("kind", [TwoLayers, ThreeLayers])
def test_other_networks_are_refused(kind, network, argument):
    if kind is ThreeLayers and network.layers == 2:
        network = dataclasses.replace(network, layers=3)
    with pytest.raises(InvalidInput) as refusal:
        kind.of(network.sample(np.random.default_rng(0)))
    assert refusal.value.argument == argument


def test_the_other_depth_is_refused():
    two, three = (LinearNetwork(width=3, layers=layers).sample(np.random.default_rng(0)) for layers in (2, 3))
    with pytest.raises(InvalidInput, match="without a readout"):
        TwoLayers.of(three)
    with pytest.raises(InvalidInput, match="and a readout"):
        ThreeLayers.of(two)
    with pytest.raises(InvalidInput, match="target"):
        TwoLayers.of(Draw(two.weights, 2 * two.target))


@pytest.mark.parametrize("size", [0, -1, 2.0, True])
def test_sizes_are_refused(size):
    rng = np.random.default_rng(0)
    for draw in (TwoLayers.sample, ThreeLayers.sample):
        with pytest.raises(InvalidInput, match="width"):
            draw(rng, size)
        with pytest.raises(InvalidInput, match="batch"):
            draw(rng, 2, size)
    with pytest.raises(InvalidInput, match="width"):
        TwoLayers.expectation(size)
    with pytest.raises(InvalidInput, match="nodes"):
        TwoLayers.expectation(2, size)


def test_vectors_are_refused():
    with pytest.raises(InvalidInput, match="vectors"):
        ThreeLayers.sample(np.random.default_rng(0), 2, vectors="unit")  # type: ignore[arg-type]
