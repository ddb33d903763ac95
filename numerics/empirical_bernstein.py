r"""Exact confidence sequence for the mean of bounded observations: the empirical-Bernstein sequence.

For independent observations `x_i ∈ [lower, upper]^dimension` of common mean, scaled to `[0, 1]`, each component with
the error `a = α/dimension` (Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", 2024,
theorem 2, predictable plug-in):

    Σλ_i x_i/Σλ_i ± [ log(2/a) + Σ (x_i − μ̂_{i−1})² (−log(1 − λ_i) − λ_i) ] / Σλ_i

    μ̂_i = (1/2 + Σ_{j≤i} x_j)/(i + 1),   σ̂²_i = (1/4 + Σ_{j≤i} (x_j − μ̂_j)²)/(i + 1),
    λ_i = min( √(2 log(2/a)/(σ̂²_{i−1} i log(1 + i))), 1/2 ) .

Every `λ_i` is chosen before `x_i` is seen, so the statement `P(μ ∈ C_n for every n) ≥ 1 − α` holds at every
sample size and for every law on the interval, rare events included.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

from .confidence import MeanSequence
from .moments import observations

LARGEST_BET = 0.5
SUMS = ("total", "squares", "bets", "weighted", "variation")


class BoundedConfidenceSequence(MeanSequence):
    """Empirical-Bernstein confidence sequence for observations in `[lower, upper]` (module docstring).

    >>> sequence = BoundedConfidenceSequence(alpha=1e-6, lower=0, upper=1)
    >>> sequence.update(np.random.default_rng(1).integers(0, 2, size=20_000))
    >>> sequence.decide(0.5).outcome, sequence.decide(0.6).outcome
    (<Outcome.CONSISTENT: 'consistent'>, <Outcome.REJECTED: 'rejected'>)
    """

    def __init__(self, alpha: float = 1e-6, dimension: int = 1, *, lower: float, upper: float) -> None:
        super().__init__(alpha, dimension)
        if not (math.isfinite(upper - lower) and lower < upper):
            raise InvalidInput("lower, upper", (lower, upper), "give finite bounds with lower < upper")
        self.lower, self.upper = float(lower), float(upper)
        self._count = 0
        # Σx, Σ(x − μ̂)² with the estimate that includes x, Σλ, Σλx, and the last sum of the numerator
        self._sums = {name: np.zeros(self.dimension) for name in SUMS}

    def update(self, chunk: ArrayLike) -> None:
        raw = observations(chunk, self.dimension)
        if raw.min() < self.lower or raw.max() > self.upper:
            worst = float(raw.min() if raw.min() < self.lower else raw.max())
            raise InvalidInput("observation", worst, f"observations must lie in [{self.lower:g}, {self.upper:g}]")
        x = (raw - self.lower) / (self.upper - self.lower)
        past = self._sums
        i = np.arange(self._count + 1, self._count + len(x) + 1)[:, None]
        estimate = (0.5 + past["total"] + np.cumsum(x, axis=0)) / (i + 1)
        squares = past["squares"] + np.cumsum((x - estimate) ** 2, axis=0)
        before = np.vstack([(0.5 + past["total"]) / i[0], estimate[:-1]])
        variance = (0.25 + np.vstack([past["squares"], squares[:-1]])) / i
        bets = np.minimum(np.sqrt(2 * self._log / (variance * i * np.log1p(i))), LARGEST_BET)
        self._sums = {
            "total": past["total"] + x.sum(axis=0),
            "squares": squares[-1],
            "bets": past["bets"] + bets.sum(axis=0),
            "weighted": past["weighted"] + (bets * x).sum(axis=0),
            "variation": past["variation"] + ((x - before) ** 2 * (-np.log1p(-bets) - bets)).sum(axis=0),
        }
        self._count += len(x)

    @property
    def _log(self) -> float:
        return math.log(2 * self.dimension / self.alpha)

    @property
    def count(self) -> int:
        return self._count

    @property
    def mean(self) -> NDArray[np.float64]:
        if not self._count:
            return np.full(self.dimension, (self.lower + self.upper) / 2)
        return self.lower + (self.upper - self.lower) * self._sums["weighted"] / self._sums["bets"]

    @property
    def radius(self) -> NDArray[np.float64]:
        if not self._count:
            return np.full(self.dimension, math.inf)
        return (self.upper - self.lower) * (self._log + self._sums["variation"]) / self._sums["bets"]

    @property
    def reason(self) -> str:
        return "" if self._count else "no observations"

    def to_state(self) -> dict[str, Any]:
        """Plain numbers and lists (JSON keeps them exactly); inverse of `from_state`."""
        options = {name: getattr(self, name) for name in ("alpha", "dimension", "lower", "upper")}
        return options | {"count": self._count, "sums": {name: value.tolist() for name, value in self._sums.items()}}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> BoundedConfidenceSequence:
        """The sequence that `to_state` wrote down."""
        options = dict(state)
        count, sums = options.pop("count"), options.pop("sums")
        sequence = cls(**options)
        sequence._count = count
        sequence._sums = {name: np.asarray(sums[name], dtype=np.float64) for name in SUMS}
        return sequence
