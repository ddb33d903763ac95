"""The choices in the theory of layer-wise learning rates: what moves the weights, and the laws they start from.

Free of SymPy, so that simulators can import them at no cost. Source: arXiv:2606.00340 (B) and its released code.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .errors import InvalidInput


class Updates(Enum):
    """Which part of the gradient `G = B − A` moves the weights; `A` is its label signal."""

    SIGNAL = "signal-only updates"
    FULL = "full gradient descent"


class Inputs(Enum):
    """The law of the `n` training inputs `X ∈ R^{n×h}`, the same in all steps."""

    WHITENED = "whitened inputs"  # XᵀX = n I, so that n >= h
    GAUSSIAN = "Gaussian inputs"  # iid N(0, 1) entries, any n >= 1


class Vectors(Enum):
    """The law of the fixed vectors `a` and `β` of three layers."""

    UNIT = "unit vectors"
    GAUSSIAN = "N(0, I/h)"


@dataclass(frozen=True)
class Orthogonal:
    """Haar orthogonal weights; two layers: `β = Q/√h` with `Q` Haar; three: `a` and `β` have the law `vectors`."""

    vectors: Vectors = Vectors.UNIT

    def __post_init__(self) -> None:
        if not isinstance(self.vectors, Vectors):
            raise InvalidInput("vectors", self.vectors, "give Vectors.UNIT or Vectors.GAUSSIAN")


@dataclass(frozen=True)
class Gaussian:
    """`W₁` with entries `N(0, 1/d)`, `W₂` with `N(0, 1/h)`, all independent; `d = h`.

    Two layers: `β` with entries `N(0, 1/d²)`; three layers: `β` and `a` with `N(0, 1/h)`.
    """


Initialisation = Orthogonal | Gaussian
