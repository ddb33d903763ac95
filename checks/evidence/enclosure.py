"""Evidence from ball arithmetic: an inequality or a value over a whole domain, certified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from theory.errors import InvalidInput, Undecidable

from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import ExactEvidence


@dataclass(frozen=True)
class Certificate:
    """What a certified computation says of a statement; `detail` is the bound it found or the point where it fails."""

    standing: Standing
    detail: str


@dataclass(frozen=True, kw_only=True)
class Enclosure(ExactEvidence):
    """`certify(claimed)` proves or refutes the statement with `claimed` in it, by balls over the whole domain.

    `mutants` are other values of `claimed`, under a description each; `certify` must not accept them. `Undecidable`
    raised by it counts as undecided.

    >>> from fractions import Fraction
    >>> def below(bound):
    ...     return Certificate(Standing.HOLDS if bound >= 1 else Standing.FAILS, f"sin x <= {bound}")
    >>> sine = Enclosure(certify=below, claimed=1, mutants={"one half": Fraction(1, 2)})
    >>> sine.examine(Level.QUICK).verdict.value, sine.examine(Level.QUICK).mutants.killed
    ('certified', 1)
    """

    certify: Callable[..., Certificate]
    claimed: object
    mutants: Mapping[str, object] = field(default_factory=dict)
    kind: ClassVar[str] = "enclosure"
    worth: ClassVar[Verdict] = Verdict.CERTIFIED

    def examine(self, level: Level) -> Finding:
        found = self._certify(self.claimed)
        tally = MutantTally()
        if found.standing is Standing.HOLDS:
            alive = [text for text, wrong in self.mutants.items() if self._certify(wrong).standing is Standing.HOLDS]
            tally = MutantTally(len(self.mutants), tuple(alive))
        return Finding(found.standing, Verdict.CERTIFIED, found.detail, None, tally)

    def _certify(self, claimed: object) -> Certificate:
        try:
            found = self.certify(claimed)
        except Undecidable as error:
            return Certificate(Standing.UNDECIDED, str(error))
        if not isinstance(found, Certificate):
            raise InvalidInput("certify", found, "return a Certificate")
        return found
