r"""Networks in power series, against SymPy's own derivatives of networks with a few parameters."""

import numpy as np
import pytest
from sympy import Matrix, diff, factorial, symbols

from numerics import jets
from numerics.arithmetic import Multiprecision
from numerics.empirical import jacobian
from numerics.networks import MLP
from theory.activations import Cos, Erf, Exp, Hermite, Identity, Sin, Softplus, Tanh
from theory.errors import InvalidInput

SMALL = [
    MLP(1, (2,), activation=Tanh(), bias_std=0.5),
    MLP(1, (1, 1), activation=Softplus()),
    MLP(1, (1,), activation=Erf(), bias_std=0.25),
    MLP(2, (2,), activation=Sin()),
    MLP(1, (2,), activation=Hermite(3)),
    MLP(2, (), bias_std=1.0, activation=Exp()),
]


def symbolic(network: MLP, x: np.ndarray):
    """`F(θ; x)` as a SymPy expression, from the definition of the network, and its parameters in order."""
    theta = symbols(f"theta_0:{network.parameter_count}", real=True)
    g, at = Matrix(x), 0
    for index, (width, fan_in) in enumerate(network.shapes):
        u = Matrix(width, fan_in, theta[at : at + width * fan_in]) * g
        at += width * fan_in
        if network.bias_std > 0:
            u += network.bias_std * Matrix(theta[at : at + width])
            at += width
        if index < network.depth:
            g = u.applyfunc(network.activation.expression) * network.feature_factors[index]
        else:
            return u[0], theta
    raise AssertionError


def line_coefficients(network: MLP, parameters: np.ndarray, x: np.ndarray, v: np.ndarray, order: int, by=None):
    """Taylor coefficients in `t` of `F(θ + t v)`, or of its derivative by parameter number `by`, by SymPy."""
    F, theta = symbolic(network, x)
    if by is not None:
        F = diff(F, theta[by])
    t = symbols("t", real=True)
    moved = F.subs({p: float(a) + t * float(b) for p, a, b in zip(theta, parameters, v, strict=True)})
    values = []
    for k in range(order + 1):
        values.append(float(moved.subs(t, 0) / factorial(k)))
        moved = diff(moved, t)
    return values


@pytest.mark.parametrize("network", SMALL, ids=repr)
def test_series_of_the_output_and_of_the_gradient(network):
    rng = np.random.default_rng(1)
    parameters, (x, source) = network.sample(rng), rng.standard_normal((2, 1, network.dimension))
    order = 3 if network.depth < 2 else 2  # SymPy's expressions grow quickly
    v = jets.gradient(network, parameters, source)
    run = jets.forward(network, parameters, x, v, order)
    dense = v.dense(network)[0, 0]
    expected = line_coefficients(network, parameters[0], x[0], dense, order)
    np.testing.assert_allclose(run.outputs[:, 0, 0], expected, rtol=1e-10, atol=1e-12)
    deltas = [delta for delta, _ in jets.backward(network, parameters, run, v)]
    gradients = np.stack(list(jets.gradient_series(network, run, deltas)))[:, 0, 0]
    for p in range(network.parameter_count):
        expected = line_coefficients(network, parameters[0], x[0], dense, order, by=p)
        np.testing.assert_allclose(gradients[:, p], expected, rtol=1e-9, atol=1e-11)


def test_the_gradient_in_factors_is_the_row_of_the_jacobian():
    rng = np.random.default_rng(2)
    network = MLP(3, (5, 4), activation=Cos(), bias_std=0.5)
    parameters, X = network.sample(rng, 3), rng.standard_normal((4, 3))
    dense = jets.gradient(network, parameters, X).dense(network)
    np.testing.assert_allclose(dense, jacobian(network, parameters, X), rtol=1e-12, atol=1e-14)


def test_batches_and_points_do_not_mix():
    rng = np.random.default_rng(3)
    network = MLP(3, (4, 4), activation=Tanh())
    parameters, X = network.sample(rng, 2), rng.standard_normal((3, 3))
    v = jets.gradient(network, parameters, X)
    together = jets.forward(network, parameters, X, v, order=4).outputs
    for b in range(2):
        for i in range(3):
            alone = jets.gradient(network, parameters[b : b + 1], X[i : i + 1])
            outputs = jets.forward(network, parameters[b : b + 1], X[i : i + 1], alone, order=4).outputs
            np.testing.assert_allclose(together[:, b, i], outputs[:, 0, 0], rtol=1e-12)


