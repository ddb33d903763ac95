"""The ReLU NTK's Gram matrix side by side with neural-tangents, in one run; times are printed, never asserted.

    pip install 'limes[peers]'
    pytest -m benchmark -s tests/benchmarks/test_kernels_benchmark.py

neural-tangents divides dense layers by the fan-in, the first by the dimension too: it is given `x √d`, `W_std = 1` and
then `W_std = √2`. It is compiled first, and the compilation is not counted.
"""

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
import pytest

from numerics import kernels
from numerics.data import sphere

pytestmark = pytest.mark.benchmark

POINTS, DIMENSION, DEPTH = 2000, 64, 64
RUNS, PEER_RUNS = 15, 5


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


def row(name: str, shortest: float, median: float, *remarks: str) -> None:
    print(f"{name:<34}{shortest * 1e3:>10.1f} ms{median * 1e3:>10.1f} ms   {'; '.join(remarks)}")


def test_relu_ntk_gram_beside_neural_tangents() -> None:
    jax = pytest.importorskip("jax")
    pytest.importorskip("neural_tangents")
    jax.config.update("jax_enable_x64", True)
    from neural_tangents import stax

    X = sphere(np.random.default_rng(0), POINTS, DIMENSION)
    layers = [stax.Dense(1, W_std=1.0, b_std=None)]
    for _ in range(DEPTH):
        layers += [stax.Relu(), stax.Dense(1, W_std=math.sqrt(2), b_std=None)]
    *_, kernel_fn = stax.serial(*layers)
    peer = jax.jit(lambda x: kernel_fn(x, get="ntk"))
    scaled = jax.numpy.asarray(X * math.sqrt(DIMENSION))

    theirs = np.asarray(peer(scaled).block_until_ready())
    gram = kernels.ntk(X, depth=DEPTH)
    assert np.abs(theirs - gram).max() < 1e-4, "not the same kernel: the comparison would be void"

    print(f"\nReLU NTK, {POINTS} points in R^{DIMENSION}, float64: shortest and median time")
    for depth in (1, DEPTH, 1000):
        row(f"limes, depth {depth}", *seconds(lambda depth=depth: kernels.ntk(X, depth=depth), RUNS))
    ours = seconds(lambda: kernels.ntk(X, depth=DEPTH), RUNS)
    others = seconds(lambda: peer(scaled).block_until_ready(), PEER_RUNS)
    for name, times, kernel in (("limes", ours, gram), ("neural-tangents", others, theirs)):
        row(f"{name}, depth {DEPTH}", *times, f"diagonal off by {np.abs(np.diag(kernel) - DEPTH - 1).max():.1e}")
    print(f"ratio: {others[0] / ours[0]:.0f} of the shortest, {others[1] / ours[1]:.0f} of the median times")


def test_other_kernels() -> None:
    X = sphere(np.random.default_rng(0), POINTS, DIMENSION)
    clustered = X[0] + 0.1 * X
    spread = X * np.linspace(0.5, 2, POINTS)[:, None]
    print(f"\n{POINTS} points in R^{DIMENSION}, depth 8: shortest and median time")
    for name, points, options in (
        ("ReLU, angles below 0.2", clustered, {}),
        ("ReLU, biases, one norm", X, {"bias_std": 0.5}),
        ("ReLU, biases, many norms", spread, {"bias_std": 0.5}),
        ("erf, one norm", X, {"activation": "erf"}),
        ("erf, many norms", spread, {"activation": "erf"}),
    ):
        row(name, *seconds(lambda points=points, options=options: kernels.ntk(points, depth=8, **options), 3))
