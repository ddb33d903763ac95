"""Chapter 2: eigenvalues and predictors against matrices built entry by entry, and between their bounds."""

from itertools import combinations

import numpy as np
import pytest

from checks.plot import Kind, generator
from numerics import data
from numerics.deep import relu_ntk_normalised

REST = r"$\lambda_2, \dots, \lambda_n$"


def test_the_eigenvalues_are_those_of_the_matrix_of_kernels(drawing):
    shown = [one for one in drawing("depth-spectrum").chart.panels[0].series if one.kind is Kind.LINE]
    X = data.sphere(generator("depth-spectrum", 0), 6, 3)
    kernel = np.eye(6)  # equal points: an angle of 0, which their cosine does not know to the last digits
    for i, j in combinations(range(6), 2):
        kernel[i, j] = kernel[j, i] = float(relu_ntk_normalised(float(X[i] @ X[j]), 8))
    at = shown[0].x.index(8)
    assert [one.y[at] for one in shown] == pytest.approx(np.linalg.eigvalsh(kernel)[::-1], abs=1e-10)
    assert [one.label for one in shown] == [r"$\lambda_1$", *[REST] * 5]


def test_the_eigenvalues_approach_their_first_order(drawing):
    panel = drawing("depth-spectrum").chart.panels[0]
    largest, least = panel.series[0], panel.series[5]
    first, other = (one for one in panel.series if one.kind is Kind.GUIDE)
    log = np.log(1024) / 1024
    assert (first.y[-1], other.y[-1]) == pytest.approx((9 / 4 + 15 / 8 * log, 3 / 4 - 3 / 8 * log))
    assert (largest.y[-1], least.y[-1]) == pytest.approx((first.y[-1], other.y[-1]), rel=0.02)


def test_four_points_are_dominated_by_rows_and_five_are_not(series):
    four, five = (series("depth-spectrum", 1, f"$n = {count}$", Kind.LINE).y[-1] for count in (4, 5))
    first_order = np.array([1 / 4, 0]) - 3 / 8 * np.array([3, 4]) * np.log(1024) / 1024
    assert (four, five) == pytest.approx(first_order, abs=8 / 1024)  # O(1/L), by the angles of these points
    assert five < 0 < four


@pytest.mark.parametrize("name", ["sphere", "digits", "text"])
def test_the_least_eigenvalue_lies_above_its_bound(series, name):
    for panel in (0, 1):
        points, bound = (series("least-eigenvalue", panel, name, kind) for kind in (Kind.POINTS, Kind.LINE))
        assert points.x == bound.x
        assert all(0 < lower < value for lower, value in zip(bound.y, points.y, strict=True))


def test_two_points_learn_what_their_kernel_says(series):
    for time in (1, 10):
        points = series("depth-predictor", 0, f"$t = {time}$", Kind.POINTS)
        for index in (0, 5):
            kernel = float(relu_ntk_normalised(np.cos(3 * np.pi * points.x[index] / 30), 30))
            assert points.y[index] == pytest.approx(1 - np.exp(-(1 - kernel) * time), rel=1e-8)


def test_the_crossover_is_the_limit_of_what_is_learnt(series):
    curve, points = (series("depth-predictor", 0, "$t = 10$", kind) for kind in (Kind.LINE, Kind.POINTS))
    assert np.abs(np.interp(points.x, curve.x, curve.y) - points.y).max() < 0.03


def test_norms_stay_below_their_bound(series):
    for scale in ("0.1", "1"):
        points, bound = (series("depth-predictor", 1, f"$s = {scale}$", kind) for kind in (Kind.POINTS, Kind.LINE))
        limits = np.interp(points.x, bound.x, bound.y)
        assert (np.array(points.y) <= limits).all()
        assert max(points.y / limits) > 0.4
