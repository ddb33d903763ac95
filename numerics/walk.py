r"""The walk that turns a SymPy expression into a ball, node by node, and the exact bounds that help it at edges.

What a node's ball is, is told by a table of rules, one per SymPy type: `numerics.real_rules` on the real line,
`numerics.complex_rules` for integrands off it. Inclusion holds as in `numerics.balls`: for any numbers in the balls of
the symbols, the value is in the ball returned, or that ball is not finite.

**Edges.** The ball of an argument that is exactly 1 reaches beyond 1, where `acos` is not real. So a walk can follow
exact rational bounds (`Walk.bounds`): interval arithmetic in fractions from the bounds of the symbols, through sums,
products and powers. A rule cuts an argument at the edge of a domain only where they prove that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

from flint import arb
from sympy import Abs, Basic, Symbol, acos, cos, erf, exp, sin, tanh

from theory.errors import InvalidInput

from .balls import ball, ends

Bounds = tuple[Fraction | None, Fraction | None]  # None: no bound on that side
Rule = Callable[["Walk", Any], Any]

LARGEST_EXPONENT = 64  # of a power that `bounds` follows exactly
RANGES: dict[type, Bounds] = {
    **dict.fromkeys((sin, cos, tanh, erf), (Fraction(-1), Fraction(1))),
    **dict.fromkeys((Abs, exp, acos), (Fraction(0), None)),
}


class Walk:
    """One pass over an expression: the ball of each node, computed once by the rule for its type.

    `symbols` gives the ball of each free symbol; `exact`, where known, rational bounds of the number behind it.
    """

    def __init__(
        self, rules: Mapping[type, Rule], symbols: Mapping[Basic, Any], exact: Mapping[Basic, Bounds] | None = None
    ) -> None:
        self.rules, self.symbols, self.exact = rules, symbols, exact or {}
        self.balls: dict[Basic, Any] = dict(symbols)

    def __call__(self, node: Any) -> Any:
        """The ball of `node`. Raises `InvalidInput` at a symbol without a value and at a type without a rule."""
        found = self.balls.get(node)
        if found is None:
            found = self.balls[node] = self.rule(node)(self, node)
        return found

    def rule(self, node: Any) -> Rule:
        """The rule of the nearest base class of `node`."""
        for kind in type(node).__mro__:
            if kind in self.rules:
                return self.rules[kind]
        if getattr(node, "is_Symbol", False):
            raise InvalidInput("at", str(node), "this symbol has no value; give it one")
        raise InvalidInput("expression", str(node), f"{type(node).__name__} has no certified evaluation here")

    def scope(self, symbol: Symbol, value: int) -> Walk:
        """The walk inside a Sum or Product, where the bound `symbol` is the integer `value`."""
        bounds = (Fraction(value), Fraction(value))
        return Walk(self.rules, {**self.symbols, symbol: ball(value)}, {**self.exact, symbol: bounds})

    def sign(self, node: Any) -> int | None:
        """The sign of `node` where it is certain, else None."""
        x = self(node)
        if x.is_finite() and not x.contains(0):
            return 1 if x > 0 else -1
        low, high = self.bounds(node)
        if low is not None and low > 0:
            return 1
        if high is not None and high < 0:
            return -1
        return 0 if low == 0 == high else None

    def bounds(self, node: Any) -> Bounds:
        """Rational bounds of `node`: exact through sums, products and powers, else the ends of its ball."""
        if node.is_Rational:
            value = Fraction(int(node.p), int(node.q))
            return value, value
        if node in self.exact:
            return self.exact[node]
        if node.is_Add:
            return reduce(_sum, map(self.bounds, node.args))
        if node.is_Mul:
            return reduce(_product, map(self.bounds, node.args))
        if node.is_Pow and node.exp.is_Integer and 0 < node.exp <= LARGEST_EXPONENT:
            return _power(self.bounds(node.base), int(node.exp))
        x: arb = self(node)
        low, high = ends(x) if x.is_finite() else (None, None)
        least, most = RANGES.get(type(node), (None, None))
        if node.is_Pow and node.exp.is_Rational and node.exp.q > 1:  # a principal root
            least = Fraction(0)
        return _tightest(max, low, least), _tightest(min, high, most)


def _tightest(
    choose: Callable[[Fraction, Fraction], Fraction], a: Fraction | None, b: Fraction | None
) -> Fraction | None:
    return b if a is None else a if b is None else choose(a, b)


def _sum(a: Bounds, b: Bounds) -> Bounds:
    low = None if a[0] is None or b[0] is None else a[0] + b[0]
    high = None if a[1] is None or b[1] is None else a[1] + b[1]
    return low, high


def _product(a: Bounds, b: Bounds) -> Bounds:
    if a[0] is not None and b[0] is not None and a[0] >= 0 and b[0] >= 0:
        return a[0] * b[0], None if a[1] is None or b[1] is None else a[1] * b[1]
    if None in a or None in b:
        return None, None
    corners = [x * y for x, y in product(a, b) if x is not None and y is not None]
    return min(corners), max(corners)


def _power(a: Bounds, n: int) -> Bounds:
    low, high = a
    if n % 2:
        return None if low is None else low**n, None if high is None else high**n
    if low is None or high is None:
        return Fraction(0), None
    return Fraction(0) if low <= 0 <= high else min(low**n, high**n), max(low**n, high**n)
