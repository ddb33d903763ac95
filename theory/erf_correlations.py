r"""The means of the correlations `C_{0,d}` for `φ = erf`, one hidden layer, in closed form, `d = 3, 5`.

In the symbols of `theory/correlations.py`, `E C_{0,d}` is made of `E φ'^d φ^{(d)}` and `E φ φ^{(d−1)} φ'^{d−1}` with
`u ~ N(0, 1)`, and the derivatives of erf are polynomials times `e^{−u²}`. So all are combinations, with `b > 0`, of

    G_k(b) = ∫ u^k e^{−bu²} du = (k−1)!! (2b)^{−k/2} √(π/b) for even k, 0 for odd k,
    H_k(b) = ∫ u^k erf(u) e^{−bu²} du = ((k−1) H_{k−2}(b) + (2/√π) G_{k−1}(b+1))/2b for odd k, 0 for even k,

over the real line: in `H`, by parts, `u e^{−bu²}` is integrated; `H_{−1}` has the factor 0. Even `d` have mean zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import Add, Expr, Integral, Mul, Rational, S, erf, exp, expand, factorial2, oo, pi, powsimp, sqrt

from .activations import Erf
from .correlations import mean_correlation, of_activation, u
from .derivation import Derivation, How, Outcome
from .errors import InvalidInput
from .reasons import equal


def gaussian_moment(k: int, b: Expr) -> Expr:
    """`G_k(b)`.

    >>> gaussian_moment(2, S(1))
    sqrt(pi)/2
    """
    return S.Zero if k % 2 else factorial2(k - 1) * (2 * b) ** Rational(-k, 2) * sqrt(pi / b)


def error_function_moment(k: int, b: Expr) -> Expr:
    """`H_k(b)`.

    >>> error_function_moment(1, S(1))
    sqrt(2)/2
    """
    if k % 2 == 0:
        return S.Zero
    before = (k - 1) * error_function_moment(k - 2, b) if k > 1 else S.Zero
    return (before + 2 / sqrt(pi) * gaussian_moment(k - 1, b + 1)) / (2 * b)


@dataclass(frozen=True)
class ErrorFunctionMoments:
    """Puts in the values of integrals of polynomials in `u` times `e^{−bu²}`, or times `erf(u) e^{−bu²}`."""

    def of(self, line: Expr) -> Expr:
        """The line with each integral evaluated; `InvalidInput` for one of another kind."""
        return line.replace(Integral, lambda function, limits: self._value(function, limits))

    def _value(self, function: Expr, limits: Expr) -> Expr:
        if tuple(limits) != (u, -oo, oo):
            raise InvalidInput("limits", str(limits), "integrate over all real u")
        return Add(*(self._term(powsimp(term)) for term in Add.make_args(expand(function))))

    def _term(self, term: Expr) -> Expr:
        constant, rest = term.as_independent(u)
        factors = Mul.make_args(rest)
        exponent = Add(*(factor.args[0] for factor in factors if isinstance(factor, exp)))
        b, others = -exponent.coeff(u, 2), Mul(*(factor for factor in factors if not isinstance(factor, exp)))
        moment = error_function_moment if others.has(erf) else gaussian_moment
        power = others / erf(u) if others.has(erf) else others
        k = power.as_base_exp()[1] if power != 1 else S.Zero
        if power not in (1, u**k) or not (k.is_Integer and k >= 0) or exponent != -b * u**2 or not b.is_positive:
            raise InvalidInput("function", str(term), "give u^k exp(-b u^2), b > 0, or that times erf(u)")
        return constant * moment(int(k), b)

    def check(self, before: Expr, after: Expr) -> Outcome:
        try:
            outcome = equal(self.of(before), after)
        except InvalidInput as problem:
            return Outcome(How.UNDECIDED, str(problem))
        return Outcome(How.LEMMA, "moments with the error function") if outcome.proved else outcome


@cache
def erf_mean(d: int) -> Derivation:
    """`E C_{0,d}` of one hidden layer of erf units, at every width, `d = 3` or 5.

    >>> erf_mean(3).conclusion
    -928*c**2*eta**3/(189*pi**2*m)
    """
    if d not in (3, 5):
        raise InvalidInput("d", d, "give 3 or 5; d = 1 needs the mean of erf(u)^2, and even ones vanish")
    general = mean_correlation(d)
    start = Derivation(
        of_activation(general.conclusion, Erf()), general.name, general.domain, title=f"{general.title}, for erf"
    )
    closed = expand(ErrorFunctionMoments().of(start.start))
    words = r"moments with the error function, by parts"
    return start.then(closed, because=words, reason=ErrorFunctionMoments(), using=(general,))
