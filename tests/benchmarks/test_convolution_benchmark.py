"""The pooled CNTK of digits side by side with neural-tangents, in one run; times are printed, never asserted.

    pip install 'limes[peers]'
    pytest -m benchmark -s tests/benchmarks/test_convolution_benchmark.py

neural-tangents divides convolutions by the fan-in, the first by the number of channels too, which is 1 here: it is
given `W_std = 1` and then `W_std = √2`. It is compiled first, and the compilation is not counted.
"""

import math
import resource
import time
from collections.abc import Callable

import numpy as np
import pytest

from numerics import kernels
from numerics.data import digits
from numerics.kernels import Pooling

pytestmark = pytest.mark.benchmark

DEPTH = 5


@pytest.fixture(autouse=True)
def on_demand(request: pytest.FixtureRequest) -> None:
    if "benchmark" not in request.config.getoption("markexpr"):
        pytest.skip("measures times: run it with -m benchmark")


def images(count: int) -> np.ndarray:
    return digits(count).images.reshape(-1, 8, 8)


def seconds(run: Callable[[], object], runs: int) -> float:
    """The shortest time of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize("pooling", Pooling)
def test_cntk_beside_neural_tangents(pooling: Pooling) -> None:
    jax = pytest.importorskip("jax")
    pytest.importorskip("neural_tangents")
    jax.config.update("jax_enable_x64", True)
    from neural_tangents import stax

    layers = []
    for layer in range(DEPTH):
        scale = 1.0 if layer == 0 else math.sqrt(2)
        layers += [stax.Conv(1, (3, 3), padding="SAME", W_std=scale, b_std=None), stax.Relu()]
    layers += [stax.GlobalAvgPool() if pooling is Pooling.MEAN else stax.Flatten()]
    *_, kernel_fn = stax.serial(*layers, stax.Dense(1, W_std=math.sqrt(2), b_std=None))
    peer = jax.jit(lambda x: kernel_fn(x, get="ntk"))
    x = images(200)
    given = jax.numpy.asarray(x[..., None])

    theirs = np.asarray(peer(given).block_until_ready())
    gram = kernels.cntk(x, depth=DEPTH, pooling=pooling)
    apart = ~np.eye(len(x), dtype=bool)
    assert np.abs(theirs - gram)[apart].max() < 1e-6 * gram.max(), "not the same kernel: the comparison would be void"

    ours = seconds(lambda: kernels.cntk(x, depth=DEPTH, pooling=pooling), 5)
    others = seconds(lambda: peer(given).block_until_ready(), 2)
    difference = np.abs(theirs - gram) / gram.max()
    print(f"\nCNTK, {pooling}, 200 digits of 8x8 pixels, depth {DEPTH}, float64: the shortest time")
    print(f"limes {ours:.2f} s, neural-tangents {others:.2f} s, ratio {others / ours:.1f}")
    print(f"largest difference {difference[apart].max():.1e} between images, {difference.max():.1e} with the diagonal")


def test_a_thousand_digits() -> None:
    x = images(1000)
    taken = seconds(lambda: kernels.cntk(x, depth=DEPTH, pooling=Pooling.MEAN), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nCNTK with pooling, 1000 digits, depth {DEPTH}: {taken:.1f} s; peak memory {peak:.2f} GiB")
