r"""The eigenvalues and eigenvectors of a kernel matrix in float64, and which of them can be told from zero.

A kernel matrix `Θ (n, n)` is symmetric and positive semidefinite; as given, it is so up to the rounding errors of the
program that computed it, taken as `SLACK · ε` in each entry, where `ε` is that of its dtype and the unit its largest
entry. The eigenvalues found are within `cutoff = n ε λ_max` of the truth, or within the size of the most negative one:
up to there an eigenvalue cannot be told from zero, and its mode is *null*.

For a test point `x` of the same kernel the row `Θ(x, X)` lies in the range of `Θ`: by the inequality of Cauchy and
Schwarz `‖P_null Θ(X, x)‖² <= cutoff · Θ(x, x)`.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput, LimesWarning

Array = NDArray[np.float64]

SLACK = 512  # units of ε
FAR = 10.0  # times the bound above, beyond which a row is said to lie outside the range


class OutsideRangeWarning(LimesWarning):
    """A row of the test kernel reaches out of the range of the kernel, which no row of a positive kernel does."""


@dataclass(frozen=True, eq=False)
class KernelModes:
    """Eigenvalues `(n,)` in ascending order, 0 for negative ones, and eigenvectors as the columns of `(n, n)`.

    `rounding = n ε` is the relative error of the largest; `cutoff` and null modes are as in the module.
    """

    eigenvalues: Array
    vectors: Array
    cutoff: float
    rounding: float
    largest_entry: float

    @staticmethod
    def of(kernel: ArrayLike, points: int) -> KernelModes:
        """The modes of a kernel matrix of so many points.

        Raises `InvalidInput` unless it is `(points, points)`, finite, symmetric, and positive semidefinite.

        >>> KernelModes.of([[1.0, 1.0], [1.0, 1.0]], 2).eigenvalues
        array([0., 2.])
        """
        matrix, slack, epsilon = symmetric_matrix("kernel", kernel, points)
        eigenvalues, vectors = np.linalg.eigh(matrix)
        lowest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
        if not np.isfinite(eigenvalues).all():
            raise InvalidInput("kernel", kernel, "its eigenvalues overflow float64")
        if lowest < -points * slack:
            remedy = f"has the eigenvalue {lowest:.3g}; a kernel matrix has none below zero but for rounding"
            raise InvalidInput("kernel", kernel, remedy)
        rounding = points * epsilon
        cutoff = max(rounding * largest, -lowest, 0.0)
        return KernelModes(np.maximum(eigenvalues, 0.0), vectors, cutoff, rounding, float(np.abs(matrix).max()))

    @property
    def largest(self) -> float:
        return float(self.eigenvalues[-1])

    @property
    def null(self) -> NDArray[np.bool_]:
        """Which modes are null, `(n,)`."""
        return self.eigenvalues <= self.cutoff

    @property
    def condition(self) -> float:
        """`λ_max/λ_min`; infinite if there is a null mode."""
        return math.inf if self.null.any() else self.largest / float(self.eigenvalues[0])

    @property
    def divisors(self) -> Array:
        """The eigenvalues, and 1 for those that are zero."""
        return np.where(self.eigenvalues > 0, self.eigenvalues, 1.0)

    def overlaps(self, rows: Array) -> Array:
        """`Θ(x, X) v` for rows `(m, n)` and every mode, `(m, n)`; an `OutsideRangeWarning` for rows that cannot be."""
        found = rows @ self.vectors
        outside = np.linalg.norm(found[:, self.null], axis=1)
        size = np.abs(rows).max(axis=1, initial=self.largest_entry)  # at least about the root of Θ(x, x) Θ(x', x')
        allowed = FAR * np.sqrt(self.cutoff * size)
        if (outside > allowed).any():
            row = int(np.argmax(outside - allowed))
            text = f"kernel_test[{row}] lies outside the range of the kernel by {outside[row]:.2g}, where rounding "
            text += f"explains {allowed[row]:.2g}: that part is not followed; compute both with one kernel function"
            warnings.warn(OutsideRangeWarning(text), stacklevel=4)
        return found


def symmetric_matrix(argument: str, value: ArrayLike, points: int) -> tuple[Array, float, float]:
    """`value` as a finite symmetric matrix `(points, points)` in float64, the error of its entries, and its ε."""
    matrix = finite_array(argument, value, (points, points))
    kind = np.asarray(value).dtype
    epsilon = float(np.finfo(kind if kind.kind == "f" else np.float64).eps)
    slack = SLACK * epsilon * float(np.abs(matrix).max())
    if (apart := float(np.abs(matrix - matrix.T).max())) > slack:
        raise InvalidInput(argument, value, f"is not symmetric: entries differ by {apart:.3g} from their mirror image")
    return symmetrised(matrix), slack, epsilon


def covariance_matrix(argument: str, value: ArrayLike, points: int) -> Array:
    """`value` as a covariance matrix; `InvalidInput` if rounding errors do not explain that it is none."""
    matrix, slack, _ = symmetric_matrix(argument, value, points)
    try:
        np.linalg.cholesky(matrix + (points * slack + np.finfo(np.float64).tiny) * np.eye(points))
    except np.linalg.LinAlgError:
        raise InvalidInput(argument, value, "is not positive semidefinite, as a covariance is") from None
    return matrix


def symmetrised(matrix: Array) -> Array:
    """The mean of a matrix and its transpose."""
    return matrix / 2 + matrix.T / 2  # the sum itself may overflow


def finite_array(argument: str, value: ArrayLike, shape: tuple[int | None, ...] | None) -> Array:
    """`value` as a finite float64 array, a copy, of the `shape` given; None stands for any number, or any shape."""
    try:
        given = np.asarray(value)
    except ValueError:
        raise InvalidInput(argument, value, "rows have different lengths; give a rectangular array") from None
    if given.dtype.kind not in "fiu" or given.size == 0:
        raise InvalidInput(argument, value, "give a non-empty array of real numbers")
    if shape is not None:
        wanted = "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")"
        matches = given.ndim == len(shape) and all(
            size in (None, found) for size, found in zip(shape, given.shape, strict=True)
        )
        if not matches:
            raise InvalidInput(argument, value, f"has shape {given.shape}; {wanted} is expected")
    if not np.isfinite(given).all():
        raise InvalidInput(argument, value, "every entry must be finite")
    return given.astype(np.float64)
