r"""How large the self-interaction can be beside the gradient: the best constant for all orthogonal weights and targets.

Definition. Two layers of width `h` as in `theory/linear_networks.py`, from any orthogonal `W₁, W₂` and with `β = Q/√h`,
`Q` orthogonal. After `t = 0` or `1` steps of full gradient descent with rates `η₁, η₂ >= 0` the gradient of layer `i`
is `G_i = B_i − A_i`, and the best constant is the supremum of `‖B_i‖/‖G_i‖` over all `W₁, W₂, Q` with `G_i ≠ 0`, in
operator norm. Let `κ = ‖W₁(t)W₂(t)‖` at its largest:

    κ = 1 for t = 0,    κ = ∏_i (1 + η_i h^{−3/2} (1 − h^{−1/2})) for t = 1.

Where `κ < √h`, hence `h >= 2`, the best constant is `κ/(√h − κ)`, in both layers, and it is attained at `Q = W₁W₂`. At
`κ = √h` the gradient is zero there and `B_i` is not, so that no constant is left. Few networks come near it: for
`t = 0` the ratio lies between `1/(√h + 1)` and `1/(√h − 1)`, and is the former where `W₁ᵀQW₂ᵀ` has the eigenvalue −1.

Proof. With `Z = W₁ᵀQW₂ᵀ` everything is a polynomial in `Z`: but for an orthogonal factor, which no norm notices,

    B_i = f(Z) g(Z),    G_i = f(Z) (g(Z) − √h Z),    W₁(t)W₂(t) = W₁ g(Z) W₂.

The norm of a polynomial in `Z`, a normal matrix, is its largest absolute value at the eigenvalues `z` of `Z`, where
`|z| = 1`. As the coefficients of `g` are not negative, `|g(z)| <= g(1) = κ` there, so `|g(z) − √h z| >= √h − κ > 0` by
the triangle inequality, and at every eigenvalue

    |f g| <= |f| κ <= κ/(√h − κ) · |f (g − √h z)|,

with equality at `z = 1`, the one eigenvalue of `Z = I`; there `f(1) > 0`.

Source: arXiv:2606.00340 (B), which states the constant `1/(√h − 1)` at `t = 0` and `t = 1` for `η = O(h√h)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sympy import (
    Add,
    Expr,
    Function,
    Identity,
    Interval,
    MatAdd,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Range,
    S,
    Set,
    Symbol,
    factor,
    oo,
    sqrt,
)

from .derivation import Derivation, How, Outcome
from .errors import InvalidInput
from .haar import Z
from .layerwise_options import Updates
from .linear_networks import GRADIENT, TARGET, W1, W2, WEIGHTS, Q, descent, gradient, interaction, signal
from .matrix_words import Words, orthogonal
from .notation import Meaning
from .rate_polynomials import eta1, eta2, h
from .reasons import equal
from .typeset import latex

f, g = MatrixSymbol("f", h, h), MatrixSymbol("g", h, h)  # the polynomials of the proof
supremum = Function("sup")  # over all orthogonal matrices with which the denominator is not zero

_moved = Symbol("x_1", nonnegative=True), Symbol("x_2", nonnegative=True)  # η_i h^{−3/2} (1 − h^{−1/2})
_gap = Symbol("g", positive=True)  # √h − κ


NOTATION = (
    Meaning(r"B_i", r"the self-interaction, that part of the gradient $G_i$ which the labels are not in"),
    GRADIENT,
    Meaning(r"f, g", r"the polynomials in $Z$ with $B_i = f(Z) g(Z)$ up to an orthogonal factor"),
    Meaning(r"\kappa", r"the largest norm of $W_1 W_2$"),
    Meaning(r"Z", r"$W_1^\top Q W_2^\top$, orthogonal"),
    WEIGHTS,
    TARGET,
    Meaning(r"z", r"an eigenvalue of $Z$"),
)


class OperatorNorm(Expr):
    """The largest singular value of a matrix."""

    is_nonnegative = True

    @property
    def matrix(self) -> MatrixExpr:
        """The matrix."""
        return self.args[0]

    def _latex(self, printer: Any) -> str:
        return rf"\left\|{printer._print(self.matrix)}\right\|"


def _ratio(interaction: MatrixExpr, gradient: MatrixExpr) -> Expr:
    return supremum(OperatorNorm(interaction) / OperatorNorm(gradient))


IN_Z = _ratio(f * g, f * (g - sqrt(h) * Z))


@dataclass(frozen=True)
class OrthogonalFactors:
    """Each norm after is that of the matrix before, multiplied by `left` and `right`, which are orthogonal.

    The matrices agree by `words`.
    """

    words: Words
    left: MatrixExpr
    right: MatrixExpr

    def check(self, before: Expr, after: Expr) -> Outcome:
        for side in (self.left, self.right):
            if self.words.polynomial(side * side.T) != {(): S.One}:
                return Outcome(How.UNDECIDED, f"{side} was not seen to be orthogonal")
        for old, new in zip(_matrices(before), _matrices(after), strict=True):
            one, two = (self.words.polynomial(side) for side in (self.left * old * self.right, new))
            if any(not equal(one.get(word, S.Zero), two.get(word, S.Zero)).proved for word in {*one, *two}):
                return Outcome(How.WRONG, f"{new} is not {self.left * old * self.right}")
        return Outcome(How.LEMMA, "a norm does not notice orthogonal factors")


def _matrices(line: Expr) -> tuple[MatrixExpr, MatrixExpr]:
    """Numerator and denominator of a supremum of two norms."""
    numerator, denominator = line.args[0].as_numer_denom()
    return numerator.matrix, denominator.matrix


@dataclass(frozen=True)
class LargestOnCircle:
    """`sup ‖f g‖/‖f (g − √h Z)‖ = g(1)/(√h − g(1))`, by the proof at the head of the module.

    `given` defines `f` and `g` as polynomials in `Z` and `Zᵀ`. The hypotheses are that the coefficients of `g` are not
    negative and that `f(1) > 0`, where `g(1) < √h`. `region` writes `h` and the rates as functions of `√h − g(1) > 0`
    and of numbers `>= 0`, so that SymPy sees the signs.
    """

    given: Mapping[MatrixSymbol, MatrixExpr]
    region: Mapping[Symbol, Expr]

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != IN_Z:
            return Outcome(How.WRONG, "the line before is not that supremum")
        first, second = (Words(orthogonal(Z)).polynomial(self.given[name]) for name in (f, g))
        if any(matrix != Z for letters in (*first, *second) for matrix, _ in letters):
            return Outcome(How.UNDECIDED, "f or g is no polynomial in Z")
        at_one, kappa = Add(*first.values()), Add(*second.values())
        if not equal((sqrt(h) - kappa).xreplace(self.region), _gap).proved:
            return Outcome(How.UNDECIDED, f"the region is not where {kappa} is less than sqrt(h)")
        if not all(factor(c.xreplace(self.region)).is_nonnegative for c in second.values()):
            return Outcome(How.UNDECIDED, "cannot see that the coefficients of g are not negative")
        if not factor(at_one.xreplace(self.region)).is_positive:
            return Outcome(How.UNDECIDED, "cannot see that f is not zero at Z = I")
        value = equal(kappa / (sqrt(h) - kappa), after)
        return Outcome(How.LEMMA, "the triangle inequality, with equality at Z = I") if value.proved else value


@lru_cache(maxsize=None, typed=True)
def best_constant(steps: int = 0, layer: int = 1) -> Derivation:
    """The supremum of `‖B‖/‖G‖` for layer 1 or 2 after 0 or 1 steps, wherever `κ < √h`.

    Raises `InvalidInput` for other layers or steps.

    >>> best_constant(0).conclusion
    1/(sqrt(h) - 1)
    """
    if isinstance(steps, bool) or steps not in (0, 1):
        raise InvalidInput("steps", steps, "give 0 or 1, the steps that the source speaks of")
    if isinstance(layer, bool) or layer not in (1, 2):
        raise InvalidInput("layer", layer, "give 1 or 2")
    weights, given = descent(2, Q / sqrt(h), steps, Updates.FULL)
    words = Words(orthogonal(W1, W2, Z), {**given, Q: W1 * Z * W2})
    a, b = _in_z(words, W1.T * weights[0]), _in_z(words, weights[1] * W2.T)
    meaning = {f: (b.T if layer == 1 else a.T) / h**2, g: a * b}
    A, B = (part[layer - 1] for part in (signal(2, weights, Q / sqrt(h)), interaction(2, weights)))
    d = Derivation(
        _ratio(B, B - A),
        rf"\sup \|B_{layer}\|/\|G_{layer}\|",
        {h: Range(2, oo), **_rates(steps)},
        title=f"The self-interaction of layer {layer} beside its gradient, t = {steps}",
        where=NOTATION,
    )
    d = d.then(
        IN_Z,
        because=rf"gradient descent with $Q = W_1 Z W_2$, so that $g = {latex(meaning[g])}$; orthogonal factors leave "
        "a norm as it is",
        reason=OrthogonalFactors(
            replace(words, given={**words.given, **meaning}),
            *((W1.T, Identity(h)) if layer == 1 else (Identity(h), W2.T)),
        ),
        using=(gradient(2, 1), gradient(2, 2)),
    )
    kappa = Mul(*(Add(*words.polynomial(part).values()) for part in (a, b)))
    return d.then(
        kappa / (sqrt(h) - kappa),
        because=r"the triangle inequality at the eigenvalues of $Z$, as $\kappa = g(1) < \sqrt h$; equality at $Z = I$",
        reason=LargestOnCircle(meaning, _region(steps)),
    )


def _rates(steps: int) -> dict[Symbol, Set]:
    """The rates with `κ < √h`."""
    if steps == 0:
        return {eta1: Interval(0, oo), eta2: Interval(0, oo)}
    first = 1 + eta1 * (1 - 1 / sqrt(h)) / sqrt(h) ** 3
    return {eta1: Interval.Ropen(0, h**2), eta2: Interval.Ropen(0, (sqrt(h) / first - 1) * h**2 / (sqrt(h) - 1))}


def _in_z(words: Words, matrix: MatrixExpr) -> MatrixExpr:
    """A matrix that is a polynomial in `Z`, as one."""
    found = words.polynomial(matrix).items()
    assert all(letter == (Z, False) for letters, _ in found for letter in letters)
    return MatAdd(*(coefficient * Z ** len(letters) for letters, coefficient in found))


def _region(steps: int) -> dict[Symbol, Expr]:
    """The width and the rates with `κ < √h`, for `LargestOnCircle`."""
    moved = _moved if steps else ()
    root = Mul(*(1 + x for x in moved)) + _gap  # √h
    return {h: root**2} | {eta: x * root**4 / (root - 1) for eta, x in zip((eta1, eta2), moved, strict=False)}
