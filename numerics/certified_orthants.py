r"""Orthant probabilities of three and four Gaussians with guaranteed digits, at exact correlations.

The formulas are those of `numerics/orthants.py`. In `P₄` the integrands are analytic between the ends after
`s √κ = sin ψ`, `κ = 1 − τ`, with `V_j(s) = (1 − r_ij²)(1 − κ_ij s²)` and `V_k` the determinants of two of the first
three and the scaled last one, by `N_i² + D_i = V_j V_k` and

    atan2(N, √D) = 2 atan(N/(√D + √(N² + D))),

which is well defined wherever a determinant is positive. Which determinants are zero, balls cannot tell: exact algebra
is asked, and the common zero `cos ψ` of the fraction at the end is then cancelled. A matrix that is not positive
semidefinite is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import combinations
from typing import Any

from flint import acb, arb
from sympy import Expr, Matrix, Symbol, eye, minimal_polynomial

from theory.algebra import attempt, vanishes
from theory.errors import InvalidInput, Undecidable

from .evaluate import enclose

Number = Any  # a SymPy constant
_X = Symbol("x")


def orthant3(at: Mapping[str, Expr], bits: int) -> arb:
    """A ball that contains `P₃` at the exact correlations `r12, r13, r23`, at the working precision.

    Raises `InvalidInput` for a matrix that is not positive semidefinite, `Undecidable` if exact algebra cannot tell.
    """
    matrix = refuse_indefinite(at, 3)
    return three(matrix, (0, 1, 2))


def orthant4(at: Mapping[str, Expr], bits: int) -> arb:
    """A ball that contains `P₄` at the exact correlations `r12, r13, r14, r23, r24, r34`; errors as for `orthant3`."""
    matrix = refuse_indefinite(at, 4)
    triples = list(combinations(range(4), 3))
    pairs = [1 - matrix[i, j] ** 2 for i, j in combinations(range(4), 2)]
    solid = [triple for triple in triples if _sign(_minor(matrix, triple)) > 0]
    if not solid or any(_sign(pair) == 0 for pair in pairs):  # in a plane, or two of them equal or opposite
        return _least(three(matrix, triple) for triple in triples)
    base = max(solid, key=lambda triple: float(enclose(_minor(matrix, triple), {}).mid()))
    (last,) = set(range(4)) - set(base)
    if _opposes(matrix, base, last):
        return arb(0)
    angles = sum((angle(matrix[i, j]) for i, j in combinations(range(4), 2)), arb(0))
    turns = (base, base[1:] + base[:1], base[2:] + base[:2])
    integrals = sum((_integral(matrix, i, j, k, last) for i, j, k in turns), arb(0))
    return arb(7) / 16 - angles / (8 * arb.pi()) + integrals / (4 * arb.pi() ** 2)


ALGORITHMS: dict[str, Callable[[Mapping[str, Any], int], arb]] = {"orthant-3": orthant3, "orthant-4": orthant4}
"""By the name of the formula: `(at, bits)` to a ball, `at` giving exact correlations."""


def refuse_indefinite(at: Mapping[str, Expr], size: int) -> Matrix:
    """The matrix of the correlations `r12, …`; refused if one of its principal minors is negative."""
    matrix = eye(size)
    for i, j in combinations(range(size), 2):
        matrix[i, j] = matrix[j, i] = at[f"r{i + 1}{j + 1}"]
    for count in range(2, size + 1):
        for rows in combinations(range(size), count):
            if _sign(_minor(matrix, rows)) < 0:
                name = f"det({', '.join(str(row + 1) for row in rows)})"
                given = ", ".join(str(matrix[i, j]) for i, j in combinations(range(size), 2))
                raise InvalidInput(
                    "correlations", given, f"{name} < 0: these are no correlations of Gaussian variables"
                )
    return matrix


def _minor(matrix: Matrix, rows: tuple[int, ...]) -> Number:
    return matrix.extract(list(rows), list(rows)).det(method="berkowitz")


def _sign(number: Number) -> int:
    """The sign of an exact number: by its ball, or zero by exact algebra."""
    ball = enclose(number, {})
    if ball > 0 or ball < 0:
        return 1 if ball > 0 else -1
    if vanishes(number) is True or attempt(lambda: minimal_polynomial(number, _X) == _X):
        return 0
    raise Undecidable(number, "neither its ball nor exact algebra tells whether it is zero")


def angle(r: Number) -> arb:
    """`arccos r`, accurate also near 0 and π."""
    below, above = enclose(1 - r, {}), enclose(1 + r, {})
    return 2 * (below / 2).sqrt().asin() if below < 1 else arb.pi() - 2 * (above / 2).sqrt().asin()


def three(matrix: Matrix, triple: tuple[int, ...]) -> arb:
    """`P₃` of three of the variables; the exact 0 where the three angles add up to a full turn."""
    turn = sum((angle(matrix[i, j]) for i, j in combinations(triple, 2)), arb(0))
    if turn.overlaps(2 * arb.pi()) and _sign(_minor(matrix, triple)) == 0:
        around = [
            matrix[j, k] - matrix[i, j] * matrix[i, k]
            for i, j, k in (triple, triple[1:] + triple[:1], triple[2:] + triple[:2])
        ]
        if all(_sign(one) <= 0 for one in around):  # cos θ_jk = cos(θ_ij + θ_ik) for each of them
            return arb(0)
    return arb(1) / 2 - turn / (4 * arb.pi())


def _least(balls: Any) -> arb:
    """A ball that contains the smallest of the numbers in the balls."""
    return reduce(arb.min, balls)


def _opposes(matrix: Matrix, base: tuple[int, ...], last: int) -> bool:
    """Whether the last variable is a combination of the others without positive coefficients: then `P₄ = 0`."""
    if _sign(_minor(matrix, (*base, last))) > 0:
        return False
    coefficients = matrix.extract(list(base), list(base)).adjugate() * matrix.extract(list(base), [last])
    return all(_sign(one) <= 0 for one in coefficients)


def _integral(matrix: Matrix, i: int, j: int, k: int, last: int) -> arb:
    """`∫₀¹ r_i4 atan2(N, √D)/√(1 − s² r_i4²) ds`, as an integral over `ψ`."""
    r = matrix[i, last]
    if _sign(r) == 0:
        return arb(0)
    base = _minor(matrix, (i, j, k))
    rest = _minor(matrix, (i, j, k, last)) / base
    A = matrix[j, k] - matrix[i, j] * matrix[i, k]
    M = matrix.extract([i, last, j], [i, last, k]).det(method="berkowitz")
    zero_last, zero_others = _sign(rest) == 0, []
    only_i = _sign(1 - rest - r**2) == 0  # the last one depends on the i-th alone
    numbers = (r, base, A, M, rest, 1 - rest - r**2)
    r_, base_, A_, M_, rest_, excess = (enclose(number, {}) for number in numbers)
    known, factors = 1 - rest_, []  # V(s) = width (1 − κ_ij s²) = (width (τ_ij − τ) + width (1 − τ_ij) cos² ψ)/κ
    for p in (j, k):
        width, minor = 1 - matrix[i, p] ** 2, _minor(matrix, (i, p, last))
        zero_others.append(_sign(minor) == 0)
        factors.append((enclose(minor - width * rest, {}) / known, enclose(width - minor, {}) / known))
    root_of_base, squared = (base_ / known).sqrt(), r_ * r_

    def at(psi: acb, analytic: bool) -> acb:
        cosine = psi.cos()
        cosine2 = cosine * cosine
        W = abs(r_) * cosine if only_i else (excess + squared * cosine2).sqrt(analytic=analytic)
        root = acb(1)
        for (constant, slope), is_zero in zip(factors, zero_others, strict=True):
            root *= slope.sqrt() if is_zero else (constant + slope * cosine2).sqrt(analytic=analytic)
        if any(zero_others):  # of one of the two, with κ = 1 and M = 0: the factor cos ψ is common to all and left out
            top, bottom = cosine * A_, root_of_base * W
        else:
            top, bottom = M_ + (cosine2 - rest_) / known * (A_ - M_), root_of_base * cosine * W
        return r_ * cosine / W * 2 * off_cut(top / (bottom + root), analytic)

    return acb.integral(at, acb(0), acb(arb.pi() / 2 if zero_last else known.sqrt().asin())).real


def off_cut(z: acb, analytic: bool) -> acb:
    """`atan z`; no number if it must be analytic and `z` may touch a cut."""
    on_cut = analytic and z.real.contains(0) and not (z.imag > -1 and z.imag < 1)
    return acb(arb.nan(), arb.nan()) if on_cut else z.atan()
