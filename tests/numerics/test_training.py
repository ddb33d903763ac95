"""The trainer against loops written from the definition, and where it must refuse or diverge."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from numerics import training
from numerics.convolutional_networks import CNN
from numerics.data import sphere
from numerics.empirical import jacobian
from numerics.networks import MLP
from numerics.optimisers import SGD, GradientDescent, GradientFlow
from numerics.training import NEVER, train
from theory.activations import Erf, ReLU, Tanh
from theory.errors import InvalidInput, LimesError
from theory.loss import Loss
from theory.pooling import Pooling

KAPPA = {
    Loss.SUM: lambda n: 1,
    Loss.HALF_SUM: lambda n: 1 / 2,
    Loss.MEAN: lambda n: 1 / n,
    Loss.HALF_MEAN: lambda n: 1 / (2 * n),
}
X = sphere(np.random.default_rng(1), 6, 3)
X_TEST = sphere(np.random.default_rng(2), 4, 3)
Y = np.random.default_rng(3).normal(size=(6, 2))


TANH = Tanh()


def networks(activation=TANH, bias_std=0.3, batch=3):
    network = MLP(3, (7, 5), 2, activation, bias_std)
    return network, network.sample(np.random.default_rng(4), batch)


def loss_of(network, parameters, points, labels, loss):
    """One network's loss, from the definition."""
    residual = network(parameters[None], points)[0] - labels
    return KAPPA[loss](len(points)) * sum(r**2 for r in residual.ravel())


def gradient_of(network, parameters, points, labels, loss):
    """Its gradient, through the whole Jacobian."""
    residual = network(parameters[None], points)[0] - labels
    return 2 * KAPPA[loss](len(points)) * jacobian(network, parameters[None], points)[0].T @ residual.ravel()


@pytest.mark.parametrize("loss", list(Loss))
def test_descent_is_the_loop_of_its_definition(loss):
    network, start = networks()
    found = train(
        network, start, X, Y, GradientDescent(0.05, 4), X_test=X_TEST, at=[0, 1, 4], loss=loss, keep_parameters=True
    )
    for index, parameters in enumerate(start):
        for step in range(5):
            if step in (0, 1, 4):
                record = [0, 1, 4].index(step)
                assert np.allclose(found.parameters[record, index], parameters, rtol=1e-12, atol=1e-13)
                assert np.allclose(
                    found.outputs[record, index], network(parameters[None], X)[0], rtol=1e-12, atol=1e-13
                )
                assert np.allclose(found.test_outputs[record, index], network(parameters[None], X_TEST)[0], atol=1e-12)
                assert found.losses[record, index] == pytest.approx(loss_of(network, parameters, X, Y, loss), rel=1e-12)
            parameters = parameters - 0.05 * gradient_of(network, parameters, X, Y, loss)
    assert np.all(found.divergence == NEVER)
    assert not found.diverged.any()


def test_stochastic_descent_uses_the_loss_of_each_minibatch():
    network, start = networks(ReLU())
    method = SGD(0.03, ((0, 4), (5,), (1, 2, 3)))
    found = train(network, start, X, Y, method, at=[3], loss=Loss.MEAN, keep_parameters=True)
    for index, parameters in enumerate(start):
        for points in method.minibatches:
            rows = list(points)
            parameters = parameters - 0.03 * gradient_of(network, parameters, X[rows], Y[rows], Loss.MEAN)
        assert np.allclose(found.parameters[0, index], parameters, rtol=1e-12, atol=1e-13)


def test_flow_follows_its_equation():
    """Against SciPy's implicit integrator on the gradient through the Jacobian: another method, another gradient."""
    network, start = networks(Erf(), batch=1)
    found = train(network, start, X, Y, GradientFlow(0.5), at=[0.25, 0.5], keep_parameters=True)
    expected = solve_ivp(
        lambda t, parameters: -gradient_of(network, parameters, X, Y, Loss.HALF_SUM),
        (0, 0.5),
        start[0],
        method="LSODA",
        t_eval=[0.25, 0.5],
        rtol=1e-10,
        atol=1e-12,
    )
    assert np.allclose(found.parameters[:, 0], expected.y.T, rtol=0, atol=1e-6)


