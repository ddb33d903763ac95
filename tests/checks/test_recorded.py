"""A run read back from JSON: it is the run that was written, and whatever else is refused where it is wrong."""

import json
from copy import deepcopy
from pathlib import Path

import pytest
from sympy import Rational

from checks import Correction, Identity, Level, Verdict, claim, recorded
from checks.audit import Audit, Check
from checks.html_report import html_report
from checks.latex_report import latex_report
from checks.recorded import RecordedAudit, RecordedRun
from checks.report import SCHEMA
from checks.runner import verify
from theory.errors import InvalidInput

HALF = Identity(name="a half", derivation=Rational(2, 4), claimed=Rational(1, 2))
THIRD = Identity(name="a third", derivation=Rational(2, 4), claimed=Rational(1, 3))
MENDED = Correction(text="it is a half", latex=r"\tfrac12", expression=Rational(1, 2), parts={"the value": [HALF]})
CLAIMS = [
    claim(id="half", statement="1/2 = 2/4", evidence=[HALF], hypotheses=("no", "ne"), findings=("it is",)),
    claim(
        id="third", statement="1/3", evidence=[THIRD], correction=MENDED, conditions=("c",), expected=Verdict.CORRECTED
    ),
]


@pytest.fixture(scope="module")
def report():
    return verify(CLAIMS, level=Level.QUICK, seed=3, jobs=1)


@pytest.fixture
def data(report):
    return deepcopy(json.loads(json.dumps(report.to_json())))


def test_what_is_read_is_what_was_judged(report, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(report.to_json()))
    run = RecordedRun.read(tmp_path / "run.json")
    assert run == RecordedRun.of(report)
    assert (run.seed, run.level, run.summary()) == (
        3,
        Level.QUICK,
        "2 claims: 1 proved, 1 corrected. 10 of 10 mutants rejected.",
    )
    for read, judged in zip(run.claims, report.claims, strict=True):
        stated = judged.claim
        assert (read.id, read.title, read.source, read.statement) == (
            stated.id,
            stated.title,
            str(stated.source),
            stated.statement,
        )
        assert (read.hypotheses, read.conditions, read.findings) == (
            stated.hypotheses,
            stated.conditions,
            stated.findings,
        )
        assert (read.verdict, read.expected, read.as_expected) == (judged.verdict, stated.expected, judged.as_expected)
        assert read.seconds == pytest.approx(judged.seconds, abs=1e-3)
        for item, found in zip(read.evidence, judged.evidence, strict=True):
            assert (item.part, item.corrects, item.kind) == (found.part, found.corrects, found.kind)
            assert (item.verdict, item.detail, item.mutants) == (
                found.finding.verdict,
                found.finding.detail,
                found.finding.mutants,
            )
    assert run.claims[1].correction.latex == r"\tfrac12"


FIELDS = ["schema", "version", "seed", "level", "claims"]
FIELDS += ["claims.0.id", "claims.0.title", "claims.0.source", "claims.0.statement", "claims.0.hypotheses"]
FIELDS += ["claims.0.conditions", "claims.0.findings", "claims.0.verdict", "claims.0.expected", "claims.0.seconds"]
FIELDS += ["claims.0.correction", "claims.0.evidence", "claims.1.evidence.0.part", "claims.1.evidence.0.corrects"]
FIELDS += ["claims.1.evidence.0.name", "claims.1.evidence.0.kind", "claims.1.evidence.0.verdict"]
FIELDS += ["claims.1.evidence.0.detail", "claims.1.evidence.0.resolution", "claims.1.evidence.0.mutants"]
FIELDS += ["claims.1.correction.text", "claims.1.correction.latex", "claims.1.evidence.0.mutants.survived"]


def _owner(data, path):
    *steps, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    for step in steps:
        data = data[step]
    return data, last


