r"""Gram matrices of infinitely wide fully connected networks in float64: NNGP, NTK, and the NTK's parts by layer.

For points `x, x' ∈ R^d`, depth `L >= 0` (hidden layers), an activation φ with `c_φ = 1/E[φ(z)²]`, weights of standard
deviation `σ_w > 0` and biases of standard deviation `σ_b >= 0` (none if 0) in every layer, the output's included,

    Σ⁰ = σ_w² x·x',     Σˡ = σ_w² c_φ E[φ(u)φ(v)],      Σ̇ˡ = σ_w² c_φ E[φ'(u)φ'(v)],    (u, v) ~ N(0, Σˡ⁻¹ + σ_b²),
    Θ⁰ = Σ⁰ + σ_b²,     Θˡ = Θˡ⁻¹ Σ̇ˡ + Σˡ + σ_b².

`nngp` is `Σ^L + σ_b²`, `ntk` is `Θ^L`; `x·x'` is not divided by d. With `σ_w = 1, σ_b = 0`, ReLU, on the unit sphere,
`Θ^L(x, x) = L + 1`. In `Parametrisation.STANDARD` the functions, so also the NNGP kernel, are the same; in the NTK the
part of the weights of layer `l >= 2` is `m_{l−1}/(c_φ σ_w²)` times that, of the first layer's weights `1/σ_w²` times,
of the biases `1/σ_b²` times. So it needs the widths `m_1..m_L`, and is the leading order as they grow.

How: the angle θ of each pair is found to the last digits (`numerics/angles.py`); the kernels follow from it and from
the two norms (`numerics/recursions.py`). Where they are a function of θ alone, up to the norms, it is tabulated once
(`numerics/angle_table.py`), so that the time hardly depends on the depth. The result is filled tile by tile.

Accuracy for ReLU: 1e-13 relative to `max(|Θ|, ‖x‖‖x'‖/100)`, at every angle and every depth up to 1000; equal points
give `‖x‖² (L + 1)` exactly, with `‖x‖ = 1` where `|‖x‖² − 1| <= SPHERE_SLACK`. A zero vector has the kernel of
`‖x‖ = 0`, which is 0 if φ is homogeneous and there are no biases. NaN never comes out.

Source: Jacot, Gabriel, Hongler (2018); Lee et al. (2018) for the NNGP. Departure: c_φ, and no division by d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.activations import Activation, activation_named
from theory.errors import InvalidInput
from theory.parametrisation import Parametrisation
from theory.pooling import Pooling as Pooling

from .activations import normalisation
from .angle_table import AngleTable
from .angles import Points, angles, cosines
from .convolution import cnn_nngp as cnn_nngp
from .convolution import cntk as cntk
from .data import as_integer, as_points
from .mehler import geometric_mean
from .recursions import HomogeneousRecursion, Recursion

Array = NDArray[np.float64]
Kernel = Callable[[Array, Array, Array], Array]  # of an angle and two squared norms

TILE = 128  # rows and columns of a tile: what one needs fits into a core's cache
DEEPEST = 10**7  # layers that are iterated at most, which takes minutes
LAYERED = 2**19  # numbers in a tile of all layers
WORTHWHILE = 2**14  # pairs from which on a table is worth its making


def ntk(
    X: ArrayLike,
    X2: ArrayLike | None = None,
    *,
    depth: int,
    activation: Activation | str = "relu",
    weight_std: float = 1.0,
    bias_std: float = 0.0,
    parametrisation: Parametrisation = Parametrisation.NTK,
    widths: Sequence[int] | None = None,
) -> Array:
    """`Θ^L(x, x')` for the rows of `X (n, d)` and `X2 (n2, d)` (or `X` again): float64, shape `(n, n2)`.

    `widths`, one for each hidden layer, belongs to `Parametrisation.STANDARD` alone.

    Raises `InvalidInput` for points that are not finite or do not match, a depth that is no integer >= 0, a scale out
    of range, widths that are missing or too many, and where the kernel overflows float64.

    >>> ntk(np.eye(2), depth=2)
    array([[3.        , 0.68570864],
           [0.68570864, 3.        ]])
    """
    recursion = _recursion(depth, activation, weight_std, bias_std, parametrisation, widths)
    return _gram(X, X2, recursion, recursion.ntk)


def nngp(
    X: ArrayLike,
    X2: ArrayLike | None = None,
    *,
    depth: int,
    activation: Activation | str = "relu",
    weight_std: float = 1.0,
    bias_std: float = 0.0,
) -> Array:
    """`Σ^L(x, x') + σ_b²`, the covariance of the outputs at initialisation; arguments, shape and errors as for `ntk`.

    >>> nngp(np.eye(2), depth=1) * np.pi
    array([[3.14159265, 1.        ],
           [1.        , 3.14159265]])
    """
    recursion = _recursion(depth, activation, weight_std, bias_std, Parametrisation.NTK, None)
    return _gram(X, X2, recursion, recursion.nngp)


def ntk_layers(
    X: ArrayLike,
    X2: ArrayLike | None = None,
    *,
    depth: int,
    activation: Activation | str = "relu",
    weight_std: float = 1.0,
    bias_std: float = 0.0,
    parametrisation: Parametrisation = Parametrisation.NTK,
    widths: Sequence[int] | None = None,
) -> Array:
    """The parts `Θ_1..Θ_{L+1}` that the layers' parameters contribute to `Θ^L`, their sum: shape `(L + 1, n, n2)`.

    In the NTK parametrisation `Θ_h = (Σ^{h−1} + σ_b²) Σ̇^h ⋯ Σ̇^L`; the last, the output layer's, is the NNGP kernel.
    Arguments and errors as for `ntk`.

    >>> parts = ntk_layers(np.eye(2), depth=2)
    >>> bool(np.allclose(parts.sum(axis=0), ntk(np.eye(2), depth=2), rtol=1e-15))
    True
    """
    recursion = _recursion(depth, activation, weight_std, bias_std, parametrisation, widths)
    first, second = _point_pair(X, X2)
    parts = np.empty((recursion.depth + 1, len(first), len(second)))
    cosine = cosines(first, second, out=parts[0])
    side = max(1, math.isqrt(LAYERED // len(parts)))
    with np.errstate(over="ignore", invalid="ignore"):
        for rows, columns in _tiles(len(first), len(second), side):
            angle = angles(first[rows], second[columns], cosine[rows, columns])
            tile = recursion.ntk_layers(angle, first.squares[rows, None], second.squares[None, columns])
            parts[:, rows, columns] = _finite(tile)
    return parts


def _recursion(
    depth: int,
    activation: Activation | str,
    weight_std: float,
    bias_std: float,
    parametrisation: Parametrisation,
    widths: Sequence[int] | None,
) -> Recursion:
    """The recursion of the module, its arguments checked."""
    depth, activation = as_integer("depth", depth, 0), activation_named(activation)
    if depth > DEEPEST:
        raise InvalidInput("depth", depth, f"layers are iterated one by one: give at most {DEEPEST}")
    for name, scale in (("weight_std", weight_std), ("bias_std", bias_std)):
        if isinstance(scale, bool) or not isinstance(scale, Real) or not 0 <= float(scale) < 1e150:
            raise InvalidInput(name, scale, "give a number >= 0 whose square does not overflow")
    if weight_std == 0:
        raise InvalidInput("weight_std", weight_std, "give a number > 0; without weights there is no network")
    weight_variance, bias_variance = float(weight_std) ** 2, float(bias_std) ** 2
    slopes, offsets = (1.0,) * (depth + 1), (0.0,) * (depth + 1)
    if parametrisation is Parametrisation.STANDARD:
        if not isinstance(widths, Sequence) or len(widths) != depth:
            raise InvalidInput("widths", widths, f"give one width for each of the {depth} hidden layers, as (64,) * 3")
        sizes = [as_integer(f"widths[{i}]", width, 1) / normalisation(activation) for i, width in enumerate(widths)]
        slopes = tuple(size / weight_variance for size in (1.0, *sizes))
        offsets = tuple(float(bias_std > 0) - slope * bias_variance for slope in slopes)
    elif parametrisation is not Parametrisation.NTK:
        raise InvalidInput("parametrisation", parametrisation, "give Parametrisation.NTK or .STANDARD")
    elif widths is not None:
        raise InvalidInput("widths", widths, "leave them out: the NTK parametrisation has a limit without widths")
    normalisation(activation)  # so that an activation without one is refused here
    kind = HomogeneousRecursion if activation.homogeneous else Recursion
    return kind(activation, slopes, offsets, weight_variance, bias_variance)


def _gram(X: ArrayLike, X2: ArrayLike | None, recursion: Recursion, kernel: Kernel) -> Array:
    """The Gram matrix of a kernel of the recursion."""
    first, second = _point_pair(X, X2)
    gram, symmetric = cosines(first, second), first is second
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name
        evaluate = _tabulated(first.squares, second.squares, recursion, kernel)
        for rows, columns in _tiles(len(first), len(second), TILE):
            if symmetric and rows.start > columns.start:
                continue
            angle = angles(first[rows], second[columns], gram[rows, columns])
            tile = _finite(evaluate(angle, first.squares[rows, None], second.squares[None, columns]))
            gram[rows, columns] = tile
            if symmetric and rows != columns:
                gram[columns, rows] = tile.T
    return gram


def _tabulated(squares: Array, squares2: Array, recursion: Recursion, kernel: Kernel) -> Kernel:
    """The kernel, by a table where it is, up to the norms, a function of the angle alone, and a table pays."""
    scalable = isinstance(recursion, HomogeneousRecursion) and recursion.bias_variance == 0
    radius2 = 1.0 if scalable else float(squares[0])
    on_sphere = bool(np.all(squares == radius2) and np.all(squares2 == radius2))
    if not (scalable or on_sphere) or recursion.depth == 0 or squares.size * squares2.size < WORTHWHILE:
        return kernel
    same = np.full(1, radius2)
    table = AngleTable.of(lambda angle: kernel(angle, same, same), recursion.angle_scale(radius2))
    if table is None:
        return kernel
    if on_sphere:
        return lambda angle, square, square2: table(angle)
    return lambda angle, square, square2: table(angle) * geometric_mean(square, square2)


def _tiles(n: int, n2: int, side: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the tiles that cover a matrix `(n, n2)`."""
    for row in range(0, n, side):
        for column in range(0, n2, side):
            yield slice(row, min(row + side, n)), slice(column, min(column + side, n2))


def _finite(kernel: Array) -> Array:
    if not np.isfinite(kernel).all():
        raise InvalidInput("X", "points whose kernel overflows float64", "give points of smaller norm, or less depth")
    return kernel


def _point_pair(X: ArrayLike, X2: ArrayLike | None) -> tuple[Points, Points]:
    """Both arguments as points, the same object twice if `X2` is None."""
    array = as_points("X", _integers_as_floats("X", X))
    first = Points.of(array)
    if X2 is None:
        return first, first
    return first, Points.of(as_points("X2", _integers_as_floats("X2", X2), array.shape[1]))


def _integers_as_floats(argument: str, value: ArrayLike) -> ArrayLike:
    """Integers as the float64 they are; `InvalidInput` beyond 2⁵³, where some are none."""
    try:
        array = np.asarray(value)
    except ValueError:
        return value  # ragged rows, which `as_points` explains
    if array.dtype.kind not in "iu":
        return array
    if array.size and max(abs(int(array.min())), abs(int(array.max()))) > 2**53:
        raise InvalidInput(argument, value, "integers beyond 2**53 are no float64 numbers: scale them first")
    return array.astype(np.float64)