def test_flow_is_the_limit_of_small_steps():
    """Euler's method has a global error proportional to its step: halving it halves the distance."""
    network, start = networks()
    flow = train(network, start, X, Y, GradientFlow(0.2)).outputs[-1]
    coarse, fine = (
        np.abs(train(network, start, X, Y, GradientDescent(0.2 / steps, steps)).outputs[-1] - flow).max()
        for steps in (200, 400)
    )
    assert 1.9 < coarse / fine < 2.1


def test_the_loss_of_the_flow_never_increases():
    network, start = networks()
    losses = train(network, start, X, Y, GradientFlow(3.0), at=np.linspace(0, 3, 20)).losses
    assert np.all(np.diff(losses, axis=0) <= 1e-9)


@pytest.mark.parametrize("method", [GradientDescent(0.05, 5), GradientFlow(0.2), SGD(0.05, ((0, 1), (2, 3)))])
def test_frozen_layers_keep_their_parameters(method):
    network, start = networks()
    found = train(network, start, X, Y, method, frozen=[1, 3], keep_parameters=True).parameters[-1]
    moved = [not np.array_equal(found[:, where], start[:, where]) for where in network.slices]
    assert moved == [False, True, False]


@pytest.mark.parametrize("method", [GradientDescent(0.05, 3), SGD(0.05, ((0, 2), (1,)))])
def test_convolutional_networks_are_trained(method):
    """One step after the other along the Jacobian of the finite differences of the outputs."""
    network, images = CNN((2, 3, 1), (3, 2), Pooling.MEAN, 2, TANH), np.random.default_rng(7).normal(size=(4, 2, 3, 1))
    start, y = network.sample(np.random.default_rng(8), 2), np.random.default_rng(9).normal(size=(4, 2))
    found = train(network, start, images, y, method, keep_parameters=True, frozen=[2]).parameters[-1]
    steps = method.minibatches if isinstance(method, SGD) else ((0, 1, 2, 3),) * 3
    trained = np.ones(network.parameter_count)
    trained[network.slices[1]] = 0
    for index, parameters in enumerate(start):
        for points in steps:
            rows, shifts = list(points), 1e-5 * np.eye(network.parameter_count)
            up, down = (network(parameters + sign * shifts, images[rows]) for sign in (1, -1))
            J = (up - down).reshape(len(shifts), -1) / 2e-5
            residual = (network(parameters[None], images[rows])[0] - y[rows]).ravel()
            parameters = parameters - 0.05 * trained * (J @ residual)
        # central differences of O(1) functions: 1e-10 from the step's square, 1e-11 from rounding
        assert np.allclose(found[index], parameters, rtol=0, atol=1e-8)


def test_the_parameters_given_stay_as_they_are():
    network, start = networks()
    before = start.copy()
    train(network, start, X, Y, GradientDescent(0.1, 3), keep_parameters=True)
    assert np.array_equal(start, before)


