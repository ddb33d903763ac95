"""Expectation: the right mean holds at a stated resolution, a wrong one is refuted, too little says nothing.

Each test judges one sample with a fixed seed. That a true claim is refuted here has probability at most `ALPHA` each;
how often that happens, and how often a wrong one is caught, is measured in `tests/checks/test_power.py`.
"""

import numpy as np
import pytest
from sympy import Rational, symbols

from checks import Expectation, Level, Prediction, Verdict
from checks.runner import generator

ALPHA = 1e-6
a = symbols("a", positive=True)
WRONG = {"one more": lambda value: value + 1, "doubled": lambda value: 2 * value}


def judge(evidence, level=Level.STANDARD, seed=0):
    """The finding as the runner finds it: chunk by chunk, until the evidence has enough."""
    samples = []
    for chunk in range(evidence.chunks(level)):
        samples.append(evidence.sample(chunk, generator(seed, "test", 0, chunk), level))
        finding, more = evidence.judge(samples, level, ALPHA)
        if not more:
            break
    return finding, len(samples)


def normal(mean, **options):
    """Two components of means 1 and `mean`, predicted to be 1 and 2."""
    prediction = Prediction.number(lambda: np.array([1.0, 2.0]), WRONG)
    options = {"chunk": 500, "budget": 40, "resolution": 0.2} | options
    return Expectation(draw=lambda rng, n: rng.normal([1.0, mean], 1.0, (n, 2)), prediction=prediction, **options)


def test_a_right_mean_holds_at_the_wanted_resolution_with_all_mutants_rejected():
    finding, spent = judge(normal(2.0))
    assert finding.verdict is Verdict.SUPPORTED
    assert finding.resolution <= 0.2
    assert finding.mutants.tried == 2
    assert finding.mutants.survived == ()
    assert spent < 40


@pytest.mark.parametrize("mean", [1.5, 2.5])
def test_one_wrong_component_is_refuted(mean):
    finding, _ = judge(normal(mean))
    assert finding.verdict is Verdict.REFUTED
    assert "component 1" in finding.detail


def test_a_budget_too_small_for_the_resolution_is_undecided():
    finding, spent = judge(normal(2.0, resolution=0.001))
    assert finding.verdict is Verdict.UNDECIDED
    assert spent == 40


def test_a_mutant_too_close_to_be_rejected_survives_in_the_open():
    wrong = {"a hair more": lambda value: value + 1e-4, "twice as much": lambda value: 2 * value}
    evidence = Expectation(
        draw=lambda rng, n: rng.normal(1.0, 1.0, (n, 1)),
        prediction=Prediction.number(lambda: np.array([1.0]), wrong),
        chunk=500,
        budget=10,
        resolution=0.3,
    )
    finding, spent = judge(evidence)
    assert finding.verdict is Verdict.SUPPORTED
    assert finding.mutants.survived == ("a hair more",)
    assert spent == 10


def test_the_levels_cost_and_resolve_what_they_say():
    evidence = normal(2.0, budget=40, resolution=0.1)
    assert [evidence.chunks(level) for level in Level] == [10, 40, 640]
    assert judge(evidence, Level.QUICK)[0].resolution <= 0.2


def test_a_formula_is_predicted_with_its_mutants_at_every_point():
    points = [{a: Rational(1, 2)}, {a: Rational(3, 2)}]
    prediction = Prediction.of(a**2 / 3 + 1, points)
    assert prediction.values == pytest.approx([1 / 12 + 1, 3 / 4 + 1])
    assert len(prediction.wrong) >= 5
    assert all(np.abs(value - prediction.values).max() > 0 for value in prediction.wrong.values())
    evidence = Expectation(
        draw=lambda rng, n: 1 + rng.chisquare(1, (n, 2)) * np.array([1 / 12, 3 / 4]),
        prediction=prediction,
        chunk=5000,
        budget=40,
        resolution=0.05,
    )
    finding, _ = judge(evidence)
    assert finding.verdict is Verdict.SUPPORTED
    assert finding.mutants.survived == ()


def test_observations_without_a_column_are_of_dimension_one():
    prediction = Prediction.number(lambda: np.array([1.0]), {})
    finding, _ = judge(Expectation(draw=lambda rng, n: rng.normal(1, 1, n), prediction=prediction, resolution=0.2))
    assert finding.verdict is Verdict.SUPPORTED
