"""Noise and risk of one mode, against sampling, differences and minimisation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sympy import Symbol

from numerics.points import check_steps
from theory import stopping_risk
from theory.dynamics import s
from theory.stopping_risk import noise, q, signal, squares

DERIVATIONS = {
    name: getattr(stopping_risk, name)
    for name in (
        "fitted_noise",
        "noise_grows",
        "noise_early",
        "noise_late",
        "risk_slope",
        "least_risk",
        "risk_comparison",
        "no_converse",
        "balanced_ridge_risk",
        "balanced_flow_risk",
    )
}
B, SIGMA = 1.7, 0.6


def flow_risk(at, b=B, sigma=SIGMA):
    return b**2 * np.exp(-2 * at) + sigma**2 * np.expm1(-at) ** 2


def ridge_risk(at, b=B, sigma=SIGMA):
    return (b**2 + sigma**2 * at**2) / (1 + at) ** 2


def value(derivation, **more):
    at = {signal: B, noise: SIGMA, **{Symbol(name, nonnegative=True): number for name, number in more.items()}}
    return float(derivation.conclusion.subs(at))


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_every_step_is_proved(make):
    assert all(checked.outcome.proved for part in make().parts() for checked in check_steps(part))


def test_the_noise_of_any_filter():
    """The mean of a quadratic form in the columns of a white basis is exact: `∑_j ‖Φ e_j‖² σ²`."""
    Phi = np.random.default_rng(1).normal(size=(5, 5))
    expected = sum(((SIGMA * Phi[:, j]) ** 2).sum() for j in range(5))
    found = stopping_risk.fitted_noise().conclusion.subs({noise: SIGMA, squares: np.trace(Phi @ Phi.T)})
    assert float(found) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("at", [0.1, 1.0, 3.0])
def test_slopes_are_differences(at):
    h = 1e-5
    slope = (flow_risk(at + h) - flow_risk(at - h)) / (2 * h)
    assert value(stopping_risk.risk_slope(), s=at) == pytest.approx(slope, rel=1e-7)
    growth = (np.expm1(-at - h) ** 2 - np.expm1(-at + h) ** 2) / (2 * h)
    assert value(stopping_risk.noise_grows(), s=at) == pytest.approx(growth, rel=1e-7)


def test_the_best_time_has_the_least_risk_of_any_fraction():
    best = minimize_scalar(flow_risk, bounds=(0, 20), method="bounded", options={"xatol": 1e-10})
    assert best.x == pytest.approx(np.log1p(B**2 / SIGMA**2), rel=1e-6)
    assert best.fun == pytest.approx(value(stopping_risk.least_risk()), rel=1e-10)
    fractions = np.linspace(0, 1, 100_001)
    assert (B**2 * (1 - fractions) ** 2 + SIGMA**2 * fractions**2).min() == pytest.approx(best.fun, rel=1e-8)


@pytest.mark.parametrize("at", [0.2, 1.7932821329, 8.0])
def test_the_comparison_with_the_ridge(at):
    constant = 1.2984256076
    expected = constant**2 * ridge_risk(at) - flow_risk(at)
    found = stopping_risk.risk_comparison().conclusion.subs({signal: B, noise: SIGMA, s: at, q: constant})
    assert float(found) == pytest.approx(expected, rel=1e-10)
    assert expected > 0
    assert flow_risk(1.7932821329, b=0) == pytest.approx(constant**2 * ridge_risk(1.7932821329, b=0), rel=1e-9)
    assert ridge_risk(30.0, sigma=0) > 1e20 * flow_risk(30.0, sigma=0)  # and there is no bound backwards


@pytest.mark.parametrize("at", [0.2, 3.2, 20.0])
def test_signals_drawn_with_the_kernel(at):
    b = SIGMA * at**0.5
    assert value(stopping_risk.balanced_ridge_risk(), s=at) == pytest.approx(ridge_risk(at, b=b), rel=1e-12)
    assert value(stopping_risk.balanced_flow_risk(), s=at) == pytest.approx(flow_risk(at, b=b), rel=1e-12)
    assert ridge_risk(at, b=b) < flow_risk(at, b=b) < 1.2147 * ridge_risk(at, b=b)
