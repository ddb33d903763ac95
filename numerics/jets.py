r"""Taylor arithmetic through networks: forward and reverse passes in power series along a parameter direction.

For a fully connected network (symbols as in `networks.py`) with parameters `θ`, a direction `v` and `t` a formal
variable, the weights are `Wˡ + t Vˡ` and

    uˡ(t) = (Wˡ + t Vˡ) gˡ⁻¹(t),    gˡ(t) = √(c_φ/m_l) φ(uˡ(t)),    F(θ + t v) = u^{L+1}(t),
    eˡ(t) = (W^{l+1} + t V^{l+1})ᵀ δ^{l+1}(t),    δˡ(t) = √(c_φ/m_l) φ'(uˡ(t)) eˡ(t),    δ^{L+1} = 1,
    ∇_{Wˡ} F(θ + t v) = δˡ(t) gˡ⁻¹(t)ᵀ,    ∇_{bˡ} F(θ + t v) = s δˡ(t),

every quantity a series to order `K` (`numerics/power_series.py`), `s` the factor of the biases. The order `k` of
`(W + tV) g` is `W g_k + V g_{k−1}`; the direction is kept in factors, `Vˡ = Σ_r left_r right_rᵀ`, of rank 1 for the
gradient at one point. So all orders and points together cost one matrix product per layer and pass, and `V` almost
nothing. `numerics/hessian_jets.py` differentiates both passes once more.

Arrays are `(K+1, batch, n, m_l)`: the order, the network, the point, the unit. A series that is constant in `t` may
have length 1. `F` is the output of the network or, of a network with several outputs `F_i`, the number `Σ_i c_i F_i`
with a `covector` `c`, that is `δ^{L+1} = c`; the pass forward gives each `F_i`.

Sources: Griewank, Walther, *Evaluating Derivatives* (2008), chapters 10 and 13. Departure: the low rank of `V`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory.errors import InvalidInput

from .arithmetic import Arithmetic, Float64, Numbers
from .data import as_points
from .networks import MLP, Layer
from .power_series import compose, multiply

FLOAT64 = Float64()


@dataclass(frozen=True)
class Direction:
    """A direction in parameter space, layer by layer: `Vˡ = Σ_r left_r right_rᵀ`, and `biases`.

    `left[l−1]` is `(batch, n, r, m_l)`, `right[l−1]` is `(batch, n, r, m_{l−1})`, `biases[l−1]` is `(batch, n, m_l)`:
    one direction for each point, or a single one for all of them, with `n = 1`. `biases` is empty without biases.
    """

    left: tuple[Numbers, ...]
    right: tuple[Numbers, ...]
    biases: tuple[Numbers, ...] = ()

    @property
    def points(self) -> int:
        return self.left[0].shape[1]

    def take(self, which: Sequence[int] | Numbers) -> Direction:
        """The directions of these points, in this order, repetitions included."""
        parts = (tuple(array[:, which] for array in arrays) for arrays in (self.left, self.right, self.biases))
        return Direction(*parts)

    def summed(self, weights: Numbers) -> Direction:
        """One direction for all points: `Σ_i weights_i v_i`, weights `(batch, n)`; its rank is the sum of the ranks."""

        def joined(array: Numbers) -> Numbers:
            return array.reshape(len(array), 1, -1, array.shape[-1])

        left = tuple(joined(array * weights[:, :, None, None]) for array in self.left)
        biases = tuple((array * weights[:, :, None]).sum(axis=1, keepdims=True) for array in self.biases)
        return Direction(left, tuple(map(joined, self.right)), biases)

    def dense(self, network: MLP, arithmetic: Arithmetic = FLOAT64) -> Numbers:
        """As parameters, `(batch, n, P)`."""
        batch, n = self.left[0].shape[:2]
        flat = arithmetic.zeros(batch * n, network.parameter_count)
        for index, layer in enumerate(network.layers(flat)):
            product = self.left[index].swapaxes(-1, -2) @ self.right[index]
            layer.weights[...] = product.reshape(layer.weights.shape)
            if layer.biases is not None:
                layer.biases[...] = self.biases[index].reshape(layer.biases.shape)
        return flat.reshape(batch, n, -1)


@dataclass(frozen=True)
class Run:
    """A forward pass: `gˡ(t)` as `features[l]`, `l = 0..L`; `φ'` and `φ''` at `uˡ(t)` with the factor of `gˡ` in them.

    `curvatures` is empty unless second derivatives were asked for.
    """

    features: tuple[Numbers, ...]
    slopes: tuple[Numbers, ...]
    curvatures: tuple[Numbers, ...]
    readout: Numbers  # F_i(θ + t v), (K+1, batch, n, outputs)

    @property
    def outputs(self) -> Numbers:
        """`F(θ + t v)`, `(K+1, batch, n)`, of a network with one output. Raises `InvalidInput` otherwise."""
        _refuse_several(self.readout.shape[-1])
        return self.readout[..., 0]


def forward(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    direction: Direction | None = None,
    order: int = 0,
    *,
    arithmetic: Arithmetic = FLOAT64,
    derivatives: int = 1,
) -> Run:
    """The forward pass at the points `X (n, d)` along `direction`, to order `K = order` in `t`.

    `parameters` are `(batch, P)`, float64 or numbers of the arithmetic. What overflows is infinite or NaN. Raises
    `InvalidInput` for wrong shapes, or an activation without a series.

    >>> from theory.activations import Identity
    >>> line = MLP(dimension=1, widths=(1,), activation=Identity())  # f = w₂ w₁ x
    >>> v = gradient(line, [[2.0, 3.0]], [[1.0]])                    # ∇f = (3, 2) at x = 1
    >>> forward(line, [[2.0, 3.0]], [[1.0]], v, order=2).outputs.ravel()  # (2 + 3t)(3 + 2t)
    array([ 6., 13.,  6.])
    """
    parameters = _as_parameters(network, parameters, arithmetic)
    X = arithmetic.array(as_points("X", X, network.dimension))
    features = [np.broadcast_to(X, (1, len(parameters), *X.shape))]
    slopes, curvatures = [], []
    *hidden, last = network.layers(parameters)
    for index, layer in enumerate(hidden):
        u = _affine(layer, network.bias_factor, features[-1], direction, index, order, arithmetic)
        composed = compose(network.activation, u, arithmetic, derivatives)
        g, *derived = (part * network.feature_factors[index] for part in composed)
        features.append(g)
        slopes += derived[:1]
        curvatures += derived[1:]
    readout = _affine(last, network.bias_factor, features[-1], direction, network.depth, order, arithmetic)
    return Run(tuple(features), tuple(slopes), tuple(curvatures), readout)


def backward(
    network: MLP,
    parameters: ArrayLike,
    run: Run,
    direction: Direction | None = None,
    *,
    covector: Numbers | None = None,
    arithmetic: Arithmetic = FLOAT64,
) -> Iterator[tuple[Numbers, Numbers]]:
    """The pairs `δˡ(t), eˡ(t)` for `l = L+1, L, …, 1`; `e^{L+1} = δ^{L+1}`, of length 1, is the covector `(outputs,)`.

    Without one it is the number 1, and several outputs are refused with `InvalidInput`.
    """
    layers = network.layers(_as_parameters(network, parameters, arithmetic))
    if covector is None:
        _refuse_several(network.outputs)
    length, batch, n, _ = run.readout.shape
    top = np.ones(1) if covector is None else covector
    delta = arithmetic.array(np.tile(top, (1, batch, n, 1)))
    yield delta, delta
    for index in range(network.depth - 1, -1, -1):
        e = transposed_linear(layers[index + 1], delta, direction, index + 1, length, arithmetic)
        delta = multiply(run.slopes[index], e)
        yield delta, e


def gradient(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    *,
    covector: Numbers | None = None,
    arithmetic: Arithmetic = FLOAT64,
) -> Direction:
    """`∇F(θ; x)` at each of the points `X (n, d)`, in factors of rank 1. Errors as of `forward` and `backward`."""
    run = forward(network, parameters, X, arithmetic=arithmetic)
    backwards = backward(network, parameters, run, covector=covector, arithmetic=arithmetic)
    deltas = [delta[0] for delta, _ in backwards][::-1]
    left = tuple(delta[:, :, None] for delta in deltas)
    right = tuple(features[0][:, :, None] for features in run.features)
    biases = tuple(delta * network.bias_factor for delta in deltas) if network.bias_std > 0 else ()
    return Direction(left, right, biases)


def gradient_series(
    network: MLP, run: Run, deltas: Sequence[Numbers], arithmetic: Arithmetic = FLOAT64
) -> Iterator[Numbers]:
    """The coefficients `k = 0..K` of `t ↦ ∇F(θ + t v)`, each `(batch, n, P)`: for small networks.

    `deltas` are the `δˡ(t)` from `backward`, in its order.
    """
    length, batch, n, _ = run.readout.shape
    for k in range(length):
        flat = arithmetic.zeros(batch * n, network.parameter_count)
        for index, layer in enumerate(network.layers(flat)):
            delta, g = deltas[network.depth - index], run.features[index]
            for i in range(k + 1):
                if i < len(delta) and k - i < len(g):
                    layer.weights[...] += _outer(delta[i], g[k - i]).reshape(layer.weights.shape)
            if layer.biases is not None and k < len(delta):
                layer.biases[...] = network.bias_factor * delta[k].reshape(layer.biases.shape)
        yield flat.reshape(batch, n, -1)


def _refuse_several(outputs: int) -> None:
    if outputs != 1:
        raise InvalidInput("network.outputs", outputs, "give a network with one output, or a covector: F is a number")


def _as_parameters(network: MLP, parameters: ArrayLike, arithmetic: Arithmetic) -> Numbers:
    given = np.asarray(parameters)
    if given.ndim != 2 or given.shape[1] != network.parameter_count or len(given) == 0:
        remedy = f"give (batch, {network.parameter_count}), as from sample() or pack()"
        raise InvalidInput("parameters.shape", given.shape, remedy)
    return arithmetic.array(given)


def _affine(
    layer: Layer,
    bias_factor: float,
    g: Numbers,
    direction: Direction | None,
    index: int,
    order: int,
    arithmetic: Arithmetic,
) -> Numbers:
    """`(W + tV) g(t) + s (b + t v_b)`, to the given order."""
    u = linear(layer, g, direction, index, order + 1, arithmetic)
    if layer.biases is not None:
        u[0] += bias_factor * layer.biases[:, None]
        if direction is not None and order > 0:
            u[1] += bias_factor * direction.biases[index]
    return u


def linear(
    layer: Layer, g: Numbers, direction: Direction | None, index: int, length: int, arithmetic: Arithmetic = FLOAT64
) -> Numbers:
    """`(W + tV) g(t)`: one matrix product for all orders, and the low rank of `V`."""
    u = _pad(_through(g, layer.weights.swapaxes(1, 2)), length, arithmetic)
    if direction is not None:
        add_shifted(u, g, direction.right[index], direction.left[index])
    return u


def transposed_linear(
    layer: Layer, delta: Numbers, direction: Direction | None, index: int, length: int, arithmetic: Arithmetic = FLOAT64
) -> Numbers:
    """`(W + tV)ᵀ δ(t)`."""
    e = _pad(_through(delta, layer.weights), length, arithmetic)
    if direction is not None:
        add_shifted(e, delta, direction.left[index], direction.right[index])
    return e


def _through(series: Numbers, matrix: Numbers) -> Numbers:
    """`series @ matrix`, with all orders and points of a network as rows of one matrix."""
    orders, batch, n, m = series.shape
    rows = series.swapaxes(0, 1).reshape(batch, orders * n, m)
    return (rows @ matrix).reshape(batch, orders, n, -1).swapaxes(0, 1)


def add_shifted(target: Numbers, series: Numbers, bras: Numbers, kets: Numbers) -> None:
    """Add `t Σ_r kets_r ⟨bras_r, series(t)⟩` to `target`, in place."""
    kept = series[: len(target) - 1]
    if len(kept):
        inner = (bras @ kept[..., None])[..., 0]
        target[1 : len(kept) + 1] += (inner[..., None, :] @ kets)[..., 0, :]


def _pad(series: Numbers, length: int, arithmetic: Arithmetic = FLOAT64) -> Numbers:
    """The series with zeros appended, in an array of its own."""
    padded = arithmetic.zeros(length, *series.shape[1:])
    padded[: len(series)] = series[:length]
    return padded


def _outer(left: Numbers, right: Numbers) -> Numbers:
    return left[..., :, None] * right[..., None, :]
