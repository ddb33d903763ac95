r"""Reasons for the growth of derivatives: sums over poles, Fourier integrals, their largest values, the ratio test.

Symbols: `s` real, the argument; `k >= 1` an integer, the order; `n >= 0` an integer that counts the poles
`±iπ(n + ½)` of `tanh`; `ω` a frequency. A reason that shows a bound, and not an equality, has the relation `DECIDES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import (
    Abs,
    Derivative,
    Expr,
    I,
    Integral,
    Limit,
    Rational,
    S,
    Sum,
    Symbol,
    combsimp,
    cosh,
    diff,
    erf,
    exp,
    expand,
    factorial,
    gammasimp,
    limit,
    oo,
    pi,
    sin,
    sinh,
    sqrt,
    symbols,
    tanh,
)

from .algebra import attempt, is_exp_log, vanishes
from .derivation import Derivation, How, Outcome, Relation
from .reasons import equal

s, omega = symbols("s omega", real=True)
k = Symbol("k", integer=True, positive=True)
n = Symbol("n", integer=True, nonnegative=True)

POLE = I * pi * (n + Rational(1, 2))


@dataclass(frozen=True)
class MittagLeffler:
    """`tanh s` is the sum over its poles, paired.

    Checked: `cosh` vanishes at each pole, with the residue `sinh/cosh' = 1`; `tanh` has the period `iπ`; both sides are
    0 at `s = 0`. As `|tanh| <= coth π` on the squares with the corners `πN (±1 ± i)`, the expansion follows from
    Cauchy's integral of `tanh(z)/(z(z − s))` over them.
    """

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != tanh(s) or after != Sum(1 / (s - POLE) + 1 / (s + POLE), (n, 0, oo)):
            return Outcome(How.WRONG, "the lines are not tanh and the sum over its poles")
        z = Symbol("z")
        facts = (
            cosh(POLE),
            (sinh(z) - diff(cosh(z), z)).subs(z, POLE),
            tanh(s + I * pi) - tanh(s),
            tanh(S.Zero),
            after.function.subs(s, 0),
        )
        if not all(vanishes(fact) for fact in facts):
            return Outcome(How.UNDECIDED, "SymPy did not see the poles and residues of tanh")
        return Outcome(How.LEMMA, "Mittag-Leffler")


@dataclass(frozen=True)
class RepeatedDerivative:
    """The derivative of an order that is `index` up to an integer, by induction on the order.

    The line before is `Derivative(F, (variable, order))`; `F` may be a sum or an integral, whose terms are
    differentiated one by one: the sums here converge uniformly from the first derivative on, the integrals absolutely.
    Checked are the derivative of order 0 and the step to the next order.
    """

    variable: Symbol
    index: Symbol

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Derivative) or before.variable_count[0][0] != self.variable:
            return Outcome(How.UNDECIDED, f"the line before is not a derivative by {self.variable}")
        function, order = before.expr, before.variable_count[0][1]
        if isinstance(function, Sum | Integral):
            if not isinstance(after, type(function)) or after.limits != function.limits:
                return Outcome(How.UNDECIDED, "the line is not of the same kind, over the same range")
            function, after = function.function, after.function
        offset = order - self.index
        if not offset.is_Integer:
            return Outcome(How.UNDECIDED, f"the order is not {self.index} up to an integer")
        number = Symbol("number", integer=True, nonnegative=True)  # of derivatives
        general = after.subs(self.index, number - offset).subs(POLE, Symbol("p"))  # SymPy is quicker with a name
        start = equal(general.subs(number, 0), function.subs(POLE, Symbol("p")))
        if not start.proved:
            return start
        step = equal(expand(combsimp(diff(general, self.variable) - general.subs(number, number + 1))), S.Zero)
        return Outcome(How.LEMMA, "induction") if step.proved else step


@dataclass(frozen=True)
class FarthestFromPoles:
    """A bound on the modulus of a sum over the poles, for all real `s`: the sum of the moduli at `s = 0`.

    The poles `p` are imaginary, so that `|s ± p| >= |p|`.
    """

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        terms = (-1) ** k * factorial(k) * ((s - POLE) ** (-k - 1) + (s + POLE) ** (-k - 1))
        if before != Sum(terms, (n, 0, oo)) or not isinstance(after, Sum) or after.limits != before.limits:
            return Outcome(How.UNDECIDED, "expected sums over the poles of their distances to the power -k - 1")
        same = equal(after.function, 2 * factorial(k) * Abs(POLE) ** (-k - 1))
        return Outcome(How.LEMMA, "|s - p| >= |p|") if same.proved else same


@dataclass(frozen=True)
class AbsoluteIntegral:
    """A bound on the modulus of `∫ (iω)^{k−1} w(ω) e^{iωs} dω`, `w` even and positive: `2 ∫_0^∞ ω^{k−1} w(ω) dω`."""

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        integrals = after.atoms(Integral)
        if not isinstance(before, Integral) or before.limits[0] != (omega, -oo, oo) or len(integrals) != 1:
            return Outcome(How.UNDECIDED, "expected an integral over the line, and one over the half-line")
        (half,) = integrals
        weight = (before.function.subs(s, 0) / (I * omega) ** (k - 1)).simplify()
        wave = equal((before.function / before.function.subs(s, 0)).simplify(), exp(I * omega * s))
        even = equal(weight, weight.subs(omega, -omega))
        if half.limits[0] != (omega, 0, oo) or not (wave.proved and even.proved and weight.is_positive):
            return Outcome(How.UNDECIDED, "the integrand is not a power, an even positive weight and a wave")
        same = equal(after / half * half.function, 2 * omega ** (k - 1) * weight)
        return Outcome(How.LEMMA, "|exp(i omega s)| = 1") if same.proved else same


@dataclass(frozen=True)
class TermsDecrease:
    """`Σ_n (2n+1)^{−k−1} <= Σ_n (2n+1)^{−2} = π²/8` for `k >= 1`, put into the line.

    The last sum is known from the derivative of `tanh` at 0, which is 1: the line before at `k = 1` must be 1.
    """

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        sums = before.atoms(Sum)
        if sums != {Sum((2 * n + 1) ** (-k - 1), (n, 0, oo))}:
            return Outcome(How.UNDECIDED, "expected the sum of the powers of the odd numbers")
        factor = before / sums.pop()
        squares = diff(tanh(s), s).subs(s, 0) / factor.subs(k, 1)
        return self._outcome(equal(after, factor * squares))

    def _outcome(self, same: Outcome) -> Outcome:
        return Outcome(How.LEMMA, "each term decreases with k") if same.proved else same


@dataclass(frozen=True)
class RatioTest:
    """`lim x_k` is 0 or infinite when `x_{k+step}/x_k` tends to less, or to more, than 1 in modulus, and `x_k > 0`.

    The limit of the ratio is SymPy's, for functions made of exp and log, for which it has a complete algorithm.
    """

    step: int = 1
    using: tuple[Derivation, ...] = ()

    def value(self, sequence: Expr) -> Expr | None:
        """The limit of a `Limit` of a positive sequence, or None where the test does not tell."""
        terms, index = sequence.args[:2]
        real = Symbol("x", positive=True)
        ratio = gammasimp(combsimp(terms.subs(index, index + self.step) / terms)).subs(index, real)
        if not terms.is_positive or not is_exp_log(ratio):
            return None
        found = attempt(lambda: limit(ratio, real, oo))
        distance = S.NaN if found is None else found - 1
        return S.Zero if distance.is_extended_negative else oo if distance.is_extended_positive else None

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Limit) or before.args[2] is not oo:
            return Outcome(How.UNDECIDED, "the line before is not a limit of a sequence")
        found = self.value(before)
        if found is None:
            return Outcome(How.UNDECIDED, "the ratio of the terms does not tell")
        return Outcome(How.LEMMA, "the ratio test") if after == found else Outcome(How.WRONG, f"it tends to {found}")


@dataclass(frozen=True)
class CommonFactor:
    """A factor that does not depend on the index is taken out of the sum."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        sums = after.atoms(Sum)
        if not isinstance(before, Sum) or len(sums) != 1 or (only := sums.pop()).limits != before.limits:
            return Outcome(How.UNDECIDED, "expected one sum in each line, over the same range")
        return equal(before.function, after / only * only.function)


