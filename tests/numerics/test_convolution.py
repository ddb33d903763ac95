"""The CNTK against its recursion in 40 digits, against kernels that are known, and its properties."""

import math
import subprocess
import sys
import tracemalloc
import warnings
from itertools import product

import numpy as np
import pytest
from mpmath import MPContext

from numerics import convolution, kernels
from numerics.convolution import DEEPEST, cnn_nngp, cntk
from numerics.data import digits
from theory.errors import InvalidInput
from theory.pooling import Pooling

MP = MPContext()
MP.dps = 40
POOLINGS = tuple(Pooling)


def oracle(x: np.ndarray, y: np.ndarray, depth: int) -> dict[Pooling, tuple[float, float]]:
    """The NNGP kernel and the CNTK of images `(h, w, c)`: the definition, one pair of pixels at a time."""
    height, width, _ = x.shape
    pixels = list(product(range(height), range(width)))

    def box(values: dict) -> dict:
        sums = {}
        for (i, j), (row, column) in values:
            around = [((i + a, j + b), (row + a, column + b)) for a in (-1, 0, 1) for b in (-1, 0, 1)]
            sums[(i, j), (row, column)] = MP.fsum(values.get(pair, 0) for pair in around) / 9
        return sums

    def covariances(first: np.ndarray, second: np.ndarray, pairs: list) -> dict:
        return {(p, q): MP.fdot(first[p].tolist(), second[q].tolist()) for p, q in pairs}

    same = [(p, p) for p in pixels]
    of_x, of_y, K = covariances(x, x, same), covariances(y, y, same), covariances(x, y, list(product(pixels, pixels)))
    Z = dict(K)
    for _ in range(depth):
        of_x, of_y, S, T = box(of_x), box(of_y), box(K), box(Z)
        for p, q in S:
            product_of_variances = of_x[p, p] * of_y[q, q]
            if product_of_variances == 0:
                K[p, q] = Z[p, q] = MP.zero
                continue
            sine = MP.sqrt(max(MP.zero, product_of_variances - S[p, q] ** 2))
            angle = MP.atan2(sine, S[p, q])
            K[p, q] = (sine + (MP.pi - angle) * S[p, q]) / MP.pi
            Z[p, q] = K[p, q] + (1 - angle / MP.pi) * T[p, q]
    means = {
        Pooling.NONE: [MP.fsum(values[pair] for pair in same) / len(pixels) for values in (K, Z)],
        Pooling.MEAN: [MP.fsum(values.values()) / len(pixels) ** 2 for values in (K, Z)],
    }
    return {pooling: (float(features), float(tangent)) for pooling, (features, tangent) in means.items()}


def assert_exact(x: np.ndarray, y: np.ndarray, depth: int) -> None:
    exact, exact_x, exact_y = oracle(x, y, depth), oracle(x, x, depth), oracle(y, y, depth)
    for pooling in POOLINGS:
        for which, kernel in enumerate((cnn_nngp, cntk)):
            size = math.sqrt(exact_x[pooling][which] * exact_y[pooling][which])
            gram = kernel(np.stack([x, y]), depth=depth, pooling=pooling)
            alone = kernel(x[None], y[None], depth=depth, pooling=pooling)
            assert abs(gram[0, 1] - exact[pooling][which]) <= 1e-13 * size
            assert abs(alone[0, 0] - exact[pooling][which]) <= 1e-13 * size
            assert gram[0, 0] == pytest.approx(exact_x[pooling][which], rel=1e-14)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 3, 1), (2, 2, 1), (2, 2, 3), (3, 3, 1)])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_recursion(shape: tuple[int, int, int], depth: int) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, *shape)) + 0.1
    assert_exact(x, y, depth)
    assert_exact(x, -x, depth)


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-8, 1e-12, 0.0])
def test_where_an_arccosine_would_lose_half_the_digits(apart: float) -> None:
    rng = np.random.default_rng(2)
    x, other = rng.standard_normal((2, 2, 3, 2)) + 0.1
    for multiple in (1, 3, -1):
        assert_exact(x, multiple * x + apart * other, 2)


def test_single_bright_pixels_see_exactly_parallel_patches() -> None:
    x, y = np.zeros((2, 3, 3, 1))
    x[0, 0], y[2, 1], y[0, 2] = 0.7, 0.3, -0.1
    for depth in (1, 2, 3):
        assert_exact(x, y, depth)


