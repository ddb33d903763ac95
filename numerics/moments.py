r"""Central moments of a stream of vectors, merged chunk by chunk.

For observations `x_1, …, x_n ∈ R^dimension`, component by component: the mean `x̄ = (1/n) Σ x_i`, the central sums
`second = Σ (x_i − x̄)²` and `third = Σ (x_i − x̄)³`, and the extremes. Two disjoint samples A, B of sizes `n_A, n_B`
with `δ = x̄_B − x̄_A` merge by (Chan, Golub & LeVeque 1979; Pébay 2008)

    x̄      = x̄_A + δ n_B/n
    second = second_A + second_B + δ² n_A n_B/n
    third  = third_A + third_B + δ³ n_A n_B (n_A − n_B)/n² + 3δ (n_A second_B − n_B second_A)/n ,

which subtracts no large numbers. Floating-point addition is not associative: the result is a function of the chunks
*in their order*, so merge them in the order of their index, whoever computed them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput


def observations(chunk: ArrayLike, dimension: int, argument: str = "chunk") -> NDArray[np.float64]:
    """`chunk` as a finite float64 array of shape `(k, dimension)`, `k ≥ 1`; shape `(k,)` is taken for dimension 1."""
    array = np.asarray(chunk)
    if array.size and array.dtype.kind not in "biuf":
        raise InvalidInput(f"{argument}.dtype", str(array.dtype), "give real numbers")
    array = array.astype(np.float64, copy=False)
    if array.ndim == 1 and dimension == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != dimension or not array.shape[0]:
        raise InvalidInput(f"{argument}.shape", np.shape(chunk), f"give shape (k, {dimension}) with k >= 1")
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        row, column = map(int, bad[0])
        raise InvalidInput(f"{argument}[{row}, {column}]", float(array[row, column]), "observations must be finite")
    return array


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean, second and third central sums, and extremes; all arrays have shape `(dimension,)`.

    >>> m = Moments.of([1.0, 2.0]).merged(Moments.of([6.0]))
    >>> m.count, m.mean, m.second, m.third
    (3, array([3.]), array([14.]), array([18.]))
    """

    count: int
    mean: NDArray[np.float64]
    second: NDArray[np.float64]
    third: NDArray[np.float64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]

    @classmethod
    def none(cls, dimension: int) -> Moments:
        """The moments of no observation, neutral under `merged`."""
        zero = np.zeros(dimension)
        return cls(0, zero, zero, zero, zero, zero)

    @classmethod
    def of(cls, chunk: ArrayLike, dimension: int = 1) -> Moments:
        """The moments of one chunk, shape `(k, dimension)`, in two passes (InvalidInput: wrong shape, not finite)."""
        x = observations(chunk, dimension)
        low, high = x.min(axis=0), x.max(axis=0)
        # NumPy's pairwise mean of equal numbers can be one ulp off: keep constants exact.
        mean = np.where(low == high, low, x.mean(axis=0))
        deviation = x - mean
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow stays visible, as inf or NaN
            square = deviation * deviation
            return cls(len(x), mean, square.sum(axis=0), (square * deviation).sum(axis=0), low, high)

    def merged(self, later: Moments) -> Moments:
        """The moments of this sample followed by the `later` one."""
        if self.mean.shape != later.mean.shape:
            raise InvalidInput("dimension", later.mean.size, f"merge moments of the same dimension, {self.mean.size}")
        if not self.count or not later.count:
            return later if not self.count else self
        a, b = self.count, later.count
        n = a + b
        delta = later.mean - self.mean
        with np.errstate(over="ignore", invalid="ignore"):
            second = self.second + later.second + delta**2 * (a * b / n)
            third = self.third + later.third + delta**3 * (a * b * (a - b) / n**2)
            third += 3 * delta * (a * later.second - b * self.second) / n
        minimum, maximum = np.minimum(self.minimum, later.minimum), np.maximum(self.maximum, later.maximum)
        return Moments(n, self.mean + delta * (b / n), second, third, minimum, maximum)

    def to_state(self) -> dict[str, Any]:
        """Plain numbers and lists (JSON keeps them exactly); inverse of `from_state`."""
        arrays = ("mean", "second", "third", "minimum", "maximum")
        return {"count": self.count} | {name: getattr(self, name).tolist() for name in arrays}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Moments:
        """The moments that `to_state` wrote down."""
        arrays = {name: np.asarray(value, dtype=np.float64) for name, value in state.items() if name != "count"}
        return cls(count=state["count"], **arrays)
