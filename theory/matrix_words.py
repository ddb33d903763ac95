r"""Matrices that do not commute: polynomials in them are sums of words, and traces of words are cyclic.

A *letter* is a matrix or its transpose, a *word* a product of letters, and a polynomial a sum of words with scalar
coefficients. Two facts make traces comparable by exact algebra: `tr(UV) = tr(VU)` and `tr U = tr Uᵀ`; so each cyclic
word is written in the smallest of its rotations and those of its transpose.

*Rules* replace a part of a word by a scalar: `WᵀW = I` where `W` is orthogonal, `XᵀX = n I`, or `rᵀc = τ` for two
columns. Only such rules are applied as the caller states; two lines that agree under them are equal wherever the rules
hold, at every size of the matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from sympy import (
    QQ,
    Add,
    Basic,
    Derivative,
    Dummy,
    Expr,
    Identity,
    Indexed,
    MatAdd,
    MatMul,
    MatPow,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Rational,
    S,
    Symbol,
    Trace,
    Transpose,
    ZeroMatrix,
    expand,
    ring,
    sign,
)
from sympy.core.function import UndefinedFunction

from .derivation import Outcome
from .errors import InvalidInput
from .reasons import equal

Letter = tuple[MatrixSymbol, bool]  # the matrix, and whether it is transposed
Word = tuple[Letter, ...]
Polynomial = dict[Word, Any]  # each word with its coefficient, an element of `Scalars.ring`


def word(*factors: MatrixExpr) -> Word:
    """The word of a product of matrices and transposes.

    >>> A = MatrixSymbol("A", 2, 2)
    >>> word(A.T, A)
    ((A, True), (A, False))
    """
    return tuple((f.arg, True) if isinstance(f, Transpose) else (f, False) for f in factors)


def orthogonal(*matrices: MatrixSymbol) -> dict[Word, Expr]:
    """The rules `WWᵀ = WᵀW = I`."""
    return {word(*pair): S.One for W in matrices for pair in ((W, W.T), (W.T, W))}


def transpose(letters: Word) -> Word:
    """The word of the transposed product."""
    return tuple((matrix, not transposed) for matrix, transposed in reversed(letters))


def rows(letter: Letter) -> Expr:
    """The number of rows of a letter."""
    matrix, transposed = letter
    return matrix.shape[1] if transposed else matrix.shape[0]


@dataclass(frozen=True)
class Words:
    """Both lines are linear in traces, or in means of traces, and agree as polynomials in words.

    `rules` says which words are scalars, and so which transposes are. `given` are definitions, put in first; they may
    refer to each other. `mean` is the operator of the mean, `random` has the scalars that are not constants under it,
    and `white` columns `x` with `E xxᵀ = I` that are independent of all else; each occurs in a word as `x` and `xᵀ`
    once, or not at all. Derivatives by a scalar are carried out.
    """

    rules: Mapping[Word, Expr] = field(default_factory=dict)
    given: Mapping[Basic, Basic] = field(default_factory=dict)
    mean: UndefinedFunction | None = None
    random: tuple[Symbol, ...] = ()
    white: tuple[MatrixSymbol, ...] = ()

    def check(self, before: Expr, after: Expr) -> Outcome:
        algebra = _Algebra(self, before, after)
        return equal(algebra.scalar(before), algebra.scalar(after))

    def polynomial(self, expression: MatrixExpr) -> dict[Word, Expr]:
        """`expression` as a sum of reduced words.

        >>> W, V = MatrixSymbol("W", 3, 3), MatrixSymbol("V", 3, 3)
        >>> Words(orthogonal(W)).polynomial(W.T * (W + 2 * V)) == {(): 1, ((W, True), (V, False)): 2}
        True
        """
        algebra = _Algebra(self, expression)
        return {letters: algebra.scalars.expression(c) for letters, c in algebra.matrix(expression).items()}


class Scalars:
    """Coefficients: polynomials in the roots of `names`, of positive and negative powers, as elements of a ring."""

    def __init__(self, names: Iterable[Expr]) -> None:
        roots = dict.fromkeys(base**power for base in names for power in (Rational(1, 2), Rational(-1, 2)))
        self.ring, *elements = ring([Dummy() for _ in roots], QQ) if roots else (QQ.poly_ring(Dummy()).ring,)
        self.roots: dict[Expr, Any] = dict(zip(roots, elements, strict=True))

    def element(self, scalar: Expr) -> Any:
        """`scalar` in the ring."""
        match scalar:
            case Rational():
                return self.ring(QQ.from_sympy(scalar))
            case Add():
                return sum(map(self.element, scalar.args), self.ring.zero)
            case Mul():
                return prod(map(self.element, scalar.args), start=self.ring.one)
        base, exponent = scalar.as_base_exp()
        root = base ** (sign(exponent) / 2)
        if root in self.roots and (2 * exponent).is_Integer:
            return self.roots[root] ** int(abs(2 * exponent))
        if exponent.is_Integer and exponent.is_positive and exponent != 1:
            return self.element(base) ** int(exponent)
        raise InvalidInput("scalar", scalar, "give sums and products of powers of names")

    def expression(self, element: Any) -> Expr:
        """The inverse of `element`, expanded."""
        terms = (
            Mul(QQ.to_sympy(c), *(root**k for root, k in zip(self.roots, powers, strict=False) if k))
            for powers, c in element.terms()
        )
        return Add(*terms)


class _Algebra:
    """The words of several lines, with one name for each cyclic word; the polynomials of definitions are kept."""

    def __init__(self, by: Words, *lines: Basic) -> None:
        self.by = by
        everything = (*lines, *by.given.values(), *by.rules.values())
        self.scalars = Scalars(sorted(set().union(*(S(part).atoms(Symbol, Indexed) for part in everything)), key=str))
        self.rules = {
            side: self.scalars.element(S(value))
            for letters, value in by.rules.items()
            for side in (letters, transpose(letters))
        }
        self.known: dict[Basic, Polynomial] = {}
        self.traces: dict[Word, Expr] = {}
        self.means: dict[Expr, Expr] = {}

    def matrix(self, part: MatrixExpr) -> Polynomial:
        """`part` as a sum of reduced words."""
        match part:
            case MatrixSymbol():
                if part not in self.by.given:
                    return {((part, False),): self.scalars.ring.one}
                if part not in self.known:
                    self.known[part] = self.matrix(self.by.given[part])
                return self.known[part]
            case Transpose():
                return {transpose(letters): c for letters, c in self.matrix(part.arg).items()}
            case Identity():
                return {(): self.scalars.ring.one}
            case ZeroMatrix():
                return {}
            case MatAdd():
                return self._collected((letters, c) for term in part.args for letters, c in self.matrix(term).items())
            case MatMul():
                scalar, factors = part.as_coeff_matrices()
                product: Polynomial = {(): self.scalars.element(self.scalar(scalar))}
                for factor in factors:
                    product = self._times(product, self.matrix(factor))
                return product
            case MatPow() if part.exp.is_Integer and part.exp.is_positive:
                return self.matrix(MatMul(*([part.base] * int(part.exp))))
        raise InvalidInput("expression", part, "give sums, products, powers and transposes of matrices")

    def _times(self, left: Polynomial, right: Polynomial) -> Polynomial:
        def terms() -> Iterator[tuple[Word, Any]]:
            for first, c in left.items():
                for second, d in right.items():
                    letters, scalar = self._reduced(first + second)
                    yield letters, scalar * c * d

        return self._collected(terms())

    def _collected(self, terms: Iterator[tuple[Word, Any]]) -> Polynomial:
        total: Polynomial = {}
        for letters, c in terms:
            total[letters] = total.get(letters, self.scalars.ring.zero) + c
        return {letters: c for letters, c in total.items() if c}

    def _reduced(self, letters: Word) -> tuple[Word, Any]:
        """`letters` without the parts that are scalars, and the product of these."""
        scalar = self.scalars.ring.one
        while True:
            places = ((i, part) for part in self.rules for i in range(len(letters) - len(part) + 1))
            found = next(((i, part) for i, part in places if letters[i : i + len(part)] == part), None)
            if found is None:
                return letters, scalar
            start, part = found
            letters, scalar = letters[:start] + letters[start + len(part) :], scalar * self.rules[part]

    def trace(self, of: MatrixExpr) -> Expr:
        """`tr` of a matrix: linear in names for cyclic words."""
        total: dict[Expr, Any] = {}
        for letters, c in self.matrix(of).items():
            name, scalar = self._cyclic(letters, of.rows)
            total[name] = total.get(name, self.scalars.ring.zero) + c * scalar
        return expand(Add(*(self.scalars.expression(c) * name for name, c in total.items())))

    def _cyclic(self, letters: Word, size: Expr) -> tuple[Expr, Any]:
        """The trace of a word, and a factor, under the mean; that of the empty word is `size`."""
        if not letters:
            return size, self.scalars.ring.one
        for turned in (letters[turn:] + letters[:turn] for turn in range(len(letters))):
            shorter, scalar = self._reduced(turned)
            if shorter != turned:
                name, rest = self._cyclic(shorter, rows(turned[0]))
                return name, scalar * rest
            if turned[0][0] in self.by.white and turned[:2] == word(turned[0][0], turned[0][0].T):
                if any(matrix == turned[0][0] for matrix, _ in turned[2:]):
                    raise InvalidInput("white", turned[0][0], "its covariance is used where it occurs once")
                return self._cyclic(turned[2:], rows(turned[0]))
        both = (letters, transpose(letters))
        turns = [side[turn:] + side[:turn] for side in both for turn in range(len(side))]
        first = min(turns, key=lambda side: [(matrix.name, transposed) for matrix, transposed in side])
        return self.traces.setdefault(first, Dummy("tr")), self.scalars.ring.one

    def scalar(self, line: Basic) -> Expr:
        """`line` with its traces, and their means, as names."""
        if line in self.by.given:
            return self.scalar(self.by.given[line])
        if isinstance(line, Derivative):
            return self.scalar(line.expr).diff(*line.variables)
        if isinstance(line, Trace):
            return self.trace(line.arg)
        if self.by.mean is not None and isinstance(line, self.by.mean):
            return self._mean(expand(self.scalar(line.args[0])))
        return line.func(*map(self.scalar, line.args)) if line.args else line

    def _mean(self, of: Expr) -> Expr:
        """The mean of an expanded sum, which is linear; the traces and `random` are not constants."""
        names = (*self.traces.values(), *self.by.random)
        parts = [term.as_independent(*names, as_Add=False) if names else (term, S.One) for term in Add.make_args(of)]
        return Add(*(c * (S.One if r == 1 else self.means.setdefault(r, Dummy("mean"))) for c, r in parts))
