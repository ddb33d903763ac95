r"""Means of squared norms of polynomials in random matrices: the reasons that evaluate them.

A line is `E tr(D Dᵀ)`, with a polynomial `D` in matrices of `h` or `n` rows and `h` columns or one, as in
`theory/matrix_words.py`, until it is averaged.

- `Rotated`: a Gaussian matrix `A` (iid N(0, 1) entries) and `L A R` have the same law if `L Lᵀ = I` and `Rᵀ R = I`, for
  `L, R` independent of `A`, since the covariance `L Lᵀ ⊗ Rᵀ R` is the identity; so do a Haar matrix or a uniform unit
  vector and `L A R` if `L` and `R` are orthogonal. As the law does not depend on `L, R`, the product is independent of
  these.
- `Isserlis`: the average over Gaussian matrices, by the pairings of `theory/wick.py`. Products of traces of powers of
  one Haar matrix may be left; those of odd degree have mean zero, as `Z` and `−Z` have the same law. A uniform unit
  vector `u` is `g/|g|` for a Gaussian vector `g`, of which `|g|` is independent, with `E|g|^{2k} = ∏_{j<k} (h + 2j)`
  (`theory/haar.py`): so a mean of degree `2k` in `u` is that in `g`, divided by this product.
- `HaarMoments`: the average over that matrix, in the range of sizes `h` for which `theory/wick.py` proves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, cast

from sympy import (
    Expr,
    Integer,
    MatMul,
    MatPow,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    S,
    Trace,
    expand,
)

from .derivation import How, Outcome
from .errors import InvalidInput
from .haar import h, mean
from .matrix_words import Polynomial, Scalars, Words
from .reasons import equal
from .wick import ORTHOGONAL, Loops, Shape, Word, cyclic, gaussian_mean, haar_moment, letter, smallest_size, transposed


class Law(Enum):
    """The law of a random matrix."""

    GAUSSIAN = "iid N(0, 1) entries"
    HAAR = "uniform on the orthogonal group"
    SPHERE = "uniform on the unit sphere"


@dataclass(frozen=True)
class Rotation:
    """The product `L A R` of a random matrix `A` and of two that are independent of it."""

    left: MatrixExpr
    random: MatrixSymbol
    right: MatrixExpr
    law: Law

    @property
    def product(self) -> MatrixExpr:
        return cast(MatrixExpr, self.left * self.random * self.right)

    def keeps_law(self, words: Words) -> bool:
        """Whether `L A R` has the law of `A`, as far as the rules of `words` tell; see the module."""
        square = self.left.is_square and self.right.is_square
        norms = (cast(MatrixExpr, norm) for norm in (self.left * self.left.T, self.right.T * self.right))
        return all(words.polynomial(norm) == {(): 1} for norm in norms) and (square or self.law is Law.GAUSSIAN)


@dataclass(frozen=True)
class Rotated:
    """Both lines agree by `words` and the rotations that are names in them, which keep the laws; see the module.

    >>> from theory.matrix_words import orthogonal
    >>> W, A, N = (MatrixSymbol(name, h, h) for name in ("W", "A", "N"))
    >>> rotations = {N: Rotation(W, A, W.T, Law.GAUSSIAN)}
    >>> Rotated(Words(orthogonal(W)), rotations).check(Trace(W * A), Trace(N * W)).how.name
    'LEMMA'
    """

    words: Words
    rotations: Mapping[MatrixSymbol, Rotation]

    def check(self, before: Expr, after: Expr) -> Outcome:
        random = [rotation.random for rotation in self.rotations.values()]
        for rotation in self.rotations.values():
            if rotation.left.has(*random) or rotation.right.has(*random) or random.count(rotation.random) > 1:
                return Outcome(How.UNDECIDED, f"the matrices in {rotation.product} may not be independent")
            if not rotation.keeps_law(self.words):
                return Outcome(How.UNDECIDED, f"{rotation.product} may not have the law of {rotation.random}")
        meanings = {name: rotation.product for name, rotation in self.rotations.items()}
        outcome = replace(self.words, given={**self.words.given, **meanings}).check(before, after)
        return Outcome(How.LEMMA, "invariance of the laws") if outcome.proved else outcome


@dataclass(frozen=True)
class Isserlis:
    """`E tr(D Dᵀ)` over `gaussian` matrices and uniform `unit` vectors, with the definitions and rules of `words`.

    What may be left are means of products of traces of powers of the matrix `haar`.

    >>> G, Z = MatrixSymbol("G", h, h), MatrixSymbol("Z", h, h)
    >>> D = G * Z + Z * G
    >>> Isserlis((G,), Z).of(mean(Trace(D * D.T)))
    2*h**2 + 2*E(Trace(Z)**2)
    """

    gaussian: tuple[MatrixSymbol, ...]
    haar: MatrixSymbol | None = None
    words: Words = field(default_factory=Words)
    unit: tuple[MatrixSymbol, ...] = ()

    def of(self, line: Expr) -> Expr:
        """The mean. Raises `InvalidInput` where the line is not of this kind, or has other matrices."""
        norm: Any = line.args[0].arg if isinstance(line, mean) and isinstance(line.args[0], Trace) else None
        root: Any = norm.args[0] if isinstance(norm, MatMul) else None
        if root is None or norm != root * root.T:
            raise InvalidInput("line", str(line), "give the mean of the trace of a sum D times D.T")
        total = S.Zero
        for traces, factor in self._averaged(self.words.polynomial(root)).items():
            left = Mul(*(Trace(cast(MatrixSymbol, self.haar) ** power) for power in traces))
            total += factor * (mean(left) if traces else S.One)
        return total

    def _averaged(self, polynomial: Polynomial) -> dict[tuple[int, ...], Expr]:
        """The mean of `tr(D Dᵀ)` over all but `haar`: the factor of `∏ tr(Z^k)` for each `(k, …)`."""
        numbers = self.numbers()
        strange = {matrix for letters in polynomial for matrix, _ in letters if matrix not in numbers}
        if strange:
            raise InvalidInput("line", ", ".join(map(str, strange)), "the law of these matrices is not given")
        scalars = Scalars(sorted({name for c in polynomial.values() for name in c.free_symbols}, key=str))
        terms = [
            (b"".join(letter(numbers[matrix], turned) for matrix, turned in letters), scalars.element(coefficient))
            for letters, coefficient in polynomial.items()
        ]
        unit = [letter(numbers[vector]) for vector in self.unit]
        total: dict[tuple[Loops, tuple[int, ...]], Any] = {}
        for word, element in _squared_norm(terms).items():
            halves = tuple((word.count(u) + word.count(transposed(u))) // 2 for u in unit)
            for loops, count in gaussian_mean((word,)).items():
                total[loops, halves] = total.get((loops, halves), 0) + count * element
        most = tuple(max((halves[i] for _, halves in total), default=0) for i in range(len(unit)))
        factors: dict[tuple[int, ...], Expr] = {}
        for ((p, q, traces), halves), element in total.items():
            common = (h + 2 * j for half, limit in zip(halves, most, strict=True) for j in range(half, limit))
            term = expand(scalars.expression(element) * Mul(h**p, self._samples() ** q, *common))
            factors[traces] = factors.get(traces, S.Zero) + term
        norms = Mul(*(h + 2 * j for limit in most for j in range(limit)))
        return {traces: factor / norms for traces, factor in factors.items() if factor != 0}

    def numbers(self) -> dict[MatrixSymbol | None, int]:
        """The numbers of the matrices in `theory/wick.py`, by their shapes."""
        unused = {shape: iter(shape.value) for shape in Shape}
        return {self.haar: ORTHOGONAL[0]} | {
            matrix: next(unused[_shape(matrix)]) for matrix in (*self.gaussian, *self.unit)
        }

    def _samples(self) -> Expr:
        """`n`, or 1 if it does not occur."""
        return next((matrix.rows for matrix in self.gaussian if matrix.rows != h), S.One)

    def check(self, before: Expr, after: Expr) -> Outcome:
        try:
            averaged = self.of(before)
        except InvalidInput as error:
            return Outcome(How.UNDECIDED, str(error))
        outcome = equal(averaged, after)
        return Outcome(How.LEMMA, "Isserlis") if outcome.proved else outcome


def _shape(matrix: MatrixSymbol) -> Shape:
    """By whether it has `h` rows, or `n`, and `h` columns, or one."""
    if matrix.cols not in (h, 1):
        raise InvalidInput("matrix", matrix, "give a matrix of h columns, or of one")
    if matrix.rows == h:
        return Shape.SQUARE if matrix.cols == h else Shape.COLUMN
    return Shape.TALL if matrix.cols == h else Shape.TALL_COLUMN


def _squared_norm(terms: list[tuple[Word, Any]]) -> dict[Word, Any]:
    """`tr(D Dᵀ)`, one word for all that have the same trace; `tr(u vᵀ) = tr(v uᵀ)`.

    Left out is what has mean zero because a matrix occurs an odd number of times in it: `A` and `−A` have one law.
    """
    total: dict[Word, Any] = {}
    for index, (u, a) in enumerate(terms):
        for position, (v, b) in enumerate(terms[: index + 1]):
            word = u + transposed(v)
            if all((word.count(symbol) + word.count(symbol ^ 1)) % 2 == 0 for symbol in set(word)):
                word = cyclic(word)
                total[word] = total.get(word, 0) + (a * b if position == index else 2 * a * b)
    return total


@dataclass(frozen=True)
class HaarMoments:
    """The means of products of traces of powers of the matrix `haar` put in, for all sizes from `smallest` on.

    >>> Z = MatrixSymbol("Z", h, h)
    >>> line = mean(Trace(Z) ** 2) + 2 * mean(Trace(Z) ** 4)  # E (tr Z)^4 is 3 from h = 2 on, and 1 at h = 1
    >>> HaarMoments(Z, 1).of(line), HaarMoments(Z, 2).of(line)
    (2*E(Trace(Z)**4) + 1, 7)
    """

    haar: MatrixSymbol
    smallest: int

    @classmethod
    def covering(cls, line: Expr, haar: MatrixSymbol) -> HaarMoments:
        """For all means in the line, from the smallest size for which each is proved."""
        return cls(haar, max((smallest_size(_powers(part, haar)) for part in _means(line)), default=1))

    def of(self, line: Expr) -> Expr:
        """The line with every mean put in that is proved from the smallest size on."""
        powers = {part: _powers(part, self.haar) for part in _means(line)}
        proved = {part: found for part, found in powers.items() if found and smallest_size(found) <= self.smallest}
        return cast(Expr, line.xreplace({part: Integer(haar_moment(found)) for part, found in proved.items()}))

    def check(self, before: Expr, after: Expr) -> Outcome:
        outcome = equal(self.of(before), after)
        return Outcome(How.LEMMA, "moments of traces of a Haar matrix") if outcome.proved else outcome


def _means(line: Expr) -> set[Any]:
    return cast(set[Any], line.atoms(cast(Any, mean)))


def _powers(part: Any, haar: MatrixSymbol) -> tuple[int, ...]:
    """`(k, …)` for `E ∏ tr(Z^k)` with `k >= 1`, else nothing."""
    powers: list[int] = []
    for factor in Mul.make_args(part.args[0]):
        trace, times = factor.as_base_exp()
        matrix: Any = trace.arg if isinstance(trace, Trace) else None
        base, power = cast(Any, matrix.args) if isinstance(matrix, MatPow) else (matrix, S.One)
        if base != haar or not all(count.is_Integer and count.is_positive for count in (times, power)):
            return ()
        powers += [int(power)] * int(times)
    return tuple(powers)
