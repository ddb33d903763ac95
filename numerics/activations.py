r"""Activations in float64: φ and φ' on arrays, the normalisation c_φ, and the dual pair (Σ, Σ̇).

For `(u, v)` centred Gaussian with variances `p, q >= 0` and covariance `c`, `c² <= pq`, and `z ~ N(0, 1)`,

    Σ = c_φ E[φ(u) φ(v)],    Σ̇ = c_φ E[φ'(u) φ'(v)],    c_φ = 1/E[φ(z)²].

Closed forms (general variances; `θ = arccos(c/√(pq)) ∈ [0, π]`, `λ = b²/(a² + b²) ∈ [0, 1]`):

    a s + b|s|   Σ = c + √(pq) (2λ/π)(sin θ − θ cos θ)                          Σ̇ = 1 − 2λθ/π
    erf          E[φφ] = (2/π) arcsin(2c/√((1+2p)(1+2q)))                       E[φ'φ'] = (4/π)/√((1+2p)(1+2q) − 4c²)
    sin, cos     E[sin sin] = e^{−(p+q)/2} sinh c                               E[cos cos] = e^{−(p+q)/2} cosh c
    exp          E[φφ] = E[φ'φ'] = e^{(p+q)/2 + c}
    He_k/√k!     E[φφ] = r^k P_k(c/r) =: H_k, P_k Legendre, r² = c² − (p−1)(q−1)    E[φ'φ'] = k H_{k−1}

Every other activation goes through its Hermite series, `numerics/mehler.py`, which estimates its own error.

Source: Cho, Saul (2009) for ReLU; Williams (1996) for erf; Daniely, Frostig, Singer (2016) for dual activations. The
Legendre form for general variances follows from the generating function `exp(ts − t²/2)` and Laplace's sum for P_k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy  # its parts are loaded when first used, which keeps `import numerics` fast
from numpy.typing import ArrayLike, NDArray

from theory.activations import (
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
from theory.scaled_activations import Scaled, Sigmoid

from . import mehler

if TYPE_CHECKING:
    from sympy import Expr

Array = NDArray[np.float64]
Function = Callable[[ArrayLike], Array]

# A covariance may exceed √(pq) by this much, relatively, and is then read as ±√(pq); sums of 10⁵ products stay below.
COVARIANCE_SLACK = 1e-10


@dataclass(frozen=True)
class Pointwise:
    """φ as `value` and φ' as `derivative`: arrays of any shape in, float64 arrays of that shape out."""

    value: Function
    derivative: Function


def pointwise(activation: Activation | str) -> Pointwise:
    """φ and φ' on arrays. At a kink φ' is the mean of the two slopes, except `φ'(0) = 0` for ReLU.

    An activation that is not of `theory/activations.py` is compiled from its own SymPy `expression`.
    Raises `InvalidInput` for an unknown name, or an expression that is no function of `s` alone, or that jumps.

    >>> pointwise("relu").value([-1.0, 2.0])
    array([0., 2.])
    >>> pointwise("relu").derivative([-1.0, 0.0, 2.0])
    array([0., 0., 1.])
    """
    activation = activation_named(activation)
    return _rule(_pointwise, activation)(activation)


def normalisation(activation: Activation | str) -> float:
    """`c_φ = 1/E[φ(z)²]`, `z ~ N(0, 1)`: in closed form, or by adaptive quadrature (relative error below 1e-10).

    Raises `InvalidInput` if `E[φ(z)²]` is zero, infinite, or cannot be integrated to that accuracy.

    >>> normalisation("relu"), normalisation("exp")
    (2.0, 0.1353352832366127)
    """
    activation = activation_named(activation)
    return _rule(_normalisation, activation)(activation)


