r"""Polynomials in sines and cosines, in one form: at most linear in each sine.

A polynomial in `sin α, cos α` and further unknowns is zero for all `α` if and only if its remainder by
`sin² α + cos² α − 1`, as a polynomial in `sin α`, is zero. SymPy's `trigsimp` searches; this decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import (
    Dummy,
    Expr,
    Float,
    Integral,
    Limit,
    Product,
    Sum,
    cos,
    expand,
    expand_trig,
    fraction,
    rem,
    sin,
    together,
)

from .derivation import How, Outcome
from .reasons import written_out


def in_cosines(polynomial: Expr) -> Expr:
    """`polynomial`, expanded, with `sin²` eliminated in favour of `cos²`, each angle being taken as an unknown.

    >>> from sympy import symbols
    >>> t = symbols("t", real=True)
    >>> in_cosines(sin(t) ** 3)
    -sin(t)*cos(t)**2 + sin(t)
    """
    polynomial = expand(polynomial)
    for sine in sorted(polynomial.atoms(sin), key=str):
        unknown = Dummy("sine")
        square = 1 - cos(sine.args[0]) ** 2
        polynomial = expand(rem(polynomial.subs(sine, unknown), unknown**2 - square, unknown)).subs(unknown, sine)
    return polynomial


@dataclass(frozen=True)
class Trigonometry:
    """Both lines, their derivatives carried out, are the same rational function of sines, cosines and symbols."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        difference = written_out(before - after)
        if difference.has(Float, Integral, Limit, Sum, Product):
            return Outcome(How.UNDECIDED, "one side is no rational function of sines and cosines")
        numerator, _ = fraction(together(expand_trig(difference)))
        remainder = in_cosines(numerator)
        if remainder == 0:
            return Outcome(How.ALGEBRA)
        return Outcome(How.UNDECIDED, f"the difference has the numerator {remainder}")
