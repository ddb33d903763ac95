"""Chapter 2: what of the theory of deep ReLU kernels carries over to leaky ReLU, erf, and convolution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Integer, Rational, asin, pi, sqrt

from numerics import data, kernels
from numerics.convolution import cntk
from numerics.evaluate import evaluate
from theory import kernel_conditions
from theory.activations import Activation, Erf, LeakyReLU
from theory.crossover import s
from theory.kernel_conditions import alpha, beta
from theory.pooling import Pooling

from ..claims import Correction, claim
from ..evidence import Approach, Enclosure, Identity, Limit, Property
from ..evidence.enclosure import Certificate
from ..verdicts import Standing, Verdict
from .depth_scaling import CROSSOVER
from .sources import WIDTH_AND_DEPTH

Vector = NDArray[np.float64]
LEAKY = (LeakyReLU(0.75, 0.25), LeakyReLU(0.25, 0.75))
DEPTHS = (125, 250, 500, 1000)
SIDE = 6  # of an image, in pixels
ROUNDING = 1e-10  # relative to the trace


def crossover_of_leaky(size: int, at: Mapping[Any, Any], *, activation: LeakyReLU, factor: float = 1.0) -> float:
    """`Θ̄^L` at the angle `s/(L · 2w/(3π))`, `w = β²/(α² + β²)`."""
    rate = 2 * activation.b**2 / (3 * math.pi * (activation.a**2 + activation.b**2))
    angle = float(at[s]) / (size * rate)
    pair = np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)]])
    return float(kernels.ntk(pair[:1], pair[1:], depth=size, activation=activation)[0, 0]) / (size + 1)


def erf_off_diagonal(size: int, at: Mapping[Any, Any]) -> float:
    """`Θ^L(x, x')/Θ^L(x, x)` for erf at the correlation 9/10."""
    pair = np.array([[1.0, 0.0], [0.9, math.sqrt(0.19)]])
    first, second = kernels.ntk(pair[:1], pair, depth=size, activation="erf")[0]
    return float(second / first)


def convolutional_off_diagonal(size: int, at: Mapping[Any, Any], *, pooling: Pooling) -> float:
    """`Θ(x, x')/√(Θ(x, x) Θ(x', x'))` of two fixed random images for the CNTK of depth `size`."""
    images = np.random.default_rng(1904_11955).standard_normal((2, SIDE, SIDE))
    kernel = cntk(images, depth=size, pooling=pooling)
    return float(kernel[0, 1] / math.sqrt(kernel[0, 0] * kernel[1, 1]))


def smallest_share(kernel: Vector) -> float:
    """The smallest eigenvalue of a kernel matrix scaled to the diagonal 1."""
    scale = 1 / np.sqrt(np.diag(kernel))
    return float(np.linalg.eigvalsh(kernel * scale * scale[:, None])[0])


def definite(rng: np.random.Generator, *, activation: Activation, opposite: bool) -> str:
    """Whether the kernel matrix of a few points is definite; with `opposite`, one point and its opposite are there."""
    points = data.sphere(rng, int(rng.integers(2, 6)), 5)
    if opposite:
        points = np.concatenate([points, -points[:1]])
    depth = int(rng.integers(1, 12))
    found = smallest_share(kernels.ntk(points, depth=depth, activation=activation))
    if found > ROUNDING * len(points):
        return ""
    return f"{len(points)} points{' with an opposite pair' if opposite else ''}, L = {depth}: {found:.1g}"


def pattern_moved(rng: np.random.Generator, depth: int, margin: int) -> Vector:
    """A random 2×2 pattern on black, at two places at least `margin` from the border, one of them exactly so."""
    side = 2 * margin + 4
    images, pattern = np.zeros((2, side, side)), rng.standard_normal((2, 2))
    for image, (row, column) in zip(images, ((margin, margin), (margin + 1, margin + 2)), strict=True):
        image[row : row + 2, column : column + 2] = pattern
    return images


def pooled_definite(rng: np.random.Generator, *, short_of_border: int, pooling: Pooling = Pooling.MEAN) -> str:
    """Whether the CNTK tells a pattern from the same moved, `depth` being the margin less `short_of_border`."""
    depth = int(rng.integers(1, 4))
    images = pattern_moved(rng, depth, depth + short_of_border)
    found = smallest_share(cntk(images, depth=depth, pooling=pooling))
    if found > ROUNDING:
        return ""
    return f"a pattern {depth + short_of_border} pixels from the border and the same moved, L = {depth}: {found:.1g}"


def pooled_singular(rng: np.random.Generator, *, short_of_border: int = 0, pooling: Pooling = Pooling.MEAN) -> str:
    """The opposite: whether it does not tell them apart."""
    told = pooled_definite(rng, short_of_border=short_of_border, pooling=pooling) == ""
    return "told apart" if told else ""


def opposite_singular(rng: np.random.Generator, *, activation: Activation = Erf()) -> str:  # noqa: B008  (immutable)
    """Whether a kernel matrix with an opposite pair is singular."""
    return "definite" if definite(rng, activation=activation, opposite=True) == "" else ""


def exceeds_one(claimed: bool) -> Certificate:
    """Whether `χ > 1` and `κ'(0) < 1` for erf, by balls."""
    growth, slope = (
        evaluate(derivation().conclusion).ball
        for derivation in (kernel_conditions.erf_growth, kernel_conditions.erf_slope)
    )
    found = bool(growth > 1 and slope < 1)
    standing = Standing.HOLDS if found == claimed else Standing.FAILS
    return Certificate(standing, f"chi = {float(growth.mid()):.6g}, kappa'(0) = {float(slope.mid()):.6g}")


W = beta**2 / (alpha**2 + beta**2)
VARIABLES = [{s: Rational(1, 2)}, {s: Integer(2)}]

conditions = claim(
    id="kernel-conditions",
    title="Other kernels",
    source=WIDTH_AND_DEPTH.at("generalisation to other kernels"),
    statement=r"\text{leaky ReLU, erf, convolution:}\quad \bar\Theta^{(L)} \to \tfrac14, \quad "
    r"\Theta^{(L)}(X, X) \succ 0 \text{ at sufficient depth}",
    hypotheses=("inputs that differ, on the unit sphere", "no biases", "convolution: ReLU, 3 x 3, zero padding"),
    conditions=(
        "leaky ReLU: alpha, beta > 0; with alpha = 0 it is even, and the kernel singular with opposite inputs",
        "erf, and odd activations but polynomials: singular, at every depth, if and only if two inputs are opposite",
        "erf: the normalised kernel tends to 0, not to 1/4: it is dominated by rows for every number of points",
        "pooled convolution: singular up to the depth L if two images are one pattern moved, L pixels from the border",
    ),
    findings=(
        "leaky ReLU alpha s + beta |s| has the limit 1/4 and the crossover function of ReLU, with "
        "s = 2 beta^2 L theta_0/(3 pi (alpha^2 + beta^2))",
        "the convolutional kernel of flattened images tends to 1/4 as well; with pooling far more slowly",
    ),
    parts={
        "leaky ReLU": [
            Limit(
                name="how a layer closes an angle",
                derivation=kernel_conditions.leaky_angle,
                claimed=2 * W / (3 * pi),
            ),
            Identity(
                name="kernel and angle shrink together",
                derivation=kernel_conditions.leaky_damping,
                claimed=3,
            ),
            *(
                Approach(
                    name=f"the crossover, slopes {activation.a - activation.b:g} and {activation.a + activation.b:g}",
                    sequence=partial(crossover_of_leaky, activation=activation),
                    claimed=CROSSOVER,
                    points=VARIABLES,
                    sizes=DEPTHS,
                    order=1,
                    slack=0.25,
                )
                for activation in LEAKY
            ),
        ],
        "erf: the normalised kernel tends to 1/4": [
            Approach(
                name="one pair",
                sequence=erf_off_diagonal,
                claimed=Rational(1, 4),
                points=[{}],
                sizes=DEPTHS,
                order=1,
                slack=0.25,
            )
        ],
        "erf: positive definite for any different points": [
            Property(
                name="with an opposite pair",
                trial=partial(definite, activation=Erf(), opposite=True),
                mutants={},
            )
        ],
        "pooled convolution: positive definite for any different images": [
            Property(name="a pattern moved", trial=partial(pooled_definite, short_of_border=0), mutants={})
        ],
        "flattened convolution": [
            Approach(
                name="two images",
                sequence=partial(convolutional_off_diagonal, pooling=Pooling.NONE),
                claimed=Rational(1, 4),
                points=[{}],
                sizes=DEPTHS,
                order=1,
                slack=0.3,
            )
        ],
    },
    correction=Correction(
        text="erf has the limit 0, and needs inputs of which no two are opposite; pooled convolution needs images "
        "of which no two are one pattern moved, L pixels from the border",
        latex=r"\chi = \frac{2}{\sqrt5 \arcsin(2/3)} > 1 > \kappa'(0) = \frac{2}{3\arcsin(2/3)}",
        parts={
            "erf": [
                Identity(
                    name="the diagonal grows by",
                    derivation=kernel_conditions.erf_growth,
                    claimed=2 / (sqrt(5) * asin(Rational(2, 3))),
                ),
                Identity(
                    name="a small correlation shrinks by",
                    derivation=kernel_conditions.erf_slope,
                    claimed=2 / (3 * asin(Rational(2, 3))),
                ),
                Enclosure(name="chaos", certify=exceeds_one, claimed=True, mutants={"the opposite": False}),
                Approach(
                    name="the limit is 0",
                    sequence=erf_off_diagonal,
                    claimed=Integer(0),
                    points=[{}],
                    sizes=(20, 40, 80, 160),
                    order=1,
                ),
                Identity(name="opposite inputs", derivation=kernel_conditions.erf_opposite, claimed=0),
                Property(
                    name="definite without an opposite pair",
                    trial=partial(definite, activation=Erf(), opposite=False),
                    mutants={"with one": partial(definite, activation=Erf(), opposite=True)},
                ),
                Property(
                    name="singular with one",
                    trial=opposite_singular,
                    mutants={"leaky ReLU": partial(opposite_singular, activation=LEAKY[0])},
                ),
            ],
            "pooled convolution": [
                Property(
                    name="singular inside the border",
                    trial=pooled_singular,
                    chunk=5,
                    mutants={
                        "one layer more": partial(pooled_singular, short_of_border=-1),
                        "flattened": partial(pooled_singular, pooling=Pooling.NONE),
                    },
                ),
                Property(
                    name="told apart one layer later",
                    trial=partial(pooled_definite, short_of_border=-1),
                    chunk=5,
                    mutants={"one layer earlier": partial(pooled_definite, short_of_border=0)},
                ),
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (conditions,)
