"""A run, or an audit, read back from the JSON of `limes verify` or `limes audit`: what a report is made of.

Nothing of it is believed: a field that is missing, or is not what that schema says, is refused with its place.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from theory.errors import InvalidInput

from .report import AUDIT_SCHEMA, SCHEMA, Report, as_recorded
from .verdicts import Level, MutantTally, Verdict

LONGEST = 10**8  # characters of a file; a run has less than a hundredth of that
LARGEST = sys.float_info.max  # beyond it there are integers, infinity, and no order with NaN
_WITHOUT = "without control characters or halves of characters"
_T = TypeVar("_T")
_E = TypeVar("_E", bound=Enum)


@dataclass(frozen=True)
class RecordedEvidence:
    """A piece of evidence with what it found."""

    part: str
    corrects: bool
    name: str
    kind: str
    verdict: Verdict
    detail: str
    resolution: float | None
    mutants: MutantTally


@dataclass(frozen=True)
class RecordedCorrection:
    """What holds instead of the statement, in words and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True)
class RecordedClaim:
    """What was stated, the verdict, and all that led to it; `seconds` are those of all processes together."""

    id: str
    title: str
    source: str
    statement: str
    hypotheses: tuple[str, ...]
    conditions: tuple[str, ...]
    findings: tuple[str, ...]
    verdict: Verdict
    expected: Verdict | None
    seconds: float
    correction: RecordedCorrection | None
    evidence: tuple[RecordedEvidence, ...]

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one on record; without a record, whether the claim holds."""
        return as_recorded(self.verdict, self.expected)


@dataclass(frozen=True)
class RecordedRun:
    """All claims of one run, and how it was made."""

    version: str
    seed: int
    level: Level
    claims: tuple[RecordedClaim, ...]

    def summary(self) -> str:
        """How many claims got which verdict, and how many mutants were rejected."""
        counts = Counter(one.verdict for one in self.claims)
        verdicts = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
        tallies = [item.mutants for one in self.claims for item in one.evidence]
        killed, tried = sum(tally.killed for tally in tallies), sum(tally.tried for tally in tallies)
        claims = "1 claim" if len(self.claims) == 1 else f"{len(self.claims)} claims"
        return f"{claims}: {verdicts or 'none'}. {killed} of {tried} mutants rejected."

    def only(self, ids: Iterable[str]) -> RecordedRun:
        """The run with these claims alone, in its own order; `InvalidInput` for one that it has not."""
        chosen, known = set(ids), [one.id for one in self.claims]
        for id in sorted(chosen.difference(known)):
            raise InvalidInput("claim", id, f"this run has {', '.join(known) or 'no claims'}")
        return replace(self, claims=tuple(one for one in self.claims if one.id in chosen))

    @classmethod
    def of(cls, report: Report) -> RecordedRun:
        """What would be read back from the JSON of this report."""
        return cls.from_json(report.to_json())

    @classmethod
    def from_json(cls, data: Any) -> RecordedRun:
        """The run that was written as `data`; `InvalidInput`, with the place in it, if it is no such run.

        >>> RecordedRun.from_json({"schema": 1, "version": "0.1.0", "seed": -1, "level": "quick", "claims": []})
        Traceback (most recent call last):
        theory.errors.InvalidInput: run.seed = -1: it must be an integer >= 0, as limes verify --json writes it
        """
        run = _Object("run", data, "verify")
        run.refuse_schema(SCHEMA)
        claims = tuple(_claim(one) for one in run.objects("claims"))
        if len({one.id for one in claims}) < len(claims):
            raise InvalidInput("run.claims", [one.id for one in claims], "different claims must have different ids")
        return cls(run.text("version"), run.natural("seed"), run.member("level", Level), claims)

    @classmethod
    def read(cls, path: Path) -> RecordedRun:
        """The run in this file. Raises `InvalidInput` if it cannot be read, or is no run."""
        return cls.from_json(_read(path, "--from", "verify"))


@dataclass(frozen=True)
class RecordedCheck:
    """One check of an audit: whether it passed, and what it found."""

    name: str
    sentence: str
    passed: bool


@dataclass(frozen=True)
class RecordedAudit:
    """An audit of `limes` itself, and how it was made."""

    version: str
    seed: int
    level: Level
    checks: tuple[RecordedCheck, ...]

    @classmethod
    def from_json(cls, data: Any) -> RecordedAudit:
        """The audit that was written as `data`; `InvalidInput`, with the place in it, if it is no such audit."""
        audit = _Object("audit", data, "audit")
        audit.refuse_schema(AUDIT_SCHEMA)
        checks = tuple(
            RecordedCheck(one.text("name"), one.text("sentence"), one.truth("passed"))
            for one in audit.objects("checks")
        )
        return cls(audit.text("version"), audit.natural("seed"), audit.member("level", Level), checks)

    @classmethod
    def read(cls, path: Path) -> RecordedAudit:
        """The audit in this file. Raises `InvalidInput` if it cannot be read, or is no audit."""
        return cls.from_json(_read(path, "--audit", "audit"))


def _read(path: Path, option: str, command: str) -> Any:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LONGEST + 1)  # a device never ends
    except OSError as error:
        raise InvalidInput(option, str(path), f"give a file that can be read ({error.strerror})") from None
    except ValueError as error:
        raise InvalidInput(option, str(path), f"give a text file in UTF-8 ({error})") from None
    if len(text) > LONGEST:
        raise InvalidInput(option, str(path), f"nothing that limes {command} --json wrote is as long")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON, or brackets within brackets without end
        remedy = f"give what limes {command} --json wrote; this is no JSON ({str(error) or type(error).__name__})"
        raise InvalidInput(option, str(path), remedy) from None


def _claim(data: _Object) -> RecordedClaim:
    correction = None
    if data.value("correction") is not None:
        inside = data.object("correction")
        correction = RecordedCorrection(inside.text("text"), inside.text("latex"))
    expected = None if data.value("expected") is None else data.member("expected", Verdict)
    return RecordedClaim(
        id=data.text("id"),
        title=data.text("title"),
        source=data.text("source"),
        statement=data.text("statement"),
        hypotheses=data.texts("hypotheses"),
        conditions=data.texts("conditions"),
        findings=data.texts("findings"),
        verdict=data.member("verdict", Verdict),
        expected=expected,
        seconds=data.number("seconds"),
        correction=correction,
        evidence=tuple(_evidence(one) for one in data.objects("evidence")),
    )


def _evidence(data: _Object) -> RecordedEvidence:
    mutants = data.object("mutants")
    tally = MutantTally(mutants.natural("tried"), mutants.texts("survived"))
    if tally.killed < 0:
        raise InvalidInput(f"{mutants.place}.tried", tally.tried, "it must be at least as many as survived")
    return RecordedEvidence(
        part=data.text("part"),
        corrects=data.truth("corrects"),
        name=data.text("name"),
        kind=data.text("kind"),
        verdict=data.member("verdict", Verdict),
        detail=data.text("detail"),
        resolution=None if data.value("resolution") is None else data.number("resolution"),
        mutants=tally,
    )


class _Object:
    """An object in JSON, at a known place, whose fields are given out only if they are what `command` writes."""

    def __init__(self, place: str, data: Any, command: str) -> None:
        self.place, self.command = place, command
        self.data = self._checked(place, data, "an object", lambda value: isinstance(value, dict))

    def refuse_schema(self, known: int) -> None:
        """Refuse what another version wrote."""
        if (schema := self.value("schema")) != known or isinstance(schema, bool):
            remedy = f"this limes reads schema {known}: run limes {self.command} again with it"
            raise InvalidInput(f"{self.place}.schema", schema, remedy)

    def value(self, field: str) -> Any:
        if field not in self.data:
            remedy = f"it is missing; run limes {self.command} --json again: this limes writes it"
            raise InvalidInput(f"{self.place}.{field}", "nothing", remedy)
        return self.data[field]

    def text(self, field: str) -> str:
        return self._field(field, f"a text {_WITHOUT}", _is_text)

    def truth(self, field: str) -> bool:
        return self._field(field, "true or false", lambda value: isinstance(value, bool))

    def natural(self, field: str) -> int:
        return self._field(field, "an integer >= 0", lambda value: type(value) is int and value >= 0)

    def number(self, field: str) -> float:
        return self._field(field, "a number >= 0", lambda value: type(value) in (int, float) and 0 <= value <= LARGEST)

    def texts(self, field: str) -> tuple[str, ...]:
        def right(value: Any) -> bool:
            return isinstance(value, list) and all(map(_is_text, value))

        return tuple(self._field(field, f"a list of texts {_WITHOUT}", right))

    def member(self, field: str, of: type[_E]) -> _E:
        allowed = [one.value for one in of]
        return of(self._field(field, f"one of {', '.join(allowed)}", lambda value: value in allowed))

    def object(self, field: str) -> _Object:
        return _Object(f"{self.place}.{field}", self.value(field), self.command)

    def objects(self, field: str) -> list[_Object]:
        found = self._field(field, "a list", lambda value: isinstance(value, list))
        return [_Object(f"{self.place}.{field}[{index}]", one, self.command) for index, one in enumerate(found)]

    def _field(self, field: str, wanted: str, right: Callable[[Any], bool]) -> Any:
        return self._checked(f"{self.place}.{field}", self.value(field), wanted, right)

    def _checked(self, place: str, value: _T, wanted: str, right: Callable[[Any], bool]) -> _T:
        if not right(value):
            raise InvalidInput(place, value, f"it must be {wanted}, as limes {self.command} --json writes it")
        return value


def _is_text(value: Any) -> bool:
    """Whether it is a text that can be written: without halves of characters, nor commands to a terminal."""
    return isinstance(value, str) and all(
        character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs") for character in value
    )
