"""Property: one failure refutes, many passes support, and a mutant that is never caught is shown."""

import math

import pytest

from checks import Level, Property, Verdict
from checks.runner import generator
from theory.errors import InvalidInput


def judge(trial, mutants=None, level=Level.STANDARD, **options):
    evidence = Property(trial=trial, mutants=mutants or {}, **options)
    samples = []
    for chunk in range(evidence.chunks(level)):
        samples.append(evidence.sample(chunk, generator(0, "test", 0, chunk), level))
        finding, more = evidence.judge(samples, level, 1e-6)
        if not more:
            break
    return finding, len(samples)


def below(bound):
    """The property of a uniform number to be below `bound`."""

    def trial(rng):
        number = rng.uniform()
        return "" if number < bound else f"{number} is not below {bound}"

    return trial


def test_what_always_holds_is_supported_with_its_resolution():
    finding, spent = judge(below(1), {"half": below(0.5)}, chunk=10, budget=8)
    assert finding.verdict is Verdict.SUPPORTED
    assert spent == 8
    assert finding.resolution == pytest.approx(-math.log(1e-6) / 80)
    assert finding.mutants.tried == finding.mutants.killed == 1


def test_one_failure_refutes_at_once_and_is_shown():
    finding, spent = judge(below(0.5))
    assert finding.verdict is Verdict.REFUTED
    assert finding.detail.endswith("is not below 0.5")
    assert spent == 1


def test_a_mutant_that_is_never_caught_survives():
    finding, _ = judge(below(1), {"the same": below(1), "half": below(0.5)})
    assert finding.mutants.survived == ("the same",)


def test_mutants_do_not_change_what_the_property_itself_is_tried_on():
    seen = {}
    for name, mutants in (("without", {}), ("with", {"half": below(0.5)})):
        numbers = seen.setdefault(name, [])
        judge(lambda rng, numbers=numbers: numbers.append(rng.uniform()) or "", mutants, chunk=3, budget=2)
    assert seen["without"] == seen["with"]


def test_few_trials_claim_no_resolution_beyond_all():
    assert judge(below(1), chunk=1, budget=2)[0].resolution == 1.0


@pytest.mark.parametrize("said", [None, False, True, 0])
def test_a_trial_answers_in_words(said):
    """A bare False might mean that the trial failed, and must not pass."""
    with pytest.raises(InvalidInput, match=r'trial = .*: return in words what is wrong, or ""'):
        judge(lambda rng: said)
    with pytest.raises(InvalidInput, match="return in words"):
        judge(below(1), {"silent": lambda rng: said})
