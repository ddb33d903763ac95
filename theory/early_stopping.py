r"""Early stopping as a spectral filter, held against ridge regression of matching strength.

Definition. By `theory/dynamics.py` gradient flow with a constant kernel, stopped at the time `t`, has learnt the
fraction `φ(s)` of a mode of eigenvalue `λ >= 0`, at `s = cλt`; gradient descent after `k` steps `φ_k(x)`, at `x = ηcλ`;
kernel ridge regression `min ∑ (f(x_i) − y_i)² + μ ‖f‖²` learns `λ/(λ + μ)`, which with `μ = 1/(ct)` is `ψ(s)`:

    φ(s) = 1 − e^{−s},      φ_k(x) = 1 − (1 − x)^k,      ψ(s) = s/(1 + s).

**Flow.** `ψ <= φ <= κ ψ` for all `s >= 0`, with the smallest constant `κ = 1 + s*/(1 + s* + s*²) = 1.29842…`, where
`s* = 1.79328…` is the one positive root of `e^s = 1 + s + s²` (`peak_slope`, `single_peak`, `ridge_constant`). Summed
over the modes it bounds the degrees of freedom, `tr ψ <= tr φ <= κ tr ψ`. Of all `μ = a/(ct)` the choice `a = 1` has
the smallest ratio of the two constants (`weaker_matching`, `stronger_matching`).

**Descent**, for `η <= 1/(cλ_max)`, so `0 <= x <= 1`: `ψ(kx) <= φ_k(x) <= 2 ψ(kx)`; 2 is attained, at `k = x = 1`. The
best constants `κ_k` fall with `k`, from `κ_1 = 2` and `κ_2 = 25/16` to `κ`. Proof that `κ_{k+1} <= κ_k`: with `s = kx`,
`1 − (1 − s/k)^k` falls with `k` where `s <= k`, and for `s ∈ [k, k + 1]` the ratio is at most `1 + 1/s <= 1 + 1/k`, its
value at `x = 1`. For `1 < x < 2` descent overshoots, and there is no such bound (`overshoot`, `noise_may_fall`).

What the filters do to noise is in `theory/stopping_risk.py`.

Source: N ("early stopping acts as a regulariser"); the comparison with ridge regression is that of Ali, Kolter &
Tibshirani (2019), arXiv:1810.10082. Departures: the best constants, also for descent, and that the matching is best.
"""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Expr, Interval, S, Symbol, exp, oo

from .correlation import PositiveByDerivative
from .derivation import Derivation, Relation
from .dynamics import POSITIVE, k, s, x
from .notation import Meaning
from .reasons import Algebra

strength = Symbol("a", positive=True)  # the ridge is μ = a/(ct)
ALL = {s: Interval(0, oo)}


LEARNT = Meaning(r"\varphi(s)", r"what gradient flow has learnt of a mode, $1 - e^{-s}$ at $s = c\lambda t$")
NOTATION = (
    LEARNT,
    Meaning(r"\varphi_k(x)", r"what $k$ steps of descent have learnt, $1 - (1 - x)^k$ at $x = \eta c\lambda$"),
    Meaning(r"\psi(s)", r"what ridge regression learns, $s/(1 + s)$; $\psi_a(s) = s/(a + s)$"),
)


def flow_filter(at: Expr = s) -> Expr:
    """`φ(s)`, what gradient flow has learnt of a mode at `s = cλt`.

    >>> flow_filter()
    1 - exp(-s)
    """
    return 1 - exp(-at)


def descent_filter(at: Expr = x, steps: Expr = k) -> Expr:
    """`φ_k(x)`, what `k` steps of gradient descent have learnt of a mode at `x = ηcλ`."""
    return 1 - (1 - at) ** steps


def ridge_filter(at: Expr = s, of_strength: Expr = S.One) -> Expr:
    """`s/(a + s)`, what ridge regression with `μ = a/(ct)` learns of a mode.

    >>> ridge_filter()
    s/(s + 1)
    """
    return at / (of_strength + at)


def ratio(of_strength: Expr = S.One) -> Expr:
    """`φ/ψ`, the flow's filter over the ridge's."""
    return flow_filter() * (of_strength + s) / s


# --- the flow against ridge regression --------------------------------------------------------------------------------


