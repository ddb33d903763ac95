"""What exact algebra can tell of an expression: that it is zero, positive, continuous, analytic.

Each answer is a proof or a "cannot tell", never a guess. SymPy is asked with precautions. It raises errors of many
kinds where it does not know, and some of its searches never end (`attempt`). It evaluates integrals, limits and sums
while it simplifies, and not always rightly, so that these are unknown numbers here (`vanishes`). The assumptions on a
symbol may say more than the domain in question (`positive_on`, `continuous_between`). And floating-point numbers are
inexact: nothing is ever told of an expression with one in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from sympy import (
    Add,
    Basic,
    Derivative,
    Dummy,
    Expr,
    Float,
    Integer,
    Integral,
    Interval,
    Limit,
    Mul,
    Number,
    NumberSymbol,
    Pow,
    Product,
    S,
    Subs,
    Sum,
    Symbol,
    acos,
    asin,
    cancel,
    cos,
    cosh,
    diff,
    erf,
    exp,
    expand,
    factor,
    factorial,
    log,
    nan,
    preorder_traversal,
    simplify,
    sin,
    sinh,
    solveset,
    together,
    trigsimp,
    zoo,
)
from sympy.calculus.util import continuous_domain

from .timelimit import within

Found = TypeVar("Found")

SECONDS = 20.0  # for one call into SymPy; what takes longer is undecided, not wrong

_ENTIRE = (Add, Mul, Number, NumberSymbol, Symbol, exp, sin, cos, sinh, cosh)
_ELEMENTARY = (*_ENTIRE, Pow, log)
_UNEVALUATED = (Integral, Limit, Sum, Product, Derivative, Subs)


def attempt(call: Callable[[], Found], seconds: float = SECONDS) -> Found | None:
    """What `call` into SymPy returns, or None where it takes longer or raises an error.

    >>> attempt(lambda: 1 / 0) is None
    True
    """
    try:
        return within(seconds, call)
    except Exception:
        return None


def vanishes(expression: Expr, seconds: float = SECONDS) -> bool | None:
    """Whether `expression` is zero wherever it is defined: False if it is a non-zero number, None if not decided.

    >>> x = Symbol("x", real=True)
    >>> vanishes(sin(x) ** 2 + cos(x) ** 2 - 1), vanishes(Integer(1) / 7), vanishes(sin(x) - x)
    (True, False, None)
    """
    if expression.has(Float, nan, zoo):
        return None
    if expression.is_zero:
        return True
    named = expression.xreplace({part: Dummy() for part in expression.atoms(*_UNEVALUATED)})
    for rewrite in (lambda e: e, expand, lambda e: cancel(together(e)), trigsimp, simplify):
        rewritten = attempt(lambda r=rewrite: r(named), seconds)
        if rewritten is not None and rewritten.is_zero:
            return True
        if rewritten is not None and rewritten.is_number and rewritten.is_zero is False:
            return False
    return None


def positive_on(expression: Expr, symbol: Symbol, interval: Interval) -> bool:
    """Whether `expression` is continuous on `interval`, without zeros there, and positive at a point of it.

    False also when SymPy cannot tell. The assumptions on `symbol` do not enter.

    >>> from sympy import pi, tan
    >>> x = Symbol("x", real=True)
    >>> positive_on(x * sin(x), x, Interval.open(0, pi)), positive_on(x - 1, x, Interval.open(0, pi))
    (True, False)
    >>> positive_on(tan(x), x, Interval.open(0, 2))  # it has a pole
    False
    """
    at = Dummy("x", real=True)
    expression = expression.subs(symbol, at)
    roots = [power.exp for power in expression.atoms(Pow) if power.exp.is_integer is not True]
    if expression.has(Float) or not all(root.is_Rational and root.q == 2 for root in roots):
        return False  # other powers of negative numbers are complex, which `continuous_domain` overlooks
    if attempt(lambda: continuous_domain(expression, at, interval)) != interval:
        return False
    numerator, denominator = together(factor(expression)).as_numer_denom()
    for part in (*numerator.as_ordered_factors(), *denominator.as_ordered_factors()):
        zeros = attempt(lambda p=part: solveset(p, at, interval)) if part.has(at) else S.EmptySet
        if zeros is None or zeros.is_empty is not True:
            return False
    return bool(expression.subs(at, _inside(interval)).is_positive)


def _inside(interval: Interval) -> Expr:
    """A point in the interior of `interval`."""
    low, high = interval.inf, interval.sup
    if low.is_finite:
        return (low + high) / 2 if high.is_finite else low + 1
    return high - 1 if high.is_finite else Integer(0)


def continuous_between(function: Expr, variable: Symbol, ends: Sequence[Expr]) -> bool:
    """Whether `function` is continuous along the real line from one of the two `ends` to the other, these included.

    False also when it cannot be told. The assumptions on `variable` may be about its sign, if no end has the other one.

    >>> x, y = Symbol("x", real=True), Symbol("y", positive=True)
    >>> continuous_between(1 / x, x, [S(-1), S(1)]), continuous_between(1 / (1 + y), y, [S(0), S(1)])
    (False, True)
    """
    if variable.is_rational is not None or function.has(Float):
        return False
    beyond_zero = (variable.is_nonnegative and not all(end.is_extended_nonnegative for end in ends)) or (
        variable.is_nonpositive and not all(end.is_extended_nonpositive for end in ends)
    )
    parts = (part for part in preorder_traversal(function) if part.has(variable))
    return not beyond_zero and all(_part_is_continuous(part, variable, ends) for part in parts)


def _part_is_continuous(part: Basic, variable: Symbol, ends: Sequence[Expr]) -> bool:
    if isinstance(part, Pow) and part.exp.is_Integer and part.exp.is_nonnegative:
        return True
    if isinstance(part, log) or (isinstance(part, Pow) and not part.exp.has(variable)):
        base = part.args[0]
        return all(value.is_extended_positive for value in (base, *(base.subs(variable, end) for end in ends)))
    if isinstance(part, asin | acos | erf):
        return bool(part.args[0].is_extended_real)
    return isinstance(part, _ENTIRE)


def analytic_at(function: Expr, point: Mapping[Symbol, Expr]) -> bool:
    """Whether `function` is composed of elementary functions, each analytic at the value it takes at `point`.

    False also when it cannot be told. Symbols that are not in `point` are constants.

    >>> from sympy import sqrt
    >>> x, y = Symbol("x"), Symbol("y")
    >>> analytic_at(sqrt(1 + x), {x: S.Zero}), analytic_at(sqrt(x), {x: S.Zero})
    (True, False)
    >>> analytic_at(x**y, {x: S.Zero, y: S.Zero})
    False
    """
    return not function.has(Float) and all(_part_is_analytic(part, point) for part in preorder_traversal(function))


def _part_is_analytic(part: Basic, point: Mapping[Symbol, Expr]) -> bool:
    if not isinstance(part, _ELEMENTARY) or part.xreplace(point).is_finite is not True:
        return False
    if isinstance(part, log) or (isinstance(part, Pow) and not part.exp.is_Integer):
        return bool(part.args[0].xreplace(point).is_positive)
    return True  # an integer power is analytic where it is finite


def taylor_coefficient(function: Expr, variable: Symbol, order: int) -> Expr:
    """The coefficient of `variable^order` in the Taylor series at 0 of a function that is analytic there.

    >>> x = Symbol("x")
    >>> taylor_coefficient(exp(2 * x), x, 3)
    4/3
    """
    return diff(function, variable, order).subs(variable, 0) / factorial(order)


def is_exp_log(function: Expr) -> bool:
    """Whether `function` is made of exact numbers and symbols by arithmetic, `exp`, `log`, powers of positive numbers.

    For limits of such functions of one variable SymPy has a complete algorithm (Gruntz 1996).

    >>> x = Symbol("x", positive=True)
    >>> is_exp_log(log(x) / x), is_exp_log(sin(x) / x)
    (True, False)
    """
    return not function.has(Float) and all(
        isinstance(part, Add | Mul | Number | NumberSymbol | Symbol | exp | log)
        or (isinstance(part, Pow) and bool(part.exp.is_Integer or part.base.is_positive))
        for part in preorder_traversal(function)
    )
