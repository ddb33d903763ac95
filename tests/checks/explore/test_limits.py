from dataclasses import replace

import pytest
from sympy import Integer, Rational, log, oo
from sympy.abc import L

from checks.explore import limits, scene
from checks.explore.state import State
from numerics.formulas import evaluate_formula
from theory.errors import InvalidInput


def path(text: str, let: str, along: str = ""):
    state, where = of(text)
    return limits.path(replace(state, let=let, along=along), where)


def of(text: str) -> tuple[State, scene.Point]:
    state = State.from_text(text)
    assert state.known is not None
    return state, scene.point(state.known, state.at)


def test_parameters_that_are_not_mentioned_stay():
    found = path("two-layer-signal-1 eta1=3 eta2=4", "h = oo")
    assert {symbol.name: value for symbol, value in found.along.items()} == {"eta1": 3, "eta2": 4}


def test_a_parameter_whose_text_mentions_the_one_that_runs_follows():
    found = path("two-layer-signal-1 h=100 eta1=2*h^(5/4) eta2=3", "h = oo")
    assert [str(curve) for curve in found.along.values()] == ["2*h**(5/4)", "3"]
    assert str(path("two-layer-signal-1 eta1=h eta2=3", "h = oo", "eta1 = h^2").along) == "{eta1: h**2, eta2: 3}"


def test_curves_follow_and_their_symbols_have_numbers():
    found = path("two-layer-signal-1", "h=oo", "eta1 = c*h^(3/2); eta2 = eta1; c = 1/2")
    assert [str(curve) for curve in found.along.values()] == ["c*h**(3/2)", "c*h**(3/2)"]
    assert list(found.at.values()) == [Rational(1, 2)]


@pytest.mark.parametrize(
    ("let", "along", "sentence"),
    [
        ("", "", "say which parameter goes where"),
        ("L", "", "L=oo"),
        ("M = oo", "", "the parameters of relu-ntk-normalised are rho, L"),
        ("L = 3", "", "an integer does not approach a number"),
        ("rho = 2", "", "outside of"),
        ("L = oo", "rho = 1 + c/L^2", "outside of"),
        ("L = oo", "c = 2", "no curve has a symbol called so"),
        ("L = oo", "rho", "rho"),
        ("L = oo", "rho = __import__('os').system('true')", "column"),
        ("L = 10^10^10", "", "digits"),
        ("L = oo", "rho = 1 - c/L^2; c = -1", "positive"),
        ("L = nan", "", "not a number"),
    ],
)
def test_a_bad_path_is_a_sentence(let, along, sentence):
    state, where = of("relu-ntk-normalised")
    found = limits.find(replace(state, let=let, along=along), where)
    assert found.approach is None
    assert sentence in found.refusal


def test_a_parameter_that_is_refused_must_have_a_curve():
    with pytest.raises(InvalidInput, match="refused above"):
        path("relu-ntk-normalised rho=what", "L=oo")
    assert path("relu-ntk-normalised rho=what", "L=oo", "rho = 1 - 1/L").target is oo


def test_the_deep_limit_symbolically_and_by_numbers():
    state, where = of("relu-ntk-normalised rho=0 let=L=oo")
    found = limits.find(state, where).approach
    assert found is not None
    assert found.limit.value == Rational(1, 4)
    (term,) = found.limit.terms
    assert term.subs(found.limit.path.variable, L) == 3 * log(L) / (8 * L)
    heads, lines = limits.rows(found)
    assert heads[:3] == ("L", "value", "distance")
    assert lines[-1][:2] == ("limit", "0.25")
    assert lines[1][1] == evaluate_formula("relu-ntk-normalised", {"rho": 0, "L": 100}).value


def test_the_chart_has_both_sides():
    state, where = of("relu-ntk-normalised rho=0 let=L=oo")
    found = limits.find(state, where).approach
    assert found is not None
    panel = limits.panel(found)
    assert panel is not None
    leading, certified = panel.series
    assert certified.y[1] == pytest.approx(float(found.rows[1].distance or 0))
    assert leading.y[1] == pytest.approx(3 / 8 * float(log(100)) / 100)


def test_the_distance_to_a_finite_end():
    state, where = of("relu-ntk L=2 let=rho=1")
    found = limits.find(state, where).approach
    assert found is not None
    panel = limits.panel(found)
    assert panel is not None
    assert panel.x.label == "|rho - 1|"
    assert max(panel.series[-1].x) < 1


def test_an_infinite_limit_has_no_distance():
    state, where = of("relu-ntk rho=0 let=L=oo")
    found = limits.find(state, where).approach
    assert found is not None
    assert found.limit.value is oo
    assert limits.panel(found) is None
    assert "distance" not in limits.rows(found)[0]


def test_out_of_time_is_a_sentence(monkeypatch):
    monkeypatch.setattr(limits, "DERIVING", 0.001)
    state, where = of("relu-ntk-normalised rho=0.123 let=L=oo")
    assert "takes its time" in limits.find(state, where).refusal


def test_the_mark_is_the_limit_at_the_infinite_end(monkeypatch):
    monkeypatch.setattr(limits, "MARK", 30.0)
    state, where = of("relu-ntk-normalised rho=0.5")
    line = limits.mark(state, where)
    assert line is not None
    assert set(line.y) == {0.25}
    panel, _ = scene.curve(state, where)
    assert limits.marked(panel, state, where).series[-1] == line


@pytest.mark.parametrize(
    "text", ["relu-ntk", "relu-ntk axis=rho", "relu-ntk-normalised rho=2", "ridge-filter-constant"]
)
def test_no_mark_where_there_is_no_finite_limit(text):
    assert limits.mark(*of(text)) is None


def test_a_slow_mark_is_not_tried_again(monkeypatch):
    calls = []

    def out_of_time(seconds, call):
        calls.append(seconds)

    monkeypatch.setattr(limits, "_TOO_SLOW", set())
    monkeypatch.setattr(limits, "bounded", out_of_time)
    for rho in ("0.1", "0.2", "0.3"):
        assert limits.mark(*of(f"relu-nngp rho={rho}")) is None
    assert len(calls) == 1


def test_a_state_without_a_formula_has_no_limit():
    assert (
        limits.find(State.of("depth-spectrum"), scene.Point({"L": Integer(1)})).refusal == "formula = none: choose one"
    )
