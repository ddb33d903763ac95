"""The page without a browser: every cell runs, and what is seen follows from what a person chose."""

from types import SimpleNamespace
from typing import Any

import pytest

from checks.explore import crossings, scene
from checks.explore.scale import Scale
from checks.explore.state import FIRST, State
from checks.ledger import LEDGER

pytest.importorskip("marimo", reason="marimo is not installed")


def chosen(**values: Any) -> dict[str, SimpleNamespace]:
    """Elements of the page that have these values."""
    return {name: SimpleNamespace(value=value) for name, value in values.items()}


def shown(text: str = FIRST, **defs: Any) -> tuple[str, dict[str, Any]]:
    """The page that opens in a state, as HTML, and the variables of its cells, some of them given."""
    from checks.explore.app import app

    start = State.from_text(text)
    picked = chosen(kind="claim" if start.claim else "formula", formulas=start.formula)
    outputs, found = app.run(defs={"start": start, **picked, **defs})
    return "\n".join(getattr(one, "text", str(one)) for one in outputs if one is not None), dict(found)


def moved(**texts: str) -> dict[str, Any]:
    """The texts of the parameters, as sliders or fields have left them."""
    names = ("get_at", "get_jump", "get_echo", "set_at", "set_jump", "set_echo")
    return {name: (lambda *_: texts) for name in names}


def test_the_first_page():
    page, found = shown()
    assert "Theta" in page
    assert "0.342979795563627" in page
    assert [series.label for series in found["panel"].series][:2] == ["relu-ntk-normalised", "here"]
    assert list(found["sliders"]) == list(found["texts"]) == ["rho", "L"]


def test_value_and_curve_follow_the_parameters():
    before = shown()[1]["panel"].series[0]
    page, found = shown(**moved(rho="0.5", L="10"))
    assert "0.373486502402068" in page
    assert found["panel"].series[0].y != before.y
    assert found["sliders"]["rho"].value == 0.5


def test_what_is_typed_wrongly_is_a_sentence_and_no_markup():
    page, found = shown(**moved(rho="<b>__import__('os')", L="10"))
    assert "&lt;b&gt;__import__" in page
    assert "<b>__import__" not in page
    assert "no value without rho" in page
    assert found["panel"].series == ()


def test_digits_and_axis():
    page, found = shown(**chosen(digits=40, axis="rho", scale=Scale.COMPLEMENT, live=False, width=64))
    assert "0.34297979556362" in page
    assert found["panel"].x.label.startswith("rho")
    assert found["panel"].y.label == "1 - relu-ntk-normalised"
    assert found["now"].digits == 40


def test_samples_are_added():
    page, found = shown("orthant-2", **chosen(digits=15, axis="r12", scale=Scale.AUTOMATIC, live=True), width=None)
    assert "2 Gaussians, 1 if all are positive" in page
    assert [series.label for series in found["panel"].series][-1] == "samples"


def test_a_crossing_that_was_found():
    state = State.from_text("relu-nngp rho=0")
    assert state.known is not None
    found = crossings.find(state, scene.point(state.known, state.at), "L", crossings.Side.ABOVE, "1/2")
    cells = {"get_found": lambda: found, "set_found": None}
    page, names = shown("relu-nngp rho=0", **cells)
    assert "With rho = 0: L = 3 is the first" in page
    assert "set L = 3" in page
    assert names["panel"].series[-1].label == "level 0.5"
    page, _ = shown("relu-nngp rho=0.5", **cells)  # it is about another point
    assert "is the first" not in page


def test_a_limit_on_both_sides():
    page, _ = shown(**chosen(let="L = oo", along="", seek=True))
    assert "proved, by lemmas" in page
    assert "<td>0.25</td>" in page


def test_a_bad_limit_is_a_sentence():
    page, _ = shown(**chosen(let="L = 10^10^10", along="rho = ", seek=True))
    assert "limes-refusal" in page


@pytest.mark.parametrize("id", ["depth-rate", "depth-spectrum", "depth-crossover", "features-move"])
def test_a_claim_with_its_formula(id):
    text = State.of_claim(id).to_text()
    page, found = shown(text, **chosen(share=True))
    claim = LEDGER[id]
    assert claim.title in page
    assert claim.expected is not None
    assert claim.expected.value in page
    assert (found["formula"] is None) == (not claim.formulas)
    assert ("What holds instead" in page) == (claim.correction is not None)
    assert f"limes explore --state '{text}'" in page.replace("&#x27;", "'").replace("&#39;", "'")


@pytest.mark.parametrize("name", ["ridge-filter-constant", "linearisation-exponent", "descent-filter"])
def test_formulas_of_other_kinds(name):
    page, found = shown(name)
    assert State.of(name).known is found["formula"]
    assert "limes-value" in page
