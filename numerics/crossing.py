r"""The first value of a parameter at which a formula passes a level: the depth at which two points look the same.

For a formula `f` of a parameter `p`, all else fixed, and a level `c`: the smallest `p` of its range with `f(p) > c`, or
with `f(p) < c`. Every comparison is certified: digits are added until the value and its radius lie on one side of `c`.
A value that equals `c` is not past it; one that `TOLD_APART` digits do not tell from `c` is said to be open.

**An integer** is bracketed by doubling the distance from the start of the range, and the bracket narrowed. That finds
the first one if `f` is monotone, which nobody promised: so every smaller one is evaluated too, as long as there is
time. If they were not all, what was found is said to be a bound of the first.

**A real number** is looked for along a grid (hundredths of a finite range; 1-2-5 in each of `DECADES` from the start of
an infinite one, or from 0), then bisected among decimals. Between the points that were looked at nothing is known, and
the answer says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cache

from sympy import Expr, Integer, Rational

from theory.errors import InvalidInput, LimesError, Undecidable
from theory.formula import Formula, Parameter
from theory.formulas import formula_named
from theory.timelimit import within

from .bracketing import narrow
from .certify import Value
from .crossing_words import Crossing, Side, decimal
from .evaluate import evaluate
from .exact import exact_number
from .formulas import MOST_DIGITS, FormulaValue, evaluate_formula

TOLD_APART = 200  # digits up to which a value is told from the level
FURTHEST = 10**12  # integer of an infinite range
DECADES = range(-6, 12)  # powers of ten in a grid to infinity
PARTS = 100  # of a finite range of real numbers
TINIEST = 10_000  # decimal places of a number that is taken as it is
SHARE = 2  # doubling goes on while the next value takes less than one part in so many of the time left


def first_crossing(
    formula: str,
    parameter: str,
    side: Side,
    level: Expr,
    at: Mapping[str, Expr],
    *,
    digits: int = 12,
    seconds: float = 5.0,
) -> Crossing:
    """The first value of `parameter` at which the formula called `formula` is past `level`, at exact values `at`.

    `at` gives the other parameters. Values have `digits` digits, more where they are needed to tell them from the
    level; a real number is found to `digits` digits. The search ends after `seconds`, not counting what SymPy needs to
    derive a closed formula. Raises `InvalidInput` for an unknown formula or parameter, one that is a choice between
    words, values out of range, and a level that is not a finite real number; `Undecidable` if no value was had in time.

    >>> found = first_crossing("relu-nngp", "L", Side.ABOVE, Rational(999, 1000), {"rho": Rational(9, 10)}, seconds=60)
    >>> found.at, found.complete
    (187, True)
    """
    known = formula_named(formula)
    others = {one.name: one for one in known.parameters}
    if parameter not in others:
        raise InvalidInput("parameter", parameter, known.known)
    sought = others.pop(parameter)
    if sought.words:
        raise InvalidInput("parameter", parameter, f"a choice between {', '.join(sought.words)}, which have no order")
    if parameter in at:
        raise InvalidInput(parameter, str(at[parameter]), "it is what is sought; leave it out")
    fixed = {name: exact_number(name, value) for name, value in at.items()}
    replace(known, parameters=tuple(others.values())).admit(fixed)
    if not isinstance(side, Side):
        raise InvalidInput("side", side, "give Side.ABOVE or Side.BELOW")
    level = exact_number("level", level)
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
        raise InvalidInput("digits", digits, f"give an integer from 1 to {MOST_DIGITS}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 10**6:
        raise InvalidInput("seconds", seconds, "give a positive number, at most a million")
    if known.expression is not None:
        known.expression()
    search = _Search(known, sought, fixed, side, level, digits, time.monotonic() + seconds)
    try:
        within(seconds, search.integers if sought.symbol.is_integer else search.reals)
    except SystemError:  # what python-flint makes of an interruption in a function that it integrates
        if time.monotonic() < search.deadline:
            raise
    if not search.readings:
        raise Undecidable(formula, f"no value within {seconds:g} s; give it more time")
    return search.crossing()


class _Standing(Enum):
    PAST = "it is past the level"
    SHORT = "it is not past the level"
    OPEN = "it is open"
    NONE = "there is no value"


@dataclass(frozen=True)
class _Reading:
    """How the formula stands at one place; `error` says why where that is not known, or there is no value."""

    standing: _Standing
    value: FormulaValue | None = None
    error: LimesError | None = None


@dataclass
class _Search:
    """The places looked at so far. It may be interrupted anywhere: `crossing` depends on nothing but them."""

    formula: Formula
    sought: Parameter
    fixed: Mapping[str, Expr]
    side: Side
    level: Expr
    digits: int
    deadline: float
    readings: dict[Expr, _Reading] = field(default_factory=dict)
    forgotten: int = 0  # readings that were dropped, of integers up to `scanned`

    def __post_init__(self) -> None:
        low, high = self.sought.domain.inf, self.sought.domain.sup
        self.start: Expr = low if low.is_finite else Integer(0)
        self.high: Expr = min(high, Integer(FURTHEST))
        self.scanned: Expr = self.start - 1  # up to here each integer was evaluated

    def past(self, place: Expr) -> bool:
        """Whether the value is certainly past the level there."""
        if place not in self.readings:
            self.readings[place] = self._read(place)
        return self.readings[place].standing is _Standing.PAST

    def integers(self) -> None:
        """Bracket by doubling, narrow the bracket, then look at every smaller one."""
        step, place, took, refused = 1, self.start, 0.0, False
        while True:
            began = time.monotonic()
            if self.past(place):
                break
            took = time.monotonic() - began
            refused = self.readings[place].value is None and self._had_a_value()
            if refused or place == self.high or 2 * SHARE * took > self.deadline - time.monotonic():
                break
            place, step = min(self.start + step, self.high), 2 * step
        if self._had_a_value():
            self._narrow()
            self._scan(max(self.readings) if refused else self.high)

    def reals(self) -> None:
        """Go along the grid up to the first place past the level, and bisect."""
        finest = Fraction(1, 10**self.digits)

        def between(low: Expr, high: Expr) -> Expr | None:
            below, above = Fraction(low), Fraction(high)
            width = above - below
            if width <= finest * max(abs(below), abs(above), finest):
                return None
            places = len(str(int(1 / width))) + 1  # so that a unit is at most a tenth of the width
            return Rational(round((below + above) / 2 * 10**places), 10**places)

        if any(self.past(place) for place in self._grid()):
            self._bisect(between)

    def _grid(self) -> Iterator[Expr]:
        low, high = self.start, self.sought.domain.sup
        if high.is_finite:
            places = (low + (high - low) * Rational(part, PARTS) for part in range(PARTS + 1))
            yield from (place for place in places if self.sought.domain.contains(place) == True)  # noqa: E712
            return
        yield low
        yield from (low + factor * Rational(10) ** power for power in DECADES for factor in (1, 2, 5))

    def _narrow(self) -> None:
        high = self._first()
        low = None if high is None else self._last_before(high)
        if low is not None and high is not None:
            narrow(int(low), int(high), lambda place: self.past(Integer(place)), self._part)

    def _part(self, low: int, high: int) -> float:
        """How far along the chord from `low` to `high` the level lies; half where it cannot be told."""
        ends = [self.readings[Integer(place)].value for place in (low, high)]
        if any(value is None or value.value == "none" for value in ends):
            return 0.5
        level = _bounds(self.level, self.digits)[0]
        below, above = (abs(Fraction(value.value) - level) for value in ends if value)
        return float(below / (below + above)) if below + above else 0.5

    def _bisect(self, between: Callable[[Expr, Expr], Expr | None]) -> None:
        """Halve the interval below the first place past the level until there is nothing in `between`."""
        high = self._first()
        low = None if high is None else self._last_before(high)
        while low is not None and (place := between(low, high)) is not None:
            if self.past(place):
                high = place
            else:
                low = place

    def _scan(self, last: Expr) -> None:
        """Each integer up to the first past the level, or to `last`; of those before the two latest, only the count."""
        while self.scanned < last and not self.past(self.scanned + 1):
            self.scanned += 1
            latest = self.readings.get(self.scanned - 1)
            if latest is not None and latest.standing is _Standing.SHORT:
                del self.readings[self.scanned - 1]
                self.forgotten += 1

    def _first(self) -> Expr | None:
        return min((place for place in self.readings if self.past(place)), default=None)

    def _last_before(self, place: Expr) -> Expr | None:
        return max((one for one in self.readings if one < place), default=None)

    def _had_a_value(self) -> bool:
        return self.forgotten > 0 or any(reading.value is not None for reading in self.readings.values())

    def _read(self, place: Expr) -> _Reading:
        """The value there, with as many digits as tell it from the level, and how it stands."""
        at, name, digits, first = {**self.fixed, self.sought.name: place}, self.formula.name, self.digits, None
        try:
            while True:
                found = evaluate_formula(name, at, digits)
                first = first or found
                if found.value == "none":
                    return _Reading(_Standing.NONE, found)
                level, blur = _bounds(self.level, digits)
                value, radius = _fractions(found, level)
                distance, error = value - level, radius + blur
                told = abs(distance) > error or error == 0
                if not told and digits >= TOLD_APART:
                    told, found, distance = True, first, self._by_algebra(first, digits)
                if told:
                    past = distance > 0 if self.side is Side.ABOVE else distance < 0
                    return _Reading(_Standing.PAST if past else _Standing.SHORT, found)
                digits = min(2 * digits, TOLD_APART)
        except LimesError as error:
            undefined = isinstance(error, InvalidInput) and first is None
            return _Reading(_Standing.NONE if undefined else _Standing.OPEN, first, error)

    def _by_algebra(self, found: FormulaValue, digits: int) -> Fraction:
        """The distance of a closed formula to the level, to one digit, or exactly 0; for others that is not known."""
        if self.formula.expression is None:
            raise Undecidable(self.formula.name, f"{digits} digits do not tell it from {decimal(self.level)}")
        difference = self.formula.expression() - self.level
        point = {symbol: found.at[symbol.name] for symbol in difference.free_symbols}
        return _fractions(evaluate(difference, point, 1), Fraction(0))[0]

    def crossing(self) -> Crossing:
        """What the places looked at say. Raises the error of the first if there is a value at none of them."""
        if not self._had_a_value():
            raise next(reading.error for reading in self.readings.values() if reading.error)
        first, start, unbroken = self._first(), min(self.readings), None
        before = None if first is None else self._last_before(first)
        value_at, value_before = (None if one is None else self.readings[one].value for one in (first, before))
        earlier = {place: one for place, one in sorted(self.readings.items()) if first is None or place < first}
        complete = first == self.sought.domain.inf
        if self.sought.symbol.is_integer:
            start, unbroken = self.start, self.scanned
            while unbroken + 1 in self.readings:
                unbroken += 1
            told = all(reading.standing is not _Standing.OPEN for reading in earlier.values())
            complete = told and unbroken >= (self.sought.domain.sup if first is None else first)
        return Crossing(
            formula=self.formula.name,
            fixed=self.fixed,
            parameter=self.sought.name,
            side=self.side,
            level=self.level,
            at=first,
            before=before,
            value_at=value_at,
            value_before=value_before,
            complete=bool(complete),
            looked_at=len(self.readings) + self.forgotten,
            furthest=max(*self.readings, self.scanned),
            start=start,
            unbroken=unbroken,
            remarks=tuple(self._remarks(earlier)),
        )

    def _remarks(self, earlier: Mapping[Expr, _Reading]) -> Iterator[str]:
        """Sentences about the places where it is open, the value is "none", or there is none, with the first reason."""
        groups: dict[tuple[_Standing, bool], list[Expr]] = {}
        for place, reading in earlier.items():
            if reading.standing in (_Standing.OPEN, _Standing.NONE):
                groups.setdefault((reading.standing, reading.value is None), []).append(place)
        for (standing, _), places in groups.items():
            error, more = earlier[places[0]].error, f" and {len(places) - 1} more" if len(places) > 1 else ""
            reason = error.reason if isinstance(error, Undecidable) else str(error or "it is none")
            yield f"At {self.sought.name} = {decimal(places[0])}{more} {standing.value}: {reason}."


def _fractions(found: FormulaValue | Value, level: Fraction) -> tuple[Fraction, Fraction]:
    """A value and its radius; both enlarged where nobody can wait for the digits, and no level is so close to 0."""
    shift = max(0, -TINIEST - int(found.value.partition("e")[2] or 0))
    if not shift or 0 < abs(level) < Fraction(1, 10**TINIEST) * 10**1000:
        return Fraction(found.value), Fraction(found.radius)
    value, radius = (
        f"{digits}e{int(exponent or 0) + shift}"
        for digits, _, exponent in (text.partition("e") for text in (found.value, found.radius))
    )
    return Fraction(value), Fraction(radius)


@cache
def _bounds(level: Expr, digits: int) -> tuple[Fraction, Fraction]:
    """The level, and how far it may be off, which is 0 for a rational one."""
    if isinstance(level, Rational):
        return Fraction(level), Fraction(0)
    found = evaluate(level, {}, digits)
    return Fraction(found.value), Fraction(found.radius)