def dual(
    activation: Activation | str, variance: ArrayLike, variance2: ArrayLike, covariance: ArrayLike
) -> tuple[Array, Array]:
    """`(Σ, Σ̇)` for variances `p, q` and covariances `c` that broadcast against each other; see the module.

    At `p = q = c = 1` the closed forms give `Σ = 1` exactly. `c` beyond `±√(pq)` by rounding is read as `±√(pq)`.
    A variance of zero means `u = 0`, with `φ'(0)` as `pointwise` has it. Near `c = ±√(pq)`, `p != q`, the Σ̇ of (leaky)
    ReLU has an error of 1e-8, the root of the rounding of `√(pq)`: `numerics/recursions.py` takes the angle instead.

    Raises `InvalidInput` for what is not finite, a negative variance or `c² > pq`, and if the result overflows.
    Warns `LimesWarning`, naming the error, if a series misses `mehler.TOLERANCE`; closed forms never warn.

    >>> value, derivative = dual("relu", 1.0, 1.0, 0.0)
    >>> round(float(value * np.pi), 12), float(derivative)
    (1.0, 0.5)
    """
    activation = activation_named(activation)
    p, q, c = (np.asarray(array, dtype=np.float64) for array in (variance, variance2, covariance))
    for name, array in (("variance", p), ("variance2", q)):
        if not np.all((array >= 0) & (array < np.inf)):
            raise InvalidInput(name, _first(array, ~((array >= 0) & (array < np.inf))), "give finite numbers >= 0")
    largest = mehler.geometric_mean(p, q)
    if not np.all(allowed := np.abs(c) <= largest * (1 + COVARIANCE_SLACK)):
        c = np.broadcast_to(c, allowed.shape)
        raise InvalidInput("covariance", _first(c, ~allowed), "give finite numbers with c² <= variance · variance2")
    with np.errstate(over="ignore", invalid="ignore"):
        value, derivative = _rule(_dual, activation)(activation, p, q, np.clip(c, -largest, largest))
    if not (np.all(np.isfinite(value)) and np.all(np.isfinite(derivative))):
        remedy = f"the dual of {type(activation).__name__} overflows there: give smaller ones"
        raise InvalidInput("variance", float(max(p.max(), q.max())), remedy)
    return value, derivative


def homogeneous_slopes(activation: Activation) -> tuple[float, float]:
    """`(a, b)` with `φ(s) = a s + b |s|`, for an activation that says it is homogeneous.

    Raises `InvalidInput` if it says so and is not.

    >>> homogeneous_slopes(ReLU())
    (0.5, 0.5)
    """
    match activation:
        case ReLU():
            return 0.5, 0.5
        case LeakyReLU(a=a, b=b):
            return a, b
    right, left, twice, half = pointwise(activation).value([1.0, -1.0, 2.0, -0.5]).tolist()
    if not (activation.homogeneous and np.allclose([twice, half], [2 * right, left / 2], rtol=1e-12, atol=0)):
        raise InvalidInput("activation", activation, "φ(αs) = αφ(s) does not hold: set homogeneous = False")
    return (right - left) / 2, (right + left) / 2


def _first(array: Array, wrong: NDArray[np.bool_]) -> float:
    return float(array[wrong].flat[0])


def _rule(generic: Any, activation: Activation) -> Callable:
    """The rule of the activation's class, unless a subclass redefined φ: then the rule for any activation."""
    kind = type(activation)
    rule_of = next(base for base in kind.__mro__ if base in generic.registry)
    same = rule_of is object or kind.expression is rule_of.expression
    return generic.dispatch(rule_of if same else object)


def _as_float(s: ArrayLike) -> Array:
    return np.asarray(s, dtype=np.float64)


# φ and φ'


@singledispatch
def _pointwise(activation: Activation) -> Pointwise:
    from sympy import Symbol

    s = Symbol("s", real=True)
    return Pointwise(_compiled(activation.expression(s), s), _compiled(activation.derivative(s), s))


