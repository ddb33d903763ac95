r"""Derivative correlations against their definition: tensors of derivatives by SymPy, contracted index by index."""

from itertools import combinations_with_replacement, permutations
from math import factorial

import numpy as np
import pytest
from sympy import Matrix, diff, symbols

from numerics import correlations
from numerics.empirical import empirical_ntk, jacobian
from numerics.networks import MLP, Layer
from theory.activations import Erf, Hermite, Identity, LeakyReLU, Softplus, Tanh
from theory.errors import InvalidInput

RATE = 0.7


def tensor(F, theta, values, order: int) -> np.ndarray:
    """`∇^order F(θ)`, an array with `order` axes of length `P`, each entry a derivative by SymPy."""
    result = np.empty((len(theta),) * order)
    for indices in combinations_with_replacement(range(len(theta)), order):
        entry = float(diff(F, *(theta[i] for i in indices)).subs(values))
        for which in set(permutations(indices)):
            result[which] = entry
    return result


def brute_force(network: MLP, parameters, x, source, D: int, d: int, output=0, contracted_with=(0, 0, 0)) -> np.ndarray:
    """`C_{D,d}` of an output, each contraction with the gradient of an output, with `D` axes, from its definition."""
    theta = symbols(f"theta_0:{network.parameter_count}", real=True)
    values = dict(zip(theta, map(float, parameters[0]), strict=True))

    def F(point, output):
        (m, n), scale = network.shapes[0], network.feature_factors[0]
        u = Matrix(m, n, theta[: m * n]) * Matrix(point)
        hidden = u.applyfunc(network.activation.expression) * scale
        return (Matrix(network.outputs, m, theta[m * n :]) * hidden)[output]

    contracted = tensor(F(x[0], output), theta, values, D + d)
    for j in contracted_with[:d]:
        contracted = contracted @ tensor(F(source[0], j), theta, values, 1)
    return RATE ** (D / 2 + d) / (factorial(D) * factorial(d)) * contracted


@pytest.fixture(scope="module")
def small():
    """A network of four parameters, a point and the source of the gradients."""
    rng = np.random.default_rng(11)
    network = MLP(1, (2,), activation=Tanh())
    return network, network.sample(rng), rng.standard_normal((1, 1)), rng.standard_normal((1, 1))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_scalar_is_the_contracted_tensor(small, d):
    network, parameters, x, source = small
    for along, at in ((None, x), (source, source)):
        found = correlations.scalar(network, parameters, x, 3, along=along, learning_rate=RATE)
        np.testing.assert_allclose(found[d - 1].ravel(), brute_force(network, parameters, x, at, 0, d), rtol=1e-11)


def test_each_output_is_the_contracted_tensor():
    """The form in the covector, `Σ c_j c_k C^{i; jk}`, at `d = 2`, and the linear one at `d = 1`."""
    rng = np.random.default_rng(17)
    network = MLP(1, (2,), outputs=2, activation=Tanh())
    parameters, x, source, c = (
        network.sample(rng),
        rng.standard_normal((1, 1)),
        np.array([[0.6]]),
        np.array([0.7, -1.3]),
    )
    found = correlations.each_output(network, parameters, x, 2, c, along=source, learning_rate=RATE)[:, 0, 0, 0]
    for i in range(2):
        parts = np.array(
            [[brute_force(network, parameters, x, source, 0, 2, i, (j, k)) for k in (0, 1)] for j in (0, 1)]
        )
        assert parts[0, 1] == pytest.approx(parts[1, 0], rel=1e-12)
        assert found[1, i] == pytest.approx(c @ parts @ c, rel=1e-11)
        first = [brute_force(network, parameters, x, source, 0, 1, i, (j,)) for j in (0, 1)]
        assert found[0, i] == pytest.approx(c @ first, rel=1e-11)


