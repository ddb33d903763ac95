"""Chapter 1, convolution: the tangent kernel of convolutional networks, derived, enumerated, and by finite networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from sympy import Add, Expr, Rational, Sum, acos, pi, sqrt

from numerics import data, kernels
from numerics.convolutional_networks import CNN, empirical_cntk
from numerics.exponents import Statistic
from numerics.kernels import Pooling
from theory import convolution
from theory.convolution import IMAGE, IMAGE_PRIME, K, K_dot, N, T, covariance, n, p, q, t
from theory.ntk import L, layer_sum

from ..claims import claim
from ..evidence import Expectation, Identity, Property, Scaling
from ..evidence.expectation import Prediction
from ..verdicts import Verdict
from .sources import NTK_ARTICLE

Vector = NDArray[np.float64]
Pixel = tuple[int, int]
Number = Any  # of `DIGITS`
Pairs = dict[tuple[Pixel, Pixel], Number]

# --- closed forms -----------------------------------------------------------------------------------------------------


def pair_of_pixels(square: Expr, square_prime: Expr, correlation: Expr) -> Expr:
    """`K + K̇ S` of one layer for variances and a covariance that are a ninth of the arguments."""
    angle = acos(correlation / sqrt(square * square_prime))
    return (sqrt(square * square_prime - correlation**2) + 2 * (pi - angle) * correlation) / (9 * pi)


def _square(image: tuple[Expr, ...]) -> Expr:
    return Add(*(value**2 for value in image))


_X, _Y = IMAGE[:2], IMAGE_PRIME[:2]
TWO_PIXELS = Rational(1, 4) * Add(  # with pooling: two pairs at the displacement 0, one each at 1 and -1
    2 * pair_of_pixels(_square(_X), _square(_Y), _X[0] * _Y[0] + _X[1] * _Y[1]),
    pair_of_pixels(_square(_X), _square(_Y), _X[0] * _Y[1]),
    pair_of_pixels(_square(_X), _square(_Y), _X[1] * _Y[0]),
)
FOUR_PIXELS = pair_of_pixels(
    _square(IMAGE), _square(IMAGE_PRIME), Add(*(x * y for x, y in zip(IMAGE, IMAGE_PRIME, strict=True)))
)
FLATTENED = (Sum(K[q, q], (q, 1, N)) + Sum(K_dot[q, q] * covariance[q, q], (q, 1, N))) / N
POOLED = (Sum(K[p, q], (p, 1, N), (q, 1, N)) + Sum(K_dot[p, q] * covariance[p, q], (p, 1, N), (q, 1, N))) / N**2
NEXT_LAYER = (Sum(K[t, t], (t, 1, n)) + Sum(K_dot[t, t] * T[t, t], (t, 1, n))) / n

# --- direct enumeration -----------------------------------------------------------------------------------------------

DIGITS = mpmath.MPContext()
DIGITS.dps = 40
OFFSETS: tuple[Pixel, ...] = tuple((down, across) for down in (-1, 0, 1) for across in (-1, 0, 1))
ROUNDING = 1e-12  # of the kernel, relative to those of the two images with themselves


@dataclass(frozen=True)
class Enumeration:
    """The recursion of the kernels, pair of pixels by pair of pixels, in 40 digits. Other fields make it wrong."""

    offsets: tuple[Pixel, ...] = OFFSETS
    patch: int = 9
    reflected: bool = False  # the border is a mirror
    c_phi: int = 2
    slope_degree: int = 0  # of the arc-cosine kernel that is taken for `K̇`
    first_layer: int = 1  # how often its part counts
    readout: int = 1  # the same for the output layer
    other_pooling: bool = False

    def kernels(self, x: Vector, y: Vector, depth: int, pooling: Pooling) -> tuple[float, float]:
        """The NNGP kernel and the CNTK of two images `(h, w, c)`."""
        height, width, _ = x.shape
        pixels = [(row, column) for row in range(height) for column in range(width)]
        diagonal = [(at, at) for at in pixels]
        squares, squares_prime = _products(x, x, diagonal), _products(y, y, diagonal)
        K = _products(x, y, [(at, to) for at in pixels for to in pixels])
        Z = {pair: self.first_layer * value for pair, value in K.items()}
        for _ in range(depth):
            squares, squares_prime, S, T = (self._box(v, height, width) for v in (squares, squares_prime, K, Z))
            for (at, to), covariance_ in S.items():
                K[at, to], slope = self._duals(squares[at, at] * squares_prime[to, to], covariance_)
                Z[at, to] = K[at, to] + slope * T[at, to]
            squares, squares_prime = (
                {pair: self._duals(v**2, v)[0] for pair, v in own.items()} for own in (squares, squares_prime)
            )
        flat = (pooling is Pooling.NONE) is not self.other_pooling
        pairs = diagonal if flat else list(K)
        features, tangent = (DIGITS.fsum(values[pair] for pair in pairs) / len(pairs) for values in (K, Z))
        return float(features), float(tangent + (self.readout - 1) * features)

    def _box(self, values: Pairs, height: int, width: int) -> Pairs:
        """The sums over the neighbours of both pixels, over 9."""

        def neighbour(at: Pixel, offset: Pixel) -> Pixel:
            row, column = at[0] + offset[0], at[1] + offset[1]
            if self.reflected:
                return min(max(row, 0), height - 1), min(max(column, 0), width - 1)
            return row, column

        return {
            (at, to): DIGITS.fsum(values.get((neighbour(at, o), neighbour(to, o)), 0) for o in self.offsets)
            / self.patch
            for at, to in values
        }

    def _duals(self, variances: Number, covariance_: Number) -> tuple[Number, Number]:
        """`K` and `K̇` for a product of variances and a covariance; 0 where there is no variance."""
        if variances == 0:
            return DIGITS.zero, DIGITS.zero
        height = DIGITS.sqrt(max(DIGITS.zero, variances - covariance_**2))
        slope = (DIGITS.pi - DIGITS.atan2(height, covariance_)) / DIGITS.pi
        value = height / DIGITS.pi + slope * covariance_
        return self.c_phi * value / 2, self.c_phi * (value / DIGITS.sqrt(variances) if self.slope_degree else slope) / 2


def _products(x: Vector, y: Vector, pairs: list[tuple[Pixel, Pixel]]) -> Pairs:
    return {(at, to): DIGITS.fdot(x[at].tolist(), y[to].tolist()) for at, to in pairs}


WRONG_RECURSIONS = {
    "one offset dropped": Enumeration(offsets=OFFSETS[1:]),
    "the middle offset dropped": Enumeration(offsets=tuple(o for o in OFFSETS if o != (0, 0))),
    "the border a mirror": Enumeration(reflected=True),
    "no factor 1/9": Enumeration(patch=1),
    "no factor two for ReLU": Enumeration(c_phi=1),
    "the kernel of ReLU for that of its derivative": Enumeration(slope_degree=1),
    "the first layer left out": Enumeration(first_layer=0),
    "the last layer left out": Enumeration(readout=0),
    "the other pooling": Enumeration(other_pooling=True),
}


def random_images(rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Two tiny images `(h, w, c)`, some of whose pixels are black: unrelated, or nearly or exactly parallel."""
    shape = tuple(int(size) for size in rng.integers(1, (4, 4, 3)))
    x, other = rng.standard_normal((2, *shape)) * (rng.random((2, *shape[:2], 1)) < rng.choice([0.5, 1.0]))
    match int(rng.integers(4)):
        case 0:
            return x, x
        case 1:
            return x, x + 10.0 ** -int(rng.integers(1, 17)) * other
        case 2:
            return x, -3 * x + 10.0 ** -int(rng.integers(1, 17)) * other
        case _:
            return x, other


