"""The law of the change of inner products: its moments by sampling, and finite networks given their outputs."""

import math

import numpy as np
import pytest

from numerics import features, kernels
from numerics.data import sphere
from numerics.inner_products import Moments, change, integrated_product
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.trained_features import train_from_residual
from theory.errors import InvalidInput

POINTS = sphere(np.random.default_rng(11), 4, 3)
X = POINTS[:2]
RESIDUAL = np.array([2.0, -3.0])


def one(*indices: int) -> list[np.ndarray]:
    return [np.array([index]) for index in indices]


@pytest.mark.parametrize("orthant", [(0, 1, 2, 3), (0, 1, 2, 2), (2, 2, 1, 0), (0, 1, 0, 1), (1, 1, 1, 1)])
def test_second_moments_over_orthants(orthant: tuple[int, ...]) -> None:
    u = np.random.default_rng(0).normal(size=(10**6, 3)) @ POINTS.T
    inside = np.all([u[:, i] > 0 for i in orthant], axis=0)
    for a, b in ((0, 1), (2, 2), (1, 3)):
        sample = u[:, a] * u[:, b] * inside
        found = Moments.of(POINTS).second(*one(a, b), np.array([orthant]))[0]
        assert found == pytest.approx(sample.mean(), abs=5 * sample.std() / 1000)


@pytest.mark.parametrize(("orthant", "share"), [((1, 2, 3), 1.0), ((2, 1, 1), 1.0), ((2, 2, 2), 1.0), ((2, 0, 1), 0.5)])
def test_moments_on_an_edge(orthant: tuple[int, ...], share: float) -> None:
    """Given `u_0 = 0`; a point of the orthant that is the edge itself counts one half."""
    w = np.random.default_rng(1).normal(size=(10**6, 3))
    u = (w - np.outer(w @ POINTS[0], POINTS[0])) @ POINTS.T
    sample = share * u[:, 2] * np.all([u[:, i] > 0 for i in orthant if i != 0], axis=0) / math.sqrt(2 * math.pi)
    found = Moments.of(POINTS).edge(*one(0, 2), np.array([orthant]))[0]
    assert found == pytest.approx(sample.mean(), abs=5 * sample.std() / 1000)


def test_integrated_product_against_steps() -> None:
    kernel, steps = kernels.ntk(X, depth=1), 20_000
    times, width = np.linspace(0, 1.5, steps, endpoint=False), 1.5 / steps
    rates, modes = np.linalg.eigh(kernel)
    residuals = (np.exp(-np.outer(times + width / 2, rates)) * (modes.T @ RESIDUAL)) @ modes.T
    sums = np.cumsum(residuals, axis=0) * width - residuals * width / 2
    found = integrated_product(kernel, RESIDUAL, 1.5)
    assert found == pytest.approx(residuals.T @ sums * width, rel=1e-6)
    q = features.integrated_residual(kernel, RESIDUAL, 1.5)
    assert found + found.T == pytest.approx(np.outer(q, q))


def test_networks_given_their_outputs() -> None:
    """At width 1024: the standardised change has the mean 0 and the variance 1, up to the order m^(-1/2)."""
    method, count = GradientDescent(0.05, steps=20), 400
    network = MLP(3, (1024,))
    run = train_from_residual(network, np.random.default_rng(5), count, X, RESIDUAL, method, X_test=POINTS[2:])
    law = change(X, run.outputs - RESIDUAL, run.outputs, POINTS[2:], t=1.0)
    pairs = np.triu_indices(2)
    scores = ((run.change[:, 2:, 2:] - law.mean) / np.sqrt(law.variance))[:, *pairs]
    assert (np.abs(scores.mean(axis=0)) < 5.5 / count**0.5 + 0.15).all()  # three means: a false alarm in ten million
    assert (np.abs(scores.var(axis=0) - 1) < 5.5 * (2 / count) ** 0.5 + 0.15).all()
    alone = features.deviation(X, -RESIDUAL, [0.0, 0.0], POINTS[2:], t=1.0, depth=1)
    forgotten = ((law.mean - alone).mean(axis=0) / np.sqrt(law.variance.mean(axis=0)))[pairs]
    assert np.abs(forgotten).max() > 0.8  # what the means would miss


def test_one_training_point_at_itself_is_what_the_output_says() -> None:
    """There `d‖h‖²/dt = 2⟨h, ḣ⟩ = −2 r f`, at every width, with `r = r_0 e^{−2t}` and `f = r + y` in the limit."""
    x = np.eye(3)[:1]
    for f0, y in ((0.0, 1.0), (1.5, -0.5)):
        law = change(x, [y], [f0], x)
        assert law.variance == pytest.approx(0, abs=1e-12)
        assert law.mean[0, 0] == pytest.approx(-2 * ((f0 - y) ** 2 / 4 + (f0 - y) / 2 * y), rel=1e-12)


def test_batches_and_symmetry() -> None:
    f0 = np.random.default_rng(3).normal(size=(5, 2))
    law = change(X, [1.0, 2.0], f0, POINTS, t=0.8)
    assert law.mean.shape == law.variance.shape == (5, 4, 4)
    assert law.mean == pytest.approx(law.mean.swapaxes(1, 2))
    single = change(X, [1.0, 2.0], f0[3], POINTS, t=0.8)
    assert single.mean == pytest.approx(law.mean[3])
    assert single.variance == pytest.approx(law.variance[3])
    assert not change(X, [1.0, 2.0], f0, POINTS, t=0.0).mean.any()


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (2 * POINTS, "unit sphere"),
        (np.concatenate([POINTS, -POINTS[:1]]), "opposite"),
        (np.array([[1.0, 0, 0], [0, 1.0, 0], [0.6, 0.8, 0]]), "plane"),
        (POINTS[:, :2], "dimension"),
    ],
)
def test_bad_points_are_refused(points: np.ndarray, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        change(X, [0.0, 0.0], [1.0, 1.0], points)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(InvalidInput, match="t = -1"):
        change(X, [0.0, 0.0], [1.0, 1.0], POINTS, t=-1)
    with pytest.raises(InvalidInput, match="f0"):
        change(X, [0.0, 0.0], [1.0], POINTS)
    with pytest.raises(InvalidInput, match="X_train"):
        change(X[[0, 0]], [0.0, 0.0], [1.0, 1.0], POINTS)
