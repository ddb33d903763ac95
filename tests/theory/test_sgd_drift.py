r"""The drift under contradicting labels: every line proved, and both laws beside the steps themselves."""

import numpy as np
import pytest

from theory import sgd_drift
from theory.sgd_drift import delta, eta, gamma, h12, nu


@pytest.mark.parametrize("derive", [sgd_drift.gain, sgd_drift.mean_gain])
def test_every_line_is_proved(derive):
    checked = derive().check()
    assert checked
    assert all(step.outcome.proved for step in checked)


def test_the_deviation_after_any_labels():
    """Of a model with five parameters, so that three coordinates are neither along nor across the gradient."""
    rng, rate, small = np.random.default_rng(3), 0.1, 1e-6
    (g, g_other), matrices = rng.standard_normal((2, 5)), rng.standard_normal((2, 5, 5))
    H, H_other = matrices + matrices.swapaxes(1, 2)
    theta, line, squares = np.zeros(5), np.zeros(5), 0.0
    for label in rng.standard_normal(12):
        residual = g @ theta + small / 2 * theta @ H @ theta - label
        theta = theta - rate * residual * (g + small * H @ theta)
        squares += (g @ line - label) ** 2
        line = line - rate * (g @ line - label) * g
    own, other = (
        (gradient @ (theta - line) + small / 2 * theta @ matrix @ theta) / small
        for gradient, matrix in ((g, H), (g_other, H_other))
    )
    share, q = g @ g_other / (g @ g), -line @ g / (g @ g)
    K = (g_other - share * g) @ H @ g
    A = (g @ H_other @ g - share * g @ H @ g + K) / 2
    assert other == pytest.approx(share * own + A * q**2 - rate**2 * K * squares / 2, rel=1e-4)
    per_square = float(sgd_drift.gain().conclusion.subs({sgd_drift.rho: 1, eta: rate, gamma: 1, delta: 1, h12: K}))
    assert per_square == pytest.approx(-(rate**2) * K / 2)


@pytest.mark.parametrize("kernel", [0.5, 3.0, 15.0])
def test_the_mean_drift_is_that_of_the_stationary_residual(kernel):
    """`E p²` by its recursion, `p → p − ηa(p ± ν)`, until it stands still; `E ρ² = E p² + ν²`."""
    rate, noise, square = 0.1, 0.7, 4.0
    for _ in range(2000):
        square = (1 - rate * kernel) ** 2 * square + (rate * kernel * noise) ** 2
    at = {eta: rate, gamma: np.sqrt(kernel), delta: 1, nu: noise, h12: 2}
    expected = -(rate**2) * 2 * np.sqrt(kernel) * (square + noise**2) / 2
    assert float(sgd_drift.mean_gain().conclusion.subs(at)) == pytest.approx(expected)