def test_black_pixels_contribute_nothing() -> None:
    images = np.zeros((3, 6, 7))
    images[1, 2, 2], images[2, 5, 6] = 1.0, 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grams = [kernel(images, depth=2, pooling=p) for kernel in (cntk, cnn_nngp) for p in POOLINGS]
    for gram in grams:
        assert np.isfinite(gram).all()
        assert not gram[0].any()
        assert gram[1, 1] > 0


def test_a_pixel_is_a_fully_connected_network() -> None:
    values = np.array([[-2.0], [0.5], [1.0]])
    for depth in (0, 1, 5):
        for pooling in POOLINGS:
            expected = kernels.ntk(values, depth=depth) / 9.0**depth
            np.testing.assert_allclose(cntk(values[:, None], depth=depth, pooling=pooling), expected, atol=1e-15)


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (2, 2)])
def test_flattened_on_at_most_four_pixels_it_is_a_fully_connected_network(shape: tuple[int, int]) -> None:
    images = np.random.default_rng(3).standard_normal((6, *shape))
    flat, pixels = images.reshape(6, -1), shape[0] * shape[1]
    for depth in (1, 2, 6):
        for convolutional, dense in ((cntk, kernels.ntk), (cnn_nngp, kernels.nngp)):
            expected = dense(flat, depth=depth) * (pixels / 9) ** (depth - 1) / 9
            found = convolutional(images, depth=depth, pooling=Pooling.NONE)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * expected.max())


