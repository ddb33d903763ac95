from html.parser import HTMLParser

import pytest

from checks.explore import page, scene
from checks.explore.limits import Found, find
from checks.explore.state import State
from checks.ledger import LEDGER
from theory.formulas import FORMULAS

EVIL = "<script>alert(1)</script>\"'&"


class Tags(HTMLParser):
    def __init__(self, code: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.feed(code)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.words += data


def value_of(text: str) -> str:
    state = State.from_text(text)
    assert state.known is not None
    where = scene.point(state.known, state.at)
    return page.value(state.known, where, scene.reading(state.known, where, state.digits))


@pytest.mark.parametrize("make", [page.refusal, page.remark])
def test_a_sentence_stays_text(make):
    found = Tags(make(EVIL))
    assert found.tags == ["div"]
    assert found.words == EVIL
    assert make("") == ""


def test_a_value_with_its_point_and_error():
    words = Tags(value_of("relu-ntk-normalised rho=1/2 L=3 digits=20")).words
    assert words.startswith("relu-ntk-normalised at rho = 1/2, L = 3: 0.43")
    assert "within" in words
    assert "exactly" in value_of("relu-ntk-normalised rho=1")
    assert Tags(value_of("ridge-filter-constant")).words.startswith("ridge-filter-constant: 1.298")


def test_no_value_is_a_sentence():
    assert 'role="alert"' in value_of("relu-ntk rho=2")
    assert "no value without rho" in value_of("relu-ntk rho=2")


def test_a_note_is_said():
    assert "was taken as 1" in value_of("relu-ntk rho=1+2^-52")


@pytest.mark.parametrize("id", [*LEDGER])
def test_every_claim_is_shown_in_full(id):
    claim = LEDGER[id]
    words = Tags(page.claim_head(claim) + page.claim_notes(claim)).words
    assert claim.title in words
    assert claim.expected is not None
    assert claim.expected.value in words
    assert all(line in words for line in (*claim.findings, *claim.hypotheses, *claim.conditions))
    assert f"limes verify {id} --evidence" in words


def test_a_shared_state_can_be_typed_into_a_shell():
    state = State("relu-ntk", at={"rho": "'" + EVIL, "L": "3"}).completed()
    found = Tags(page.share(state))
    assert found.tags == ["div", "div", "a", "div", "code"]
    assert "'\\''" in found.words


def test_a_limit_with_its_table():
    state = State.from_text("relu-ntk-normalised let=L=oo along=rho=1-c/L^2;c=2 digits=8")
    assert state.known is not None
    found = Tags(page.limit(find(state, scene.point(state.known, state.at))))
    assert found.tags.count("table") == 1
    assert "proved" in found.words
    assert "numbers for c = 2" in found.words
    assert page.limit(Found(refusal=EVIL)) == page.refusal(EVIL)


@pytest.mark.parametrize(
    "code", [*(one.definition for one in FORMULAS.values()), *(c.statement for c in LEDGER.values())]
)
def test_the_parts_of_a_formula_are_whole(code):
    parts: list[str] = []
    page.formula(code, lambda part: parts.append(part) or "")
    assert all(part.count("{") == part.count("}") and part.count(r"\left") == part.count(r"\right") for part in parts)
    assert "".join("".join(parts).split()) == "".join(code.replace(r"\qquad", "").replace(r"\quad", "").split())


def test_a_formula_has_its_title_and_source():
    words = Tags(page.formula_head(FORMULAS["relu-ntk"])).words
    assert FORMULAS["relu-ntk"].title in words
    assert FORMULAS["relu-ntk"].source in words
