r"""Deep tangent kernels of other activations: what carries over from ReLU, and what does not.

**Leaky ReLU**, `φ(s) = αs + β|s|`, `α >= 0`, `β > 0`. With `w = β²/(α² + β²)` and `κ = Σ¹/(α² + β²)` at unit variances,

    1 − κ = θ²/2 − (2w/(3π)) θ³ + O(θ⁴),      Σ̇/(α² + β²) = 1 − 2wθ/π,

so that `1/θ_{l+1} = 1/θ_l + 2w/(3π) + o(1)`, and a layer keeps the share `1 − 3 (θ_l − θ_{l+1})/θ_l + o(θ_l)` of the
kernel: 3 whatever the slopes are. The limit 1/4 (`theory/depth.py`) and the crossover function (`theory/crossover.py`)
use nothing else; they hold with `s = 2w L θ₀/(3π)`. ReLU is `w = 1/2`. If `α = 0`, `φ = β|s|` is even: then opposite
points are the exception, whose `κ` is 1; no layer tells them apart.

**An odd activation**, as erf, tanh, sin: without biases `f(−x) = −f(x)` for every network, so that `Θ^L(x, −x) =
−Θ^L(x, x)` and no matrix with opposite points is definite, at any depth. And erf has `χ = c_φ E[φ'(z)²] > 1`: `Θ^L(x,
x) = ∑_{l<=L} χ^l` grows exponentially, while the correlation of points that are neither equal nor opposite, `κ'(0) <
1`, goes to 0. Their normalised kernel tends to 0, not to 1/4.

Source: W (arXiv:2511.07272), its generalisation to other kernels.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Interval, Limit, S, Symbol, expand, pi, simplify, sqrt

from .activations import Erf
from .arccos import theta
from .derivation import Derivation
from .dual import a, b, c, dual, dual_derivative, leaky_relu, normalisation
from .notation import Meaning
from .reasons import Algebra, LowestTerm

alpha, beta = Symbol("alpha", nonnegative=True), Symbol("beta", positive=True)  # of αs + β|s|, whose slopes are α ± β


NOTATION = (
    Meaning(
        r"w",
        r"$\beta^2/(\alpha^2 + \beta^2)$ for leaky ReLU, $\varphi(s) = \alpha s + \beta|s|$, whose slopes are "
        r"$\alpha \pm \beta$",
    ),
    Meaning(r"\varphi", r"the activation"),
    Meaning(r"z", r"a standard normal variable"),
    Meaning(r"u, v", r"centred Gaussian variables"),
    Meaning(r"s", r"a preactivation"),
)


def _leaky(degree: int) -> tuple[Expr, Derivation]:
    """`κ` (degree 1) or its derivative (0) as a function of the angle, and the derivation it comes from."""
    derived = leaky_relu(alpha, beta, degree)
    in_angle = next(line for line in reversed(derived.lines) if line.has(theta))
    scales = derived.start.free_symbols & in_angle.free_symbols - {alpha, beta, theta}
    return simplify(in_angle.subs(dict.fromkeys(scales, 1)) / (alpha**2 + beta**2)), derived


@cache
def leaky_angle() -> Derivation:
    r"""`lim (θ²/2 − (1 − κ))/θ³ = 2β²/(3π(α² + β²))`: how fast a layer of leaky ReLU closes an angle.

    >>> leaky_angle().conclusion.subs({alpha: beta})
    1/(3*pi)
    """
    kappa, derived = _leaky(1)
    gained = expand(theta**2 / 2 - 1 + kappa)
    d = Derivation(
        Limit(gained / theta**3, theta, 0),
        r"\lim_{\theta\to 0}\frac{\theta^2/2 - (1 - \kappa)}{\theta^3}",
        {alpha: Interval(0, 10), beta: Interval.open(0, 10)},
        "A layer of leaky ReLU closes the angle",
        where=NOTATION,
    )
    value = 2 * beta**2 / (3 * pi * (alpha**2 + beta**2))
    return d.then(value, because="the third derivative", reason=LowestTerm(3), using=(derived,))


@cache
def leaky_damping() -> Derivation:
    r"""The share of the kernel that a layer of leaky ReLU takes, over that of the angle: 3, whatever the slopes are.

    >>> leaky_damping().conclusion
    3
    """
    (kept, derived), angle = _leaky(0), leaky_angle()
    d = Derivation(
        (1 - kept) / (theta * angle.conclusion),
        r"\frac{1 - \dot\Sigma/(\alpha^2 + \beta^2)}{\theta\, w'}",
        {alpha: Interval(0, 10), beta: Interval.open(0, 10), theta: Interval.Lopen(0, pi)},
        "Kernel and angle shrink together",
        where=NOTATION,
    )
    return d.then(Integer(3), because=r"$w' = 2w/(3\pi)$, from above", reason=Algebra(), using=(derived, angle))


@cache
def erf_growth() -> Derivation:
    r"""`χ = c_φ E[φ'(z)²] = 2/(√5 arcsin(2/3)) = 1.2257…` for erf: the kernel's diagonal grows by it in each layer.

    >>> erf_growth().conclusion
    2*sqrt(5)/(5*asin(2/3))
    """
    factor, slope = normalisation(Erf()), dual_derivative(Erf())
    at_unit_variance = slope.conclusion.subs({a: 1, b: 1, c: 1})
    d = Derivation(factor.conclusion * at_unit_variance, r"\chi", title="Erf is chaotic", where=NOTATION)
    return d.then(simplify(d.start), because="at unit variances", reason=Algebra(), using=(factor, slope))


@cache
def erf_slope() -> Derivation:
    r"""`κ'(0) = (4/(3π))/((2/π) arcsin(2/3)) = 0.9135…` for erf: how a small correlation shrinks in each layer.

    >>> erf_slope().conclusion
    2/(3*asin(2/3))
    """
    factor, slope = normalisation(Erf()), dual_derivative(Erf())
    at_zero = slope.conclusion.subs({a: 1, b: 1, c: 0})
    d = Derivation(factor.conclusion * at_zero, r"\kappa'(0)", title="Erf forgets a correlation", where=NOTATION)
    return d.then(simplify(d.start), because="at unit variances", reason=Algebra(), using=(factor, slope))


@cache
def erf_opposite() -> Derivation:
    r"""`Σ(x, −x') + Σ(x, x') = 0` for erf: with no biases `Θ^L(x, −x) = −Θ^L(x, x)` at every depth, by induction.

    >>> erf_opposite().conclusion
    0
    """
    kernel = dual(Erf())
    d = Derivation(
        kernel.conclusion.subs(c, -c) + kernel.conclusion,
        r"\Sigma(x, -x') + \Sigma(x, x')",
        {a: Interval.open(0, 10), b: Interval.open(0, 10), c: Interval(0, sqrt(a * b))},
        "Opposite inputs of an odd activation",
        where=NOTATION,
    )
    return d.then(S.Zero, because="the arcsine is odd", reason=Algebra(), using=(kernel,))