@cache
def exponential_excess() -> Derivation:
    """`e^s − (1 + s) > 0` for `s > 0`."""
    d = Derivation(
        exp(s) - (1 + s), "e^s - (1 + s)", {s: POSITIVE}, "The exponential lies above its tangent", where=NOTATION
    )
    d = d.then(exp(s) - s - 1, because="expand", reason=Algebra())
    words = r"it vanishes at $0$ and its slope is $e^s - 1 > 0$"
    return d.then(S.Zero * s, because=words, reason=PositiveByDerivative(s, POSITIVE), relation=Relation.EXCEEDS)


@cache
def lower_bound() -> Derivation:
    """`φ − ψ = (e^s − 1 − s) e^{−s}/(1 + s)`, positive by `exponential_excess`: ridge regression learns less.

    The same is `e^{−s} <= 1/(1 + s)`, for what is left of the residual.
    """
    excess = exponential_excess()
    d = Derivation(
        flow_filter() - ridge_filter(), r"\varphi(s) - \psi(s)", ALL, "Ridge regression learns less", where=NOTATION
    )
    return d.then(
        excess.conclusion * exp(-s) / (1 + s),
        because=r"a common denominator; $e^s > 1 + s$",
        reason=Algebra(),
        using=(excess,),
    )


@cache
def peak_slope() -> Derivation:
    """`(φ/ψ)' = ((1 + s + s²) e^{−s} − 1)/s²`: the ratio is stationary where `e^s = 1 + s + s²`.

    >>> peak_slope().conclusion
    ((s**2 + s + 1)*exp(-s) - 1)/s**2
    """
    d = Derivation(
        Derivative(ratio(), s), r"(\varphi/\psi)'(s)", {s: POSITIVE}, "Where the ratio is largest", where=NOTATION
    )
    return d.then(((1 + s + s**2) * exp(-s) - 1) / s**2, because="differentiate", reason=Algebra())


@cache
def single_peak() -> Derivation:
    """`((1 + s + s²) e^{−s})' = s(1 − s) e^{−s}`: there is one such point.

    The function rises from 1 at `s = 0`, then falls to 0, so that it is 1 at one point `s* > 1`. The ratio `φ/ψ`, 1 at
    both ends, rises before `s*` and falls after it.

    >>> single_peak().conclusion
    s*(1 - s)*exp(-s)
    """
    d = Derivation(
        Derivative((1 + s + s**2) * exp(-s), s),
        r"\big((1 + s + s^2)\,e^{-s}\big)'",
        ALL,
        "One point where the ratio is largest",
        where=NOTATION,
    )
    return d.then(s * (1 - s) * exp(-s), because="differentiate", reason=Algebra(), using=(peak_slope(),))


@cache
def ridge_constant() -> Derivation:
    """`κ = 1 + s/(1 + s + s²)`, the ratio `φ/ψ` where `e^s = 1 + s + s²`.

    >>> ridge_constant().conclusion
    s/(s**2 + s + 1) + 1
    """
    left = Symbol("e", positive=True)  # e^{−s} at the stationary point
    d = Derivation((1 - left) * (1 + s) / s, r"\kappa", {s: POSITIVE}, "The largest ratio", where=NOTATION)
    return d.then(
        1 + s / (1 + s + s**2),
        because=r"$e^{-s} = 1/(1 + s + s^2)$ at the stationary point",
        reason=Algebra(given={left: 1 / (1 + s + s**2)}),
        using=(single_peak(),),
    )


@cache
def weaker_matching() -> Derivation:
    """For `a < 1`: `φ/ψ_a` is `a` at `s = 0`, and `(φ/ψ_a)/a` exceeds `φ/ψ`, so that the constants are further apart.

    >>> weaker_matching().conclusion
    (-1 + 1/a)*(1 - exp(-s))
    """
    d = Derivation(
        ratio(strength) / strength - ratio(),
        r"\frac{\varphi}{a\,\psi_a} - \frac{\varphi}{\psi}",
        {s: POSITIVE, strength: Interval.open(0, 1)},
        "A weaker ridge",
        where=NOTATION,
    )
    return d.then((1 / strength - 1) * flow_filter(), because="collect", reason=Algebra())


@cache
def stronger_matching() -> Derivation:
    """For `a > 1`: `φ/ψ_a` tends to 1 as `s → ∞`, and exceeds `φ/ψ`, so that the constants are further apart.

    >>> stronger_matching().conclusion
    (1 - exp(-s))*(a - 1)/s
    """
    d = Derivation(
        ratio(strength) - ratio(),
        r"\frac{\varphi}{\psi_a} - \frac{\varphi}{\psi}",
        {s: POSITIVE, strength: Interval.open(1, oo)},
        "A stronger ridge",
        where=NOTATION,
    )
    return d.then((strength - 1) * flow_filter() / s, because="collect", reason=Algebra())


