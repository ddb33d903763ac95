r"""ReLU kernels of deep networks on the sphere, to any number of digits, at depths up to ten million.

For two unit vectors of correlation `ρ = x·x' ∈ [−1, 1]`, with `θ_l ∈ [0, π]` the angle after `l` hidden layers,

    θ_0 = arccos ρ,    θ_{l+1} = T(θ_l),    T(θ) = arccos((sin θ + (π − θ) cos θ) / π),
    Σ^L = cos θ_L,     Θ^0 = ρ,             Θ^{l+1} = Θ^l (1 − θ_l/π) + cos θ_{l+1},     Θ̄^L = Θ^L / (L + 1).

Source: Cho and Saul (2009) for `T`; Jacot, Gabriel, Hongler (2018) for `Θ`.

**Why the balls stay small.** A recursion of balls in `ρ` multiplies its radius in each layer: from 0.3, at 53 bits, it
is NaN after 36. The angle is kinder: `0 <= T' <= 1`. For `T'(θ) = (1 − θ/π) sin θ / sin T(θ)`, and

    G(θ) = π² (sin² T − (1 − θ/π)² sin² θ) = θ(2π − θ) − sin² θ − (π − θ) sin 2θ

has `G(0) = 0` and `G'(θ) = 2(π − θ)(1 − cos 2θ) >= 0` on `[0, π]`. (From π to 4, `G >= π² − 2(θ − π)² > 0`, so a ball
that reaches a little over π does no harm.) So a layer maps only the midpoint by `T`, carries the radius over unchanged
and adds the rounding of one evaluation: `n` layers lose about `log2 n` bits.

**Near the diagonal**, `T` comes from `sin²(T/2) = sin²(θ/2) − (sin θ − θ cos θ)/(2π)`, which has the relative accuracy
that `arccos` lacks; for tiny angles `sin θ − θ cos θ = Σ_{k>=1} (−1)^{k+1} 2k θ^{2k+1}/(2k+1)!` is summed.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from numbers import Integral, Rational
from typing import Any, NamedTuple

from flint import arb, ctx

from theory.errors import InvalidInput, LimesWarning

from .balls import ball, precision
from .certify import DEFAULT_DIGITS, Value, certify

LARGEST_DEPTH = 10**7
TINY = 2.0**-24  # below this angle, sin θ − θ cos θ is summed as a series


class Layer(NamedTuple):
    """Balls after `l` layers: the angle, its cosine `Σ^l`, the kernel `Θ^l = ρ · decay + rest`."""

    angle: arb
    cosine: arb
    decay: arb
    rest: arb


def relu_nngp(rho: Any, depth: Any, digits: int = DEFAULT_DIGITS) -> Value:
    """`Σ^L(ρ)` with `digits` right digits; `depth` is `L`. Arguments and errors as for `relu_ntk`.

    >>> print(relu_nngp(0, 1), relu_nngp(1, 1000))
    0.318309886183791 1
    """
    return _certified("relu-nngp", rho, depth, digits)


def relu_ntk(rho: Any, depth: Any, digits: int = DEFAULT_DIGITS) -> Value:
    """`Θ^L(ρ)` with `digits` right digits, for exact `rho` in `[−1, 1]` and `0 <= depth <= 10^7`.

    `rho` is an int, a Fraction, a SymPy constant, or a float, which is the double it is; a float one unit in the last
    place outside `[−1, 1]` is taken as ±1 with a `LimesWarning`. Raises `InvalidInput` for anything else outside.

    >>> print(relu_ntk(Fraction(3, 10), 2, digits=30), relu_ntk(1, 64))
    1.03460129961284330996005376407 65
    """
    return _certified("relu-ntk", rho, depth, digits)


def relu_ntk_normalised(rho: Any, depth: Any, digits: int = DEFAULT_DIGITS) -> Value:
    """`Θ̄^L(ρ) = Θ^L(ρ)/(L + 1)` with `digits` right digits. Arguments and errors as for `relu_ntk`.

    >>> print(relu_ntk_normalised(-1, 1000))
    0.253040381078148
    """
    return _certified("relu-ntk-normalised", rho, depth, digits)


@dataclass(frozen=True)
class Orbit:
    """For every starting angle of an interval, `lower <= θ_l <= upper` and `lower <= Θ^l <= upper`, `l = 0..depth`."""

    angles: list[tuple[arb, arb]]
    kernels: list[tuple[arb, arb]]


def orbit(lower: Any, upper: Any, depth: int, bits: int = 128) -> Orbit:
    """Bounds of `θ_l` and `Θ^l`, `l <= depth`, for all `θ_0` in `[lower, upper] ⊂ [0, π]`, at `bits` bits.

    `lower` and `upper` are exact numbers, or balls that contain the ends (`arb.pi()`). Only the two ends are followed:
    `T` is increasing, so `θ_l` is too. In `Θ^l = ρ P + R`, with `P = ∏_{k<l} (1 − θ_k/π)` and
    `R = Σ_{1<=h<=l} cos θ_h ∏_{h<=k<l} (1 − θ_k/π)`, all factors are non-negative (`θ_h <= π/2` for `h >= 1`) and
    decrease with `θ_0`, so `P` and `R` do; where `ρ` is negative, `ρ P` is bounded by the ends of `ρ` and `P` apart.

    >>> float(orbit(0, 1, depth=3).angles[3][1]) < 0.8
    True
    """
    depth = _depth(depth)
    with precision(bits):
        low, high = (end if isinstance(end, arb) else ball(end) for end in (lower, upper))
        if not (low.lower() >= 0 and high.lower() <= arb.pi() and low.lower() <= high.upper()):
            raise InvalidInput("lower, upper", (lower, upper), "give 0 <= lower <= upper <= pi")
        angles, kernels = [], []
        for near, far in zip(layers(low, low.cos(), depth), layers(high, high.cos(), depth), strict=True):
            angles.append((near.angle.lower(), far.angle.upper()))
            least, most = high.cos(), low.cos()
            kernel_low = least * (far if least >= 0 else near).decay + far.rest
            kernel_high = most * (near if most >= 0 else far).decay + near.rest
            kernels.append((kernel_low.lower(), kernel_high.upper()))
    return Orbit(angles, kernels)


def layers(angle: arb, cosine: arb, depth: int) -> Iterator[Layer]:
    """The layers `0..depth` from a ball of starting angles and one of their cosines, at the working precision."""
    pi = arb.pi()
    decay, rest = arb(1), arb(0)
    yield Layer(angle, cosine, decay, rest)
    for _ in range(depth):
        middle = angle.mid()
        spread = angle - middle  # [0 ± radius]: carried over, since 0 <= T' <= 1 and |cos'| <= 1
        factor = 1 - angle / pi
        square = _half_sine_squared(middle, pi)
        angle = 2 * square.sqrt().asin() + spread
        cosine = 1 - 2 * square + spread
        decay, rest = decay * factor, rest * factor + cosine
        yield Layer(angle, cosine, decay, rest)


def _half_sine_squared(angle: arb, pi: arb) -> arb:
    """`sin²(T(θ)/2)` for an exact angle."""
    sine, cosine = (angle / 2).sin_cos()
    square = sine * sine
    difference = 2 * sine * cosine - angle * (1 - 2 * square) if angle > TINY else _series(angle)
    return square - difference / (2 * pi)


def _series(angle: arb) -> arb:
    """`sin θ − θ cos θ` for a small exact angle: an alternating series of decreasing terms."""
    term = total = angle**3 / 3
    k = 1
    while abs(term) > total * arb(2) ** -ctx.prec:
        term = -term * angle * angle / (2 * k * (2 * k + 3))
        total, k = total + term, k + 1
    return total + arb(0, abs(term).upper())


def _certified(name: str, rho: Any, depth: Any, digits: int) -> Value:
    at = {"rho": _correlation(rho), "L": _depth(depth)}
    return certify(lambda: ALGORITHMS[name](at, ctx.prec), digits, subject=f"{name} at rho = {rho}, L = {depth}")


def _enclosed(quantity: Callable[[arb, Layer, int], arb], at: Mapping[str, Any], bits: int) -> arb:
    """The quantity at `rho` and `L`, with about `bits` right bits where it is not near zero."""
    rho, depth = _correlation(at["rho"]), _depth(at["L"])
    with precision(bits + 2 * depth.bit_length() + 32):
        if rho == 1:
            return quantity(arb(1), Layer(arb(0), arb(1), arb(1), arb(depth)), depth)
        steps = depth
        if rho == -1 and depth > 0:  # exactly: θ_1 = π/2 and Θ^1 = 0, as if the first layer had been given ρ = 0
            rho, steps = Fraction(0), depth - 1
        correlation, angle = _start(rho)
        last = deque(layers(angle, correlation, steps), maxlen=1)[0]
        return quantity(correlation, last, depth)


ALGORITHMS: dict[str, Callable[[Mapping[str, Any], int], arb]] = {
    "relu-nngp": partial(_enclosed, lambda correlation, last, depth: last.cosine),
    "relu-ntk": partial(_enclosed, lambda correlation, last, depth: correlation * last.decay + last.rest),
    "relu-ntk-normalised": partial(
        _enclosed, lambda correlation, last, depth: (correlation * last.decay + last.rest) / (depth + 1)
    ),
}
"""By the name of the formula: `(at, bits)` to a ball, `at` giving exact `rho` and `L`."""


def _start(rho: Any) -> tuple[arb, arb]:
    """Balls of `ρ` and of `θ_0`, the latter accurate also near 0 and π."""
    if isinstance(rho, Fraction):
        correlation, below, above = ball(rho), ball(1 - rho), ball(1 + rho)
    else:
        from .evaluate import enclose  # SymPy, only for those who bring it

        correlation, below, above = enclose(rho, {}), enclose(1 - rho, {}), enclose(1 + rho, {})
    if correlation > 0:
        return correlation, 2 * (below / 2).sqrt().asin()
    return correlation, arb.pi() - 2 * (above / 2).sqrt().asin()


def _correlation(rho: Any) -> Any:
    """`rho` as a Fraction, or as it is if it is an irrational SymPy constant; certainly in `[−1, 1]`."""
    if isinstance(rho, float) and math.isfinite(rho) and 1 < abs(rho) <= math.nextafter(1, 2):
        warnings.warn(
            f"rho = {rho!r} is one unit in the last place outside [-1, 1]; taken as {rho:.0f}", LimesWarning, 3
        )
        return Fraction(round(rho))
    if (isinstance(rho, float) and math.isfinite(rho)) or (isinstance(rho, Rational) and not isinstance(rho, bool)):
        exact = Fraction(rho) if isinstance(rho, float) else Fraction(int(rho.numerator), int(rho.denominator))
        if abs(exact) > 1:
            raise InvalidInput("rho", rho, "a correlation lies in [-1, 1]")
        return exact
    if not hasattr(rho, "free_symbols"):
        raise InvalidInput("rho", rho, "give a number in [-1, 1]: int, Fraction, float or a SymPy constant")
    from .evaluate import evaluate
    from .exact import exact_number

    exact_number("rho", rho)  # refuses what is not a finite real number
    for edge in (1, -1):
        remaining: Any = 1 - edge * rho
        distance = evaluate(remaining, digits=1)
        if distance.value == "0":
            return Fraction(edge)
        if distance.ball < 0:
            raise InvalidInput("rho", str(rho), "a correlation lies in [-1, 1]")
    return rho


def _depth(depth: Any) -> int:
    if isinstance(depth, bool) or not isinstance(depth, Integral) or not 0 <= int(depth) <= LARGEST_DEPTH:
        raise InvalidInput("L", depth, f"a depth is an integer from 0 to {LARGEST_DEPTH}")
    return int(depth)
