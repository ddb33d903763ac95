r"""The best learning rates: of all, and of those with a given sum.

Definition. The expected loss after one or two steps is a polynomial `L(S, P)` in the *budget* `S = η₁ + η₂` and the
product `P = η₁η₂`, with coefficients rational in the width `h >= 1`; rates are `S >= 0` and `0 <= P <= S²/4`. Under a
budget the *best split* minimises it over `P`: all on one layer (`P = 0`), equal rates (`P = S²/4`), or unequal rates in
between. Orthogonal weights, no label noise.

**Of all rates** the best are those of one layer alone, at every width:

    signal-only updates    L >= 1/h, and equal to it after t steps at S = h²/t (two layers) or h/t (three), P = 0;
    full descent           L = ((h + 1)/h) (1 − S/h²)^{2t}, or with S/h, at P = 0: zero at S = h², or h, in one step.

For `t` of 1 and 2 (`one_layer_alone`); the first because `L − (1 − …)² − 1/h` has positive coefficients and is zero at
`P = 0` only (`excess`). Of *equal* rates the best are of the orders `h^(5/3)` and `h^(8/5)` after one and two steps of
two layers, and leave most of the loss, `1 − 3 h^(−1/3)` and `1 − 5·3^(3/5) h^(−1/5)`, with both kinds of updates
(`best_equal_rates`). Single widths show how slowly that sets in, and that no rate of another order does better.

**Under a budget, after one step**, `L` is a quadratic in `P` (`slope`). Signal-only updates: it increases, so that one
layer alone is best. Full descent: one layer alone up to `S = h²` (or `h`); beyond, the unequal rates of the product
`best_product`, which is always less than `S²/4` (`room`). Equal rates never are.

**After two signal-only steps** `L` is convex in `P` (`convexity`). So a balanced local minimum is the global one under
its budget, and one layer alone is best if and only if the slope at `P = 0` is not negative. Two steps of full descent
are in `numerics/allocation.py`, as are single widths.

Source: beyond B (arXiv:2606.00340).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from sympy import (
    Derivative,
    Expr,
    Integer,
    Interval,
    Poly,
    Range,
    Rational,
    S,
    Set,
    Symbol,
    factor,
    fraction,
    latex,
    oo,
    simplify,
    together,
)

from .balance import c, scaled_loss
from .derivation import Derivation, How, Outcome, Relation
from .errors import InvalidInput
from .layerwise import Updates, by_sum_and_product, expected_loss, h, product, total
from .notation import Meaning
from .rate_polynomials import polynomial
from .reasons import Algebra, equal

SCALE = {2: h**2, 3: h}  # the rate that solves the problem in one step of one layer alone
DOMAIN: dict[Symbol, Set] = {h: Range(1, oo), total: Interval(0, oo), product: Interval.open(0, oo)}


NOTATION = (
    Meaning(r"S, P", r"the sum and the product of the two rates"),
    Meaning(r"\mathcal L", r"the expected test loss"),
    Meaning(r"c", r"the rate in units of a power of the width"),
)


@dataclass(frozen=True)
class SameSymmetricPolynomial:
    """Both lines are the same polynomial in `S` and `P`, with coefficients rational in `h`; derivatives are done."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        try:
            left, right = (polynomial(line.doit(), total, product) for line in (before, after))
        except InvalidInput as error:
            return Outcome(How.UNDECIDED, str(error))
        return (
            Outcome(How.ALGEBRA) if left == right else Outcome(How.WRONG, f"they differ by {(left - right).as_expr()}")
        )


@dataclass(frozen=True)
class PositiveCoefficients:
    """`before > after = 0` for `S >= 0`, `P > 0`: all coefficients are positive, and one term is a power of `P` alone.

    A coefficient is positive if it is a quotient of polynomials in `h` with positive coefficients.
    """

    shows: ClassVar[Relation] = Relation.EXCEEDS

    def check(self, before: Expr, after: Expr) -> Outcome:
        numerator, denominator = fraction(together(before))
        parts = Poly(numerator, total, product, h), Poly(denominator, h)
        positive = all(value > 0 for part in parts for value in part.coeffs())
        if after == 0 and positive and any(powers[0] == 0 for powers in parts[0].monoms()):
            return Outcome(How.ALGEBRA)
        return Outcome(How.UNDECIDED, "cannot see that all coefficients are positive")


