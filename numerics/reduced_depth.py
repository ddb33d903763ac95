r"""Gradient descent of deep linear networks from orthogonal weights, by 2×2 matrices, to rounding the same losses.

The network of `numerics/linear_networks.py` with `k >= 4` layers, Haar initial weights, `d = h >= 1`, `XᵀX = nI` and no
noise. Let `V_i = W_1(0) ⋯ W_i(0)`, and `Ŵ_i = V_{i−1} W_i V_iᵀ`, which are `I` at first. With `c = V_{k−1} a`,

    f(x) = (1/√h) xᵀ Ŵ_1 ⋯ Ŵ_{k−1} c,

and gradient descent in the `Ŵ_i` is that in the `W_i`, which differ from them by fixed orthogonal matrices. Every
gradient is a product `L Rᵀ` with `L` and `R` in the span of `β` and `c`, so that all happens there: 2×2 matrices,
whatever `h`. With the readout `√(2/h) c` that is a network of width 2, and a `Draw` like any other.

The loss depends on `‖a‖`, `‖β‖` and the overlap `τ = ⟨β, c⟩/(‖a‖ ‖β‖)`, whose law is that of three layers.

Source: the algebra is ours; the setting is that of arXiv:2606.00340.
"""

from __future__ import annotations

import math

import numpy as np

from .data import as_integer
from .linear_networks import Draw
from .reduced import ThreeLayers


def deepened(runs: ThreeLayers, layers: int) -> Draw:
    """The runs of `layers` layers with the width, the overlaps and the norms of `runs`: `layers − 1` 2×2 matrices each.

    Their losses are those of the network; the norms of their weights are not, so no schedule may depend on these.
    Raises `InvalidInput` for a number of `layers` that is no integer >= 4 (`ThreeLayers` itself trains three).

    >>> from numerics.descent import Uniform, descend
    >>> draw = deepened(ThreeLayers.sample(np.random.default_rng(0), width=1000, batch=5), layers=8)
    >>> descend(draw, Uniform(0.3), steps=2).test_loss.shape
    (5, 3)
    """
    trained = as_integer("layers", layers, 4) - 1
    across = np.sqrt((1 - runs.overlap) * (1 + runs.overlap))
    target = runs.target_norm[:, None] * np.stack([runs.overlap, across], axis=1)
    readout = math.sqrt(2 / runs.width) * np.stack([runs.readout_norm, np.zeros_like(across)], axis=1)
    identity = np.tile(np.eye(2), (len(across), 1, 1))
    return Draw((identity,) * trained, target[:, :, None], readout[:, :, None])
