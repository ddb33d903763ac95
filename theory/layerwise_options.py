"""The choices in the theory of layer-wise learning rates: what moves the weights, and the laws they start from.

Free of SymPy, so that simulators can import them at no cost. Source: arXiv:2606.00340 (B) and its released code.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Updates(Enum):
    """Which part of the gradient `G = B − A` moves the weights; `A` is its label signal."""

    SIGNAL = "signal-only updates"
    FULL = "full gradient descent"


class Vectors(Enum):
    """The law of the fixed vectors `a` and `β` of three layers."""

    UNIT = "unit vectors"
    GAUSSIAN = "N(0, I/h)"


@dataclass(frozen=True)
class Orthogonal:
    """Haar orthogonal weights; two layers: `β = Q/√h` with `Q` Haar; three: `a` and `β` have the law `vectors`."""

    vectors: Vectors = Vectors.UNIT


@dataclass(frozen=True)
class Gaussian:
    """`W₁` with entries `N(0, 1/d)`, `W₂` with `N(0, 1/h)`, `β` with `N(0, 1/d²)`, all independent; `d = h`."""


Initialisation = Orthogonal | Gaussian
