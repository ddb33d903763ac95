"""The words of a report: every verdict and every kind of evidence has a meaning."""

import checks.ledger  # noqa: F401  (all kinds of evidence are defined then)
from checks.evidence.base import Evidence
from checks.meanings import KINDS, VERDICTS
from checks.verdicts import Verdict


def kinds(family):
    """The kinds of all classes of evidence that `limes` has."""
    ours = family.__module__.startswith("checks.")  # other tests have classes of their own
    own = {family.kind} if ours and "kind" in vars(family) else set()
    return own.union(*(kinds(child) for child in family.__subclasses__()))


def test_every_verdict_has_a_meaning():
    assert list(VERDICTS) == list(Verdict)


def test_every_kind_of_evidence_says_what_it_holds_against_what():
    assert kinds(Evidence) == set(KINDS)
    assert all("against" in meaning for meaning in KINDS.values())
