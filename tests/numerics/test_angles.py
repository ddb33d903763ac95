"""Angles between rows against Arb, on the exact vectors that the floats are."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb, fmpq

from numerics.angles import SPHERE_SLACK, Points, angles, cosines
from numerics.data import sphere, sphere_pair


@pytest.fixture(autouse=True)
def precision():
    before, flint.ctx.prec = flint.ctx.prec, 400
    yield
    flint.ctx.prec = before


def exact_angle(x: np.ndarray, y: np.ndarray) -> arb:
    """`2 arctan(‖x̂ − ŷ‖/‖x̂ + ŷ‖)` of the vectors as stored."""
    x, y = ([arb(fmpq(*Fraction(entry).as_integer_ratio())) for entry in row.tolist()] for row in (x, y))
    norms = [sum((entry**2 for entry in row), arb(0)).sqrt() for row in (x, y)]
    apart, along = (
        sum(((a / norms[0] + sign * b / norms[1]) ** 2 for a, b in zip(x, y, strict=True)), arb(0)).sqrt()
        for sign in (-1, 1)
    )
    return 2 * arb.atan2(apart, along)


def found_angle(x: np.ndarray, y: np.ndarray) -> float:
    first, second = Points.of(x[None]), Points.of(y[None])
    return float(angles(first, second, cosines(first, second))[0, 0])


@pytest.mark.parametrize("dimension", [2, 64, 1000])
@pytest.mark.parametrize("angle", [10.0**-k for k in range(1, 16, 2)] + [0.2, 0.25, 1.0, 2.0, 3.0, math.pi - 1e-7])
def test_angles_of_the_sphere(angle: float, dimension: int) -> None:
    x, y = sphere_pair(np.random.default_rng(dimension), dimension, angle=angle)
    error = abs(float(found_angle(x, y) - exact_angle(x, y)))
    # near 0 relative, until the rows' distance 1e-16 from the sphere shows; elsewhere the cosine's over the sine
    near, far = 4e-15 * angle + 1e-31 / angle, 1.5e-15 / math.sin(min(angle, math.pi - 0.2))
    assert error <= (near if angle < 0.2 else far)


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 1.0, 3.0])
def test_angles_do_not_see_the_norms(angle: float) -> None:
    x, y = sphere_pair(np.random.default_rng(0), 20, angle=angle)
    for scale in (1e-200, 3.0, 1e150):
        assert abs(float(found_angle(scale * x, 7 * y) - exact_angle(scale * x, 7 * y))) < 1e-15
    assert found_angle(2.0**500 * 3 * x, 2.0**-500 * 3 * y) == found_angle(3 * x, 3 * y)


def test_equal_and_opposite_rows() -> None:
    X = sphere(np.random.default_rng(1), 5, 300) * np.array([1, 1, 2.5, 1e-3, 1e160])[:, None]
    for sign, expected in ((1, 0.0), (-1, math.pi)):
        first, second = Points.of(X), Points.of(sign * X)
        assert np.all(np.diag(angles(first, second, cosines(first, second))) == expected)


def test_more_near_pairs_than_are_gathered_at_once() -> None:
    X = 1 + 1e-4 * np.random.default_rng(2).standard_normal((40, 5000))
    points = Points.of(X)
    found = angles(points, points, cosines(points, points))
    assert found[3, 31] == found_angle(X[3], X[31])
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize("dimension", [1, 7, 64, 784, 3072, 100_000])
def test_normalised_rows_are_on_the_sphere(dimension: int) -> None:
    X = np.random.default_rng(dimension).standard_normal((20, dimension))
    for unit in (X / np.linalg.norm(X, axis=1, keepdims=True), X / np.sqrt(np.sum(X**2, axis=1))[:, None]):
        points = Points.of(unit)
        assert np.all(points.norms == 1)
        assert points.units is unit


def test_rows_near_the_sphere_keep_their_norm() -> None:
    points = Points.of(np.array([[1.0 + SPHERE_SLACK], [1.0]]))
    assert points.norms[0] > 1
    assert points.norms[1] == 1


def test_zero_rows_and_extreme_norms() -> None:
    points = Points.of(np.array([[0.0, 0.0], [3e-170, 4e-170], [3e150, 4e150]]))
    np.testing.assert_allclose(points.norms, [0, 5e-170, 5e150], rtol=1e-15)
    np.testing.assert_allclose(points.units, [[0, 0], [0.6, 0.8], [0.6, 0.8]], rtol=1e-15)
    assert points.squares[1] == 0  # 2.5e-339 is no float
