r"""The flow of the correlation between two inputs through the layers of a wide ReLU network.

Definition. Two different inputs on the unit sphere, at the angle `θ₀ ∈ (0, π]`, have after `L` layers the correlation
`ρ_L = cos θ_L ∈ [−1, 1)`, with `ρ_{L+1} = κ₁(ρ_L)`, where `κ₁` is the arc-cosine kernel of degree one
(`theory/arccos.py`). In the angle:

    cos T(θ) = (sin θ + (π − θ) cos θ)/π,   θ_{L+1} = T(θ_L),   T: [0, π] → [0, π/2].

Source: W (arXiv:2511.07272), section on depth; the recursion is that of Cho & Saul (2009). The source says that the
correlation tends to one; here the rate follows with its first two terms,
`1/θ_L = L/(3π) + log L/(2π) + o(log L)`, whatever the start `θ₀ > 0`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from sympy import (
    Derivative,
    Expr,
    IndexedBase,
    Interval,
    Limit,
    S,
    Symbol,
    acos,
    cos,
    diff,
    log,
    oo,
    pi,
    series,
    sin,
    solve,
    sqrt,
    symbols,
)

from .algebra import continuous_between, positive_on, taylor_coefficient
from .arccos import arccos_kernel, theta
from .derivation import Derivation, How, Outcome, Relation
from .errors import InvalidInput
from .notation import Meaning
from .reasons import Algebra, Continuity, StolzCesaro, equal

L = Symbol("L", integer=True, positive=True)  # the number of hidden layers, or the index of one
angle = IndexedBase("theta", positive=True)  # angle[L] is θ_L, positive by `stays_apart`
rho = Symbol("rho", real=True)  # the correlation ρ₀ of the inputs
HALF_TURN = Interval(0, pi)
DOMAIN = {theta: HALF_TURN}


def cosine_after_layer() -> Expr:
    """`cos T(θ)`: the correlation after one layer, as a function of the angle before it."""
    return arccos_kernel(1).conclusion


def angle_after_layer(at: Expr = theta) -> Expr:
    """`T(θ)`, the angle after one layer.

    >>> angle_after_layer(pi)
    pi/2
    """
    return acos(cosine_after_layer()).subs(theta, at)


def recursion() -> dict[Expr, Expr]:
    """`θ_{L+1}` by `θ_L`, for `StolzCesaro`."""
    return {angle[L + 1]: angle_after_layer(angle[L])}


def _correlation() -> dict[Any, Expr]:
    return {r"\rho_L": cos(angle[L])}


def _layer() -> dict[Any, Expr]:
    return {r"\cos T(\theta)": cosine_after_layer()}


LAYER_MAP = Meaning(r"T(\theta)", r"the angle after one more layer of what is at the angle $\theta$", _layer)
COEFFICIENT = Meaning(r"[\theta^k]", r"the operator that takes the coefficient of $\theta^k$ in the expansion at $0$")
NOTATION = (
    Meaning(angle[L], "the angle between two inputs after $L$ layers", recursion),
    Meaning(r"\rho_L", "their correlation", _correlation),
    LAYER_MAP,
    COEFFICIENT,
    Meaning(r"\kappa_1", "the arc-cosine kernel of degree 1, as a function of the correlation"),
)


@dataclass(frozen=True)
class Positive:
    """`before > after` on an interval: every factor of the difference is continuous and free of zeros there."""

    symbol: Symbol
    interval: Interval
    shows: ClassVar[Relation] = Relation.EXCEEDS

    def check(self, before: Expr, after: Expr) -> Outcome:
        if positive_on(before - after, self.symbol, self.interval):
            return Outcome(How.ALGEBRA)
        return Outcome(How.UNDECIDED, "cannot see that the difference is positive")


@dataclass(frozen=True)
class PositiveByDerivative:
    """`before > after` on `(a, b]`: the difference is continuous, zero at `a`, and its slope positive on `(a, b)`."""

    symbol: Symbol
    interval: Interval
    shows: ClassVar[Relation] = Relation.EXCEEDS

    def check(self, before: Expr, after: Expr) -> Outcome:
        difference, (low, high) = before - after, self.interval.args[:2]
        start = equal(difference.subs(self.symbol, low), S.Zero)
        continuous = continuous_between(difference, self.symbol, (low, high))
        slope = diff(difference, self.symbol).simplify()
        if start.proved and continuous and positive_on(slope, self.symbol, Interval.open(low, high)):
            return Outcome(How.ALGEBRA)
        return Outcome(How.UNDECIDED, "cannot see that the difference grows from zero")


@dataclass(frozen=True)
class DecreasesToFixedPoint:
    """`0 < T(θ) < θ` for `θ ∈ (0, π]`, and `T` is continuous: then `θ_{L+1} = T(θ_L)` tends to 0 from any start there.

    Proof: the sequence decreases and is bounded below by 0; its limit is a fixed point of `T`, and none is in `(0, π]`.
    As the cosine decreases on `[0, π]`, the inequalities are `1 > cos T(θ) > cos θ`, derived in `stays_apart` and
    `correlation_gap`; as the composition of continuous functions `T` is continuous.
    """

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit(angle[L], L, oo) or after is not S.Zero:
            return Outcome(How.WRONG, "the statement is that the angle tends to zero")
        steps = (*stays_apart().check(), *correlation_gap().check())
        if not all(step.outcome.proved for step in steps):
            return Outcome(How.UNDECIDED, "the inequalities are not proved")
        return Outcome(How.LEMMA, "monotone convergence")


@dataclass(frozen=True)
class ImplicitExpansion:
    """`(T(θ) − P(θ))/θⁿ → c` as `θ → 0`, because the cosines of `Q(θ) = P(θ) + c θⁿ` and `T(θ)` agree up to `θ^{n+1}`.

    Proof: `Q(θ) = θ + …`, and `T(θ) = θ + …` as well, since `T >= 0` and `cos T(θ) = 1 − θ²/2 + …`. The mean value
    theorem gives `cos Q − cos T = −(Q − T) sin ξ` with `ξ ~ θ` between them, so `Q − T = O(θ^{n+2})/θ = o(θⁿ)`.
    """

    polynomial: Expr
    order: int

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit((angle_after_layer() - self.polynomial) / theta**self.order, theta, 0):
            return Outcome(How.WRONG, "the statement is not about this polynomial")
        expansion = self.polynomial + after * theta**self.order
        if after.free_symbols or not expansion.is_polynomial(theta) or (expansion - theta).subs(theta, 0) != 0:
            return Outcome(How.UNDECIDED, "the expansion is not a polynomial that vanishes at zero")
        if taylor_coefficient(expansion, theta, 1) != 1:
            return Outcome(How.UNDECIDED, "the expansion does not begin with the angle itself")
        difference = cos(expansion) - cosine_after_layer()
        agreeing = [equal(taylor_coefficient(difference, theta, k), S.Zero) for k in range(self.order + 2)]
        return next((outcome for outcome in agreeing if not outcome.proved), agreeing[-1])


@cache
def increasing() -> Derivation:
    """`κ₁' = 1 − θ/π > 0` for `ρ ∈ (−1, 1)`: the correlation map is increasing (its derivative is `κ₀`)."""
    in_rho = (sqrt(1 - rho**2) + (pi - acos(rho)) * rho) / pi
    interval = {rho: Interval.open(-1, 1)}
    d = Derivation(
        Derivative(in_rho, rho), r"\kappa_1'(\rho)", interval, "The correlation map increases", where=NOTATION
    )
    d = d.then(1 - acos(rho) / pi, because="two square roots cancel", reason=Algebra())
    return d.then(
        rho * 0,
        because=r"$\arccos\rho < \pi$ for $\rho > -1$",
        reason=Positive(rho, Interval.open(-1, 1)),
        relation=Relation.EXCEEDS,
    )


@cache
def convex() -> Derivation:
    """`κ₁'' = 1/(π √(1 − ρ²)) > 0` for `ρ ∈ (−1, 1)`: the correlation map is convex."""
    slope = increasing().lines[1]
    interval = {rho: Interval.open(-1, 1)}
    d = Derivation(
        Derivative(slope, rho), r"\kappa_1''(\rho)", interval, "The correlation map is convex", where=NOTATION
    )
    d = d.then(1 / (pi * sqrt(1 - rho**2)), because="differentiate", reason=Algebra(), using=(increasing(),))
    return d.then(
        rho * 0, because="a root is positive", reason=Positive(rho, Interval.open(-1, 1)), relation=Relation.EXCEEDS
    )


@cache
def correlation_gap() -> Derivation:
    """`ρ_{L+1} − ρ_L = (sin θ − θ cos θ)/π > 0` for `θ ∈ (0, π]`: a layer draws two different inputs together."""
    d = Derivation(
        cosine_after_layer() - cos(theta),
        r"\rho_{L+1} - \rho_L",
        {theta: Interval.Lopen(0, pi)},
        "One layer raises the correlation",
        where=NOTATION,
    )
    d = d.then((sin(theta) - theta * cos(theta)) / pi, because="collect", reason=Algebra())
    return d.then(
        theta * 0,
        because=r"it vanishes at $\theta = 0$ and its slope is $\theta \sin\theta/\pi$, positive on $(0, \pi)$",
        reason=PositiveByDerivative(theta, Interval.Lopen(0, pi)),
        relation=Relation.EXCEEDS,
    )


@cache
def stays_apart() -> Derivation:
    """`1 − ρ_{L+1} > 0` for `θ ∈ (0, π]`: no layer makes two different inputs equal."""
    half_turn = Interval.Lopen(0, pi)
    d = Derivation(
        1 - cosine_after_layer(),
        r"1 - \rho_{L+1}",
        {theta: half_turn},
        "Different inputs stay different",
        where=NOTATION,
    )
    return d.then(
        theta * 0,
        because=r"it vanishes at $\theta = 0$ and its slope is $(\pi - \theta) \sin\theta/\pi$, positive on $(0, \pi)$",
        reason=PositiveByDerivative(theta, half_turn),
        relation=Relation.EXCEEDS,
    )


@cache
def angle_vanishes() -> Derivation:
    """`θ_L → 0` for every start: the correlation tends to one."""
    d = Derivation(Limit(angle[L], L, oo), "", title="The angle tends to zero", where=NOTATION)
    return d.then(
        S.Zero,
        because="the angle decreases, and no positive angle is a fixed point of the layer",
        reason=DecreasesToFixedPoint(),
        using=(stays_apart(), correlation_gap()),
    )


def angle_polynomial(order: int) -> Expr:
    """The Taylor polynomial of `T` at 0 up to `θ^order`, from matching `cos P(θ)` with `cos T(θ)` power by power.

    >>> angle_polynomial(3)
    -theta**3/(18*pi**2) - theta**2/(3*pi) + theta
    """
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= 12:
        raise InvalidInput("order", order, "give an integer from 1 to 12")
    target = series(cosine_after_layer(), theta, 0, order + 2).removeO()
    polynomial = theta
    for power in range(2, order + 1):
        (unknown,) = symbols("c:1")
        difference = cos(polynomial + unknown * theta**power) - target
        coefficient = series(difference, theta, 0, power + 2).removeO().coeff(theta, power + 1)
        (solution,) = solve(coefficient, unknown)
        polynomial += solution * theta**power
    return polynomial


@cache
def angle_expansion(order: int) -> Derivation:
    """The coefficient of `θ^order`, `order >= 2`, in `T(θ) = θ − θ²/(3π) − θ³/(18π²) + …`.

    >>> angle_expansion(2).conclusion, angle_expansion(3).conclusion
    (-1/(3*pi), -1/(18*pi**2))
    """
    polynomial, below = angle_polynomial(order), angle_polynomial(order - 1)
    d = Derivation(
        Limit((angle_after_layer() - below) / theta**order, theta, 0),
        rf"[\theta^{{{order}}}]\,T(\theta)",
        title=f"The layer's map of the angle, order {order}",
        where=NOTATION,
    )
    return d.then(
        polynomial.coeff(theta, order),
        because=r"$\cos T(\theta)$ and the cosine of the Taylor polynomial agree power by power",
        reason=ImplicitExpansion(below, order),
    )


@cache
def reciprocal_increment(order: int) -> Derivation:
    """The coefficient of `θ^order` in `1/T(θ) − 1/θ = 1/(3π) + θ/(6π²) + …`, each from the limit of what is left.

    >>> reciprocal_increment(0).conclusion, reciprocal_increment(1).conclusion
    (1/(3*pi), 1/(6*pi**2))
    """
    found = sum(reciprocal_increment(k).conclusion * theta**k for k in range(order))
    rest = (1 / angle_after_layer() - 1 / theta - found) / theta**order
    expansion = angle_expansion(order + 2)
    remainder = Symbol("r")  # T(θ) = P(θ) + r θ^{order+2}
    ratio = (angle_polynomial(order + 2) / theta).expand() + remainder * theta ** (order + 1)
    # (1/T − 1/θ − found)/θ^order, with the factor θ^{order+1} cancelled from (1 − T/θ − …)
    numerator = ((1 - ratio - theta * found * ratio).expand() / theta ** (order + 1)).expand()
    form = numerator / ratio
    value = form.subs({theta: 0, remainder: 0})
    d = Derivation(
        Limit(rest, theta, 0),
        rf"[\theta^{{{order}}}]\left(\frac{{1}}{{T(\theta)}} - \frac{{1}}{{\theta}}\right)",
        title=f"The growth of the inverse angle in a layer, order {order}",
        where=NOTATION,
    )
    definition = expansion.start.args[0] - expansion.conclusion
    return d.then(
        value,
        because=rf"by the expansion of $T$ up to $\theta^{{{order + 2}}}$",
        reason=Continuity(form, {theta: theta, remainder: definition}, using=(expansion,)),
        using=(expansion,),
    )


@cache
def angle_decay() -> Derivation:
    r"""`1/(L θ_L) → 1/(3π)`: the angle of any two different inputs decays as `3π/L`, whatever it was."""
    increment, vanishing = reciprocal_increment(0), angle_vanishes()
    lemma = StolzCesaro(L, 1 / angle[L], L, recursion())
    excess = Symbol("q")
    d = Derivation(Limit(1 / angle[L] / L, L, oo), "", title="The decay of the angle", where=NOTATION)
    d = d.then(Limit(lemma.increments(), L, oo), because="Stolz--Cesaro on the recursion", reason=lemma)
    return d.then(
        increment.conclusion,
        because=r"$\theta_L \to 0$, and $1/T(\theta) - 1/\theta$ has this limit at 0",
        reason=Continuity(
            increment.conclusion + excess,
            {excess: lemma.increments() - increment.conclusion},
            using=(increment, vanishing),
        ),
        using=(increment, vanishing),
    )


@cache
def angle_scale() -> Derivation:
    r"""`L θ_L → 3π`, the inverse of `angle_decay`."""
    decay = angle_decay()
    excess = Symbol("q")
    d = Derivation(Limit(L * angle[L], L, oo), "", title="The angle after many layers", where=NOTATION)
    return d.then(
        1 / decay.conclusion,
        because="the inverse of the limit above",
        reason=Continuity(
            1 / (decay.conclusion + excess), {excess: decay.start.args[0] - decay.conclusion}, using=(decay,)
        ),
        using=(decay,),
    )


@cache
def angle_second_order() -> Derivation:
    r"""`(1/θ_L − L/(3π))/log L → 1/(2π)`: the logarithm that slows the correlation down."""
    first, second = reciprocal_increment(0).conclusion, reciprocal_increment(1)
    scale, vanishing = angle_scale(), angle_vanishes()
    lemma = StolzCesaro(L, 1 / angle[L] - first * L, log(L), recursion())
    slope, excess, spacing = symbols("q epsilon w")
    start = Limit((1 / angle[L] - first * L) / log(L), L, oo)
    d = Derivation(start, "", title="The second term of the inverse angle", where=NOTATION)
    d = d.then(Limit(lemma.increments(), L, oo), because="Stolz--Cesaro on the recursion", reason=lemma)
    form = (second.conclusion + slope) * (scale.conclusion + excess) / (1 + spacing)
    null = {
        slope: second.start.args[0].subs(theta, angle[L]) - second.conclusion,
        excess: L * angle[L] - scale.conclusion,
        spacing: L * (log(L + 1) - log(L)) - 1,
    }
    using = (second, scale, vanishing)
    return d.then(
        form.subs(dict.fromkeys(null, 0)),
        because=r"$1/T(\theta) - 1/\theta - 1/(3\pi) \sim \theta/(6\pi^2)$, $L\theta_L \to 3\pi$, $L\log(1+1/L) \to 1$",
        reason=Continuity(form, null, using=using),
        using=using,
    )
