"""Exact means over all labels, against the losses of `theory` and against samples of the labels."""

import math

import numpy as np
import pytest
from sympy import Rational

from numerics.descent import Fixed, descend
from numerics.exact_means import all_labels, mean_test_loss
from numerics.haar_sampling import haar_orthogonal
from numerics.linear_networks import Draw
from theory.errors import InvalidInput
from theory.layerwise import Updates, eta1, eta2, expected_loss, h, rho


def drawn(width: int, seed: int):
    """Weights and whitened inputs."""
    w1, w2, inputs = haar_orthogonal(np.random.default_rng(seed), 3, width)
    return (w1, w2), math.sqrt(width) * inputs


@pytest.mark.parametrize(
    ("steps", "updates"), [(0, Updates.SIGNAL), (1, Updates.SIGNAL), (2, Updates.SIGNAL), (1, Updates.FULL)]
)
@pytest.mark.parametrize("width", [1, 2])
def test_they_are_the_derived_losses(width, steps, updates):
    """Whatever the weights and the inputs are; and not those of other rates or noise."""
    weights, inputs = drawn(width, seed=steps)
    found = mean_test_loss(weights, inputs, (1.5, 0.75), noise=0.5, steps=steps, updates=updates)
    loss = expected_loss(2, steps, updates, noise=rho).conclusion if steps else expected_loss(2, 0, updates).conclusion
    at = {h: width, eta1: Rational(3, 2), eta2: Rational(3, 4), rho: Rational(1, 2)}
    assert found == pytest.approx(float(loss.subs(at)), rel=1e-12)
    if steps:
        assert found != pytest.approx(float(loss.subs({**at, rho: Rational(51, 100)})), rel=1e-3)


def test_two_full_steps_are_means_of_samples():
    """Chebyshev: groups of samples are off by `2σ/√m` with probability ¼ each, half of 166 with below 1e-9."""
    weights, inputs = drawn(2, seed=5)
    how = {"steps": 2, "updates": Updates.FULL}
    found = mean_test_loss(weights, inputs, (0.5, 0.75), noise=0.25, **how)
    rng, groups, of_each = np.random.default_rng(6), 166, 300
    shape = (groups * of_each, 2, 2)
    targets = haar_orthogonal(rng, shape[0], 2) / math.sqrt(2)
    W1, W2, X = (np.broadcast_to(matrix, shape) for matrix in (*weights, inputs))
    run = descend(
        Draw((W1, W2), targets, inputs=X, label_noise=0.5 * rng.standard_normal(shape)), Fixed((0.5, 0.75)), **how
    )
    losses = run.test_loss[:, -1].reshape(groups, of_each)
    assert abs(np.median(losses.mean(axis=1)) - found) < 2 * losses.std() / math.sqrt(of_each)


def test_the_nodes_are_orthogonal_and_their_weights_a_law():
    for width in (1, 2):
        labels = all_labels(width, 6)
        products = labels.targets @ labels.targets.swapaxes(1, 2)
        np.testing.assert_allclose(products, np.broadcast_to(np.eye(width), products.shape), atol=1e-14)
        assert labels.weights.sum() == pytest.approx(1.0)
        assert labels.weights @ np.linalg.det(labels.targets) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize(
    ("change", "name"),
    [({"steps": -1}, "steps"), ({"noise": -0.1}, "noise"), ({"rates": (1.0, -1.0)}, "layer_rates"), ({}, "width")],
)
def test_bad_input_is_refused(change, name):
    weights, inputs = drawn(2 if change else 3, seed=0)
    arguments = {"rates": (1.0, 1.0), "noise": 0.0, "steps": 1, "updates": Updates.FULL} | change
    with pytest.raises(InvalidInput, match=name):
        mean_test_loss(weights, inputs, arguments.pop("rates"), **arguments)
