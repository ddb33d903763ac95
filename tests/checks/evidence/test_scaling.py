"""Scaling: the right exponent holds, wrong ones are refuted or rejected as mutants, and it is looked at once."""

import numpy as np
import pytest

from checks import Level, Scaling, Verdict
from checks.runner import generator

SIZES = (32, 64, 128, 256)


def scaling(exponent, **options):
    """Lognormal observations whose mean is `size^−1`, claimed to scale with `exponent`."""
    options = {"count": 1000, "budget": 6, "resolution": 0.2} | options
    return Scaling(
        draw=lambda rng, size, count: np.exp(rng.normal(-0.125, 0.5, count)) / size,
        exponent=exponent,
        sizes=SIZES,
        **options,
    )


def judge(evidence, chunks=None, level=Level.STANDARD):
    chunks = evidence.chunks(level) if chunks is None else chunks
    samples = [evidence.sample(i, generator(0, "test", 0, i), level) for i in range(chunks)]
    return evidence.judge(samples, level, 1e-6)


def test_the_right_exponent_holds_and_its_mutants_are_rejected():
    finding, more = judge(scaling(-1))
    assert finding.verdict is Verdict.SUPPORTED
    assert not more
    assert finding.resolution <= 0.2
    assert finding.mutants.tried == 6
    assert finding.mutants.survived == ()


@pytest.mark.parametrize("exponent", [-0.75, -1.25, 0])
def test_a_wrong_exponent_is_refuted(exponent):
    assert judge(scaling(exponent))[0].verdict is Verdict.REFUTED


def test_a_mutant_within_the_uncertainty_survives():
    finding, _ = judge(scaling(-1, shifts=(0.001, 1.0)))
    assert finding.mutants.survived == ("exponent -1 -> -0.999",)


def test_a_resolution_that_cannot_be_had_is_undecided():
    assert judge(scaling(-1, resolution=1e-4))[0].verdict is Verdict.UNDECIDED


def test_nothing_is_said_before_the_budget_is_spent():
    finding, more = judge(scaling(0), chunks=5)
    assert finding.verdict is Verdict.UNDECIDED
    assert more
