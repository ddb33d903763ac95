r"""The empirical neural tangent kernel of finite networks, layer by layer, without their Jacobians.

For a network `f: R^d → R^o` with parameters `θ`, `Θ(x, x') = Σ_p ∂f(x)/∂θ_p ∂f(x')/∂θ_pᵀ`, a block of shape `o × o`.
In a fully connected network (symbols as in `networks.py`) the gradient by `Wˡ` is the outer product `δˡ(x) gˡ⁻¹(x)ᵀ`
and that by `bˡ` is `s δˡ(x)`, `s` the factor of the biases (0 without). Hence layer `l = 1..L+1` contributes

    Θ_l(x, x')_{jk} = (⟨gˡ⁻¹(x), gˡ⁻¹(x')⟩ + s²) ⟨δˡ(x)_j, δˡ(x')_k⟩,

an entrywise product of two Gram matrices, where the Jacobian would take `n·o·P` numbers. `Θ_{L+1}` is a multiple of
`I_o`.

Source: the NTK encyclopedia article (definition, the choice of parameters); Jacot, Gabriel, Hongler (2018), section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory.errors import InvalidInput

from .data import Array, as_points
from .networks import MLP, chunks, refuse_overflow

LARGEST_JACOBIAN = 2**31  # bytes


@dataclass(frozen=True)
class EmpiricalNTK:
    """`layers[l−1]` is `Θ_l`, the share of layer `l = 1..L+1`; each of shape `(batch, n, o, n2, o)`."""

    layers: tuple[Array, ...]

    @property
    def total(self) -> Array:
        """`Θ = Σ_l Θ_l`, shape `(batch, n, o, n2, o)`: the kernel when everything is trained."""
        return self.freeze()

    def freeze(self, *layers: int) -> Array:
        """The kernel when the given layers (counted from 1) are not trained: their terms are left out of the sum.

        Raises `InvalidInput` for a layer that does not exist.
        """
        for layer in layers:
            if isinstance(layer, bool) or layer not in range(1, len(self.layers) + 1):
                raise InvalidInput("layers", layer, f"the layers are 1..{len(self.layers)}")
        kernel = np.zeros_like(self.layers[0])
        for number, term in enumerate(self.layers, start=1):
            if number not in layers:
                kernel += term
        return kernel


def empirical_ntk(network: MLP, parameters: ArrayLike, X: ArrayLike, X2: ArrayLike | None = None) -> EmpiricalNTK:
    """The tangent kernel between the points `X (n, d)` and `X2 (n2, d)` of each network `parameters (batch, P)`.

    Without `X2` it is the kernel of `X` with itself, exactly symmetric. Memory beyond the result is bounded, unless a
    single network's features `(n, o, Σ m_l)` exceed it. Raises `InvalidInput` for wrong shapes, NaN or infinity, and
    on overflow.

    >>> network = MLP(dimension=2, widths=(3,))
    >>> parameters = network.pack([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[1.0, 2.0, 3.0]]])
    >>> x = np.array([[1.0, 0.0]])
    >>> ntk = empirical_ntk(network, parameters, x)  # c_φ/m = 2/3; units 1 and 3 are active, with g = sqrt(2/3)
    >>> ntk.total.round(10)  # 2/3 (1² + 3²) + 2/3 (1 + 1)
    array([[[[[8.]]]]])
    """
    X, parameters = as_points("X", X, network.dimension), network.as_parameters(parameters)
    other = X if X2 is None else as_points("X2", X2, network.dimension)
    rows, columns = len(X) * network.outputs, len(other) * network.outputs
    shape = (len(parameters), len(X), network.outputs, len(other), network.outputs)
    layers = tuple(np.empty(shape) for _ in range(network.depth + 1))
    workspace = (rows + columns) * 4 * (sum(network.widths) + 1) + rows * columns
    for part in chunks(len(parameters), workspace):
        left = network.forward(parameters[part], X)
        left_signals = network.backward(parameters[part], left)
        if X2 is None:
            right, signals = left, ((delta, delta) for delta in left_signals)
        else:
            right = network.forward(parameters[part], other)
            signals = zip(left_signals, network.backward(parameters[part], right), strict=True)
        with np.errstate(over="ignore", invalid="ignore"):
            for index, (delta, delta2) in zip(range(network.depth, -1, -1), signals, strict=True):
                term = layers[index][part]
                np.matmul(delta, delta2.swapaxes(1, 2), out=term.reshape(-1, rows, columns))
                gram = left.features[index] @ right.features[index].swapaxes(-2, -1) + network.bias_factor**2
                term *= gram[..., :, None, :, None]
    for layer in layers:
        refuse_overflow("empirical_ntk", layer)
    return EmpiricalNTK(layers)


def as_matrix(kernel: Array) -> Array:
    """A kernel `(batch, n, o, n2, o)` as matrices `(batch, n·o, n2·o)`; row `i o + k` is output `k` at point `i`."""
    batch, n, o, n2, _ = kernel.shape
    return kernel.reshape(batch, n * o, n2 * o)


def jacobian(network: MLP, parameters: ArrayLike, X: ArrayLike) -> Array:
    """`J (batch, n·o, P)`, the derivatives of the outputs at `X (n, d)`; the kernel as a matrix is `J Jᵀ`.

    The columns are in the order of the parameters. For small networks: raises `InvalidInput` beyond 2 GiB, and
    otherwise as `empirical_ntk` does.

    >>> jacobian(MLP(2, ()), [[1.0, 2.0]], [[5.0, 7.0]])
    array([[[5., 7.]]])
    """
    parameters = network.as_parameters(parameters)
    forward = network.forward(parameters, X)
    batch, n, o = forward.outputs.shape
    shape = (batch, n * o, network.parameter_count)
    if 8 * np.prod(shape, dtype=float) > LARGEST_JACOBIAN:
        raise InvalidInput("jacobian.shape", shape, "takes more than 2 GiB; empirical_ntk gives J Jᵀ without J")
    J = np.empty(shape)
    signals = network.backward(parameters, forward)
    with np.errstate(over="ignore", invalid="ignore"):
        for index, delta in zip(range(network.depth, -1, -1), signals, strict=True):
            width, fan_in = network.shapes[index]
            features = np.repeat(forward.features[index], o, axis=-2)
            block = J[..., network.slices[index]]
            block[..., : width * fan_in] = (delta[..., :, None] * features[..., None, :]).reshape(*shape[:2], -1)
            if network.bias_std > 0:
                block[..., width * fan_in :] = network.bias_factor * delta
    refuse_overflow("jacobian", J)
    return J
