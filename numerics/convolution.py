r"""Gram matrices of infinitely wide convolutional ReLU networks in float64: the CNTK and the NNGP kernel.

For images `x, x'` of one size, depth `L >= 0` (convolutional layers), `o` running over the 3×3 offsets, zeros beyond
the border, and `C` channels,

    u^l[p] = (1/3) Σ_o W^l_o g^{l−1}[p+o],   g^l = sqrt(2/C) relu(u^l),   g⁰ = x,   all weights iid N(0, 1),

and an output that reads `g^L` as `theory/pooling.py` says. As `C` grows, for pixels `p` of `x` and `p'` of `x'`, with
the box sum `A(K)[p, p'] = (1/9) Σ_o K[p+o, p'+o]` and the angle `θ_l` whose cosine is the correlation of the pair,
`S^l[p, p']/(a_l[p] a'_l[p'])`, where `a_l[p]² = S^l[p, p]` of `x` with itself, and `a'_l` that of `x'`,

    K⁰ = Z⁰ = x[p]·x'[p'],   S^l = A(K^{l−1}),   T^l = A(Z^{l−1}),
    K^l = a_l[p] a'_l[p'] (sin θ_l + (π − θ_l) cos θ_l)/π,   Z^l = K^l + (1 − θ_l/π) T^l.

The NNGP kernel is the mean of `K^L` over the pixels `p = p'` (`Pooling.NONE`) or over all pairs (`Pooling.MEAN`); the
CNTK is that of `Z^L`. A pixel that sees only black has `a_l = 0`: it has no angle, and contributes nothing.

How: `A` keeps the displacement `p' − p`, so each displacement is taken through all layers on its own, for a block of
pairs of images that stays in a core's cache; `A` is a sum of three along the rows and one along the columns. The pair
`(x', x)` at the displacement `−d` is the pair `(x, x')` at `d`. As `K^l = S^l` for equal pixels, the norms follow from
the image alone, `a_l² = A(a_{l−1}²)`.

Near angle 0 an arccosine would lose half of the digits. With `û_o = a_{l−1}[p+o]/(3 a_l[p])`, and `û'` alike,

    1 − cos θ_l = ½ Σ_o (û_o − û'_o)² + Σ_o û_o û'_o h(θ_{l−1}[p+o, p'+o]),   h(θ) = 2 sin²(θ/2) − (sin θ − θ cos θ)/π,

where nothing cancels; in the first layer `û` holds the values of the pixels, and `h = 0`. Equal images have angle 0.

Accuracy: 1e-12 relative to `√(Θ(x, x) Θ(x', x'))` up to depth 200, 1e-9 up to 2000; without layers and with
`Pooling.MEAN`, where pixels of both signs may cancel, relative to the mean of `|x[p]| |x'[p']|`. What a pixel sees is
black below `SMALLEST`. NaN never comes out. Memory beyond the result: some blocks, and the norms of a tile of images
in all layers.

Source: Arora, Du, Hu, Li, Salakhutdinov, Wang, arXiv:1904.11955. The order of summation and the last formula are ours.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput
from theory.pooling import Pooling

from .data import as_integer

Array = NDArray[np.float64]

BLOCK = (
    2**15
)  # pairs of images times pairs of pixels that are worked on at once: what they need fits into a core's cache
ROWS, COLUMNS = 16, 256  # images of a tile
LAYERED = 2**22  # norms that a tile of images may hold, of all layers
DEEPEST = 10**4  # layers
SMALLEST = 1e-150  # relative to the brightest pixel
NEAR = 1 - 1e-6  # beyond this |cos θ| the arccosine is not used: its error is below 2e-13 before
GATHERED = 2**14  # pairs of pixels whose neighbours are gathered at once


def cntk(images: ArrayLike, images2: ArrayLike | None = None, *, depth: int, pooling: Pooling) -> Array:
    """`Θ^L(x, x')` of `images (n, height, width[, channels])` and `images2` (or `images` again): float64 `(n, n2)`.

    Raises `InvalidInput` for images that are not finite, have another shape, or do not match, a depth that is no
    integer from 0 to `DEEPEST`, and where the kernel overflows float64.

    >>> one_pixel = np.array([[[1.0]], [[2.0]]])  # each layer sees 1 of 9 pixels
    >>> cntk(one_pixel, depth=2, pooling=Pooling.NONE) * 9**2
    array([[ 3.,  6.],
           [ 6., 12.]])
    """
    return _gram(images, images2, depth, pooling)[1]


def cnn_nngp(images: ArrayLike, images2: ArrayLike | None = None, *, depth: int, pooling: Pooling) -> Array:
    """The covariance of the outputs at initialisation; arguments, shape and errors as for `cntk`.

    >>> cnn_nngp(np.array([[[1.0]], [[2.0]]]), depth=2, pooling=Pooling.MEAN) * 9**2
    array([[1., 2.],
           [2., 4.]])
    """
    return _gram(images, images2, depth, pooling)[0]


def as_images(argument: str, value: Any, shape: tuple[int, ...] | None = None) -> Array:
    """`value` as a float64 array of images, `(n, h, w, c)` with `n, h, w, c >= 1`; `shape` prescribes `(h, w, c)`.

    An array `(n, h, w)` has one channel; integers are the floats they are. Raises `InvalidInput`, in the name of
    `argument`, for another shape, NaN or infinity, and for entries that are no numbers.

    >>> as_images("images", np.zeros((5, 8, 8), dtype=np.uint8)).shape
    (5, 8, 8, 1)
    """
    try:
        images = np.asarray(value)
    except ValueError as ragged:
        raise InvalidInput(argument, value, "give one array (n, height, width[, channels])") from ragged
    if images.dtype.kind not in "fiu":
        raise InvalidInput(argument, value, f"entries are {images.dtype}; give floats or integers")
    if images.ndim not in (3, 4) or images.size == 0:
        remedy = "give (n, height, width) or (n, height, width, channels), none of them 0"
        raise InvalidInput(f"{argument}.shape", images.shape, remedy)
    images = images.astype(np.float64, copy=False).reshape(*images.shape[:3], -1)
    if shape is not None and images.shape[1:] != shape:
        remedy = f"one image is {images.shape[1:]}; (height, width, channels) = {shape} is expected"
        raise InvalidInput(f"{argument}.shape", images.shape, remedy)
    finite = np.isfinite(images).all(axis=(1, 2, 3))
    if not finite.all():
        raise InvalidInput(f"{argument}[{np.argmin(finite)}]", "NaN or infinity", "every pixel must be finite")
    return images


@dataclass(frozen=True)
class _Images:
    """Images, pixels first, and what the layers see of them, with a border of zeros.

    `pixels (h + 2, w + 2, n, c)`; `norms (L + 1, h + 2, w + 2, n)` are `a_l`, and `inverses` are `1/(3 a_l)`, 0 where
    `a_l` is 0.
    """

    pixels: Array
    norms: Array
    inverses: Array

    @classmethod
    def of(cls, images: Array, depth: int) -> _Images:
        n, height, width, _ = images.shape
        pixels = np.pad(images.transpose(1, 2, 0, 3), ((1, 1), (1, 1), (0, 0), (0, 0)))
        norms = np.zeros((depth + 1, height + 2, width + 2, n))
        inside = norms[:, 1:-1, 1:-1]
        inside[0] = np.sqrt(np.einsum("nhwc,nhwc->hwn", images, images))
        for layer in range(1, depth + 1):
            squares = np.square(inside[layer - 1 : layer])
            inside[layer] = np.sqrt(_box_sum(squares, np.empty_like(squares))[0]) / 3
        norms[norms < SMALLEST] = 0
        inverses = np.divide(1 / 3, norms, out=np.zeros_like(norms), where=norms > 0)
        return cls(pixels, norms, inverses)

    def window(self, rows: slice, columns: slice) -> _Images:
        """The pixels of a rectangle, and a border of one pixel around it."""
        rows, columns = slice(rows.start, rows.stop + 2), slice(columns.start, columns.stop + 2)
        return _Images(self.pixels[rows, columns], self.norms[:, rows, columns], self.inverses[:, rows, columns])

    def __getitem__(self, some: slice) -> _Images:
        return _Images(self.pixels[:, :, some], self.norms[..., some], self.inverses[..., some])

    def __len__(self) -> int:
        return self.pixels.shape[2]


def _gram(images: ArrayLike, images2: ArrayLike | None, depth: int, pooling: Pooling) -> Array:
    """The NNGP kernel and the CNTK, shape `(2, n, n2)`."""
    depth = as_integer("depth", depth, 0)
    if depth > DEEPEST:
        raise InvalidInput("depth", depth, f"layers are iterated one by one: give at most {DEEPEST}")
    if not isinstance(pooling, Pooling):
        raise InvalidInput("pooling", pooling, "give Pooling.NONE or Pooling.MEAN")
    own, first = images2 is None, as_images("images", images)
    second = first if own else as_images("images2", images2, first.shape[1:])
    (first, exponents), (second, exponents2) = _scaled(first), _scaled(second)
    height, width = first.shape[1:3]
    displacements = [(0, 0)]
    if pooling is Pooling.MEAN:
        every = [(down, across) for down in range(1 - height, height) for across in range(1 - width, width)]
        displacements = [d for d in every if d >= (0, 0)] if own else every
    triangle = own and pooling is Pooling.NONE  # all is symmetric: the upper triangle will do
    gram = np.zeros((2, len(first), len(second)))

    def fill(tile: tuple[slice, slice]) -> None:
        rows, columns = tile
        if triangle:
            columns = slice(max(rows.start, columns.start), columns.stop)
        if columns.start >= columns.stop:
            return
        left, right = _Images.of(first[rows], depth), _Images.of(second[columns], depth)
        gram[:, rows, columns] = sum(
            (0.5 if own and d == (0, 0) and not triangle else 1.0) * _displaced(left, right, *d) for d in displacements
        )

    fits = max(1, LAYERED // ((height + 2) * (width + 2) * (depth + 1)))
    tiles = _tiles(len(first), len(second), min(ROWS, fits), min(COLUMNS, fits))
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy works on a block without the interpreter's lock
        list(pool.map(fill, tiles))
    if own:
        gram = np.triu(gram) + np.triu(gram, 1).swapaxes(1, 2) if triangle else gram + gram.swapaxes(1, 2)
    gram /= height * width if pooling is Pooling.NONE else (height * width) ** 2
    with np.errstate(over="ignore"):
        gram = np.ldexp(gram, exponents[:, None] + exponents2)
    if not np.isfinite(gram).all():
        raise InvalidInput("images", "images whose kernel overflows float64", "give images of smaller norm")
    return gram


def _scaled(images: Array) -> tuple[Array, NDArray[np.int32]]:
    """Images divided by the power of two that makes their largest pixel about 1, and its exponent: `(n,)`."""
    exponents = np.frexp(np.abs(images).max(axis=(1, 2, 3)))[1]
    return np.ldexp(images, -exponents[:, None, None, None]), exponents


def _tiles(n: int, n2: int, rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the tiles that cover a matrix `(n, n2)`."""
    for row in range(0, n, rows):
        for column in range(0, n2, columns):
            yield slice(row, min(row + rows, n)), slice(column, min(column + columns, n2))


