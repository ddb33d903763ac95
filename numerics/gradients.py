r"""Gradients of finite networks by their parameters, pulled back from their outputs.

For a network `f_θ: R^d → R^o`, points `x_i`, `i = 1..n`, and cotangents `c_i ∈ R^o`, the *pullback* is
`∇_θ Σ_i ⟨c_i, f_θ(x_i)⟩ = Jᵀ c ∈ R^P`, the gradient of a loss whose derivative by the outputs is `c`. It costs twice a
run forward, whatever the number of outputs and parameters.

In a fully connected network (symbols as in `networks.py`), with `δ^{L+1} = c`:
`∂/∂Wˡ = Σ_i δˡ(x_i) gˡ⁻¹(x_i)ᵀ`, `∂/∂bˡ = s Σ_i δˡ(x_i)` with the factor `s` of the biases, and
`δˡ = sqrt(c_φ/m_l) φ'(uˡ) ⊙ W^{l+1}ᵀ δ^{l+1}`.

Another kind of network takes part in training once it is registered with the two functions here.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from theory.errors import InvalidInput

from .activations import pointwise
from .data import Array
from .networks import MLP


@singledispatch
def pullback(network: Any, parameters: Array, run: Any, cotangents: Array) -> Array:
    """`Jᵀ c` for each network of a batch, shape `(batch, P)`.

    `parameters` are `(batch, P)`, `run` is `network.forward(parameters, X)`, `cotangents` are `(batch, n, o)`. What
    overflows is infinite or NaN. Raises `InvalidInput` for a kind of network that is not registered.

    >>> network = MLP(dimension=2, widths=())
    >>> run = network.forward([[1.0, 1.0]], [[5.0, 7.0], [1.0, 2.0]])
    >>> pullback(network, np.array([[1.0, 1.0]]), run, np.array([[[1.0], [-1.0]]]))
    array([[4., 5.]])
    """
    raise InvalidInput("network", type(network).__name__, "no gradient is known for it: register one with pullback")


@singledispatch
def floats_per_point(network: Any) -> int:
    """How many numbers a run forward and its pullback keep for one point and one network."""
    raise InvalidInput("network", type(network).__name__, "its memory is not known: register it with floats_per_point")


@floats_per_point.register
def _(network: MLP) -> int:
    return 4 * (sum(network.widths) + network.outputs)


@pullback.register
def _(network: MLP, parameters: Array, run: Any, cotangents: Array) -> Array:
    slope_of, layers = pointwise(network.activation).derivative, network.layers(parameters)
    gradient = np.empty_like(parameters)
    delta = cotangents
    with np.errstate(over="ignore", invalid="ignore"):
        for index in range(network.depth, -1, -1):
            if index < network.depth:
                delta = delta @ layers[index + 1].weights
                delta *= network.feature_factors[index] * slope_of(run.preactivations[index])
            width, fan_in = network.shapes[index]
            block = gradient[:, network.slices[index]]
            by_weights = delta.swapaxes(1, 2) @ run.features[index]
            block[:, : width * fan_in] = by_weights.reshape(len(parameters), -1)
            if network.bias_std > 0:
                block[:, width * fan_in :] = network.bias_factor * delta.sum(axis=1)
    return gradient
