"""The arc-cosine kernels against quadrature of their definition and against the formula of Cho and Saul."""

import math

import pytest
import sympy
from scipy.integrate import quad
from sympy import Rational, pi

from theory.arccos import arccos_kernel, derivative_identity, homogeneity
from theory.derivation import Derivation
from theory.errors import InvalidInput
from theory.gaussian import sigma, sigma_prime, theta

ANGLES = [0.0, 0.2, 1.0, math.pi / 2, 2.0, 3.0, math.pi]


def by_quadrature(degree: int, angle: float, first: float = 1.0, second: float = 1.0) -> float:
    """`2 E[u₊^k v₊^k]` for standard deviations `first` and `second`, one integral inside the other."""

    def density(z: float) -> float:
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    def inner(x: float) -> float:
        if math.sin(angle) < 1e-12:
            return (second * x * math.cos(angle)) ** degree if math.cos(angle) > 0 else 0.0
        start = -x / math.tan(angle)  # where v > 0 begins; the tail beyond 12 is below 1e-25
        if start > 12:
            return 0.0
        moment = lambda y: (second * (x * math.cos(angle) + y * math.sin(angle))) ** degree * density(y)  # noqa: E731
        return quad(moment, max(start, -12), 12, epsabs=1e-13, epsrel=1e-12)[0]

    return 2 * quad(lambda x: (first * x) ** degree * density(x) * inner(x), 0, 12, epsabs=1e-11, epsrel=1e-11)[0]


def proved(derivation: Derivation) -> bool:
    return all(checked.outcome.proved for part in derivation.parts() for checked in part.check())


@pytest.mark.parametrize("degree", range(9))
def test_every_line_is_proved(degree: int) -> None:
    assert proved(homogeneity(degree))
    if degree > 0:
        assert proved(derivative_identity(degree))


@pytest.mark.parametrize("degree", range(6))
def test_kernel_is_the_gaussian_integral(degree: int) -> None:
    for angle in ANGLES:
        exact = float(arccos_kernel(degree).conclusion.subs(theta, angle))
        assert exact == pytest.approx(by_quadrature(degree, angle), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("degree", range(4))
def test_homogeneity_is_the_gaussian_integral(degree: int) -> None:
    exact = homogeneity(degree).conclusion.subs({sigma: 0.5, sigma_prime: 3, theta: 1.2})
    assert float(exact) == pytest.approx(by_quadrature(degree, 1.2, 0.5, 3), rel=1e-8)


@pytest.mark.parametrize("degree", range(4))
def test_formula_of_cho_and_saul(degree: int) -> None:
    published = (pi - theta) / sympy.sin(theta)
    for _ in range(degree):
        published = sympy.diff(published, theta) / sympy.sin(theta)
    published *= (-1) ** degree * sympy.sin(theta) ** (2 * degree + 1)
    for angle in (Rational(1, 2), Rational(17, 10), Rational(3)):
        ours = (pi * arccos_kernel(degree).conclusion).subs(theta, angle)
        assert abs((ours - published.subs(theta, angle)).evalf(40)) < 1e-25


@pytest.mark.parametrize("degree", range(9))
def test_ends_of_the_range(degree: int) -> None:
    kernel = arccos_kernel(degree).conclusion
    assert kernel.subs(theta, 0) == sympy.factorial2(2 * degree - 1)  # 2 E[u₊^{2k}] = E[u^{2k}]
    assert kernel.subs(theta, pi) == 0


def test_derivative_in_the_correlation() -> None:
    for degree in (1, 2, 5):
        kernel = arccos_kernel(degree).conclusion
        at, step = math.acos(0.3), 1e-5
        slope = kernel.subs(theta, math.acos(0.3 + step)) - kernel.subs(theta, math.acos(0.3 - step))
        assert float(slope) / (2 * step) == pytest.approx(float(derivative_identity(degree).conclusion.subs(theta, at)))


@pytest.mark.parametrize("degree", [-1, 9, 1.0, True, "1", None])
def test_other_degrees_are_refused(degree: object) -> None:
    with pytest.raises(InvalidInput, match=r"degree = .*give an integer from 0 to 8"):
        arccos_kernel(degree)  # type: ignore[arg-type]


def test_degree_zero_has_no_derivative() -> None:
    with pytest.raises(InvalidInput, match="from 1 to 8"):
        derivative_identity(0)
