r"""Hermite polynomials: their generating function, their duals, and the series of any activation.

`He_k`, `k = 0, 1, 2, …`, are the probabilists' Hermite polynomials and `h_k = He_k/√k!`, so that, for `z ~ N(0, 1)`,
`E[h_j(z) h_k(z)] = δ_jk`. They are derivatives of a generating function: `He_k(w) = ∂_s^k exp(sw − s²/2)` at `s = 0`,

    E[exp(su − s²/2) exp(tv − t²/2)] = exp((a − 1)s²/2 + (b − 1)t²/2 + cst)

for a centred Gaussian pair with `E[u²] = a`, `E[v²] = b`, `E[uv] = c`. At unit variances and correlation `ρ` the right
side is `exp(ρst)`, which has no term `s^j t^k` with `j ≠ k`: `E[h_j(u) h_k(v)] = δ_jk ρ^k`. An activation with
`E[φ(z)²] < ∞`, `φ = Σ_k α_k h_k` in mean square, therefore has the dual and the tail

    E[φ(u)φ(v)] = Σ_{k>=0} α_k² ρ^k,    Σ_{k>K} α_k² |ρ|^k <= |ρ|^{K+1} (E[φ(z)²] − Σ_{k<=K} α_k²),

the latter because `|ρ|^k <= |ρ|^{K+1}` for `k > K` and, by Parseval, `Σ_{k>K} α_k²` is what stands in the brackets.

Source: Mehler (1866); Daniely, Frostig, Singer, *Toward deeper understanding of neural networks* (2016), for the dual.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from sympy import (
    QQ,
    Abs,
    Add,
    Derivative,
    Expr,
    Integer,
    Poly,
    Reals,
    Subs,
    Symbol,
    collect,
    exp,
    factor_terms,
    factorial,
    ring,
    sqrt,
    symbols,
)

from .activations import Hermite
from .algebra import vanishes
from .derivation import Derivation, How, Outcome
from .errors import InvalidInput
from .gaussian import PAIRS, GaussianIntegral, expectation, u, v
from .integration import Known
from .notation import Meaning

s, t, w = symbols("s t w", real=True)


NOTATION = (
    Meaning(
        r"h_k",
        r"the Hermite polynomial of degree $k$, normalised: $\operatorname{E}[h_k(z)^2] = 1$ for a standard "
        r"normal $z$",
    ),
    Meaning(r"w", r"a real number"),
    Meaning(r"k", r"a degree"),
)


def _generator(parameter: Symbol, argument: Expr) -> Expr:
    return exp(parameter * argument - parameter**2 / 2)


@cache
def generating_function() -> Derivation:
    """`E[exp(su − s²/2) exp(tv − t²/2)]` for the pair `u, v` of `theory/gaussian.py`.

    >>> from theory.gaussian import UNIT
    >>> generating_function().conclusion.subs(UNIT)
    exp(s*t*cos(theta))
    """
    start = expectation(_generator(s, u) * _generator(t, v))
    value = GaussianIntegral().of(start)
    d = Derivation(
        start,
        r"\operatorname{E}[e^{su - s^2/2} e^{tv - t^2/2}]",
        PAIRS | {s: Reals, t: Reals},
        title="The generating function of the Hermite duals",
        where=NOTATION,
    )
    return d.then(
        exp(collect(value.args[0], (s, t))),
        because="the Gaussian integral",
        reason=GaussianIntegral(),
    )


@lru_cache(maxsize=None, typed=True)  # typed: 2.0 must not find what was cached for 2
def hermite_moment(j: int, k: int) -> Derivation:
    """`E[h_j(u) h_k(v)]` for `0 <= j, k <= 200`; at unit variances `δ_jk cos^k θ`. Raises `InvalidInput` for others.

    >>> from theory.gaussian import UNIT
    >>> hermite_moment(3, 3).conclusion.subs(UNIT), hermite_moment(1, 3).conclusion.subs(UNIT)
    (cos(theta)**3, 0)
    """
    first, second = Hermite(j).expression(w).subs(w, u), Hermite(k).expression(w).subs(w, v)
    scale = 1 / sqrt(factorial(j) * factorial(k))
    generating = generating_function()
    d = Derivation(
        expectation(first * second),
        rf"\operatorname{{E}}[h_{{{j}}}(u) h_{{{k}}}(v)]",
        PAIRS,
        title=f"The Hermite moment of degrees {j} and {k}",
        where=NOTATION,
    )
    d = d.then(
        scale * _at_zero(generating.start, j, k),
        because=r"$\sqrt{k!}\, h_k(w)$ is the derivative of order $k$ of $e^{sw - s^2/2}$ at $s = 0$",
        reason=HermiteDerivatives(j, k),
    )
    d = d.then(
        scale * _at_zero(generating.conclusion, j, k),
        because="the generating function",
        reason=Known((generating,)),
        using=(generating,),
    )
    exponent = generating.conclusion.args[0].as_poly(s, t)
    square_s, square_t, mixed = _coefficients(exponent)
    terms = [
        mixed**i
        / factorial(i)
        * (square_s ** ((j - i) // 2) / factorial((j - i) // 2))
        * (square_t ** ((k - i) // 2) / factorial((k - i) // 2))
        for i in range(min(j, k) + 1)
        if (j - i) % 2 == 0 and (k - i) % 2 == 0
    ]
    return d.then(
        Add(*(factorial(j) * factorial(k) * scale * term for term in terms)),
        because="the power series of the exponential",
        reason=TaylorCoefficient(j, k),
    )


def _coefficients(quadratic_form: Poly) -> list[Expr]:
    """Those of `s²`, `t²` and `st`."""
    return [factor_terms(quadratic_form.coeff_monomial(monomial)) for monomial in (s**2, t**2, s * t)]


def _at_zero(function: Expr, j: int, k: int) -> Expr:
    """`∂_s^j ∂_t^k` of `function` at `s = t = 0`, not evaluated."""
    orders = [(parameter, order) for parameter, order in ((s, j), (t, k)) if order > 0]
    return Subs(Derivative(function, *orders) if orders else function, (s, t), (0, 0))


@dataclass(frozen=True)
class HermiteDerivatives:
    """`h_j(u) h_k(v)` as a derivative of the generating function, which is taken out of the expectation.

    With `G = exp(sw − s²/2)`, `∂_s G = (w − s) G` gives `∂_s^{n+1} G = w ∂_s^n G − n ∂_s^{n−1} G` at `s = 0`; that the
    polynomials of this recursion are those of the line before is checked. Dominated convergence does the rest.
    """

    j: int
    k: int

    def check(self, before: Expr, after: Expr) -> Outcome:
        if after != _at_zero(generating_function().start, self.j, self.k) / sqrt(factorial(self.j) * factorial(self.k)):
            return Outcome(How.WRONG, "the line is not the derivative of the generating function")
        polynomials = [Integer(1), w]
        for n in range(1, max(self.j, self.k)):
            polynomials.append((w * polynomials[n] - n * polynomials[n - 1]).expand())
        first, second = ((polynomials[n] / sqrt(factorial(n))).expand() for n in (self.j, self.k))
        if before != expectation(first.subs(w, u) * second.subs(w, v)):
            return Outcome(How.WRONG, "the line before is not the expectation of these Hermite polynomials")
        return Outcome(How.LEMMA, "dominated convergence")


@dataclass(frozen=True)
class TaylorCoefficient:
    """`∂_s^j ∂_t^k exp(αs² + βt² + γst)` at zero is a polynomial in `α, β, γ`.

    Checked by the recursion `G_{j+1,k} = 2αj G_{j−1,k} + γk G_{j,k−1}` that `∂_s G = (2αs + γt) G` gives.
    """

    j: int
    k: int

    def check(self, before: Expr, after: Expr) -> Outcome:
        derivatives = before.atoms(Subs)
        if len(derivatives) != 1:
            return Outcome(How.UNDECIDED, "expected one derivative at zero")
        (derivative,) = derivatives
        function = derivative.expr.expr if isinstance(derivative.expr, Derivative) else derivative.expr
        exponent = function.args[0].as_poly(s, t) if isinstance(function, exp) else None
        if exponent is None or derivative != _at_zero(function, self.j, self.k):
            return Outcome(How.UNDECIDED, "expected a derivative at zero of the exponential of a polynomial")
        if not set(exponent.monoms()) <= {(2, 0), (0, 2), (1, 1)}:
            return Outcome(How.UNDECIDED, "the exponent is not a quadratic form")
        value = self._value().as_expr(*_coefficients(exponent))
        difference = before.xreplace({derivative: value}) - after
        if vanishes(difference) is not True:
            return Outcome(How.WRONG, "the recursion gives another value")
        return Outcome(How.ALGEBRA)

    def _value(self):
        """`G_{j,k}` in `Q[α, β, γ]`."""
        polynomials, alpha, beta, gamma = ring("alpha beta gamma", QQ)
        row = [polynomials(0)] * (self.k + 1)  # G_{0,k}: only powers of exp(βt²)
        for n in range(0, self.k + 1, 2):
            row[n] = beta ** (n // 2) * QQ(math.factorial(n), math.factorial(n // 2))
        previous = [polynomials(0)] * (self.k + 1)
        for n in range(self.j):
            following = [
                2 * n * alpha * previous[m] + (m * gamma * row[m - 1] if m else polynomials(0))
                for m in range(self.k + 1)
            ]
            previous, row = row, following
        return row[self.k]


def tail_bound(coefficients: Sequence[Expr], energy: Expr, correlation: Expr) -> Expr:
    """A bound on `|Σ_{k>K} α_k² ρ^k|`, given `α_0, …, α_K`, `energy = E[φ(z)²]` and `ρ ∈ [−1, 1]`; see the module.

    For ReLU, with `α_0 = 1/√(2π)`, `α_1 = 1/2`, `E[φ²] = 1/2`:

    >>> from sympy import Rational, pi
    >>> rho = Symbol("rho", real=True)
    >>> tail_bound([1 / sqrt(2 * pi), Rational(1, 2)], Rational(1, 2), rho)
    rho**2*(1/4 - 1/(2*pi))
    """
    if not coefficients:
        raise InvalidInput("coefficients", coefficients, "give at least the first Hermite coefficient")
    return Abs(correlation) ** len(coefficients) * (energy - Add(*(coefficient**2 for coefficient in coefficients)))
