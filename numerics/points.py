r"""Comparing two expressions at random points of a domain, with certified digits.

Two expressions *differ* when at one point the ball of their difference excludes zero: that is a proof, and the point is
its witness. They *agree* when at every point tried the ball contains zero and is smaller than `10^-AGREEMENT`: that is
no proof. Anything else is undecided. Points are rational, drawn by a seeded generator from the sets of the domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from flint import arb
from sympy import Expr, Interval, Rational, Set, Symbol, preorder_traversal
from sympy.core.function import AppliedUndef
from sympy.tensor.indexed import Indexed

from theory.derivation import CheckedStep, Derivation, How, Outcome, Relation
from theory.errors import LimesError

from .balls import precision
from .evaluate import enclose

AGREEMENT = 25  # decimal digits to which two sides must agree at a point
BITS = 256
POINTS = 12


class Agreement(Enum):
    """What comparing at points can say."""

    AGREE = "agree"
    DIFFER = "differ"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """The agreement of two expressions; `witness` is the point where they differ, `reason` why nothing could be said."""

    agreement: Agreement
    points: int = 0
    witness: Mapping[Symbol, Rational] | None = None
    reason: str = ""

    def __str__(self) -> str:
        match self.agreement:
            case Agreement.AGREE:
                return f"{self.points} points"
            case Agreement.DIFFER:
                at = ", ".join(f"{symbol} = {value}" for symbol, value in (self.witness or {}).items())
                return f"they differ at {at}" if at else "they are different numbers"
            case Agreement.UNDECIDED:
                return self.reason


def compare(
    left: Expr, right: Expr, domain: Mapping[Symbol, Set], *, seed: int = 0, points: int = POINTS
) -> Comparison:
    """Compare two expressions at `points` random points of `domain`; symbols not in it are taken from the real line.

    >>> from sympy import sin, symbols
    >>> x = symbols("x", real=True)
    >>> str(compare(sin(2 * x), 2 * sin(x), {x: Interval(0, 1)}))[:19]
    'they differ at x = '
    """
    difference = left - right
    if any(isinstance(part, AppliedUndef | Indexed) for part in preorder_traversal(difference)):
        return Comparison(Agreement.UNDECIDED, reason="it contains a sequence known only by its recursion")
    symbols = sorted(difference.free_symbols, key=str)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(len(symbols),)))
    agreed = 0
    for _ in range(points if symbols else 1):
        at = {symbol: _random_point(symbol, domain.get(symbol), rng) for symbol in symbols}
        try:
            with precision(BITS):
                ball = enclose(difference, at)
                if ball.is_finite() and ball != 0 and not ball.contains(0):
                    return Comparison(Agreement.DIFFER, agreed + 1, at)
                agreed += bool(ball.is_finite() and abs(ball) < arb(10) ** -AGREEMENT)
        except LimesError as error:
            return Comparison(Agreement.UNDECIDED, agreed, reason=str(error))
    if agreed < (points if symbols else 1):
        return Comparison(Agreement.UNDECIDED, agreed, reason="the balls around zero stay too large")
    return Comparison(Agreement.AGREE, agreed)


def _random_point(symbol: Any, domain: Set | None, rng: np.random.Generator) -> Rational:
    """A rational (an integer where the symbol is one) inside the interval, at most 10 units beyond a finite end."""
    low, high = -3, 3
    if symbol.is_nonnegative:
        low = 0
    if isinstance(domain, Interval):
        low = domain.inf if domain.inf.is_finite else min(low, domain.sup - 6)
        high = domain.sup if domain.sup.is_finite else low + 10
    elif low == 0:
        high = 10
    if symbol.is_integer:
        return Rational(int(rng.integers(int(np.ceil(float(low))), int(np.floor(float(high))) + 1)))
    # strictly inside: the ends are not always in the set, and seldom telling
    fraction = Rational(int(rng.integers(1, 2**20)), 2**20)
    inside = low + (high - low) * fraction
    return inside if inside.is_Rational else Rational(int(np.floor(float(inside) * 2**20)), 2**20)


def check_steps(derivation: Derivation, *, seed: int = 0) -> tuple[CheckedStep, ...]:
    """Every step of `derivation` checked by exact algebra and, where that does not decide an equality, at points."""
    return tuple(_at_points(checked, derivation.domain, seed) for checked in derivation.check())


def _at_points(checked: CheckedStep, domain: Mapping[Symbol, Set], seed: int) -> CheckedStep:
    if checked.outcome.how is not How.UNDECIDED or checked.step.relation is not Relation.EQUALS:
        return checked
    compared = compare(checked.before, checked.step.expression, domain, seed=seed)
    match compared.agreement:
        case Agreement.AGREE:
            return replace(checked, outcome=Outcome(How.POINTS, str(compared)))
        case Agreement.DIFFER:
            return replace(checked, outcome=Outcome(How.WRONG, str(compared)))
        case Agreement.UNDECIDED:
            return replace(checked, outcome=Outcome(How.UNDECIDED, f"{checked.outcome.detail}; {compared}"))
