"""Evidence for an exponent in the width, depth or number of steps, from independent samples at several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from numerics.decision import Outcome
from numerics.exponents import Correction, Statistic, fit_exponent

from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import Evidence
from .expectation import BUDGET, COARSER

# What a mutant adds to the claimed exponent.
SHIFTS = (-1.0, -0.5, -0.25, 0.25, 0.5, 1.0)


@dataclass(frozen=True, kw_only=True)
class Scaling(Evidence):
    """`statistic(size) ~ size^exponent` against observations `draw(rng, size, count) -> (count,)`.

    A chunk is `count` observations at every one of `sizes`; `budget` chunks may be spent at standard. `resolution` is
    the smallest error of the exponent that must be caught at standard. Mutants are shifted exponents.
    """

    draw: Callable[[np.random.Generator, int, int], NDArray[np.float64]]
    exponent: float
    sizes: tuple[int, ...]
    statistic: Statistic = Statistic.MEAN
    correction: Correction = Correction.NONE
    count: int = 500
    budget: int = 20
    resolution: float = 0.2
    shifts: tuple[float, ...] = field(default=SHIFTS)
    kind: ClassVar[str] = "scaling"
    worth: ClassVar[Verdict] = Verdict.SUPPORTED
    statistical: ClassVar[bool] = True

    def chunks(self, level: Level) -> int:
        return max(2, round(self.budget * BUDGET[level]))

    def sample(self, chunk: int, rng: np.random.Generator, level: Level) -> Any:
        streams = rng.spawn(len(self.sizes))
        return [self.draw(own, size, self.count).tolist() for own, size in zip(streams, self.sizes, strict=True)]

    def judge(self, samples: list[Any], level: Level, alpha: float) -> tuple[Finding, bool]:
        spent = self.chunks(level)
        if len(samples) < spent:  # the fit is no confidence sequence: it is looked at once, when all is spent
            return Finding(Standing.UNDECIDED, Verdict.SUPPORTED, "sampling"), True
        by_size = {size: np.concatenate([chunk[i] for chunk in samples]) for i, size in enumerate(self.sizes)}
        fit = fit_exponent(by_size, statistic=self.statistic, correction=self.correction)
        found = fit.decide(self.exponent, alpha=alpha, wanted_resolution=self.resolution * COARSER[level])
        standing = {
            Outcome.CONSISTENT: Standing.HOLDS,
            Outcome.REJECTED: Standing.FAILS,
            Outcome.UNDECIDED: Standing.UNDECIDED,
        }[found.outcome]
        tally = MutantTally()
        if standing is Standing.HOLDS:
            alive = [
                f"exponent {self.exponent:g} -> {self.exponent + shift:g}"
                for shift in self.shifts
                if fit.decide(self.exponent + shift, alpha=alpha).outcome is not Outcome.REJECTED
            ]
            tally = MutantTally(len(self.shifts), tuple(alive))
        detail = "; ".join((f"exponent {found.reason}", *fit.warnings))
        return Finding(standing, Verdict.SUPPORTED, detail, found.resolution, tally), False
