"""Layers of leaky ReLU and erf, against Gaussian quadrature of their definitions."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import dblquad, quad
from scipy.special import erf
from sympy import pi

from theory import kernel_conditions
from theory.arccos import theta
from theory.kernel_conditions import alpha, beta

DERIVATIONS = (
    kernel_conditions.leaky_angle,
    kernel_conditions.leaky_damping,
    kernel_conditions.erf_growth,
    kernel_conditions.erf_slope,
    kernel_conditions.erf_opposite,
)


@pytest.mark.parametrize("derive", DERIVATIONS)
def test_every_step_is_proved(derive):
    assert all(step.outcome.proved for part in derive().parts() for step in part.check())


def mean(function, correlation: float) -> float:
    """`E[function(u, v)]` for unit Gaussians, by quadrature in polar coordinates, where a kink is a line."""
    sine = math.sqrt(1 - correlation**2)

    def integrand(radius: float, angle: float) -> float:
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        return function(x, correlation * x + sine * y) * math.exp(-(radius**2) / 2) * radius / (2 * math.pi)

    return dblquad(integrand, 0, 2 * math.pi, 0, 12, epsabs=1e-11)[0]


@pytest.mark.parametrize(("a", "b"), [(0.75, 0.25), (0.0, 1.0), (0.5, 0.5)])
def test_how_a_layer_of_leaky_relu_closes_an_angle(a, b):
    theta = 0.05

    def product(angle: float) -> float:  # E[r²] = 2 is all of the radius, as the activation is homogeneous
        u, v = math.cos(angle), math.cos(angle - theta)
        return 2 * (a * u + b * abs(u)) * (a * v + b * abs(v)) / (2 * math.pi * (a**2 + b**2))

    kinks = [math.pi / 2, math.pi / 2 + theta, 3 * math.pi / 2, 3 * math.pi / 2 + theta]
    kappa = quad(product, 0, 2 * math.pi, points=kinks, epsabs=1e-13)[0]
    gained = (theta**2 / 2 - (1 - kappa)) / theta**3
    derived = float(kernel_conditions.leaky_angle().conclusion.subs({alpha: a, beta: b}))
    assert gained == pytest.approx(derived, abs=theta / 24 + 1e-3 * derived)  # the next term is θ/24, from the cosine


def test_the_growth_and_the_slope_of_erf():
    square = mean(lambda u, v: erf(u) ** 2, 0.0)
    slope = lambda u: 2 / math.sqrt(math.pi) * math.exp(-(u**2))  # noqa: E731
    growth = mean(lambda u, v: slope(u) ** 2, 0.0) / square
    forgotten = mean(lambda u, v: slope(u) * slope(v), 0.0) / square
    assert growth == pytest.approx(float(kernel_conditions.erf_growth().conclusion), rel=1e-8)
    assert forgotten == pytest.approx(float(kernel_conditions.erf_slope().conclusion), rel=1e-8)
    assert growth > 1 > forgotten


def test_an_even_activation_does_not_tell_opposite_points_apart():
    kappa, _ = kernel_conditions._leaky(1)
    opposite = kappa.subs(theta, pi)
    assert opposite.subs(alpha, 0) == 1
    assert opposite.subs({alpha: 1, beta: 1}) == 0
