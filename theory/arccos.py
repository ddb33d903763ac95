r"""The arc-cosine kernels, from the Gaussian integral.

Let `(u, v)` be a centred Gaussian pair of unit variances and correlation `ρ = cos θ`, `0 <= θ <= π`, and let
`s₊ = max(s, 0)`. The kernel of degree `k = 0, 1, 2, …` is

    κ_k(θ) = 2 E[u₊^k v₊^k]    (for k = 0: 2 P(u > 0, v > 0)),

so `κ_1` is the covariance map of a ReLU layer normalised with `c_φ = 2`, and `κ_0` that of its derivative.
The derivation is the same for every degree. With `u = x`, `v = x cos θ + y sin θ` for independent standard normal
`x, y`, polar coordinates separate the radius, whose integral is `2^k k!`, from the angle, and `χ = 2ψ − θ` leaves

    κ_k(θ) = k!/(2π) ∫_{θ−π}^{π−θ} (cos χ + cos θ)^k dχ = (P_k(cos θ) sin θ + (π − θ) Q_k(cos θ))/π

with polynomials `P_k, Q_k`. Hence also `dκ_k/dρ = k² κ_{k−1}`.

Source: arXiv:2511.07272 (W), after Cho and Saul, *Kernel methods for deep learning* (2009), whose `J_k` is `π κ_k`.
Departure: they give `J_k = (−1)^k (sin θ)^{2k+1} (1/sin θ d/dθ)^k ((π − θ)/sin θ)`; here every degree is one integral.
"""

from __future__ import annotations

from functools import cache

from sympy import (
    Add,
    Derivative,
    Expr,
    Heaviside,
    Integer,
    Integral,
    Interval,
    Max,
    Symbol,
    collect,
    cos,
    exp,
    expand,
    factor,
    factorial,
    integrate,
    oo,
    pi,
    sin,
    symbols,
)

from .derivation import Derivation
from .errors import InvalidInput
from .gaussian import ANGLES, PAIR, PAIRS, UNIT, expectation, sigma, sigma_prime, theta, u, v, x, y
from .integration import Affine, Known, Linearity, Polar, Separation, Support
from .notation import Meaning
from .reasons import Antiderivative
from .trigonometry import Trigonometry, in_cosines

psi, chi = symbols("psi chi", real=True)
r = Symbol("r", positive=True)

DEGREES = range(9)


NOTATION = (
    PAIR,
    Meaning(
        r"\kappa_k(\theta)",
        r"$2\operatorname{E}[u_+^k v_+^k]$ at unit variances, the arc-cosine kernel of degree $k$; "
        r"$u_+^0$ is one if $u > 0$, else zero",
    ),
    Meaning(r"R_k", r"its integral over the radius, in polar coordinates of $x, y$"),
    Meaning(r"s_+", r"the positive part of $s$"),
    Meaning(r"\rho", r"the correlation $\cos\theta$"),
)


def _positive_part_power(s: Expr, degree: int) -> Expr:
    """`s₊^k`; for `k = 0` the indicator of `s > 0`."""
    return Heaviside(s) if degree == 0 else Max(0, s) ** degree


def _kernel(first: Expr, second: Expr, degree: int) -> Expr:
    """`2 E[f₊^k g₊^k]`, where the definition starts."""
    return 2 * expectation(_positive_part_power(first, degree) * _positive_part_power(second, degree))


def _check_degree(degree: int, smallest: int = 0) -> None:
    if isinstance(degree, bool) or not isinstance(degree, int) or degree not in DEGREES or degree < smallest:
        raise InvalidInput("degree", degree, f"give an integer from {smallest} to {DEGREES[-1]}")


