"""The best split of a budget, against a fine grid of the closed forms in float64."""

from fractions import Fraction

import numpy as np
import pytest
from sympy import lambdify, pi

from numerics.allocation import Split, best_allocation, best_equal_rates
from theory.errors import InvalidInput, Undecidable
from theory.layerwise import Updates, eta1, eta2, expected_loss, h

GRID = 40001


def loss(layers, steps, updates, width):
    return lambdify((eta1, eta2), expected_loss(layers, steps, updates).conclusion.subs(h, width))


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize(
    ("layers", "width", "budget"),
    [(2, 50, 60), (2, 50, 800), (2, 50, 1500), (2, 5, 20), (2, 50, 2500), (3, 50, 2), (3, 50, 30), (3, 5, 4)],
)
@pytest.mark.parametrize("steps", [1, 2])
def test_it_is_the_best_of_a_grid(layers, width, budget, steps, updates):
    found = best_allocation(width, budget, layers=layers, steps=steps, updates=updates)
    value = loss(layers, steps, updates, width)
    larger = np.linspace(budget / 2, budget, GRID)
    on_grid = value(larger, budget - larger)
    assert float(found.loss) <= on_grid.min() * (1 + 1e-9) + 1e-12
    assert float(found.loss) == pytest.approx(on_grid.min(), rel=1e-5, abs=1e-8)
    assert float(found.larger) == pytest.approx(larger[np.argmin(on_grid)], abs=1.5e-2 * budget)
    assert float(found.larger) + float(found.smaller) == pytest.approx(budget, rel=1e-12)
    assert value(float(found.larger), float(found.smaller)) == pytest.approx(float(found.loss), rel=1e-9, abs=1e-10)
    assert float(found.equal) == pytest.approx(value(budget / 2, budget / 2), rel=1e-9)
    assert float(found.one_layer) == pytest.approx(value(float(budget), 0.0), rel=1e-9, abs=1e-10)


def test_the_windows_of_the_surrogate_are_as_derived():
    """One layer alone up to a slope of zero at `P = 0`: `2S² − h² S + h² (h + 2) = 0`, at 1004.02... for h = 1000."""
    splits = [best_allocation(1000, budget).split for budget in (1004, 1005, 1006, 1007, 63000, 10**6)]
    assert splits == [Split.ONE_LAYER, Split.UNEQUAL, Split.UNEQUAL, Split.EQUAL, Split.EQUAL, Split.ONE_LAYER]
    assert best_allocation(9, 9).split is Split.ONE_LAYER  # and at any budget, below h = 10


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize(("layers", "width", "steps"), [(2, 20, 1), (2, 20, 2), (3, 20, 1), (3, 20, 2)])
def test_the_best_equal_rates_are_the_best_of_a_grid(layers, width, steps, updates):
    rate, least = best_equal_rates(width, layers=layers, steps=steps, updates=updates)
    value = loss(layers, steps, updates, width)
    rates = np.linspace(0, 2 * float(rate), GRID)
    assert float(least) == pytest.approx(value(rates, rates).min(), rel=1e-6)
    assert value(float(rate), float(rate)) == pytest.approx(float(least), rel=1e-10)


def test_digits_are_right_at_two_precisions():
    few, many = (best_allocation(1000, 120000, updates=Updates.FULL, digits=digits) for digits in (15, 60))
    for name in ("larger", "smaller", "loss", "equal", "one_layer"):
        one, two = Fraction(getattr(few, name).value), Fraction(getattr(many, name).value)
        assert abs(one - two) <= Fraction(getattr(few, name).radius)


def test_a_solved_problem_costs_exactly_nothing():
    assert best_allocation(30, 900, steps=1, updates=Updates.FULL).loss.value == "0"


def test_a_tie_is_undecidable():
    with pytest.raises(Undecidable):
        best_equal_rates(1, updates=Updates.FULL)


@pytest.mark.parametrize(
    ("argument", "change"),
    [
        ("width", {"width": 0}),
        ("width", {"width": 2.0}),
        ("width", {"width": True}),
        ("budget", {"budget": 0}),
        ("budget", {"budget": -1}),
        ("budget", {"budget": pi}),
        ("budget", {"budget": float("nan")}),
        ("layers", {"layers": 4}),
        ("steps", {"steps": 3}),
        ("updates", {"updates": "full"}),
    ],
)
def test_bad_input_is_refused(argument, change):
    given = {"width": 10, "budget": 10, **change}
    with pytest.raises(InvalidInput, match=argument):
        best_allocation(given.pop("width"), given.pop("budget"), **given)
