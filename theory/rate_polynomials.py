r"""Polynomials in the learning rates `η₁, η₂` whose coefficients are rational functions of the sizes `h` and `n`.

Expected losses are such polynomials, symmetric in the rates, so that they are polynomials in `S = η₁ + η₂` and
`P = η₁η₂` too, which is how they are displayed. Two of them are equal for all rates and almost all `h, n` if and only
if all coefficients are, which is how a published expression is judged: term by term.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import QQ, Add, Expr, Poly, S, Symbol, factor
from sympy.polys.polyerrors import BasePolynomialError

from .derivation import How, Outcome
from .errors import InvalidInput

h = Symbol("h", integer=True, positive=True)
n = Symbol("n", integer=True, positive=True)  # the number of samples, which is h unless it is said to be any
eta1, eta2 = Symbol("eta1", nonnegative=True), Symbol("eta2", nonnegative=True)
total, product = Symbol("S", nonnegative=True), Symbol("P", nonnegative=True)

_COEFFICIENTS = QQ.frac_field(h, n)


def polynomial(expression: Expr, *variables: Symbol) -> Poly:
    """`expression` as a polynomial in `variables`, or else in the rates, over the rational functions of `h` and `n`."""
    try:
        return Poly(expression, *(variables or (eta1, eta2)), domain=_COEFFICIENTS)
    except BasePolynomialError:
        remedy = f"give a polynomial in {variables or (eta1, eta2)} with coefficients rational in h and n"
        raise InvalidInput("expression", expression, remedy) from None


def by_sum_and_product(expression: Expr) -> Expr:
    """A symmetric polynomial in the rates as one in `S` and `P`; the coefficients are factored.

    >>> by_sum_and_product((eta1**2 + eta2**2) / h**2 + 3 * eta1 * eta2 / h)
    P*(3*h - 2)/h**2 + S**2/h**2
    """
    remaining, terms = polynomial(expression), []
    while not remaining.is_zero:
        (larger, smaller), coefficient = remaining.terms(order="lex")[0]
        if larger < smaller:
            raise InvalidInput("expression", expression, "give a symmetric polynomial in the rates")
        terms.append(factor(coefficient) * total ** (larger - smaller) * product**smaller)
        leading = (eta1 + eta2) ** (larger - smaller) * (eta1 * eta2) ** smaller
        remaining -= coefficient * polynomial(leading)
    return Add(*terms)


def grouped(expression: Expr) -> Expr:
    """The same polynomial, written in `η₁ + η₂` and `η₁η₂`.

    >>> grouped(eta1**2 + eta2**2)
    -2*eta1*eta2 + (eta1 + eta2)**2
    """
    return by_sum_and_product(expression).subs({total: eta1 + eta2, product: eta1 * eta2})


@dataclass(frozen=True)
class SameRatePolynomial:
    """Both lines are the same polynomial in the rates, after the definitions `given` are put in."""

    given: Mapping[Expr, Expr] = field(default_factory=dict)

    def check(self, before: Expr, after: Expr) -> Outcome:
        try:
            left, right = (polynomial(line.xreplace(dict(self.given))) for line in (before, after))
        except InvalidInput as error:
            return Outcome(How.UNDECIDED, str(error))
        if left == right:
            return Outcome(How.ALGEBRA)
        return Outcome(How.WRONG, f"the two sides differ by {(left - right).as_expr()}")


@dataclass(frozen=True)
class Term:
    """The monomial `S^i P^j`, its coefficient as claimed and as derived."""

    monomial: Expr
    claimed: Expr
    derived: Expr

    @property
    def right(self) -> bool:
        return self.claimed == self.derived


def term_by_term(claimed: Expr, derived: Expr) -> tuple[Term, ...]:
    """The coefficients of two symmetric polynomials in the rates beside each other, all monomials of either.

    >>> for term in term_by_term(2 * eta1 * eta2 / h**4, 2 * eta1 * eta2 / h**4 + 2 * eta1 * eta2 / h**5):
    ...     print(term.monomial, term.claimed, term.derived, term.right)
    P 2/h**4 2*(h + 1)/h**5 False
    """
    both = [polynomial(by_sum_and_product(side), total, product).as_dict(native=False) for side in (claimed, derived)]
    monomials = sorted({*both[0], *both[1]}, key=lambda powers: (sum(powers) + powers[1], powers))

    def coefficient(side: int, powers: tuple[int, ...]) -> Expr:
        return factor(both[side].get(powers, S.Zero))

    return tuple(
        Term(total ** powers[0] * product ** powers[1], coefficient(0, powers), coefficient(1, powers))
        for powers in monomials
    )
