"""Verdicts: every combination of up to three findings, against the rules in words."""

from itertools import product

import pytest

from checks.verdicts import Finding, MutantTally, Standing, Verdict, verdict_on_claim, verdict_on_part

WORTHS = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED)
VERDICTS = (*WORTHS, Verdict.REFUTED, Verdict.UNDECIDED)
UP_TO_THREE = [combination for size in (1, 2, 3) for combination in product(VERDICTS, repeat=size)]


def finding(verdict: Verdict) -> Finding:
    """A finding whose verdict is this one."""
    standing = {Verdict.REFUTED: Standing.FAILS, Verdict.UNDECIDED: Standing.UNDECIDED}.get(verdict, Standing.HOLDS)
    return Finding(standing, verdict if verdict in WORTHS else Verdict.PROVED, "")


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_finding_gives_its_worth_only_when_it_holds(verdict):
    assert finding(verdict).verdict is verdict


def test_a_part_is_refuted_by_one_failure_and_else_as_strong_as_its_strongest_evidence():
    for verdicts in UP_TO_THREE:
        strongest = next((worth for worth in WORTHS if worth in verdicts), Verdict.UNDECIDED)
        expected = Verdict.REFUTED if Verdict.REFUTED in verdicts else strongest
        assert verdict_on_part(finding(verdict) for verdict in verdicts) is expected, verdicts


def test_a_claim_is_as_weak_as_its_weakest_part():
    weakest_first = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.SUPPORTED, Verdict.CERTIFIED, Verdict.PROVED)
    for verdicts in UP_TO_THREE:
        assert verdict_on_claim(verdicts) is min(verdicts, key=weakest_first.index), verdicts


def test_a_correction_mends_a_refuted_claim_only_if_all_of_it_holds():
    for verdicts in UP_TO_THREE:
        holds = all(verdict in WORTHS for verdict in verdicts)
        mended = Verdict.CORRECTED if holds else Verdict.REFUTED
        assert verdict_on_claim([Verdict.PROVED, Verdict.REFUTED], verdicts) is mended, verdicts
        assert verdict_on_claim([Verdict.PROVED], verdicts) is Verdict.PROVED
        assert verdict_on_claim([Verdict.UNDECIDED], verdicts) is Verdict.UNDECIDED


def test_nothing_is_never_a_pass():
    assert verdict_on_part([]) is Verdict.UNDECIDED
    assert verdict_on_claim([]) is Verdict.UNDECIDED
    assert not Verdict.UNDECIDED.decided


def test_killed_and_survived_mutants_add_up():
    tally = MutantTally(5, ("a", "b"))
    assert tally.killed == 3
    assert (str(tally), str(MutantTally())) == ("3 of 5 mutants rejected", "no mutants")


@pytest.mark.parametrize("survived", [("a",), ("a", "b")])
def test_what_holds_of_every_mutant_too_is_undecided(survived):
    found = Finding(Standing.HOLDS, Verdict.PROVED, "f = 1", mutants=MutantTally(len(survived), survived))
    assert found.verdict is Verdict.UNDECIDED
    assert found.detail == "f = 1; it accepts every mutant, so it says nothing"
    assert Finding(Standing.HOLDS, Verdict.PROVED, "", mutants=MutantTally(3, survived)).verdict is Verdict.PROVED
    failed = Finding(Standing.FAILS, Verdict.PROVED, "f = 2", mutants=MutantTally(len(survived), survived))
    assert (failed.verdict, failed.detail) == (Verdict.REFUTED, "f = 2")


def test_only_a_verdict_with_a_worth_holds():
    assert {verdict for verdict in Verdict if verdict.holds} == set(WORTHS)
