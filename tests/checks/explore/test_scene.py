import re
import time
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import count
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Integer, Rational

from checks.explore import scene
from checks.explore.scale import Scale
from checks.explore.state import State, axes_of
from numerics.formulas import evaluate_formula
from theory.errors import InvalidInput
from theory.formulas import FORMULAS

RELU = FORMULAS["relu-ntk-normalised"]
LOSS = FORMULAS["two-layer-signal-1"]
KINDS = (
    "relu-nngp",
    "depth-leading-error",
    "depth-crossover",
    "descent-filter",
    "orthant-2",
    "orthant-4",
    "feature-deviation",
    "two-layer-noise-1",
    "three-layer-full",
    "balance-threshold-signal",
    "correlation-decay-exponent",
    "linearisation-exponent",
    "ridge-filter-constant",
)
HOSTILE = (
    "__import__('os').system('touch /tmp/limes-was-here')",
    "10^10^10",
    "1e999999999",
    "nan",
    "NaN",
    "oo",
    "-oo",
    "",
    "   ",
    "3 m",
    "½",
    "٣",
    "1,5",
    "(" * 900,
    "x" * 5000,
    "sqrt(-1)",
    "1/0",
    "rho",
    "L",
    "<b>1</b>",
    "\x00",
    "acos(2)",
)


def seen(text: str) -> State:
    return State.from_text(text)


def at(state: State) -> scene.Point:
    assert state.known is not None
    return scene.point(state.known, state.at)


def test_a_text_may_use_the_names_before_it_only():
    found = scene.point(LOSS, {"h": "100", "eta1": "h^(3/2)", "eta2": "eta1/2"})
    assert found.values == {"h": Integer(100), "eta1": Integer(1000), "eta2": Integer(500)}
    assert scene.point(LOSS, {"h": "eta1", "eta1": "1", "eta2": "1"}).refusals.keys() == {"h"}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_gets_a_sentence_in_place_and_the_others_stay(text):
    found = scene.point(RELU, {"rho": text, "L": "10"})
    assert found.values == {"L": Integer(10)}
    assert found.refusals["rho"].startswith("rho = ")
    assert len(found.refusals["rho"]) < 400
    assert scene.reading(RELU, found, 15).refusal == "no value without rho"
    assert scene.curve(replace(seen("relu-ntk-normalised"), at={"rho": text, "L": "10"}), found)[1].startswith(
        "no curve"
    )


@given(st.text(max_size=40))
def test_any_text_is_a_value_or_a_sentence(text):
    found = scene.point(RELU, {"rho": text, "L": "3"})
    assert ("rho" in found.values) != ("rho" in found.refusals)


def test_the_value_is_that_of_limes_evaluate():
    got = scene.reading(RELU, scene.point(RELU, {"rho": "sqrt(2)/2", "L": "7"}), 30)
    assert got.found is not None
    assert got.found.digits == 30
    assert scene.reading(RELU, scene.point(RELU, {"rho": "1/3", "L": "7"}), 25).found == evaluate_formula(
        RELU.name, {"rho": Rational(1, 3), "L": 7}, 25
    )


def test_a_slow_value_is_a_sentence_after_its_time(monkeypatch):
    monkeypatch.setattr(scene, "PATIENCE", 0.2)
    got = scene.reading(RELU, scene.point(RELU, {"rho": "1/7", "L": "1000000"}), 15)
    assert got.found is None
    assert "limes evaluate relu-ntk-normalised --at rho=1/7 L=1000000 --digits 15" in got.refusal


def test_time_that_is_up_inside_of_arb_is_no_crash():
    formula = FORMULAS["orthant-4"]
    where = scene.point(formula, dict.fromkeys(("r12", "r13", "r14", "r23", "r24", "r34"), "0.31"))
    call = partial(scene._known.__wrapped__, formula, tuple(where.values.items()), 100)
    ended = [scene.bounded(0.002, call) for _ in range(20)]  # wherever it is interrupted
    assert None in ended  # not each time: an exception that comes in a finalizer is lost
    assert len({got.found.value for got in ended if got is not None}) <= 1


def test_an_error_of_another_kind_is_not_swallowed():
    def fail():
        raise SystemError("other")

    with pytest.raises(SystemError, match="other"):
        scene.bounded(1, fail)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_formula_has_a_picture(name, monkeypatch):
    monkeypatch.setattr(scene, "PATIENCE", 30.0)
    state = State.of(name)
    assert scene.typeset(FORMULAS[name])
    assert scene.reading(FORMULAS[name], at(state), 15).found is not None
    for axis in axes_of(FORMULAS[name]):
        panel, remark = scene.curve(replace(state, axis=axis), at(state))
        assert panel.series, remark


def test_the_points_of_a_curve_are_values():
    state = seen("relu-ntk-normalised rho=0.5 axis=L")
    (line, here), remark = scene.curve(state, at(state))[0].series, scene.curve(state, at(state))[1]
    assert remark == ""
    assert (here.x, here.label) == ((10.0,), "here")
    for x, y in list(zip(line.x, line.y, strict=True))[::7]:
        assert y == pytest.approx(
            float(evaluate_formula(RELU.name, {"rho": Rational(1, 2), "L": int(x)}).value), rel=1e-11
        )


def test_a_curve_over_what_is_refused_needs_no_point():
    state = seen("relu-ntk-normalised L=what axis=L")
    panel, _ = scene.curve(state, at(state))
    assert [series.label for series in panel.series] == ["relu-ntk-normalised"]


