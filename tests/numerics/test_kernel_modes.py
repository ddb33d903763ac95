"""Which eigenvalues count as zero, against matrices of known spectrum in both precisions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.kernel_modes import KernelModes, OutsideRangeWarning, finite_array
from theory.errors import InvalidInput


def with_spectrum(*eigenvalues: float) -> np.ndarray:
    n = len(eigenvalues)
    basis, _ = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))
    matrix = (basis * eigenvalues) @ basis.T
    return (matrix + matrix.T) / 2


def test_the_spectrum_is_found_and_the_null_modes_named():
    found = KernelModes.of(with_spectrum(0.0, 0.5, 2.0), 3)
    np.testing.assert_allclose(found.eigenvalues, [0, 0.5, 2], atol=1e-15)
    np.testing.assert_array_equal(found.null, [True, False, False])
    assert found.condition == math.inf
    assert found.largest == pytest.approx(2)
    assert KernelModes.of(with_spectrum(0.5, 2.0), 2).condition == pytest.approx(4)


def test_the_rounding_errors_allowed_are_those_of_the_dtype():
    single = with_spectrum(1e-9, 1.0, 1.0)
    assert KernelModes.of(single, 3).condition == pytest.approx(1e9, rel=1e-5)
    assert KernelModes.of(single.astype(np.float32), 3).condition == math.inf
    slightly_negative = with_spectrum(-1e-6, 1.0, 1.0)
    assert KernelModes.of(slightly_negative.astype(np.float32), 3).eigenvalues[0] == 0
    with pytest.raises(InvalidInput, match=r"has the eigenvalue -1e-06"):
        KernelModes.of(slightly_negative, 3)


def test_a_negative_eigenvalue_within_rounding_widens_the_cutoff():
    found = KernelModes.of(with_spectrum(-1e-14, 3e-15, 1.0, 1.0), 4)
    assert found.cutoff == pytest.approx(1e-14, rel=0.1)
    np.testing.assert_array_equal(found.null, [True, True, False, False])


def test_overlaps_are_products_with_the_modes_and_say_what_cannot_be():
    kernel = with_spectrum(0.0, 0.5, 2.0)
    modes = KernelModes.of(kernel, 3)
    inside = kernel[:1]
    np.testing.assert_allclose(modes.overlaps(inside) @ modes.vectors.T, inside, atol=1e-15)
    with pytest.warns(OutsideRangeWarning, match=r"kernel_test\[1\]"):
        modes.overlaps(np.vstack([inside, inside + 1e-3 * modes.vectors[:, 0]]))


@pytest.mark.parametrize(
    "value",
    [
        np.eye(3),
        [[1.0, 0.0], [1e-9, 1.0]],
        [[1.0, math.inf], [math.inf, 1.0]],
        [[True, False], [False, True]],
        "kernel",
    ],
    ids=["size", "asymmetry", "infinity", "truth values", "text"],
)
def test_what_is_no_kernel_matrix_of_two_points_is_refused(value):
    with pytest.raises(InvalidInput):
        KernelModes.of(value, 2)


def test_the_message_names_argument_and_shape():
    with pytest.raises(InvalidInput, match=r"rows = .*has shape \(2,\); \(any, 2\) is expected"):
        finite_array("rows", [1.0, 2.0], (None, 2))
