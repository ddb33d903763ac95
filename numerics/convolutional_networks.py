r"""Finite convolutional networks, many at once: drawing and running them, their gradients and tangent kernels.

For an image `x` of `h × w` pixels with `c` channels, `L >= 0` convolutional layers of `C_1..C_L` channels, `C_0 = c`,
and `o >= 1` outputs,

    g⁰ = x,   u^l[p] = (1/3) Σ_δ W^l_δ g^{l−1}[p+δ],   g^l = sqrt(c_φ/C_l) φ(u^l)  (l = 1..L),   f = W^{L+1} r,

where `δ` runs over the 3×3 offsets, pixels beyond the border are 0, and the *readout* `r` is `g^L` flattened and
divided by `√(hw)` (`Pooling.NONE`), or its mean over the pixels (`Pooling.MEAN`); no biases, all weights iid N(0, 1),
`c_φ = 1/E[φ(z)²]`. The limit of the tangent kernel as the channels grow is `kernels.cntk` (for ReLU).

The parameters of a batch of networks are one float64 array `(batch, P)`: a row holds `W¹, …, W^{L+1}`, each row by row;
a row of `W^l` is one output channel, its columns are offsets (by rows of the image) and, for each, input channels.

Source: Arora, Du, Hu, Li, Salakhutdinov, Wang, arXiv:1904.11955. Departures: the first layer is not divided by the
number of channels; the factor `c_φ`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from theory.activations import Activation, ReLU
from theory.errors import InvalidInput
from theory.pooling import Pooling

from .activations import normalisation, pointwise
from .convolution import as_images
from .data import Array, as_integer, as_reals
from .empirical import EmpiricalNTK
from .gradients import floats_per_point, pullback
from .networks import Forward, chunks, refuse_overflow


@dataclass(frozen=True)
class CNN:
    """The architecture and the initial law of a convolutional network; see the module for its definition.

    `image_shape` is `(h, w, c)`, `channels` are `C_1..C_L` (an empty tuple is a linear model). The methods are those of
    `MLP`; a run keeps features and preactivations of shape `(batch, n, h, w, C_l)`.

    Raises `InvalidInput` for a size that is no positive integer.

    >>> network = CNN((8, 8, 1), channels=(4, 4), pooling=Pooling.MEAN, outputs=2)
    >>> parameters = network.sample(np.random.default_rng(0), batch=5)
    >>> network(parameters, np.ones((3, 8, 8))).shape
    (5, 3, 2)
    """

    image_shape: tuple[int, int, int]
    channels: tuple[int, ...]
    pooling: Pooling
    outputs: int = 1
    activation: Activation = field(default_factory=ReLU)

    def __post_init__(self) -> None:
        if not isinstance(self.image_shape, Sequence) or len(self.image_shape) != 3:
            raise InvalidInput("image_shape", self.image_shape, "give (height, width, channels)")
        if not isinstance(self.channels, Sequence):
            raise InvalidInput("channels", self.channels, "give one number per convolutional layer, such as (64,) * 3")
        for name in ("image_shape", "channels"):
            sizes = tuple(as_integer(f"{name}[{i}]", size, 1) for i, size in enumerate(getattr(self, name)))
            object.__setattr__(self, name, sizes)
        as_integer("outputs", self.outputs, 1)
        if not isinstance(self.pooling, Pooling):
            raise InvalidInput("pooling", self.pooling, "give Pooling.NONE or Pooling.MEAN")
        if not isinstance(self.activation, Activation):
            raise InvalidInput("activation", self.activation, "give an Activation object, such as ReLU()")

    @classmethod
    def of_depth(cls, image_shape: tuple[int, int, int], *, width: int, depth: int, **fields: Any) -> CNN:
        """`depth >= 0` convolutional layers of `width` channels each; the other fields by name."""
        return cls(image_shape, (as_integer("width", width, 1),) * as_integer("depth", depth, 0), **fields)

    @property
    def depth(self) -> int:
        """`L`, the number of convolutional layers."""
        return len(self.channels)

    @property
    def pixels(self) -> int:
        """`hw`."""
        return self.image_shape[0] * self.image_shape[1]

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The shapes of `W^l`, `l = 1..L+1`."""
        sizes = (self.image_shape[2], *self.channels)
        readout = sizes[-1] * (self.pixels if self.pooling is Pooling.NONE else 1)
        return (*((after, 9 * before) for before, after in pairwise(sizes)), (self.outputs, readout))

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where `W^l` lies among all `P` parameters, `l = 1..L+1`."""
        ends = np.cumsum([0, *(rows * columns for rows, columns in self.shapes)]).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(ends))

    @property
    def parameter_count(self) -> int:
        """`P`.

        >>> CNN((8, 8, 1), (4, 4), Pooling.MEAN).parameter_count
        184
        """
        return self.slices[-1].stop

    @cached_property
    def feature_factors(self) -> tuple[float, ...]:
        """`sqrt(c_φ/C_l)`, `l = 1..L`."""
        return tuple(math.sqrt(normalisation(self.activation) / size) for size in self.channels)

    def sample(self, rng: np.random.Generator, batch: int = 1) -> Array:
        """Parameters `(batch, P)` of independent networks from the initial law."""
        return rng.standard_normal((as_integer("batch", batch, 1), self.parameter_count))

    def sample_chunks(self, rng: np.random.Generator, batch: int) -> Iterator[Array]:
        """The networks of `sample(rng, batch)`, some at a time, so that memory does not grow with `batch`."""
        for part in chunks(as_integer("batch", batch, 1), self.parameter_count):
            yield self.sample(rng, part.stop - part.start)

    def weights(self, parameters: Array) -> tuple[Array, ...]:
        """`W^l`, `l = 1..L+1`, each `(batch, *shapes[l−1])`, as views: writing into them changes `parameters`."""
        return tuple(
            parameters[:, where].reshape(-1, *shape) for where, shape in zip(self.slices, self.shapes, strict=True)
        )

    def __call__(self, parameters: ArrayLike, images: ArrayLike) -> Array:
        """`f(x)` for `images (n, h, w[, c])` and each network: `(batch, n, o)`. Memory beyond the result stays bounded.

        Raises `InvalidInput` as `forward` does.
        """
        images, parameters = as_images("images", images, self.image_shape), self.as_parameters(parameters)
        per_point = floats_per_point(self)
        outputs = np.empty((len(parameters), len(images), self.outputs))
        for rows in chunks(len(images), per_point):
            for part in chunks(len(parameters), per_point * (rows.stop - rows.start)):
                outputs[part, rows] = self.forward(parameters[part], images[rows]).outputs
        return outputs

    def forward(self, parameters: ArrayLike, images: ArrayLike) -> Forward:
        """All features and preactivations at `images (n, h, w[, c])`, kept for `backward`; `g⁰` has no batch axis.

        Raises `InvalidInput` if `images` or `parameters` has another shape or is not finite, or the outputs overflow.
        """
        images, parameters = as_images("images", images, self.image_shape), self.as_parameters(parameters)
        phi, batch, n = pointwise(self.activation).value, len(parameters), len(images)
        *filters, readout = self.weights(parameters)
        features, preactivations = [images], []
        with np.errstate(over="ignore", invalid="ignore"):
            for layer, (weights, factor) in enumerate(zip(filters, self.feature_factors, strict=True)):
                seen = patches(features[-1]).reshape(1 if layer == 0 else batch, n * self.pixels, -1)
                u = (seen @ weights.swapaxes(1, 2) / 3).reshape(batch, n, *self.image_shape[:2], -1)
                preactivations.append(u)
                features.append(factor * phi(u))
            preactivations.append(self._readout(features[-1]) @ readout.swapaxes(1, 2))
        refuse_overflow("outputs", preactivations[-1])
        return Forward(tuple(features), tuple(preactivations))

    def backward(self, parameters: ArrayLike, forward: Forward, cotangents: Array | None = None) -> Iterator[Array]:
        """`δ^l = ∂f/∂u^l` for `l = L+1, L, …, 1`: `(batch, n, k, o)`, then each `(batch, n, k, h, w, C_l)`.

        `cotangents (batch, n, k, o)` are `k` combinations of the outputs at each point; by default `k = o`, the
        outputs themselves.
        """
        batch, n, o = forward.outputs.shape
        weights = self.weights(self.as_parameters(parameters))
        slope_of = pointwise(self.activation).derivative
        delta = np.broadcast_to(np.eye(o), (batch, n, o, o)) if cotangents is None else cotangents
        yield delta
        rows = delta.shape[2]
        for index in range(self.depth - 1, -1, -1):
            pulled = delta.reshape(batch, -1, self.shapes[index + 1][0]) @ weights[index + 1]
            if index == self.depth - 1:
                pulled = self._readout_pulled_back(pulled.reshape(batch, n, rows, -1))
            else:
                pulled = _folded(pulled.reshape(batch, n, rows, *self.image_shape[:2], 9, -1)) / 3
            slope = slope_of(forward.preactivations[index]) * self.feature_factors[index]
            delta = pulled * slope[:, :, None]
            yield delta

    def layer_gradients(self, forward: Forward, layer: int, delta: Array, *, sum_points: bool) -> Array:
        """Gradients by `W^l`, `l = layer`, of what `delta` is that of: `(batch, n, k, size of W^l)`.

        With `sum_points` they are summed over the points: `(batch, k, size of W^l)`.
        """
        batch, n, rows = delta.shape[:3]
        if layer == self.depth + 1:
            seen = np.broadcast_to(self._readout(forward.features[-1]), (batch, n, self.shapes[-1][1]))[:, :, None]
            left = delta[..., None, :]
        else:
            seen = patches(forward.features[layer - 1] / 3)
            seen = np.broadcast_to(seen, (batch, n, *seen.shape[-2:]))
            left = delta.reshape(batch, n, rows, self.pixels, -1)
        if sum_points:
            left = left.swapaxes(1, 2).reshape(batch, rows, -1, left.shape[-1])
            gradients = left.swapaxes(2, 3) @ seen.reshape(batch, 1, -1, seen.shape[-1])
        else:
            gradients = left.swapaxes(3, 4) @ seen[:, :, None]
        return gradients.reshape(*gradients.shape[:-2], -1)

    def as_parameters(self, parameters: ArrayLike) -> Array:
        """`parameters` as a float64 array `(batch, P)`; `InvalidInput` for another shape, NaN or infinity."""
        array = as_reals("parameters", parameters)
        if array.ndim != 2 or array.shape[1] != self.parameter_count or len(array) == 0:
            remedy = f"give (batch, {self.parameter_count}), as from sample()"
            raise InvalidInput("parameters.shape", array.shape, remedy)
        if not np.isfinite(array).all():
            raise InvalidInput("parameters", array, "every entry must be finite")
        return array

    def _readout(self, features: Array) -> Array:
        """`r`, shape `(…, size of r)`."""
        if self.pooling is Pooling.MEAN:
            return features.mean(axis=(-3, -2))
        return features.reshape(*features.shape[:-3], -1) / math.sqrt(self.pixels)

    def _readout_pulled_back(self, cotangents: Array) -> Array:
        """The cotangents of `g^L` that belong to those of `r`."""
        height, width, _ = self.image_shape
        if self.pooling is Pooling.MEAN:
            spread = cotangents[..., None, None, :] / self.pixels
            return np.broadcast_to(spread, (*spread.shape[:-3], height, width, spread.shape[-1]))
        return cotangents.reshape(*cotangents.shape[:-1], height, width, -1) / math.sqrt(self.pixels)


@floats_per_point.register
def _(network: CNN) -> int:
    channels = (network.image_shape[2], *network.channels)
    return network.pixels * (4 * sum(channels) + 20 * max(channels)) + network.outputs


@pullback.register
def _(network: CNN, parameters: Array, run: Any, cotangents: Array) -> Array:
    gradient = np.empty_like(parameters)
    with np.errstate(over="ignore", invalid="ignore"):
        signals = network.backward(parameters, run, cotangents[:, :, None])
        for layer, delta in zip(range(network.depth + 1, 0, -1), signals, strict=True):
            found = network.layer_gradients(run, layer, delta, sum_points=True)
            gradient[:, network.slices[layer - 1]] = found[:, 0]
    return gradient


def empirical_cntk(
    network: CNN, parameters: ArrayLike, images: ArrayLike, images2: ArrayLike | None = None
) -> EmpiricalNTK:
    """The tangent kernel between `images (n, h, w[, c])` and `images2` of each network `parameters (batch, P)`.

    Networks are taken some at a time; the gradients of one, `(n + n2)·o` times the weights of its largest layer, are
    kept at once. Raises `InvalidInput` for wrong shapes, NaN or infinity, and on overflow.

    >>> network = CNN((1, 1, 1), (1,), Pooling.NONE)
    >>> parameters = np.array([[0.0] * 4 + [3.0] + [0.0] * 4 + [2.0]])  # u = x, as 3/3 = 1; g = √2 x; f = 2 √2 x
    >>> empirical_cntk(network, parameters, np.ones((1, 1, 1))).total.round(10)  # (2 √2/3)² + (√2)²
    array([[[[[2.88888889]]]]])
    """
    parameters = network.as_parameters(parameters)
    images = as_images("images", images, network.image_shape)
    other = images if images2 is None else as_images("images2", images2, network.image_shape)
    o, points = network.outputs, len(images) + len(other)
    shape = (len(parameters), len(images), o, len(other), o)
    layers = tuple(np.empty(shape) for _ in network.shapes)
    largest = max(rows * columns for rows, columns in network.shapes)
    for part in chunks(len(parameters), points * o * (2 * largest + floats_per_point(network))):
        own = parameters[part]
        batch = len(own)
        left = _jacobians(network, own, images)
        right = left if images2 is None else _jacobians(network, own, other)
        pairs = ((J, J) for J in left) if images2 is None else zip(left, right, strict=True)
        for kernel, (J, J2) in zip(reversed(layers), pairs, strict=True):
            kernel[part] = (J @ J2.swapaxes(1, 2)).reshape(batch, *shape[1:])
    for layer in layers:
        refuse_overflow("empirical_cntk", layer)
    return EmpiricalNTK(layers)


def _jacobians(network: CNN, parameters: Array, images: Array) -> Iterator[Array]:
    """The derivatives of the outputs by `W^l`, `(batch, n·o, size of W^l)`, for `l = L+1, …, 1`."""
    run = network.forward(parameters, images)
    with np.errstate(over="ignore", invalid="ignore"):
        signals = network.backward(parameters, run)
        for layer, delta in zip(range(network.depth + 1, 0, -1), signals, strict=True):
            gradients = network.layer_gradients(run, layer, delta, sum_points=False)
            yield gradients.reshape(len(parameters), len(images) * network.outputs, -1)


def patches(features: Array) -> Array:
    """What each pixel sees of `features (…, h, w, c)`: `(…, h·w, 9c)`, offset by offset, zeros beyond the border.

    >>> patches(np.array([[[1.0], [2.0]]]))
    array([[0., 0., 0., 0., 1., 2., 0., 0., 0.],
           [0., 0., 0., 1., 2., 0., 0., 0., 0.]])
    """
    *leading, height, width, channels = features.shape
    padded = np.pad(features, [(0, 0)] * len(leading) + [(1, 1), (1, 1), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(-3, -2))
    return np.moveaxis(windows, -3, -1).reshape(*leading, height * width, 9 * channels)


def _folded(seen: Array) -> Array:
    """The transpose of `patches`: `seen (…, h, w, 9, c)` added up where it was seen, `(…, h, w, c)`."""
    *leading, height, width, _, channels = seen.shape
    padded = np.zeros((*leading, height + 2, width + 2, channels))
    for offset, (down, across) in enumerate(np.ndindex(3, 3)):
        padded[..., down : down + height, across : across + width, :] += seen[..., offset, :]
    return padded[..., 1:-1, 1:-1, :]
