r"""A smooth function of one angle, tabulated once and then evaluated on millions of angles.

`f: [0, π] → R` is replaced by polynomials in `x = ln(1 + θ/σ)`, on panels of equal length in `x`. In this variable the
deep ReLU kernels have no small scale left, if `σ` is at most theirs: at depth `L` they change over angles of the order
`3π/L` (`depth-crossover`), and slowly beyond. The polynomials interpolate in Chebyshev–Lobatto points, which contain
the ends of the panels: `f(0)` is returned exactly.

Two tables are made. The first has few panels of a high degree, so that `f` is needed at few angles; the second, made
from the first, has many panels of a low degree, so that it is fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEW = (9, 20)  # degree, and panels on a unit of x
MANY = (5, 150)
REFINEMENTS = 3  # how often the panels may be halved
ACCURACY = 1e-14  # relative to the largest |f|
NARROWEST, WIDEST = 1e-6, 3.0  # of σ; a function that changes faster is chaotic, and no table could hold it
SHORTEST = 2.5  # units of x for which there are panels at least


@dataclass(frozen=True)
class AngleTable:
    """The polynomials: `coefficients (degree + 1, panels)` of the powers of the position in a panel, from 0 to 1.

    `density` is the number of panels on a unit of `x`, and `scale` is `σ`.
    """

    scale: float
    density: float
    coefficients: Array

    @classmethod
    def of(cls, function: Callable[[Array], Array], scale: float) -> AngleTable | None:
        """The table of `function`, which changes over angles of the order `scale`; None if no table reaches `ACCURACY`.

        It is compared with the function itself between the angles used; while it differs, the panels are halved.

        >>> table = AngleTable.of(np.cos, 1.0)
        >>> bool(abs(table(np.array([2.0])) - np.cos(2.0)) < 1e-14)
        True
        """
        if scale < NARROWEST:
            return None
        scale = min(scale, WIDEST)
        for refinement in range(REFINEMENTS + 1):
            (degree, density), (low_degree, high_density) = FEW, MANY
            angle = _sample_angles(scale, degree, density * 2**refinement)
            between = _sample_angles(scale, 2, density * 2**refinement)[:, 1]
            values = function(np.append(angle, between))
            coarse = cls._through(values[: angle.size].reshape(angle.shape), scale)
            table = cls._through(coarse(_sample_angles(scale, low_degree, high_density * 2**refinement)), scale)
            if np.all(np.abs(table(between) - values[angle.size :]) <= ACCURACY * np.abs(values).max()):
                return table
        return None

    @classmethod
    def _through(cls, values: Array, scale: float) -> AngleTable:
        """The polynomials through values `(panels, degree + 1)` at `_sample_angles`."""
        panels, points = values.shape
        powers = np.vander(_positions(points - 1), increasing=True)[1:, 1:]
        coefficients = np.empty((points, panels))
        coefficients[0] = values[:, 0]
        coefficients[1:] = np.linalg.solve(powers, (values[:, 1:] - values[:, :1]).T)
        return cls(scale, panels / math.log1p(math.pi / scale), coefficients)

    def __call__(self, angle: Array) -> Array:
        """`f(θ)` for an array of angles in [0, π]."""
        position = np.log1p(angle * (1 / self.scale))
        position *= self.density
        panel = position.astype(np.intp)
        np.minimum(panel, self.coefficients.shape[1] - 1, out=panel)
        position -= panel
        value, term = self.coefficients[-1].take(panel), np.empty_like(position)
        for power in self.coefficients[-2::-1]:
            value *= position
            value += power.take(panel, out=term, mode="clip")  # the default mode would copy `term`
        return value


def _sample_angles(scale: float, degree: int, density: int) -> Array:
    """The angles at the interpolation points of all panels, `(panels, degree + 1)`."""
    length = math.log1p(math.pi / scale)
    panels = math.ceil(density * max(length, SHORTEST))
    x = (np.arange(panels)[:, None] + _positions(degree)) * (length / panels)
    return np.minimum(scale * np.expm1(x), math.pi)


def _positions(degree: int) -> Array:
    """The Chebyshev–Lobatto points of [0, 1]."""
    return (1 - np.cos(np.pi * np.arange(degree + 1) / degree)) / 2
