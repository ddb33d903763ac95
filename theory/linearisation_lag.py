r"""How far a ReLU network lags behind its linearisation: the mean after one step, at every width.

Definition. One hidden layer of `m >= 1` units, one training point `‖x‖ = 1`, NTK parametrisation,

    f = √(2/m) Σ_k a_k u_k⁺,    u_k = w_k·x,    all weights iid N(0, 1),

and the residual `y − f₀ = r`, the same for each draw of the weights. One step of gradient descent at the rate `η`, for
a loss of the rate `c` (`theory/loss.py`), moves each unit along the gradient of its own part `g(a, u) = a u⁺`,

    a → a + β ∂g/∂a,    u → u + β ∂g/∂u,    β = ηcr √(2/m),

while the linearised network takes `g + β |∇g|²` instead. So the lag is a Gaussian integral over one unit,

    E(f_lin,1 − f_1) = √(2m) E[g + β |∇g|² − g(a + β ∂g/∂a, u + β ∂g/∂u)] = (√(2m)/π) (β arctan β − β²/2),    β > 0.

`(a, u)` is in polar coordinates: what is missed is homogeneous, and vanishes where the unit is off. In two intervals of
the angle it is simple: where the step switches the unit off, `u + βa < 0`, and where it does not.

**Range.** Every `m` and `β > 0`; it is odd in `β`, so that for `r < 0` it is a lag again, towards the label. It is
positive for `β < 2.3311…`, where `arctan β = β/2`; after larger steps the network is ahead. As `m → ∞` with `ηcr = q`
fixed, `β → 0` and it is `(√2/π) q²/√m` to leading order. As `E|f_1 − f_lin,1|` is no less than it, **the mean distance
is not of smaller order than `m^{−1/2}`**. Proved: one step, one point, a given residual. What is beyond is measured.

Ours. Source of the order, as a bound from above: Lee et al. (2019), arXiv:1902.06720, theorem 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from sympy import (
    Add,
    Dummy,
    Expr,
    Heaviside,
    Integral,
    Interval,
    Limit,
    Max,
    Rational,
    S,
    Symbol,
    atan,
    cos,
    diff,
    exp,
    oo,
    pi,
    sin,
    sqrt,
    symbols,
)

from .algebra import vanishes
from .derivation import Derivation, How, Outcome
from .integration import Known, Linearity, Polar, Separation, over_all, single
from .notation import Meaning
from .reasons import Antiderivative, Continuity, LowestTerm, equal

a, u, psi = symbols("a u psi", real=True)
r, m, beta, q = symbols("r m beta q", positive=True)  # r is the radius
alpha = Symbol("alpha", real=True)  # arctan β

POSITIVE = Interval.open(0, oo)
UNIT = a * Max(0, u)
SWITCH = atan(beta) - pi / 2  # the angle at which u + βa = 0


NOTATION = (
    Meaning(r"f_1", r"the output after one step, $f_{\mathrm{lin},1}$ that of the linearised network"),
    Meaning(r"a, u", r"the outgoing weight of a unit and its preactivation"),
)


def missed_by_a_unit() -> Expr:
    """`g + β |∇g|² − g(a + β ∂g/∂a, u + β ∂g/∂u)`, computed from `g = a u⁺`."""
    gradient = {name: diff(UNIT, name) for name in (a, u)}
    moved = UNIT.subs({name: name + beta * slope for name, slope in gradient.items()}, simultaneous=True)
    return UNIT + beta * Add(*(slope**2 for slope in gradient.values())) - moved


@dataclass(frozen=True)
class SignsOnPieces:
    """An integral over an angle, cut at `cuts`: on each piece, `w₊` is `w` or 0, and `1[w > 0]` is 1 or 0.

    The cuts must increase. Every `w` must be a combination of the angle's sine and cosine, whose zeros are `π` apart.
    So it has one sign on a piece no longer than `π` if it has that sign, or is 0, at both ends; and, if the piece is as
    long as `π`, in the middle. For `1[w > 0]`, it must not be 0 at all of these. Lengths are affine in `arctan β`,
    which lies between 0 and `π/2`.
    """

    cuts: Sequence[Expr]

    def check(self, before: Expr, after: Expr) -> Outcome:
        old = single(before)
        if old is None or len(old[0]) != 1 or old[0][0][1:] != (self.cuts[0], self.cuts[-1]):
            return Outcome(How.UNDECIDED, "expected one integral, over the angles that are cut")
        ((angle, *_),), integrand = old
        total = S.Zero
        for start, stop in zip(self.cuts, self.cuts[1:], strict=False):
            signed = self._signed(integrand, angle, start, stop)
            if signed is None:
                return Outcome(How.UNDECIDED, f"the signs between {start} and {stop} were not seen")
            total += Integral(signed, (angle, start, stop)) if signed != 0 else S.Zero
        return Linearity().check(total, after)

    def _signed(self, integrand: Expr, angle: Expr, start: Expr, stop: Expr) -> Expr | None:
        turn = Dummy()  # arctan β
        length = (stop - start).subs(atan(beta), turn)
        extremes = [length.subs(turn, end) for end in (S.Zero, pi / 2)]
        if diff(length, turn, 2) != 0 or length == 0:
            return None
        if not all(extreme.is_nonnegative and (pi - extreme).is_nonnegative for extreme in extremes):
            return None
        ends = [start, stop] if length != pi else [start, (start + stop) / 2, stop]
        while parts := sorted(integrand.atoms(Max, Heaviside), key=str):
            values = {part: self._value(part, angle, ends) for part in parts}
            known = {part: value for part, value in values.items() if value is not None}
            if not known:
                return None
            integrand = integrand.xreplace(known)
        return integrand

    def _value(self, part: Expr, angle: Expr, ends: list[Expr]) -> Expr | None:
        """What `w₊` or `1[w > 0]` is, if `w` was seen to have one sign."""
        wave = part.args[0] if isinstance(part, Heaviside) else Add(*part.args)
        values = [wave.subs(angle, end) for end in ends]
        if isinstance(part, Max) and (len(part.args) != 2 or 0 not in part.args):
            return None
        if wave.has(Max, Heaviside) or vanishes(diff(wave, angle, 2) + wave) is not True:
            return None
        if isinstance(part, Heaviside) and not any(value.is_nonzero for value in values):  # it may be 0 everywhere
            return None
        if all(value.is_nonnegative for value in values):
            return S.One if isinstance(part, Heaviside) else wave
        return S.Zero if all(value.is_nonpositive for value in values) else None


@dataclass(frozen=True)
class ByTangent:
    """A limit as `β → 0` is one as `α → 0`, `β = tan α`: the tangent is continuous, with `arctan` for its inverse."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not (isinstance(before, Limit) and isinstance(after, Limit)):
            return Outcome(How.UNDECIDED, "expected two limits")
        if before.has(alpha):
            return Outcome(How.UNDECIDED, "alpha stands for something else in the line before")
        if before.args[1:3] != (beta, S.Zero) or after.args[1:] != (alpha, S.Zero, before.args[3]):
            return Outcome(How.WRONG, "the limits are not at zero, from one side")
        return equal(before.args[0].subs(atan(beta), alpha).subs(beta, sin(alpha) / cos(alpha)), after.args[0])


