import json
from dataclasses import fields
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.explore.controls import controls
from checks.explore.scale import Scale
from checks.explore.state import OPTIONS, State, axes_of, opening
from checks.ledger import LEDGER
from theory.errors import InvalidInput
from theory.formulas import FORMULAS

FULL = State(
    "relu-ntk",
    claim="depth-limit",
    at={"rho": "1 - 1/L", "L": "sqrt(4)"},
    digits=33,
    axis="rho",
    scale=Scale.COMPLEMENT,
    width=12,
    let="L = oo",
    along="rho = 1 - c/L^2; c = 2",
)


def squeezed(state: State) -> list[object]:
    values = (getattr(state, one.name) for one in fields(State) if one.name != "at")
    return ["".join(str(value).split()) for value in (*values, *state.at.values())]


@pytest.mark.parametrize("name", [*FORMULAS, *LEDGER])
def test_every_name_opens_and_comes_back_as_text_and_as_json(name):
    state = State.of(name)
    assert State.from_text(state.to_text()) == state
    assert State.from_json(json.loads(json.dumps(state.to_json()))) == state


def test_a_full_state_comes_back_up_to_spaces():
    assert squeezed(State.from_text(FULL.to_text())) == squeezed(FULL)
    assert State.from_json(json.loads(json.dumps(FULL.to_json()))) == FULL


def test_a_link_says_the_same():
    (text,) = parse_qs(FULL.to_query().removeprefix("?"))["state"]
    assert text == FULL.to_text()


def test_a_claim_that_is_called_like_a_formula():
    state = State.of_claim("depth-crossover")
    assert (state.formula, state.claim) == ("depth-crossover", "depth-crossover")
    assert State.from_text(state.to_text()) == state


def test_what_is_not_said_is_the_default():
    state = State.from_text("relu-ntk rho=1/3")
    assert state.at == {"rho": "1/3", "L": controls(FORMULAS["relu-ntk"])["L"].default}
    assert state.digits == 15


@pytest.mark.parametrize("name", [*FORMULAS])
def test_no_parameter_is_called_like_an_option(name):
    assert not set(OPTIONS) & {parameter.name for parameter in FORMULAS[name].parameters}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("relu-ntc", "the nearest are relu-ntk"),
        ("relu-ntk rho", "write name=value"),
        ("relu-ntk rho=0 rho=1", "give it once"),
        ("relu-ntk sigma=1", "the parameters of relu-ntk are rho, L"),
        ("relu-ntk digits=0", "give an integer from 1 to 200"),
        ("relu-ntk digits=1e3", "give an integer"),
        ("relu-ntk digits=²", "give an integer"),
        ("relu-ntk digits=99999999999999999999", "give an integer"),
        ("relu-ntk axis=x", "give one of L, rho"),
        ("relu-ntk scale=log", "give one of automatic, linear, logarithmic, 1-value"),
        ("relu-ntk claim=nothing", "no claim is called so"),
        ("depth-spectrum rho=1", "are none"),
        ("relu-ntk rho=" + "1" * 10_000, "a state has few"),
    ],
)
def test_a_bad_line_is_refused_with_a_sentence(text, sentence):
    with pytest.raises(InvalidInput) as refused:
        State.from_text(text)
    assert sentence in str(refused.value)
    assert opening(text) == (State.of(), str(refused.value))


@pytest.mark.parametrize(
    "data",
    [
        [],
        None,
        {"schema": 2},
        {"formula": ["relu-ntk"]},
        {"formula": "relu-ntk", "at": "rho"},
        {"formula": "relu-ntk", "at": {"rho": 0.3}},
        {"formula": "relu-ntk", "digits": True},
        {"formula": "relu-ntk", "digits": 1.5},
        {"formula": "relu-ntk", "let": "L" * 5000},
        {"formula": "relu-ntk", "scale": 1},
        {"surprise": 1},
        {1: 2},
    ],
)
def test_bad_data_is_refused(data):
    with pytest.raises(InvalidInput):
        State.from_json(data)


@given(st.text(max_size=60))
def test_any_line_is_a_state_or_a_sentence(text):
    state, trouble = opening(text)
    assert state.known is not None or state.claim
    assert trouble == "" or ": " in trouble


@given(st.sampled_from(["rho", "L"]), st.text(max_size=30))
def test_any_text_of_a_parameter_is_kept_up_to_spaces(name, text):
    state = State("relu-ntk", at={name: text}).completed()
    back = State.from_text(state.to_text())
    assert back.at[name] == "".join(text.split())


def test_a_file_and_its_troubles(tmp_path):
    file = tmp_path / "state.json"
    file.write_bytes(FULL.to_file())
    assert State.read(str(file)) == FULL
    for content in ("", "{", "[" * 5000, '{"formula": "relu-ntc"}', " " * 200_000):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(InvalidInput):
            State.read(str(file))
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput):
        State.read(str(file))
    with pytest.raises(InvalidInput, match="no such file"):
        State.read(str(tmp_path / "none.json"))
    assert State.read("relu-ntk L=3").at["L"] == "3"


def test_the_first_text_that_there_is_opens():
    assert opening(None, "", "relu-ntk")[0].formula == "relu-ntk"
    assert opening(None, 5)[1].startswith("name = 5")
    assert opening() == (State.of(), "")


def test_axes_are_numbers_those_without_end_first():
    assert axes_of(FORMULAS["relu-ntk"]) == ["L", "rho"]
    assert axes_of(FORMULAS["linearisation-exponent"]) == ["alpha"]
    assert axes_of(FORMULAS["ridge-filter-constant"]) == []
