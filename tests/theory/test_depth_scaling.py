"""The crossover's bounds on the smallest eigenvalue, against the bound at finite depth and against matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm

from numerics.depth_scaling import EPSILON, eigenvalue_bound
from theory import depth_scaling
from theory.crossover import s
from theory.depth_scaling import epsilon, sigma
from theory.spectrum import t

DERIVATIONS = (
    depth_scaling.mixture,
    depth_scaling.closest_pair,
    depth_scaling.eigenvalue_bound,
    depth_scaling.eigenvalue_slope,
    depth_scaling.learned_difference,
    depth_scaling.learned_in_short_time,
)


def crossover(variable: float) -> float:
    return ((1 + variable) ** 4 - 1) / (4 * variable * (1 + variable) ** 3)


@pytest.mark.parametrize("derive", DERIVATIONS)
def test_every_step_is_proved(derive):
    assert all(step.outcome.proved for part in derive().parts() for step in part.check())


@pytest.mark.parametrize("variable", [0.05, 0.7, 3.0, 40.0])
def test_the_mixture_is_the_crossover_function(variable):
    mixed = 0.25 + 0.75 * quad(lambda x: (1 + variable * x) ** -4, 0, 1)[0]
    assert mixed == pytest.approx(crossover(variable), rel=1e-12)
    assert float(depth_scaling.mixture().conclusion.subs(s, variable)) == pytest.approx(mixed, rel=1e-12)


@pytest.mark.parametrize("variable", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("points", [2, 50, 10_000])
def test_the_bound_at_finite_depth_tends_to_that_of_the_crossover(variable, points):
    at = variable * math.sqrt(EPSILON / math.log(2 * points))
    limit = float(depth_scaling.eigenvalue_bound().conclusion.subs({sigma: at, epsilon: EPSILON}))
    limit *= 1 + 1 / points  # at finite depth the factor is 1 − (n − 1)/(2n), not 1/2
    errors = []
    for depth in (250, 1000, 4000):
        found = eigenvalue_bound(3 * math.pi * variable / depth, points, depth)
        errors.append(abs(found / limit - 1))
    assert errors[2] < 0.02
    assert errors[2] < errors[1] < errors[0] or errors[0] < 1e-3


def test_the_slope_is_positive_below_log_two_only():
    slope = depth_scaling.eigenvalue_slope().conclusion
    assert slope.subs(epsilon, 0.69) > 0 > slope.subs(epsilon, 0.7)


@pytest.mark.parametrize(("variable", "time"), [(0.1, 1.0), (1.0, 3.0), (5.0, 0.2)])
def test_two_points_learn_their_difference_as_derived(variable, time):
    kernel = np.array([[1, crossover(variable)], [crossover(variable), 1]])
    difference = np.array([1.0, -1.0])
    learned = difference @ (np.eye(2) - expm(-kernel * time)) @ difference / 2
    derived = depth_scaling.learned_difference().conclusion.subs({s: variable, t: time})
    assert float(derived) == pytest.approx(learned, rel=1e-12)
