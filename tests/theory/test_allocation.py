"""The best rates, against grids of the closed forms and gradient descent at single points."""

import numpy as np
import pytest
from sympy import Rational, lambdify

from numerics.linear_networks import LinearNetwork
from theory.allocation import (
    LeastOnHalfLine,
    PositiveCoefficients,
    SameSymmetricPolynomial,
    best_equal_rates,
    best_product,
    convexity,
    excess,
    one_layer_alone,
    room,
    slope,
)
from theory.balance import c
from theory.derivation import How
from theory.errors import InvalidInput
from theory.layerwise import Updates, eta1, eta2, expected_loss, h, product, total

LAYERS = pytest.mark.parametrize("layers", [2, 3])


def test_all_steps_are_exact():
    derivations = [one_layer_alone(layers, steps, up) for layers in (2, 3) for steps in (1, 2) for up in Updates]
    derivations += [make(layers) for layers in (2, 3) for make in (convexity, best_product, room)]
    derivations += [excess(layers, steps) for layers in (2, 3) for steps in (1, 2)]
    derivations += [slope(layers, 1, up) for layers in (2, 3) for up in Updates]
    derivations += [best_equal_rates(2, 1, Updates.FULL), best_equal_rates(2, 2, Updates.SIGNAL)]
    assert {step.outcome.how for d in derivations for step in d.check()} == {How.ALGEBRA}


@LAYERS
def test_one_step_of_one_layer_alone_solves_it(layers):
    """For a random network, not in the mean: the loss is zero to rounding."""
    width = 5
    draw = LinearNetwork(width=width, layers=layers).sample(np.random.default_rng(1))
    first, second, target = draw.weights[0][0], draw.weights[1][0], draw.target[0]
    scale, rate = (width, width**2) if layers == 2 else (width**0.5, width)
    after = second if layers == 2 else second @ draw.readout[0]
    moved = first - rate / scale * (first @ after / scale - target) @ after.T
    assert moved @ after / scale == pytest.approx(target, abs=1e-12)


@LAYERS
@pytest.mark.parametrize("budget", [0.3, 0.9, 1.1, 1.7])
def test_the_best_split_of_one_full_step_is_the_best_on_a_grid(layers, budget):
    width = 6
    scale = width**2 if layers == 2 else width
    loss = lambdify((eta1, eta2), expected_loss(layers, 1, Updates.FULL).conclusion.subs(h, width))
    sum_ = budget * scale
    larger = np.linspace(sum_ / 2, sum_, 20001)
    best = larger[np.argmin(loss(larger, sum_ - larger))]
    claimed = max(0.0, float(best_product(layers).conclusion.subs({h: width, total: sum_})))
    assert best * (sum_ - best) == pytest.approx(claimed, abs=2e-4 * sum_**2)
    assert claimed < sum_**2 / 4


@LAYERS
@pytest.mark.parametrize("steps", [1, 2])
def test_no_rates_of_a_grid_take_the_surrogate_below_the_floor(layers, steps):
    width = 4
    scale = width**2 if layers == 2 else width
    loss = lambdify((eta1, eta2), expected_loss(layers, steps, Updates.SIGNAL).conclusion.subs(h, width))
    one, two = np.meshgrid(*[np.linspace(0, 1.5 * scale, 301)] * 2)
    assert loss(one, two).min() == pytest.approx(1 / width, abs=1e-12)
    assert loss(scale / steps, 0.0) == pytest.approx(1 / width, abs=1e-12)


def test_the_reasons_refuse_what_is_wrong():
    assert SameSymmetricPolynomial().check(total + product, total + 2 * product).how is How.WRONG
    assert SameSymmetricPolynomial().check(1 / total, total).how is How.UNDECIDED
    positive = PositiveCoefficients().check
    assert positive(product / h + total, product * 0).proved
    assert not positive(product - total, product * 0).proved
    assert not positive(total * product, product * 0).proved  # zero at S = 0
    assert not positive(product / (h - 2), product * 0).proved
    assert not positive(product, product).proved
    least = LeastOnHalfLine(c, Rational(1)).check
    assert least(c**4 - 4 * c, Rational(-3)).proved
    assert not least(c**4 - 4 * c, Rational(-2)).proved
    assert not least(4 * c - c**4, Rational(3)).proved
    assert not least((c - 1) ** 2 * (c - 3) ** 2 - c / 100, Rational(-1, 100)).proved  # the other valley is deeper


def test_bad_input_is_refused():
    for layers, steps, updates in ((3, 1, Updates.SIGNAL), (2, 3, Updates.FULL), (4, 1, Updates.FULL)):
        with pytest.raises(InvalidInput):
            best_equal_rates(layers, steps, updates)
