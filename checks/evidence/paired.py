"""Evidence from a paired comparison (McNemar): two methods answer the same questions, and one is right more often.

Only the questions on which one is right and the other wrong tell. Their answers being independent, the number that the
first method wins is binomial; its share of all questions of the kind lies in the exact interval of Clopper and Pearson,
but for the error. Source: McNemar (1947), *Note on the sampling error of the difference between correlated
proportions*, in its exact form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from theory.errors import InvalidInput

from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import Evidence


@dataclass(frozen=True, kw_only=True)
class PairedComparison(Evidence):
    """Of the questions that one of two methods alone answers rightly, the first answers more than half.

    `draw(rng) -> (2, questions)`, booleans, says which of the two was right on which question. The questions are a
    sample, on which neither method was trained; what is found holds for the methods as they were trained. It holds when
    the interval for the share lies above one half, fails when it lies below. The one mutant is the opposite claim.
    """

    draw: Callable[[np.random.Generator], NDArray[np.bool_]]
    kind: ClassVar[str] = "paired comparison"
    worth: ClassVar[Verdict] = Verdict.SUPPORTED
    statistical: ClassVar[bool] = True

    def chunks(self, level: Level) -> int:
        return 1

    def sample(self, chunk: int, rng: np.random.Generator, level: Level) -> Any:
        outcomes = np.asarray(self.draw(rng))
        if outcomes.dtype != bool or outcomes.ndim != 2 or len(outcomes) != 2:
            raise InvalidInput("draw", outcomes, "return booleans of shape (2, questions)")
        first, second = outcomes
        return [int((first & ~second).sum()), int((second & ~first).sum()), len(first)]

    def judge(self, samples: list[Any], level: Level, alpha: float) -> tuple[Finding, bool]:
        from scipy.stats import binomtest

        ((won, lost, questions),) = samples
        lower, upper = 0.0, 1.0
        if won + lost > 0:
            lower, upper = binomtest(won, won + lost).proportion_ci(confidence_level=1 - alpha, method="exact")
        standing = Standing.HOLDS if lower > 0.5 else Standing.FAILS if upper < 0.5 else Standing.UNDECIDED
        detail = f"right alone on {won} of {questions}, the other on {lost}: a share in [{lower:.3g}, {upper:.3g}]"
        tally = MutantTally(1, ()) if standing is Standing.HOLDS else MutantTally()
        return Finding(standing, Verdict.SUPPORTED, detail, float(upper - lower), tally), False
