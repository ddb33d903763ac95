"""Activations: their functions, their flags, and what is refused."""

import math

import pytest
import sympy
from sympy import Heaviside, symbols

from theory.activations import (
    ACTIVATIONS,
    Activation,
    Cos,
    Erf,
    Exp,
    Hermite,
    Identity,
    LeakyReLU,
    ReLU,
    Sin,
    Softplus,
    Tanh,
    activation_named,
)
from theory.errors import InvalidInput

s = symbols("s", real=True)
WRITTEN_OUT = {
    ReLU(): lambda z: max(z, 0.0),
    LeakyReLU(): lambda z: z if z > 0 else 0.01 * z,
    LeakyReLU(1.0, 0.3): lambda z: 1.3 * z if z > 0 else 0.7 * z,
    Identity(): lambda z: z,
    Erf(): math.erf,
    Sin(): math.sin,
    Cos(): math.cos,
    Exp(): math.exp,
    Hermite(0): lambda z: 1.0,
    Hermite(3): lambda z: (z**3 - 3 * z) / math.sqrt(6),
    Tanh(): math.tanh,
    Softplus(): lambda z: math.log(1 + math.exp(z)),
}
POINTS = (-2.5, -0.3, 0.4, 1.7)


@pytest.mark.parametrize("activation", WRITTEN_OUT, ids=repr)
def test_expression_and_derivative(activation: Activation) -> None:
    function = WRITTEN_OUT[activation]
    for z in POINTS:
        assert float(activation.expression(s).subs(s, z)) == pytest.approx(function(z), rel=1e-12)
        slope = (function(z + 1e-6) - function(z - 1e-6)) / 2e-6
        assert float(activation.derivative(s).subs(s, z)) == pytest.approx(slope, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("activation", WRITTEN_OUT, ids=repr)
def test_flags(activation: Activation) -> None:
    function = WRITTEN_OUT[activation]
    scales = all(function(3 * z) == pytest.approx(3 * function(z), rel=1e-12) for z in POINTS)
    assert activation.homogeneous is scales
    # where φ is not smooth, its derivative jumps at zero
    if not activation.smooth:
        assert activation.derivative(s).has(Heaviside, sympy.sign)


def test_derivative_of_relu_is_the_unit_step() -> None:
    assert ReLU().derivative(s) == Heaviside(s)


def test_hermite_polynomials_are_orthonormal() -> None:
    def mean(polynomial: sympy.Expr) -> sympy.Expr:  # E[z^k] is (k − 1)!! for even k
        coefficients = sympy.Poly(polynomial, s).terms()
        return sum((value * sympy.factorial2(k - 1) for (k,), value in coefficients if k % 2 == 0), sympy.Integer(0))

    for j, k in ((0, 0), (1, 1), (4, 4), (0, 2), (1, 3), (2, 4), (7, 7), (5, 9)):
        product = Hermite(j).expression(s) * Hermite(k).expression(s)
        assert sympy.simplify(mean(sympy.expand(product))) == (1 if j == k else 0)


@pytest.mark.parametrize("degree", [-1, 201, 1.0, True, "2", None])
def test_hermite_degrees(degree: object) -> None:
    with pytest.raises(InvalidInput, match=r"degree = .*give an integer from 0 to 200"):
        Hermite(degree)  # type: ignore[arg-type]


@pytest.mark.parametrize(("a", "b"), [(math.nan, 1.0), (1.0, math.inf), (-math.inf, 0.0)])
def test_slopes_must_be_finite(a: float, b: float) -> None:
    with pytest.raises(InvalidInput, match="give a finite number"):
        LeakyReLU(a, b)


def test_slopes_must_not_both_vanish() -> None:
    with pytest.raises(InvalidInput, match="zero everywhere"):
        LeakyReLU(0.0, 0.0)


def test_names() -> None:
    for name, kind in ACTIVATIONS.items():
        assert kind.name == name
        assert type(activation_named(name)) is kind
    assert activation_named("hermite") == Hermite(2)
    assert activation_named(LeakyReLU(1.0, 0.3)) == LeakyReLU(1.0, 0.3)


@pytest.mark.parametrize("name", ["rleu", "", "RELU", None, 3, ReLU])
def test_unknown_names(name: object) -> None:
    with pytest.raises(InvalidInput, match="known are relu, leaky-relu"):
        activation_named(name)  # type: ignore[arg-type]


def test_an_activation_needs_an_expression() -> None:
    with pytest.raises(InvalidInput, match="define expression"):
        Activation().expression(s)


def test_activations_are_values() -> None:
    assert len({ReLU(), ReLU(), Hermite(2), Hermite(2), Hermite(3)}) == 3
