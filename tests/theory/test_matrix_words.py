"""Polynomials in matrices against the same polynomials of random matrices."""

import numpy as np
import pytest
from sympy import Derivative, Function, Identity, MatrixSymbol, Symbol, Trace, sqrt, symbols

from theory.derivation import How
from theory.errors import InvalidInput
from theory.matrix_words import Words, orthogonal, word

n = Symbol("n", integer=True, positive=True)
U, V, W = (MatrixSymbol(name, 3, 3) for name in "UVW")
b, c, x = (MatrixSymbol(name, 3, 1) for name in "bcx")
alpha, t = symbols("alpha t", positive=True)
E = Function("E")


def random_orthogonal(rng: np.random.Generator) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(3, 3)))[0]


@pytest.mark.parametrize("seed", range(5))
def test_words_have_the_value_of_their_polynomial(seed):
    rng = np.random.default_rng(seed)
    values = {U: random_orthogonal(rng), V: rng.normal(size=(3, 3)), W: rng.normal(size=(3, 3))}
    expression = (2 * U * V - W.T) * (U.T * W + 3 * Identity(3)) * (V + U) ** 2
    expected = (2 * values[U] @ values[V] - values[W].T) @ (values[U].T @ values[W] + 3 * np.eye(3))
    expected = expected @ np.linalg.matrix_power(values[V] + values[U], 2)
    total = np.zeros((3, 3))
    for letters, coefficient in Words(orthogonal(U)).polynomial(expression).items():
        product = np.eye(3)
        for matrix, transposed in letters:
            product = product @ (values[matrix].T if transposed else values[matrix])
        total += float(coefficient) * product
    assert total == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (Trace(U * V * W), Trace(V * W * U), True),
        (Trace(U * V * W), Trace(W.T * V.T * U.T), True),
        (Trace(U * V * W), Trace(V * U * W), False),
        (Trace(U * V.T), Trace(U * V), False),
        (sqrt(t) * Trace(U) * sqrt(t), Trace(t * U), True),
    ],
)
def test_traces_are_cyclic_and_no_more(left, right, equal):
    assert Words().check(left, right).proved is equal


def test_orthogonality_is_used_only_where_it_is_given():
    assert Words(orthogonal(U)).check(Trace(U * V * U.T), Trace(V)).proved
    assert not Words(orthogonal(V)).check(Trace(U * V * U.T), Trace(V)).proved
    assert Words(orthogonal(U)).check(Trace(U.T * U), Trace(Identity(3))).proved


def test_columns_that_meet_are_scalars():
    rules = {**orthogonal(U), word(b.T, U, c): t, word(c.T, c): alpha**2}
    assert Words(rules).check(Trace(U * c * b.T * U * c * c.T), t * Trace(c.T * U * c)).proved
    assert Words(rules).check(Trace(c * c.T), alpha**2 + 0 * t).proved  # not three times as much


def test_derivatives_and_definitions():
    loss = Trace((V + t * W).T * (V + t * W))
    assert Words().check(Derivative(loss, t), 2 * Trace(W.T * (V + t * W))).proved
    assert not Words().check(Derivative(loss, t), 2 * Trace(W.T * V)).proved
    assert Words(given={V: U * W, W: 2 * U.T}, rules=orthogonal(U)).check(Trace(V), 6 + 0 * t).proved


def test_a_white_column_is_averaged_once():
    words = Words(mean=E, white=(x,))
    assert words.check(E(Trace(x.T * V * x)), E(Trace(V))).proved
    assert words.check(E(Trace(x.T * V * x)), 2 * E(Trace(V))).how is not How.ALGEBRA
    with pytest.raises(InvalidInput, match="white"):
        words.check(E(Trace(x.T * V * x * x.T * V * x)), E(Trace(V)))


def test_the_mean_is_linear_but_keeps_what_is_random():
    words = Words(mean=E, random=(t,))
    assert words.check(E(2 * alpha * t + 3), 2 * alpha * E(t) + 3).proved
    assert not words.check(E(t**2), t * E(t)).proved


@pytest.mark.parametrize("expression", [U.inverse() * V, V**-1])
def test_inverses_are_refused(expression):
    with pytest.raises(InvalidInput, match="expression"):
        Words().polynomial(expression)
