"""What a measurement says about a claimed number: consistent with it, rejects it, or cannot tell.

A measurement is an estimate with a half-width `r`: the truth lies within `r` of it, but for a stated error `α`.

- A claimed number further than `r` from the estimate is REJECTED; this happens to the truth with probability `≤ α`.
- One within `r` is CONSISTENT, which says little by itself. How much it says is the *resolution*: the smallest error
  that would have been caught. A claim wrong by `e` lies at least `e − r` from the estimate, so every `e > 2r` is
  caught, but for probability `α`; the resolution is `2r`, relative to the size of the claimed number.
- UNDECIDED is the answer when the estimate cannot be trusted or its resolution is worse than wanted. It never passes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput


class Outcome(Enum):
    """The three answers of a measurement."""

    CONSISTENT = "consistent"
    REJECTED = "rejected"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Decision:
    """An outcome, the smallest error that would have been caught (`inf`: none), and the reason in a sentence."""

    outcome: Outcome
    resolution: float
    reason: str


def decide(
    target: NDArray[np.float64],
    centre: NDArray[np.float64],
    radius: NDArray[np.float64],
    *,
    scale: NDArray[np.float64],
    wanted_resolution: float = math.inf,
) -> Decision:
    """Compare a claimed vector with an estimate `centre ± radius`; all four arrays have shape `(dimension,)`.

    REJECTED if any component of `target` lies outside, else CONSISTENT if the resolution, the largest over the
    components of `2 radius / scale`, is finite and at most `wanted_resolution`, else UNDECIDED. An infinite radius is a
    component about which nothing is known. A component of scale 0 has resolution 0 if its radius is 0, else `inf`.

    >>> one = np.ones(1)
    >>> decide(1.02 * one, one, 0.01 * one, scale=one).outcome
    <Outcome.REJECTED: 'rejected'>
    >>> decide(1.005 * one, one, 0.01 * one, scale=one, wanted_resolution=0.05)
    Decision(outcome=<Outcome.CONSISTENT: 'consistent'>, resolution=0.02, reason='every component lies inside')
    """
    if not wanted_resolution > 0:
        raise InvalidInput("wanted_resolution", wanted_resolution, "give a positive number")
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(radius > 0, 2 * radius / scale, 0.0)
    worst = int(np.argmax(relative))
    resolution = float(relative[worst])
    distance = np.abs(target - centre)
    outside = np.flatnonzero(distance > radius)
    if outside.size:
        j = int(outside[0])
        return Decision(
            Outcome.REJECTED,
            resolution,
            f"component {j}: {target[j]:.10g} lies outside {centre[j]:.10g} ± {radius[j]:.2g}",
        )
    if not math.isfinite(resolution):
        cause = "its scale is 0: give the scale" if math.isfinite(radius[worst]) else "its radius is infinite"
        return Decision(Outcome.UNDECIDED, resolution, f"component {worst} has no resolution: {cause}")
    if resolution > wanted_resolution:
        reason = f"component {worst}: resolution {resolution:.2g} is worse than the wanted {wanted_resolution:.2g}"
        return Decision(Outcome.UNDECIDED, resolution, reason)
    return Decision(Outcome.CONSISTENT, resolution, "every component lies inside")


def finite_vector(argument: str, value: ArrayLike, dimension: int) -> NDArray[np.float64]:
    """`value` as a finite float64 array of shape `(dimension,)`; a number stands for a vector of dimension 1.

    >>> finite_vector("target", 2, 1)
    array([2.])
    """
    vector = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if vector.shape != (dimension,):
        raise InvalidInput(f"{argument}.shape", vector.shape, f"give a vector of shape ({dimension},)")
    if not np.isfinite(vector).all():
        raise InvalidInput(argument, value, "give finite numbers")
    return vector
