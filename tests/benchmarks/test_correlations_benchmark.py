r"""Derivative correlations beside nested differentiation in JAX, in one run; times are printed, never asserted.

    pip install 'limes[peers]'
    pytest -m benchmark -s tests/benchmarks/test_correlations_benchmark.py

All `C_{0,d}` and `‖C_{1,d}‖`, `d <= 4`, of a tanh network with two hidden layers of 2048 units, at 16 points. JAX
differentiates `t ↦ (F, ∇F)(θ + t v)` four times by nested `jvp`, compiled, one point after the other (16 directions of
4 million parameters at once would take gigabytes), or by its Taylor mode, `jax.experimental.jet`.
"""

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
import pytest

from numerics import correlations
from numerics.networks import MLP
from theory.activations import Tanh

pytestmark = pytest.mark.benchmark

WIDTH, DIMENSION, POINTS, ORDER = 2048, 64, 16, 4
RUNS, PEER_RUNS = 9, 2


@pytest.fixture(autouse=True)
def on_demand(request: pytest.FixtureRequest) -> None:
    if "benchmark" not in request.config.getoption("markexpr"):
        pytest.skip("measures times: run it with -m benchmark")


def seconds(run: Callable[[], object], runs: int) -> tuple[float, float]:
    """The shortest and the median time of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times), statistics.median(times)


def row(name: str, shortest: float, median: float) -> None:
    print(f"{name:<40}{shortest * 1e3:>10.1f} ms{median * 1e3:>10.1f} ms")


def case() -> tuple[MLP, np.ndarray, np.ndarray]:
    network = MLP.of_depth(DIMENSION, width=WIDTH, depth=2, activation=Tanh())
    rng = np.random.default_rng(0)
    return network, network.sample(rng), rng.standard_normal((POINTS, DIMENSION)) / math.sqrt(DIMENSION)


def test_correlations_beside_jax() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    from jax.experimental.jet import jet

    jnp = jax.numpy
    network, parameters, X = case()
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

    ours = np.stack(correlations.scalar_and_vector_norms(network, parameters, X, ORDER), axis=-1)[:, 0]
    own = seconds(lambda: correlations.scalar_and_vector_norms(network, parameters, X, ORDER), RUNS)
    print(f"\nC_0d and |C_1d|, d <= {ORDER}, width {WIDTH}, {POINTS} points, float64: shortest and median time")
    row("limes", *own)
    for name, function in (("JAX, nested jvp", nested), ("JAX, Taylor mode", taylor)):
        compiled = jax.jit(lambda points, function=function: jax.lax.map(function, points))
        points = jnp.asarray(X)
        theirs = np.asarray(compiled(points).block_until_ready()).swapaxes(0, 1)
        largest = np.abs(theirs).max(axis=1, keepdims=True)
        error = (np.abs(theirs - ours) / largest).max()
        assert error < 1e-10, f"not the same numbers ({error:.1g}): the comparison would be void"
        times = seconds(lambda compiled=compiled, points=points: compiled(points).block_until_ready(), PEER_RUNS)
        row(name, *times)
        ratios = [theirs / ours for theirs, ours in zip(times, own, strict=True)]
        print(f"  equal to {error:.1g}; ratio {ratios[0]:.0f} of the shortest, {ratios[1]:.0f} of the median times")


def test_operator_norm() -> None:
    network, parameters, X = case()
    print(f"\n|C_2d| by Lanczos, width {WIDTH}, one point: shortest and median time")
    for d in (1, 2):
        row(f"limes, d = {d}", *seconds(lambda d=d: correlations.operator_norm(network, parameters, X[:1], d), 3))
