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
    Integral,
    Interval,
    Limit,
    Product,
    S,
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

from .correlation import LAYER_MAP, L, angle, angle_decay, reciprocal_increment
from .derivation import Derivation, How, Outcome
from .notation import Meaning
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


def _profile() -> dict[str, Expr]:
    return {r"\vartheta(x)": profile(x)}


NOTATION = (
    Meaning(angle[L, _j], r"the angle after $j$ of $L$ layers, with $\theta_{L,0} = 3\pi s/L$"),
    Meaning(r"\vartheta(x)", r"the limit of $L\,\theta_{L,xL}$", _profile),
    Meaning(
        r"\bar\Theta^{(L)}", "the normalised tangent kernel with $L$ hidden layers, its tangent kernel over $L + 1$"
    ),
    LAYER_MAP,
    Meaning("s", r"the crossover variable $L\,\theta_{L,0}/(3\pi)$, the same at every depth"),
    Meaning(r"\Phi(s)", "the crossover function, the limit of the normalised kernel"),
    Meaning(r"\Phi_1(s)", r"the limit of $L\,(\bar\Theta^{(L)} - \Phi(s))$"),
    Meaning(
        "E(x)",
        r"the coefficient of $1/L$ by which $\log\prod_{j \ge xL}(1 - \theta_{L,j}/\pi)$ differs from its limit",
    ),
    Meaning("L", "the number of hidden layers"),
)


def layer_average() -> Expr:
    """`Θ̄^L` as the mean over the layers: `1/(L+1) ∑_h cos θ_h ∏_{j≥h} (1 − θ_j/π)`, with `θ_0 = 3π s/L`."""
    return Sum(cos(angle[L, _h]) * Product(1 - angle[L, _j] / pi, (_j, _h, L - 1)), (_h, 0, L)) / (L + 1)


@dataclass(frozen=True)
class FluidLimit:
    r"""The mean over the layers tends to `∫₀¹ exp(−(1/π) ∫_x^1 ϑ(y) dy) dx`.

    Proof. No angle exceeds `θ₀ = 3π s/L`, so that `1/θ_l = 1/θ₀ + l (β + o(1))` uniformly in `l`, where `β` is the
    limit of `1/T(θ) − 1/θ` at 0 (`reciprocal_increment`); hence `L θ_{xL} → ϑ(x)` uniformly on `[0, 1]`, where `1/ϑ`
    starts at `1/(3π s)` and has the slope `β`. As `log(1 − θ_j/π) = −θ_j/π + O(1/L²)` and `cos θ_h = 1 + O(1/L²)`, the
    product and the mean tend to the exponential and the integral as Riemann sums of continuous functions.
    """

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit(layer_average(), L, oo):
            return Outcome(How.WRONG, "the line before is not the mean over the layers")
        start = equal(1 / profile(S.Zero), 1 / (3 * pi * s))
        slope = equal(diff(1 / profile(), y), reciprocal_increment(0).conclusion)
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
        r"\lim_{L\to\infty} \prod_{j \ge xL}\Big(1 - \frac{\theta_{L,j}}{\pi}\Big)",
        {s: Interval.open(0, oo), x: Interval(0, 1)},
        "The damping of a layer's contribution",
        where=NOTATION,
    )
    primitive = 3 * log(1 + s * y)
    closed = ((1 + s * x) / (1 + s)) ** 3
    words = r"first Riemann sums, with $L\,\theta_{L,xL} \to \vartheta(x)$; then $3\log(1 + sy)$ is an antiderivative"
    return d.then(closed, because=words, reason=Antiderivative(primitive))


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
        where=NOTATION,
    )
    d = d.then(
        Integral(damping.start, (x, 0, 1)),
        because=r"Riemann sums, with $L\,\theta_{L,xL} \to \vartheta(x)$",
        reason=FluidLimit(),
        using=(increment,),
    )
    d = d.then(
        Integral(damping.conclusion, (x, 0, 1)),
        because="the product found above",
        reason=Algebra(known=(damping,)),
        using=(damping,),
    )
    primitive = (1 + s * x) ** 4 / (4 * s * (1 + s) ** 3)
    return d.then(
        ((1 + s) ** 4 - 1) / (4 * s * (1 + s) ** 3),
        because="an integral of a power",
        reason=Antiderivative(primitive),
    )


@cache
def travelled() -> Derivation:
    r"""`∫_0^x ϑ = 3π log(1 + s x)`: the sum of the angles before layer `x L`, in the limit."""
    d = Derivation(
        Integral(profile(), (y, 0, x)),
        r"\int_0^x \vartheta",
        {s: Interval.open(0, oo), x: Interval(0, 1)},
        "The sum of the angles",
        where=NOTATION,
    )
    return d.then(
        3 * pi * log(1 + s * x),
        because="it is an antiderivative",
        reason=Antiderivative(3 * pi * log(1 + s * y)),
    )


