"""The CNTK of digits side by side with neural-tangents, in one run; times are shown, never asserted.

neural-tangents divides convolutions by the fan-in, the first by the number of channels too, which is 1 here: it is
given `W_std = 1` and then `W_std = √2`. It is compiled first, and the compilation is not counted. The error is the
largest difference of the two from each other, relative to the largest entry.
"""

import math

import numpy as np
import pytest

from checks.bench import PEERS
from numerics import kernels
from numerics.data import digits
from numerics.kernels import Pooling

pytestmark = pytest.mark.benchmark

DEPTH, IMAGES = 5, 100


def images(count: int) -> np.ndarray:
    return digits(count).images.reshape(-1, 8, 8)


@pytest.mark.parametrize("pooling", Pooling)
def test_cntk_beside_neural_tangents(bench, installed, pooling: Pooling) -> None:
    x = images(IMAGES)
    contestants, errors, missing = {"limes": lambda: kernels.cntk(x, depth=DEPTH, pooling=pooling)}, {}, {}
    if (tangents := installed("neural_tangents")) and (jax := installed("jax")):
        jax.config.update("jax_enable_x64", True)
        stax, layers = tangents.stax, []
        for layer in range(DEPTH):
            scale = 1.0 if layer == 0 else math.sqrt(2)
            layers += [stax.Conv(1, (3, 3), padding="SAME", W_std=scale, b_std=None), stax.Relu()]
        layers += [stax.GlobalAvgPool() if pooling is Pooling.MEAN else stax.Flatten()]
        *_, kernel_fn = stax.serial(*layers, stax.Dense(1, W_std=math.sqrt(2), b_std=None))
        peer = jax.jit(lambda x: kernel_fn(x, get="ntk"))
        given = jax.numpy.asarray(x[..., None])
        gram, theirs = contestants["limes"](), np.asarray(peer(given).block_until_ready())
        difference = np.abs(theirs - gram) / gram.max()
        apart = ~np.eye(len(x), dtype=bool)
        assert difference[apart].max() < 1e-6, "not the same kernel: the comparison would be void"
        contestants["neural-tangents"] = lambda: peer(given).block_until_ready()
        errors["neural-tangents"] = float(difference.max())
    else:
        missing["neural-tangents"] = PEERS
    case = f"CNTK, pooling {pooling.name.lower()}, {IMAGES} digits of 8x8 pixels, depth {DEPTH}, float64"
    bench(case, contestants, errors=errors, missing=missing)


def test_a_thousand_digits(bench) -> None:
    x = images(1000)
    run = lambda: kernels.cntk(x, depth=DEPTH, pooling=Pooling.MEAN)  # noqa: E731
    bench(f"CNTK, pooling mean, 1000 digits of 8x8 pixels, depth {DEPTH}, float64", {"limes": run})
