"""Evidence from trials: a property that must hold for every network and every input drawn, and of no mutant.

This is for statements without a number: symmetry, definiteness, a rank, an exact equality of two computations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from theory.errors import InvalidInput

from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import Evidence
from .expectation import BUDGET

Trial = Callable[[np.random.Generator], str]


@dataclass(frozen=True, kw_only=True)
class Property(Evidence):
    """`trial(rng)` says of one random case what is wrong with it ("" if nothing).

    `mutants` are the same trial of a thing that is made wrong on purpose (or a function that makes them, when it takes
    long): each must be caught at least once. With `N` trials passed, the property fails in less than a fraction
    `log(1/alpha)/N` of the cases, which is the resolution.
    """

    trial: Trial
    mutants: Mapping[str, Trial] | Callable[[], Mapping[str, Trial]]
    chunk: int = 25
    budget: int = 8
    kind: ClassVar[str] = "property"
    worth: ClassVar[Verdict] = Verdict.SUPPORTED
    statistical: ClassVar[bool] = True

    @cached_property
    def wrong(self) -> Mapping[str, Trial]:
        """The mutants, made now if they were not."""
        return self.mutants() if callable(self.mutants) else self.mutants

    def chunks(self, level: Level) -> int:
        return max(2, round(self.budget * BUDGET[level]))

    def sample(self, chunk: int, rng: np.random.Generator, level: Level) -> Any:
        own, *others = rng.spawn(1 + len(self.wrong))
        failures = [wrong for wrong in (_said(self.trial, own) for _ in range(self.chunk)) if wrong]
        caught = [
            any(_said(trial, stream) for _ in range(self.chunk))
            for trial, stream in zip(self.wrong.values(), others, strict=True)
        ]
        return {"failure": failures[0] if failures else "", "caught": caught}

    def judge(self, samples: list[Any], level: Level, alpha: float) -> tuple[Finding, bool]:
        failures = [chunk["failure"] for chunk in samples if chunk["failure"]]
        if failures:
            return Finding(Standing.FAILS, Verdict.SUPPORTED, failures[0]), False
        trials = len(samples) * self.chunk
        alive = [text for i, text in enumerate(self.wrong) if not any(chunk["caught"][i] for chunk in samples)]
        done = len(samples) >= self.chunks(level)
        standing = Standing.HOLDS if done else Standing.UNDECIDED
        resolution = min(1.0, -math.log(alpha) / trials)
        tally = MutantTally(len(self.wrong), tuple(alive))
        return Finding(
            standing, Verdict.SUPPORTED, f"held in all of {trials} random cases", resolution, tally
        ), not done


def _said(trial: Trial, rng: np.random.Generator) -> str:
    """What a trial says; a bare False might mean that it failed, and would pass for "nothing is wrong"."""
    wrong = trial(rng)
    if not isinstance(wrong, str):
        raise InvalidInput("trial", wrong, 'return in words what is wrong, or "" if nothing is')
    return wrong
