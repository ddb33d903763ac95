r"""The last hidden features of finite networks before and after training, from a residual that is the same for all.

Each network of a batch is given labels of its own, `y = f_0 − r_0` on the training points, so that all of them have the
residual `r_0` to begin with: what the limits of `numerics/features.py` and `numerics/inner_products.py` say given `f_0`
can then be compared with every network. Gradient descent of `k` steps of the rate `η` on `½ Σ_i (f(x_i) − y_i)²` has in
the limit the integrated residual `q = η Σ_{s<k} r_s = Θ⁻¹ (I − (I − ηΘ)^k) r_0`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .data import Array, as_points
from .networks import MLP
from .optimisers import GradientDescent
from .training import train


class Trained(NamedTuple):
    """`h = φ(u^L)` at the training and the test points, before and after, `(batch, n + n', m)`; `f_0 (batch, n)`."""

    before: Array
    after: Array
    outputs: Array

    @property
    def change(self) -> Array:
        """The change of `⟨h, h'⟩`, shape `(batch, n + n', n + n')`."""
        return self.after @ self.after.swapaxes(1, 2) - self.before @ self.before.swapaxes(1, 2)

    @property
    def products_of_changes(self) -> Array:
        """`⟨δh, δh'⟩`, of the same shape."""
        moved = self.after - self.before
        return np.matmul(moved, moved.swapaxes(1, 2))


def train_from_residual(
    network: MLP,
    rng: np.random.Generator,
    batch: int,
    X: ArrayLike,
    residual: ArrayLike,
    method: GradientDescent,
    *,
    X_test: ArrayLike,
) -> Trained:
    """A batch of random ReLU networks with one output, trained on `X (n, d)` from the residual `r_0 (n,)`.

    Raises `InvalidInput` as `training.train` does.

    >>> line = MLP(dimension=1, widths=(4,))
    >>> at_rest = train_from_residual(
    ...     line, np.random.default_rng(0), 3, [[1.0]], [0.0], GradientDescent(0.1, steps=2), X_test=[[2.0]]
    ... )
    >>> at_rest.after.shape, bool((at_rest.change == 0).all())
    ((3, 2, 4), True)
    """
    train_points = as_points("X", X, network.dimension)
    everything = np.concatenate([train_points, as_points("X_test", X_test, network.dimension)])
    start = network.sample(rng, batch)
    outputs = network(start, train_points)
    labels = outputs - np.asarray(residual)[:, None]
    found = train(network, start, train_points, labels, method, at=[method.steps], keep_parameters=True).parameters
    assert found is not None  # as they are kept
    before, after = (
        np.maximum(network.forward(parameters, everything).preactivations[network.depth - 1], 0.0)
        for parameters in (start, found[0])
    )
    return Trained(before, after, outputs[:, :, 0])


def summed_residual(kernel: Array, residual: Array, method: GradientDescent) -> Array:
    """`q = Θ⁻¹ (I − (I − ηΘ)^k) r_0` for a regular kernel `Θ (n, n)` and `r_0 (n,)`.

    >>> summed_residual(np.eye(1), np.ones(1), GradientDescent(0.5, steps=2))
    array([0.75])
    """
    left = np.linalg.matrix_power(np.eye(len(kernel)) - method.learning_rate * kernel, method.steps)
    return np.asarray(np.linalg.solve(kernel, residual - left @ residual), dtype=np.float64)
