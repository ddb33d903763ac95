"""The findings: one table, which README shows as it is, whose rows fit the ledger, and which a terminal can show."""

import json
from pathlib import Path

import pytest

from checks.cli import main
from checks.findings import DISCOVERIES, PAGES, SECONDS, Kind, by_kind, markdown
from checks.ledger import LEDGER
from checks.verdicts import Verdict

ROOT = Path(__file__).parents[2]
WRONG = (Verdict.CORRECTED, Verdict.REFUTED)


@pytest.fixture
def limes(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        return stop.value.code, capsys.readouterr().out

    return run


def test_readme_shows_exactly_this_table():
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## What it found\n")[1].split("\n## ")[0]
    assert section.strip() == markdown().strip(), "put there what checks.findings.markdown() gives"


def test_every_finding_is_of_a_claim_and_fits_its_recorded_verdict():
    for one in DISCOVERIES:
        recorded = LEDGER[one.claim].expected
        assert recorded is not None
        assert recorded.decided
        assert one.kind is not Kind.WRONG or recorded in WRONG, one
        assert (one.said == "") == (one.kind is Kind.UNSAID), one
        assert one.so
    assert len(set(DISCOVERIES)) == len(DISCOVERIES)


def test_every_claim_that_is_wrong_as_published_is_there():
    wrong = {id for id, claim in LEDGER.items() if claim.expected in WRONG}
    assert wrong == {one.claim for one in DISCOVERIES if one.kind is Kind.WRONG}


def test_every_page_is_linked_under_its_title():
    pages = {f"findings/{path.name}": path.read_text(encoding="utf-8") for path in ROOT.glob("findings/*.md")}
    assert {page: text.splitlines()[0].removeprefix("# ") for page, text in pages.items()} == PAGES


def test_how_long_each_takes_was_measured():
    assert set(SECONDS) == {one.claim for one in DISCOVERIES}
    assert all(seconds > 0 for seconds in SECONDS.values())


def test_all_kinds_are_shown_and_nothing_twice():
    assert [one for found in by_kind().values() for one in found] == sorted(
        DISCOVERIES, key=lambda one: list(Kind).index(one.kind)
    )


def test_a_terminal_shows_them_in_80_columns(limes):
    code, out = limes("findings")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert all(one.command in out and one.takes in out for one in DISCOVERIES)
    words = " ".join(out.split())
    assert all(one.so in words and one.said in words for one in DISCOVERIES)


def test_they_can_be_had_as_json(limes):
    data = json.loads(limes("findings", "--json")[1])
    assert data["schema"] == 1
    assert data["findings"][0] == {
        "claim": "depth-rate",
        "kind": "wrong",
        "source": "arXiv:2511.07272, experiments",
        "said": "the normalised kernel reaches 1/4 at the rate O(1/L)",
        "so": "the distance is (3/8) log(L)/L + O(1/L), for all inputs",
        "command": "limes verify depth-rate --evidence",
        "takes": DISCOVERIES[0].takes,
    }
    assert len(data["findings"]) == len(DISCOVERIES)
