"""Gram matrices against the recursion in Arb, on the exact vectors that the floats are; and their properties."""

import math
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.activations import dual, normalisation
from numerics.data import digits, sphere, sphere_pair
from numerics.kernels import WORTHWHILE, nngp, ntk, ntk_layers
from theory.activations import ACTIVATIONS, Activation, LeakyReLU, ReLU
from theory.errors import InvalidInput
from theory.parametrisation import Parametrisation

DEPTHS = (0, 1, 2, 3, 10, 100, 1000)
ANGLES = [10.0**-k for k in range(1, 10)] + [0.25, 0.5, 1.0, 1.97, 2.5, 3.0, 3.1415, math.pi]
PAIRS = np.vstack([sphere_pair(np.random.default_rng(7), 64, angle=angle) for angle in ANGLES])
COPIES = (1, math.isqrt(WORTHWHILE) // len(PAIRS) + 1)  # of all pairs, for which no table is made, and one is


@pytest.fixture
def precision():
    before, flint.ctx.prec = flint.ctx.prec, 500
    yield
    flint.ctx.prec = before


def oracle(
    x: np.ndarray, y: np.ndarray, depth: int, *, slopes: tuple[float, float] = (0.5, 0.5), weight_std=1.0, bias_std=0.0
) -> tuple[list[arb], list[arb]]:
    """`Kˡ = Σˡ + σ_b²` and `Θˡ`, `l = 0..depth`, of `φ(s) = a s + b|s|`, in covariances and from their definition.

    Radii are dropped after each layer: rounding errors of 2^-500 do not grow, where the balls would.
    """
    x, y = ([arb(fmpq(*Fraction(entry).as_integer_ratio())) for entry in row.tolist()] for row in (x, y))
    weights, biases = arb(weight_std) ** 2, arb(bias_std) ** 2
    p, q, c = (
        weights * sum((a * b for a, b in zip(first, second, strict=True)), arb(0)) + biases
        for first, second in ((x, x), (y, y), (x, y))
    )
    a, b = map(arb, slopes)
    kink = 2 * b**2 / (a**2 + b**2) / arb.pi()
    sigmas, thetas = [c], [c]
    for _ in range(depth):
        p, q, c, theta = (value.mid() for value in (p, q, c, thetas[-1]))
        height = abs((p * q - c**2).mid()).sqrt()  # 0 up to rounding, if x = y
        angle = arb.atan2(height, c)
        c = weights * (c + kink * (height - angle * c)) + biases
        p, q = weights * p + biases, weights * q + biases
        sigmas.append(c)
        thetas.append(theta * weights * (1 - kink * angle) + c)
    return sigmas, thetas


def relative_error(found: float, exact: arb, size: float = 1.0) -> float:
    return abs(float(arb(float(found)) - exact)) / max(abs(float(exact)), 0.01 * size)


@cache
def gram_of_pairs(kernel: Callable[..., np.ndarray], depth: int, copies: int) -> np.ndarray:
    return kernel(np.tile(PAIRS, (copies, 1)), depth=depth)


@pytest.mark.parametrize("index", range(len(ANGLES)), ids=[f"{angle:.4g}" for angle in ANGLES])
def test_relu_on_the_sphere_at_every_depth(index: int, precision: None) -> None:
    first, second = 2 * index, 2 * index + 1
    sigmas, thetas = oracle(PAIRS[first], PAIRS[second], max(DEPTHS))
    for depth in DEPTHS:
        for copies in COPIES:
            for kernel, exact in ((nngp, sigmas), (ntk, thetas)):
                gram = gram_of_pairs(kernel, depth, copies)
                assert relative_error(gram[first, second], exact[depth]) < 1e-13
                assert gram[second, first] == gram[first, second]
                assert gram[first, first] == (1 if kernel is nngp else depth + 1)


@pytest.mark.parametrize("slopes", [(0.505, 0.495), (1.0, 0.125), (0.0, 1.0), (0.0625, 1.0), (1.0, -0.5)])
@pytest.mark.parametrize(("weight_std", "bias_std"), [(1.0, 0.0), (1.0, 0.5), (1.25, 0.25)])
def test_homogeneous_activations(
    slopes: tuple[float, float], weight_std: float, bias_std: float, precision: None
) -> None:
    rng, options = np.random.default_rng(8), {"weight_std": weight_std, "bias_std": bias_std}
    for angle in (1e-8, 1e-3, 0.3, 2.0, 3.1):
        for norms in ((1.0, 1.0), (0.5, 3.0), (2.0, 2.0 + 1e-7)):
            x, y = sphere_pair(rng, 10, angle=angle) * np.array(norms)[:, None]
            exact, own = (oracle(x, other, 30, slopes=slopes, **options) for other in (y, x))
            for depth in (0, 1, 5, 30):
                for kernel, values, sizes in zip((nngp, ntk), exact, own, strict=True):
                    found = kernel(x[None], y[None], depth=depth, activation=LeakyReLU(*slopes), **options)[0, 0]
                    error = abs(float(arb(found) - values[depth]))
                    assert error < 2e-14 * float(sizes[depth]) * norms[1] / norms[0]


def test_general_norms_through_the_table(precision: None) -> None:
    X = 3 * np.random.default_rng(9).standard_normal((140, 5))
    gram = ntk(X, depth=20)
    for i, j in ((0, 1), (3, 139), (77, 20)):
        size = float(np.linalg.norm(X[i]) * np.linalg.norm(X[j]))
        assert relative_error(gram[i, j], oracle(X[i], X[j], 20)[1][-1], size) < 1e-13


@pytest.mark.parametrize("depth", DEPTHS)
def test_equal_points_give_the_depth_plus_one_exactly(depth: int) -> None:
    few, many = sphere(np.random.default_rng(10), 9, 64), sphere(np.random.default_rng(11), 200, 33)
    for X in (few, many, digits(150, unit_sphere=True).images):
        X = np.vstack([X, X[::-1]])
        for gram in (ntk(X, depth=depth), ntk(X, X[::-1].copy(), depth=depth)[:, ::-1]):
            assert np.all(np.diag(gram) == depth + 1)  # each row and itself,
            assert np.all(np.diag(gram[:, ::-1]) == depth + 1)  # and its copy
        assert np.all(np.diag(nngp(X, depth=depth)) == 1)


def test_points_equal_up_to_rounding() -> None:
    X = np.random.default_rng(12).standard_normal((30, 64))
    first = X / np.linalg.norm(X, axis=1, keepdims=True)
    second = (X / 3) / np.linalg.norm(X / 3, axis=1, keepdims=True)
    assert not np.array_equal(first, second)
    for depth in (1, 100, 1000):
        np.testing.assert_allclose(np.diag(ntk(first, second, depth=depth)), depth + 1, rtol=1e-15 * (depth + 10))


def test_integers_are_their_floats() -> None:
    X = np.array([[3, 4], [-5, 12], [0, 0]])
    gram = ntk(X, depth=3)
    assert np.array_equal(gram, ntk(X.astype(float), depth=3))
    assert np.diag(gram).tolist() == [100, 676, 0]
    assert np.array_equal(ntk(X.astype(np.uint8), depth=3), ntk(X.astype(np.uint8).astype(float), depth=3))
    np.testing.assert_allclose(ntk(X, depth=0), X @ X.T, rtol=1e-15, atol=1e-14)


@pytest.mark.parametrize("activation", [*ACTIVATIONS, LeakyReLU(0, 1)], ids=str)
@pytest.mark.parametrize("bias_std", [0.0, 0.4])
def test_what_holds_for_every_activation(activation: str | Activation, bias_std: float) -> None:
    X = sphere(np.random.default_rng(13), 130, 6)
    options: dict[str, Any] = {"activation": activation, "bias_std": bias_std}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gram, features, parts = (kernel(X, depth=3, **options) for kernel in (ntk, nngp, ntk_layers))
        loose = ntk(X[:20], X[5:30], depth=3, **options)
        scaled = ntk(np.linspace(0.8, 1.1, 40)[:, None] * X[:40], depth=2, **options)
    for kernel in (gram, features, scaled):
        assert kernel.dtype == np.float64
        assert np.array_equal(kernel, kernel.T)
        eigenvalues = np.linalg.eigvalsh(kernel)
        assert eigenvalues[0] >= -1e-13 * len(kernel) * eigenvalues[-1]
    size = gram.max()
    np.testing.assert_allclose(parts.sum(axis=0), gram, rtol=0, atol=2e-12 * size)
    np.testing.assert_allclose(parts[-1], features, rtol=0, atol=2e-12 * size)
    np.testing.assert_allclose(loose, gram[:20, 5:30], rtol=0, atol=2e-12 * size)
    assert np.ptp(np.diag(gram)) == 0  # all points have one norm


@pytest.mark.parametrize("name", ["erf", "sin", "hermite", "tanh"])
def test_two_layers_step_by_step(name: str) -> None:
    X = np.array([[0.6, 0.8], [-0.5, 1.0], [0.6, 0.8]])
    sigma = 1.5**2 * X @ X.T + 0.25
    theta = sigma
    for _ in range(2):
        variance = np.diag(sigma)
        value, derivative = dual(name, variance[:, None], variance, sigma)
        sigma = 1.5**2 * value + 0.25
        theta = theta * 1.5**2 * derivative + sigma
    np.testing.assert_allclose(nngp(X, depth=2, activation=name, weight_std=1.5, bias_std=0.5), sigma, rtol=1e-11)
    np.testing.assert_allclose(ntk(X, depth=2, activation=name, weight_std=1.5, bias_std=0.5), theta, rtol=1e-11)


@pytest.mark.parametrize("name", ["relu", "erf"])
def test_the_standard_parametrisation(name: str) -> None:
    # its layers' parts are those of the other, but for the factors that theory/parametrisation.py names
    X, widths = np.random.default_rng(14).standard_normal((6, 3)), (5, 7)
    options: dict[str, Any] = {"depth": 2, "activation": name, "weight_std": 1.25}
    standard: dict[str, Any] = {"parametrisation": Parametrisation.STANDARD, "widths": widths}
    parts, other = ntk_layers(X, **options), ntk_layers(X, **options, **standard)
    factors = np.array([1, *(width / normalisation(name) for width in widths)]) / 1.25**2
    np.testing.assert_allclose(other, factors[:, None, None] * parts, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ntk(X, **options, **standard), other.sum(axis=0), rtol=1e-12, atol=1e-12)

    # with biases: the last layer's weights see Σ^L − σ_b², its bias has derivative 1
    last = ntk_layers(X, **options, bias_std=0.5, **standard)[-1]
    features = nngp(X, **options, bias_std=0.5)
    np.testing.assert_allclose(last, factors[-1] * (features - 0.25) + 1, rtol=1e-12)


@given(
    st.floats(0, math.pi / 2),
    st.floats(0, math.pi / 2),
    st.integers(0, 40),
    st.sampled_from([ReLU(), LeakyReLU(), LeakyReLU(1, -0.5)]),
)
@settings(max_examples=100, deadline=None)
def test_kernels_increase_with_the_correlation(first: float, second: float, depth: int, activation: Activation) -> None:
    near, far = sorted([first, second])
    X = np.array([[1.0, 0.0]])
    Y = np.array([[math.cos(near), math.sin(near)], [math.cos(far), math.sin(far)]])
    for kernel in (ntk, nngp):
        values = kernel(X, Y, depth=depth, activation=activation)[0]
        assert values[0] >= values[1] - 1e-15 * (depth + 1)


def test_beyond_the_right_angle_the_ntk_is_not_monotone() -> None:
    # Θ¹ = (2(π − θ) cos θ + sin θ)/π is negative between 1.97 and π, and 0 at π: Σ alone increases on all of [−1, 1]
    angles = np.array([1.9, 2.2, math.pi])
    Y = np.stack([np.cos(angles), np.where(angles == math.pi, 0, np.sin(angles))], axis=1)
    assert np.sign(ntk(np.array([[1.0, 0.0]]), Y, depth=1)[0]).tolist() == [1, -1, 0]
    assert np.all(np.diff(nngp(np.array([[1.0, 0.0]]), Y, depth=1)[0]) < 0)


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(0, 100), st.sampled_from(["relu", "leaky-relu"]))
@settings(max_examples=50, deadline=None)
def test_homogeneity(scale: float, scale2: float, depth: int, name: str) -> None:
    X, X2 = sphere(np.random.default_rng(15), 3, 4), sphere(np.random.default_rng(16), 2, 4)
    for kernel in (ntk, nngp):
        expected = scale * scale2 * kernel(X, X2, depth=depth, activation=name)
        found = kernel(scale * X, scale2 * X2, depth=depth, activation=name)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * (depth + 1) * scale * scale2)


