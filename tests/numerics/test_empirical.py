"""The empirical kernel against `J Jᵀ`, `J` against differences in 40 digits, and the exact expectation at L = 1."""

import dataclasses
import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from numerics import networks
from numerics.data import adversarial_pairs, digits, sphere
from numerics.empirical import EmpiricalNTK, as_matrix, empirical_ntk, jacobian
from numerics.networks import MLP, fan_in_uniform
from theory.activations import Erf, Exp, Identity, LeakyReLU, ReLU, Sin, Tanh
from theory.errors import InvalidInput
from theory.parametrisation import Parametrisation

NTK, STANDARD = Parametrisation.NTK, Parametrisation.STANDARD

ARCHITECTURES = [
    MLP(2, (), 1),
    MLP(2, (), 3, bias_std=0.5),
    MLP(2, (3,), 1),
    MLP(2, (3,), 2, Tanh(), bias_std=0.7),
    MLP(2, (3,), 2, Tanh(), bias_std=0.7, parametrisation=STANDARD),
    MLP(3, (4, 1, 2), 2, Erf()),
    MLP(3, (3, 4), 3, LeakyReLU(a=0.6, b=0.4), bias_std=0.2),
    MLP(3, (3, 4), 1, Sin(), parametrisation=STANDARD),
]
each_architecture = pytest.mark.parametrize("network", ARCHITECTURES, ids=str)


