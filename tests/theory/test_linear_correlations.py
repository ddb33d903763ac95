"""Correlations of linear networks against numbers: one unit, where all is scalar, and a finite network."""

import numpy as np
import pytest
from sympy import MatrixSymbol, Mul, expand, symbols

from numerics import correlations
from numerics.networks import MLP
from tests.theory.test_correlations import gaussian_mean
from theory import linear_correlations as linear
from theory.activations import Identity
from theory.correlations import eta, z
from theory.errors import InvalidInput
from theory.rate_polynomials import h

CASES = [(layers, d) for layers in (1, 2, 3) for d in range(1, layers + 2)]


@pytest.mark.parametrize(("layers", "d"), CASES)
def test_one_unit_is_a_product_of_numbers(layers, d):
    names, t = symbols(f"a:{layers + 1}", real=True), symbols("t")
    F = Mul(*names)
    along = expand(F.subs({name: name + t * F.diff(name) for name in names}, simultaneous=True))
    wanted = gaussian_mean(along.coeff(t, d) ** 2, names)
    assert linear.mean_square(layers, d).conclusion.subs({h: 1, eta: 1}) == wanted


@pytest.mark.parametrize(("layers", "d"), CASES)
def test_matrices_are_those_of_a_network(layers, d):
    width, rng = 3, np.random.default_rng(7)
    network = MLP.of_depth(1, width=width, depth=layers, activation=Identity())
    parameters = network.sample(rng)
    weights = [layer.weights[0] for layer in network.layers(parameters)]
    values = [weights[-1].T, *reversed(weights[1:-1]), weights[0]]
    given = dict(zip((name.name for name in linear.parameters(layers)), values, strict=True))
    found = evaluated(linear.correlation(layers, d), given, width)
    assert found == pytest.approx(correlations.scalar(network, parameters, [[1.0]], d)[d - 1, 0, 0], rel=1e-10)


def evaluated(expression, given, width):
    """A 1 × 1 matrix expression in numbers."""
    if isinstance(expression, MatrixSymbol):
        return given[expression.name]
    if expression.is_Matrix or getattr(expression, "is_MatrixExpr", False):
        parts = [evaluated(part, given, width) for part in expression.args if part.args or not part.is_Integer]
        match type(expression).__name__:
            case "Transpose":
                return parts[0].T
            case "MatAdd":
                return sum(parts)
            case "MatMul":
                product = 1.0
                for part in parts:
                    product = product @ part if np.ndim(product) and np.ndim(part) else product * part
                return product
            case "MatPow":
                return np.linalg.matrix_power(parts[0], int(expression.exp))
    return float(expression.subs(h, width))


@pytest.mark.parametrize(("layers", "d"), CASES)
def test_every_step_is_proved_and_the_order_is_a_power(layers, d):
    derivation = linear.decay(layers, d)
    assert all(step.outcome.proved for part in derivation.parts() for step in part.check())
    assert derivation.conclusion.subs(eta, 1) > 0
    assert not derivation.conclusion.has(z)


@pytest.mark.parametrize(("layers", "d"), [(0, 1), (4, 1), (True, 1), (2, 0), (2, 4), (2, True)])
def test_what_is_not_covered_is_refused(layers, d):
    with pytest.raises(InvalidInput, match="give 1 to"):
        linear.correlation(layers, d)
