r"""Between few layers and many: the ReLU tangent kernel of close inputs in a deep network.

Definition. Let the angle of the inputs shrink as the depth grows, with `s = L θ₀/(3π) > 0` fixed. Then

    Θ̄^L → Φ(s) = ((1 + s)⁴ − 1)/(4 s (1 + s)³),   from 1 at s = 0 (equal inputs) to 1/4 at s = ∞ (the deep limit),

and `Θ̄^L = Φ(s) + Φ₁(s)/L + o(1/L)` with `Φ₁` derived here. A pair at angle `θ₀` is told from equal inputs when
`L ≳ 3π/θ₀`. With `x = l/L ∈ [0, 1]`, `ϑ(x) = lim L θ_{xL}` is the profile of the angle.

Source: beyond W (arXiv:2511.07272), whose Theorem 3 sees the scale `L ~ 1/√(1 − ρ)` but not the function.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import (
    Expr,
    Indexed,
    Integral,
    Interval,
    Limit,
    Product,
    Sum,
    Symbol,
    cancel,
    cos,
    diff,
    exp,
    expand,
    expand_log,
    factor,
    fraction,
    integrate,
    log,
    oo,
    pi,
    simplify,
    symbols,
    together,
)

from .correlation import L, angle, angle_decay, reciprocal_increment
from .derivation import Derivation, How, Outcome
from .reasons import Algebra, Antiderivative, equal

s = Symbol("s", nonnegative=True)  # the crossover variable L θ₀/(3π)
x, y = symbols("x y", nonnegative=True)  # the layer as a fraction of the depth
_h, _j = symbols("h j", integer=True, nonnegative=True)


def profile(at: Expr = y) -> Expr:
    """`ϑ(x) = lim L θ_{xL}`, from `1/θ_l = 1/θ₀ + l/(3π)` with `θ₀ = 3π s/L`.

    >>> profile(x)
    3*pi*s/(s*x + 1)
    """
    growth = angle_decay().conclusion
    return simplify(1 / (1 / (3 * pi * s) + growth * at))


def layer_average() -> Expr:
    """`Θ̄^L` as the sum over layers: `1/(L+1) ∑_h cos θ_h ∏_{j≥h} (1 − θ_j/π)`."""
    return Sum(cos(_angle(_h)) * Product(1 - _angle(_j) / pi, (_j, _h, L - 1)), (_h, 0, L)) / (L + 1)


def _angle(index: Expr) -> Indexed:
    return angle[index]


@dataclass(frozen=True)
class FluidLimit:
    r"""The sum over layers tends to `∫₀¹ exp(−(1/π) ∫_x^1 ϑ(y) dy) dx` when `θ₀ = 3π s/L`.

    Proof. No angle exceeds `θ₀`, so `1/θ_l = 1/θ₀ + l β + l o(1)` uniformly in `l`, with `β = lim 1/T − 1/θ`; hence
    `L θ_{xL} → ϑ(x)` uniformly on `[0, 1]`. As `log(1 − θ_j/π) = −θ_j/π + O(1/L²)` and `cos θ_h = 1 + O(1/L²)`, the
    product and the sum are Riemann sums of continuous functions. Checked: `1/ϑ` starts at `1/(3π s)` and has slope `β`.
    """

    increment: Derivation

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit(layer_average(), L, oo):
            return Outcome(How.WRONG, "the line before is not the average over layers")
        start = equal(1 / profile(y * 0), 1 / (3 * pi * s))
        slope = equal(diff(1 / profile(), y), self.increment.conclusion)
        if not (start.proved and slope.proved):
            return slope if start.proved else start
        expected = Integral(exp(-Integral(profile() / pi, (y, x, 1))), (x, 0, 1))
        return Outcome(How.LEMMA, "Riemann sums") if after == expected else Outcome(How.WRONG, f"it is {expected}")


@cache
def damping_product() -> Derivation:
    r"""`exp(−(1/π) ∫_x^1 ϑ) = ((1 + s x)/(1 + s))³`: what is left of the contribution of layer `x L`."""
    inner = Integral(profile() / pi, (y, x, 1))
    d = Derivation(
        exp(-inner),
        r"\prod_{j \ge xL}\Big(1 - \frac{\theta_j}{\pi}\Big)",
        {s: Interval.open(0, oo), x: Interval(0, 1)},
        "The damping of a layer's contribution",
    )
    primitive = 3 * log(1 + s * y)
    closed = ((1 + s * x) / (1 + s)) ** 3
    return d.then(closed, because=r"$3\log(1 + sy)$ is an antiderivative", reason=Antiderivative(primitive))


@cache
def crossover() -> Derivation:
    r"""`Φ(s)`, the limit of `Θ̄^L` as `L → ∞` with `L θ₀/(3π) = s` fixed.

    >>> crossover().conclusion
    ((s + 1)**4 - 1)/(4*s*(s + 1)**3)
    """
    increment, damping = reciprocal_increment(0), damping_product()
    d = Derivation(
        Limit(layer_average(), L, oo),
        r"\lim_{L\to\infty,\ L\theta_0 = 3\pi s}\bar\Theta^{(L)}",
        {s: Interval.open(0, oo)},
        "The crossover",
    )
    d = d.then(
        Integral(damping.start, (x, 0, 1)),
        because=r"Riemann sums, with $L\,\theta_{xL} \to 3\pi s/(1 + sx)$",
        reason=FluidLimit(increment),
        using=(increment,),
    )
    d = d.then(
        Integral(damping.conclusion, (x, 0, 1)),
        because="the product found above",
        reason=Algebra({damping.start: damping.conclusion}),
        using=(damping,),
    )
    primitive = (1 + s * x) ** 4 / (4 * s * (1 + s) ** 3)
    return d.then(
        ((1 + s) ** 4 - 1) / (4 * s * (1 + s) ** 3),
        because="an integral of a power",
        reason=Antiderivative(primitive),
    )


@dataclass(frozen=True)
class FluidCorrection:
    r"""The coefficient of `1/L` beyond `FluidLimit`, from the second term `γ θ` of `1/T(θ) − 1/θ`.

    Proof. `1/θ_l = L/ϑ + γ ∑_{i<l} θ_i + O(1/L)` gives `L θ_{xL} = ϑ − (γ/L) ϑ² ∫₀^x ϑ + O(1/L²)`. By Euler–Maclaurin
    `∑_{j≥xL} θ_j/π = (1/π) ∫_x^1 (ϑ − (γ/L) ϑ² ∫₀^y ϑ) dy + (ϑ(x) − ϑ(1))/(2πL)`, and `log(1 − θ/π)` adds
    `−θ²/(2π²)`; the average over `L + 1` layers is `∫g + (1/L) ((g(0) + g(1))/2 − ∫g)`. All remainders are `O(1/L²)`.
    """

    leading: Derivation
    damping: Derivation
    increment: Derivation

    def value(self) -> Expr:
        """The coefficient, as an integral over the layers and the ends of Euler–Maclaurin."""
        g, theta = self.damping.conclusion, profile()
        travelled = 3 * pi * log(1 + s * y)  # ∫₀^y ϑ, checked in `check`
        slower = self.increment.conclusion * theta**2 * travelled / pi
        squares = theta**2 / (2 * pi**2)
        ends = (profile(x) - profile(x**0)) / (2 * pi)
        exponent = _integrate_layers(slower - squares, y, x, x**0) - ends
        return Integral(factor(g * exponent), (x, 0, 1)) + (g.subs(x, 0) + g.subs(x, 1)) / 2 - self.leading.conclusion

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit(L * (layer_average() - self.leading.conclusion), L, oo):
            return Outcome(How.WRONG, "the line before is not the distance to the crossover, times L")
        travelled = equal(diff(3 * pi * log(1 + s * y), y), profile())
        same = equal(after, self.value()) if travelled.proved else travelled
        return Outcome(How.LEMMA, "Euler–Maclaurin") if same.proved else same


def _layer_primitive(integrand: Expr, layer: Symbol) -> Expr:
    """An antiderivative of a function of `1 + s·layer` and its logarithm, by SymPy in `w = 1 + s·layer`."""
    w = Symbol("w", positive=True)
    in_w = expand(simplify(integrand.subs(layer, (w - 1) / s)) / s)
    return integrate(in_w, w).subs(w, 1 + s * layer)


def _integrate_layers(integrand: Expr, layer: Symbol, lower: Expr, upper: Expr) -> Expr:
    primitive = _layer_primitive(integrand, layer)
    return primitive.subs(layer, upper) - primitive.subs(layer, lower)


@cache
def crossover_correction() -> Derivation:
    r"""`Φ₁(s) = lim L (Θ̄^L − Φ(s))`: the error of the crossover function at finite depth.

    `Φ₁(s) ~ (3/8) log s` as `s → ∞`, which is the rate of `theory/depth.py` seen from here; `Φ₁(s) → 0` as `s → 0`.
    """
    reason = FluidCorrection(crossover(), damping_product(), reciprocal_increment(1))
    d = Derivation(
        Limit(L * (layer_average() - crossover().conclusion), L, oo),
        r"\Phi_1(s)",
        {s: Interval.open(0, oo)},
        "The error of the crossover at finite depth",
    )
    using = (reason.leading, reason.damping, reason.increment)
    integral = reason.value()
    d = d.then(integral, because="Euler--Maclaurin on the product and on the sum", reason=reason, using=using)
    (inside,) = integral.atoms(Integral)
    primitive = _layer_primitive(inside.function, x)
    value = integral.xreplace({inside: primitive.subs(x, 1) - primitive.subs(x, 0)})
    numerator, denominator = fraction(together(expand_log(expand(value))))
    logarithm = log(1 + s)
    powers = [numerator.expand().coeff(logarithm, power) / denominator for power in (0, 1)]
    collected = factor(cancel(powers[0])) + factor(cancel(powers[1])) * logarithm
    return d.then(collected, because="integrate by parts", reason=Antiderivative(primitive))