def enumerated(rng: np.random.Generator, recursion: Enumeration | None = None) -> str:
    """What is wrong with the kernels of two random tiny images, by enumeration."""
    x, y = random_images(rng)
    depth, pooling = int(rng.integers(4)), (Pooling.NONE, Pooling.MEAN)[rng.integers(2)]
    found = [kernel(np.stack([x, y]), depth=depth, pooling=pooling) for kernel in (kernels.cnn_nngp, kernels.cntk)]
    for gram, exact in zip(found, (recursion or Enumeration()).kernels(x, y, depth, pooling), strict=True):
        if not abs(gram[0, 1] - exact) <= ROUNDING * np.sqrt(gram[0, 0] * gram[1, 1]):
            return f"{gram[0, 1]:.17g} is not {exact:.17g} for {x.shape} pixels, depth {depth}, {pooling}"
    return ""


# --- symmetries -------------------------------------------------------------------------------------------------------


def symmetric(rng: np.random.Generator, kernel: Callable[..., Vector] = kernels.cntk) -> str:
    """What is wrong with the symmetries of the kernel of random images; other kernels lack one of them."""
    height, width = (int(size) for size in rng.integers(1, 5, size=2))
    depth, pooling = int(rng.integers(4)), (Pooling.NONE, Pooling.MEAN)[rng.integers(2)]
    images = rng.standard_normal((3, height, width)) * (rng.random((3, height, width)) < 0.7)
    images[:, 0, 0] = rng.standard_normal(3)
    of = partial(kernel, depth=depth, pooling=pooling)
    gram = of(images)
    error = ROUNDING * np.trace(gram)
    if not np.array_equal(gram, gram.T):
        return "not symmetric"
    if np.linalg.eigvalsh(gram)[0] < -error:
        return "a negative eigenvalue"
    scales = np.array([0.5, 3.0, 1.0])
    if np.abs(of(scales[:, None, None] * images) - np.outer(scales, scales) * gram).max() > 9 * error:
        return "not homogeneous"
    for turned in (images[:, ::-1], images[:, :, ::-1], images.swapaxes(1, 2)):
        if np.abs(of(turned) - gram).max() > error:
            return "changed by a reflection of both images"
    frame = depth + 1  # black pixels, so that what is seen of the image does not reach the border
    framed = np.pad(images, ((0, 0), (frame, frame), (frame, frame)))
    if pooling is Pooling.MEAN and np.abs(of(framed, np.roll(framed, 1, axis=1)) - of(framed)).max() > error:
        return "with pooling, changed by moving one image inside a black frame"
    return ""


