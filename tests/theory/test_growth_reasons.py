r"""Each reason accepts its own line, and none of the lines beside it."""

import pytest
from sympy import (
    Abs,
    Derivative,
    I,
    Integer,
    Integral,
    Limit,
    S,
    Sum,
    Symbol,
    cos,
    erf,
    exp,
    factorial,
    gamma,
    log,
    oo,
    pi,
    sin,
    tanh,
)

from theory import activation_growth as growth
from theory import growth_reasons as reasons
from theory.derivation import Relation
from theory.growth_reasons import POLE, k, n, omega, s

j = Symbol("j", integer=True, nonnegative=True)
weight = exp(-(omega**2) / 4)
half = Integral(omega ** (k - 1) * weight, (omega, 0, oo))
poles = growth.tanh_bound().lines


@pytest.mark.parametrize(
    ("reason", "before", "after", "wrong"),
    [
        (
            reasons.MittagLeffler(),
            tanh(s),
            Sum(1 / (s - POLE) + 1 / (s + POLE), (n, 0, oo)),
            [Sum(1 / (s - POLE) - 1 / (s + POLE), (n, 0, oo)), Sum(1 / (s - POLE) + 1 / (s + POLE), (n, 1, oo))],
        ),
        (
            reasons.RepeatedDerivative(s, k),
            Derivative(sin(2 * s), (s, k)),
            2**k * sin(2 * s + k * pi / 2),
            [2**k * sin(2 * s), sin(2 * s + k * pi / 2), 2**k * sin(2 * s - k * pi / 2)],
        ),
        (
            reasons.RepeatedDerivative(s, k),
            Derivative(exp(3 * s), (s, k - 1)),
            3 ** (k - 1) * exp(3 * s),
            [3**k * exp(3 * s)],
        ),
        (reasons.FarthestFromPoles(), poles[1], poles[2], [2 * poles[2], poles[2].subs(k, k + 1)]),
        (reasons.CommonFactor(), poles[2], poles[3], [2 * poles[3], poles[3].subs(k, k + 1)]),
        (reasons.TermsDecrease(), poles[3], poles[4], [poles[4] * pi, poles[4] / 2]),
        (
            reasons.AbsoluteIntegral(),
            Integral((I * omega) ** (k - 1) * weight * exp(I * omega * s), (omega, -oo, oo)),
            2 * half,
            [half, 2 * half.subs(k, k + 1)],
        ),
        (reasons.GaussianMoment(), half, 2 ** (k - 1) * gamma(k / 2), [2**k * gamma(k / 2), 2 ** (k - 1) * gamma(k)]),
        (
            reasons.FourierOfErf(),
            Derivative(erf(s), (s, k)),
            Derivative(Integral(exp(-(omega**2) / 4 + I * omega * s) / pi, (omega, -oo, oo)), (s, k - 1)),
            [Derivative(Integral(weight * exp(I * omega * s), (omega, -oo, oo)), (s, k - 1))],
        ),
        (reasons.FirstTerm(), 3 * Sum(1 / (1 + n) ** 2, (n, 0, oo)), Integer(3), [Integer(4), S.One]),
        (
            reasons.OneTerm(log(4 * k) / log(2)),
            Sum((2**j) ** k * exp(-(2**j)), (j, 0, oo)),
            (4 * k) ** k * exp(-4 * k),
            [(4 * k) ** k * exp(-2 * k), 2 * (4 * k) ** k * exp(-4 * k)],
        ),
        (
            reasons.AtZero(2 * k, (-1) ** k),
            Sum(exp(-j) * cos(s + k * pi / 2), (j, 0, oo)),
            Sum(exp(-j), (j, 0, oo)),
            [Sum(2 * exp(-j), (j, 0, oo)), Sum(exp(-j), (j, 1, oo))],
        ),
        (
            reasons.OneDerivative(),
            Derivative(log(1 + exp(s)), (s, k)),
            Derivative(1 / (1 + exp(-s)), (s, k - 1)),
            [Derivative(1 / (1 + exp(s)), (s, k - 1)), Derivative(1 / (1 + exp(-s)), (s, k))],
        ),
        (reasons.AtMostOne(), sin(s + k), S.One, [S.Half, Integer(2)]),
        (reasons.RatioTest(), Limit(2**k / factorial(k), k, oo), S.Zero, [oo, S.One]),
        (reasons.RatioTest(step=2), Limit(gamma(k / 2) / factorial(k), k, oo), S.Zero, [oo]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "check") else "",
)
def test_reasons(reason, before, after, wrong):
    assert reason.check(before, after).proved
    for line in wrong:
        assert not reason.check(before, line).proved


def test_bounds_are_no_equalities():
    for kind in (
        reasons.FarthestFromPoles,
        reasons.AbsoluteIntegral,
        reasons.TermsDecrease,
        reasons.FirstTerm,
        reasons.OneTerm,
        reasons.AtZero,
        reasons.Rescaled,
        reasons.AtMostOne,
    ):
        assert kind.shows is Relation.DECIDES


def test_terms_of_both_signs_have_no_bound_from_below():
    alternating = Sum((-1) ** j * exp(-j), (j, 0, oo))
    assert not reasons.FirstTerm().check(alternating, S.One).proved
    assert not reasons.OneTerm(S.One).check(alternating, -exp(-1)).proved
    assert not reasons.AtZero(2 * k, S.One).check(alternating, alternating).proved


def test_the_ratio_test_is_silent_where_it_must_be():
    for sequence in (1 / k, (-1) ** k / factorial(k), Symbol("a", positive=True) ** k):
        assert reasons.RatioTest().value(Limit(sequence, k, oo)) is None
        assert not reasons.RatioTest().check(Limit(sequence, k, oo), S.Zero).proved


def test_rescaled_wants_a_bound_that_is_proved_and_an_affine_argument():
    inner = growth.tanh_bound()
    reason = reasons.Rescaled(tanh(s), k, inner)
    good = Derivative(1 + 3 * tanh(s / 2), (s, k))
    assert reason.check(good, 3 * inner.conclusion / 2**k).proved
    assert not reason.check(good, inner.conclusion / 2**k).proved
    for other in (tanh(s**2), tanh(s) ** 2, tanh(s + 1), -tanh(s)):
        assert not reason.check(Derivative(other, (s, k)), inner.conclusion).proved
    unproved = inner.then(Abs(s), because="no reason at all", reason=reasons.AtMostOne())
    assert not reasons.Rescaled(tanh(s), k, unproved).check(Derivative(tanh(s), (s, k)), Abs(s)).proved
