r"""The number systems in which a small network can be run: float64, mpmath at any precision, complex Arb balls.

An `Arithmetic` makes arrays of its numbers from float64 ones, each taken as the exact double it is, and applies the
elementary functions. Sums, products and matrix products are NumPy's, which on arrays of objects call the objects'
own. Those of mpmath belong to a context of their own: no global precision is changed. Balls contain the exact result,
and are computed inside `balls.precision(bits)`, which the caller holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any

import mpmath
import numpy as np
import scipy
from flint import acb
from numpy.typing import ArrayLike, NDArray

from .data import as_integer

Numbers = NDArray[Any]  # float64, or objects


class Elementary(Enum):
    """The functions of which the activations are made; SOFTPLUS is `log(1 + e^s)`."""

    EXP = "exp"
    TANH = "tanh"
    COSH = "cosh"
    SIN = "sin"
    COS = "cos"
    ERF = "erf"
    SQRT = "sqrt"
    SOFTPLUS = "softplus"


class Arithmetic(ABC):
    """A number system; `dtype` is that of its arrays."""

    dtype: type = object

    @abstractmethod
    def array(self, values: ArrayLike) -> Numbers:
        """`values`, float64 or already of this system, as an array of its numbers."""

    @abstractmethod
    def apply(self, function: Elementary, values: Numbers) -> Numbers:
        """The function, entry by entry."""

    @abstractmethod
    def pi(self) -> Any:
        """The number π."""

    def zeros(self, *shape: int) -> Numbers:
        """An array of zeros."""
        return self.array(np.zeros(shape))


class Float64(Arithmetic):
    """Double precision, by NumPy and SciPy."""

    dtype = np.float64

    def array(self, values: ArrayLike) -> Numbers:
        return np.asarray(values, dtype=np.float64)

    def apply(self, function: Elementary, values: Numbers) -> Numbers:
        if function is Elementary.ERF:
            return scipy.special.erf(values)
        with np.errstate(over="ignore"):  # what overflows is infinite, and its reciprocal 0
            return np.logaddexp(0.0, values) if function is Elementary.SOFTPLUS else getattr(np, function.value)(values)

    def pi(self) -> float:
        return float(np.pi)


class Multiprecision(Arithmetic):
    """Real numbers of mpmath to `digits` significant digits, in a context of their own; 10 more are carried.

    Raises `InvalidInput` if `digits` is no positive integer.

    >>> print(Multiprecision(20).apply(Elementary.EXP, Multiprecision(20).array([1.0]))[0])
    2.71828182845904523536028747135
    """

    def __init__(self, digits: int) -> None:
        self.digits = as_integer("digits", digits, 1)
        self.context = mpmath.MPContext()
        self.context.dps = self.digits + 10

    def array(self, values: ArrayLike) -> Numbers:
        return _objects(self.context.mpf, values)

    def apply(self, function: Elementary, values: Numbers) -> Numbers:
        if function is Elementary.SOFTPLUS:
            return _objects(lambda s: self.context.log1p(self.context.exp(s)), values)
        return _objects(getattr(self.context, function.value), values)

    def pi(self) -> Any:
        return +self.context.pi


class ComplexBalls(Arithmetic):
    """Complex Arb balls, at the precision of the `balls.precision` block around.

    >>> from numerics.balls import precision
    >>> with precision(100):
    ...     ComplexBalls().apply(Elementary.SQRT, ComplexBalls().array([2.0]))[0].contains(acb(2).sqrt())
    True
    """

    def array(self, values: ArrayLike) -> Numbers:
        return _objects(acb, values)

    def apply(self, function: Elementary, values: Numbers) -> Numbers:
        if function is Elementary.SOFTPLUS:
            return _objects(_softplus, values)
        return _objects(getattr(acb, function.value), values)

    def pi(self) -> acb:
        return acb.pi()


def _softplus(s: acb) -> acb:
    """`log(1 + e^s)` on its principal sheet; not finite where the ball may touch the cut of the logarithm."""
    inside = 1 + s.exp()
    touches = inside.imag.contains(0) and not inside.real > 0
    return acb("nan") if touches else inside.log()


def _objects(function: Callable[[Any], Any], values: ArrayLike) -> Numbers:
    """The function, entry by entry; always an array, also of a single number."""
    given = np.asarray(values)
    if given.dtype.kind == "f":
        given = given.astype(object)  # Python floats
    return np.asarray(np.frompyfunc(function, 1, 1)(given), dtype=object)
