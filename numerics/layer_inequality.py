r"""Inequalities between the angles before and after one wide ReLU layer, certified for every angle in `(0, π]`.

Definition. `cos T(θ) = (sin θ + (π − θ) cos θ)/π`, `T: [0, π] → [0, π/2]` (`theory/correlation.py`). An inequality here
is `E(θ) >= 0` for all `θ ∈ (0, π]`, where `E` is a polynomial in what `Layer` holds, with numbers as coefficients:

    θ,   p = (θ − T)/θ²,   θ/T,   log(T/θ),   cos T.

It has a zero of a stated order `n` at `θ = 0`, that no subdivision would get across. So `(0, π]` is cut at `CUT`.

**On [CUT, π]** the ball of `E` over a piece is non-negative, or the piece is halved (`numerics/subdivision.py`).
`T` increases, as `(cos T)' = −(1 − θ/π) sin θ < 0`; its ball is made of its values at the two ends.

**On (0, CUT]** `E` is its Taylor series at 0, with Cauchy's bound of the tail from the disc `|θ| <= r`, `r = RADIUS`.
There `E` is analytic, for the following reason. Let

    4 sin²(T/2)/θ² = 2 (1 − cos T)/θ² = 1 − g(θ),   g entire,   g(0) = 0.

Replace every Taylor coefficient by its absolute value (that is, take the majorant) and θ by `r`: `g` becomes

    γ = 2 (cosh r − 1)/r² − 1 + (2/π)(r cosh r − sinh r)/r².

If `γ < 1`, then `√(1 − g)` is analytic, and becomes at most `1 + m`, `m = 1 − √(1 − γ)`. If `s = ½ r (1 + m) < 1`, then
`T = 2 arcsin(½ θ √(1 − g))` is analytic too. As `arcsin(√x)/√x = 1 + x/6 + …` has positive coefficients,

    |T/θ − 1| <= (1 + m) arcsin(s)/s − 1 =: d   for |θ| <= r.

If `d < 1`, `T/θ` stays in the right half plane: `θ/T` and `log(T/θ)` are analytic, `|θ/T| <= 1/(1 − d)`,
`|log(T/θ)| <= −log(1 − d)`, `|cos T| <= cosh((1 + d) r)`, and `|p| <= d/r` by the maximum principle. Evaluating `E` at
these complex balls gives `|E| <= M`. So its Taylor coefficients are at most `M/rᵏ`, and for `0 < θ <= CUT`

    |Σ_{k>=N} e_k θ^{k−n}| <= (M/rⁿ) h^{N−n}/(1 − h),   h = CUT/r.

The code checks `γ < 1`, `s < 1`, `d < 1` by balls. That `e_0, …, e_{n−1}` vanish is for the caller to prove; their
balls must contain 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from flint import acb, arb, arb_poly

from theory.errors import Undecidable

from .balls import ball, precision

Number = TypeVar("Number", arb, acb, arb_poly)

BITS = 128
TERMS = 80  # N: the Taylor coefficients that are computed
RADIUS, CUT = Fraction(5, 4), Fraction(1)
BEYOND_PI = Fraction(355, 113)  # the formulas go on behind π, and cos T still decreases there


@dataclass(frozen=True)
class Layer(Generic[Number]):
    """What an inequality may be made of.

    `angle` is θ, `loss` is (θ − T)/θ², `inverse` is θ/T, `logarithm` is log(T/θ), `cosine` is cos T.
    `Number` is a real ball for θ in an interval, a complex ball for the disc, or a polynomial for the Taylor series.
    """

    angle: Number
    loss: Number
    inverse: Number
    logarithm: Number
    cosine: Number


Inequality = Callable[[Layer[Any]], Any]


def holds(inequality: Inequality, order: int) -> bool:
    """Whether `inequality(layer) >= 0` is certified for all `θ ∈ (0, π]`, given its zero of order `order` at 0.

    False if it is certainly violated (between 0 and `BEYOND_PI`), or the zero certainly is of a lower order. Raises
    `Undecidable` if neither shows.

    >>> holds(lambda layer: layer.loss - arb(1) / 10, 0), holds(lambda layer: layer.loss - arb(1) / 9, 0)
    (True, False)
    """
    with precision(BITS):
        coefficients = inequality(taylor_layer()).coeffs()[:TERMS]
        if not all(vanishing.contains(0) for vanishing in coefficients[:order]):
            return False
        radius, ratio = ball(RADIUS), ball(CUT / RADIUS)
        tail = abs(inequality(disc_layer())) / radius**order * ratio ** (TERMS - order) / (1 - ratio)
        near_zero, remainder = arb_poly(coefficients[order:]), arb(0, tail.upper())
    return _nowhere_negative(lambda angle: near_zero(angle) + remainder, Fraction(0), CUT) and _nowhere_negative(
        lambda angle: inequality(layer_at(angle)), CUT, BEYOND_PI
    )


def _nowhere_negative(function: Callable[[arb], arb], lower: Fraction, upper: Fraction) -> bool:
    from . import subdivision  # imports SymPy, which is slow

    found = subdivision.holds(function, {"angle": (lower, upper)})
    if found.outcome is subdivision.Outcome.UNDECIDED:
        piece = found.remaining[0]["angle"]
        raise Undecidable("the inequality", f"its sign stays open for θ in [{float(piece[0])}, {float(piece[1])}]")
    return found.outcome is subdivision.Outcome.HOLDS


def layer_at(angle: arb) -> Layer[arb]:
    """The layer at a ball of angles away from 0."""
    after = cosine_after(angle.lower()).acos().union(cosine_after(angle.upper()).acos())
    ratio = after / angle
    return Layer(angle, (1 - ratio) / angle, 1 / ratio, ratio.log(), after.cos())


def cosine_after(angle: arb) -> arb:
    """`cos T(θ)`."""
    return (angle.sin() + (arb.pi() - angle) * angle.cos()) / arb.pi()


def disc_layer() -> Layer[acb]:
    """Complex balls that contain the layer for all `|θ| <= RADIUS`, by the majorants at the head of this module."""
    r = ball(RADIUS)
    bound = 2 * (r.cosh() - 1) / (r * r) - 1 + 2 / arb.pi() * (r * r.cosh() - r.sinh()) / (r * r)
    root = 2 - (1 - bound).sqrt()  # 1 + m
    sine = r / 2 * root
    deviation = root * sine.asin() / sine - 1
    if not (bound < 1 and sine < 1 and deviation < 1):
        raise Undecidable("the angle after one layer", f"it may not be analytic on the disc of radius {RADIUS}")
    sizes = (r, deviation / r, 1 / (1 - deviation), -(1 - deviation).log(), ((1 + deviation) * r).cosh())
    return Layer(*(acb(arb(0, size.upper()), arb(0, size.upper())) for size in sizes))


def taylor_layer() -> Layer[arb_poly]:
    """The Taylor polynomials at `θ = 0` of the layer, right up to the power `TERMS − 1`."""
    cosine = [_cosine_coefficient(k) for k in range(TERMS + 3)]
    g = arb_poly([arb(0)] + [2 * c for c in cosine[3:]])
    halves = [Fraction(1)]  # of √(1 − y)
    for k in range(TERMS):
        halves.append(halves[-1] * Fraction(2 * k - 1, 2 * k + 2))
    arcsine = [Fraction(math.comb(2 * k, k), 4**k * (2 * k + 1)) for k in range(TERMS)]  # of arcsin(√x)/√x
    ratio = _compose(halves, g) * _compose(arcsine, arb_poly([0, 0, arb(1) / 4]) * (1 - g))
    drop = _truncated(1 - ratio)  # 1 − T/θ
    return Layer(
        angle=arb_poly([0, 1]),
        loss=arb_poly(drop.coeffs()[1:]),
        inverse=_compose([Fraction(1)] * (TERMS + 1), drop),
        logarithm=-_compose([Fraction(0)] + [Fraction(1, k) for k in range(1, TERMS + 1)], drop),
        cosine=arb_poly(cosine),
    )


def _cosine_coefficient(k: int) -> arb:
    """The coefficient of `θᵏ` in `cos T = cos θ + (sin θ − θ cos θ)/π`."""
    sign = -1 if k // 2 % 2 else 1
    if k % 2 == 0:
        return arb(sign) / math.factorial(k)
    return ball(Fraction(sign, math.factorial(k)) - Fraction(sign, math.factorial(k - 1))) / arb.pi()


def _truncated(series: arb_poly) -> arb_poly:
    return arb_poly(series.coeffs()[: TERMS + 1])


def _compose(outer: Sequence[Fraction], inner: arb_poly) -> arb_poly:
    """`Σ outer[k] innerᵏ`, truncated; `inner` has no constant term."""
    result = arb_poly([])
    for coefficient in reversed(outer):
        result = _truncated(result * inner) + ball(coefficient)
    return result
