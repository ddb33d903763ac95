r"""What a step of stochastic gradient descent adds to the deviation from linearity, where labels contradict each other.

Definition. A model `f_ε(θ)` with the derivatives `g = ∇f`, `g' = ∇f'` at the start `θ = 0`, at one training input and
at another input `x'`, and the second derivatives `εH`, `εH'`; higher ones are `O(ε²)`. So it is for `κF` at the rate
`η/κ²` with `ε = 1/κ`, in the parameters `κθ` (`theory/external_scale.py`): its correlations `C_{D,d}` are
`O(ε^{D+d−1})`, weaker by a factor with each order. Steps of the rate `η` on half the squared loss, one label each,

    θ_{k+1} = θ_k − η (f(θ_k) − y_k) ∇f(θ_k),    q_k = η Σ_{j<k} ρ_j,    ρ_k = f_lin,k − y_k,    f_lin,k = f_0 − a q_k,

for bounded labels `y_k`, with `a = g·g > 0` and `b = g·g'`. In `θ_k = −q_k g + ε e_k`, `D_k` and `D'_k` are the
coefficients of `ε` in `f − f_lin` at the two inputs. They depend on two coordinates of `θ`: along `g = (γ, 0)`, and
across it in the plane of `g' = (β, δ)`.

**Pathwise** (`gain`), `D' − (b/a) D` less a multiple of `q²` changes in a step by `−η² K ρ²/2`, so that

    D'_s = (b/a) D_s + A q_s² − ½ η² K Σ_{k<s} ρ_k²,    K = g'ᵀ(1 − ggᵀ/a) H g = γ δ h_12.

The first two terms stay bounded if `0 < ηa < 2`: `q` does as the labels do, and `D_{k+1} = (1 − ηa) D_k + …`. Hence,
for `K ≠ 0`, the deviation is **flat in the number of steps if and only if the squared residuals of `f_lin` are
summable**. Where the gradients are parallel, `δ = 0`, as at `x' = x`, there is no drift.

**In the mean** (`mean_gain`): labels `y ± ν`, each with probability ½ and independently, keep `ρ` alive. A multiple of
`(f_lin − y)²` makes the mean gain the same in every step, `−K η² ν²/(2 − ηa)`, so that

    E D'_s = −K η² ν² s/(2 − ηa) + O(s⁰).

**Range.** First order in `ε` at fixed `s`, one training input, `γ, δ, ν > 0`, the rest real. In wide networks `K` is of
order `1/n`, as `C_{0,2}` is, and so are terms of second order in `ε`: that the growth is linear there too is measured.

Ours. The drift is that of Blanc, Gupta, Valiant, Valiant (2020), arXiv:1904.09080: down the gradient of `|∇f|²`.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Interval, Matrix, S, Symbol, diff, oo, solve, symbols

from .derivation import Derivation
from .notation import Meaning
from .reasons import Algebra

eta, nu, gamma, delta = symbols("eta nu gamma delta", positive=True)
beta, rho, q, p = symbols("beta rho q p", real=True)  # p = f_lin − y, for the mean y of the labels
h11, h12, h22 = symbols("h_11 h_12 h_22", real=True)
i11, i12, i22 = symbols("h'_11 h'_12 h'_22", real=True)  # at the other input
e1, e2, epsilon = symbols("e_1 e_2 epsilon", real=True)

POSITIVE = Interval.open(0, oo)
_DOMAIN = {symbol: POSITIVE for symbol in (eta, gamma, delta)} | {
    symbol: S.Reals
    for symbol in (beta, rho, q, h11, h12, i11)  # the rest drops out
}
GRADIENTS = (Matrix([gamma, 0]), Matrix([beta, delta]))
HESSIANS = (Matrix([[h11, h12], [h12, h22]]), Matrix([[i11, i12], [i12, i22]]))
LINE = -q * GRADIENTS[0]  # the parameters of f_lin
theta = Matrix(symbols("theta_1 theta_2", real=True))


NOTATION = (
    Meaning(
        r"D, D'",
        r"the first-order deviations $f - f_{\mathrm{lin}}$ at the training input and at the other one",
    ),
    Meaning(r"\Delta", r"the change in a step"),
    Meaning(
        r"a, b",
        r"the scalar products $g \cdot g$ and $g \cdot g'$ of the gradients $g = (\gamma, 0)$ and $g' = "
        r"(\beta, \delta)$ at the two inputs",
    ),
    Meaning(r"A, B", r"coefficients, chosen as the reasons say"),
    Meaning(
        r"\varepsilon",
        r"the size of the second derivatives, $\varepsilon h_{ij}$ at the training input and $\varepsilon "
        r"h'_{ij}$ at the other one",
    ),
)


def model(at: int) -> Expr:
    """`f_ε(θ) − f_0` at the training input, 0, or at the other one, 1."""
    return (GRADIENTS[at].T * theta)[0] + epsilon * (theta.T * HESSIANS[at] * theta)[0] / 2


def first_order(expression: Expr) -> Expr:
    """The coefficient of `ε` for `θ = −q g + ε e`."""
    moved = dict(zip(theta, LINE + epsilon * Matrix([e1, e2]), strict=True))
    return diff(expression.subs(moved, simultaneous=True), epsilon).subs(epsilon, 0).expand()


def deviations() -> tuple[Expr, Expr]:
    """`D` and `D'` by `q` and `e`."""
    return first_order(model(0)), first_order(model(1))


def step() -> dict[Expr, Expr]:
    """`q` and `e` after a step whose residual of `f_lin` is `ρ`."""
    residual = rho + model(0) - (GRADIENTS[0].T * LINE)[0]  # f − y
    moved = [first_order(name - eta * residual * diff(model(0), name)) for name in theta]
    return {q: q + eta * rho, **dict(zip((e1, e2), moved, strict=True))}


def gain_of(quantity: Expr) -> Expr:
    """What a step adds to it."""
    return quantity.subs(step(), simultaneous=True) - quantity


@cache
def gain() -> Derivation:
    """What a step adds to `D' − (b/a) D − A q²`, with the `A` for which it does not depend on `q`.

    >>> gain().conclusion
    -delta*eta**2*gamma*h_12*rho**2/2
    """
    own, other = deviations()
    across, square = gain_of(other - beta / gamma * own).expand(), gain_of(q**2)
    (A,) = solve(diff(across, q, rho) - Symbol("A") * diff(square.expand(), q, rho), Symbol("A"))
    start = Derivation(
        across - A * square,
        r"\Delta\big(D' - \tfrac{b}{a} D - A q^2\big)",
        _DOMAIN,
        "What a step adds to the deviation",
        where=NOTATION,
    )
    return start.then(
        -(eta**2) * gamma * delta * h12 * rho**2 / 2,
        because=r"to first order in $\varepsilon$, with the $A$ for which $q$ drops out",
        reason=Algebra(),
    )


@cache
def mean_gain() -> Derivation:
    """The same with a multiple of `p²`, in the mean over the label of the step: `ρ = p ± ν`.

    >>> mean_gain().conclusion
    -delta*eta**2*gamma*h_12*nu**2/(-eta*gamma**2 + 2)
    """
    residuals = (p + nu, p - nu)  # p falls by ηa ρ, as q grows by ηρ
    mean_square = sum((p - eta * gamma**2 * residual) ** 2 for residual in residuals) / 2
    pathwise = sum(gain().conclusion.subs(rho, residual) for residual in residuals) / 2
    square = (mean_square - p**2).expand()
    (B,) = solve(diff(pathwise + Symbol("B") * square, p, 2), Symbol("B"))
    start = Derivation(
        pathwise + B * square,
        r"\mathbb{E}\,\Delta\big(D' - \tfrac{b}{a} D - A q^2 + B p^2\big)",
        {symbol: POSITIVE for symbol in (eta, gamma, delta, nu)} | {h12: S.Reals, p: S.Reals},
        "The mean drift under contradicting labels",
        where=NOTATION,
    )
    return start.then(
        -(eta**2) * gamma * delta * h12 * nu**2 / (2 - eta * gamma**2),
        because=r"with the $B$ for which $p$ drops out",
        reason=Algebra(),
    )
