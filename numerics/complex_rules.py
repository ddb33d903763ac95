r"""What the complex ball of each SymPy function is, for integrands that quadrature follows off the real line.

Certified quadrature bounds its error by the size of the integrand on complex neighbourhoods of the path, which is
only right where the integrand is *analytic* there. Each function with a branch cut therefore answers with a ball that
is not finite when it is asked for analyticity (`Integrand.analytic`) and its argument may touch the cut; without this
`acb.integral` returns narrow, wrong balls. The cuts are SymPy's and Arb's principal ones:

    log, non-integer powers   (−∞, 0]
    asin, acos, atanh         (−∞, −1] and [1, ∞)
    acosh                     (−∞, 1]
    atan, asinh               i(−∞, −1] and i[1, ∞)

`Abs`, `sign`, `Heaviside`, `Max`, `Min` and the conditions of a `Piecewise` are continued off the line by the branch
that holds for the real part of their argument, and are not analytic where that real part may vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import sympy
from flint import acb, arb
from sympy import Basic, Symbol, preorder_traversal

from .balls import power
from .real_rules import MEROMORPHIC, add, holds, method, multiply
from .walk import Rule, Walk

NOWHERE = acb(arb.nan(), arb.nan())


class Integrand(Walk):
    """An integrand as a function of a complex ball and the question whether it is analytic there.

    Whatever does not depend on `variable` is left to the `outer` walk on the real line.
    """

    def __init__(self, expression: Any, variable: Symbol, outer: Walk) -> None:
        super().__init__(RULES, {})
        self.expression, self.variable, self.outer = expression, variable, outer
        self.constants: Mapping[Basic, Any] = {}
        self.moving = {node for node in preorder_traversal(expression) if node.has(variable)}
        self.analytic = False

    def at(self, z: acb, analytic: bool) -> acb:
        """The ball of the integrand on `z`; not finite if `analytic` and it may fail to be analytic there."""
        self.balls = {self.variable: z}
        self.analytic = analytic
        return acb(self(self.expression))

    def __call__(self, node: Any) -> Any:
        return super().__call__(node) if node in self.moving else self.outer(node)


def _argument(rule: Callable[[Integrand, acb], acb]) -> Rule:
    return lambda walk, node: rule(walk, acb(walk(node.args[0])))  # type: ignore[arg-type]


def _off_cut(function: Callable[[acb], acb], touches: Callable[[acb], bool]) -> Rule:
    """The rule of a function with a branch cut that Arb evaluates without asking about it."""
    return _argument(lambda walk, z: NOWHERE if walk.analytic and touches(z) else function(z))


def _pow(walk: Any, node: Any) -> acb:
    base, exponent = node.base, node.exp
    if base is sympy.E:
        return walk(exponent).exp()
    if exponent.is_Integer:
        return power(acb(walk(base)), int(exponent))
    z = acb(walk(base))
    if exponent.is_Rational and exponent.q == 2:
        return power(z.sqrt(analytic=walk.analytic), int(exponent.p))
    w = walk(exponent)
    if z.contains(0) and not walk.analytic and isinstance(w, arb) and w > 0:  # |z^w| <= |z|^w
        size = arb(0, (abs(z).upper() ** w).upper())
        return acb(size, size)
    return z.pow(acb(w), analytic=walk.analytic)


def _switch(walk: Any, difference: acb, if_positive: acb, if_negative: acb) -> acb:
    """Analytic off `Re(difference) = 0`: one value on each side, on the line itself a ball of both."""
    if difference.real > 0:
        return if_positive
    if difference.real < 0:
        return if_negative
    return NOWHERE if walk.analytic else hull(if_positive, if_negative)


def hull(*balls: acb) -> acb:
    """A ball that contains all the given ones."""
    return acb(reduce(arb.union, (z.real for z in balls)), reduce(arb.union, (z.imag for z in balls)))


def _extreme(largest: bool) -> Rule:
    def choose(walk: Any, a: acb, b: acb) -> acb:
        return _switch(walk, a - b, a, b) if largest else _switch(walk, a - b, b, a)

    return lambda walk, node: reduce(lambda a, b: choose(walk, a, b), (acb(walk(arg)) for arg in node.args))


def _heaviside(walk: Any, z: acb) -> acb:
    return _switch(walk, z, acb(1), acb(0))  # the value at 0 has measure zero


def _piecewise(walk: Any, node: Any) -> acb:
    def sign(lhs: Any, rhs: Any) -> int | None:
        difference = acb(walk(lhs) - walk(rhs)).real
        return 1 if difference > 0 else -1 if difference < 0 else None

    possible = []
    for value, condition in node.args:
        truth = holds(condition, sign)
        if truth is None and walk.analytic:
            return NOWHERE
        if truth is not False:
            possible.append(acb(walk(value)))
        if truth:
            return hull(*possible)
    return NOWHERE  # it may be that no condition holds


def _outside(x: arb) -> bool:
    return not (x > -1 and x < 1)


RULES: dict[type, Rule] = {
    **{function: method(function.__name__) for function in MEROMORPHIC},
    sympy.Add: add,
    sympy.Mul: multiply,
    sympy.Pow: _pow,
    sympy.log: _argument(lambda walk, z: z.log(analytic=walk.analytic)),
    sympy.acos: _off_cut(acb.acos, lambda z: z.imag.contains(0) and _outside(z.real)),
    sympy.asin: _off_cut(acb.asin, lambda z: z.imag.contains(0) and _outside(z.real)),
    sympy.atanh: _off_cut(acb.atanh, lambda z: z.imag.contains(0) and _outside(z.real)),
    sympy.acosh: _off_cut(acb.acosh, lambda z: z.imag.contains(0) and not z.real > 1),
    sympy.atan: _off_cut(acb.atan, lambda z: z.real.contains(0) and _outside(z.imag)),
    sympy.asinh: _off_cut(acb.asinh, lambda z: z.real.contains(0) and _outside(z.imag)),
    sympy.loggamma: _off_cut(acb.lgamma, lambda z: z.imag.contains(0) and not z.real > 0),
    sympy.Abs: _argument(lambda walk, z: _switch(walk, z, z, -z)),
    sympy.sign: _argument(lambda walk, z: _switch(walk, z, acb(1), acb(-1))),
    sympy.Heaviside: _argument(_heaviside),
    sympy.Max: _extreme(True),
    sympy.Min: _extreme(False),
    sympy.Piecewise: _piecewise,
}
