"""What a search for the first value past a level found, in words: never more than was seen.

`numerics/crossing.py` searches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context
from enum import Enum
from fractions import Fraction
from typing import Any

from sympy import Expr, Rational

from .formulas import MOST_DIGITS, FormulaValue


class Side(Enum):
    """On which side of the level a value is past it."""

    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True)
class Crossing:
    """Where a formula is first seen past a level: the first such place, or if not `complete` a bound of it from above.

    The question: the first value of `parameter`, `fixed` giving the others, at which `formula` is on that `side` of the
    exact `level`. The answer:

    `at`, `value_at`: for an integer, the smallest one found with a value past the level; for a real number, the upper
    end of a short interval, past the level; None if it was not reached.
    `before`, `value_before`: the last place before `at` that was looked at (`at − 1` for an integer, if time allowed),
    where the value is not past the level, or not known to be, as `remarks` then say. None if `at` is the `start` of the
    search; the value alone is None where the formula has none.
    `complete`: whether `at` is certainly the first or, if None, there is certainly none. So it is if every integer of
    the range up to there was evaluated and told from the level, or if `at` is the least number of the range.
    `looked_at`, `furthest`: how many places were looked at, and the last of them.
    `unbroken`: the integer up to which each was; None for a real number.
    `remarks`: sentences about places before `at` where the value is not told from the level, or there is none.
    """

    formula: str
    fixed: Mapping[str, Expr]
    parameter: str
    side: Side
    level: Expr
    at: Expr | None
    before: Expr | None
    value_at: FormulaValue | None
    value_before: FormulaValue | None
    complete: bool
    looked_at: int
    furthest: Expr
    start: Expr
    unbroken: Expr | None = None
    remarks: tuple[str, ...] = ()

    def sentence(self) -> str:
        """What was found and how far it is known, in two plain sentences and the remarks.

        >>> from numerics.crossing import first_crossing
        >>> first_crossing("relu-nngp", "L", Side.ABOVE, Rational(1, 2), {"rho": Rational(0)}, digits=4).sentence()
        'L = 3 is the first of 0, ..., 3 with a value above 0.5: 0.6048 (at 2: 0.4937). Each was evaluated.'
        """
        return " ".join([self._not_reached() if self.at is None else self._reached(), *self.remarks])

    def headline(self) -> str:
        """The answer by itself, with `<=` where an earlier place is possible; empty if the level was not reached.

        >>> from numerics.crossing import first_crossing
        >>> first_crossing("flow-filter", "s", Side.ABOVE, Rational(1, 2), {}, digits=4).headline()
        's <= 0.69318'
        """
        if self.at is None:
            return ""
        return f"{self.parameter} {'=' if self.complete else '<='} {decimal(self.at)}"

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the schema that `limes first --json` writes: `first` is a bound if not `complete`."""
        numbers = {"level": self.level, "first": self.at, "before": self.before, "furthest": self.furthest}
        values = {"value": self.value_at, "value_before": self.value_before}
        return {
            "schema": 1,
            "formula": self.formula,
            "at": {name: str(value) for name, value in self.fixed.items()},
            "parameter": self.parameter,
            "side": self.side.value,
            **{name: None if number is None else str(number) for name, number in numbers.items()},
            **{name: None if value is None else value.value for name, value in values.items()},
            "complete": self.complete,
            "looked_at": self.looked_at,
            "sentence": self.sentence(),
        }

    def _reached(self) -> str:
        place, past = f"{self.parameter} = {decimal(self.at)}", f"a value {self.side.value} {decimal(self.level)}"
        value, value_before = (one.value if one else "no value" for one in (self.value_at, self.value_before))
        if self.before is None:
            begins = "the range begins" if self.complete else "the search began"
            return f"{place}, where {begins}, has {past} already: {value}."
        values = f"{value} (at {decimal(self.before)}: {value_before})"
        if self.complete:
            return f"{place} is the first of {_run(self.start, self.at)} with {past}: {values}. Each was evaluated."
        bound = f"The first {self.parameter} with {past} is at most {decimal(self.at)}: {values}"
        if self.unbroken is None or self.unbroken >= self.before:
            return f"{bound}. {self._looked()}."
        between = "; between these nothing was looked at" if self.at - self.before > 1 else ""
        return f"{bound}{between}. {self._looked()}; an earlier one is possible."

    def _not_reached(self) -> str:
        past = f"a value {self.side.value} {decimal(self.level)}"
        if self.complete:
            return f"No {self.parameter} of {_run(self.start, self.furthest)} has {past}: each was evaluated."
        return f"No {self.parameter} was found with {past}. {self._looked()}."

    def _looked(self) -> str:
        if self.unbroken is None:
            ends = f"from {decimal(self.start)} to {decimal(self.furthest)}"
            return f"Looked at: {self.looked_at} of the points {ends}; nothing is known of others"
        others = self.looked_at - int(self.unbroken - self.start) - 1
        more = f" and {others} more up to {self.furthest}" if others else ""
        return f"Looked at: {_run(self.start, self.unbroken)}{more}"


def decimal(number: Expr) -> str:
    """An exact number as a person would type it: as a decimal, where it has one.

    >>> decimal(Rational(999, 1000)), decimal(Rational(1, 3)), decimal(Rational(-10))
    ('0.999', '1/3', '-10')
    """
    if not isinstance(number, Rational):
        return str(number)
    quotient = Context(prec=2 * MOST_DIGITS).divide(int(number.p), int(number.q))
    return f"{quotient:f}" if Fraction(quotient) == Fraction(number) else str(number)


def _run(low: Expr, high: Expr) -> str:
    """Some integers one after another."""
    return f"{low}, ..., {high}" if high - low > 1 else f"{low}, {high}" if low < high else str(low)
