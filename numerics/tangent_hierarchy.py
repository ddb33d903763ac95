r"""What training does to `G = ⟨h(x), h(x')⟩` of an infinitely wide ReLU network, to second order: the limits, by layer.

The network is that of `theory/features.py`: `u^l = sqrt(2/m) W^l h^{l−1}`, `h^l = φ(u^l)`, `f = sqrt(2/m) v·h^L`. Along
the gradients of its outputs at the training points, `∇` with respect to all parameters,

    F_i = ∇G·∇f(x_i) = sqrt(2/m) v·(A_ix h(x') + A_ix' h(x)),    F_ik = ∇F_i·∇f(x_k),    A_ab = J_a J_bᵀ  (m × m),

with `J_a` the Jacobian of `h^L(a)` by the hidden weights. As `m → ∞`, `F_i` is Gaussian, jointly with the outputs, and
`F_ik` tends to a number. These are made of five limits in every layer, for training points `i, k`, any point `z`, and
`a, b, d, w, y ∈ {x, x'}`; the derivatives are those of the `h^l`, by the hidden weights,

    S = lim (1/m) tr(A_ib A_kdᵀ),    B = lim (1/m) ⟨h_z, A_ib h_y⟩,    C = lim (1/m) ⟨A_ib h_y, A_kd h_w⟩,
    P = lim (1/m) Σ_pq h_q(y) ∇h_p(x_i)ᵀ ∇²h_q(a) ∇h_p(x_k),
    Q = lim (1/m) Σ_pq h_q(y) ∇h_q(a)ᵀ ∇²h_p(x_i) ∇h_p(x_k).

By the mean over `v`, with `x, x'` exchanged in a second term each,

    E[F_i F_k] = 2 C(x,x'; x,x') + …,  E[F_i f(z)] = 2 B(z; i; x, x') + …,
    F_ik = 2 (B(k; i; x, x') + Q(x, x') + P(x, x') + S(x, x')) + …

**From layer to layer.** With `W` of the layer, `Θ` the kernel `Θ^{l−1}` and a minus for the layer below,

    A_ab = φ'_a (Σ_ab + (2/m) W A⁻_ab Wᵀ) φ'_b.

Conditioning on `W h⁻` at the points (Stein's lemma; Yang, *Tensor Programs* III) makes `Wᵀ g/√m`, for a function `g` of
the preactivations, a new Gaussian vector plus `√2 Σ_a E[∂_a g] h⁻_a`, and `W r/√m` for `r = A⁻ Wᵀ g/√m` a new Gaussian
vector `ζ` plus `g tr(A⁻)/m`. Hence, by units, with `g_by = φ'_b φ_y` and `M` its mean derivatives, `E[∂_e g_by]`,

    A_ib h_y = φ'_i (Θ_ib g_by + 2 ζ_iby),    cov(ζ_iby, u_z) = 2 Σ_e M_bye B⁻(z; i; b, e),
    cov(ζ_iby, ζ_kdw) = E[g_by g_dw] S⁻(b, d) + 2 Σ_ef M_bye M_dwf C⁻(b, e; d, f),

from which `B` and `C` are moments of Gaussian variables over orthants (`numerics/orthant_moments.py`), and

    S = Θ_ib Θ_kd E[φ'_i φ'_b φ'_k φ'_d] + Σ̇_ik Σ̇_bd S⁻,
    P = Θ_ia Θ_ka E[φ_y δ_a φ'_i φ'_k] + 2 Σ̇_ik (E[φ_y δ_a] S⁻(a, a) + Σ_e M_aye P⁻(a, e)),
    Q = Θ_ik E[δ_i φ'_k (Θ_ia g_ay + 2 ζ_iay)] + 2 Σ̇_ik Σ_e M_aye (B⁻(k; i; a, e) + Q⁻(a, e)),

where `δ = φ''`. All five are zero for the inputs, `l = 0`. What a rank-one part of `Wᵀ…W` adds is smaller by `1/m`.

Status: limits and derivatives are exchanged without proof, kinks included; the test beside this module holds each of
the five against finite networks.

Source: beyond W (arXiv:2511.07272). The hierarchy is that of Huang, Yau (2019); `P` and `Q` are those of Roberts,
Yaida, Hanin, *The Principles of Deep Learning Theory*, chapter 11, for the features instead of the outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .features import Layer
from .orthant_moments import OrthantMoments

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

BLOCK = 2**16  # moments at a time


class Limits(NamedTuple):
    """The five limits of a layer for `n` training points and the pair `x, x'`, which are the indices 0 and 1 below.

    `S[b, d, i, k]`, `B[z, i, b, y]`, `C[b, y, d, w, i, k]`, `P[a, y, i, k]`, `Q[a, y, i, k]`; the points `z` are the
    training points, then those of the pair that are others.
    """

    S: Array
    B: Array
    C: Array
    P: Array
    Q: Array


class Gradients(NamedTuple):
    """The limits of `F`: `variance (n, n)` is `E[F_i F_k]`, `shared (n, n)` is `E[F_i f(x_z)]`.

    `F_ik` is `course + 2 both`, `(n, n)`; `both` is symmetric.
    """

    variance: Array
    shared: Array
    course: Array
    both: Array


def along_gradients(layers: Iterable[Layer], n: int, x: int, x2: int) -> Gradients:
    """The limits of `F` for the points `x` and `x2`, among those of the `layers`, of which the first `n` are trained.

    >>> equal = Layer(np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1)))  # one point: ∇|h|²·∇f = 2 f
    >>> along_gradients([equal], 1, 0, 0).shared
    array([[2.]])
    """
    S, B, C, P, Q = last_layer(layers, n, x, x2)
    readout = (B[:n, :, 0, 1] + B[:n, :, 1, 0]).T
    return Gradients(
        variance=2 * C[[0, 1], [1, 0]][:, [0, 1], [1, 0]].sum(axis=(0, 1)),
        shared=2 * readout,
        course=2 * (readout + Q[0, 1] + Q[1, 0]),
        both=P[0, 1] + P[1, 0] + S[0, 1] + S[1, 0],
    )


def last_layer(layers: Iterable[Layer], n: int, x: int, x2: int) -> Limits:
    """The five limits of the last of the `layers`; arguments as for `along_gradients`."""
    at = list(dict.fromkeys([*range(n), x, x2]))
    pair = np.array([at.index(x), at.index(x2)])
    found = Limits(*(np.zeros(shape) for shape in _shapes(n, len(at))))
    for layer in layers:
        complement, kernel, slope = (matrix[np.ix_(at, at)] for matrix in layer)
        found = _Step(OrthantMoments.of(complement), kernel, slope, n, pair, found).limits()
    return found


def _shapes(n: int, points: int) -> tuple[tuple[int, ...], ...]:
    """Those of `Limits`."""
    matrix = (2, 2, n, n)
    return matrix, (points, n, 2, 2), (2, 2, *matrix), matrix, matrix


@dataclass(frozen=True)
class _Step:
    """One layer: `kernel` is `Θ^{l−1}`, `slope` is `Σ̇^l`, `pair` are the indices of `x` and `x'` among the points."""

    moments: OrthantMoments
    kernel: Array
    slope: Array
    n: int
    pair: Indices
    below: Limits

    def limits(self) -> Limits:
        parts = (self._traces, self._products, self._squares, self._kinks_of_test, self._kinks_of_training)
        shapes = _shapes(self.n, len(self.kernel))
        return Limits(*(_in_blocks(part, shape) for part, shape in zip(parts, shapes, strict=True)))

    @cached_property
    def _turn(self) -> Array:
        """`E[φ_y δ_b]`, `(2, 2)`."""
        b, y = np.repeat(self.pair, 2), np.tile(self.pair, 2)
        return self.moments.edge(b, y, y[:, None]).reshape(2, 2)

    @cached_property
    def _gain(self) -> Array:
        """`M_bye`, `(2, 2, 2)`; for `b = y` the part of the edge is zero."""
        b, y = np.repeat(self.pair, 2), np.tile(self.pair, 2)
        both = self.moments.probability(np.stack([b, y], axis=1)).reshape(2, 2)
        unit = np.eye(2)
        return both[:, :, None] * unit[None] + self._turn[:, :, None] * unit[:, None]

    @cached_property
    def _wandering(self) -> Array:
        """`cov(ζ_iby, u_z)`, as `[z, i, b, y]`."""
        return 2 * np.einsum("bye,zibe->ziby", self._gain, self.below.B)

    def _with_points(self, points: Indices, i: Indices, b: Indices, y: Indices) -> Array:
        """`cov(ζ_iby, u_z)` for the points of each row."""
        return self._wandering[points, i[:, None], b[:, None], y[:, None]]

    @cached_property
    def _product(self) -> Array:
        """`cov(ζ_iby, ζ_kdw)`, as `[b, y, d, w, i, k]`."""
        b, y, d, w = (self.pair[index] for index in np.unravel_index(np.arange(16), (2, 2, 2, 2)))
        drawn = self.moments.second(y, w, np.stack([b, y, d, w], axis=1)).reshape(2, 2, 2, 2, 1, 1)
        through = np.einsum("bye,dwf,bedfik->bydwik", self._gain, self._gain, self.below.C)
        return drawn * self.below.S[:, None, :, None] + 2 * through

    def _with_wandering(self, z: Indices, i: Indices, b: Indices, y: Indices, orthant: Indices) -> Array:
        """`E[u_z ζ_iby 1_S]`."""
        of_z, of_zeta = self.moments.r[z[:, None], orthant], self._with_points(orthant, i, b, y)
        return self.moments.second_of(self._wandering[z, i, b, y], of_z, of_zeta, orthant)

    def _traces(self, b: Indices, d: Indices, i: Indices, k: Indices) -> Array:
        xb, xd = self.pair[b], self.pair[d]
        own = self.kernel[i, xb] * self.kernel[k, xd] * self.moments.probability(np.stack([xb, xd, i, k], axis=1))
        return own + self.slope[i, k] * self.slope[xb, xd] * self.below.S[b, d, i, k]

    def _products(self, z: Indices, i: Indices, b: Indices, y: Indices) -> Array:
        xb, xy = self.pair[b], self.pair[y]
        own = self.kernel[i, xb] * self.moments.second(z, xy, np.stack([z, i, xb, xy], axis=1))
        return own + 2 * self._with_wandering(z, i, b, y, np.stack([z, i], axis=1))

    def _squares(self, b: Indices, y: Indices, d: Indices, w: Indices, i: Indices, k: Indices) -> Array:
        xb, xy, xd, xw = (self.pair[index] for index in (b, y, d, w))
        edge, edge2 = self.kernel[i, xb], self.kernel[k, xd]
        total = edge * edge2 * self.moments.second(xy, xw, np.stack([i, k, xb, xy, xd, xw], axis=1))
        if not self._wandering.any():  # the first layer
            return total
        total += 2 * edge * self._with_wandering(xy, k, d, w, np.stack([i, k, xb, xy], axis=1))
        total += 2 * edge2 * self._with_wandering(xw, i, b, y, np.stack([i, k, xd, xw], axis=1))
        both = np.stack([i, k], axis=1)
        of_zeta, of_zeta2 = self._with_points(both, i, b, y), self._with_points(both, k, d, w)
        return total + 4 * self.moments.second_of(self._product[b, y, d, w, i, k], of_zeta, of_zeta2, both)

    def _kinks_of_test(self, a: Indices, y: Indices, i: Indices, k: Indices) -> Array:
        xa, xy = self.pair[a], self.pair[y]
        own = self.kernel[i, xa] * self.kernel[k, xa] * self.moments.edge(xa, xy, np.stack([xy, i, k], axis=1))
        through = self._turn[a, y] * self.below.S[a, a, i, k]
        through += (self._gain[a, y] * self.below.P[a, :, i, k]).sum(axis=1)
        return own + 2 * self.slope[i, k] * through

    def _kinks_of_training(self, a: Indices, y: Indices, i: Indices, k: Indices) -> Array:
        xa, xy = self.pair[a], self.pair[y]
        crossing = self.moments.edge(i, xy, np.stack([xa, xy, k], axis=1), own=(i == xa) & (i == k))
        of_zeta = self._with_points(k[:, None], i, a, y)
        wandering = self.moments.edge_of(i, self._wandering[i, i, a, y], of_zeta, k[:, None])
        own = self.kernel[i, k] * (self.kernel[i, xa] * crossing + 2 * wandering)
        through = (self._gain[a, y] * (self.below.B[k, i, a] + self.below.Q[a, :, i, k])).sum(axis=1)
        return own + 2 * self.slope[i, k] * through


def _in_blocks(part: Callable[..., Array], shape: tuple[int, ...]) -> Array:
    """An array of this shape, from a function of its flat indices."""
    size = math.prod(shape)
    starts = range(0, size, BLOCK)
    blocks = [part(*np.unravel_index(np.arange(start, min(start + BLOCK, size)), shape)) for start in starts]
    return np.concatenate(blocks).reshape(shape)
