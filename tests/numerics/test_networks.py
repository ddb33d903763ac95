"""Networks against the definition, written out as loops over units, and against what holds exactly at every width."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import integrate, stats

from numerics import networks
from numerics.data import sphere
from numerics.networks import MLP, fan_in_uniform
from theory.activations import Activation, Cos, Erf, Exp, Hermite, Identity, LeakyReLU, ReLU, Sin, Softplus, Tanh
from theory.errors import InvalidInput
from theory.parametrisation import Parametrisation

NTK, STANDARD = Parametrisation.NTK, Parametrisation.STANDARD

PHI = {
    ReLU(): lambda s: max(s, 0.0),
    LeakyReLU(a=0.6, b=0.4): lambda s: s if s > 0 else 0.2 * s,
    Identity(): lambda s: s,
    Erf(): math.erf,
    Sin(): math.sin,
    Cos(): math.cos,
    Exp(): math.exp,
    Hermite(2): lambda s: (s**2 - 1) / math.sqrt(2),
    Tanh(): math.tanh,
    Softplus(): lambda s: math.log1p(math.exp(s)),
}


def c_phi(activation: Activation) -> float:
    """`1/E[φ(z)²]` by quadrature on each side of the kink."""

    def density(z: float) -> float:
        return PHI[activation](z) ** 2 * math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)

    return 1 / sum(integrate.quad(density, *ends, epsabs=1e-13)[0] for ends in ((-30, 0), (0, 30)))


def by_definition(network: MLP, parameters: np.ndarray, x: np.ndarray) -> list[float]:
    """f(x) of one network, its parameters read one by one in their order; loops over layers and units."""
    numbers = iter(parameters.tolist())
    g = x.tolist()
    sizes = [*network.widths, network.outputs]
    for layer, size in enumerate(sizes, start=1):
        weights = [[next(numbers) for _ in g] for _ in range(size)]
        biases = [next(numbers) for _ in range(size)] if network.bias_std > 0 else [0.0] * size
        sigma = network.bias_std if network.parametrisation is NTK else 1.0
        u = [math.fsum(w * h for w, h in zip(row, g, strict=True)) for row in weights]
        u = [s + sigma * b for s, b in zip(u, biases, strict=True)]
        factor = math.sqrt(c_phi(network.activation) / size) if network.parametrisation is NTK else 1.0
        g = u if layer == len(sizes) else [factor * PHI[network.activation](s) for s in u]
    assert next(numbers, None) is None
    return g


@pytest.mark.parametrize("parametrisation", [NTK, STANDARD])
@pytest.mark.parametrize("activation", PHI, ids=lambda activation: activation.name)
def test_forward_is_the_definition(activation, parametrisation):
    for widths, bias_std, outputs in [((), 0.5, 1), ((4,), 0.0, 2), ((3, 1, 5), 0.7, 3)]:
        network = MLP(2, widths, outputs, activation, bias_std, parametrisation)
        parameters = network.sample(np.random.default_rng(0), batch=3)
        X = 0.7 * sphere(np.random.default_rng(1), 4, 2)
        f = network(parameters, X)
        assert f.shape == (3, 4, outputs)
        expected = [[by_definition(network, row, x) for x in X] for row in parameters]
        # c_φ is known to 1e-10 (both sides integrate); everything else is a few dozen roundings.
        assert np.allclose(f, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_forward_keeps_every_layer():
    network = MLP(3, (4, 5), 2, Tanh(), bias_std=0.3)
    parameters, X = network.sample(np.random.default_rng(2), 6), sphere(np.random.default_rng(3), 7, 3)
    run = network.forward(parameters, X)
    assert [g.shape for g in run.features] == [(7, 3), (6, 7, 4), (6, 7, 5)]
    assert [u.shape for u in run.preactivations] == [(6, 7, 4), (6, 7, 5), (6, 7, 2)]
    assert run.outputs is run.preactivations[-1]
    assert [delta.shape for delta in network.backward(parameters, run)] == [(6, 14, 2), (6, 14, 5), (6, 14, 4)]


def test_the_identity_keeps_its_preactivations():
    """An activation may return its argument: scaling the feature must not scale what it was made of."""
    network = MLP(1, (4,), activation=Identity())
    run = network.forward(network.pack([np.full((4, 1), 3.0), np.ones((1, 4))]), [[1.0]])
    assert np.array_equal(run.preactivations[0], np.full((1, 1, 4), 3.0))
    assert np.array_equal(run.features[1], np.full((1, 1, 4), 1.5))


@pytest.mark.parametrize("bias_std", [0.0, 0.4])
def test_both_parametrisations_draw_the_same_functions(bias_std):
    ntk = MLP(3, (6, 5), 2, Tanh(), bias_std)
    standard = dataclasses.replace(ntk, parametrisation=STANDARD)
    X = sphere(np.random.default_rng(4), 5, 3)
    f, g = (network(network.sample(np.random.default_rng(5), 8), X) for network in (ntk, standard))
    assert np.allclose(f, g, rtol=1e-12, atol=1e-13)


def test_parameters_have_unit_variance_layer_by_layer():
    network = MLP(7, (11, 13), 3, bias_std=2.0)
    parameters = network.sample(np.random.default_rng(6), batch=200)
    arrays = [array for layer in network.layers(parameters) for array in layer if array is not None]
    assert len(arrays) == 6
    for array in arrays:
        # Σ w² is χ² with one degree per entry: exact bounds, false alarms 1e-9 for all six together.
        low, high = stats.chi2.interval(1 - 1e-9 / 6, array.size)
        assert low <= np.square(array).sum() <= high


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_second_moment_of_relu_networks_is_exact_at_every_width(depth):
    """`E f(x) f(x) = |x|²`: conditionally on a layer, `c_φ E[φ(u)²] = |g|²` by homogeneity, whatever the width."""
    network, count = MLP.of_depth(3, width=8, depth=depth), 20_000
    X = np.array([[1.0, 2.0, -0.5]])
    squares = network(network.sample(np.random.default_rng(7), count), X)[:, 0, 0] ** 2
    bound = stats.norm.isf(1e-9 / 2) * squares.std(ddof=1) / math.sqrt(count)  # two-sided, by the normal approximation
    assert abs(squares.mean() - (X**2).sum()) <= bound
    assert bound < 0.3 * (X**2).sum(), "the test would not see an error of 30 %"


@pytest.mark.parametrize("activation", [ReLU(), LeakyReLU(), Identity()], ids=lambda activation: activation.name)
def test_homogeneous_networks_are_homogeneous(activation):
    network = MLP(4, (5, 6), 2, activation)
    parameters, X = network.sample(np.random.default_rng(8), 3), sphere(np.random.default_rng(9), 5, 4)
    assert np.array_equal(network(parameters, 4.0 * X), 4.0 * network(parameters, X)), "a power of two is exact"
    assert np.allclose(network(parameters, 3.0 * X), 3.0 * network(parameters, X), rtol=1e-12)


def test_hidden_units_may_be_permuted():
    network = MLP(4, (5, 6), 2, Tanh(), bias_std=0.5)
    parameters, X = network.sample(np.random.default_rng(10), 3), sphere(np.random.default_rng(11), 5, 4)
    order = np.random.default_rng(12).permutation(5)
    (W1, b1), (W2, b2), (W3, b3) = network.layers(parameters)
    permuted = network.pack([W1[:, order], W2[:, :, order], W3], [b1[:, order], b2, b3])
    assert not np.array_equal(permuted, parameters)
    assert np.allclose(network(permuted, X), network(parameters, X), rtol=1e-12, atol=1e-13)


def test_a_network_does_not_depend_on_its_batch(monkeypatch):
    network = MLP(3, (8, 8), 2, Tanh(), bias_std=0.1)
    X = sphere(np.random.default_rng(13), 5, 3)
    whole = network.sample(np.random.default_rng(14), 7)
    rng = np.random.default_rng(14)
    apart = [network.sample(rng, size) for size in (1, 2, 4)]
    assert np.array_equal(np.concatenate(apart), whole)
    alone = np.concatenate([network(row[None], X) for row in whole])
    assert np.allclose(network(whole, X), alone, rtol=1e-13, atol=1e-14)
    monkeypatch.setattr(networks, "WORKSPACE", 8 * 2 * network.parameter_count)
    chunks = list(network.sample_chunks(np.random.default_rng(14), 7))
    assert [len(chunk) for chunk in chunks] == [2, 2, 2, 1]
    assert np.array_equal(np.concatenate(chunks), whole)
    monkeypatch.setattr(networks, "WORKSPACE", 1)
    assert np.allclose(network(whole, X), alone, rtol=1e-13, atol=1e-14)


def test_layers_are_views_and_pack_is_their_inverse():
    network = MLP(3, (4,), 2, bias_std=0.5)
    parameters = network.sample(np.random.default_rng(15), 5)
    layers = network.layers(parameters)
    assert np.array_equal(network.pack([W for W, _ in layers], [b for _, b in layers]), parameters)
    layers[1].weights[2, 1, 3] = 17.0
    assert parameters[2, 3 * 4 + 4 + 4 + 3] == 17.0
    shared = network.pack([np.ones((4, 3)), layers[1].weights], [np.zeros(4), np.zeros(2)])
    assert shared.shape == parameters.shape
    assert np.array_equal(network.layers(shared)[0].weights, np.ones((5, 4, 3)))


def test_fan_in_uniform_fills_its_interval():
    network = MLP(64, (8,), activation=Tanh(), bias_std=1.0, parametrisation=STANDARD)
    parameters = fan_in_uniform(network, np.random.default_rng(16), batch=500)
    assert parameters.shape == (500, 529)
    alarm = 1e-9 / 8  # exact laws, 1e-9 for two tests of each of the four arrays together
    for (_, fan_in), layer in zip(network.shapes, network.layers(parameters), strict=True):
        for array in layer:
            u = math.sqrt(fan_in) * array.ravel()
            assert stats.kstest(u, stats.uniform(-1, 2).cdf).pvalue >= alarm
            assert alarm ** (1 / u.size) <= np.abs(u).max() <= 1  # P(max <= q) = q^size


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"dimension": 0}, "dimension"),
        ({"dimension": 2.0}, "dimension"),
        ({"widths": (4, 0)}, "widths[1]"),
        ({"widths": (-1,)}, "widths[0]"),
        ({"widths": (4.0,)}, "widths[0]"),
        ({"widths": 4}, "widths"),
        ({"outputs": 0}, "outputs"),
        ({"outputs": True}, "outputs"),
        ({"activation": "relu"}, "activation"),
        ({"bias_std": -0.1}, "bias_std"),
        ({"bias_std": math.nan}, "bias_std"),
        ({"bias_std": math.inf}, "bias_std"),
        ({"bias_std": "1"}, "bias_std"),
        ({"parametrisation": "ntk"}, "parametrisation"),
    ],
)
def test_architecture_refuses(changed, argument):
    with pytest.raises(InvalidInput) as refusal:
        MLP(**({"dimension": 2, "widths": (4,)} | changed))
    assert refusal.value.argument == argument


@pytest.mark.parametrize(("width", "depth"), [(0, 2), (3, -1), (3, 1.5), (2.5, 1), (True, 1)])
def test_of_depth_refuses(width, depth):
    with pytest.raises(InvalidInput):
        MLP.of_depth(2, width=width, depth=depth)


def test_of_depth_zero_is_linear():
    assert MLP.of_depth(2, width=3, depth=0, outputs=4) == MLP(2, (), outputs=4)


@pytest.mark.parametrize("batch", [0, -1, 2.0])
def test_sample_refuses(batch):
    network = MLP(2, (3,))
    with pytest.raises(InvalidInput, match="batch"):
        network.sample(np.random.default_rng(0), batch)
    with pytest.raises(InvalidInput, match="batch"):
        next(network.sample_chunks(np.random.default_rng(0), batch))
    with pytest.raises(InvalidInput, match="batch"):
        fan_in_uniform(network, np.random.default_rng(0), batch)


@pytest.mark.parametrize(
    "X", [[[1.0, math.nan]], [[1.0, math.inf]], [[1.0]], [[1.0, 2.0, 3.0]], [1.0, 2.0], np.empty((0, 2)), [[1, 2]]]
)
def test_forward_refuses_points(X):
    network = MLP(2, (3,))
    for run in (network, network.forward):
        with pytest.raises(InvalidInput, match="X"):
            run(network.sample(np.random.default_rng(0)), X)


@pytest.mark.parametrize(
    "parameters", [np.ones(9), np.ones((1, 8)), np.ones((0, 9)), np.ones((1, 1, 9)), np.full((1, 9), math.nan)]
)
def test_forward_refuses_parameters(parameters):
    with pytest.raises(InvalidInput, match="parameters"):
        MLP(2, (3,))(parameters, [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("weights", "biases"),
    [
        ([np.ones((3, 2))], [np.ones(3), np.ones(1)]),
        ([np.ones((3, 2)), np.ones((1, 3))], []),
        ([np.ones((2, 3)), np.ones((1, 3))], [np.ones(3), np.ones(1)]),
        ([np.ones((3, 2)), np.ones(3)], [np.ones(3), np.ones(1)]),
        ([np.ones((5, 3, 2)), np.ones((4, 1, 3))], [np.ones(3), np.ones(1)]),
        ([np.ones((3, 2)), np.full((1, 3), math.nan)], [np.ones(3), np.ones(1)]),
    ],
)
def test_pack_refuses(weights, biases):
    with pytest.raises(InvalidInput):
        MLP(2, (3,), bias_std=1.0).pack(weights, biases)


def test_overflow_is_refused():
    network = MLP(1, (1, 1), activation=Exp())
    with pytest.raises(InvalidInput, match="overflow"):
        network(network.pack([np.ones((1, 1))] * 3), [[10.0]])
