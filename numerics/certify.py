r"""Digits that are all right: the precision of a ball computation is doubled until its ball is small enough.

For a real number `x` and `d >= 1` digits, `certify` prints the decimal `v` of `d` significant digits nearest to the
midpoint of a ball that contains `x` and is smaller than `10^-2` units of the last digit, so that

    |x − v| <= radius <= 0.51 units in the last digit of v.

Relative accuracy cannot be had for `x = 0`: a ball around zero stays around zero. A computation that returns the exact
ball 0 is printed as `0`; one that never decides ends in `Undecidable`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from theory.errors import InvalidInput, Undecidable

from .balls import ends, exactly, power, precision

LARGEST_DIGITS = 10_000
DEFAULT_DIGITS = 15
LARGEST_EXPONENT = 1000  # bits of the exponent of a number that is printed
LAST_PRECISION = 2**14  # bits


@dataclass(frozen=True)
class Value:
    """A real number: `value` has `digits` significant digits (fewer if exact) and is at most `radius` from the truth.

    `ball` contains the truth too, and is smaller; `note` says what was done beyond evaluating, if anything.
    """

    value: str
    radius: str
    digits: int
    ball: arb = field(compare=False)
    note: str = ""

    def __float__(self) -> float:
        """A double within one unit in the last place of the truth: the ball has at least 60 bits."""
        nearest = float(self.ball.mid())
        if math.isinf(nearest):
            raise OverflowError(f"{self.value} is too large for a double")
        return nearest

    def __str__(self) -> str:
        return self.value


def certify(
    enclosure: Callable[[], arb],
    digits: int = DEFAULT_DIGITS,
    *,
    subject: object = "value",
    note: str = "",
    start: int = 0,
    stop: int = LAST_PRECISION,
) -> Value:
    """The number that `enclosure()` encloses, at whatever precision it is called, to `digits` significant digits.

    `enclosure` is called inside `precision(bits)`, with `bits` doubled from `start` (never less than the digits need)
    to `stop` (never less than eight times that). Raises `Undecidable`, naming `subject`, if the ball is then still
    infinite, or too wide, or around zero; `InvalidInput` if `digits` is not an integer from 1 to 10,000.

    >>> print(certify(lambda: arb(2).sqrt(), 30))
    1.41421356237309504880168872421
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= LARGEST_DIGITS:
        raise InvalidInput("digits", digits, f"give an integer from 1 to {LARGEST_DIGITS}")
    wanted = max(math.ceil(digits * math.log2(10)) + 8, 60)
    bits = max(wanted + 24, start)
    while True:
        with precision(bits):
            found = enclosure()
            if found.is_finite() and (found.is_exact() or found.rel_accuracy_bits() >= wanted):
                return _printed(found, digits, subject, note)
        if 2 * bits > max(stop, 8 * wanted):
            raise Undecidable(subject, _reason(found, bits))
        bits *= 2


def _reason(found: arb, bits: int) -> str:
    if not found.is_finite():
        return f"not certainly defined, or not real, or infinite: no finite ball at {bits} bits"
    if found.contains(0):
        return f"cannot be told from zero at {bits} bits"
    return f"not enough right digits at {bits} bits"


def _printed(x: arb, digits: int, subject: object, note: str) -> Value:
    """Round the midpoint of a narrow ball to `digits` digits, inside the precision that made it."""
    if x == 0:
        return Value("0", "0", digits, x, note)
    scale = int(x.mid().man_exp()[1]).bit_length()
    if scale > LARGEST_EXPONENT:
        raise Undecidable(subject, f"its decimal exponent would have more than {LARGEST_EXPONENT * 3 // 10} digits")
    with precision(max(x.bits(), 60) + 4 * digits + scale + 64):
        # x = n 10^-places with n of `digits` digits; the estimate of `places` may be off by one
        estimate = digits - 1 - math.floor(exactly((abs(x.mid()).log() / arb(10).log()).mid()))
        for places in (estimate, estimate - 1, estimate + 1):
            scaled = x * power(arb(10), places)
            n = math.floor(exactly(scaled.mid()) + Fraction(1, 2))
            if 10 ** (digits - 1) <= abs(n) < 10**digits:
                break
        error = ends(abs(scaled - n))[1]
        assert error is not None  # about half a unit
        hundredths = math.ceil(100 * error)
        return Value(_decimal(n, places, hundredths == 0), _scientific(hundredths, places + 2), digits, x, note)


def _decimal(n: int, places: int, exact: bool) -> str:
    """`n · 10^-places` written out, with its trailing zeros unless it is exact."""
    sign, figures = ("-" if n < 0 else ""), str(abs(n))
    exponent = len(figures) - 1 - places
    if -5 <= exponent < 0:
        text, tail = "0." + "0" * (-exponent - 1) + figures, ""
    elif 0 <= exponent < len(figures):
        text, tail = (figures[: exponent + 1] + "." + figures[exponent + 1 :]).rstrip("."), ""
    else:
        text, tail = (figures[0] + "." + figures[1:]).rstrip("."), f"e{exponent}"
    if exact and "." in text:
        text = text.rstrip("0").rstrip(".")
    return sign + text + tail


def _scientific(n: int, places: int) -> str:
    """`n · 10^-places` with one or two digits."""
    if n == 0:
        return "0"
    figures = str(n)
    exponent = len(figures) - 1 - places
    return figures[0] + ("." + figures[1:3].rstrip("0")).rstrip(".") + f"e{exponent}"
