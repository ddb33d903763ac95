r"""The squared losses of training, and the unit of time that each implies.

For `n >= 1` points, outputs `f(x_i)` and labels `y_i`, all losses are `ℓ = a ∑_i (f(x_i) − y_i)²`. Gradient descent
and gradient flow see a loss only through the *rate* `c = 2a`, as `∂ℓ/∂f(x_i) = c (f(x_i) − y_i)`: the time `t` and the
learning rate `η` enter every formula as `c t` and `c η`.

Free of SymPy, so that what only needs numbers can import it at no cost.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from .errors import InvalidInput


class Loss(Enum):
    """The factor in front of the sum of squares; the value is its LaTeX."""

    SUM = r"\sum_i r_i^2"
    HALF_SUM = r"\tfrac12 \sum_i r_i^2"
    MEAN = r"\tfrac1n \sum_i r_i^2"
    HALF_MEAN = r"\tfrac1{2n} \sum_i r_i^2"

    @property
    def halved(self) -> bool:
        return self in (Loss.HALF_SUM, Loss.HALF_MEAN)

    @property
    def averaged(self) -> bool:
        return self in (Loss.MEAN, Loss.HALF_MEAN)

    def factor(self, points: int) -> Fraction:
        """`a`, for `points >= 1` training points.

        >>> Loss.HALF_MEAN.factor(10)
        Fraction(1, 20)
        """
        if isinstance(points, bool) or not isinstance(points, int) or points < 1:
            raise InvalidInput("points", points, "give the number of training points, an integer >= 1")
        return Fraction(1, (2 if self.halved else 1) * (points if self.averaged else 1))

    def rate(self, points: int) -> Fraction:
        """`c = 2a`: 2, 1, 2/n and 1/n for the four losses.

        >>> [str(loss.rate(10)) for loss in Loss]
        ['2', '1', '1/5', '1/10']
        """
        return 2 * self.factor(points)
