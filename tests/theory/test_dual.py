"""The dual pairs against quadrature of their definition, and what is refused."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import sympy
from scipy.integrate import dblquad
from sympy import symbols

from theory.activations import (
    Activation,
    Cos,
    Erf,
    Exp,
    Hermite,
    Identity,
    LeakyReLU,
    ReLU,
    Sin,
    Softplus,
    Tanh,
)
from theory.derivation import Derivation, How
from theory.dual import PriceIntegral, a, b, c, dual, dual_derivative, leaky_relu, normalisation, price, s
from theory.errors import InvalidInput
from theory.reasons import Algebra

Real = Callable[[np.ndarray], np.ndarray]

# φ and φ' written out in NumPy, independently of `theory/activations.py`
SMOOTH: dict[Activation, tuple[Real, Real]] = {
    Identity(): (lambda z: z, np.ones_like),
    Erf(): (np.vectorize(math.erf), lambda z: 2 / math.sqrt(math.pi) * np.exp(-z * z)),
    Sin(): (np.sin, np.cos),
    Cos(): (np.cos, lambda z: -np.sin(z)),
    Exp(): (np.exp, np.exp),
    Hermite(0): (np.ones_like, np.zeros_like),
    Hermite(1): (lambda z: z, np.ones_like),
    Hermite(2): (lambda z: (z * z - 1) / math.sqrt(2), lambda z: math.sqrt(2) * z),
    Hermite(3): (lambda z: (z**3 - 3 * z) / math.sqrt(6), lambda z: (3 * z * z - 3) / math.sqrt(6)),
}
KINKED: dict[Activation, tuple[Real, Real]] = {
    ReLU(): (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0),
    LeakyReLU(0.75, 0.25): (lambda z: np.where(z > 0, z, z / 2), lambda z: np.where(z > 0, 1.0, 0.5)),
    LeakyReLU(0.0, 1.0): (np.abs, np.sign),
    LeakyReLU(1.0, 0.0): (lambda z: z, np.ones_like),
    LeakyReLU(0.5, 0.5): (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0),
}
EVERY = list(SMOOTH) + list(KINKED)
COVARIANCES = [(1.0, 1.0, 0.5), (0.5, 1.5, -0.7), (1.3, 0.4, 0.0), (0.8, 0.8, -0.75), (0.6, 0.9, 0.72)]


def by_quadrature(phi: Real, variance: float, variance2: float, covariance: float) -> float:
    """`E[φ(u)φ(v)]` by 80 × 80 Gauss–Hermite nodes, for φ that is entire."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    u = math.sqrt(variance) * nodes[:, None]
    v = covariance / variance * u + math.sqrt(variance2 - covariance**2 / variance) * nodes[None, :]
    return float(weights @ (phi(u) * phi(v)) @ weights) / (2 * math.pi)


def quadrant_by_quadrant(phi: Real, variance: float, variance2: float, covariance: float) -> float:
    """The same for a φ that is smooth on either side of 0, with the density of `(u, v)`."""
    determinant = variance * variance2 - covariance**2
    far_u, far_v = 9 * math.sqrt(variance), 9 * math.sqrt(variance2)  # beyond 9 deviations there is less than 1e-16

    def integrand(v: float, u: float) -> float:
        square = (variance2 * u * u - 2 * covariance * u * v + variance * v * v) / determinant
        value = phi(np.array(u)) * phi(np.array(v))
        return float(value) * math.exp(-square / 2) / (2 * math.pi * math.sqrt(determinant))

    return sum(
        dblquad(integrand, *u_range, *v_range, epsabs=1e-9, epsrel=1e-9)[0]
        for u_range in ((-far_u, 0), (0, far_u))
        for v_range in ((-far_v, 0), (0, far_v))
    )


def proved(derivation: Derivation) -> bool:
    return all(checked.outcome.proved for part in derivation.parts() for checked in part.check())


def at(derivation: Derivation, covariance: tuple[float, float, float]) -> float:
    return float(derivation.conclusion.subs(dict(zip((a, b, c), covariance, strict=True))))


