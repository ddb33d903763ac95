r"""Expectations over a centred Gaussian pair, and the three facts about them that the kernels rest on.

`x, y` are independent standard normal variables. A centred Gaussian pair with standard deviations `σ, σ' > 0` and
correlation `cos θ`, `0 <= θ <= π`, is their image

    u = σ x,    v = σ' (x cos θ + y sin θ),

with `a = σ²`, `b = σ'²` and `c = σσ' cos θ` for `E[u²]`, `E[v²]`, `E[uv]`. As no density of `(u, v)` is used, the ends
`θ = 0` and `θ = π` are not excluded. Three reasons go with it:

- `GaussianIntegral`: `∫ exp(−½ zᵀMz + hᵀz + k) dz = (2π)^{n/2} det(M)^{−1/2} exp(½ hᵀM⁻¹h + k)` over `R^n`, for a
  positive definite `M`; `h` and `k` may be complex.
- `GaussianMoments`: `∫ z^{2j} e^{−z²/2} dz = √(2π) (2j−1)!!` over `R`, and zero for odd powers.
- `Divergence`: the divergence of a field that decays like a Gaussian integrates to zero over `R^n`.

**Price's theorem**, `∂/∂c E[φ(u)φ(v)] = E[φ'(u)φ'(v)]` at fixed `a, b`, is derived from the last, for a differentiable
φ. It holds for every absolutely continuous φ whose derivative grows at most exponentially, by approximation.

Source: R. Price, *A useful theorem for nonlinear devices having Gaussian inputs* (1958).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sympy import (
    Add,
    Derivative,
    Dummy,
    Expr,
    Function,
    Integral,
    Interval,
    Matrix,
    Mul,
    Symbol,
    Tuple,
    cos,
    diff,
    exp,
    expand,
    factorial2,
    hessian,
    oo,
    pi,
    powsimp,
    sin,
    sqrt,
    symbols,
    trigsimp,
)

from .derivation import Derivation, How, Outcome
from .integration import over_all, same_integrand, single
from .notation import Meaning
from .reasons import equal

theta = Symbol("theta", nonnegative=True)
sigma, sigma_prime = symbols("sigma sigmaprime", positive=True)
x, y = symbols("x y", real=True)

u = sigma * x
v = sigma_prime * (x * cos(theta) + y * sin(theta))
UNIT = {sigma: 1, sigma_prime: 1}

ANGLES = Interval(0, pi)
PAIRS = {sigma: Interval.open(0, oo), sigma_prime: Interval.open(0, oo), theta: ANGLES}


PAIR = Meaning(
    r"u, v",
    r"a centred Gaussian pair, $u = \sigma x$ and $v = \sigma'(x\cos\theta + y\sin\theta)$ for "
    r"independent standard normal $x$ and $y$",
)
NOTATION = (Meaning(r"\varphi", r"the activation"), Meaning(r"\phi'", r"the derivative of the activation"), PAIR)


def expectation(function: Expr) -> Integral:
    """`E[f(x, y)]` for independent standard normal `x, y`, as an integral; the pair is `u`, `v` of this module.

    >>> GaussianMoments().of(expectation(u * v))
    sigma*sigmaprime*cos(theta)
    """
    return over_all(function * exp(-(x**2 + y**2) / 2) / (2 * pi), x, y)


def _factor_and_exponent(integral: Integral) -> tuple[Expr, Expr]:
    """The integrand as `f exp(q)`, with `q` expanded."""
    parts = Mul.make_args(integral.function)
    exponent = Add(*(part.args[0] for part in parts if isinstance(part, exp)))
    return Mul(*(part for part in parts if not isinstance(part, exp))), expand(exponent)


def _over_all(integral: Integral) -> bool:
    return all(tuple(ends) == (-oo, oo) for _, *ends in integral.limits)


class _Evaluated(ABC):
    """Base of the reasons that put values in for integrals; subclasses give `value`."""

    @abstractmethod
    def value(self, integral: Integral) -> Expr | None:
        """The value of one integral, or None where the formula does not apply."""

    def of(self, line: Expr) -> Expr:
        """The line with every integral evaluated to which the formula applies."""
        values = {integral: self.value(integral) for integral in line.atoms(Integral)}
        return line.xreplace({integral: value for integral, value in values.items() if value is not None})

    def check(self, before: Expr, after: Expr) -> Outcome:
        evaluated = self.of(before)
        if evaluated == before:
            return Outcome(How.UNDECIDED, "no integral of the line before is of the kind that the formula covers")
        outcome = equal(evaluated, after)
        return Outcome(How.LEMMA, type(self).__name__) if outcome.proved else outcome


@dataclass(frozen=True)
class GaussianIntegral(_Evaluated):
    """Integrals over `R^n` of a constant times the exponential of a quadratic polynomial; see the module.

    >>> z = Symbol("z", real=True)
    >>> GaussianIntegral().of(over_all(exp(3 * z - z**2 / 2), z))
    sqrt(2)*sqrt(pi)*exp(9/2)
    """

    def value(self, integral: Integral) -> Expr | None:
        z = list(integral.variables)
        constant, exponent = _factor_and_exponent(integral)
        matrix = -hessian(exponent, z)
        if not _over_all(integral) or constant.has(*z) or matrix.has(*z):
            return None
        minors = [trigsimp(expand(matrix[:size, :size].det())) for size in range(1, len(z) + 1)]
        if not all(minor.is_positive for minor in minors):
            return None
        origin = dict.fromkeys(z, 0)
        slope = Matrix([diff(exponent, variable).subs(origin) for variable in z])
        completed = (slope.T * matrix.inv() * slope)[0] / 2 + exponent.subs(origin)
        return constant * sqrt(2 * pi) ** len(z) / sqrt(minors[-1]) * exp(trigsimp(expand(completed)))


@dataclass(frozen=True)
class GaussianMoments(_Evaluated):
    """Integrals over `R^n` of a polynomial times `exp(−½|z|²)`; see the module.

    >>> z = Symbol("z", real=True)
    >>> GaussianMoments().of(over_all(z**4 * exp(-(z**2) / 2), z))
    3*sqrt(2)*sqrt(pi)
    """

    def value(self, integral: Integral) -> Expr | None:
        z = integral.variables
        factor, exponent = _factor_and_exponent(integral)
        polynomial = factor.as_poly(*z)
        if not _over_all(integral) or polynomial is None:
            return None
        if expand(exponent + Add(*(variable**2 for variable in z)) / 2) != 0:
            return None
        even = [(powers, term) for powers, term in polynomial.terms() if all(power % 2 == 0 for power in powers)]
        moments = [term * Mul(*(factorial2(power - 1) for power in powers)) for powers, term in even]
        return sqrt(2 * pi) ** len(z) * Add(*moments)


@dataclass(frozen=True)
class SameFunction:
    """`E[f(u)f(v)] = λ² E[g(u)g(v)]` as `f = λg`, seen in the one variable `w`: cheaper than `Linearity` in two."""

    w: Symbol
    f: Expr
    multiple: Expr
    g: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        old, new = (expectation(one.subs(self.w, u) * one.subs(self.w, v)) for one in (self.f, self.g))
        if before != old or after != self.multiple**2 * new:
            return Outcome(How.WRONG, "the lines are not the expectations of these functions")
        return equal(self.f, self.multiple * self.g)


@dataclass(frozen=True)
class Divergence:
    """`∫ f = ∫ g` over `R^n`, as `f − g` is the divergence of `field`, which has the factor `exp(−½|z|²)`.

    Its other factors must grow at most exponentially; that is a hypothesis on the functions in it.
    """

    field: Mapping[Symbol, Expr]

    def check(self, before: Expr, after: Expr) -> Outcome:
        old, new = single(before), single(after)
        if old is None or new is None or set(old[0]) != set(new[0]):
            return Outcome(How.UNDECIDED, "expected one integral on either side, over the same set")
        if set(old[0]) != {(variable, -oo, oo) for variable in self.field}:
            return Outcome(How.WRONG, "the field does not have one component for each variable of integration")
        weight = Add(*(variable**2 for variable in self.field)) / 2
        for component in self.field.values():
            if powsimp(component * exp(weight)).has(exp):
                return Outcome(How.UNDECIDED, f"cannot see that {component} decays")
        divergence = Add(*(diff(component, variable) for variable, component in self.field.items()))
        if not same_integrand(old[1] - new[1], divergence):
            return Outcome(How.UNDECIDED, "the integrands were not seen to differ by the divergence")
        return Outcome(How.LEMMA, "divergence theorem")


@dataclass(frozen=True)
class UnderTheIntegral:
    """`d/dt ∫ f = ∫ ∂f/∂t` over a set that does not depend on `t`; ∂f/∂t must have an integrable bound."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        name = Dummy("derivative")
        derivatives = before.atoms(Derivative)
        new = single(after)
        if len(derivatives) != 1 or new is None:
            return Outcome(How.UNDECIDED, "expected the derivative of one integral before, and one integral after")
        (derivative,) = derivatives
        old, parameters = single(derivative.expr), derivative.variables
        if old is None or set(old[0]) != set(new[0]) or any(Tuple(*limit[1:]).has(*parameters) for limit in old[0]):
            return Outcome(How.WRONG, "the sets of integration are not the same, or depend on the parameter")
        multiple = before.xreplace({derivative: name}) / name
        if not same_integrand(multiple * diff(old[1], *parameters), new[1]):
            return Outcome(How.UNDECIDED, "the integrand was not seen to be the derivative of the one before")
        return Outcome(How.LEMMA, "dominated convergence")


