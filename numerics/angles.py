r"""The angles between points, to the last digits.

For rows `x ∈ R^d` of one array and `y ∈ R^d` of another, `θ = ∠(x, y) ∈ [0, π]`. Where `|cos θ| <= NEAR` it is
`arccos(x·y/‖x‖‖y‖)`, from one matrix product. Nearer to 0 or π the arccosine would lose up to half of the digits, and
`θ = 2 arcsin(‖x̂ − ŷ‖/2)`, or `π − 2 arcsin(‖x̂ + ŷ‖/2)`, with the unit vectors `x̂ = x/‖x‖`. Equal rows so get the
angle 0 exactly, opposite ones the float π. Elsewhere the error is about 1e-16 absolutely. Between rows of the unit
sphere it is, at small angles, about 1e-16 relative to θ, as long as θ is well above the 1e-16 by which they miss it.

A row with `|‖x‖² − 1| <= SPHERE_SLACK` is read as a point of the unit sphere, `‖x‖ = 1`, `x̂ = x`: that is how far from
the sphere a row may end that was normalised in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEAR = 0.97  # beyond, an error ε of the cosine could move the ReLU NTK by ε/(2θ²), relatively: more than 8 ε
SPHERE_SLACK = 16 * float(np.finfo(np.float64).eps)
GATHERED = 2**16  # numbers gathered at once for pairs that are near


@dataclass(frozen=True)
class Points:
    """Rows of an array split into `norms (n,)`, `squares (n,)` (the norms squared) and `units (n, d)`.

    The unit vector of a zero row is zero.
    """

    norms: Array
    squares: Array
    units: Array

    @classmethod
    def of(cls, X: Array) -> Points:
        """From finite rows `X (n, d)`, of any size up to the overflow of `‖x‖²`.

        >>> Points.of(np.array([[3.0, 4.0], [0.0, 0.0]])).norms
        array([5., 0.])
        """
        # rows whose square would overflow or vanish are scaled by a power of two, which rounds nothing
        exponents = np.frexp(np.abs(X).max(axis=1))[1]
        exponents[np.abs(exponents) < 400] = 0
        rows = np.ldexp(X, -exponents[:, None]) if exponents.any() else X
        squares = _square_norms(rows)
        on_sphere = (np.abs(squares - 1) <= SPHERE_SLACK) & (exponents == 0)
        squares[on_sphere] = 1.0
        norms = np.sqrt(squares)
        units = rows if on_sphere.all() else rows / np.where(norms > 0, norms, 1.0)[:, None]
        with np.errstate(over="ignore"):
            return cls(np.ldexp(norms, exponents), np.ldexp(squares, 2 * exponents), units)

    def __getitem__(self, rows: slice) -> Points:
        return Points(self.norms[rows], self.squares[rows], self.units[rows])

    def __len__(self) -> int:
        return len(self.norms)


def _square_norms(rows: Array) -> Array:
    """`‖x‖²` of rows, summed pairwise: a plain sum of 10⁵ squares would miss the sphere by more than the slack."""
    step = max(1, GATHERED // rows.shape[1])
    return np.concatenate(
        [np.square(rows[start : start + step], order="C").sum(axis=1) for start in range(0, len(rows), step)]
    )


def cosines(first: Points, second: Points, out: Array | None = None) -> Array:
    """`cos θ` to rounding, between all rows of `first (n, d)` and `second (n2, d)`: shape `(n, n2)`."""
    return np.matmul(first.units, second.units.T, out=out)


def angles(first: Points, second: Points, cosine: Array) -> Array:
    """`θ` between all rows, given their `cosines`: shape `(n, n2)`. See the module for the accuracy.

    >>> x = Points.of(np.array([[1.0, 0.0], [1.0, 1e-9]]))
    >>> angles(x, x, cosines(x, x))
    array([[0.e+00, 1.e-09],
           [1.e-09, 0.e+00]])
    """
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    near = np.flatnonzero(np.abs(cosine) > NEAR)  # ten times faster than nonzero
    rows, columns = np.divmod(near, cosine.shape[1])
    step = max(1, GATHERED // first.units.shape[1])
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        opposite = cosine[i, j] < 0
        chords = first.units[i] - np.where(opposite, -1.0, 1.0)[:, None] * second.units[j]
        small = 2 * np.arcsin(np.sqrt(np.einsum("ij,ij->i", chords, chords)) / 2)
        angle[i, j] = np.where(opposite, np.pi - small, small)
    return angle
