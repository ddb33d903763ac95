"""The figures of the two questions of the reviews: their numbers against what they stand for."""

import numpy as np
import pytest

from checks.figures import foretelling
from checks.ledger import LEDGER
from checks.ledger.linearisation import multi_index_gaps
from checks.plot import Kind
from theory.activations import ReLU, Tanh

RNG = np.random.default_rng


@pytest.mark.parametrize("features", [False, True])
def test_gaps_are_those_of_the_ledger_and_correlations_in_the_units_of_the_regime(features):
    criteria, gaps = foretelling.criteria_and_gaps(RNG(1), 16, 5, (2, 10), features)
    expected, last = multi_index_gaps(RNG(1), 16, 5, mean_field=features, steps=10)
    np.testing.assert_allclose(criteria, expected * (4 if features else 1), rtol=1e-12)
    np.testing.assert_allclose(gaps[1], last, rtol=1e-12)
    assert (gaps[0] < gaps[1]).all()


def test_slopes_of_a_power_law_are_its_exponents(monkeypatch):
    """A deviation `n^{−1} η²` at each step has the slopes `2 (−1 + 2α)` of its square."""

    def power_law(network, parameters, X, y, X_test, method, *, at):
        size = network.widths[0] ** -1.0 * method.learning_rate**2
        return np.full((len(at), len(parameters)), size) * np.arange(1, len(at) + 1)[:, None]

    monkeypatch.setattr(foretelling, "deviations", power_law)
    found = foretelling.slopes(RNG(2), Tanh(), 1, (8, 16, 64), 3)
    assert found.shape == (len(foretelling.SWEEP_STEPS), 3, len(foretelling.ALPHAS))
    np.testing.assert_allclose(found, np.broadcast_to(-2 + 4 * np.array(foretelling.ALPHAS), found.shape), atol=1e-12)


def test_early_slopes_are_steeper_than_late_ones(monkeypatch):
    monkeypatch.setattr(foretelling, "SWEEPS", ((ReLU(), 2, (32, 128), -1.0, 6), (Tanh(), 1, (32, 128), -2.0, 6)))
    monkeypatch.setattr(foretelling, "SWEEP_STEPS", (3, 30))
    chart = foretelling.sweep(0)
    for panel in chart.panels:
        series = {one.label: one for one in panel.series}
        assert series["3 steps"].y[-1] < series["30 steps"].y[-1] - 0.5  # at α = −1
        assert series[r"theorem 3.2, $2\alpha - 1$"].y == (-1.0, -3.0)
    published = [one for one in chart.panels[0].series if one.label.startswith("published")]
    assert [(one.kind, one.y) for one in published] == [(Kind.LINE, (-1.14, -1.14, -1.30, -1.73, -2.72))]


def test_the_chart_of_correlation_and_gap(monkeypatch):
    for name, value in {"BLOCKS": 3, "BLOCK": 20, "GAP_WIDTHS": (8, 64), "GAP_NETWORKS": 12, "STEPS": (1, 10)}.items():
        monkeypatch.setattr(foretelling, name, value)
    chart = foretelling.foretold(0)
    taus, sizes = (panel.series for panel in chart.panels)
    assert all(-1 <= tau <= 1 for one in taus for tau in one.y)
    assert len(sizes) == 4
    assert all(one.y[1] < one.y[0] for one in sizes if "C_{0,2}" in one.label)


def test_figures_belong_to_claims():
    for figure in foretelling.FIGURES:
        assert set(figure.claims) <= set(LEDGER)