def test_without_layers_it_is_the_product_of_the_images() -> None:
    images = np.random.default_rng(4).standard_normal((5, 3, 4, 2))
    np.testing.assert_allclose(
        cntk(images, depth=0, pooling=Pooling.NONE), np.einsum("nhwc,mhwc->nm", images, images) / 12, rtol=1e-13
    )
    means = images.mean(axis=(1, 2))
    np.testing.assert_allclose(cntk(images, depth=0, pooling=Pooling.MEAN), means @ means.T, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("shape", [(4, 4), (1, 5), (3, 2, 3)])
def test_properties(pooling: Pooling, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    images = rng.standard_normal((7, *shape))
    for kernel in (cntk, cnn_nngp):
        gram = kernel(images, depth=3, pooling=pooling)
        error = 1e-13 * gram.max()
        assert gram.dtype == np.float64
        assert np.array_equal(gram, gram.T)
        assert np.linalg.eigvalsh(gram)[0] > -error
        np.testing.assert_allclose(kernel(images[:3], images, depth=3, pooling=pooling), gram[:3], rtol=0, atol=error)
        for turned in (images[:, ::-1], images[:, :, ::-1], np.swapaxes(images, 1, 2)):
            np.testing.assert_allclose(kernel(turned, depth=3, pooling=pooling), gram, rtol=0, atol=error)
        scales = 2.0 ** rng.integers(-600, 500, size=7)
        scaled = kernel(scales.reshape(7, *[1] * len(shape)) * images, depth=3, pooling=pooling)
        assert np.array_equal(
            scaled, np.ldexp(gram, np.log2(np.outer(scales, 1)).astype(int) + np.log2(scales).astype(int))
        )


def test_pooling_does_not_see_where_an_image_is_inside_a_black_frame() -> None:
    rng, depth = np.random.default_rng(6), 2
    framed = np.pad(rng.standard_normal((2, 3, 3)), ((0, 0), (depth + 1, depth + 1), (depth + 1, depth + 1)))
    moved, cut = np.roll(framed, 1, axis=1), np.roll(framed, depth + 1, axis=1)
    expected = cntk(framed, depth=depth, pooling=Pooling.MEAN)
    np.testing.assert_allclose(cntk(framed, moved, depth=depth, pooling=Pooling.MEAN), expected, rtol=1e-13)
    assert np.abs(cntk(framed, cut, depth=depth, pooling=Pooling.MEAN) / expected - 1).max() > 1e-3
    assert np.abs(cntk(framed, moved, depth=depth, pooling=Pooling.NONE) - expected).max() > 1e-3


@pytest.mark.parametrize("pooling", POOLINGS)
def test_tiles_and_blocks_do_not_show(pooling: Pooling, monkeypatch: pytest.MonkeyPatch) -> None:
    images = digits(13).images.reshape(-1, 8, 8)[:, 1:5, 2:5]
    images[10:] = images[:3]  # equal images, of which all pixels are near
    expected = cntk(images, depth=3, pooling=pooling)
    for i in range(3):
        assert expected[i, 10 + i] == pytest.approx(expected[i, i], rel=1e-14)
    for name, value in (("BLOCK", 64), ("ROWS", 3), ("COLUMNS", 5), ("LAYERED", 1), ("GATHERED", 7)):
        monkeypatch.setattr(convolution, name, value)
        found = cntk(images, depth=3, pooling=pooling)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        assert np.array_equal(found, found.T)


def test_integers_are_their_floats() -> None:
    images = np.random.default_rng(7).integers(0, 17, size=(4, 3, 3)).astype(np.uint8)
    for kernel in (cntk, cnn_nngp):
        found = kernel(images, depth=2, pooling=Pooling.MEAN)
        assert np.array_equal(found, kernel(images.astype(float), depth=2, pooling=Pooling.MEAN))


def test_very_deep_networks_do_not_produce_nan() -> None:
    images = np.random.default_rng(8).standard_normal((2, 2, 2))
    for depth in (300, 1000):
        gram = cntk(images, depth=depth, pooling=Pooling.MEAN)
        assert np.isfinite(gram).all()
    assert not gram.any()  # (4/9)^1000 is no float


def test_memory_is_bounded_by_tiles() -> None:
    images = np.random.default_rng(9).random((40, 5, 5))
    cntk(images[:2], depth=3, pooling=Pooling.MEAN)
    tracemalloc.start()
    cntk(images, depth=3, pooling=Pooling.MEAN)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e6 + 12 * 8 * convolution.BLOCK * 64  # some arrays for each of at most 64 threads


BAD_IMAGES = [
    np.zeros((2, 3)),
    np.zeros((2, 3, 3, 1, 1)),
    np.zeros((0, 3, 3)),
    np.zeros((2, 0, 3)),
    np.full((2, 3, 3), np.nan),
    np.full((2, 3, 3), np.inf),
    np.zeros((2, 3, 3), dtype=complex),
    np.zeros((2, 3, 3), dtype=bool),
    [[[1.0, 2.0], [3.0]]],
    "images",
    None,
]


@pytest.mark.parametrize("images", BAD_IMAGES, ids=str)
@pytest.mark.parametrize("kernel", [cntk, cnn_nngp])
def test_images_are_refused(images: object, kernel) -> None:
    with pytest.raises(InvalidInput, match="images"):
        kernel(images, depth=1, pooling=Pooling.MEAN)
    if images is not None:
        with pytest.raises(InvalidInput, match="images2"):
            kernel(np.ones((2, 3, 3)), images, depth=1, pooling=Pooling.MEAN)


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 4, 3), (2, 3, 3, 2)])
def test_other_images_must_match(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="images2"):
        cntk(np.ones((2, 3, 3)), np.ones(shape), depth=1, pooling=Pooling.NONE)


@pytest.mark.parametrize("depth", [-1, 1.0, True, "2", None, DEEPEST + 1])
def test_depth_is_refused(depth: object) -> None:
    with pytest.raises(InvalidInput, match="depth"):
        cntk(np.ones((2, 3, 3)), depth=depth, pooling=Pooling.NONE)  # type: ignore[arg-type]


@pytest.mark.parametrize("pooling", ["mean", None, True])
def test_pooling_is_no_string(pooling: object) -> None:
    with pytest.raises(InvalidInput, match="pooling"):
        cntk(np.ones((2, 3, 3)), depth=1, pooling=pooling)  # type: ignore[arg-type]


def test_overflow_is_refused() -> None:
    with pytest.raises(InvalidInput, match="overflow"):
        cntk(np.full((1, 3, 3), 1e200), depth=1, pooling=Pooling.NONE)
    assert np.isfinite(cntk(np.full((1, 3, 3), 1e153), depth=1, pooling=Pooling.NONE)).all()


def test_kernels_has_them_and_sympy_is_not_loaded() -> None:
    program = (
        "import sys, numpy; from numerics import kernels; "
        "kernels.cntk(numpy.ones((1, 2, 2)), depth=1, pooling=kernels.Pooling.MEAN); "
        "kernels.cnn_nngp(numpy.ones((1, 2, 2)), depth=1, pooling=kernels.Pooling.NONE); "
        "assert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
