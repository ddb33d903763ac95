r"""How far the last hidden layer of an infinitely wide ReLU network moves in training: the limit of `⟨δh, δh'⟩`.

The network, the gradient flow on `½ Σ_i (f(x_i) − y_i)²` and the limit are those of `theory/features.py`. With
`h = φ(u^L)` (not normalised), training points `x_1..x_n`, initial residual `r₀ = f₀ − y` and `Θ = Θ^L(X, X)`,

    q_t = ∫₀ᵗ r_s ds = Θ⁻¹ (I − e^{−Θt}) r₀,      D^L(x, x') = lim_{m→∞} ⟨δh_t(x), δh_t(x')⟩,
    D^l = 2 Σ_ij q_i q_j B^l(x_i, x_j) Θ^{l−1}(x, x_i) Θ^{l−1}(x', x_j) P^l(x, x', x_i, x_j) + Σ̇^l D^{l−1},    D⁰ = 0,

for `l = 1..L`, where `B^l = ∏_{k=l+1}^L Σ̇^k` and `P^l` is the orthant probability of the four Gaussians of covariance
`Σ^{l−1}` (`numerics/orthants.py`). Time is that of the flow: a mode of eigenvalue `λ` decays like `e^{−λt}`. Directions
of `r₀` in which the kernel is zero (equal points with different labels) move no parameter, and are left out of `q_t`.

The network is homogeneous, `h(λx) = λ h(x)`: points of any norm are scaled to the sphere, `q_i` by `‖x_i‖`, and the
result by `‖x‖‖x'‖`. A zero vector does not move.

Source: W (arXiv:2511.07272), Proposition 4, which states that the features move; derived in `theory/features.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.activations import ReLU
from theory.errors import InvalidInput

from . import kernels
from .angles import Points, angles, cosines
from .data import as_integer, as_points, real_number
from .orthants import four, three
from .recursions import HomogeneousRecursion

Array = NDArray[np.float64]

DEEPEST = 10_000  # hidden layers: each needs the orthant probabilities of all quadruples
BLOCK = 2**19  # quadruples at a time
NULL = 1e-13  # of the largest eigenvalue, times the number of points: below it is rounding


class Layer(NamedTuple):
    """One layer `l` on pairs of points of the sphere: `1 − Σ^{l−1}`, `Θ^{l−1}` and `Σ̇^l`, matrices of one shape."""

    complement: Array
    ntk: Array
    derivative: Array


def deviation(
    X_train: ArrayLike, y: ArrayLike, f0: ArrayLike, X: ArrayLike, *, t: float = math.inf, depth: int
) -> Array:
    """`lim ⟨δh_t(x), δh_t(x')⟩` for the rows of `X (k, d)`, as the width grows: a symmetric matrix `(k, k)`.

    `X_train (n, d)` are the training points, `y (n,)` their labels, `f0 (n,)` the outputs at initialisation that are
    given, `t >= 0` the time of the flow (`math.inf`: trained to the end), `depth >= 1` the number of hidden layers.

    Raises `InvalidInput` for points or numbers that are not finite or do not match, `t < 0`, a depth that is no integer
    from 1 to 10000.

    >>> deviation(np.eye(2), [1.0, 0.0], [0.0, 0.0], np.eye(2), depth=1).round(6)
    array([[ 0.263163, -0.020942],
           [-0.020942,  0.006666]])
    """
    train = as_points("X_train", X_train)
    residual = as_numbers("f0", f0, len(train)) - as_numbers("y", y, len(train))
    kernel = kernels.ntk(train, depth=as_depth(depth))
    return deviation_given(train, integrated_residual(kernel, residual, as_time(t)), X, depth=depth)


def deviation_given(X_train: ArrayLike, q: ArrayLike, X: ArrayLike, *, depth: int) -> Array:
    """The same for the integrated residuals `q (n,)` instead of a time: then any way of training may have led to them.

    For `k` steps of gradient descent at the rate `η`, `q = η Σ_{s<k} r_s`. Errors as for `deviation`.

    >>> deviation_given([[1.0, 0.0]], [1.0], [[1.0, 0.0], [2.0, 0.0]], depth=1)
    array([[1., 2.],
           [2., 4.]])
    """
    return np.sum(list(_parts(X_train, q, X, depth)), axis=0)


def deviation_layers(X_train: ArrayLike, q: ArrayLike, X: ArrayLike, *, depth: int) -> Array:
    """What each layer adds, `T^l Σ̇^{l+1} ⋯ Σ̇^L` for `l = 1..L`: shape `(L, k, k)`, with the sum `deviation_given`.

    >>> deviation_layers([[1.0, 0.0]], [1.0], [[1.0, 0.0]], depth=3).ravel()
    array([1., 4., 9.])
    """
    return np.stack([*_parts(X_train, q, X, depth)][::-1])


def _parts(X_train: ArrayLike, q: ArrayLike, X: ArrayLike, depth: int) -> Iterator[Array]:
    """The parts of the layers, from the last one down."""
    train = as_points("X_train", X_train)
    points = Points.of(np.concatenate([train, as_points("X", X, train.shape[1])]))
    n, norms = len(train), points.norms
    with np.errstate(over="ignore"):
        moved = as_numbers("q", q, n) * norms[:n]
        weights = np.outer(moved, moved)  # q_i q_j B^l
        above = np.outer(norms[n:], norms[n:])  # Σ̇^{l+1} ⋯ Σ̇^L between the other points
    for layer in reversed(list(layers(points, as_depth(depth)))):
        with np.errstate(over="ignore", invalid="ignore"):
            part = above * _own(layer, weights, n)
        if not np.isfinite(part).all():
            raise InvalidInput("X_train, q, X", "numbers whose products overflow float64", "give smaller ones")
        yield part
        above = above * layer.derivative[n:, n:]
        weights = weights * layer.derivative[:n, :n]


def integrated_residual(kernel: Array, residual: Array, t: float) -> Array:
    """`q_t = ∫₀ᵗ e^{−Θs} r₀ ds` for a kernel `Θ (n, n)`, `r₀ (…, n)` and `0 <= t <= ∞`; null directions left out.

    >>> integrated_residual(np.diag([2.0, 0.0]), np.array([1.0, 1.0]), math.inf)
    array([0.5, 0. ])
    """
    eigenvalues, modes = np.linalg.eigh(kernel)
    moves = eigenvalues > NULL * len(kernel) * max(eigenvalues[-1], 0.0)
    rates = np.where(moves, eigenvalues, 1.0)
    with np.errstate(over="ignore"):
        weights = np.where(moves, -np.expm1(-rates * t) / rates, 0.0)
    return (residual @ modes * weights) @ modes.T


def _own(layer: Layer, weights: Array, n: int) -> Array:
    """`2 Σ_ij w_ij Θ(x, x_i) Θ(x', x_j) P(x, x', x_i, x_j)` on the points after the first `n`."""
    p, reach = layer.complement, layer.ntk[n:, :n]
    x, x2 = np.triu_indices(len(p) - n)
    i, j = np.triu_indices(n, 1)
    total = np.zeros(x.size)
    for k in range(n):  # the pairs i = j: three different points
        total += weights[k, k] * reach[x, k] * reach[x2, k] * three(p[n + x, n + x2], p[n + x, k], p[n + x2, k])
    step = max(1, BLOCK // max(1, i.size))
    for start in range(0, x.size if i.size else 0, step):
        a, b = x[start : start + step, None], x2[start : start + step, None]
        probability = four(
            *np.broadcast_arrays(p[n + a, n + b], p[n + a, i], p[n + a, j], p[n + b, i], p[n + b, j], p[i, j])
        )
        pairs = weights[i, j] * (reach[a, i] * reach[b, j] + reach[a, j] * reach[b, i])
        total[start : start + step] += np.einsum("ab,ab->a", pairs, probability)
    result = np.empty((len(p) - n, len(p) - n))
    result[x, x2] = result[x2, x] = 2 * total
    return result


def layers(points: Points, depth: int) -> Iterator[Layer]:
    """The layers `1..depth`, on all pairs of the points, scaled to the sphere."""
    angle = angles(points, points, cosines(points, points))
    unit = np.ones_like(angle)
    recursion = HomogeneousRecursion(ReLU(), (1.0,) * (depth + 1), (0.0,) * (depth + 1))
    ntk, before = np.zeros_like(angle), np.zeros_like(angle)
    for layer, (_, half_chord, loss) in enumerate(recursion.flow(angle, unit, unit)):
        if layer > 0:
            yield Layer(before, ntk, 1 - loss)
        ntk = ntk * (1 - loss) + (1 - 2 * half_chord)
        before = 2 * half_chord


def as_depth(depth: int) -> int:
    """`depth` itself; `InvalidInput` unless it is an integer from 1 to `DEEPEST`."""
    if as_integer("depth", depth, 1) > DEEPEST:
        raise InvalidInput("depth", depth, f"give at most {DEEPEST}")
    return int(depth)


def as_time(t: float) -> float:
    """`t` as a float; `InvalidInput` unless it is `>= 0`."""
    if not real_number(t) >= 0:
        raise InvalidInput("t", t, "give a time >= 0; math.inf for the end of training")
    return real_number(t)


def as_numbers(argument: str, value: ArrayLike, count: int) -> Array:
    """`value` as `count` finite floats; `InvalidInput` in the name of `argument` otherwise."""
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise InvalidInput(argument, value, f"give {count} numbers, one for each training point") from None
    if numbers.dtype.kind not in "iuf" or numbers.shape != (count,):
        raise InvalidInput(argument, value, f"give {count} numbers, one for each training point")
    if not np.isfinite(numbers).all():
        raise InvalidInput(argument, value, "every number must be finite")
    return numbers.astype(np.float64)
