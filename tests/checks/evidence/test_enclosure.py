"""Enclosure: what the certified computation says is what it says, and it must not accept the mutants."""

from fractions import Fraction

import pytest

from checks import Certificate, Enclosure, Level, Standing, Verdict
from theory.errors import InvalidInput, Undecidable


def below(bound):
    """sin x <= bound, on the real line."""
    if bound is None:
        raise Undecidable("sin", "no bound")
    return Certificate(Standing.HOLDS if bound >= 1 else Standing.FAILS, f"sin x <= {bound}")


def test_it_certifies_and_rejects_its_mutants():
    evidence = Enclosure(certify=below, claimed=1, mutants={"half": Fraction(1, 2), "none": None, "two": 2})
    finding = evidence.examine(Level.QUICK)
    assert finding.verdict is Verdict.CERTIFIED
    assert finding.detail == "sin x <= 1"
    assert finding.mutants.survived == ("two",)  # it is true too, so this mutant is no mutant, and it shows
    assert finding.mutants.killed == 2


def test_a_wrong_bound_is_refuted_and_an_open_one_undecided():
    wrong = Enclosure(certify=below, claimed=Fraction(1, 2), mutants={"one": 1}).examine(Level.QUICK)
    assert wrong.verdict is Verdict.REFUTED
    assert wrong.mutants.tried == 0
    unknown = Enclosure(certify=below, claimed=None).examine(Level.QUICK)
    assert unknown.verdict is Verdict.UNDECIDED
    assert "no bound" in unknown.detail


@pytest.mark.parametrize("answer", [None, True, "holds"])
def test_what_is_no_certificate_is_refused(answer):
    with pytest.raises(InvalidInput, match="return a Certificate"):
        Enclosure(certify=lambda bound: answer, claimed=1).examine(Level.QUICK)