@dataclass(frozen=True)
class FirstTerm:
    """A lower bound: the first term of a sum whose terms are positive, with the factor of the sum."""

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        sums = before.atoms(Sum)
        if len(sums) != 1:
            return Outcome(How.UNDECIDED, "expected one sum")
        (series,) = sums
        ((index, first, _),) = series.limits
        if not (series.function.is_positive and (before / series).is_positive):
            return Outcome(How.UNDECIDED, "cannot see that the terms are positive")
        same = equal(after, before.xreplace({series: series.function.subs(index, first)}))
        return Outcome(How.LEMMA, "positive terms") if same.proved else same


@dataclass(frozen=True)
class OneTerm:
    """A lower bound: the term of a sum of positive terms at this value of the index, which is an integer."""

    index: Expr
    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Sum) or not before.function.is_positive:
            return Outcome(How.UNDECIDED, "expected a sum of positive terms")
        ((name, first, _),) = before.limits
        term = before.function.subs(name, first + self.index)
        same = equal((after / term).simplify(), S.One)
        return Outcome(How.LEMMA, "positive terms") if same.proved else same


@dataclass(frozen=True)
class AtZero:
    """The modulus of the line at `s = 0`, with an even or odd `order` for `k`: the terms of the sum have one `sign`."""

    order: Expr
    sign: Expr
    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Sum) or not isinstance(after, Sum) or before.limits != after.limits:
            return Outcome(How.UNDECIDED, "expected two sums over the same range")
        if not after.function.is_positive or not equal(self.sign**2, S.One).proved or self.sign.has(n):
            return Outcome(How.UNDECIDED, "cannot see that the terms have one sign")
        here = before.function.subs({s: 0, k: self.order}) * self.sign
        same = equal((here / after.function).simplify(), S.One)
        return Outcome(How.LEMMA, "one sign") if same.proved else same


