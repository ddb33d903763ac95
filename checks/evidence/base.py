"""What all kinds of evidence have in common: work that can be cut in chunks, and a judgement on the chunks.

`sample` does the work of one chunk, in any process, from its own random generator; `judge` looks at the chunks so far,
in order, and gives a finding. So the finding is a function of the claim, the seed and the level, whatever the number of
processes. Exact evidence is one chunk.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..verdicts import Finding, Level, MutantTally, Standing, Verdict


@dataclass(frozen=True, kw_only=True)
class Evidence(ABC):
    """One piece of evidence. `name` says what is compared with what, in a few words."""

    name: str = ""
    kind: ClassVar[str]
    worth: ClassVar[Verdict]  # the strongest verdict it can give
    statistical: ClassVar[bool] = False

    @abstractmethod
    def chunks(self, level: Level) -> int:
        """How many chunks may be spent at this level."""

    @abstractmethod
    def sample(self, chunk: int, rng: np.random.Generator, level: Level) -> Any:
        """The work of one chunk. What comes back is plain data that JSON keeps exactly."""

    @abstractmethod
    def judge(self, samples: list[Any], level: Level, alpha: float) -> tuple[Finding, bool]:
        """The finding on the chunks so far, and whether more chunks could change it. `alpha` is the error allowed."""


@dataclass(frozen=True, kw_only=True)
class ExactEvidence(Evidence):
    """Evidence that is one computation without chance; a subclass gives `examine`."""

    def chunks(self, level: Level) -> int:
        return 1

    @abstractmethod
    def examine(self, level: Level) -> Finding:
        """Do all the work."""

    def sample(self, chunk: int, rng: np.random.Generator, level: Level) -> Any:
        return finding_to_data(self.examine(level))

    def judge(self, samples: list[Any], level: Level, alpha: float) -> tuple[Finding, bool]:
        return finding_from_data(samples[0]), False


def finding_to_data(finding: Finding) -> dict[str, Any]:
    """A finding as plain data, for the journal."""
    return {
        "standing": finding.standing.value,
        "worth": finding.worth.value,
        "detail": finding.detail,
        "resolution": finding.resolution,
        "tried": finding.mutants.tried,
        "survived": list(finding.mutants.survived),
    }


def finding_from_data(data: dict[str, Any]) -> Finding:
    """The inverse of `finding_to_data`."""
    return Finding(
        Standing(data["standing"]),
        Verdict(data["worth"]),
        data["detail"],
        data["resolution"],
        MutantTally(data["tried"], tuple(data["survived"])),
    )
