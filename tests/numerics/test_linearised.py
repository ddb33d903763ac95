"""The linearised network against its definition: descent on the parameters of the first-order expansion."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from numerics.convolutional_networks import CNN
from numerics.correlations import scalar
from numerics.data import sphere
from numerics.dynamics import DivergenceWarning
from numerics.empirical import jacobian
from numerics.linearised import linearise
from numerics.networks import MLP
from numerics.optimisers import SGD, GradientDescent, GradientFlow
from numerics.training import train
from theory.activations import Tanh
from theory.errors import InvalidInput
from theory.loss import Loss
from theory.pooling import Pooling

X = sphere(np.random.default_rng(1), 4, 3)
X_TEST = sphere(np.random.default_rng(2), 2, 3)
Y = np.random.default_rng(3).normal(size=(4, 2))
RATE = {Loss.SUM: 2, Loss.HALF_SUM: 1, Loss.MEAN: 2 / 4, Loss.HALF_MEAN: 1 / 4}


def networks(batch=3):
    network = MLP(3, (7, 5), 2, Tanh(), 0.3)
    return network, network.sample(np.random.default_rng(4), batch)


def expansion(network, parameters):
    """`f(θ₀)` and `J` on all points, of one network."""
    points = np.concatenate([X, X_TEST])
    return network(parameters[None], points)[0].ravel(), jacobian(network, parameters[None], points)[0]


@pytest.mark.parametrize("loss", list(Loss))
def test_descent_is_descent_on_its_parameters(loss):
    network, start = networks()
    found = linearise(network, start, X, X_TEST).train(Y, GradientDescent(0.05, 6), at=[0, 6], loss=loss)
    for index, parameters in enumerate(start):
        f0, J = expansion(network, parameters)
        shift = np.zeros(network.parameter_count)
        for _ in range(6):
            residual = (f0 + J @ shift)[:8] - Y.ravel()
            shift -= 0.05 * RATE[loss] * J[:8].T @ residual
        expected = (f0 + J @ shift).reshape(6, 2)
        assert np.allclose(found.outputs[0, index], f0[:8].reshape(4, 2), rtol=1e-13)
        assert np.allclose(found.outputs[1, index], expected[:4], rtol=0, atol=1e-11)
        assert np.allclose(found.test_outputs[1, index], expected[4:], rtol=0, atol=1e-11)


def test_flow_is_the_matrix_exponential():
    network, start = networks(batch=1)
    found = linearise(network, start, X, X_TEST).train(Y, GradientFlow(2.0), at=[0.0, 0.7, 2.0])
    f0, J = expansion(network, start[0])
    kernel = J @ J[:8].T
    for time, outputs, tested in zip(found.at, found.outputs[:, 0], found.test_outputs[:, 0], strict=True):
        learnt = np.linalg.solve(kernel[:8], (np.eye(8) - expm(-kernel[:8] * time)) @ (f0[:8] - Y.ravel()))
        expected = f0 - kernel @ learnt
        assert np.allclose(np.concatenate([outputs, tested]).ravel(), expected, rtol=0, atol=1e-9)


def test_stochastic_descent_on_its_parameters():
    network, start = networks()
    method = SGD(0.05, ((0, 3), (1,), (2, 0, 1)))
    found = linearise(network, start, X, X_TEST).train(Y, method, loss=Loss.MEAN)
    for index, parameters in enumerate(start):
        f0, J = expansion(network, parameters)
        shift = np.zeros(network.parameter_count)
        for points in method.minibatches:
            rows = [2 * point + output for point in points for output in (0, 1)]
            shift -= 0.05 * 2 / len(points) * J[rows].T @ ((f0 + J @ shift)[rows] - Y.ravel()[rows])
        expected = (f0 + J @ shift).reshape(6, 2)
        assert np.allclose(
            np.concatenate([found.outputs[1, index], found.test_outputs[1, index]]), expected, atol=1e-12
        )


@pytest.mark.parametrize(
    "method",
    [
        GradientDescent(0.1, 50),
        GradientFlow(2.0),
        SGD.shuffled(np.random.default_rng(0), points=4, size=2, steps=50, learning_rate=0.1),
    ],
)
def test_a_linear_network_is_its_own_linearisation(method):
    network = MLP(3, (), 2)
    start = network.sample(np.random.default_rng(6), 3)
    own = train(network, start, X, Y, method, X_test=X_TEST)
    linear = linearise(network, start, X, X_TEST).train(Y, method)
    assert np.allclose(own.outputs, linear.outputs, rtol=0, atol=1e-7)  # the tolerance of the integrator
    assert np.allclose(own.test_outputs, linear.test_outputs, rtol=0, atol=1e-7)
    assert np.allclose(own.losses, linear.losses, rtol=0, atol=1e-6)


def test_many_steps_are_taken_in_closed_form(monkeypatch):
    network, start = networks()
    linear, method = linearise(network, start, X, X_TEST), GradientDescent(0.05, 40)
    by_steps = linear.train(Y, method, at=[0, 1, 17, 40], loss=Loss.MEAN)
    monkeypatch.setattr("numerics.linearised.MANY_STEPS", 39)
    at_once = linear.train(Y, method, at=[0, 1, 17, 40], loss=Loss.MEAN)
    assert np.allclose(by_steps.outputs, at_once.outputs, rtol=0, atol=1e-11)
    assert np.allclose(by_steps.test_outputs, at_once.test_outputs, rtol=0, atol=1e-10)
    assert np.allclose(by_steps.losses, at_once.losses, rtol=0, atol=1e-11)


def test_a_convolutional_network_beside_its_linearisation():
    """For a linear one they are the same."""
    network, images = CNN((2, 2, 1), (), Pooling.NONE, 2), np.random.default_rng(7).normal(size=(3, 2, 2, 1))
    start, y = network.sample(np.random.default_rng(8), 2), np.random.default_rng(9).normal(size=(3, 2))
    own = train(network, start, images, y, GradientDescent(0.1, 9), X_test=2 * images)
    linear = linearise(network, start, images, 2 * images).train(y, GradientDescent(0.1, 9))
    assert np.allclose(own.outputs, linear.outputs, rtol=0, atol=1e-13)
    assert np.allclose(own.test_outputs, linear.test_outputs, rtol=0, atol=1e-13)


def second_order(network, parameters, x):
    """The four parts of `f''` along the gradient that `theory/linearisation.py` names, of one network, width `m`."""
    m = network.widths[0]
    W1, W, a = (parameters[network.slices[layer]] for layer in range(3))
    W, c = W.reshape(m, m), network.scales[1]
    first = W1.reshape(m, 3) @ x
    phi1, phi2 = np.tanh(first), np.tanh(c * W @ np.tanh(first))
    slope1, slope2 = 1 - phi1**2, 1 - phi2**2
    bent1, bent2 = -2 * phi1 * slope1, -2 * phi2 * slope2
    w = a * slope2
    b = W.T @ w
    moved = (c**2 * (phi1 @ phi1) * np.eye(m) + c**2 * W @ np.diag(slope1**2) @ W.T) @ w
    return (
        2 * c**3 * (phi2 * slope2) @ moved
        + c**3 * (bent2 * a) @ moved**2
        + 2 * c**6 * (w @ w) * (phi1 * slope1**2 @ b)
        + c**6 * (bent1 * slope1**2) @ b**3
    )


def test_the_second_order_of_two_hidden_layers_is_odd_in_the_outgoing_weights():
    network, x = MLP.of_depth(3, width=6, depth=2, activation=Tanh()), X[0]
    start = network.sample(np.random.default_rng(10), 4)
    twin = start.copy()
    twin[:, network.slices[2]] *= -1
    found, mirrored = (2 * scalar(network, one, x[None], 2)[1, :, 0] for one in (start, twin))
    assert np.allclose(found, [second_order(network, one, x) for one in start], rtol=1e-10)
    assert np.allclose(found, -mirrored, rtol=1e-10)


def test_frozen_layers_have_no_share_in_the_kernel():
    network, start = networks(batch=1)
    f0, J = expansion(network, start[0])
    trained = np.r_[network.slices[1]]
    linear = linearise(network, start, X, X_TEST, frozen=[1, 3])
    assert np.allclose(linear.kernel[0], (J[:, trained] @ J[:8, trained].T), rtol=1e-12, atol=1e-13)
    assert np.allclose(linear.outputs[0].ravel(), f0)


def test_without_test_points_there_are_no_test_outputs():
    network, start = networks()
    found = linearise(network, start, X).train(Y, GradientDescent(0.05, 2))
    assert found.test_outputs is None
    assert found.parameters is None


@pytest.mark.parametrize("method", [GradientDescent(3.0, 4000), SGD(3.0, ((0,),) * 4000)])
@pytest.mark.filterwarnings("ignore::numerics.dynamics.DivergenceWarning")
def test_divergence_is_infinite_and_never_nan(method):
    found = linearise(MLP(1, ()), [[0.0]], [[1.0]]).train([1.0], method, at=[0, 3, 4000])
    assert np.allclose(found.outputs[:2].ravel(), [0, 9])
    assert math.isinf(found.outputs[2, 0, 0, 0])
    assert found.divergence.tolist() == [4000]


def test_too_large_a_rate_is_warned_of():
    """By the closed form of many steps, before any of them is infinite."""
    with pytest.warns(DivergenceWarning):
        linearise(MLP(1, ()), [[0.0]], [[1.0]]).train([1.0], GradientDescent(3.0, 2000), at=[2])


def test_it_refuses_what_training_refuses():
    network, start = networks()
    with pytest.raises(InvalidInput, match=r"y\.shape"):
        linearise(network, start, X).train(Y[:3], GradientDescent(0.1, 2))
    with pytest.raises(InvalidInput, match="layers"):
        linearise(network, start, X, frozen=[4])
