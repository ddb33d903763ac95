r"""Activations made of others by a scale, or by one and a shift: `φ(cs)`, and the sigmoid.

    Scaled      φ(cs), c > 0, of an activation φ: c only rescales the weights before it
    Sigmoid     σ(s) = 1/(1 + e^{−s}) = (1 + tanh(s/2))/2

and one whose derivatives grow faster than any `k! R^{−k}` (`theory/activation_growth.py`), the lacunary series

    Lacunary    Σ_{j=0..6} e^{−2^j} cos(4^j s),

of which the terms left out, below `e^{−128}`, are nothing in float64, in `φ` and in its first derivatives.

Source: arXiv:2401.04013, whose condition `φ^{(k)} = O((k+1)!)` is met by the sigmoid, not by `tanh(cs)` with `c > π/2`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, ClassVar

from .activations import Activation, Tanh
from .errors import InvalidInput

if TYPE_CHECKING:
    from sympy import Expr

LACUNARY_TERMS = 7


@dataclass(frozen=True)
class Scaled(Activation):
    """`φ(cs)`: `inner` is φ, `factor` is `c`.

    >>> from sympy import Symbol
    >>> Scaled(Tanh(), 2.0).expression(Symbol("s"))
    tanh(2*s)
    """

    name: ClassVar[str] = "scaled"
    inner: Activation = field(default_factory=Tanh)
    factor: float = 2.0

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Activation):
            raise InvalidInput("inner", self.inner, "give an Activation")
        number = isinstance(self.factor, Real) and not isinstance(self.factor, bool)
        if not (number and 0 < self.factor <= sys.float_info.max):
            raise InvalidInput("factor", self.factor, "give a finite number > 0")

    def expression(self, s: Expr) -> Expr:
        import sympy

        factor = sympy.nsimplify(self.factor) or sympy.Rational(self.factor)  # it takes 1e-300 for 0
        return self.inner.expression(factor * s)


@dataclass(frozen=True)
class Sigmoid(Activation):
    """`φ(s) = 1/(1 + exp(−s))`; its dual has no closed form (Hermite series or quadrature)."""

    name: ClassVar[str] = "sigmoid"

    def expression(self, s: Expr) -> Expr:
        import sympy

        return 1 / (1 + sympy.exp(-s))


@dataclass(frozen=True)
class Lacunary(Activation):
    """`φ(s) = Σ_j e^{−2^j} cos(4^j s)`: smooth, bounded, and analytic nowhere."""

    name: ClassVar[str] = "lacunary"
    smooth: ClassVar[bool] = False

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.Add(*(sympy.exp(-(2**j)) * sympy.cos(4**j * s) for j in range(LACUNARY_TERMS)))
