r"""Derivative correlations of finite networks, exactly and without tensors.

For a network with one output `F(θ; x)`, a learning rate `η > 0`, `D >= 0` free parameter indices and `d >= 1`
contractions with the gradient at `x_s`,

    C_{D,d}(θ; x, x_s) = η^{D/2+d}/(D! d!) ∇^{D+d} F(θ; x)ᵀ (∇F(θ; x_s))^{×d}.

With `v = ∇F(θ; x_s)` held fixed, `∇^{D+d}F [v^d]/d!` is the coefficient of `t^d` in `∇^D F(θ + t v; x)`. So

    C_{0,d} = η^d [t^d] F(θ + t v),   C_{1,d} = η^{1/2+d} [t^d] ∇F(θ + t v),   C_{2,d} = ½ η^{1+d} [t^d] ∇²F(θ + t v),

a number, a vector, a symmetric matrix: from one pass forward, one back, and one product with a second direction, in
truncated power series (`numerics/jets.py`). All contractions are with the gradient at one point. The norms of the
vectors come from Gram matrices of the series of `δˡ` and `gˡ`, of size `d + 1`: where the parts of a coefficient
cancel, half the digits that they cancel are lost.

With several outputs `F_i`, each contraction has an output index of its own: `C_{0,d}^{i; j_1…j_d}` is symmetric in the
`j`, and is known from its values `Σ c_{j_1} ⋯ c_{j_d} C_{0,d}^{i; j_1…j_d}` at all covectors `c`, as any symmetric form
is (polarisation). `each_output` gives these: the contractions with the gradient of `Σ_j c_j F_j`. They are what a step
of gradient descent takes, with the derivatives of the loss for `c`.

Source: C (arXiv:2401.04013). Departure: the contractions of one correlation are all with the same point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from theory.errors import InvalidInput

from . import hessian_jets, jets
from .data import Array, as_integer, as_points, as_reals, real_number
from .decision import finite_vector
from .networks import MLP, chunks, refuse_overflow

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

HIGHEST_ORDER = 16
LARGEST_VECTORS = 2**31  # bytes


class Options(TypedDict, total=False):
    """What may be given by name, to all functions alike.

    `along (s, d)`: the points `x_s` of the gradients, each of which is paired with each point of `X`; by default
    `x_s = x`. `learning_rate`: `η > 0`, by default 1.
    """

    along: ArrayLike | None
    learning_rate: float


def scalar(network: MLP, parameters: ArrayLike, X: ArrayLike, order: int, **options: Unpack[Options]) -> Array:
    """`C_{0,d}` for `d = 1..order`, at the points `X (n, d)` of each network `parameters (batch, P)`.

    Its shape is `(order, batch, n)`, and `(order, batch, n, s)` with points `along (s, d)`. Raises `InvalidInput` for
    wrong shapes, NaN or infinity, an order outside 1..16, several outputs, an activation without a series, and on
    overflow.

    >>> from theory.activations import Identity
    >>> line = MLP(dimension=1, widths=(1,), activation=Identity())  # f = w₂ w₁ x, with ∇f = (w₂, w₁) x
    >>> scalar(line, [[2.0, 3.0]], [[1.0]], order=3).ravel()  # (2 + 3t)(3 + 2t) = 6 + 13 t + 6 t²
    array([13.,  6.,  0.])
    """
    return each_output(network, parameters, X, order, None, **options)[..., 0]


def each_output(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    order: int,
    covector: ArrayLike | None,
    **options: Unpack[Options],
) -> Array:
    """`C_{0,d}` of each output, contracted with the gradient of `Σ_j c_j F_j`, `covector = c (outputs,)`.

    Shapes and errors as those of `scalar`, with one more axis at the end, for the outputs. Without a covector the
    network must have one output.

    >>> from theory.activations import Identity
    >>> pair = MLP(dimension=1, widths=(1,), outputs=2, activation=Identity())  # F = (a w, b w) x
    >>> theta = pair.pack([[[3.0]], [[2.0], [1.0]]])  # w = 3, a = 2, b = 1: the gradient of F_1 is (w, 0, a)
    >>> each_output(pair, theta, [[1.0]], 2, [1.0, 0.0])[:, 0, 0]  # (a + tw)(w + ta) and b(w + ta)
    array([[13.,  2.],
           [ 6.,  0.]])
    """
    return _collect(network, parameters, X, order, options, covector=covector)[0]


def vector_norms(network: MLP, parameters: ArrayLike, X: ArrayLike, order: int, **options: Unpack[Options]) -> Array:
    """`‖C_{1,d}‖₂` for `d = 1..order`; arguments, shapes and errors as those of `scalar`.

    >>> from theory.activations import Identity
    >>> line = MLP(dimension=1, widths=(1,), activation=Identity())
    >>> vector_norms(line, [[2.0, 3.0]], [[1.0]], order=2).ravel().round(12)  # ∇f = (3, 2) + t (2, 3)
    array([3.60555128, 0.        ])
    """
    return scalar_and_vector_norms(network, parameters, X, order, **options)[1]


def scalar_and_vector_norms(
    network: MLP, parameters: ArrayLike, X: ArrayLike, order: int, **options: Unpack[Options]
) -> tuple[Array, Array]:
    """Both `scalar` and `vector_norms`, in one pass."""
    numbers, norms = _collect(network, parameters, X, order, options, norms=True)
    return numbers[..., 0], norms


def vectors(network: MLP, parameters: ArrayLike, X: ArrayLike, order: int, **options: Unpack[Options]) -> Array:
    """`C_{1,d}` for `d = 1..order` themselves, with the `P` parameters as one more axis at the end.

    For small networks: raises `InvalidInput` beyond 2 GiB, and otherwise as `scalar` does.
    """
    task = _Task.of(network, parameters, X, order, options)
    shape = (order, len(task.parameters), task.pairs, network.parameter_count)
    if 8 * np.prod(shape, dtype=float) > LARGEST_VECTORS:
        raise InvalidInput("vectors.shape", shape, "takes more than 2 GiB; vector_norms does without the vectors")
    found, rates = np.empty(shape), task.rates(1)
    for part, pairs, points, direction in task.chunks():
        with np.errstate(over="ignore", invalid="ignore"):
            run = jets.forward(network, task.parameters[part], points, direction, order)
            deltas = [delta for delta, _ in jets.backward(network, task.parameters[part], run, direction)]
            for d, coefficient in enumerate(jets.gradient_series(network, run, deltas)):
                if d:
                    found[d - 1, part, pairs] = rates[d - 1] * coefficient
    return task.shaped(found)


def operator(network: MLP, parameters: ArrayLike, x: ArrayLike, d: int, **options: Unpack[Options]) -> LinearOperator:
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
    task = _Task.of(network, parameters, x, d, options)
    for name, array in (("parameters", task.parameters), ("x", task.X), ("along", task.sources)):
        if len(array) != 1:
            raise InvalidInput(f"{name}.shape", array.shape, "give one network, and points one at a time")
    factor = float(task.rates(2)[-1]) / 2
    direction = jets.gradient(network, task.parameters, task.sources)
    hessian = hessian_jets.HessianSeries.of(network, task.parameters, task.X, direction, d)
    return hessian.as_operator(factor)


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
    `InvalidInput` as `scalar` does, for a tolerance outside (0, 1), and if Lanczos does not converge.
    """
    task = _Task.of(network, parameters, X, d, {"learning_rate": learning_rate})
    hessian_jets.check_tolerance(tolerance)
    factor = task.rates(2)[-1] / 2
    found = np.empty((len(task.parameters), len(task.X)))
    for index, point in np.ndindex(found.shape):
        theta, x = task.parameters[index : index + 1], task.X[point : point + 1]
        hessian = hessian_jets.HessianSeries.of(network, theta, x, jets.gradient(network, theta, x), d)
        with np.errstate(over="ignore"):
            found[index, point] = factor * hessian.spectral_norm(tolerance)
    refuse_overflow("correlations", found)
    return found


