"""What `limes` says in the end: the finding of a piece of evidence, and the verdict on a claim from all of them.

Evidence *holds*, *fails* or is *undecided*; what it is worth when it holds depends on its kind: exact algebra proves,
ball arithmetic certifies, values and samples support. "Could not tell" is never a pass, and evidence that would hold of
every wrong statement too cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum


class Verdict(Enum):
    """The verdict on a claim."""

    PROVED = "proved"  # exact algebra throughout
    CERTIFIED = "certified"  # ball arithmetic over the whole domain
    SUPPORTED = "supported"  # agrees with what was computed or sampled, within a stated resolution
    CORRECTED = "corrected"  # wrong as published, holds after a stated, exact change
    REFUTED = "refuted"  # wrong, with a counterexample that can be run again
    UNDECIDED = "undecided"  # budget spent, or the evidence cannot tell

    @property
    def decided(self) -> bool:
        return self is not Verdict.UNDECIDED

    @property
    def holds(self) -> bool:
        return self in STRENGTH[1:]


STRENGTH = (Verdict.UNDECIDED, Verdict.SUPPORTED, Verdict.CERTIFIED, Verdict.PROVED)


class Standing(Enum):
    """What one piece of evidence says of the statement it was put to."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


class Level(Enum):
    """How much is spent: quick answers within a minute, standard within minutes, thorough as long as it takes."""

    QUICK = "quick"
    STANDARD = "standard"
    THOROUGH = "thorough"


@dataclass(frozen=True)
class MutantTally:
    """Wrong versions of the statement, each of which the evidence must reject. `survived` lists those it did not."""

    tried: int = 0
    survived: tuple[str, ...] = ()

    @property
    def killed(self) -> int:
        return self.tried - len(self.survived)

    def __str__(self) -> str:
        return f"{self.killed} of {self.tried} mutants rejected" if self.tried else "no mutants"


BLIND = "it accepts every mutant, so it says nothing"


@dataclass(frozen=True)
class Finding:
    """What a piece of evidence found.

    `worth` is the strongest verdict it gives when it holds; `resolution` the smallest relative error of the statement
    that it would have caught (None: any error at all, as exact algebra does). What would hold, and of every mutant too,
    is undecided.

    >>> Finding(Standing.HOLDS, Verdict.CERTIFIED, "f <= 1", mutants=MutantTally(1, ("one half",)))
    ... # doctest: +ELLIPSIS
    Finding(standing=<Standing.UNDECIDED: ...>, ..., detail='f <= 1; it accepts every mutant, so it says nothing', ...)
    """

    standing: Standing
    worth: Verdict
    detail: str
    resolution: float | None = None
    mutants: MutantTally = field(default_factory=MutantTally)

    def __post_init__(self) -> None:
        if self.standing is Standing.HOLDS and self.mutants.tried and not self.mutants.killed:
            object.__setattr__(self, "standing", Standing.UNDECIDED)
            object.__setattr__(self, "detail", f"{self.detail}; {BLIND}")

    @property
    def verdict(self) -> Verdict:
        match self.standing:
            case Standing.HOLDS:
                return self.worth
            case Standing.FAILS:
                return Verdict.REFUTED
            case Standing.UNDECIDED:
                return Verdict.UNDECIDED


def verdict_on_part(findings: Iterable[Finding]) -> Verdict:
    """The verdict on one part of a statement: refuted if any evidence fails, else the strongest evidence that holds.

    >>> holds, unsure = (Finding(s, Verdict.SUPPORTED, "") for s in (Standing.HOLDS, Standing.UNDECIDED))
    >>> verdict_on_part([holds, unsure]), verdict_on_part([unsure])
    (<Verdict.SUPPORTED: 'supported'>, <Verdict.UNDECIDED: 'undecided'>)
    """
    verdicts = [finding.verdict for finding in findings]
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    return max(verdicts, key=STRENGTH.index, default=Verdict.UNDECIDED)


def verdict_on_claim(parts: Iterable[Verdict], correction: Iterable[Verdict] = ()) -> Verdict:
    """The verdict on a statement with several parts: its weakest part; corrected if it fails and its correction holds.

    >>> verdict_on_claim([Verdict.PROVED, Verdict.REFUTED], correction=[Verdict.PROVED]).value
    'corrected'
    >>> verdict_on_claim([Verdict.PROVED, Verdict.SUPPORTED]).value
    'supported'
    """
    parts, correction = list(parts), list(correction)
    if Verdict.REFUTED in parts:
        mended = bool(correction) and all(verdict.holds for verdict in correction)
        return Verdict.CORRECTED if mended else Verdict.REFUTED
    if Verdict.UNDECIDED in parts or not parts:
        return Verdict.UNDECIDED
    return min(parts, key=STRENGTH.index)
