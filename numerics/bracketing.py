r"""Narrowing a bracket of integers to two neighbours by ITP: interpolate, truncate, project.

Of two integers `low < high`, `high` is *past* something and `low` is not; sought are two neighbours in between of which
the same is true. The next integer to look at lies where the chord of a function crosses its level (`part` of the way
from `low` to `high`), moved by `width²/(5·first width)` towards the middle, and kept so near to it that at worst one
value more than in bisection is needed. Where the function is smooth, it is often half as many.

Source: Oliveira and Takahashi (2020), https://doi.org/10.1145/3423597, with `κ₁ = 1/(5·first width)`, `κ₂ = 2` and
`n₀ = 1`; here the places are rounded to integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable


def narrow(low: int, high: int, past: Callable[[int], bool], part: Callable[[int, int], float]) -> tuple[int, int]:
    """The two neighbours; `past` is asked for integers strictly in between, `part` gives a number in `[0, 1]`.

    >>> narrow(0, 1000, lambda n: n**2 >= 2000, lambda low, high: (2000 - low**2) / (high**2 - low**2))
    (44, 45)
    """
    whole = high - low
    left = math.ceil(math.log2(whole)) + 1  # values, at the worst
    while (width := high - low) > 1:
        chord = width * part(low, high)
        toward = math.copysign(1, width / 2 - chord)
        aim = chord + toward * min(width**2 / (5 * whole), abs(width / 2 - chord))
        reach = max(2.0 ** (left - 1) - width / 2, 0.0)
        aim = width / 2 - toward * min(abs(aim - width / 2), reach)
        place = low + min(max(round(aim), 1), width - 1)
        low, high = (low, place) if past(place) else (place, high)
        left -= 1
    return low, high
