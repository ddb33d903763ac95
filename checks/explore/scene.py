r"""What is seen of a state: its exact point, the formula typeset, the value with right digits, the curve as numbers.

Nothing here blocks: a formula, a value and a curve have so many seconds each, and what takes longer is said in a
sentence. Every point of a curve is a certified value; a curve that is out of time has fewer of them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TypeVar

from sympy import Expr, Integer

from numerics.formulas import FormulaValue, evaluate_formula
from theory.errors import InvalidInput, LimesError
from theory.formula import Formula, Parameter
from theory.layout import rows
from theory.timelimit import OutOfTime, within
from theory.typeset import latex_text

from ..grammar import parse
from ..plot import Axis, Panel, Series
from .controls import Control, controls, grid
from .scale import Scale, is_sharp
from .state import State
from .vega import FEW

T = TypeVar("T")

DERIVING = 10.0  # seconds for a formula, once
PATIENCE = 2.0  # seconds for a value
CURVE = 0.15  # seconds for a curve, so that it follows the slider
ONE = 0.3  # seconds more for the point at which these are up, so that only what is slow is interrupted
POINTS = 49  # of a curve
CURVE_DIGITS, MOST_CURVE_DIGITS = 12, 96
ROOM = 80.0  # of a row of a formula, in the units of `theory/layout.py`
TALLEST = 12  # rows of a formula that are shown


@dataclass(frozen=True)
class Point:
    """The exact value of each parameter; where a text is refused, the sentence that says why; what was changed."""

    values: Mapping[str, Expr]
    refusals: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """The value of a formula, or the sentence that says why there is none."""

    found: FormulaValue | None = None
    refusal: str = ""


def point(formula: Formula, texts: Mapping[str, str]) -> Point:
    """The exact point that the texts say, parameter after parameter; a text may use the names before it.

    >>> from theory.formulas import formula_named
    >>> found = point(formula_named("two-layer-signal-1"), {"h": "100", "eta1": "h^(3/2)", "eta2": "2h"})
    >>> found.values["eta1"], found.refusals["eta2"]
    (1000, 'eta2 = 2h: column 2, at "h": an operator is missing; a product is written 2*h')
    """
    values: dict[str, Expr] = {}
    refusals: dict[str, str] = {}
    notes: list[str] = []
    for parameter in formula.parameters:
        try:
            values[parameter.name], note = _admitted(parameter, texts.get(parameter.name, ""), values)
            notes += [note] if note else []
        except InvalidInput as error:
            refusals[parameter.name] = str(error)
    return Point(values, refusals, tuple(notes))


def require_values(state: State) -> None:
    """Raise `InvalidInput` for the first text of a state that is no value of its parameter.

    >>> require_values(State.from_text("relu-nngp rho=7"))
    Traceback (most recent call last):
    theory.errors.InvalidInput: rho = 7: give a number in [-1, 1]: ...
    """
    values: dict[str, Expr] = {}
    for parameter in state.known.parameters if state.known else ():
        values[parameter.name], _ = _admitted(parameter, state.at[parameter.name], values)


def _admitted(parameter: Parameter, text: str, known: Mapping[str, Expr]) -> tuple[Expr, str]:
    """The exact value that a text says, and what was changed in it."""
    text = text.strip()
    try:
        if text in parameter.words:
            return Integer(parameter.words[text]), ""
        if parameter.words or not text:
            raise InvalidInput(parameter.name, text, parameter.remedy("a number"))
        return parameter.admit(parse(text, known))
    except InvalidInput as error:  # which may speak of a value where the person typed an expression
        raise InvalidInput(parameter.name, text or "nothing", error.remedy) from None


def reading(formula: Formula, where: Point, digits: int) -> Reading:
    """The value at a point, to so many digits; a sentence if the point is refused or the value takes too long."""
    if where.refusals:
        return Reading(refusal=f"no value without {' and '.join(where.refusals)}")
    if refusal := _underived(formula):
        return Reading(refusal=refusal)
    got = bounded(PATIENCE, partial(_known, formula, tuple(where.values.items()), digits))
    if got is not None:
        return got
    places = " ".join(f"{name}={value}" for name, value in where.values.items())
    command = f"limes evaluate {formula.name} --at {places} --digits {digits}"
    return Reading(refusal=f"not known within {PATIENCE:g} s; {command} takes its time")


@lru_cache
def typeset(formula: Formula) -> str:
    """The formula as LaTeX for a display: its definition, or its expression, broken into rows where it is wide."""
    if formula.expression is None:
        return formula.definition
    if refusal := _underived(formula):
        return rf"\text{{{latex_text(refusal)}}}"
    broken = rows(formula.expression(), ROOM)
    if len(broken) > TALLEST:
        left_out = rf"\text{{… and {len(broken) - TALLEST} more rows: limes show {formula.name}}}"
        broken = [*broken[:TALLEST], left_out]
    if len(broken) == 1:
        return broken[0]
    return r"\begin{aligned}" + r" \\ ".join(f"&{row}" for row in broken) + r"\end{aligned}"


def curve(state: State, where: Point) -> tuple[Panel, str]:
    """The formula over its axis, all else as it is, with the point itself; and what is to be said of the curve.

    >>> state = State.of("depth-crossover")
    >>> panel, remark = curve(state, point(state.known, state.at))
    >>> panel.series[1].x, panel.series[1].y
    ((1.0,), (0.46875,))
    """
    formula = state.known
    assert formula is not None
    control = controls(formula)[state.axis]
    missing = [name for name in where.refusals if name != state.axis]
    obstacle = f"no curve without {' and '.join(missing)}" if missing else _underived(formula)
    if obstacle:
        return _panel(state, control, [], [])[0], obstacle
    chosen = grid(control, POINTS)
    got: dict[Expr, Reading] = {}

    def compute() -> bool:
        end = time.perf_counter() + CURVE
        for index in _coarse_to_fine(len(chosen)):
            if time.perf_counter() >= end:
                break
            got[chosen[index]] = _at(state, where, chosen[index])
        return True

    bounded(CURVE + ONE, compute)  # a point that takes long is given up
    own = None if where.refusals else bounded(PATIENCE, partial(_finely, formula, where, state.scale))
    here = [(at, own)] if own and ((at := where.values[state.axis]) > 0 or not control.logarithmic) else []
    panel, left_out = _panel(state, control, [(x, got[x]) for x in chosen if x in got], here)
    refusal = next((got[x].refusal for x in chosen if x in got and got[x].refusal), "")
    few = len(got) < min(FEW, len(chosen))
    slow = (
        f"only {len(got)} of {len(chosen)} points were known after {CURVE:g} s, and are joined by lines" if few else ""
    )
    return panel, "; ".join(filter(None, (slow, refusal, left_out)))


def bounded(seconds: float, call: Callable[[], T]) -> T | None:
    """As `theory.timelimit.within`, for calls that may be inside of Arb when their time is up."""
    try:
        return within(seconds, call)
    except SystemError as error:  # what python-flint makes of an exception in a function that it integrates
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, OutOfTime):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        return None


def _underived(formula: Formula) -> str:
    """Derives the formula, if it is to be, or says in a sentence that it takes too long."""
    if formula.expression is None or bounded(DERIVING, formula.expression) is not None:
        return ""
    return f"deriving it takes more than {DERIVING:g} s; limes show {formula.name} takes its time"


def places(state: State, where: Point, most: int = 5) -> list[tuple[float, Mapping[str, Expr]]]:
    """Some points of the curve, as places for samples: where on the axis, and the exact value of each parameter."""
    formula = state.known
    if formula is None or not state.axis or set(where.refusals) - {state.axis}:
        return []
    chosen = grid(controls(formula)[state.axis], POINTS)
    picked = dict.fromkeys(chosen[round(i * (len(chosen) - 1) / (most - 1))] for i in range(most))
    found = [(float(value), moved(state, where, value)) for value in picked]
    return [(x, there.values) for x, there in found if not there.refusals]


def moved(state: State, where: Point, value: Expr) -> Point:
    """The point where the parameter of the axis has another value; the texts that mention it follow."""
    assert state.known is not None
    if any(mentions(text, state.axis) for text in state.at.values()):
        return point(state.known, {**state.at, state.axis: str(value)})
    return Point({name: value if name == state.axis else where.values[name] for name in state.at})


def mentions(text: str, name: str) -> bool:
    """Whether a name stands in a text as a whole word.

    >>> mentions("2*h^(3/2)", "h"), mentions("theta", "h")
    (True, False)
    """
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _at(state: State, where: Point, value: Expr) -> Reading:
    assert state.known is not None
    there = moved(state, where, value)
    if there.refusals:
        return Reading(refusal=next(iter(there.refusals.values())))
    return _finely(state.known, there, state.scale)


def _finely(formula: Formula, where: Point, scale: Scale) -> Reading:
    """The value with as many digits as its place on the axis of values needs."""
    digits, at = CURVE_DIGITS, tuple(where.values.items())
    while (got := _known(formula, at, digits)).found and not is_sharp(got.found, scale) and digits < MOST_CURVE_DIGITS:
        digits *= 2
    return got


def _panel(
    state: State, control: Control, curve: Sequence[tuple[Expr, Reading]], here: Sequence[tuple[Expr, Reading]]
) -> tuple[Panel, str]:
    """The curve, the point itself, and the axes; and what is to be said of points that these have no place for."""
    shown = {
        label: [(float(x), y) for x, got in places if (y := state.scale.of(got.found)) is not None]
        for label, places in ((state.formula, curve), ("here", here))
    }
    every = [y for points in shown.values() for _, y in points]
    logarithmic = state.scale.logarithmic(every)
    series: list[Series] = []
    for look, (label, points) in enumerate(shown.items()):
        if kept := [(x, float(y)) for x, y in points if float(y) > 0 or not logarithmic]:
            series.append(Series(label, tuple(x for x, _ in kept), tuple(y for _, y in kept), look=look))
    left_out = len(every) - sum(len(one.x) for one in series)
    said = f"{left_out} of {len(every)} points are left out: there {state.scale.label('value')} is not positive"
    said += f", as far as {MOST_CURVE_DIGITS} digits tell, and has no logarithm"
    x = Axis(f"{control.parameter.name}, {control.parameter.meaning}", control.logarithmic)
    return Panel(x, Axis(state.scale.label(state.formula), logarithmic), tuple(series)), said if left_out else ""


def _coarse_to_fine(count: int) -> Iterator[int]:
    """The numbers below `count >= 2`: the ends, the middle, the middles between these, and so on."""
    seen, parts = set(), 1
    while len(seen) < count:
        for k in range(parts + 1):
            index = round(k * (count - 1) / parts)
            if index not in seen:
                seen.add(index)
                yield index
        parts *= 2


@lru_cache(maxsize=20_000)
def _known(formula: Formula, at: tuple[tuple[str, Expr], ...], digits: int) -> Reading:
    """The value, computed once; one that was interrupted is tried again."""
    try:
        return Reading(evaluate_formula(formula.name, dict(at), digits))
    except LimesError as error:
        return Reading(refusal=str(error))
