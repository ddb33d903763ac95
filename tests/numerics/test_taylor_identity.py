r"""One step in balls and in mpmath, against the network itself; and what the certificate must not accept."""

from fractions import Fraction
from itertools import pairwise
from math import pi

import numpy as np
import pytest

from numerics import correlations
from numerics.networks import MLP
from numerics.taylor_identity import (
    Step,
    radius_of_convergence,
    series_error,
    taylor_coefficients,
    truncation_errors,
)
from theory.activations import Erf, Hermite, ReLU, Softplus, Tanh
from theory.errors import InvalidInput, Undecidable

QUARTER = Fraction(1, 4)


def one(d: int) -> Fraction:
    return Fraction(1)


def step(network: MLP, tau: Fraction, seed: int = 0) -> Step:
    rng = np.random.default_rng(seed)
    x, source = rng.standard_normal((2, 1, network.dimension))
    return Step(network, network.sample(rng), x, source, tau)


@pytest.mark.parametrize("activation", [Tanh(), Softplus(), Erf(), Hermite(3)], ids=repr)
def test_the_identity_to_thirty_digits(activation):
    errors = series_error(step(MLP(2, (2, 2), activation=activation), Fraction(-1, 16)), 60, one, ratio=QUARTER)
    assert all(error < 1e-30 for error in errors)


@pytest.mark.parametrize("dropped", [1, 2, 3, 10])
def test_one_term_less_is_noticed(dropped):
    """The sum for `F` has no term of order 1, that for the gradient has."""
    case = step(MLP(2, (3,), activation=Tanh(), bias_std=0.5), Fraction(-1, 8))
    of_value, of_gradient = series_error(case, 60, lambda d: Fraction(d != dropped), ratio=QUARTER)
    assert (of_value > 1e-30) == (dropped != 1)
    assert of_gradient > 1e-30


def test_a_short_sum_is_off_by_no_more_than_its_tail():
    case = step(MLP(2, (3,), activation=Tanh()), Fraction(-1, 8))
    errors = [series_error(case, order, one, ratio=QUARTER)[0] for order in (4, 8, 16)]
    assert all(float(b.upper()) < float(a.upper()) / 100 for a, b in pairwise(errors))


def test_a_disc_with_a_pole_is_not_decided():
    network = MLP(1, (1,), activation=Tanh())
    beyond = Step(network, [[0.0, 1.0]], np.array([[1.0]]), np.array([[1.0]]), Fraction(3))
    with pytest.raises(Undecidable, match="singularity"):
        series_error(beyond, 20, one, ratio=Fraction(1, 2))


def test_the_coefficients_are_the_correlations():
    case = step(MLP(3, (4, 3), activation=Softplus(), bias_std=0.5), Fraction(1))
    found = taylor_coefficients(case, 6)[1:].astype(float)
    expected = correlations.scalar(case.network, case.parameters, case.x, 6, along=case.source).ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


def test_truncation_errors_are_those_of_moved_parameters():
    case = step(MLP(2, (3,), activation=Tanh()), Fraction(-1, 4))
    errors = truncation_errors(case, [2, 4], digits=30)
    powers = float(case.tau) ** np.arange(5)
    terms = taylor_coefficients(case, 4).astype(float) * powers
    direction = correlations.jets.gradient(case.network, case.parameters, case.source).dense(case.network)[0, 0]
    value = case.network(case.parameters + float(case.tau) * direction, case.x)[0, 0, 0]
    expected = [abs(value - terms[: order + 1].sum()) for order in (2, 4)]
    np.testing.assert_allclose(errors, expected, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("bias_std", [0.0, 0.5])
def test_the_coefficients_grow_as_the_radius_says(bias_std):
    """`|a_d| R^d` stays between constants: a simple pole on the circle, so that its `d`-th root tends to 1."""
    case = step(MLP(2, (3,), activation=Tanh(), bias_std=bias_std), Fraction(1), seed=3)
    radius, order = radius_of_convergence(case), 120
    scaled = [float(abs(a) * radius**d) for d, a in enumerate(taylor_coefficients(case, order))]
    roots = [max(scaled[d - 8 : d]) ** (1 / d) for d in (30, 60, 120)]
    assert abs(roots[2] - 1) < 0.05
    assert abs(roots[2] - 1) < abs(roots[0] - 1)


def test_the_radius_of_one_unit():
    network = MLP(1, (1,), activation=Tanh())
    scale = network.feature_factors[0]
    at_zero = Step(network, [[0.0, 2.0]], np.array([[3.0]]), np.array([[0.5]]), Fraction(1))
    assert radius_of_convergence(at_zero) == pytest.approx(pi / 2 / (scale * 2.0 * 3.0 * 0.5))
    orthogonal = MLP(2, (2,), activation=Tanh())
    case = Step(orthogonal, orthogonal.sample(np.random.default_rng(0)), np.eye(2)[:1], np.eye(2)[1:], Fraction(1))
    assert radius_of_convergence(case) == np.inf


def test_bad_input():
    for network in (MLP(2, (3, 3), activation=Tanh()), MLP(2, (3,), activation=Erf())):
        with pytest.raises(InvalidInput, match="one hidden layer"):
            radius_of_convergence(step(network, Fraction(1)))
    with pytest.raises(InvalidInput, match="kink"):
        series_error(step(MLP(2, (3,), activation=ReLU()), Fraction(1, 8)), 4, one, ratio=QUARTER)
