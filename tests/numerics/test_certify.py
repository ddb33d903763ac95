"""Printed digits against exact fractions: never further from the truth than the radius, nor than 0.51 last digits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from numerics.balls import ball
from numerics.certify import certify
from theory.errors import InvalidInput, Undecidable


def last_digit(text: str) -> Fraction:
    """The unit in the last place of a printed decimal."""
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return Fraction(10) ** (int(exponent or 0) - decimals)


@given(
    st.fractions(min_value=-(10**9), max_value=10**9).filter(bool),
    st.integers(-60, 60),
    st.integers(1, 40),
)
def test_every_digit_is_right(mantissa: Fraction, scale: int, digits: int):
    truth = mantissa * Fraction(10) ** scale
    value = certify(lambda: ball(truth), digits)
    error = abs(Fraction(value.value) - truth)
    assert error <= Fraction(value.radius)
    assert error <= Fraction(51, 100) * last_digit(value.value)
    figures = value.value.lstrip("-").partition("e")[0].replace(".", "").lstrip("0")
    assert len(figures) == digits or value.radius == "0"
    if abs(scale) < 40:
        assert abs(Fraction(float(value)) - truth) <= abs(truth) * Fraction(1, 2**52)


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (Fraction(65), 30, "65"),
        (Fraction(-1, 8), 10, "-0.125"),
        (Fraction(999_999, 1000), 3, "1.00e3"),
        (Fraction(1, 3), 1, "0.3"),
        (Fraction(123_456), 6, "123456"),
        (Fraction(1, 3 * 10**7), 3, "3.33e-8"),
    ],
)
def test_layout(number: Fraction, digits: int, text: str):
    assert str(certify(lambda: ball(number), digits)) == text


def test_zero_must_be_exact():
    assert certify(lambda: arb(0)).value == "0"
    with pytest.raises(Undecidable, match="cannot be told from zero"):
        certify(lambda: arb(2).sqrt() ** 2 - 2, subject="a hidden zero")


def test_a_ball_that_is_not_finite_is_never_a_value():
    for nothing in (arb.nan(), arb.pos_inf(), arb(0, 1) / arb(0, 1)):
        with pytest.raises(Undecidable, match="no finite ball"):
            certify(lambda nothing=nothing: nothing)


def test_a_ball_that_stays_wide_is_not_printed():
    with pytest.raises(Undecidable, match="not enough right digits"):
        certify(lambda: arb(1, 1e-9), 12)
    assert certify(lambda: arb(1, 1e-30), 12).value == "1.00000000000"


@pytest.mark.parametrize("digits", [0, -3, 10_001, 2.5, True, "15"])
def test_digits_are_refused(digits):
    with pytest.raises(InvalidInput, match="digits"):
        certify(lambda: arb(1), digits)


def test_an_exponent_of_hundreds_of_digits_is_not_printed():
    assert certify(lambda: (arb(10) ** 90).exp(), 3).value.startswith("2.18e434294481903251827651128918916")
    with pytest.raises(Undecidable, match="its decimal exponent would have more than 300 digits"):
        certify(lambda: (arb(10) ** 400).exp(), 3)


def test_a_value_beyond_the_doubles_is_not_a_float():
    with pytest.raises(OverflowError):
        float(certify(lambda: arb(10) ** 400))
