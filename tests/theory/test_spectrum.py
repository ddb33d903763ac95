"""Deep kernel matrices: explicit matrices, and the kernel's own values from its recursion in many digits."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from mpmath import MPContext
from scipy.linalg import expm
from sympy import Expr, Float, Integer, Pow, Rational, S, binomial, cos, exp, log, oo, pi, sqrt

from numerics.points import check_steps
from theory import spectrum
from theory.arccos import theta
from theory.correlation import L, rho
from theory.derivation import Derivation, Relation
from theory.spectrum import ActsOn, EvenCoefficients, J, LargestNumber, epsilon, gap, gram_matrix, n, phi, power, t

MP = MPContext()
MP.dps = 60

DERIVATIONS = {
    "largest": spectrum.largest_eigenvalue,
    "others": spectrum.other_eigenvalues,
    "rows": spectrum.row_dominance,
    "entries": spectrum.entry_gap,
    "four": spectrum.largest_dominant,
    "hexagon": spectrum.hexagon_singular,
    "two layers": spectrum.definite_from_two_layers,
    "weights": spectrum.predictor_weight,
    "in time": spectrum.predictor_at_time,
}


def kernel(angle: object, depth: int) -> object:
    """`Θ^L` at an angle, from the recursion in the correlation."""
    correlation = MP.cos(angle)
    value = correlation
    for _ in range(depth):
        angle = MP.acos(max(min(correlation, MP.mpf(1)), MP.mpf(-1)))
        correlation = (MP.sin(angle) + (MP.pi - angle) * MP.cos(angle)) / MP.pi
        value = (1 - angle / MP.pi) * value + correlation
    return value


def gram_on_circle(turns: list[Rational], depth: int):
    """`Θ^L(X, X)` for points of the circle at these fractions of a turn."""

    def between(first: Rational, second: Rational) -> object:
        apart = abs(first - second) % 1
        apart = min(apart, 1 - apart)
        return 2 * MP.pi * int(apart.p) / int(apart.q)

    return MP.matrix([[kernel(between(a, b), depth) for b in turns] for a in turns])


def smallest_pivot(matrix) -> object:
    """The smallest pivot of an elimination without exchanges: positive if and only if the matrix is definite."""
    work, size = matrix.copy(), matrix.rows
    pivots = []
    for k in range(size):
        pivots.append(work[k, k])
        for i in range(k + 1, size):
            factor = work[i, k] / work[k, k]
            for j in range(k, size):
                work[i, j] -= factor * work[k, j]
    return min(pivots)


def points(count: int, dimension: int = 3) -> np.ndarray:
    x = np.random.default_rng(7).normal(size=(count, dimension))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@cache
def deep_entry(i: int, j: int, depth: int) -> float:
    """`Θ̄^L` of two of the points, from 60 digits."""
    x = points(6)
    return float(kernel(MP.acos(MP.mpf(float(x[i] @ x[j]))), depth)) / (depth + 1)


def deep_gram(count: int, depth: int) -> np.ndarray:
    """`Θ̄^L(X, X)` for points in general position."""
    return np.array(
        [[1.0 if i == j else deep_entry(min(i, j), max(i, j), depth) for j in range(count)] for i in range(count)]
    )


def proved(derivation: Derivation) -> bool:
    return all(checked.outcome.proved for part in derivation.parts() for checked in check_steps(part))


def ending_in(derivation: Derivation, expression: Expr) -> Derivation:
    """The derivation with another last line."""
    return replace(derivation, steps=(*derivation.steps[:-1], replace(derivation.steps[-1], expression=expression)))


# --- what is derived --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_every_step_is_proved(make) -> None:
    assert proved(make())


@pytest.mark.parametrize("count", [2, 3, 7])
def test_the_leading_matrix_has_these_eigenvalues(count: int) -> None:
    entry = float(Rational(1, 4) + Rational(3, 8) / 10)
    matrix = np.full((count, count), entry) + (1 - entry) * np.eye(count)
    at = {n: count, epsilon: Rational(1, 10)}
    expected = [float(spectrum.other_eigenvalues().conclusion.subs(at))] * (count - 1)
    expected.append(float(spectrum.largest_eigenvalue().conclusion.subs(at)))
    assert np.linalg.eigvalsh(matrix) == pytest.approx(expected, abs=1e-12)
    rows = matrix.diagonal() - (matrix.sum(axis=1) - matrix.diagonal())
    assert rows == pytest.approx([float(spectrum.row_dominance().conclusion.subs(at))] * count, abs=1e-12)
    assert gram_matrix().subs(J, 0).subs(at) == Rational(3, 4) - Rational(3, 80)


def test_the_eigenvalues_of_the_kernel_approach_them() -> None:
    """`L` times the distance to the limit gains `log 2` times the coefficient of `ε` when `L` doubles, up to `O(ε)`."""
    derived = [spectrum.other_eigenvalues().conclusion] * 3 + [spectrum.largest_eigenvalue().conclusion.subs(n, 4)]
    limits = np.array([float(value.subs(epsilon, 0)) for value in derived])
    coefficients = np.array([float(value.coeff(epsilon)) for value in derived])
    scaled = [depth * (np.linalg.eigvalsh(deep_gram(4, depth)) - limits) for depth in (500, 1000, 2000)]
    errors = [abs((after - before) / np.log(2) - coefficients).max() for before, after in pairwise(scaled)]
    assert errors[1] < 0.7 * errors[0] < 0.1


def test_rows_are_dominated_up_to_four_points() -> None:
    """Deep enough, and with the sign that is derived at five, where the limit is a tie."""
    for count, sign in ((2, 1), (3, 1), (4, 1), (5, -1), (6, -1)):
        matrix = deep_gram(count, 2000)
        excess = 2 * matrix.diagonal() - matrix.sum(axis=1)
        assert (sign * excess > 0).all(), count
        derived = spectrum.row_dominance().conclusion.subs(n, count)
        assert np.sign(float(derived.subs(epsilon, Rational(1, 1000)))) == sign
    assert spectrum.largest_dominant().conclusion == 4


def test_no_entry_reaches_the_diagonal() -> None:
    """`|Θ^L| < L + 1` for `L >= 1`, opposite points included; the recursion is that of the derived gap."""
    some_negative = False
    for turn in range(1, 41):
        start = MP.pi * turn / 40
        for depth in range(1, 16):
            value = kernel(start, depth)
            assert abs(value) < depth + 1
            some_negative |= bool(value < -(MP.mpf(10) ** -3))
            assert value >= -1
    assert some_negative  # so that the diagonal must be compared with absolute values
    assert kernel(MP.pi, 0) == -1  # at depth zero opposite points are as large as the diagonal
    angle = MP.mpf("0.7")  # the derived gap, one layer above Θ⁰ = ρ
    after = MP.acos((MP.sin(angle) + (MP.pi - angle) * MP.cos(angle)) / MP.pi)
    numbers = {theta: angle, phi: after, L: 1, gap: 1 - MP.cos(angle)}
    derived = spectrum.entry_gap().conclusion.subs({symbol: Float(str(value), 50) for symbol, value in numbers.items()})
    assert abs(2 - kernel(angle, 1) - MP.mpf(str(derived.evalf(45)))) < MP.mpf(10) ** -40


def test_the_hexagon_is_singular_at_depth_one_only() -> None:
    hexagon = [Rational(k, 6) for k in range(6)]
    signs = MP.matrix([(-1) ** k for k in range(6)])
    assert abs((signs.T * gram_on_circle(hexagon, 1) * signs)[0]) < MP.mpf(10) ** -55
    for depth in (2, 3):
        assert (signs.T * gram_on_circle(hexagon, depth) * signs)[0] > 1e-4
        assert smallest_pivot(gram_on_circle(hexagon, depth)) > 1e-4
    assert spectrum.hexagon_singular().conclusion == 0


@pytest.mark.parametrize("depth", [2, 3])
def test_two_layers_are_definite(depth: int) -> None:
    """Twenty points of a circle, opposite ones among them, and a pair a thousandth of a turn apart."""
    turns = [Rational(k, 20) for k in range(20)]
    turns[7] = turns[6] + Rational(1, 1000)
    assert smallest_pivot(gram_on_circle(turns, depth)) > MP.mpf(10) ** -40


def test_one_layer_is_not_definite_on_the_same_points() -> None:
    assert abs(smallest_pivot(gram_on_circle([Rational(k, 12) for k in range(12)], 1))) < MP.mpf(10) ** -50


def test_the_coefficients_of_the_curvature() -> None:
    coefficient = spectrum.definite_from_two_layers().conclusion
    series = MP.taylor(lambda r: 1 / (MP.pi * MP.sqrt(1 - r * r)), 0, 12)
    for k, expected in enumerate(series):
        derived = MP.mpf(str(coefficient.subs(power, k // 2).evalf(40))) if k % 2 == 0 else 0
        assert abs(expected - derived) < MP.mpf(10) ** -30


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_predictor_by_linear_algebra(count: int) -> None:
    matrix = 0.75 * np.eye(count) + 0.25
    row = np.full(count, 0.25)
    at_end = float(spectrum.predictor_weight().conclusion.subs(n, count))
    assert np.linalg.solve(matrix, row) == pytest.approx([at_end] * count)
    for time in (0.0, 0.3, 5.0):
        weights = row @ np.linalg.inv(matrix) @ (np.eye(count) - expm(-matrix * time))
        derived = float(spectrum.predictor_at_time().conclusion.subs({n: count, t: Rational(str(time))}))
        assert weights == pytest.approx([derived] * count)


def test_the_predictor_of_the_kernel_approaches_it() -> None:
    distances = []
    for depth in (500, 2000):
        matrix = deep_gram(5, depth)
        weights = np.linalg.solve(matrix[:-1, :-1], matrix[:-1, -1])
        distances.append(np.abs(weights - 1 / 7).max())
    assert distances[1] < 0.5 * distances[0] < 0.01


# --- what is not proved -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_another_conclusion_is_not_proved(make) -> None:
    right = make()
    value = right.conclusion
    for wrong in (value + 1, -value - 1, value + Rational(1, 10**9), Float(2.0) * value + 1):
        assert not check_steps(ending_in(right, wrong))[-1].outcome.proved, wrong
    if not value.free_symbols and value != 0:
        assert not check_steps(ending_in(right, Float(value)))[-1].outcome.proved


@pytest.mark.parametrize(
    ("excess", "number"),
    [
        ((5 - n) / 4 - epsilon * (n - 1), Integer(3)),
        ((5 - n) / 4 - epsilon * (n - 1), Integer(5)),
        ((5 - n) / 4 - epsilon * (n - 1), Rational(9, 2)),
        ((5 - n) / 4 - epsilon * (n - 1), Float(4)),
        ((5 - n) / 4 - epsilon * (n - 1), oo),
        ((5 - n) / 4 + epsilon * (n - 1), Integer(4)),  # here five points are dominated
        ((5 - n) / 4 - epsilon * (n - 1) + 1 / epsilon, Integer(4)),
        ((5 - n) / 4 - sqrt(epsilon) * (n - 1) - epsilon * n, Integer(4)),
        ((5 - n) / 4 - n * log(epsilon) * epsilon, Integer(4)),
        ((n - 5) / 4 - epsilon * n, Integer(4)),
        ((5 - n) * (9 - n) - epsilon * n, Integer(4)),  # positive again beyond nine
        ((5 - n) / 4 - epsilon * (1 - n), Integer(4)),
    ],
)
def test_largest_number_refuses(excess: Expr, number: Expr) -> None:
    assert not LargestNumber().check(excess, number).proved


@pytest.mark.parametrize(
    ("line", "subspace", "value"),
    [
        (J, Integer(1), Integer(1)),  # 1 is no eigenvalue of J
        (J, n - 1, n - 1),
        (1 + J, n, n),
        (1 + J, S.Zero, J),
        (J, n, J),
        (exp(J), n, exp(-n)),
        (J / 2, n, Float(0.5) * n),
    ],
)
def test_acts_on_refuses(line: Expr, subspace: Expr, value: Expr) -> None:
    assert not ActsOn(subspace).check(line, value).proved


@pytest.mark.parametrize(
    ("line", "coefficient"),
    [
        (1 / (pi * sqrt(1 - rho**2)), binomial(2 * power, power) / 4**power),
        (1 / (pi * sqrt(1 - rho**2)), binomial(2 * power, power) / 2**power / pi),
        (1 / (pi * sqrt(1 - rho**2)), Integer(0)),
        (1 / (pi * sqrt(1 - rho**2)), (-1) ** power * binomial(2 * power, power) / 4**power / pi),
        (1 / sqrt(1 + rho**2), binomial(2 * power, power) / 4**power),
        (1 / (1 - rho**2), Pow(1, power)),
        (rho / sqrt(1 - rho**2), binomial(2 * power, power) / 4**power),
        (Integer(0), Integer(0)),
        (1 / (pi * sqrt(1 - rho**2)), Float(1 / 3.141592653589793) * binomial(2 * power, power) / 4**power),
    ],
)
def test_even_coefficients_refuse(line: Expr, coefficient: Expr) -> None:
    assert not EvenCoefficients().check(line, coefficient).proved


@pytest.mark.parametrize("make", [spectrum.largest_dominant, spectrum.definite_from_two_layers])
def test_what_decides_is_no_equality(make) -> None:
    right = make()
    last = replace(right.steps[-1], relation=Relation.EQUALS)
    assert not check_steps(replace(right, steps=(*right.steps[:-1], last)))[-1].outcome.proved


def test_the_gap_needs_the_recursion() -> None:
    right = spectrum.entry_gap()
    for wrong in (
        right.start + theta / pi,
        (L + 1) - ((1 - theta / pi) * (L + 1 - gap) + cos(phi)),
        (L + 1) - ((1 + theta / pi) * (L - gap) + cos(phi)),
    ):
        assert not proved(replace(right, start=wrong))
