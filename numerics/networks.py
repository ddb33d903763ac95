r"""Finite fully connected networks, many at once: drawing them, running them, and propagating their gradients back.

With input `x ∈ R^d`, hidden widths `m_1..m_L >= 1`, depth `L >= 0` (hidden layers), `o >= 1` outputs and `m_0 = d`,
`m_{L+1} = o`, a network is

    g⁰ = x,    uˡ = Wˡ gˡ⁻¹ + σ_b bˡ  (l = 1..L+1),    gˡ = sqrt(c_φ/m_l) φ(uˡ)  (l = 1..L),    f = u^{L+1},

all entries of `Wˡ ∈ R^{m_l × m_{l−1}}` and `bˡ ∈ R^{m_l}` iid N(0, 1), `c_φ = 1/E[φ(z)²]`. So every layer has a bias,
the output included, when `σ_b > 0`, and none has when `σ_b = 0`; and the first layer is not divided by the input
dimension. This is `Parametrisation.NTK`; `theory/parametrisation.py` says what `STANDARD` changes.

The parameters of a batch of networks are one float64 array `(batch, P)`: a row holds `W¹` row by row, `b¹`, `W²`,
`b²`, …, so any other initial law, and any gradient step, is array arithmetic. Rows are drawn one after the other: a
generator gives the same networks in one batch or in several.

Source: Jacot, Gabriel, Hongler (2018), section 2. Departures: no division by `sqrt(d)` in the first layer; the factor
`c_φ`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory.activations import Activation, ReLU
from theory.errors import InvalidInput
from theory.parametrisation import Parametrisation

from .activations import normalisation, pointwise
from .data import Array, as_integer, as_points, as_reals, real_number

WORKSPACE = 2**26  # bytes that one chunk of a computation may take, beside its result


class Layer(NamedTuple):
    """Views into the parameters: `weights (batch, m_l, m_{l−1})`, `biases (batch, m_l)` or None."""

    weights: Array
    biases: Array | None


class Forward(NamedTuple):
    """A run at `n` points that kept `gˡ` as `features[l]`, `l = 0..L`, and `uˡ` as `preactivations[l−1]`, `l = 1..L+1`.

    All have shape `(batch, n, m_l)`, except `g⁰ (n, d)`, which the networks share.
    """

    features: tuple[Array, ...]
    preactivations: tuple[Array, ...]

    @property
    def outputs(self) -> Array:
        """`f = u^{L+1}`, shape `(batch, n, o)`."""
        return self.preactivations[-1]


@dataclass(frozen=True)
class MLP:
    """The architecture and the initial law of a fully connected network; see the module for its definition.

    `dimension` is `d`, `widths` are `m_1..m_L` (an empty tuple is a linear model), `bias_std` is `σ_b`.

    Raises `InvalidInput` for a size that is no positive integer, or a `bias_std` that is negative or not finite.

    >>> network = MLP(dimension=3, widths=(4, 4), outputs=2)
    >>> parameters = network.sample(np.random.default_rng(0), batch=5)
    >>> network(parameters, np.eye(3)).shape
    (5, 3, 2)
    """

    dimension: int
    widths: tuple[int, ...]
    outputs: int = 1
    activation: Activation = field(default_factory=ReLU)
    bias_std: float = 0.0
    parametrisation: Parametrisation = Parametrisation.NTK

    def __post_init__(self) -> None:
        if not isinstance(self.widths, Sequence):
            raise InvalidInput("widths", self.widths, "give one width per hidden layer, such as (64,) * 3")
        as_integer("dimension", self.dimension, 1)
        as_integer("outputs", self.outputs, 1)
        widths = tuple(as_integer(f"widths[{i}]", width, 1) for i, width in enumerate(self.widths))
        object.__setattr__(self, "widths", widths)
        if not isinstance(self.activation, Activation):
            raise InvalidInput("activation", self.activation, "give an Activation object, such as ReLU()")
        if not isinstance(self.parametrisation, Parametrisation):
            raise InvalidInput("parametrisation", self.parametrisation, "give Parametrisation.NTK or .STANDARD")
        if not 0 <= real_number(self.bias_std) < math.inf:
            raise InvalidInput("bias_std", self.bias_std, "give a finite number >= 0")

    @classmethod
    def of_depth(cls, dimension: int, *, width: int, depth: int, **fields: Any) -> MLP:
        """`depth >= 0` hidden layers of one `width`; the other fields by name.

        >>> MLP.of_depth(2, width=7, depth=3).widths
        (7, 7, 7)
        """
        return cls(dimension, (as_integer("width", width, 1),) * as_integer("depth", depth, 0), **fields)

    @property
    def depth(self) -> int:
        """`L`, the number of hidden layers."""
        return len(self.widths)

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """`(m_l, m_{l−1})` of the weights, `l = 1..L+1`."""
        sizes = (self.dimension, *self.widths, self.outputs)
        return tuple((width, fan_in) for fan_in, width in pairwise(sizes))

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where the parameters of layer `l` (weights, then biases) lie among all `P`, `l = 1..L+1`."""
        ends = np.cumsum([0, *(m * (fan_in + (self.bias_std > 0)) for m, fan_in in self.shapes)]).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(ends))

    @property
    def parameter_count(self) -> int:
        """`P`, weights and biases of all layers.

        >>> MLP(64, (8,), bias_std=1.0).parameter_count
        529
        """
        return self.slices[-1].stop

    @cached_property
    def scales(self) -> tuple[float, ...]:
        """`sqrt(c_φ/m_l)`, `l = 1..L`, wherever the parametrisation keeps it."""
        c_phi = normalisation(self.activation)
        return tuple(math.sqrt(c_phi / width) for width in self.widths)

    @property
    def feature_factors(self) -> tuple[float, ...]:
        """What multiplies `φ(uˡ)`, `l = 1..L`: `sqrt(c_φ/m_l)`, or 1 in the standard parametrisation."""
        return (1.0,) * self.depth if self.parametrisation is Parametrisation.STANDARD else self.scales

    @property
    def bias_factor(self) -> float:
        """What multiplies `bˡ`: `σ_b`, or 1 in the standard parametrisation; 0 if there are no biases."""
        return 1.0 if self.bias_std > 0 and self.parametrisation is Parametrisation.STANDARD else float(self.bias_std)

    def sample(self, rng: np.random.Generator, batch: int = 1) -> Array:
        """Parameters `(batch, P)` of independent networks from the initial law.

        The same `rng` state gives both parametrisations the same functions, to rounding.
        """
        parameters = rng.standard_normal((as_integer("batch", batch, 1), self.parameter_count))
        if self.parametrisation is Parametrisation.STANDARD:
            for scale, (weights, biases) in zip((1.0, *self.scales), self.layers(parameters), strict=True):
                weights *= scale
                if biases is not None:
                    biases *= self.bias_std
        return parameters

    def sample_chunks(self, rng: np.random.Generator, batch: int) -> Iterator[Array]:
        """The networks of `sample(rng, batch)`, some at a time, so that memory does not grow with `batch`."""
        for part in chunks(as_integer("batch", batch, 1), self.parameter_count):
            yield self.sample(rng, part.stop - part.start)

    def pack(self, weights: Sequence[ArrayLike], biases: Sequence[ArrayLike] = ()) -> Array:
        """Given `Wˡ` and `bˡ`, `l = 1..L+1`, with or without a leading batch axis, as parameters `(batch, P)`.

        Raises `InvalidInput` for another number of arrays, another shape, or entries that are not finite.

        >>> MLP(2, ()).pack([[[1.0, 2.0]]])
        array([[1., 2.]])
        """
        shapes = [*self.shapes, *((width,) for width, _ in self.shapes if self.bias_std > 0)]
        if len(weights) != self.depth + 1 or len(weights) + len(biases) != len(shapes):
            counts = f"give {self.depth + 1} and {len(shapes) - self.depth - 1}"
            raise InvalidInput("len(weights), len(biases)", (len(weights), len(biases)), counts)
        arrays, sizes = [np.asarray(array, dtype=np.float64) for array in (*weights, *biases)], {1}
        for array, shape in zip(arrays, shapes, strict=True):
            if array.shape[-len(shape) :] != shape or array.ndim > len(shape) + 1:
                raise InvalidInput("shape of weights or biases", array.shape, f"give {shape}, or (batch, *{shape})")
            sizes.update(array.shape[: -len(shape)])
        if len(sizes) > 2 or 0 in sizes:
            raise InvalidInput("batch sizes", sizes, "give all arrays the same, or none")
        parameters = np.empty((max(sizes), self.parameter_count))
        for layer, (own_weights, own_biases) in enumerate(self.layers(parameters)):
            own_weights[...] = arrays[layer]
            if own_biases is not None:
                own_biases[...] = arrays[self.depth + 1 + layer]
        return self.as_parameters(parameters)

    def layers(self, parameters: Array) -> tuple[Layer, ...]:
        """The parameters of each layer `l = 1..L+1`, as views: writing into them changes `parameters`."""
        batch, found = len(parameters), []
        for (width, fan_in), where in zip(self.shapes, self.slices, strict=True):
            block = parameters[:, where]
            weights = block[:, : width * fan_in].reshape(batch, width, fan_in)
            found.append(Layer(weights, block[:, width * fan_in :] if self.bias_std > 0 else None))
        return tuple(found)

    def __call__(self, parameters: ArrayLike, X: ArrayLike) -> Array:
        """`f(x)` for the points `X (n, d)` and each network: `(batch, n, o)`. Memory beyond the result stays bounded.

        Raises `InvalidInput` as `forward` does.
        """
        X, parameters = as_points("X", X, self.dimension), self.as_parameters(parameters)
        per_point = 2 * sum(self.widths) + self.outputs
        outputs = np.empty((len(parameters), len(X), self.outputs))
        for rows in chunks(len(X), per_point):
            for part in chunks(len(parameters), per_point * (rows.stop - rows.start)):
                outputs[part, rows] = self.forward(parameters[part], X[rows]).outputs
        return outputs

    def forward(self, parameters: ArrayLike, X: ArrayLike) -> Forward:
        """All features and preactivations at the points `X (n, d)`: `2 batch n Σ m_l` numbers, kept for `backward`.

        Raises `InvalidInput` if `X` or `parameters` has another shape or is not finite, or if the outputs overflow.
        """
        X, parameters = as_points("X", X, self.dimension), self.as_parameters(parameters)
        phi = pointwise(self.activation).value
        features, preactivations = [X], []
        with np.errstate(over="ignore", invalid="ignore"):
            for index, (weights, biases) in enumerate(self.layers(parameters)):
                u = features[-1] @ weights.swapaxes(1, 2)
                if biases is not None:
                    u += self.bias_factor * biases[:, None]
                preactivations.append(u)
                if index < self.depth:
                    features.append(self.feature_factors[index] * phi(u))
        refuse_overflow("outputs", preactivations[-1])
        return Forward(tuple(features), tuple(preactivations))

    def backward(self, parameters: ArrayLike, forward: Forward) -> Iterator[Array]:
        """`δˡ = ∂f/∂uˡ` for `l = L+1, L, …, 1`, each `(batch, n·o, m_l)`; row `i o + k` is output `k` at point `i`.

        `δ^{L+1}` is the identity in the outputs, and `δˡ = sqrt(c_φ/m_l) φ'(uˡ) ⊙ (W^{l+1}ᵀ δ^{l+1})`.
        """
        batch, n, o = forward.outputs.shape
        slope_of = pointwise(self.activation).derivative
        layers = self.layers(self.as_parameters(parameters))
        delta = np.broadcast_to(np.tile(np.eye(o), (n, 1)), (batch, n * o, o))
        yield delta
        for index in range(self.depth - 1, -1, -1):
            delta = delta @ layers[index + 1].weights
            slope = slope_of(forward.preactivations[index]) * self.feature_factors[index]
            delta.reshape(batch, n, o, -1)[...] *= slope[:, :, None]
            yield delta

    def as_parameters(self, parameters: ArrayLike) -> Array:
        """`parameters` as a float64 array `(batch, P)`; `InvalidInput` for another shape, NaN or infinity."""
        array = as_reals("parameters", parameters)
        if array.ndim != 2 or array.shape[1] != self.parameter_count or len(array) == 0:
            remedy = f"give (batch, {self.parameter_count}), as from sample() or pack()"
            raise InvalidInput("parameters.shape", array.shape, remedy)
        if not np.isfinite(array).all():
            raise InvalidInput("parameters", array, "every entry must be finite")
        return array


