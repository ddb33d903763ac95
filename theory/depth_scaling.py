r"""Depth scaled with the separation of the data: what the kernel's smallest eigenvalue and its predictor are then.

Definition. For `n >= 2` different points of the unit sphere, `Θ̄ = Θ̄^L(X, X)` with eigenvalues `λ_1 >= … >= λ_n`. In
the time `t >= 0` of gradient flow on `½ Σ (f − y)²` with this kernel (`L + 1` times the time with `Θ`), the predictor
is `f_t(x) = f_0(x) − P_t (f_0(X) − y)`, `P_t = Θ̄(x, X) Θ̄⁻¹ (1 − e^{−Θ̄t})`. Let `θ_min ∈ (0, π/2]` be the smallest
angle between the lines through two of the points, `s = L θ_min/(3π)`, and `Φ` the crossover function
(`theory/crossover.py`).

**The norm of the predictor.** For every kernel, every point and every `t`,

    ‖P_t‖ <= min(κ √t, 1/√λ_n) √Θ̄(x, x),      κ = max_{z>0} (1 − e^{−z})/√z = 0.6381…

Proof. `P_t = (Θ̄(x, X) Θ̄^{−1/2}) g(Θ̄)` with `g(λ) = (1 − e^{−λt})/√λ`. As the kernel is positive semidefinite on `X` and
`x` together, `Θ̄(x, X) Θ̄⁻¹ Θ̄(X, x) <= Θ̄(x, x)`; and `g <= κ √t`, `g <= 1/√λ`. With a single point and `x = x_1` it is an
equality where `g` is largest. ∎ At a point of `X`, moreover, `‖P_t‖ <= 1`, as `P_t` is a row of `1 − e^{−Θ̄t}`.

**The smallest eigenvalue, from below.** Let `f(ρ) = ∑ b_k ρ^k`, `b_k >= 0`, be the kernel (`Θ̄^L` is one: `κ_0`, `κ_1`
are, `theory/correlation.py`, and so are sums, products and compositions). For `0 < r < 1`, and `K >= 1` so large that
the first factor is not negative,

    λ_n >= (1 − (n − 1) cos^K θ_min) (f(1) − f(r) − (1 − r) r^{1−K} f'(r)).

Proof. `(x_i·x_j)^k` is a positive semidefinite matrix; for `k >= K` its smallest eigenvalue is at least
`1 − (n − 1) cos^K θ_min`, by Gershgorin. So `λ_n` is at least this times `∑_{k>=K} b_k`, if it is not negative. And
`1 − r^k − (1 − r) r^{1−K} k r^{k−1}` is at most 1, and at most 0 for `k < K`, where `r^{k−K} >= 1` and
`1 − r^k <= k (1 − r)`: multiply by `b_k` and sum. ∎ With `cos^K θ_min = 1/(2n)` and `r = 1 − ε/K`, `0 < ε < log 2`, it
tends in the crossover to the bound of `eigenvalue_bound`, in which `n` occurs through `√log(2n)` alone.

**From above**, `λ_n <= 1 − Θ̄(x_i, x_j)` for every pair: it is the quotient of Rayleigh of `e_i − e_j`.

Source: W (arXiv:2511.07272), Theorem 3: `t ∈ o(1/λ_n)` and `L ∈ O(1/√(1 − ρ^{(2)}))`. Departures: all bounds are ours;
its bound on the depth is `s = O(1)`, as `√(1 − ρ^{(2)})` is of the order of `θ_min`.
"""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Expr, Integral, Interval, Limit, Rational, S, Symbol, exp, factor, log, oo, together

from .crossover import crossover, s, x
from .derivation import Derivation
from .notation import Meaning
from .reasons import Algebra, Antiderivative, Continuity, LowestTerm
from .spectrum import ActsOn, J, t

sigma = Symbol("sigma", positive=True)  # s √(ε/log 2n)
epsilon = Symbol("varepsilon", positive=True)  # in (0, log 2), chosen freely
tau = Symbol("tau", positive=True)  # λ_n t


NOTATION = (
    Meaning(r"\bar\Theta", "the matrix of the normalised kernels of two points"),
    Meaning("J", "the matrix of ones; in an eigenvalue it stands for its own, $n$ or $0$"),
    Meaning(r"\lambda_n", "its smallest eigenvalue"),
)


def _crossover_at(variable: Expr) -> Expr:
    return crossover().conclusion.subs(s, variable)


@cache
def mixture() -> Derivation:
    r"""`Φ(s) = 1/4 + (3/4) ∫₀¹ (1 + sx)^{−4} dx`: completely monotone in the angle.

    Each `(1 + sx)^{−4}` is a mixture of `e^{−a s}` with weights `>= 0`, and `e^{−a∠(x, x')}` is a positive definite
    kernel on every sphere, as the angle is of negative type; so the crossover kernel is positive definite for any
    points.

    >>> mixture().conclusion - crossover().conclusion
    0
    """
    d = Derivation(
        Rational(1, 4) + Rational(3, 4) * Integral((1 + s * x) ** -4, (x, 0, 1)),
        r"\Phi(s)",
        {s: Interval.open(0, oo)},
        "The crossover function is completely monotone",
        where=NOTATION,
    )
    return d.then(
        crossover().conclusion,
        because="integrate the power",
        reason=Antiderivative(-((1 + s * x) ** -3) / (3 * s)),
        using=(crossover(),),
    )


