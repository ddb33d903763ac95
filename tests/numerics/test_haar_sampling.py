"""Haar matrices and their eigen-angles: exact moments, the law against that of matrices, exact properties, bad input.

The moments are those of Weingarten calculus for O(h): `E Q_11² = 1/h`, `E Q_11² Q_22² = (h+1)/(h(h−1)(h+2))`,
`E Q_11 Q_12 Q_21 Q_22 = −1/(h(h−1)(h+2))`, and `E tr Z^k = 1` for even `k >= 1`, 0 for odd ones.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from numerics.haar_sampling import haar_eigenangles, haar_orthogonal
from theory.errors import InvalidInput

ALARM = 1e-9  # false alarms of one test, two-sided, by the normal approximation of a mean of many


def assert_means(observed: np.ndarray, expected: np.ndarray, sees: float) -> None:
    """Column means of `observed (count, tests)`; `sees` is an error that the test must not miss."""
    bound = stats.norm.isf(ALARM / 2 / len(expected)) * observed.std(axis=0, ddof=1) / math.sqrt(len(observed))
    assert (np.abs(observed.mean(axis=0) - expected) <= bound + 1e-12).all()
    assert bound.max() < sees


def traces(angles: np.ndarray, counts: np.ndarray, powers: range) -> np.ndarray:
    return np.stack([np.einsum("bk,bk->b", counts, np.cos(power * angles)) for power in powers], axis=1)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 2), (3, 1), (5, 3), (40, 40), (130, 70)])
def test_columns_are_orthonormal(rows, columns):
    Q = haar_orthogonal(np.random.default_rng(0), 4, rows, columns)
    assert Q.shape == (4, rows, columns)
    assert np.abs(Q.swapaxes(1, 2) @ Q - np.eye(columns)).max() < 1e-14


@pytest.mark.parametrize("h", [2, 3, 5])
def test_matrices_have_the_moments_of_haar(h):
    Q = haar_orthogonal(np.random.default_rng(h), 60_000, h)
    a, b, c, d = Q[:, 0, 0], Q[:, 0, -1], Q[:, -1, 0], Q[:, -1, -1]
    cycle = h * (h - 1) * (h + 2)
    observed = np.stack([a, b, c, d, np.linalg.det(Q), a * d, a**2, d**2, a**2 * d**2, b**2 * c**2, a * b * c * d])
    expected = [0] * 6 + [1 / h] * 2 + [(h + 1) / cycle] * 2 + [-1 / cycle]
    assert_means(observed.T, np.array(expected), sees=0.03)


def test_tall_matrices_have_the_moments_of_haar():
    Q = haar_orthogonal(np.random.default_rng(1), 60_000, 4, 2)
    observed = np.stack([Q[:, 0, 0], Q[:, 3, 1], Q[:, 3, 1] ** 2, Q[:, 0, 1] ** 2, Q[:, 0, 0] ** 2 * Q[:, 1, 1] ** 2])
    assert_means(observed.T, np.array([0, 0, 1 / 4, 1 / 4, 5 / 72]), sees=0.02)


@pytest.mark.parametrize("h", [1, 2, 3, 4, 7, 12])
def test_eigenangles_have_the_traces_of_haar(h):
    """The mean of `tr Z^k` at every size; its square, `k + [k even]`, as long as `2k <= h` (Diaconis, Shahshahani)."""
    angles, counts = haar_eigenangles(np.random.default_rng(h), 60_000, h)
    powers = range(1, 9)
    means = [1 - power % 2 for power in powers]
    found = traces(angles, counts, powers)
    assert_means(found, np.array(means), sees=0.1)
    small = h // 2
    if small:
        squares = np.array([power + 1 - power % 2 for power in powers][:small], dtype=float)
        assert_means(found[:, :small] ** 2, squares, sees=0.5)


@pytest.mark.parametrize("h", [4, 5])
def test_eigenangles_have_the_law_of_those_of_matrices(h):
    """Two-sample Kolmogorov-Smirnov, conservative with ties (at 0 and π): `ALARM` for both statistics together."""
    angles, counts = haar_eigenangles(np.random.default_rng(2), 20_000, h)
    z = np.linalg.eigvals(haar_orthogonal(np.random.default_rng(3), 20_000, h))
    theirs = np.sort(np.abs(np.angle(z)), axis=1)
    theirs[theirs < 1e-7], theirs[theirs > math.pi - 1e-7] = 0.0, math.pi  # eigenvalues ±1 are rounded there
    smallest = angles.min(axis=1)
    spread = traces(angles, counts, range(2, 3))[:, 0]
    for ours, matrices in ((smallest, theirs[:, 0]), (spread, np.cos(2 * theirs).sum(axis=1))):
        assert stats.ks_2samp(ours.round(9), matrices.round(9), method="asymp").pvalue >= ALARM / 2


@pytest.mark.parametrize("h", [1, 2, 3, 4, 9, 10])
def test_eigenvalues_are_counted(h):
    angles, counts = haar_eigenangles(np.random.default_rng(4), 1000, h)
    assert angles.shape == counts.shape == (1000, h // 2 + 1)
    assert (counts.sum(axis=1) == h).all()
    assert ((angles >= 0) & (angles <= math.pi)).all()
    # a real eigenvalue is ±1, and their product with the pairs' 1 is the determinant: both signs occur
    single = counts == 1
    assert np.isin(angles[single], [0.0, math.pi]).all()
    assert single.sum(axis=1).max() <= 2
    if h % 2:
        assert (single.sum(axis=1) == 1).all()
    determinant = np.where(single & (angles > 1), -1, 1).prod(axis=1)
    assert abs(determinant.mean()) <= stats.norm.isf(ALARM / 2) / math.sqrt(1000)


@pytest.mark.parametrize(
    ("sizes", "argument"),
    [((0, 2), "batch"), ((1, 0), "rows"), ((1, 2.0), "rows"), ((1, 2, 3), "columns"), ((1, 2, 0), "columns")],
)
def test_matrices_refuse(sizes, argument):
    with pytest.raises(InvalidInput) as refusal:
        haar_orthogonal(np.random.default_rng(0), *sizes)
    assert refusal.value.argument == argument


@pytest.mark.parametrize(("batch", "size", "argument"), [(0, 2, "batch"), (1, 0, "size"), (1, True, "size")])
def test_eigenangles_refuse(batch, size, argument):
    with pytest.raises(InvalidInput) as refusal:
        haar_eigenangles(np.random.default_rng(0), batch, size)
    assert refusal.value.argument == argument
