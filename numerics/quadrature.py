r"""Certified one-dimensional integrals: a ball that contains `∫_a^b f(x) dx`.

`f` is a SymPy expression in one real variable, piecewise analytic on the path; `a`, `b` are real or infinite.

1. Where `Abs`, `sign`, `Heaviside`, `Max`, `Min` or a `Piecewise` switch at the root of a linear function, the path is
   cut there and the branch written in, so that every piece is analytic inside.
2. An infinite end is cut at an integer `X`; what lies beyond is bounded by `numerics.tails`.
3. Each piece is integrated by `acb.integral` (Gauss–Legendre with bisection and proven error bounds), which is told
   where the integrand may fail to be analytic (`numerics.complex_rules`).

Integrable singularities of bounded integrands, such as `sqrt(1 − x²)` at 1, are bisected away. An integrand that is
unbounded, or undefined at a point of the path (`log x`, `sin(x)/x` at 0), gives no finite ball: substitute first.

Source: F. Johansson, *Numerical integration in arbitrary-precision ball arithmetic* (2018).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from itertools import combinations, pairwise
from typing import Any

import sympy
from flint import acb, arb, ctx
from sympy import Abs, Heaviside, Integer, Max, Min, Piecewise, Poly, PolynomialError, Rational, Symbol, oo
from sympy.core.relational import Relational

from theory.errors import Undecidable

from .complex_rules import NOWHERE, Integrand
from .real_rules import holds
from .tails import above, tail
from .walk import Walk

EVALUATIONS_PER_BIT = 50  # of the integrand, before giving up; a singular end needs about prec²
_SWITCHES = (Abs, sympy.sign, Heaviside, Max, Min, Piecewise)


def integral(function: Any, variable: Symbol, lower: Any, upper: Any, walk: Walk) -> arb:
    """A ball that contains `∫ function d(variable)` from `lower` to `upper`, at the working precision.

    `walk` gives the balls of all other symbols. The ball is not finite where the method does not apply; raises
    `Undecidable` where an infinite end has no known bound.
    """
    lower, upper = sympy.sympify(lower, strict=True), sympy.sympify(upper, strict=True)
    if lower == upper:
        return arb(0)
    if lower == oo or upper == -oo:
        return -integral(function, variable, upper, lower, walk)
    if lower == -oo:
        if upper == oo:
            return integral(function, variable, 0, oo, walk) + integral(function, variable, -oo, 0, walk)
        return integral(function.xreplace({variable: -variable}), variable, -upper, oo, walk)
    if upper == oo:
        end, beyond = _cut(function, variable, walk(lower), walk)
        return _finite(function, variable, lower, end, walk) + beyond
    return _finite(function, variable, lower, upper, walk)


def _cut(function: Any, variable: Symbol, start: arb, walk: Walk) -> tuple[Integer, arb]:
    """An integer `X` beyond `start` and a ball that contains the integral from `X` to infinity."""
    majorants = above(function, variable, walk)
    goal, X = arb(2) ** -ctx.prec, 4
    while not (tail(majorants, X) < goal and start < X):
        X = X * 5 // 4 if X < 1000 else 2 * X
        if X.bit_length() > 8 * ctx.prec:
            raise Undecidable(
                function, "no bound of its integral to infinity is known; integrate over a finite interval"
            )
    return Integer(X), arb(0, tail(majorants, X).upper())


def _finite(function: Any, variable: Symbol, lower: Any, upper: Any, walk: Walk) -> arb:
    """The integral between finite ends, cut where a linear switch is certain to lie between them."""
    start, end = walk(lower), walk(upper)
    if not (start.is_finite() and end.is_finite()):
        return arb.nan()
    if end < start:
        return -_finite(function, variable, upper, lower, walk)
    (least, left), (right, most) = walk.bounds(lower), walk.bounds(upper)
    if least is None or left is None or right is None or most is None:
        return arb.nan()  # astronomically far away
    roots = {root for node in function.atoms(*_SWITCHES) for root in _roots(node, variable) or ()}
    inside = sorted(root for root in roots if left < root < right)
    marks = [lower, *map(Rational, inside), upper]
    total = arb(0)
    for i, (a, b) in enumerate(pairwise(marks)):
        certain = (inside[i - 1] if i else least, inside[i] if i < len(inside) else most)
        branch = _branch(function, variable, certain)
        if branch == function:
            total += _piece(function, variable, walk(a), walk(b), walk)
        else:  # what was inside a switch may show new ones
            total += _finite(branch, variable, a, b, walk)
    return total


def _piece(function: Any, variable: Symbol, start: arb, end: arb, walk: Walk) -> arb:
    integrand = Integrand(function, variable, walk)
    raised: list[BaseException] = []

    def at(z: acb, analytic: bool) -> acb:  # an exception must not pass through Arb
        try:
            return NOWHERE if raised else integrand.at(z, analytic)
        except BaseException as error:
            raised.append(error)
            return NOWHERE

    result = NOWHERE
    if all(at(acb(end), False).is_finite() for end in (start, end)):
        result = acb.integral(at, acb(start), acb(end), eval_limit=ctx.prec * (ctx.prec + EVALUATIONS_PER_BIT))
    if raised:
        raise raised[0]
    return result.real if result.imag.contains(0) else arb.nan()


def _differences(node: Any) -> Iterable[Any]:
    """The functions whose signs decide the branch of a switch."""
    arguments: Any = node.args
    if isinstance(node, Piecewise):
        comparisons: Any = node.atoms(Relational)
        return (comparison.lhs - comparison.rhs for comparison in comparisons)
    if isinstance(node, Max | Min):
        return (a - b for a, b in combinations(arguments, 2))
    return (arguments[0],)


def _roots(node: Any, variable: Symbol) -> set[Fraction] | None:
    """Where the switch may change its branch, if all its differences are linear with rational coefficients."""
    roots = set()
    for difference in _differences(node):
        if difference.is_Rational:
            continue
        try:
            slope, intercept = Poly(difference, variable).all_coeffs()
        except (PolynomialError, ValueError):
            return None
        if not (slope.is_Rational and intercept.is_Rational):
            return None
        root = -intercept / slope
        roots.add(Fraction(int(root.p), int(root.q)))
    return roots


def _branch(function: Any, variable: Symbol, piece: tuple[Fraction, Fraction]) -> Any:
    """The function with the branches written in of those linear switches that do not change inside `piece`."""
    middle = Rational(sum(piece) / 2)

    def sign(a: Any, b: Any = 0) -> int:
        return int(sympy.sign((a - b).subs(variable, middle)))

    def settled(node: Any) -> bool:
        roots = _roots(node, variable) if isinstance(node, _SWITCHES) else None
        return roots is not None and all(root <= piece[0] or root >= piece[1] for root in roots)

    def taken(node: Any) -> Any:
        arguments: Any = node.args
        if isinstance(node, Piecewise):
            return next((value for value, condition in arguments if holds(condition, sign)), sympy.nan)
        if isinstance(node, Max | Min):
            larger = 1 if isinstance(node, Max) else -1
            return reduce(lambda a, b: a if larger * sign(a, b) >= 0 else b, arguments)
        side = sign(arguments[0])
        if isinstance(node, Abs):
            return side * arguments[0]
        return Integer(side) if isinstance(node, sympy.sign) else Rational(1 + side, 2)

    return function.replace(settled, taken)