@cache
def closest_pair() -> Derivation:
    r"""`lim_{s→0} (1 − Φ(s))/s = 3/2`: the bound from above on `λ_n` when the depth is far below `1/θ_min`.

    >>> closest_pair().conclusion
    3/2
    """
    gap = together(1 - _crossover_at(sigma))
    d = Derivation(
        Limit(factor(gap / sigma), sigma, 0),
        r"\lim_{s\to 0}\frac{1 - \Phi(s)}{s}",
        title="The gap of the closest pair",
        where=NOTATION,
    )
    return d.then(
        Rational(3, 2), because="the lowest power of the numerator", reason=LowestTerm(1), using=(crossover(),)
    )


@cache
def eigenvalue_bound() -> Derivation:
    r"""`λ_n >= ½ (1 − Φ(σ) + ½ e^ε σ Φ'(σ))` in the crossover, `σ = s √(ε/log 2n)`, for every `ε ∈ (0, log 2)`.

    From the bound at finite depth: `K = log(2n)/(−log cos θ_min) = 2 log(2n)/θ_min² (1 + o(1))`, so that `r = 1 − ε/K`
    is the cosine of the angle `θ_min √(ε/log 2n)` up to its order. There `f(r) → Φ(σ)`, `r^{1−K} → e^ε`, and, `f` as a
    function of the angle tending to `Φ(Lθ/(3π))`, also `(1 − r) f'(r) → −½ σ Φ'(σ)`: `f` is convex in `ρ`, and convex
    functions converge with their derivatives.
    """
    slope = Derivative(_crossover_at(sigma), sigma)
    d = Derivation(
        S.Half * (1 - _crossover_at(sigma) + exp(epsilon) / 2 * sigma * slope),
        r"\tfrac12\Big(1 - \Phi(\sigma) + \tfrac12 e^{\varepsilon}\sigma\Phi'(\sigma)\Big)",
        {sigma: Interval.open(0, oo), epsilon: Interval.open(0, log(2))},
        "The smallest eigenvalue in the crossover",
        where=NOTATION,
    )
    return d.then(factor(together(d.start.doit())), because="differentiate", reason=Algebra(), using=(crossover(),))


@cache
def eigenvalue_slope() -> Derivation:
    r"""The bound on `λ_n` for small `σ`, divided by it: `(3/4)(1 − ½ e^ε)`, positive for `ε < log 2`.

    So `λ_n >= c s/√log(2n)` with a constant `c`; and `λ_n <= (3/2) s` if two points, not a point and the opposite of
    another, are at the angle `θ_min`: the smallest eigenvalue is then of the order of `s` up to the root of a logarithm
    of the number of points, in any dimension. Nearly opposite points do not make it small.

    >>> eigenvalue_slope().conclusion
    3/4 - 3*exp(varepsilon)/8
    """
    bound = eigenvalue_bound()
    d = Derivation(
        Limit(bound.conclusion / sigma, sigma, 0),
        r"\lim_{\sigma\to 0}\ \text{bound}/\sigma",
        {epsilon: Interval.open(0, log(2))},
        "The bound for few layers",
        where=NOTATION,
    )
    value = Rational(3, 4) * (1 - exp(epsilon) / 2)
    return d.then(value.expand(), because="the lowest power", reason=LowestTerm(1), using=(bound,))


@cache
def learned_difference() -> Derivation:
    r"""The share `1 − e^{−(1−Φ(s))t}` of the difference of two labels that two points have learned by time `t`.

    The kernel matrix of two points is `(1 − Φ) + Φ J` with the matrix of ones `J`, and their difference is orthogonal
    to the constants.
    """
    kernel = (1 - _crossover_at(s)) + _crossover_at(s) * J
    start = 1 - exp(-kernel * t)
    d = Derivation(
        start,
        r"\lim_{L\to\infty}\big(1 - e^{-\bar\Theta t}\big)",
        {s: Interval.open(0, oo), t: Interval(0, oo)},
        "What two points learn of their difference",
        where=NOTATION,
    )
    return d.then(
        start.subs(J, S.Zero),
        because=r"$J$ is 0 on the difference",
        reason=ActsOn(S.Zero),
        using=(crossover(),),
    )


@cache
def learned_in_short_time() -> Derivation:
    r"""`lim (1 − e^{−λ_n t}) = 0` as `λ_n t → 0`: what `t ∈ o(1/λ_n)` leaves of the residual's last mode.

    For two points this mode is their difference (`learned_difference`): the predictor does not tell them apart.

    >>> learned_in_short_time().conclusion
    0
    """
    d = Derivation(
        Limit(1 - exp(-tau), tau, 0),
        r"\lim_{\lambda_n t \to 0}\big(1 - e^{-\lambda_n t}\big)",
        title="The last mode, stopped early",
        where=NOTATION,
    )
    y = Symbol("y", nonnegative=True)
    return d.then(
        S.Zero,
        because=r"continuity, with $\tau = \lambda_n t$",
        reason=Continuity(1 - exp(-y), {y: tau}),
        using=(learned_difference(),),
    )
