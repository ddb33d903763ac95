"""Chapter 1: the curves against the arc-cosine formulas, and finite networks where their means are known."""

import numpy as np
import pytest

from checks.plot import Kind

ONE = "$L = 1$"


def test_one_layer_has_the_arc_cosine_kernels(series):
    tangent, outputs = (series("kernels", panel, ONE, Kind.LINE) for panel in (0, 1))
    for index in (8, 40, 90):
        theta = np.arccos(tangent.x[index])
        covariance = (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / np.pi
        assert outputs.y[index] == pytest.approx(covariance, abs=1e-14)
        assert tangent.y[index] == pytest.approx((covariance + (1 - theta / np.pi) * np.cos(theta)) / 2, abs=1e-14)


def test_networks_of_one_layer_have_the_kernels_as_their_means(series, covered):
    for panel in (0, 1):
        curve, points = (series("kernels", panel, ONE, kind) for kind in (Kind.LINE, Kind.POINTS))
        other = series("kernels", panel, "$L = 3$", Kind.LINE)
        at = [curve.x.index(x) for x in points.x]
        assert covered(points, [curve.y[index] for index in at])
        assert not covered(points, [other.y[index] for index in at])


def test_the_mean_error_of_one_layer_is_zero_and_of_more_it_is_not(series, covered, ends):
    assert covered(series("kernel-width", 0, ONE, Kind.POINTS), 0)
    _, high = ends(series("kernel-width", 0, "$L = 3$", Kind.POINTS))
    assert high[0] < 0  # at width 8


def test_the_size_of_the_error_falls_like_the_root_of_the_width(series, follows):
    for label in (ONE, "$L = 2$", "$L = 3$"):
        assert follows(series("kernel-width", 1, label, Kind.POINTS), -1 / 2)


def test_the_kurtosis_of_networks_is_the_derived_one(series, covered):
    for depth in (1, 2):
        label = f"$L = {depth}$"
        curve, points = (series("gaussian-limit", 0, label, kind) for kind in (Kind.LINE, Kind.POINTS))
        assert curve.y[0] == pytest.approx(3 * (1 + 5 / 16) ** depth - 3)
        assert covered(points, [3 * (1 + 5 / width) ** depth - 3 for width in points.x])


def test_the_tails_are_heavier_than_gaussian_ones_and_less_so_in_wider_networks(series, ends):
    gaussian = series("gaussian-limit", 1, "Gaussian", Kind.GUIDE)
    narrow, wide = (series("gaussian-limit", 1, f"$m = {width}$", Kind.POINTS) for width in (4, 16))
    expected = np.array([gaussian.y[gaussian.x.index(x)] for x in narrow.x])
    (least, _), (low, high) = ends(narrow), ends(wide)
    assert (least > high)[2:].all()
    assert (low > expected)[2:].all()


def test_convolutional_networks_of_one_layer_are_unbiased(series, covered, ends):
    for pooling in ("flattened", "pooled"):
        assert covered(series("cntk", 0, f"$L = 1$, {pooling}", Kind.POINTS), 0)
        _, high = ends(series("cntk", 0, f"$L = 2$, {pooling}", Kind.POINTS))
        assert high[0] < 0  # at two channels
