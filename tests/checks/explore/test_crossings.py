from dataclasses import replace

import pytest

from checks.explore import crossings, scene
from checks.explore.crossings import Found, Side
from checks.explore.scale import Scale
from checks.explore.state import State


def asked(text: str, parameter: str, side: Side, level: str) -> tuple[Found, State, scene.Point]:
    state = State.from_text(text)
    assert state.known is not None
    where = scene.point(state.known, state.at)
    return crossings.find(state, where, parameter, side, level), state, where


def test_the_depth_at_which_two_inputs_become_alike(monkeypatch):
    monkeypatch.setattr(crossings, "SECONDS", 60.0)
    found, state, where = asked("relu-nngp rho=0.9", "L", Side.ABOVE, "0.999")
    assert found.place == {"L": "187"}
    assert found.crossing is not None
    assert found.crossing.complete
    assert crossings.is_about(found, state, where)


def test_a_real_parameter_and_the_other_side():
    found, *_ = asked("orthant-2", "r12", Side.BELOW, "1/4")
    assert found.place == {"r12": "-1"}


def test_it_is_about_the_point_but_for_its_own_parameter():
    found, state, where = asked("relu-nngp rho=0", "L", Side.ABOVE, "1/2")
    deeper, other = replace(where, values={**where.values, "L": 50}), replace(where, values={**where.values, "rho": 1})
    assert crossings.is_about(found, state, deeper)
    assert not crossings.is_about(found, state, other)
    assert not crossings.is_about(found, State.of("relu-ntk"), where)
    assert crossings.is_about(Found(), state, other)


@pytest.mark.parametrize(
    ("text", "level", "sentence"),
    [
        ("relu-nngp", "", "value = nothing: give a number"),
        ("relu-nngp", "__import__('os').system('true')", "value = __import__"),
        ("relu-nngp", "1/0", "value = 1/0: "),
        ("relu-nngp", "oo", "infinity is not allowed"),
        ("relu-nngp rho=2", "0.9", "not found without rho"),
    ],
)
def test_nonsense_is_a_sentence(text, level, sentence):
    found, *_ = asked(text, "L", Side.ABOVE, level)
    assert found.crossing is None
    assert sentence in found.refusal


def test_a_parameter_that_follows_is_refused():
    found, *_ = asked("two-layer-signal-1 h=10 eta1=2*h eta2=3", "h", Side.BELOW, "0.1")
    assert found.refusal == "eta1 follows h: give it a number of its own"


@pytest.mark.parametrize(("scale", "y"), [(Scale.AUTOMATIC, 0.999), (Scale.COMPLEMENT, 0.001)])
def test_the_level_is_marked_in_the_curve(scale, y):
    found, state, where = asked("relu-nngp rho=0.99999", "L", Side.ABOVE, "0.999")
    state = replace(state, scale=scale)
    panel, _ = scene.curve(state, where)
    *_, line = crossings.marked(panel, state, found).series
    assert line.label == "level 0.999"
    assert line.y == pytest.approx((y, y), rel=1e-12)
    assert crossings.marked(panel, state, Found()) == panel
