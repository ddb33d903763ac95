"""The tangent kernel against gradients taken numerically, and its recursion against direct sums."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from sympy import Expr, Integer, S, lambdify, pi

from theory.activations import Sin
from theory.derivation import Derivation
from theory.dual import a, b, c, dual, dual_derivative
from theory.errors import InvalidInput
from theory.gaussian import theta
from theory.ntk import (
    L,
    Sigma,
    Sigma_dot,
    c_phi,
    h,
    layer_gradient,
    layer_sum,
    layer_sum_by_induction,
    layers,
    m,
    nngp,
    ntk,
    one_hidden_layer_expectation,
    own_part,
    recursion_equals_layer_sum,
    relu_ntk,
    sigma_b,
    trained_layers,
)
from theory.parametrisation import Parametrisation

NTK, STANDARD = Parametrisation.NTK, Parametrisation.STANDARD
SETTINGS = list(itertools.product((S.Zero, sigma_b), Parametrisation))


def proved(derivation: Derivation) -> bool:
    return all(checked.outcome.proved for part in derivation.parts() for checked in part.check())


def gradient(function: Callable[[np.ndarray], complex], at: np.ndarray) -> np.ndarray:
    """By complex steps: exact to rounding for an analytic function."""
    steps = 1e-30j * np.eye(at.size).reshape(at.size, *at.shape)
    return np.array([function(at + step).imag for step in steps]) / 1e-30


@pytest.mark.parametrize("parametrisation", Parametrisation)
def test_part_of_one_layer_is_that_of_a_network(parametrisation: Parametrisation) -> None:
    """A layer of 3 units and 4 inputs, followed by some function of its units."""
    assert proved(layer_gradient(parametrisation))
    rng = np.random.default_rng(1)
    (fan_out, fan_in), bias, normalisation = (3, 4), 0.7, 1.9
    weights, biases, after = rng.normal(size=(fan_out, fan_in)), rng.normal(size=fan_out), rng.normal(size=fan_out)
    g = rng.normal(size=(2, fan_in))
    standard = parametrisation is STANDARD
    scale, bias = (math.sqrt(fan_in / normalisation), 1.0) if standard else (1.0, bias)

    def output(parameters: np.ndarray, inputs: np.ndarray) -> complex:
        matrix, offset = parameters[: weights.size].reshape(weights.shape), parameters[weights.size :]
        return after @ np.sin(matrix @ (scale * inputs) + bias * offset)

    parameters = np.concatenate([weights.ravel(), biases])
    kernel = np.dot(*(gradient(lambda p, inputs=inputs: output(p, inputs), parameters) for inputs in g))
    delta = [after * np.cos(weights @ (scale * inputs) + bias * biases) for inputs in g]
    values = {Sigma[1]: g[0] @ g[1], m[1]: fan_in, c_phi: normalisation, sigma_b: bias}
    own = own_part(Integer(2), sigma_b, parametrisation).subs(values)
    assert kernel == pytest.approx(float(own) * (delta[0] @ delta[1]), rel=1e-12)


def test_first_layer_of_the_standard_parametrisation() -> None:
    assert own_part(Integer(1), S.Zero, STANDARD) == Sigma[0]
    assert own_part(Integer(1), sigma_b, STANDARD) == Sigma[0] + 1
    assert own_part(Integer(2), S.Zero, STANDARD) == m[1] / c_phi * Sigma[1]


@pytest.mark.parametrize("width", [1, 2])
def test_one_hidden_layer_at_finite_width(width: int) -> None:
    """The mean over all weights, by product quadrature, of the kernel of `f = √(c/m) Σ_j V_j sin(W_j·x)`."""
    assert proved(one_hidden_layer_expectation())
    normalisation, points = 1.3, np.array([[0.6, -0.4], [0.3, 0.8]])

    def output(parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        last, first = parameters[:width], parameters[width:].reshape(width, 2, -1)
        return math.sqrt(normalisation / width) * (last * np.sin(np.einsum("wip,i->wp", first, x))).sum(axis=0)

    nodes, weights = np.polynomial.hermite_e.hermegauss(9 if width == 2 else 16)
    grids = np.meshgrid(*[nodes] * 3 * width, indexing="ij")
    parameters = np.array([grid.ravel() for grid in grids])
    measure = np.prod(np.meshgrid(*[weights] * 3 * width, indexing="ij"), axis=0).ravel()
    gradients = np.array(
        [
            [
                output(parameters + 1e-30j * (np.arange(3 * width) == p)[:, None], x).imag / 1e-30
                for p in range(3 * width)
            ]
            for x in points
        ]
    )
    mean = (measure * (gradients[0] * gradients[1]).sum(axis=0)).sum() / (2 * math.pi) ** (1.5 * width)
    (variance, covariance), (_, variance2) = points @ points.T
    at = {a: variance, b: variance2, c: covariance}
    pair = [normalisation * float(derive(Sin()).conclusion.subs(at)) for derive in (dual, dual_derivative)]
    values = {Sigma[0]: covariance, Sigma[1]: pair[0], Sigma_dot[1]: pair[1]}
    assert mean == pytest.approx(float(one_hidden_layer_expectation().conclusion.subs(values)), rel=1e-6)


@pytest.mark.parametrize(("bias", "parametrisation"), SETTINGS)
def test_recursion_is_the_sum_over_layers(bias: Expr, parametrisation: Parametrisation) -> None:
    assert proved(layer_sum_by_induction(bias, parametrisation))
    rng = np.random.default_rng(2)
    values = {entry[k]: rng.uniform(0.5, 2) for entry in (Sigma, Sigma_dot, m) for k in range(6)}
    values |= {c_phi: 1.7, sigma_b: 0.4}
    for depth in range(5):
        assert proved(recursion_equals_layer_sum(depth, bias, parametrisation))
        unrolled = 0.0  # the recursion, in numbers
        for level in range(depth + 1):
            own = own_part(Integer(level + 1), bias, parametrisation).subs(values)
            unrolled = unrolled * values[Sigma_dot[level]] + float(own)
        forms = [
            ntk(depth, bias, parametrisation),
            sum(layers(depth, bias, parametrisation)),
            layer_sum(Integer(depth), bias, parametrisation).doit(),
            layer_sum_by_induction(bias, parametrisation).conclusion.subs(L, depth).doit(),
            recursion_equals_layer_sum(depth, bias, parametrisation).conclusion.doit(),
        ]
        for form in forms:
            assert float(form.subs(values)) == pytest.approx(unrolled, rel=1e-12)


def test_trained_layers() -> None:
    for depth in range(4):
        parts = layers(depth, sigma_b)
        for trained in itertools.chain.from_iterable(
            itertools.combinations(range(1, depth + 2), count) for count in range(depth + 2)
        ):
            derivation = trained_layers(depth, frozenset(trained), sigma_b)
            assert proved(derivation)
            frozen = sum(parts[layer - 1] for layer in range(1, depth + 2) if layer not in trained)
            assert (ntk(depth, sigma_b) - frozen - derivation.conclusion).expand() == 0
        assert trained_layers(depth, frozenset({depth + 1}), sigma_b).conclusion == nngp(Integer(depth), sigma_b)


def test_trained_layers_must_exist() -> None:
    for wrong in ({0}, {4}, {1, 17}, {-1}):
        with pytest.raises(InvalidInput, match="layers are numbered from 1 to 3"):
            trained_layers(2, frozenset(wrong))


@pytest.mark.parametrize("depth", range(5))
def test_relu_kernel(depth: int) -> None:
    assert proved(relu_ntk(depth))
    in_floats = lambdify(theta, relu_ntk(depth).conclusion, "math")
    for start in (0.1, 0.5, math.pi / 2, 2.5, math.pi):
        angle, covariance, kernel = start, math.cos(start), math.cos(start)
        for _ in range(depth):
            slope = (math.pi - angle) / math.pi
            covariance = (math.sin(angle) + (math.pi - angle) * math.cos(angle)) / math.pi
            kernel = kernel * slope + covariance
            angle = math.acos(covariance)
        assert in_floats(start) == pytest.approx(kernel, abs=1e-12)


def test_relu_kernel_at_the_ends() -> None:
    for depth in range(5):
        assert relu_ntk(depth).conclusion.subs(theta, 0) == depth + 1
    assert relu_ntk(0).conclusion.subs(theta, pi) == -1
    assert relu_ntk(1).conclusion.subs(theta, pi) == 0


@pytest.mark.parametrize("depth", [-1, 1.0, True, "2", 1000])
def test_bad_depth(depth: object) -> None:
    for call in (ntk, layers, recursion_equals_layer_sum, relu_ntk):
        with pytest.raises(InvalidInput, match="depth = "):
            call(depth)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="depth = "):
        trained_layers(depth, frozenset())  # type: ignore[arg-type]


def test_explicit_relu_kernel_has_a_largest_depth() -> None:
    with pytest.raises(InvalidInput, match="from 0 to 4"):
        relu_ntk(5)


def test_symbolic_layer() -> None:
    assert own_part(h, sigma_b) == Sigma[h - 1] + sigma_b**2
