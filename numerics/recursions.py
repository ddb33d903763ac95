r"""The kernels of a block of pairs, layer by layer.

A pair `(x, x')` enters with its angle and squared norms. With `Kˡ = Σˡ + σ_b²`, the covariance of the preactivations of
layer `l + 1`, so `K⁰ = σ_w² x·x' + σ_b²`, for `l = 1..L`

    Kˡ = σ_w² c_φ E[φ(u)φ(v)] + σ_b²,   Σ̇ˡ = σ_w² c_φ E[φ'(u)φ'(v)],   (u, v) ~ N(0, Kˡ⁻¹),
    Θˡ = Θˡ⁻¹ Σ̇ˡ + α_l Kˡ + γ_l,        Θ⁰ = α_0 K⁰ + γ_0,

where `α_l Kˡ + γ_l` is what the parameters of layer `l + 1` contribute on their own: `α = 1, γ = 0` in the NTK
parametrisation. `p_l`, `q_l` are `Kˡ(x, x)` and `Kˡ(x', x')`.

For a homogeneous activation, `φ(s) = a s + b|s|`, the angle θ_l of `Kˡ` is iterated instead of the covariance. With
`λ = b²/(a² + b²) ∈ [0, 1]`, `t = sin²(θ_{l−1}/2)` and `δ = 2λθ_{l−1}/π`,

    Σ̇ˡ = σ_w² (1 − δ),    sin²(θ_l/2) = t − (λ/π)(sin θ_{l−1} − θ_{l−1} cos θ_{l−1})    (σ_b = 0),

which keeps the relative accuracy of small angles. So does the kernel's deficit `R` from its value at angle 0,

    Θˡ = Dˡ − Rˡ,    Rˡ = σ_w² (Rˡ⁻¹ + (Dˡ⁻¹ − Rˡ⁻¹) δ) + 2 α_l √(p_l q_l) sin²(θ_l/2),

sums of terms that are never negative for `α_l, Dˡ⁻¹ − Rˡ⁻¹ >= 0`; equal points have `R = 0` exactly.

Source: Jacot, Gabriel, Hongler (2018), theorem 1; the form in angles and deficits is derived here.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from theory.activations import Activation
from theory.errors import InvalidInput

from .activations import dual, homogeneous_slopes
from .mehler import geometric_mean

Array = NDArray[np.float64]

# the first term left out is below 3e-17 of the sum, at π/2
SINE_MINUS = [(-1) ** (k + 1) * 2 * k / math.factorial(2 * k + 1) for k in range(1, 11)]


@dataclass(frozen=True)
class Recursion:
    """An infinitely wide network: `slopes` are `α_0..α_L`, `offsets` are `γ_0..γ_L`, so their number is `L + 1`.

    This one serves every activation, through its dual pair. In the methods `square` and `square2` are `‖x‖²` and
    `‖x'‖²`, of shapes that broadcast to that of `angle`. They raise `InvalidInput` if a variance overflows.
    """

    activation: Activation
    slopes: tuple[float, ...]
    offsets: tuple[float, ...]
    weight_variance: float = 1.0
    bias_variance: float = 0.0

    @property
    def depth(self) -> int:
        """`L`."""
        return len(self.slopes) - 1

    def steps(self, angle: Array, square: Array, square2: Array) -> Iterator[tuple[Array, Array]]:
        """`(Kˡ, Σ̇ˡ)` for `l = 0..L`; `Σ̇⁰`, which no formula uses, is 0."""
        p, q = self._affine(square), self._affine(square2)
        cosine = 1 - 2 * np.square(np.sin(angle / 2))
        covariance = self._affine(geometric_mean(square, square2) * cosine)
        yield covariance, np.zeros_like(covariance)
        for layer in range(1, self.depth + 1):
            largest = geometric_mean(p, q)  # rounding, that a chaotic activation amplifies, may have passed it
            try:
                value, derivative = dual(self.activation, p, q, np.clip(covariance, -largest, largest))
                p, q = (self._affine(dual(self.activation, own, own, own)[0]) for own in (p, q))
            except InvalidInput as overflow:
                remedy = f"a variance overflows in layer {layer}: give points nearer to norm 1, or less depth"
                raise InvalidInput("X", f"points of norm {math.sqrt(np.max(square)):.6g}", remedy) from overflow
            covariance = self._affine(value)
            yield covariance, self.weight_variance * derivative

    def nngp(self, angle: Array, square: Array, square2: Array) -> Array:
        """`K^L`, in the shape of `angle`."""
        [(covariance, _)] = deque(self.steps(angle, square, square2), maxlen=1)
        return covariance

    def ntk(self, angle: Array, square: Array, square2: Array) -> Array:
        """`Θ^L`, in the shape of `angle`."""
        theta = np.zeros_like(angle)
        steps = self.steps(angle, square, square2)
        for slope, offset, (covariance, derivative) in zip(self.slopes, self.offsets, steps, strict=True):
            theta = theta * derivative + (slope * covariance + offset)
        return theta

    def ntk_layers(self, angle: Array, square: Array, square2: Array) -> Array:
        """`(α_h Kʰ + γ_h) Σ̇^{h+1} ⋯ Σ̇^L`, `h = 0..L`, whose sum is `Θ^L`: shape `(L + 1, *angle.shape)`."""
        covariances, derivatives = zip(*self.steps(angle, square, square2), strict=True)
        own = zip(self.slopes, self.offsets, covariances, strict=True)
        terms = np.stack([slope * covariance + offset for slope, offset, covariance in own])
        above = np.ones_like(angle)
        for h in reversed(range(self.depth)):
            above *= derivatives[h + 1]
            terms[h] *= above
        return terms

    def angle_scale(self, square: float) -> float:
        """The angle over which the kernels on the sphere of radius `√square` change, if they change abruptly."""
        expansion = 1.0
        for _, derivative in self.steps(np.zeros(1), np.full(1, square), np.full(1, square)):
            expansion *= max(1.0, float(derivative[0]))
        return math.pi / (self.depth + 1) / math.sqrt(expansion)

    def _affine(self, moment: Array) -> Array:
        return self.weight_variance * moment + self.bias_variance


class HomogeneousRecursion(Recursion):
    """The same for `φ(s) = a s + b|s|`, in angles."""

    @cached_property
    def parts(self) -> tuple[float, float]:
        """`1 − λ` and `λ`."""
        a, b = homogeneous_slopes(self.activation)
        return a * a / (a * a + b * b), b * b / (a * a + b * b)

    def flow(self, angle: Array, square: Array, square2: Array) -> Iterator[tuple[Array, Array, Array]]:
        """`√(p_l q_l)`, `sin²(θ_l/2)` and the `δ` of `Σ̇ˡ`, for `l = 0..L`; `δ` is 0 at `l = 0`."""
        p, q, loss = square, square2, np.zeros_like(angle)
        half_chord, half_cochord = np.square(np.sin(angle / 2)), np.square(np.cos(angle / 2))
        for layer in range(self.depth + 1):
            if layer > 0:
                loss = 2 / math.pi * self.parts[1] * angle
                half_chord, half_cochord = _activated(angle, *self.parts)
            p, q = self.weight_variance * p, self.weight_variance * q
            if self.bias_variance > 0:
                half_chord, half_cochord = _biased(half_chord, half_cochord, p, q, self.bias_variance)
                p, q = p + self.bias_variance, q + self.bias_variance
            angle = 2 * np.arctan2(np.sqrt(half_chord), np.sqrt(half_cochord))
            yield geometric_mean(p, q), half_chord, loss

    def steps(self, angle: Array, square: Array, square2: Array) -> Iterator[tuple[Array, Array]]:
        for scale, half_chord, loss in self.flow(angle, square, square2):
            yield scale * (1 - 2 * half_chord), self.weight_variance * (1 - loss)

    def ntk(self, angle: Array, square: Array, square2: Array) -> Array:
        aligned, deficit = np.zeros_like(square * square2), np.zeros_like(angle)
        flow = self.flow(angle, square, square2)
        for slope, offset, (scale, half_chord, loss) in zip(self.slopes, self.offsets, flow, strict=True):
            deficit = self.weight_variance * (deficit + (aligned - deficit) * loss) + 2 * slope * scale * half_chord
            aligned = self.weight_variance * aligned + slope * scale + offset
        return aligned - deficit

    def angle_scale(self, square: float) -> float:
        return 3 * math.pi / (2 * self.parts[1] * self.depth) if self.parts[1] * self.depth > 0 else math.pi


def _activated(angle: Array, straight: float, kinked: float) -> tuple[Array, Array]:
    """`sin²(θ'/2)` and `cos²(θ'/2)` of the angle θ' after the activation, `straight = 1 − λ` and `kinked = λ`.

    Obtuse angles are measured from π, so that nothing cancels for λ near 1 either.
    """
    obtuse = angle > math.pi / 2
    acute = np.where(obtuse, math.pi - angle, angle)
    half_chord, lift = np.square(np.sin(acute / 2)), kinked / math.pi * _sine_minus(acute)
    nearer = np.where(obtuse, straight + (2 * kinked - 1) * half_chord - lift, half_chord - lift).clip(0.0, 1.0)
    return nearer, np.where(obtuse, kinked + (1 - 2 * kinked) * half_chord + lift, 1 - nearer)


def _sine_minus(angle: Array) -> Array:
    """`sin θ − θ cos θ = Σ_{k>=1} (−1)^{k+1} 2k θ^{2k+1}/(2k+1)!`, to full relative accuracy on [0, π/2]."""
    square = np.square(angle)
    series = np.full_like(angle, SINE_MINUS[-1])
    for coefficient in SINE_MINUS[-2::-1]:
        series *= square
        series += coefficient
    return series * square * angle


def _biased(half_chord: Array, half_cochord: Array, p: Array, q: Array, bias: float) -> tuple[Array, Array]:
    """`sin²(θ'/2)` and `cos²(θ'/2)` after a variance `bias` is added to variances `p, q` and to their covariance.

    The distance `p + q − 2c` stays: it is split into what differs in the norms and in the angle, and divided anew.
    """
    mean, mean_after = geometric_mean(p, q), geometric_mean(p + bias, q + bias)
    gain = bias * (p + q + bias) / (mean + mean_after)  # of the geometric mean
    norms, norms_after = np.sqrt(p) + np.sqrt(q), np.sqrt(p + bias) + np.sqrt(q + bias)
    apart = np.square((p - q) / np.where(norms > 0, norms, 1.0)) * (2 * bias + 2 * gain) / np.square(norms_after)
    after = (apart + 4 * mean * half_chord) / (4 * mean_after)
    return after.clip(0.0, 1.0), (gain + bias + 2 * mean * half_cochord) / (2 * mean_after)
