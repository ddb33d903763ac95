"""The numerical approach to a limit: certified values of a formula along a path, and their distance to the limit.

The running variable takes the values `10^i` (integers, where it is one), or `a ± 10^-i` for a finite target `a`, from
where the path lies inside of all domains. Which of these sizes get a row does not depend on how busy the machine is: a
recursion that is too deep for one is left out by the count of its layers, and time only ends what takes far longer than
all others. The exponent is the slope of the distance between two rows in a log-log plot:
an observation at these sizes, not a rate; a logarithm in the distance makes it drift.

A limit that SymPy alone says is confirmed here, or dropped: at the far end of the path, and at the integer next to it,
for several values of the new symbols, certified values must come close to it, closer than before. It is then known "at
points", which is no proof.
"""

from __future__ import annotations

import html
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sympy import Add, Expr, Rational

from theory.derivation import How
from theory.errors import InvalidInput, LimesError
from theory.formula import Formula
from theory.limits import Path, SymbolicLimit, limit_along
from theory.paths import entrance
from theory.timelimit import within

from .certify import DEFAULT_DIGITS
from .evaluate import evaluate
from .formulas import LEAST_DIGITS, MOST_WORK, FormulaValue, evaluate_formula

MOST_ROWS = 12
ROW_WORK = MOST_WORK // 100  # layers times digits, as there: a second
COSTLY = {"feature-deviation": 10}  # what a layer costs, if not about as much as one of the kernels
MOST_DISTANCE_DIGITS = 200  # to see a small distance
PRECISE = 1000  # a distance is shown if it is so many times its error
FAR = (2, 4, 6)  # powers of ten at which SymPy's limit is confirmed
CLOSE = Fraction(1, 1000)
FACTORS = (Rational(1), Rational(1, 2), Rational(2))  # of the new symbols


@dataclass(frozen=True)
class Row:
    """One value, at `variable`, which is written shortly in `label`: all its digits are right.

    `distance` is `value − limit`, to three digits, `exponent` the apparent one between the row before and this one;
    `ratio` is `distance`, or `value` if the limit is infinite, over the sum of the leading terms.
    """

    variable: Expr
    label: str
    value: str
    distance: str | None = None
    exponent: float | None = None
    ratio: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "variable": str(self.variable),
            "label": self.label,
            "value": self.value,
            "distance": self.distance,
            "exponent": self.exponent,
            "ratio": self.ratio,
        }


@dataclass(frozen=True)
class Approach:
    """The limit (confirmed, where it was only SymPy's), its digits at the numbers of the path, and the rows.

    `notes` say what was left out, and why.
    """

    limit: SymbolicLimit
    limit_value: str | None
    rows: tuple[Row, ...]
    digits: int
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the schema that `limes limit --json` writes."""
        return {
            "schema": 1,
            **self.limit.to_json(),
            "at": {str(symbol): str(number) for symbol, number in self.limit.path.at.items()},
            "limit_value": self.limit_value,
            "digits": self.digits,
            "rows": [row.to_json() for row in self.rows],
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        heads = (self.limit.path.variable.name, "value", "distance", "exponent", "distance / leading terms")
        cells = [
            (row.label, row.value, row.distance or "", exponent_text(row.exponent), row.ratio or "")
            for row in self.rows
        ]
        lines = ["".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in cells]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        title = html.escape(f"${self.limit.to_latex()}$")
        return f"<p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def exponent_text(exponent: float | None) -> str:
    """An exponent with two decimals, or nothing."""
    return "" if exponent is None else f"{exponent:.2f}"


def approach(
    formula: Formula,
    path: Path,
    *,
    limit: SymbolicLimit | None = None,
    count: int = 6,
    digits: int = DEFAULT_DIGITS,
    seconds: float = 20.0,
) -> Approach:
    """Certified values of `formula` along `path`, to `digits` digits, at the first `count` sizes.

    `notes` name the sizes left out: those of more than `ROW_WORK`, and those not reached in `seconds`. `limit` is what
    `limit_along` found; without it, it is asked for. Raises `InvalidInput` for a bad `count` or `digits`, and where no
    point of the path is one of the formula.

    >>> from sympy import oo
    >>> from theory.formulas import formula_named
    >>> from theory.limits import path_through
    >>> ridge = formula_named("ridge-filter")
    >>> [row.value for row in approach(ridge, path_through(ridge, {"s": oo}), count=3, digits=4).rows]
    ['0.9091', '0.9901', '0.9990']
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_ROWS:
        raise InvalidInput("count", count, f"give an integer from 1 to {MOST_ROWS}")
    if limit is None:
        limit = limit_along(formula, path)
    limit = confirmed(limit)
    rows: list[Row] = []
    notes: list[str] = []
    before: _Measured | None = None
    sizes = list(_sizes(formula, path, count))
    deadline = time.monotonic() + seconds
    for index, variable in enumerate(sizes):
        left_out = f"{path.variable} = {', '.join(_label(path, one) for one in sizes[index:])}"
        if _layers(formula, path, variable) * max(digits, LEAST_DIGITS) > ROW_WORK:
            notes.append(f"too deep for a row: {left_out}; evaluate gives the value alone")
            break
        left = max(deadline - time.monotonic(), 0.1)
        try:
            found = within(left, lambda at=variable, last=before: _row(limit, at, last, digits))
        except LimesError as error:
            if not rows and isinstance(error, InvalidInput):
                raise
            notes.append(f"{path.variable} = {_label(path, variable)}: {error}")
            break
        if found is None:
            notes.append(f"not within {seconds:g} s: {left_out}")
            break
        row, before = found
        rows.append(row)
    start = entrance(formula, path)
    if not _reached(path, path.step(0), start):
        notes.append(f"the path lies in the domain from {path.variable} = {_label(path, start)} on")
    if rows and not limit.known:
        notes += _parity(limit, rows, digits, deadline - time.monotonic())
    known = _known(limit, digits)
    return Approach(limit, known[2] if known else None, tuple(rows), digits, tuple(notes))