def _loss(layers: int, steps: int, updates: Updates) -> tuple[Expr, Derivation]:
    """`L(S, P)`, and where it comes from."""
    derived = expected_loss(layers, steps, updates)
    return by_sum_and_product(derived.conclusion), derived


def _name(layers: int, steps: int, updates: Updates) -> str:
    return f"{layers} layers after {steps} step(s) of {updates.value}"


@cache
def one_layer_alone(layers: int, steps: int, updates: Updates) -> Derivation:
    """The loss with all of the budget on one layer, `P = 0`.

    >>> one_layer_alone(2, 2, Updates.SIGNAL).conclusion
    (-2*S/h**2 + 1)**2 + 1/h
    """
    loss, derived = _loss(layers, steps, updates)
    share = total / SCALE[layers]
    found = (1 - steps * share) ** 2 + 1 / h if updates is Updates.SIGNAL else (1 - share) ** (2 * steps) * (h + 1) / h
    d = Derivation(
        loss.subs(product, 0),
        r"\mathcal L(S, 0)",
        {h: DOMAIN[h], total: DOMAIN[total]},
        f"One layer alone: {_name(layers, steps, updates)}",
        where=NOTATION,
    )
    return d.then(found, because="collected", reason=SameSymmetricPolynomial(), using=(derived,))


@cache
def excess(layers: int, steps: int) -> Derivation:
    """What the loss after signal-only steps has beyond `1/h` and the square of what is left of the signal.

    >>> excess(2, 1).conclusion
    P*(P + 2*h**2)/h**7
    """
    loss, derived = _loss(layers, steps, Updates.SIGNAL)
    grown = 1 + (product / h ** (3 if layers == 2 else 1) if steps == 2 else 0)
    d = Derivation(
        loss - (1 - steps * total * grown / SCALE[layers]) ** 2 - 1 / h,
        r"\mathcal L - (1 - \dots)^2 - \tfrac1h",
        DOMAIN,
        f"Beyond the floor: {_name(layers, steps, Updates.SIGNAL)}",
        where=NOTATION,
    )
    d = d.then(factor(d.start), because="multiplied out", reason=SameSymmetricPolynomial(), using=(derived,))
    return d.then(
        S.Zero,
        because="all coefficients are positive",
        reason=PositiveCoefficients(),
        relation=Relation.EXCEEDS,
    )


@cache
def slope(layers: int, steps: int, updates: Updates) -> Derivation:
    """The derivative of the loss by `P` at a fixed budget.

    >>> slope(2, 1, Updates.SIGNAL).conclusion
    2*P/h**7 + 2/h**5
    """
    loss, derived = _loss(layers, steps, updates)
    d = Derivation(
        Derivative(loss, product),
        r"\frac{\partial\mathcal L}{\partial P}",
        DOMAIN,
        f"Under a budget: {_name(layers, steps, updates)}",
        where=NOTATION,
    )
    return d.then(loss.diff(product), because="differentiation", reason=SameSymmetricPolynomial(), using=(derived,))


@cache
def convexity(layers: int) -> Derivation:
    """The second derivative by `P` of the loss after two signal-only steps, which is positive.

    >>> convexity(3).bound
    0
    """
    loss, derived = _loss(layers, 2, Updates.SIGNAL)
    d = Derivation(
        Derivative(loss, (product, 2)),
        r"\frac{\partial^2\mathcal L}{\partial P^2}",
        DOMAIN,
        f"Convex in the product: {_name(layers, 2, Updates.SIGNAL)}",
        where=NOTATION,
    )
    second = factor(loss.diff(product, 2))
    d = d.then(second, because="differentiation", reason=SameSymmetricPolynomial(), using=(derived,))
    return d.then(
        S.Zero,
        because="all coefficients are positive",
        reason=PositiveCoefficients(),
        relation=Relation.EXCEEDS,
    )


