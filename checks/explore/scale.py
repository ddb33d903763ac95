r"""What the axis of the values shows: the value `v` itself, or `1 − v` on a logarithmic axis.

Near 1 an axis of `v` shows nothing; one of `1 − v` tells 0.999 from 0.9999. It is formed from the decimal fraction that
a certified value is, never from a double, so no digit is lost. A logarithmic axis has no place for what is not
positive: such points are left out, which is said.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numerics.formulas import FormulaValue

WIDE = 1000
SHARP = Fraction(1, 10_000)  # relative error of 1 - v that no eye sees


class Scale(Enum):
    """The choice of a person. `AUTOMATIC` is logarithmic where the values range over many powers of ten."""

    AUTOMATIC = "automatic"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    COMPLEMENT = "1-value"

    @property
    def words(self) -> str:
        """What the list to choose from says.

        >>> Scale.COMPLEMENT.words
        '1 - value, logarithmic'
        """
        return "1 - value, logarithmic" if self is Scale.COMPLEMENT else self.value

    def label(self, name: str) -> str:
        """What stands at the axis."""
        return f"1 - {name}" if self is Scale.COMPLEMENT else name

    def of(self, found: FormulaValue | None) -> Fraction | None:
        """What is shown of a value, None if it is no number; 0 for `1 − v` where its digits do not tell `v` from 1.

        >>> from numerics.formulas import FormulaValue
        >>> float(Scale.COMPLEMENT.of(FormulaValue("f", {}, "0.99999999999999999999", "1e-22", 20)))
        1e-20
        """
        value = _decimal(found)
        if found is None or value is None or self is not Scale.COMPLEMENT:
            return value
        return 1 - value if abs(1 - value) > Fraction(found.radius) else Fraction(0)

    def logarithmic(self, values: list[Fraction]) -> bool:
        """Whether the axis is, for these that are shown along it."""
        if self is Scale.AUTOMATIC:
            return bool(values) and min(values) > 0 and max(values) > WIDE * min(values)
        return self is not Scale.LINEAR


def is_sharp(found: FormulaValue, scale: Scale) -> bool:
    """Whether a value has the digits that its place on the axis needs: near 1, `1 − v` needs more of them.

    >>> from numerics.formulas import FormulaValue
    >>> is_sharp(FormulaValue("f", {}, "0.999999999999", "5e-13", 12), Scale.COMPLEMENT)
    False
    """
    value = _decimal(found)
    return value is None or scale is not Scale.COMPLEMENT or Fraction(found.radius) <= SHARP * abs(1 - value)


def _decimal(found: FormulaValue | None) -> Fraction | None:
    """The decimal that a value is; None if there is none (a width may be "none"), or none that a double can be near."""
    try:
        number = float(found.value) if found else math.nan
    except ValueError:
        return None
    if found is None or not math.isfinite(number):
        return None
    return Fraction(found.value) if number else Fraction(0)  # nobody needs 10^-1000000 written out
