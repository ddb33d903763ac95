r"""The dual pair of an activation: the two Gaussian expectations that every kernel is made of.

For a centred Gaussian pair `(u, v)` with `E[u²] = a > 0`, `E[v²] = b > 0`, `E[uv] = c`, `c² <= ab`,

    Σ(a, b, c) = E[φ(u)φ(v)],    Σ̇(a, b, c) = E[φ'(u)φ'(v)],    c_φ = 1/E[φ(z)²],  z ~ N(0, 1).

They are not normalised here: a layer of the network in `theory/ntk.py` has `c_φ Σ` and `c_φ Σ̇`. Every derivation starts
from the integral over the pair `u = σx`, `v = σ'(x cos θ + y sin θ)` of `theory/gaussian.py` and ends in `a, b, c`:

| φ | by |
|---|---|
| ReLU | the arc-cosine kernels of degrees 1 and 0 |
| leaky ReLU, `αs + β|s|` | parity: `E[u|v|] = 0`, which leaves `E[uv]` and ReLU |
| erf | `Σ̇` is a Gaussian integral, and Price's theorem integrates it to `Σ` |
| sin, cos, exp | Gaussian integrals of exponentials |
| Hermite polynomials | their generating function |
| identity | Gaussian moments |

`∂Σ/∂c = Σ̇` (Price's theorem) is derived for each from the two closed forms. tanh and softplus have none: refused.

Source: arXiv:2511.07272 (W) for ReLU; Cho and Saul (2009); Williams, *Computing with infinite networks* (1997) for erf;
Daniely, Frostig, Singer (2016) for sin, cos, exp and Hermite polynomials. Departure: `Σ` and `c_φ` are kept apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    Mul,
    Symbol,
    acos,
    collect,
    cosh,
    diff,
    exp,
    expand,
    factor,
    fraction,
    integrate,
    nsimplify,
    oo,
    pi,
    powsimp,
    simplify,
    sinh,
    sqrt,
    symbols,
    together,
)

from .activations import Activation, Cos, Erf, Exp, Hermite, Identity, LeakyReLU, ReLU, Sin
from .arccos import homogeneity
from .derivation import Derivation, How, Outcome
from .errors import InvalidInput
from .gaussian import (
    PAIRS,
    GaussianIntegral,
    GaussianMoments,
    SameFunction,
    expectation,
    price_theorem,
    sigma,
    sigma_prime,
    theta,
    u,
    v,
    x,
    y,
)
from .hermite import hermite_moment, s, t
from .integration import Known, Linearity
from .notation import Meaning
from .reasons import Algebra, Antiderivative, shown

a, b = symbols("a b", positive=True)  # the variances of u and v
c = Symbol("c", real=True)  # their covariance, c² <= ab

_IN_COVARIANCES = {sigma: sqrt(a), sigma_prime: sqrt(b), theta: acos(c / sqrt(a * b))}
_HYPERBOLIC = {sinh(c): (exp(c) - exp(-c)) / 2, cosh(c): (exp(c) + exp(-c)) / 2}
_SAME_UNIT = {
    sigma: Integer(1),
    sigma_prime: Integer(1),
    theta: Integer(0),
    a: Integer(1),
    b: Integer(1),
    c: Integer(1),
}


NOTATION = (
    Meaning(r"\varphi", r"the activation"),
    Meaning(
        r"u, v",
        r"a centred Gaussian pair, $u = \sigma x$ and $v = \sigma'(x\cos\theta + y\sin\theta)$ for "
        r"independent standard normal $x$ and $y$",
    ),
    Meaning(r"z", r"a standard normal variable"),
)


@cache
def dual(activation: Activation) -> Derivation:
    """`Σ(a, b, c) = E[φ(u)φ(v)]`, not normalised, in the symbols `a, b, c` of this module.

    Raises `InvalidInput` for an activation without a closed form.

    >>> dual(ReLU()).conclusion
    (c*(pi - acos(c/(sqrt(a)*sqrt(b)))) + sqrt(a*b - c**2))/(2*pi)
    >>> dual(Erf()).conclusion
    2*asin(2*c/(sqrt(2*a + 1)*sqrt(2*b + 1)))/pi
    """
    d = _start(activation, activation.expression(s), r"\Sigma")
    match activation:
        case ReLU():
            return _by_arccos(d, 1)
        case LeakyReLU():
            return _by_parity(d, *_slopes(activation), 1)
        case Erf():
            return _by_price(d, dual_derivative(activation))
        case Sin() | Cos() | Exp():
            return _by_exponentials(d, activation.expression)
        case Hermite():
            return _by_hermite(d, activation.degree)
        case Identity():
            return _by_moments(d)
    raise _no_closed_form(activation)


@cache
def dual_derivative(activation: Activation) -> Derivation:
    """`Σ̇(a, b, c) = E[φ'(u)φ'(v)]`, not normalised, in the symbols `a, b, c` of this module.

    Raises `InvalidInput` for an activation without a closed form.

    >>> dual_derivative(Sin()).conclusion
    exp(-a/2 - b/2)*cosh(c)
    """
    d = _start(activation, activation.derivative(s), r"\dot\Sigma")
    match activation:
        case ReLU():
            return _by_arccos(d, 0)
        case LeakyReLU():
            return _by_parity(d, *_slopes(activation), 0)
        case Erf():
            return _in_covariances(_by_gaussian_integral(d))
        case Sin() | Cos() | Exp():
            return _by_exponentials(d, activation.derivative)
        case Hermite():
            return _by_hermite_derivative(d, activation.degree)
        case Identity():
            return _by_moments(d)
    raise _no_closed_form(activation)


@cache
def normalisation(activation: Activation) -> Derivation:
    """`c_φ = 1/E[φ(z)²]` for a standard normal `z`, which is `1/Σ(1, 1, 1)`.

    >>> normalisation(ReLU()).conclusion, normalisation(Hermite(3)).conclusion
    (2, 1)
    """
    pair = dual(activation)
    z_squared = pair.start.subs(_SAME_UNIT)
    d = Derivation(
        1 / z_squared,
        rf"c_{{\text{{{activation.name}}}}}",
        {},
        title=f"The normalisation of {activation.name}",
        where=NOTATION,
    )
    return d.then(
        simplify(1 / pair.conclusion.subs(_SAME_UNIT)),
        because=r"$\operatorname{E}[\varphi(z)^2]$ is the dual at $a = b = c = 1$",
        reason=Known((pair,), at=_SAME_UNIT),
        using=(pair,),
    )


@cache
def price(activation: Activation) -> Derivation:
    """`∂Σ/∂c = Σ̇` between the two closed forms, for `c² < ab`; φ need only be absolutely continuous.

    >>> price(Identity()).conclusion
    1
    """
    pair, derivative = dual(activation), dual_derivative(activation)
    d = Derivation(
        Derivative(pair.conclusion, c),
        r"\frac{\partial\Sigma}{\partial c}",
        {a: Interval.open(0, oo), b: Interval.open(0, oo), c: Interval.open(-sqrt(a * b), sqrt(a * b))},
        title=f"Price's theorem for {_called(activation)}",
        where=NOTATION,
    )
    return d.then(
        derivative.conclusion,
        because=r"differentiation; this is $\dot\Sigma$",
        reason=Algebra(),
        using=(pair, derivative, price_theorem()),
    )


def _start(activation: Activation, function: Expr, name: str) -> Derivation:
    domain = PAIRS | {a: Interval.open(0, oo), b: Interval.open(0, oo), c: Interval(-sqrt(a * b), sqrt(a * b))}
    what = "dual" if name == r"\Sigma" else "dual of the derivative"
    start = expectation(function.subs(s, u) * function.subs(s, v))
    return Derivation(start, f"{name}(a, b, c)", domain, title=f"The {what} of {_called(activation)}", where=NOTATION)


def _called(activation: Activation) -> str:
    return f"{activation.name} of degree {activation.degree}" if isinstance(activation, Hermite) else activation.name


def _no_closed_form(activation: Activation) -> InvalidInput:
    return InvalidInput(
        "activation",
        activation.name or type(activation).__name__,
        "closed forms are derived for relu, leaky-relu, identity, erf, sin, cos, exp and hermite; `numerics` evaluates "
        "the dual of others by quadrature or by a Hermite series",
    )


def _slopes(activation: LeakyReLU) -> tuple[Expr, Expr]:
    return nsimplify(activation.a), nsimplify(activation.b)


def _in_covariances(d: Derivation, written: Callable[[Expr], Expr] = simplify) -> Derivation:
    """The last line in `a = σ²`, `b = σ'²`, `c = σσ' cos θ`, in the form that `written` gives it."""
    return d.then(
        written(d.conclusion.subs(_IN_COVARIANCES)),
        because=r"in $a = \sigma^2$, $b = \sigma'^2$, $c = \sigma\sigma'\cos\theta$",
        reason=Algebra(given=_IN_COVARIANCES | _HYPERBOLIC),
    )


def _in_angles(value: Expr) -> Expr:
    """`value` as one fraction, its numerator ordered by powers of `c`."""
    numerator, denominator = fraction(together(simplify(value)))
    return collect(expand(numerator), c, factor) / denominator


def _by_arccos(d: Derivation, degree: int) -> Derivation:
    kernel = homogeneity(degree)
    reason = Known((kernel,))
    d = d.then(reason.of(d.conclusion), because="the arc-cosine kernel", reason=reason, using=(kernel,))
    return _in_covariances(d, _in_angles)


def leaky_relu(alpha: Expr, beta: Expr, degree: int) -> Derivation:
    """`Σ` (degree 1) or `Σ̇` (degree 0) of `φ(s) = αs + β|s|` with symbols for the slopes."""
    function = alpha * s + beta * abs(s)
    d = _start(LeakyReLU(), function if degree == 1 else diff(function, s), r"\Sigma" if degree == 1 else r"\dot\Sigma")
    return _by_parity(d, alpha, beta, degree)


def _by_parity(d: Derivation, alpha: Expr, beta: Expr, degree: int) -> Derivation:
    """For `αs + β|s|` (degree 1), or its derivative `α + β sign s` (degree 0)."""
    odd = u * v if degree == 1 else Integer(1)
    positive = Max(0, u) * Max(0, v) if degree == 1 else Heaviside(u) * Heaviside(v)
    kernel = homogeneity(degree)
    d = d.then(
        (alpha**2 - beta**2) * expectation(odd) + 4 * beta**2 * expectation(positive),
        because=(
            r"$|s| = 2s_+ - s$, and what is odd in $(u, v)$ has the mean zero"
            if degree == 1
            else r"the sign of $s$ is $2\operatorname{H}(s) - 1$, and what is odd in $(u, v)$ has the mean zero"
        ),
        reason=Linearity(odd_in=(x, y)),
    )
    if d.conclusion.has(expectation(odd)):  # not for alpha² = beta²
        moments = GaussianMoments()
        d = d.then(moments.of(d.conclusion), because="Gaussian moments", reason=moments)
    if d.conclusion.has(Integral):  # not for beta = 0
        known = Known((kernel,))
        d = d.then(known.of(d.conclusion), because="the arc-cosine kernel", reason=known, using=(kernel,))
    return _in_covariances(d, _in_angles)


def _by_gaussian_integral(d: Derivation) -> Derivation:
    reason = GaussianIntegral()
    return d.then(reason.of(d.conclusion), because="the Gaussian integral of each exponential", reason=reason)


def _by_exponentials(d: Derivation, function: Callable[[Expr], Expr]) -> Derivation:
    """For a function that is a combination of exponentials."""
    p, q = symbols("p q", real=True)
    product = expand((function(p) * function(q)).rewrite(exp))
    if product != function(p) * function(q):
        terms = (term.as_independent(p, q) for term in Add.make_args(product))
        d = d.then(
            Add(*(Mul(number, expectation(wave.subs({p: u, q: v})), evaluate=False) for number, wave in terms)),
            because="both factors are combinations of exponentials",
            reason=Linearity(),
        )
    return _in_covariances(_by_gaussian_integral(d), _hyperbolic)


def _hyperbolic(value: Expr) -> Expr:
    """`value` as `exp(±(a + b)/2)` times an exponential, `sinh` or `cosh` of `c`, whichever it is."""
    for scale in (exp(-(a + b) / 2), exp((a + b) / 2)):
        rest = simplify(expand(expand(value) * expand(1 / scale)))
        if not rest.has(a, b):
            return powsimp(scale * rest)
    return value


@dataclass(frozen=True)
class PriceIntegral:
    """`E[φ(u)φ(v)] = ∫_0^c Σ̇(a, b, t) dt` for an odd φ, by Price's theorem, given the derivation of `Σ̇`.

    The value at `c = 0`, that is at `θ = π/2`, is zero since there the integrand is odd in `y`. Both derivations, that
    of `Σ̇` and that of the theorem, must be proved.
    """

    function: Expr  # φ(s)
    derivative: Derivation

    def check(self, before: Expr, after: Expr) -> Outcome:
        phi, slope = self.function, diff(self.function, s)
        if before != expectation(phi.subs(s, u) * phi.subs(s, v)):
            return Outcome(How.WRONG, "the line before is not E[φ(u)φ(v)]")
        if self.derivative.start != expectation(slope.subs(s, u) * slope.subs(s, v)):
            return Outcome(How.WRONG, "the derivation is not that of E[φ'(u)φ'(v)]")
        if len(list(shown((self.derivative, price_theorem())))) < 2:
            return Outcome(How.UNDECIDED, "a derivation relied on is not proved")
        at_zero = Linearity(odd_in=(y,)).check(before.subs(theta, pi / 2), Integer(0))
        if not at_zero.proved:
            return at_zero
        if after != Integral(self.derivative.conclusion.subs(c, t), (t, 0, c)):
            return Outcome(How.WRONG, "the line is not the integral of that derivation's conclusion from 0 to c")
        return Outcome(How.LEMMA, "Price's theorem")


def _by_price(d: Derivation, derivative: Derivation) -> Derivation:
    integrand = derivative.conclusion.subs(c, t)
    d = d.then(
        Integral(integrand, (t, 0, c)),
        because=r"Price's theorem, and $\operatorname{E}[\varphi(u)\varphi(v)] = 0$ at $c = 0$ as $\varphi$ is odd",
        reason=PriceIntegral(Erf().expression(s), derivative),
        using=(derivative, price_theorem()),
    )
    primitive = integrate(integrand, t).replace(lambda part: part.is_Add, factor)
    return d.then(
        primitive.subs(t, c) - primitive.subs(t, 0),
        because="the fundamental theorem of calculus",
        reason=Antiderivative(primitive),
    )


def _by_hermite(d: Derivation, degree: int) -> Derivation:
    moment = hermite_moment(degree, degree)
    reason = Known((moment,))
    d = d.then(moment.conclusion, because="the Hermite moment", reason=reason, using=(moment,))
    return _in_covariances(d, lambda value: value)


def _by_hermite_derivative(d: Derivation, degree: int) -> Derivation:
    if degree == 0:
        return d.then(Integer(0), because="the derivative of a constant", reason=Linearity())
    moment = hermite_moment(degree - 1, degree - 1)
    d = d.then(
        degree * moment.start,
        because=r"$h_k' = \sqrt{k}\, h_{k-1}$",
        reason=SameFunction(s, Hermite(degree).derivative(s), sqrt(degree), Hermite(degree - 1).expression(s)),
    )
    reason = Known((moment,))
    d = d.then(degree * moment.conclusion, because="the Hermite moment", reason=reason, using=(moment,))
    return _in_covariances(d, lambda value: value)


def _by_moments(d: Derivation) -> Derivation:
    reason = GaussianMoments()
    d = d.then(reason.of(d.conclusion), because="Gaussian moments", reason=reason)
    return _in_covariances(d)
