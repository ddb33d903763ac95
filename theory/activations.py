r"""Activation functions φ, as objects: what each is, before any kernel is made of it.

An activation is a function `φ: R → R` with `φ'` defined almost everywhere. The kernels use the *normalised* activation
`√c_φ φ` with `c_φ = 1/E[φ(z)²]`, `z ~ N(0, 1)`, so that a unit variance stays one through the layers
(`c_φ = 2` for ReLU). The dual pair `(Σ, Σ̇)` of each is derived in `theory/dual.py`.

SymPy is imported when an expression is asked for, not before: naming an activation costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from .errors import InvalidInput

if TYPE_CHECKING:
    from sympy import Expr


@dataclass(frozen=True)
class Activation:
    """Base of all activations; subclasses give `expression`.

    `homogeneous` says `φ(αs) = αφ(s)` for `α > 0`; `smooth` says that φ is analytic on the real line.
    """

    name: ClassVar[str] = ""
    homogeneous: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    def expression(self, s: Expr) -> Expr:
        """`φ(s)` as a SymPy expression in the real symbol `s`."""
        raise InvalidInput("activation", type(self).__name__, "subclass Activation and define expression(s)")

    def derivative(self, s: Expr) -> Expr:
        """`φ'(s)`, by SymPy; `Heaviside(s, 1/2)` stands for the derivative of `s₊`.

        >>> from sympy import symbols
        >>> Sin().derivative(symbols("s", real=True))
        cos(s)
        """
        import sympy

        return sympy.diff(self.expression(s), s)


@dataclass(frozen=True)
class ReLU(Activation):
    """`φ(s) = max(s, 0)`. `φ'(0)` does not matter to a kernel: 1/2 in `derivative`, 0 in finite networks."""

    name: ClassVar[str] = "relu"
    homogeneous: ClassVar[bool] = True
    smooth: ClassVar[bool] = False

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.Max(s, 0)


@dataclass(frozen=True)
class LeakyReLU(Activation):
    """`φ(s) = a s + b |s|`; ReLU is `a = b = 1/2`, a slope `α` on the left is `a = (1+α)/2, b = (1−α)/2`."""

    name: ClassVar[str] = "leaky-relu"
    homogeneous: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    a: float = 0.505
    b: float = 0.495

    def __post_init__(self) -> None:
        import math

        for key in ("a", "b"):
            if not math.isfinite(getattr(self, key)):
                raise InvalidInput(key, getattr(self, key), "give a finite number")
        if self.a == 0 and self.b == 0:
            raise InvalidInput("a, b", (self.a, self.b), "at least one must differ from 0, or φ is zero everywhere")

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.nsimplify(self.a) * s + sympy.nsimplify(self.b) * sympy.Abs(s)


@dataclass(frozen=True)
class Identity(Activation):
    """`φ(s) = s`: deep linear networks."""

    name: ClassVar[str] = "identity"
    homogeneous: ClassVar[bool] = True

    def expression(self, s: Expr) -> Expr:
        return s


@dataclass(frozen=True)
class Erf(Activation):
    """`φ(s) = erf(s)`."""

    name: ClassVar[str] = "erf"

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.erf(s)


@dataclass(frozen=True)
class Sin(Activation):
    """`φ(s) = sin(s)`."""

    name: ClassVar[str] = "sin"

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.sin(s)


@dataclass(frozen=True)
class Cos(Activation):
    """`φ(s) = cos(s)`."""

    name: ClassVar[str] = "cos"

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.cos(s)


@dataclass(frozen=True)
class Exp(Activation):
    """`φ(s) = exp(s)`."""

    name: ClassVar[str] = "exp"

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.exp(s)


@dataclass(frozen=True)
class Hermite(Activation):
    """`φ(s) = He_k(s)/√k!`, the normalised probabilists' Hermite polynomial of degree `k >= 0`; `E[φ(z)²] = 1`."""

    name: ClassVar[str] = "hermite"
    degree: int = 2

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or not isinstance(self.degree, int) or not 0 <= self.degree <= 200:
            raise InvalidInput("degree", self.degree, "give an integer from 0 to 200")

    def expression(self, s: Expr) -> Expr:
        import sympy

        from_physicists = sympy.hermite_prob(self.degree, s)
        return sympy.expand(from_physicists / sympy.sqrt(sympy.factorial(self.degree)))


@dataclass(frozen=True)
class Tanh(Activation):
    """`φ(s) = tanh(s)`; its dual has no closed form (Hermite series or quadrature)."""

    name: ClassVar[str] = "tanh"

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.tanh(s)


@dataclass(frozen=True)
class Softplus(Activation):
    """`φ(s) = log(1 + exp(s))`; its dual has no closed form (Hermite series or quadrature)."""

    name: ClassVar[str] = "softplus"

    def expression(self, s: Expr) -> Expr:
        import sympy

        return sympy.log(1 + sympy.exp(s))


ACTIVATIONS: dict[str, type[Activation]] = {
    kind.name: kind for kind in (ReLU, LeakyReLU, Identity, Erf, Sin, Cos, Exp, Hermite, Tanh, Softplus)
}


def activation_named(name: str | Activation) -> Activation:
    """The activation with this name and its default parameters; an `Activation` is passed through.

    >>> activation_named("relu")
    ReLU()
    >>> activation_named("rleu")
    Traceback (most recent call last):
    theory.errors.InvalidInput: activation = rleu: known are relu, leaky-relu, identity, erf, sin, cos, exp, ...
    """
    if isinstance(name, Activation):
        return name
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise InvalidInput("activation", name, f"known are {', '.join(ACTIVATIONS)}; or give an Activation object")
    kind = ACTIVATIONS[name]
    return kind(**{field.name: field.default for field in fields(kind)})
