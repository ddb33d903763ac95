r"""Taylor models: a function on an interval as a polynomial with ball coefficients, which holds its error too.

For `f` on `[m − r, m + r]`, a model is a polynomial `c_0 + c_1 ξ + … + c_N ξ^N` with balls `c_k` such that for every
`ξ ∈ [−1, 1]` there are numbers in the balls with `f(m + rξ) = Σ c_k ξᵏ`. Sums and products of models are models: what
a product has beyond degree `N` is bounded on `[−1, 1]` and put into the ball `c_0`.

A recursion of balls multiplies the radius of its input in every step. One of models keeps the dependence on the input
as a polynomial; only what was cut off grows, and that is tiny where `f` is analytic on a disc a few times as wide.

Source: K. Makino and M. Berz, *Taylor models and other validated functional inclusion methods* (2003).
"""

from __future__ import annotations

from typing import Any

from flint import arb, arb_poly

WIDEST = 2**64


class TooWide(Exception):
    """The interval is far too wide for a model of this degree: cut it."""


class TaylorModel:
    """A model of degree `order`; arithmetic with other models of that order, balls and integers.

    A product raises `TooWide` where more than `WIDEST` would be cut off.

    >>> from numerics.balls import precision
    >>> with precision(80):
    ...     cosine, sine = circle(arb(1), arb(1) / 4, order=20)
    ...     (cosine**2 + sine**2 - 1).range().contains(0)
    True
    """

    __slots__ = ("order", "polynomial")

    def __init__(self, polynomial: arb_poly, order: int) -> None:
        self.polynomial, self.order = polynomial, order

    def __add__(self, other: Any) -> TaylorModel:
        if not isinstance(other, SCALARS):  # a dual number of models knows better
            return NotImplemented
        return TaylorModel(self.polynomial + _polynomial(other), self.order)

    __radd__ = __add__

    def __sub__(self, other: Any) -> TaylorModel:
        if not isinstance(other, SCALARS):
            return NotImplemented
        return TaylorModel(self.polynomial - _polynomial(other), self.order)

    def __rsub__(self, other: Any) -> TaylorModel:
        return TaylorModel(_polynomial(other) - self.polynomial, self.order)

    def __mul__(self, other: Any) -> TaylorModel:
        if not isinstance(other, SCALARS):
            return NotImplemented
        if not isinstance(other, TaylorModel):
            return TaylorModel(self.polynomial * other, self.order)
        product = self.polynomial * other.polynomial
        beyond = product.right_shift(self.order + 1)(arb(0, 1)).abs_upper()
        if not beyond < WIDEST:
            raise TooWide
        return TaylorModel(product.truncate(self.order + 1) + arb_poly([arb(0, beyond)]), self.order)

    __rmul__ = __mul__

    def __truediv__(self, scalar: arb | int) -> TaylorModel:
        return TaylorModel(self.polynomial * (1 / arb(scalar)), self.order)

    def __pow__(self, exponent: int) -> TaylorModel:
        """The power with an integer exponent `>= 0`, by squaring."""
        result = TaylorModel(arb_poly([1]), self.order)
        for bit in bin(exponent)[2:]:
            result = result * result
            if bit == "1":
                result = result * self
        return result

    def range(self) -> arb:
        """A ball that contains all values."""
        return self.polynomial(arb(0, 1))

    def integral(self) -> arb:
        """`∫_{−1}^1 dξ` of the function.

        The numbers in the balls may be others at every `ξ`, so the odd terms do not quite cancel.
        """
        coefficients = enumerate(self.polynomial.coeffs())
        terms = ((arb(0, c.rad()) if k % 2 else c) / (k + 1) for k, c in coefficients)
        return 2 * sum(terms, arb(0))


SCALARS = (TaylorModel, arb, int)


def _polynomial(part: Any) -> arb_poly:
    return part.polynomial if isinstance(part, TaylorModel) else arb_poly([part])


def circle(middle: arb, radius: arb, order: int) -> tuple[TaylorModel, TaylorModel]:
    """`cos` and `sin` of the angle `middle + radius ξ`."""
    sine, cosine = middle.sin_cos()
    derivatives = (cosine, -sine, -cosine, sine)
    coefficients, factor = [], arb(1)
    for k in range(order + 1):
        coefficients.append((derivatives[k % 4] * factor, -derivatives[(k + 1) % 4] * factor))
        factor = factor * radius / (k + 1)
    remainder = arb(0, factor.upper())  # all derivatives are at most 1
    models = []
    for parts in zip(*coefficients, strict=True):
        models.append(TaylorModel(arb_poly([parts[0] + remainder, *parts[1:]]), order))
    return models[0], models[1]
