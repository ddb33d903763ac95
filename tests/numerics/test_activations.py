"""Activations and their dual pairs against SymPy, mpmath, and brute-force quadrature of the definition."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.activations import Array, dual, homogeneous_slopes, normalisation, pointwise
from theory.activations import ACTIVATIONS, Activation, Cos, Erf, Exp, Hermite, Identity, LeakyReLU, ReLU, Sin
from theory.errors import InvalidInput, LimesWarning
from theory.scaled_activations import Scaled, Sigmoid

CLOSED = [ReLU(), LeakyReLU(), LeakyReLU(1.0, -0.25), Identity(), Erf(), Sin(), Cos(), Exp()]
CLOSED += [Hermite(degree) for degree in (0, 1, 2, 3, 7)]


@dataclass(frozen=True)
class Swish(Activation):
    """An activation of a user: smooth, without a closed dual."""

    slope: float = 1.5

    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return s / (1 + sympy.exp(-sympy.nsimplify(self.slope) * s))


class Elu(Activation):
    smooth = False

    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return sympy.Piecewise((s, s > 0), (sympy.exp(s) - 1, True))


class Absolute(Activation):
    homogeneous = True
    smooth = False

    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return sympy.Abs(s)


class Shifted(ReLU):
    """Inherits from ReLU, but is another function."""

    homogeneous = False

    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return sympy.Max(s, 0) + 1


EVERY = [*CLOSED, ACTIVATIONS["tanh"](), ACTIVATIONS["softplus"](), Swish(), Sigmoid(), Scaled(Erf(), 0.5)]


LEGENDRE = np.polynomial.legendre.leggauss(120)


def brute_force(function: Callable[[Array], Array], p: float, q: float, c: float) -> float:
    """`E[f(u) f(v)]` by Gauss–Legendre sums over `u`, and over `v` given `u`, cut where f may have a kink: at 0."""

    def rule(kink: Array) -> tuple[Array, Array]:
        (x, w), kink = LEGENDRE, np.clip(kink, -12.0, 12.0)[..., None]
        nodes = np.concatenate([(kink - 12) / 2 + (kink + 12) / 2 * x, (kink + 12) / 2 + (12 - kink) / 2 * x], axis=-1)
        weights = np.concatenate([(kink + 12) / 2 * w, (12 - kink) / 2 * w], axis=-1)
        return nodes, weights * np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)

    z, outer = rule(np.zeros(()))
    rest = math.sqrt(max(q - c * c / p, 0.0))
    if rest == 0:
        return float(np.sum(outer * function(math.sqrt(p) * z) * function(c / math.sqrt(p) * z)))
    y, inner = rule(-c / math.sqrt(p) * z / rest)
    conditional = np.sum(inner * function(c / math.sqrt(p) * z[:, None] + rest * y), axis=-1)
    return float(np.sum(outer * function(math.sqrt(p) * z) * conditional))


@pytest.mark.parametrize("activation", EVERY, ids=repr)
def test_pointwise_is_the_expression(activation: Activation) -> None:
    s = sympy.Symbol("s", real=True)
    rule, points = pointwise(activation), [-3.5, -0.7, 0.4, 2.25]
    for function, expression in ((rule.value, activation.expression(s)), (rule.derivative, activation.derivative(s))):
        expected = [float(sympy.sympify(expression).subs(s, sympy.Rational(point)).evalf(30)) for point in points]
        np.testing.assert_allclose(function(points), expected, rtol=4e-15, atol=1e-15)
        assert function(0.5).shape == ()
        assert function(np.ones((2, 3), dtype=np.int64)).shape == (2, 3)
        assert function(np.ones(2, dtype=np.float32)).dtype == np.float64


def test_pointwise_at_the_kink() -> None:
    assert pointwise("relu").derivative(0.0) == 0
    assert pointwise(LeakyReLU(0.75, 0.25)).derivative(0.0) == 0.75


def test_pointwise_in_the_tails() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("tanh", "softplus", "erf"):
            rule = pointwise(name)
            assert np.all(np.isfinite(rule.value([-800.0, 800.0])))
        assert pointwise("tanh").derivative(20.0) == pytest.approx(4 * math.exp(-40), rel=1e-15)


@pytest.mark.parametrize("activation", EVERY, ids=repr)
def test_normalisation(activation: Activation) -> None:
    context = mpmath.MPContext()
    context.dps = 20
    s = sympy.Symbol("s", real=True)
    square = sympy.lambdify(s, activation.expression(s) ** 2, modules="mpmath")
    moment = context.quad(
        lambda z: context.mpf(square(z)) * context.npdf(z), [-24, -12, -6, -3, -1, 0, 1, 3, 6, 12, 24], maxdegree=8
    )
    assert normalisation(activation) == pytest.approx(float(1 / moment), rel=1e-12)


@pytest.mark.parametrize("activation", EVERY, ids=repr)
@pytest.mark.parametrize(
    ("p", "q", "c"),
    [(1, 1, 0.3), (1, 1, -0.85), (1, 1, 0.999), (1, 1, 1), (1, 1, -1), (0.5, 2, 0.4), (2, 0.25, -0.6), (0.25, 4, 1)],
)
def test_dual_is_the_gaussian_expectation(activation: Activation, p: float, q: float, c: float) -> None:
    rule, scale = pointwise(activation), normalisation(activation)
    for found, function in zip(dual(activation, p, q, c), (rule.value, rule.derivative), strict=True):
        size = math.sqrt(brute_force(function, p, p, p) * brute_force(function, q, q, q))
        assert found == pytest.approx(scale * brute_force(function, p, q, c), abs=3e-12 * scale * size, rel=0)


@pytest.mark.parametrize("activation", EVERY, ids=repr)
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.5, 1.75)])
def test_the_second_is_the_derivative_of_the_first(activation: Activation, p: float, q: float) -> None:
    # Price's theorem, d/dc E[φφ] = E[φ'φ'], by central differences of order eight
    stencil = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    step = 0.02
    for c in (-0.6, 0.0, 0.5):
        value, _ = dual(activation, p, q, c + step * np.arange(-4, 5))
        assert value @ stencil / step == pytest.approx(float(dual(activation, p, q, c)[1]), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("activation", CLOSED, ids=repr)
def test_equal_unit_points_keep_their_variance_exactly(activation: Activation) -> None:
    assert dual(activation, 1.0, 1.0, 1.0)[0] == 1.0


@pytest.mark.parametrize("activation", EVERY, ids=repr)
def test_variance_zero_is_the_constant_zero(activation: Activation) -> None:
    rule, scale = pointwise(activation), normalisation(activation)
    half, w = 6 * (LEGENDRE[0] + 1), 6 * LEGENDRE[1] / math.sqrt(2 * math.pi)
    z, w = np.append(-half, half), np.tile(w * np.exp(-(half**2) / 2), 2)
    for found, function in zip(dual(activation, 0.0, [0.0, 1.0], 0.0), (rule.value, rule.derivative), strict=True):
        at_zero, mean = float(function(0.0)), float(np.sum(w * function(z)))
        np.testing.assert_allclose(found, [scale * at_zero**2, scale * at_zero * mean], rtol=1e-12, atol=1e-12)


@given(
    st.sampled_from(EVERY),
    st.floats(0.01, 3),
    st.floats(0.01, 3),
    st.floats(-1, 1),
)
@settings(max_examples=60, deadline=None)
def test_dual_is_symmetric_and_bounded(activation: Activation, p: float, q: float, correlation: float) -> None:
    c = correlation * math.sqrt(p * q)
    there, back = dual(activation, p, q, c), dual(activation, q, p, c)
    for index in (0, 1):
        own = [dual(activation, variance, variance, variance)[index] for variance in (p, q)]
        largest = math.sqrt(own[0] * own[1]) * (1 + 1e-11)
        assert there[index] == pytest.approx(float(back[index]), rel=0, abs=1e-11 * largest)
        assert abs(there[index]) <= largest


def test_dual_broadcasts() -> None:
    p, q = np.array([[0.5], [1.0], [2.0]]), np.array([1.0, 1.5])
    for activation in (ReLU(), Identity(), ACTIVATIONS["tanh"]()):
        value, derivative = dual(activation, p, q, 0.25)
        assert value.shape == derivative.shape == (3, 2)
        assert value[2, 1] == pytest.approx(float(dual(activation, 2.0, 1.5, 0.25)[0]), rel=1e-12)


def test_dual_near_the_diagonal_of_relu() -> None:
    assert dual("relu", 2.0, 2.0, 2.0)[1] == 1
    assert dual("relu", 2.0, 2.0, -2.0)[1] == pytest.approx(0, abs=1e-15)
    # 1 − Σ = (2 sin²(θ/2)) − (sin θ − θ cos θ)/π with cos θ = 1 − 2^-30 exactly
    c = 1 - 2.0**-30
    angle = math.asin(math.sqrt(2.0**-31)) * 2
    value, derivative = dual("relu", 1.0, 1.0, c)
    assert derivative == pytest.approx(1 - angle / math.pi, rel=1e-15)
    assert 1 - value == pytest.approx(2.0**-30 - angle**3 / (3 * math.pi), rel=1e-6)


def test_what_is_hard_is_not_silently_wrong() -> None:
    # sharp, or with a kink away from 0: either it is right to 1e-11, or a warning was given
    warned = 0
    for activation in (ACTIVATIONS["tanh"](), Elu(), Shifted()):
        rule = pointwise(activation)
        for p in (0.5, 4.0, 30.0):
            for correlation in (0.1, 0.9, 0.999):
                exact = brute_force(rule.derivative, p, p, correlation * p) * normalisation(activation)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    found = float(dual(activation, p, p, correlation * p)[1])
                warned += bool(caught)
                assert caught or found == pytest.approx(exact, rel=1e-11)
                assert all(issubclass(warning.category, LimesWarning) for warning in caught)
    assert warned > 0


def test_moderate_variances_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("tanh", "softplus"):
            dual(name, [[0.01], [1.0], [4.0]], [[0.01], [1.0], [4.0]], [[0.01], [1.0], [4.0]] * np.linspace(-1, 1, 9))


def test_an_activation_that_redefines_its_expression_is_not_served_its_parents_formulas() -> None:
    assert pointwise(Shifted()).value(-1.0) == 1
    assert normalisation(Shifted()) != normalisation(ReLU())


def test_a_homogeneous_activation_of_a_user() -> None:
    assert homogeneous_slopes(Absolute()) == (0.0, 1.0)
    np.testing.assert_allclose(dual(Absolute(), 1, 1, 0.3), dual(LeakyReLU(0, 1), 1, 1, 0.3), rtol=1e-15)


class Parameter(Activation):
    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return s * sympy.Symbol("__import__('os').getcwd()")


class Jump(Activation):
    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return sympy.sign(s)


class Unknown(Activation):
    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return sympy.Function("mystery")(s)


@pytest.mark.parametrize("activation", [Parameter(), Jump(), Unknown(), Activation(), "rleu", 3], ids=repr)
def test_what_is_no_activation_is_refused(activation: Activation) -> None:
    with pytest.raises(InvalidInput):
        pointwise(activation)


class Explosive(Activation):
    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return sympy.exp(s**2 / 4)


class Nothing(Activation):
    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return 0 * s


class HalfLine(Activation):
    def expression(self, s: sympy.Expr) -> sympy.Expr:
        return sympy.log(s)


@pytest.mark.parametrize("activation", [Explosive(), Nothing(), HalfLine()], ids=repr)
def test_what_has_no_second_moment_is_refused(activation: Activation) -> None:
    with pytest.raises(InvalidInput, match="activation"):
        normalisation(activation)


def test_a_false_claim_of_homogeneity_is_refused() -> None:
    class Pretender(Swish):
        homogeneous = True

    with pytest.raises(InvalidInput, match="homogeneous"):
        homogeneous_slopes(Pretender())


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-1.0, 1.0, 0.0), "variance = -1"),
        ((1.0, [1.0, math.nan], 0.0), "variance2 = nan"),
        ((math.inf, 1.0, 0.0), "variance = inf"),
        ((1.0, 1.0, math.nan), "covariance = nan"),
        ((1.0, 4.0, [0.0, 2.1]), "covariance = 2.1"),
        ((0.0, 1.0, 0.1), "covariance = 0.1"),
    ],
)
def test_dual_refuses(arguments: tuple, name: str) -> None:
    for activation in ("relu", "tanh"):
        with pytest.raises(InvalidInput, match=name):
            dual(activation, *arguments)


def test_dual_refuses_to_overflow() -> None:
    with pytest.raises(InvalidInput, match="overflows"):
        dual("exp", 1000.0, 1000.0, 1000.0)
    assert np.all(np.isfinite(dual("sin", 1e300, 1e300, -1e300)))


def test_a_covariance_beyond_the_bound_by_rounding_is_clipped() -> None:
    assert dual("relu", 1.0, 1.0, 1 + 1e-12)[0] == 1.0
