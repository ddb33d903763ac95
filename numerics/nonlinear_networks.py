r"""The network of `numerics/linear_networks.py` with an activation after each trained layer.

With `k >= 3` layers, width `h`, `g_0 = x ∈ R^d` and an activation φ such as ReLU,

    u_i = W_iᵀ g_{i−1},    g_i = φ(u_i)  (i = 1..k−1),    f(x) = (1/√h) g_{k−1}·a,

`a` fixed; for `φ(s) = s` it is that linear network. Labels stay linear, `y = Xβ + ξ`, and so do all laws. The training
loss is `(1/2n) ‖f(X) − y‖²`. For two hidden layers the test loss has no closed form: it is the mean of
`(f(x) − xᵀβ)²` over test inputs `x ~ N(0, I)`, drawn once for each run and fixed, so an unbiased estimate.

Source: *Balancing Learning Rates Across Layers*, arXiv:2606.00340, has an experiment with "a three-layer network (with
ReLU)", for which its authors' scripts are not public: where φ stands, and that it has no factor √2, is a reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from theory.activations import Activation, ReLU
from theory.errors import InvalidInput
from theory.layerwise_options import Updates

from .activations import pointwise
from .data import Array, as_integer
from .descent import Evaluation, squared_norm
from .linear_networks import Draw, LinearNetwork

TEST_POINTS = 500  # as in the authors' experiments


@dataclass(frozen=True, kw_only=True)
class NonlinearNetwork:
    """The sizes and laws of `linear`, which has `k >= 3` layers, with `activation` φ and a number of `test_points`.

    Raises `InvalidInput` for two layers, what is no `Activation`, and a `test_points` that is no positive integer.

    >>> from numerics.descent import Uniform, descend
    >>> network = NonlinearNetwork(linear=LinearNetwork(width=4, layers=3))
    >>> descend(network.sample(np.random.default_rng(0), batch=2), Uniform(1.0), steps=3).test_loss.shape
    (2, 4)
    """

    linear: LinearNetwork
    activation: Activation = field(default_factory=ReLU)
    test_points: int = TEST_POINTS

    def __post_init__(self) -> None:
        if self.linear.layers < 3:
            raise InvalidInput("layers", self.linear.layers, "give at least 3: two trained ones and the readout")
        if not isinstance(self.activation, Activation):
            raise InvalidInput("activation", self.activation, "give an Activation object, such as ReLU()")
        as_integer("test_points", self.test_points, 1)

    def sample(self, rng: np.random.Generator, batch: int = 1) -> NonlinearDraw:
        """Independent draws of weights, targets, data and test inputs."""
        draw = self.linear.sample(rng, batch, keep_inputs=True)
        return NonlinearDraw(draw, rng.standard_normal((batch, self.test_points, self.linear.d)), self.activation)


@dataclass(frozen=True, eq=False)
class NonlinearDraw:
    """Runs ready to be trained: `linear` has the weights, targets and inputs; `test_inputs` are `(batch, m, d)`."""

    linear: Draw
    test_inputs: Array
    activation: Activation = field(default_factory=ReLU)

    @property
    def weights(self) -> tuple[Array, ...]:
        """`W_1, …, W_{k−1}` before the first step."""
        return self.linear.weights

    def evaluate(self, weights: Sequence[Array]) -> Evaluation:
        """Losses and gradients at `weights`."""
        inputs, readout = self.linear.inputs, self.linear.readout
        assert inputs is not None
        assert readout is not None
        n, factor, phi = inputs.shape[1], self.linear.factor, pointwise(self.activation)
        features, preactivations = [inputs], []
        for layer in weights:
            preactivations.append(features[-1] @ layer)
            features.append(phi.value(preactivations[-1]))
        residual = factor * (features[-1] @ readout) - self.linear.labels

        tested = self.test_inputs
        for layer in weights:
            tested = phi.value(tested @ layer)
        test_error = factor * (tested @ readout) - self.test_inputs @ self.linear.target

        def gradients(updates: Updates) -> list[Array]:
            pulled = -self.linear.labels if updates is Updates.SIGNAL else residual
            delta = (factor / n) * pulled @ readout.swapaxes(1, 2)
            found = []
            for index in range(len(weights) - 1, -1, -1):
                delta = delta * phi.derivative(preactivations[index])
                found.append(features[index].swapaxes(1, 2) @ delta)
                if index > 0:
                    delta = delta @ weights[index].swapaxes(1, 2)
            return found[::-1]

        test_loss = squared_norm(test_error) / self.test_inputs.shape[1]
        return Evaluation(test_loss, squared_norm(residual) / (2 * n), gradients)

    def norms(self, weights: Sequence[Array]) -> list[Array]:
        """`‖W_i‖_F` of the trained layers, each `(batch,)`."""
        return self.linear.norms(weights)
