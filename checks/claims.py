"""A claim: a statement from a source, made precise, and the evidence it is judged by.

    from checks import claim, Identity

    double_angle = claim(
        id="double-angle",
        statement=r"\\sin 2x = 2 \\sin x \\cos x",
        evidence=[Identity(derivation=sin(2 * x), claimed=2 * sin(x) * cos(x))],
    )

A statement with several parts gives `parts` instead of `evidence`; the weakest part decides. A claim that is wrong as
published carries a `Correction`, judged by evidence of its own. `expected` records the verdict found when the claim was
written down; it never enters the judgement.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from theory.errors import InvalidInput

from .evidence.base import Evidence
from .verdicts import Finding, Verdict

if TYPE_CHECKING:
    from sympy import Expr

    from theory.derivation import Derivation

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Source:
    """Where a statement was published. `place` is its number there ("Theorem 2")."""

    key: str
    title: str
    reference: str
    place: str = ""

    def at(self, place: str) -> Source:
        """The same source, at a place in it."""
        return replace(self, place=place)

    def __str__(self) -> str:
        return ", ".join(part for part in (self.title, self.reference, self.place) if part)


OWN = Source("own", "own claim", "")


@dataclass(frozen=True, kw_only=True)
class Correction:
    """What holds instead of the published statement: in words, as LaTeX, as an expression; and the evidence for it."""

    text: str
    latex: str
    expression: Expr | None = None
    parts: Mapping[str, Sequence[Evidence]]


@dataclass(frozen=True, kw_only=True, repr=False)
class Claim:
    """A statement and its evidence; make one with `claim`.

    `statement` is LaTeX, `parts` maps each part of it, in words, to its evidence, `hypotheses` are what the source
    assumes, `conditions` what it must assume besides, `findings` what was found that it does not say. `derivations` are
    printed by `limes latex`, after those of the evidence; `formulas` names those that can be evaluated.
    """

    id: str
    title: str
    source: Source
    statement: str
    parts: Mapping[str, Sequence[Evidence]]
    hypotheses: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    correction: Correction | None = None
    derivations: tuple[Any, ...] = ()
    formulas: tuple[str, ...] = ()
    expected: Verdict | None = None
    origin: str = field(default="", compare=False)

    def evidence(self) -> tuple[tuple[str, bool, Evidence], ...]:
        """All evidence in a fixed order: its part, whether it is for the correction, and itself."""
        published = [(part, False, item) for part, items in self.parts.items() for item in items]
        mended = self.correction.parts if self.correction else {}
        return (*published, *((part, True, item) for part, items in mended.items() for item in items))

    def judged(self, level: Any = None, seed: int = 0) -> Any:
        """Verify this claim alone, in this process; the shortest way to a verdict in a notebook or a test."""
        from .runner import verify
        from .verdicts import Level

        return verify([self], level=level or Level.STANDARD, seed=seed, jobs=1).claims[0]

    def all_derivations(self) -> tuple[Derivation, ...]:
        """Every derivation behind this claim, each once, in the order in which they rest on each other."""
        from .evidence.derived import Derived

        made = [item.derive() for _, _, item in self.evidence() if isinstance(item, Derived)]
        made += [make() for make in self.derivations]
        found: list[Derivation] = []
        for derivation in made:
            found.extend(part for part in derivation.parts() if part.steps and part not in found)
        return tuple(found)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.statement}$"

    def __repr__(self) -> str:
        return f"Claim({self.id}: {self.statement})"


@dataclass(frozen=True)
class JudgedEvidence:
    """A piece of evidence with its finding and the time it took."""

    part: str
    corrects: bool
    name: str
    kind: str
    finding: Finding
    seconds: float

    @property
    def label(self) -> str:
        """Its kind, and what is compared with what."""
        return f"{self.kind} ({self.name or self.part})" if self.name or self.part else self.kind


def claim(
    *,
    id: str,
    statement: str,
    evidence: Sequence[Evidence] = (),
    parts: Mapping[str, Sequence[Evidence]] | None = None,
    title: str = "",
    source: Source = OWN,
    **fields: Any,
) -> Claim:
    """Write down a claim. Give either `evidence`, or `parts` with the evidence of each.

    Raises `InvalidInput` for an id that is no lower-case words joined by hyphens, a claim or a part of it without
    evidence, and other fields of `Claim` that are not what it says.
    """
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise InvalidInput("id", id, "give lower-case words joined by hyphens, such as depth-limit")
    if bool(evidence) == bool(parts):
        raise InvalidInput("evidence", evidence, "give either evidence=[…] or parts={words: […]}, and not none")
    stated = dict(parts) if parts else {"": evidence}
    correction = fields.get("correction")
    if not isinstance(correction, Correction | None):
        raise InvalidInput("correction", correction, "give a Correction, with its own evidence")
    for part, items in (*stated.items(), *(correction.parts.items() if correction else ())):
        if not isinstance(items, list | tuple) or not items:
            raise InvalidInput("evidence", items, f"give a list with the evidence of {part or 'the claim'}, not empty")
        for item in items:
            if not isinstance(item, Evidence):
                raise InvalidInput("evidence", item, "give Identity(…), Expectation(…) or another kind of evidence")
    for name in ("hypotheses", "conditions", "findings", "formulas"):
        if isinstance(fields.get(name), str):
            raise InvalidInput(name, fields[name], "give a tuple of sentences")
    if not isinstance(fields.get("expected"), Verdict | None):
        raise InvalidInput("expected", fields["expected"], "give a Verdict, such as Verdict.REFUTED")
    return Claim(
        id=id,
        title=title or id.replace("-", " "),
        source=source,
        statement=statement,
        parts={part: tuple(items) for part, items in stated.items()},
        origin=sys._getframe(1).f_code.co_filename,
        **fields,
    )
