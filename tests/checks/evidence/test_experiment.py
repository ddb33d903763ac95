"""Experiment: what is larger on average is found larger, and the opposite is refuted."""

import json
import math

import numpy as np
import pytest

from checks import Level, Verdict
from checks.evidence.experiment import Experiment, Measure
from checks.runner import generator
from theory.errors import InvalidInput


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


def vote(differences, level=Level.STANDARD):
    """The finding on the majority of differences `(dimension,)` drawn at random from these lists, one for each."""

    def draw(rng, count):
        return np.stack([rng.choice(own, count) for own in differences], axis=1)

    evidence = Experiment(draw=draw, measure=Measure.MAJORITY, chunk=500, budget=8)
    samples = [evidence.sample(i, generator(0, "test", 0, i), level) for i in range(evidence.chunks(level))]
    return evidence.judge(json.loads(json.dumps(samples)), level, 1e-6)[0]


def test_a_majority_needs_no_moments():
    """The mean is negative, infinite, or undefined; three of four pairs are won."""
    finding = vote([[1, 1, 1, -1e9], [1, 1, math.inf, -math.inf]])
    assert finding.verdict is Verdict.SUPPORTED
    assert finding.detail.startswith("pairs won minus pairs lost 0.")
    assert finding.mutants.killed == 1


def test_a_lost_majority_refutes_and_says_where():
    finding = vote([[1.0], [1e9, -1.0, -1.0, -1.0]])
    assert finding.verdict is Verdict.REFUTED
    assert "in component 1 of 2" in finding.detail


@pytest.mark.parametrize("tied", [[0.0], [math.nan], [1.0, -1.0]])
def test_ties_decide_nothing(tied):
    assert vote([tied]).verdict is Verdict.UNDECIDED


def test_of_many_components_the_least_is_shown():
    finding = vote([[1.0]] * 9 + [[1.0, 1.0, 1.0, -1.0]])
    assert "at least 0.5" in finding.detail or "at least 0.4" in finding.detail
    assert "the lowest of 10 components" in finding.detail


@pytest.mark.parametrize("drawn", [None, 3.0, np.ones(5), np.ones((5, 1, 1))])
def test_differences_of_another_shape_are_refused(drawn):
    with pytest.raises(InvalidInput, match=r"return an array of shape \(count, dimension\)"):
        Experiment(draw=lambda rng, n: drawn).sample(0, generator(0, "test", 0, 0), Level.QUICK)