@dataclass(frozen=True)
class _Task:
    """The arguments, checked, and the pairs of a point and a source that they ask for."""

    network: MLP
    parameters: Array
    X: Array
    order: int
    sources: Array  # X itself if each point is its own source
    rate: float
    own: bool
    covector: Array | None

    @classmethod
    def of(
        cls,
        network: MLP,
        parameters: ArrayLike,
        X: ArrayLike,
        order: int,
        options: Options,
        covector: ArrayLike | None = None,
    ) -> _Task:
        if as_integer("order", order, 1) > HIGHEST_ORDER:
            raise InvalidInput("order", order, f"give at most {HIGHEST_ORDER}")
        for name in options.keys() - Options.__annotations__.keys():
            raise InvalidInput(name, options[name], f"the options are {', '.join(Options.__annotations__)}")
        rate, along = options.get("learning_rate", 1.0), options.get("along")
        if not 0 < real_number(rate) < math.inf:
            raise InvalidInput("learning_rate", rate, "give a finite number > 0")
        X = as_points("X", X, network.dimension)
        sources = X if along is None else as_points("along", along, network.dimension)
        c = None if covector is None else finite_vector("covector", as_reals("covector", covector), network.outputs)
        return cls(network, network.as_parameters(parameters), X, order, sources, float(rate), along is None, c)

    @property
    def pairs(self) -> int:
        return len(self.X) if self.own else len(self.X) * len(self.sources)

    def rates(self, D: int) -> Array:
        """`η^{D/2+d}` for `d = 1..order`."""
        with np.errstate(over="ignore"):
            found = np.power(self.rate, D / 2 + np.arange(1, self.order + 1), dtype=np.float64)
        if not np.isfinite(found).all():
            raise InvalidInput("learning_rate", self.rate, f"its power {D / 2 + self.order:g} overflows: give less")
        return found

    def chunks(self) -> Iterator[tuple[slice, slice, Array, jets.Direction]]:
        """Some at a time: which networks and which pairs, the point and the direction of each pair."""
        network, count = self.network, self.pairs
        per_pair = 8 * (self.order + 1) * (sum(network.widths) + network.outputs) + network.dimension
        for part in chunks(len(self.parameters), per_pair * count):
            for pairs in chunks(count, per_pair * (part.stop - part.start)):
                which = np.arange(pairs.start, pairs.stop)
                at, source = (which, which) if self.own else np.divmod(which, len(self.sources))
                own, inverse = np.unique(source, return_inverse=True)
                theta = self.parameters[part]
                directions = jets.gradient(network, theta, self.sources[own], covector=self.covector)
                yield part, pairs, self.X[at], directions if self.own else directions.take(inverse)

    def shaped(self, found: Array) -> Array:
        """`(order, batch, pairs, …)` as `(order, batch, n, …)` or `(order, batch, n, s, …)`; raises on overflow."""
        refuse_overflow("correlations", found)
        pairs = (len(self.X),) if self.own else (len(self.X), len(self.sources))
        return found.reshape(*found.shape[:2], *pairs, *found.shape[3:])


def _collect(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    order: int,
    options: Options,
    *,
    covector: ArrayLike | None = None,
    norms: bool = False,
) -> tuple[Array, Array]:
    """`C_{0,d}` of each output, and if asked for the norms of `C_{1,d}`, which else are empty."""
    task = _Task.of(network, parameters, X, order, options, covector)
    shape = (order, len(task.parameters), task.pairs)
    numbers, lengths = np.empty((*shape, network.outputs)), np.empty(shape if norms else (*shape[:2], 0))
    rates = [task.rates(D)[:, None, None] for D in ((0, 1) if norms else (0,))]
    for part, pairs, points, direction in task.chunks():
        with np.errstate(over="ignore", invalid="ignore"):
            run = jets.forward(network, task.parameters[part], points, direction, order)
            numbers[:, part, pairs] = rates[0][..., None] * run.readout[1:]
            if norms:
                squares = _square_norms(network, task.parameters[part], run, direction)[1:]
                lengths[:, part, pairs] = rates[1] * np.sqrt(squares)
    return task.shaped(numbers), task.shaped(lengths) if norms else lengths


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
