"""The report: its JSON is the promised schema, and what must be said of a verdict is said."""

import json

from sympy import Rational

from checks import Correction, Identity, Level, Standing, Verdict, claim
from checks.claims import JudgedEvidence
from checks.report import SCHEMA, ClaimResult, Report
from checks.verdicts import Finding, MutantTally

EVIDENCE = [Identity(name="a half", derivation=Rational(2, 4), claimed=Rational(1, 2))]
MENDED = Correction(text="it is a half", latex=r"\tfrac12", expression=Rational(1, 2), parts={"value": EVIDENCE})


def result(verdict: Verdict, *, resolution: float | None = None, survived=(), corrects=False, **fields) -> ClaimResult:
    standing = {Verdict.UNDECIDED: Standing.UNDECIDED, Verdict.REFUTED: Standing.FAILS}.get(verdict, Standing.HOLDS)
    found = Finding(standing, Verdict.PROVED, "what was found", resolution, MutantTally(6, tuple(survived)))
    judged = JudgedEvidence("part", corrects, "", "identity", found, 0.5)
    return ClaimResult(claim(id="one", statement="<1>", evidence=EVIDENCE, **fields), verdict, (judged,), 0.5)


def test_json_has_the_promised_fields():
    data = json.loads(json.dumps(Report(3, Level.QUICK, (result(Verdict.PROVED),)).to_json(), allow_nan=False))
    assert data["schema"] == SCHEMA == 1
    assert (data["seed"], data["level"]) == (3, "quick")
    assert data["version"]
    (one,) = data["claims"]
    assert {"id", "title", "source", "verdict", "seconds", "correction", "conditions", "evidence"} <= set(one)
    assert (one["statement"], one["hypotheses"], one["findings"]) == ("<1>", [], [])
    (piece,) = one["evidence"]
    assert {"name", "kind", "verdict", "detail", "resolution", "seconds", "mutants"} <= set(piece)
    assert piece["name"] == "part"
    assert piece["mutants"] == {"tried": 6, "killed": 6, "survived": []}


def test_json_has_no_infinity():
    for resolution in (None, float("inf")):
        piece = result(Verdict.SUPPORTED, resolution=resolution).to_json()["evidence"][0]
        assert piece["resolution"] is None
    assert result(Verdict.SUPPORTED, resolution=0.02).to_json()["evidence"][0]["resolution"] == 0.02


def test_a_correction_is_reported_only_where_it_is_the_verdict():
    corrected = result(Verdict.CORRECTED, correction=MENDED, expected=Verdict.CORRECTED)
    assert corrected.to_json()["correction"] == {"text": "it is a half", "latex": r"\tfrac12", "expression": "1/2"}
    assert corrected.remarks() == ["correction: it is a half"]
    assert result(Verdict.PROVED, correction=MENDED).to_json()["correction"] is None


def test_what_must_be_said_is_said():
    assert result(Verdict.PROVED).remarks() == []
    assert result(Verdict.REFUTED).remarks() == ["it should hold", "identity (part): what was found"]
    assert result(Verdict.UNDECIDED, expected=Verdict.PROVED).remarks()[0] == "recorded: proved"
    assert result(Verdict.REFUTED, expected=Verdict.REFUTED).remarks() == ["identity (part): what was found"]
    assert result(Verdict.PROVED, survived=["x -> 2 x"]).remarks() == ["a mutant survived: x -> 2 x"]


def test_a_report_is_as_expected_if_every_claim_is():
    good, bad = result(Verdict.PROVED), result(Verdict.UNDECIDED)
    assert Report(0, Level.QUICK, (good, good)).as_expected
    assert not Report(0, Level.QUICK, (good, bad)).as_expected
    assert result(Verdict.REFUTED, expected=Verdict.REFUTED).as_expected
    assert not result(Verdict.PROVED, expected=Verdict.SUPPORTED).as_expected
    assert not result(Verdict.UNDECIDED, expected=Verdict.UNDECIDED).as_expected


def test_it_shows_itself_as_text_and_html():
    report = Report(0, Level.QUICK, (result(Verdict.PROVED),))
    assert str(report) == "one  proved"
    assert "<td>one</td><td>proved</td>" in report._repr_html_()


def test_evidence_that_could_not_tell_is_said_beside_what_could():
    sure, unsure = result(Verdict.SUPPORTED), result(Verdict.UNDECIDED)
    both = ClaimResult(sure.claim, Verdict.SUPPORTED, sure.evidence + unsure.evidence, 1.0)
    assert both.remarks() == ["undecided: identity (part): what was found"]
