"""The expected losses of three layers, against literal gradient descent averaged over the overlap of two vectors."""

import numpy as np
import pytest

from theory.layerwise_options import Updates
from theory.rate_polynomials import eta1, eta2, h
from theory.three_layers import expected_loss


def descend(overlap: float, width: int, rates, steps: int, updates: Updates) -> float:
    """The test loss after steps of gradient descent on matrices, with `⟨W1ᵀβ, W2 a⟩ = overlap`."""
    a, beta = np.zeros((width, 1)), np.zeros((width, 1))
    a[0, 0] = beta[0, 0] = 1.0
    w1, w2 = np.eye(width), np.eye(width)
    if width == 1:
        w2 = np.array([[overlap]])
    else:
        w2[:2, :2] = [[overlap, -np.sqrt(1 - overlap**2)], [np.sqrt(1 - overlap**2), overlap]]
    root = np.sqrt(width)
    for _ in range(steps):
        error = -beta if updates is Updates.SIGNAL else w1 @ w2 @ a / root - beta
        w1, w2 = (
            w1 - rates[0] / root * error @ (w2 @ a).T,
            w2 - rates[1] / root * w1.T @ error @ a.T,
        )
    return float(np.square(w1 @ w2 @ a / root - beta).sum())


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize(("width", "rates"), [(1, (0.5, 0.3)), (1, (1.2, 0.9)), (3, (1.0, 0.7)), (3, (2.0, 1.5))])
def test_the_mean_over_the_overlap(width, rates, steps, updates):
    if width == 1:
        mean = np.mean([descend(sign, 1, rates, steps, updates) for sign in (1.0, -1.0)])
    else:  # the overlap of two uniform unit vectors in R³ is uniform on [−1, 1]
        nodes, weights = np.polynomial.legendre.leggauss(40)
        mean = sum(w / 2 * descend(t, 3, rates, steps, updates) for t, w in zip(nodes, weights, strict=True))
    found = expected_loss(steps, updates).conclusion.subs({h: width, eta1: rates[0], eta2: rates[1]})
    assert mean == pytest.approx(float(found), rel=1e-10)


@pytest.mark.parametrize("updates", Updates)
def test_every_step_is_checked_exactly(updates):
    derivation = expected_loss(1, updates)
    assert all(step.outcome.proved for part in derivation.parts() for step in part.check())
