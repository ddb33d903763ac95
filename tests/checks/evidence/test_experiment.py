"""Experiment: what is larger on average is found larger, and the opposite is refuted."""

import numpy as np
import pytest

from checks import Experiment, Level, Verdict
from checks.runner import generator


def judge(mean, spread=1.0, budget=40):
    """The finding on paired differences of the given means."""
    means = np.atleast_1d(mean)
    evidence = Experiment(draw=lambda rng, n: rng.normal(means, spread, (n, len(means))), chunk=200, budget=budget)
    samples = []
    for chunk in range(evidence.chunks(Level.STANDARD)):
        samples.append(evidence.sample(chunk, generator(0, "test", 0, chunk), Level.STANDARD))
        finding, more = evidence.judge(samples, Level.STANDARD, 1e-6)
        if not more:
            break
    return finding


def test_an_advantage_is_found_with_its_uncertainty():
    finding = judge(0.5)
    assert finding.verdict is Verdict.SUPPORTED
    assert "mean advantage 0." in finding.detail
    assert 0 < finding.resolution < 1
    assert finding.mutants.tried == finding.mutants.killed == 1


@pytest.mark.parametrize("mean", [-0.5, (0.5, -0.5)])
def test_a_disadvantage_in_one_component_refutes(mean):
    assert judge(mean).verdict is Verdict.REFUTED


def test_no_difference_is_undecided():
    assert judge(0.0).verdict is Verdict.UNDECIDED


def test_an_advantage_without_trust_is_undecided():
    assert judge(0.5, budget=1, spread=0.0).verdict is Verdict.UNDECIDED  # it never varied
