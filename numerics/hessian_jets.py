r"""Second derivatives of networks along a direction, as operators: the coefficient of `t^d` in `∇²F(θ + t v)`.

In the symbols of `numerics/jets.py`, the passes forward and back are differentiated in a second direction `u`, with
weights `Wˡ + t Vˡ + ε Uˡ` and `ε² = 0`, that is in dual numbers over series; a dot is `d/dε`:

    u̇ˡ = (W + tV) ġ^{l−1} + U g^{l−1},    ġˡ = φ'(uˡ) u̇ˡ,
    ėˡ = (W + tV)ᵀ δ̇^{l+1} + Uᵀ δ^{l+1},    δ̇ˡ = φ''(uˡ) u̇ˡ eˡ + φ'(uˡ) ėˡ,
    (∇²F u)_{Wˡ} = δ̇ˡ g^{l−1ᵀ} + δˡ ġ^{l−1ᵀ}.

At one point, `Uˡ` enters through `Uˡ g_k` and `Uˡᵀ δ_k`, `k <= d`, alone, and the result has the same form. With
orthonormal columns `Q_G` and `Q_D` that span the `g_k` and the `δ_k`, the operator vanishes on what is orthogonal to

    U = A Q_Gᵀ + Q_D Bᵀ,   A ⟂ Q_D,   of norm (‖A‖² + ‖B‖²)^{1/2},

and so its spectral norm is that on the pairs `(A, B)`: about `(d+1)(m_l + m_{l−1})` numbers instead of `m_l m_{l−1}`.

Source: Pearlmutter (1994), *Fast exact multiplication by the Hessian*. Departures: series; the reduction to `(A, B)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from theory.errors import InvalidInput

from .data import Array, real_number
from .jets import Direction, Run, add_shifted, backward, forward, linear, transposed_linear
from .networks import MLP, refuse_overflow
from .power_series import multiply

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

FEW = 100  # coordinates: a matrix of this size is cheaper to diagonalise than to iterate on


@dataclass(frozen=True)
class HessianSeries:
    """`[t^order] ∇²F(θ + t v)` of one network at one point; make it with `of`."""

    network: MLP
    parameters: Array
    direction: Direction
    run: Run
    backwards: tuple[tuple[Array, Array], ...]  # δˡ(t), eˡ(t) for l = 1..L+1
    order: int

    @classmethod
    def of(cls, network: MLP, parameters: ArrayLike, x: ArrayLike, direction: Direction, order: int) -> HessianSeries:
        """For `parameters (1, P)`, the point `x (1, d)` and a direction `v`. Errors as those of `jets.forward`."""
        theta = network.as_parameters(parameters)
        run = forward(network, theta, x, direction, order, derivatives=2)
        backwards = tuple(backward(network, theta, run, direction))[::-1]
        return cls(network, theta, direction, run, backwards, order)

    def product(self, tangent: Direction) -> Direction:
        """The operator applied to a direction `u`, both in factors; the rank of the result is at most `2 order + 2`.

        >>> from numerics.jets import gradient
        >>> from theory.activations import Identity
        >>> line = MLP(dimension=1, widths=(1,), activation=Identity())  # f = w₂ w₁, ∇²f = ((0, 1), (1, 0))
        >>> v = gradient(line, [[2.0, 3.0]], [[1.0]])
        >>> HessianSeries.of(line, [[2.0, 3.0]], [[1.0]], v, order=0).product(v).dense(line)[0, 0]
        array([2., 3.])
        """
        network, layers, s = self.network, self.network.layers(self.parameters), self.network.bias_factor
        length = self.order + 1
        u_dots, g_dots = [], []
        for index in range(network.depth):
            u_dot = _move(self.run.features[index], tangent.right[index], tangent.left[index], length)
            if index:
                u_dot += linear(layers[index], g_dots[-1], self.direction, index, length)
            if tangent.biases:
                u_dot[0] += s * tangent.biases[index]
            u_dots.append(u_dot)
            g_dots.append(multiply(self.run.slopes[index], u_dot))
        left, right, biases = [], [], []
        delta_dot = None
        for index in range(network.depth, -1, -1):
            delta, e = self.backwards[index]
            if index < network.depth:
                above = self.backwards[index + 1][0]
                e_dot = _move(above, tangent.left[index + 1], tangent.right[index + 1], length)
                if delta_dot is not None:
                    e_dot += transposed_linear(layers[index + 1], delta_dot, self.direction, index + 1, length)
                bent = multiply(self.run.curvatures[index], u_dots[index])
                delta_dot = multiply(bent, e) + multiply(self.run.slopes[index], e_dot)
            pairs = [(delta, g_dots[index - 1])] if index else []
            pairs += [(delta_dot, self.run.features[index])] if delta_dot is not None else []
            kets, bras = self._coefficient(pairs, network.shapes[index])
            left.append(kets)
            right.append(bras)
            if network.bias_std > 0:
                biases.append(s * delta_dot[self.order] if delta_dot is not None else np.zeros((1, 1, 1)))
        return Direction(tuple(left[::-1]), tuple(right[::-1]), tuple(biases[::-1]))

    def _coefficient(self, pairs: list[tuple[Array, Array]], shape: tuple[int, int]) -> tuple[Array, Array]:
        """The factors of the coefficient of `t^order` in a sum of products `left(t) right(t)ᵀ`."""
        kets, bras = [np.zeros((0, 1, 1, shape[0]))], [np.zeros((0, 1, 1, shape[1]))]
        for left, right in pairs:
            orders = [i for i in range(self.order + 1) if i < len(left) and self.order - i < len(right)]
            kets.append(left[orders])
            bras.append(right[[self.order - i for i in orders]])
        return tuple(np.moveaxis(np.concatenate(parts), 0, 2) for parts in (kets, bras))  # type: ignore[return-value]

    def as_operator(self, factor: float = 1.0) -> LinearOperator:
        """`factor` times the operator on `R^P`."""
        P = self.network.parameter_count

        def product(u: Array) -> Array:
            return factor * self.product(_as_direction(self.network, u.ravel())).dense(self.network)[0, 0]

        return _symmetric(P, product)

    def spectral_norm(self, tolerance: float = 1e-8) -> float:
        """The largest modulus of an eigenvalue, by Lanczos in the coordinates `(A, B)`, from a fixed start.

        Raises `InvalidInput` for a `tolerance` outside (0, 1), on overflow, and if Lanczos does not converge to the
        relative `tolerance`.
        """
        check_tolerance(tolerance)
        from scipy.sparse.linalg import ArpackNoConvergence, eigsh

        reduced = _Reduction(self)
        size = reduced.size
        start = np.random.default_rng(0).standard_normal(size)
        image = reduced.product(start)
        refuse_overflow("spectral_norm", image)
        if not image.any():  # the zero matrix: a start drawn at random lies in no proper subspace
            return 0.0
        if size <= FEW:
            matrix = np.stack([reduced.product(unit) for unit in np.eye(size)])
            return float(np.abs(np.linalg.eigvalsh(matrix)).max())
        try:
            C = _symmetric(size, reduced.product)
            options: Any = {"v0": start, "tol": tolerance, "return_eigenvectors": False}
            eigenvalues: Any = eigsh(C, k=1, which="LM", **options)
        except ArpackNoConvergence as error:
            raise InvalidInput("tolerance", tolerance, f"Lanczos did not converge: {error}") from error
        return abs(float(eigenvalues[0]))


def check_tolerance(tolerance: float) -> None:
    """Raise `InvalidInput` unless it is a number between 0 and 1: to SciPy, 0 and less mean the precision of floats."""
    if not 0 < real_number(tolerance) < 1:
        raise InvalidInput("tolerance", tolerance, "give a number between 0 and 1")


class _Reduction:
    """The operator in the coordinates `(A, B, biases)` of each layer, in one vector."""

    def __init__(self, hessian: HessianSeries) -> None:
        self.hessian = hessian
        self.q_g = [_orthonormal(features) for features in hessian.run.features]
        self.q_d = [_orthonormal(delta) for delta, _ in hessian.backwards]
        self.has_biases = hessian.network.bias_std > 0
        self.size = sum(
            q_g.shape[1] * q_d.shape[0] + q_d.shape[1] * q_g.shape[0] + q_d.shape[0] * self.has_biases
            for q_g, q_d in zip(self.q_g, self.q_d, strict=True)
        )

    def product(self, coordinates: Array) -> Array:
        left, right, biases, at = [], [], [], 0

        def take(*shape: int) -> Array:
            nonlocal at
            start, at = at, at + int(np.prod(shape))
            return coordinates[start:at].reshape(shape)

        for q_g, q_d in zip(self.q_g, self.q_d, strict=True):
            A, B = _away(take(q_d.shape[0], q_g.shape[1]), q_d), take(q_g.shape[0], q_d.shape[1])
            left.append(np.hstack([A, q_d]).T[None, None])
            right.append(np.hstack([q_g, B]).T[None, None])
            if self.has_biases:
                biases.append(take(q_d.shape[0])[None, None])
        image = self.hessian.product(Direction(tuple(left), tuple(right), tuple(biases)))
        return np.concatenate(list(self._parts(image)))

    def _parts(self, image: Direction) -> Iterator[Array]:
        for index, (q_g, q_d) in enumerate(zip(self.q_g, self.q_d, strict=True)):
            kets, bras = image.left[index][0, 0], image.right[index][0, 0]
            yield _away(kets.T @ (bras @ q_g), q_d).ravel()
            yield (bras.T @ (kets @ q_d)).ravel()
            if self.has_biases:
                yield np.broadcast_to(image.biases[index][0, 0], q_d.shape[:1])


def _orthonormal(series: Array) -> Array:
    """Orthonormal columns whose span contains all coefficients."""
    return np.linalg.qr(series[:, 0, 0].T)[0]


def _away(matrix: Array, q: Array) -> Array:
    """The columns of `matrix`, made orthogonal to the orthonormal columns of `q`."""
    return matrix - q @ (q.T @ matrix)


def _move(series: Array, bras: Array, kets: Array, length: int) -> Array:
    """`U g(t)` or `Uᵀ δ(t)`, from the factors of `U`."""
    shifted = np.zeros((length + 1, *series.shape[1:3], kets.shape[-1]))
    add_shifted(shifted, series, bras, kets)
    return shifted[1:]


def _as_direction(network: MLP, tangent: Array) -> Direction:
    """A vector of `R^P` in factors of full rank."""
    layers = network.layers(tangent[None])
    left = tuple(layer.weights.swapaxes(1, 2)[None] for layer in layers)
    right = tuple(np.eye(fan_in)[None, None] for _, fan_in in network.shapes)
    return Direction(left, right, tuple(layer.biases[:, None] for layer in layers if layer.biases is not None))


def _symmetric(size: int, product: Any) -> LinearOperator:
    from scipy.sparse.linalg import LinearOperator

    untyped: Any = LinearOperator  # its constructor takes the products by name
    return untyped((size, size), matvec=product, rmatvec=product, dtype=np.float64)
