r"""Second moments of Gaussian variables over an orthant, and on its edges, from orthant probabilities.

For centred, jointly Gaussian `u_1..u_p` of unit variance and pairwise correlations `r_ab ∈ (−1, 1)`, two more, `a` and
`b`, given by their covariances with these, and a set `S` of different points, Stein's lemma gives

    E[a b 1_S] = cov(a, b) P(S) + Σ_{c ∈ S} cov(a, u_c) E[δ(u_c) b 1_{S∖c}],
    E[δ(u_c) b 1_S] = (1/2π) Σ_{e ∈ S} (cov(b, u_e) − cov(b, u_c) r_ec)/√(1 − r_ce²) P(S∖e | u_c = u_e = 0),

where `1_S` says that all `u_e`, `e ∈ S`, are positive. `S` has at most four points, the second one three besides `c`.

Where three points lie in a plane, two of them are one and the same on the edge of the third, or opposite: the first
count once, the second make the orthant empty. Where they nearly do, this and rounding leave an error of the order of
1e-6, the root of `PLANE`. Where points are close, rounding counts as often as the distance goes into 1. Neither is a
bound: who multiplies by large numbers looks at what becomes of them, as `numerics/inner_products.py` does.

Source: Stein's lemma; Plackett, *A reduction formula for normal multivariate integrals* (1954).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .orthants import four, orthant2

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of a covariance given two points, where these are far apart
PLANE = 1e-11  # of 1 − r², for two points given a third: nearer to a plane, rounding errs more than the plane does


class OrthantMoments(NamedTuple):
    """For points with the correlations `r (p, p)`; `far = 1 − r`, which is known better where points are close.

    Sets `S` are rows of `orthant (m, w)`, in which points may occur more than once.
    """

    r: Array
    far: Array

    @classmethod
    def of(cls, far: Array) -> OrthantMoments:
        """From `1 − r`, for different points of which no two are opposite."""
        return cls(1 - far, far)

    def probability(self, orthant: Indices) -> Array:
        """`P(S)`.

        >>> OrthantMoments.of(1 - np.eye(2)).probability(np.array([[0, 1, 1]]))
        array([0.25])
        """
        result = np.empty(len(orthant))
        for rows, kept in _patterns(orthant):
            s = orthant[np.ix_(rows, np.resize(kept, 4))]  # equal points do no harm
            pairs = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
            result[rows] = four(*(self.far[s[:, i], s[:, j]] for i, j in pairs))
        return result

    def second(self, a: Indices, b: Indices, orthant: Indices) -> Array:
        """`E[u_a u_b 1_S]`.

        >>> OrthantMoments.of(1 - np.eye(2)).second(np.array([0]), np.array([0]), np.array([[0, 1]]))
        array([0.25])
        """
        return self.second_of(self.r[a, b], self.r[a[:, None], orthant], self.r[b[:, None], orthant], orthant)

    def second_of(self, product: Array, a: Array, b: Array, orthant: Indices) -> Array:
        """`E[a b 1_S]` of other variables: `product` is `cov(a, b) (m,)`, `a` and `b` are those with `S`, `(m, w)`."""
        result = product * self.probability(orthant)
        for rows, kept in _patterns(orthant):
            for c in kept:
                rest = np.ix_(rows, kept[kept != c])
                result[rows] += a[rows, c] * self._edge(orthant[rows, c], b[rows, c], b[rest], orthant[rest])
        return result

    def edge(self, c: Indices, b: Indices, orthant: Indices, own: NDArray[np.bool_] | None = None) -> Array:
        """`E[δ(u_c) u_b 1_S]`; a point of `S` that is `c` itself counts one half, and nothing where `own` is true."""
        result = self.edge_of(c, self.r[b, c], self.r[b[:, None], orthant], orthant)
        return result if own is None else np.where(own, 0.0, result)

    def edge_of(self, c: Indices, at: Array, b: Array, orthant: Indices) -> Array:
        """`E[δ(u_c) b 1_S]` of another variable: `at (m,)` is `cov(b, u_c)`, `b (m, w)` are those with `S`."""
        result = np.zeros(len(c))
        contact = orthant == c[:, None]
        for rows, kept in _patterns(orthant, contact):
            rest = np.ix_(rows, kept)
            result[rows] = self._edge(c[rows], at[rows], b[rest], orthant[rest])
        return result * np.where(contact.any(axis=1), 0.5, 1.0)

    def _edge(self, c: Indices, at: Array, b: Array, rest: Indices) -> Array:
        """The same for sets of different points, without `c`."""
        total = np.zeros(len(c))
        for column in range(rest.shape[1]):
            e = rest[:, column]
            slope = b[:, column] - at * self.r[c, e]
            chance = self._given_two(c, e, np.delete(rest, column, axis=1))
            total += slope / np.sqrt(self.far[c, e] * (2 - self.far[c, e])) * chance
        return total / (2 * np.pi)

    def _given_two(self, c: Indices, e: Indices, others: Indices) -> Array:
        """The probability that the others, at most two, are positive where `u_c = u_e = 0`.

        Another that is in the plane of `c` and `e` is there as `e` is: it shares with it, or leaves nothing.
        """
        variances = [self._covariance(f, f, c, e) for f in others.T]
        shared, empty = np.ones(len(c)), np.zeros(len(c), dtype=bool)
        flat = np.zeros((len(c), len(variances)), dtype=bool)
        for column, (f, variance) in enumerate(zip(others.T, variances, strict=True)):
            relative = np.max([self._rounding(c, e), self._rounding(f, c), self._rounding(f, e)], axis=0)
            least = np.minimum(self._given(f, f, c), self._given(f, f, e))
            flat[:, column] = variance <= np.maximum(PLANE, relative) * least
            same = self._given(e, f, c) > 0
            shared += flat[:, column] & same
            empty |= flat[:, column] & ~same
        chance = 0.5 ** (~flat).sum(axis=1)
        if len(variances) == 2:
            solid = ~flat.any(axis=1)
            f, g, c, e = (index[solid] for index in (*others.T, c, e))
            one, two = (variance[solid] for variance in variances)
            scale = np.sqrt(one * two)
            cosine = np.clip(self._covariance(f, g, c, e) / scale, -1.0, 1.0)
            rounding = self._rounding(c, e) * np.maximum(one, two) / scale
            in_space = scale * (1 - np.abs(cosine)) <= rounding  # four points of a space of three dimensions
            chance[solid] = orthant2(np.where(in_space, np.sign(cosine), cosine))
        return np.where(empty, 0.0, chance / shared)

    def _covariance(self, a: Indices, b: Indices, c: Indices, e: Indices) -> Array:
        """That of `u_a` and `u_b` given `u_c = u_e = 0`, from their differences to the nearer of `u_c` and `u_e`."""
        nearer = np.minimum(self.far[a, e], self.far[b, e]) < np.minimum(self.far[a, c], self.far[b, c])
        c, e = np.where(nearer, e, c), np.where(nearer, c, e)
        return self._given(a, b, c) - self._given(a, e, c) * self._given(b, e, c) / self._given(e, e, c)

    def _rounding(self, a: Indices, b: Indices) -> Array:
        """The relative error of what depends on `u_a` given `u_b = 0`: `far` says less of nearly opposite points."""
        left = np.maximum(self._given(a, a, b), ROUNDING)
        return ROUNDING / np.where(self.far[a, b] > 1, left, np.sqrt(left))

    def _given(self, a: Indices, b: Indices, c: Indices) -> Array:
        """The covariance of `u_a` and `u_b` given `u_c = 0`, without the cancellation in `r_ab − r_ac r_bc`."""
        to_a, to_b = self.far[a, c], self.far[b, c]
        return to_a + to_b - self.far[a, b] - to_a * to_b


def _patterns(orthant: Indices, dropped: NDArray[np.bool_] | None = None) -> Iterator[tuple[Indices, Indices]]:
    """The rows in which the same columns repeat an earlier one or are `dropped`, with the columns that remain."""
    width = orthant.shape[1]
    gone = np.stack([(orthant[:, :column] == orthant[:, column, None]).any(axis=1) for column in range(width)], axis=1)
    codes = (gone if dropped is None else gone | dropped) @ (1 << np.arange(width))
    for code in np.unique(codes):
        yield np.flatnonzero(codes == code), np.flatnonzero(~(code >> np.arange(width)) & 1)
