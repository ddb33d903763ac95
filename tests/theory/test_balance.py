"""The curvature at the balanced point, against finite differences of losses computed another way."""

from fractions import Fraction

import numpy as np
import pytest
from sympy import EmptySet, Integer, Interval, Limit, Rational, Symbol, lambdify, oo

from numerics.descent import Fixed, descend
from numerics.reduced import TwoLayers
from theory.balance import (
    CoefficientOfSquare,
    InPowersOfWidth,
    LabelNoise,
    by_exponent,
    c,
    curvature,
    favourable_exponents,
    never_balanced,
    powers_of_width,
    s,
    scaled_curvature,
    scaled_loss,
    u,
    x,
)
from theory.derivation import How
from theory.errors import InvalidInput
from theory.layerwise import Gaussian, Updates, h, rho


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("steps", [1, 2])
def test_it_is_the_second_difference_of_the_expected_loss(updates, steps):
    width, rate, step = 7, 20.0, 0.01

    def loss(shift: float) -> float:
        run = descend(
            TwoLayers.expectation(width, 64), Fixed((rate + shift, rate - shift)), steps=steps, updates=updates
        )
        return float(run.test_loss[0, -1])

    difference = (loss(step) - 2 * loss(0.0) + loss(-step)) / (2 * step**2)
    found = float(curvature(2, steps, updates).conclusion.subs({h: width, x: int(rate)}))
    assert difference == pytest.approx(found, rel=1e-4)  # the fourth derivative times step^2 is below that


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize(("layers", "initialisation"), [(2, None), (3, None), (2, Gaussian())])
def test_every_step_is_checked_exactly(layers, updates, initialisation):
    how = {} if initialisation is None else {"initialisation": initialisation}
    assert all(step.outcome.proved for step in curvature(layers, 1, updates, **how).check())


def test_the_surrogate_and_descent_disagree_from_gaussian_weights():
    signal = curvature(2, 1, Updates.SIGNAL, Gaussian()).conclusion
    full = curvature(2, 1, Updates.FULL, Gaussian()).conclusion
    at = {h: 100, x: 100}
    assert signal.subs(at) > 0 > full.subs(at)


def test_the_reason_refuses_another_coefficient_and_an_odd_loss():
    y = Symbol("y")
    check = CoefficientOfSquare().check
    assert check(3 * u**2 * y + y, 3 * y).how is How.ALGEBRA
    assert not check(3 * u**2 * y + y, 2 * y).proved
    assert not check(3 * u**2 + u, Rational(3)).proved
    assert np.isfinite(float(curvature(steps=1).conclusion.subs({h: 1, x: 0})))


@pytest.mark.parametrize(
    ("how", "claimed"),
    [
        ({}, Interval(1, Rational(8, 5))),
        ({"updates": Updates.FULL}, Interval.Lopen(1, Rational(8, 5))),
        ({"layers": 3}, Interval.Ropen(0, Rational(2, 3))),
        ({"steps": 1}, EmptySet),
        ({"steps": 1, "initialisation": Gaussian()}, Interval.Ropen(0, Rational(3, 2))),
        ({"noise": LabelNoise(1)}, EmptySet),
        ({"noise": LabelNoise(1, Fraction(1, 2))}, Interval.Ropen(1, Rational(13, 10))),
        ({"noise": LabelNoise(Fraction(1, 8), 1)}, Interval(1, Rational(8, 5))),
    ],
)
def test_the_set_of_exponents_is_where_the_curvature_is_positive_at_an_immense_width(how, claimed):
    """By its definition, exactly, at h = 10^600; a tenth of an exponent apart from the ends, and at them."""
    assert favourable_exponents(**how) == claimed
    noise = how.pop("noise", LabelNoise())
    formula = curvature(**how, noise=rho if noise.size else 0).conclusion
    for alpha in {*(Rational(k, 10) for k in range(20)), Rational(2, 3), Rational(3, 2)}:
        width = Integer(10) ** 600
        variance = Rational(noise.size) * width ** -Rational(noise.decay)
        value = formula.subs({h: width, x: width**alpha, rho: variance}, simultaneous=True)
        assert (value.evalf(50) > 0) == (alpha in claimed), alpha


def test_where_exponents_meet_the_sum_decides():
    """At `α = 8/5` the leading terms of the surrogate are `8c` and `−4c⁶`: positive at `c = 1`, not from 2^(1/5) on."""
    powers = powers_of_width()
    (_, top), *_ = by_exponent(powers, Fraction(8, 5)).items()
    leading = [
        power.coefficient
        for power in powers
        if power.exponent(Fraction(8, 5)) == max(other.exponent(Fraction(8, 5)) for other in powers)
    ]
    assert sorted(leading) == [-4, 8]
    assert top == 4


@pytest.mark.parametrize(
    ("how", "width", "rate"),
    [((2, 2, Updates.SIGNAL, Rational(1)), 10**9, 0.7), ((2, 2, Updates.FULL, Rational(1)), 10**9, 2.0)],
)
def test_the_scaled_curvature_is_the_limit(how, width, rate):
    exact = curvature(*how[:3]).conclusion.subs({h: width, x: rate * width})
    assert float(exact * width**4) == pytest.approx(float(scaled_curvature(*how).conclusion.subs(c, rate)), rel=1e-6)


def test_the_scaled_loss_starts_from_the_definition():
    d = scaled_loss(2, Rational(8, 5), Rational(1, 5), 2)
    assert d.start.args[1:3] == (h, oo)
    assert all(step.outcome.proved for step in d.check())
    change = InPowersOfWidth(2).check
    assert change(Limit(1 / h, h, oo), Limit(s**2, s, 0)).proved
    assert not change(Limit(1 / h, h, oo), Limit(s**3, s, 0)).proved
    assert change(Limit(1 / h, h, oo), Limit(s**2, s, 0, "-")).how is How.WRONG


def test_noise_beyond_a_seventh_leaves_no_balance_at_any_width():
    assert never_balanced(Fraction(1, 7))
    assert not never_balanced(Fraction(1, 10))
    formula = lambdify((h, x, rho), curvature(noise=rho).conclusion, "math")
    rng = np.random.default_rng(0)
    for _ in range(2000):
        width, rate = int(10 ** rng.uniform(0, 6)), 10 ** rng.uniform(-3, 9)
        assert formula(width, rate, 1 / 7 + 10 ** rng.uniform(-6, 2)) < 0
    assert formula(10**6, 10**6, 0.05) > 0


@pytest.mark.parametrize(("argument", "noise"), [("size", (-1, 0)), ("size", (0.5, 0)), ("decay", (1, "1"))])
def test_bad_noise_is_refused(argument, noise):
    with pytest.raises(InvalidInput, match=argument):
        LabelNoise(*noise)