def test_an_output_along_its_own_gradient_is_a_network_with_one_output():
    rng = np.random.default_rng(18)
    network = MLP(2, (5, 4), outputs=3, activation=Erf(), bias_std=0.5)
    parameters, X, sources = network.sample(rng, 2), rng.standard_normal((3, 2)), rng.standard_normal((4, 2))
    *hidden, last = network.layers(parameters)
    one = MLP(2, (5, 4), activation=Erf(), bias_std=0.5)
    for i, unit in enumerate(np.eye(3)):
        layers = [*hidden, Layer(last.weights[:, i : i + 1], last.biases[:, i : i + 1])]
        own = one.pack([layer.weights for layer in layers], [layer.biases for layer in layers])
        found = correlations.each_output(network, parameters, X, 4, unit, along=sources)[..., i]
        np.testing.assert_allclose(found, correlations.scalar(one, own, X, 4, along=sources), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2])
def test_vectors_are_the_contracted_tensors(small, d):
    network, parameters, x, source = small
    expected = brute_force(network, parameters, x, source, 1, d)
    found = correlations.vectors(network, parameters, x, 2, along=source, learning_rate=RATE)
    np.testing.assert_allclose(found[d - 1, 0, 0, 0], expected, rtol=1e-10, atol=1e-13)
    norms = correlations.vector_norms(network, parameters, x, 2, along=source, learning_rate=RATE)
    assert norms[d - 1, 0, 0, 0] == pytest.approx(np.linalg.norm(expected), rel=1e-10)


@pytest.mark.parametrize("d", [1, 2])
def test_the_operator_is_the_contracted_tensor(small, d):
    network, parameters, x, source = small
    expected = brute_force(network, parameters, x, source, 2, d)
    operator = correlations.operator(network, parameters, x, d, along=source, learning_rate=RATE)
    np.testing.assert_allclose(operator @ np.eye(4), expected, rtol=1e-9, atol=1e-12)
    norm = correlations.operator_norm(network, parameters, x, d, learning_rate=RATE)
    own = brute_force(network, parameters, x, x, 2, d)
    assert norm[0, 0] == pytest.approx(np.linalg.norm(own, 2), rel=1e-8)


def test_the_first_correlation_is_the_tangent_kernel():
    rng = np.random.default_rng(12)
    network = MLP(3, (5, 4), activation=Softplus(), bias_std=0.5)
    parameters, X, sources = network.sample(rng, 2), rng.standard_normal((3, 3)), rng.standard_normal((4, 3))
    found = correlations.scalar(network, parameters, X, 1, along=sources, learning_rate=RATE)[0]
    np.testing.assert_allclose(found, RATE * empirical_ntk(network, parameters, X, sources).total[:, :, 0, :, 0])
    own = correlations.scalar(network, parameters, X, 1)[0]
    np.testing.assert_allclose(own, (jacobian(network, parameters, X) ** 2).sum(axis=-1))


@pytest.mark.parametrize("activation", [Tanh(), Erf(), Hermite(3), LeakyReLU(), Identity()], ids=repr)
@pytest.mark.parametrize("bias_std", [0.0, 0.5])
def test_norms_are_those_of_the_vectors(activation, bias_std):
    rng = np.random.default_rng(13)
    network = MLP(3, (6, 5), activation=activation, bias_std=bias_std)
    parameters, X, sources = network.sample(rng, 2), rng.standard_normal((2, 3)), rng.standard_normal((3, 3))
    for along in (None, sources):
        vectors = correlations.vectors(network, parameters, X, 5, along=along, learning_rate=RATE)
        norms = correlations.vector_norms(network, parameters, X, 5, along=along, learning_rate=RATE)
        expected = np.linalg.norm(vectors, axis=-1)
        np.testing.assert_allclose(norms, expected, rtol=1e-8, atol=1e-8 * expected.max())
        both = correlations.scalar_and_vector_norms(network, parameters, X, 5, along=along, learning_rate=RATE)
        np.testing.assert_array_equal(
            both[0], correlations.scalar(network, parameters, X, 5, along=along, learning_rate=RATE)
        )
        np.testing.assert_array_equal(both[1], norms)


def test_the_same_source_gives_the_diagonal_of_all_pairs():
    rng = np.random.default_rng(14)
    network = MLP(2, (4,), activation=Tanh())
    parameters, X = network.sample(rng, 3), rng.standard_normal((3, 2))
    pairs = correlations.scalar(network, parameters, X, 3, along=X)
    np.testing.assert_allclose(np.diagonal(pairs, axis1=2, axis2=3), correlations.scalar(network, parameters, X, 3))


