"""Hermite moments against quadrature, the tail bound against a known series, and reasons seen refusing."""

import math

import numpy as np
import pytest
from sympy import Derivative, Integer, Rational, Subs, exp, pi, sqrt

from theory.derivation import How
from theory.errors import InvalidInput
from theory.gaussian import UNIT, sigma, sigma_prime, theta
from theory.hermite import (
    HermiteDerivatives,
    TaylorCoefficient,
    generating_function,
    hermite_moment,
    s,
    t,
    tail_bound,
)


def normalised_hermite(degree: int, z: np.ndarray) -> np.ndarray:
    return np.polynomial.hermite_e.hermeval(z, [0] * degree + [1]) / math.sqrt(math.factorial(degree))


@pytest.mark.parametrize(("j", "k"), [(0, 0), (1, 1), (2, 2), (3, 3), (2, 4), (1, 3), (2, 3), (0, 2), (6, 6)])
def test_moment(j: int, k: int) -> None:
    derivation = hermite_moment(j, k)
    assert all(checked.outcome.proved for part in derivation.parts() for checked in part.check())
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    for first, second, angle in ((1.0, 1.0, 0.7), (0.6, 1.4, 2.0)):
        u = first * nodes[:, None]
        v = second * (nodes[:, None] * math.cos(angle) + nodes[None, :] * math.sin(angle))
        expected = weights @ (normalised_hermite(j, u) * normalised_hermite(k, v)) @ weights / (2 * math.pi)
        value = derivation.conclusion.subs({sigma: first, sigma_prime: second, theta: angle})
        assert float(value) == pytest.approx(expected, abs=1e-10)


def test_orthogonality() -> None:
    for j in range(5):
        for k in range(5):
            at_zero_angle = hermite_moment(j, k).conclusion.subs(UNIT).subs(theta, 0)
            assert at_zero_angle == (1 if j == k else 0)


@pytest.mark.parametrize("degree", [-1, 201, 2.0, True, "2"])
def test_other_degrees_are_refused(degree: object) -> None:
    with pytest.raises(InvalidInput, match="degree = "):
        hermite_moment(degree, 2)  # type: ignore[arg-type]


def test_derivatives_refuse() -> None:
    before, after = hermite_moment(2, 3).lines[:2]
    assert HermiteDerivatives(2, 3).check(before, after).how is How.LEMMA
    assert HermiteDerivatives(3, 2).check(before, after).how is How.WRONG
    assert HermiteDerivatives(2, 3).check(2 * before, after).how is How.WRONG
    assert HermiteDerivatives(2, 3).check(hermite_moment(2, 2).start, after).how is How.WRONG
    assert HermiteDerivatives(2, 3).check(before, 2 * after).how is How.WRONG


def test_taylor_coefficient() -> None:
    form = exp(2 * s**2 - t**2 / 3 + 5 * s * t)
    for j, k in ((0, 0), (1, 1), (2, 0), (3, 1), (2, 2), (2, 1), (4, 4)):
        derivative = form.diff(s, j).diff(t, k).subs({s: 0, t: 0})  # SymPy's own
        orders = [(parameter, order) for parameter, order in ((s, j), (t, k)) if order]
        line = Subs(Derivative(form, *orders) if orders else form, (s, t), (0, 0))
        assert TaylorCoefficient(j, k).check(7 * line, 7 * derivative).how is How.ALGEBRA
        assert not TaylorCoefficient(j, k).check(7 * line, 7 * derivative + 1).proved
        assert not TaylorCoefficient(j + 1, k).check(7 * line, 7 * derivative).proved


def test_taylor_coefficient_of_others() -> None:
    line = Subs(Derivative(exp(s**3), (s, 3)), (s, t), (0, 0))
    assert TaylorCoefficient(3, 0).check(line, Integer(6)).how is How.UNDECIDED
    assert TaylorCoefficient(3, 0).check(s, Integer(6)).how is How.UNDECIDED


def test_generating_function_at_unit_variances() -> None:
    assert generating_function().conclusion.subs(UNIT).subs(theta, pi / 2) == 1


def test_tail_bound_holds_for_the_exponential() -> None:
    """`exp(z)` has the coefficients `√(e/k!)`, so that `E[exp(2z)] = e²` and the dual is `e^{1+ρ}`."""
    for terms in (1, 3, 6):
        coefficients = [exp(Rational(1, 2)) / sqrt(math.factorial(k)) for k in range(terms)]
        for rho in (Rational(9, 10), Rational(-1, 2), Integer(1), Integer(-1), Integer(0)):
            partial = sum(coefficient**2 * rho**k for k, coefficient in enumerate(coefficients))
            error = abs(float((exp(1 + rho) - partial).evalf(30)))
            assert error <= float(tail_bound(coefficients, exp(2), rho).evalf(30)) * (1 + 1e-12)
    assert float(tail_bound(coefficients, exp(2), Integer(1))) == pytest.approx(error_at_one(coefficients))


def error_at_one(coefficients: list) -> float:
    """At `ρ = 1` Parseval makes the bound the tail itself."""
    return math.e**2 - sum(float(coefficient) ** 2 for coefficient in coefficients)


def test_tail_bound_needs_a_coefficient() -> None:
    with pytest.raises(InvalidInput, match="coefficients"):
        tail_bound([], Integer(1), Integer(0))
