"""The audit: a sound `limes` passes, and each check can fail: for a lenient, alarming, unsteady or dishonest one."""

import json
import math

import numpy as np
import pytest
from sympy import Rational

from checks import Correction, Expectation, Identity, Level, Prediction, Property, Verdict, audit_digits, claim
from checks import audit as module
from checks.audit import Audit, Check, bounds, false_alarms, mutation_score, precision_honesty, reproducibility
from checks.cli import main
from theory.errors import InvalidInput

HALF = claim(id="half", statement="", evidence=[Identity(derivation=Rational(2, 4), claimed=Rational(1, 2))])


def mean(claimed, budget=4):
    """The claim that a variable with mean 1 has this mean."""
    prediction = Prediction.number(lambda: np.array([claimed]), {"doubled": lambda value: 2 * value})
    return Expectation(
        draw=lambda rng, n: rng.normal(1.0, 1.0, (n, 1)),
        prediction=prediction,
        chunk=200,
        budget=budget,
        resolution=0.5,
    )


def test_mutants_are_counted_over_all_claims():
    loose = claim(
        id="loose",
        statement="",
        evidence=[Property(trial=lambda rng: "", mutants={"the same": lambda rng: ""}, budget=2)],
    )
    sound = mutation_score([HALF], 1, Level.QUICK)
    assert sound.passed
    assert sound.numbers["tried"] == sound.numbers["killed"] >= 5
    found = mutation_score([HALF, loose], 7, Level.QUICK)
    assert not found.passed
    assert found.numbers["survived"] == [{"claim": "loose", "mutant": "the same"}]
    assert "of 2 of the 7 claims" in found.sentence
    without = claim(id="without", statement="", evidence=[Property(trial=lambda rng: "", mutants={}, budget=2)])
    assert mutation_score([without], 1, Level.QUICK).numbers["without_mutants"] == ["without"]


def test_the_bounds_are_those_of_clopper_and_pearson():
    for alarms, runs in ((0, 10), (3, 10), (10, 10), (17, 200)):
        lower, upper = bounds(alarms, runs, 0.95)
        below = sum(math.comb(runs, k) * upper**k * (1 - upper) ** (runs - k) for k in range(alarms + 1))
        above = sum(math.comb(runs, k) * lower**k * (1 - lower) ** (runs - k) for k in range(alarms, runs + 1))
        assert below == pytest.approx(0.05 if alarms < runs else 1)
        assert above == pytest.approx(0.05 if alarms else 1)


def test_what_is_true_is_seldom_refuted():
    # with a sound limes each of the two counts fails this with probability 1e-6
    one = claim(id="mean", statement="", evidence=[mean(1.0)], expected=Verdict.SUPPORTED)
    found = false_alarms([one, HALF], seeds=[1, 2], true_seeds=20)
    assert found.passed
    assert found.numbers["true_statements"]["runs"] == 60
    assert (found.numbers["ledger"]["runs"], found.numbers["ledger"]["claims"]) == (2, ["mean"])


def test_alarms_on_true_statements_fail_the_audit():
    # "true" statements that are off by many standard errors: every one is refuted
    assert not false_alarms([], seeds=[], true_seeds=20, true={"mean": mean(1.5)}).passed
    wrong = claim(id="mean", statement="", evidence=[mean(2.0)], expected=Verdict.SUPPORTED)
    found = false_alarms([wrong], seeds=[1], true_seeds=1)
    assert (found.passed, found.numbers["ledger"]["alarms"]) == (False, 1)


def test_only_what_is_on_record_as_true_can_raise_a_false_alarm():
    mended = Correction(text="", latex="", parts={"the mean": [mean(1.0)]})
    corrected = claim(id="corrected", statement="", evidence=[mean(2.0)], correction=mended, expected=Verdict.CORRECTED)
    refuted = claim(id="refuted", statement="", evidence=[mean(2.0)], expected=Verdict.REFUTED)
    found = false_alarms([corrected, refuted], seeds=[1], true_seeds=1)
    assert found.passed
    assert found.numbers["ledger"]["runs"] == 1


