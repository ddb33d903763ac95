r"""Inputs for networks and kernels: scikit-learn's digits, random points on the sphere, pairs at a prescribed angle.

Points are rows of a float64 array of shape `(n, d)`; on the unit sphere `S^{d−1}` a row has norm 1 to within a few
ulps. A pair is two rows `x, y` with `y = x cos θ + x⊥ sin θ`, where `x⊥` is a unit vector orthogonal to `x`; the
angle `0 <= θ <= π` is prescribed, never recovered from a cosine, because `arccos(x·y)` loses half its digits near 0
and π. The entries of `y` are rounded to float64, so the true angle of the pair as stored differs from θ by about
1e-16, absolutely.

Source of the digits: Alpaydin and Kaynak (1998), *Optical Recognition of Handwritten Digits*, the 1797 test images that
scikit-learn distributes.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.errors import InvalidInput, LimesError

Array = NDArray[np.float64]


class Digits(NamedTuple):
    """Images `(n, 64)`, rows of 8×8 pixels, and the digit 0..9 that each shows, `(n,)`."""

    images: Array
    labels: NDArray[np.int64]


class Pair(NamedTuple):
    """Two unit vectors `points`, shape `(2, d)`, at the angle `angle`."""

    name: str
    angle: float
    points: Array


def digits(count: int | None = None, *, unit_sphere: bool = False) -> Digits:
    """The first `count` of the 1797 digits (all by default), with pixels in [0, 1]: the grey levels 0..16 over 16.

    With `unit_sphere` each image is divided by its Euclidean norm (no image is black; no two are equal).

    Raises `InvalidInput` for a `count` outside 1..1797, `LimesError` if scikit-learn is not installed.

    >>> digits(2).images.shape, digits(2).labels
    ((2, 64), array([0, 1]))
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as missing:
        raise LimesError("digits need scikit-learn, which is not installed: pip install 'limes[data]'") from missing
    images, labels = load_digits(return_X_y=True)
    if count is not None and as_integer("count", count, 1) > len(images):
        raise InvalidInput("count", count, f"there are {len(images)} digits")
    images = images[:count] / 16.0
    if unit_sphere:
        images /= np.linalg.norm(images, axis=1, keepdims=True)
    return Digits(images, labels[:count])


def sphere(rng: np.random.Generator, points: int, dimension: int) -> Array:
    """Independent uniform points on the unit sphere of `R^dimension`: shape `(points, dimension)`.

    Raises `InvalidInput` if `points` or `dimension` is not an integer >= 1.

    >>> sphere(np.random.default_rng(0), 3, 5).shape
    (3, 5)
    """
    shape = as_integer("points", points, 1), as_integer("dimension", dimension, 1)
    directions = rng.standard_normal(shape)
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def sphere_pair(
    rng: np.random.Generator, dimension: int, *, angle: float | None = None, correlation: float | None = None
) -> Array:
    """A random pair of unit vectors, shape `(2, dimension)`, at the given angle in [0, π] or correlation in [−1, 1].

    `x` is uniform on the sphere and `x⊥` uniform among the unit vectors orthogonal to it. The angle 0 gives equal
    rows, the float `math.pi` opposite ones, exactly. A dimension of 1 has only these two.

    Raises `InvalidInput` unless exactly one of `angle` and `correlation` is given, within its range.

    >>> x, y = sphere_pair(np.random.default_rng(0), 5, angle=math.pi)
    >>> bool(np.all(x == -y))
    True
    """
    cosine, sine = _cosine_and_sine(angle, correlation)
    if as_integer("dimension", dimension, 1) == 1 and sine != 0:
        raise InvalidInput("dimension", 1, "on the line there are only angles 0 and pi: give dimension >= 2")
    x = sphere(rng, 1, dimension)[0]
    return _pair(x, rng.standard_normal(dimension), cosine, sine)