@cache
def _radius() -> Derivation:
    """`∫_0^∞ r³ e^{−r²/2} dr = 2`."""
    start = Derivation(
        Integral(r**3 * exp(-(r**2) / 2), (r, 0, oo)), "R", title="The integral over the radius", where=NOTATION
    )
    primitive = -(r**2 + 2) * exp(-(r**2) / 2)
    return start.then(S(2), because="the fundamental theorem of calculus", reason=Antiderivative(primitive))


def _piece(integrand: Expr, primitive: Expr, ends: tuple[Expr, Expr], title: str) -> Derivation:
    start = Derivation(Integral(integrand, (psi, *ends)), "", {beta: POSITIVE}, title, where=NOTATION)
    value = primitive.subs(psi, ends[1]) - primitive.subs(psi, ends[0])
    return start.then(value, because="the fundamental theorem of calculus", reason=Antiderivative(primitive))


@cache
def mean_lag() -> Derivation:
    """`E(f_lin,1 − f_1)` for one hidden layer of `m` ReLUs, as the module says; `β = ηcr √(2/m) > 0`.

    >>> mean_lag().conclusion
    sqrt(2)*sqrt(m)*(-beta**2/2 + beta*atan(beta))/pi
    """
    missed, units = missed_by_a_unit(), sqrt(2 * m)
    weight = exp(-(a**2 + u**2) / 2) / (2 * pi)
    d = Derivation(
        over_all(units * missed * weight, u, a),
        r"\operatorname{E}(f_{\mathrm{lin},1} - f_1)",
        {m: POSITIVE, beta: POSITIVE},
        "The lag of a ReLU network behind its linearisation",
        where=NOTATION,
    )
    by_angle = missed.subs({u: cos(psi), a: sin(psi)}, simultaneous=True)
    full_turn = (-pi / 2, 3 * pi / 2)
    d = d.then(
        Integral(units * by_angle * r**3 * exp(-(r**2) / 2) / (2 * pi), (r, 0, oo), (psi, *full_turn)),
        because=r"polar coordinates $u = r\cos\psi$, $a = r\sin\psi$",
        reason=Polar(u, a, r, psi),
    )
    angle = Integral(by_angle, (psi, *full_turn))
    d = d.then(units / (2 * pi) * _radius().start * angle, because="the integrand is a product", reason=Separation())
    d = d.then(
        units / pi * angle,
        because="the integral over the radius",
        reason=Known((_radius(),)),
        using=(_radius(),),
    )
    product = sin(psi) * cos(psi)
    off = _piece(product + beta, sin(psi) ** 2 / 2 + beta * psi, (-pi / 2, SWITCH), "Units that are switched off")
    on = _piece(-(beta**2) * product, -(beta**2) * sin(psi) ** 2 / 2, (SWITCH, pi / 2), "Units that stay on")
    d = d.then(
        units / pi * (off.start + on.start),
        because=r"$\cos\psi + \beta\sin\psi < 0$ in the first part; there is nothing where $\cos\psi < 0$",
        reason=SignsOnPieces((-pi / 2, SWITCH, pi / 2, 3 * pi / 2)),
    )
    return d.then(
        units / pi * (beta * atan(beta) - beta**2 / 2),
        because=r"both integrals, with $\sin\arctan\beta = \beta/\sqrt{1 + \beta^2}$",
        reason=Known((off, on)),
        using=(off, on),
    )


