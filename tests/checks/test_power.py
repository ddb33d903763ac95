"""The machinery itself: how often it refutes what is true, and whether it catches what is wrong.

Null hypothesis of the false-alarm tests: a true claim is refuted with probability at most `alpha`, for all its evidence
together. `alpha` is 1e-6 in use, which cannot be measured; here it is enlarged to 0.1. Over `SEEDS` independent seeds
the number of refutations is then at most binomial, and each test fails, if the null hypothesis holds, with probability
at most `LEVEL`. The seeds are fixed. (The error at 1e-6 itself is measured in `tests/numerics/test_confidence.py`.)
"""

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from sympy import Rational, symbols

from checks import (
    Expectation,
    Experiment,
    Level,
    Prediction,
    Property,
    Scaling,
    Standing,
    Verdict,
    claim,
    verify,
)
from checks.runner import ALPHA
from checks.verdicts import Finding

ENLARGED = 0.1
SEEDS = 150
LEVEL = 1e-6
MOST = int(stats.binom.isf(LEVEL, SEEDS, ENLARGED))
a = symbols("a", positive=True)


def verdicts(one, seeds=SEEDS, level=Level.STANDARD, alpha=ENLARGED):
    """How often each verdict is given to a claim, over seeds; `ENLARGED` is an error that can be measured."""
    reports = (verify([one], seed=seed, jobs=1, level=level, alpha=alpha) for seed in range(seeds))
    return Counter(report.claims[0].verdict for report in reports)


def gaussian(mean, claimed=1.0, **options):
    """A claim on the mean of a variable; it goes on sampling until the budget is spent."""
    options = {"chunk": 100, "budget": 6, "resolution": 0.01} | options
    prediction = Prediction.number(lambda: np.array([claimed]), {})
    return Expectation(draw=lambda rng, n: rng.normal(mean, 1.0, (n, 1)), prediction=prediction, **options)


def kernel_entry(factor=1.0, chunk=500):
    """Skewed and heavy, as products of ReLU outputs are: the mean of `2 u₊ v₊` at correlation 1/2."""
    angle = math.pi / 3
    mean = factor * (math.sin(angle) + (math.pi - angle) * math.cos(angle)) / math.pi

    def draw(rng, count):
        u, w = rng.normal(size=(2, count))
        v = u / 2 + math.sqrt(0.75) * w
        return (2 * np.maximum(u, 0) * np.maximum(v, 0))[:, None]

    prediction = Prediction.number(lambda: np.array([mean]), {})
    return Expectation(draw=draw, prediction=prediction, chunk=chunk, budget=6, resolution=0.01)


def power_law(exponent, **options):
    """Lognormal observations whose mean is `1/size`, claimed to have this exponent."""
    return Scaling(
        draw=lambda rng, size, count: np.exp(rng.normal(-0.125, 0.5, count)) / size,
        exponent=exponent,
        sizes=(16, 32, 64, 128),
        **({"count": 100, "budget": 4, "resolution": 1.0} | options),
    )


# --- what is true is seldom refuted -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param(lambda: [gaussian(1.0)], id="a mean, looked at after every chunk"),
        pytest.param(lambda: [power_law(-1.0)], id="an exponent"),
        pytest.param(lambda: [gaussian(1.0), kernel_entry()], id="two means together, one of them skewed"),
    ],
)
def test_a_true_claim_is_refuted_as_seldom_as_stated(evidence):
    found = verdicts(claim(id="true", statement="", evidence=evidence()))
    assert found[Verdict.REFUTED] <= MOST


def test_no_difference_is_seldom_called_one():
    # an experiment is wrong on either side: it may support or refute an advantage that does not exist
    equal = Experiment(draw=lambda rng, n: rng.normal(0.0, 1.0, (n, 1)), chunk=100, budget=6)
    found = verdicts(claim(id="equal", statement="", evidence=[equal]))
    assert found[Verdict.REFUTED] + found[Verdict.SUPPORTED] <= MOST


def test_a_test_that_looks_too_often_would_be_caught():
    """The bound can be exceeded: an interval of fixed size, looked at after every chunk, does so."""

    class Peeking(Expectation):
        def judge(self, samples, level, alpha):
            mean = sum(state["mean"][0] for state in samples) / len(samples)
            outside = abs(mean - 1.0) > stats.norm.isf(alpha / 2) / math.sqrt(self.chunk * len(samples))
            return Finding(Standing.FAILS if outside else Standing.UNDECIDED, Verdict.SUPPORTED, ""), not outside

    honest = gaussian(1.0)
    peeking = Peeking(draw=honest.draw, prediction=honest.prediction, chunk=100, budget=20)
    found = verdicts(claim(id="peeking", statement="", evidence=[peeking]))
    assert found[Verdict.REFUTED] > MOST


def test_a_property_that_fails_more_often_than_its_resolution_is_missed_as_seldom_as_stated():
    trials = 20
    resolution = -math.log(ENLARGED) / trials

    def trial(rng):
        return "it failed" if rng.uniform() < resolution else ""

    failing = Property(trial=trial, mutants={}, chunk=5, budget=4)
    found = verdicts(claim(id="failing", statement="", evidence=[failing]))
    assert found[Verdict.SUPPORTED] <= MOST  # each missed with probability (1 − resolution)^20 < 0.1


# --- what is wrong is caught ------------------------------------------------------------------------------------------


def test_a_claim_wrong_by_its_resolution_is_not_supported():
    # the resolution is the error that would have been caught: a mean off by 0.2 at the resolution 0.2
    wrong = claim(id="wrong", statement="", evidence=[gaussian(1.2, resolution=0.2)])
    assert verdicts(wrong)[Verdict.SUPPORTED] <= MOST


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param(lambda: gaussian(1.5), id="a mean"),
        pytest.param(lambda: kernel_entry(1.5, chunk=4000), id="a skewed mean"),
        pytest.param(lambda: power_law(-0.5, count=400), id="an exponent"),
    ],
)
def test_a_wrong_claim_is_refuted_at_the_error_in_use(evidence):
    # the error is many times the resolution, so that each of 20 seeds refutes it but for probability 20 ALPHA
    found = verdicts(claim(id="wrong", statement="", evidence=[evidence()]), seeds=20, alpha=ALPHA)
    assert found[Verdict.REFUTED] == 20


def test_every_mutant_is_rejected_at_the_error_in_use():
    points = [{a: Rational(1, 2)}, {a: Rational(3, 2)}]
    formula = Expectation(
        draw=lambda rng, n: 1 + rng.chisquare(1, (n, 2)) * np.array([1 / 12, 3 / 4]),
        prediction=Prediction.of(a**2 / 3 + 1, points),
        chunk=4000,
        budget=40,
        resolution=0.05,
    )
    scaling = power_law(-1.0, count=1000, budget=10, resolution=0.2)
    for seed in range(5):
        (result,) = verify([claim(id="true", statement="", evidence=[formula, scaling])], seed=seed, jobs=1).claims
        assert result.verdict is Verdict.SUPPORTED
        assert result.mutants_tried >= 12
        assert result.mutants_survived == ()