WRONG_KERNELS: dict[str, Callable[..., Vector]] = {
    "a constant added": lambda *images, **how: kernels.cntk(*images, **how) + 1e-3,
    "the sign": lambda *images, **how: -kernels.cntk(*images, **how),
    "the images told apart": lambda images, *more, **how: kernels.cntk(images, *more, **how) * [1.0, 1.001, 1.0],
    "rows told apart": lambda *images, **how: kernels.cntk(
        *(x * (1 + 1e-3 * np.arange(x.shape[1])[:, None]) for x in images), **how
    ),
    "never pooled": lambda *images, depth, pooling: kernels.cntk(*images, depth=depth, pooling=Pooling.NONE),
}

# --- finite networks --------------------------------------------------------------------------------------------------

SMALL = np.array([[[1.0, -0.5, 0.0], [0.5, 1.0, 0.0]], [[0.0, 1.0, 0.5], [-1.0, 1.0, 0.0]]])  # two images, 2×3
OPPOSITE = np.array([[[1.0, 0.5]], [[-1.0, -0.5]]])  # 1×2 pixels, where the bias is large
PAIRS = np.triu_indices(2)
Images = Vector | Callable[[], Vector]  # digits are read when they are asked for: scikit-learn loads slowly
SMALL_CHANNELS, CHANNELS = (4, 6, 8, 12, 16), (8, 16, 32, 64)
BLOCK = 40  # networks in a block mean


@cache
def digit_pair() -> Vector:
    """The first two of scikit-learn's digits, `(2, 8, 8)`."""
    return data.digits(2).images.reshape(2, 8, 8)


def in_hand(images: Images) -> Vector:
    """Images, read from their file now if need be."""
    return images() if callable(images) else images


