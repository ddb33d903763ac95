"""Schedules by their definition, divergence, and what a sweep shares; on a task small enough to follow by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from numerics.descent import NEVER, Evaluation, Fixed, NormBalance, Uniform, descend, squared_norm, sweep
from theory.errors import InvalidInput
from theory.layerwise_options import Updates


class Product(NamedTuple):
    """`ℓ = (uv − 1)²/2` in two numbers for each run; "signal" is the gradient of `−uv`."""

    weights: tuple[np.ndarray, np.ndarray]

    def evaluate(self, weights) -> Evaluation:
        u, v = weights
        error = u * v - 1

        def gradients(updates):
            slope = -np.ones_like(error) if updates is Updates.SIGNAL else error
            return slope * v, slope * u

        return Evaluation(squared_norm(error), squared_norm(error) / 2, gradients)

    def norms(self, weights):
        return [np.abs(layer[:, 0]) for layer in weights]


def product(*pairs: tuple[float, float]) -> Product:
    u, v = np.array(pairs, dtype=float).T
    return Product((u[:, None], v[:, None]))


def losses(u: Fraction, v: Fraction, rates, steps: int, signal: bool = False) -> list[Fraction]:
    """The oracle: exact arithmetic, the definition of a step."""
    found = [(u * v - 1) ** 2]
    for _ in range(steps):
        first, second = rates(u, v)
        slope = Fraction(-1) if signal else u * v - 1
        u, v = u - first * slope * v, v - second * slope * u
        found.append((u * v - 1) ** 2)
    return found


def balanced(rate: Fraction):
    return lambda u, v: (2 * rate * abs(v) / (abs(u) + abs(v)), 2 * rate * abs(u) / (abs(u) + abs(v)))


def constant(first: str, second: str):
    return lambda u, v: (Fraction(first), Fraction(second))


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        (Fixed((0.25, 0.125)), constant("1/4", "1/8")),
        (Uniform(0.125), constant("1/8", "1/8")),
        (NormBalance(0.125), balanced(Fraction(1, 8))),
    ],
)
def test_losses_are_those_of_the_definition(schedule, rates, updates):
    starts = [(1.5, -0.5), (0.25, 0.75)]
    found = descend(product(*starts), schedule, steps=5, updates=updates)
    expected = [
        [float(loss) for loss in losses(Fraction(u), Fraction(v), rates, 5, updates is Updates.SIGNAL)]
        for u, v in starts
    ]
    assert np.allclose(found.test_loss, expected, rtol=1e-13, atol=1e-15)
    assert np.array_equal(found.train_loss, found.test_loss / 2)
    assert (found.divergence_step == NEVER).all()


def test_norm_balance_keeps_the_budget():
    rates = NormBalance(0.7).rates(lambda: (np.array([1.0, 0.0, 5.0, 0.0]), np.array([3.0, 2.0, 0.0, 0.0])), 2)
    assert np.allclose(rates, [[1.05, 1.4, 0.0, 0.7], [0.35, 0.0, 1.4, 0.7]], rtol=1e-15)


def test_divergence_is_named_at_its_step():
    """One run leaves float64 at the step at which its exact loss does; the other goes on as it would alone."""
    exact = losses(Fraction(3), Fraction(4), constant("1", "1"), 8)
    step = next(step for step, loss in enumerate(exact) if loss > Fraction(np.finfo(float).max))
    both = descend(product((3.0, 4.0), (1.0, 0.5)), Uniform(1.0), steps=8)
    assert both.divergence_step.tolist() == [step, NEVER]
    assert both.diverged.tolist() == [True, False]
    assert np.isfinite(both.test_loss[0, :step]).all()
    assert (both.test_loss[0, step:] == math.inf).all()
    assert (both.train_loss[0, step:] == math.inf).all()
    alone = descend(product((1.0, 0.5)), Uniform(1.0), steps=8)
    assert np.array_equal(both.test_loss[1:], alone.test_loss)
    assert not np.isnan([both.test_loss, both.train_loss]).any()


def test_all_may_diverge():
    run = descend(product((1e160, 1e160)), Uniform(1.0), steps=3)
    assert run.divergence_step.tolist() == [0]
    assert (run.test_loss == math.inf).all()


def test_a_divergent_run_stays_so():
    """The first loss overflows, though one step leads back: nobody should take that for a run that converged."""
    run = descend(product((1e100, 1e60), (1.0, 0.5)), Fixed((1e-120, 0.0)), steps=3)
    assert run.divergence_step.tolist() == [0, NEVER]
    assert (run.test_loss[0] == math.inf).all()
    assert np.isfinite(run.test_loss[1]).all()


def test_a_sweep_is_many_descents_and_changes_nothing():
    task = product((1.5, -0.5), (0.25, 0.75))
    before = [layer.copy() for layer in task.weights]
    schedules = [Uniform(0.1), Fixed((0.2, 0.0)), NormBalance(0.3)]
    for schedule, together in zip(schedules, sweep(task, schedules, steps=4), strict=True):
        assert np.array_equal(together.test_loss, descend(task, schedule, steps=4).test_loss)
    assert np.array_equal(task.weights, before)
    assert sweep(task, schedules, steps=0)[2].test_loss.shape == (2, 1)


@pytest.mark.parametrize("rate", [-0.1, math.nan, math.inf, "1", True, None])
def test_schedules_refuse_rates(rate):
    for schedule in (Uniform, NormBalance, lambda bad: Fixed((1.0, bad))):
        with pytest.raises(InvalidInput, match="rate"):
            schedule(rate)


def test_schedules_refuse_layers():
    with pytest.raises(InvalidInput, match="layer_rates"):
        descend(product((1.0, 1.0)), Fixed((1.0,)), steps=1)
    with pytest.raises(InvalidInput, match="layer_rates"):
        Fixed(0.1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="2 trained layers; here are 3"):
        NormBalance(1.0).refuse(3)


@pytest.mark.parametrize("steps", [-1, 1.0, True, "2"])
def test_descend_refuses_steps(steps):
    with pytest.raises(InvalidInput, match="steps"):
        descend(product((1.0, 1.0)), Uniform(1.0), steps=steps)


def test_descend_refuses_updates():
    with pytest.raises(InvalidInput, match="updates"):
        descend(product((1.0, 1.0)), Uniform(1.0), steps=1, updates="full")  # type: ignore[arg-type]
