"""Evidence from sampling: a formula that is exact at finite size against the mean of the real thing.

The mean lies in a confidence sequence (`numerics/confidence.py`), which may be looked at after every chunk. Sampling
goes on until the formula is consistent at the wanted resolution and every mutant is rejected, or the budget is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from numerics.confidence import ConfidenceSequence
from numerics.decision import Outcome
from numerics.moments import Moments

from ..mutants import mutants
from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import Evidence

Vector = NDArray[np.float64]
# Against `standard`: how many times the chunks, and how many times the resolution.
BUDGET = {Level.QUICK: 0.25, Level.STANDARD: 1.0, Level.THOROUGH: 16.0}
COARSER = {Level.QUICK: 2.0, Level.STANDARD: 1.0, Level.THOROUGH: 0.25}


@dataclass(frozen=True)
class Prediction:
    """What a formula says the mean is, shape `(dimension,)`, and what its mutants say."""

    compute: Callable[[], Vector]
    change: Callable[[Vector], Mapping[str, Vector]]

    @cached_property
    def values(self) -> Vector:
        """What is predicted; computed once."""
        return self.compute()

    @cached_property
    def wrong(self) -> Mapping[str, Vector]:
        """What each mutant predicts; computed once."""
        return self.change(self.values)

    @classmethod
    def of(cls, expression: Any, points: Sequence[Mapping[Any, Any]]) -> Prediction:
        """The SymPy `expression`, or what a function returns, at exact `points`, one for each component.

        Its mutants are those of the expression.
        """

        def formula_itself() -> Any:
            return expression() if callable(expression) else expression

        def at_points(formula: Any) -> Vector:
            from numerics.evaluate import evaluate

            return np.array([float(evaluate(formula, point)) for point in points])

        def wrong(_: Vector) -> dict[str, Vector]:
            from theory.errors import LimesError

            found = {}
            for text, mutant in mutants(formula_itself()).items():
                try:
                    found[text] = at_points(mutant)
                except LimesError:  # a mutant without a value at these points cannot be compared
                    continue
            return found

        return cls(lambda: at_points(formula_itself()), wrong)

    @classmethod
    def number(cls, compute: Callable[[], Vector], wrong: Mapping[str, Callable[[Vector], Vector]]) -> Prediction:
        """A vector computed without a formula in SymPy; each mutant is a change of it."""
        return cls(compute, lambda values: {text: change(values) for text, change in wrong.items()})


@dataclass(frozen=True, kw_only=True)
class Expectation(Evidence):
    """`prediction` against the mean of observations `draw(rng, count) -> (count, dimension)`, or `(count,)`.

    `chunk` observations make a chunk, of which `budget` may be spent at standard; `resolution` is wanted at standard,
    relative to `scale` (default: the absolute value of what is predicted; to be given where that is 0).
    `deterministic` says which components may be constant.
    """

    draw: Callable[[np.random.Generator, int], Vector]
    prediction: Prediction
    chunk: int = 2000
    budget: int = 40
    resolution: float = 0.05
    scale: Sequence[float] | None = None
    deterministic: bool | Sequence[bool] = False
    kind: ClassVar[str] = "expectation"
    worth: ClassVar[Verdict] = Verdict.SUPPORTED
    statistical: ClassVar[bool] = True

    def chunks(self, level: Level) -> int:
        return max(4, round(self.budget * BUDGET[level]))

    def sample(self, chunk: int, rng: np.random.Generator, level: Level) -> Any:
        observations = np.asarray(self.draw(rng, self.chunk))
        return Moments.of(observations, observations.shape[1] if observations.ndim > 1 else 1).to_state()

    def judge(self, samples: list[Any], level: Level, alpha: float) -> tuple[Finding, bool]:
        predicted = self.prediction.values
        sequence = ConfidenceSequence(
            alpha,
            len(predicted),
            tuned_for=max(1000, self.chunk * self.budget // 4),
            deterministic=self.deterministic,
        )
        for state in samples:
            sequence.absorb(Moments.from_state(state))
        wanted = self.resolution * COARSER[level]
        found = sequence.decide(predicted, wanted_resolution=wanted, scale=self.scale)
        wrong = self.prediction.wrong
        alive = tuple(text for text, value in wrong.items() if not _rejects(sequence, value))
        standing = {
            Outcome.CONSISTENT: Standing.HOLDS,
            Outcome.REJECTED: Standing.FAILS,
            Outcome.UNDECIDED: Standing.UNDECIDED,
        }[found.outcome]
        detail = f"{sequence.count} observations: {found.reason}"
        tally = MutantTally(len(wrong), alive) if standing is Standing.HOLDS else MutantTally()
        more = standing is Standing.UNDECIDED or (standing is Standing.HOLDS and bool(alive))
        return Finding(standing, Verdict.SUPPORTED, detail, found.resolution, tally), more


def _rejects(sequence: ConfidenceSequence, value: Vector) -> bool:
    if not np.isfinite(value).all():
        return True
    return sequence.decide(value, scale=np.maximum(np.abs(value), 1e-300)).outcome is Outcome.REJECTED