def kernels_of_networks(
    rng: np.random.Generator, count: int, *, images: Images, channels: int, depth: int, pooling: Pooling
) -> Vector:
    """`Θ_11, Θ_12, Θ_22` of random finite networks at two images, shape `(count, 3)`."""
    images = in_hand(images)
    network = CNN.of_depth((*images.shape[1:], 1), width=channels, depth=depth, pooling=pooling)
    drawn = network.sample_chunks(rng, count)
    found = np.concatenate([empirical_cntk(network, parameters, images).total for parameters in drawn])
    return found[:, :, 0, :, 0][:, *PAIRS]


def limit(images: Images, depth: int, pooling: Pooling) -> Vector:
    """The limit of the same."""
    images = in_hand(images)
    return kernels.cntk(images, depth=depth, pooling=pooling)[PAIRS]


def prediction(images: Images, pooling: Pooling) -> Prediction:
    """The limit for one layer, and what is wrong instead."""
    other = Pooling.MEAN if pooling is Pooling.NONE else Pooling.NONE
    return Prediction.number(
        partial(limit, images, 1, pooling),
        {
            "the NNGP kernel instead": lambda _: kernels.cnn_nngp(in_hand(images), depth=1, pooling=pooling)[PAIRS],
            "two layers": lambda _: limit(images, 2, pooling),
            "the other pooling": lambda _: limit(images, 1, other),
            "a border of one more pixel": lambda _: limit(
                np.pad(in_hand(images), ((0, 0), (1, 1), (1, 1))), 1, pooling
            ),
            "no factor 1/9": lambda values: 9 * values,
            "a tenth too large": lambda values: 1.1 * values,
            "a tenth too small": lambda values: 0.9 * values,
        },
    )


def equal_images(rng: np.random.Generator, count: int) -> Vector:
    """`Θ(x, x)` of random networks of two layers, flattened, for two images: shape `(count, 2)`."""
    found = kernels_of_networks(rng, count, images=SMALL, channels=2, depth=2, pooling=Pooling.NONE)
    return found[:, [0, 2]]


def kernel_deficit(rng: np.random.Generator, channels: int, count: int) -> Vector:
    """`Θ²(x, x') − Θ(x, x')` with pooling, averaged over blocks of networks, shape `(count,)`."""
    found = kernels_of_networks(rng, count * BLOCK, images=OPPOSITE, channels=channels, depth=2, pooling=Pooling.MEAN)
    return (limit(OPPOSITE, 2, Pooling.MEAN)[1] - found[:, 1]).reshape(count, BLOCK).mean(axis=1)


def distance_on_digits(rng: np.random.Generator, channels: int, count: int) -> Vector:
    """`|Θ(x, x') − Θ²(x, x')|` on two digits, with pooling, shape `(count,)`."""
    found = kernels_of_networks(rng, count, images=digit_pair(), channels=channels, depth=2, pooling=Pooling.MEAN)
    return np.abs(found[:, 1] - limit(digit_pair(), 2, Pooling.MEAN)[1])


