"""Where the formula of the page is first past a level: "first L with a value above 0.999", asked in place.

`numerics/crossing.py` finds it, and says how far it is known; here are the words of the person, and the answer's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from numerics.crossing import Crossing, Side, decimal, first_crossing
from numerics.evaluate import evaluate
from numerics.formulas import FormulaValue
from theory.errors import InvalidInput, LimesError

from ..grammar import parse
from ..plot import Panel
from . import limits
from .scene import Point, Reading, bounded, mentions
from .state import State

SECONDS = 5.0
DERIVING = 10.0  # besides, for a formula that is derived first


@dataclass(frozen=True)
class Found:
    """The crossing, or the sentence that says why there is none."""

    crossing: Crossing | None = None
    refusal: str = ""

    @property
    def place(self) -> dict[str, str]:
        """The text that the parameter has there; empty if it was not found."""
        if self.crossing is None or self.crossing.at is None:
            return {}
        return {self.crossing.parameter: decimal(self.crossing.at)}


def find(state: State, where: Point, parameter: str, side: Side, level: str) -> Found:
    """The first value of a parameter at which the formula of a state is past a level, all else as it is.

    >>> from .scene import point
    >>> state = State.from_text("relu-nngp rho=0")
    >>> find(state, point(state.known, state.at), "L", Side.ABOVE, "1/2").crossing.at
    3
    >>> find(state, point(state.known, state.at), "L", Side.ABOVE, "half").refusal
    'value = half: unknown name; known are pi, e, ...'
    """
    fixed = {name: value for name, value in where.values.items() if name != parameter}
    lacking = [name for name in where.refusals if name != parameter]
    following = [name for name, text in state.at.items() if name != parameter and mentions(text, parameter)]
    if lacking:
        return Found(refusal=f"not found without {' and '.join(lacking)}")
    if following:
        return Found(refusal=f"{following[0]} follows {parameter}: give it a number of its own")
    try:
        number = parse(level)
    except InvalidInput as error:
        return Found(refusal=str(InvalidInput("value", level or "nothing", error.remedy)))
    try:
        crossing = bounded(
            DERIVING + SECONDS,
            lambda: first_crossing(state.formula, parameter, side, number, fixed, seconds=SECONDS),
        )
    except LimesError as error:
        return Found(refusal=str(error))
    return Found(crossing, "" if crossing else f"not found in {DERIVING + SECONDS:g} s")


def is_about(found: Found, state: State, where: Point) -> bool:
    """Whether nothing has been moved since but the parameter that was looked for."""
    if found.crossing is None:
        return True
    others = {name: value for name, value in where.values.items() if name != found.crossing.parameter}
    return (found.crossing.formula, found.crossing.fixed) == (state.formula, others)


def marked(shown: Panel, state: State, found: Found) -> Panel:
    """A curve with the level that was asked for."""
    if found.crossing is None or not shown.series:
        return shown
    value = evaluate(found.crossing.level, {})
    got = Reading(FormulaValue(state.formula, {}, value.value, value.radius, value.digits))
    line = limits.level(f"level {decimal(found.crossing.level)}", state, got)
    return replace(shown, series=(*shown.series, line)) if line else shown
