"""The curvature at the balanced point, against finite differences of losses computed another way."""

import numpy as np
import pytest
from sympy import Rational, Symbol

from numerics.descent import Fixed, descend
from numerics.reduced import TwoLayers
from theory.balance import CoefficientOfSquare, curvature, u, x
from theory.derivation import How
from theory.layerwise import Gaussian, Updates, h


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
