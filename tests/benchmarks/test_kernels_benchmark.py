"""The ReLU NTK's Gram matrix side by side with neural-tangents, in one run; times are shown, never asserted.

neural-tangents divides dense layers by the fan-in, the first by the dimension too: it is given `x √d`, `W_std = 1`, and
then `W_std = √2`. It is compiled first, and the compilation is not counted. The error is the diagonal's.
"""

import math

import numpy as np
import pytest

from checks.bench import PEERS
from numerics import kernels
from numerics.data import sphere

pytestmark = pytest.mark.benchmark

POINTS, DIMENSION, DEPTH = 2000, 64, 64
CASE = f"ReLU NTK, {POINTS} points in R^{DIMENSION}, float64"


def test_relu_ntk_gram_beside_neural_tangents(bench, installed) -> None:
    X = sphere(np.random.default_rng(0), POINTS, DIMENSION)
    gram = kernels.ntk(X, depth=DEPTH)
    contestants, found, missing = {"limes": lambda: kernels.ntk(X, depth=DEPTH)}, {"limes": gram}, {}
    if (tangents := installed("neural_tangents")) and (jax := installed("jax")):
        jax.config.update("jax_enable_x64", True)
        layers = [tangents.stax.Dense(1, W_std=1.0, b_std=None)]
        for _ in range(DEPTH):
            layers += [tangents.stax.Relu(), tangents.stax.Dense(1, W_std=math.sqrt(2), b_std=None)]
        *_, kernel_fn = tangents.stax.serial(*layers)
        peer = jax.jit(lambda x: kernel_fn(x, get="ntk"))
        scaled = jax.numpy.asarray(X * math.sqrt(DIMENSION))
        found["neural-tangents"] = np.asarray(peer(scaled).block_until_ready())
        assert np.abs(found["neural-tangents"] - gram).max() < 1e-4, "not the same kernel: the comparison would be void"
        contestants["neural-tangents"] = lambda: peer(scaled).block_until_ready()
    else:
        missing["neural-tangents"] = PEERS
    errors = {name: float(np.abs(np.diag(kernel) / (DEPTH + 1) - 1).max()) for name, kernel in found.items()}
    bench(f"{CASE}, depth {DEPTH}", contestants, errors=errors, missing=missing)


@pytest.mark.parametrize("depth", [1, 1000])
def test_other_depths(bench, depth: int) -> None:
    X = sphere(np.random.default_rng(0), POINTS, DIMENSION)
    bench(f"{CASE}, depth {depth}", {"limes": lambda: kernels.ntk(X, depth=depth)})


def test_other_kernels(bench) -> None:
    X = sphere(np.random.default_rng(0), POINTS, DIMENSION)
    clustered = X[0] + 0.1 * X
    spread = X * np.linspace(0.5, 2, POINTS)[:, None]
    for name, points, options in (
        ("ReLU, angles below 0.2", clustered, {}),
        ("ReLU, biases, one norm", X, {"bias_std": 0.5}),
        ("ReLU, biases, many norms", spread, {"bias_std": 0.5}),
        ("erf, one norm", X, {"activation": "erf"}),
        ("erf, many norms", spread, {"activation": "erf"}),
    ):
        run = lambda points=points, options=options: kernels.ntk(points, depth=8, **options)  # noqa: E731
        bench(f"{name}, {POINTS} points in R^{DIMENSION}, depth 8", {"limes": run})
