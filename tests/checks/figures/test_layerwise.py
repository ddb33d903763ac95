"""Chapter 6, losses: simulated points against derived curves, and what the curves stand for."""

from itertools import combinations

import numpy as np
import pytest

from checks.ledger.layerwise import PAPER_ONE_STEP, PAPER_TWO_STEPS
from checks.plot import Kind
from theory.layerwise import eta1, eta2, h


def value(expression, width, first, second):
    return float(expression.subs({h: width, eta1: first, eta2: second}))


def test_the_surrogate_along_a_budget_is_the_published_loss(series):
    for panel, (published, budget) in {0: (PAPER_ONE_STEP, 27000), 5: (PAPER_TWO_STEPS, 63000)}.items():
        curve = series("two-layer-loss", panel, "signal-only surrogate", Kind.LINE)
        for x, y in list(zip(curve.x, curve.y, strict=True))[::16]:
            assert y == pytest.approx(value(published, 1000, x, budget - x), rel=1e-12)


def test_the_simulation_tells_the_released_script_from_the_right_loss(series):
    for panel in (0, 1):
        right, points = (
            series("released-script", panel, "derived, and simulated", kind) for kind in (Kind.LINE, Kind.POINTS)
        )
        script = series("released-script", panel, "released script", Kind.LINE)
        middle = len(points.x) // 2
        assert abs(points.y[middle] - right.y[len(right.y) // 2]) <= points.radius[middle]
        assert abs(points.y[middle] - script.y[len(script.y) // 2]) > 5 * points.radius[middle]


def test_the_surrogate_misses_what_the_allocation_changes_at_every_width(series):
    """After one step, by leading orders: `c²/(c² + 4)` of it is seen at rates `c h^(3/2)`."""
    found = series("surrogate-error", 2, "$h = 10^6$", Kind.LINE)
    rates = np.array(found.x)
    assert np.allclose(found.y, rates**2 / (rates**2 + 4), rtol=0.02)


def test_equal_rates_stop_where_an_eigenvalue_is_minus_one(drawing, series):
    panel = drawing("loss-over-steps").chart.panels[1]
    floor = series("loss-over-steps", 1, "$1/(2h)$", Kind.GUIDE).y[0]
    smallest = [min(one.y) for one in panel.series if one.kind is Kind.LINE]
    assert floor == 1 / 200
    assert smallest[0] == pytest.approx(floor, rel=1e-3)
    assert max(smallest[1:]) < 1e-5


def test_certified_points_lie_on_the_float64_curves(drawing):
    """To 1e-3: with equal rates the loss gets a spike at an angle, too narrow for the nodes of the quadrature."""
    for panel in (0, 1):
        items = drawing("loss-over-steps").chart.panels[panel].series
        for curve, points in ((a, b) for a, b in combinations(items, 2) if a.label == b.label):
            shared = [(x, y) for x, y in zip(points.x, points.y, strict=True) if x <= curve.x[-1]]
            assert len(shared) >= 1
            assert all(y == pytest.approx(curve.y[int(x)], rel=1e-3) for x, y in shared)


@pytest.mark.parametrize("name", ["two-layer-loss", "three-layer-loss", "gaussian-initialisation"])
def test_simulated_points_lie_on_the_derived_curves(drawing, series, covered, name):
    for panel in range(len(drawing(name).chart.panels)):
        for label in ("full gradient descent", "signal-only surrogate"):
            curve, points = (series(name, panel, label, kind) for kind in (Kind.LINE, Kind.POINTS))
            at_points = np.interp(points.x, curve.x, curve.y)  # the points are among those of the curve
            assert set(points.x) <= set(curve.x)
            assert covered(points, at_points)
