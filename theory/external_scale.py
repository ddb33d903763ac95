r"""What a factor on the output, a sum and a composition of models do to their derivative correlations.

Definition. `C_{D,d} = η^{D/2+d}/(D! d!) ∇^{D+d}F (∇F)^{×d}`, `D >= 0`, `d >= 1` (`theory/correlations.py`); a model is
*weak* if those with `D + d >= 2` vanish in a limit, while `C_{0,1} = η|∇F|²` does not.

**A factor** `κ > 0` on the output: `C_{D,d}(κF) = κ^{d+1} C_{D,d}(F)` (`scale_power`). With `η/κ²` for `η`, which keeps
`C_{0,1}`, it is `κ^{1−D−d}` (`lazy_power`): all with `D + d >= 2` vanish as `κ → ∞`, whatever the model, and the first
of them like `1/κ`. Training `κF` at the rate `η/κ²` from `F₀` to the labels `κF₀ + Y` is training `F` at the rate `η`
to `F₀ + Y/κ`, times `κ`.

**A sum** of models with parameters of their own: derivatives across vanish. `C_{0,d}` add, `C_{1,d}` are put side by
side and their squared norms add, and `C_{2,d}` is block diagonal, its norm the larger one: weak if both are. So in a
wide layer the units, whatever their activations, are summed: with bounds on the moments that are uniform over the
units, the sum of `m` terms of `C_{0,2}`, odd in the outgoing weights, is `O(m^{−3/2} √m)`. With *shared* parameters it
is false (`shared_sum`): `F₁ = x + c y²/2` has no correlations at the origin and `F₂ = y` has none, but `F₁ + F₂` has
`C_{0,2} = η² c/2`.

**A composition** `G(H)` of one weak model after another: on the line along `∇(G∘H) = G'∇H`, to second order,
`C_{0,2}(G∘H) = G'³ C_{0,2}(H) + ½ G'' G'² C_{0,1}(H)²` (`composition`). So it is weak if and only if besides `G''`, the
curvature of the second model in its *input*, vanishes. It does where `H` is one of many inputs that enter `G` with
small weights (layers of growing width); not behind a bottleneck, and not with a nonlinear output.

Source: arXiv:2401.04013 (external scale; sub-models). Chizat, Oyallon, Bach (2019) for lazy training; Liu, Zhu, Belkin
(2020) for bottlenecks and nonlinear outputs.
"""

from __future__ import annotations

from enum import Enum
from functools import cache

from sympy import Expr, Interval, Limit, Range, Rational, S, Set, Symbol, diff, factorial, oo, symbols

from .correlations import D, d, eta
from .derivation import Derivation
from .errors import InvalidInput
from .notation import Meaning
from .reasons import Algebra, LowestTerm

kappa = Symbol("kappa", positive=True)
c = Symbol("c", real=True)
c1, c2, g1, g2 = symbols("c_1 c_2 g_1 g_2", real=True)  # C_{0,d}(H)/η^d, and the derivatives of G
t = Symbol("t", positive=True)
_DOMAIN: dict[Expr, Set] = {
    kappa: Interval.open(0, oo),
    eta: Interval.open(0, oo),
    D: Range(0, oo),
    d: Range(0, oo),
}


NOTATION = (
    Meaning(r"C_{D,d}", r"the derivative correlation of $d$ gradients with $D$ free indices"),
    Meaning(r"F", r"a model"),
    Meaning(r"G, H", r"the parts of a composition"),
    Meaning(r"g", r"the gradient"),
)


def _entry(factor: Expr, rate: Expr) -> Expr:
    """An entry of `C_{D,d}` of `factor F`: of the derivative of order `D + d`, and of `d` gradients."""
    derivative, gradient = symbols("X g", positive=True)
    return rate ** (D / 2 + d) / (factorial(D) * factorial(d)) * (factor * derivative) * (factor * gradient) ** d


@cache
def scale_power() -> Derivation:
    """`C_{D,d}(κF)/C_{D,d}(F)`.

    >>> scale_power().conclusion
    kappa**(d + 1)
    """
    start = Derivation(
        _entry(kappa, eta) / _entry(S.One, eta),
        r"\frac{C_{D,d}(\kappa F)}{C_{D,d}(F)}",
        _DOMAIN,
        "A factor on the output",
        where=NOTATION,
    )
    return start.then(
        kappa ** (d + 1), because="the derivative and the $d$ gradients are linear in $F$", reason=Algebra()
    )


@cache
def lazy_power() -> Derivation:
    """The same with the learning rate `η/κ²` for `κF`.

    >>> lazy_power().conclusion
    kappa**(-D - d + 1)
    """
    start = Derivation(
        _entry(kappa, eta / kappa**2) / _entry(S.One, eta),
        r"\frac{C_{D,d}(\kappa F;\, \eta/\kappa^2)}{C_{D,d}(F;\, \eta)}",
        _DOMAIN,
        "Lazy training",
        where=NOTATION,
    )
    return start.then(
        kappa ** (1 - D - d), because=r"$\kappa^{d+1}$, and $\kappa^{-2}$ to the power $D/2 + d$", reason=Algebra()
    )


class Summand(Enum):
    """The two models of `shared_sum`, and their sum."""

    FIRST = "F_1"
    SECOND = "F_2"
    SUM = "F_1 + F_2"


@cache
def shared_sum(model: Summand = Summand.SUM) -> Derivation:
    """`C_{0,2}/η²` at the origin of `F₁ = x + c y²/2`, of `F₂ = y`, or of their sum: the term `t²` of `F(t∇F)`.

    >>> [shared_sum(model).conclusion for model in Summand]
    [0, 0, c/2]
    """
    if not isinstance(model, Summand):
        raise InvalidInput("model", model, "give a Summand, such as Summand.SUM")
    x, y = symbols("x y", real=True)
    functions = {Summand.FIRST: x + c * y**2 / 2, Summand.SECOND: y, Summand.SUM: x + c * y**2 / 2 + y}
    function, origin = functions[model], {x: S.Zero, y: S.Zero}
    line = function.subs({name: t * diff(function, name).subs(origin) for name in (x, y)}, simultaneous=True)
    return _second_term(
        line, rf"\eta^{{-2}} C_{{0,2}}({model.value})", {c: S.Reals}, "Two models with shared parameters"
    )


@cache
def composition() -> Derivation:
    """`C_{0,2}(G∘H)/η²` by `c_d = C_{0,d}(H)/η^d` and the derivatives `g_1, g_2` of `G` at `H`.

    >>> composition().conclusion
    c_1**2*g_1**2*g_2/2 + c_2*g_1**3
    """
    moved = g1 * t  # the gradient of G∘H is g_1 ∇H
    inner = c1 * moved + c2 * moved**2
    line = g1 * inner + g2 * inner**2 / 2
    domain = dict.fromkeys((c1, c2, g1, g2), S.Reals)
    return _second_term(line, r"\eta^{-2} C_{0,2}(G \circ H)", domain, "One model after another")


def _second_term(line: Expr, name: str, domain: dict[Expr, Set], title: str) -> Derivation:
    """The coefficient of `t²` of a model on the line along its gradient, `line − line(0)` being what it gains."""
    linear = diff(line, t).subs(t, 0) * t
    start = Derivation(Limit((line - line.subs(t, 0) - linear) / t**2, t, 0), name, domain, title, where=NOTATION)
    return start.then(
        (Rational(1, 2) * diff(line, t, 2).subs(t, 0)).expand(),
        because="the second term of the Taylor series along the gradient",
        reason=LowestTerm(2),
    )
