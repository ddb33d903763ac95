r"""Full gradient descent of linear networks after many steps: what it depends on, where it is stable, what it leaves.

The networks are those of `theory/linear_networks.py`, from orthogonal weights, without noise; the width is `h >= 1`.

**One step.** With `a, b` of `theory/two_layers.py` at an eigenvalue `z` of the Haar matrix `Z`, `|z| = 1`, let

    ε = 1 − a b z̄/√h,    w = (η₁|b|² + η₂|a|²)/h²,    κ = η₁η₂/h³;    at the start  ε = 1 − z̄/√h,  w = (η₁ + η₂)/h².

A step takes `ε, w` to functions of `ε, w, κ` (`residual_step`, `weight_step`), and the loss is `Σ |ε|²/h` over the
eigenvalues. So the loss of two layers depends on the rates through `η₁ + η₂` and `η₁η₂` only, after any number of
steps. Three layers lose that symmetry in their third step (`numerics.layerwise_loss.exact_loss` shows it).

**Stability.** Next to a global minimum, `ε = 0`, a step of two layers multiplies `ε` by `1 − w`; there `|ab| = √h`,
so that `w >= 2√(η₁η₂/h³)` (`contraction`), with equality where `η₁|b|² = η₂|a|²`. Hence a stable global minimum exists
if and only if `η₁η₂ < h³` (but for the edge `η₁η₂ = h³`). In three layers `e ← (1 − η₁|v|²/h) e − (η₂/h) KKᵀe` to
first order (`linear_step`), with `Kv = √h r`, `|r| = 1`; as `|KKᵀ| >= (rᵀKv)²/|v|² = h/|v|²`, the largest eigenvalue
taken off is at least `η₁|v|²/h + η₂/|v|² >= 2√(η₁η₂/h)`: a stable one exists if and only if `η₁η₂ < h`.

**The saddle.** With equal rates `a = b` in every step, at every eigenvalue (`layers_stay_equal`). At `z = −1` both are
real, so `|ε|² = (1 + a²/√h)² >= 1`. As `−1` is an eigenvalue of `Z` in half of all draws (`det Z = 1` or `−1`), and its
mean multiplicity is ½, the expected loss is at least `1/(2h)` after any number of steps, for any common rate
(`least_loss`). For infinitesimal rates it tends to that: a complex `a` with `z ≠ −1` starts off the stable line of the
saddle `a = b = 0` and goes to a minimum. With unequal rates `η₂|a|² − η₁|b|²` is conserved (`flow_invariant`) and is
not zero as at the saddle: all run to a minimum, and the expected loss to 0 (by bounded convergence: each loss falls).

Source: beyond B (arXiv:2606.00340).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Interval, Limit, MatrixSymbol, Range, Rational, S, Set, Symbol, Trace, expand, oo, sqrt, symbols

from .derivation import Derivation
from .errors import InvalidInput
from .layerwise_options import Updates
from .linear_networks import check_layers
from .matrix_words import Words
from .notation import Meaning
from .rate_polynomials import eta1, eta2, h
from .reasons import Algebra, LowestTerm

a, b, a_bar, b_bar, z = symbols("a b abar bbar z")  # a bar is the complex conjugate; that of z is 1/z
epsilon, epsilon_bar = symbols("epsilon epsilonbar", real=True)  # the relative residual and its conjugate
w, kappa = symbols("w kappa", nonnegative=True)
inside, at_one = symbols("F_0 F_1", nonnegative=True)  # |ε|²: its mean over the circle, its value at z = 1
A = Symbol("A", positive=True)  # |a|, or |Kᵀr|, at a minimum
_a, _b, _a_bar, _b_bar = symbols("a_1 b_1 abar_1 bbar_1")  # after a step

_DEFINITIONS: dict[Expr, Expr] = {
    epsilon: 1 - a * b / (z * sqrt(h)),
    epsilon_bar: 1 - a_bar * b_bar * z / sqrt(h),
    w: (eta1 * b * b_bar + eta2 * a * a_bar) / h**2,
    kappa: eta1 * eta2 / h**3,
}


# Derived are identities of polynomials in a number and its conjugate: independent real ones stand for them.
_DOMAIN: dict[Expr, Set] = {
    h: Range(1, oo),
    w: Interval(0, oo),
    kappa: Interval(0, oo),
    **dict.fromkeys((eta1, eta2), Interval(0, oo)),
    **dict.fromkeys((a, b, a_bar, b_bar, epsilon, epsilon_bar), Interval(-2, 2)),
}


NOTATION = (
    Meaning(
        r"a, b",
        r"the two layers at an eigenvalue $z$ of the Haar matrix, $\bar a, \bar b$ their conjugates, $a_1, "
        r"b_1$ after a step and $\dot a, \dot b$ along the flow",
    ),
    Meaning(r"z", r"that eigenvalue, $|z| = 1$"),
    Meaning(r"\varepsilon", r"the relative residual $1 - a b \bar z/\sqrt h$"),
    Meaning(r"K", r"the first layer in the frame of the weights, $W_1(t) = W_1 K$"),
    Meaning(r"v", r"$W_2(t)\,a$"),
    Meaning(r"r", r"the residual where $K$ is the identity and $v = 0$"),
    Meaning(r"D", r"a direction"),
)


def _step(updates: Updates) -> dict[Expr, Expr]:
    """`a, b` and their conjugates after a step, by `theory/two_layers.py`."""
    if not isinstance(updates, Updates):
        raise InvalidInput("updates", updates, "give Updates.SIGNAL or Updates.FULL")
    error, error_bar = z / sqrt(h), 1 / (z * sqrt(h))
    if updates is Updates.FULL:
        error, error_bar = error - a * b / h, error_bar - a_bar * b_bar / h
    return {
        _a: a + eta1 / h * error * b_bar,
        _b: b + eta2 / h * error * a_bar,
        _a_bar: a_bar + eta1 / h * error_bar * b,
        _b_bar: b_bar + eta2 / h * error_bar * a,
    }


@cache
def residual_step(updates: Updates = Updates.FULL) -> Derivation:
    """`ε` after a step, by `ε`, `w` and `κ`.

    >>> residual_step().conclusion
    epsilon*(epsilon*epsilonbar*kappa - epsilon*kappa - w + 1)
    """
    step = _step(updates)
    full = epsilon * (1 - w + kappa * epsilon * epsilon_bar - kappa * epsilon)
    return Derivation(
        1 - _a * _b / (z * sqrt(h)),
        r"\varepsilon_{t+1}",
        _DOMAIN,
        f"The residual after a step of {updates.value}",
        where=NOTATION,
    ).then(
        full if updates is Updates.FULL else epsilon - w - kappa * (1 - epsilon_bar),
        because=r"$a_{t+1} = a + \eta_1 e\bar b/h$, $b_{t+1} = b + \eta_2\bar a e/h$; $\bar z = 1/z$",
        reason=Algebra(given=step | _DEFINITIONS),
    )


@cache
def weight_step(updates: Updates = Updates.FULL) -> Derivation:
    """`w` after a step, by `ε`, `w` and `κ`.

    >>> weight_step(Updates.SIGNAL).conclusion
    kappa*(-2*epsilon - 2*epsilonbar + w + 4) + w
    """
    step = _step(updates)
    square = epsilon * epsilon_bar
    grown = w * square + 2 * (epsilon + epsilon_bar) - 4 * square
    return Derivation(
        (eta1 * _b * _b_bar + eta2 * _a * _a_bar) / h**2,
        "w_{t+1}",
        _DOMAIN,
        f"The weights after a step, {updates.value}",
        where=NOTATION,
    ).then(
        w + kappa * (grown if updates is Updates.FULL else w + 4 - 2 * (epsilon + epsilon_bar)),
        because=r"$a_{t+1} = a + \eta_1 e\bar b/h$, $b_{t+1} = b + \eta_2\bar a e/h$; $\bar z = 1/z$",
        reason=Algebra(given=step | _DEFINITIONS),
    )


@cache
def linear_step() -> Derivation:
    """The residual `e = r − Kv/√h` of three layers after a step of full descent, tested with any vector `D`."""
    K, K1 = (MatrixSymbol(name, h, h) for name in ("K", "K_1"))
    e, r, v, v1, test = (MatrixSymbol(name, h, 1) for name in ("e", "r", "v", "v_1", "D"))
    moved = {K1: K + eta1 / sqrt(h) * e * v.T, v1: v + eta2 / sqrt(h) * K.T * e, r: e + K * v / sqrt(h)}
    quadratic = eta1 * eta2 / h ** Rational(3, 2) * e * v.T * K.T * e
    d = Derivation(
        Trace(test.T * (r - K1 * v1 / sqrt(h))),
        r"\langle D, e_{t+1}\rangle",
        {h: Range(1, oo)},
        "A step of three layers near a minimum",
        where=NOTATION,
    )
    return d.then(
        Trace(test.T * (e - eta1 / h * e * v.T * v - eta2 / h * K * K.T * e - quadratic)),
        because=r"$K_{t+1} = K + \eta_1 e v^\top/\sqrt h$, $v_{t+1} = v + \eta_2 K^\top e/\sqrt h$",
        reason=Words(given=moved),
    )


@cache
def contraction(layers: int) -> Derivation:
    """The factor of the residual, to first order, in a step of full descent next to a global minimum.

    `A` is `|a| = √h/|b|` for two layers, and `|Kᵀr| = √h/|v|` for three, along `r`, where `Kᵀr` is parallel to `v`. The
    factor is largest where the square vanishes: at the balanced minimum.

    >>> contraction(2).conclusion
    -2*sqrt(eta1)*sqrt(eta2)/h**(3/2) + 1 - (-A*sqrt(eta2) + sqrt(eta1)*sqrt(h)/A)**2/h**2
    """
    check_layers(layers)
    scale = h**2 if layers == 2 else h
    taken = (eta1 * h / A**2 + eta2 * A**2) / scale
    domain = {**_DOMAIN, A: Interval.open(0, oo)}
    title = f"A step of {layers} layers next to a minimum"
    if layers == 2:
        step = residual_step()
        d = Derivation(Limit(expand(step.conclusion / epsilon), epsilon, 0), r"\lambda", domain, title, where=NOTATION)
        d = d.then(1 - w, because="the residual of a step is analytic", reason=LowestTerm(0), using=(step,))
    else:
        d = Derivation(1 - taken, r"\lambda", domain, title, where=NOTATION)
    return d.then(
        1 - 2 * sqrt(eta1 * eta2 * h) / scale - (sqrt(eta1 * h) / A - sqrt(eta2) * A) ** 2 / scale,
        because=r"a complete square, with $|b| = \sqrt h/A$" if layers == 2 else r"a complete square",
        reason=Algebra(given={w: taken}),
        using=() if layers == 2 else (linear_step(),),
    )


@cache
def layers_stay_equal() -> Derivation:
    """`a − b` after a step with equal rates, if it was zero: so it is zero in all steps, as `a = b = 1` at the start.

    >>> layers_stay_equal().conclusion
    0
    """
    given = _step(Updates.FULL)
    equal = {eta2: eta1, b: a, b_bar: a_bar}
    d = Derivation(_a - _b, "a_{t+1} - b_{t+1}", title="Equal rates keep equal layers equal", where=NOTATION)
    return d.then(
        S.Zero,
        because=r"$\eta_1 = \eta_2$ and $a = b$",
        reason=Algebra(given={name: given[name].subs(equal) for name in (_a, _b)}),
    )


@cache
def least_loss() -> Derivation:
    """The expected loss with equal rates, after any number of steps: `1/(2h)` and what is not negative.

    The mean over the eigenvalues is that of `theory/haar.py`: `inside >= 0` is the mean of `|ε|²` over the circle and
    `at_one >= 0` its value at `z = 1`; `a` is real at `z = −1`.

    >>> least_loss().conclusion.subs({inside: 0, at_one: 0, a: 0})
    1/(2*h)
    """
    at_saddle = {z: S.NegativeOne, b: a, a_bar: a, b_bar: a}
    residual = {name: _DEFINITIONS[name].subs(at_saddle) for name in (epsilon, epsilon_bar)}
    d = Derivation(
        ((h - 1) * inside + (at_one + epsilon * epsilon_bar) / 2) / h,
        r"\operatorname{E}\mathcal L_t",
        {**_DOMAIN, **dict.fromkeys((inside, at_one), Interval(0, oo))},
        "What equal rates leave of the loss",
        where=NOTATION,
    )
    return d.then(
        1 / (2 * h) + ((h - 1) * inside + at_one / 2) / h + (2 * a**2 / sqrt(h) + a**4 / h) / (2 * h),
        because=r"$\varepsilon = 1 + a^2/\sqrt h$ at $z = -1$, where $a = b$ is real",
        reason=Algebra(given=residual),
        using=(layers_stay_equal(),),
    )


@cache
def flow_invariant() -> Derivation:
    """The derivative of `η₂|a|² − η₁|b|²` along the flow of infinitesimal rates `η₁ dτ`, `η₂ dτ`.

    >>> flow_invariant().conclusion
    0
    """
    slopes = symbols("a_dot b_dot abar_dot bbar_dot")
    da, db, da_bar, db_bar = slopes
    given = {slope: moved - old for slope, (old, moved) in zip(slopes, _moves(), strict=True)}
    d = Derivation(
        eta2 * (da * a_bar + a * da_bar) - eta1 * (db * b_bar + b * db_bar),
        r"\frac{\mathrm d}{\mathrm d\tau}(\eta_2|a|^2 - \eta_1|b|^2)",
        title="What the flow conserves",
        where=NOTATION,
    )
    return d.then(
        S.Zero, because=r"$\dot a = \eta_1 e\bar b/h$, $\dot b = \eta_2\bar a e/h$", reason=Algebra(given=given)
    )


def _moves() -> list[tuple[Expr, Expr]]:
    step = _step(Updates.FULL)
    return [(a, step[_a]), (b, step[_b]), (a_bar, step[_a_bar]), (b_bar, step[_b_bar])]
