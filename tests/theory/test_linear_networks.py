"""The derived gradients against differences of the loss, and against wrong signs and scales."""

import numpy as np
import pytest
from sympy import Trace

from theory.errors import InvalidInput
from theory.linear_networks import W1, W2, D, M, gradient, interaction, m, signal


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("layer", [1, 2])
def test_the_gradient_is_the_slope_of_the_loss(layers, layer):
    rng = np.random.default_rng(layers * 10 + layer)
    h, n = 3, 5
    X = np.sqrt(n) * np.linalg.qr(rng.normal(size=(n, h)))[0]
    weights, direction = [rng.normal(size=(h, h)) for _ in range(2)], rng.normal(size=(h, h))
    a, labels = rng.normal(size=(h, 1)), rng.normal(size=(n, h if layers == 2 else 1))

    def loss(shift: float) -> float:
        first, second = (W + shift * direction * (k == layer) for k, W in enumerate(weights, start=1))
        outputs = X @ first @ second / h if layers == 2 else X @ first @ second @ a / np.sqrt(h)
        return float(np.square(outputs - labels).sum()) / (2 * n)

    first, second = weights
    M = X.T @ labels / n
    if layers == 2:  # B − A, as at the head of the module
        G = first @ second @ second.T / h**2 - M @ second.T / h, first.T @ first @ second / h**2 - first.T @ M / h
    else:
        root, aa = np.sqrt(h), a @ a.T
        G = (
            first @ second @ aa @ second.T / h - M @ a.T @ second.T / root,
            first.T @ first @ second @ aa / h - first.T @ M @ a.T / root,
        )
    slope = (loss(1e-4) - loss(-1e-4)) / 2e-4  # the loss is quadratic in each layer: exact but for rounding
    assert np.sum(direction * G[layer - 1]) == pytest.approx(slope, rel=1e-8)
    assert all(step.outcome.proved for step in gradient(layers, layer).check())


@pytest.mark.parametrize("layers", [2, 3])
def test_a_wrong_gradient_is_not_proved(layers):
    derivation = gradient(layers, 1)
    (step,) = derivation.steps
    A, B = signal(layers, (W1, W2), M if layers == 2 else m)[0], interaction(layers, (W1, W2))[0]
    for wrong in (Trace(D.T * (B + A)), Trace(D.T * (B - A)), Trace(D.T * (2 * B - A)), 2 * step.expression):
        assert not step.reason.check(derivation.start, wrong).proved  # the second lacks the shift of the weights


@pytest.mark.parametrize(("layers", "layer"), [(1, 1), (4, 1), (2, 0), (3, 3), (True, 1)])
def test_other_layers_are_refused(layers, layer):
    with pytest.raises(InvalidInput, match="layer"):
        gradient(layers, layer)
