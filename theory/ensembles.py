r"""The law of a trained prediction over random initialisations: its mean and covariance, for a constant kernel.

Definition. At initialisation the outputs are a centred Gaussian process of covariance `K` (the NNGP kernel of a wide
network); training on labels `y` at the points `X`, as in `theory/dynamics.py`, takes them at the time `t` to

    f_t(x) = f_0(x) − A (f_0(X) − y),   A = Θ(x, X) Θ⁻¹ (1 − e^{−cΘt}),   A' the same at x',

with `1 − (1 − ηcΘ)^k` in place of `1 − e^{−cΘt}` under gradient descent. `f_t` is again Gaussian.

Source: Lee et al. (2019), arXiv:1902.06720, section 2.3; N, which compares the tangent kernel with the NNGP. Departure:
the covariance is derived for any `A`, so for every time, rate, and kind of descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import Expr, IndexedBase, MatrixSymbol, S, Sum, Symbol, Trace

from .derivation import Derivation, How, Outcome
from .dynamics import P, n
from .haar import mean
from .matrix_words import Words, word
from .sums import Mean

i = Symbol("i", integer=True, positive=True)
a, a2, F, z = MatrixSymbol("a", 1, P), MatrixSymbol("a_2", 1, P), MatrixSymbol("F", n, P), MatrixSymbol("z", P, 1)
A, A2 = MatrixSymbol("A", 1, n), MatrixSymbol("A_2", 1, n)  # Θ(x, X) Θ⁻¹ (1 − e^{−cΘt}) at x and at x'
K, Kinverse = MatrixSymbol("K", n, n), MatrixSymbol("K_inv", n, n)  # the NNGP kernel on the data, and its inverse
Kx, K2, Kxx = MatrixSymbol("K_xX", 1, n), MatrixSymbol("K_xX2", 1, n), MatrixSymbol("K_xx2", 1, 1)
# The numbers K(x, x'), A K(X, x'), K(x, X) A'ᵀ, A K A'ᵀ and K(x, X) K⁻¹ K(X, x'):
between, at_first, at_second, twice, explained = (Symbol(f"k_{index}", real=True) for index in range(5))
f0, weight, labels = IndexedBase("f"), IndexedBase("A"), IndexedBase("y")


@cache
def mean_prediction() -> Derivation:
    """`E f_t(x) = A y`, with `A = Θ(x, X) Θ⁻¹ (1 − e^{−cΘt})`, as `E f_0 = 0` everywhere. `f[0]` is `f_0(x)`.

    >>> mean_prediction().conclusion
    Sum(A[i]*y[i], (i, 1, n))
    """
    d = Derivation(
        mean(f0[0] - Sum(weight[i] * (f0[i] - labels[i]), (i, 1, n))),
        r"\operatorname{E} f_t(x)",
        title="The mean over initialisations",
    )
    return d.then(
        Sum(weight[i] * labels[i], (i, 1, n)),
        because=r"$\operatorname{E} f_0 = 0$",
        reason=Mean(mean, (f0,), {f0[0]: S.Zero, f0[i]: S.Zero}),
    )


@dataclass(frozen=True)
class MeanOfConstant:
    """`E u = u` for an expression without `random`."""

    random: MatrixSymbol

    def check(self, before: Expr, after: Expr) -> Outcome:
        holds = before == mean(after) and not after.has(self.random)
        return Outcome(How.ALGEBRA) if holds else Outcome(How.WRONG, "it is not the mean of this, or this is random")


@cache
def covariance() -> Derivation:
    r"""`Cov(f_t(x), f_t(x')) = K(x, x') − A K(X, x') − K(x, X) A'ᵀ + A K A'ᵀ` over initialisations of covariance `K`.

    `f_0(x) = a z`, `f_0(x') = a' z`, `f_0(X) = F z` with a white vector `z`: such is every centred Gaussian law. On the
    data, `A = vᵀ(1 − e^{−cΘt})` and `K(x, X) = vᵀK`, so that the covariance of `f_t(X)` is `e^{−cΘt} K e^{−cΘt}`.

    >>> covariance().conclusion == between - at_first - at_second + twice
    True
    """
    first, second = a * z - A * F * z, a2 * z - A2 * F * z
    d = Derivation(mean(Trace(first * second.T)), r"\operatorname{Cov}(f_t(x), f_t(x'))", title="The covariance")
    kernels = {Kxx: a * a2.T, Kx: a * F.T, K2: a2 * F.T, K: F * F.T}
    value = Trace(Kxx - A * K2.T - Kx * A2.T + A * K * A2.T)
    d = d.then(
        mean(value),
        because=r"$\operatorname{E} z z^\top = 1$, and $K = F F^\top$",
        reason=Words(given=kernels, mean=mean, white=(z,)),
    )
    d = d.then(value, because="nothing in it is random", reason=MeanOfConstant(z))
    numbers = {between: Kxx, at_first: A * K2.T, at_second: Kx * A2.T, twice: A * K * A2.T}
    return d.then(
        between - at_first - at_second + twice,
        because=r"the trace is linear; $k_0 = K(x, x')$, $k_1 = A\,K(X, x')$, $k_2 = K(x, X)\,A'^\top$, "
        r"$k_3 = A K A'^\top$",
        reason=Words(given={name: Trace(product) for name, product in numbers.items()}),
    )


@cache
def posterior_covariance() -> Derivation:
    """Training the last layer only, where `Θ = K`, to the end: the posterior of a Gaussian process without noise.

    `A = K(x, X) K⁻¹`, so that the mean is `K(x, X) K⁻¹ y` and the covariance the one derived. With another `Θ` the two
    middle terms do not cancel the last: the ensemble of fully trained networks is no posterior.

    >>> posterior_covariance().conclusion == between - explained
    True
    """
    law = covariance()
    d = Derivation(law.lines[-2], law.name, title="The last layer alone, trained to the end")
    inverse = {word(K, Kinverse): S.One, word(Kinverse, K): S.One}
    numbers = {between: Trace(Kxx), explained: Trace(Kx * Kinverse * K2.T)}
    return d.then(
        between - explained,
        because=r"$A = K(x, X) K^{-1}$, with a symmetric inverse; $k_4 = K(x, X) K^{-1} K(X, x')$",
        reason=Words(inverse, {A: Kx * Kinverse, A2: K2 * Kinverse.T, **numbers}),
        using=(law,),
    )
