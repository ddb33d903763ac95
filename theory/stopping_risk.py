r"""Noise and risk of a prediction that is stopped early, on the data.

Definition. Labels `y = u + ξ` with a signal `u` and noise `E ξ = 0`, `E ξξᵀ = σ² 1`, `σ > 0`; training from `f_0 = 0`
stops where the fraction `φ_i` of each mode is learnt, as in `theory/early_stopping.py` (`φ(s_i)` with `s_i = cλ_i t`
under the flow). Of the noise `E ‖φ(Θ)ξ‖² = σ² ∑ φ_i²` is fitted. With `b_i = v_i·u` the risk on the data is

    R = E ‖f(X) − u‖² = ∑_i (b_i² (1 − φ_i)² + σ² φ_i²).

**Findings.** Under the flow the fitted noise grows from `σ² c² t² tr Θ²` to all of it. A mode's risk is least at
`s = log(1 + b²/σ²)`, where it is that of the best possible fraction; so there is always a `t < ∞` that is better than
the end, and no `t` that is best in all modes. `R_flow <= κ² R_ridge` with the `κ` of `theory/early_stopping.py` and
ridge regression at `μ = 1/(ct)`; there is no bound backwards. For signals drawn with covariance `∝ Θ`, and ridge
regression of the best strength, `R_flow <= 1.2147 R_ridge`.

Source: N ("early stopping acts as a regulariser: it limits the fit to the components learnt slowly, among them those
associated with noise and overfitting"); Ali, Kolter & Tibshirani (2019), arXiv:1810.10082, who have 1.6862 for
`κ² = 1.68590…`. Departure: white noise has the same size in every mode, so that stopping does not tell noise from
signal; it tells fast modes from slow ones.
"""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Dummy, Expr, Interval, Limit, MatrixSymbol, S, Symbol, Trace, exp, log, oo, sqrt

from .correlation import Positive
from .derivation import Derivation, Relation
from .dynamics import POSITIVE, n, s
from .early_stopping import LEARNT, exponential_excess, flow_filter, lower_bound, ridge_filter
from .haar import mean
from .matrix_words import Words
from .notation import Meaning
from .reasons import Algebra, Continuity, LowestTerm

signal, noise = Symbol("b", positive=True), Symbol("sigma", positive=True)
squares = Symbol("phi_2", nonnegative=True)  # tr ΦΦᵀ
q = Symbol("q", positive=True)


NOTATION = (
    LEARNT,
    Meaning(r"\xi", r"the noise, $\sigma\zeta$"),
    Meaning(r"\zeta", r"white noise of variance one"),
    Meaning(r"\Phi", r"the matrix of the fractions of all modes, in their basis"),
    Meaning(r"\phi_2", r"$\operatorname{tr} \Phi\Phi^\top$"),
)


@cache
def fitted_noise() -> Derivation:
    """`E ‖Φ ξ‖² = σ² tr ΦΦᵀ` for any filter `Φ`; for `Φ = φ(Θ)` this is `σ² ∑ φ(s_i)²`. `phi_2` is `tr ΦΦᵀ`.

    >>> fitted_noise().conclusion
    phi_2*sigma**2
    """
    Phi, white = MatrixSymbol("Phi", n, n), MatrixSymbol("zeta", n, 1)  # ξ = σ ζ, E ζζᵀ = 1
    fitted = Phi * (noise * white)
    d = Derivation(
        mean(Trace(fitted * fitted.T)),
        r"\operatorname{E}\|\Phi\xi\|^2",
        title="The noise that is fitted",
        where=NOTATION,
    )
    return d.then(
        noise**2 * squares,
        because=r"$\operatorname{E}\,\xi\xi^\top = \sigma^2$",
        reason=Words(given={squares: mean(Trace(Phi * Phi.T))}, mean=mean, white=(white,)),
    )


@cache
def noise_grows() -> Derivation:
    """`(φ²)' = 2 e^{−s} (1 − e^{−s}) > 0` for `s > 0`: under the flow the fitted noise grows in every mode.

    >>> noise_grows().conclusion
    2*(1 - exp(-s))*exp(-s)
    """
    d = Derivation(
        Derivative(flow_filter() ** 2, s), r"(\varphi^2)'(s)", {s: POSITIVE}, "The fitted noise grows", where=NOTATION
    )
    d = d.then(2 * exp(-s) * (1 - exp(-s)), because="differentiate", reason=Algebra())
    words = r"$e^{-s} < 1$ for $s > 0$"
    return d.then(S.Zero * s, because=words, reason=Positive(s, POSITIVE), relation=Relation.EXCEEDS)


@cache
def noise_early() -> Derivation:
    """`φ²/s² → 1` as `s → 0`: early, `E ‖φ(Θ)ξ‖²` is `σ² c² t² tr Θ²`, to leading order.

    >>> noise_early().conclusion
    1
    """
    d = Derivation(
        Limit(flow_filter() ** 2 / s**2, s, 0), r"\lim_{s\to0}\varphi(s)^2/s^2", title="Early noise", where=NOTATION
    )
    return d.then(S.One, because=r"$\varphi = s - \tfrac12 s^2 + \dots$", reason=LowestTerm(2))


@cache
def noise_late() -> Derivation:
    """`φ² → 1` as `s → ∞`: in the end all the noise in the modes with `λ > 0` is fitted.

    >>> noise_late().conclusion
    1
    """
    left = Dummy("e")
    d = Derivation(
        Limit(flow_filter() ** 2, s, oo), r"\lim_{s\to\infty}\varphi(s)^2", title="Late noise", where=NOTATION
    )
    reason = Continuity((1 - left) ** 2, {left: exp(-s)})
    return d.then(S.One, because=r"$e^{-s} \to 0$", reason=reason)


