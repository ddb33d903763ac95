"""The recursion in angles against the recursion in covariances, and its pieces against Arb."""

import math

import flint
import numpy as np
import pytest
from flint import arb

from numerics.recursions import HomogeneousRecursion, Recursion, _activated, _biased, _sine_minus
from theory.activations import Erf, LeakyReLU, ReLU
from theory.errors import InvalidInput

ANGLES = np.array([0.0, 0.01, 0.3, 1.0, 1.5, 2.0, 3.0, math.pi])
SQUARES, SQUARES2 = np.array(0.25), np.array(2.0)


@pytest.fixture(autouse=True)
def precision():
    before, flint.ctx.prec = flint.ctx.prec, 200
    yield
    flint.ctx.prec = before


@pytest.mark.parametrize(
    "activation", [ReLU(), LeakyReLU(1.0, 0.3), LeakyReLU(0.0, 1.0), LeakyReLU(1.0, 0.0)], ids=repr
)
@pytest.mark.parametrize(("weights", "biases"), [(1.0, 0.0), (1.0, 0.5), (1.4, 0.1), (0.7, 2.0)])
def test_both_recursions_agree(activation: LeakyReLU, weights: float, biases: float) -> None:
    slopes, offsets = (2.0, 1.0, 0.5, 3.0), (0.25, 0.0, 1.0, 0.5)
    in_covariances = Recursion(activation, slopes, offsets, weights, biases)
    in_angles = HomogeneousRecursion(activation, slopes, offsets, weights, biases)
    for name in ("nngp", "ntk", "ntk_layers"):
        found, expected = (getattr(rule, name)(ANGLES, SQUARES, SQUARES2) for rule in (in_angles, in_covariances))
        size = np.abs(expected).max()
        # in covariances, angles near 0 and π are known to the root of the rounding
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7 * size)
        np.testing.assert_allclose(found[..., 2:7], expected[..., 2:7], rtol=0, atol=1e-14 * size)


def test_the_layers_sum_to_the_kernel() -> None:
    for rule in (
        Recursion(Erf(), (1.0, 2.0, 3.0), (0.5, 0.0, 0.25), 1.5, 0.3),
        HomogeneousRecursion(ReLU(), (1.0,) * 65, (0.0,) * 65),
    ):
        whole, parts = (kernel(ANGLES, SQUARES, SQUARES2) for kernel in (rule.ntk, rule.ntk_layers))
        np.testing.assert_allclose(parts.sum(axis=0), whole, rtol=0, atol=1e-14 * np.abs(whole).max())


def test_depth_zero_is_the_linear_kernel() -> None:
    rule = Recursion(Erf(), (1.0,), (0.0,), 2.0, 0.5)
    for kernel in (rule.ntk, rule.nngp):
        np.testing.assert_allclose(
            kernel(ANGLES, SQUARES, SQUARES2), 2 * math.sqrt(0.5) * np.cos(ANGLES) + 0.5, rtol=1e-14
        )


@pytest.mark.parametrize("angle", [10.0**-k for k in range(0, 10, 3)] + [math.pi / 2])
def test_sine_minus(angle: float) -> None:
    exact = arb(angle).sin() - arb(angle) * arb(angle).cos()
    assert abs(float(_sine_minus(np.array([angle]))[0] / exact) - 1) < 1e-15


@pytest.mark.parametrize("kinked", [0.0, 1e-6, 0.5, 1 - 1e-6, 1.0])
@pytest.mark.parametrize("angle", [1e-9, 1e-3, 1.0, 1.6, 3.0, 3.14159])
def test_the_activated_angle_keeps_its_relative_accuracy(kinked: float, angle: float) -> None:
    straight = 1 - kinked  # exact for these
    half_chord, half_cochord = _activated(np.array([angle]), straight, kinked)
    theta = arb(angle)
    lift = arb(kinked) / arb.pi() * (theta.sin() - theta * theta.cos())
    for found, exact in ((half_chord, (theta / 2).sin() ** 2 - lift), (half_cochord, (theta / 2).cos() ** 2 + lift)):
        # π − θ, of a float near π, is known to 1e-16 only
        assert abs(float(found[0] - exact)) <= 4e-15 * float(exact) + (2e-16 * (math.pi - angle) if angle > 2 else 0)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (1.0, 1.0 + 1e-9), (0.0, 0.0), (0.0, 2.0), (1e-10, 1e10), (3.0, 2.0)])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 3.0])
@pytest.mark.parametrize("bias", [1e-6, 1.0, 1e6])
def test_biases_keep_the_distance(p: float, q: float, angle: float, bias: float) -> None:
    t = np.array([math.sin(angle / 2) ** 2])
    half_chord, half_cochord = _biased(t, 1 - t, np.array([p]), np.array([q]), bias)
    mean, after = (arb(p) * arb(q)).sqrt(), ((arb(p) + bias) * (arb(q) + bias)).sqrt()
    covariance = mean * (1 - 2 * arb(float(t[0]))) + bias
    exact = (1 - covariance / after) / 2
    assert abs(float(half_chord[0] - exact)) <= 4e-15 * float(exact)
    assert abs(float(half_chord[0] + half_cochord[0]) - 1) <= 1e-15


def test_an_overflowing_variance_names_the_points_and_the_layer() -> None:
    from theory.activations import Exp

    rule = Recursion(Exp(), (1.0,) * 9, (0.0,) * 9)
    with pytest.raises(InvalidInput, match=r"points of norm 2: a variance overflows in layer \d"):
        rule.ntk(np.zeros(1), np.array([4.0]), np.array([4.0]))
