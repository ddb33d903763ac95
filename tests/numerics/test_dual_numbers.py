"""Dual numbers against derivatives written out."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from numerics.dual_numbers import Dual

numbers = st.fractions(-10, 10, max_denominator=20)


@given(numbers, numbers)
def test_leibniz(x, y):
    u, v = Dual(x, (1, 0)), Dual(y, (0, 1))
    found = 3 * u * u * v - v + 2 - (1 - u) * v
    assert found.value == 3 * x * x * y - y + 2 - (1 - x) * y
    assert found.slopes == (6 * x * y + y, 3 * x * x - 1 - (1 - x))


@given(numbers)
def test_constants_have_no_slope(x):
    assert (Dual(x) * Fraction(1, 3) + 5 - x).slopes == (0, 0)
    assert (-Dual(x, (1, 2))).slopes == (-1, -2)