def test_what_mentions_the_axis_follows_it():
    state = seen("two-layer-signal-1 h=10 eta1=2*h eta2=3")
    (line, *_), _ = scene.curve(state, at(state))[0].series, None
    x, y = line.x[-1], line.y[-1]
    exact = {"h": int(x), "eta1": 2 * int(x), "eta2": 3}
    assert y == pytest.approx(float(evaluate_formula("two-layer-signal-1", exact).value), rel=1e-11)
    assert {values["eta1"] / values["h"] for _, values in scene.places(state, at(state))} == {2}


def test_values_over_many_powers_of_ten_have_a_logarithmic_axis():
    wide, flat = seen("two-layer-signal-2 axis=eta1"), seen("relu-ntk-normalised")
    assert scene.curve(wide, at(wide))[0].y.logarithmic
    assert not scene.curve(flat, at(flat))[0].y.logarithmic


def test_a_logarithmic_axis_has_no_zero():
    state = seen("depth-crossover s=0")
    panel, _ = scene.curve(state, at(state))
    assert all(min(series.x) > 0 for series in panel.series)


def test_what_is_near_1_keeps_its_digits(monkeypatch):
    monkeypatch.setattr(scene, "CURVE", 60.0)
    state = seen("relu-nngp rho=1-10^-20 L=10 scale=1-value")
    panel, remark = scene.curve(state, at(state))
    line, here = panel.series
    assert panel.y.logarithmic
    assert remark == ""
    for x, y in [*zip(line.x, line.y, strict=True), (10, here.y[0])]:
        exact = Fraction(evaluate_formula("relu-nngp", {"rho": 1 - Rational(1, 10**20), "L": int(x)}, 60).value)
        assert y == pytest.approx(float(1 - exact), rel=1e-4)
        assert 0 < y < 1e-19


def test_what_is_1_or_above_has_no_logarithm_and_is_left_out(monkeypatch):
    monkeypatch.setattr(scene, "CURVE", 60.0)
    state = seen("relu-ntk L=3 axis=rho scale=1-value")
    panel, remark = scene.curve(state, at(state))
    (line, *_) = panel.series
    assert all(y > 0 for series in panel.series for y in series.y)
    assert max(line.x) < 1
    assert "points are left out: there 1 - value is not positive" in remark
    exact = seen("relu-nngp rho=1 scale=1-value")
    panel, remark = scene.curve(exact, at(exact))
    assert panel.series == ()
    assert re.search(r"\b(\d+) of \1 points are left out", remark)


def test_a_chosen_scale_is_kept_where_it_would_not_be_chosen():
    for scale, logarithmic in ((Scale.LINEAR, False), (Scale.LOGARITHMIC, True), (Scale.AUTOMATIC, True)):
        state = replace(seen("two-layer-signal-2 axis=eta1"), scale=scale)
        assert scene.curve(state, at(state))[0].y.logarithmic == logarithmic
    flat = replace(seen("relu-ntk-normalised"), scale=Scale.LOGARITHMIC)
    assert scene.curve(flat, at(flat))[0].y.logarithmic


def test_a_state_must_have_values():
    scene.require_values(seen("two-layer-signal-1 h=100 eta1=h^(3/2)"))
    scene.require_values(seen("depth-spectrum"))
    for text, sentence in (("relu-nngp rho=7", "rho = 7: give a number in"), ("relu-nngp L=x", "L = x: unknown name")):
        with pytest.raises(InvalidInput, match=re.escape(sentence)):
            scene.require_values(seen(text))


@pytest.mark.parametrize("text", ["nan", "rho", "2m", "7"])
def test_a_sentence_says_the_name_once(text):
    assert at(seen(f"relu-nngp rho={text}")).refusals["rho"].startswith(f"rho = {text}: ")


def test_a_curve_out_of_time_says_how_far_it_came(monkeypatch):
    ticks = count(step=scene.CURVE / 2.5)
    monkeypatch.setattr(scene, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    state = seen("relu-ntk rho=0.17 axis=L")
    panel, remark = scene.curve(state, at(state))
    assert re.fullmatch(r"only 2 of \d\d points were known after 0\.15 s, and are joined by lines", remark)
    assert panel.series[0].x == (1.0, 1000.0)


def test_a_wide_formula_is_cut_with_a_word():
    code = scene.typeset(FORMULAS["two-layer-full-2"])
    assert "more rows: limes show two-layer-full-2" in code
    assert code.count(r"\\") == scene.TALLEST


def test_a_formula_that_takes_too_long_is_a_sentence(monkeypatch):
    monkeypatch.setattr(scene, "DERIVING", 0.05)
    slow = replace(
        FORMULAS["depth-crossover"], name="slow", expression=lambda: time.sleep(0.01) or [1 for _ in iter(int, 1)]
    )
    assert "takes more than" in scene.typeset(slow)
    assert "takes more than" in scene.reading(slow, scene.point(slow, {"s": "1"}), 15).refusal


def test_places_lie_on_the_axis():
    state = seen("relu-ntk axis=L rho=0.1")
    places = scene.places(state, at(state))
    assert [exact["L"] for x, exact in places] == [Integer(int(x)) for x, _ in places]
    assert {exact["rho"] for _, exact in places} == {Rational(1, 10)}
    assert scene.places(seen("relu-ntk axis=L rho=2"), at(seen("relu-ntk axis=L rho=2"))) == []