phi_prime = Function("phiprime")


class phi(Function):
    """Any differentiable function φ; its derivative is `phi_prime`."""

    def fdiff(self, argindex: int = 1) -> Expr:
        return phi_prime(self.args[0])


@cache
def price_theorem() -> Derivation:
    """`−1/(σσ' sin θ) ∂/∂θ E[φ(u)φ(v)] = E[φ'(u)φ'(v)]`: the left side is `∂/∂c` at fixed variances.

    >>> price_theorem().conclusion == expectation(phi_prime(u) * phi_prime(v))
    True
    """
    start = expectation(phi(u) * phi(v))
    slope = -1 / (sigma * sigma_prime * sin(theta))
    domain = PAIRS | {theta: Interval.open(0, pi)}
    d = Derivation(
        slope * Derivative(start, theta),
        r"\frac{\partial}{\partial c}\operatorname{E}[\varphi(u)\varphi(v)]",
        domain,
        title="Price's theorem",
        where=NOTATION,
    )
    across = y * cos(theta) - x * sin(theta)  # independent of v, and the derivative of v/σ' by θ
    pair = phi(u) * phi_prime(v)
    d = d.then(
        expectation(slope * sigma_prime * across * pair),
        because="differentiation under the integral sign",
        reason=UnderTheIntegral(),
    )
    flux = -slope * sigma_prime * pair * exp(-(x**2 + y**2) / 2) / (2 * pi)
    return d.then(
        expectation(phi_prime(u) * phi_prime(v)),
        because=r"integration by parts along the direction in which $v$ is constant",
        reason=Divergence({x: -sin(theta) * flux, y: cos(theta) * flux}),
    )
