"""Mutants: each differs from the original somewhere, and every kind of change is among them."""

import random

import pytest
from sympy import Integer, Piecewise, Rational, Sum, Symbol, exp, log, oo, pi, sin, sqrt, symbols

from checks.mutants import MOST, mutants

x, y = symbols("x y", positive=True)
n = Symbol("n", integer=True, positive=True)
EXPRESSIONS = [
    Integer(0),
    Rational(1, 4),
    x,
    3 * pi,
    3 * log(x) / (8 * x),
    ((1 + x) ** 4 - 1) / (4 * x * (1 + x) ** 3),
    x**2 * y - sqrt(x) + exp(-y / 2) * sin(x),
    (n + 3) / 4 + Rational(3, 8) * (n - 1) * y,
    Piecewise((x, x < 1), (y, True)),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_each_mutant_differs_from_the_original_at_a_random_point(expression):
    chance = random.Random(7)
    at = {symbol: chance.uniform(0.1, 0.9) for symbol in (x, y)} | {n: chance.randint(2, 9)}
    for text, wrong in mutants(expression).items():
        assert abs(complex((wrong - expression).subs(at).evalf())) > 1e-9, text


@pytest.mark.parametrize(("expression", "least"), list(zip(EXPRESSIONS, (2, 5, 3, 5, 5, 5, 5, 5, 0), strict=True)))
def test_there_are_enough_of_them_and_always_the_same(expression, least):
    found = mutants(expression)
    assert least <= len(found) <= MOST
    assert list(mutants(expression).items()) == list(found.items())


def test_every_kind_of_change_is_made():
    texts = " | ".join(mutants(2 * x**3 - 5 * y, most=100))
    for kind in (
        "coefficient 2 -> 3",
        "coefficient 2 -> -2",
        "exponent 3 -> 4",
        "exponent 3 -> 2",
        "x -> x^2",
        "term -5*y dropped",
    ):
        assert kind in texts
    assert "sign of the term exp(x)" in mutants(y * (x + exp(x)), most=100)


def test_what_is_undefined_or_equal_after_all_is_left_out():
    assert all(wrong.is_finite for wrong in mutants(Rational(1, 2), most=100).values())
    # cos² + sin² with a sign changed is a mutant, the two terms swapped would be none
    both = sin(x) ** 2 + (1 - sin(x) ** 2)
    assert both == 1
    assert all((wrong - both).simplify() != 0 for wrong in mutants(both, most=100).values())


def test_an_infinite_bound_makes_no_mutant_undefined():
    assert len(mutants(Sum(x**n, (n, 0, oo)), most=3)) == 3


def test_most_bounds_their_number_and_keeps_them_spread():
    few = mutants(EXPRESSIONS[5], most=4)
    every = list(mutants(EXPRESSIONS[5], most=1000))
    assert len(few) == 4
    places = [every.index(text) for text in few]
    assert places == sorted(places)
    assert places[-1] > len(every) / 2
