"""Chapter 3: the course of the limit step by step, and networks beside it."""

import numpy as np
import pytest

from checks.figures.features import points
from checks.plot import Kind
from numerics import features, kernels


@pytest.mark.parametrize("depth", [1, 2])
def test_the_course_is_that_of_residuals_summed_step_by_step(series, depth):
    curve = series("feature-deviation", 2, f"$L = {depth}$, all units", Kind.LINE)
    X = points()[:2]
    kernel, residual, q = kernels.ntk(X, depth=depth), np.array([1.0, -1.0]), np.zeros(2)
    for step in range(9):
        expected = features.deviation_given(X, q, points()[2:3], depth=depth).item()
        assert curve.y[step] == pytest.approx(expected, rel=1e-10, abs=1e-15)
        q += 0.05 * residual
        residual -= 0.05 * kernel @ residual


@pytest.mark.parametrize("depth", [1, 2])
def test_networks_follow_the_course(series, sure, depth):
    """Their means are off by the order `m^(−1/2)`, for which a quarter is allowed at width 128."""
    curve, found = (
        series("feature-deviation", 2, f"$L = {depth}$, all units", kind) for kind in (Kind.LINE, Kind.POINTS)
    )
    for x, y, radius in zip(found.x, found.y, found.radius, strict=True):
        assert abs(y - curve.y[int(x)]) <= sure * radius + curve.y[int(x)] / 4


@pytest.mark.parametrize("depth", [1, 2])
def test_single_units_freeze_while_all_move(series, depth):
    """From a width to four times it, `√(log m/m)` falls to 0.6; the means are known to 4 %."""
    together, single = (
        series("feature-deviation", 0, f"$L = {depth}$, {which}", Kind.POINTS) for which in ("all units", "the largest")
    )
    assert single.y[1] / single.y[0] < 0.8
    assert together.y[1] / together.y[0] > 0.9


@pytest.mark.parametrize("depth", [1, 2])
def test_networks_approach_the_limit_like_the_root_of_the_width(series, depth):
    """A quarter of the width has twice the distance; the means are known to 8 %."""
    narrow, wide = series("feature-deviation", 1, f"$L = {depth}$, all units", Kind.POINTS).y
    assert 1.3 < narrow / wide < 3


def test_on_text_most_units_freeze_while_all_move(series):
    """To four times the width the change of nine units in ten falls to a half."""
    labels = ("nine units in ten", "all units together")
    most, together = (series("text-features", 0, label, Kind.POINTS) for label in labels)
    assert most.y[1] / most.y[0] < 0.7
    assert together.y[1] / together.y[0] > 0.85