@lru_cache(maxsize=64)
def _compiled(expression: Expr, s: Expr) -> Function:
    from sympy import DiracDelta, lambdify, sympify
    from sympy.core.function import AppliedUndef, Derivative

    expression = sympify(expression, strict=True)  # a number is taken, text is refused
    if expression.free_symbols - {s} or expression.has(AppliedUndef, Derivative, DiracDelta):
        raise InvalidInput("expression", str(expression), "φ must be a continuous elementary function of s alone")
    compiled = lambdify(s, expression, modules=["scipy", "numpy"])

    def function(argument: ArrayLike) -> Array:
        argument = _as_float(argument)
        # Piecewise evaluates every branch, also those that overflow where they are not taken
        with np.errstate(all="ignore"):
            return np.broadcast_to(_as_float(compiled(argument)), argument.shape).copy()

    return function


@_pointwise.register
def _(activation: ReLU) -> Pointwise:
    return Pointwise(lambda s: np.maximum(_as_float(s), 0.0), lambda s: _as_float(_as_float(s) > 0))


@_pointwise.register
def _(activation: LeakyReLU) -> Pointwise:
    a, b = activation.a, activation.b
    return Pointwise(lambda s: a * _as_float(s) + b * np.abs(s), lambda s: a + b * np.sign(_as_float(s)))


@_pointwise.register
def _(activation: Identity) -> Pointwise:
    return Pointwise(lambda s: _as_float(s).copy(), lambda s: np.ones_like(_as_float(s)))


@_pointwise.register
def _(activation: Erf) -> Pointwise:
    return Pointwise(
        lambda s: scipy.special.erf(_as_float(s)), lambda s: 2 / math.sqrt(math.pi) * np.exp(-np.square(_as_float(s)))
    )


@_pointwise.register
def _(activation: Sin) -> Pointwise:
    return Pointwise(lambda s: np.sin(_as_float(s)), lambda s: np.cos(_as_float(s)))


@_pointwise.register
def _(activation: Cos) -> Pointwise:
    return Pointwise(lambda s: np.cos(_as_float(s)), lambda s: -np.sin(_as_float(s)))


@_pointwise.register
def _(activation: Exp) -> Pointwise:
    return Pointwise(lambda s: np.exp(_as_float(s)), lambda s: np.exp(_as_float(s)))


@_pointwise.register
def _(activation: Hermite) -> Pointwise:
    k = activation.degree
    return Pointwise(
        lambda s: _hermite(k, _as_float(s)),
        lambda s: math.sqrt(k) * _hermite(k - 1, _as_float(s)) if k else np.zeros_like(_as_float(s)),
    )


@_pointwise.register
def _(activation: Tanh) -> Pointwise:
    return Pointwise(_tanh, _square_sech)


def _tanh(s: ArrayLike) -> Array:
    return np.tanh(_as_float(s))


def _square_sech(s: ArrayLike) -> Array:
    decay = np.exp(-2 * np.abs(_as_float(s)))  # 1 − tanh² would lose the digits of the tails
    return 4 * decay / np.square(1 + decay)


@_pointwise.register
def _(activation: Softplus) -> Pointwise:
    return Pointwise(_softplus, lambda s: scipy.special.expit(_as_float(s)))


def _softplus(s: ArrayLike) -> Array:
    return np.logaddexp(0.0, _as_float(s))


@_pointwise.register
def _(activation: Sigmoid) -> Pointwise:
    return Pointwise(lambda s: scipy.special.expit(_as_float(s)), lambda s: _square_sech(_as_float(s) / 2) / 4)


@_pointwise.register
def _(activation: Scaled) -> Pointwise:
    inner, c = pointwise(activation.inner), activation.factor
    return Pointwise(lambda s: inner.value(c * _as_float(s)), lambda s: c * inner.derivative(c * _as_float(s)))


def _hermite(degree: int, s: Array) -> Array:
    """`He_k(s)/√k!`, by its three-term recurrence."""
    previous, current = np.zeros_like(s), np.ones_like(s)
    for k in range(degree):
        previous, current = current, (s * current - math.sqrt(k) * previous) / math.sqrt(k + 1)
    return current


