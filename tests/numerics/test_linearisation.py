"""Deviations against a loop over steps with parameters of its own, and against the correlations they sum up to."""

import numpy as np
import pytest

from numerics import correlations
from numerics.empirical import jacobian
from numerics.linearisation import curvature_along_gradient, deviations
from numerics.networks import MLP
from numerics.optimisers import SGD, GradientDescent
from theory.activations import Hermite, Identity, Tanh
from theory.errors import InvalidInput
from theory.loss import Loss


def by_parameters(network, parameters, X, y, X_test, minibatches, rate):
    """`f` and `f_lin` trained side by side in their parameters, half of the sum of squares."""
    at_start = jacobian(network, parameters, X)[0].reshape(len(X), -1)
    tested = jacobian(network, parameters, X_test)[0].reshape(len(X_test), -1)
    theta, moved = parameters.copy(), np.zeros_like(parameters[0])
    start, start_tested = (network(parameters, points)[0, :, 0] for points in (X, X_test))
    for batch in minibatches:
        rows = list(batch)
        gradient = jacobian(network, theta, X)[0].reshape(len(X), -1)
        theta = theta - rate * (network(theta, X)[0, rows, 0] - y[rows]) @ gradient[rows]
        moved = moved - rate * (start[rows] + at_start[rows] @ moved - y[rows]) @ at_start[rows]
    return np.sqrt(np.mean((network(theta, X_test)[0, :, 0] - start_tested - tested @ moved) ** 2))


@pytest.mark.parametrize("depth", [1, 2])
def test_deviations_are_those_of_the_parameters(depth):
    rng = np.random.default_rng(3)
    network = MLP.of_depth(3, width=5, depth=depth, activation=Tanh())
    parameters, X, X_test = network.sample(rng), rng.standard_normal((4, 3)), rng.standard_normal((2, 3))
    y = rng.standard_normal(4)
    for method, batches in (
        (GradientDescent(0.05, 6), [range(4)] * 6),
        (SGD(0.05, ((0,), (2, 3), (1,))), ((0,), (2, 3), (1,))),
    ):
        found = deviations(network, parameters, X, y, X_test, method, at=[0, method.steps])
        assert found[0, 0] == 0
        assert found[1, 0] == pytest.approx(by_parameters(network, parameters, X, y, X_test, batches, 0.05), rel=1e-9)
        assert found[1, 0] > 1e-6


def test_a_linear_model_does_not_deviate_and_a_diverged_run_is_infinite():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((4, 3))
    line = MLP(3, ())
    assert deviations(line, line.sample(rng, 2), X, np.ones(4), X, GradientDescent(0.1, 9)).max() < 1e-12
    network = MLP(3, (4,), activation=Tanh())
    gone = deviations(network, network.sample(rng, 2), X, np.ones(4), X, GradientDescent(1e3, 400), loss=Loss.SUM)
    assert np.isinf(gone[-1]).all()


@pytest.mark.parametrize("c", [-0.3, 0.2])
def test_the_curvature_is_the_sum_of_the_correlations(c):
    rng = np.random.default_rng(5)
    network = MLP(3, (4,), activation=Hermite(2))  # a polynomial of degree 3 along the gradient
    parameters, x = network.sample(rng, 6), rng.standard_normal(3)
    series = correlations.scalar(network, parameters, x[None], 4)[:, :, 0]
    wanted = c**2 * series[1] + c**3 * series[2]
    assert curvature_along_gradient(network, parameters, x, c) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    each = curvature_along_gradient(network, parameters, x, np.linspace(0, c, 6))
    assert each[0] == 0
    assert each[-1] == pytest.approx(wanted[-1], rel=1e-9)


def test_several_outputs_are_refused():
    network = MLP(2, (3,), outputs=2, activation=Tanh())
    with pytest.raises(InvalidInput, match="one output"):
        curvature_along_gradient(network, network.sample(np.random.default_rng(0)), [1.0, 0.0], 0.1)


@pytest.mark.parametrize(
    ("x", "steps", "said"),
    [
        ("a", 0.1, "x"),
        ([1.0], 0.1, "x"),
        (1.0, 0.1, "x"),
        ([1.0, np.nan], 0.1, "x"),
        ([1.0, 1j], 0.1, "x"),
        ([1.0, 0.0], "a", "steps"),
        ([1.0, 0.0], np.inf, "steps"),
        ([1.0, 0.0], [0.1, 0.1, 0.1], "steps"),
        ([1.0, 0.0], [[0.1], [0.1]], "steps"),
        ([1e100, 0.0], 1e200, "overflow"),
    ],
)
def test_bad_points_and_steps(x, steps, said):
    network = MLP(2, (3,), activation=Identity())
    with pytest.raises(InvalidInput, match=said):
        curvature_along_gradient(network, network.sample(np.random.default_rng(0), 2), x, steps)