@cache
def best_product(layers: int) -> Derivation:
    """The product of the best rates after one step of full descent, for a budget beyond `h²`, or `h`: where `L_P = 0`.

    >>> best_product(3).conclusion
    -h*(-S + h)/2
    """
    found = slope(layers, 1, Updates.FULL)
    rising = found.conclusion.diff(product)
    d = Derivation(
        product - found.conclusion / rising,
        "P^*",
        DOMAIN,
        f"The best split: {_name(layers, 1, Updates.FULL)}",
        where=NOTATION,
    )
    return d.then(
        factor(d.start),
        because=r"the slope is linear in $P$, so this is its zero, whatever $P$ is",
        reason=Algebra(),
        using=(found,),
    )


@cache
def room(layers: int) -> Derivation:
    """`S²/4 − P*`, a square and a positive number: equal rates are not the best split after one step of full descent.

    >>> room(3).conclusion
    h**2/4 + (S - h)**2/4
    """
    best = best_product(layers)
    gap = polynomial(total**2 / 4 - best.conclusion, total)
    leading, linear, constant = gap.all_coeffs()
    middle = factor(-linear / (2 * leading))
    d = Derivation(
        total**2 / 4 - best.conclusion,
        r"\tfrac14 S^2 - P^*",
        {h: DOMAIN[h], total: DOMAIN[total]},
        f"No equal rates: {_name(layers, 1, Updates.FULL)}",
        where=NOTATION,
    )
    square = leading * (total - middle) ** 2
    return d.then(
        square + factor(constant - leading * middle**2), because="a complete square", reason=Algebra(), using=(best,)
    )


@dataclass(frozen=True)
class LeastOnHalfLine:
    """`after` is the minimum of the polynomial `before` over `variable >= 0`, taken at `at`.

    The leading coefficient is positive, and the value at 0 and at every positive zero of the derivative is no less.
    """

    variable: Symbol
    at: Expr
    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        polynomial_ = Poly(before, self.variable)
        zeros = polynomial_.diff().real_roots(multiple=True)
        values = [before.subs(self.variable, zero) for zero in (S.Zero, *(zero for zero in zeros if zero > 0))]
        if not (polynomial_.LC() > 0 and self.at >= 0 and all(value >= after for value in values)):
            return Outcome(How.UNDECIDED, f"cannot see that {after} is the least value")
        return equal(before.subs(self.variable, self.at), after)


@cache
def best_equal_rates(layers: int, steps: int, updates: Updates) -> Derivation:
    r"""The leading order of the best loss with equal rates `c h^a`, and at which `c`; the limit is of `h^b (L − 1)`.

    Two layers: `a, b` are `5/3, 1/3` after one step and `8/5, 1/5` after two. Three layers: `a` is 1 and `2/3`, and the
    limit is of `L` itself; not after one signal-only step, where `c` solves a cubic equation.

    >>> best_equal_rates(2, 2, Updates.SIGNAL).conclusion, best_equal_rates(3, 1, Updates.FULL).conclusion
    (-5*3**(3/5), 1/8)
    """
    cases = {
        (2, 1): (Rational(5, 3), Rational(1, 3), S.One),
        (2, 2): (Rational(8, 5), Rational(1, 5), Integer(3) ** Rational(1, 5)),
        (3, 1): (S.One, S.Zero, S.Half),
        (3, 2): (Rational(2, 3), S.Zero, Rational(1, 4) ** Rational(1, 3)),
    }
    if (layers, steps) not in cases or (layers, steps, updates) == (3, 1, Updates.SIGNAL):
        raise InvalidInput("steps", steps, "give 1 or 2; for three layers after one step, full descent only")
    exponent, order, at = cases[layers, steps]
    limit = scaled_loss(layers, exponent, order, steps, updates)
    d = Derivation(
        limit.conclusion,
        r"\min_c",
        {c: Interval(0, oo)},
        f"The best equal rates: {_name(layers, steps, updates)}",
        where=NOTATION,
    )
    return d.then(
        simplify(limit.conclusion.subs(c, at)),
        because=f"the least value over $c \\ge 0$, at $c = {latex(at)}$",
        reason=LeastOnHalfLine(c, at),
        relation=Relation.DECIDES,
        using=(limit,),
    )
