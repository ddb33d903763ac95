r"""From which width on is the balanced point a minimum, with rates that grow like a power of the width?

With `x = h^α`, `α` rational, and label noise that falls with a rational power of `h`, or none, the curvature of
`theory/balance.py` is, up to a positive factor, a sum of powers `F(h) = Σ_i c_i h^{e_i}` with rational coefficients and
exponents. `threshold` gives the smallest integer `h₀ >= 1` with `F(h) > 0` for every integer `h >= h₀`, or None if
there is none, that is, if the coefficient of the largest exponent is not positive (for which `α` it is, is in
`theory.balance.favourable_exponents`). It is certified for all `h`:

1. Divided by the largest power, `F(h) h^{−e_max} >= c_max − Σ_{c_i < 0} |c_i| h^{e_i − e_max}`, which grows with `h`.
   So one `H` at which the right side is positive serves for all `h >= H`.
2. From `H` down, Arb balls show `F > 0` on intervals `[a, b]` as wide as they can; where they cannot, on single
   integers, until an integer is found at which `F < 0`, or `F = 0`.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from theory.balance import NOISELESS, LabelNoise, by_exponent, powers_of_width
from theory.errors import InvalidInput, Undecidable
from theory.layerwise_options import Initialisation, Orthogonal, Updates

from .balls import ball, precision
from .data import as_integer

LARGEST_WIDTH = 2**200  # beyond which no width is of interest; a threshold there is not found
BITS = (256, 1024, 4096)  # tried in turn
Powers = tuple[tuple[Fraction, Fraction], ...]  # coefficients and exponents, the largest exponent first


def threshold(
    alpha: Fraction | int,
    *,
    layers: int = 2,
    steps: int = 2,
    updates: Updates = Updates.SIGNAL,
    initialisation: Initialisation = Orthogonal(),  # noqa: B008  (immutable)
    noise: LabelNoise = NOISELESS,
) -> int | None:
    """The smallest width from which on equal rates `h^α` are a strict local minimum under their budget; None if none.

    Raises `InvalidInput` for an `alpha` that is no rational number in [−10, 10], `Undecidable` if the threshold is
    beyond any width of interest.

    >>> threshold(Fraction(3, 2)), threshold(Fraction(1, 2))
    (257, None)
    """
    powers = _powers(alpha, layers, steps, updates, initialisation, noise)
    if not powers or powers[0][0] <= 0:
        return None
    for bits in BITS:
        try:
            with precision(bits):
                return _descend(powers, _dominated_from(powers))
        except Undecidable:
            if bits == BITS[-1]:
                raise
    return None


def sign(
    alpha: Fraction | int,
    width: int,
    *,
    layers: int = 2,
    steps: int = 2,
    updates: Updates = Updates.SIGNAL,
    initialisation: Initialisation = Orthogonal(),  # noqa: B008  (immutable)
    noise: LabelNoise = NOISELESS,
) -> int:
    """The sign of the curvature at `x = width^α`, certified: 1 for a strict local minimum, −1 for none.

    Raises `InvalidInput` for an `alpha` that `threshold` refuses, and for a `width` that is no integer >= 1.

    >>> sign(Fraction(3, 2), 257), sign(Fraction(3, 2), 256)
    (1, -1)
    """
    width = as_integer("width", width, 1)
    powers = _powers(alpha, layers, steps, updates, initialisation, noise)
    with precision(BITS[-1]):
        return _sign(powers, width)


def _powers(
    alpha: Fraction | int, layers: int, steps: int, updates: Updates, initialisation: Initialisation, noise: LabelNoise
) -> Powers:
    """The numerator of the curvature at `x = h^α`, whose denominator is positive, as a sum of powers of `h`."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | Fraction) or abs(alpha) > 10:
        raise InvalidInput("alpha", alpha, "give an int or a Fraction between -10 and 10")
    if not isinstance(noise, LabelNoise):
        raise InvalidInput("noise", noise, "give LabelNoise(size, decay)")
    left = by_exponent(powers_of_width(layers, steps, updates, initialisation, noise), Fraction(alpha))
    return tuple((c, e) for e, c in left.items())


def _dominated_from(powers: Powers) -> int:
    """A width from which on the largest power outweighs all negative ones."""
    (leading, largest), *rest = powers
    width = 1
    while width <= LARGEST_WIDTH:
        lost = sum((-ball(c) * ball(width) ** ball(e - largest) for c, e in rest if c < 0), arb(0))
        if lost < ball(leading):
            return width
        width *= 2
    raise Undecidable("balance threshold", "it lies beyond a width of 2^200")


def _descend(powers: Powers, width: int) -> int:
    """The smallest integer down to which `F > 0` from `width` on, where it is positive at `width`."""
    stretch = max(1, width // 2)
    while width > 1:
        lower = max(1, width - stretch)
        if _positive(powers, arb(lower).union(arb(width))):
            width = lower
            stretch = max(1, min(2 * stretch, width // 2))
        elif stretch > 1:
            stretch //= 2
        elif _sign(powers, width - 1) > 0:
            width -= 1
        else:
            return width
    return width


def _positive(powers: Powers, widths: arb) -> bool:
    largest = powers[0][1]
    return bool(sum((ball(c) * widths ** ball(e - largest) for c, e in powers), arb(0)) > 0)


def _sign(powers: Powers, width: int) -> int:
    if width == 1:  # every power is one
        total = sum(c for c, _ in powers)
        return (total > 0) - (total < 0)
    value = sum((ball(c) * ball(width) ** ball(e) for c, e in powers), arb(0))
    if value > 0:
        return 1
    if value < 0:
        return -1
    raise Undecidable("balance threshold", f"the curvature at h = {width} is too near zero to tell its sign")
