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

from sympy import Expr, Interval, Range, S, Symbol, diff, factor, oo

from .derivation import Derivation, Outcome, Relation
from .layerwise import Initialisation, Orthogonal, Updates, eta1, eta2, expected_loss, h
from .reasons import equal

x = Symbol("x", nonnegative=True)  # half the budget: the rate of both layers at the balanced point
u = Symbol("u", real=True)  # half the difference of the rates


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
