r"""How far a network is from its linearisation after training, as a power of the width: what the correlations predict.

Definition. `f_lin(θ) = f(θ₀) + ∇f(θ₀)(θ − θ₀)` is trained beside `f` (`numerics/linearised.py`), by `s` steps of the
rate `η ∝ m^α`, `α <= 0`, `m` the width, squared loss, fixed data. After one step on one sample, with the derivative
`C'` of the loss, the Taylor series of `F` along its gradient gives (`theory/taylor_identity.py`)

    F(θ₁) − F_lin,1 = Σ_{d>=2} (−C')^d C_{0,d},

exactly where it converges. In `s` steps, before the residual has changed much, the term of order `d` becomes `s^d`
times as large, up to a factor that does not depend on the width. `C_{0,d}` is `η^d m^{−⌊d/2⌋}`
(`theory/cluster_rule.py`), so that

    f − f_lin = Σ_{d>=2} O((η s)^d m^{−⌊d/2⌋}),

and what counts is how the training time `ηs` depends on the width: it is `m^α` at a fixed number of steps, and constant
at a fixed time, `s ∝ 1/η`. For `α = −β <= 0` no term is larger than that of `d = 2`, as is shown here: the root mean
square of `f − f_lin` is of order `m^{2α−1}` at fixed steps, and `m^{−1}` at a fixed time.

**Two hidden layers, proof for one step.** Let `f = c a·φ(u²)`, `u² = cWφ(u¹)`, `u¹ = W¹x`, `c = √(c_φ/m)`, `‖x‖ = 1`,
the first three derivatives of φ bounded. Along `θ + ε∇f`, at `ε = 0`, with

    w = a φ'(u²),   b = Wᵀw,   N = (c²|φ(u¹)|² + c² W diag(φ'(u¹)²) Wᵀ) diag φ'(u²),   p = φφ'²(u¹),   s = φ''φ'²(u¹),

    f'' = 2c³ (φφ')(u²)·Na + c³ Σ_k φ''(u²_k) a_k (Na)_k² + 2c⁶ |w|² p·b + c⁶ Σ_j s_j b_j³.

Given the hidden weights each part is an odd polynomial, of degree 3 at most, in the normal vector `a`: its mean is 0,
and its variance at most a number times the squared lengths of its coefficient tensor and of that one's contractions. As
`‖W‖² = O(m)` in all moments, so that `‖N‖ = O(1)` and `‖cov b‖ = O(m)`, these are `O(c⁶ m)` for the first two parts
and `O(c¹² m⁴)` for the others: **`f''` has the mean 0 and the root mean square `O(m^{−1})`**, and so has
`C_{0,2} = ½ η² f''`. The third derivative is `O(m^{−1})` without any cancellation, by Hölder, up to the end of a step
of fixed rate: it moves `W` by `O(1)` in norm, `a` by `O(1)` in length. So after one step `f − f_lin` is `O(m^{−1})` in
root mean square, as with one hidden layer. With several points the parts are the same, between points. ∎

Status. One step: proved for one and two hidden layers; beyond, by the cluster rule, which is conjectured (Huang and Yau
(2020), arXiv:1909.08156, have `m^{−1}` up to logarithms for the change of the kernel, at any depth and time). Several
steps: the terms of second order are then sums of `∇f(x)·∇²f(x')∇f(x'')` with coefficients that do not grow: an
argument, measured by the claims `linearised-network` and `rate-scaling`. **ReLU** is outside of it: its series along
the gradient has no radius of convergence that stays as the width grows, and the kinks give `m^{2α−1/2}` and `m^{−1/2}`
(`theory/linearisation_lag.py`), although `C_{0,2}`, where it is defined, is of order `m^{−1}`.

Source: C (arXiv:2401.04013), theorems 3.1 and 3.2: `O(r(n)/m(n))` for the rate `r(n) η`. Departures: at fixed
steps `r²/n`, not `r/√n`; the fixed time.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from sympy import Expr, Interval, Range, S, Symbol, factor, oo

from .cluster_rule import decay_exponent
from .correlations import D, d
from .derivation import Derivation
from .notation import Meaning
from .reasons import Algebra

alpha = Symbol("alpha", real=True)
beta = Symbol("beta", nonnegative=True)  # −α
mode = Symbol("mode", integer=True, nonnegative=True)
j = Symbol("j", integer=True, positive=True)


NOTATION = (Meaning(r"\alpha", r"the power of the width with which the learning rate goes"),)


class Mode(IntEnum):
    """What is kept as the rate falls with the width."""

    FIXED_STEPS = 0
    FIXED_TIME = 1


def term_exponent(order: Expr, rate: Expr = alpha) -> Expr:
    """The exponent of the term of order `d` at a fixed number of steps: `dα − ⌊d/2⌋`.

    >>> term_exponent(S(2)), term_exponent(S(3))
    (2*alpha - 1, 3*alpha - 1)
    """
    return order * rate + decay_exponent().subs({D: 0, d: order})


@cache
def even_terms() -> Derivation:
    """By how much the exponent of the second order exceeds that of the order `2j`, at the rate `m^{−β}`.

    >>> even_terms().conclusion
    (2*beta + 1)*(j - 1)
    """
    return _excess(2 * j, "Even orders")


@cache
def odd_terms() -> Derivation:
    """The same for the order `2j + 1`: not negative either, and zero only for `d = 3` at `β = 0`.

    >>> odd_terms().conclusion
    2*beta*j - beta + j - 1
    """
    return _excess(2 * j + 1, "Odd orders")


def _excess(order: Expr, title: str) -> Derivation:
    start = Derivation(
        term_exponent(S(2), -beta) - term_exponent(order, -beta),
        r"(2\alpha - 1) - (d\alpha - \lfloor d/2 \rfloor)",
        {beta: Interval(0, oo), j: Range(1, 50)},
        title=f"{title} are no larger than the second",
        where=NOTATION,
    )
    return start.then(factor(start.start.expand()), because=rf"$d = {order}$, $\alpha = -\beta$", reason=Algebra())


def deviation_exponent() -> Expr:
    """The exponent of the width in the root mean square of `f − f_lin`, smooth activations, `α <= 0`.

    >>> deviation_exponent().subs({alpha: -1, mode: Mode.FIXED_STEPS}), deviation_exponent().subs(mode, Mode.FIXED_TIME)
    (-3, -1)
    """
    return term_exponent(S(2), alpha * (1 - mode)).expand()
