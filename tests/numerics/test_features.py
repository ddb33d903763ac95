"""The limit of moving features against the expectation that defines it, against trained networks, and at its edges."""

import math

import numpy as np
import pytest
from scipy.linalg import expm
from sympy import Integer, Rational

from numerics import certified_features, features, kernels
from numerics.certify import certify
from numerics.data import sphere
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.trained_features import summed_residual, train_from_residual
from theory.errors import InvalidInput

X, TESTED = sphere(np.random.default_rng(1), 3, 4), sphere(np.random.default_rng(2), 2, 4)
EVERY = np.concatenate([X, TESTED])
Y, START = np.array([1.0, -0.5, 2.0]), np.array([0.3, 0.2, -0.1])


def integrated(t: float, depth: int) -> np.ndarray:
    """`q_t` by a matrix exponential."""
    kernel = kernels.ntk(X, depth=depth)
    return np.linalg.solve(kernel, (np.eye(3) - expm(-kernel * t)) @ (START - Y))


def by_sampling(q: np.ndarray, depth: int, count: int = 10**6) -> tuple[np.ndarray, np.ndarray]:
    """`D` on all points with the means over Gaussians sampled, and its standard errors, added up over the layers."""
    rng, n = np.random.default_rng(depth), len(q)
    correlations = [EVERY @ EVERY.T]
    slopes, tangents = [], [correlations[0]]
    for _ in range(depth):
        angle = np.arccos(np.clip(correlations[-1], -1, 1))
        slopes.append(1 - angle / np.pi)
        correlations.append((np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi)
        tangents.append(tangents[-1] * slopes[-1] + correlations[-1])
    total, error = np.zeros((5, 5)), np.zeros((5, 5))
    for layer in range(depth):
        back = np.prod([np.ones((n, n)), *(slope[:n, :n] for slope in slopes[layer + 1 :])], axis=0)
        roots = [np.linalg.cholesky(matrix + 1e-12 * np.eye(len(matrix))) for matrix in (correlations[layer], back)]
        active = rng.normal(size=(count, 5)) @ roots[0].T > 0
        signals = rng.normal(size=(count, n)) @ roots[1].T
        moved = active * ((active[:, :n] * signals * q) @ tangents[layer][:n])
        mean, square = moved.T @ moved / count, (moved**2).T @ moved**2 / count
        total = 2 * mean + slopes[layer] * total
        error = 2 * np.sqrt((square - mean**2) / count) + slopes[layer] * error
    return total, error


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_against_its_definition_by_sampling(depth: int) -> None:
    found = features.deviation(X, Y, START, EVERY, t=2.0, depth=depth)
    right, error = by_sampling(integrated(2.0, depth), depth)
    assert (np.abs(found - right) < 6 * error + 1e-9).all()  # 25 entries: a false alarm in ten million
    assert np.linalg.eigvalsh(found)[0] > -1e-12


@pytest.mark.parametrize("depth", [1, 2])
def test_against_trained_networks(depth: int) -> None:
    """The mean relative distance at width 512 is about 0.08; that of a lower layer left out, or of 3/2, far more."""
    method, residual = GradientDescent(0.1, steps=8), np.array([1.0, -1.0, 0.5])
    network = MLP.of_depth(4, width=512, depth=depth)
    run = train_from_residual(network, np.random.default_rng(7), 20, X, residual, method, X_test=TESTED)
    q = summed_residual(kernels.ntk(X, depth=depth), residual, method)
    limit = features.deviation_given(X, q, EVERY, depth=depth)
    apart = np.linalg.norm(run.products_of_changes - limit, axis=(1, 2)) / np.linalg.norm(limit)
    assert apart.mean() < 0.16
    assert np.linalg.norm(run.products_of_changes.mean(axis=0) - limit) < 0.1 * np.linalg.norm(limit)


def test_layers_add_up_and_lower_ones_count() -> None:
    q = np.array([0.3, -0.2, 0.5])
    parts = features.deviation_layers(X, q, TESTED, depth=3)
    assert parts.shape == (3, 2, 2)
    assert parts.sum(axis=0) == pytest.approx(features.deviation_given(X, q, TESTED, depth=3))
    assert (np.diagonal(parts, axis1=1, axis2=2) > 1e-3).all()


def test_time() -> None:
    at = [features.deviation(X, Y, START, TESTED, t=t, depth=2) for t in (0.0, 1e-8, 50.0, 1e6, math.inf)]
    assert not at[0].any()
    slope = features.deviation_given(X, START - Y, TESTED, depth=2)
    assert at[1] == pytest.approx(1e-16 * slope, rel=1e-6)
    assert at[2] == pytest.approx(at[4], rel=1e-4)
    assert at[3] == pytest.approx(at[4], rel=1e-10)
    assert not features.deviation(X, Y, Y, TESTED, depth=2).any()  # nothing to learn


def test_norms_scale_out() -> None:
    scales = np.array([2.0, 0.5, 3.0])
    kernel = np.outer(scales, scales) * kernels.ntk(X, depth=2)
    q = np.linalg.solve(kernel, START - Y)
    found = features.deviation(scales[:, None] * X, Y, START, np.concatenate([4 * TESTED, 0 * TESTED[:1]]), depth=2)
    assert found[:2, :2] == pytest.approx(16 * features.deviation_given(X, scales * q, TESTED, depth=2))
    assert not found[2].any()


def test_equal_points_count_once() -> None:
    """A point twice with one label trains like one with twice the time; contradictory labels pull at their mean."""
    twice = features.deviation(X[[0, 0]], [1.0, 1.0], [0.0, 0.0], TESTED, t=0.7, depth=2)
    assert twice == pytest.approx(features.deviation(X[:1], [1.0], [0.0], TESTED, t=1.4, depth=2))
    torn = features.deviation(X[[0, 0]], [3.0, -1.0], [0.0, 0.0], TESTED, depth=2)
    assert torn == pytest.approx(features.deviation(X[:1], [1.0], [0.0], TESTED, depth=2))


@pytest.mark.parametrize(
    ("depth", "point", "moves"), [(1, 0, False), (1, 1, False), (2, 0, True), (2, 1, False), (3, 1, True)]
)
def test_when_nothing_moves(depth: int, point: int, moves: bool) -> None:
    """A point orthogonal to the training point, and its opposite."""
    x = np.eye(3)[[1, 0]] * [[1.0], [-1.0]]
    found = features.deviation_given(np.eye(3)[:1], [1.0], x, depth=depth)[point, point]
    assert found > 1e-3 if moves else found == pytest.approx(0, abs=1e-15)


def test_one_training_point_with_guaranteed_digits() -> None:
    rho = {"rho_12": Rational(1, 2), "rho_x1": Rational(1, 3), "rho_x2": Rational(-1, 4)}
    correlations = np.array([[1, 1 / 3, -1 / 4], [1 / 3, 1, 1 / 2], [-1 / 4, 1 / 2, 1]])
    points = np.linalg.cholesky(correlations)
    for depth in (1, 2, 6):
        at = rho | {"L": Integer(depth), "q": Rational(3, 2)}
        value = certify(lambda at=at: certified_features.feature_deviation(at, 160), 30)
        found = features.deviation_given(points[:1], [1.5], points[1:], depth=depth)[0, 1]
        assert found == pytest.approx(float(value), rel=1e-12)


@pytest.mark.parametrize(("rho", "depth"), [((0, 0, 0), 1), ((1, -1, -1), 1), ((1, -1, -1), 2), ((-1, 1, -1), 2)])
def test_the_zeros_are_exact(rho: tuple[int, int, int], depth: int) -> None:
    at = dict(zip(certified_features.PAIRS, map(Integer, rho), strict=True)) | {"L": Integer(depth), "q": Integer(1)}
    assert certify(lambda: certified_features.feature_deviation(at, 160), 30).value == "0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": -1.0}, "t = -1.0"),
        ({"t": math.nan}, "t = nan"),
        ({"t": "long"}, "t = long"),
        ({"depth": 0}, "depth = 0"),
        ({"depth": 1.5}, "depth = 1.5"),
        ({"depth": 10**6}, "at most 10000"),
        ({"y": [1.0, 2.0]}, "y = "),
        ({"f0": [1.0, 2.0, math.inf]}, "f0 = "),
        ({"f0": ["a", "b", "c"]}, "f0 = "),
        ({"X": TESTED[:, :2]}, "dimension"),
        ({"X_train": X[0]}, "X_train"),
        ({"X": TESTED * math.nan}, "finite"),
    ],
)
def test_bad_input_is_refused(change: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        features.deviation(**{"X_train": X, "y": Y, "f0": START, "X": TESTED, "depth": 2, **change})


def test_certified_bad_input_is_refused() -> None:
    at = dict.fromkeys(certified_features.PAIRS, Rational(-9, 10)) | {"L": Integer(1), "q": Integer(1)}
    with pytest.raises(InvalidInput, match="< 0"):
        certified_features.feature_deviation(at, 60)
    with pytest.raises(InvalidInput, match="at most 10000"):
        certified_features.feature_deviation(at | {"L": Integer(10**6)}, 60)


def test_numbers_whose_products_overflow_are_refused():
    with pytest.raises(InvalidInput, match="overflow"):
        features.deviation(np.eye(2), [1e300, 0.0], [0.0, 0.0], np.eye(2), depth=1)
