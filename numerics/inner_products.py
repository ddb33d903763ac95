r"""The law of the change of `⟨h_t(x), h_t(x')⟩` in an infinitely wide ReLU network of any depth, given `f_0`.

The network and its gradient flow are those of `theory/features.py`, with `h = φ(u^L)`. Given the outputs `f_0` on the
training points of the unit sphere, as the width grows, the change of `G = ⟨h(x), h(x')⟩` is Gaussian,

    G_t − G_0 → −Σ_i q_i F_i + Σ_ik I_ik F_ik,    F_i = ∇G·∇f(x_i),    F_ik = ∇F_i·∇f(x_k),

in `r_s = f_s − y`, `Q_s = ∫₀ˢ r`, `q = Q_t`, `I = ∫₀ᵗ r_s Q_sᵀ ds`, as a third gradient is smaller by a power of the
width. The first part is linear in the output weights: a centred Gaussian, jointly with `f_0`, which conditions it. Its
covariances, and the numbers `F_ik`, are in `numerics/tangent_hierarchy.py`. All are of the same order. They contain
what is called `D` in `numerics/features.py`; for one hidden layer, with `u' = u(x')` and `u_i = u(x_i)`, they are

1. linear: `−Σ_i q_i (x'·x_i) sqrt(2/m) Σ_k v_k φ(u_k) φ'(u_k') φ'(u_ik)`, and the same with `x, x'` exchanged, as also
   in 2 and 3;
2. the units that change their sign at `x'`: `Σ_ij q_i q_j (x'·x_i)(x'·x_j) E[φ(u) δ(u') φ'(u_i) φ'(u_j)]`;
3. what the training so far does to its further course: by the output weights `2 Σ_ij I_ij (x'·x_i) E[φ(u) φ'(u')
   φ'(u_i) φ(u_j)]`, by the signs at `x_i` `2 Σ_ij I_ij (x'·x_i)(x_i·x_j) E[φ(u) φ'(u') δ(u_i) φ'(u_j)]`;
4. `D`, once.

**Approximation.** Where a unit's sign at a training point `x_i` changes while it is driven by that point, `φ'` counts
one half on the edge. For `x, x'` that are not trained this is exact as long as `r` keeps its direction, as for one
training point. At `x' = x_i` the mean is then too small: by `(m/4) E[φ(u) δ(u_i) (−AB)₊]`, where `A` and `B` are how
far a unit is driven above and below the edge. That is nothing for one training point and `L = 1`, and for more of them
at most `q_i² sin ∠(x, x_i)/(16π)`. Where `r` turned, at points that are not trained, the error was measured for `L = 1`
and two training points: about 1 % of the part of second order.

Source: beyond W (arXiv:2511.07272), which states that the inner product moves for `L >= 2`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

from . import features, kernels
from .angles import SPHERE_SLACK, Points
from .data import as_integer, as_points
from .tangent_hierarchy import along_gradients

Array = NDArray[np.float64]

PARALLEL = 1e-12  # of 1 − r², below which two points are taken to be equal or opposite


class Change(NamedTuple):
    """Mean and variance of the Gaussian limit of each change of an inner product; not jointly. See `change`."""

    mean: Array
    variance: Array


def change(
    X_train: ArrayLike, y: ArrayLike, f0: ArrayLike, X: ArrayLike, *, t: float = math.inf, depth: int = 1
) -> Change:
    """The law of `⟨h_t(x), h_t(x')⟩ − ⟨h_0(x), h_0(x')⟩` given `f_0`, for the rows of `X (k, d)`.

    With `f0 (n,)`, mean and variance have the shape `(k, k)`; with `f0 (batch, n)`, of many networks, and `y (n,)` or
    `(batch, n)`, the shape `(batch, k, k)`. The time `t` is that of `features.deviation`, `depth >= 1` the number of
    hidden layers.

    Raises `InvalidInput` for numbers or points that are not finite or do not match, `t < 0`, a depth that is no
    positive integer, points off the unit sphere, and where two points are opposite or two training points equal.

    >>> found = change(np.eye(3)[:1], [1.0], [0.0], np.eye(3)[:1])
    >>> found.mean.round(6), found.variance.round(6)
    (array([[0.5]]), array([[0.]]))
    """
    train = as_points("X_train", X_train)
    points, own = _distinct(train, as_points("X", X, train.shape[1]))
    given, labels = _as_outputs("f0", f0, len(train)), _as_outputs("y", y, len(train))
    kernel = kernels.ntk(train, depth=as_integer("depth", depth, 1))
    q = features.integrated_residual(kernel, given - labels, features.as_time(t))
    found = _law(points, own, q, integrated_product(kernel, given - labels, float(t)), given, depth)
    single = not np.broadcast_shapes(np.shape(f0), np.shape(y))[:-1]
    return Change(found.mean[0], found.variance[0]) if single else found


def change_given(
    X_train: ArrayLike, q: ArrayLike, products: ArrayLike, f0: ArrayLike, X: ArrayLike, *, depth: int = 1
) -> Change:
    """The same for the integrated residuals `q (n,)` and their products `I (n, n)` instead of labels and a time.

    Gradient descent has the sums of `summed_product`. `f0` has the shape `(n,)` or `(batch, n)`. Errors as for
    `change`.

    >>> change_given(np.eye(3)[:1], [-0.5], [[0.125]], [0.0], np.eye(3)[:1]).mean
    array([[0.5]])
    """
    train = as_points("X_train", X_train)
    points, own = _distinct(train, as_points("X", X, train.shape[1]))
    n = len(train)
    given, sums = _as_outputs("f0", f0, n), features.as_numbers("q", q, n)
    course = np.stack([features.as_numbers(f"products[{i}]", row, n) for i, row in enumerate(np.atleast_1d(products))])
    if len(course) != n:
        raise InvalidInput("products", products, f"give {n} rows of {n} numbers")
    found = _law(points, own, np.tile(sums, (len(given), 1)), np.tile(course, (len(given), 1, 1)), given, depth)
    return found if np.ndim(f0) > 1 else Change(found.mean[0], found.variance[0])


def _law(points: Array, own: list[int], q: Array, course: Array, given: Array, depth: int) -> Change:
    """For `q (batch, n)`, `I (batch, n, n)` and `f_0 (batch, n)`: both `(batch, k, k)`."""
    n = given.shape[1]
    layers = [*features.layers(Points.of(points), as_integer("depth", depth, 1))]
    covariance = kernels.nngp(points[:n], depth=depth)  # of f_0
    mean, variance = np.empty((2, len(q), len(own), len(own)))
    for x, x2 in zip(*np.triu_indices(len(own)), strict=True):
        along = along_gradients(layers, n, own[x], own[x2])
        shared = -q @ along.shared
        explained = np.linalg.solve(covariance, shared.T).T
        second = np.einsum("bik,ik->b", course, along.course) + np.einsum("bi,bk,ik->b", q, q, along.both)
        mean[:, x, x2] = mean[:, x2, x] = second + (explained * given).sum(axis=1)
        spread = np.einsum("bi,bk,ik->b", q, q, along.variance) - (explained * shared).sum(axis=1)
        variance[:, x, x2] = variance[:, x2, x] = np.maximum(spread, 0.0)
    return Change(mean, variance)


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


def summed_product(kernel: Array, residual: Array, learning_rate: float, steps: int) -> tuple[Array, Array]:
    """`q = η Σ_s r_s` and `I = η² Σ_{s' < s} r_s r_s'ᵀ` of gradient descent, `(n,)` and `(n, n)`.

    >>> summed_product(np.eye(1), np.ones(1), 0.5, 2)
    (array([0.75]), array([[0.125]]))
    """
    q, course = np.zeros(len(kernel)), np.zeros(np.shape(kernel))
    for _ in range(steps):
        step = learning_rate * (residual - kernel @ q)
        course += np.outer(step, q)
        q = q + step
    return q, course


def _as_outputs(argument: str, value: ArrayLike, n: int) -> Array:
    """`(n,)` or `(batch, n)` finite numbers, as `(batch, n)`."""
    array = np.asarray(value)
    rows = array if array.ndim == 2 and len(array) else [value]
    return np.stack([features.as_numbers(argument, row, n) for row in rows])


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
    cosine = distinct @ distinct.T
    parallel = np.triu(1 - np.square(cosine) < PARALLEL, 1)
    if parallel.any():
        remedy = "give different points of which no two are opposite"
        raise InvalidInput("X_train, X", distinct[[*np.argwhere(parallel)[0]]], remedy)
    return distinct, own
