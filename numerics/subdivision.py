r"""Inequalities over a whole box, certified: `f(x) >= 0`, or `> 0`, for every `x` in `[a_1, b_1] × … × [a_n, b_n]`.

A ball of `f` over a box contains all values it takes there; if the ball lies on the right side of zero the box is done,
else it is halved across its relatively longest side. A ball that is not finite says nothing, so its box is halved too.

**Touching zero.** Where `f` vanishes at a corner, no ball suffices. But if a partial derivative keeps its sign on a
box, the least value lies on a face, and the question moves there; and that the derivative keeps its sign is the same
question, one order higher, asked for up to `ORDERS` orders. On a face that is a point, exact algebra may settle
equality. This needs an expression without switches (`Abs`, `Max`, `Piecewise`, …).

**The outcome** is `HOLDS` (every box is done), `VIOLATED` (at a rational point the inequality certainly fails: evaluate
there to see it again) or `UNDECIDED` (the budget is spent; the boxes that remain are returned). It is a function of the
arguments alone: the budget counts boxes, not seconds.

Source: W. Tucker, *Validated Numerics* (2011), chapter 5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import sympy
from flint import arb
from sympy.core.relational import GreaterThan, LessThan, Relational, StrictGreaterThan, StrictLessThan

from theory.errors import InvalidInput, Undecidable

from .balls import ball, interval, precision
from .evaluate import RULES, evaluate
from .exact import exact_number
from .walk import Walk

BITS = 64  # and two more for each halving
ORDERS = 4  # of derivatives that may be asked for their sign
LARGEST_DERIVATIVE = 200  # operations; beyond it a derivative costs more than halving
STUBBORN = 6  # halvings before more than one order is asked
MOST_HALVINGS = 50  # for each side of the box
SWITCHES = (sympy.Abs, sympy.Max, sympy.Min, sympy.sign, sympy.Heaviside, sympy.Piecewise, sympy.floor, sympy.ceiling)
Box = tuple[tuple[Fraction, Fraction], ...]


class Outcome(Enum):
    """What subdivision found about an inequality over a box."""

    HOLDS = "holds at every point"
    VIOLATED = "fails at a rational point"
    UNDECIDED = "the budget is spent"


@dataclass(frozen=True)
class Subdivision:
    """The outcome after looking at `boxes` boxes.

    If violated, `counterexample` is the point and `value` the ball of `f` there; if undecided, `remaining` lists the
    boxes that are left.
    """

    outcome: Outcome
    boxes: int
    counterexample: Mapping[Any, Fraction] = field(default_factory=dict)
    value: arb | None = None
    remaining: tuple[Mapping[Any, tuple[Fraction, Fraction]], ...] = ()


def holds(inequality: Any, over: Mapping[Any, tuple[Any, Any]], budget: int = 10_000) -> Subdivision:
    """Decide an inequality for every point of the box `over`, looking at no more than `budget` boxes.

    `inequality` is a SymPy comparison (`>=`, `>`, `<=`, `<`) whose free symbols are the keys of `over`, or their names;
    or a function of balls, in the order of `over`, that returns a ball to be shown non-negative. The ends are rational:
    ints, Fractions, floats (the doubles they are), SymPy rationals. Raises `InvalidInput` for anything else.

    >>> x = sympy.Symbol("x", real=True)
    >>> holds(x - sympy.sin(x) >= 0, {x: (0, 3)}).outcome
    <Outcome.HOLDS: 'holds at every point'>
    >>> holds(x**2 > x / 2, {x: (Fraction(1, 8), 1)}).counterexample
    {x: Fraction(1, 8)}
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise InvalidInput("budget", budget, "give a number of boxes, at least 1")
    if not isinstance(inequality, sympy.Basic) and not callable(inequality):
        raise InvalidInput("inequality", inequality, "give a SymPy comparison or a function of balls")
    box = tuple(_ends(str(key), ends) for key, ends in over.items())
    if not box:
        raise InvalidInput("over", over, "give at least one symbol its interval")
    keys = list(over)
    formula = isinstance(inequality, sympy.Basic)
    question: Any = _Formula.of(inequality, keys) if formula else _Opaque(inequality)  # type: ignore[arg-type]

    def point(corner: tuple[Fraction, ...]) -> Box:
        return tuple((coordinate, coordinate) for coordinate in corner)

    def violated(candidate: Box, boxes: int) -> Subdivision | None:
        with precision(2 * BITS):
            value = question.ball(candidate)
            if not (value.is_finite() and question.fails(value)):
                return None
        where = {key: low for key, (low, _) in zip(keys, candidate, strict=True)}
        return Subdivision(Outcome.VIOLATED, boxes, counterexample=where, value=value)

    for corner in product(*box) if len(box) <= 4 else ():
        if found := violated(point(corner), 0):
            return found
    waiting: deque[tuple[Box, int]] = deque([(box, 0)])
    stuck: list[Box] = []
    looked = 0
    while waiting and looked < budget:
        current, halvings = waiting.popleft()
        looked += 1
        with precision(BITS + 2 * halvings):
            if question.certain(current, ORDERS if halvings >= STUBBORN else 1):
                continue
        middle = point(tuple((low + high) / 2 for low, high in current))
        if found := violated(middle, looked):
            return found
        if middle == current or halvings >= MOST_HALVINGS * len(box):
            stuck.append(current)
        else:
            waiting.extend((half, halvings + 1) for half in _halves(current, box))
    remaining = tuple(dict(zip(keys, left, strict=True)) for left in (*stuck, *(left for left, _ in waiting)))
    return Subdivision(Outcome.UNDECIDED if remaining else Outcome.HOLDS, looked, remaining=remaining)


