"""One step of full descent and what follows, against gradient descent on matrices and on eigenvalues."""

import numpy as np
import pytest
from sympy import lambdify

from numerics.descent import Fixed, descend
from numerics.linear_networks import LinearNetwork
from numerics.reduced import ThreeLayers, TwoLayers
from theory.derivation import How
from theory.errors import InvalidInput
from theory.layerwise import Updates, eta1, eta2, h
from theory.stability import (
    A,
    contraction,
    epsilon,
    epsilon_bar,
    flow_invariant,
    kappa,
    layers_stay_equal,
    least_loss,
    linear_step,
    residual_step,
    w,
    weight_step,
)


@pytest.mark.parametrize("updates", Updates)
def test_residual_and_weights_repeat_the_recursion_of_the_layers(updates):
    width, one, two = 7, 5.0, 3.0
    z = np.exp(0.7j)
    a, b = 1.3 - 0.2j, 0.4 + 0.9j

    def state(a: complex, b: complex) -> tuple[complex, float]:
        return 1 - a * b / (z * width**0.5), (one * abs(b) ** 2 + two * abs(a) ** 2) / width**2

    residual, weight = state(a, b)
    step = z / width**0.5 - (a * b / width if updates is Updates.FULL else 0)
    after = state(a + one / width * step * np.conj(b), b + two / width * np.conj(a) * step)
    at = (residual, np.conj(residual), weight, one * two / width**3)
    names = (epsilon, epsilon_bar, w, kappa)
    found = [lambdify(names, make(updates).conclusion)(*at) for make in (residual_step, weight_step)]
    assert found == pytest.approx(list(after), rel=1e-12)


def test_all_steps_are_exact():
    derivations = [residual_step(), weight_step(), residual_step(Updates.SIGNAL), weight_step(Updates.SIGNAL)]
    derivations += [linear_step(), contraction(2), contraction(3), layers_stay_equal(), least_loss(), flow_invariant()]
    assert {step.outcome.how for d in derivations for step in d.check()} <= {How.ALGEBRA, How.LEMMA}


@pytest.mark.parametrize("layers", [2, 3])
def test_a_run_next_to_a_balanced_minimum_contracts_as_derived(layers):
    """`W_1 W_2` (a) is the target up to 1e-6, and the residual of a step is the factor times the one before."""
    width, one, two = 6, 2.0, 1.0
    balanced = (one * width / two) ** 0.25  # sqrt(eta1) |b| = sqrt(eta2) |a| with |a| |b| = sqrt(h)
    draw = LinearNetwork(width=width, layers=layers).sample(np.random.default_rng(3))
    first, second, target = draw.weights[0][0], draw.weights[1][0], draw.target[0]
    scale = width if layers == 2 else width**0.5
    if layers == 2:
        left, right = balanced * first, width / balanced * first.T @ target * (1 - 1e-6)
        readout = np.eye(width)
    else:
        v = second @ draw.readout[0]
        right = width**0.5 / balanced * second * (1 - 1e-6)
        left, readout = balanced * target @ v.T, draw.readout[0]  # K has the singular value |a|, along r and v
    residual = target - left @ right @ readout / scale
    up, down = one / scale * residual @ (right @ readout).T, two / scale * left.T @ residual @ readout.T
    after = target - (left + up) @ (right + down) @ readout / scale
    factor = float(contraction(layers).conclusion.subs({h: width, eta1: one, eta2: two, A: balanced}))
    assert after == pytest.approx(factor * residual, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize(("rate", "steps"), [(20.0, 1), (40.0, 7), (60.0, 30)])
def test_equal_rates_never_fall_below_the_bound(rate, steps):
    width = 16
    run = descend(TwoLayers.expectation(width), Fixed((rate, rate)), steps=steps, updates=Updates.FULL)
    assert run.test_loss.min() >= 1 / (2 * width)


def test_half_of_the_runs_with_equal_rates_end_at_the_saddle():
    """The share of 400 runs with a loss of 1/h left is within 6 standard deviations of 1/2: false alarms below 1e-8."""
    width = 9
    draw = TwoLayers.sample(np.random.default_rng(5), width, 400)
    equal = descend(draw, Fixed((12.0, 12.0)), steps=40, updates=Updates.FULL).test_loss[:, -1]
    unequal = descend(draw, Fixed((13.0, 11.0)), steps=40, updates=Updates.FULL).test_loss[:, -1]
    assert abs(np.mean(equal > 0.9 / width) - 0.5) < 6 * 0.5 / 400**0.5
    assert np.mean(unequal > 0.9 / width) < 0.05


@pytest.mark.parametrize(("rate", "settles"), [(28.0, True), (36.0, False)])
def test_three_layers_settle_up_to_the_root_of_the_width_only(rate, settles):
    draw = ThreeLayers.sample(np.random.default_rng(2), 1000, 50)
    loss = descend(draw, Fixed((rate, rate)), steps=300, updates=Updates.FULL).test_loss[:, -1]
    assert np.all(loss < 1e-6) if settles else np.all(loss > 1e-3)


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput, match="layers"):
        contraction(4)
    with pytest.raises(InvalidInput, match="updates"):
        residual_step("full")
