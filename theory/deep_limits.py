r"""Limits of the deep ReLU kernels on the sphere along any curve: which function of `L θ₀` they tend to, and how fast.

Definition. `θ₀(L) ∈ [0, π]` is the angle of the inputs, `ρ = cos θ₀`, and `Σ^L`, `Θ^L`, `Θ̄^L = Θ^L/(L + 1)` are the
kernels of `theory/depth.py`. A curve `ρ(L)` enters through one number `s ∈ [0, oo]`,

    s = lim L θ₀/(3π),   found from   S(L) = 2 L² (1 − ρ)/(9π²) → s²   (or S = (L θ₀)²/(9π²) if θ₀ → 0 is given).

For `θ₀² = 2(1 − ρ)(1 + O(1 − ρ))`, and `1 − ρ → 0` if `S` is bounded; and `θ₀² >= 2(1 − ρ)` always.

**The limit.** `Θ̄^L → Φ(s)`, the crossover function (`theory/crossover.py`), with `Φ(0) = 1`, `Φ(oo) = 1/4`.
Proof. `Θ̄^L = (1/(L + 1)) ∑_h cos θ_h ∏_{j>=h} (1 − θ_j/π)`. Each `θ_h` increases with `θ₀`, and for `h >= 1` it is at
most `π/2`; so `Θ̄^L` decreases with `θ₀`, but for the term `h = 0`, which is at most `1/(L + 1)`. Between two curves
`θ₀ = 3π s'/L` with constant `s'` on both sides of `s`, `Φ` being continuous, there is only `Φ(s)`; at `s = 0` the one
side is `Θ̄^L = 1` of equal inputs; at `s = oo` it is the limit `1/4` of opposite ones (`θ₀ = π`). ∎

**`0 < s < oo`.** `Θ̄^L = Φ(s(L)) + Φ₁(s)/L + o(1/L)` with `s(L) = L θ₀/(3π)`: every error in the proof of
`FluidCorrection` is uniform in `s(L)` on compact subsets of `(0, oo)`. Here `s(L)² = S(L) (1 + O(1/L²))`.

**`s = 0`**, or `L` fixed and `ρ → 1`: `1 − Θ̄^L ~ L θ₀/(2π) ~ L √(2(1 − ρ))/(2π)`.
Proof. `0 <= 1/θ_l − 1/θ₀ = O(l)` gives `θ_l = θ₀ (1 + O(L θ₀))`. So `∏_{j>=h} (1 − θ_j/π)` is
`1 − (L − h)(θ₀/π)(1 + O(L θ₀))`; the mean of `L − h` over `h = 0, …, L` is `L/2`; and `1 − cos θ_h = O(θ₀²)`. ∎

**The NNGP kernel** tends to 1 along every curve, as `θ_L(θ₀) <= θ_L(π) → 0`. For `s > 0`, `L θ_L → ϑ(1) = 3πs/(1 + s)`
(`3π` at `s = oo`), between the same curves, so that `1 − Σ^L ~ ϑ(1)²/(2L²)`; for `s = 0`, `θ_L ~ θ₀` and
`1 − Σ^L ~ 1 − ρ`.

Source: beyond W (arXiv:2511.07272), whose Theorem 2 is `s = oo` with fixed `ρ`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sympy import Expr, Function, Mul, S, Symbol, acos, cos, diff, log, oo, pi, sqrt

from .arccos import theta
from .correlation import angle_scale, angle_vanishes, cosine_after_layer
from .crossover import crossover, crossover_correction, profile, s
from .depth import (
    coincident,
    coincident_growth,
    depth_rate,
    growth,
    leading_error,
    logarithmic_excess,
    normalised_ntk_limit,
)
from .depth_scaling import closest_pair
from .derivation import Derivation, How, Outcome
from .leading_terms import Expansion, expand_exp_log, expand_in_powers, limit_of
from .paths import Path
from .reasons import equal

NNGP, NORMALISED = Function("Sigma"), Function("Thetabar")  # of L and ρ


@dataclass(frozen=True)
class Curve:
    """A curve `rho` of correlations along the depth, and the expansion of its `S(L)`."""

    path: Path
    rho: Expr
    separation: Expansion

    @property
    def depth(self) -> Symbol:
        return self.path.variable

    @property
    def scale(self) -> Expr:
        """`s`."""
        return sqrt(self.separation.value)

    @property
    def stays_apart(self) -> bool:
        """Whether it is the same pair of different inputs at every depth."""
        return bool(self.rho.is_number and (1 - self.rho).is_positive)


Rule = Callable[[Curve], tuple[Expr, Expr]]


def curve_along(path: Path, rho: Expr) -> Curve | None:
    """The curve, if the limit of its `S(L)` is found and proved. Of `cos θ₀` with `θ₀ → 0` it is `(L θ₀)²/(9π²)`."""
    square = 2 * path.variable**2 * (1 - rho) / (9 * pi**2)
    if isinstance(rho, cos) and rho.has(path.variable):
        angle = _expanded(rho.args[0], path)
        if angle is None or angle.value != 0:
            return None  # an angle that turns on and on
        square = (path.variable * rho.args[0]) ** 2 / (9 * pi**2)
    separation = _expanded(square, path)
    return None if separation is None else Curve(path, rho, separation)


def _expanded(function: Expr, path: Path) -> Expansion | None:
    for expand in (expand_in_powers, expand_exp_log):
        found = expand(function, path)
        if found is not None and found.proved:
            return found
    return None


@dataclass(frozen=True)
class Lemma:
    """A statement at the head of this module for one curve: `rule` computes from it what tends to what."""

    rule: Rule
    curve: Curve

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not self.curve.separation.proved:
            return Outcome(How.UNDECIDED, "the scaled angle along the curve is not known")
        function, value = self.rule(self.curve)
        if before != limit_of(function, self.curve.path):
            return Outcome(How.WRONG, "the line before is not the limit that the lemma is about")
        same = equal(after, value)
        return Outcome(How.LEMMA, "monotone in the angle") if same.proved else same


def _derived(rule: Rule, curve: Curve, because: str, *using: Derivation) -> Derivation:
    function, value = rule(curve)
    d = Derivation(limit_of(function, curve.path), "", title="The deep kernel along the curve")
    return d.then(value, because=because, reason=Lemma(rule, curve), using=(*curve.separation.derivations, *using))


def crossover_at(scale: Expr) -> Expr:
    """`Φ(s)` for `s ∈ [0, oo]`.

    >>> crossover_at(S.Zero), crossover_at(S.One), crossover_at(oo)
    (1, 15/32, 1/4)
    """
    ends = {S.Zero: coincident, oo: normalised_ntk_limit}
    return ends[scale]().conclusion if scale in ends else crossover().conclusion.subs(s, scale)


def _limit(curve: Curve) -> tuple[Expr, Expr]:
    return NORMALISED(curve.depth, curve.rho), crossover_at(curve.scale)


def _few_layers(curve: Curve) -> tuple[Expr, Expr]:
    """`(1 − Θ̄^L)/m → (3/2) k` where `√S ~ k m` for a monomial `m`; the slope of `1 − Φ` is that of `L θ₀/(2π)`."""
    coefficient, monomial = _root(curve)
    return (1 - NORMALISED(curve.depth, curve.rho)) / monomial, closest_pair().conclusion * coefficient


def _near_crossover(curve: Curve) -> tuple[Expr, Expr]:
    """`(Θ̄^L − Φ(s))/m → k`, with the larger of `Φ₁(s)/L` and `Φ'(s) (S − s²)/(2s)`, or their sum."""
    scale, depth = curve.scale, curve.depth
    slope = diff(crossover().conclusion, s).subs(s, scale)
    drift, power = _first_power(curve)
    exponent = max(power, S.NegativeOne)
    coefficient = slope * drift / (2 * scale) if power >= -1 else S.Zero
    if power <= -1:
        coefficient += crossover_correction().conclusion.subs(s, scale)
    return (NORMALISED(depth, curve.rho) - crossover_at(scale)) / depth**exponent, coefficient


def _root(curve: Curve) -> tuple[Expr, Expr]:
    """Coefficient and monomial of the leading term of `√S`, where `S → 0`."""
    depth = Symbol("L", positive=True)
    root = sqrt(curve.separation.terms[0].subs(curve.depth, depth))
    coefficient, monomial = root.as_independent(depth, as_Add=False)
    return coefficient, monomial.subs(depth, curve.depth)


def _first_power(curve: Curve) -> tuple[Expr, Expr]:
    """Coefficient and exponent of the leading term of `S − s²`; `(0, -oo)` if there is none, `(0, oo)` if not known."""
    if not curve.separation.terms:
        return S.Zero, (-oo if curve.separation.remainder == 0 else oo)
    coefficient, power = curve.separation.terms[0].as_coeff_exponent(curve.depth)
    return (S.Zero, oo) if coefficient.has(curve.depth) else (coefficient, power)


def normalised(curve: Curve) -> Expansion:
    """`Θ̄^L` along the curve."""
    depth, scale = curve.depth, curve.scale
    if curve.rho == 1:
        return Expansion(S.One, (), S.Zero, (coincident(),))
    if curve.stays_apart:
        term = leading_error(depth)
        return Expansion(crossover_at(oo), (term,), log(depth) / depth, (normalised_ntk_limit(), depth_rate()))
    ends = (coincident(), normalised_ntk_limit(), crossover())
    value = _derived(_limit, curve, r"between curves $\theta_0 = 3\pi s'/L$", *ends)
    if scale == 0 and curve.separation.terms:
        first = _derived(_few_layers, curve, r"$1 - \bar\Theta \sim L\theta_0/(2\pi)$", closest_pair())
        monomial = _root(curve)[1]
    elif scale not in (S.Zero, oo) and _first_power(curve)[1] is not oo:
        because = r"the error of the crossover, uniformly in $s$"
        first = _derived(_near_crossover, curve, because, crossover_correction())
        monomial = depth ** max(_first_power(curve)[1], S.NegativeOne)
    else:
        return Expansion(value.conclusion, (), S.One, (value,))
    if scale == 0:
        return Expansion(value.conclusion, (-first.conclusion * monomial,), monomial, (value, first))
    name, where = _abbreviated(curve)
    short = replace(curve, separation=replace(curve.separation, value=name**2))
    limit, term = crossover_at(name), Mul(_near_crossover(short)[1], monomial)
    return Expansion(limit, (term,), monomial, (value, first), where)


def _abbreviated(curve: Curve) -> tuple[Symbol, dict[Symbol, Expr]]:
    """A symbol for `s`, and its definition; none if it is a symbol of the curve already."""
    if isinstance(curve.scale, Symbol):
        return curve.scale, {}
    taken = {symbol.name for symbol in curve.rho.free_symbols}
    name = next(name for name in ("s", "sigma", "s_0") if name not in taken)
    symbol = Symbol(name, positive=True)
    return symbol, {symbol: curve.scale}


def ntk(curve: Curve) -> Expansion:
    """`Θ^L = (L + 1) Θ̄^L` along the curve."""
    depth, scaled = curve.depth, normalised(curve)
    if curve.rho == 1:
        return Expansion(oo, (depth, S.One), S.Zero, (coincident_growth(),))
    largest = scaled.value * depth
    if curve.stays_apart:
        known = (growth(), logarithmic_excess())
        return Expansion(oo, (largest, logarithmic_excess().conclusion * log(depth)), log(depth), known)
    if not scaled.terms:
        return Expansion(oo, (largest,), depth, scaled.derivations, scaled.where)
    coefficient, power = scaled.terms[0].as_coeff_exponent(depth)
    if coefficient.has(depth):
        return Expansion(oo, (largest,), depth, scaled.derivations)
    order = max(power + 1, S.Zero)
    second = (coefficient if power >= -1 else S.Zero) + (scaled.value if power <= -1 else S.Zero)
    return Expansion(oo, (largest, second * depth**order), depth**order, scaled.derivations, scaled.where)


def _vanishing_angle(curve: Curve) -> tuple[Expr, Expr]:
    return NNGP(curve.depth, curve.rho), cos(angle_vanishes().conclusion)


def _last_angle(curve: Curve) -> tuple[Expr, Expr]:
    """`(1 − Σ^L) L² → ϑ(1)²/2` for `s > 0`, with `3π` for `ϑ(1)` at `s = oo`."""
    last = angle_scale().conclusion if curve.scale is oo else profile(S.One).subs(s, curve.scale)
    return (1 - NNGP(curve.depth, curve.rho)) * curve.depth**2, last**2 / 2


def nngp(curve: Curve) -> Expansion:
    """`Σ^L` along the curve."""
    if curve.rho == 1:
        return Expansion(S.One, (), S.Zero, (coincident(),))
    value = _derived(_vanishing_angle, curve, r"$\theta_L \to 0$, whatever $\theta_0$ is", angle_vanishes())
    if curve.scale == 0:
        return Expansion(value.conclusion, (), S.One, (value,))
    second = _derived(_last_angle, curve, r"$1 - \cos\theta_L \sim \theta_L^2/2$", angle_scale())
    monomial = curve.depth**-2
    return Expansion(value.conclusion, (-second.conclusion * monomial,), monomial, (value, second))


@dataclass(frozen=True)
class FewLayers:
    """`(1 − Θ̄^L)/√(1 − ρ) → L/(√2 π)`, or `(1 − Σ^L)/(1 − ρ) → 1`, as `ρ → 1` at a fixed depth `L >= 1`."""

    path: Path
    depth: Expr

    def statement(self, is_nngp: bool) -> tuple[Expr, Expr]:
        """What tends to what."""
        rho = self.path.variable
        if is_nngp:
            return (1 - NNGP(self.depth, rho)) / (1 - rho), S.One
        scale = self.depth * sqrt(2) / (3 * pi)  # s/√(1 − ρ)
        return (1 - NORMALISED(self.depth, rho)) / sqrt(1 - rho), closest_pair().conclusion * scale

    def check(self, before: Expr, after: Expr) -> Outcome:
        for is_nngp in (True, False):
            function, value = self.statement(is_nngp)
            if before == limit_of(function, self.path):
                same = equal(after, value)
                return Outcome(How.LEMMA, "few layers") if same.proved else same
        return Outcome(How.WRONG, "the line before is not what the lemma is about")


def coinciding(name: str, path: Path, depth: Expr) -> Expansion:
    """A kernel of fixed depth `L >= 1` as `ρ → 1`: 1 or `L + 1`, and the leading term of its distance."""
    reason = FewLayers(path, depth)
    function, slope = reason.statement(name == "relu-nngp")
    d = Derivation(limit_of(function, path), "", title="Inputs that come together").then(
        slope, because=r"$\theta_l \sim \theta_0$ for every $l \le L$", reason=reason, using=(closest_pair(),)
    )
    value = depth + 1 if name == "relu-ntk" else S.One
    distance = (1 - path.variable) if name == "relu-nngp" else sqrt(1 - path.variable)
    return Expansion(value, (Mul(-slope * value, distance, evaluate=not distance.is_Add),), distance, (d,))


def unrolled(name: str, rho: Expr, depth: int) -> Expr:
    """A kernel of a few layers, written out by its recursion.

    >>> unrolled("relu-nngp", S.Zero, 1), unrolled("relu-ntk", S.Zero, 1)
    (1/pi, 1/pi)
    """
    angle, correlation, kernel = acos(rho), rho, rho
    for _ in range(depth):
        correlation = cosine_after_layer().subs(theta, angle)
        kernel, angle = (1 - angle / pi) * kernel + correlation, acos(correlation)
    return {"relu-nngp": correlation, "relu-ntk": kernel}.get(name, kernel / (depth + 1))
