r"""A derivation: a chain of expressions with a reason at each step, ending in the result.

    start  =  e₁   (because …)
           →  e₂   (because …)
           =  e₃   (because …)

Every link `eᵢ₋₁ R eᵢ` is a statement of its own, and its `Reason` checks it: by exact algebra, or by a lemma whose
hypotheses are checked by exact algebra. Where SymPy cannot decide an equality, `numerics/points.py` compares both sides
at random points of the stated domain with certified digits, and the step says so wherever it is printed: agreement at
points is not a proof.

A function in `theory/` that returns a `Derivation` *derives*: it starts from the definition and computes the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Protocol

from sympy import Expr, Set, Symbol

from .errors import InvalidInput
from .layout import INDENT, PAGE, breadth, breadth_of_sentence, rows, sentence_rows, wrapped
from .notation import Meaning
from .typeset import latex_text


class Relation(Enum):
    """What holds between one line and the next; the value is its LaTeX."""

    EQUALS = "="
    TENDS_TO = r"\longrightarrow"
    EXCEEDS = ">"
    DECIDES = r"\Longrightarrow"  # the next line is a number that follows from this one


class How(Enum):
    """How a step was checked, from the strongest to none at all."""

    ALGEBRA = "exact algebra"
    LEMMA = "a lemma, its hypotheses by exact algebra"
    POINTS = "certified values at random points"
    UNDECIDED = "not decided"
    WRONG = "wrong"


@dataclass(frozen=True)
class Outcome:
    """What a check found: `how` it was decided, and in `detail` the witness or the obstacle."""

    how: How
    detail: str = ""

    @property
    def proved(self) -> bool:
        return self.how in (How.ALGEBRA, How.LEMMA)


class Reason(Protocol):
    """Why one line follows from the one before; `theory/reasons.py` has them all."""

    def check(self, before: Expr, after: Expr) -> Outcome: ...


@dataclass(frozen=True)
class Step:
    """One line: `relation expression`, and why. `using` are derivations whose conclusions the reason relies on."""

    expression: Expr
    relation: Relation
    because: str
    reason: Reason
    using: tuple[Derivation, ...] = ()


@dataclass(frozen=True)
class CheckedStep:
    """A step, the line it starts from, and what the check of it found."""

    before: Expr
    step: Step
    outcome: Outcome


@dataclass(frozen=True, repr=False)
class Derivation:
    """A start, the steps from it, and where it holds.

    `name` is what is being derived, as LaTeX (the left-hand side of the first line); `domain` gives the set in which
    each free symbol lives, and `where` says what the symbols stand for that it introduces. Build it with `then`, each
    call of which returns a longer derivation:

    >>> from sympy import Interval, cos, sin, symbols
    >>> from theory.reasons import Algebra
    >>> x = symbols("x", real=True)
    >>> d = Derivation(sin(2 * x) / sin(x), "q", {x: Interval.open(0, 3)}, title="A quotient of sines")
    >>> d = d.then(2 * cos(x), because="the double angle", reason=Algebra())
    >>> d.conclusion
    2*cos(x)
    >>> [checked.outcome.how.name for checked in d.check()]
    ['ALGEBRA']
    >>> d
    Derivation(A quotient of sines: q = sin(2*x)/sin(x), 2*cos(x))
    """

    start: Expr
    name: str
    domain: Mapping[Symbol, Set] = field(default_factory=dict)
    title: str = ""
    steps: tuple[Step, ...] = ()
    where: tuple[Meaning, ...] = ()

    def then(
        self,
        expression: Expr,
        *,
        because: str,
        reason: Reason,
        relation: Relation = Relation.EQUALS,
        using: tuple[Derivation, ...] = (),
    ) -> Derivation:
        """This derivation and one more line. Raises `InvalidInput` when no reason is given in words."""
        if not because.strip():
            raise InvalidInput("because", because, "say in words why the line follows; it is printed beside it")
        return replace(self, steps=(*self.steps, Step(expression, relation, because, reason, using)))

    @property
    def conclusion(self) -> Expr:
        """The last line; or the line before it, where the last is a bound (`… > 0`) on that."""
        return self.lines[-1] if self.bound is None else self.lines[-2]

    @property
    def bound(self) -> Expr | None:
        """What the conclusion is shown to exceed, if that is how the derivation ends."""
        ends_in_bound = bool(self.steps) and self.steps[-1].relation is Relation.EXCEEDS
        return self.steps[-1].expression if ends_in_bound else None

    @property
    def lines(self) -> tuple[Expr, ...]:
        """All lines, the start first."""
        return (self.start, *(step.expression for step in self.steps))

    def parts(self) -> tuple[Derivation, ...]:
        """The derivations this one relies on, each once, those that come first first, itself last."""
        found: list[Derivation] = []
        for step in self.steps:
            for used in step.using:
                found.extend(part for part in used.parts() if not any(part is seen for seen in found))
        return (*found, self)

    def check(self) -> tuple[CheckedStep, ...]:
        """Check every step of this derivation (not of `parts`) by exact algebra; the result is kept."""
        return self._checked

    @cached_property
    def _checked(self) -> tuple[CheckedStep, ...]:
        return tuple(
            CheckedStep(before, step, step.reason.check(before, step.expression))
            for before, step in zip(self.lines, self.steps, strict=False)
        )

    def to_latex(self, checked: tuple[CheckedStep, ...] | None = None) -> str:
        """An `align*` environment; with `checked`, the margin says of each line how it was checked.

        >>> from sympy import Symbol
        >>> print(Derivation(Symbol("x"), "q").to_latex())
        \\begin{align*}
        q &= x
        \\end{align*}
        """
        offset = breadth(self.name) + breadth("=")
        if offset <= PAGE / 3:
            lines = [_broken(f"{self.name} &= " if self.name else "&", self.start, offset)]
        else:  # a long name has a row of its own
            offset = breadth("=")
            lines = [[f"&{self.name}"], _broken("  &= ", self.start, offset)]
        for index, step in enumerate(self.steps):
            margin = "" if checked is None else _margin(checked[index].outcome)
            line = _broken(f"  &{step.relation.value} ", step.expression, offset)
            lines.append(_with_reason(line, f"({step.because}{margin})", offset))
        body = " \\\\\n".join(row for line in lines for row in line)
        return wrapped(f"\\begin{{align*}}\n{body}\n\\end{{align*}}")

    def _repr_latex_(self) -> str:
        return self.to_latex()

    def __repr__(self) -> str:
        """Its first and its last line: with all it relies on it would fill pages."""
        title = f"{self.title}: " if self.title else ""
        between = ", ..." if len(self.steps) > 1 else ""
        return f"Derivation({title}{self.name} = {self.start}{between}{f', {self.lines[-1]}' if self.steps else ''})"


def _broken(start: str, expression: Expr, offset: float) -> list[str]:
    """One line of a derivation in the rows of an `align`; `offset` is the breadth of what stands left of it."""
    first, *more = rows(expression, PAGE - offset)
    return [start + first, *(f"  &\\qquad {row}" for row in more)]


def _with_reason(line: list[str], reason: str, offset: float) -> list[str]:
    """The reason beside a line that leaves room for it, else below."""
    beside = f"{line[-1]} \\qquad \\text{{{latex_text(reason)}}}"
    if offset + breadth(line[-1]) + breadth_of_sentence(reason) + INDENT <= PAGE:
        return [*line[:-1], beside]
    below = sentence_rows(reason, PAGE - offset - INDENT)
    return [*line, *(f"  &\\qquad\\text{{{latex_text(row)}}}" for row in below)]


def _margin(outcome: Outcome) -> str:
    """What stands beside a line that was not settled by exact algebra."""
    match outcome.how:
        case How.ALGEBRA | How.LEMMA:
            return ""
        case How.POINTS:
            return f" [checked at points only: {outcome.detail}]"
        case How.UNDECIDED:
            return f" [not decided: {outcome.detail}]"
        case How.WRONG:
            return f" [WRONG: {outcome.detail}]"
