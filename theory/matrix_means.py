r"""Means of squared norms of polynomials in random matrices: the reasons that evaluate them.

A line is `E tr(D Dᵀ)`, with a polynomial `D` in `h × h` matrices as in `theory/matrix_words.py`, until it is averaged.

- `Rotated`: a Gaussian matrix `A` (iid N(0, 1) entries) and `L A R` have the same law if `L Lᵀ = I` and `Rᵀ R = I`, for
  `L, R` independent of `A`, since the covariance `L Lᵀ ⊗ Rᵀ R` is the identity; so do a Haar matrix and `L A R` if `L`
  and `R` are orthogonal. As the law does not depend on `L, R`, the product is independent of these.
- `Isserlis`: the average over Gaussian matrices, by the pairings of `theory/wick.py`. Products of traces of powers of
  one Haar matrix may be left; those of odd degree have mean zero, as `Z` and `−Z` have the same law.
- `HaarMoments`: the average over that matrix, in the range of sizes `h` for which `theory/wick.py` proves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, cast

from sympy import (
    QQ,
    Add,
    Dummy,
    Expr,
    Integer,
    MatMul,
    MatPow,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Rational,
    S,
    Trace,
    expand,
    ring,
)

from .derivation import How, Outcome
from .errors import InvalidInput
from .haar import h, mean
from .matrix_words import Polynomial, Words
from .reasons import equal
from .wick import GAUSSIAN, ORTHOGONAL, Word, cyclic, gaussian_mean, haar_moment, letter, smallest_size, transposed


class Law(Enum):
    """The law of a random matrix."""

    GAUSSIAN = "iid N(0, 1) entries"
    HAAR = "uniform on the orthogonal group"


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
    """`E tr(D Dᵀ)` over the `gaussian` matrices, with the definitions and rules of `words`.

    What may be left are means of products of traces of powers of the matrix `haar`.

    >>> G, Z = MatrixSymbol("G", h, h), MatrixSymbol("Z", h, h)
    >>> D = G * Z + Z * G
    >>> Isserlis((G,), Z).of(mean(Trace(D * D.T)))
    2*h**2 + 2*E(Trace(Z)**2)
    """

    gaussian: tuple[MatrixSymbol, ...]
    haar: MatrixSymbol | None = None
    words: Words = field(default_factory=Words)

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
        """The mean of `tr(D Dᵀ)` over the Gaussian matrices: the factor of `∏ tr(Z^k)` for each `(k, …)`."""
        numbers = dict(zip(self.gaussian, GAUSSIAN, strict=False)) | {self.haar: ORTHOGONAL[0]}
        strange = {matrix for letters in polynomial for matrix, _ in letters if matrix not in numbers}
        if strange:
            raise InvalidInput("line", ", ".join(map(str, strange)), "the law of these matrices is not given")
        scalars = _Scalars(polynomial.values())
        terms = [
            (b"".join(letter(numbers[matrix], turned) for matrix, turned in letters), scalars.element(coefficient))
            for letters, coefficient in polynomial.items()
        ]
        total: dict[tuple[int, tuple[int, ...]], Any] = {}
        for word, element in _squared_norm(terms).items():
            for loops, count in gaussian_mean((word,)).items():
                total[loops] = total.get(loops, 0) + count * element
        factors: dict[tuple[int, ...], Expr] = {}
        for (power, traces), element in total.items():
            factors[traces] = factors.get(traces, S.Zero) + scalars.expanded(element, power)
        return {traces: factor for traces, factor in factors.items() if factor != 0}

    def check(self, before: Expr, after: Expr) -> Outcome:
        try:
            averaged = self.of(before)
        except InvalidInput as error:
            return Outcome(How.UNDECIDED, str(error))
        outcome = equal(averaged, after)
        return Outcome(How.LEMMA, "Isserlis") if outcome.proved else outcome


class _Scalars:
    """Polynomials in the roots of `h` and of non-negative symbols, as elements of a SymPy ring, for its speed.

    What the ring holds is free of the lowest power of `h`, which is common to all: it may be negative.
    """

    def __init__(self, coefficients: Iterable[Expr]) -> None:
        terms = [term for coefficient in coefficients for term in Add.make_args(coefficient)]
        self._lowest: Any = min((term.as_coeff_exponent(h)[1] for term in terms), default=S.Zero)
        symbols: set[Any] = set().union(*(term.free_symbols for term in terms)) - {h}
        self._symbols = [h, *sorted(symbols, key=str)]
        roots = [Dummy(symbol.name, positive=True) for symbol in self._symbols]
        self._squares = {symbol: root**2 for symbol, root in zip(self._symbols, roots, strict=True)}
        self._ring = ring(roots, QQ)[0]

    def element(self, coefficient: Expr) -> Any:
        """A coefficient, in the ring."""
        try:
            return self._ring.from_expr(expand(coefficient / h**self._lowest).xreplace(self._squares))
        except ValueError as error:
            raise InvalidInput("line", str(coefficient), "its scalars are not powers of h times polynomials") from error

    def expanded(self, element: Any, power: int) -> Expr:
        """A product of two coefficients, times a power of `h`."""
        outside = h ** (2 * self._lowest + power)

        def term(degrees: tuple[int, ...], number: Any) -> Expr:
            powers = (symbol ** Rational(k, 2) for symbol, k in zip(self._symbols, degrees, strict=True))
            return Mul(QQ.to_sympy(number), outside, *powers)

        return Add(*(term(degrees, number) for degrees, number in element.terms()))


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
