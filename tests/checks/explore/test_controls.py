from itertools import pairwise
from math import pi

import pytest
from sympy import Integer, Interval, Rational, Symbol, acos, oo, sqrt

from checks.explore.controls import Control, controls, decimal, grid
from checks.grammar import parse
from theory.formula import Formula, Parameter
from theory.formulas import FORMULAS

EVERY = [(formula, name) for formula in FORMULAS.values() for name in controls(formula)]


def control_of(domain, **assumptions) -> Control:
    parameter = Parameter(Symbol("v", real=True, **assumptions), domain, "a parameter")
    return controls(Formula("f", "a formula", (parameter,), "a test", definition="v"))["v"]


@pytest.mark.parametrize(("formula", "name"), EVERY, ids=lambda part: getattr(part, "name", part))
def test_stops_are_read_back_exactly_and_are_admitted(formula, name):
    control = controls(formula)[name]
    for stop, value in zip(control.stops, control.values, strict=True):
        assert control.parameter.admit(value) == (value, "")
        assert control.words or parse(stop) == value
    assert control.default in control.stops


@pytest.mark.parametrize(("formula", "name"), EVERY, ids=lambda part: getattr(part, "name", part))
def test_stops_increase_and_a_slider_tells_them_apart(formula, name):
    control = controls(formula)[name]
    numbers = [float(value) for value in control.values]
    assert all(low < high for low, high in pairwise(numbers))
    if not control.words:
        assert [control.text(number) for number in numbers] == list(control.stops)


def test_integers_without_end_grow_like_powers():
    control = control_of(Interval(3, oo), integer=True)
    assert control.stops[:3] == ("3", "4", "5")
    assert control.stops[-1] == "1000"
    assert control.logarithmic


def test_a_step_between_integers_is_about_a_tenth():
    numbers = [float(value) for value in control_of(Interval(1, oo), integer=True).values]
    assert all(high / low < 1.15 for low, high in pairwise(numbers) if low >= 10)


@pytest.mark.parametrize(("formula", "name"), EVERY, ids=lambda part: getattr(part, "name", part))
def test_a_grid_goes_from_end_to_end_and_is_admitted(formula, name):
    control = controls(formula)[name]
    if control.words:
        return
    values = grid(control, 61)
    assert 1 < len(values) <= 61
    assert values[-1] == control.values[-1]
    assert values[0] == next(stop for stop in control.values if stop > 0 or not control.logarithmic)
    assert all(low < high for low, high in pairwise(values))
    assert all(control.parameter.admit(value) == (value, "") for value in values)


def test_a_grid_of_correlations_is_even_in_the_angle():
    angles = [float(acos(value)) for value in grid(control_of(Interval(-1, 1)), 61)]
    assert all(high - low == pytest.approx(-pi / 60, rel=1e-2) for low, high in pairwise(angles))


def test_few_integers_are_all_stops():
    assert control_of(Interval(0, 4), integer=True).stops == ("0", "1", "2", "3", "4")


def test_correlations_come_close_to_the_ends():
    values = control_of(Interval(-1, 1)).values
    assert values[0] == -1
    assert values[-1] == 1
    assert 1 - Rational(1, 10**6) in values
    assert Rational(3, 10) in values


def test_an_open_end_is_no_stop():
    assert control_of(Interval.Lopen(0, 2)).stops[0] == "0.02"


def test_all_reals_lie_on_both_sides_of_zero():
    values = control_of(Interval(-oo, oo)).values
    assert values == tuple(-value for value in reversed(values))


@pytest.mark.parametrize(("value", "stop"), [(Integer(10**9), "1000"), (Integer(21), "20"), (sqrt(17), "4")])
def test_nearest_stop(value, stop):
    control = controls(FORMULAS["relu-ntk"])["L"]
    assert control.stops[control.nearest(value)] == stop


def test_a_choice_has_its_words():
    control = controls(FORMULAS["linearisation-exponent"])["mode"]
    assert control.words
    assert control.stops == ("fixed-steps", "fixed-time")
    assert control.text("fixed-time") == "fixed-time"
    assert control.text(None) == control.default


def test_what_no_slider_says_is_the_default():
    control = controls(FORMULAS["relu-ntk"])["L"]
    assert control.text(3.5) == control.text(None) == control.default


@pytest.mark.parametrize(
    ("value", "text"),
    [(Integer(-30), "-30"), (Rational(1, 8), "0.125"), (Rational(-1, 1000), "-0.001"), (Rational(2, 7), "2/7")],
)
def test_decimal(value, text):
    assert decimal(value) == text
