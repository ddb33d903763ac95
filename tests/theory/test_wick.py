"""Wick calculus, against the sum over all matrix entries, and against the groups O(1), O(2), O(3) written out."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import ceil, log, prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from theory.errors import InvalidInput
from theory.wick import (
    cyclic,
    gaussian_mean,
    haar_moment,
    letter,
    reduced,
    smallest_size,
    transposed,
)

Z, A, B = 0, 64, 65  # numbers of matrices: the first orthogonal, the others Gaussian
U, X, Y, V = 80, 96, 97, 112  # Gaussian: h × 1; n × h, twice; n × 1

ROTATED = {  # an orthogonal matrix of each size, without symmetries, in rational numbers
    1: [[Fraction(-1)]],
    2: [[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]],
    3: [[Fraction(entry, 3) for entry in row] for row in ([2, -1, 2], [2, 2, -1], [-1, 2, 2])],
}


def entry(symbol: int, row: int, column: int) -> tuple[int, int, int]:
    return (symbol >> 1, column, row) if symbol & 1 else (symbol >> 1, row, column)


def rows(symbol: int, size: int, samples: int) -> int:
    """The number of rows of a letter, `samples` for `n`."""
    of_matrix = {X: (samples, size), Y: (samples, size), U: (size, 1), V: (samples, 1)}.get(symbol >> 1, (size, size))
    return of_matrix[symbol & 1]


def mean_by_entries(words: tuple[bytes, ...], size: int, samples: int = 1) -> Fraction:
    """`E ∏ tr(word)` as the sum over all indices, with `E g^{2k} = (2k−1)!!` for each entry; `Z` is fixed."""
    total = Fraction(0)
    ranges = [[range(rows(symbol, size, samples)) for symbol in word] or [range(size)] for word in words]
    for indices in product(*(product(*of_word) for of_word in ranges)):
        times, value = Counter(), Fraction(1)
        for word, index in zip(words, indices, strict=True):
            for symbol, row, column in zip(word, index, (*index[1:], index[0]), strict=False):
                matrix, i, j = entry(symbol, row, column)
                if matrix == Z:
                    value *= ROTATED[size][i][j]
                else:
                    times[matrix, i, j] += 1
        if all(count % 2 == 0 for count in times.values()):
            total += value * prod(prod(range(1, count, 2)) for count in times.values())
    return total


def trace_of_power(size: int, power: int) -> Fraction:
    matrix = np.array(ROTATED[size], dtype=object)
    return sum(np.diag(np.linalg.matrix_power(matrix, power)), Fraction(0))


@st.composite
def word_products(draw, pairs: int, turns: int) -> tuple[bytes, ...]:
    """Words in which each Gaussian matrix occurs an even number of times; some may be empty."""
    symbols = b""
    for matrix in draw(st.lists(st.sampled_from([A, B]), min_size=1, max_size=pairs)):
        symbols += letter(matrix, draw(st.booleans())) + letter(matrix, draw(st.booleans()))
    for turned in draw(st.lists(st.booleans(), max_size=turns)):
        symbols += letter(Z, turned)
    shuffled = bytes(draw(st.permutations(list(symbols))))
    first, second = sorted(draw(st.tuples(*[st.integers(0, len(shuffled))] * 2)))
    return shuffled[:first], shuffled[first:second], shuffled[second:]


def check_by_entries(words: tuple[bytes, ...], size: int, samples: int = 1) -> None:
    mean = sum(
        count * size**p * samples**q * prod((trace_of_power(size, k) for k in traces), start=Fraction(1))
        for (p, q, traces), count in gaussian_mean(words).items()
    )
    assert mean == mean_by_entries(words, size, samples)


@settings(max_examples=120, deadline=None)
@given(word_products(pairs=4, turns=2), st.sampled_from([1, 2]))
def test_gaussian_mean_is_the_sum_over_entries(words, size):
    check_by_entries(words, size)


@settings(max_examples=25, deadline=None)
@given(word_products(pairs=2, turns=2))
def test_gaussian_mean_is_the_sum_over_entries_of_matrices_of_size_3(words):
    check_by_entries(words, 3)


def test_moments_of_a_wishart_matrix():
    """`E tr(AAᵀ)³ = 5h⁴ + 6h³ + 4h²`: the sum over entries at three sizes determines the three coefficients."""
    word = (letter(A) + letter(A, True)) * 3
    for size in (1, 2, 3):
        assert 5 * size**4 + 6 * size**3 + 4 * size**2 == mean_by_entries((word,), size)
    assert gaussian_mean((word,)) == {(4, 0, ()): 5, (3, 0, ()): 6, (2, 0, ()): 4}


def spelled(word: str) -> bytes:
    """The word of letters by name, in lower case if transposed."""
    return b"".join(letter({"A": A, "Z": Z, "X": X, "Y": Y, "U": U, "V": V}[c.upper()], c.islower()) for c in word)


@pytest.mark.parametrize(
    "words", ["Xx", "xX Xx", "XxXx", "XAxYAy", "XyYx Uu", "XUvXUv", "uAxV vXaU", "XZxXZx", "uZUuzU vV"]
)
@pytest.mark.parametrize(("size", "samples"), [(2, 1), (1, 3), (2, 3)])
def test_matrices_of_other_shapes(words, size, samples):
    check_by_entries(tuple(map(spelled, words.split())), size, samples)


@given(word_products(pairs=4, turns=3), st.integers(0, 11))
def test_the_trace_does_not_see_rotation_transposition_and_cancellation(words, turn):
    word = words[0] + words[2]
    turned = word[turn % max(1, len(word)) :] + word[: turn % max(1, len(word))]
    assert cyclic(turned) == cyclic(transposed(word)) == cyclic(word)
    assert cyclic(letter(Z) + word + letter(Z, True)) == cyclic(word)
    assert reduced(letter(Z, True) + letter(Z) + word) == reduced(word)


def test_a_matrix_that_occurs_an_odd_number_of_times_has_mean_zero():
    assert gaussian_mean((letter(A) * 3 + letter(B),)) == {}


def on_the_circle(powers: tuple[int, ...], of_one: list[tuple[int, int]]) -> Counter:
    """`∏_k Σ c z^{kj}` over the terms `(j, c)` of one trace, as a Laurent polynomial in `z = e^{iφ}`."""
    total = Counter({0: 1})
    for power in powers:
        total_of_next: Counter = Counter()
        for exponent, count in total.items():
            for j, c in of_one:
                total_of_next[exponent + power * j] += count * c
        total = total_of_next
    return total


def exact_haar_moment(powers: tuple[int, ...], size: int) -> Fraction:
    """From the groups: `±1`; rotations and reflections of the plane; `±R` for rotations `R` of space.

    A rotation of the plane by `φ` has the trace `z + 1/z`, a reflection the eigenvalues `1, −1`; a rotation of space
    has the trace `1 + z + 1/z`, and its angle the density `(1 − cos φ)/2π`.
    """
    even = sum(powers) % 2 == 0
    if size == 1:
        return Fraction(even)
    if size == 2:
        rotations = on_the_circle(powers, [(1, 1), (-1, 1)])[0]
        return Fraction(rotations + prod(1 + (-1) ** power for power in powers), 2)
    of_angle = on_the_circle(powers, [(0, 1), (1, 1), (-1, 1)])
    return even * (of_angle[0] - Fraction(of_angle[1] + of_angle[-1], 2))


TRACES = [powers for count in (1, 2, 3, 4) for powers in combinations_with_replacement(range(1, 7), count)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_haar_moments_of_small_groups(size):
    covered = [powers for powers in TRACES if smallest_size(powers) <= size]
    assert len(covered) > 6
    assert [haar_moment(powers) for powers in covered] == [exact_haar_moment(powers, size) for powers in covered]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_range_of_sizes_matters(size):
    """Among the products of one degree beyond the range there is one whose moment is another."""
    beyond = [powers for powers in TRACES if sum(powers) == 2 * size + 2 and smallest_size(powers) == size + 1]
    assert any(haar_moment(powers) != exact_haar_moment(powers, size) for powers in beyond)


@pytest.mark.parametrize(("powers", "size"), [((1, 1), 4), ((2, 2), 4), ((1, 1, 2), 4), ((1, 1, 1, 1), 5), ((2, 4), 6)])
def test_haar_moments_of_larger_groups(powers, size):
    """Sampled matrices, false alarms below 1e−9.

    The median of the means of `k = 8 ln 10⁹` groups of `m` samples is off by more than `2σ/√m` with probability at most
    `e^{−k/8}`: by Chebyshev one group is with ¼, by Hoeffding half of them with `e^{−k/8}`. `σ` is a moment too.
    """
    groups, of_each = ceil(8 * log(1e9)), 1200
    matrices = ortho_group.rvs(size, size=groups * of_each, random_state=np.random.default_rng(614))
    traces = [np.trace(np.linalg.matrix_power(matrices, power), axis1=1, axis2=2) for power in powers]
    means = np.prod(traces, axis=0).reshape(groups, of_each).mean(axis=1)
    assert smallest_size(powers * 2) <= size
    deviation = sqrt(haar_moment(powers * 2) - haar_moment(powers) ** 2)
    assert abs(np.median(means) - haar_moment(powers)) < 2 * deviation / sqrt(of_each)


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput, match="matrix = 128"):
        letter(128)
    with pytest.raises(InvalidInput, match="powers"):
        haar_moment((2, 0))
    with pytest.raises(InvalidInput, match="two or more orthogonal matrices"):
        gaussian_mean((letter(0) + letter(1),))