def test_a_sum_of_gradients_is_one_direction_for_all_points():
    rng = np.random.default_rng(4)
    network = MLP(2, (3,), activation=Tanh(), bias_std=0.5)
    parameters, X, weights = network.sample(rng, 2), rng.standard_normal((3, 2)), rng.standard_normal((2, 3))
    gradients = jets.gradient(network, parameters, X)
    combined = gradients.summed(weights)
    expected = (weights[:, :, None] * gradients.dense(network)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(combined.dense(network), expected, rtol=1e-12, atol=1e-14)
    series = jets.forward(network, parameters, X, combined, order=1).outputs
    directional = np.einsum("bnp,bmp->bn", gradients.dense(network), expected)
    np.testing.assert_allclose(series[1], directional, rtol=1e-12)


def test_the_order_rises_by_one_along_the_gradient():
    """`d/dt F(θ + t v) = ⟨∇F(θ + t v), v⟩`, coefficient by coefficient, to order 16."""
    rng = np.random.default_rng(5)
    network = MLP(2, (4, 3), activation=Softplus(), bias_std=0.5)
    parameters, X = network.sample(rng), rng.standard_normal((2, 2))
    v = jets.gradient(network, parameters, X)
    run = jets.forward(network, parameters, X, v, order=16)
    deltas = [delta for delta, _ in jets.backward(network, parameters, run, v)]
    slopes = [(g * v.dense(network)).sum(axis=-1) for g in jets.gradient_series(network, run, deltas)]
    for k in range(16):
        scale = np.abs(run.outputs[k + 1]).max()
        np.testing.assert_allclose((k + 1) * run.outputs[k + 1], slopes[k], rtol=1e-8, atol=1e-10 * scale)


def test_mpmath_has_the_digits_that_float64_lacks():
    network = MLP(2, (2, 2), activation=Tanh(), bias_std=0.5)
    rng = np.random.default_rng(6)
    parameters, X = network.sample(rng), rng.standard_normal((1, 2))
    runs = []
    for arithmetic in (Multiprecision(30), Multiprecision(50)):
        v = jets.gradient(network, parameters, X, arithmetic=arithmetic)
        runs.append(jets.forward(network, parameters, X, v, 8, arithmetic=arithmetic).outputs.ravel())
    assert max(abs(a - b) / abs(b) for a, b in zip(*runs, strict=True)) < 1e-30
    plain = jets.forward(network, parameters, X, jets.gradient(network, parameters, X), 8).outputs.ravel()
    np.testing.assert_allclose(plain, runs[1].astype(float), rtol=1e-11)


def test_a_linear_network_is_a_polynomial_of_its_depth():
    network = MLP(2, (3, 3), activation=Identity())
    rng = np.random.default_rng(7)
    parameters, X = network.sample(rng), rng.standard_normal((1, 2))
    v = jets.gradient(network, parameters, X)
    outputs = jets.forward(network, parameters, X, v, 6).outputs.ravel()
    assert (outputs[:4] != 0).all()
    assert (outputs[4:] == 0).all()


def test_bad_input():
    network = MLP(2, (3,), activation=Tanh())
    pair = MLP(2, (3,), outputs=2, activation=Tanh())
    for called in (
        lambda: jets.gradient(pair, np.zeros((1, 12)), [[1.0, 2.0]]),
        lambda: jets.forward(pair, np.zeros((1, 12)), [[1.0, 2.0]]).outputs,
    ):
        with pytest.raises(InvalidInput, match="outputs"):
            called()
    with pytest.raises(InvalidInput, match="parameters"):
        jets.forward(network, np.zeros((1, 3)), [[1.0, 2.0]])
    with pytest.raises(InvalidInput, match="X"):
        jets.forward(network, network.sample(np.random.default_rng(0)), [[1.0, 2.0, 3.0]])


def test_against_jax():
    """The same series by JAX's own Taylor mode, where it is installed."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    from jax.experimental.jet import jet

    network = MLP(3, (5, 4), activation=Tanh())
    rng = np.random.default_rng(8)
    parameters, x = network.sample(rng), rng.standard_normal((1, 3))
    jnp, shapes, factors = jax.numpy, network.shapes, network.feature_factors

    def F(theta):
        g, at = jnp.asarray(x[0]), 0
        for index, (width, fan_in) in enumerate(shapes):
            u = theta[at : at + width * fan_in].reshape(width, fan_in) @ g
            at += width * fan_in
            g = factors[index] * jnp.tanh(u) if index < len(factors) else u
        return g[0]

    theta = jnp.asarray(parameters[0])
    v = jax.grad(F)(theta)
    zero = jnp.zeros_like(v)
    value, derivatives = jet(F, (theta,), ((v, *(zero,) * 4),))
    expected = [value, *(d / float(factorial(k)) for k, d in enumerate(derivatives, start=1))]
    found = jets.forward(network, parameters, x, jets.gradient(network, parameters, x), 5).outputs.ravel()
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-10)