@pytest.mark.parametrize("activation", [*EVERY, Hermite(4), Hermite(11)], ids=repr)
def test_every_line_is_proved(activation: Activation) -> None:
    for derive in (dual, dual_derivative, normalisation, price):
        assert proved(derive(activation))


@pytest.mark.parametrize("activation", SMOOTH, ids=repr)
def test_smooth_duals_are_the_gaussian_integrals(activation: Activation) -> None:
    for derive, phi in zip((dual, dual_derivative), SMOOTH[activation], strict=True):
        for covariance in COVARIANCES:
            assert at(derive(activation), covariance) == pytest.approx(by_quadrature(phi, *covariance), abs=1e-12)


@pytest.mark.parametrize("activation", KINKED, ids=repr)
def test_kinked_duals_are_the_gaussian_integrals(activation: Activation) -> None:
    for derive, phi in zip((dual, dual_derivative), KINKED[activation], strict=True):
        for covariance in COVARIANCES[:2]:
            expected = quadrant_by_quadrant(phi, *covariance)
            assert at(derive(activation), covariance) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("activation", EVERY, ids=repr)
def test_normalisation(activation: Activation) -> None:
    phi = {**SMOOTH, **KINKED}[activation][0]
    nodes = np.linspace(-12, 12, 200_001)  # 0 is a node, so the kinks are met
    second_moment = np.trapezoid(phi(nodes) ** 2 * np.exp(-(nodes**2) / 2), nodes) / math.sqrt(2 * math.pi)
    assert float(normalisation(activation).conclusion) == pytest.approx(1 / second_moment, rel=1e-7)


def test_price_is_a_slope_in_the_covariance() -> None:
    for activation in EVERY:
        step = 1e-5
        slope = (at(dual(activation), (1.1, 0.7, 0.3 + step)) - at(dual(activation), (1.1, 0.7, 0.3 - step))) / (
            2 * step
        )
        assert slope == pytest.approx(at(price(activation), (1.1, 0.7, 0.3)), rel=1e-6, abs=1e-9)


def test_price_would_see_a_wrong_dual() -> None:
    for activation in (Sin(), Erf(), ReLU()):
        before, after = price(activation).start, price(activation).conclusion
        assert not Algebra().check(before, 2 * after).proved
        assert not Algebra().check(before, after + c).proved


def test_price_integral_refuses() -> None:
    kernel = dual(Erf())
    before, after = kernel.lines[:2]
    assert PriceIntegral(sympy.erf(s), dual_derivative(Erf())).check(before, after).proved
    assert PriceIntegral(sympy.sin(s), dual_derivative(Erf())).check(before, after).how is How.WRONG
    assert PriceIntegral(sympy.erf(s), dual_derivative(Sin())).check(before, after).how is How.WRONG
    assert PriceIntegral(sympy.erf(s), dual_derivative(Erf())).check(before, 2 * after).how is How.WRONG
    cosine = dual(Cos()).start  # not odd: E[cos u]E[cos v] is not zero at c = 0
    assert not PriceIntegral(sympy.cos(s), dual_derivative(Cos())).check(cosine, after).proved


def test_leaky_relu_with_symbols_for_slopes() -> None:
    odd, even = symbols("alpha beta", real=True)
    for degree, derive in ((1, dual), (0, dual_derivative)):
        symbolic = leaky_relu(odd, even, degree)
        assert proved(symbolic)
        number = symbolic.conclusion.subs({odd: sympy.Rational(3, 4), even: sympy.Rational(1, 4)})
        assert sympy.simplify(number - derive(LeakyReLU(0.75, 0.25)).conclusion) == 0


def test_unit_variances() -> None:
    for degree in (0, 1, 5, 40):
        assert dual(Hermite(degree)).conclusion.subs({a: 1, b: 1}) == c**degree


@pytest.mark.parametrize("activation", [Tanh(), Softplus()], ids=repr)
def test_no_closed_form(activation: Activation) -> None:
    for derive in (dual, dual_derivative, normalisation, price):
        with pytest.raises(InvalidInput, match="quadrature or by a Hermite series"):
            derive(activation)
