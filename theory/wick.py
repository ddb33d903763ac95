r"""Expectations of products of traces of words in random matrices, exact, at symbolic sizes `h, n >= 1`.

The letters of a word are independent matrices and their transposes: Gaussian ones, with iid N(0, 1) entries, of a
`Shape` (`h × h`, `h × 1`, `n × h` or `n × 1`), and one Haar orthogonal `h × h` matrix `Z`. The average is taken in two
steps.

**Gaussian matrices** (Isserlis 1918, Wick 1950), at all `h, n >= 1`. As `E[A_ij A_kl] = δ_ik δ_jl`, a letter `A` that
stands first in its trace is paired with each other `A` or `Aᵀ` in turn, and the expectation is the sum over these of
what is left with the pair taken out:

    tr(A U Aᵀ V) → tr(U) tr(V),      tr(A U) tr(Aᵀ V) → tr(U V),
    tr(A U A V) → tr(Uᵀ V),          tr(A U) tr(A V) → tr(Uᵀ V).

An empty trace is the trace of an identity: `h`, `n` or 1, the size of the index that is left; on the right of the first
line it is a column of `A` for `U`, a row for `V`. So every pairing of all letters ends as a product of the sizes of the
loops that it closes. (The letters of the other lines, between which nothing may be left, are square there.)

**The Haar matrix.** Of the other letters, words in `Z` alone are left, hence products of `tr Z^{k_i}`, `k_i >= 1` (as
`tr Z^{−k} = tr Z^k`). Let `K = Σ k_i`. Then, *if `K <= 2h`, or if there is one trace only*,

    E ∏_i tr(Z^{k_i}) = the number of perfect matchings of K points that a permutation with the cycles k_i leaves fixed.

Proof. The left side is the trace of that permutation of the factors of `(R^h)^{⊗K}` on its `O(h)`-invariants. These are
spanned by the matchings (first fundamental theorem), which are linearly independent if `K <= 2h` (second fundamental
theorem), and the permutation permutes them. (For one trace, at every `h`: `theory/haar.py`.) A fixed matching pairs
whole cycles of the same length `j`, in `j` ways, or the points of one cycle of even length with their opposites; hence
the product over lengths in `haar_moment`.

Source: Diaconis & Shahshahani, *On the eigenvalues of random matrices* (1994); the range, Diaconis & Evans, *Linear
functionals of eigenvalues of random matrices* (2001). Departure: words are rotated and transposed to a standard form at
each step, so that pairings which leave the same are merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from functools import cache
from math import comb, prod

from .errors import InvalidInput

Word = bytes
Loops = tuple[int, int, tuple[int, ...]]  # h^p n^q ∏ tr(Z^k): the powers p and q, and the k >= 1 in increasing order

ORTHOGONAL = range(64)  # numbers of orthogonal matrices


class Shape(Enum):
    """The shape of a Gaussian matrix, and the numbers of such matrices."""

    SQUARE = range(64, 80)  # h × h
    COLUMN = range(80, 96)  # h × 1
    TALL = range(96, 112)  # n × h
    TALL_COLUMN = range(112, 128)  # n × 1


_TRANSPOSED = bytes(letter ^ 1 for letter in range(256))


def letter(matrix: int, transposed: bool = False) -> Word:
    """The word of one letter: twice the number of the matrix, and one more for the transpose."""
    if matrix not in range(128):
        raise InvalidInput("matrix", matrix, "matrices have numbers from 0 to 127, the Gaussian ones from 64")
    return bytes([2 * matrix + transposed])


def transposed(word: Word) -> Word:
    """The word of the transposed product."""
    return word[::-1].translate(_TRANSPOSED)


def reduced(word: Word) -> Word:
    """The word without neighbours `Z Zᵀ` and `Zᵀ Z` of orthogonal matrices `Z`.

    >>> reduced(letter(1) + letter(0) + letter(0, True) + letter(64)) == letter(1) + letter(64)
    True
    """
    kept = bytearray()
    for symbol in word:
        if kept and kept[-1] == symbol ^ 1 and _is_orthogonal(symbol):
            kept.pop()
        else:
            kept.append(symbol)
    return bytes(kept)


def _is_orthogonal(symbol: int) -> bool:
    return symbol >> 1 in ORTHOGONAL


@cache
def cyclic(word: Word) -> Word:
    """The one word that stands for all of the same trace: rotated, transposed, orthogonal neighbours cancelled."""
    word = reduced(word)
    while len(word) > 1 and word[0] == word[-1] ^ 1 and _is_orthogonal(word[0]):
        word = word[1:-1]
    return min((turned for way in (word, transposed(word)) for turned in _rotations(way)), default=word)


def _rotations(word: Word) -> list[Word]:
    """The rotations that start with the smallest letter; the least word is among them."""
    twice, first = word + word, min(word, default=0)
    return [twice[start : start + len(word)] for start, symbol in enumerate(word) if symbol == first]


def gaussian_mean(words: tuple[Word, ...]) -> Mapping[Loops, int]:
    """`E ∏ tr(word)` over the Gaussian matrices, as integer multiples of `h^p n^q ∏ tr(Z^k)`.

    `E tr(A Aᵀ A Aᵀ) = 2h³ + h²`, `E tr(A Z A Z) = tr(Zᵀ Z) = h`, and `E tr(A Z Aᵀ Z) = (tr Z)²`. With `n × h` matrices
    `X`, `E tr(X Xᵀ) = hn`. An empty word is `tr(I) = h`.

    >>> A, B, Z, X = letter(64), letter(64, True), letter(0), letter(96)
    >>> gaussian_mean((A + B + A + B,)) == {(3, 0, ()): 2, (2, 0, ()): 1}
    True
    >>> gaussian_mean((A + Z + A + Z,)), gaussian_mean((A + Z + B + Z,))
    ({(1, 0, ()): 1}, {(0, 0, (1, 1)): 1})
    >>> gaussian_mean((X + transposed(X),))
    {(1, 1, ()): 1}
    """
    canonical = sorted(map(cyclic, words))
    empty = canonical.count(b"")
    return {(p + empty, q, traces): count for (p, q, traces), count in _paired(tuple(canonical[empty:])).items()}


@cache
def _paired(words: tuple[Word, ...]) -> Mapping[Loops, int]:
    """`gaussian_mean` of cyclic words, sorted, none empty."""
    often = Counter(symbol >> 1 for word in words for symbol in word if not _is_orthogonal(symbol))
    if not often:
        return {(0, 0, tuple(sorted(map(_power, words)))): 1}
    if any(count % 2 for count in often.values()):
        return {}
    rarest = min(often, key=lambda matrix: (often[matrix], matrix))  # the fewest partners
    index, position = next((i, p) for i, word in enumerate(words) for p, s in enumerate(word) if s >> 1 == rarest)
    first, others = words[index], words[:index] + words[index + 1 :]
    same, rest = first[position], first[position + 1 :] + first[:position]
    left: Counter[tuple[int, tuple[Word, ...]]] = Counter()  # the power of n, and the words
    for p, symbol in enumerate(rest):
        if symbol >> 1 == rarest:
            before, after = rest[:p], rest[p + 1 :]
            if symbol == same:
                left[0, (*others, transposed(before) + after)] += 1
            else:
                samples, both = _closed((before, after) if same % 2 == 0 else (after, before), rarest)
                left[samples, (*others, *both)] += 1
    for i, other in enumerate(others):
        for p, symbol in enumerate(other):
            if symbol >> 1 == rarest:
                joined = (transposed(rest) if symbol == same else rest) + other[p + 1 :] + other[:p]
                left[0, (*others[:i], *others[i + 1 :], joined)] += 1
    total: Counter[Loops] = Counter()
    for (samples, remaining), times in left.items():
        for (p, q, traces), count in gaussian_mean(remaining).items():
            total[p, q + samples, traces] += times * count
    return dict(total)


def _closed(words: tuple[Word, Word], matrix: int) -> tuple[int, tuple[Word, ...]]:
    """The power of `n`, and the words left, of two between the columns and between the rows of a Gaussian matrix.

    An empty word whose trace is not `h` is taken out.
    """
    of_columns, of_rows = words
    samples, kept = 0, []
    if of_columns or matrix in Shape.SQUARE.value or matrix in Shape.TALL.value:
        kept.append(of_columns)
    if of_rows or matrix in Shape.SQUARE.value or matrix in Shape.COLUMN.value:
        kept.append(of_rows)
    else:
        samples = 1
    return samples, tuple(kept)


def _power(word: Word) -> int:
    """`k` for a word that is `Z^k` or `Z^{−k}` after cancellation."""
    if len(set(word)) != 1:
        raise InvalidInput("word", list(word), "a trace of two or more orthogonal matrices is left; one is covered")
    return len(word)


def haar_moment(powers: tuple[int, ...]) -> int:
    """`E ∏ tr(Z^k)` over the orthogonal group `O(h)`, for `h >= smallest_size(powers)`.

    >>> haar_moment((2,)), haar_moment((1, 1)), haar_moment((3,)), haar_moment((2, 2))
    (1, 1, 0, 3)
    """
    if any(power < 1 for power in powers):
        raise InvalidInput("powers", powers, "give positive powers; tr Z^0 is the size, and Z^-k has the trace of Z^k")
    return prod(_matched(length, count) for length, count in Counter(powers).items())


def _matched(length: int, count: int) -> int:
    """The fixed matchings of the points of `count` cycles of one `length`; `m` is how many pairs of cycles match."""
    return sum(
        comb(count, 2 * m) * prod(range(1, 2 * m, 2)) * length**m
        for m in range(count // 2 + 1)
        if length % 2 == 0 or 2 * m == count
    )


def smallest_size(powers: tuple[int, ...]) -> int:
    """From which `h` on `haar_moment(powers)` is proved: `⌈K/2⌉`, or 1 for one trace, or none.

    >>> smallest_size((7,)), smallest_size((1, 1)), smallest_size((1, 1, 1, 1))
    (1, 1, 2)
    """
    return 1 if len(powers) <= 1 else max(1, (sum(powers) + 1) // 2)
