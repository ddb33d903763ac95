"""Dual numbers: a value and its derivatives by the two rates, over any ring: balls, polynomials, Taylor models."""

from __future__ import annotations

from typing import Any


class Dual:
    """A value with its derivatives by `η₁` and `η₂`, in a ring; sums and products follow Leibniz' rule."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: Any, slopes: tuple[Any, Any] = (0, 0)) -> None:
        self.value, self.slopes = value, slopes

    def __add__(self, other: Any) -> Dual:
        o = _dual(other)
        return Dual(self.value + o.value, (self.slopes[0] + o.slopes[0], self.slopes[1] + o.slopes[1]))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Dual:
        o = _dual(other)
        first, second = (s * o.value + self.value * t for s, t in zip(self.slopes, o.slopes, strict=True))
        return Dual(self.value * o.value, (first, second))

    __rmul__ = __mul__

    def __neg__(self) -> Dual:
        return self * -1

    def __sub__(self, other: Any) -> Dual:
        return self + _dual(other) * -1

    def __rsub__(self, other: Any) -> Dual:
        return _dual(other) + self * -1


def _dual(part: Any) -> Dual:
    return part if isinstance(part, Dual) else Dual(part)
