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

Status. One step: as exact as the exponents of `C_{0,d}`, derived for one hidden layer. Several steps, and other points
than the training points: an argument, measured by the claim `rate-scaling`, for smooth activations. **ReLU** is outside
of it: its series along the gradient has no radius of convergence that stays as the width grows, and the kinks give
`m^{2α−1/2}` and `m^{−1/2}` (`numerics/linearised.py`), although `C_{0,2}`, where it is defined, is of order `m^{−1}`.

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
from .reasons import Algebra

alpha = Symbol("alpha", real=True)
beta = Symbol("beta", nonnegative=True)  # −α
mode = Symbol("mode", integer=True, nonnegative=True)
j = Symbol("j", integer=True, positive=True)


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
    )
    return start.then(factor(start.start.expand()), because=rf"$d = {order}$, $\alpha = -\beta$", reason=Algebra())


def deviation_exponent() -> Expr:
    """The exponent of the width in the root mean square of `f − f_lin`, smooth activations, `α <= 0`.

    >>> deviation_exponent().subs({alpha: -1, mode: Mode.FIXED_STEPS}), deviation_exponent().subs(mode, Mode.FIXED_TIME)
    (-3, -1)
    """
    return term_exponent(S(2), alpha * (1 - mode)).expand()