def fan_in_uniform(network: MLP, rng: np.random.Generator, batch: int = 1) -> Array:
    """Parameters `(batch, P)` as PyTorch's `nn.Linear` draws them: all of layer `l` uniform on `±1/sqrt(m_{l−1})`.

    With `Parametrisation.STANDARD` this is the initial law of PyTorch's networks; the stream of numbers is not
    PyTorch's. `bias_std` then only says, by being positive, that there are biases.
    """
    parameters = rng.uniform(-1.0, 1.0, (as_integer("batch", batch, 1), network.parameter_count))
    for (_, fan_in), where in zip(network.shapes, network.slices, strict=True):
        parameters[:, where] /= math.sqrt(fan_in)
    return parameters


def chunks(count: int, floats: int) -> Iterator[slice]:
    """Consecutive slices of `range(count)`, as long as `WORKSPACE` allows for items of `floats` numbers, at least 1.

    >>> list(chunks(3, WORKSPACE // 16))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    step = max(1, WORKSPACE // (8 * floats))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def refuse_overflow(argument: str, result: Array) -> None:
    """Raise `InvalidInput` if a result of finite inputs has left the range of float64."""
    if not np.isfinite(result).all():
        raise InvalidInput(argument, "overflow in float64", "give smaller inputs or parameters, or a slower activation")
