"""Haar averages against integration over all of O(1), O(2), O(3), and a sample of O(4) and O(5)."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from sympy import Identity, Symbol, Trace

from numerics.haar_sampling import haar_orthogonal
from theory.derivation import How
from theory.errors import InvalidInput
from theory.haar import (
    A,
    GaussianMoments,
    HaarAverage,
    Invariants,
    Newton,
    SphereAverage,
    Z,
    e,
    g,
    h,
    haar_trace,
    mean,
    norm_moment,
    s,
    sphere_moment,
    tau,
)

POWERS = range(1, 9)
NODES = 64  # equally spaced angles; the mean of a trigonometric polynomial of a lower degree is exact


def angles():
    return 2 * np.pi * np.arange(NODES) / NODES


def mean_trace(width: int, power: int) -> float:
    """`E tr Zᵏ` over O(1), O(2) or O(3): by Weyl's integration formula, each determinant with probability one half."""
    if width == 1:
        return np.mean([1.0, (-1.0) ** power])
    rotations = 2 * np.cos(power * angles())
    if width == 2:  # the eigenvalues of a reflection are 1 and −1
        return float(np.mean(rotations) + 1 + (-1) ** power) / 2
    density = 1 - np.cos(angles())  # of the angle of a rotation in R³, times 2π
    return float(np.mean(density * (1 + rotations)) * (1 + (-1) ** power)) / 2


@pytest.mark.parametrize("width", [1, 2, 3])
def test_traces_over_the_whole_group(width):
    for power in POWERS:
        assert mean_trace(width, power) == pytest.approx(float(haar_trace(power).conclusion), abs=1e-12)


@pytest.mark.parametrize("width", [4, 5])
def test_traces_of_random_matrices(width):
    """Hoeffding's inequality for `|tr| <= h`; false alarm below 1e-9 for all powers together."""
    count = 40_000
    sample = haar_orthogonal(np.random.default_rng(width), count, width)
    allowed = width * math.sqrt(2 * math.log(2 * len(POWERS) / 1e-9) / count)
    assert allowed < 0.2  # so that 0 and 1 are told apart
    product = np.broadcast_to(np.eye(width), sample.shape)
    for power in POWERS:
        product = product @ sample
        found = np.trace(product, axis1=1, axis2=2).mean()
        assert abs(found - float(haar_trace(power).conclusion)) <= allowed


@pytest.mark.parametrize("width", [2, 3, 4, 7])
def test_moments_of_a_scalar_product(width):
    """`τ = cos φ` with the density `∝ sin^{h−2} φ`."""
    weight = quad(lambda t: math.sin(t) ** (width - 2), 0, math.pi)[0]
    for power in range(1, 9):
        moment = quad(lambda t, k=power: math.cos(t) ** k * math.sin(t) ** (width - 2), 0, math.pi)[0] / weight
        assert float(sphere_moment(power).conclusion.subs(h, width)) == pytest.approx(moment, abs=1e-10)


def test_in_one_dimension_the_scalar_product_is_a_sign():
    assert [sphere_moment(power).conclusion.subs(h, 1) for power in (1, 2, 3, 8)] == [0, 1, 0, 1]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_moments_of_a_norm(width):
    for power in (2, 4, 6):
        moment = (2 / width) ** (power / 2) * math.gamma((width + power) / 2) / math.gamma(width / 2)
        assert float(norm_moment(A, power).conclusion.subs(h, width)) == pytest.approx(moment, rel=1e-12)


@pytest.mark.parametrize("derivation", [haar_trace(7), haar_trace(8), sphere_moment(5), sphere_moment(6)])
def test_every_step_is_proved(derivation):
    assert all(step.outcome.proved for step in derivation.check())


def test_wrong_lines_are_not_proved():
    right = Newton(3).expected()
    assert not Newton(3).check(mean(Trace(Z**3)), right + mean(e[3] * s[0])).proved
    assert not Newton(3).check(mean(Trace(Z**2)), right).proved
    assert Invariants().check(mean(e[1] * s[3]), 1 + 0 * h).proved
    assert Invariants().check(mean(e[1] * s[3]), 0 * h).how is How.WRONG
    assert not Invariants().check(mean(e[2] * s[0] * e[1]), 0 * h).proved
    assert GaussianMoments().check(mean(g**4), 2 + 0 * h).how is How.WRONG
    assert not GaussianMoments().check(mean(g**3), 0 * h).proved


def test_averages_need_every_moment_and_the_right_value():
    line, value = mean(Trace((Z + Z.T) * (Z + 2 * Identity(h)))), h + 1
    assert HaarAverage((haar_trace(1), haar_trace(2))).check(line, value).proved
    assert not HaarAverage((haar_trace(1), haar_trace(2))).check(line, h).proved
    assert not HaarAverage((haar_trace(1),)).check(line, value).proved
    square = mean((1 + tau) ** 2)
    assert SphereAverage((sphere_moment(1), sphere_moment(2))).check(square, 1 + 1 / h).proved
    assert not SphereAverage((sphere_moment(1), sphere_moment(2))).check(square, 1 + 2 / h).proved
    assert not SphereAverage((sphere_moment(1),)).check(square, 1 + 1 / h).proved


@pytest.mark.parametrize("power", [0, -1, 1.5, True, "2", Symbol("k")])
def test_powers_are_positive_integers(power):
    for moment in (haar_trace, sphere_moment):
        with pytest.raises(InvalidInput, match="power"):
            moment(power)
