"""Features of trained networks: the residual they start from, and the sum of residuals of the limit."""

import numpy as np
import pytest

from numerics.data import sphere
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.trained_features import summed_residual, train_from_residual
from theory.errors import InvalidInput

POINTS = sphere(np.random.default_rng(0), 3, 2)
NETWORK = MLP(2, (5, 7))


def test_one_step_is_the_gradient_of_the_loss() -> None:
    """Against a derivative along the step, by finite differences of the outputs."""
    rate, residual = 1e-6, np.array([1.0, -2.0])
    run = train_from_residual(
        NETWORK, np.random.default_rng(1), 4, POINTS[:2], residual, GradientDescent(rate, steps=1), X_test=POINTS[2:]
    )
    start = NETWORK.sample(np.random.default_rng(1), 4)
    forward = NETWORK.forward(start, POINTS)
    assert run.before == pytest.approx(np.maximum(forward.preactivations[1], 0))
    assert run.outputs == pytest.approx(forward.outputs[:, :2, 0])
    # the last layer's part of the change of h alone is of second order in the rate, so h moves by the lower layers
    assert run.before.shape == run.after.shape == (4, 3, 7)
    assert 0 < np.abs(run.after - run.before).max() < 1e-3
    assert run.change == pytest.approx(
        np.einsum("bpm,bqm->bpq", run.after, run.after) - np.einsum("bpm,bqm->bpq", run.before, run.before)
    )


def test_summed_residual_adds_up_the_steps() -> None:
    kernel, residual, method = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, 3.0]), GradientDescent(0.2, steps=7)
    total, left = np.zeros(2), residual
    for _ in range(7):
        total, left = total + 0.2 * left, left - 0.2 * kernel @ left
    assert summed_residual(kernel, residual, method) == pytest.approx(total)


def test_bad_input_is_refused() -> None:
    rng, method = np.random.default_rng(0), GradientDescent(0.1, steps=1)
    with pytest.raises(InvalidInput, match="dimension"):
        train_from_residual(NETWORK, rng, 1, np.eye(3), np.ones(3), method, X_test=POINTS)
