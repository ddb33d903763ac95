"""What the evidence for the convolutional kernel enumerates and draws is right, and what is made wrong is caught."""

from dataclasses import replace

import numpy as np
import pytest

from checks import Level, Verdict, verify
from checks.evidence import Property
from checks.ledger import convolution
from checks.ledger.convolution import Enumeration, enumerated, random_images, symmetric
from numerics.kernels import Pooling


def test_properties_hold_and_kill_their_mutants() -> None:
    properties = {
        part: items for part, items in convolution.cntk.parts.items() if all(isinstance(i, Property) for i in items)
    }
    (result,) = verify([replace(convolution.cntk, parts=properties)], level=Level.QUICK, jobs=1).claims
    assert len(properties) == 2
    assert result.verdict is Verdict.SUPPORTED
    assert not any(item.finding.mutants.survived for item in result.evidence)


@pytest.mark.parametrize("name", convolution.WRONG_RECURSIONS)
def test_wrong_recursions_are_caught(name: str) -> None:
    wrong = convolution.WRONG_RECURSIONS[name]
    assert any(enumerated(np.random.default_rng(seed), wrong) for seed in range(20))


@pytest.mark.parametrize("name", convolution.WRONG_KERNELS)
def test_wrong_kernels_are_caught(name: str) -> None:
    assert any(symmetric(np.random.default_rng(seed), convolution.WRONG_KERNELS[name]) for seed in range(20))


def test_one_pixel_by_enumeration() -> None:
    x = np.full((1, 1, 1), 3.0)
    for pooling in Pooling:
        assert Enumeration().kernels(x, x, 2, pooling) == pytest.approx((9 / 81, 27 / 81), rel=1e-15)
        assert Enumeration().kernels(x, -x, 1, pooling) == pytest.approx((0, 0), abs=1e-15)


def test_black_parallel_and_unrelated_images_are_tried() -> None:
    pairs = [random_images(np.random.default_rng(seed)) for seed in range(100)]
    assert any(np.array_equal(x, y) for x, y in pairs)
    assert any(np.allclose(-3 * x, y, rtol=1e-6) and x.any() for x, y in pairs)
    assert any((x == 0).all() for x, _ in pairs)
    assert any(x.shape[2] == 2 and x.shape[0] != x.shape[1] for x, _ in pairs)
