"""Evidence from a comparison that has no formula: one thing is larger than another, with its uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from numerics.confidence import ConfidenceSequence, MeanSequence
from numerics.empirical_bernstein import BoundedConfidenceSequence
from numerics.moments import Moments
from theory.errors import InvalidInput

from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import Evidence
from .expectation import BUDGET

MOST_LISTED = 8  # components; of more, the least favourable one is shown


class Measure(Enum):
    """What of the paired differences is claimed to be positive.

    `MAJORITY` is the share of the pairs won minus the share lost; it needs no moments, so that a difference may have
    any tails and be infinite. A tie is neither, and a NaN, such as the difference of two infinite losses, is a tie.
    """

    MEAN = "mean advantage"
    MAJORITY = "pairs won minus pairs lost"


@dataclass(frozen=True, kw_only=True)
class Experiment(Evidence):
    """Every component of the mean, or the majority, of `draw(rng, count) -> (count, dimension)` is positive.

    Each component is a paired difference, what is claimed to be larger minus what is claimed to be smaller. It holds
    when the confidence interval of every component lies above zero, fails when that of one lies below; the intervals
    hold together. The one mutant is the opposite claim.
    """

    draw: Callable[[np.random.Generator, int], NDArray[np.float64]]
    measure: Measure = Measure.MEAN
    chunk: int = 200
    budget: int = 40
    kind: ClassVar[str] = "experiment"
    worth: ClassVar[Verdict] = Verdict.SUPPORTED
    statistical: ClassVar[bool] = True

    def chunks(self, level: Level) -> int:
        return max(4, round(self.budget * BUDGET[level]))

    def sample(self, chunk: int, rng: np.random.Generator, level: Level) -> Any:
        differences = np.asarray(self.draw(rng, self.chunk))
        if differences.ndim != 2:
            raise InvalidInput("draw", differences, "return an array of shape (count, dimension)")
        if self.measure is Measure.MAJORITY:
            return np.nan_to_num(np.sign(differences)).astype(int).tolist()
        return Moments.of(differences, differences.shape[1]).to_state()

    def judge(self, samples: list[Any], level: Level, alpha: float) -> tuple[Finding, bool]:
        sequence = self._sequence(samples, alpha)
        lower, upper = sequence.interval()
        if (lower > 0).all():
            standing = Standing.HOLDS
        elif (upper < 0).any():
            standing = Standing.FAILS
        else:
            standing = Standing.UNDECIDED
        resolution = float("inf")
        if sequence.trustworthy and sequence.mean.all():
            resolution = float((sequence.radius / np.abs(sequence.mean)).max())
        survived = () if (upper > 0).all() else ("the opposite claim",)
        tally = MutantTally(1, survived) if standing is Standing.HOLDS else MutantTally()
        detail = self._detail(sequence, standing)
        return Finding(standing, Verdict.SUPPORTED, detail, resolution, tally), standing is Standing.UNDECIDED

    def _detail(self, sequence: MeanSequence, standing: Standing) -> str:
        """The components in words: all if they are few; the one that fails."""
        mean, radius = sequence.mean, sequence.radius
        if standing is Standing.FAILS:
            worst = int((mean + radius).argmin())
            found = f"{mean[worst]:.3g} ± {radius[worst]:.1g} in component {worst} of {len(mean)}"
        elif sequence.reason:
            return sequence.reason
        elif len(mean) <= MOST_LISTED:
            found = ", ".join(f"{m:.3g} ± {r:.1g}" for m, r in zip(mean, radius, strict=True))
        else:
            least = int((mean - radius).argmin())
            found = f"at least {mean[least]:.3g} ± {radius[least]:.1g}, the lowest of {len(mean)} components,"
        return f"{self.measure.value} {found} over {sequence.count} pairs"

    def _sequence(self, samples: list[Any], alpha: float) -> MeanSequence:
        if self.measure is Measure.MAJORITY:
            signs = BoundedConfidenceSequence(alpha, len(samples[0][0]), lower=-1, upper=1)
            for chunk in samples:
                signs.update(chunk)
            return signs
        moments = [Moments.from_state(state) for state in samples]
        means = ConfidenceSequence(alpha, len(moments[0].mean), tuned_for=max(1000, self.chunk * self.budget // 4))
        for chunk in moments:
            means.absorb(chunk)
        return means
