r"""How much of an integral to infinity lies beyond a point: bounds read off the integrand itself.

A *majorant* of `f` is a bound `|f(x)| <= K x^p exp(−a x − b x²)` for all real `x >= 1`. Majorants multiply, and a sum
of functions is bounded by the sum of theirs, so the tree of an expression gives a list of them. For `X >= 1`, `b >= 0`
and `c = a + 2bX − max(p, 0)/X > 0` the logarithmic derivative of the majorant is at most `−c` beyond `X`, hence

    ∫_X^∞ K x^p exp(−a x − b x²) dx <= K X^p exp(−a X − b X²) / c,

and without exponential (`a = b = 0`, `p < −1`) it is `K X^{p+1}/(−p−1)`.

Rules used: `(Σ M_i)^s <= Σ M_i^s` for `0 < s <= 1` and `<= k^{s−1} Σ M_i^s` for `k` terms and `s >= 1`;
`|log w| <= w + 1/w` for `w > 0`; a bound from below, needed for negative powers, is the strongest term of a sum of
positive terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from flint import arb
from sympy import Poly, PolynomialError, Symbol

from theory.errors import Undecidable

from .balls import ball
from .walk import Walk

_BOUNDED: dict[type, int] = {
    **dict.fromkeys((sympy.sin, sympy.cos, sympy.tanh, sympy.erf, sympy.sign, sympy.Heaviside), 1),
    **dict.fromkeys((sympy.atan, sympy.asin, sympy.erfc), 2),
    sympy.acos: 4,
}


@dataclass(frozen=True)
class Majorant:
    """`K x^p exp(−a x − b x²)` with `K >= 0`."""

    K: arb
    p: Fraction
    a: arb
    b: arb

    def times(self, other: Majorant) -> Majorant:
        return Majorant(self.K * other.K, self.p + other.p, self.a + other.a, self.b + other.b)

    def to_the(self, s: Fraction) -> Majorant:
        exponent = ball(s)
        K = (
            arb(1)
            if self.K == 1
            else self.K**exponent
            if self.K > 0
            else arb(0)
            if self.K == 0 and s > 0
            else arb.nan()
        )
        return Majorant(K, s * self.p, exponent * self.a, exponent * self.b)

    def tail(self, X: int) -> arb:
        """A bound of its integral from `X` to infinity; not finite if there is none."""
        p, x = ball(self.p), arb(X)
        if self.a == 0 and self.b == 0:
            return self.K * x ** (p + 1) / -(p + 1) if self.p < -1 else arb.pos_inf()
        c = self.a + 2 * self.b * x - (p / x if self.p > 0 else 0)
        if not (c > 0 and self.b >= 0):
            return arb.pos_inf()
        return self.K * x**p * (-self.a * x - self.b * x * x).exp() / c


def constant(K: Any) -> Majorant:
    return Majorant(arb(K), Fraction(0), arb(0), arb(0))


def tail(majorants: Sequence[Majorant], X: int) -> arb:
    """A bound of the integral of a sum of majorants from `X >= 1` to infinity."""
    return sum((term.tail(X) for term in majorants), arb(0))


def above(node: Any, x: Symbol, walk: Walk) -> list[Majorant]:
    """Majorants whose sum bounds `|node|` for `x >= 1`; `walk` gives the balls of everything free of `x`.

    Raises `Undecidable` for a node whose growth is not known.
    """
    if not node.has(x):
        return [constant(abs(walk(node)))]
    if node == x:
        return [Majorant(arb(1), Fraction(1), arb(0), arb(0))]
    if node.is_Add or isinstance(node, sympy.Abs | sympy.Max | sympy.Min):
        return [term for part in node.args for term in above(part, x, walk)]
    if isinstance(node, sympy.Piecewise):
        return [term for piece in node.args for term in above(piece.args[0], x, walk)]
    if node.is_Mul:
        product = [constant(1)]
        for factor in node.args:
            product = [left.times(right) for left in product for right in above(factor, x, walk)]
        return product
    if isinstance(node, sympy.exp):
        return [_exponential(node.args[0], x, walk)]
    if node.is_Pow and node.exp.is_Rational:
        s = Fraction(int(node.exp.p), int(node.exp.q))
        return [below(node.base, x, walk).to_the(s)] if s < 0 else _power(above(node.base, x, walk), s)
    if isinstance(node, sympy.log):
        return [*above(node.args[0], x, walk), below(node.args[0], x, walk).to_the(Fraction(-1))]
    if isinstance(node, sympy.sech):
        return [below(sympy.cosh(node.args[0]), x, walk).to_the(Fraction(-1))]
    if isinstance(node, sympy.sinh | sympy.cosh):
        return above(node.rewrite(sympy.exp), x, walk)
    if type(node) in _BOUNDED:
        return [constant(_BOUNDED[type(node)])]
    raise Undecidable(node, "its growth at infinity is not known; integrate over a finite interval")


def below(node: Any, x: Symbol, walk: Walk) -> Majorant:
    """A bound `node >= K x^p exp(−a x − b x²) > 0` for `x >= 1`, of the same form; else raises `Undecidable`."""
    if not node.has(x) and walk.sign(node) == 1:
        return constant(walk(node))
    if node == x:
        return above(node, x, walk)[0]
    if node.is_Add:  # each term is positive, so the sum is at least the one that grows fastest
        terms = [below(part, x, walk) for part in node.args]
        return min(terms, key=_growth)
    if node.is_Mul:
        product = constant(1)
        for factor in node.args:
            product = product.times(below(factor, x, walk))
        return product
    if node.is_Pow and node.exp.is_Rational and node.exp > 0:
        return below(node.base, x, walk).to_the(Fraction(int(node.exp.p), int(node.exp.q)))
    if isinstance(node, sympy.exp):
        return _exponential(node.args[0], x, walk, upwards=False)
    if isinstance(node, sympy.cosh):  # cosh g >= exp(g)/2 and >= exp(-g)/2
        argument: Any = node.args[0]
        sides = [_exponential(side * argument, x, walk, upwards=False) for side in (1, -1)]
        return constant(ball(Fraction(1, 2))).times(min(sides, key=_growth))
    raise Undecidable(node, "no positive bound from below at infinity is known; integrate over a finite interval")


def _growth(term: Majorant) -> tuple[float, float, Fraction]:
    """Smallest for the fastest growth; only chooses between bounds that are all true."""
    return float(term.b.mid()), float(term.a.mid()), -term.p


def _power(terms: list[Majorant], s: Fraction) -> list[Majorant]:
    factor = constant(arb(len(terms)) ** ball(max(s - 1, Fraction(0))))
    return [factor.times(term.to_the(s)) for term in terms]


def _exponential(argument: Any, x: Symbol, walk: Walk, *, upwards: bool = True) -> Majorant:
    """The bound of `exp(argument)` for a real polynomial: terms beyond `x²` are compared with `x²`."""
    try:
        coefficients = {degree: walk(c) for (degree,), c in Poly(argument, x).terms()}
    except PolynomialError:
        raise Undecidable(argument, "only exponentials of polynomials have a known growth at infinity") from None
    K, a, b = arb(1), arb(0), arb(0)
    for degree, c in coefficients.items():
        if degree == 0:
            K = c.exp()
        elif degree == 1:
            a = -c
        elif degree == 2 or (c < 0 if upwards else c > 0):
            b = b - c
        else:
            raise Undecidable(argument, "this exponential grows faster than any known bound")
    return Majorant(K, Fraction(0), a, b)