def test_chunks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(15)
    network = MLP(2, (4, 3), activation=Tanh())
    parameters, X = network.sample(rng, 3), rng.standard_normal((4, 2))
    whole = correlations.vector_norms(network, parameters, X, 2, along=X[:3])
    monkeypatch.setattr("numerics.networks.WORKSPACE", 4000)
    np.testing.assert_allclose(correlations.vector_norms(network, parameters, X, 2, along=X[:3]), whole, rtol=1e-12)


def test_powers_of_the_learning_rate():
    rng = np.random.default_rng(16)
    network = MLP(2, (4,), activation=Tanh())
    parameters, X = network.sample(rng), rng.standard_normal((1, 2))
    d = np.arange(1, 4)[:, None, None]
    for function, D in ((correlations.scalar, 0), (correlations.vector_norms, 1)):
        ratio = function(network, parameters, X, 3, learning_rate=4.0) / function(network, parameters, X, 3)
        np.testing.assert_allclose(ratio, 4.0 ** (D / 2 + d), rtol=1e-12)
    norms = [correlations.operator_norm(network, parameters, X, 2, learning_rate=rate) for rate in (1.0, 4.0)]
    np.testing.assert_allclose(norms[1] / norms[0], 4.0**3)


def test_bad_input():
    network = MLP(2, (3,), activation=Tanh())
    theta, X = network.sample(np.random.default_rng(0)), np.ones((1, 2))
    for order in (0, 17, 1.5, True):
        with pytest.raises(InvalidInput, match="order"):
            correlations.scalar(network, theta, X, order)
    for rate in (0, -1.0, np.inf, np.nan, "1"):
        with pytest.raises(InvalidInput, match="learning_rate"):
            correlations.vector_norms(network, theta, X, 1, learning_rate=rate)
    with pytest.raises(InvalidInput, match="outputs"):
        correlations.scalar(MLP(2, (3,), outputs=2, activation=Tanh()), np.zeros((1, 12)), X, 1)
    pair = MLP(2, (3,), outputs=2, activation=Tanh())
    for covector in (None, [1.0], [1.0, np.nan], "ab", [1j, 0], [[1.0], [1.0, 2.0]]):
        with pytest.raises(InvalidInput, match=r"outputs|covector"):
            correlations.each_output(pair, np.ones((1, 12)), X, 1, covector)
    with pytest.raises(InvalidInput, match="outputs"):
        correlations.operator_norm(pair, np.ones((1, 12)), X, 1)
    for function in (correlations.scalar, correlations.vector_norms, correlations.vectors, correlations.operator):
        with pytest.raises(InvalidInput, match="the options are along, learning_rate"):
            function(network, theta, X, 1, learningrate=2.0)
    for function in (
        correlations.scalar,
        correlations.vector_norms,
        correlations.vectors,
        correlations.operator,
        correlations.operator_norm,
    ):
        with pytest.raises(InvalidInput, match=r"learning_rate.*overflows"):
            function(network, theta, X, 2, learning_rate=1e300)
    for tolerance in ("x", None, -1, 0, np.inf, np.nan):
        with pytest.raises(InvalidInput, match="tolerance"):
            correlations.operator_norm(network, theta, X, 1, tolerance=tolerance)
    with pytest.raises(InvalidInput, match="along"):
        correlations.scalar(network, theta, X, 1, along=np.ones((1, 3)))
    with pytest.raises(InvalidInput, match="one network"):
        correlations.operator(network, np.tile(theta, (2, 1)), X, 1)
    with pytest.raises(InvalidInput, match="finite"):
        correlations.scalar(network, theta * np.nan, X, 1)
    cubic = MLP(2, (3,), activation=Hermite(3))
    with pytest.raises(InvalidInput, match="overflow"):
        correlations.scalar(cubic, theta * 1e60, X, 4)
    with pytest.raises(InvalidInput, match="overflow"):  # the factor 1e306 and the norm are floats, the product is none
        correlations.operator_norm(cubic, theta * 1e3, X, 1, learning_rate=1e153)
    wide = MLP(2, (20000,), activation=Tanh())
    with pytest.raises(InvalidInput, match="2 GiB"):
        correlations.vectors(wide, wide.sample(np.random.default_rng(0)), np.ones((600, 2)), 16)