def _layers(formula: Formula, path: Path, variable: Expr) -> int:
    """The layers that a recursion goes through, where the depth is what runs."""
    runs = formula.expression is None and path.variable.name == "L"
    return int(variable) * COSTLY.get(formula.name, 1) if runs else 0


def _parity(limit: SymbolicLimit, rows: list[Row], digits: int, seconds: float) -> list[str]:
    """A note if the value at the integer before the last row is farther from it than that is from the row before."""
    if not limit.path.variable.is_integer or len(rows) < 2 or seconds <= 0 or rows[-1].value == "none":
        return []
    place = rows[-1].variable - 1
    beside = within(seconds, lambda: _evaluated(limit, place, digits).value)
    if beside is None or "none" in (beside, rows[-2].value):
        return []
    last, previous = (Fraction(row.value) for row in (rows[-1], rows[-2]))
    if abs(Fraction(beside) - last) <= abs(last - previous) + abs(last) / 1000:
        return []
    return [f"at {limit.path.variable} = {place} it is {beside}: the rows show one of several behaviours"]


def _sizes(formula: Formula, path: Path, count: int) -> Iterator[Expr]:
    """Where the formula is evaluated: steps of the path, from where it is inside."""
    start = entrance(formula, path)
    first = 1
    while not _reached(path, path.step(first), start):
        first += 1
    for power in range(first, first + count):
        yield path.step(power)


def _reached(path: Path, one: Expr, start: Expr) -> bool:
    """Whether `one` lies at least as near to the target as `start`."""
    if path.target.is_finite:
        return bool(abs(one - path.target) <= abs(start - path.target))
    return bool(abs(one) >= abs(start))


def _label(path: Path, variable: Expr) -> str:
    if not path.target.is_finite:
        return str(variable)
    distance = f"1e-{len(str(1 / abs(variable - path.target))) - 1}"
    if path.target == 0:
        return distance if path.side > 0 else f"-{distance}"
    return f"{path.target} {'+' if path.side > 0 else '-'} {distance}"


@dataclass(frozen=True)
class _Measured:
    variable: Expr
    distance: Fraction

    def slope_from(self, before: _Measured, path: Path) -> float | None:
        """The slope of the distance to the limit between two rows, over the variable or its distance to the target."""
        if self.distance == 0 or before.distance == 0:
            return None
        here, there = (one.variable - path.target if path.target.is_finite else one.variable for one in (self, before))
        return (_log(self.distance) - _log(before.distance)) / _log(Fraction(str(here / there)))


