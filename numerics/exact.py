r"""Exact points, and what exact algebra must settle before balls can: zeros, edges of domains, removable singularities.

Balls decide every strict inequality, given enough precision, and no equality. So where they fail at a point, SymPy is
asked, under a time limit, whether

- the whole expression is zero there;
- an argument sits exactly on an edge: `acos`, `asin` at ±1, `acosh` at 1, a root, `sign` or `Heaviside` at 0, two sides
  of a comparison equal;
- a singularity is removable, by cancelling common factors or as a limit in the one symbol there is.

SymPy is believed about a zero only if a ball of 512 bits contains zero too, and about a limit only if values close by
agree with it; a limit is said in the note of the result.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Rational as RationalNumber
from typing import Any

import numpy as np
import sympy
from flint import arb
from sympy import Expr, S, Symbol
from sympy.core.relational import Relational

from theory.errors import InvalidInput, Undecidable
from theory.timelimit import within

from .balls import precision

SECONDS = 5.0  # for each question to SymPy
BITS = 512
LARGEST_INTEGER = 10**6  # bits
CLOSE_BY = Fraction(1, 2**64)
EDGES: dict[type, tuple[int, ...]] = {
    sympy.acos: (1, -1),
    sympy.asin: (1, -1),
    sympy.acosh: (1,),
    sympy.sign: (0,),
    sympy.Heaviside: (0,),
    sympy.Pow: (0,),
}
FACTS = ("integer", "positive", "negative", "nonnegative", "nonpositive", "nonzero")  # assumptions that are checked
Enclose = Callable[[Any, Mapping[Symbol, Any]], arb]


def exact_number(name: str, number: Any) -> Expr:
    """The exact SymPy number that `number` is; a float is the double it is, text is refused.

    >>> exact_number("rho", 0.5), exact_number("rho", Fraction(3, 10))
    (1/2, 3/10)
    """
    if isinstance(number, bool | str):
        raise InvalidInput(name, number, "give a number; text is read by checks.grammar.parse")
    if isinstance(number, RationalNumber):
        return sympy.Rational(int(number.numerator), int(number.denominator))
    if isinstance(number, float | np.floating):
        if not np.isfinite(number):
            raise InvalidInput(name, number, "give a finite number")
        return sympy.Rational(*number.as_integer_ratio())
    if not isinstance(number, Expr) or number.free_symbols:
        raise InvalidInput(name, number, "give an exact number: int, Fraction, float, or a SymPy constant")
    if number.is_extended_real is False or number.is_finite is False or number.has(S.NaN, S.ComplexInfinity):
        raise InvalidInput(name, str(number), "give a finite real number")
    return sympy.Rational(number) if isinstance(number, sympy.Float) else number


def exact_point(expression: Expr, at: Mapping[Any, object]) -> dict[Symbol, Expr]:
    """An exact value for each free symbol of `expression`; `at` may name symbols by their text.

    Raises `InvalidInput` for a name that does not occur, a symbol without a value, a value against the assumptions of
    its symbol (`positive`, `integer`, …), and what `exact_number` refuses.
    """
    symbols: dict[str, list[Any]] = {}
    for symbol in expression.free_symbols:
        symbols.setdefault(str(symbol), []).append(symbol)
    point: dict[Symbol, Expr] = {}
    for key, number in at.items():
        name = str(key)
        if name not in symbols:
            near = difflib.get_close_matches(name, symbols, n=3) or sorted(symbols)
            raise InvalidInput("at", name, f"no such symbol; known are {', '.join(near) or 'none'}")
        value = exact_number(name, number)
        for symbol in symbols.pop(name):
            point[symbol] = value
            for fact in FACTS:
                if getattr(symbol, f"is_{fact}") and getattr(value, f"is_{fact}") is False:
                    raise InvalidInput(name, str(value), f"this symbol is {fact}; give such a number")
    if symbols:
        raise InvalidInput("at", ", ".join(sorted(symbols)), "give these symbols a value")
    return point


def settle(expression: Expr, point: Mapping[Symbol, Expr], enclose: Enclose) -> tuple[Expr, str]:
    """A constant equal to `expression` at `point` with its edges settled, and what was done to get it."""
    if _is_huge(expression, point, enclose):
        raise Undecidable(expression, f"its numbers at {_where(point)} are too large for exact algebra")
    constant, note = _asked(lambda: _substituted(expression, point)), ""
    if constant is None:
        raise Undecidable(expression, f"no exact substitution within {SECONDS:g} s")
    if _singular(constant):
        constant, note = _removed(expression, point, enclose)
    if constant.is_extended_real is False:
        raise InvalidInput("at", _where(point), f"{expression} is not real there")
    constant = _on_edges(constant, enclose)
    return (S.Zero if _is_zero(constant, enclose) else constant), note


def _where(point: Mapping[Symbol, Expr]) -> str:
    return ", ".join(f"{symbol} = {str(value)[:60]}" for symbol, value in point.items()) or "all points"


def _substituted(expression: Any, point: Mapping[Symbol, Expr]) -> Expr:
    return expression.subs(dict(point))


def _is_huge(expression: Expr, point: Mapping[Symbol, Expr], enclose: Enclose) -> bool:
    """Whether SymPy might write out an integer of more than `LARGEST_INTEGER` bits, which nothing could stop.

    It does so for `q^n`, `q^(n/m)` (through `q^n` and `q^m`), `exp(n log q)` and factorials of rational `q`.
    """
    numbers = [number for value in (expression, *point.values()) for number in value.atoms(sympy.Rational)]
    bits = sum(_bits(number) for number in numbers)
    with precision(64):
        for node in expression.atoms(sympy.Pow, sympy.exp, sympy.factorial, sympy.gamma, sympy.binomial):
            for part in node.args[1:] if isinstance(node, sympy.Pow) else node.args:
                size = abs(enclose(part, point)) if part.free_symbols <= point.keys() else arb(0)
                if size.is_finite() and not size * bits < LARGEST_INTEGER:
                    return True
                parts = [part, *(point[symbol] for symbol in part.free_symbols if symbol in point)]
                fractions = {number for value in parts for number in value.atoms(sympy.Rational) if number.q > 1}
                if any(bits << min(_bits(number), 64) > LARGEST_INTEGER for number in fractions):
                    return True
    return False


def _bits(number: Any) -> int:
    return int(number.p).bit_length() + int(number.q).bit_length()


def _singular(constant: Expr) -> bool:
    return constant.has(S.NaN, S.ComplexInfinity) or constant in (S.Infinity, S.NegativeInfinity)


def _removed(expression: Expr, point: Mapping[Symbol, Expr], enclose: Enclose) -> tuple[Expr, str]:
    cancelled = _asked(lambda: _substituted(sympy.cancel(expression), point))
    if cancelled is not None and not _singular(cancelled):
        return cancelled, "removable singularity: common factors were cancelled"
    where = _where(point)
    if len(point) != 1:
        raise Undecidable(expression, f"singular at {where}; take a limit in one of the symbols first")
    ((symbol, value),) = point.items()
    sides = (1,) if symbol.is_nonnegative and value == 0 else (1, -1)
    found = _asked(lambda: sympy.limit(expression, symbol, value, "+-" if len(sides) == 2 else "+"))
    if found is None or found.has(sympy.Limit, sympy.AccumBounds) or _singular(found):
        raise Undecidable(expression, f"singular at {where}, and no finite limit was found")
    with precision(BITS):
        limit = enclose(found, {})
        for side in sides:
            near = enclose(expression, {symbol: value + side * sympy.Rational(CLOSE_BY)})
            if not abs(near - limit) < (1 + abs(limit)) / 2**16:
                raise Undecidable(expression, f"its values near {where} do not confirm the limit {found}")
    return found, f"removable singularity: this is the limit for {symbol} -> {value}"


def _asked(question: Callable[[], Expr]) -> Expr | None:
    """SymPy's answer; None if it takes too long, knows none, or fails on the way, as it does on huge numbers."""

    def answered() -> Expr | None:
        try:
            return question()
        except Exception:
            return None

    return within(SECONDS, answered)


def _on_edges(node: Any, enclose: Enclose) -> Any:
    """`node` with each argument that equals an edge replaced by that edge; nothing with free symbols is touched."""
    if not node.args or node.free_symbols:
        return node
    args = [_on_edges(arg, enclose) for arg in node.args]
    if isinstance(node, Relational):
        return node.func(0, 0) if _is_zero(args[0] - args[1], enclose) else node.func(*args)
    if not (isinstance(node, sympy.Pow) and node.exp.is_Integer):
        for edge in EDGES.get(type(node), ()):
            if _is_zero(args[0] - edge, enclose):
                args[0] = sympy.Integer(edge)
    return node if tuple(args) == node.args else node.func(*args)


def _is_zero(constant: Any, enclose: Enclose) -> bool:
    with precision(BITS):
        x = enclose(constant, {})
        if not x.is_finite() or not x.contains(0):
            return False
    return x == 0 or constant.is_zero is True or _asked(lambda: sympy.simplify(constant.doit())) == 0
