"""Chapter 3: the course of the limit step by step, and networks beside it."""

import numpy as np
import pytest
from scipy.special import ndtri

from checks.figures.features import points
from checks.plot import Kind, generator
from numerics import features, kernels
from numerics.gradients import pullback
from numerics.networks import MLP


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
def test_the_points_beside_it_are_means_over_trained_networks(series, depth):
    """The same networks, trained here step by step."""
    found = series("feature-deviation", 2, f"$L = {depth}$, all units", Kind.POINTS)
    network = MLP.of_depth(3, width=128, depth=depth)
    theta = network.sample(generator("feature-deviation", 0, depth), 20)
    labels = network(theta, points()[:2]) - np.array([1.0, -1.0])[:, None]

    def features_at_new_point():
        return np.maximum(network.forward(theta, points()[2:3]).preactivations[depth - 1][:, 0], 0)

    start, means = features_at_new_point(), []
    for step in range(1, 9):
        run = network.forward(theta, points()[:2])
        theta = theta - 0.05 * pullback(network, theta, run, run.outputs - labels)
        if step in found.x:
            means.append(np.square(features_at_new_point() - start).sum(axis=1).mean())
    assert found.y == pytest.approx(means, rel=1e-9)


@pytest.mark.parametrize("depth", [1, 2])
def test_single_units_freeze_while_all_move(series, follows, depth):
    """The largest of `m/2` half-normals reaches `−Φ⁻¹(1/m)` deviations, each of order `m^(−1/2)`."""
    together, single = (
        series("feature-deviation", 0, f"$L = {depth}$, {which}", Kind.POINTS) for which in ("all units", "the largest")
    )
    assert follows(together, 0, apart=0.25)
    ((growth,), (span,)) = (np.diff(np.log(of)) for of in (-ndtri(1 / np.array(single.x)), single.x))
    assert follows(single, growth / span - 1 / 2, apart=0.25)


@pytest.mark.parametrize("depth", [1, 2])
def test_networks_approach_the_limit_like_the_root_of_the_width(series, follows, depth):
    assert follows(series("feature-deviation", 1, f"$L = {depth}$, all units", Kind.POINTS), -1 / 2)


def test_on_text_most_units_freeze_while_all_move(series, follows):
    assert follows(series("text-features", 0, "nine units in ten", Kind.POINTS), -1 / 2, apart=0.25)
    assert follows(series("text-features", 0, "all units together", Kind.POINTS), 0, apart=0.25)
