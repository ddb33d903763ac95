"""Precision that does not leak, and the inclusion property of the operations added to Arb."""

from __future__ import annotations

import threading
import time
from fractions import Fraction

import pytest
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from numerics.balls import ball, ends, exactly, interval, monotone, power, precision
from theory.errors import InvalidInput

rationals = st.fractions(min_value=-50, max_value=50, max_denominator=1000)


def test_precision_is_restored_after_nesting_and_after_an_exception():
    before = ctx.prec
    with precision(100):
        with precision(200):
            assert ctx.prec == 200
        assert ctx.prec == 100
        with pytest.raises(ZeroDivisionError), precision(300):
            raise ZeroDivisionError
        assert ctx.prec == 100
    assert ctx.prec == before


def test_two_threads_at_two_precisions_do_not_see_each_other():
    wrong: list[int] = []
    start = threading.Barrier(2)

    def work(bits: int) -> None:
        start.wait()
        for _ in range(30):
            with precision(bits):
                time.sleep(1e-4)  # lets the other thread run
                seen = (arb(1) / 3).rel_accuracy_bits()
                if ctx.prec != bits or abs(seen - bits) > 3:
                    wrong.append(seen)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (60, 500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_one_bit_is_refused():
    with pytest.raises(InvalidInput, match="bits = 1"), precision(1):
        pass


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_double_it_is(number: float):
    with precision(1200):
        assert exactly(ball(number)) == Fraction(number)


@given(rationals, rationals)
def test_an_interval_contains_its_ends(a: Fraction, b: Fraction):
    with precision(53):
        low, high = ends(interval(min(a, b), max(a, b)))
    assert low <= min(a, b) <= max(a, b) <= high


@given(rationals, rationals, st.floats(0, 1), st.integers(0, 9))
def test_powers_contain_the_powers_of_what_their_ball_contains(a: Fraction, b: Fraction, t: float, n: int):
    inside = a + Fraction(t) * (b - a)
    with precision(64):
        x = interval(min(a, b), max(a, b))
        low, high = ends(power(x, n))
        complex_power = power(acb(x, x), n)
    assert low <= inside**n <= high
    real = imaginary = Fraction(0)
    real, imaginary = Fraction(1), Fraction(0)
    for _ in range(n):  # (inside + i inside)^n
        real, imaginary = inside * (real - imaginary), inside * (real + imaginary)
    assert ends(complex_power.real)[0] <= real <= ends(complex_power.real)[1]
    assert ends(complex_power.imag)[0] <= imaginary <= ends(complex_power.imag)[1]


def test_a_negative_power_of_a_ball_around_zero_is_not_finite():
    assert not power(arb(0, 1), -2).is_finite()
    assert not power(arb(0, 1).log(), 2).is_finite()


def test_astronomical_numbers_are_bounded_but_not_written_out():
    """python-flint ends the whole process when asked for such a fraction."""
    with precision(64):
        huge = arb(10) ** 10**9
        tiny = 1 / huge
    with pytest.raises(OverflowError):
        exactly(huge.mid())
    assert ends(huge) == (None, None)
    for low, high in (ends(tiny), tuple(-end for end in reversed(ends(-tiny)))):
        assert low == 0
        assert 0 < high < Fraction(1, 10**100)


def test_a_monotone_function_is_cut_at_known_bounds_only():
    with precision(64):
        edge = interval(Fraction(1, 2), 1)  # reaches beyond 1
        assert not edge.acos().is_finite()
        cut = monotone(edge, arb.acos, Fraction(1, 2), Fraction(1))
        assert cut.contains(arb(0))
        assert cut.contains(arb.pi() / 3)
        assert not monotone(edge, arb.acos, None, None).is_finite()
        assert not monotone(arb.nan(), arb.acos, Fraction(0), Fraction(1)).is_finite()
