"""The derivations of the convolutional kernel hold, and agree with the kernel in numbers."""

import numpy as np
import pytest
from sympy import Integer, lambdify

from numerics import kernels
from theory.convolution import IMAGE, IMAGE_PRIME, N, fully_connected, in_pixels, next_layer, one_layer_expectation
from theory.derivation import Derivation
from theory.errors import InvalidInput
from theory.ntk import L, Sigma, Sigma_dot
from theory.pooling import Pooling

SHAPES = [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2)]


def proved(derivation: Derivation) -> bool:
    return all(checked.outcome.proved for part in derivation.parts() for checked in part.check())


@pytest.mark.parametrize("pooling", Pooling)
def test_one_layer(pooling: Pooling) -> None:
    assert proved(one_layer_expectation(pooling))


def test_next_layer() -> None:
    assert proved(next_layer())


@pytest.mark.parametrize("pooling", Pooling)
@pytest.mark.parametrize("shape", SHAPES)
def test_tiny_images(shape: tuple[int, int], pooling: Pooling) -> None:
    derivation = in_pixels(*shape, pooling)
    if shape != (2, 2) or pooling is Pooling.NONE:  # the last takes long
        assert proved(derivation)
    size = shape[0] * shape[1]
    formula = lambdify((*IMAGE[:size], *IMAGE_PRIME[:size]), derivation.conclusion, "math")
    rng = np.random.default_rng(1)
    for _ in range(5):
        x, y = rng.uniform(0.1, 1, size=(2, size))
        expected = kernels.cntk(x.reshape(1, *shape), y.reshape(1, *shape), depth=1, pooling=pooling)
        # the formula, not the kernel, loses digits near parallel images, of which single pixels are an example
        assert formula(*x, *y) == pytest.approx(expected.item(), rel=1e-7)


def test_flattened_small_images_at_every_depth() -> None:
    derivation = fully_connected()
    assert proved(derivation)
    images = np.random.default_rng(2).standard_normal((2, 1, 2))
    flat = images.reshape(2, 2)
    for depth in (1, 2, 3):
        levels = [kernels.nngp(flat, depth=level) for level in range(depth + 1)]
        ntks = [kernels.ntk(flat, depth=level) for level in range(depth + 1)]
        values = {Sigma[level]: levels[level][0, 1] for level in range(depth + 1)}
        values |= {
            Sigma_dot[level]: (ntks[level] - levels[level])[0, 1] / ntks[level - 1][0, 1]
            for level in range(1, depth + 1)
        }
        formula = derivation.conclusion.subs({L: depth - 1, N: Integer(2)}).doit().subs(values)
        expected = kernels.cntk(images, depth=depth, pooling=Pooling.NONE)[0, 1]
        assert float(formula) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sizes", [(0, 1), (1, 5), (2, 3), (1.0, 1), (True, 1), ("1", 1)])
def test_sizes_are_refused(sizes: tuple) -> None:
    with pytest.raises(InvalidInput, match="height, width"):
        in_pixels(*sizes, Pooling.MEAN)
