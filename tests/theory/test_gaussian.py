"""Gaussian integrals and moments against quadrature, Price's theorem, and every reason seen refusing."""

import math

import pytest
from scipy.integrate import dblquad
from sympy import (
    Derivative,
    I,
    Integer,
    Integral,
    Rational,
    Symbol,
    cos,
    exp,
    expand,
    oo,
    pi,
    sin,
    sqrt,
)

from theory.derivation import How
from theory.gaussian import (
    Divergence,
    GaussianIntegral,
    GaussianMoments,
    SameFunction,
    UnderTheIntegral,
    expectation,
    phi,
    phi_prime,
    price_theorem,
    sigma,
    sigma_prime,
    theta,
    u,
    v,
    x,
    y,
)
from theory.integration import over_all

t = Symbol("t", real=True)
WEIGHT = exp(-(x**2 + y**2) / 2)


class TestGaussianIntegral:
    def test_against_quadrature(self) -> None:
        exponent = -(x**2) + x * y - 2 * y**2 + x / 2 - y + Rational(1, 3)
        value = GaussianIntegral().of(over_all(3 * exp(exponent), x, y))
        numeric, _ = dblquad(
            lambda b, a: 3 * math.exp(-a * a + a * b - 2 * b * b + a / 2 - b + 1 / 3), -12, 12, -12, 12
        )
        assert float(value) == pytest.approx(numeric, rel=1e-9)

    def test_characteristic_function(self) -> None:
        assert GaussianIntegral().of(expectation(exp(I * t * x))) == exp(-(t**2) / 2)

    @pytest.mark.parametrize(
        "integrand",
        [
            exp(x**2 - y**2),  # not decaying
            exp(-(x**2) - 3 * x * y - y**2),  # indefinite
            exp(-((x + y) ** 2)),  # singular
            exp(-(x**4) - y**2),
            x * exp(-(x**2) - y**2),
            exp(-t * x**2 - y**2),  # t may be negative
        ],
    )
    def test_others_are_left_alone(self, integrand: object) -> None:
        line = over_all(integrand, x, y)
        assert GaussianIntegral().of(line) == line
        assert not GaussianIntegral().check(line, pi).proved

    def test_only_over_the_whole_space(self) -> None:
        half = Integral(exp(-(x**2)), (x, 0, oo))
        assert GaussianIntegral().of(half) == half

    def test_wrong_value(self) -> None:
        line = over_all(exp(-(x**2) / 2), x)
        assert GaussianIntegral().check(line, sqrt(2 * pi)).how is How.LEMMA
        assert GaussianIntegral().check(line, sqrt(pi)).how is How.WRONG


class TestGaussianMoments:
    def test_moments(self) -> None:
        for power, moment in ((0, 1), (1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
            assert GaussianMoments().of(expectation(x**power)) == moment
        assert GaussianMoments().of(expectation(x**2 * y**4)) == 3

    def test_wick(self) -> None:
        value = GaussianMoments().of(expectation(u**2 * v**2))
        covariance = sigma * sigma_prime * cos(theta)
        isserlis = (sigma**2 * sigma_prime**2 + 2 * covariance**2).subs(cos(theta) ** 2, 1 - sin(theta) ** 2)
        assert expand(expand(value).subs(cos(theta) ** 2, 1 - sin(theta) ** 2) - isserlis) == 0

    def test_refuses(self) -> None:
        line = over_all(x**2 * exp(-(x**2) / 2), x)
        assert GaussianMoments().check(line, sqrt(2 * pi)).how is How.LEMMA
        assert GaussianMoments().check(line, 2 * sqrt(2 * pi)).how is How.WRONG
        for other in (
            over_all(x**2 * exp(-(x**2)), x),
            over_all(abs(x) * exp(-(x**2) / 2), x),
            Integral(x**2 * exp(-(x**2) / 2), (x, 0, oo)),
        ):
            assert GaussianMoments().check(other, sqrt(2 * pi)).how is How.UNDECIDED


class TestDivergence:
    def test_stein(self) -> None:
        """`E[x φ(x)] = E[φ'(x)]`, with the field `−φ(x) e^{−|z|²/2}` along x."""
        before, after = over_all(x * phi(x) * WEIGHT, x, y), over_all(phi_prime(x) * WEIGHT, x, y)
        field = {x: -phi(x) * WEIGHT, y: 0 * y}
        assert Divergence(field).check(before, after).how is How.LEMMA
        assert not Divergence(field).check(before, 2 * after).proved
        assert not Divergence({x: phi(x) * WEIGHT, y: 0 * y}).check(before, after).proved
        assert not Divergence({x: -phi(x) * WEIGHT}).check(before, after).proved

    def test_field_must_decay(self) -> None:
        before, after = over_all(exp(-x), x), over_all(0 * x, x)
        assert not Divergence({x: -exp(-x)}).check(before, after).proved
        before = over_all((1 + x**2) * exp(x**2 / 2), x)
        assert not Divergence({x: x * exp(x**2 / 2)}).check(before, after).proved


class TestUnderTheIntegral:
    def test_right_and_wrong(self) -> None:
        before = 2 * Derivative(over_all(exp(t * x - x**2), x), t)
        after = over_all(2 * x * exp(t * x - x**2), x)
        assert UnderTheIntegral().check(before, after).how is How.LEMMA
        assert not UnderTheIntegral().check(before, 2 * after).proved
        assert not UnderTheIntegral().check(before.args[1], after).proved

    def test_moving_ends(self) -> None:
        before = Derivative(Integral(x, (x, 0, t)), t)
        assert not UnderTheIntegral().check(before, Integral(0, (x, 0, t))).proved


class TestSameFunction:
    w = Symbol("w", real=True)

    def test_right(self) -> None:
        f, g = (self.w + 1) ** 2, (self.w**2 + 2 * self.w + 1) / 3
        before, after = (expectation(one.subs(self.w, u) * one.subs(self.w, v)) for one in (f, g))
        assert SameFunction(self.w, f, Integer(3), g).check(before, 9 * after).how is How.ALGEBRA
        assert SameFunction(self.w, f, Integer(3), g).check(before, 3 * after).how is How.WRONG
        assert SameFunction(self.w, f, Integer(3), g).check(after, 9 * before).how is How.WRONG

    def test_functions_that_differ(self) -> None:
        f, g = self.w + 1, self.w
        before, after = (expectation(one.subs(self.w, u) * one.subs(self.w, v)) for one in (f, g))
        assert not SameFunction(self.w, f, Integer(1), g).check(before, after).proved


def test_price_is_proved() -> None:
    assert all(checked.outcome.proved for checked in price_theorem().check())


def test_price_with_a_function_put_in() -> None:
    """For `φ = exp` both sides of the theorem are known from the Gaussian integral."""
    value = GaussianIntegral().of(expectation(exp(u) * exp(v)))
    slope = -value.diff(theta) / (sigma * sigma_prime * sin(theta))
    assert expand(slope - value) == 0
    assert price_theorem().conclusion.replace(phi_prime, exp) == expectation(exp(u) * exp(v))


def test_phi_differentiates_to_phi_prime() -> None:
    assert phi(t**2).diff(t) == 2 * t * phi_prime(t**2)