@dataclass(frozen=True)
class Rescaled:
    """A bound on a derivative of `α + β ψ(γ s)`, `β, γ > 0`: `β γ^order` times that on the derivative of `ψ`.

    `bound` is a derivation about `ψ^{(order)}` that ends with a bound on it, over all `s` or at `s = 0`; the line
    before is the derivative of that `order`.
    """

    inner: Expr  # ψ(s)
    order: Expr
    bound: Derivation
    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Derivative) or before.variable_count[0] != (s, self.order):
            return Outcome(How.UNDECIDED, "the line before is not a derivative by s of this order")
        inside = [part for part in before.expr.atoms(type(self.inner)) if part.has(s)]
        if len(inside) != 1 or not all(link.outcome.proved for link in self.bound.check()):
            return Outcome(How.UNDECIDED, "expected one inner function, with a bound that is proved")
        value, argument = Symbol("y"), inside[0].args[0]
        weight, stretch = diff(before.expr.subs(inside[0], value), value), diff(argument, s)
        affine = not stretch.has(s) and not weight.has(s, value) and argument.subs(s, 0) == 0
        if not affine or not (stretch.is_positive and weight.is_positive):
            return Outcome(How.UNDECIDED, "the function is not of this form")
        same = equal(after, weight * stretch**self.order * self.bound.conclusion)
        return Outcome(How.LEMMA, "the chain rule") if same.proved else same


@dataclass(frozen=True)
class OneDerivative:
    """`F^{(k)} = (F')^{(k−1)}`: the first derivative is carried out."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not (isinstance(before, Derivative) and isinstance(after, Derivative)):
            return Outcome(How.UNDECIDED, "expected two derivatives")
        (variable, order), (other, lower) = before.variable_count[0], after.variable_count[0]
        if variable != other or order - lower != 1:
            return Outcome(How.WRONG, "the order does not fall by one")
        return equal(diff(before.expr, variable).rewrite(exp), after.expr.rewrite(exp))


@dataclass(frozen=True)
class FourierOfErf:
    """`erf^{(k)}` is the derivative of order `k − 1` of `(1/π) ∫ e^{−ω²/4 + iωs} dω`, which is `erf'`.

    Checked: the exponent is `−(ω/2 − is)² − s²`. The integral of the square is `2√π`, along the line moved by Cauchy.
    """

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Derivative(erf(s), (s, k)) or not isinstance(after, Derivative):
            return Outcome(How.UNDECIDED, "expected a derivative of erf, and one of a Fourier integral")
        transform = Integral(exp(-(omega**2) / 4 + I * omega * s) / pi, (omega, -oo, oo))
        if after != Derivative(transform, (s, k - 1)):
            return Outcome(How.WRONG, "it is not the derivative of order k - 1 of the Fourier integral")
        square = equal(-(omega**2) / 4 + I * omega * s, -((omega / 2 - I * s) ** 2) - s**2)
        value = equal(diff(erf(s), s), exp(-(s**2)) * 2 * sqrt(pi) / pi)
        return Outcome(How.LEMMA, "the Gaussian integral") if square.proved and value.proved else square


@dataclass(frozen=True)
class GaussianMoment:
    """`∫_0^∞ ω^{k−1} e^{−ω²/4} dω = I_k`, where `I_{k+2} = 2k I_k`, `I_1 = √π` and `I_2 = 2`.

    The recursion is `d/dω (ω^k e^{−ω²/4})`, integrated: checked by algebra, as are the first two values of the formula
    and that it satisfies the recursion; `I_1` is the Gaussian integral, `I_2` that of a derivative.
    """

    def check(self, before: Expr, after: Expr) -> Outcome:
        integral = Integral(omega ** (k - 1) * exp(-(omega**2) / 4), (omega, 0, oo))
        factor = before.coeff(integral)
        formula = after / factor if factor != 0 else after
        if equal(before, factor * integral).how is not How.ALGEBRA:
            return Outcome(How.UNDECIDED, "expected a multiple of the Gaussian moment")
        weight = exp(-(omega**2) / 4)
        facts = (
            diff(omega**k * weight, omega) - (k * omega ** (k - 1) - omega ** (k + 1) / 2) * weight,
            gammasimp(formula.subs(k, k + 2) - 2 * k * formula),
            formula.subs(k, 1) - sqrt(pi),
            formula.subs(k, 2) - 2,
        )
        if not all(vanishes(fact) for fact in facts):
            return Outcome(How.WRONG, "the formula does not satisfy the recursion of the moments")
        return Outcome(How.LEMMA, "integration by parts")


@dataclass(frozen=True)
class AtMostOne:
    """The sine of a real number is at most 1 in modulus."""

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        if isinstance(before, sin) and before.args[0].is_real and after == 1:
            return Outcome(How.LEMMA, "a sine")
        return Outcome(How.UNDECIDED, "expected the sine of a real number, and 1")
