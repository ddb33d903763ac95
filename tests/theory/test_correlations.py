"""Means of derivative correlations against their definition: tensors written out, and Gaussian moments one by one."""

from itertools import product

import pytest
from sympy import Add, Integer, Mul, Rational, S, Symbol, diff, expand, factorial, factorial2, sqrt, symbols

from theory import correlations as theory
from theory.activations import Hermite
from theory.cluster_rule import decay_exponent
from theory.correlations import D, c, d, eta, m
from theory.errors import InvalidInput


def hidden_layer(width, phi):
    """`F` of one hidden layer at a unit input, with its parameters `(w_k, u_k)`."""
    weights, inputs = symbols(f"w:{width}", real=True), symbols(f"u:{width}", real=True)
    F = sqrt(c / width) * Add(*(a * phi(b) for a, b in zip(weights, inputs, strict=True)))
    return F, (*weights, *inputs)


def by_tensors(F, parameters, order):
    """`η^d/d! ∇^d F (∇F)^{×d}`, one entry of the tensor after the other."""
    total = S.Zero
    for indices in product(parameters, repeat=order):
        total += diff(F, *indices) * Mul(*(diff(F, index) for index in indices))
    return expand(eta**order / factorial(order) * total)


def gaussian_mean(polynomial, parameters):
    """The mean over independent N(0, 1) variables."""
    poly = expand(polynomial).as_poly(*parameters)
    moments = (
        coefficient * Mul(*(factorial2(power - 1) if power % 2 == 0 else 0 for power in powers))
        for powers, coefficient in poly.terms()
    )
    return expand(Add(*moments))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("width", [1, 2])
def test_means_and_mean_squares_are_those_of_the_tensors(order, width):
    activation = Hermite(2)
    F, parameters = hidden_layer(width, activation.expression)
    C = by_tensors(F, parameters, order)
    for of, wanted in ((theory.mean_correlation, C), (theory.mean_square, C**2)):
        vanishes = of(order).conclusion == 0
        found = S.Zero if vanishes else theory.polynomial(of, order, activation).conclusion
        assert expand(found.subs(m, width) - gaussian_mean(wanted, parameters)) == 0


@pytest.mark.parametrize("order", [1, 2])
def test_the_mean_square_of_the_vector_is_that_of_the_tensors(order):
    activation = Hermite(2)
    F, parameters = hidden_layer(2, activation.expression)
    squares = S.Zero
    for free in parameters:
        entry = S.Zero
        for indices in product(parameters, repeat=order):
            entry += diff(F, free, *indices) * Mul(*(diff(F, index) for index in indices))
        squares += entry**2
    wanted = gaussian_mean(eta ** (2 * order + 1) / factorial(order) ** 2 * squares, parameters)
    found = theory.polynomial(theory.vector_square, order, activation).conclusion
    assert expand(found.subs(m, 2) - wanted) == 0


@pytest.mark.parametrize("order", range(1, theory.HIGHEST_DERIVED + 1))
def test_every_step_is_proved(order):
    derivations = [theory.decay(order), theory.vector_square(order)]
    steps = [step for one in derivations for part in one.parts() for step in part.check()]
    assert all(step.outcome.proved for step in steps)
    assert len(steps) >= 5


def test_symmetry_and_scale_are_proved():
    for derivation in (*map(theory.parity, range(1, 7)), theory.rate_power()):
        assert all(step.outcome.proved for step in derivation.check())


@pytest.mark.parametrize("order", range(1, 7))
def test_exponents_are_those_of_one_hidden_layer(order):
    exponent = decay_exponent().subs({D: 0, d: order})
    assert exponent == -(order // 2)
    assert theory.decay(order).conclusion.subs({theory.first: 1, theory.second: 1, c: 1, eta: 1}).is_positive
    vector = theory.vector_square(order).conclusion
    assert expand(vector * m**order).subs(m, 7) == expand(vector * m**order).subs(m, 3)
    assert decay_exponent().subs({D: 1, d: order}) == -Rational(order, 2)


def test_moments_refuse_what_is_no_polynomial_and_see_a_wrong_mean():
    w, u, mean = theory.w, theory.u, theory.mean
    with pytest.raises(InvalidInput, match="polynomial"):
        theory.OutgoingMoments().of(mean(theory.phi(0, w) * u))
    right, wrong = 3 * mean(u**2), 2 * mean(u**2)
    assert theory.OutgoingMoments().check(mean(w**4 * u**2), right).proved
    assert not theory.OutgoingMoments().check(mean(w**4 * u**2), wrong).proved
    assert theory.OutgoingMoments().of(mean(w**3 * u)) == 0


def test_phi_prints_its_derivatives():
    from sympy import latex

    assert latex(theory.phi(1, theory.u) ** 2) == r"{\varphi'(u)}^{2}"
    assert latex(theory.phi(5, theory.u)) == r"\varphi^{(5)}(u)"


@pytest.mark.parametrize("order", [0, 7, True, 1.5, Integer(2) / 3, Symbol("d")])
def test_orders_without_a_derivation_are_refused(order):
    with pytest.raises(InvalidInput, match="from 1 to 6"):
        theory.neuron(order)
