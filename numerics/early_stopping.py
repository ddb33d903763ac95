r"""The constants between early stopping and ridge regression, with certified digits, and bounds for all times.

The best constant in `1 − e^{−s} <= κ s/(1 + s)`, `s >= 0`, is `κ = 1 + s*/(1 + s* + s*²)`, where `s* > 1` solves
`e^s = 1 + s + s²`; `theory/early_stopping.py` derives both. Two independent routes lead to its digits:

- `ridge_filter_constant` encloses the root between two points at which `(1 + s + s²) e^{−s} − 1`, which falls for
  `s > 1`, certainly has different signs;
- `bounds` decides `(1 + s) f(s) <= q s` for all `s >= 0` by subdivision; for `f = 1 − e^{−s}` it holds from `q = κ`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from flint import arb, ctx
from sympy import Expr, Rational

from theory.dynamics import s
from theory.errors import InvalidInput, Undecidable

from .balls import ball
from .subdivision import Outcome, holds

GUARD = 8  # bits by which the bracket of the root is wider than the working precision


def peak() -> arb:
    """A ball around `s*`, at the working precision of the caller.

    >>> from .balls import precision
    >>> with precision(64):
    ...     print(peak().str(12, radius=False))
    1.79328213290
    """
    root = ball(Fraction(17932821329, 10**10))
    for _ in range(ctx.prec.bit_length()):  # Newton's iteration doubles the right bits
        slope = root * (1 - root) * (-root).exp()
        root = (root - _above(root) / slope).mid()
    width = arb(2) ** (GUARD - ctx.prec)
    low, high = root - width, root + width
    if not (low > 1 and _above(low) > 0 and _above(high) < 0):
        raise Undecidable("e^s = 1 + s + s^2", f"the root was not bracketed at {ctx.prec} bits")
    return low.union(high)


def _above(at: arb) -> arb:
    return (1 + at + at * at) * (-at).exp() - 1


def ridge_filter_constant() -> arb:
    """A ball around `κ`, at the working precision of the caller."""
    at = peak()
    return 1 + at / (1 + at + at * at)


def bounds(constant: Fraction, function: Expr) -> Outcome:
    """Whether `(1 + s) f(s) <= constant · s` for all `s >= 0`, for a function `f <= 1` of `s` with `f(0) = 0`.

    Beyond `s = 1/(constant − 1)` it is so because `f <= 1`; below, it is decided by subdivision.

    >>> from theory.early_stopping import flow_filter
    >>> bounds(Fraction(13, 10), flow_filter()), bounds(Fraction(129, 100), flow_filter())
    (<Outcome.HOLDS: 'holds at every point'>, <Outcome.VIOLATED: 'fails at a rational point'>)
    """
    if constant <= 1:
        raise InvalidInput("constant", constant, "give more than 1: the ratio tends to 1 as s grows")
    difference = Rational(constant.numerator, constant.denominator) * s - (1 + s) * function
    return holds(difference >= 0, {s: (0, 1 / (constant - 1))}).outcome


ALGORITHMS: dict[str, Callable[[Mapping[str, Any], int], arb]] = {
    "ridge-filter-constant": lambda at, bits: ridge_filter_constant()
}
"""By the name of the formula: `(at, bits)` to a ball at the working precision."""
