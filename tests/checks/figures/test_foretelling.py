"""The figures of the two questions of the reviews: their numbers against what they stand for."""

import numpy as np
import pytest

from checks import plot
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


@pytest.mark.parametrize(("activation", "depth"), [(ReLU(), 2), (Tanh(), 1)])
def test_early_slopes_are_steeper_than_late_ones(monkeypatch, activation, depth):
    """At `α = −1`, in the mean over pairs from the same runs."""
    monkeypatch.setattr(foretelling, "ALPHAS", (-1.0,))
    monkeypatch.setattr(foretelling, "SWEEP_STEPS", (3, 30))
    monkeypatch.setattr(plot, "CONFIDENCE", 1 - 1e-6)
    early, late = foretelling.slopes(RNG(3), activation, depth, (32, 128), 100)[..., 0]
    gain, radius = plot.mean_interval(late - early)
    assert gain > radius


def test_the_slopes_are_shown_beside_the_published_ones(drawing):
    chart = drawing("rate-sweep").chart
    for panel in chart.panels:
        series = {one.label: one for one in panel.series}
        assert series[r"theorem 3.2, $2\alpha - 1$"].y == (-1.0, -3.0)
    published = [one for one in chart.panels[0].series if one.label.startswith("published")]
    assert [(one.kind, one.y) for one in published] == [(Kind.LINE, (-1.14, -1.14, -1.30, -1.73, -2.72))]


def test_the_correlation_foretells_the_order_of_the_gaps(drawing, ends):
    for one in drawing("correlation-and-gap").chart.panels[0].series:
        low, high = ends(one)
        assert ((low > 0) & (high < 1)).all()


def test_the_correlation_falls_with_the_width(series, follows):
    for regime, exponent in (("lazy", -1), ("features learnt", -1 / 2)):
        assert follows(series("correlation-and-gap", 1, f"$C_{{0,2}}$, {regime}", Kind.POINTS), exponent)


def test_figures_belong_to_claims():
    for figure in foretelling.FIGURES:
        assert set(figure.claims) <= set(LEDGER)
