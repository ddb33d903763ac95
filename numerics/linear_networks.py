r"""Deep linear networks trained by full-batch gradient descent, as matrices: no shortcut, many runs at once.

With width `h >= 1`, input dimension `d >= h`, `n >= d` samples and `k >= 2` layers, `W_1 ∈ R^{d×h}`, `W_i ∈ R^{h×h}`,

    k = 2:    f(x) = (1/h) xᵀ W_1 W_2 ∈ R^h,                         both layers trained,
    k >= 3:   f(x) = (1/√h) xᵀ W_1 ⋯ W_{k−1} a ∈ R,   a ∈ R^h,       the last layer `a` fixed.

Labels `y = Xβ + ξ` with `X ∈ R^{n×d}`, `ξ` iid N(0, ρ), `ρ >= 0`. Training loss `(1/2n) ‖f(X) − y‖_F²`, test loss
`E‖f(x) − xᵀβ‖²` over `x ~ N(0, I)`. With `P = c W_1 ⋯`, so that `f(x) = xᵀP`, the latter is `‖P − β‖_F²`, and the
gradients are `∂/∂W_i = c L_i R_iᵀ` with `L_i = (W_1 ⋯ W_{i−1})ᵀ E`, `R_i = W_{i+1} ⋯` and `E = Xᵀ(f(X) − y)/n`.

Laws, all independent:

    `Orthogonal(vectors)`   `W_i` Haar (of `W_1` the first `h` columns); `β = Q/√d`, `Q` the first `h` columns of a Haar
                            matrix (k = 2); `β`, `a` uniform unit vectors or iid N(0, 1/h), as `vectors` says (k >= 3).
    `Gaussian()`            `W_1` iid N(0, 1/d), the other `W_i` N(0, 1/h); `β` N(0, 1/d²) (k = 2); `β`, `a` N(0, 1/h).
    `Inputs`                `WHITENED`: `X = √n Q`, so `XᵀX = nI`.  `GAUSSIAN`: iid N(0, 1).

Source: *Balancing Learning Rates Across Layers*, arXiv:2606.00340, and its authors' scripts, whose networks with
`k = 4` and 8 are these. There `d = h = n`; where they differ, the scales are those of the scripts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theory.errors import InvalidInput
from theory.layerwise_options import Initialisation, Inputs, Orthogonal, Updates, Vectors

from .data import Array, as_integer
from .descent import Evaluation, as_nonnegative, squared_norm
from .haar_sampling import haar_orthogonal


@dataclass(frozen=True, kw_only=True)
class LinearNetwork:
    """The sizes and the laws of the module: `width` is `h`, `layers` is `k`, `noise` is `ρ`.

    `dimension` is `d`, by default `h`; `samples` is `n`, by default `d`.

    Raises `InvalidInput` for a size that is no integer or breaks `n >= d >= h >= 1`, `k >= 2`, and for a `noise` that
    is negative or not finite.

    >>> from numerics.descent import Uniform, descend
    >>> network = LinearNetwork(width=3, layers=2)
    >>> draw = network.sample(np.random.default_rng(0), batch=5)
    >>> run = descend(draw, Uniform(2.0), steps=2)
    >>> run.test_loss.shape, bool(run.diverged.any())
    ((5, 3), False)
    """

    width: int
    layers: int = 2
    dimension: int | None = None
    samples: int | None = None
    initialisation: Initialisation = field(default_factory=Orthogonal)
    inputs: Inputs = Inputs.WHITENED
    noise: float = 0.0

    def __post_init__(self) -> None:
        as_integer("width", self.width, 1)
        as_integer("layers", self.layers, 2)
        if as_integer("dimension", self.d, 1) < self.width:
            raise InvalidInput("dimension", self.d, f"give d >= h; the width h is {self.width}")
        if as_integer("samples", self.n, 1) < self.d:
            raise InvalidInput("samples", self.n, f"give n >= d; the input dimension d is {self.d}")
        if not isinstance(self.inputs, Inputs):
            raise InvalidInput("inputs", self.inputs, "give Inputs.WHITENED or Inputs.GAUSSIAN")
        if not isinstance(self.initialisation, Initialisation):
            raise InvalidInput("initialisation", self.initialisation, "give Orthogonal() or Gaussian()")
        object.__setattr__(self, "noise", as_nonnegative("noise", self.noise))

    @property
    def d(self) -> int:
        """The input dimension."""
        return self.width if self.dimension is None else self.dimension

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.d if self.samples is None else self.samples

    @property
    def outputs(self) -> int:
        """The dimension of `f(x)`."""
        return self.width if self.layers == 2 else 1

    def sample(self, rng: np.random.Generator, batch: int = 1, *, keep_inputs: bool = False) -> Draw:
        """Independent draws of weights, targets and data.

        Noise-free whitened inputs enter the losses through `XᵀX = nI` alone, and are drawn only if `keep_inputs`.
        Raises `InvalidInput` for a `batch` that is no positive integer, and an `rng` that is no generator.
        """
        batch = as_integer("batch", batch, 1)
        if not isinstance(rng, np.random.Generator):
            raise InvalidInput("rng", rng, "give a generator, as numpy.random.default_rng(0)")
        weights = tuple(self._weights(rng, batch, self.d if i == 0 else self.width) for i in range(self._trained))
        target, readout = self._target(rng, batch)
        inputs = noise = None
        if self.noise > 0 or self.inputs is Inputs.GAUSSIAN or keep_inputs:
            inputs = self._inputs(rng, batch)
        if self.noise > 0:
            noise = math.sqrt(self.noise) * rng.standard_normal((batch, self.n, self.outputs))
        return Draw(weights, target, readout, inputs, noise)

    @property
    def _trained(self) -> int:
        return max(2, self.layers - 1)

    def _weights(self, rng: np.random.Generator, batch: int, rows: int) -> Array:
        if isinstance(self.initialisation, Orthogonal):
            return haar_orthogonal(rng, batch, rows, self.width)
        return rng.standard_normal((batch, rows, self.width)) / math.sqrt(rows)

    def _target(self, rng: np.random.Generator, batch: int) -> tuple[Array, Array | None]:
        """`β (batch, d, o)` and `a (batch, h, 1)`, if there is one."""
        law = self.initialisation
        if self.layers == 2:
            if isinstance(law, Orthogonal):
                return haar_orthogonal(rng, batch, self.d, self.width) / math.sqrt(self.d), None
            return rng.standard_normal((batch, self.d, self.width)) / self.d, None
        target, readout = (rng.standard_normal((batch, size, 1)) for size in (self.d, self.width))
        for vector in (target, readout):
            unit = isinstance(law, Orthogonal) and law.vectors is Vectors.UNIT
            vector /= np.sqrt(squared_norm(vector))[:, None, None] if unit else math.sqrt(self.width)
        return target, readout

    def _inputs(self, rng: np.random.Generator, batch: int) -> Array:
        if self.inputs is Inputs.GAUSSIAN:
            return rng.standard_normal((batch, self.n, self.d))
        return math.sqrt(self.n) * haar_orthogonal(rng, batch, self.n, self.d)


@dataclass(frozen=True, eq=False)
class Draw:
    """Runs ready to be trained: all arrays float64 with a leading batch axis.

    `weights` are `W_1 (batch, d, h)`, `W_2 (batch, h, h)`, …; `target` is `β (batch, d, o)`; `readout` is `a` as
    `(batch, h, 1)`, None for two layers; `inputs` is `X (batch, n, d)`, None for any with `XᵀX = nI`; `label_noise` is
    `ξ (batch, n, o)`, None without noise.
    """

    weights: tuple[Array, ...]
    target: Array
    readout: Array | None = None
    inputs: Array | None = None
    label_noise: Array | None = None

    @property
    def factor(self) -> float:
        """`c` of the module."""
        width = self.weights[0].shape[2]
        return 1 / width if self.readout is None else 1 / math.sqrt(width)

    @cached_property
    def signal(self) -> Array:
        """`Xᵀy/n (batch, d, o)`."""
        if self.inputs is None:
            return self.target
        return self.inputs.swapaxes(1, 2) @ self.labels / self.inputs.shape[1]

    @cached_property
    def labels(self) -> Array:
        """`y (batch, n, o)`; needs `inputs`."""
        assert self.inputs is not None
        clean = self.inputs @ self.target
        return clean if self.label_noise is None else clean + self.label_noise

    def evaluate(self, weights: Sequence[Array]) -> Evaluation:
        """Losses and gradients at `weights`; a product of matrices that both need is computed once."""
        right = [self.readout]  # R_i from the last to the first; None is the identity
        for layer in weights[:0:-1]:
            right.append(layer if right[-1] is None else layer @ right[-1])
        assert right[-1] is not None
        error = weights[0] @ right[-1]
        error *= self.factor
        error -= self.target  # P − β
        test_loss = squared_norm(error)
        if self.inputs is None:
            train_loss, residual = test_loss / 2, None
        else:
            residual = self.inputs @ error
            if self.label_noise is not None:
                residual -= self.label_noise
            train_loss = squared_norm(residual) / (2 * self.inputs.shape[1])

        def gradients(updates: Updates) -> list[Array]:
            if updates is Updates.SIGNAL:
                left = -self.factor * self.signal
            elif self.inputs is None or residual is None:
                left = self.factor * error
            else:
                left = (self.factor / self.inputs.shape[1]) * (self.inputs.swapaxes(1, 2) @ residual)
            found = []  # left is c L_i
            for index, beyond in enumerate(reversed(right)):
                if index > 0:
                    left = weights[index - 1].swapaxes(1, 2) @ left
                found.append(left if beyond is None else left @ beyond.swapaxes(1, 2))
            return found

        return Evaluation(test_loss, train_loss, gradients)

    def norms(self, weights: Sequence[Array]) -> list[Array]:
        """`‖W_i‖_F` of the trained layers, each `(batch,)`."""
        return [np.sqrt(squared_norm(layer)) for layer in weights]
