"""Evidence from certified values on the way to a limit: the distance shrinks at the rate it should.

It supports a derived limit by another route than its derivation: values at growing sizes, computed from the definition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from sympy import Expr

from numerics.evaluate import evaluate
from theory.errors import InvalidInput, LimesError

from ..mutants import mutants
from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import ExactEvidence
from .exact import exact

ROUNDING = 2.0**-48  # relative to the limit: the sequence is computed in float64


@dataclass(frozen=True, kw_only=True)
class Approach(ExactEvidence):
    """`sequence(size, point)` tends to `claimed` at each of `points`, with a distance that falls like `size^−order`.

    `sizes` grow by a constant factor. It holds when, at every point, the distance falls from each size to the next at
    least as fast as `size^−(order − slack)`; `slack` allows for a logarithm or the next order, which change the
    exponent measured by `1/log(size)` at most. It fails when the distance stops falling, with less than half the order.
    The values must be right to well below their distances from the limit; one that is no number decides nothing.

    >>> from sympy import Integer
    >>> harmonic = Approach(
    ...     sequence=lambda n, at: 1 + 1 / n, claimed=Integer(1), points=[{}], sizes=(10, 20, 40), order=1
    ... )
    >>> harmonic.examine(Level.QUICK).verdict.value
    'supported'
    """

    sequence: Callable[[int, Mapping[Any, Any]], float]
    claimed: Expr | int | Fraction
    points: Sequence[Mapping[Any, Any]]
    sizes: Sequence[int]
    order: float
    slack: float = 0.2
    kind: ClassVar[str] = "approach"
    worth: ClassVar[Verdict] = Verdict.SUPPORTED

    def __post_init__(self) -> None:
        exact("claimed", self.claimed)
        if len(self.sizes) < 3 or any(b <= a for a, b in pairwise(self.sizes)):
            raise InvalidInput("sizes", self.sizes, "give at least three growing sizes")
        if not self.points:
            raise InvalidInput("points", self.points, "give at least one point, {} if there is no parameter")
        if not 0 < 2 * self.slack < self.order:
            raise InvalidInput("slack", self.slack, "give less than half the order, or a wrong limit could pass")

    def examine(self, level: Level) -> Finding:
        values = [[self.sequence(size, point) for size in self.sizes] for point in self.points]
        claimed = exact("claimed", self.claimed)
        standing, slowest, where = self._judge(claimed, values)
        exponent = 0.0 - round(slowest, 2)  # no sign before a zero
        detail = f"distance falls at least like size^{exponent:.2f}, {self.sizes[0]} to {self.sizes[-1]}, at {where}"
        tally = MutantTally()
        if standing is Standing.HOLDS:
            wrong = mutants(claimed)
            alive = [text for text, mutant in wrong.items() if self._accepts(mutant, values)]
            tally = MutantTally(len(wrong), tuple(alive))
        return Finding(standing, Verdict.SUPPORTED, detail, self._resolution(claimed, values), tally)

    def _accepts(self, mutant: Expr, values: list[list[float]]) -> bool:
        try:
            return self._judge(mutant, values)[0] is Standing.HOLDS
        except LimesError:  # it has no value at one of the points
            return False

    def _judge(self, claimed: Expr, values: list[list[float]]) -> tuple[Standing, float, str]:
        slowest, where = math.inf, ""
        for point, reached in zip(self.points, values, strict=True):
            limit = _limit(claimed, point)
            rate = self._rate([abs(value - limit) for value in reached], ROUNDING * abs(limit))
            if not rate >= slowest:  # or it is not a number
                slowest = rate
                where = ", ".join(f"{key} = {value}" for key, value in point.items()) or "the one point"
            if math.isnan(rate):
                return Standing.UNDECIDED, rate, where
        if slowest >= self.order - self.slack:
            return Standing.HOLDS, slowest, where
        return (Standing.FAILS if slowest < self.order / 2 else Standing.UNDECIDED), slowest, where

    def _rate(self, distances: list[float], arrived: float) -> float:
        """The slowest fall from one size to the next, as an exponent; within `arrived` it need not fall further."""
        rates = []
        for i, (before, after) in enumerate(pairwise(distances)):
            if after <= arrived:
                continue
            if before == 0:
                return -math.inf
            if not (math.isfinite(before) and math.isfinite(after)):
                return math.nan
            rates.append(math.log(before / after) / math.log(self.sizes[i + 1] / self.sizes[i]))
        return min(rates, default=math.inf)

    def _resolution(self, claimed: Expr, values: list[list[float]]) -> float:
        """An error larger than the last distance, relative to the limit, would stop the fall."""
        last = []
        for point, reached in zip(self.points, values, strict=True):
            limit = _limit(claimed, point)
            last.append(abs(reached[-1] - limit) / (abs(limit) or 1.0))
        return max(last)


def _limit(claimed: Expr, point: Mapping[Any, Any]) -> float:
    """The claimed limit at a point; a limit may depend on fewer symbols than the sequence."""
    return float(
        evaluate(claimed, {symbol: value for symbol, value in point.items() if symbol in claimed.free_symbols})
    )
