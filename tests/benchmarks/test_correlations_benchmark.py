r"""Derivative correlations beside nested differentiation in JAX, in one run; times are shown, never asserted.

All `C_{0,d}` and `‖C_{1,d}‖`, `d <= 4`, of a tanh network with two hidden layers of 2048 units, at 16 points. JAX
differentiates `t ↦ (F, ∇F)(θ + t v)` four times by nested `jvp`, compiled, one point after the other (16 directions of
4 million parameters at once would take gigabytes), or by its Taylor mode, `jax.experimental.jet`. The error is the
largest difference from `limes`, relative to the largest entry of that order.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from checks.bench import PEERS
from numerics import correlations
from numerics.networks import MLP
from theory.activations import Tanh

pytestmark = pytest.mark.benchmark

WIDTH, DIMENSION, POINTS, ORDER = 2048, 64, 16, 4


def case() -> tuple[MLP, np.ndarray, np.ndarray]:
    network = MLP.of_depth(DIMENSION, width=WIDTH, depth=2, activation=Tanh())
    rng = np.random.default_rng(0)
    return network, network.sample(rng), rng.standard_normal((POINTS, DIMENSION)) / math.sqrt(DIMENSION)


def with_jax(jax: ModuleType, network: MLP, parameters: np.ndarray) -> dict[str, Any]:
    """Functions of one point, by their names: an array of shape `(ORDER, 2)`."""
    from jax.experimental.jet import jet

    jnp = jax.numpy
    weights = tuple(jnp.asarray(layer.weights[0]) for layer in network.layers(parameters))

    def F(theta, x):
        g = x
        for matrix, factor in zip(theta[:-1], network.feature_factors, strict=True):
            g = factor * jnp.tanh(matrix @ g)
        return (theta[-1] @ g)[0]

    def norm(tree):
        return jnp.sqrt(sum((leaf**2).sum() for leaf in tree))

    def nested(x):
        v = jax.grad(F)(weights, x)

        def both(t):
            return jax.value_and_grad(F)(tuple(w + t * u for w, u in zip(weights, v, strict=True)), x)

        found, derivative = [], both
        for d in range(1, ORDER + 1):
            before = derivative

            def derivative(t, before=before):
                return jax.jvp(before, (t,), (1.0,))[1]

            value, vector = derivative(0.0)
            found.append((value / math.factorial(d), norm(vector) / math.factorial(d)))
        return jnp.array(found)

    def taylor(x):
        v = jax.grad(F)(weights, x)
        zeros = tuple(jnp.zeros_like(u) for u in v)
        series = tuple([u, *[z] * (ORDER - 1)] for u, z in zip(v, zeros, strict=True))
        _, (values, *vectors) = jet(lambda *w: (F(w, x), *jax.grad(F)(w, x)), weights, series)
        factorials = [math.factorial(d) for d in range(1, ORDER + 1)]
        rows = [
            (value / f, norm([v[d] for v in vectors]) / f)
            for d, (value, f) in enumerate(zip(values, factorials, strict=True))
        ]
        return jnp.array(rows)

    return {"JAX, nested jvp": nested, "JAX, Taylor mode": taylor}


def test_correlations_beside_jax(bench, installed) -> None:
    network, parameters, X = case()
    run = lambda: correlations.scalar_and_vector_norms(network, parameters, X, ORDER)  # noqa: E731
    ours = np.stack(run(), axis=-1)[:, 0]
    contestants, errors, missing = {"limes": run}, {}, {}
    if jax := installed("jax"):
        jax.config.update("jax_enable_x64", True)
        points = jax.numpy.asarray(X)
        for name, function in with_jax(jax, network, parameters).items():
            compiled = jax.jit(lambda points, function=function: jax.lax.map(function, points))
            theirs = np.asarray(compiled(points).block_until_ready()).swapaxes(0, 1)
            errors[name] = float((np.abs(theirs - ours) / np.abs(theirs).max(axis=1, keepdims=True)).max())
            assert errors[name] < 1e-10, "not the same numbers: the comparison would be void"
            contestants[name] = lambda compiled=compiled: compiled(points).block_until_ready()
    else:
        missing["JAX"] = PEERS
    name = f"C_0d and |C_1d|, d <= {ORDER}, width {WIDTH}, {POINTS} points, float64"
    bench(name, contestants, errors=errors, missing=missing)


@pytest.mark.parametrize("d", [1, 2])
def test_operator_norm(bench, d: int) -> None:
    network, parameters, X = case()
    run = lambda: correlations.operator_norm(network, parameters, X[:1], d)  # noqa: E731
    bench(f"|C_2{d}| by Lanczos, width {WIDTH}, one point", {"limes": run})
