r"""Symmetries of finite fully connected networks, acting on their parameters.

For a network of `networks.py` and a hidden layer `l = 1..L` of `m_l` units: permuting its units; and for a homogeneous
activation, `φ(αs) = αφ(s)` for `α > 0`, multiplying the weights into a unit (its bias too) by `α` and those out of it
by `1/α`. The generator of the latter is the column `(w, −v)` of `generators`, with the weights `w` into the unit and
`v` out of it in their places; for the identity, that of `Wˡ → SWˡ`, `W^{l+1} → W^{l+1}S^{−1}` is `(E_{ij}Wˡ,
−W^{l+1}E_{ij})`, for every pair `i, j` of units. All hold in both parametrisations.

Between consecutive layers of weights, `balance` is what gradient flow conserves: `|v|² − |w|²` of every unit, the
diagonal of `W^{l+1}ᵀW^{l+1} − WˡWˡᵀ − bˡbˡᵀ`, of which a linear network conserves all (`theory/symmetries.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from theory.activations import Identity
from theory.errors import InvalidInput

from .data import Array
from .networks import MLP


def permuted(network: MLP, parameters: ArrayLike, layer: int, order: Sequence[int]) -> Array:
    """Parameters `(batch, P)` with unit `order[k]` of a hidden layer in the place of unit `k`.

    Raises `InvalidInput` for a layer that is not hidden, or an `order` that is no permutation of its units.

    >>> network = MLP(1, (2,))
    >>> permuted(network, [[1.0, 2.0, 3.0, 4.0]], 1, [1, 0])
    array([[2., 1., 4., 3.]])
    """
    below, units = _hidden(network, layer)
    if sorted(order) != list(range(units)):
        raise InvalidInput("order", order, f"give a permutation of range({units})")
    image = network.as_parameters(parameters).copy()
    layers = network.layers(image)
    for array, axis in ((layers[below].weights, 1), (layers[below].biases, 1), (layers[below + 1].weights, 2)):
        if array is not None:
            array[...] = np.take(array, order, axis=axis)
    return image


def rescaled(network: MLP, parameters: ArrayLike, layer: int, factors: ArrayLike) -> Array:
    """Parameters `(batch, P)` with the weights into a hidden layer multiplied by `factors`, those out of it divided.

    `factors` are positive, one number or one for each unit `(m_l,)`. The function stays the same if the activation is
    homogeneous, which is not checked. Raises `InvalidInput` for a layer that is not hidden, or other factors.

    >>> network = MLP(1, (2,))
    >>> rescaled(network, [[1.0, 2.0, 3.0, 4.0]], 1, [2.0, 4.0])
    array([[2. , 8. , 1.5, 1. ]])
    """
    below, units = _hidden(network, layer)
    alpha = np.asarray(factors, dtype=np.float64)
    if alpha.shape not in ((), (units,)) or not (np.isfinite(alpha) & (alpha > 0)).all():
        raise InvalidInput("factors", factors, f"give a finite number > 0, or {units} of them")
    image, alpha = network.as_parameters(parameters).copy(), np.broadcast_to(alpha, units)
    layers = network.layers(image)
    layers[below].weights[...] *= alpha[:, None]
    biases = layers[below].biases
    if biases is not None:
        biases *= alpha
    layers[below + 1].weights[...] /= alpha
    return image


def generators(network: MLP, parameters: ArrayLike) -> Array:
    """`X (batch, P, k)`, the directions in which the parameters can move without changing the function: `J X = 0`.

    One for each hidden unit, or for each pair of units of a layer if the activation is the identity. They may depend on
    each other. Raises `InvalidInput` for an activation that is not homogeneous, or biases with the identity.

    >>> generators(MLP(1, (2,)), [[1.0, 2.0, 3.0, 4.0]])[0].T
    array([[ 1.,  0., -3.,  0.],
           [ 0.,  2.,  0., -4.]])
    """
    if not network.activation.homogeneous:
        raise InvalidInput("network.activation", network.activation, "give a homogeneous one, as ReLU() or Identity()")
    linear = isinstance(network.activation, Identity)
    if linear and network.bias_std > 0:
        raise InvalidInput("network.bias_std", network.bias_std, "linear networks are taken without biases")
    parameters = network.as_parameters(parameters)
    columns, own = [], network.layers(parameters)
    for below, units in enumerate(network.widths):
        for i in range(units):
            for j in range(units) if linear else (i,):
                column = np.zeros_like(parameters)
                layers = network.layers(column)
                layers[below].weights[:, i] = own[below].weights[:, j]
                layers[below + 1].weights[:, :, j] = -own[below + 1].weights[:, :, i]
                biases, own_biases = layers[below].biases, own[below].biases
                if biases is not None and own_biases is not None:
                    biases[:, i] = own_biases[:, j]
                columns.append(column)
    return np.stack(columns, axis=2) if columns else np.empty((*parameters.shape, 0))


def balance(network: MLP, parameters: ArrayLike) -> tuple[Array, ...]:
    """`W^{l+1}ᵀW^{l+1} − WˡWˡᵀ − bˡbˡᵀ (batch, m_l, m_l)` for each hidden layer `l = 1..L`.

    >>> balance(MLP(1, (2,)), [[1.0, 2.0, 3.0, 4.0]])[0]
    array([[[ 8., 10.],
            [10., 12.]]])
    """
    return squares(network, network.as_parameters(parameters))


def squares(network: MLP, vectors: Array) -> tuple[Array, ...]:
    """The same quadratic forms of any vectors `(batch, P)`, as of gradients, which `η²` times a step adds."""
    layers, found = network.layers(vectors), []
    for below, above in pairwise(layers):
        form = above.weights.swapaxes(1, 2) @ above.weights - below.weights @ below.weights.swapaxes(1, 2)
        if below.biases is not None:
            form -= below.biases[:, :, None] * below.biases[:, None, :]
        found.append(form)
    return tuple(found)


def _hidden(network: MLP, layer: int) -> tuple[int, int]:
    """The place of a hidden layer, and its number of units."""
    if isinstance(layer, bool) or not isinstance(layer, int | np.integer) or not 1 <= layer <= network.depth:
        raise InvalidInput("layer", layer, f"the hidden layers are 1..{network.depth}")
    return int(layer) - 1, network.widths[int(layer) - 1]
