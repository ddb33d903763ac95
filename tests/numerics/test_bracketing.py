"""Neighbours are found however the function jumps, and in few values."""

import math

from hypothesis import given
from hypothesis import strategies as st

from numerics.bracketing import narrow


@given(st.integers(-100, 100), st.integers(1, 10**12), st.data())
def test_no_more_than_one_value_above_bisection(low, width, data):
    """Whatever `part` says, and whichever integers are past."""
    asked = []
    first = data.draw(st.integers(low + 1, low + width))

    def past(place):
        assert low < place < low + width
        asked.append(place)
        return place >= first

    parts = data.draw(st.lists(st.floats(0, 1), min_size=1, max_size=5))
    assert narrow(low, low + width, past, lambda *ends: parts[len(asked) % len(parts)]) == (first - 1, first)
    assert len(asked) <= math.ceil(math.log2(width)) + 1


@given(st.integers(10**4, 10**6))
def test_a_smooth_function_takes_few_values(first):
    """That of the correlation in deep networks, `1 − c/L²`, in a bracket that comes from doubling."""
    asked = []

    def height(place):
        return 1 / (first - 0.5) ** 2 - 1 / place**2

    def past(place):
        asked.append(place)
        return height(place) > 0

    high = 2 ** (first - 1).bit_length()
    narrow(high // 2, high, past, lambda a, b: height(a) / (height(a) - height(b)))
    assert len(asked) <= 10  # bisection: 13 to 19


def test_islands_end_at_a_border():
    past = {5, 6, 20, 64}.__contains__
    low, high = narrow(0, 64, past, lambda low, high: 0.3)
    assert (past(low), past(high), high - low) == (False, True, 1)