@cache
def arccos_kernel(degree: int) -> Derivation:
    """`κ_k(θ) = 2 E[u₊^k v₊^k]` for unit variances at the angle `theta`, for `0 <= k <= 8`.

    Raises `InvalidInput` for other degrees.

    >>> arccos_kernel(0).conclusion
    (pi - theta)/pi
    >>> arccos_kernel(1).conclusion
    ((pi - theta)*cos(theta) + sin(theta))/pi
    """
    _check_degree(degree)
    k = Integer(degree)
    d = Derivation(
        _kernel(u.subs(UNIT), v.subs(UNIT), degree),
        rf"\kappa_{{{degree}}}(\theta)",
        {theta: ANGLES},
        title=f"The arc-cosine kernel of degree {degree}",
        where=NOTATION,
    )
    first, second = r * cos(psi), r * cos(psi - theta)
    pair = _positive_part_power(first, degree) * _positive_part_power(second, degree)
    d = d.then(
        Integral(pair * exp(-(r**2) / 2) * r / pi, (r, 0, oo), (psi, -pi / 2, 3 * pi / 2)),
        because=r"polar coordinates $x = r\cos\psi$, $y = r\sin\psi$ with Jacobian $r$",
        reason=Polar(x, y, r, psi),
    )
    d = d.then(
        Integral((first * second) ** k * exp(-(r**2) / 2) * r / pi, (r, 0, oo), (psi, theta - pi / 2, pi / 2)),
        because="both cosines are positive there and nowhere else",
        reason=Support(psi, theta, ANGLES),
    )
    radius = Integral(r ** (2 * k + 1) * exp(-(r**2) / 2), (r, 0, oo))
    angle = Integral((cos(psi) * cos(psi - theta)) ** k, (psi, theta - pi / 2, pi / 2))
    d = d.then(radius * angle / pi, because="the integrand is a product", reason=Separation())
    radial = _radial_moment(degree)
    d = d.then(
        radial.conclusion * angle / pi,
        because="the integral over the radius",
        reason=Known((radial,)),
        using=(radial,),
    )
    if degree > 0:
        d = d.then(
            radial.conclusion / pi * Integral(((cos(2 * psi - theta) + cos(theta)) / 2) ** k, *angle.limits),
            because=r"$2\cos\psi\cos(\psi - \theta) = \cos(2\psi - \theta) + \cos\theta$",
            reason=Linearity(),
        )
    integrand = (cos(chi) + cos(theta)) ** k
    d = d.then(
        factorial(k) / (2 * pi) * Integral(integrand, (chi, theta - pi, pi - theta)),
        because=r"$\chi = 2\psi - \theta$",
        reason=Affine(psi, (chi + theta) / 2, chi),
    )
    primitive = in_cosines(integrate(expand(integrand), chi))
    value = factorial(k) / (2 * pi) * (primitive.subs(chi, pi - theta) - primitive.subs(chi, theta - pi))
    return d.then(
        _cho_saul_form(value),
        because="the fundamental theorem of calculus",
        reason=Antiderivative(primitive),
    )


def _cho_saul_form(value: Expr) -> Expr:
    """`value`, at most linear in `π − θ`, as `(P(cos θ) sin θ + (π − θ) Q(cos θ))/π`."""
    rest, sine, cosine = symbols("rest sine cosine")
    polynomial = expand(pi * value).subs({sin(theta): sine, cos(theta): cosine}).subs(theta, pi - rest)
    parts = collect(expand(polynomial), (rest, sine), evaluate=False)
    written_back = {rest: pi - theta, sine: sin(theta), cosine: cos(theta)}
    return Add(*(which * factor(part) for which, part in parts.items())).subs(written_back) / pi


@cache
def _radial_moment(degree: int) -> Derivation:
    """`∫_0^∞ r^{2k+1} e^{−r²/2} dr = 2^k k!`."""
    start = Integral(r ** (2 * degree + 1) * exp(-(r**2) / 2), (r, 0, oo))
    primitive = -exp(-(r**2) / 2) * Add(
        *(2 ** (degree - j) * factorial(degree) / factorial(j) * r ** (2 * j) for j in range(degree + 1))
    )
    return Derivation(
        start, rf"R_{{{degree}}}", {}, title=f"The integral over the radius for degree {degree}", where=NOTATION
    ).then(
        Integer(2) ** degree * factorial(degree),
        because="the fundamental theorem of calculus",
        reason=Antiderivative(primitive),
    )


@cache
def derivative_identity(degree: int) -> Derivation:
    """`dκ_k/dρ = k² κ_{k−1}`, for `1 <= k <= 8`, where `d/dρ = −1/sin θ d/dθ` as `ρ = cos θ`.

    It holds inside, `0 < θ < π`; at the ends both sides are continuous.

    >>> derivative_identity(1).conclusion == arccos_kernel(0).conclusion
    True
    """
    _check_degree(degree, smallest=1)
    kernel, previous = arccos_kernel(degree), arccos_kernel(degree - 1)
    start = -Derivative(kernel.conclusion, theta) / sin(theta)
    name = rf"\frac{{d\kappa_{{{degree}}}}}{{d\rho}}"
    d = Derivation(
        start,
        name,
        {theta: Interval.open(0, pi)},
        title=f"The derivative of the kernel of degree {degree}",
        where=NOTATION,
    )
    return d.then(
        degree**2 * previous.conclusion,
        because=rf"differentiation; this is ${degree}^2 \kappa_{{{degree - 1}}}$",
        reason=Trigonometry(),
        using=(kernel, previous),
    )


@cache
def homogeneity(degree: int) -> Derivation:
    """`2 E[u₊^k v₊^k] = (σσ')^k κ_k(θ)` for standard deviations `sigma, sigma_prime > 0`, for `0 <= k <= 8`.

    >>> homogeneity(0).conclusion
    (pi - theta)/pi
    """
    _check_degree(degree)
    kernel = arccos_kernel(degree)
    scale = (sigma * sigma_prime) ** degree
    d = Derivation(
        _kernel(u, v, degree),
        rf"2\operatorname{{E}}[u_+^{{{degree}}} v_+^{{{degree}}}]",
        PAIRS,
        title=f"Homogeneity of the kernel of degree {degree}",
        where=NOTATION,
    )
    d = d.then(
        scale * kernel.start,
        because=r"$(\sigma s)_+ = \sigma s_+$ for $\sigma > 0$",
        reason=Linearity(),
    )
    return d.then(
        scale * kernel.conclusion,
        because="the kernel of unit variances",
        reason=Known((kernel,)),
        using=(kernel,),
    )
