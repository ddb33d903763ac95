r"""Is there a least bound in probability? And how large is the largest of many?

Definition. Let `X_n >= 0` be random and `𝓑` the set of sequences `g >= 0` with `X = O(g)` (`theory/orders.py`), ordered
by `f ≲ g: f(n) <= C g(n)` for some `C` and all large `n`. The *definite* bound is the least element of `𝓑`.

**Uniqueness.** Two least elements bound each other: they are equivalent, `f ≲ g ≲ f`.

**Existence.** Let `q_ε(n) = inf {x: P(X_n > x) <= ε}`, a quantile. Then `g ∈ 𝓑` if and only if `q_ε ≲ g` for every
`ε > 0`; and `𝓑` has a least element, even a minimal one, if and only if *some quantile is a bound*: `q_{ε₀} ∈ 𝓑` for
one `ε₀ > 0`. That quantile is then the definite bound.
Proof. If `q_{ε₀} ∈ 𝓑`, it is least, as `q_{ε₀} ≲ g` for each `g ∈ 𝓑`. If no quantile is a bound, let `g ∈ 𝓑` and
`ε_k = 1/k`. Then `g ≲ q_{ε_k}` for no `k`, as it would make `q_{ε_k}` a bound: there are `n_1 < n_2 < …` with
`g(n_k) > k q_{ε_k}(n_k)`. Let `g'(n_k) = q_{ε_k}(n_k)`, and `g' = g` elsewhere. As `q_ε` grows when `ε` falls,
`g'(n_k) >= q_{ε_j}(n_k)` for `k >= j`: so `g' ∈ 𝓑`. And `g(n_k) > k g'(n_k)`: so `g` is not minimal.  ∎

So descending chains of bounds may have no lower bound that is one, and Zorn's lemma does not apply. The shortest
example is `X_n = n^U`, `U` uniform on [0, 1], where a bound divided by `log n` is still one (`tail_gained`): its tail
grows by `log log n/log n → 0`, whatever the bound. In the scale `n^p (log n)^q` there is besides no least bound for
want of enough sequences: for the deterministic `X_n = n^{1+(−1)^n}` the definite bound is `X_n`, the least in the scale
is `n²`, and `X_n/n² → 0` along odd `n`.

**The largest of N** independent variables with `P(X > a_N) = y/N` is at most `a_N` with a probability that tends to
`e^{−y}` (`maximum_law`). For `P(X > t) = t^{−s}` that is `a_N = (N/y)^{1/s}`; for `P(X > t) = e^{−t}`, it is
`log N − log y`; for variables that are not zero with probability `1/N`, any `a_N`, and `y = 1`.

Source: arXiv:2401.04013, section 2, which states existence and uniqueness for every random tensor, by Zorn's lemma.
"""

from __future__ import annotations

from functools import cache

from sympy import Integral, Interval, Limit, S, Symbol, exp, log, oo, symbols

from .derivation import Derivation
from .notation import Meaning
from .reasons import Algebra, Antiderivative, Continuity

t = Symbol("t", positive=True)  # log n
G = Symbol("G", positive=True)  # a constant times a bound, at n
u = Symbol("u", real=True)
z, y, M = symbols("z y M", positive=True)


NOTATION = (
    Meaning(r"X_n", r"the largest of $n$ independent variables"),
    Meaning(r"a_n", r"its scale"),
    Meaning(r"n", r"their number"),
    Meaning(r"N", r"a standard normal variable"),
    Meaning(r"U", r"a uniform variable in $[0, 1]$"),
    Meaning(r"P", r"the probability"),
)


@cache
def log_uniform_tail() -> Derivation:
    """`P(n^U > z)`, `1 <= z <= n = e^t`: the length of the part of [0, 1] where `u > log z/log n`.

    >>> log_uniform_tail().conclusion
    1 - log(z)/t
    """
    d = Derivation(
        Integral(S.One, (u, log(z) / t, 1)),
        r"P(n^U > z)",
        {t: Interval.open(1, oo), z: Interval(1, 2)},
        "The tail of a log-uniform variable",
        where=NOTATION,
    )
    return d.then(1 - log(z) / t, because="the length of an interval", reason=Antiderivative(u))


@cache
def tail_gained() -> Derivation:
    """What dividing a bound by `log n` adds to the tail of `n^U`: `P(n^U > G/log n) − P(n^U > G)`, `log n <= G <= n`.

    >>> tail_gained().conclusion
    log(t)/t
    """
    tail = log_uniform_tail()
    narrower, wider = (tail.conclusion.subs(z, bound) for bound in (G / t, G))
    d = Derivation(
        narrower - wider,
        r"P\Big(n^U > \frac{G}{\log n}\Big) - P(n^U > G)",
        {t: Interval.open(1, oo), G: Interval.open(0, oo)},
        "A bound of a log-uniform variable, divided by a logarithm",
        where=NOTATION,
    )
    return d.then(
        log(t) / t,
        because=r"logarithms of products; $t = \log n$",
        reason=Algebra(),
        using=(tail,),
    )


@cache
def tail_gained_vanishes() -> Derivation:
    """So `g/log n` is a bound of `n^U` wherever `g` is: no bound is minimal.

    >>> tail_gained_vanishes().conclusion
    0
    """
    gained, null = tail_gained(), Symbol("delta")
    d = Derivation(
        Limit(gained.conclusion, t, oo),
        r"\lim_{n\to\infty}\Big(P\Big(n^U > \frac{G}{\log n}\Big) - P(n^U > G)\Big)",
        title="A log-uniform variable has no least bound",
        where=NOTATION,
    )
    return d.then(
        S.Zero,
        because="a power outgrows its logarithm",
        reason=Continuity(null, {null: gained.conclusion}),
        using=(gained,),
    )


@cache
def maximum_law() -> Derivation:
    r"""`lim P(max ≤ a_N)`, `P(X > a_N) = y/N`, of `N` independent variables; `N = y M`, `(1 − y/N)^N = (1 − 1/M)^{yM}`.

    >>> maximum_law().conclusion
    exp(-y)
    """
    null = Symbol("delta")
    d = Derivation(
        Limit(exp(y * M * log(1 - 1 / M)), M, oo),
        r"\lim_{N\to\infty} P(\max_{i \le N} X_i \le a_N)",
        {y: Interval.open(0, oo)},
        "The largest of many independent variables",
        where=NOTATION,
    )
    return d.then(
        exp(-y),
        because=r"$(1 - y/N)^N = e^{yM\log(1 - 1/M)}$, $M = N/y$, and $M\log(1 - 1/M) \to -1$",
        reason=Continuity(exp(y * (null - 1)), {null: M * log(1 - 1 / M) + 1}),
    )
