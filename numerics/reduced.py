r"""Gradient descent of two- and three-layer linear networks without their matrices, to rounding the same losses.

The network of `numerics/linear_networks.py` with Haar initial weights, `d = h`, `XᵀX = nI` and no noise; rates
`η_1, η_2 >= 0`. "Signal" drops what is in braces.

**Two layers.** Let `Z = W_1(0)ᵀ (√h β) W_2(0)ᵀ`, a Haar matrix. Then `W_1 = W_1(0) a(Z)`, `W_2 = b(Z) W_2(0)` in every
step, `a` and `b` real Laurent polynomials, and all these commute. So they are diagonal together: at each eigenvalue
`z = e^{iθ}` of `Z`, where `Zᵀ` is `z̄`,

    a ← a − (η_1/h) e b̄,    b ← b − (η_2/h) ā e,    e = {ab/h} − z/√h,    a = b = 1 at first,

and the test loss is `Σ |ab/h − z/√h|²` over the `h` eigenvalues; those at `z̄` are the conjugates.

**Three layers.** Let `r = W_1(0)ᵀβ`, `c = W_2(0) a`, and `W_1 = W_1(0) A`, `W_2 a = v`; at first `A = I`, `v = c`. Then

    A ← A − (η_1/√h) e vᵀ,    v ← v − (η_2/√h) ‖a‖² Aᵀe,    e = {Av/√h} − r,

so that `A − I` and `v` stay in the span of `r` and `c`: 2×2 matrices and 2-vectors, whatever `h`. The test loss is
`‖Av/√h − r‖²`. It depends on `‖a‖`, `‖β‖` and the overlap `τ = ⟨r, c⟩/(‖a‖ ‖β‖)`, the first coordinate of a uniform
unit vector in R^h.

The training loss is half the test loss, since the inputs are whitened.

Source: the algebra is ours; the setting is that of arXiv:2606.00340.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.errors import InvalidInput
from theory.layerwise_options import Updates, Vectors

from .data import Array, as_integer
from .descent import Evaluation, squared_norm
from .haar_sampling import haar_eigenangles
from .linear_networks import Draw

ORTHOGONAL = 1e-10  # how far from orthogonal a matrix may be that is read as orthogonal


@dataclass(frozen=True, eq=False)
class TwoLayers:
    """Runs by the eigen-angles of `Z`: `angles` in [0, π], `counts` of eigenvalues `e^{±iθ}`; both `(batch, k)`.

    The counts of a run add up to `width`, but need not be integers: they may be those of an expectation.
    """

    width: int
    angles: Array
    counts: Array

    @classmethod
    def sample(cls, rng: np.random.Generator, width: int, batch: int = 1) -> TwoLayers:
        """Independent runs. Raises `InvalidInput` for sizes that are no positive integers."""
        h = as_integer("width", width, 1)
        return cls(h, *haar_eigenangles(rng, batch, h))

    @classmethod
    def of(cls, draw: Draw) -> TwoLayers:
        """The runs of a draw of matrices. Raises `InvalidInput` if they are not of the kind described in the module."""
        if draw.readout is not None or len(draw.weights) != 2:
            raise InvalidInput("draw", f"{len(draw.weights)} trained layers", "give two layers without a readout")
        first, second = draw.weights
        width = first.shape[2]
        _refuse_unreduced(draw)
        Z = first.swapaxes(1, 2) @ (math.sqrt(width) * draw.target) @ second.swapaxes(1, 2)
        _refuse_skew("target * sqrt(h)", Z)
        z = np.linalg.eigvals(Z)
        return cls(width, np.abs(np.angle(z)), np.ones(z.shape))

    @classmethod
    def expectation(cls, width: int, nodes: int = 4096) -> TwoLayers:
        """One run whose test loss is the expected one, by the density of the eigenvalues alone.

        For Haar `Z`, `E tr Z^k` is `h` for `k = 0`, otherwise 1 for even `k` and 0 for odd. So for a Laurent polynomial
        `p` with `p(z̄) = p(z)`, `E tr p(Z) = (h − 1) ∫ p dθ/2π + (p(1) + p(−1))/2`, and the midpoint rule with `nodes`
        nodes on the half circle gives the integral exactly if `p` has degree less than `2 nodes`; beyond, its error
        falls geometrically. Only rates that do not depend on the run commute with the expectation.

        >>> from numerics.descent import Fixed, descend
        >>> run = descend(TwoLayers.expectation(3), Fixed((0.0, 0.0)), steps=0)
        >>> round(float(run.test_loss[0, 0]), 12) == round(1 + 1 / 3, 12)
        True
        """
        h, nodes = as_integer("width", width, 1), as_integer("nodes", nodes, 1)
        inside = (np.arange(nodes) + 0.5) * (math.pi / nodes)
        angles = np.concatenate([[0.0], inside, [math.pi]])
        counts = np.concatenate([[0.5], np.full(nodes, (h - 1) / nodes), [0.5]])
        return cls(h, angles[None], counts[None])

    @property
    def weights(self) -> tuple[NDArray[np.complex128], ...]:
        """`a` and `b`, before the first step, at each eigenvalue."""
        return np.ones(self.angles.shape, dtype=complex), np.ones(self.angles.shape, dtype=complex)

    @cached_property
    def _wanted(self) -> NDArray[np.complex128]:
        """`z/√h`."""
        return np.asarray(np.exp(1j * self.angles) / math.sqrt(self.width), dtype=np.complex128)

    def evaluate(self, weights: Sequence[NDArray[np.complex128]]) -> Evaluation:
        """Losses, and `(e b̄, ā e)/h`, at `weights = (a, b)`."""
        a, b = weights
        wanted = self._wanted
        error = a * b
        error /= self.width
        error -= wanted
        test_loss = np.einsum("bk,bk->b", self.counts, error.real**2 + error.imag**2)

        def gradients(updates: Updates) -> tuple[NDArray[Any], NDArray[Any]]:
            residual = (-wanted if updates is Updates.SIGNAL else error) / self.width
            return residual * b.conj(), a.conj() * residual

        return Evaluation(test_loss, test_loss / 2, gradients)

    def norms(self, weights: Sequence[NDArray[np.complex128]]) -> list[Array]:
        """`‖W_i‖_F`, each `(batch,)`. Raises `InvalidInput` for the run of `expectation`, which has no matrices."""
        if np.any(self.counts % 1):
            raise InvalidInput("schedule", "norms of an expectation", "give constant rates, or sampled runs")
        return [np.sqrt(np.einsum("bk,bk->b", self.counts, np.abs(layer) ** 2)) for layer in weights]


@dataclass(frozen=True, eq=False)
class ThreeLayers:
    """Runs by `overlap`, `τ` in [−1, 1], `readout_norm`, `‖a‖`, and `target_norm`, `‖β‖`; all `(batch,)`."""

    width: int
    overlap: Array
    readout_norm: Array
    target_norm: Array

    @classmethod
    def sample(
        cls, rng: np.random.Generator, width: int, batch: int = 1, *, vectors: Vectors = Vectors.UNIT
    ) -> ThreeLayers:
        """Independent runs. Raises `InvalidInput` for sizes that are no positive integers, or no `Vectors`."""
        h, batch = as_integer("width", width, 1), as_integer("batch", batch, 1)
        if not isinstance(vectors, Vectors):
            raise InvalidInput("vectors", vectors, "give Vectors.UNIT or Vectors.GAUSSIAN")
        along = rng.standard_normal(batch)
        across = rng.chisquare(h - 1, batch) if h > 1 else np.zeros(batch)
        overlap = along / np.sqrt(along**2 + across)
        if vectors is Vectors.UNIT:
            return cls(h, overlap, np.ones(batch), np.ones(batch))
        norms = np.sqrt(rng.chisquare(h, (2, batch)) / h)
        return cls(h, overlap, norms[0], norms[1])

    @classmethod
    def of(cls, draw: Draw) -> ThreeLayers:
        """The runs of a draw of matrices. Raises `InvalidInput` if they are not of the kind described in the module."""
        if draw.readout is None or len(draw.weights) != 2:
            raise InvalidInput("draw", f"{len(draw.weights)} trained layers", "give two and a readout")
        _refuse_unreduced(draw)
        first, second = draw.weights
        r = (first.swapaxes(1, 2) @ draw.target)[:, :, 0]
        c = (second @ draw.readout)[:, :, 0]
        r_norm, c_norm = np.sqrt(squared_norm(r)), np.sqrt(squared_norm(c))
        return cls(first.shape[2], np.einsum("bi,bi->b", r, c) / (r_norm * c_norm), c_norm, r_norm)

    @property
    def weights(self) -> tuple[Array, Array]:
        """`A (batch, 2, 2)` and `v (batch, 2)` before the first step; the basis is `c/‖c‖` and what `r` adds to it."""
        batch = len(self.overlap)
        return np.tile(np.eye(2), (batch, 1, 1)), np.stack([self.readout_norm, np.zeros(batch)], axis=1)

    def evaluate(self, weights: Sequence[Array]) -> Evaluation:
        """Losses, and `(e vᵀ, ‖a‖² Aᵀe)/√h`, at `weights = (A, v)`."""
        A, v = weights
        across = np.sqrt((1 - self.overlap) * (1 + self.overlap))
        wanted = self.target_norm[:, None] * np.stack([self.overlap, across], axis=1)
        factor = 1 / math.sqrt(self.width)
        error = factor * np.einsum("bij,bj->bi", A, v) - wanted
        test_loss = squared_norm(error)

        def gradients(updates: Updates) -> tuple[Array, Array]:
            residual = factor * (-wanted if updates is Updates.SIGNAL else error)
            pulled = np.einsum("bij,bi->bj", A, residual)
            return residual[:, :, None] * v[:, None, :], (self.readout_norm**2)[:, None] * pulled

        return Evaluation(test_loss, test_loss / 2, gradients)

    def norms(self, weights: Sequence[Array]) -> list[Array]:
        """`‖W_i‖_F`, each `(batch,)`, from `X` and `s` in `A = I + X` and `W_2 = W_2(0) + s aᵀ`, for any `h >= 1`."""
        A, v = weights
        change = A - np.eye(2)
        first = self.width + 2 * np.einsum("bii->b", change) + squared_norm(change)
        _, start = self.weights
        # ⟨W_2(0), s aᵀ⟩ = ⟨c, s⟩ and ‖s aᵀ‖² = ‖s‖² ‖a‖²
        added = (v - start) / (self.readout_norm**2)[:, None]
        second = self.width + 2 * np.einsum("bi,bi->b", start, added) + squared_norm(added) * self.readout_norm**2
        return [np.sqrt(first), np.sqrt(second)]


def _refuse_unreduced(draw: Draw) -> None:
    if draw.inputs is not None or draw.label_noise is not None:
        raise InvalidInput("draw", "inputs or label noise", "only noise-free whitened inputs can be reduced")
    for index, weights in enumerate(draw.weights):
        if weights.shape[1] != weights.shape[2]:
            raise InvalidInput(f"weights[{index}].shape", weights.shape, "give square matrices: d = h")
        _refuse_skew(f"weights[{index}]", weights)


def _refuse_skew(argument: str, matrices: Array) -> None:
    excess = np.abs(matrices.swapaxes(1, 2) @ matrices - np.eye(matrices.shape[2])).max()
    if not excess <= ORTHOGONAL:
        raise InvalidInput(
            argument, f"off orthogonality by {excess:.1e}", "give orthogonal initial weights and targets"
        )
