r"""How fast the derivatives `φ^{(k)}` of an activation grow with `k`, on the whole real line.

Claimed by the source: `φ^{(k)} <= O((k+1)!)` is what an activation must satisfy. Here `k >= 1`, `s ∈ R`, and `‖·‖` is
the supremum over `s`:

    tanh        ‖φ^{(k)}‖ = 2 k! (2/π)^{k+1} Λ_{k+1} for odd k, at s = 0, and no more for even k;  <= k! (2/π)^{k−1}
    sigmoid     2^{−k−1} times that of tanh, as σ(s) = (1 + tanh(s/2))/2:                          <= k! π^{1−k}/4
    softplus    that of sigmoid at k − 1, for k >= 2:                                              <= (k−1)! π^{2−k}/4
    erf         ‖φ^{(k)}‖ = 2^k Γ(k/2)/π for odd k, at s = 0, and no more for even k: about √(k!)
    sin, cos    1            exp   e^s, at each s          identity   0 from k = 2 on

with `Λ_p = Σ_{n>=0} (2n+1)^{−p}`, between 1 and `Λ_2 = π²/8`. For tanh all comes from the poles `±iπ(n+½)` of

    tanh s = Σ_{n>=0} (1/(s − iπ(n+½)) + 1/(s + iπ(n+½)))                                          (Mittag-Leffler):

differentiating term by term, the modulus of each term is largest at `s = 0`, and for odd `k` all have one sign there.
For erf it comes from the Fourier integral `erf^{(k)}(s) = (1/π) ∫ (iω)^{k−1} e^{−ω²/4 + iωs} dω` in the same way.

**The verdict on the condition.** All of them satisfy it, with room: `k!`, and less, would do. Yet it is not the
condition: it is not invariant under `φ(s) → φ(cs)`, which only rescales weights. `tanh(cs)` violates it as soon as
`c > π/2` (`scaled`), while it makes the same networks. What is invariant, and what the argument uses, is

    ‖φ^{(k)}‖ = O(k! R^{−k}) for some R > 0,

which says that φ is analytic, and bounded, in each strip `|Im s| <= R' < R`. `(k+1)!` is `R = 1` with a double pole. A
smooth function that violates this for every `R` is the lacunary series (`lacunary`)

    φ(s) = Σ_{j>=0} e^{−2^j} cos(4^j s),    |φ^{(2k)}(0)| = Σ_j 2^{4jk} e^{−2^j} >= (4k)^{4k} e^{−4k} if 4k = 2^j,

whose derivatives are bounded, and grow like `((2k)!)²` up to powers.

Source: C (arXiv:2401.04013), the section on architectures. Departures: as said.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sympy import (
    Abs,
    Derivative,
    Expr,
    I,
    Integral,
    Interval,
    Limit,
    S,
    Sum,
    Symbol,
    cos,
    erf,
    exp,
    factorial,
    gamma,
    log,
    oo,
    pi,
    sin,
    symbols,
    tanh,
)

from .derivation import Derivation, Relation
from .errors import InvalidInput
from .growth_reasons import (
    POLE,
    AbsoluteIntegral,
    AtMostOne,
    AtZero,
    CommonFactor,
    FarthestFromPoles,
    FirstTerm,
    FourierOfErf,
    GaussianMoment,
    MittagLeffler,
    OneDerivative,
    OneTerm,
    RatioTest,
    RepeatedDerivative,
    Rescaled,
    TermsDecrease,
    k,
    n,
    omega,
    s,
)
from .reasons import Algebra

c, R = symbols("c R", positive=True)
j = Symbol("j", integer=True, nonnegative=True)

ODD = 2 * k - 1
SIGMOID_DERIVATIVE = Derivative((1 + tanh(s / 2)) / 2, (s, k))

POSITIVE = Interval.open(0, oo)
SIZES = {s: S.Reals, k: Interval(1, oo)}


@cache
def tanh_derivatives() -> Derivation:
    """`tanh^{(k)}(s)` as a sum over the poles."""
    derivation = Derivation(tanh(s), r"\tanh s", {s: S.Reals}, "The poles of the hyperbolic tangent")
    poles = Sum(1 / (s - POLE) + 1 / (s + POLE), (n, 0, oo))
    return derivation.then(poles, because="Mittag-Leffler", reason=MittagLeffler())


@cache
def tanh_bound() -> Derivation:
    r"""`‖tanh^{(k)}‖ <= k! (2/π)^{k−1}`, with `2 k! (2/π)^{k+1} Λ_{k+1}` on the way, which is attained for odd `k`.

    >>> tanh_bound().conclusion
    (2/pi)**(k - 1)*factorial(k)
    """
    poles = tanh_derivatives()
    powers = (-1) ** k * factorial(k) * ((s - POLE) ** (-k - 1) + (s + POLE) ** (-k - 1))
    derivation = Derivation(
        Derivative(poles.conclusion, (s, k)), r"\tanh^{(k)}(s)", SIZES, "The growth of the derivatives of tanh"
    )
    derivation = derivation.then(
        Sum(powers, (n, 0, oo)),
        because="term by term",
        reason=RepeatedDerivative(s, k),
        using=(poles,),
    )
    derivation = derivation.then(
        Sum(2 * factorial(k) * Abs(POLE) ** (-k - 1), (n, 0, oo)),
        because=r"its modulus is at most that at $s = 0$, where the terms have one sign for odd $k$",
        relation=Relation.DECIDES,
        reason=FarthestFromPoles(),
    )
    odd = Sum((2 * n + 1) ** (-k - 1), (n, 0, oo))
    derivation = derivation.then(
        2 * factorial(k) * (2 / pi) ** (k + 1) * odd, because="the constant factors", reason=CommonFactor()
    )
    return derivation.then(
        factorial(k) * (2 / pi) ** (k - 1),
        because=r"the sum is at most $\pi^2/8$, its value at $k = 1$, as $\tanh'(0) = 1$",
        relation=Relation.DECIDES,
        reason=TermsDecrease(),
    )


@cache
def lower_bound() -> Derivation:
    """`|tanh^{(m)}(0)| >= 2 m! (2/π)^{m+1}` for the odd order `m = 2k − 1`: all terms have one sign.

    >>> lower_bound().conclusion
    2*(2/pi)**(2*k)*factorial(2*k - 1)
    """
    terms = tanh_bound().lines[1]
    derivation = Derivation(terms, r"\tanh^{(k)}(s)", SIZES, "The odd derivatives of tanh at zero")
    derivation = derivation.then(
        Sum(2 * factorial(ODD) * Abs(POLE) ** (-2 * k), (n, 0, oo)),
        because="its modulus at $s = 0$ for $2k - 1$ in place of $k$",
        relation=Relation.DECIDES,
        reason=AtZero(ODD, (-1) ** (k + 1)),
    )
    return derivation.then(
        2 * factorial(ODD) * (2 / pi) ** (2 * k),
        because="it is more than its first term",
        relation=Relation.DECIDES,
        reason=FirstTerm(),
    )


@cache
def sigmoid_bound() -> Derivation:
    """`‖σ^{(k)}‖ <= k! π^{1−k}/4`."""
    derivation = Derivation(SIGMOID_DERIVATIVE, r"\sigma^{(k)}(s)", SIZES, "The growth of the derivatives of sigmoid")
    return _from_tanh(derivation, factorial(k) * pi ** (1 - k) / 4, r"that of $\tanh$, with the factor $2^{-k-1}$")


@cache
def softplus_bound() -> Derivation:
    """`‖softplus^{(k+1)}‖ <= k! π^{1−k}/4`, for `k >= 1`: its derivative is `σ`."""
    derivation = Derivation(
        Derivative(log(1 + exp(s)), (s, k + 1)),
        r"\log(1 + e^s)^{(k+1)}",
        SIZES,
        "The growth of the derivatives of softplus",
    )
    derivation = derivation.then(
        SIGMOID_DERIVATIVE, because="the first derivative is the sigmoid", reason=OneDerivative()
    )
    return _from_tanh(derivation, sigmoid_bound().conclusion, "the bound of the sigmoid")


@cache
def erf_bound() -> Derivation:
    """`‖erf^{(k)}‖ <= 2^k Γ(k/2)/π`, attained at `s = 0` for odd `k`.

    >>> erf_bound().conclusion
    2**k*gamma(k/2)/pi
    """
    wave = exp(-(omega**2) / 4 + I * omega * s) / pi
    derivation = Derivation(
        Derivative(erf(s), (s, k)), r"\operatorname{erf}^{(k)}(s)", SIZES, "The growth of the derivatives of erf"
    )
    derivation = derivation.then(
        Derivative(Integral(wave, (omega, -oo, oo)), (s, k - 1)),
        because="the first derivative is a Gaussian, by its Fourier integral",
        reason=FourierOfErf(),
    )
    derivation = derivation.then(
        Integral((I * omega) ** (k - 1) * wave, (omega, -oo, oo)),
        because="under the integral",
        reason=RepeatedDerivative(s, k),
    )
    moment = Integral(omega ** (k - 1) * exp(-(omega**2) / 4), (omega, 0, oo))
    derivation = derivation.then(
        2 / pi * moment,
        because=r"its modulus is at most that at $s = 0$, where it has one sign for odd $k$",
        relation=Relation.DECIDES,
        reason=AbsoluteIntegral(),
    )
    return derivation.then(2**k * gamma(k / 2) / pi, because="by parts, from $k$ to $k + 2$", reason=GaussianMoment())


@cache
def sine_bound() -> Derivation:
    """`|sin^{(k)}(s)| <= 1`; for the cosine, `sin(s + π/2)`, likewise."""
    derivation = Derivation(Derivative(sin(s), (s, k)), r"\sin^{(k)}(s)", SIZES, "The derivatives of the sine")
    derivation = derivation.then(sin(s + k * pi / 2), because="by induction", reason=RepeatedDerivative(s, k))
    return derivation.then(S.One, because="a sine", relation=Relation.DECIDES, reason=AtMostOne())


@cache
def exponential_derivatives() -> Derivation:
    """`exp^{(k)}(s) = e^s`: bounded in `k` at each `s`, though not in `s`."""
    derivation = Derivation(Derivative(exp(s), (s, k)), r"\exp^{(k)}(s)", SIZES, "The derivatives of the exponential")
    return derivation.then(exp(s), because="by induction", reason=RepeatedDerivative(s, k))


@cache
def identity_derivatives() -> Derivation:
    """The second derivative of the identity is zero, and so are all that follow."""
    derivation = Derivation(Derivative(s, (s, 2)), r"\phi^{(2)}(s)", {s: S.Reals}, "The derivatives of the identity")
    return derivation.then(S.Zero, because="by differentiation", reason=Algebra())


@cache
def scaled(c: Expr = c) -> Derivation:
    """`|(tanh cs)^{(m)}| >= 2 m! (2/π)^{m+1} c^m` at `s = 0`, for `c > 0` and the odd order `m = 2k − 1`."""
    derivation = Derivation(
        Derivative(tanh(c * s), (s, ODD)),
        rf"\tanh({c} s)^{{(2k-1)}}",
        SIZES | ({c: POSITIVE} if c.is_Symbol else {}),
        "A hyperbolic tangent of another scale",
    )
    bound = lower_bound().conclusion * c**ODD
    return _from_tanh(derivation, bound, "the chain rule, at $s = 0$", ODD, lower_bound())


@cache
def scaled_bound() -> Derivation:
    """`‖(tanh cs)^{(k)}‖ <= k! (2/π)^{k−1} c^k`."""
    derivation = Derivation(
        Derivative(tanh(c * s), (s, k)), r"\tanh(cs)^{(k)}", SIZES | {c: POSITIVE}, "The growth at another scale"
    )
    return _from_tanh(derivation, tanh_bound().conclusion * c**k, "the chain rule")


def _from_tanh(
    derivation: Derivation, bound: Expr, because: str, order: Expr = k, inner: Derivation | None = None
) -> Derivation:
    """One more line: a bound on a derivative of `α + β tanh(γ s)` from `inner`, by default `tanh_bound`."""
    inner = tanh_bound() if inner is None else inner
    reason = Rescaled(tanh(s), order, inner)
    return derivation.then(bound, because=because, relation=Relation.DECIDES, reason=reason, using=(inner,))


@cache
def lacunary() -> Derivation:
    """`|φ^{(2k)}(0)| >= (4k)^{4k} e^{−4k}` for the lacunary series and `4k` a power of 2.

    >>> lacunary().conclusion
    (4*k)**(4*k)*exp(-4*k)
    """
    frequency = 4**j
    series = Sum(exp(-(2**j)) * cos(frequency * s), (j, 0, oo))
    derivation = Derivation(
        Derivative(series, (s, k)), r"\phi^{(k)}(s)", SIZES, "A smooth activation that is not analytic"
    )
    derivation = derivation.then(
        Sum(exp(-(2**j)) * frequency**k * cos(frequency * s + k * pi / 2), (j, 0, oo)),
        because=r"term by term, as $\sum_j 4^{jk} e^{-2^j}$ converges for every $k$",
        reason=RepeatedDerivative(s, k),
    )
    derivation = derivation.then(
        Sum(exp(-(2**j)) * (2**j) ** (4 * k), (j, 0, oo)),
        because=r"its modulus at $s = 0$ for $2k$ in place of $k$",
        relation=Relation.DECIDES,
        reason=AtZero(2 * k, (-1) ** k),
    )
    return derivation.then(
        (4 * k) ** (4 * k) * exp(-4 * k),
        because="it is more than its term with $2^j = 4k$",
        relation=Relation.DECIDES,
        reason=OneTerm(log(4 * k) / log(2)),
    )


def over_factorial(bound: Callable[[], Derivation], order: Expr = k, step: int = 1) -> Derivation:
    """`lim B_k/(m + 1)!` for a bound `B_k` on the derivatives of order `m = order`: zero means `o((m+1)!)`.

    `step` is that of the ratio test, as of all functions here. Raises `InvalidInput` if the test does not tell.

    >>> over_factorial(tanh_bound).conclusion
    0
    """
    of = bound()
    return _limit(of, of.conclusion / factorial(order + 1), step, "over a factorial")


def factorial_over(bound: Callable[[], Derivation], order: Expr = k, step: int = 1) -> Derivation:
    """`lim (m + 1)!/B_k` for a lower bound `B_k` on a derivative of order `m`: zero means that it is not `O((m+1)!)`.

    >>> factorial_over(lacunary, 2 * k).conclusion
    0
    """
    of = bound()
    return _limit(of, factorial(order + 1) / of.conclusion, step, "under a factorial")


def over_strip(bound: Callable[[], Derivation], radius: Expr, order: Expr = k, step: int = 1) -> Derivation:
    """`lim B_k R^m/m!` for a bound `B_k` on the derivatives of order `m`: zero means `o(m! R^{−m})`, `R = radius`.

    >>> over_strip(scaled_bound, pi / (4 * c)).conclusion
    0
    """
    of = bound()
    return _limit(of, of.conclusion * radius**order / factorial(order), step, "against a strip")


def strip_over(bound: Callable[[], Derivation], radius: Expr, order: Expr = k, step: int = 1) -> Derivation:
    """`lim m! R^{−m}/B_k` for a lower bound `B_k` on a derivative of order `m`: zero means no strip of half-width `R`.

    >>> strip_over(lacunary, R, 2 * k).conclusion
    0
    """
    of = bound()
    return _limit(of, factorial(order) / (radius**order * of.conclusion), step, "beyond a strip")


def _limit(of: Derivation, ratio: Expr, step: int, words: str) -> Derivation:
    free = {symbol: POSITIVE for symbol in (c, R) if ratio.has(symbol)} | ({s: S.Reals} if ratio.has(s) else {})
    derivation = Derivation(Limit(ratio, k, oo), "", free, f"{of.title}, {words}")
    reason = RatioTest(step, (of,))
    value = reason.value(derivation.start)
    if value is None:
        raise InvalidInput("bound", of.conclusion, "the ratio test does not tell its limit")
    return derivation.then(value, because="the ratio of one term to the one before", reason=reason, using=(of,))
