"""The expected loss after any number of steps, against its polynomials, the mean over angles, and differences."""

from fractions import Fraction

import numpy as np
import pytest
from sympy import Rational, sqrt

from numerics import layerwise_loss
from numerics.descent import Fixed, descend
from numerics.layerwise_loss import Divergent, exact_loss, expected_loss, gradient
from numerics.reduced import ThreeLayers, TwoLayers
from theory import three_layers, two_layers
from theory.errors import InvalidInput, Undecidable
from theory.layerwise_options import Updates
from theory.rate_polynomials import eta1, eta2, h


@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("width", [1, 2, 3, 7])
@pytest.mark.parametrize(("layers", "theory"), [(2, two_layers), (3, three_layers)])
def test_few_steps_are_the_derived_polynomials(layers, theory, width, steps):
    rates = Rational(3, 7), Rational(5, 4)
    polynomial = theory.expected_loss(steps, Updates.FULL).conclusion
    exact = polynomial.subs({h: width, eta1: rates[0], eta2: rates[1]})
    found = exact_loss(layers, width, *rates, steps)
    assert found == Fraction(int(exact.p), int(exact.q))
    assert float(expected_loss(layers, width, *rates, steps)) == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize(
    ("width", "rates", "steps"), [(3, (2.0, 1.5), 5), (10, (12.0, 9.0), 8), (100, (500.0, 300.0), 6)]
)
def test_two_layers_after_more_steps_are_the_mean_over_angles(width, rates, steps):
    run = descend(TwoLayers.expectation(width, 2 * 3**steps), Fixed(rates), steps=steps)
    assert float(expected_loss(2, width, *rates, steps)) == pytest.approx(run.test_loss[0, -1], rel=1e-9)


@pytest.mark.parametrize("steps", [5, 7])
def test_three_layers_after_more_steps_are_the_mean_over_the_overlap(steps):
    rates, nodes_and_weights = (1.0, 1.5), np.polynomial.legendre.leggauss(400)  # in R³ the overlap is uniform
    runs = ThreeLayers(3, nodes_and_weights[0], np.ones(400), np.ones(400))
    losses = descend(runs, Fixed(rates), steps=steps).test_loss[:, -1]
    mean = float(losses @ nodes_and_weights[1] / 2)
    assert float(expected_loss(3, 3, *rates, steps)) == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("layers", [2, 3])
def test_the_gradient_is_a_quotient_of_differences(layers):
    width, rates, step = 5, (Fraction(2), Fraction(3, 2)), Fraction(1, 10**12)
    for which, slope in enumerate(gradient(layers, width, *rates, steps=6, digits=20)):
        moved = [rate + step * (index == which) for index, rate in enumerate(rates)]
        near, far = (expected_loss(layers, width, *at, steps=6, digits=40).ball for at in (rates, moved))
        assert float(slope) == pytest.approx(float((far - near) * 10**12), rel=1e-9)


def test_more_digits_only_add_digits():
    few, many = (expected_loss(2, 50, 30 * sqrt(2), 200, 12, digits=digits) for digits in (15, 40))
    assert abs(Rational(few.value) - Rational(many.value)) <= Rational(few.radius) + Rational(many.radius)


@pytest.mark.parametrize(("layers", "rates"), [(2, (5, 7)), (3, (Fraction(1, 2), 2))])
@pytest.mark.parametrize("width", [1, 2, 3, 50])
def test_integrals_agree_with_the_exact_mean(layers, rates, width, monkeypatch):
    exact = exact_loss(layers, width, *rates, 3)
    monkeypatch.setattr(layerwise_loss, "EXACT_STEPS", -1)
    found = expected_loss(layers, width, *rates, 3, digits=30)
    assert abs(Fraction(found.value) - exact) <= Fraction(found.radius)


def test_equal_rates_leave_half_a_direction_unlearned():
    """At the eigenvalue −1, met with probability one half, equal rates lead to the saddle at zero: 1/(2h) is left."""
    equal, unequal = (float(expected_loss(2, 100, first, 800 - first, 64)) for first in (400, 420))
    assert equal == pytest.approx(1 / 200, rel=1e-3)
    assert unequal < 1e-6


@pytest.mark.parametrize(("layers", "width", "rates", "steps"), [(2, 2, (100, 100), 20), (3, 1000, (300, 200), 5)])
def test_a_divergent_run_is_called_so(layers, width, rates, steps):
    with pytest.raises(Divergent, match="divergent"):
        expected_loss(layers, width, *rates, steps)


def test_chaos_is_not_evaluated():
    with pytest.raises(Undecidable, match="chaotic"):
        expected_loss(3, 10**6, 1000, 2000, 64)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((4, 3, 1, 1, 1), "layers"),
        ((2, 0, 1, 1, 1), "h"),
        ((2, Rational(3, 2), 1, 1, 1), "h"),
        ((2, 3, -1, 1, 1), "eta1"),
        ((2, 3, 1, float("nan"), 1), "eta2"),
        ((2, 3, 1, 1, -1), "t"),
        ((2, 3, 1, 1, 1.5), "t"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, name):
    with pytest.raises(InvalidInput, match=f"{name} = "):
        expected_loss(*arguments)
