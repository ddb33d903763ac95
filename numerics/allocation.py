r"""The best split of a budget between the layers, and the best equal rates, at a single width, with right digits.

`L(S, P)` is the expected loss of `theory/allocation.py` after one or two steps, `S = η₁ + η₂ > 0`, `0 <= P <= S²/4`. At
an integer width `h >= 1` and a rational budget `S` it is a polynomial `g` in `y = 4P/S² ∈ [0, 1]` with rational
coefficients, of degree 8 at most. Its minimum is at an end, or at a zero of `g'` inside: Arb isolates all of them, and
balls tell the least of the values (`Undecidable` if two are too close to tell). The rates are `S/2 (1 ± √(1 − y))`.
Equal rates `x` are treated alike, with `L(2x, x²)` on `x >= 0`.

Source: beyond B (arXiv:2606.00340).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb, fmpq, fmpq_poly

from theory.errors import InvalidInput, Undecidable
from theory.layerwise_options import Updates

from .balls import ball, precision
from .certify import DEFAULT_DIGITS, Value, certify
from .exact import exact_number

LARGEST_WIDTH = 10**9
BITS = (128, 512, 2048, 8192)  # tried in turn


class Split(Enum):
    """Which split of a budget is the best."""

    ONE_LAYER = "all on one layer"
    UNEQUAL = "unequal rates"
    EQUAL = "equal rates"


@dataclass(frozen=True)
class Allocation:
    """The best rates under a budget, the larger one first (the loss is symmetric), and what they cost.

    `loss` is the expected loss with these rates, `equal` with equal ones, `one_layer` with one rate of zero.
    """

    split: Split
    larger: Value
    smaller: Value
    loss: Value
    equal: Value
    one_layer: Value


def best_allocation(
    width: int,
    budget: int | float | Fraction,
    *,
    layers: int = 2,
    steps: int = 2,
    updates: Updates = Updates.SIGNAL,
    digits: int = DEFAULT_DIGITS,
) -> Allocation:
    """The best split of `η₁ + η₂ = budget > 0` after 1 or 2 steps from orthogonal weights; 2 or 3 layers.

    Raises `InvalidInput` for other arguments, `Undecidable` where two splits are too close to tell.

    >>> best = best_allocation(1000, 63000, digits=6)
    >>> print(best.split.value, best.loss, best.one_layer)
    equal rates 0.592504 0.764876
    """
    terms = _terms(*_checked(width, layers, steps, updates))
    total = exact_number("budget", budget)
    if not total.is_Rational or total <= 0:
        raise InvalidInput("budget", str(total), "give a rational number > 0")
    exact = Fraction(int(total.p), int(total.q))
    coefficients = [Fraction(0)] * (1 + max(j for _, j in terms))
    for (i, j), value in terms.items():
        coefficients[j] += value * exact**i * (exact * exact / 4) ** j
    subject = f"the best split at h = {width}, budget {total}"
    best = _Minimum(coefficients, Fraction(1), subject)
    split = Split.UNEQUAL
    if isinstance(best.place, Fraction):
        split = Split.EQUAL if best.place else Split.ONE_LAYER

    def rate(side: int) -> Value:
        return certify(
            lambda: ball(exact) / 2 * (1 + side * (1 - best.position()).sqrt()), digits, subject=f"a rate of {subject}"
        )

    def loss(place: Callable[[], arb]) -> Value:
        return certify(lambda: best.value(place()), digits, subject=f"the loss of {subject}")

    ends = [loss(lambda end=end: arb(end)) for end in (1, 0)]
    return Allocation(split, rate(1), rate(-1), loss(best.position), *ends)


def best_equal_rates(
    width: int, *, layers: int = 2, steps: int = 2, updates: Updates = Updates.SIGNAL, digits: int = DEFAULT_DIGITS
) -> tuple[Value, Value]:
    """The best rate for both layers, and its expected loss; arguments and errors as for `best_allocation`.

    >>> print(*best_equal_rates(10**9, digits=6))
    3.03676e14 0.862003
    """
    terms = _terms(*_checked(width, layers, steps, updates))
    coefficients = [Fraction(0)] * (1 + max(i + 2 * j for i, j in terms))
    for (i, j), value in terms.items():
        coefficients[i + 2 * j] += value * 2**i
    subject = f"the best equal rates at h = {width}"
    best = _Minimum(coefficients, None, subject)
    rate = certify(best.position, digits, subject=subject)
    return rate, certify(lambda: best.value(best.position()), digits, subject=f"the loss of {subject}")


class _Minimum:
    """Where on `[0, end]`, or on `[0, ∞)` if `end` is None, a polynomial is least: at an end, or at a zero inside."""

    def __init__(self, coefficients: list[Fraction], end: Fraction | None, subject: str) -> None:
        self.polynomial = fmpq_poly([_exact(c) for c in coefficients])
        self.slope = self.polynomial.derivative()
        self.ends = [Fraction(0)] if end is None else [Fraction(0), end]
        self.subject = subject
        for bits in BITS:
            with precision(bits):
                place = self._find()
            if place is not None:
                self.place = place  # an end, or a ball that contains one zero of the slope
                return
        raise Undecidable(subject, "two of its candidates are too close to tell")

    def position(self) -> arb:
        """The place of the minimum, at the working precision."""
        if isinstance(self.place, Fraction):
            return ball(self.place)
        (root,) = (root for root in self._zeros() if root.overlaps(self.place))
        return root

    def value(self, place: arb) -> arb:
        """The polynomial there, at the working precision."""
        result = arb(0)
        for coefficient in reversed(self.polynomial.coeffs()):
            result = result * place + arb(coefficient)
        return result

    def _zeros(self) -> list[arb]:
        """The positive zeros of the slope."""
        numerator = self.slope.numer()
        if numerator.degree() < 1:
            return []
        found: Any = numerator.complex_roots()  # pairs of a root and its multiplicity
        return [root.real for root, _ in found if root.imag == 0 and root.real > 0]

    def _find(self) -> Fraction | arb | None:
        places: list[Fraction | arb] = list(self.ends)
        for root in self._zeros():
            if any(
                root.contains(ball(end)) and self.slope(fmpq(end.numerator, end.denominator)) == 0 for end in self.ends
            ):
                continue  # it is the end
            if len(self.ends) == 1 or root < ball(self.ends[1]):
                places.append(root)
            elif not root > ball(self.ends[1]):
                return None
        values = [self.value(ball(place) if isinstance(place, Fraction) else place) for place in places]
        least = [
            place
            for i, place in enumerate(places)
            if all(values[i] < other for j, other in enumerate(values) if j != i)
        ]
        return least[0] if least else None


def _exact(number: Fraction) -> fmpq:
    return fmpq(number.numerator, number.denominator)


@cache
def _terms(width: int, layers: int, steps: int, updates: Updates) -> dict[tuple[int, int], Fraction]:
    """The coefficients of `S^i P^j` in the loss."""
    from theory.layerwise import h

    found = {powers: value.subs(h, width) for powers, value in _polynomial(layers, steps, updates).items()}
    return {powers: Fraction(int(value.p), int(value.q)) for powers, value in found.items()}


@cache
def _polynomial(layers: int, steps: int, updates: Updates) -> dict[tuple[int, int], Any]:
    from sympy import Poly

    from theory.layerwise import by_sum_and_product, expected_loss, product, total

    loss = by_sum_and_product(expected_loss(layers, steps, updates).conclusion)
    return dict(Poly(loss, total, product).terms())


def _checked(width: Any, layers: Any, steps: Any, updates: Any) -> tuple[int, int, int, Updates]:
    for name, value, least, most in (
        ("width", width, 1, LARGEST_WIDTH),
        ("layers", layers, 2, 3),
        ("steps", steps, 1, 2),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidInput(name, value, f"give an integer from {least} to {most}")
    if not isinstance(updates, Updates):
        raise InvalidInput("updates", updates, "give Updates.SIGNAL or Updates.FULL")
    return width, layers, steps, updates
