"""The certified bound on the smallest eigenvalue against matrices, and the norm of the predictor."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.linalg import expm

from numerics import data, kernels
from numerics.deep import relu_ntk_normalised
from numerics.depth_scaling import _kernel_and_slope, eigenvalue_bound, predictor_norms, smallest_angle
from theory.errors import InvalidInput


@pytest.mark.parametrize("depth", [1, 2, 7, 60])
@pytest.mark.parametrize("angle", [0.01, 0.7, 1.5, 2.5])
def test_the_slope_is_that_of_the_kernel(angle, depth):
    value, slope = _kernel_and_slope(arb(angle), depth)
    step = Fraction(1, 10**12)
    near = Fraction(float(arb(angle).cos()))
    up, down = (relu_ntk_normalised(near + side * step, depth, 40).ball for side in (1, -1))
    assert float(slope) == pytest.approx(float((up - down) / (2 * arb(1) / 10**12)), rel=1e-6)
    assert float(value) == pytest.approx(float(relu_ntk_normalised(near, depth)), rel=1e-12)


def adversarial(seed: int) -> np.ndarray:
    """Points in one cluster, on a regular grid of angles, or all over the sphere."""
    rng = np.random.default_rng(seed)
    match seed % 3:
        case 0:
            points = np.array([1.0, 0, 0, 0]) + 0.1 * rng.standard_normal((30, 4))
        case 1:
            angles = np.arange(40) * math.pi / 41
            return np.stack([np.cos(angles), np.sin(angles)], axis=1)
        case _:
            points = rng.standard_normal((60, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("depth", [1, 3, 30, 300])
@pytest.mark.parametrize("seed", range(6))
def test_no_matrix_has_a_smaller_eigenvalue_than_certified(seed, depth):
    points = adversarial(seed)
    bound = eigenvalue_bound(smallest_angle(points), len(points), depth)
    smallest = np.linalg.eigvalsh(kernels.ntk(points, depth=depth) / (depth + 1))[0]
    assert 0 < bound <= smallest + 1e-13 * len(points)


def test_the_bound_depends_little_on_the_number_of_points():
    assert eigenvalue_bound(0.01, 10**9, 300) > eigenvalue_bound(0.01, 10**3, 300) / 3


@pytest.mark.parametrize(
    ("angle", "points", "depth"),
    [
        (0.0, 3, 2),
        (-1.0, 3, 2),
        (2.0, 3, 2),
        (math.nan, 3, 2),
        ("0.1", 3, 2),
        (0.1, 1, 2),
        (0.1, 2.5, 2),
        (0.1, 3, 0),
        (True, 3, 2),
        (0.1, True, 2),
        (0.1, 3, True),
    ],
)
def test_bad_bounds_are_refused(angle, points, depth):
    with pytest.raises(InvalidInput):
        eigenvalue_bound(angle, points, depth)


def test_the_smallest_angle_counts_lines_and_sees_tiny_ones():
    assert smallest_angle([[1.0, 0.0], [-1.0, 1e-9]]) == pytest.approx(1e-9, rel=1e-6)
    assert smallest_angle([[1.0, 0.0], [1.0, 0.0]]) == 0
    for wrong in ([[1.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]], [[math.nan, 1.0], [1.0, 0.0]]):
        with pytest.raises(InvalidInput):
            smallest_angle(wrong)


def test_the_norms_are_those_of_the_matrix_exponential():
    rng = np.random.default_rng(4)
    points = data.sphere(rng, 12, 4)
    kernel, rows = kernels.ntk(points, depth=3) / 4, kernels.ntk(data.sphere(rng, 5, 4), points, depth=3) / 4
    for time in (0.0, 0.3, 20.0):
        matrix = rows @ np.linalg.inv(kernel) @ (np.eye(12) - expm(-kernel * time))
        assert predictor_norms(kernel, rows, time) == pytest.approx(
            np.linalg.norm(matrix, axis=1), rel=1e-10, abs=1e-15
        )
    assert predictor_norms(kernel, kernel, math.inf) == pytest.approx(np.ones(12), rel=1e-12)


@pytest.mark.parametrize(("kernel", "time"), [([[0.0]], 1.0), ([[1.0]], -1.0), ([[1.0]], math.nan)])
def test_bad_predictors_are_refused(kernel, time):
    with pytest.raises(InvalidInput):
        predictor_norms(kernel, [[1.0]], time)


@pytest.mark.parametrize("angle", [1e-8, 1e-12, 1e-200])
def test_for_the_smallest_angles_the_bound_is_proportional_to_them(angle):
    assert eigenvalue_bound(angle, 10, 3) / angle == pytest.approx(eigenvalue_bound(1e-6, 10, 3) / 1e-6, rel=1e-4)


def test_nearly_opposite_points_do_not_make_the_smallest_eigenvalue_small():
    angles = np.array([0.0, math.pi - 1e-4])
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    smallest = np.linalg.eigvalsh(kernels.ntk(points, depth=10) / 11)[0]
    assert smallest > 0.4 > 1000 * 1.5 * 10 * smallest_angle(points) / (3 * math.pi)


@pytest.mark.parametrize(
    ("kernel", "rows", "t"),
    [
        ([[1.0, 2.0], [0.0, 1.0]], [[1.0, 1.0]], 1.0),
        ([[1.0], [1.0, 2.0]], [[1.0]], 1.0),
        ([[1.0]], [[math.nan]], 1.0),
        ([[1.0]], [[1.0, 1.0]], 1.0),
        ([[1.0]], [[1.0]], "1"),
        (3.0, [[1.0]], 1.0),
    ],
)
def test_predictor_norms_refuse_what_is_no_kernel_row_or_time(kernel, rows, t):
    with pytest.raises(InvalidInput):
        predictor_norms(kernel, rows, t)
