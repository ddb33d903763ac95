"""The filters against each other on fine grids, and the constants against a numerical maximum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sympy import lambdify

from numerics.points import check_steps
from theory import early_stopping as stopping
from theory.dynamics import k, s, x
from theory.early_stopping import strength

DERIVATIONS = {
    name: getattr(stopping, name)
    for name in (
        "exponential_excess",
        "lower_bound",
        "peak_slope",
        "single_peak",
        "ridge_constant",
        "weaker_matching",
        "stronger_matching",
        "bernoulli_step",
        "twice_ridge_early",
        "twice_ridge_late",
        "two_step_constant",
        "overshoot",
        "noise_may_fall",
    )
}
GRID = np.geomspace(1e-4, 1e3, 4001)
STEPS = np.linspace(1e-4, 1.0, 4001)
KAPPA = 1.2984256075256392  # maximised below


def ratio(at):
    return -np.expm1(-at) * (1 + at) / at


def descent_ratio(at, steps):
    """`φ_k(x)/ψ(kx)`."""
    return (1 - (1 - at) ** steps) * (1 + steps * at) / (steps * at)


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_every_step_is_proved(make):
    assert all(checked.outcome.proved for part in make().parts() for checked in check_steps(part))


def test_the_ridge_lies_between_the_filter_and_a_constant_of_it():
    largest = minimize_scalar(lambda at: -ratio(at), bounds=(1, 3), method="bounded", options={"xatol": 1e-12})
    assert -largest.fun == pytest.approx(KAPPA, rel=1e-12)
    assert float(stopping.ridge_constant().conclusion.subs(s, largest.x)) == pytest.approx(KAPPA, rel=1e-7)
    assert np.all((ratio(GRID) >= 1 - 1e-12) & (ratio(GRID) <= KAPPA))
    assert abs(float(stopping.peak_slope().conclusion.subs(s, largest.x))) < 1e-6


@pytest.mark.parametrize("of_strength", [0.3, 0.9, 1.1, 3.0])
def test_other_strengths_of_the_ridge_are_further_off(of_strength):
    values = lambdify(s, stopping.ratio(of_strength))(GRID)
    assert values.max() / values.min() > KAPPA + 1e-3
    beyond = stopping.stronger_matching() if of_strength > 1 else stopping.weaker_matching()
    assert beyond.conclusion.subs({strength: of_strength, s: 2}) > 0


@pytest.mark.parametrize("steps", [1, 2, 3, 10, 100])
def test_descent_lies_between_the_ridge_and_twice_the_ridge(steps):
    values = descent_ratio(STEPS, steps)
    assert values.min() >= 1 - 1e-12
    assert KAPPA - 1e-3 < values.max() <= 2  # the grid may miss the maximum
    assert descent_ratio(STEPS, steps + 1).max() < values.max()


def test_the_constants_of_one_and_two_steps():
    assert descent_ratio(STEPS, 1).max() == descent_ratio(1.0, 1) == 2
    assert descent_ratio(STEPS, 2).max() == pytest.approx(25 / 16, rel=1e-7)
    assert descent_ratio(0.75, 2) == 25 / 16


def test_a_rate_beyond_the_bound_breaks_it():
    assert descent_ratio(1.75, 2) < 1 < descent_ratio(1.25, 2)
    assert descent_ratio(1.5, 2) == 1
    at = 1.75
    assert float(stopping.overshoot().conclusion.subs(x, at)) == pytest.approx(
        2 * at / (1 + 2 * at) - (1 - (1 - at) ** 2)
    )
    assert float(stopping.noise_may_fall().conclusion.subs(x, at)) == pytest.approx(at**2 - (1 - (1 - at) ** 2) ** 2)


def test_bernoulli():
    assert stopping.bernoulli_step().conclusion.subs({x: 0.5, k: 3}) == 1.0
    assert np.all((1 - STEPS) ** 5 * (1 + 5 * STEPS) <= 1)