@pytest.mark.parametrize("path", FIELDS)
def test_a_missing_field_is_named_with_its_place(data, path):
    owner, last = _owner(data, path)
    del owner[last]
    place = "run." + path.replace(".0", "[0]").replace(".1", "[1]")
    with pytest.raises(InvalidInput) as refused:
        RecordedRun.from_json(data)
    assert str(refused.value).startswith(f"{place} = nothing: it is missing")


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("schema", 2),
        ("schema", True),
        ("version", 1),
        ("seed", -1),
        ("seed", True),
        ("seed", 1.0),
        ("level", "slow"),
        ("level", ["quick"]),
        ("claims", {}),
        ("claims.0", "half"),
        ("claims.0.verdict", "true"),
        ("claims.0.verdict", None),
        ("claims.0.expected", "maybe"),
        ("claims.0.hypotheses", "no"),
        ("claims.0.hypotheses", [1]),
        ("claims.0.title", "\ud800"),
        ("claims.0.title", "\x1b[31m"),
        ("claims.0.seconds", float("nan")),
        ("claims.0.seconds", float("inf")),
        ("claims.0.seconds", 10**400),
        ("claims.0.seconds", "1"),
        ("claims.0.correction", []),
        ("claims.1.correction.latex", None),
        ("claims.1.evidence.0.corrects", 1),
        ("claims.1.evidence.0.resolution", -0.1),
        ("claims.1.evidence.0.mutants.tried", -1),
        ("claims.1.evidence.0.mutants.survived", ["x"] * 100),
    ],
)
def test_a_wrong_field_is_refused_where_it_is(data, path, wrong):
    owner, last = _owner(data, path)
    owner[last] = wrong
    with pytest.raises(InvalidInput) as refused:
        RecordedRun.from_json(data)
    assert refused.value.argument.startswith("run.")
    assert refused.value.argument.rpartition(".")[2].partition("[")[0] in (*path.split("."), "tried")


@pytest.mark.parametrize("data", [None, [], 1, "run"])
def test_what_is_no_object_is_no_run(data):
    with pytest.raises(InvalidInput, match=r"run = .*: it must be an object"):
        RecordedRun.from_json(data)


def test_two_claims_with_one_id_are_no_run(data):
    data["claims"].append(data["claims"][0])
    with pytest.raises(InvalidInput, match="different claims must have different ids"):
        RecordedRun.from_json(data)


def test_fields_that_a_later_limes_adds_are_let_pass(data):
    data["machine"] = data["claims"][0]["colour"] = "blue"
    assert data["schema"] == SCHEMA
    assert len(RecordedRun.from_json(data).claims) == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100000, b"9" * 5000])
def test_a_file_that_is_no_json_is_refused(tmp_path, content):
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"--from = .*: give what limes verify --json wrote; this is no JSON"):
        RecordedRun.read(tmp_path / "run.json")


def test_a_file_that_is_no_text_or_never_ends_is_refused(tmp_path, monkeypatch):
    (tmp_path / "run.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match=r"--from = .*: give a text file in UTF-8"):
        RecordedRun.read(tmp_path / "run.json")
    monkeypatch.setattr(recorded, "LONGEST", 1000)
    with pytest.raises(InvalidInput, match=r"--from = /dev/zero: nothing that limes verify --json wrote is as long"):
        RecordedRun.read(Path("/dev/zero"))


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "nothing.json"):
        with pytest.raises(InvalidInput, match=r"--from = .*: give a file that can be read"):
            RecordedRun.read(path)


def test_claims_are_chosen_from_a_run(data):
    run = RecordedRun.from_json(data)
    assert [one.id for one in run.only(["third"]).claims] == ["third"]
    with pytest.raises(InvalidInput, match="claim = fourth: this run has half, third"):
        run.only(["third", "fourth"])


AUDITED = Audit(Level.QUICK, 7, (Check("mutation score", True, "all rejected", {}), Check("digits", False, "<b>", {})))


def test_an_audit_is_read_back_and_reported(tmp_path, data):
    (tmp_path / "audit.json").write_text(json.dumps(AUDITED.to_json()))
    read = RecordedAudit.read(tmp_path / "audit.json")
    assert [(one.name, one.sentence, one.passed) for one in read.checks] == [
        ("mutation score", "all rejected", True),
        ("digits", "<b>", False),
    ]
    run = RecordedRun.from_json(data)
    page, document = html_report(run, audit=read), latex_report(run, read)
    assert "level quick, seed 7" in page
    assert "FAILED: </strong>&lt;b&gt;" in page
    assert "digits: FAILED" in document
    assert "Can the checks be trusted?" not in html_report(run)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 2}, r"audit.schema = 2: this limes reads schema 1: run limes audit again"),
        ({"checks": {}}, r"audit.checks = .*a list, as limes audit --json writes it"),
        ({"checks": [{"name": "a", "sentence": "b"}]}, r"audit.checks\[0\].passed = nothing: it is missing"),
    ],
)
def test_what_is_no_audit_is_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        RecordedAudit.from_json(AUDITED.to_json() | change)
