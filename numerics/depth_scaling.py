r"""How far a deep ReLU kernel tells points apart: a bound on its smallest eigenvalue, and the norm of its predictor.

`Θ̄ = Θ̄^L(X, X)` for `n` different rows of `X` on the unit sphere, `θ_min` the smallest angle between the lines through
two of them. `eigenvalue_bound` certifies, for every such `X` in any dimension (`theory/depth_scaling.py` has the
proof),

    λ_n(Θ̄) >= (1 − (n − 1) cos^K θ_min) (f(1) − f(r) − (1 − r) r^{1−K} f'(r)),       f = Θ̄^L as a function of ρ,

for `0 < r < 1`, `K >= 1`; here `K = ⌈log(2n)/−log cos θ_min⌉` and `r = 1 − ε/K`, `ε = 3/10`. With the layers' angles
`θ_l`, `dρ_l/dρ = ∏_{k<l} (1 − θ_k/π)`, and the recursion of `Θ^L` is differentiated along.

Source: W (arXiv:2511.07272), Theorem 3, whose quantities these are; the bounds are ours.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

from .angles import Points, angles, cosines
from .balls import exactly, precision
from .data import as_integer, as_points, real_number
from .deep import layers
from .kernel_modes import finite_array, symmetric_matrix

Array = NDArray[np.float64]
EPSILON = 0.3  # near the best for small depths; any number below log 2 is valid
BITS = 128


def smallest_angle(X: ArrayLike) -> float:
    """The smallest angle in `[0, π/2]` between the lines through two rows of `X (n, d)`, `n >= 2`.

    Raises `InvalidInput` for fewer than two points, and as `kernels.ntk` does.

    >>> round(smallest_angle([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]) / math.pi, 6)
    0.25
    """
    points = Points.of(as_points("X", X))
    if len(points) < 2:
        raise InvalidInput("X", f"{len(points)} row", "give at least two points")
    if not (points.norms > 0).all():
        raise InvalidInput("X", "a zero row", "a line needs a direction")
    smallest = math.pi / 2
    for row in range(len(points) - 1):
        one, others = points[row : row + 1], points[row + 1 : len(points)]
        found = angles(one, others, cosines(one, others))
        smallest = min(smallest, float(np.minimum(found, math.pi - found).min()))
    return smallest


def eigenvalue_bound(angle: float, points: int, depth: int) -> float:
    """A certified lower bound on `λ_n(Θ̄^L(X, X))` for any `points` whose lines are at least `angle ∈ (0, π/2]` apart.

    0 where the bound says nothing. Raises `InvalidInput` for an angle out of range, `points < 2` or `depth < 1`.

    >>> 0.010 < eigenvalue_bound(0.01, 1000, depth=200) < 0.011
    True
    """
    points, depth = as_integer("points", points, 2), as_integer("depth", depth, 1)
    if not 0 < real_number(angle) <= math.pi / 2:
        raise InvalidInput("angle", angle, "give the smallest angle between two lines, 0 < angle <= pi/2")
    angle = real_number(angle)
    digits = max(0, -math.frexp(angle)[1])  # binary ones, which 1 - cos(angle) and the differences lose
    with precision(BITS + 2 * depth.bit_length() + 4 * digits):
        cosine = abs(arb(angle).cos())
        power = max(1, math.ceil(exactly((arb(2 * points).log() / -cosine.log()).upper())))
        one_minus = arb(EPSILON) / power
        value, slope = _kernel_and_slope(2 * (one_minus / 2).sqrt().asin(), depth)
        tail = 1 - value - one_minus * (1 - one_minus) ** (1 - power) * slope
        found = (1 - (points - 1) * cosine**power) * tail
        return max(0.0, math.nextafter(float(found.lower()), -math.inf))


def _kernel_and_slope(angle: arb, depth: int) -> tuple[arb, arb]:
    """`Θ̄^L` and its derivative in `ρ` at the angle `θ_0 ∈ (0, π)`."""
    cosine = angle.cos()
    orbit = layers(angle, cosine, depth)
    before = next(orbit)
    slope = arb(1)  # of Θ^l
    for after in orbit:
        kept = 1 - before.angle / arb.pi()
        bent = (cosine * before.decay + before.rest) * before.decay / (arb.pi() * before.angle.sin())
        slope = slope * kept + bent + after.decay
        before = after
    return (cosine * before.decay + before.rest) / (depth + 1), slope / (depth + 1)


def predictor_norms(kernel: ArrayLike, kernel_test: ArrayLike, t: float) -> Array:
    """`‖P_t‖` for each row of `kernel_test (m, n)`, `P_t = k Θ⁻¹ (1 − e^{−Θt})`, `Θ = kernel (n, n)`, `0 <= t <= ∞`.

    The eigenvalues of `kernel` must be positive. Raises `InvalidInput` if they are not, and for a negative or NaN time.

    >>> predictor_norms([[2.0]], [[2.0], [1.0]], np.inf)
    array([1. , 0.5])
    """
    matrix = finite_array("kernel", kernel, (None, None))
    matrix, *_ = symmetric_matrix("kernel", matrix, len(matrix))
    rows = finite_array("kernel_test", kernel_test, (None, len(matrix)))
    values, vectors = np.linalg.eigh(matrix)
    if not values[0] > 0:
        raise InvalidInput("kernel", f"smallest eigenvalue {values[0]:.3g}", "give a positive definite kernel matrix")
    if not real_number(t) >= 0:
        raise InvalidInput("t", t, "give a time >= 0, or inf")
    return np.linalg.norm(rows @ vectors * (-np.expm1(-values * real_number(t)) / values), axis=1)
