r"""What the ball of each SymPy function is on the real line.

`RULES` maps a SymPy type to a function of the walk and the node. Conventions are SymPy's: powers are principal values,
so a negative base with a fractional exponent is not real and has no finite ball; `Heaviside(0)` is what the node says
(SymPy's default is 1/2); a sum from `a` to `b < a - 1` is minus the sum from `b + 1` to `a - 1` (Karr).

Where a rule cannot decide between branches (the sign of an argument, the condition of a Piecewise), its ball contains
the values of all of them. Integrals have their rule in `numerics.quadrature`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import sympy
from flint import arb, fmpq

from theory.errors import InvalidInput, Undecidable

from .balls import exactly, monotone, power
from .walk import Rule, Walk

LARGEST_NUMBER_OF_TERMS = 10**6  # of a Sum or Product


def method(name: str) -> Rule:
    """The rule of a function that Arb has under this name."""
    return lambda walk, node: getattr(walk(node.args[0]), name)()


def number(walk: Walk, node: Any) -> arb:
    return arb(fmpq(int(node.p), int(node.q)))


def _float(walk: Walk, node: Any) -> arb:
    return number(walk, sympy.Rational(node))  # a Float is the binary fraction it is


def add(walk: Walk, node: Any) -> Any:
    return reduce(operator.add, map(walk, node.args))


def multiply(walk: Walk, node: Any) -> Any:
    return reduce(operator.mul, map(walk, node.args))


def _monotone(function: Callable[[arb], arb]) -> Rule:
    """The rule of a monotone function, its argument cut to proven bounds where its ball leaves the domain."""

    def apply(walk: Walk, node: Any) -> arb:
        x = walk(node)
        direct = function(x)
        return direct if direct.is_finite() or not x.is_finite() else monotone(x, function, *walk.bounds(node))

    return apply


_root, _log, _acos, _asin, _acosh = map(_monotone, (arb.sqrt, arb.log, arb.acos, arb.asin, arb.acosh))


def _pow(walk: Walk, node: Any) -> arb:
    base, exponent = node.base, node.exp
    if base is sympy.E:
        return walk(exponent).exp()
    if exponent.is_Integer:
        return power(walk(base), int(exponent))
    if exponent.is_Rational and exponent.q == 2:
        return power(_root(walk, base), int(exponent.p))
    x, y = walk(base), walk(exponent)
    sign = walk.sign(base)
    if sign == 0:
        return arb(0) if walk.sign(exponent) == 1 else arb.nan()
    if sign is None and exponent.is_Rational and exponent > 0:  # [0, high]: increasing
        return _monotone(lambda end: arb(0) if end == 0 else end**y)(walk, base)
    if sign == -1 and not y.is_exact():  # real only if the exponent is an integer
        low, high = walk.bounds(exponent)
        return power(x, int(low)) if low is not None and low == high and low.denominator == 1 else arb.nan()
    return x**y


def _maximum(walk: Walk, node: Any) -> arb:
    return reduce(arb.max, map(walk, node.args))


def _minimum(walk: Walk, node: Any) -> arb:
    return reduce(arb.min, map(walk, node.args))


def _sign(walk: Walk, node: Any) -> arb:
    sign = walk.sign(node.args[0])
    return walk(node.args[0]).sgn() if sign is None else arb(sign)


def _heaviside(walk: Walk, node: Any) -> arb:
    sign = walk.sign(node.args[0])
    at_zero = node.args[1] if len(node.args) > 1 else sympy.Rational(1, 2)
    if sign is None:
        return arb(0).union(arb(1)).union(walk(at_zero))
    return walk(at_zero) if sign == 0 else arb((1 + sign) // 2)


def _arctan2(walk: Walk, node: Any) -> arb:
    y, x = (arb(0) if walk.sign(argument) == 0 else walk(argument) for argument in node.args)
    return arb.nan() if x == 0 and y == 0 else arb.atan2(y, x)


def _binomial(walk: Walk, node: Any) -> arb:
    n, k = map(walk, node.args)
    if k.is_exact() and k.is_integer() and k <= LARGEST_NUMBER_OF_TERMS:
        return arb(0) if k < 0 else n.bin(int(exactly(k)))
    return (n + 1).gamma() * (k + 1).rgamma() * (n - k + 1).rgamma()


def holds(condition: Any, sign: Callable[[Any, Any], int | None]) -> bool | None:
    """Whether a condition is true, or None where that is open; `sign(lhs, rhs)` gives the sign of `lhs - rhs`."""
    if condition in (sympy.true, sympy.false):
        return bool(condition)
    if isinstance(condition, sympy.And | sympy.Or):
        parts = [holds(part, sign) for part in condition.args]
        settling = isinstance(condition, sympy.Or)
        return settling if settling in parts else None if None in parts else not settling
    if isinstance(condition, sympy.Not):
        inner = holds(condition.args[0], sign)
        return None if inner is None else not inner
    if not isinstance(condition, sympy.core.relational.Relational):
        raise InvalidInput("condition", str(condition), "give comparisons, And, Or and Not")
    difference = sign(condition.lhs, condition.rhs)
    return None if difference is None else bool(condition.func(sympy.Integer(difference), 0))


def _piecewise(walk: Walk, node: Any) -> arb:
    possible = []
    for value, condition in node.args:
        truth = holds(condition, lambda lhs, rhs: walk.sign(lhs - rhs))
        if truth is not False:
            possible.append(walk(value))
        if truth:
            return reduce(arb.union, possible)
    return arb.nan()  # it may be that no condition holds


def _integer(walk: Walk, node: Any) -> int:
    x = walk(node)
    if x.is_exact() and x.is_integer() and abs(x) < 2**62:
        return int(exactly(x))
    low, high = walk.bounds(node)
    if low is not None and low == high and low.denominator == 1:
        return int(low)
    raise Undecidable(node, "a limit of a sum or product must be certain to be an integer, and finite")


def _over(operation: Callable, neutral: int, undo: Callable) -> Rule:
    """The rule of a finite Sum or Product."""

    def apply(walk: Walk, node: Any) -> arb:
        *inner, (symbol, first, last) = node.limits
        term = node.func(node.function, *inner) if inner else node.function
        low, high = _integer(walk, first), _integer(walk, last)
        if abs(high - low) >= LARGEST_NUMBER_OF_TERMS:
            raise InvalidInput("limits", str(node), f"more than {LARGEST_NUMBER_OF_TERMS} terms; give fewer")
        karr = high < low - 1
        indices = range(high + 1, low) if karr else range(low, high + 1)
        total = reduce(operation, (walk.scope(symbol, index)(term) for index in indices), arb(neutral))
        return undo(total) if karr else total

    return apply


_ENTIRE = (sympy.sin, sympy.cos, sympy.sinh, sympy.cosh, sympy.exp, sympy.erf, sympy.erfc)
_WITH_POLES = (sympy.tan, sympy.cot, sympy.sec, sympy.csc, sympy.tanh, sympy.coth, sympy.sech, sympy.csch, sympy.gamma)
MEROMORPHIC = (*_ENTIRE, *_WITH_POLES)  # no branch cuts

RULES: dict[type, Rule] = {
    **{function: method(function.__name__) for function in (*MEROMORPHIC, sympy.asinh, sympy.atan, sympy.floor)},
    sympy.ceiling: method("ceil"),
    sympy.loggamma: method("lgamma"),
    sympy.factorial: method("fac"),
    sympy.Rational: number,
    sympy.Float: _float,
    type(sympy.pi): lambda walk, node: arb.pi(),
    type(sympy.E): lambda walk, node: arb.const_e(),
    type(sympy.EulerGamma): lambda walk, node: arb.const_euler(),
    type(sympy.Catalan): lambda walk, node: arb.const_catalan(),
    type(sympy.GoldenRatio): lambda walk, node: (1 + arb(5).sqrt()) / 2,
    type(sympy.oo): lambda walk, node: arb.pos_inf(),
    type(-sympy.oo): lambda walk, node: arb.neg_inf(),
    type(sympy.nan): lambda walk, node: arb.nan(),
    type(sympy.zoo): lambda walk, node: arb.nan(),
    type(sympy.I): lambda walk, node: arb.nan(),
    sympy.Add: add,
    sympy.Mul: multiply,
    sympy.Pow: _pow,
    sympy.log: lambda walk, node: _log(walk, node.args[0]),
    sympy.acos: lambda walk, node: _acos(walk, node.args[0]),
    sympy.asin: lambda walk, node: _asin(walk, node.args[0]),
    sympy.acosh: lambda walk, node: _acosh(walk, node.args[0]),
    sympy.atanh: lambda walk, node: walk(node.args[0]).atanh(),
    sympy.atan2: _arctan2,
    sympy.Abs: lambda walk, node: abs(walk(node.args[0])),
    sympy.Max: _maximum,
    sympy.Min: _minimum,
    sympy.sign: _sign,
    sympy.Heaviside: _heaviside,
    sympy.Piecewise: _piecewise,
    sympy.binomial: _binomial,
    sympy.Sum: _over(operator.add, 0, operator.neg),
    sympy.Product: _over(operator.mul, 1, lambda total: 1 / total),
}
