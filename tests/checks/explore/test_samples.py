"""An estimate lies within five standard errors of the formula: one false alarm in 10^6 each, and seeds are fixed."""

import numpy as np
import pytest

from checks.explore import samples, scene
from checks.explore.samples import SAMPLERS, Sampling
from checks.explore.state import State
from numerics.formulas import evaluate_formula
from theory.errors import InvalidInput
from theory.formulas import FORMULAS

AT = {  # where observations are cheap and their tails light
    "relu-nngp": "rho=0.3 L=1",
    "relu-ntk": "rho=0.3 L=1",
    "relu-ntk-normalised": "rho=-0.5 L=1",
    "orthant-2": "r12=-0.4",
    "orthant-3": "r12=0.5 r13=-0.2 r23=0.1",
    "orthant-4": "r12=0.5 r13=-0.2 r14=0.3 r23=0.1 r24=0 r34=-0.4",
    "two-layer-full": "h=6 eta1=5 eta2=3 t=3",
    "three-layer-full": "h=6 eta1=2 eta2=1 t=2",
}
SMALL = {2: "h=5 eta1=4 eta2=6", 3: "h=6 eta1=1 eta2=2"}
EXACT = [name for name in SAMPLERS if name != "feature-deviation"]


def state_at(name: str) -> State:
    text = AT.get(name) or SMALL[2 if name.startswith("two") else 3]
    text += " n=8" * ("inputs" in name) + " rho=0.2" * ("noise" in name)
    return State.from_text(f"{name} {text}")


def place(name: str) -> dict:
    state = state_at(name)
    assert state.known is not None
    return dict(scene.point(state.known, state.at).values)


@pytest.mark.parametrize("name", EXACT)
def test_the_mean_is_the_formula(name):
    count = 2000
    at, rng = place(name), np.random.default_rng([7, *name.encode()])
    drawn = SAMPLERS[name].draw(rng, at, 16, count)
    assert drawn.shape == (count,)
    assert abs(drawn.mean() - float(evaluate_formula(name, at, 15).value)) < 5 * drawn.std() / np.sqrt(count)


def test_features_move_as_in_the_limit():
    at = dict(scene.point(FORMULAS["feature-deviation"], State.from_text("feature-deviation L=1").at).values)
    drawn = SAMPLERS["feature-deviation"].draw(np.random.default_rng(3), at, 256, 500)
    limit = float(evaluate_formula("feature-deviation", at, 15).value)
    assert abs(drawn.mean() - limit) < 5 * drawn.std() / np.sqrt(500) + 2 * limit / np.sqrt(256)


def test_every_sampled_formula_exists():
    assert set(SAMPLERS) <= set(FORMULAS)


def coin(**options) -> Sampling:
    at = [(x, {"r12": x}) for x in (0.0, 0.5)]
    return Sampling("orthant-2", at, **options)


def test_samples_are_added_and_the_interval_shrinks():
    growing = coin()
    growing.advance(0)
    growing.advance(0)
    first, radius = growing.least, growing.radii()
    for _ in range(20):
        growing.advance(0)
    assert growing.least > first > 0
    assert (growing.radii() < radius).all()
    assert (np.abs(growing.means() - [1 / 4, 1 / 3]) < growing.radii()).all()


def test_the_same_chunks_give_the_same_numbers_and_another_seed_others():
    runs = [coin(), coin(), coin(seed=1)]
    for run in runs:
        for _ in range(6):
            run.advance(0)
    assert (runs[0].means() == runs[1].means()).all()
    assert (runs[0].means() != runs[2].means()).any()


def test_nothing_is_shown_of_too_few(monkeypatch):
    monkeypatch.setattr(samples, "CHUNK", 1)  # one observation at a time
    state = state_at("relu-ntk")
    few = Sampling("relu-ntk", [(1.0, place("relu-ntk"))], 8)
    assert few.series() is None
    few.advance(0)
    assert few.series() is None
    assert "At 1 of 1 places none is shown yet" in few.remark()
    assert "an error bar would be too short (1 observations say nothing" in few.remark()
    panel, _ = scene.curve(state, scene.point(FORMULAS["relu-ntk"], state.at))
    assert few.on(panel) == panel


def test_samples_join_the_panel():
    growing = coin()
    for _ in range(4):
        growing.advance(0)
    state = State.of("orthant-2")
    panel, _ = scene.curve(state, scene.point(FORMULAS["orthant-2"], state.at))
    *_, series = growing.on(panel).series
    assert series.label == "samples"
    assert series.x == (0.0, 0.5)
    assert series.radius is not None


def test_it_ends_when_there_is_enough(monkeypatch):
    monkeypatch.setattr(samples, "ENOUGH", 1500)
    growing = coin()
    growing.advance(60)
    assert growing.done
    assert growing.least >= 1500
    before = growing.least
    growing.advance(60)
    assert growing.least == before


def test_what_is_too_large_or_no_correlation_or_diverges_is_a_sentence():
    deep = Sampling("relu-ntk", [(1.0, {"rho": 0, "L": 10**6})], 64)
    assert deep.done
    assert "1 of 1 places are left out" in deep.remark()
    wrong = Sampling("orthant-3", [(0.0, {"r12": -0.9, "r13": -0.9, "r23": -0.9})])
    wrong.advance(0)
    assert "no correlations" in wrong.remark()
    wild = Sampling("two-layer-full", [(0.0, {"h": 3, "eta1": 1e9, "eta2": 1e9, "t": 30})])
    wild.advance(0)
    assert "rates = 1000000000.0, 1000000000.0: runs diverge there" in wild.remark()
    few = Sampling("two-layer-gaussian-inputs-full-1", [(0.0, {"h": 5, "n": 3, "eta1": 1, "eta2": 1})])
    few.advance(0)
    assert "n >= d" in few.remark()


def test_a_formula_without_samples():
    with pytest.raises(InvalidInput, match="nothing random"):
        Sampling("depth-crossover", [])