@cache
def leading_lag() -> Derivation:
    """`lim √m E(f_lin,1 − f_1)` as `m → ∞` at a fixed `q = ηcr`, where `β = q √(2/m) → 0`.

    The first line is a limit as `β` falls to 0, with `m = 2q²/β²` put into the formula of `mean_lag`. That this is the
    limit in `m` is no checked step: it is the definition of `β`, and the widths are one sequence on which `β → 0`.

    >>> leading_lag().conclusion
    sqrt(2)*q**2/pi
    """
    lag = mean_lag()
    scaled = (sqrt(m) * lag.conclusion).subs(m, 2 * q**2 / beta**2)
    d = Derivation(
        Limit(scaled, beta, 0),
        r"\lim_{m\to\infty} \sqrt{m}\, \operatorname{E}(f_{\mathrm{lin},1} - f_1)",
        {q: POSITIVE},
        "The lag as the width grows",
        where=NOTATION,
    )
    sine = Derivation(
        Limit(sin(alpha) / alpha, alpha, 0), r"\lim_{\alpha\to 0} \sin\alpha/\alpha", title="The sine", where=NOTATION
    )
    sine = sine.then(S.One, because="the first derivative at zero", reason=LowestTerm(1))
    factor = 2 * sqrt(2) * q**2 / pi
    d = d.then(
        Limit(factor * (alpha * cos(alpha) / sin(alpha) - Rational(1, 2)), alpha, 0),
        because=r"$\beta = \tan\alpha$",
        reason=ByTangent(),
        using=(lag,),
    )
    one, small = symbols("one small")
    return d.then(
        sqrt(2) * q**2 / pi,
        because=r"continuity, as $\sin\alpha/\alpha \to 1$",
        reason=Continuity(
            factor * (cos(small) / (1 + one) - Rational(1, 2)),
            {one: sin(alpha) / alpha - 1, small: alpha},
            using=(sine,),
        ),
        using=(sine,),
    )