def risk(fraction: Expr) -> Expr:
    """`b² (1 − φ)² + σ² φ²`, the risk on the data in a mode of which the fraction `φ` is learnt."""
    return signal**2 * (1 - fraction) ** 2 + noise**2 * fraction**2


RISK_DOMAIN = {signal: POSITIVE, noise: POSITIVE, s: Interval(0, oo)}


@cache
def risk_slope() -> Derivation:
    """The slope of a mode's risk: negative before `s = log(1 + b²/σ²)` and positive after it.

    So the flow's risk on the data rises at late times, whatever the signal: with noise there is always a time `t < ∞`
    that is better than the end. The best `t = log(1 + b²/σ²)/(cλ)` of one mode is not that of another.

    >>> risk_slope().conclusion
    2*(sigma**2 - (b**2 + sigma**2)*exp(-s))*exp(-s)
    """
    d = Derivation(Derivative(risk(flow_filter()), s), "R'(s)", RISK_DOMAIN, "When to stop", where=NOTATION)
    slope = 2 * exp(-s) * (noise**2 - (signal**2 + noise**2) * exp(-s))
    return d.then(slope, because="differentiate", reason=Algebra())


@cache
def least_risk() -> Derivation:
    """The risk at `s = log(1 + b²/σ²)` is `b²σ²/(b² + σ²)`, the least that any fraction can have.

    The risk of a fraction `φ` exceeds it by `(b² + σ²)(φ − b²/(b² + σ²))²`.

    >>> least_risk().conclusion
    b**2*sigma**2/(b**2 + sigma**2)
    """
    best = log(1 + signal**2 / noise**2)
    domain = {symbol: where for symbol, where in RISK_DOMAIN.items() if symbol != s}
    d = Derivation(risk(flow_filter(best)), r"\min_s R(s)", domain, "The least risk of a mode", where=NOTATION)
    return d.then(
        signal**2 * noise**2 / (signal**2 + noise**2),
        because=r"$e^{-s} = \sigma^2/(b^2 + \sigma^2)$",
        reason=Algebra(),
        using=(risk_slope(),),
    )


@cache
def risk_comparison() -> Derivation:
    """`q² R_ridge − R_flow` in a mode, for any `q`. For `q = κ` both brackets are `>= 0`: `R_flow <= κ² R_ridge`.

    The first is by `lower_bound` and `κ > 1`. The constant is the best one: without signal, at `s*`, there is equality.
    """
    d = Derivation(
        q**2 * risk(ridge_filter()) - risk(flow_filter()),
        r"q^2 R_{\mathrm{ridge}} - R_{\mathrm{flow}}",
        {**RISK_DOMAIN, q: Interval(1, oo)},
        "The risk of stopping early against that of ridge regression",
        where=NOTATION,
    )
    bias = q**2 * (1 - ridge_filter()) ** 2 - (1 - flow_filter()) ** 2
    variance = q**2 * ridge_filter() ** 2 - flow_filter() ** 2
    return d.then(signal**2 * bias + noise**2 * variance, because="collect", reason=Algebra(), using=(lower_bound(),))


@cache
def no_converse() -> Derivation:
    """`(1 − φ)/(1 − ψ) → 0`: no constant times the flow's risk bounds that of ridge regression, without noise.

    >>> no_converse().conclusion
    0
    """
    small = Dummy("q")
    d = Derivation(
        Limit((1 + s) * exp(-s), s, oo),
        r"\lim_{s\to\infty}\frac{1-\varphi(s)}{1-\psi(s)}",
        title="No bound backwards",
        where=NOTATION,
    )
    return d.then(
        S.Zero,
        because=r"$e^{-s}$ falls faster than any power",
        reason=Continuity(small, {small: (1 + s) * exp(-s)}),
    )


@cache
def balanced_ridge_risk() -> Derivation:
    """`σ² s/(1 + s)`: the ridge's risk for `b² = σ² s`, a signal of covariance `∝ Θ` for which `μ = 1/(ct)` is best.

    It is the `b²σ²/(b² + σ²)` of `least_risk`: in every mode at once no linear fit does better.

    >>> balanced_ridge_risk().conclusion
    s*sigma**2/(s + 1)
    """
    d = Derivation(
        risk(ridge_filter()).subs(signal, noise * sqrt(s)),
        r"R_{\mathrm{ridge}}",
        {noise: POSITIVE, s: POSITIVE},
        "Ridge regression of the right strength",
        where=NOTATION,
    )
    return d.then(noise**2 * s / (1 + s), because=r"$b^2 = \sigma^2 s$", reason=Algebra())


@cache
def balanced_flow_risk() -> Derivation:
    """`σ² (φ − (e^s − 1 − s) e^{−2s})`, the flow's risk for the same signal: at most `σ² φ <= κ R_ridge`.

    The best constant is smaller, 1.21466…; `numerics/early_stopping.py` encloses it.
    """
    excess = exponential_excess()
    d = Derivation(
        risk(flow_filter()).subs(signal, noise * sqrt(s)),
        r"R_{\mathrm{flow}}",
        {noise: POSITIVE, s: POSITIVE},
        "Early stopping at the right time",
        where=NOTATION,
    )
    return d.then(
        noise**2 * (flow_filter() - excess.conclusion * exp(-2 * s)),
        because=r"$b^2 = \sigma^2 s$; $e^s > 1 + s$",
        reason=Algebra(),
        using=(excess,),
    )
