r"""The law of the change of `⟨h_t(x), h_t(x')⟩` in an infinitely wide ReLU network of one hidden layer, given `f_0`.

With `u_k = w_k·x`, `h = φ(u)`, `f = sqrt(2/m) a·h`, trained by the gradient flow of `theory/features.py`, and given the
outputs `f_0` on the training points of the unit sphere, as `m → ∞`

    ⟨h_t(x), h_t(x')⟩ − ⟨h_0(x), h_0(x')⟩ → H(x, x') + H(x', x) + D(x, x'),    H(x, x') = lim ⟨h_0(x), δh_t(x')⟩,

is Gaussian. `D` is `features.deviation`. `H` has three parts, in `r_s = f_s − y`, `Q = ∫ r ds`, `q = Q(t)`, `I = ∫ r Qᵀ
ds`:

1. what is linear in the output weights, `−Σ_i q_i (x'·x_i) sqrt(2/m) Σ_k a_k φ(u_k) φ'(u_k') φ'(u_k(x_i))`: a centred
   Gaussian, jointly with `f_0(z) = sqrt(2/m) Σ_k a_k φ(u_k(z))`, which conditions it;
2. the units that change their sign at `x'`: `Σ_ij q_i q_j (x'·x_i)(x'·x_j) E[φ(u) δ(u') φ'(u_i) φ'(u_j)]`;
3. what the training so far does to its further course: by the output weights `2 Σ_ij I_ij (x'·x_i) E[φ(u) φ'(u')
   φ'(u_i) φ(u_j)]`, by the signs at `x_i` `2 Σ_ij I_ij (x'·x_i)(x_i·x_j) E[φ(u) φ'(u') δ(u_i) φ'(u_j)]`.

All are of the same order. The moments over orthants come from orthant probabilities by Stein's lemma (`Moments`).

Where a unit's sign at a training point changes while it is driven by that point, `φ'` counts one half on the edge. That
is exact where the drive on both sides of the edge keeps its sign, as for one training point, and else an approximation.

Source: beyond W (arXiv:2511.07272), which states that the inner product moves. For `L >= 2` the same parts exist, with
the lower layers' beside them, and are not derived here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

from . import features, kernels
from .angles import SPHERE_SLACK, Points, angles, cosines
from .data import as_points
from .orthants import four, orthant2

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

PLANE = 1e-12  # a determinant of three correlations below which three points are taken to lie in a plane


class Change(NamedTuple):
    """Mean and variance of the Gaussian limit of each change of an inner product; not jointly. See `change`."""

    mean: Array
    variance: Array


def change(X_train: ArrayLike, y: ArrayLike, f0: ArrayLike, X: ArrayLike, *, t: float = math.inf) -> Change:
    """The law of `⟨h_t(x), h_t(x')⟩ − ⟨h_0(x), h_0(x')⟩` given `f_0`, for the rows of `X (k, d)`; one hidden layer.

    With `f0 (n,)`, mean and variance have the shape `(k, k)`; with `f0 (batch, n)`, of many networks, and `y (n,)` or
    `(batch, n)`, the shape `(batch, k, k)`. The time `t` is that of `features.deviation`.

    Raises `InvalidInput` for numbers or points that are not finite or do not match, `t < 0`, points off the unit
    sphere, and where two points are opposite, two training points equal, or three different points in a plane through
    0.

    >>> found = change(np.eye(3)[:1], [1.0], [0.0], np.eye(3)[:1])
    >>> found.mean.round(6), found.variance.round(6)
    (array([[0.5]]), array([[0.]]))
    """
    train = as_points("X_train", X_train)
    points, own = _distinct(train, as_points("X", X, train.shape[1]))
    n, k = len(train), len(own)
    given = _as_outputs("f0", f0, n)
    residual = given - _as_outputs("y", y, n)
    kernel, covariance = kernels.ntk(train, depth=1), kernels.nngp(train, depth=1)  # the second is that of f_0
    q = features.integrated_residual(kernel, residual, features.as_time(t))
    course = integrated_product(kernel, residual, float(t))
    weights = np.linalg.solve(covariance, given.T).T
    moments = Moments.of(points)
    shared = np.array([[moments.with_outputs(x, x2, n) for x2 in own] for x in own])  # of pair, i, z
    shared = np.einsum("bi,xyiz->bxyz", q, shared + shared.swapaxes(0, 1))
    second = np.array([[moments.second_order(x, x2, n) for x2 in own] for x in own])  # of pair, part, i, j
    second = second + second.swapaxes(0, 1)
    first = np.array([[[moments.deviation(x, x2, n), moments.variance(x, x2, n)] for x2 in own] for x in own])
    deviation, spread = np.einsum("bi,bj,xypij->pbxy", q, q, first)
    mean = deviation + np.einsum("bxyz,bz->bxy", shared, weights)
    mean += np.einsum("bi,bj,xyij->bxy", q, q, second[:, :, 0]) + np.einsum("bij,xyij->bxy", course, second[:, :, 1])
    explained = np.einsum("bxyz,zw,bxyw->bxy", shared, np.linalg.inv(covariance), shared)
    shape = (*np.broadcast_shapes(np.shape(f0), np.shape(y))[:-1], k, k)
    return Change(mean.reshape(shape), np.maximum(spread - explained, 0.0).reshape(shape))


def integrated_product(kernel: Array, residual: Array, t: float) -> Array:
    """`I = ∫₀ᵗ r_s Q_sᵀ ds` with `Q_s = ∫₀ˢ r`, for a positive definite kernel `(n, n)`, `r_0 (…, n)`: `(…, n, n)`.

    >>> integrated_product(np.eye(1), np.ones(1), math.inf)
    array([[0.5]])
    """
    rates, modes = np.linalg.eigh(kernel)
    start = residual @ modes
    sums = rates[:, None] + rates
    course = -np.expm1(-rates * t)[:, None] / rates[:, None] + np.expm1(-sums * t) / sums
    return modes @ (start[..., :, None] * (start / rates)[..., None, :] * course) @ modes.T


class Moments(NamedTuple):
    """Gaussian moments over orthants, for points of the sphere with the correlations `r (p, p)`; `far = 1 − r`.

    For a set `S` of different points, by Stein's lemma twice,

        E[u_a u_b 1_S] = r_ab P(S) + Σ_{c ∈ S} r_ac E[δ(u_c) u_b 1_{S∖c}],
        E[δ(u_c) u_b 1_S] = (1/2π) Σ_{e ∈ S} (r_be − r_bc r_ec)/√(1 − r_ce²) P(S∖e | u_c = u_e = 0).
    """

    r: Array
    far: Array

    @classmethod
    def of(cls, points: Array) -> Moments:
        """For different rows; refused where three of them lie in a plane."""
        rows = Points.of(points)
        far = 2 * np.square(np.sin(angles(rows, rows, cosines(rows, rows)) / 2))
        return cls(1 - far, far)

    def with_outputs(self, x: int, x2: int, n: int) -> Array:
        """By `q_i`, the covariance of the linear part of `H(x, x')` with `f_0(z)`, for training points: `(n, n)`."""
        i, z, one, two = _indices(n, x, x2)
        moment = self.second(one, z, np.stack([one, z, two, i], axis=1))
        return -2 * (self.r[x2, i] * moment).reshape(n, n)

    def deviation(self, x: int, x2: int, n: int) -> Array:
        """By `q_i q_j`, `D(x, x')`, `(n, n)`."""
        i, j, one, two = _indices(n, x, x2)
        chance = self._probability(np.stack([one, two, i, j], axis=1))
        return 2 * (self.r[x, i] * self.r[x2, j] * chance).reshape(n, n)

    def variance(self, x: int, x2: int, n: int) -> Array:
        """By `q_i q_j`, the variance of the linear part of `H(x, x') + H(x', x)`, `(n, n)`."""
        i, j, one, two = _indices(n, x, x2)
        orthant = np.stack([one, two, i, j], axis=1)
        total = self.r[x2, i] * self.r[x2, j] * self.second(one, one, orthant)
        total += self.r[x, i] * self.r[x, j] * self.second(two, two, orthant)
        total += 2 * self.r[x2, i] * self.r[x, j] * self.second(one, two, orthant)
        return 2 * total.reshape(n, n)

    def second_order(self, x: int, x2: int, n: int) -> Array:
        """By `q_i q_j`, part 2 of `H(x, x')`; by `I_ij`, part 3: `(2, n, n)`."""
        i, j, one, two = _indices(n, x, x2)
        crossing = self.r[x2, i] * self.r[x2, j] * self.edge(two, one, np.stack([one, i, j], axis=1))
        readout = self.second(one, j, np.stack([one, j, two, i], axis=1))
        signs = self.r[i, j] * self.edge(i, one, np.stack([one, two, j], axis=1), own=(i == x2) & (i == j))
        return np.stack([crossing, 2 * self.r[x2, i] * (readout + signs)]).reshape(2, n, n)

    def second(self, a: Indices, b: Indices, orthant: Indices) -> Array:
        """`E[u_a u_b 1_S]` for rows `S` of `orthant (m, 4)`, in which points may occur more than once."""
        result = self.r[a, b] * self._probability(orthant)
        for rows, kept in _patterns(orthant):
            for c in kept:
                rest = orthant[np.ix_(rows, kept[kept != c])]
                where = orthant[rows, c]
                result[rows] += self.r[a[rows], where] * self._edge(where, b[rows], rest)
        return result

    def edge(self, c: Indices, b: Indices, orthant: Indices, own: NDArray[np.bool_] | None = None) -> Array:
        """`E[δ(u_c) u_b 1_S]`; a point of `S` that is `c` itself counts one half, and nothing where `own` is true."""
        result = np.zeros(len(c))
        contact = orthant == c[:, None]
        for rows, kept in _patterns(orthant, contact):
            result[rows] = self._edge(c[rows], b[rows], orthant[np.ix_(rows, kept)])
        result *= np.where(contact.any(axis=1), 0.5, 1.0)
        return result if own is None else np.where(own, 0.0, result)

    def _edge(self, c: Indices, b: Indices, rest: Indices) -> Array:
        total = np.zeros(len(c))
        for column in range(rest.shape[1]):
            e = rest[:, column]
            others = np.delete(rest, column, axis=1)
            slope = self.r[b, e] - self.r[b, c] * self.r[c, e]
            total += slope / np.sqrt(self.far[c, e] * (2 - self.far[c, e])) * self._given_two(c, e, others)
        return total / (2 * np.pi)

    def _given_two(self, c: Indices, e: Indices, others: Indices) -> Array:
        """The probability that the others, at most two, are positive where `u_c = u_e = 0`."""
        if others.shape[1] < 2:
            return np.full(len(c), 0.5 ** others.shape[1])
        r, (f, g) = self.r, others.T
        t = r[c, e]
        square = 1 - t * t

        def covariance(a: Indices, b: Indices) -> Array:
            mixed = t * (r[a, c] * r[b, e] + r[a, e] * r[b, c])
            return r[a, b] - (r[a, c] * r[b, c] + r[a, e] * r[b, e] - mixed) / square

        correlation = covariance(f, g) / np.sqrt(covariance(f, f) * covariance(g, g))
        return orthant2(np.clip(correlation, -1.0, 1.0))

    def _probability(self, orthant: Indices) -> Array:
        """Of all the points of each row being positive; equal points do no harm."""
        far = [self.far[orthant[:, i], orthant[:, j]] for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))]
        return four(*far)


def _indices(n: int, x: int, x2: int) -> tuple[Indices, Indices, Indices, Indices]:
    """All pairs of training points, and as often the points `x` and `x'`."""
    i, j = (index.ravel() for index in np.indices((n, n)))
    return i, j, np.full_like(i, x), np.full_like(i, x2)


def _as_outputs(argument: str, value: ArrayLike, n: int) -> Array:
    """`(n,)` or `(batch, n)` finite numbers, as `(batch, n)`."""
    array = np.asarray(value)
    rows = array if array.ndim == 2 and len(array) else [value]
    return np.stack([features.as_numbers(argument, row, n) for row in rows])


def _patterns(orthant: Indices, dropped: NDArray[np.bool_] | None = None) -> Iterator[tuple[Indices, Indices]]:
    """The rows in which the same columns repeat an earlier one or are `dropped`, with the columns that remain."""
    width = orthant.shape[1]
    gone = np.stack([(orthant[:, :column] == orthant[:, column, None]).any(axis=1) for column in range(width)], axis=1)
    codes = (gone if dropped is None else gone | dropped) @ (1 << np.arange(width))
    for code in np.unique(codes):
        yield np.flatnonzero(codes == code), np.flatnonzero(~(code >> np.arange(width)) & 1)


def _distinct(train: Array, tested: Array) -> tuple[Array, list[int]]:
    """The training points, then the others that are different, and for each row of `tested` which of them it is."""
    points, own = [*train], []
    for name, rows in (("X_train", train), ("X", tested)):
        off = np.abs(np.square(rows).sum(axis=1) - 1) > SPHERE_SLACK
        if off.any():
            raise InvalidInput(f"{name}[{off.argmax()}]", rows[off.argmax()], "give points of the unit sphere")
    for row in tested:
        same = [index for index, point in enumerate(points) if np.array_equal(point, row)]
        own.append(same[0] if same else len(points))
        points += [] if same else [row]
    distinct = np.stack(points)
    gram = distinct @ distinct.T
    for size in (2, 3):
        for rows in combinations(range(len(points)), size):
            if np.linalg.det(gram[np.ix_(rows, rows)]) < PLANE:
                remedy = "give different points of which no two are opposite and no three lie in a plane through 0"
                raise InvalidInput("X_train, X", distinct[list(rows)], remedy)
    return distinct, own