cntk = claim(
    id="cntk",
    title="The convolutional tangent kernel",
    source=NTK_ARTICLE.at("convolutional NTK, after Arora et al. (2019)"),
    statement=r"S^{l+1} = \mathcal{A} K^l,\quad T^{l+1} = \mathcal{A}(K^l + \dot K^l \odot T^l),\quad "
    r"\mathcal{A}M[p, p'] = \tfrac19 \sum_{o} M[p+o, p'+o],\quad "
    r"\Theta^L = \operatorname{mean}_{p = p' \text{ or } p,\, p'} (K^L + \dot K^L T^L)",
    hypotheses=("ReLU, 3x3 filters, zero padding, no biases", "NTK parametrisation, all weights N(0, 1)"),
    conditions=(
        "the mean kernel of finite networks is the limit at every number of channels C if L = 1, and off by O(1/C) for "
        "L >= 2",
        "a pixel that sees only black contributes nothing: its angle is 0/0",
    ),
    findings=(
        "the source calls it the equivalent of training finite networks: it is that of their limit; the kernel of a "
        "network of C channels is off by C^(-1/2), on average by 1/C",
        "flattened, the kernel of an image with itself has the limit as its mean at every C and L, as the products of "
        "two weights do not know the sign of what they add up to; with pooling it has not",
        "flattened, on at most 2x2 pixels, it is (1/9)(N/9)^(L-1) times the NTK of a fully connected network: the "
        "kernel does not know where the N pixels are",
        "with pooling, moving one image by a pixel inside a black frame of L + 1 pixels changes nothing",
    ),
    parts={
        "the recursion": [
            Identity(
                name="one layer, flattened, at every number of channels",
                derivation=partial(convolution.one_layer_expectation, Pooling.NONE),
                claimed=FLATTENED,
            ),
            Identity(
                name="one layer, with pooling, at every number of channels",
                derivation=partial(convolution.one_layer_expectation, Pooling.MEAN),
                claimed=POOLED,
            ),
            Identity(name="the next layer", derivation=convolution.next_layer, claimed=NEXT_LAYER),
        ],
        "tiny images in closed form": [
            Identity(
                name="1x2 pixels, one layer, with pooling",
                derivation=partial(convolution.in_pixels, 1, 2, Pooling.MEAN),
                claimed=TWO_PIXELS,
            ),
            Identity(
                name="2x2 pixels, one layer, flattened",
                derivation=partial(convolution.in_pixels, 2, 2, Pooling.NONE),
                claimed=FOUR_PIXELS,
            ),
            Identity(
                name="at most 2x2 pixels, flattened, every depth",
                derivation=convolution.fully_connected,
                claimed=(N / 9) ** L / 9 * layer_sum(L + 1),
            ),
        ],
        "tiny images by enumeration": [
            Property(
                name="up to 3x3 pixels, depth 0 to 3, against 40 digits",
                trial=enumerated,
                mutants={text: partial(enumerated, recursion=wrong) for text, wrong in WRONG_RECURSIONS.items()},
                chunk=10,
            ),
        ],
        "symmetries": [
            Property(
                name="symmetric, semidefinite, homogeneous, reflections, translations",
                trial=symmetric,
                mutants={text: partial(symmetric, kernel=wrong) for text, wrong in WRONG_KERNELS.items()},
                chunk=10,
            ),
        ],
        "one layer: unbiased at every number of channels": [
            Expectation(
                name=f"{name}, {channels} channels, {'flattened' if pooling is Pooling.NONE else 'with pooling'}",
                draw=partial(kernels_of_networks, images=images, channels=channels, depth=1, pooling=pooling),
                prediction=prediction(images, pooling),
                chunk=chunk,
                resolution=0.1,
            )
            for name, images, channels, chunk in (("2x3 pixels", SMALL, 2, 5000), ("digits", digit_pair, 4, 1000))
            for pooling in Pooling
        ],
        "two layers, flattened: unbiased for equal images": [
            Expectation(
                name="2x3 pixels, 2 channels",
                draw=equal_images,
                prediction=Prediction.number(
                    lambda: limit(SMALL, 2, Pooling.NONE)[[0, 2]],
                    {
                        "one layer": lambda _: limit(SMALL, 1, Pooling.NONE)[[0, 2]],
                        "with pooling": lambda _: limit(SMALL, 2, Pooling.MEAN)[[0, 2]],
                        "a tenth too large": lambda values: 1.1 * values,
                        "a tenth too small": lambda values: 0.9 * values,
                    },
                ),
                chunk=5000,
                budget=80,
                resolution=0.1,
            )
        ],
        "two layers: the bias": [
            Scaling(
                name="opposite images of 1x2 pixels, with pooling",
                draw=kernel_deficit,
                exponent=-1.0,
                sizes=SMALL_CHANNELS,
                count=200,
                budget=12,
                resolution=0.8,
                shifts=(-1.0, -0.75, 0.5, 0.75, 1.0),
            )
        ],
        "two layers: the distance from the limit": [
            Scaling(
                name="two digits, with pooling",
                draw=distance_on_digits,
                exponent=-0.5,
                sizes=CHANNELS,
                statistic=Statistic.QUANTILE,  # the median: the tails are heavy
                count=200,
                budget=12,
                resolution=0.5,
                shifts=(-1.0, -0.5, 0.5, 1.0),
            )
        ],
    },
    expected=Verdict.SUPPORTED,
)

CLAIMS = (cntk,)