@pytest.mark.parametrize("bias_std", [0.0, 0.5])
@pytest.mark.parametrize("name", [*ACTIVATIONS])
def test_zero_points(name: str, bias_std: float) -> None:
    X = np.array([[0.0, 0.0], [0.6, 0.8], [0.0, 0.0]])
    for kernel in (ntk, nngp, ntk_layers):
        assert np.all(np.isfinite(kernel(X, depth=3, activation=name, bias_std=bias_std)))
    if bias_std == 0 and name in ("relu", "leaky-relu", "identity"):
        assert np.all(ntk(X, depth=3, activation=name)[0] == 0)
    assert ntk(X, depth=3, activation=name, bias_std=bias_std)[0, 2] == pytest.approx(
        float(ntk(X, depth=3, activation=name, bias_std=bias_std)[0, 0]), rel=1e-14
    )


def test_memory_stays_within_one_and_a_half_results() -> None:
    X = sphere(np.random.default_rng(17), 1200, 16)
    ntk(X[:200], depth=3)  # what is imported or kept on the first call
    for kernel, options in ((ntk, {}), (nngp, {}), (ntk, {"bias_std": 1.0}), (ntk, {"activation": "erf"})):
        for points in (X, np.linspace(0.5, 1, len(X))[:, None] * X):
            tracemalloc.start()
            size = kernel(points, depth=8, **options).nbytes
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < 1.5 * size