def test_a_report_that_differs_is_shown(monkeypatch):
    texts = iter(['{\n "a": 1\n}', '{\n "a": 1\n}', '{\n "a": 2\n}'])
    monkeypatch.setattr(module, "_report", lambda *arguments: next(texts))
    found = reproducibility(["half"])
    assert not found.passed
    assert found.sentence == 'With 4 processes, hash seed 2: "a": 1 became "a": 2.'


def test_the_same_report_with_other_processes_and_hash_seeds(monkeypatch):
    monkeypatch.setattr(module, "PROCESSES", ((1, "0"), (2, "1")))
    found = reproducibility(["ntk-layers"])
    assert found.passed
    assert found.numbers["bytes"] > 500


def test_right_digits_pass_and_a_wrong_one_does_not(monkeypatch):
    assert precision_honesty(np.random.default_rng(3), 20).passed

    class Dishonest:
        def __init__(self, found):
            self.value, self.radius = found.value[:-1] + str((int(found.value[-1]) + 5) % 10), found.radius

    right = audit_digits.evaluate
    monkeypatch.setattr(audit_digits, "evaluate", lambda *arguments: Dishonest(right(*arguments)))
    found = precision_honesty(np.random.default_rng(3), 20)
    assert not found.passed
    assert "was printed as" in found.sentence


@pytest.mark.parametrize(
    ("value", "radius", "truth", "right"),
    [
        ("3.14", "0.005", "3.14159265358979323846264338327950288", True),
        ("3.14", "0.001", "3.14159265358979323846264338327950288", False),  # not within the radius that is stated
        ("3.1", "0.05", "3.14159265358979323846264338327950288", False),  # three digits were asked for
        ("-0.00271", "0.00001", "-0.00271828182845904523536028747135266", False),  # a radius of a whole unit
        ("-0.00272", "0.0000051", "-0.00271828182845904523536028747135266", True),
        ("0.25", "0", "0.250000000000000000000000000000000000", True),
        ("none", "0", "none", True),
        ("none", "0", "33", False),
        ("0", "0", "0", True),
        ("1.00e+3", "5", "1000.00000000000000000000000000000", True),
    ],
)
def test_honest_digits(value, radius, truth, right):
    assert audit_digits.honest(value, radius, 3, truth) is right


def test_random_numbers_are_those_of_the_seed():
    asked = [[], []]
    for one in asked:
        audit_digits.dishonest_digits(
            np.random.default_rng(5), 6, lambda ended, done, known, one=one: one.append(ended)
        )
    assert asked[0] == asked[1]


def test_a_seed_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="integer >= 0"):
        module.audit(seed=-1)


@pytest.mark.parametrize("passed", [True, False])
def test_the_command_ends_with_sentences_and_an_exit_code(passed, monkeypatch, capsys, tmp_path):
    check = Check("mutation score", passed, "3 of 4 mutants are rejected, " * 8, {"tried": 4}, 1.23)

    def audit(*, level, seed, watched, ended):
        with watched(check.name):
            ended(check)
        return Audit(level, seed, (check,))

    monkeypatch.setattr(module, "audit", audit)
    with pytest.raises(SystemExit) as stop:
        main(["audit", "--seed", "4", "--json", str(tmp_path / "audit.json")])
    assert stop.value.code == (0 if passed else 1)
    out = capsys.readouterr().out
    assert out.startswith(("passed  " if passed else "FAILED  ") + "mutation score\n        3 of 4")
    assert all(len(line) <= 80 for line in out.splitlines())
    data = json.loads((tmp_path / "audit.json").read_text())
    assert (data["schema"], data["level"], data["seed"], data["passed"]) == (1, "quick", 4, passed)
    (entry,) = data["checks"]
    assert (entry["name"], entry["seconds"], entry["numbers"]) == ("mutation score", 1.2, {"tried": 4})
