"""Symmetric polynomials in the rates, and their comparison term by term."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, exp, expand, sqrt

from theory.derivation import How
from theory.errors import InvalidInput
from theory.rate_polynomials import (
    SameRatePolynomial,
    by_sum_and_product,
    eta1,
    eta2,
    grouped,
    h,
    polynomial,
    product,
    term_by_term,
    total,
)

coefficients = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-5, 5)), max_size=4)


@settings(deadline=None)
@given(coefficients)
def test_grouping_keeps_the_polynomial(terms):
    line = sum((c * (eta1 + eta2) ** i * (eta1 * eta2) ** j / (h + i) for i, j, c in terms), 0 * h)
    expected = sum((c * total**i * product**j / (h + i) for i, j, c in terms), 0 * h)
    assert polynomial(by_sum_and_product(expand(line)) - expected, total, product).is_zero
    assert SameRatePolynomial().check(line, grouped(expand(line))).proved


@pytest.mark.parametrize("line", [eta1, eta1**2 * eta2, eta1 - eta2])
def test_what_is_not_symmetric_is_refused(line):
    with pytest.raises(InvalidInput, match="symmetric"):
        by_sum_and_product(line)


@pytest.mark.parametrize("line", [sqrt(eta1), exp(h) * eta1, 1 / eta1, sqrt(h) * eta1])
def test_what_is_no_polynomial_is_refused(line):
    with pytest.raises(InvalidInput, match="polynomial"):
        polynomial(line)
    assert SameRatePolynomial().check(line, line).how is How.UNDECIDED


def test_one_wrong_coefficient_is_seen():
    line = (eta1 + eta2) ** 2 / h + 3 * eta1 * eta2 / (h + 2)
    assert SameRatePolynomial().check(line, line - eta1 * eta2 / h**9).how is How.WRONG
    assert SameRatePolynomial({total: eta1 + eta2}).check(total**2, expand((eta1 + eta2) ** 2)).proved


def test_terms_beside_each_other():
    found = term_by_term((eta1 + eta2) ** 2 / h, (eta1 + eta2) ** 2 / h + Rational(1, 2))
    assert [(term.monomial, term.claimed, term.derived, term.right) for term in found] == [
        (1, 0, Rational(1, 2), False),
        (total**2, 1 / h, 1 / h, True),
    ]