def test_importing_does_not_import_sympy() -> None:
    command = "import sys, numerics.kernels; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0


GOOD = np.eye(3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": [[1.0, math.nan]]}, r"X\[0\].*finite"),
        ({"X": [[1.0], [math.inf]]}, r"X\[1\].*finite"),
        ({"X": []}, "X.*shape"),
        ({"X": np.empty((0, 3))}, "X.*shape"),
        ({"X": np.empty((3, 0))}, "X.*shape"),
        ({"X": np.ones(3)}, r"X.*\(n, d\)"),
        ({"X": [[1.0, 2.0], [3.0]]}, "X.*lengths"),
        ({"X": [["a", "b"]]}, "X.*floats"),
        ({"X": np.eye(3) * 1j}, "X.*floats"),
        ({"X": [[2**53 + 1, 0, 0]]}, r"X.*2\*\*53"),
        ({"X2": np.eye(2)}, "X2.*dimension 2; 3"),
        ({"X2": [[1.0, 0.0, -math.inf]]}, r"X2\[0\].*finite"),
        ({"depth": -1}, "depth = -1"),
        ({"depth": 2.0}, r"depth = 2\.0"),
        ({"depth": True}, "depth = True"),
        ({"depth": "3"}, "depth = 3"),
        ({"depth": 10**15}, "depth = 1000000000000000: .*one by one"),
        ({"activation": "rleu"}, "activation = rleu: known are relu"),
        ({"activation": ReLU}, "activation"),
        ({"weight_std": 0}, "weight_std = 0"),
        ({"weight_std": math.nan}, "weight_std = nan"),
        ({"bias_std": -0.5}, r"bias_std = -0\.5"),
        ({"bias_std": "1"}, "bias_std = 1"),
        ({"bias_std": True}, "bias_std = True"),
        ({"widths": (3, 3)}, "widths.*leave them out"),
        ({"parametrisation": "standard"}, "parametrisation = standard"),
        ({"parametrisation": Parametrisation.STANDARD}, "widths = None"),
        ({"parametrisation": Parametrisation.STANDARD, "widths": (4,)}, "widths.*2 hidden layers"),
        ({"parametrisation": Parametrisation.STANDARD, "widths": (4, 0)}, r"widths\[1\] = 0"),
        ({"X": 1e200 * GOOD}, "X.*overflows"),
        ({"weight_std": 1e300}, "overflow"),
        ({"activation": "exp", "depth": 20, "X": 2 * GOOD}, "X = points of norm 2.*overflows in layer"),
        ({"activation": "hermite", "depth": 200, "X": 2 * np.ones((200, 3))}, "overflows in layer"),
    ],
    ids=lambda value: str(value)[:40].replace("\n", ""),
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"X": GOOD, "depth": 2, **change}
    points = [arguments.pop("X"), arguments.pop("X2", None)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel in (ntk, ntk_layers):
            with pytest.raises(InvalidInput, match=f"(?s){message}"):
                kernel(*points, **arguments)