def example(network: MLP, batch: int = 3, points: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Parameters and points, the same in every run."""
    rng = np.random.default_rng(100)
    return network.sample(rng, batch), sphere(rng, points, network.dimension)


def by_differences(network: MLP, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
    """`∂f/∂θ (o, P)` of one network by central differences of its definition, in 40 digits: error about 1e-30."""
    ctx = mpmath.mp.clone()
    ctx.dps = 40
    phi = {
        ReLU: lambda s: max(s, ctx.zero),
        LeakyReLU: lambda s: s if s > 0 else s / 5,
        Erf: ctx.erf,
        Sin: ctx.sin,
        Tanh: ctx.tanh,
    }[type(network.activation)]
    ntk = network.parametrisation is NTK

    def outputs(theta: list[mpmath.mpf]) -> mpmath.matrix:
        numbers, g = iter(theta), ctx.matrix(x.tolist())
        for layer, (m, fan_in) in enumerate(network.shapes):
            W = ctx.matrix(m, fan_in)
            for j, i in itertools.product(range(m), range(fan_in)):
                W[j, i] = next(numbers)
            u = W * g
            if network.bias_std > 0:
                u += (ctx.mpf(network.bias_std) if ntk else 1) * ctx.matrix([next(numbers) for _ in range(m)])
            g = u.apply(phi) * (network.scales[layer] if ntk and layer < network.depth else 1)
        return u

    theta, h = [ctx.mpf(value) for value in parameters.tolist()], ctx.mpf(10) ** -15
    J = np.empty((network.outputs, len(theta)))
    for p, centre in enumerate(theta):
        above, below = (outputs([*theta[:p], centre + step, *theta[p + 1 :]]) for step in (h, -h))
        J[:, p] = [float(slope) for slope in (above - below) / (2 * h)]
    return J


def assert_mean(samples: np.ndarray, expected: np.ndarray) -> None:
    """The mean over axis 0 is `expected` to within its standard error; false alarms 1e-9 for all entries together.

    By the normal approximation, two-sided, with a union bound. Entries that do not vary must be right to rounding.
    """
    quantile = stats.norm.isf(1e-9 / 2 / expected.size)
    bound = quantile * samples.std(axis=0, ddof=1) / math.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(axis=0) - expected) <= bound + 1e-14 * np.abs(expected).max())


def limit_at_depth_one(network: MLP, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`(Θ_1, Θ_2)` of infinite width, ReLU or erf, with biases: the textbook duals at general variances."""
    with_bias = np.column_stack([X, np.full(len(X), network.bias_std)])
    covariance = with_bias @ with_bias.T
    if isinstance(network.activation, ReLU):
        norm = np.linalg.norm(with_bias, axis=1)
        x, y = (with_bias / norm[:, None])[:, None], (with_bias / norm[:, None])[None]
        # arccos would be wrong by 1e-8 for antipodal and nearly equal points
        angle = 2 * np.arctan2(np.linalg.norm(x - y, axis=2), np.linalg.norm(x + y, axis=2))
        scale = np.outer(norm, norm)
        value = scale * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
        derivative = (np.pi - angle) / np.pi
    else:
        c_phi = np.pi / (2 * np.arcsin(2 / 3))
        width = np.sqrt(np.outer(1 + 2 * np.diag(covariance), 1 + 2 * np.diag(covariance)))
        value = c_phi * 2 / np.pi * np.arcsin(2 * covariance / width)
        derivative = c_phi * 4 / np.pi / np.sqrt(width**2 - 4 * covariance**2)
    return covariance * derivative, value + network.bias_std**2


@each_architecture
def test_jacobian_is_the_derivative(network):
    parameters, X = example(network)
    J = jacobian(network, parameters, X).reshape(3, 4, network.outputs, network.parameter_count)
    for b, i in [(0, 0), (1, 3), (2, 1)]:
        expected = by_differences(network, parameters[b], X[i])
        assert np.allclose(J[b, i], expected, rtol=1e-12, atol=1e-14 * np.abs(expected).max())


@each_architecture
def test_kernel_is_the_product_of_jacobians(network):
    parameters, X = example(network)
    J = jacobian(network, parameters, X)
    ntk = empirical_ntk(network, parameters, X)
    assert len(ntk.layers) == network.depth + 1
    for term, where in zip(ntk.layers, network.slices, strict=True):
        share = J[..., where] @ J[..., where].swapaxes(1, 2)
        assert term.shape == (3, 4, network.outputs, 4, network.outputs)
        assert np.allclose(as_matrix(term), share, rtol=1e-12, atol=1e-14 * np.abs(share).max())
    assert np.allclose(as_matrix(ntk.total), J @ J.swapaxes(1, 2), rtol=1e-12, atol=1e-13)


@each_architecture
def test_kernel_between_two_sets_is_a_block_of_the_kernel_of_both(network):
    parameters, X = example(network, points=7)
    whole = empirical_ntk(network, parameters, X)
    block = empirical_ntk(network, parameters, X[:3], X[3:])
    for term, part in zip(whole.layers, block.layers, strict=True):
        assert part.shape == (3, 3, network.outputs, 4, network.outputs)
        assert np.allclose(part, term[:, :3, :, 3:], rtol=1e-12, atol=1e-14 * np.abs(term).max())


@each_architecture
def test_outputs_share_the_last_layer_as_a_multiple_of_the_identity(network):
    parameters, X = example(network)
    last = empirical_ntk(network, parameters, X).layers[-1]
    features = network.forward(parameters, X).features[-1]
    gram = np.broadcast_to(features @ features.swapaxes(-2, -1) + network.bias_factor**2, (3, 4, 4))
    expected = gram[:, :, None, :, None] * np.eye(network.outputs)[:, None, :]
    assert np.allclose(last, expected, rtol=1e-13, atol=1e-15)


def test_freezing_removes_terms():
    network = MLP(3, (4, 5), 2, Tanh(), bias_std=0.3)
    ntk = empirical_ntk(network, *example(network))
    first, second, third = ntk.layers
    assert np.array_equal(ntk.total, first + second + third)
    assert np.array_equal(ntk.freeze(2), first + third)
    assert np.array_equal(ntk.freeze(1, 2), third), "only the last layer trained: linear probing"
    assert not ntk.freeze(1, 2, 3).any()


@pytest.mark.parametrize("layer", [0, 4, -1])
def test_freeze_refuses(layer):
    with pytest.raises(InvalidInput, match=r"layers are 1\.\.3"):
        EmpiricalNTK((np.ones((1, 1, 1, 1, 1)),) * 3).freeze(layer)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    widths=st.lists(st.integers(1, 6), max_size=3).map(tuple),
    outputs=st.integers(1, 3),
    activation=st.sampled_from([ReLU(), Tanh(), Sin(), Identity()]),
    bias_std=st.sampled_from([0.0, 0.5]),
    parametrisation=st.sampled_from(Parametrisation),
    points=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
def test_kernel_is_symmetric_positive_and_of_bounded_rank(
    widths, outputs, activation, bias_std, parametrisation, points, seed
):
    network, rng = MLP(2, widths, outputs, activation, bias_std, parametrisation), np.random.default_rng(seed)
    ntk = empirical_ntk(network, network.sample(rng, 2), rng.standard_normal((points, 2)))
    for matrix in (*as_matrix(ntk.total), *(matrix for term in ntk.layers for matrix in as_matrix(term))):
        assert np.array_equal(matrix, matrix.T)
        # Each entry carries a few dozen roundings, which move an eigenvalue by at most n·o times as much (Weyl).
        slack = 100 * len(matrix) * np.finfo(float).eps * np.abs(matrix).max()
        eigenvalues = np.linalg.eigvalsh(matrix)
        assert eigenvalues[0] >= -slack
        assert np.count_nonzero(eigenvalues > slack) <= min(points * outputs, network.parameter_count)


def test_rank_is_bounded_by_the_number_of_parameters():
    """One unit on the line: two parameters, five points; the bound of the property above, where it bites."""
    network = MLP(1, (1,), activation=Tanh())
    X = np.linspace(0.2, 2, 5)[:, None]
    eigenvalues = np.linalg.eigvalsh(as_matrix(empirical_ntk(network, np.array([[0.8, 1.3]]), X).total)[0])
    assert np.all(np.abs(eigenvalues[:3]) <= 1e-14 * eigenvalues[-1])
    assert eigenvalues[3] > 1e-4 * eigenvalues[-1]


@pytest.mark.parametrize("activation", [ReLU(), LeakyReLU(), Identity()], ids=lambda activation: activation.name)
def test_homogeneous_activations_give_homogeneous_kernels(activation):
    """`Θ(αx, βx') = αβ Θ(x, x')` for `α, β > 0` without biases; exactly, for powers of two."""
    network = MLP(3, (4, 5), 2, activation)
    parameters, X = example(network)
    plain, scaled = empirical_ntk(network, parameters, X, X), empirical_ntk(network, parameters, 4 * X, 0.5 * X)
    for term, other in zip(plain.layers, scaled.layers, strict=True):
        assert np.array_equal(other, 2 * term)


def test_hidden_units_may_be_permuted():
    network = MLP(3, (4, 5), 2, Tanh(), bias_std=0.3)
    parameters, X = example(network)
    order = np.random.default_rng(1).permutation(5)
    (W1, b1), (W2, b2), (W3, b3) = network.layers(parameters)
    permuted = network.pack([W1, W2[:, order], W3[:, :, order]], [b1, b2[:, order], b3])
    assert not np.array_equal(permuted, parameters)
    terms = (empirical_ntk(network, theta, X).layers for theta in (parameters, permuted))
    for term, other in zip(*terms, strict=True):
        assert np.allclose(term, other, rtol=1e-12, atol=1e-14 * np.abs(term).max())


def test_a_kernel_does_not_depend_on_its_batch(monkeypatch):
    network = MLP(3, (8, 8), 2, Tanh(), bias_std=0.1)
    parameters, X = example(network, batch=5)
    whole = empirical_ntk(network, parameters, X).total
    alone = np.concatenate([empirical_ntk(network, row[None], X).total for row in parameters])
    assert np.allclose(whole, alone, rtol=1e-13, atol=1e-14)
    monkeypatch.setattr(networks, "WORKSPACE", 1)
    assert np.allclose(empirical_ntk(network, parameters, X).total, alone, rtol=1e-13, atol=1e-14)
    assert np.allclose(empirical_ntk(network, parameters, X, X).total, alone, rtol=1e-12, atol=1e-13)


def test_parametrisations_scale_the_layers():
    """As `theory/parametrisation.py` says: `m_{l−1}/c_φ` for weights (1 in the first layer), `1/σ_b²` for biases."""
    widths, sigma = (4, 6), 0.5
    with_biases, without = MLP(3, widths, bias_std=sigma), MLP(3, widths)
    X = sphere(np.random.default_rng(2), 4, 3)

    def in_both(function, network: MLP) -> list:
        both = network, dataclasses.replace(network, parametrisation=STANDARD)
        return [function(one, one.sample(np.random.default_rng(3), 2), X) for one in both]

    factors = [1, 4 / 2, 6 / 2]
    ntk, standard = in_both(empirical_ntk, without)
    for factor, term, other in zip(factors, ntk.layers, standard.layers, strict=True):
        assert np.allclose(other, factor * term, rtol=1e-12, atol=1e-14)
    J, J_standard = in_both(jacobian, with_biases)
    for factor, (m, fan_in), where in zip(factors, with_biases.shapes, with_biases.slices, strict=True):
        scale = np.repeat([math.sqrt(factor), 1 / sigma], [m * fan_in, m])
        assert np.allclose(J_standard[..., where], scale * J[..., where], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("width", [1, 2, 7])
@pytest.mark.parametrize(
    ("activation", "bias_std", "outputs"), [(ReLU(), 0.0, 1), (ReLU(), 0.6, 2), (Erf(), 0.0, 2), (Erf(), 0.6, 1)]
)
def test_expectation_at_depth_one_is_the_limit_at_every_width(activation, bias_std, outputs, width):
    """`E Θ_1` and `E Θ_2` are sums over iid units, so the infinite-width values times `I_o`, also for a single unit.

    Pairs are judged one by one. Across them, points at the angle π − 1e-6 share an active ReLU unit once in 10⁶
    networks, and events that did not happen have no standard error.
    """
    inputs = {pair.name: pair.points for pair in adversarial_pairs(3)}
    inputs["generic"] = np.array([[1.5], [0.7]]) * sphere(np.random.default_rng(4), 2, 3)
    network = MLP(3, (width,), outputs, activation, bias_std)
    parameters = network.sample(np.random.default_rng([5, width]), 40_000)
    for X in inputs.values():
        layers = empirical_ntk(network, parameters, X).layers
        for term, limit in zip(layers, limit_at_depth_one(network, X), strict=True):
            expected = limit[:, None, :, None] * np.eye(outputs)[:, None, :]
            assert_mean(term, expected)
            with pytest.raises(AssertionError):
                assert_mean(term, 0.9 * expected)


def test_expectation_at_depth_one_on_digits():
    X = digits(3, unit_sphere=True).images
    network = MLP(64, (2,))
    parameters = network.sample(np.random.default_rng(6), 20_000)
    expected = sum(limit_at_depth_one(network, X))
    total = empirical_ntk(network, parameters, X).total[:, :, 0, :, 0]
    assert_mean(total, expected)
    with pytest.raises(AssertionError):
        assert_mean(total, 0.9 * expected)


def test_the_example_of_the_encyclopedia_article():
    """Two digits over 16, a 64–8–1 tanh network as PyTorch draws it: `J Jᵀ` is 2×2, symmetric, PSD, of rank at most 2.

    What is reproduced is the kernel at given weights; the numbers the article prints depend on PyTorch's random stream.
    """
    X = digits(2).images
    network = MLP(64, (8,), activation=Tanh(), bias_std=1.0, parametrisation=STANDARD)
    parameters = fan_in_uniform(network, np.random.default_rng(0))
    (W1, b1), (W2, _) = network.layers(parameters)
    rows = []
    for x in X:  # the gradient of W2·tanh(W1 x + b1) + b2, in the order of PyTorch's model.parameters()
        h = np.tanh(W1[0] @ x + b1[0])
        inner = W2[0, 0] * (1 - h**2)
        rows.append(np.concatenate([np.outer(inner, x).ravel(), inner, h, [1.0]]))
    J = np.array(rows)
    assert J.shape == (2, 529)
    assert np.allclose(jacobian(network, parameters, X)[0], J, rtol=1e-12, atol=1e-15)
    kernel = as_matrix(empirical_ntk(network, parameters, X).total)[0]
    assert np.allclose(kernel, J @ J.T, rtol=1e-13)
    assert np.array_equal(kernel, kernel.T)
    assert np.all(np.linalg.eigvalsh(kernel) > 0)
    assert np.linalg.matrix_rank(kernel) == 2 == min(len(X) * network.outputs, network.parameter_count)


@pytest.mark.parametrize("X", [[[math.nan, 1.0]], [[1.0]], [1.0, 2.0], np.empty((0, 2)), [[1, 2]]])
def test_bad_points_are_refused(X):
    network, good = MLP(2, (3,)), [[1.0, 2.0]]
    parameters = network.sample(np.random.default_rng(0))
    for call in (empirical_ntk, jacobian):
        with pytest.raises(InvalidInput, match=r"^X"):
            call(network, parameters, X)
    with pytest.raises(InvalidInput, match=r"^X2"):
        empirical_ntk(network, parameters, good, X)


@pytest.mark.parametrize("parameters", [np.ones(9), np.ones((1, 8)), np.ones((0, 9)), np.full((1, 9), math.inf)])
def test_bad_parameters_are_refused(parameters):
    for call in (empirical_ntk, jacobian):
        with pytest.raises(InvalidInput, match=r"^parameters"):
            call(MLP(2, (3,)), parameters, [[1.0, 2.0]])


def test_overflow_is_refused():
    """The outputs fit into float64, the squares of the gradients do not."""
    network = MLP(1, (1,), activation=Exp())
    parameters = network.pack([[[1.0]], [[1.0]]])
    assert np.isfinite(network(parameters, [[400.0]])).all()
    with pytest.raises(InvalidInput, match="overflow"):
        empirical_ntk(network, parameters, [[400.0]])


def test_a_large_jacobian_is_refused_before_it_is_made():
    network = MLP(64, (2048, 2048))
    parameters = np.zeros((1, network.parameter_count))
    with pytest.raises(InvalidInput, match="empirical_ntk"):
        jacobian(network, parameters, np.ones((100, 64)))
