"""What the chapter on trained networks computes for its claims, against direct computations."""

import math

import numpy as np
import pytest

from checks.evidence.derived import Derived
from checks.ledger import training
from checks.verdicts import Level, Verdict
from numerics.data_files import FOLDER_VARIABLE
from theory.activations import Tanh


def test_windows_come_from_the_generated_text_without_a_file(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    training.windows.cache_clear()
    points, labels = training.windows()
    assert points.shape == (training.WINDOWS, 27 * training.WINDOW)
    assert np.allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-14)
    assert len(np.unique(points, axis=0)) == len(points), "no two windows are equal"
    assert set(labels.ravel()) == {1.0, -1.0}
    training.windows.cache_clear()


def test_observations_have_their_shapes_and_come_from_the_generator():
    draws = {
        "distances": lambda rng: training.distances(rng, 16, 3, activation=Tanh()),
        "distances to the limit": lambda rng: training.distances(rng, 16, 3, activation=Tanh(), limit=True),
        "lags": lambda rng: training.lags(rng, 16, 3, block=2),
        "second orders": lambda rng: training.second_orders(rng, 16, 3),
        "most units": lambda rng: training.deviation_of_most(rng, 16, 3),
        "aggregate": lambda rng: training.aggregate_deviation(rng, 16, 3),
    }
    for name, draw in draws.items():
        first, again, other = (draw(np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert first.shape == (3,), name
        assert np.array_equal(first, again), name
        assert not np.array_equal(first, other), name
        assert np.isfinite(first).all(), name
    assert training.largest_falls(np.random.default_rng(0), 2).shape == (2, 1)


def test_the_limit_kernel_is_that_of_the_points():
    """A very wide network is nearer to its limit than a narrow one, by the factor of the exponent −1/2."""
    narrow, wide = (
        np.median(training.distances(np.random.default_rng(3), width, 60, activation=Tanh(), limit=True))
        for width in (32, 2048)
    )
    # 8 but for the error of two medians of 60, each below 1.25 · 0.7/√60 of it; six times that is 0.9 of the ratio
    assert 8 / 2 < narrow / wide < 8 * 2


def test_the_lag_is_small_where_the_step_is():
    assert float(training.LAG.subs(training.m, 10**8)) == pytest.approx(
        math.sqrt(2) / math.pi * training.FIRST_STEP**2 / 1e4, rel=1e-6
    )


def test_the_lag_is_proved():
    exact = [item for _, _, item in training.linearised_network.evidence() if isinstance(item, Derived)]
    assert len(exact) == 2
    for evidence in exact:
        finding = evidence.examine(Level.QUICK)
        assert finding.verdict is Verdict.PROVED
        assert finding.mutants.tried > 0
        assert finding.mutants.survived == ()