def _displaced(left: _Images, right: _Images, down: int, across: int) -> Array:
    """The sums of `K^L` and `Z^L` over the pairs of pixels at one displacement: shape `(2, n, n2)`."""
    height, width = (size - 2 for size in left.pixels.shape[:2])
    rows, columns = slice(max(0, -down), height - max(0, down)), slice(max(0, -across), width - max(0, across))
    here = left.window(rows, columns)
    there = right.window(
        slice(rows.start + down, rows.stop + down), slice(columns.start + across, columns.stop + across)
    )
    step = max(1, BLOCK // ((rows.stop - rows.start) * (columns.stop - columns.start) * len(there)))
    sums = np.empty((2, len(here), len(there)))
    for start in range(0, len(here), step):
        sums[:, start : start + step] = _block(here[start : start + step], there)
    return sums


def _block(here: _Images, there: _Images) -> Array:
    """The sums of `K^L` and `Z^L` over the pixels of a window: shape `(2, n, n2)`."""
    inside = np.s_[1:-1, 1:-1]
    start = here.pixels[inside] @ there.pixels[inside].swapaxes(2, 3)
    kernels = np.stack([start, start])  # K and Z, or 9 S and 9 T
    scratch = np.empty_like(kernels)
    angle, before = np.zeros_like(start), start
    (cosine, tangent), (sine, rest) = kernels, scratch
    for layer in range(1, len(here.norms)):
        _box_sum(kernels, scratch)
        cosine *= here.inverses[layer][inside][..., :, None]
        cosine *= there.inverses[layer][inside][..., None, :]
        np.clip(cosine, -1.0, 1.0, out=cosine)
        np.multiply(cosine, cosine, out=sine)
        near = np.flatnonzero(sine > NEAR**2)
        np.subtract(1.0, sine, out=sine)
        np.sqrt(sine, out=sine)
        angle, before = before, angle
        np.arccos(cosine, out=angle)
        if near.size:
            for some in np.array_split(near, 1 + near.size // GATHERED):
                exact = _near_angles(here, there, layer, before, some, cosine.flat[some] < 0)
                angle.flat[some], sine.flat[some], cosine.flat[some] = exact, np.sin(exact), np.cos(exact)
        np.subtract(math.pi, angle, out=rest)
        tangent *= rest
        tangent *= 1 / (9 * math.pi)
        cosine *= rest
        cosine += sine
        cosine *= here.norms[layer][inside][..., :, None] / math.pi
        cosine *= there.norms[layer][inside][..., None, :]
        tangent += cosine
    return kernels.sum(axis=(1, 2))


def _near_angles(
    here: _Images, there: _Images, layer: int, before: Array, near: NDArray[np.intp], opposite: NDArray[np.bool_]
) -> Array:
    """`θ_l` of the pairs of pixels `near`, whose cosine is nearly 1, or nearly -1 where `opposite`.

    By the last formula of the module; `before` has `θ_{l−1}` of all pairs.
    """
    row, column, i, j = np.unravel_index(near, before.shape)
    height, width = before.shape[:2]
    sign = np.where(opposite, -1.0, 1.0)[:, None]
    values, values2 = (side.pixels if layer == 1 else side.norms[layer - 1][..., None] for side in (here, there))
    scale, scale2 = here.inverses[layer][row + 1, column + 1, i], there.inverses[layer][row + 1, column + 1, j]
    versine = np.zeros(len(row))  # 1 - cos θ
    for down, across in np.ndindex(3, 3):
        unit = values[row + down, column + across, i] * scale[:, None]
        unit2 = values2[row + down, column + across, j] * scale2[:, None]
        versine += np.square(unit - sign * unit2).sum(axis=1) / 2
        if layer > 1:
            # outside of the window one of the two is 0
            inner = before[np.clip(row + down - 1, 0, height - 1), np.clip(column + across - 1, 0, width - 1), i, j]
            bend = 2 * np.square(np.sin(inner / 2)) - (np.sin(inner) - inner * np.cos(inner)) / math.pi
            versine += unit[:, 0] * unit2[:, 0] * bend
    angle = 2 * np.arcsin(np.sqrt(versine / 2))
    return np.where(opposite, math.pi - angle, angle)


def _box_sum(values: Array, scratch: Array) -> Array:
    """The sums over 3×3 neighbourhoods along the axes 1 and 2, in place; `scratch` is alike."""
    _sum_of_three(values, scratch)
    _sum_of_three(scratch.swapaxes(1, 2), values.swapaxes(1, 2))
    return values


def _sum_of_three(values: Array, out: Array) -> None:
    """`out[:, i] = values[:, i−1] + values[:, i] + values[:, i+1]`, with zeros beyond the ends."""
    out[...] = values
    out[:, 1:] += values[:, :-1]
    out[:, :-1] += values[:, 1:]