@cache
def damping_correction() -> Derivation:
    r"""The coefficient `E(x)` of `1/L` in `log ∏_{j≥xL} (1 − θ_j/π)`; see `FluidCorrection`."""
    increment, before = reciprocal_increment(1), travelled()
    slower = increment.conclusion / pi * profile() ** 2 * before.conclusion.subs(x, y)
    integral = Integral(slower - profile() ** 2 / (2 * pi**2), (y, x, 1))
    ends = (profile(x) - profile(S.One)) / (2 * pi)
    d = Derivation(
        integral - ends,
        "E(x)",
        {s: Interval.open(0, oo), x: Interval(0, 1)},
        "The damping at finite depth",
        where=NOTATION,
    )
    primitive = _layer_primitive(integral.function, y)
    return d.then(
        factor(primitive.subs(y, 1) - primitive.subs(y, x) - ends),
        because="first Euler--Maclaurin; then integrate by parts",
        reason=Antiderivative(primitive),
        using=(increment, before),
    )


def _layer_primitive(integrand: Expr, layer: Symbol) -> Expr:
    """An antiderivative of a function of `1 + s·layer` and its logarithm, by SymPy in `w = 1 + s·layer`."""
    w = Symbol("w", positive=True)
    in_w = expand(simplify(integrand.subs(layer, (w - 1) / s)) / s)
    return integrate(in_w, w).subs(w, 1 + s * layer)


@dataclass(frozen=True)
class FluidCorrection:
    r"""The coefficient of `1/L` beyond `FluidLimit`: `∫₀¹ g E + (g(0) + g(1))/2 − ∫₀¹ g`.

    Here `g` is the damping (`damping_product`), and `E/L` its relative error at finite depth (`damping_correction`),

        E(x) = (γ/π) ∫_x^1 ϑ² ∫₀^y ϑ dy − (1/(2π²)) ∫_x^1 ϑ² − (ϑ(x) − ϑ(1))/(2π),

    where `1/T(θ) − 1/θ = β + γ θ + O(θ²)`. Proof. As `θ_i = O(1/L)`, `1/θ_l = 1/θ₀ + l β + γ ∑_{i<l} θ_i + O(1/L)`, so
    that `L θ_{xL} = ϑ − (γ/L) ϑ² ∫₀^x ϑ + O(1/L²)`, uniformly. By Euler–Maclaurin `∑_{j≥xL} θ_j/π` is
    `(1/π) ∫_x^1 (ϑ − (γ/L) ϑ² ∫₀^y ϑ) dy + (ϑ(x) − ϑ(1))/(2πL) + O(1/L²)`; as `log(1 − θ/π) = −θ/π − θ²/(2π²) + O(θ³)`,
    the product is `g (1 + E/L + O(1/L²))`. Last, `cos θ_h = 1 + O(1/L²)`, and the mean of `g` over the layers
    `0, …, L` is `∫g + ((g(0) + g(1))/2 − ∫g)/L + O(1/L²)`.
    """

    def coefficient(self) -> Expr:
        """The coefficient, its integrals over the layers not yet evaluated."""
        g, correction = damping_product().conclusion, damping_correction().conclusion
        ends = (g.subs(x, 0) + g.subs(x, 1)) / 2
        return Integral(factor(g * correction), (x, 0, 1)) + ends - crossover().conclusion

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit(L * (layer_average() - crossover().conclusion), L, oo):
            return Outcome(How.WRONG, "the line before is not the distance to the crossover, times L")
        same = equal(after, self.coefficient())
        return Outcome(How.LEMMA, "Euler–Maclaurin") if same.proved else same


@cache
def crossover_correction() -> Derivation:
    r"""`Φ₁(s) = lim L (Θ̄^L − Φ(s))`: the error of the crossover function at finite depth.

    `Φ₁(s) ~ (3/8) log s` as `s → ∞`, which is the rate of `theory/depth.py` seen from here; `Φ₁(s) → 0` as `s → 0`.
    """
    reason = FluidCorrection()
    d = Derivation(
        Limit(L * (layer_average() - crossover().conclusion), L, oo),
        r"\Phi_1(s)",
        {s: Interval.open(0, oo)},
        "The error of the crossover at finite depth",
        where=NOTATION,
    )
    integral = reason.coefficient()
    d = d.then(
        integral,
        because="Euler--Maclaurin on the product and on the mean",
        reason=reason,
        using=(crossover(), damping_product(), damping_correction()),
    )
    (inside,) = integral.atoms(Integral)
    primitive = _layer_primitive(inside.function, x)
    value = integral.xreplace({inside: primitive.subs(x, 1) - primitive.subs(x, 0)})
    numerator, denominator = fraction(together(expand_log(expand(value))))
    logarithm = log(1 + s)
    powers = [numerator.expand().coeff(logarithm, power) / denominator for power in (0, 1)]
    collected = factor(cancel(powers[0])) + factor(cancel(powers[1])) * logarithm
    return d.then(collected, because="integrate by parts", reason=Antiderivative(primitive))