def _ends(name: str, ends: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise InvalidInput(name, ends, "give an interval (a, b)")
    exact = [exact_number(name, end) for end in ends]
    if not all(end.is_Rational for end in exact):
        raise InvalidInput(name, ends, "give rational ends; widen an irrational one outwards")
    low, high = (Fraction(int(end.p), int(end.q)) for end in exact)  # type: ignore[attr-defined]
    if low > high:
        raise InvalidInput(name, ends, "give the lower end first")
    return low, high


def _halves(box: Box, whole: Box) -> tuple[Box, Box]:
    """Halves across the side that is longest in proportion to the whole box."""
    shares = [(high - low) / (b - a) if a < b else Fraction(0) for (low, high), (a, b) in zip(box, whole, strict=True)]
    i = shares.index(max(shares))
    low, high = box[i]
    middle = (low + high) / 2
    return (*box[:i], (low, middle), *box[i + 1 :]), (*box[:i], (middle, high), *box[i + 1 :])


@dataclass(frozen=True)
class _Opaque:
    """`function >= 0`, of which only balls are known."""

    function: Callable[..., arb]

    def ball(self, box: Box) -> arb:
        return self.function(*(interval(low, high) for low, high in box))

    def certain(self, box: Box, orders: int) -> bool:
        value = self.ball(box)
        return value.is_finite() and value >= 0

    def fails(self, value: arb) -> bool:
        return value < 0


@dataclass(frozen=True)
class _Formula:
    """`expression >= 0`, or `> 0` if strict."""

    expression: Any
    symbols: tuple[Any, ...]
    strict: bool

    @staticmethod
    def of(inequality: sympy.Basic, keys: list[Any]) -> _Formula:
        if not isinstance(inequality, GreaterThan | StrictGreaterThan | LessThan | StrictLessThan):
            known = isinstance(inequality, Relational) or not inequality.is_Boolean
            remedy = "give a comparison with >=, >, <= or <" if known else "SymPy has already decided this comparison"
            raise InvalidInput("inequality", str(inequality), remedy)
        comparison: Any = inequality
        difference = comparison.gts - comparison.lts
        by_name = {str(symbol): symbol for symbol in difference.free_symbols}
        if set(by_name) != {str(key) for key in keys} or len(by_name) != len(difference.free_symbols):
            raise InvalidInput("over", ", ".join(map(str, keys)), f"give an interval to each of {', '.join(by_name)}")
        strict = isinstance(inequality, StrictGreaterThan | StrictLessThan)
        return _Formula(difference, tuple(by_name[str(key)] for key in keys), strict)

    def ball(self, box: Box) -> arb:
        walk = self._walk(box)
        value = _enclosed(walk, self.expression)
        low, high = walk.bounds(self.expression) if value.contains(0) else (None, None)
        return ball(low) if low is not None and low == high else value

    def fails(self, value: arb) -> bool:
        return value <= 0 if self.strict else value < 0

    def certain(self, box: Box, orders: int, walk: Walk | None = None) -> bool:
        """Whether the inequality is certain on the box, asking derivatives of up to `orders` orders."""
        walk = walk or self._walk(box)
        value = _enclosed(walk, self.expression)
        if not value.is_finite():
            return False
        if value > 0 or (value >= 0 and not self.strict):
            return True
        low, _ = walk.bounds(self.expression)
        if low is not None and (low > 0 or (low >= 0 and not self.strict)):
            return True
        if all(a == b for a, b in box):
            return self._certain_at(box)
        if orders == 0:
            return False
        for i, (a, b) in enumerate(box):
            if a < b:
                for derivative, end in zip(self._derivatives[i], (a, b), strict=False):
                    if derivative.certain(box, orders - 1, walk):  # least where x_i is `end`
                        return self.certain((*box[:i], (end, end), *box[i + 1 :]), orders)
        return False

    @cached_property
    def _derivatives(self) -> list[tuple[_Formula, ...]]:
        """For each symbol, `∂f >= 0` and `−∂f >= 0`; none if `f` has switches or they are too large to help."""
        if self.expression.has(*SWITCHES):
            return [()] * len(self.symbols)
        partials = [sympy.diff(self.expression, symbol) for symbol in self.symbols]
        if max(map(sympy.count_ops, partials)) > LARGEST_DERIVATIVE:
            return [()] * len(self.symbols)
        return [tuple(_Formula(side * partial, self.symbols, False) for side in (1, -1)) for partial in partials]

    def _certain_at(self, point: Box) -> bool:
        """The same question at a point, to which exact algebra may know the answer."""
        at = {symbol: low for symbol, (low, _) in zip(self.symbols, point, strict=True)}
        free = self.expression.free_symbols
        try:
            value = evaluate(
                self.expression, {symbol: at[symbol] for symbol in self.symbols if symbol in free}, digits=1
            )
        except Undecidable:
            return False
        return value.ball > 0 or (value.value == "0" and not self.strict)

    def _walk(self, box: Box) -> Walk:
        exact: Any = dict(zip(self.symbols, box, strict=True))
        return Walk(RULES, {symbol: interval(*ends) for symbol, ends in exact.items()}, exact)


def _enclosed(walk: Walk, expression: Any) -> arb:
    """The ball, or one that is not finite where the walk cannot tell."""
    try:
        return walk(expression)
    except Undecidable:
        return arb.nan()
