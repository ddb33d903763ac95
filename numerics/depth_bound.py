r"""A certified bound on `|Θ̄^L − 1/4|` for the ReLU tangent kernel, for all inputs apart and all depths at once.

Definition (`theory/correlation.py`, `theory/depth.py`). On the unit sphere, for inputs at the angle `θ_0 ∈ [0, π]`,

    cos T(θ) = (sin θ + (π − θ) cos θ)/π,   θ_{L+1} = T(θ_L),
    Θ⁰ = cos θ_0,   Θ^{L+1} = (1 − θ_L/π) Θ^L + cos θ_{L+1},   Θ̄^L = Θ^L/(L + 1).

**Theorem.** Let `0 < δ < 2`, `L₀ >= 1`. With `a = 3/8` and the numbers `B, b` that `depth_bound` computes,

    |Θ̄^L − 1/4| <= (a log L + B)/(L + 1)   for all ρ_0 = cos θ_0 ∈ [−1, 1 − δ] and all L >= L₀,
     Θ̄^L − 1/4  >= (a log L − b)/(L + 1)   for all ρ_0 ∈ [−1, 1] and all L >= L₀.

The slope is that of the leading term (`theory.depth.depth_rate`): no smaller one would do in the first bound, no larger
one in the second. By the second, the rate `O(1/L)` reported in W (arXiv:2511.07272), section on depth, fails for every
pair of inputs. The proof is not W's, which has no explicit bound.

**Proof.** Let `v_L = 3π/θ_L >= 3` (for `θ_0 > 0`), `W(v) = v − 4a log v`, and write `T` for `T(θ)`.
Five inequalities in one variable hold for all `θ ∈ (0, π]`, with `α = 9/20`, `β = 3/4`, `K = 5/2`:

    (1)  3π/T − 3π/θ >= 1
    (2)  W(3π/T) − W(3π/θ) − 1 >= α (θ − T)
    (3)  W(3π/T) − W(3π/θ) − 1 <= β (θ − T)
    (4)  N(θ) >= 0
    (5)  N(θ) <= K (T − (1 − θ/π) θ),       N(θ) := G(T) − (1 − θ/π) G(θ) − cos T,   G(θ) := 3π/(4θ) − 1/8.

They are certified by balls in `Constants.failing`, by way of `numerics/layer_inequality.py`, which needs to be told the
order of the zero at `θ = 0`. By `theory.correlation.reciprocal_increment`, `1/T − 1/θ = 1/(3π) + θ/(6π²) + O(θ²)`. So

    3π/T − 3π/θ − 1        = θ/(2π) + O(θ²)                                order 1 in (1)
    W(3π/T) − W(3π/θ) − 1  = θ/(2π) + 4a log(T/θ) + O(θ²) = O(θ²)          order 2 in (2), (3); this fixes a
    N = (3π/T − 3π/θ)/4 + 3/4 − θ/(8π) − cos T
      = 1/4 + θ/(8π) + 3/4 − θ/(8π) − 1 + O(θ²) = O(θ²)                    order 2 in (4), (5)

as `log(T/θ) = −θ/(3π) + O(θ²)`; and `θ − T`, `T − (1 − θ/π) θ` are `O(θ²)`.

*Angles.* (1) gives `v_{L+1} >= v_L + 1`. Summing (2), (3) over the layers,

    W(v_L) = W(v_0) + L + κ_L,   α (θ_0 − θ_L) <= κ_L <= β (θ_0 − θ_L).

*Kernel.* Let `D_L = Θ^L − G(θ_L) = Θ^L − v_L/4 + 1/8`. The recursion reads `D_{L+1} = (1 − θ_L/π) D_L − N(θ_L)`.
- `D_L <= 0`, by (4) and induction from `D_0 = cos θ_0 + 1/8 − v_0/4 <= 0`: either `θ_0 <= π/2`, where `v_0 >= 6`, or
  `cos θ_0 <= 0`, where `v_0 >= 3`.
- `D_L >= −K θ_L` if `θ_0 >= π/2`, by (5) and induction from `D_0 >= −1 + 1/8 − 6/4 > −K π/2`.

Together, for all `θ_0 ∈ (0, π]` and `L >= 0`,

    (6)  (L + 1)(Θ̄^L − 1/4) = a log v_L − 3/8 + (W(v_0) + κ_L)/4 + D_L.

*Upper bound.* Let `X` be the maximum of `W(3π/θ) + βθ` on `[arccos(1 − δ), π]`. The function is convex, its second
derivative being `(3/(2θ²))(4π/θ − 1) > 0`, so that `X` is attained at an end. Hence `W(v_L) <= X + L`.
As `log V <= log c + V/c − 1`, for any number `c > 4a`

    V := (X + L₀ + 4a (log c − 1))/(1 − 4a/c)   has   W(V) >= X + L₀.

Raise `V` to `L₀ + 4a` if it is less. Then `v_L <= V L/L₀` for all `L >= L₀`: with
`r = V/L₀`, the function `L ↦ W(rL) − X − L` is at least 0 at `L₀`, its derivative `r − 1 − 4a/L` is at least 0 from
there on, and `W` increases on `[4a, ∞)`. By (6),

    (L + 1)(Θ̄^L − 1/4) <= a log L + U,   U = a log(V/L₀) + X/4 − 3/8.

*Lower bound.* First let `θ_0 ∈ [π/2, π]`. `W(3π/θ) + αθ` decreases on `(0, π]`, as its derivative is
`α − (3/(2θ))(2π/θ − 1) <= α − 3/(2π) < 0`. So `W(v_0) + αθ_0 >= W(3) + απ`. As `T <= π/2`, `v_1 >= 6` and
`v_L >= L + 5 >= L₀ + 5`, so that `θ_L <= θ* := 3π/(L₀ + 5)`. By (6),

    (L + 1)(Θ̄^L − 1/4) >= a log L − b,   b = 3/8 − (W(3) + α (π − θ*))/4 + K θ*.

Now let `θ_0 < π/2`. In `Θ^L = Σ_h cos θ_h ∏_{l=h}^{L−1} (1 − θ_l/π)` no angle exceeds `π/2`; all factors are at least 0
and decrease with `θ_0`, as `T` increases. So `Θ^L` is at least its value at `θ_0 = π/2`.

*Absolute value.* `B` is the larger of `U` and `b − 2a log L₀`; the latter makes `a log L + B >= b − a log L`. ∎
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb

from theory.errors import InvalidInput, Undecidable

from .balls import ball, exactly, precision
from .layer_inequality import BITS, Inequality, Layer, holds

DECIMALS = 10**6  # the offsets are rounded up to a multiple of its inverse


@dataclass(frozen=True)
class Constants:
    """The numbers in the inequalities (1) to (5): `slope` a, `slowest` α, `fastest` β, `defect` K."""

    slope: Fraction = Fraction(3, 8)
    slowest: Fraction = Fraction(9, 20)
    fastest: Fraction = Fraction(3, 4)
    defect: Fraction = Fraction(5, 2)

    def inequalities(self) -> Iterator[tuple[Inequality, int]]:
        """(1) to (5), each as a function that is nowhere to be negative, and the order of its zero at `θ = 0`."""
        alpha, beta, k = ball(self.slowest), ball(self.fastest), ball(self.defect)
        yield lambda layer: growth(layer) - 1, 1
        yield lambda layer: self.drift(layer) - alpha * turn(layer), 2
        yield lambda layer: beta * turn(layer) - self.drift(layer), 2
        yield defect, 2
        yield lambda layer: k * room(layer) - defect(layer), 2

    def drift(self, layer: Layer[Any]) -> Any:
        """`W(3π/T) − W(3π/θ) − 1`."""
        return growth(layer) + ball(4 * self.slope) * layer.logarithm - 1

    def failing(self) -> tuple[int, ...]:
        """The numbers of the inequalities that do not hold on all of `(0, π]`; raises `Undecidable` if it cannot tell.

        >>> Constants().failing(), Constants(slope=Fraction(3, 10)).failing()
        ((), (2, 3))
        """
        with precision(BITS):
            return tuple(
                i for i, (inequality, order) in enumerate(self.inequalities(), 1) if not holds(inequality, order)
            )


CONSTANTS = Constants()


def growth(layer: Layer[Any]) -> Any:
    """`3π/T − 3π/θ`: what a layer adds to the inverse angle `v`."""
    return 3 * arb.pi() * layer.loss * layer.inverse


def turn(layer: Layer[Any]) -> Any:
    """`θ − T`."""
    return layer.angle * layer.angle * layer.loss


def defect(layer: Layer[Any]) -> Any:
    """`N(θ) = G(T) − (1 − θ/π) G(θ) − cos T`: by how much `G` misses the recursion of the kernel."""
    return ball(Fraction(1, 4)) * growth(layer) + ball(Fraction(3, 4)) - 1 / (8 * arb.pi()) * layer.angle - layer.cosine


def room(layer: Layer[Any]) -> Any:
    """`T − (1 − θ/π) θ`."""
    return layer.angle * layer.angle * (1 / arb.pi() - layer.loss)


@dataclass(frozen=True)
class DepthBound:
    """`|Θ̄^L − 1/4| <= (slope log L + offset)/(L + 1)` for all `ρ_0 ∈ [−1, 1 − delta]` and all `L >= depth`.

    And `Θ̄^L − 1/4 >= (lower_slope log L − lower_offset)/(L + 1)` for all `ρ_0 ∈ [−1, 1]` and all `L >= depth`.
    """

    delta: Fraction
    depth: int
    slope: Fraction
    offset: Fraction
    lower_slope: Fraction
    lower_offset: Fraction

    def at(self, L: int) -> float:
        """The bound on `|Θ̄^L − 1/4|` at a depth `L >= depth`, rounded up.

        >>> depth_bound(Fraction(1, 10)).at(10**6) < 1e-5
        True
        """
        return self._line(L, self.slope, self.offset)

    def lower_at(self, L: int) -> float:
        """The lower bound on `Θ̄^L − 1/4` itself at a depth `L >= depth`, rounded down; for every `ρ_0 ∈ [−1, 1]`.

        >>> depth_bound(Fraction(1, 10)).lower_at(10**6) > 5e-6
        True
        """
        return -self._line(L, -self.lower_slope, self.lower_offset)

    def _line(self, L: int, slope: Fraction, offset: Fraction) -> float:
        """`(slope log L + offset)/(L + 1)`, rounded up."""
        _require_depth("L", L, self.depth)
        with precision(BITS):
            value = exactly(((ball(slope) * arb(L).log() + ball(offset)) / (L + 1)).upper())
        if value > Fraction(sys.float_info.max):
            return math.inf
        nearest = float(value)
        return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def depth_bound(delta: int | float | Fraction, depth: int = 100) -> DepthBound:
    """The theorem at the head of this module, for `0 < delta < 2` and all depths from `depth >= 1` on.

    `offset` grows like `3π/(4√(2 delta))`, as it must; a larger `depth` lowers it a little. Both offsets are rounded up
    to six decimals. Raises `InvalidInput` for other arguments, `Undecidable` if an inequality is not certified.

    >>> bound = depth_bound(Fraction(1, 10))
    >>> bound.slope, float(bound.offset), float(bound.lower_offset)
    (Fraction(3, 8), 3.874174, -0.081...)
    """
    exact = _exact_delta(delta)
    _require_depth("depth", depth, 1)
    _certify()
    with precision(BITS):
        upper, lower = _upper_offset(exact, depth), _lower_offset(depth)
        absolute = upper.max(lower - ball(2 * CONSTANTS.slope) * arb(depth).log())
        return DepthBound(exact, depth, CONSTANTS.slope, _rounded_up(absolute), CONSTANTS.slope, _rounded_up(lower))


@cache
def _certify() -> None:
    failing = CONSTANTS.failing()
    if failing:
        raise Undecidable("the bound on the deep kernel", f"the inequalities {failing} of its proof are not certified")


def _upper_offset(delta: Fraction, depth: int) -> arb:
    """`U` of the upper bound."""
    smallest = 2 * (ball(delta) / 2).sqrt().asin()  # arccos(1 − δ), without cancellation
    four_a = ball(4 * CONSTANTS.slope)
    start = _potential(smallest, CONSTANTS.fastest).max(_potential(arb.pi(), CONSTANTS.fastest))  # X
    inverse_angle = start + depth
    for _ in range(3):  # Newton's method: any `c` is right, the best is V itself
        inverse_angle = (start + depth + four_a * (inverse_angle.log() - 1)) / (1 - four_a / inverse_angle)
    inverse_angle = inverse_angle.max(depth + four_a)
    return ball(CONSTANTS.slope) * (inverse_angle / depth).log() + start / 4 - ball(Fraction(3, 8))


def _lower_offset(depth: int) -> arb:
    """`b` of the lower bound."""
    largest = 3 * arb.pi() / (depth + 5)  # θ*
    start = _potential(arb.pi(), CONSTANTS.slowest) - ball(CONSTANTS.slowest) * largest
    return ball(Fraction(3, 8)) - start / 4 + ball(CONSTANTS.defect) * largest


def _potential(angle: arb, drift: Fraction) -> arb:
    """`W(3π/θ) + drift · θ`."""
    inverse_angle = 3 * arb.pi() / angle
    return inverse_angle - ball(4 * CONSTANTS.slope) * inverse_angle.log() + ball(drift) * angle


def _rounded_up(x: arb) -> Fraction:
    return Fraction(math.ceil(exactly(x.upper()) * DECIMALS), DECIMALS)


def _exact_delta(delta: int | float | Fraction) -> Fraction:
    remedy = "give a number with 0 < delta < 2: the bound is for correlations up to 1 - delta"
    if isinstance(delta, bool) or not isinstance(delta, int | float | Fraction) or not 0 < delta < 2:
        raise InvalidInput("delta", delta, remedy)
    return Fraction(delta)


def _require_depth(name: str, depth: int, least: int) -> None:
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < least:
        raise InvalidInput(name, depth, f"give an integer >= {least}")
