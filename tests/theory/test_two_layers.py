"""The expected losses of two layers, against literal gradient descent averaged over all of O(1) and O(2)."""

import numpy as np
import pytest

from theory.layerwise_options import Updates
from theory.rate_polynomials import eta1, eta2, h
from theory.two_layers import expected_loss


def descend(w1: np.ndarray, w2: np.ndarray, target: np.ndarray, rates, steps: int, updates: Updates) -> float:
    """The test loss after steps of gradient descent, as the definition has it."""
    width = len(w1)
    for _ in range(steps):
        error = -target if updates is Updates.SIGNAL else w1 @ w2 / width - target
        w1, w2 = w1 - rates[0] / width * error @ w2.T, w2 - rates[1] / width * w1.T @ error
    return float(np.square(w1 @ w2 / width - target).sum())


def orthogonal_group(width: int, nodes: int) -> list[np.ndarray]:
    """O(1), or equally spaced points of O(2), whose mean is exact for polynomials of degree below `nodes`."""
    if width == 1:
        return [np.array([[sign]]) for sign in (1.0, -1.0)]
    angles = 2 * np.pi * np.arange(nodes) / nodes
    rotations = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in angles]
    return [r @ flip for r in rotations for flip in (np.eye(2), np.diag([1.0, -1.0]))]


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize(("width", "rates"), [(1, (0.5, 0.3)), (1, (2.0, 1.5)), (2, (1.0, 2.5)), (2, (4.0, 3.0))])
def test_the_mean_over_the_whole_group(width, rates, steps, updates):
    # the law of the loss depends on W1ᵀ Q W2ᵀ alone, so that two of the three matrices may be fixed
    group = orthogonal_group(width, 40)
    eye = np.eye(width)
    mean = np.mean([descend(eye, eye, Q / np.sqrt(width), rates, steps, updates) for Q in group])
    found = expected_loss(steps, updates).conclusion.subs({h: width, eta1: rates[0], eta2: rates[1]})
    assert mean == pytest.approx(float(found), rel=1e-10)


@pytest.mark.parametrize("updates", Updates)
def test_every_step_is_checked_exactly(updates):
    derivation = expected_loss(1, updates)
    assert all(step.outcome.proved for part in derivation.parts() for step in part.check())
