r"""The series of one step: every line proved, right for functions that are known, and wrong lines caught."""

from itertools import product

import pytest
from sympy import (
    Derivative,
    Function,
    Rational,
    S,
    Sum,
    Symbol,
    exp,
    factorial,
    integrate,
    oo,
    sqrt,
    symbols,
)

from theory import taylor_identity as identity
from theory.errors import InvalidInput
from theory.taylor_identity import C0, C1, Linear, N, Taylor, Termwise, coefficient, d, eta, remainder, slope, t

DERIVATIONS = [
    identity.one_step,
    identity.one_step_gradient,
    identity.tangent_kernel,
    identity.truncation,
    identity.radius,
    identity.counterexample,
    identity.divergence,
    *(lambda order=order: identity.contraction(order) for order in (1, 2, 3, 4)),
]


@pytest.mark.parametrize("derive", DERIVATIONS)
def test_every_line_is_proved(derive):
    checked = derive().check()
    assert checked
    assert [step.outcome.detail for step in checked if not step.outcome.proved] == []


def test_the_sum_is_that_of_the_exponential():
    """For `f = exp`, `a_d = 1/d!`: both sides of the identity, with Taylor's remainder as the integral it is."""
    at = {eta: Rational(1, 2), slope: Rational(3, 2)}
    step, order = -Rational(3, 4), 3
    rest = integrate(exp(t) * (step - t) ** order / factorial(order), (t, 0, step))
    right = identity.one_step().conclusion.subs(N, order).doit()
    right = right.subs({C0[k]: eta**k / factorial(k) for k in range(order + 1)}).subs({remainder[order]: rest}).subs(at)
    assert (exp(step) - 1 - step - right).simplify() == 0
    right = identity.one_step_gradient().conclusion.subs(N, order).doit()
    right = right.subs({C1[k]: eta ** (k + S.Half) / factorial(k) for k in range(order + 1)})
    right = right.subs({identity.gradient_remainder[order]: rest}).subs(at)
    assert (sqrt(Rational(1, 2)) * (exp(step) - 1) - right).simplify() == 0


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_the_contraction_is_the_sum_over_all_indices(order):
    v, expected = symbols("v_1:3", real=True), 0
    for indices in product(range(2), repeat=order):
        ones = sum(indices)
        term = Symbol(f"F_{order - ones}{ones}", real=True)
        for i in indices:
            term *= v[i]
        expected += term
    found = identity.contraction(order).conclusion
    assert (found - eta**order / factorial(order) * expected).expand() == 0


def test_taylors_theorem_wants_every_term():
    value = identity.along_line(-eta * slope)
    reason = Taylor(value, coefficient, remainder)
    series = Sum(coefficient[d] * (-eta * slope) ** d, (d, 2, N))
    before = value - (coefficient[0] - eta * slope * coefficient[1])
    assert reason.check(before, series + remainder[N]).proved
    for wrong in (series, series + remainder[N + 1], series.subs(N, N + 1) + remainder[N], 2 * series + remainder[N]):
        assert not reason.check(before, wrong).proved
    assert not reason.check(value - coefficient[0], series + remainder[N]).proved
    assert not reason.check(before, Sum(coefficient[d] * (eta * slope) ** d, (d, 2, N)) + remainder[N]).proved


def test_termwise_wants_the_same_ranges_and_terms():
    reason = Termwise(coefficient[d], d, C0[d] / eta**d)
    before = Sum(coefficient[d] * eta**d, (d, 2, N))
    assert reason.check(before, Sum(C0[d], (d, 2, N))).proved
    for wrong in (Sum(C0[d], (d, 1, N)), Sum(2 * C0[d], (d, 2, N)), Sum(C0[d], (d, 2, N)) + 1, C0[2]):
        assert not reason.check(before, wrong).proved


def test_linear_moves_constants_only():
    f = Function("f")
    assert Linear().check(2 * Sum(f(d), (d, 0, N)), Sum(2 * f(d), (d, 0, N))).proved
    assert not Linear().check(d * Sum(f(d), (d, 0, N)), Sum(d * f(d), (d, 0, N))).proved


def test_the_radius_is_that_of_tanh():
    u, w = identity.u, identity.velocity
    assert identity.radius().conclusion.subs({u: 0, w: 1}) == S.Pi**2 / 4
    d_ = identity.radius()
    assert not d_.steps[0].reason.check(d_.start, (u**2 + S.Pi**2) / w**2).proved


def test_the_divergence_is_of_a_step_beyond_the_radius():
    derivation = identity.divergence()
    assert derivation.conclusion == 0
    term = derivation.start.args[0]
    assert [float(term.subs(identity.k, number)) for number in (1, 10)] == sorted(
        (float(term.subs(identity.k, number)) for number in (1, 10)), reverse=True
    )
    assert derivation.start.args[2] is oo


def test_bad_orders_are_refused():
    for order in (0, 7, 2.0, True):
        with pytest.raises(InvalidInput, match="order"):
            identity.contraction(order)


def test_the_counterexample_is_the_network_along_its_gradient():
    line = identity.counterexample()
    assert line.start.has(Derivative)
    assert str(line.conclusion) == "tanh(t)"
