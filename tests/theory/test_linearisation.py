"""The exponents of the deviation: the largest of all orders, and the formulas that people type."""

from fractions import Fraction

import pytest
from sympy import Rational, S

from theory import linearisation
from theory.correlations_formulas import CORRELATIONS
from theory.errors import InvalidInput
from theory.linearisation import Mode, alpha, mode


@pytest.mark.parametrize("rate", [S.Zero, Rational(-1, 4), Rational(-1, 2), S.NegativeOne, S(-3)])
def test_the_second_order_is_the_largest(rate):
    largest = max(order * rate - order // 2 for order in range(2, 40))
    at = {alpha: rate, mode: Mode.FIXED_STEPS}
    assert linearisation.deviation_exponent().subs(at) == largest == 2 * rate - 1
    assert linearisation.deviation_exponent().subs({**at, mode: Mode.FIXED_TIME}) == -1


def test_a_growing_rate_is_led_by_the_third_order():
    assert linearisation.term_exponent(S(3), Rational(1, 4)) > linearisation.term_exponent(S(2), Rational(1, 4))


def test_every_step_is_proved():
    for derivation in (linearisation.even_terms(), linearisation.odd_terms()):
        assert all(step.outcome.proved for step in derivation.check())


def test_words_of_a_choice():
    (formula,) = (one for one in CORRELATIONS if one.name == "linearisation-exponent")
    assert formula.words == {"mode": {"fixed-steps": 0, "fixed-time": 1}}
    point, notes = formula.admit({"alpha": Rational(-1, 2), "mode": S.One})
    assert point == {alpha: Rational(-1, 2), mode: 1}
    assert notes == ()
    for wrong in ({"alpha": S.Zero}, {"alpha": S.Zero, "mode": S(2)}, {"alpha": S.Zero, "mode": S.Half}):
        with pytest.raises(InvalidInput, match=r"one of \{fixed-steps, fixed-time\}"):
            formula.admit(wrong)
    with pytest.raises(InvalidInput, match=r"\[-10, 0\]"):
        formula.admit({"alpha": Rational(Fraction(1, 2)), "mode": S.Zero})
