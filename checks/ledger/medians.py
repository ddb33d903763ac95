"""The exponent of a median: the record of evidence for what has heavy tails, or is skewed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from numerics.exponents import Statistic

from ..evidence import Scaling


def median_scaling(
    name: str,
    draw: Callable[[np.random.Generator, int, int], NDArray[np.float64]],
    exponent: float,
    sizes: tuple[int, ...],
    *,
    count: int,
    resolution: float,
    budget: int = 8,
    shifts: tuple[float, ...] = (-1.0, -0.5, 0.5, 1.0),
) -> Scaling:
    """`median(size) ~ size^exponent` for what is drawn; its mutants are half a power off, and more.

    >>> evidence = median_scaling("width", lambda rng, width, count: rng.random(count) / width, -1.0, (8, 16, 32),
    ...                           count=100, resolution=0.5)
    >>> evidence.statistic.value, evidence.shifts
    ('quantile', (-1.0, -0.5, 0.5, 1.0))
    """
    return Scaling(
        name=name,
        draw=draw,
        exponent=exponent,
        sizes=sizes,
        statistic=Statistic.QUANTILE,
        count=count,
        budget=budget,
        resolution=resolution,
        shifts=shifts,
    )
