"""Regression on digits: against least squares, and what the observations are."""

import numpy as np

from checks.ledger import regression
from numerics import kernels


def test_regression_on_digits_is_least_squares_for_the_linear_kernel():
    """Minimum-norm least squares on the images themselves, but for the ridge."""
    learnt, tested = np.split(np.random.default_rng(0).permutation(regression.DIGITS), [30])
    images = regression.digits().images
    weights = np.linalg.lstsq(images[learnt], regression.one_hot()[learnt], rcond=None)[0]
    found = regression.regression(regression.ntk_gram(0), learnt, tested)
    assert np.allclose(found, images[tested] @ weights, rtol=0, atol=1e-4)


def test_observations_have_their_shapes_and_come_from_the_generator():
    for draw in (regression.distances_on_digits, regression.disagreements):
        first, again, other = (draw(np.random.default_rng(seed), 16, 3) for seed in (1, 1, 2))
        assert first.shape == (3,)
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
    assert regression.network_beside_kernel(np.random.default_rng(0), 2).shape == (2, 2)


def test_a_paired_comparison_is_of_the_same_digits():
    """A method against itself; and its answers are those of regression with the kernel of all the digits."""
    draw = regression.paired("", regression.LINEAR, regression.NTK).draw
    first, second = draw(np.random.default_rng(4))
    assert first.shape == second.shape == (regression.TESTED,)
    permuted = np.random.default_rng(4).permutation(len(regression.digits().labels))
    learnt, tested = permuted[: regression.TRAINED], permuted[regression.TRAINED :][: regression.TESTED]
    images, labels = regression.digits().images, regression.digits().labels
    weights = np.linalg.lstsq(images[learnt], regression.one_hot()[learnt], rcond=None)[0]
    by_squares = (images[tested] @ weights).argmax(axis=1) == labels[tested]
    assert (by_squares == first).mean() > 0.98  # the ridge tips a close decision here and there
    itself = regression.paired("", regression.NTK, regression.NTK).draw(np.random.default_rng(4))
    assert np.array_equal(itself[0], itself[1])
    assert np.array_equal(itself[0], second)


def test_the_convolutional_kernel_is_that_of_the_images():
    images = regression.digits().images[:2].reshape(2, 8, 8)
    kernel = kernels.cntk(images, depth=2, pooling=kernels.Pooling.NONE)
    assert np.allclose(regression.cntk_gram(kernels.Pooling.NONE)[:2, :2], kernel, rtol=1e-10)
