"""The reasons for means over random matrices: what they prove, and that each can refuse."""

from __future__ import annotations

import pytest
from sympy import Identity, MatrixSymbol, Rational, Symbol, Trace, expand, sqrt

from theory.derivation import How
from theory.errors import InvalidInput
from theory.haar import h, mean
from theory.matrix_means import HaarMoments, Isserlis, Law, Rotated, Rotation
from theory.matrix_words import Words, orthogonal, word

n = Symbol("n", integer=True, positive=True)
a = Symbol("a", nonnegative=True)
A, B, N, Z, W, V = (MatrixSymbol(name, h, h) for name in "ABNZWV")
X, Xi = MatrixSymbol("X", n, h), MatrixSymbol("Xi", n, h)


u, v = MatrixSymbol("u", h, 1), MatrixSymbol("v", h, 1)


def norm(D):
    return mean(Trace(D * D.T))


def test_rotations_keep_the_law():
    words = Words({**orthogonal(W, V), word(X.T, X): n})
    assert Rotation(W, A, V.T, Law.HAAR).keeps_law(words)
    assert Rotation(W.T * X.T / sqrt(n), Xi, V, Law.GAUSSIAN).keeps_law(words)  # its rows are orthonormal
    assert not Rotation(X.T / sqrt(n), Xi, V, Law.HAAR).keeps_law(words)  # a part of a Haar matrix
    assert not Rotation(X.T, Xi, V, Law.GAUSSIAN).keeps_law(words)
    assert not Rotation(W, A, B, Law.GAUSSIAN).keeps_law(words)


def test_rotated_refuses_dependence_and_wrong_lines():
    words = Words(orthogonal(W, V))
    turned = {N: Rotation(W, A, V, Law.GAUSSIAN)}
    before, after = Trace(W * A * B), Trace(N * V.T * B)
    assert Rotated(words, turned).check(before, after).how is How.LEMMA
    assert not Rotated(words, turned).check(before, 2 * after).proved
    twice = turned | {Z: Rotation(V, A, W, Law.GAUSSIAN)}
    assert Rotated(words, twice).check(before, after).how is How.UNDECIDED
    by_another = turned | {Z: Rotation(A, B, W, Law.GAUSSIAN)}
    assert Rotated(Words(orthogonal(W, V, A)), by_another).check(before, after).how is How.UNDECIDED
    on_sphere = {u: Rotation(W, v, Identity(1), Law.SPHERE)}
    assert Rotated(words, on_sphere).check(Trace(B * W * v * v.T), Trace(B * u * v.T)).proved
    longer = {u: Rotation(2 * W, v, Identity(1), Law.SPHERE)}
    assert not Rotated(words, longer).check(Trace(2 * W * v * v.T), Trace(u * v.T)).proved
    scaled = {N: Rotation(2 * W, A, V, Law.GAUSSIAN)}
    assert Rotated(words, scaled).check(Trace(2 * W * A * B), after).how is How.UNDECIDED


def test_isserlis_averages_with_scalars_definitions_and_rules():
    """`E‖√a A/√h + W B‖² = a h + h²`, as `E‖A‖² = h²` and `W` is orthogonal."""
    reason = Isserlis((A, B), Z, Words(orthogonal(W), {N: sqrt(a) * A / sqrt(h) + W * B}))
    with pytest.raises(InvalidInput, match="line = W"):
        reason.of(norm(N - Z))
    reason = Isserlis((A, B), Z, Words(orthogonal(Z), {N: sqrt(a) * A / sqrt(h) + Z * B}))
    assert reason.check(norm(N - Z / 2), a * h + h**2 + h / 4).how is How.LEMMA
    assert not reason.check(norm(N - Z / 2), a * h + h**2 + h / 2).proved


def test_isserlis_of_other_shapes_and_unit_vectors():
    """`E‖XᵀXu − u‖² = n(n + h + 1) − 2n + 1` for a unit vector, `h` times that for a Gaussian one; `uᵀAu ~ N(0, 1)`."""
    expected = n * (n + h + 1) - 2 * n + 1
    unit = Isserlis((X, A), unit=(u,))
    assert Isserlis((X, A, u)).check(norm(X.T * X * u - u), expand(h * expected)).proved
    assert unit.check(norm(X.T * X * u - u), expected).proved
    assert unit.check(norm(X * u * u.T * A * u - X * u), 2 * n).proved
    assert not unit.check(norm(X * u * u.T * A * u - X * u), 2 * h).proved
    with pytest.raises(InvalidInput, match="matrix = wide"):
        Isserlis((MatrixSymbol("wide", h, n),)).of(norm(A + B))


def test_isserlis_leaves_traces_of_the_haar_matrix():
    """`E‖A² + Z²‖²` has the cross term `2 tr(Zᵀ)² E A² = 2 tr(Z^{−2})`, as `E A² = I`."""
    assert Isserlis((A,), Z, Words(orthogonal(Z))).of(norm(A * A + Z * Z)) == (h**3 + 2 * h + h + 2 * mean(Trace(Z**2)))


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        (Trace(A * A.T), "trace of a sum D"),
        (mean(Trace(A * (A + B))), "trace of a sum D"),
        (norm(A + B), "line = B"),
        (norm(A / (1 + a) + Z), "powers of names"),
    ],
)
def test_isserlis_refuses_other_lines(line, remedy):
    reason = Isserlis((A,), Z)
    with pytest.raises(InvalidInput, match=remedy):
        reason.of(line)
    assert reason.check(line, h).how is How.UNDECIDED


def test_haar_moments_in_their_range_only():
    square, fourth = mean(Trace(Z) ** 2), mean(Trace(Z) ** 4)
    assert HaarMoments.covering(a * square + 1, Z) == HaarMoments(Z, 1)
    assert HaarMoments.covering(a * square + fourth, Z) == HaarMoments(Z, 2)
    assert HaarMoments(Z, 2).check(a * square + fourth / 3, a + 1).how is How.LEMMA
    assert not HaarMoments(Z, 1).check(fourth, 3 + 0 * h).proved
    assert not HaarMoments(Z, 2).check(fourth, 1 + 0 * h).proved


def test_haar_moments_leave_what_they_do_not_know():
    for part in (mean(Trace(A) ** 2), mean(Trace(Z * A)), mean(sqrt(Trace(Z))), mean(Rational(1, 2) * Trace(Z))):
        assert HaarMoments(Z, 9).of(part) == part
