"""The exact confidence sequence for bounded observations: its error, its power, its arithmetic."""

import json
import math
import pickle

import numpy as np
import pytest
from scipy import stats

from numerics.decision import Outcome
from numerics.empirical_bernstein import BoundedConfidenceSequence
from theory.errors import InvalidInput


def test_it_is_the_published_formula():
    """Observation by observation, as in theorem 2 of Waudby-Smith & Ramdas."""
    alpha, x = 0.01, np.random.default_rng(1).random(300)
    mu, variance, total, squares = 0.5, 0.25, 0.0, 0.0
    bets = weighted = variation = 0.0
    for i, value in enumerate(x, start=1):
        bet = min(math.sqrt(2 * math.log(2 / alpha) / (variance * i * math.log(1 + i))), 0.5)
        bets, weighted = bets + bet, weighted + bet * value
        variation += 4 * (value - mu) ** 2 * (-math.log(1 - bet) - bet) / 4
        total += value
        mu = (0.5 + total) / (i + 1)
        squares += (value - mu) ** 2
        variance = (0.25 + squares) / (i + 1)
    sequence = BoundedConfidenceSequence(alpha, lower=-1, upper=3)
    for chunk in np.split(4 * x - 1, [1, 8, 200]):
        sequence.update(chunk)
    assert sequence.mean[0] == pytest.approx(4 * weighted / bets - 1, rel=1e-12)
    assert sequence.radius[0] == pytest.approx(4 * (math.log(2 / alpha) + variation) / bets, rel=1e-12)


@pytest.mark.parametrize(("alpha", "per_sequence"), [(0.05, 19), (0.01, 95)])
@pytest.mark.parametrize("probability", [0.001, 0.1, 0.5, 1.0])
def test_false_alarms_are_as_rare_as_stated(alpha, per_sequence, probability):
    """If the error were exactly alpha, this test would fail with probability 1e-4. Rare events are included."""
    rng = np.random.default_rng(20261120)
    sequences = [
        BoundedConfidenceSequence(alpha * per_sequence, per_sequence, lower=0, upper=1)
        for _ in range(950 // per_sequence)
    ]
    rejected = np.zeros((len(sequences), per_sequence), dtype=bool)
    for _ in range(20):
        for sequence, seen in zip(sequences, rejected, strict=True):
            sequence.update(rng.random((50, per_sequence)) < probability)
            low, high = sequence.interval()
            seen |= (probability < low) | (probability > high)
    assert rejected.sum() <= stats.binom.ppf(1 - 1e-4, rejected.size, alpha)


def test_it_narrows_with_the_variance():
    rng = np.random.default_rng(2)
    wide, narrow = (BoundedConfidenceSequence(lower=0, upper=1) for _ in range(2))
    for _ in range(50):
        x = rng.random(1000)
        wide.update(x)
        narrow.update(0.5 + (x - 0.5) / 20)
    assert narrow.radius < wide.radius / 5
    assert narrow.decide(0.5, wanted_resolution=0.01).outcome is Outcome.CONSISTENT
    assert narrow.decide(0.505).outcome is Outcome.REJECTED


def test_components_have_their_own_intervals():
    x = np.random.default_rng(3).random((1000, 2))
    both = BoundedConfidenceSequence(0.02, 2, lower=0, upper=1)
    one = BoundedConfidenceSequence(0.01, lower=0, upper=1)
    both.update(x)
    one.update(x[:, 1])
    assert both.interval()[0][1] == pytest.approx(one.interval()[0][0], rel=1e-12)
    assert both.decide([0.5, 0.9]).outcome is Outcome.REJECTED


def test_the_state_is_exact():
    rng = np.random.default_rng(4)
    whole, resumed = (BoundedConfidenceSequence(1e-3, 2, lower=0, upper=1) for _ in range(2))
    for _ in range(3):
        chunk = rng.random((100, 2))
        whole.update(chunk)
        resumed.update(chunk)
        state = json.loads(json.dumps(resumed.to_state()))
        resumed = pickle.loads(pickle.dumps(BoundedConfidenceSequence.from_state(state)))
    assert whole.to_state() == resumed.to_state()


def test_nothing_is_known_before_the_first_observation():
    sequence = BoundedConfidenceSequence(lower=0, upper=1)
    assert sequence.decide(7.0).outcome is Outcome.UNDECIDED
    assert sequence.decide(7.0).reason == "no observations"
    assert not sequence.trustworthy


@pytest.mark.parametrize(("lower", "upper"), [(1.0, 1.0), (0.0, math.inf), (math.nan, 1.0)])
def test_bad_bounds_are_refused(lower, upper):
    with pytest.raises(InvalidInput, match="lower, upper"):
        BoundedConfidenceSequence(lower=lower, upper=upper)


@pytest.mark.parametrize("chunk", [[0.5, 1.1], [-1e-9], [math.nan], []])
def test_observations_outside_the_bounds_are_refused_and_change_nothing(chunk):
    sequence = BoundedConfidenceSequence(lower=0, upper=1)
    sequence.update([0.0, 1.0])
    before = sequence.to_state()
    with pytest.raises(InvalidInput):
        sequence.update(chunk)
    assert sequence.to_state() == before
