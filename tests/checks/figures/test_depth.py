"""Chapter 2: the curves against the recursion and the limits."""

import numpy as np
import pytest

from checks.plot import Kind
from numerics import kernels


def test_the_deep_kernel_is_that_of_the_recursion(series):
    curve = series("depth-rate", 0, r"$\rho = 0$", Kind.LINE)
    slope = series("depth-rate", 1, r"$\rho = 0$", Kind.LINE)
    for layers, excess in zip(curve.x, curve.y, strict=True):
        kernel = kernels.ntk(np.eye(2), depth=int(layers))[0, 1]
        assert excess == pytest.approx(kernel - (layers + 1) / 4, abs=1e-10)
    assert slope.y[-1] == pytest.approx(3 / 8, abs=0.02)


def test_finite_depths_approach_the_crossover(series):
    limit = series("depth-crossover", 1, "limit", Kind.LINE)
    distances = []
    for layers in (10, 100, 1000):
        points = series("depth-crossover", 1, f"$L = {layers}$", Kind.POINTS)
        distances.append(abs(points.y[points.x.index(1)] - limit.y[len(limit.y) // 2]))  # at s = 1
    assert distances[0] > 5 * distances[1] > 25 * distances[2]
    assert series("depth-crossover", 0, "limit", Kind.LINE).y[40] == pytest.approx(15 / 32)