def _row(limit: SymbolicLimit, variable: Expr, before: _Measured | None, digits: int) -> tuple[Row, _Measured | None]:
    value, label = _evaluated(limit, variable, digits).value, _label(limit.path, variable)
    if value == "none":
        return Row(variable, label, value), None
    distance, leading = _distance(limit, variable, digits), _leading(limit, variable)
    if limit.value is not None and not limit.value.is_finite:
        return Row(variable, label, value, ratio=_ratio(Fraction(value), leading)), None
    if distance is None:
        return Row(variable, label, value), None
    number, error = distance
    if error > 0 and abs(number) <= error:
        return Row(variable, label, value, f"< {_short(abs(number) + error)}"), None
    measured = _Measured(variable, number)
    exponent = None if before is None else measured.slope_from(before, limit.path)
    return Row(variable, label, value, _short(number), exponent, _ratio(number, leading)), measured


def _ratio(number: Fraction, leading: Fraction | None) -> str | None:
    return f"{float(number / leading):.6f}" if leading else None


def _log(number: Fraction) -> float:
    return math.log(abs(number.numerator)) - math.log(number.denominator)


def _short(number: Fraction) -> str:
    return "0" if number == 0 else f"{Decimal(number.numerator) / Decimal(number.denominator):.2e}"


def _evaluated(limit: SymbolicLimit, variable: Expr, digits: int) -> FormulaValue:
    at = {symbol.name: value for symbol, value in limit.path.point(variable).items()}
    return evaluate_formula(limit.formula.name, at, digits)


def _known(limit: SymbolicLimit, digits: int) -> tuple[Fraction, Fraction, str] | None:
    """The limit at the numbers of the path, its error, and its digits; None if it is infinite or not known."""
    if limit.value is not None and not limit.value.is_finite:
        return None
    if limit.value is not None:
        found = evaluate(limit.number(limit.value), {}, digits)
    elif limit.end is not None:
        found = evaluate_formula(limit.formula.name, {one.name: value for one, value in limit.end.items()}, digits)
    else:
        return None
    return Fraction(found.value), Fraction(found.radius), found.value


def _distance(limit: SymbolicLimit, variable: Expr, digits: int) -> tuple[Fraction, Fraction] | None:
    """`value − limit` to three digits, and its error, which is larger only at `MOST_DISTANCE_DIGITS`."""
    while True:
        known = _known(limit, digits)
        if known is None:
            return None
        found = _evaluated(limit, variable, digits)
        distance, error = Fraction(found.value) - known[0], Fraction(found.radius) + known[1]
        if abs(distance) >= PRECISE * error or digits >= MOST_DISTANCE_DIGITS:
            return distance, error
        digits = min(2 * digits + 4, MOST_DISTANCE_DIGITS)


def _leading(limit: SymbolicLimit, variable: Expr) -> Fraction | None:
    """The sum of the leading terms."""
    if not limit.terms:
        return None
    total = limit.number(Add(*limit.terms)).xreplace({limit.path.variable: variable})
    return Fraction(evaluate(total, {}, DEFAULT_DIGITS).value)


def confirmed(limit: SymbolicLimit) -> SymbolicLimit:
    """The limit with SymPy's candidate as its value, if certified values come close to that; else without it."""
    if limit.candidate is None:
        return limit
    rejected = replace(limit, candidate=None, remark="SymPy's limit is not confirmed by certified values")
    if not limit.candidate.is_finite:
        return rejected
    tried = 0
    for factor in FACTORS:
        numbers = {one: number if one in limit.fixed else number * factor for one, number in limit.path.at.items()}
        if tried and numbers == dict(limit.path.at):
            break
        there = replace(limit, path=replace(limit.path, at=numbers), value=limit.candidate)
        try:
            distances = [max(_upper(there, one) for one in _far(there, power)) for power in FAR]
            known = _known(there, DEFAULT_DIGITS)
        except InvalidInput:  # outside of the domain, for these numbers
            continue
        except LimesError:
            return rejected
        assert known is not None
        if sorted(distances, reverse=True) != distances or distances[-1] > CLOSE * (1 + abs(known[0])):
            return rejected
        tried += 1
    remark = "by SymPy, which can be wrong; confirmed by certified values, not derived"
    return replace(limit, value=limit.candidate, candidate=None, how=How.POINTS, remark=remark) if tried else rejected


def _upper(limit: SymbolicLimit, variable: Expr) -> Fraction:
    """An upper bound of the distance to a finite limit."""
    found = _distance(limit, variable, DEFAULT_DIGITS)
    assert found is not None
    return abs(found[0]) + found[1]


def _far(limit: SymbolicLimit, power: int) -> tuple[Expr, ...]:
    """A place far out, and the integer before it, where parity may matter."""
    place = limit.path.step(power)
    return (place, place - 1) if limit.path.variable.is_integer else (place,)