# c_φ


@singledispatch
def _normalisation(activation: Activation) -> float:
    return 1 / mehler.mean_square(pointwise(activation).value)


@_normalisation.register(ReLU)
@_normalisation.register(LeakyReLU)
def _(activation: ReLU | LeakyReLU) -> float:
    a, b = homogeneous_slopes(activation)
    return 1 / (a * a + b * b)


@_normalisation.register(Identity)
@_normalisation.register(Hermite)
def _(activation: Identity | Hermite) -> float:
    return 1.0


@_normalisation.register
def _(activation: Erf) -> float:
    return math.pi / (2 * math.asin(2 / 3))


@_normalisation.register
def _(activation: Sin) -> float:
    return 2 / -math.expm1(-2)


@_normalisation.register
def _(activation: Cos) -> float:
    return 2 / (1 + math.exp(-2))


@_normalisation.register
def _(activation: Exp) -> float:
    return math.exp(-2)


# (Σ, Σ̇); each ends in an arithmetic that returns Σ = 1 at p = q = c = 1 without rounding


@singledispatch
def _dual(activation: Activation, p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    if activation.homogeneous:
        return _kinked(activation, p, q, c)
    phi, scale = pointwise(activation), normalisation(activation)
    value, derivative = mehler.expectations((phi.value, phi.derivative), p, q, c)
    return scale * value, scale * derivative


@_dual.register(ReLU)
@_dual.register(LeakyReLU)
def _kinked(activation: Activation, p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    a, b = homogeneous_slopes(activation)
    kink = 2 / math.pi * b * b / (a * a + b * b)
    scale = mehler.geometric_mean(p, q)
    height = np.sqrt((scale - np.abs(c)) * (scale + np.abs(c)))  # √(pq) sin θ
    angle = np.arctan2(height, c)
    at_zero = pointwise(activation).derivative(0.0)
    derivative = np.where(scale == 0, normalisation(activation) * at_zero * a, 1 - kink * angle)
    return c + kink * (height - angle * c), derivative


@_dual.register
def _(activation: Identity, p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    value = np.broadcast_to(c, np.broadcast_shapes(p.shape, q.shape, c.shape)).copy()
    return value, np.ones_like(value)


@_dual.register
def _(activation: Erf, p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    largest = mehler.geometric_mean(p, q)
    height = np.sqrt(1 + 2 * (p + q) + 4 * (largest - c) * (largest + c))
    unit = np.arctan2(2.0, np.sqrt(5.0))
    return np.arctan2(2 * c, height) / unit, 2 / (unit * height)


@_dual.register
def _(activation: Sin, p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    odd, even = _hyperbolic(p, q, c)
    return odd / -np.expm1(-2.0), even / -np.expm1(-2.0)


@_dual.register
def _(activation: Cos, p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    odd, even = _hyperbolic(p, q, c)
    return even / (1 + np.exp(-2.0)), odd / (1 + np.exp(-2.0))


def _hyperbolic(p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    """`2 e^{−(p+q)/2} sinh c` and `2 e^{−(p+q)/2} cosh c`, without overflow."""
    size = np.abs(c)
    decay, mirrored = np.exp(size - (p + q) / 2), np.exp(-2 * size)
    return np.sign(c) * decay * -np.expm1(-2 * size), decay * (1 + mirrored)


@_dual.register
def _(activation: Exp, p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    value = np.exp((p + q) / 2 + c - 2)
    return value, value.copy()


@_dual.register
def _(activation: Hermite, p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    square = c * c - (p - 1) * (q - 1)
    previous, current = np.zeros_like(square), np.ones_like(square)
    for k in range(activation.degree):
        previous, current = current, ((2 * k + 1) * c * current - k * square * previous) / (k + 1)
    return current, activation.degree * previous
