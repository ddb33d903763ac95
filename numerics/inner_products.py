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
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

from . import features, kernels
from .angles import SPHERE_SLACK, Points
from .data import as_integer, as_points, as_reals, real_number
from .tangent_hierarchy import along_gradients

Array = NDArray[np.float64]

PARALLEL = 1e-12  # of 1 − r², below which two points are taken to be equal or opposite
SEEN = 1e-5  # of a change, the most that mirrors may move it: ten times less than the digits that are promised
FLOOR = 1e-10  # of the parts of a change, where these cancel
MIRRORS = 2
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)  # exact to rounding for what decays at most like e^{−s}


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

    A row of `X` that is a training point up to the rounding of its normalisation (`SPHERE_SLACK`) is taken to be it.

    Close training points with unlike residuals make `q` large, and rounding counts `q²` times. So all is computed
    again for the mirror images of the points, for which it is the same. At a distance of 1e-4 about four digits are
    left; a result that moves by more than `SEEN` is refused.

    Raises `InvalidInput` for numbers or points that are not finite, do not match or overflow, `t < 0`, a depth that is
    no integer from 1 to 10000, points off the unit sphere, where two points are opposite or two training points equal,
    and where points are so close that fewer than four digits of the mean and the variance can be expected. Where parts
    of them cancel, they are known to `FLOOR` of these parts only.

    >>> found = change(np.eye(3)[:1], [1.0], [0.0], np.eye(3)[:1])
    >>> found.mean.round(6), found.variance.round(6)
    (array([[0.5]]), array([[0.]]))
    """
    train, layers, time = as_points("X_train", X_train), features.as_depth(depth), features.as_time(t)
    points, own = _distinct(train, as_points("X", X, train.shape[1]))
    given, labels = _as_outputs("f0", f0, len(train)), _as_outputs("y", y, len(train))
    if len(given) != len(labels) and min(len(given), len(labels)) > 1:
        raise InvalidInput("f0, y", (given.shape, labels.shape), "give as many rows of one as of the other, or one row")

    def law(at: Array) -> _Law:
        kernel, residual = kernels.ntk(at[: len(train)], depth=layers), given - labels
        q = features.integrated_residual(kernel, residual, time)
        return _law(at, own, q, _integrated(kernel, residual, time), given, layers)

    found = _resolved(law, points, own, len(train), "y, f0")
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
    train, layers = as_points("X_train", X_train), features.as_depth(depth)
    points, own = _distinct(train, as_points("X", X, train.shape[1]))
    n = len(train)
    given, sums = _as_outputs("f0", f0, n), features.as_numbers("q", q, n)
    course = _as_matrix("products", products, n)
    every = np.tile(sums, (len(given), 1)), np.tile(course, (len(given), 1, 1))
    found = _resolved(lambda at: _law(at, own, *every, given, layers), points, own, n, "q, products, f0")
    return found if np.ndim(f0) > 1 else Change(found.mean[0], found.variance[0])


class _Law(NamedTuple):
    """`Change`, both `(batch, k, k)`, and the size of the parts of which the mean, and squared the variance, is made.

    Rounding may have made the variance negative.
    """

    mean: Array
    variance: Array
    size: Array


def _law(points: Array, own: list[int], q: Array, course: Array, given: Array, depth: int) -> _Law:
    """For `q (batch, n)`, `I (batch, n, n)` and `f_0 (batch, n)`."""
    n = given.shape[1]
    layers = [*features.layers(Points.of(points), depth)]
    covariance = kernels.nngp(points[:n], depth=depth)  # of f_0
    least = np.abs(q).sum(axis=1) / 100  # where all parts are zero but for rounding
    law = _Law(*np.empty((3, len(q), len(own), len(own))))
    for x, x2 in zip(*np.triu_indices(len(own)), strict=True):
        along = along_gradients(layers, n, own[x], own[x2])
        shared = -q @ along.shared
        explained = np.linalg.solve(covariance, shared.T).T
        first = (explained * given).sum(axis=1)
        second = np.einsum("bik,ik->b", course, along.course) + np.einsum("bi,bk,ik->b", q, q, along.both)
        spread = np.einsum("bi,bk,ik->b", q, q, along.variance)
        found = (
            first + second,
            spread - (explained * shared).sum(axis=1),
            least + abs(first) + abs(second) + np.sqrt(abs(spread)),
        )
        for matrices, values in zip(law, found, strict=True):
            matrices[:, x, x2] = matrices[:, x2, x] = values
    return law


def _resolved(law: Callable[[Array], _Law], points: Array, own: list[int], n: int, numbers: str) -> Change:
    """The law at the points, if it is seen to have its digits; `numbers` are the arguments that may overflow."""
    rng = np.random.default_rng(0)  # any mirrors will do
    with np.errstate(over="ignore", invalid="ignore"):
        mean, variance, size = found = law(points)
        _refuse_overflow(numbers, *found)
        mirrored = [law(_mirrored(points, rng.normal(size=points.shape[1]))) for _ in range(MIRRORS)]
        allowed = SEEN * np.maximum(variance, 0.0) + FLOOR * np.square(size)
        unclear = variance < -allowed
        for other in mirrored:
            unclear |= ~(abs(other.variance - variance) <= allowed)
            scale = SEEN * (abs(mean) + np.sqrt(np.maximum(variance, 0.0))) + FLOOR * size
            unclear |= ~(abs(other.mean - mean) <= scale)
    if unclear.any():
        cosine = abs(points @ points.T) - 2 * np.eye(len(points))
        pair = divmod(int(cosine.argmax()), len(points))
        names = ", ".join(f"X_train[{index}]" if index < n else f"X[{own.index(index)}]" for index in pair)
        one, two = points[[*pair]]
        apart = min(np.linalg.norm(one - two), np.linalg.norm(one + two))
        remedy = f"{apart:.2g} from equal or opposite: rounding leaves fewer than four digits; give one, or others"
        raise InvalidInput(names, points[[*pair]], remedy)
    return Change(mean, np.maximum(variance, 0.0))


def _mirrored(points: Array, normal: Array) -> Array:
    """The mirror images of points of the sphere in the plane with this normal vector."""
    images = points - np.outer(points @ normal, 2 * normal / (normal @ normal))
    return images / np.linalg.norm(images, axis=1)[:, None]


def integrated_product(kernel: Array, residual: Array, t: float) -> Array:
    """`I = ∫₀ᵗ r_s Q_sᵀ ds` with `Q_s = ∫₀ˢ r`, for a kernel `(n, n)`, `r_0 (…, n)` and `0 <= t <= ∞`: `(…, n, n)`.

    Null directions of the kernel are left out, as in `features.integrated_residual`. Raises `InvalidInput` for numbers
    that are not finite, do not match or overflow, a kernel with a negative eigenvalue, and `t < 0`.

    >>> integrated_product(np.eye(1), np.ones(1), math.inf)
    array([[0.5]])
    """
    start = as_reals("residual", residual)
    if start.ndim == 0 or start.size == 0 or not np.isfinite(start).all():
        raise InvalidInput("residual", residual, "give finite numbers, one for each training point")
    matrix = _as_matrix("kernel", kernel, start.shape[-1])
    rates = np.linalg.eigvalsh(matrix)
    if rates[0] < -features.NULL * len(rates) * abs(rates).max():
        raise InvalidInput("kernel", kernel, f"has the eigenvalue {rates[0]:.3g}; give a positive semidefinite one")
    with np.errstate(over="ignore", invalid="ignore"):
        product = _integrated(matrix, start, features.as_time(t))
    _refuse_overflow("kernel, residual, t", product)
    return product


def _integrated(kernel: Array, residual: Array, t: float) -> Array:
    """`integrated_product`, unchecked."""
    rates, modes = np.linalg.eigh(kernel)
    moves = rates > features.NULL * len(kernel) * max(rates[-1], 0.0)
    start = np.where(moves, residual @ modes, 0.0)
    course = _course(np.where(moves, rates, 1.0), t)
    return modes @ (start[..., :, None] * start[..., None, :] * course) @ modes.T


def _course(rates: Array, t: float) -> Array:
    """`∫₀ᵗ e^{−as} (1 − e^{−bs})/b ds` for all pairs `a, b` of the rates, which are positive."""
    a, b = rates[:, None], rates
    late = (-np.expm1(-a * t) / a + np.exp(-a * t) * np.expm1(-b * t) / b) / (a + b)
    early = (a + b) * t < 1  # there the difference above cancels
    if not early.any():
        return late
    s = t * (NODES + 1) / 2
    grown = -np.expm1(-rates[:, None] * s) / rates[:, None]
    return np.where(early, t / 2 * (np.exp(-rates[:, None] * s) * WEIGHTS) @ grown.T, late)


def summed_product(kernel: Array, residual: Array, learning_rate: float, steps: int) -> tuple[Array, Array]:
    """`q = η Σ_s r_s` and `I = η² Σ_{s' < s} r_s r_s'ᵀ` of gradient descent, `(n,)` and `(n, n)`.

    Raises `InvalidInput` for numbers that are not finite, do not match or overflow, `η <= 0`, and `steps` that are no
    integer `>= 0`.

    >>> summed_product(np.eye(1), np.ones(1), 0.5, 2)
    (array([0.75]), array([[0.125]]))
    """
    n = as_reals("residual", residual).size
    start, matrix = features.as_numbers("residual", residual, n), _as_matrix("kernel", kernel, n)
    if not 0 < real_number(learning_rate) < math.inf:
        raise InvalidInput("learning_rate", learning_rate, "give a finite positive number")
    q, course = np.zeros(n), np.zeros((n, n))
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(as_integer("steps", steps, 0)):
            step = real_number(learning_rate) * (start - matrix @ q)
            course += np.outer(step, q)
            q = q + step
    _refuse_overflow("kernel, residual, learning_rate", q, course)
    return q, course


def _refuse_overflow(arguments: str, *results: Array) -> None:
    if not all(np.isfinite(result).all() for result in results):
        raise InvalidInput(arguments, "numbers whose products overflow float64", "give smaller ones")


def _as_matrix(argument: str, value: ArrayLike, n: int) -> Array:
    """`n` rows of `n` finite numbers."""
    matrix = as_reals(argument, value)
    if matrix.shape != (n, n) or not np.isfinite(matrix).all():
        raise InvalidInput(argument, value, f"give {n} rows of {n} finite numbers")
    return matrix


def _as_outputs(argument: str, value: ArrayLike, n: int) -> Array:
    """`(n,)` or `(batch, n)` finite numbers, as `(batch, n)`."""
    array = as_reals(argument, value)
    if array.ndim not in (1, 2) or array.size == 0 or array.shape[-1] != n or not np.isfinite(array).all():
        raise InvalidInput(argument, value, f"give {n} finite numbers, one for each training point, or rows of them")
    return np.atleast_2d(array)


def _distinct(train: Array, tested: Array) -> tuple[Array, list[int]]:
    """The training points, then the others that are different, and for each row of `tested` which of them it is."""
    points, own = [*train], []
    for name, rows in (("X_train", train), ("X", tested)):
        off = np.abs(np.square(rows).sum(axis=1) - 1) > SPHERE_SLACK
        if off.any():
            raise InvalidInput(f"{name}[{off.argmax()}]", rows[off.argmax()], "give points of the unit sphere")
    for row in tested:
        same = np.flatnonzero(np.linalg.norm(np.stack(points) - row, axis=1) <= SPHERE_SLACK)
        own.append(int(same[0]) if same.size else len(points))
        points += [] if same.size else [row]
    distinct = np.stack(points)
    cosine = distinct @ distinct.T
    parallel = np.triu(1 - np.square(cosine) < PARALLEL, 1)
    if parallel.any():
        remedy = "give different points of which no two are opposite"
        raise InvalidInput("X_train, X", distinct[[*np.argwhere(parallel)[0]]], remedy)
    return distinct, own
