"""The recursion of moving features against direct linear algebra on one layer, and every step of its derivation."""

import numpy as np
import pytest
from sympy import Integer

from numerics.points import check_steps
from theory.features import D, T, l, layer, layer_sum, one_hidden_layer, one_training_point, q
from theory.features_formulas import FEATURES
from theory.ntk import Sigma_dot
from theory.orthants import r12, r13, r23

DERIVATIONS = (one_hidden_layer, layer, layer_sum, one_training_point)


@pytest.mark.parametrize("derive", DERIVATIONS, ids=lambda derive: derive.__name__)
def test_every_step_is_proved(derive) -> None:
    assert all(step.outcome.proved for part in derive().parts() for step in check_steps(part))


def test_the_sum_over_layers_unrolls_the_recursion() -> None:
    by_recursion = Integer(0)
    for depth in (1, 2, 3):
        by_recursion = T[depth] + Sigma_dot[depth] * by_recursion
        assert (layer_sum().conclusion.subs(l, depth).doit() - by_recursion).expand() == 0
    assert layer().conclusion.coeff(D[l - 1]) == Sigma_dot[l]


def test_one_training_point_against_the_mean_of_a_gradient_step() -> None:
    """One unit of width one, whose mean is that of any width: `δu = −q ∂f/∂w·x`, `f = √2 v φ(w·x)`."""
    rng, count = np.random.default_rng(0), 10**6
    points = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.28, 0.0, 0.96]])  # the first is the training point
    w, v = rng.normal(size=(count, 3)), rng.normal(size=count)
    active = w @ points.T > 0
    moved = -0.7 * np.sqrt(2) * v[:, None] * active[:, :1] * (points @ points[0]) * active
    products = moved[:, 1] * moved[:, 2]
    correlations = points @ points.T
    at = {r12: correlations[1, 2], r13: correlations[0, 1], r23: correlations[0, 2], q: 0.7}
    error = 5 * products.std() / count**0.5  # a false alarm in two million
    assert float(one_training_point().conclusion.subs(at)) == pytest.approx(products.mean(), abs=error)


def test_the_formulas_have_the_promised_parameters() -> None:
    names = {formula.name: tuple(parameter.name for parameter in formula.parameters) for formula in FEATURES}
    assert names == {
        "orthant-2": ("r12",),
        "orthant-3": ("r12", "r13", "r23"),
        "orthant-4": ("r12", "r13", "r14", "r23", "r24", "r34"),
        "feature-deviation": ("rho_12", "rho_x1", "rho_x2", "L", "q"),
    }
    assert all((formula.expression is None) != (formula.definition == "") for formula in FEATURES)
