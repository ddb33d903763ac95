r"""What is seen of a limit: the path that a person types, the symbolic limit, and the approach to it as numbers.

`theory/limits.py` and `numerics/approach.py` find both; here they get their words and a chart. A path is `let`, such as
`L=oo`, and `along`: pieces apart by `;`, of which `rho = 1 - c/L^2` says how a parameter follows, and `c = 2` what a
symbol of such a curve is (1, if it is not said). All other parameters stay where they are; but one whose text mentions
the parameter that runs, such as `eta1 = h^(5/4)`, follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sympy import Add, oo

from numerics.approach import Approach, approach, exponent_text
from numerics.evaluate import evaluate
from numerics.formulas import FormulaValue
from theory.errors import InvalidInput, LimesError
from theory.formula import Formula
from theory.limits import limit_along
from theory.paths import Path, path_through

from ..grammar import parse_assignments, parse_curves, parse_targets
from ..plot import Axis, Kind, Panel, Series
from .controls import controls, grid
from .scale import Scale
from .scene import Point, Reading, bounded, mentions
from .state import State

SECONDS = 8.0  # for the numbers
DERIVING = 20.0  # for all of it
MARK = 6.0  # seconds for the limit that is marked in a curve
_LIMITS: dict[str, Reading] = {}  # what was found
_TOO_SLOW: set[tuple[str, str]] = set()  # the formulas and axes for which that was not enough


@dataclass(frozen=True)
class Found:
    """The limit and the approach to it, or the sentence that says why there is none."""

    approach: Approach | None = None
    refusal: str = ""


def path(state: State, where: Point) -> Path:
    """The path that `let` and `along` of a state say, from its point. Raises `InvalidInput` for what makes no sense.

    >>> from .scene import point
    >>> state = State.from_text("relu-ntk-normalised let=L=oo along=rho=1-c/L^2;c=2")
    >>> print(path(state, point(state.known, state.at)))
    L -> oo, rho = 1 - c/L**2
    """
    formula = state.known
    if formula is None:
        raise InvalidInput("formula", "none", "choose one")
    if not state.let.strip():
        raise InvalidInput("let", "nothing", "say which parameter goes where, such as L = oo")
    targets = parse_targets([state.let])
    own = {parameter.name: parameter.symbol for parameter in formula.parameters}
    pieces = [piece for piece in state.along.split(";") if piece.strip()]
    curves = {name: piece for piece in pieces if (name := piece.partition("=")[0].strip()) in own}
    for name, text in state.at.items():
        if name not in targets and any(mentions(text, running) for running in targets):
            curves.setdefault(name, f"{name} = {text}")
    symbols = {name: symbol for name, symbol in own.items() if name in targets}
    follows = parse_curves([curves[name] for name in own if name in curves], symbols)
    numbers = parse_assignments([piece for piece in pieces if piece not in curves.values()])
    stays = {name: where.values.get(name) for name in own if name not in targets and name not in follows}
    for name, value in stays.items():
        if value is None:
            raise InvalidInput(name, "refused above", "give it a value, or a curve")
    return path_through(formula, targets, follows, {**stays, **numbers})


def find(state: State, where: Point) -> Found:
    """The limit of a state, symbolically and by numbers; a sentence if it is refused or takes too long."""
    try:
        wanted, formula = path(state, where), state.known
        assert formula is not None
        found = bounded(DERIVING, lambda: approach(formula, wanted, digits=state.digits, seconds=SECONDS))
    except LimesError as error:
        return Found(refusal=str(error))
    if found is None:
        return Found(refusal=f"not found in {DERIVING:g} s; limes limit {state.formula} takes its time")
    return Found(found)


def rows(found: Approach) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The table of the approach: its heads and its lines, without columns that are empty."""
    compared = "distance" if found.limit.value is None or found.limit.value.is_finite else "value"
    heads = (found.limit.path.variable.name, "value", "distance", "exponent", f"{compared} / leading terms")
    lines = [
        (one.label, one.value, one.distance or "", exponent_text(one.exponent), one.ratio or "") for one in found.rows
    ]
    if found.limit_value is not None:
        lines.append(("limit", found.limit_value, "", "", ""))
    kept = [column for column in range(len(heads)) if any(line[column] for line in lines)]
    return tuple(heads[column] for column in kept), [tuple(line[column] for column in kept) for line in lines]


def panel(found: Approach) -> Panel | None:
    """The distance to the limit, certified, beside the leading terms; None where there is none to be drawn."""
    limit, target = found.limit, found.limit.path.target
    certified: dict[float, float] = {}
    leading: dict[float, float] = {}
    for row in found.rows:
        x = abs(float(row.variable - target)) if target.is_finite else abs(float(row.variable))
        if row.distance and not row.distance.startswith("<") and float(row.distance) != 0:
            certified[x] = abs(float(row.distance))
        if limit.terms and limit.value is not None and limit.value.is_finite:
            total = evaluate(limit.number(Add(*limit.terms)).xreplace({limit.path.variable: row.variable}), {}, 15)
            if float(total) != 0:
                leading[x] = abs(float(total))
    series = [Series("leading terms", tuple(leading), tuple(leading.values()))] if len(leading) > 1 else []
    if certified:
        series.append(Series("certified", tuple(certified), tuple(certified.values()), Kind.POINTS, 1))
    if not series:
        return None
    name = limit.path.variable.name
    x = Axis(f"|{name} - {target}|" if target.is_finite else name, logarithmic=True)
    return Panel(x, Axis("distance to the limit", logarithmic=True), tuple(series))


def marked(shown: Panel, state: State, where: Point) -> Panel:
    """A curve with its limit."""
    line = mark(state, where)
    return replace(shown, series=(*shown.series, line)) if line and shown.series else shown


def mark(state: State, where: Point) -> Series | None:
    """The limit of the curve at its infinite end, as a line through it; None if there is none, or it is not known."""
    formula = state.known
    key = (state.formula, state.axis)
    if formula is None or not state.axis or key in _TOO_SLOW:
        return None
    if controls(formula)[state.axis].parameter.domain.sup != oo:
        return None
    try:
        wanted = path(replace(state, let=f"{state.axis} = oo", along=""), where)
    except LimesError:
        return None
    words = f"{formula.name}: {wanted}"
    if words not in _LIMITS:
        limit = bounded(MARK, lambda: _limit(formula, wanted))
        if limit is None:
            _TOO_SLOW.add(key)
            return None
        _LIMITS[words] = limit
    return level("limit", state, _LIMITS[words])


def level(label: str, state: State, got: Reading) -> Series | None:
    """A value as a line through the curve of a state; None where there is none, or the axis has no place for it."""
    assert state.known is not None
    y = state.scale.of(got.found)
    if y is None or (y <= 0 and state.scale in (Scale.LOGARITHMIC, Scale.COMPLEMENT)):
        return None
    first, last = grid(controls(state.known)[state.axis], 2)
    return Series(label, (float(first), float(last)), (float(y),) * 2, Kind.GUIDE)


def _limit(formula: Formula, wanted: Path) -> Reading:
    """The limit, or why there is none that is finite and proved."""
    try:
        limit = limit_along(formula, wanted)
        if limit.value is None or not limit.value.is_finite:
            return Reading(refusal="none")
        value = evaluate(limit.number(limit.value), {})
    except LimesError as error:
        return Reading(refusal=str(error))
    return Reading(FormulaValue(formula.name, {}, value.value, value.radius, value.digits))
