r"""Arb balls: the one place that sets their precision, and the operations that Arb lacks.

A ball `[m ± r]` is an interval with midpoint `m` and radius `r >= 0`. Every operation keeps the *inclusion property*:
if the balls given contain the real numbers `x`, the ball returned contains `f(x)`. Where `f` may be undefined, or not
real, the ball returned is not finite. A ball that is not finite says nothing, and a NaN "contains" every number: ask
`is_finite()` first.

**Precision.** python-flint keeps one working precision for the whole process, threads included. Everything that
computes with balls does so inside `precision(bits)`, which holds a lock: threads take turns with Arb, and an exception
leaves the precision as it was. Processes run side by side.

Source: F. Johansson, *Arb: efficient arbitrary-precision midpoint-radius interval arithmetic* (2017).
Departures: `arb ** 2` is NaN for a ball around 0, so `power` multiplies; the root or arc cosine of a ball that ends
at the edge of the domain is NaN, so `monotone` takes the function at the two ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TypeVar

from flint import acb, arb, ctx, fmpq

from theory.errors import InvalidInput

Ball = TypeVar("Ball", arb, acb)

LARGEST_SHIFT = 10**6  # binary digits of a number that is turned into a fraction
_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with `bits >= 2` bits inside the block, alone: other threads wait until it ends.

    >>> with precision(100):
    ...     (arb(1) / 3).rad() < arb(2) ** -100
    True
    """
    if bits < 2:
        raise InvalidInput("bits", bits, "give a precision of at least 2 bits")
    with _LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(number: int | float | Fraction) -> arb:
    """The ball of an exact number, rounded to the working precision; a float is the double it is."""
    exact = Fraction(number)
    return arb(fmpq(exact.numerator, exact.denominator))


def interval(lower: int | float | Fraction, upper: int | float | Fraction) -> arb:
    """A ball that contains `[lower, upper]`; it reaches a little further, as radii are rounded up to 30 bits.

    >>> interval(0, 1).contains(arb(1)), interval(0, 1) >= 0
    (True, False)
    """
    return ball(lower) if lower == upper else ball(lower).union(ball(upper))


def ends(x: arb) -> tuple[Fraction | None, Fraction | None]:
    """The exact lower and upper end of a finite ball; None for one beyond `2^LARGEST_SHIFT`, tiny ones rounded outward.

    >>> ends(arb(2, 1) ** 0)
    (Fraction(1, 1), Fraction(1, 1))
    """
    return _outward(x.lower(), -1), _outward(x.upper(), 1)


def _outward(end: arb, side: int) -> Fraction | None:
    try:
        return exactly(end)
    except OverflowError:
        if abs(end) > 1:
            return None
        return Fraction(0) if side * end < 0 else side * Fraction(1, 2**1000)


def exactly(x: arb) -> Fraction:
    """The value of an exact ball. Raises `OverflowError` where it would fill the memory (python-flint would abort)."""
    mantissa, exponent = (int(part) for part in x.man_exp())
    if abs(exponent) > LARGEST_SHIFT:
        raise OverflowError(f"a number of {exponent} binary digits is not written out")
    return mantissa * Fraction(2) ** exponent


def power(x: Ball, n: int) -> Ball:
    """`x ** n` for an integer `n`; never negative for an even `n` and a real ball away from 0.

    >>> power(arb(0, 1), 2) <= 1.01, (arb(0, 1) ** 2).is_nan()
    (True, True)
    """
    if n == 1:
        return x
    if n == 0 or not x.contains(0):
        return x**n
    if n < 0:
        return power(x, -n) ** -1
    if isinstance(x, arb):
        if not x.is_finite():
            return x.nan()
        low, high = x.lower() ** n, x.upper() ** n
        return low.union(high) if n % 2 else arb(0).union(low).union(high)
    result = x
    for bit in bin(n)[3:]:
        result = result * result * x if bit == "1" else result * result
    return result


def monotone(x: arb, function: Callable[[arb], arb], lower: Fraction | None, upper: Fraction | None) -> arb:
    """The ball of a monotone function, at the ends of `x`; `lower`, `upper` are known bounds of the argument itself.

    >>> monotone(interval(0, 1), arb.acos, Fraction(0), Fraction(1)).overlaps(arb.pi() / 2)
    True
    """
    if not x.is_finite():
        return arb.nan()
    low, high = x.lower(), x.upper()
    if lower is not None and not low > ball(lower):
        low = ball(lower)
    if upper is not None and not high < ball(upper):
        high = ball(upper)
    return function(low).union(function(high))
