r"""Orthant probabilities of two, three and four Gaussians, from the Gaussian integral.

Definition. For centred Gaussian variables `u_1, …, u_n` of unit variance and correlations `r_ij ∈ [−1, 1]`,

    P_n = P(u_1 > 0, …, u_n > 0).

For two it is half the arc-cosine kernel of degree 0, for three it follows by the symmetry `u → −u`. Four have no closed
form, but one integral: with the correlations of `u_4` scaled by `s ∈ [0, 1]`, that is `u_4(s) = s u_4 + √(1 − s²) z`
for an independent `z` (so the matrix stays positive semidefinite), `P_4(0) = P_3/2`, and by Plackett's identity

    ∂P_4/∂r_i4 = φ₂(0, 0; r_i4) P(u_j > 0, u_k > 0 | u_i = u_4 = 0),    {i, j, k} = {1, 2, 3},

with the density `φ₂` of the pair `(u_i, u_4)`. Given `u_i = u_4 = 0` the other two are a Gaussian pair, whose
correlation is that of the Schur complement. Where the matrix is singular both sides of the result are continuous.

Source: W (arXiv:2511.07272) needs them for Proposition 4; R. L. Plackett, *A reduction formula for normal multivariate
integrals* (1954).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

from sympy import (
    Add,
    Expr,
    Function,
    Heaviside,
    Integer,
    Integral,
    Interval,
    Matrix,
    Mul,
    Rational,
    Symbol,
    asin,
    diff,
    exp,
    expand,
    eye,
    pi,
    sqrt,
    symbols,
)

from .arccos import arccos_kernel
from .derivation import Derivation, How, Outcome
from .gaussian import ANGLES, UNIT, expectation, theta, u, v, x, y
from .integration import Known, Linearity, over_all, single
from .notation import Meaning
from .reasons import Algebra, equal, shown

r12, r13, r14, r23, r24, r34 = symbols("r12 r13 r14 r23 r24 r34", real=True)
CORRELATIONS = {(1, 2): r12, (1, 3): r13, (1, 4): r14, (2, 3): r23, (2, 4): r24, (3, 4): r34}
RANGE = Interval(-1, 1)

s = Symbol("s", nonnegative=True)  # the scale of the correlations of u_4
z = Symbol("z", real=True)
AXES = (x, y, z)  # independent standard normal variables
DENSITY = exp(-(x**2 + y**2 + z**2) / 2) / sqrt(2 * pi) ** 3
P = Function("P_4")  # P(s): the probability with u_4(s) in place of u_4


NOTATION = (
    Meaning(r"P_4(s)", r"the probability, with $s$ times the correlations of $u_4$"),
    Meaning(r"u_i", r"centred Gaussian variables of unit variance and correlations $r_{ij}$"),
    Meaning(r"H_i", r"one if $u_i > 0$, else zero"),
    Meaning(r"\varphi_2", r"the density of two of them"),
)


@cache
def two() -> Derivation:
    """`P_2` as a function of `r12`.

    >>> two().conclusion
    asin(r12)/(2*pi) + 1/4
    """
    kernel = arccos_kernel(0)
    first, second = u.subs(UNIT), v.subs(UNIT)
    d = Derivation(
        expectation(Heaviside(first) * Heaviside(second)),
        r"\operatorname{P}(u_1, u_2 > 0)",
        {theta: ANGLES, r12: RANGE},
        title="The orthant probability of two Gaussians",
        where=NOTATION,
    )
    known = Known((kernel,))
    d = d.then(known.of(d.start), because="half the arc-cosine kernel of degree 0", reason=known, using=(kernel,))
    angle = {theta: pi / 2 - asin(r12)}
    return d.then(
        Rational(1, 4) + asin(r12) / (2 * pi),
        because=r"$\theta = \pi/2 - \arcsin r_{12}$, as $\cos\theta = r_{12}$",
        reason=Algebra(given=angle),
    )


def _triple() -> tuple[Expr, Expr, Expr]:
    """`u_1, u_2, u_3` as images of `x, y, z`, by the triangular root of their correlations; `|r12| < 1`."""
    across = sqrt(1 - r12**2)
    third = (r23 - r12 * r13) / across
    return x, r12 * x + across * y, r13 * x + third * y + sqrt(1 - r13**2 - third**2) * z


@dataclass(frozen=True)
class Pairs:
    """`E` of products of at most two of `1[a_i·ξ > 0]`, `ξ` standard normal in `R³`, by the probability of a pair.

    The images `a_i·ξ`, `a_j·ξ` are a centred Gaussian pair of the variances `|a_i|²`, `|a_j|²`, which must be one, and
    the covariance `a_i·a_j`. The derivation of the pair's probability must be proved.
    """

    pair: Derivation

    def check(self, before: Expr, after: Expr) -> Outcome:
        integral = single(before)
        if integral is None or not list(shown((self.pair,))):
            return Outcome(How.UNDECIDED, "expected one integral, and a proved derivation of the pair")
        if set(integral[0]) != set(_limits()):
            return Outcome(How.WRONG, "the integral is not over the whole space")
        total = Integer(0)
        for term in Add.make_args(expand(integral[1] / DENSITY)):
            steps = [part for part in Mul.make_args(term) if isinstance(part, Heaviside)]
            rows = [[diff(step.args[0], axis) for axis in AXES] for step in steps]
            if len(steps) not in (0, 2) or any(not equal(_dot(row, row), Integer(1)).proved for row in rows):
                return Outcome(How.UNDECIDED, f"{term} is no product of two indicators of unit variance")
            value = self.pair.conclusion.subs(r12, _dot(*rows)) if steps else Integer(1)
            total += term / Mul(*steps) * value
        return equal(total, after)


def _limits() -> tuple[tuple[Expr, ...], ...]:
    return tuple(tuple(limit) for limit in over_all(Integer(1), *AXES).limits)


def _dot(row: list[Expr], other: list[Expr]) -> Expr:
    return expand(Add(*(a * b for a, b in zip(row, other, strict=True))))


@cache
def three() -> Derivation:
    """`P_3` as a function of `r12, r13, r23`.

    >>> three().conclusion
    (asin(r12) + asin(r13) + asin(r23))/(4*pi) + 1/8
    """
    pair = two()
    steps = [Heaviside(one) for one in _triple()]
    d = Derivation(
        over_all(Mul(*steps) * DENSITY, *AXES),
        r"\operatorname{P}(u_1, u_2, u_3 > 0)",
        dict.fromkeys((r12, r13, r23), RANGE),
        title="The orthant probability of three Gaussians",
        where=NOTATION,
    )
    products = Add(*(a * b for a, b in combinations(steps, 2)))
    d = d.then(
        over_all((products / 2 - Rational(1, 4)) * DENSITY, *AXES),
        because=r"$u \to -u$ leaves the law, and $H_1 H_2 H_3 + (1-H_1)(1-H_2)(1-H_3) = 1 - \sum H_i + \sum H_i H_j$",
        reason=Linearity(odd_in=AXES),
    )
    return d.then(
        Rational(1, 8) + Add(*(asin(r) for r in (r12, r13, r23))) / (4 * pi),
        because="each pair is a Gaussian pair of its correlation",
        reason=Pairs(pair),
        using=(pair,),
    )


# --- four -------------------------------------------------------------------------------------------------------------


def scaled_correlations() -> Matrix:
    """The matrix of correlations of `u_1, u_2, u_3, u_4(s)`."""
    matrix = eye(4)
    for (i, j), r in CORRELATIONS.items():
        matrix[i - 1, j - 1] = matrix[j - 1, i - 1] = s * r if j == 4 else r
    return matrix


@dataclass(frozen=True)
class Plackett:
    r"""`P_4(1) = P_4(0) + ∫₀¹ Σ_i r_i4 φ₂(0, 0; s r_i4) P(u_j, u_k > 0 | u_i = u_4(s) = 0) ds` with `P_4(0) = P_3/2`.

    Proof, for a positive definite matrix `R(s)`. By its Fourier integral the Gaussian density obeys
    `∂p/∂r_ij = ∂²p/∂u_i∂u_j`; the integral of that over the orthant is the integral of `p` over `u_i = u_4 = 0` and
    `u_j, u_k > 0`, which is the density of the pair at the origin times the conditional probability. The chain rule,
    with `d(s r_i4)/ds = r_i4`, and the fundamental theorem of calculus give the integral; `R(0)` leaves `u_4`
    independent of the rest. Where `R(1)` is singular both sides are its limits from nearby matrices: the integrand is
    bounded by `|r_i4|/(4π √(1 − s² r_i4²))`.

    The pair given `u_i = u_4 = 0` has for covariance the Schur complement of the two in `R(s)`. Its entries are checked
    to be minors of `R(s)` over the determinant of the two.
    """

    pair: Derivation
    triple: Derivation

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != P(1):
            return Outcome(How.WRONG, "the line before is not the probability at s = 1")
        if len(list(shown((self.pair, self.triple)))) < 2:
            return Outcome(How.UNDECIDED, "the probabilities of two and three are not proved")
        slope = Integer(0)
        for i in range(3):
            complement, minors, determinant = _given_two(i)
            if any(not equal(complement[k] * determinant, minors[k]).proved for k in range(3)):
                return Outcome(How.UNDECIDED, "the Schur complement was not seen to consist of minors")
            conditional = self.pair.conclusion.subs(r12, minors[1] / (sqrt(minors[0]) * sqrt(minors[2])))
            slope += CORRELATIONS[i + 1, 4] / (2 * pi * sqrt(determinant)) * conditional
        if after != self.triple.conclusion / 2 + Integral(slope, (s, 0, 1)):
            return Outcome(How.WRONG, f"the slope is {slope}")
        return Outcome(How.LEMMA, "Plackett's identity")


def _given_two(i: int) -> tuple[list[Expr], list[Expr], Expr]:
    """Of `u_j, u_k` given `u_i = u_4(s) = 0`: variance, covariance, variance; the minors they are over; what over."""
    matrix = scaled_correlations()
    j, k = (other for other in range(3) if other != i)
    given, across = matrix.extract([i, 3], [i, 3]), matrix.extract([j, k], [i, 3])
    complement = matrix.extract([j, k], [j, k]) - across * given.inv() * across.T
    minors = [expand(matrix.extract([i, 3, a], [i, 3, b]).det()) for a, b in ((j, j), (j, k), (k, k))]
    return [complement[0, 0], complement[0, 1], complement[1, 1]], minors, expand(given.det())


@cache
def four() -> Derivation:
    """`P_4` as one integral over `s`, each of whose terms has the arcsine of a ratio of minors.

    >>> four().conclusion.subs(dict.fromkeys((r14, r24, r34), 0)).doit() == three().conclusion / 2
    True
    """
    pair, triple = two(), three()
    slope = Integer(0)
    for i in range(3):
        _, minors, determinant = _given_two(i)
        angle = asin(minors[1] / (sqrt(minors[0]) * sqrt(minors[2])))
        slope += CORRELATIONS[i + 1, 4] / (2 * pi * sqrt(determinant)) * (Rational(1, 4) + angle / (2 * pi))
    d = Derivation(
        P(1),
        r"\operatorname{P}(u_1, u_2, u_3, u_4 > 0)",
        dict.fromkeys(CORRELATIONS.values(), RANGE),
        title="The orthant probability of four Gaussians",
        where=NOTATION,
    )
    return d.then(
        triple.conclusion / 2 + Integral(slope, (s, 0, 1)),
        because="Plackett's identity along the path that scales the correlations of $u_4$",
        reason=Plackett(pair, triple),
        using=(pair, triple),
    )
