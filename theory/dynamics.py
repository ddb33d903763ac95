r"""Training with a constant kernel: gradient flow and gradient descent on a squared loss, in closed form.

Definition. A model that is linear in its parameters `w ∈ R^P`, `f(x) = g w` with the row `g` of its gradient at `x`, is
trained on `n` points with the rows of `J` for gradients; `f(X) = J w`, residual `r = f(X) − y`, kernel `Θ = J Jᵀ`,
`Θ(x, X) = g Jᵀ`. The loss is one of `theory/loss.py`, with the rate `c > 0` (2, 1, 2/n or 1/n).

    flow:      ẇ = −∇ℓ(w),               so  ḟ(x) = −c Θ(x, X) r,                  t >= 0,
    descent:   w_{k+1} = w_k − η ∇ℓ(w_k), so  f_{k+1}(x) = f_k(x) − η c Θ(x, X) r_k,  η > 0, k = 0, 1, …

A network of infinite width is such a model, linearised where it starts. In the orthonormal eigenvectors `Θ v = λ v` the
equations come apart. One *mode* has the eigenvalue `λ > 0`, the residual `v·r`, at the start `r_0`, and the overlap
`θ = Θ(x, X) v`; its part of the prediction at `x` is what is derived here, and the sum over the modes is

    f_t(x) = f_0(x) − Θ(x, X) Θ⁻¹ (1 − e^{−cΘt}) (f_0(X) − y),      f_k(x) likewise with (1 − ηcΘ)^k for e^{−cΘt}.

A mode with `λ = 0` has `‖Jᵀv‖² = v·Θv = 0` and `θ = g Jᵀ v = 0`: it never moves, and `Θ⁻¹` is the pseudo-inverse.

Source: N (an article after arXiv:1806.07572), which has the flow. Departures: any of the four losses; descent, with a
closed form of its own. The law over initialisations is in `theory/ensembles.py`, what `t` and `k` do as filters in
`theory/early_stopping.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import (
    Derivative,
    Dummy,
    Expr,
    Function,
    IndexedBase,
    Integral,
    Interval,
    Limit,
    MatrixSymbol,
    S,
    Symbol,
    Trace,
    diff,
    exp,
    log,
    oo,
)

from .correlation import Positive
from .derivation import Derivation, How, Outcome, Relation
from .loss import Loss
from .matrix_words import Words
from .notation import Meaning
from .reasons import Algebra, Antiderivative, Continuity, LowestTerm, equal
from .sums import Induction

n = Symbol("n", integer=True, positive=True)  # the number of training points
P = Symbol("P", integer=True, positive=True)  # the number of parameters
c = Symbol("c", positive=True)  # the rate of the loss
eta = Symbol("eta", positive=True)  # the learning rate
lam, slower = Symbol("lambda", positive=True), Symbol("mu", positive=True)  # eigenvalues
overlap = Symbol("theta", real=True)  # Θ(x, X) v
start = Symbol("r_0", real=True)  # v·(f_0(X) − y)
s, t, tau = (Symbol(name, nonnegative=True) for name in ("s", "t", "tau"))  # c λ t; times
x = Symbol("x", positive=True)  # η c λ, the step of a mode in its own unit
k = Symbol("k", integer=True, nonnegative=True)  # the number of steps

residual = Function("r")  # residual(t) is v·r at the time t
residuals, change = IndexedBase("r"), IndexedBase("F")  # v·r_k and the mode's part of f_k(x) − f_0(x)
POSITIVE = Interval.open(0, oo)
MODE = {c: POSITIVE, lam: POSITIVE, overlap: S.Reals, start: S.Reals}

# --- from the loss to the motion of a prediction ----------------------------------------------------------------------

epsilon = Symbol("epsilon", real=True)
J, w, y = MatrixSymbol("J", n, P), MatrixSymbol("w", P, 1), MatrixSymbol("y", n, 1)
g, row, r = MatrixSymbol("g", 1, P), MatrixSymbol("Theta_xX", 1, n), MatrixSymbol("r", n, 1)
pull = Symbol("Theta_r", real=True)  # the number Θ(x, X) r


NOTATION = (
    Meaning(r"w", r"the list of the parameters, $w_k$ after $k$ steps"),
    Meaning(r"g", r"the gradient of the prediction at $x$, a row"),
    Meaning(r"J", r"the matrix of such rows at the training points"),
    Meaning(r"X", r"the list of the $n$ training points"),
    Meaning(r"y", r"the list of the labels"),
    Meaning(r"f", r"the prediction"),
    Meaning(r"r", r"the residual $f(X) - y$"),
    Meaning(r"\ell", r"the loss"),
    Meaning(r"\Theta", r"the kernel $J J^\top$"),
    Meaning(r"\varepsilon", r"the size of a change of the parameters"),
    Meaning(r"A", r"$\Theta(x, X)\,\Theta^{-1}(1 - e^{-c\Theta t})$, $A_2$ the same at $x'$"),
    Meaning(r"K", r"the covariance of the initial outputs, $K_{xX}$ and $K_{xx}$ at these points"),
    Meaning(
        r"F",
        r"the factor of this covariance, $K = F F^\top$; with an index, a mode's part of $f_k(x) - f_0(x)$",
    ),
    Meaning(r"a", r"the same factor at $x$, $a_2$ at $x'$"),
    Meaning(r"z", r"a vector of standard normal variables"),
    Meaning(r"v", r"an eigenvector of the kernel, of the eigenvalue $\lambda$"),
    Meaning(r"u", r"a real number"),
    Meaning(r"\sigma", r"$-\log(1 - x)/x$"),
)


@cache
def velocity(loss: Loss) -> Derivation:
    r"""`ḟ(x) = −c Θ(x, X) r`: as `ẇ = −∇ℓ`, `ḟ(x) = g ẇ` is minus the derivative of the loss along `gᵀ`, at any `w`.

    >>> velocity(Loss.MEAN).conclusion == -2 * pull / n
    True
    """
    factor = S.Half ** int(loss.halved) / n ** int(loss.averaged)
    moved = J * (w + epsilon * g.T) - y  # a point of the line through w: the two lines agree at every ε
    d = Derivation(
        -Derivative(factor * Trace(r.T * r), epsilon),
        r"\dot f(x) = -\partial_\varepsilon\,\ell(w + \varepsilon g^\top)",
        title=rf"The motion of a prediction under the loss ${loss.value}$",
        where=NOTATION,
    )
    return d.then(
        -2 * factor * pull,
        because=r"the chain rule, with $\Theta(x, X) = g J^\top$ and $\Theta_r = \Theta(x, X)\,r$",
        reason=Words(given={r: moved, row: g * J.T, pull: Trace(row * r)}),
    )


# --- the flow ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinearFlow:
    """`u(t) = after` for the unknown `u(t)` with `u' = −speed · u` and `u(0) = initial`.

    Checked are the equation and the initial value; a linear equation with a constant coefficient has one solution.
    """

    time: Symbol
    speed: Expr
    initial: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != residual(self.time) or self.speed.has(self.time):
            return Outcome(How.WRONG, "the line before is not the unknown, or the coefficient is not constant")
        equation = equal(diff(after, self.time), -self.speed * after)
        begins = equal(after.subs(self.time, 0), self.initial)
        failed = [outcome for outcome in (equation, begins) if not outcome.proved]
        return failed[0] if failed else Outcome(How.LEMMA, "uniqueness for linear equations")


@cache
def residual_decay(time: Symbol = t) -> Derivation:
    """`v·r_t = e^{−cλt} v·r_0`, from `ṙ = −cΘr`.

    >>> residual_decay().conclusion
    r_0*exp(-c*lambda*t)
    """
    d = Derivation(
        residual(time), r"v \cdot r_t", {**MODE, time: Interval(0, oo)}, "A mode of the residual", where=NOTATION
    )
    return d.then(
        start * exp(-c * lam * time),
        because=r"it solves $\dot u = -c\lambda u$, $u(0) = r_0$",
        reason=LinearFlow(time, c * lam, start),
    )


@cache
def prediction_change() -> Derivation:
    """A mode's part of `f_t(x) − f_0(x)`: the integral of the velocity `−c θ v·r`.

    >>> prediction_change().conclusion
    -r_0*theta*(1 - exp(-c*lambda*t))/lambda
    """
    decay = residual_decay(tau)
    d = Derivation(
        Integral(-c * overlap * decay.start, (tau, 0, t)),
        r"f_t(x) - f_0(x)",
        {**MODE, t: Interval(0, oo)},
        "The prediction during gradient flow, one mode",
        where=NOTATION,
    )
    d = d.then(
        Integral(-c * overlap * decay.conclusion, (tau, 0, t)),
        because="the residual decays exponentially",
        reason=Algebra(known=(decay,)),
        using=(decay,),
    )
    return d.then(
        -overlap * start * (1 - exp(-c * lam * t)) / lam,
        because="integrate",
        reason=Antiderivative(overlap * start * exp(-c * lam * tau) / lam),
    )


@cache
def kernel_regression() -> Derivation:
    """`t → ∞`: the part `−θ r_0/λ`, so that `f_∞(x) = f_0(x) + Θ(x, X) Θ⁻¹ (y − f_0(X))`, with `s = cλt`.

    >>> kernel_regression().conclusion
    -r_0*theta/lambda
    """
    moved, left = prediction_change(), Dummy("e")
    in_s = moved.conclusion.subs(t, s / (c * lam))
    d = Derivation(
        Limit(in_s, s, oo),
        r"\lim_{t\to\infty} f_t(x) - f_0(x)",
        MODE,
        "The end of gradient flow, one mode",
        where=NOTATION,
    )
    form = -overlap * start * (1 - left) / lam
    return d.then(
        form.subs(left, 0),
        because=r"$e^{-s} \to 0$",
        reason=Continuity(form, {left: exp(-s)}),
        using=(moved,),
    )


@cache
def decay_order() -> Derivation:
    """`∂/∂λ e^{−cλt} = −ct e^{−cλt} < 0`: at every time `t > 0` less is left of a mode with a larger eigenvalue.

    >>> decay_order().conclusion
    -c*t*exp(-c*lambda*t)
    """
    decay = residual_decay()
    d = Derivation(
        Derivative(decay.conclusion / start, lam),
        r"\partial_\lambda\,\frac{v \cdot r_t}{v \cdot r_0}",
        {c: POSITIVE, lam: POSITIVE, t: Interval(0, oo)},
        "Larger eigenvalues first",
        where=NOTATION,
    )
    return d.then(-c * t * exp(-c * lam * t), because="differentiate", reason=Algebra(), using=(decay,))


@cache
def speed_ratio() -> Derivation:
    r"""`(λ/μ) e^{−c(λ−μ)t}`, the ratio of the speeds of the modes `λ > μ` from equal residuals.

    It falls from `λ/μ > 1` to 0 and is 1 at `t = log(λ/μ)/(c(λ − μ))`: after that time the mode with the smaller
    eigenvalue moves faster. What a larger eigenvalue has at all times is the faster *relative* decay.

    >>> speed_ratio().conclusion
    lambda*exp(-c*t*(lambda - mu))/mu
    """
    decay = residual_decay()
    d = Derivation(
        Derivative(decay.conclusion, t) / Derivative(decay.conclusion.subs(lam, slower), t),
        r"\dot r_\lambda / \dot r_\mu",
        {c: POSITIVE, lam: POSITIVE, slower: POSITIVE, start: POSITIVE, t: Interval(0, oo)},
        "The speeds of two modes",
        where=NOTATION,
    )
    words = "differentiate; the initial residuals are equal"
    return d.then(lam / slower * exp(-c * (lam - slower) * t), because=words, reason=Algebra(), using=(decay,))


# --- descent ----------------------------------------------------------------------------------------------------------


@cache
def descent_residual() -> Derivation:
    """`v·r_k = (1 − ηcλ)^k v·r_0`, by induction.

    >>> descent_residual().conclusion
    r_0*(-c*eta*lambda + 1)**k
    """
    d = Derivation(
        residuals[k], r"v \cdot r_k", {**MODE, eta: POSITIVE}, "A mode of the residual, step by step", where=NOTATION
    )
    return d.then(
        start * (1 - eta * c * lam) ** k,
        because=r"$r_{k+1} = (1 - \eta c \Theta)\, r_k$",
        reason=Induction(residuals[k], k, first=0, base=start, following=(1 - eta * c * lam) * residuals[k]),
    )


@cache
def descent_change() -> Derivation:
    """A mode's part of `f_k(x) − f_0(x)`, which each step changes by `−ηcθ v·r_k`.

    >>> descent_change().conclusion
    -r_0*theta*(1 - (-c*eta*lambda + 1)**k)/lambda
    """
    decay = descent_residual()
    d = Derivation(
        change[k], r"f_k(x) - f_0(x)", {**MODE, eta: POSITIVE}, "The prediction under descent, one mode", where=NOTATION
    )
    return d.then(
        -overlap * start * (1 - (1 - eta * c * lam) ** k) / lam,
        because=r"a geometric sum, by induction",
        reason=Induction(
            change[k], k, first=0, base=S.Zero, following=change[k] - eta * c * overlap * decay.conclusion
        ),
        using=(decay,),
    )


@cache
def contraction() -> Derivation:
    """`1 − (1 − x)² = x(2 − x) > 0` for `0 < x < 2`, with `x = ηcλ`: the residual shrinks in every step.

    At `x = 2` exactly it is zero: the residual is multiplied by `1 − x = −1`, and changes its sign for ever.

    >>> contraction().conclusion
    x*(2 - x)
    """
    stable = Interval.open(0, 2)
    d = Derivation(
        1 - (1 - x) ** 2, r"1 - (1 - \eta c\lambda)^2", {x: stable}, "Where descent converges", where=NOTATION
    )
    d = d.then(x * (2 - x), because="factor", reason=Algebra())
    words = r"both factors are positive for $0 < \eta c\lambda < 2$"
    return d.then(S.Zero * x, because=words, reason=Positive(x, stable), relation=Relation.EXCEEDS)


@cache
def expansion() -> Derivation:
    """`(1 − x)² − 1 = x(x − 2) > 0` for `x > 2`: above `η = 2/(cλ)` the residual grows without bound."""
    unstable = Interval.open(2, oo)
    d = Derivation(
        (1 - x) ** 2 - 1, r"(1 - \eta c\lambda)^2 - 1", {x: unstable}, "Where descent diverges", where=NOTATION
    )
    d = d.then(x * (x - 2), because="factor", reason=Algebra())
    words = r"both factors are positive for $\eta c\lambda > 2$"
    return d.then(S.Zero * x, because=words, reason=Positive(x, unstable), relation=Relation.EXCEEDS)


@dataclass(frozen=True)
class GeometricDecay:
    """`q^k → 0` as `k → ∞`, because `q² < 1` as `shrinks` derives (its conclusion is `1 − q² > 0`)."""

    ratio: Expr
    shrinks: Derivation

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit(self.ratio**k, k, oo) or after != 0:
            return Outcome(How.WRONG, "the statement is not that the powers of the ratio tend to zero")
        steps = self.shrinks.check()
        if self.shrinks.bound != 0 or not all(step.outcome.proved for step in steps):
            return Outcome(How.UNDECIDED, "that the ratio is less than one is not proved")
        same = equal(self.shrinks.conclusion, 1 - self.ratio**2)
        return Outcome(How.LEMMA, "a geometric sequence") if same.proved else same


@cache
def descent_converges() -> Derivation:
    """`(1 − x)^k → 0` for `0 < x < 2`: below `η = 2/(cλ_max)` descent ends at kernel regression, as the flow does."""
    shrinks = contraction()
    d = Derivation(
        Limit((1 - x) ** k, k, oo), "", shrinks.domain, title="The end of gradient descent, one mode", where=NOTATION
    )
    return d.then(
        S.Zero, because="its square is less than one", reason=GeometricDecay(1 - x, shrinks), using=(shrinks,)
    )


@cache
def descent_is_faster() -> Derivation:
    """`(σ − 1)/x → 1/2`, where `(1 − x)^k = e^{−σkx}`, so `σ = −log(1 − x)/x`, for `x = ηcλ < 1`.

    In equal time `kη` descent is ahead of the flow, a mode by the factor `σ = 1 + ηcλ/2 + … > 1` in its exponent.

    >>> descent_is_faster().conclusion
    1/2
    """
    d = Derivation(
        Limit((-log(1 - x) - x) / x**2, x, 0),
        r"\lim_{x\to0}\frac{\sigma - 1}{x}",
        title="How much faster descent is",
        where=NOTATION,
    )
    return d.then(
        S.Half,
        because=r"$-\log(1 - x) = x + \tfrac12 x^2 + \dots$",
        reason=LowestTerm(2),
    )
