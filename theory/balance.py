r"""Equal or unequal rates: is the balanced point a minimum of the loss under a budget?

Definition. Under the budget `η₁ + η₂ = 2x`, `x > 0`, the loss after a few steps is a function of `u = (η₁ − η₂)/2`.
It is even in `u` if it is symmetric in the rates, so that the balanced point `u = 0` is stationary, and it is a strict
local minimum if the coefficient of `u²` is positive, none if it is negative. That coefficient is the *curvature*, a
polynomial in `x` with coefficients rational in the width `h >= 1`; what it says for all `h` with `x = h^α` is in
`numerics/balance.py`.

Source: arXiv:2606.00340 (B), Corollary 5.4, for the signal-only loss of two and three layers. Departures: here also for
full gradient descent and from Gaussian weights, where the answers are others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from sympy import Expr, Interval, Limit, Range, Rational, S, Symbol, diff, expand, factor, oo, powsimp

from .derivation import Derivation, Outcome, Relation
from .layerwise import Initialisation, Orthogonal, Updates, eta1, eta2, expected_loss, h
from .reasons import LowestTerm, equal

x = Symbol("x", nonnegative=True)  # half the budget: the rate of both layers at the balanced point
u = Symbol("u", real=True)  # half the difference of the rates
c = Symbol("c", nonnegative=True)  # the rate in units of a power of the width
s = Symbol("s", positive=True)  # h^(−1/6)


@dataclass(frozen=True)
class CoefficientOfSquare:
    """`after` is the coefficient of `u²` in `before`, an even polynomial in `u`."""

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        even = equal(before.subs(u, -u), before)
        if not even.proved:
            return Outcome(even.how, "the loss is not symmetric in the rates")
        return equal(diff(before, u, 2).subs(u, 0) / 2, after)


@cache
def curvature(
    layers: int = 2,
    steps: int = 2,
    updates: Updates = Updates.SIGNAL,
    initialisation: Initialisation = Orthogonal(),  # noqa: B008  (immutable)
) -> Derivation:
    """The coefficient of `u²` in the loss at `η₁ = x + u`, `η₂ = x − u`.

    >>> curvature(steps=1).conclusion
    -2*(h**2 + x**2)/h**7
    """
    loss = expected_loss(layers, steps, updates, initialisation)
    along = loss.conclusion.subs({eta1: x + u, eta2: x - u}, simultaneous=True)
    d = Derivation(
        along,
        r"\mathcal L(x + u,\, x - u)",
        {h: Range(1, oo), x: Interval(0, oo), u: Interval(-1, 1)},
        f"The balanced point of {layers} layers after {steps} steps, {updates.value}",
    )
    return d.then(
        factor(diff(along, u, 2).subs(u, S.Zero) / 2),
        because="the coefficient of $u^2$; the loss is even in $u$",
        reason=CoefficientOfSquare(),
        relation=Relation.DECIDES,
        using=(loss,),
    )


@cache
def scaled_loss(layers: int, exponent: Rational, order: Rational) -> Derivation:
    r"""`lim h^order (L(x, x) − 1 + the gain)` after one signal-only step at `x = c h^exponent`: which terms are left.

    Two layers, `exponent = 3/2`, `order = 1`: with the gain `4c/√h` added, the terms of order `1/h` are left, and the
    interaction `c⁴` of the layers is among them. Two layers, `exponent = 5/3`, `order = 1/3`: the gain itself and the
    interaction, `c⁴ − 4c`. Three layers, `exponent = 1`, `order = 0`: everything.

    >>> scaled_loss(2, Rational(3, 2), Rational(1)).conclusion
    c**4 + 4*c**2 + 1
    >>> scaled_loss(2, Rational(5, 3), Rational(1, 3)).conclusion
    c**4 - 4*c
    """
    loss = expected_loss(layers, 1, Updates.SIGNAL)
    root = 6  # all exponents are multiples of 1/6
    in_s = loss.conclusion.subs({eta1: c * h**exponent, eta2: c * h**exponent}).subs(h, s**-root)
    gain = 4 * c * s ** (root // 2) if (layers, exponent) == (2, Rational(3, 2)) else S.Zero
    start = S.Zero if order == 0 else S.One
    power = int(order * root)
    function = expand(powsimp(expand(in_s - start + gain), force=True))
    d = Derivation(
        Limit(function / s**power, s, 0),
        rf"\lim_{{h\to\infty}} h^{{{order}}}\,(\mathcal L(c h^{{{exponent}}}, c h^{{{exponent}}}) - {start} + \dots)",
        {c: Interval(0, oo)},
        f"One signal-only step of {layers} layers at rates of order h^({exponent})",
    )
    return d.then(
        function.coeff(s, power),
        because=r"with $h = s^{-6}$, the lowest power of $s$ that is left",
        reason=LowestTerm(power),
        using=(loss,),
    )
