"""The result of a run: for each claim its verdict and its evidence, as objects, as JSON, as text and as HTML.

Its JSON holds all that a report needs (`checks/recorded.py` reads it back); a field may be added to it, none may change
or go without another `SCHEMA`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .claims import Claim, Correction, JudgedEvidence
from .verdicts import Level, Verdict

SCHEMA = 1  # of what limes verify --json writes
AUDIT_SCHEMA = 1  # of what limes audit --json writes


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on one claim and all that led to it."""

    claim: Claim
    verdict: Verdict
    evidence: tuple[JudgedEvidence, ...]
    seconds: float

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one the claim records; without a record, whether the claim holds."""
        return as_recorded(self.verdict, self.claim.expected)

    @property
    def correction(self) -> Correction | None:
        """What holds instead of the statement, if that is the verdict."""
        return self.claim.correction if self.verdict is Verdict.CORRECTED else None

    @property
    def mutants_tried(self) -> int:
        return sum(item.finding.mutants.tried for item in self.evidence)

    @property
    def mutants_survived(self) -> tuple[str, ...]:
        return tuple(text for item in self.evidence for text in item.finding.mutants.survived)

    def remarks(self) -> list[str]:
        """What must be said with the verdict, in sentences.

        That another one is recorded, what decided it if the claim does not hold, the correction, evidence that could
        not tell beside stronger evidence that could, surviving mutants.
        """
        found = []
        if not self.as_expected:
            found.append(f"recorded: {self.claim.expected.value}" if self.claim.expected else "it should hold")
        if self.verdict in (Verdict.REFUTED, Verdict.UNDECIDED):
            telling = [item for item in self.evidence if item.finding.verdict is self.verdict and not item.corrects]
            found += [f"{item.label}: {item.finding.detail}" for item in telling]
        if self.correction:
            found.append(f"correction: {self.correction.text}")
        if self.verdict is not Verdict.UNDECIDED:
            unsure = [item for item in self.evidence if item.finding.verdict is Verdict.UNDECIDED]
            found += [f"undecided: {item.label}: {item.finding.detail}" for item in unsure]
        return found + [f"a mutant survived: {text}" for text in self.mutants_survived]

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the schema that `limes verify --json` writes."""
        claim, correction = self.claim, None
        if (mended := self.correction) is not None:
            expression = None if mended.expression is None else str(mended.expression)
            correction = {"text": mended.text, "latex": mended.latex, "expression": expression}
        return {
            "id": claim.id,
            "title": claim.title,
            "source": str(claim.source),
            "statement": claim.statement,
            "hypotheses": list(claim.hypotheses),
            "verdict": self.verdict.value,
            "expected": claim.expected.value if claim.expected else None,
            "seconds": round(self.seconds, 3),
            "correction": correction,
            "conditions": list(claim.conditions),
            "findings": list(claim.findings),
            "evidence": [_evidence_to_json(item) for item in self.evidence],
        }


@dataclass(frozen=True)
class Report:
    """All results of one run. `trouble` says what went wrong around it (a journal that could not be written)."""

    seed: int
    level: Level
    claims: tuple[ClaimResult, ...]
    trouble: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether every claim got the verdict that it records."""
        return all(result.as_expected for result in self.claims)

    def to_json(self) -> dict[str, Any]:
        """The object that `limes verify --json` writes."""
        return {
            "schema": SCHEMA,
            "version": limes_version(),
            "seed": self.seed,
            "level": self.level.value,
            "claims": [result.to_json() for result in self.claims],
        }

    def __str__(self) -> str:
        width = max((len(result.claim.id) for result in self.claims), default=0)
        return "\n".join(f"{result.claim.id:<{width}}  {result.verdict.value}" for result in self.claims)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(result.claim.id)}</td><td>{escape(result.verdict.value)}</td>"
            f"<td>{escape(result.correction.text if result.correction else '')}</td></tr>"
            for result in self.claims
        )
        return f"<table><tr><th>claim</th><th>verdict</th><th>correction</th></tr>{rows}</table>"


def as_recorded(verdict: Verdict, expected: Verdict | None) -> bool:
    """Whether a verdict is the one on record; without a record, whether the claim holds.

    Undecided never is, even if that is the record.
    """
    if expected is None:
        return verdict.holds
    return verdict.decided and verdict is expected


def _evidence_to_json(item: JudgedEvidence) -> dict[str, Any]:
    found = item.finding
    # JSON has no infinity: no resolution at all is null, as for exact evidence, which has none to give
    resolution = found.resolution if found.resolution is not None and math.isfinite(found.resolution) else None
    return {
        "name": item.name or item.part or item.kind,
        "kind": item.kind,
        "part": item.part,
        "corrects": item.corrects,
        "verdict": found.verdict.value,
        "detail": found.detail,
        "resolution": resolution,
        "seconds": round(item.seconds, 3),
        "mutants": {
            "tried": found.mutants.tried,
            "killed": found.mutants.killed,
            "survived": list(found.mutants.survived),
        },
    }


_STEPS = [(1.0, "1 s"), (2.0, "2 s"), (5.0, "5 s"), (10.0, "10 s"), (20.0, "20 s"), (30.0, "30 s"), (60.0, "1 min")]
_STEPS += [(60.0 * minutes, f"{minutes} min") for minutes in (2, 5, 10, 20, 30)]


def coarse_time(seconds: float) -> str:
    """A time as one says it: the nearest of 1, 2, 5, 10, … s and min, as a ratio; from an hour on, in hours.

    >>> [coarse_time(seconds) for seconds in (0.01, 8, 100, 4000, 20000)]
    ['1 s', '10 s', '2 min', '1 h', '6 h']
    """
    hours = [(3600.0 * count, f"{count} h") for count in (1, max(2, round(seconds / 3600)))]
    return min((*_STEPS, *hours), key=lambda step: abs(math.log(max(seconds, 0.01) / step[0])))[1]


def limes_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("limes")
    except PackageNotFoundError:
        return "0+source"
