r"""Derivative correlations of finite networks, exactly and without tensors.

For a network with one output `F(θ; x)`, a learning rate `η > 0`, `D >= 0` free parameter indices and `d >= 1`
contractions with the gradient at `x_s`,

    C_{D,d}(θ; x, x_s) = η^{D/2+d}/(D! d!) ∇^{D+d} F(θ; x)ᵀ (∇F(θ; x_s))^{×d}.

With `v = ∇F(θ; x_s)` held fixed, `∇^{D+d}F [v^d]/d!` is the coefficient of `t^d` in `∇^D F(θ + t v; x)`. So

    C_{0,d} = η^d [t^d] F(θ + t v),   C_{1,d} = η^{1/2+d} [t^d] ∇F(θ + t v),   C_{2,d} = ½ η^{1+d} [t^d] ∇²F(θ + t v),

a number, a vector, a symmetric matrix: from one pass forward, one back, and one product with a second direction, in
truncated power series (`numerics/jets.py`). All contractions are with the gradient at one point, `x_s = x` unless
`along` gives others. The norms of the vectors come from Gram matrices of the series of `δˡ` and `gˡ`, of size `d + 1`:
where the parts of a coefficient cancel, half the digits that they cancel are lost.

Source: C (arXiv:2401.04013). Departures: `F` has one output; the contractions are all with the same point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory.errors import InvalidInput

from . import hessian_jets, jets
from .data import Array, as_integer, as_points
from .networks import MLP, chunks, refuse_overflow

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

HIGHEST_ORDER = 16
LARGEST_VECTORS = 2**31  # bytes


def scalar(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    order: int,
    *,
    along: ArrayLike | None = None,
    learning_rate: float = 1.0,
) -> Array:
    """`C_{0,d}` for `d = 1..order`, at the points `X (n, d)` of each network `parameters (batch, P)`.

    Without `along` the gradients are those at the same point: `(order, batch, n)`. With points `along (s, d)` they are
    those of each of these: `(order, batch, n, s)`. Raises `InvalidInput` for wrong shapes, NaN or infinity, an order
    outside 1..16, several outputs, an activation without a series, and on overflow.

    >>> from theory.activations import Identity
    >>> line = MLP(dimension=1, widths=(1,), activation=Identity())  # f = w₂ w₁ x, with ∇f = (w₂, w₁) x
    >>> scalar(line, [[2.0, 3.0]], [[1.0]], order=3).ravel()  # (2 + 3t)(3 + 2t) = 6 + 13 t + 6 t²
    array([13.,  6.,  0.])
    """
    return _collect(network, parameters, X, order, along, learning_rate, 0)[0]


def vector_norms(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    order: int,
    *,
    along: ArrayLike | None = None,
    learning_rate: float = 1.0,
) -> Array:
    """`‖C_{1,d}‖₂` for `d = 1..order`; arguments, shapes and errors as those of `scalar`.

    >>> from theory.activations import Identity
    >>> line = MLP(dimension=1, widths=(1,), activation=Identity())
    >>> vector_norms(line, [[2.0, 3.0]], [[1.0]], order=2).ravel().round(12)  # ∇f = (3, 2) + t (2, 3)
    array([3.60555128, 0.        ])
    """
    return _collect(network, parameters, X, order, along, learning_rate, 1)[1]


def scalar_and_vector_norms(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    order: int,
    *,
    along: ArrayLike | None = None,
    learning_rate: float = 1.0,
) -> tuple[Array, Array]:
    """Both `scalar` and `vector_norms`, in one pass."""
    return _collect(network, parameters, X, order, along, learning_rate, 1)


def vectors(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    order: int,
    *,
    along: ArrayLike | None = None,
    learning_rate: float = 1.0,
) -> Array:
    """`C_{1,d}` for `d = 1..order` themselves, with the `P` parameters as one more axis at the end.

    For small networks: raises `InvalidInput` beyond 2 GiB, and otherwise as `scalar` does.
    """
    parameters, X, sources, rate = _checked(network, parameters, X, order, along, learning_rate)
    count = len(X) * (len(sources) if along is not None else 1)
    shape = (order, len(parameters), count, network.parameter_count)
    if 8 * np.prod(shape, dtype=float) > LARGEST_VECTORS:
        raise InvalidInput("vectors.shape", shape, "takes more than 2 GiB; vector_norms does without the vectors")
    found = np.empty(shape)
    for part, pairs, points, direction in _pairs(network, parameters, X, sources, along is None, order):
        with np.errstate(over="ignore", invalid="ignore"):
            run = jets.forward(network, parameters[part], points, direction, order)
            deltas = [delta for delta, _ in jets.backward(network, parameters[part], run, direction)]
            for d, coefficient in enumerate(jets.gradient_series(network, run, deltas)):
                if d:
                    found[d - 1, part, pairs] = rate ** (0.5 + d) * coefficient
    refuse_overflow("correlations", found)
    return found.reshape(order, len(parameters), len(X), *((len(sources),) if along is not None else ()), -1)


def operator(
    network: MLP,
    parameters: ArrayLike,
    x: ArrayLike,
    d: int,
    *,
    along: ArrayLike | None = None,
    learning_rate: float = 1.0,
) -> LinearOperator:
    """`C_{2,d}` as a symmetric operator on `R^P`, for one network `parameters (1, P)` and one point `x (1, d)`.

    A product with a vector costs a few runs of the network. Errors as those of `scalar`.

    >>> from theory.activations import Identity
    >>> cubic = MLP(dimension=1, widths=(1, 1), activation=Identity())  # f = w₃ w₂ w₁, at w = (1, 1, 1)
    >>> C = operator(cubic, [[1.0, 1.0, 1.0]], [[1.0]], d=1)
    >>> C @ np.eye(3)  # half of ∇³f [(1, 1, 1)]
    array([[0. , 0.5, 0.5],
           [0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """
    parameters, x, sources, rate = _checked(network, parameters, x, d, along, learning_rate)
    for name, array in (("parameters", parameters), ("x", x), ("along", sources)):
        if len(array) != 1:
            raise InvalidInput(f"{name}.shape", array.shape, "give one network, and points one at a time")
    hessian = hessian_jets.HessianSeries.of(network, parameters, x, jets.gradient(network, parameters, sources), d)
    return hessian.as_operator(rate ** (1 + d) / 2)


def operator_norm(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    d: int,
    *,
    learning_rate: float = 1.0,
    tolerance: float = 1e-8,
) -> Array:
    """The spectral norm of `C_{2,d}` at each of the points `X (n, d)` for each network: `(batch, n)`.

    The eigenvalue of largest modulus, by SciPy's Lanczos from a fixed start, to the relative `tolerance`. Raises
    `InvalidInput` as `scalar` does, and if Lanczos does not converge.
    """
    parameters, X, _, rate = _checked(network, parameters, X, d, None, learning_rate)
    found = np.empty((len(parameters), len(X)))
    for index in range(len(parameters)):
        theta = parameters[index : index + 1]
        for point in range(len(X)):
            x = X[point : point + 1]
            hessian = hessian_jets.HessianSeries.of(network, theta, x, jets.gradient(network, theta, x), d)
            found[index, point] = rate ** (1 + d) / 2 * hessian.spectral_norm(tolerance)
    return found


def _collect(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    order: int,
    along: ArrayLike | None,
    learning_rate: float,
    free: int,
) -> tuple[Array, Array]:
    """`C_{0,d}`, and with `free = 1` the norms of `C_{1,d}`, over all pairs of a point and a source."""
    parameters, X, sources, rate = _checked(network, parameters, X, order, along, learning_rate)
    count = len(X) * (len(sources) if along is not None else 1)
    numbers, norms = np.empty((2, order, len(parameters), count))
    powers = np.arange(1, order + 1)[:, None, None]
    for part, pairs, points, direction in _pairs(network, parameters, X, sources, along is None, order):
        with np.errstate(over="ignore", invalid="ignore"):
            run = jets.forward(network, parameters[part], points, direction, order)
            numbers[:, part, pairs] = rate**powers * run.outputs[1:]
            if free:
                squares = _square_norms(network, parameters[part], run, direction)[1:]
                norms[:, part, pairs] = rate ** (0.5 + powers) * np.sqrt(squares)
    shape = (order, len(parameters), len(X), *((len(sources),) if along is not None else ()))
    refuse_overflow("correlations", numbers)
    if free:
        refuse_overflow("correlations", norms)
    return numbers.reshape(shape), norms.reshape(shape)


def _square_norms(network: MLP, parameters: Array, run: jets.Run, direction: jets.Direction) -> Array:
    """`‖[t^k] ∇F(θ + t v)‖²` for `k = 0..K`: `Σ_{i,j} ⟨δ_i, δ_j⟩ ⟨g_{k−i}, g_{k−j}⟩` over the layers."""
    total = np.zeros(run.outputs.shape)
    backwards = jets.backward(network, parameters, run, direction)
    for index, (delta, _) in zip(range(network.depth, -1, -1), backwards, strict=True):
        left, right = _gram(delta), _gram(run.features[index])
        for k in range(len(total)):
            i = np.arange(max(0, k - right.shape[-1] + 1), min(k + 1, left.shape[-1]))
            here = left[..., i[:, None], i] * right[..., (k - i)[:, None], k - i]
            total[k] += here.sum(axis=(-2, -1))
            if network.bias_std > 0 and k < left.shape[-1]:
                total[k] += network.bias_factor**2 * left[..., k, k]
    return np.maximum(total, 0.0)  # rounding may leave a little less than nothing


def _gram(series: Array) -> Array:
    """The inner products of the coefficients: `(batch, n, K+1, K+1)`."""
    rows = np.moveaxis(series, 0, 2)
    return rows @ rows.swapaxes(-1, -2)


def _pairs(
    network: MLP, parameters: Array, X: Array, sources: Array, same: bool, order: int
) -> Iterator[tuple[slice, slice, Array, jets.Direction]]:
    """All pairs of a point and a source, some at a time: networks, pairs, the point and the direction of each pair."""
    count = len(X) if same else len(X) * len(sources)
    per_pair = 8 * (order + 1) * (sum(network.widths) + 1) + network.dimension
    for part in chunks(len(parameters), per_pair * count):
        for pairs in chunks(count, per_pair * (part.stop - part.start)):
            which = np.arange(pairs.start, pairs.stop)
            at, source = (which, which) if same else np.divmod(which, len(sources))
            own, inverse = np.unique(source, return_inverse=True)
            directions = jets.gradient(network, parameters[part], sources[own])
            yield part, pairs, X[at], directions if same else directions.take(inverse)


def _checked(
    network: MLP, parameters: ArrayLike, X: ArrayLike, order: int, along: ArrayLike | None, learning_rate: float
) -> tuple[Array, Array, Array, float]:
    """The arguments as arrays; the sources of the gradients are `X` itself without `along`."""
    if as_integer("order", order, 1) > HIGHEST_ORDER:
        raise InvalidInput("order", order, f"give at most {HIGHEST_ORDER}")
    if not isinstance(learning_rate, Real) or not 0 < learning_rate < math.inf:
        raise InvalidInput("learning_rate", learning_rate, "give a finite number > 0")
    X = as_points("X", X, network.dimension)
    sources = X if along is None else as_points("along", along, network.dimension)
    return network.as_parameters(parameters), X, sources, float(learning_rate)
