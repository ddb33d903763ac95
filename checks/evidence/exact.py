"""What may be claimed: an exact value. A float is the double nearest to what a person meant, and is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from sympy import Expr, Float, S, nan, zoo

from theory.errors import InvalidInput


def exact(argument: str, value: Any) -> Expr:
    """`value` as an expression. Raises `InvalidInput` for floats, also within an expression, and what is undefined.

    >>> exact("claimed", Fraction(1, 3))
    1/3
    >>> exact("claimed", 0.1)
    Traceback (most recent call last):
    theory.errors.InvalidInput: claimed = 0.1: the float 0.1 is not exact; give Rational('0.1')
    """
    if isinstance(value, Expr):
        floats, exists = sorted(map(float, value.atoms(Float))), not value.has(nan, zoo)
    else:
        floats = [value] if isinstance(value, float) and math.isfinite(value) else []
        exists = isinstance(value, int | Fraction) and not isinstance(value, bool)
    if floats:
        number = f"{floats[0]:.15g}"
        raise InvalidInput(argument, value, f"the float {number} is not exact; give Rational('{number}')")
    if not exists:
        remedy = "give an exact value: an int, a Rational or another SymPy expression"
        raise InvalidInput(argument, value, f"{remedy}{'; text is never evaluated' if isinstance(value, str) else ''}")
    return S(value)
