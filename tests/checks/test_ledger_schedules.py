"""The experiments of chapter 6 get the verdicts that they record, and compare what they say they compare."""

import math

import numpy as np
import pytest

from checks import Level, verify
from checks.ledger import schedules
from numerics.descent import Fixed, Trajectory, Uniform, descend
from numerics.linear_networks import LinearNetwork
from numerics.reduced import ThreeLayers, TwoLayers
from numerics.reduced_depth import deepened
from theory.layerwise_options import Gaussian


@pytest.mark.parametrize("claim", schedules.CLAIMS, ids=lambda claim: claim.id)
def test_the_verdict_is_the_one_recorded(claim):
    (result,) = verify([claim], level=Level.QUICK, jobs=1).claims
    assert result.verdict is claim.expected


@pytest.mark.parametrize("layers", [2, 3, 4, 8])
def test_wide_networks_settle_up_to_the_stability_limit(layers):
    """At 9/10 of the limit the loss reaches rounding, at 11/10 it stays away from zero."""
    width, rng = 10**4, np.random.default_rng(0)
    runs = TwoLayers(width, np.linspace(0, math.pi, 5)[None], np.ones((1, 5)))
    if layers > 2:
        three = ThreeLayers.sample(rng, width, 5)
        runs = three if layers == 3 else deepened(three, layers)
    limit = schedules.stability_limit(layers, width)
    below, above = (descend(runs, Uniform(share * limit), steps=600).test_loss for share in (0.9, 1.1))
    assert (below[:, -1] < 1e-20).all()
    assert (above[:, 300:] > 1e-3).any(axis=1).all()


@pytest.mark.parametrize("trained", [3, 7])
def test_allocations_keep_the_budget(trained):
    for allocation in schedules.unequal(trained):
        assert np.mean(allocation) == pytest.approx(1, rel=1e-15)
        assert 0.5 <= allocation.min() < 1 < allocation.max() <= 1.5


def test_differences_of_diverged_and_converged_runs():
    first, other = (Trajectory(np.array(loss), np.array(loss) / 2) for loss in (RUNS[0], RUNS[1]))
    found = schedules.differences([first, other], (0, 1))
    assert np.array_equal(found, [[0.0, 0.5], [0.0, math.inf], [0.0, math.nan], [0.0, 0.0]], equal_nan=True)
    assert schedules.differences([first, other], (1,), train=True)[0] == 0.25


RUNS = (
    [[1.0, 0.25], [1.0, 1.0], [1.0, math.inf], [1.0, 1e-30]],
    [[1.0, 0.75], [1.0, math.inf], [1.0, math.inf], [1.0, 1e-26]],
)


def test_the_signs_of_the_comparisons():
    """On literal networks: unequal rates win after one step, equal ones in the end; what is drawn has these signs."""
    layers, width, share = 4, 32, 1 / 4
    draw = LinearNetwork(width=width, layers=layers).sample(np.random.default_rng(0), 600)
    rate = share * schedules.stability_limit(layers, width)
    equal = descend(draw, Uniform(rate), steps=16).test_loss
    how = {"networks": ((layers, width),), "share": share, "steps": (1, 16)}
    drawn = schedules.equal_advantage(np.random.default_rng(1), 600, **how).mean(axis=0).reshape(3, 2)
    for allocation, (after_one, later) in zip(schedules.unequal(layers - 1), drawn, strict=True):
        unequal = descend(draw, Fixed(tuple(rate * allocation)), steps=16).test_loss
        advantage = (unequal - equal).mean(axis=0)
        error = (unequal - equal).std(axis=0) / 600**0.5
        # two means of 600 runs each lie apart by more than 6.2 √2 standard errors with a probability of 1e-9
        assert abs(after_one - advantage[1]) < 6.2 * 2**0.5 * error[1]
        assert abs(later - advantage[16]) < 6.2 * 2**0.5 * error[16]
        assert after_one < 0 < later


def test_trials_name_what_is_wrong():
    rng = np.random.default_rng(0)
    assert schedules.same_losses(rng, steps=10) == ""
    assert "differ at step 1," in schedules.same_losses(rng, steps=10, initialisation=Gaussian())
    assert "differ at step 4," in schedules.same_losses(rng, steps=10, layers=3)
    assert schedules.lower_losses(rng, steps=3).startswith("step 1,")


def test_divergence_is_counted():
    network = LinearNetwork(width=8, initialisation=Gaussian())
    rng = np.random.default_rng(0)
    assert (schedules.divergence(rng, 20, network=network, share=1 / 8, steps=50) == -1).all()
    assert (schedules.divergence(rng, 20, network=network, share=3.0, steps=50) == 1).all()
