r"""Orthant probabilities of three and four Gaussians with guaranteed digits, at exact correlations.

The formulas are those of `numerics/orthants.py`. In `P₄` the integrands are analytic between the ends after
`s √κ = cos φ`, `κ = 1 − τ`, with `V_j(s) = (1 − r_ij²)(1 − κ_ij s²)` and `V_k` the determinants of two of the first
three and the scaled last one, by `N_i² + D_i = V_j V_k` and

    atan2(N, √D) = 2 atan(N/(√D + √(N² + D))),

which is well defined wherever a determinant is positive. Which determinants are zero, balls cannot tell: exact algebra
is asked, and the common zero `sin φ` of the fraction at the end is then cancelled. A matrix that is not positive
semidefinite is refused.

What is singular is at the distance `δ` of `φ = 0`, where `δ²` is the smallest of the numbers `a/b` in the roots of
`a + b sin² φ`. So `δ < φ < π/2` is run through by `sin φ = 1/cosh w`, in which that distance is of the order of 1, with
numerator and denominator divided by `sin² φ`: they are then nearly constant. The work grows with the digits and with
`log(1/δ)`; where it is more than `MOST_EVALUATIONS`, `Undecidable` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import combinations
from typing import Any

from flint import acb, arb, ctx
from sympy import Expr, Matrix, Symbol, eye, minimal_polynomial

from theory.algebra import attempt, vanishes
from theory.errors import InvalidInput, Undecidable

from .evaluate import enclose

Number = Any  # a SymPy constant
_X = Symbol("x")
MOST_EVALUATIONS = 50_000  # of an integrand: a few seconds


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
    """`∫₀¹ r_i4 atan2(N, √D)/√(1 − s² r_i4²) ds`, as integrals over `w` and `φ`."""
    r = matrix[i, last]
    if _sign(r) == 0:
        return arb(0)
    base = _minor(matrix, (i, j, k))
    rest = _minor(matrix, (i, j, k, last)) / base
    A = matrix[j, k] - matrix[i, j] * matrix[i, k]
    M = matrix.extract([i, last, j], [i, last, k]).det(method="berkowitz")
    r_, base_, A_, M_ = (enclose(number, {}) for number in (r, base, A, M))
    rest_ = arb(0) if _sign(rest) == 0 else enclose(rest, {})
    only_i = _sign(1 - rest - r**2) == 0  # the last one depends on the i-th alone
    excess = arb(0) if only_i else enclose(1 - rest - r**2, {})
    known, factors = 1 - rest_, []  # V(s) = width (1 − κ_ij s²) = (width (τ_ij − τ) + width (1 − τ_ij) sin² φ)/κ
    for p in (j, k):
        width, minor = 1 - matrix[i, p] ** 2, _minor(matrix, (i, p, last))
        constant = arb(0) if _sign(minor) == 0 else enclose(minor - width * rest, {}) / known
        factors.append((constant, enclose(width - minor, {}) / known))
    touching = sum(constant == 0 for constant, _ in factors)  # at φ = 0, where N then vanishes too, by N² + D = V_j V_k
    touches, both_touch = touching > 0, touching == 2
    root_of_base, squared, slope_of_top = (base_ / known).sqrt(), r_ * r_, (A_ - M_) / known
    end_of_top = arb(0) if touches else M_ - rest_ * slope_of_top
    calls = [0]

    def value(weight: acb, top: acb, bottom: acb, analytic: bool) -> acb:
        calls[0] += 1
        return r_ * weight * 2 * off_cut(top / bottom, analytic)

    def far(w: acb, analytic: bool) -> acb:
        inverse = w.cosh()
        inverse2 = inverse * inverse
        W = acb(abs(r_)) if only_i else (squared + excess * inverse2).sqrt(analytic=analytic)  # over sin φ
        root = acb(1)
        for constant, slope in factors:
            root *= slope.sqrt() if constant == 0 else (slope + constant * inverse2).sqrt(analytic=analytic)
        return value(1 / (inverse * W), slope_of_top + end_of_top * inverse2, root_of_base * W + root, analytic)

    def near(phi: acb, analytic: bool) -> acb:
        sine = phi.sin()
        sine2 = sine * sine
        W = abs(r_) * sine if only_i else (excess + squared * sine2).sqrt(analytic=analytic)
        root = sine if both_touch else acb(1)
        for constant, slope in factors:
            root *= slope.sqrt() if constant == 0 else (constant + slope * sine2).sqrt(analytic=analytic)
        if touches:  # one factor sin φ is common to all and left out
            top, bottom = sine * slope_of_top, root_of_base * W + root
        else:
            top, bottom = end_of_top + sine2 * slope_of_top, root_of_base * sine * W + root
        return value(sine / W, top, bottom, analytic)

    scales = (constant / slope for constant, slope in (*factors, (excess, squared)) if constant != 0)
    smallest = arb.max(reduce(arb.min, scales, arb(1)), rest_)
    split = arb((-smallest.log() / 2).mid())  # where the two variables meet is free
    if not split.is_finite():  # the precision does not tell the scales from zero
        return arb(arb.nan())
    found = acb.integral(near, acb(rest_.sqrt().asin()), acb(2 * (-split).exp().atan()), eval_limit=MOST_EVALUATIONS)
    found += acb.integral(far, acb(0), acb(split), eval_limit=MOST_EVALUATIONS)
    if calls[0] >= MOST_EVALUATIONS:
        nearly = float(smallest.mid().log() / arb(10).log())
        reason = f"the points are nearly dependent, by 10^{nearly:.0f}: at {ctx.prec} bits its integral takes too long"
        raise Undecidable("orthant-4", reason)
    return found.real


def off_cut(z: acb, analytic: bool) -> acb:
    """`atan z`; no number if it must be analytic and `z` may touch a cut."""
    on_cut = analytic and z.real.contains(0) and not (z.imag > -1 and z.imag < 1)
    return acb(arb.nan(), arb.nan()) if on_cut else z.atan()