def test_labels_of_each_network():
    network, start = networks()
    own = np.random.default_rng(5).normal(size=(3, 6, 2))
    together = train(network, start, X, own, GradientDescent(0.05, 3)).outputs
    alone = [train(network, start[i : i + 1], X, own[i], GradientDescent(0.05, 3)).outputs for i in range(3)]
    assert np.allclose(together, np.concatenate(alone, axis=1), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("method", [GradientDescent(0.05, 5), SGD(0.05, ((0, 1, 5), (2, 3)))])
def test_chunks_do_not_matter(monkeypatch, method):
    network, start = networks(batch=7)
    whole = train(network, start, X, Y, method, X_test=X_TEST)
    monkeypatch.setattr("numerics.networks.WORKSPACE", 2**13)
    small = train(network, start, X, Y, method, X_test=X_TEST)
    assert np.allclose(whole.outputs, small.outputs, rtol=1e-12, atol=1e-13)
    assert np.allclose(whole.test_outputs, small.test_outputs, rtol=1e-12, atol=1e-13)


def test_divergence_is_infinite_and_never_nan():
    network, start = networks()
    found = train(network, start, X, Y, GradientDescent(1e3, 100), X_test=X_TEST, at=range(101), keep_parameters=True)
    assert found.diverged.all()
    for array in (found.outputs, found.test_outputs, found.losses, found.parameters):
        assert not np.isnan(array).any()
    for network_index, step in enumerate(found.divergence.astype(int)):
        assert np.isfinite(found.outputs[:step, network_index]).all()
        assert np.isposinf(found.outputs[step:, network_index]).all()
        assert np.isposinf(found.losses[step:, network_index]).all()


def test_one_that_diverges_leaves_the_others_alone():
    """A line of slope 0 with the label 1: the rate 3 diverges by a factor 2 a step, from the slope 1 it stays."""
    line = MLP(1, ())
    found = train(line, [[0.0], [1.0]], [[1.0]], [1.0], GradientDescent(3.0, 1100), at=[0, 3, 1100])
    assert found.outputs[:, 1].ravel().tolist() == [1, 1, 1]
    assert found.outputs[:2, 0].ravel().tolist() == [0, 9]  # the residual −1 is doubled and changes its sign
    assert math.isinf(found.outputs[2, 0, 0, 0])
    assert found.diverged.tolist() == [True, False]
    assert found.divergence[0] in (1023, 1024, 1025)  # where 2^k leaves float64


def test_a_flow_that_slides_along_a_kink_is_given_up():
    """A ReLU unit is pushed towards its kink from both sides: the steps become tiny, which must not last for ever."""
    network, start = networks(ReLU())
    with pytest.raises(LimesError, match="GradientDescent"):
        train(network, start, X, Y, GradientFlow(3.0, evaluations=2000))


def test_an_integrator_that_gives_up_says_so(monkeypatch):
    class Failed:
        success, message = False, "Required step size is less than spacing between numbers."

    monkeypatch.setattr(training.scipy.integrate, "solve_ivp", lambda *args, **kwargs: Failed)
    network, start = networks()
    with pytest.raises(LimesError, match="network 0 could not be integrated: Required step"):
        train(network, start, X, Y, GradientFlow(1.0))


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"y": Y[:5]}, "y.shape"),
        ({"y": Y[:, 0]}, "y.shape"),
        ({"y": np.full((6, 2), math.nan)}, "y"),
        ({"X": np.full((6, 3), math.nan)}, "X[0]"),
        ({"X": X[:, :2]}, "X"),
        ({"X_test": X[:, :2]}, "X"),
        ({"frozen": [4]}, "frozen"),
        ({"frozen": [0]}, "frozen"),
        ({"loss": "sum"}, "loss"),
        ({"method": "descent"}, "method"),
        ({"method": SGD(0.1, ((6,),))}, "minibatches"),
        ({"method": SGD(0.1, ((-1,),))}, "minibatches"),
        ({"parameters": np.ones((2, 3))}, "parameters.shape"),
    ],
)
def test_training_refuses(changed, argument):
    network, start = networks()
    arguments = {"parameters": start, "X": X, "y": Y, "method": GradientDescent(0.1, 2)} | changed
    with pytest.raises(InvalidInput) as refusal:
        train(network, **arguments)
    assert refusal.value.argument == argument


@pytest.mark.parametrize(
    "wrong",
    [
        {"network": None},
        {"parameters": [[1.0], [1.0, 2.0]]},
        {"parameters": [["a"]]},
        {"X": [[1.0], [1.0, 2.0]]},
        {"X": [[1]]},
        {"y": [[1.0], [1.0, 2.0]]},
        {"y": ["a"]},
        {"X_test": [[1.0], [1.0, 2.0]]},
        {"at": [0, [1]]},
        {"frozen": 1.5},
        {"frozen": [1.0]},
        {"frozen": [np.eye(2)]},
    ],
)
def test_a_mistake_is_one_sentence(wrong):
    given = {"network": MLP(dimension=1, widths=()), "parameters": [[0.0]], "X": [[1.0]], "y": [1.0]} | wrong
    with pytest.raises(InvalidInput):
        train(**given, method=GradientDescent(0.5, 2))
