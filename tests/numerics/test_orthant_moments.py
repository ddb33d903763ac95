"""Second moments over orthants and on their edges, by sampling; in space, and in a plane."""

import math

import numpy as np
import pytest

from numerics.data import sphere
from numerics.orthant_moments import OrthantMoments

SPACE = sphere(np.random.default_rng(11), 4, 3)
PLANE = np.array([[math.cos(turn), math.sin(turn)] for turn in (0.0, 0.5, 1.1, 2.3)])
COUNT = 10**6  # five standard errors are a false alarm in two million


def moments(points: np.ndarray) -> OrthantMoments:
    return OrthantMoments.of(np.maximum(1 - points @ points.T, 0.0))  # rounded


def one(*indices: int) -> list[np.ndarray]:
    return [np.array([index]) for index in indices]


def preactivations(points: np.ndarray) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(COUNT, points.shape[1])) @ points.T


def on_edge(points: np.ndarray) -> np.ndarray:
    """Given `u_0 = 0`."""
    w = np.random.default_rng(1).normal(size=(COUNT, points.shape[1]))
    return (w - np.outer(w @ points[0], points[0])) @ points.T


def agrees(found: float, sample: np.ndarray) -> bool:
    return abs(found - sample.mean()) <= 5 * sample.std() / COUNT**0.5


@pytest.mark.parametrize("points", [SPACE, PLANE])
@pytest.mark.parametrize("orthant", [(0, 1, 2, 3), (0, 1, 2, 2), (2, 2, 1, 0, 2), (0, 1, 0, 1), (1, 1, 1, 1), (3, 1)])
def test_over_orthants(points: np.ndarray, orthant: tuple[int, ...]) -> None:
    u = preactivations(points)
    inside = np.all([u[:, i] > 0 for i in orthant], axis=0)
    found = moments(points)
    assert agrees(found.probability(np.array([orthant]))[0], inside.astype(float))
    for a, b in ((0, 1), (2, 2), (1, 3)):
        assert agrees(found.second(*one(a, b), np.array([orthant]))[0], u[:, a] * u[:, b] * inside)


@pytest.mark.parametrize("points", [SPACE, PLANE])
@pytest.mark.parametrize(
    ("orthant", "share"),
    [((1, 2, 3), 1.0), ((2, 1, 1), 1.0), ((2, 2, 2), 1.0), ((3,), 1.0), ((2, 0, 1), 0.5), ((0,), 0.5)],
)
def test_on_an_edge(points: np.ndarray, orthant: tuple[int, ...], share: float) -> None:
    """A point of the orthant that is the edge itself counts one half."""
    u = on_edge(points)
    inside = np.all([u[:, i] > 0 for i in orthant if i != 0] or [np.ones(COUNT)], axis=0)
    found = moments(points).edge(*one(0, 2), np.array([orthant]))[0]
    assert agrees(found, share * u[:, 2] * inside / math.sqrt(2 * math.pi))


def test_of_other_variables() -> None:
    """`a = u_0 − 2 u_3 + z` and `b = u_1 + 3 z` with an independent `z`."""
    u, z = preactivations(SPACE), np.random.default_rng(2).normal(size=COUNT)
    r, orthant = SPACE @ SPACE.T, np.array([[0, 1, 2, 1]])
    a, b = r[0] - 2 * r[3], r[1]
    found = moments(SPACE).second_of(np.array([a[1] + 3]), a[orthant], b[orthant], orthant)[0]
    inside = (u[:, :3] > 0).all(axis=1)
    assert agrees(found, (u[:, 0] - 2 * u[:, 3] + z) * (u[:, 1] + 3 * z) * inside)
    edge = on_edge(SPACE)
    sample = (edge[:, 0] - 2 * edge[:, 3]) * (edge[:, 1:3] > 0).all(axis=1) / math.sqrt(2 * math.pi)
    assert agrees(moments(SPACE).edge_of(*one(0), a[[0]], a[[[1, 2]]], np.array([[1, 2]]))[0], sample)


def test_nothing_on_its_own_edge() -> None:
    own = np.array([True])
    assert moments(SPACE).edge(*one(0, 2), np.array([[0, 1]]), own=own) == 0


@pytest.mark.parametrize("tilt", [1e-3, 1e-5, 1e-9])
def test_points_nearly_in_a_plane(tilt: float) -> None:
    """The moments are continuous where points come into a plane."""
    lifted = np.column_stack([PLANE, [0.0, tilt, -tilt, 0.5 * tilt]])
    lifted /= np.linalg.norm(lifted, axis=1)[:, None]
    orthant = np.array([[0, 1, 2, 3]])
    near, flat = (moments(points).second(*one(0, 1), orthant)[0] for points in (lifted, PLANE))
    assert near == pytest.approx(flat, abs=2 * tilt + 1e-6)