# --- descent against ridge regression ---------------------------------------------------------------------------------


@cache
def bernoulli_step() -> Derivation:
    """`(1 + kx) − (1 − x)(1 + (k + 1)x) = (k + 1)x² >= 0`.

    So for `x <= 1` the product `(1 − x)^k (1 + kx)`, 1 at `k = 0`, does not grow with `k`: `(1 − x)^k <= 1/(1 + kx)`,
    which is `ψ(kx) <= φ_k(x)`.

    >>> bernoulli_step().conclusion
    x**2*(k + 1)
    """
    d = Derivation(
        (1 + k * x) - (1 - x) * (1 + (k + 1) * x),
        "(1 + kx) - (1 - x)(1 + (k + 1)x)",
        {x: Interval.Lopen(0, 1), k: S.Naturals0},
        "Descent learns more than ridge regression",
        where=NOTATION,
    )
    return d.then((k + 1) * x**2, because="multiply out", reason=Algebra())


@cache
def twice_ridge_early() -> Derivation:
    """`2ψ(s) − s = s(1 − s)/(1 + s) >= 0` for `s = kx <= 1`, where `φ_k(x) <= kx` by Bernoulli's inequality.

    >>> twice_ridge_early().conclusion
    s*(1 - s)/(s + 1)
    """
    d = Derivation(2 * ridge_filter() - s, r"2\psi(s) - s", {s: Interval(0, 1)}, "At most twice, early", where=NOTATION)
    return d.then(s * (1 - s) / (1 + s), because="a common denominator", reason=Algebra())


@cache
def twice_ridge_late() -> Derivation:
    """`2ψ(s) − 1 = (s − 1)/(1 + s) >= 0` for `s = kx >= 1`, where `φ_k(x) <= 1`.

    >>> twice_ridge_late().conclusion
    (s - 1)/(s + 1)
    """
    d = Derivation(2 * ridge_filter() - 1, r"2\psi(s) - 1", {s: Interval(1, oo)}, "At most twice, late", where=NOTATION)
    return d.then((s - 1) / (1 + s), because="a common denominator", reason=Algebra())


@cache
def two_step_constant() -> Derivation:
    """`25/16 − φ_2(x)/ψ(2x) = (x − 3/4)²`: the best constant after two steps is `25/16`, attained at `x = 3/4`.

    >>> two_step_constant().conclusion
    (x - 3/4)**2
    """
    d = Derivation(
        S(25) / 16 - descent_filter(x, S(2)) / ridge_filter(2 * x),
        r"\tfrac{25}{16} - \varphi_2(x)/\psi(2x)",
        {x: Interval.Lopen(0, 1)},
        "Two steps of descent",
        where=NOTATION,
    )
    return d.then((x - S(3) / 4) ** 2, because="complete the square", reason=Algebra())


@cache
def overshoot() -> Derivation:
    """`ψ(2x) − φ_2(x) = x²(2x − 3)/(1 + 2x)`: for `3/2 < x < 2` two steps have learnt less than ridge regression.

    >>> overshoot().conclusion
    x**2*(2*x - 3)/(2*x + 1)
    """
    d = Derivation(
        ridge_filter(2 * x) - descent_filter(x, S(2)),
        r"\psi(2x) - \varphi_2(x)",
        {x: Interval.open(0, 2)},
        "A rate beyond the bound",
        where=NOTATION,
    )
    return d.then(x**2 * (2 * x - 3) / (1 + 2 * x), because="a common denominator", reason=Algebra())


@cache
def noise_may_fall() -> Derivation:
    """`φ_1² − φ_2² = x²(x − 1)(3 − x)`: for `1 < x < 2` the second step takes fitted noise away again.

    >>> noise_may_fall().conclusion
    x**2*(3 - x)*(x - 1)
    """
    d = Derivation(
        descent_filter(x, S.One) ** 2 - descent_filter(x, S(2)) ** 2,
        r"\varphi_1(x)^2 - \varphi_2(x)^2",
        {x: Interval.open(0, 2)},
        "Noise that is fitted and taken away",
        where=NOTATION,
    )
    return d.then(x**2 * (x - 1) * (3 - x), because="a difference of squares", reason=Algebra())
