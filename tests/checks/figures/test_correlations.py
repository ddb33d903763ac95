"""Chapter 5: the medians against the correlations of the same networks, and the exponents of the guides."""

import numpy as np
import pytest

from checks.ledger import deviation, linearisation
from checks.plot import Kind, generator
from numerics import correlations
from numerics.networks import MLP
from theory.activations import Tanh


def slopes(panel):
    """The exponents of the guides of a panel."""
    guides = [one for one in panel.series if one.kind is Kind.GUIDE]
    return [float(np.log(one.y[1] / one.y[0]) / np.log(one.x[1] / one.x[0])) for one in guides]


def test_the_medians_are_those_of_the_correlations(series):
    network = MLP.of_depth(3, width=12, depth=2, activation=Tanh())
    parameters = network.sample(generator("correlation-decay", 0, 12), 200)
    x = [[1.0, 0.0, 0.0]]
    vectors, numbers = (
        correlations.vector_norms(network, parameters, x, 1),
        correlations.scalar(network, parameters, x, 4),
    )
    for panel, order, found in ((0, 1, vectors[0]), (1, 2, numbers[1]), (1, 4, numbers[3])):
        shown = series("correlation-decay", panel, f"$d = {order}$", Kind.POINTS)
        assert shown.y[0] == pytest.approx(np.median(np.abs(found)))


def test_the_guides_have_the_derived_exponents(drawing):
    vectors, numbers = drawing("correlation-decay").chart.panels
    assert slopes(vectors) == pytest.approx([-1 / 2, -1, -3 / 2])
    assert slopes(numbers) == pytest.approx([-1, -1, -2])
    few, many = drawing("rate-scaling").chart.panels
    assert slopes(few) == pytest.approx([-1, -2, -3])
    assert slopes(many) == []


@pytest.mark.parametrize(("alpha", "exponent"), [("0", -1), ("-0.5", -2), ("-1", -3)])
def test_the_deviation_early_in_training_follows_the_derived_exponents(series, follows, alpha, exponent):
    points = series("rate-scaling", 0, rf"$\alpha = {alpha}$", Kind.POINTS)
    assert follows(points, exponent, apart=0.8)


def test_the_deviations_are_those_of_the_claims(series):
    shown = series("rate-scaling", 1, r"$\alpha = -0.5$", Kind.POINTS)
    rng = generator("rate-scaling", 0, 10**6 + 2 * 10**3 + 64)
    found = linearisation.trained(rng, 64, 300, alpha=-0.5, steps=2, rate=0.05, depth=1)
    assert shown.y[0] == pytest.approx(np.median(found))
    for look, (label, noise) in enumerate((("batches of one", 0.0), ("batches of one, contradicting labels", 0.8))):
        runs = deviation.along_sgd(generator("sgd-deviation", 0, look), (5, 25), 3, noise=noise)
        assert series("sgd-deviation", 0, label, Kind.POINTS).y == pytest.approx(runs.mean(axis=0))
