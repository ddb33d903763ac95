"""Evidence from a comparison that has no formula: one thing is larger than another on average, with its uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from numerics.confidence import ConfidenceSequence
from numerics.moments import Moments

from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import Evidence
from .expectation import BUDGET


@dataclass(frozen=True, kw_only=True)
class Experiment(Evidence):
    """Every component of the mean of `draw(rng, count) -> (count, dimension)` is positive.

    Each component is a paired difference, what is claimed to be larger minus what is claimed to be smaller. It holds
    when the confidence interval of every mean lies above zero, fails when that of one lies below. The one mutant is
    the opposite claim.
    """

    draw: Callable[[np.random.Generator, int], NDArray[np.float64]]
    chunk: int = 200
    budget: int = 40
    kind: ClassVar[str] = "experiment"
    worth: ClassVar[Verdict] = Verdict.SUPPORTED
    statistical: ClassVar[bool] = True

    def chunks(self, level: Level) -> int:
        return max(4, round(self.budget * BUDGET[level]))

    def sample(self, chunk: int, rng: np.random.Generator, level: Level) -> Any:
        differences = self.draw(rng, self.chunk)
        return Moments.of(differences, differences.shape[1]).to_state()

    def judge(self, samples: list[Any], level: Level, alpha: float) -> tuple[Finding, bool]:
        moments = [Moments.from_state(state) for state in samples]
        sequence = ConfidenceSequence(alpha, len(moments[0].mean), tuned_for=max(1000, self.chunk * self.budget // 4))
        for chunk in moments:
            sequence.absorb(chunk)
        lower, upper = sequence.interval()
        if (lower > 0).all():
            standing = Standing.HOLDS
        elif (upper < 0).any():
            standing = Standing.FAILS
        else:
            standing = Standing.UNDECIDED
        means = ", ".join(f"{m:.3g} ± {r:.1g}" for m, r in zip(sequence.mean, sequence.radius, strict=True))
        detail = sequence.reason or f"mean advantage {means} over {sequence.count} pairs"
        resolution = float((sequence.radius / np.abs(sequence.mean)).max()) if sequence.trustworthy else float("inf")
        survived = () if (upper > 0).all() else ("the opposite claim",)
        tally = MutantTally(1, survived) if standing is Standing.HOLDS else MutantTally()
        return Finding(standing, Verdict.SUPPORTED, detail, resolution, tally), standing is Standing.UNDECIDED