def adversarial_pairs(dimension: int) -> tuple[Pair, ...]:
    """Pairs on which kernels go wrong: equal, antipodal, nearly equal (angle 1e-6), orthogonal. Deterministic.

    Orthogonal means that the dot product of the stored vectors is exactly 0: they are two coordinate vectors. The
    others start from a vector without zero entries. Raises `InvalidInput` if `dimension` is not an integer >= 2.

    >>> [pair.name for pair in adversarial_pairs(3)]
    ['equal', 'antipodal', 'nearly equal', 'orthogonal']
    """
    as_integer("dimension", dimension, 2)
    slope = np.arange(1.0, dimension + 1)
    x, first = slope / np.linalg.norm(slope), np.eye(dimension)[0]

    def at(name: str, angle: float) -> Pair:
        return Pair(name, angle, _pair(x, first, *_cosine_and_sine(angle, None)))

    orthogonal = Pair("orthogonal", math.pi / 2, np.eye(dimension)[:2])
    return at("equal", 0.0), at("antipodal", math.pi), at("nearly equal", 1e-6), orthogonal


def as_points(argument: str, value: Any, dimension: int | None = None) -> Array:
    """`value` as a float64 array of points, `(n, d)` with `n, d >= 1`; `dimension` prescribes `d`.

    Raises `InvalidInput`, in the name of `argument`, for another shape, NaN or infinity, and for entries that are no
    floating-point numbers: integers are often raw pixels or indices, and meant to be scaled first.

    >>> as_points("X", [[1.0, float("nan")]])
    Traceback (most recent call last):
    theory.errors.InvalidInput: X[0] = array([ 1., nan]): every entry must be finite
    """
    try:
        points = np.asarray(value)
    except ValueError as ragged:
        raise InvalidInput(argument, value, "rows have different lengths; give one array (n, d)") from ragged
    if points.dtype.kind != "f":
        raise InvalidInput(argument, value, f"entries are {points.dtype}; give floats, for example with .astype(float)")
    if points.ndim != 2 or points.size == 0:
        raise InvalidInput(argument, value, f"has shape {points.shape}; give one point per row: (n, d) with n, d >= 1")
    if dimension is not None and points.shape[1] != dimension:
        raise InvalidInput(argument, value, f"points have dimension {points.shape[1]}; {dimension} is expected")
    points = points.astype(np.float64, copy=False)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InvalidInput(f"{argument}[{row}]", points[row], "every entry must be finite")
    return points


def as_reals(argument: str, value: Any) -> Array:
    """`value` as a float64 array of any shape, itself if it is one; `InvalidInput` if it is no array of real numbers.

    >>> as_reals("y", [1, 2])
    array([1., 2.])
    """
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise InvalidInput(argument, value, "rows have different lengths; give a rectangular array") from None
    if numbers.dtype.kind not in "fiu":
        raise InvalidInput(argument, value, f"entries are {numbers.dtype}; give real numbers")
    return numbers.astype(np.float64, copy=False)


def real_number(value: Any) -> float:
    """`value` as a float: infinite beyond the range of floats, NaN if it is no real number.

    >>> real_number(10**400), real_number("1"), real_number(True)
    (inf, nan, nan)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def as_integer(argument: str, value: Any, least: int) -> int:
    """`value` as an int; `InvalidInput`, in the name of `argument`, unless it is an integer (no bool) >= `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(argument, value, f"give an integer >= {least}")
    return int(value)


def _cosine_and_sine(angle: float | None, correlation: float | None) -> tuple[float, float]:
    if (angle is None) == (correlation is None):
        raise InvalidInput("angle, correlation", (angle, correlation), "give exactly one of the two")
    if correlation is not None:
        if not -1 <= real_number(correlation) <= 1:
            raise InvalidInput("correlation", correlation, "give a number from -1 to 1")
        return correlation, math.sqrt((1 - correlation) * (1 + correlation))
    assert angle is not None
    if not 0 <= real_number(angle) <= math.pi:
        raise InvalidInput("angle", angle, "give radians, from 0 to pi")
    return math.cos(angle), 0.0 if angle == math.pi else math.sin(angle)


def _pair(x: Array, towards: Array, cosine: float, sine: float) -> Array:
    """The pair `x, y` in the plane of `x` and `towards`."""
    if sine == 0:
        return np.stack([x, cosine * x])
    for _ in range(2):  # Gram-Schmidt twice is enough: Parlett, "The Symmetric Eigenvalue Problem", section 6.9
        towards = towards - (towards @ x) * x
        towards = towards / np.linalg.norm(towards)
    return np.stack([x, cosine * x + sine * towards])
