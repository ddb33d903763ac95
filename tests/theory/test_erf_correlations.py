"""Moments with the error function against quadrature, and the means of erf's correlations against the definition."""

import mpmath
import pytest
from sympy import Integral, Rational, S, Symbol, diff, erf, exp, lambdify, oo

from theory.correlations import c, contribution, eta, m, phi, u, w
from theory.derivation import How
from theory.erf_correlations import ErrorFunctionMoments, erf_mean, error_function_moment, gaussian_moment
from theory.errors import InvalidInput


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("b", [Rational(1, 2), S(3)])
def test_moments_by_quadrature(k, b):
    with mpmath.workdps(30):
        for value, factor in ((gaussian_moment(k, b), lambda x: 1), (error_function_moment(k, b), mpmath.erf)):
            found = mpmath.quad(lambda x, g=factor: x**k * g(x) * mpmath.exp(-float(b) * x**2), [-12, 0, 12])
            assert float(value) == pytest.approx(float(found), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("d", [3, 5])
def test_means_by_quadrature_in_both_variables(d):
    """`E T_d(w, u)` from the definition of one neuron, w and u by quadrature with Gauss's nodes."""
    derived = contribution(d).replace(phi, lambda order, argument: diff(erf(u), u, int(order)).subs(u, argument))
    T = lambdify((w, u), derived.doit(), modules=["mpmath"])

    def inner(x):  # a polynomial of degree d + 1 in w: eight nodes are exact
        nodes, weights = GAUSS
        return sum(weight * T(node, x) for node, weight in zip(nodes, weights, strict=True))

    expected = mpmath.quad(lambda x: inner(x) * mpmath.exp(-(x**2) / 2), [-9, 0, 9]) / mpmath.sqrt(2 * mpmath.pi)
    found = erf_mean(d).conclusion.subs({eta: 1, c: 1, m: 1}) * mpmath.factorial(d)
    assert float(found) == pytest.approx(float(expected), rel=1e-10)


def _gauss():
    import numpy as np

    nodes, weights = np.polynomial.hermite_e.hermegauss(8)
    return nodes.tolist(), (weights / weights.sum()).tolist()


GAUSS = _gauss()


@pytest.mark.parametrize("d", [3, 5])
def test_every_step_is_proved(d):
    assert all(link.outcome.proved for link in erf_mean(d).check())


def test_wrong_values_and_other_integrals_are_not_accepted():
    integral = Integral(u * erf(u) * exp(-(u**2)), (u, -oo, oo))
    reason, right = ErrorFunctionMoments(), error_function_moment(1, S(1))
    assert reason.check(integral, right).how is How.LEMMA
    assert not reason.check(integral, 2 * right).proved
    for other in (erf(u) ** 2 * exp(-(u**2)), u * exp(u**2), u * exp(-u), exp(-(u**4)), 1 / (1 + u**2)):
        assert reason.check(Integral(other, (u, -oo, oo)), right).how is How.UNDECIDED
    z = Symbol("z", real=True)
    assert reason.check(Integral(exp(-(z**2)), (z, 0, 1)), right).how is How.UNDECIDED


@pytest.mark.parametrize("d", [1, 2, 4, 7])
def test_other_orders_are_refused(d):
    with pytest.raises(InvalidInput):
        erf_mean(d)
