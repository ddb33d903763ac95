r"""Truncated power series of arrays, and activations composed with them.

A series `u(t) = Σ_k u_k t^k`, `k = 0..K`, is an array with the order `k` on its leading axis; what follows are any
number of axes, on which all operations act entry by entry. `multiply` is the Cauchy product. For `y(t) = φ(u(t))` with
`p = φ'(u)`, the chain rule `y' = p u'` reads

    k y_k = Σ_{j=1..k} j u_j p_{k−j},

and each smooth activation adds the equation that `p` satisfies:

    tanh      p = 1 − y²                     sin, cos    the pair, each the other's slope up to a sign
    softplus  p = σ,  σ' = σ(1 − σ) u'       exp         p = y
    sigmoid   p = σ(1 − σ)                   φ(cs)       as φ, at c u
    erf       p = (2/√π) e^{−u²}             He_k/√k!    the three-term recurrence, in series
    (leaky) ReLU    p constant: exact as long as `u_0 != 0`, which is required

so that a composition to order `K` costs `O(K²)` products and one evaluation of the function, at `u_0`. Where tails
decay, so do the coefficients, each to a small relative error: `p_0` is never taken as `1 − y_0²`.

Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 13.2. Departure: `φ''(u)` is returned too.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from theory.activations import Activation, Cos, Erf, Exp, Hermite, Identity, LeakyReLU, ReLU, Sin, Softplus, Tanh
from theory.errors import InvalidInput
from theory.scaled_activations import Scaled, Sigmoid

from .activations import homogeneous_slopes
from .arithmetic import Arithmetic, Elementary, Numbers


def multiply(a: Numbers, b: Numbers) -> Numbers:
    """The product of two series of the same order, `c_k = Σ_i a_i b_{k−i}`.

    >>> multiply(np.array([1.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    array([1., 2., 1.])
    """
    product = a[0] * b
    for i in range(1, len(a)):
        product[i:] += a[i] * b[: len(b) - i]
    return product


def compose(activation: Activation, u: Numbers, arithmetic: Arithmetic, derivatives: int = 1) -> tuple[Numbers, ...]:
    """The series `φ(u)`, `φ'(u)`, …, up to the given number of derivatives, at most 2; each of the shape of `u`.

    Raises `InvalidInput` for an activation without a recurrence here, and for (leaky) ReLU at a kink.

    >>> from numerics.arithmetic import Float64
    >>> value, slope = compose(Exp(), np.array([0.0, 1.0, 0.0, 0.0]), Float64())
    >>> value  # exp(t)
    array([1.        , 1.        , 0.5       , 0.16666667])
    """
    kind = type(activation)
    rule = _compose.dispatch(kind)
    known = next(base for base in kind.__mro__ if base in _compose.registry)
    if known is object or kind.expression is not known.expression:
        raise InvalidInput("activation", activation, f"no series is known for it; there is one for {_known()}")
    return rule(activation, u, arithmetic)[: derivatives + 1]


def _known() -> str:
    return ", ".join(kind.__name__ for kind in _compose.registry if kind is not object)


@singledispatch
def _compose(activation: Activation, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    raise InvalidInput("activation", activation, f"there are series for {_known()}")


@_compose.register
def _(activation: Tanh, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    y, p = np.empty_like(u), np.empty_like(u)
    y[0], p[0] = arithmetic.apply(Elementary.TANH, u[0]), (1 / arithmetic.apply(Elementary.COSH, u[0])) ** 2
    du = _times_order(u)
    for k in range(1, len(u)):
        y[k] = _convolve(du, p, 1, k) / k
        p[k] = -_convolve(y, y, 0, k)
    return y, p, -2 * multiply(y, p)


@_compose.register
def _(activation: Softplus, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    sigma, slope = _logistic(u, arithmetic)
    return _integrate(arithmetic.apply(Elementary.SOFTPLUS, u[0]), sigma, _times_order(u)), sigma, slope


@_compose.register
def _(activation: Sigmoid, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    sigma, slope = _logistic(u, arithmetic)
    return sigma, slope, slope - 2 * multiply(sigma, slope)


@_compose.register
def _(activation: Scaled, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    c = activation.factor
    value, slope, curvature = compose(activation.inner, c * u, arithmetic, 2)
    return value, c * slope, c * c * curvature


@_compose.register
def _(activation: Erf, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    p = _exponential(-multiply(u, u), arithmetic) * (2 / _root(arithmetic.pi(), arithmetic))
    value = _integrate(arithmetic.apply(Elementary.ERF, u[0]), p, _times_order(u))
    return value, p, -2 * multiply(u, p)


@_compose.register
def _(activation: Sin, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    sine, cosine = _sine_and_cosine(u, arithmetic)
    return sine, cosine, -sine


@_compose.register
def _(activation: Cos, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    sine, cosine = _sine_and_cosine(u, arithmetic)
    return cosine, -sine, -cosine


@_compose.register
def _(activation: Exp, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    y = _exponential(u, arithmetic)
    return y, y, y


@_compose.register
def _(activation: Identity, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    return u, _constant(1 + 0 * u[0], len(u)), 0 * u


@_compose.register
def _(activation: Hermite, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    def root(n: int) -> Any:
        return _root(float(n), arithmetic)

    below = [0 * u, 0 * u, _constant(1 + 0 * u[0], len(u))]  # He_{k−2}/√(k−2)!, …, from k = 0
    for k in range(activation.degree):
        below = [below[1], below[2], (multiply(u, below[2]) - root(k) * below[1]) / root(k + 1)]
    k = activation.degree
    return below[2], root(k) * below[1], root(k) * root(max(k - 1, 0)) * below[0]


@_compose.register(ReLU)
@_compose.register(LeakyReLU)
def _(activation: ReLU | LeakyReLU, u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, ...]:
    a, b = homogeneous_slopes(activation)
    if arithmetic.dtype is object:
        raise InvalidInput("activation", activation, "a kink is not analytic: run it in float64")
    if not u[0].all():
        raise InvalidInput("activation", activation, "a preactivation is exactly 0, where there are no derivatives")
    slope = a + b * np.sign(u[0])
    return slope * u, _constant(slope, len(u)), 0 * u


def _times_order(u: Numbers) -> Numbers:
    """`k u_k`, the coefficients of `t u'(t)`."""
    return u * np.arange(len(u)).reshape(-1, *(1,) * (u.ndim - 1))


def _convolve(a: Numbers, b: Numbers, first: int, k: int) -> Numbers:
    """`Σ_{j=first..k} a_j b_{k−j}`."""
    total = a[first] * b[k - first]
    for j in range(first + 1, k + 1):
        total += a[j] * b[k - j]
    return total


def _integrate(value: Any, slope: Numbers, du: Numbers) -> Numbers:
    """The series with `y_0 = value` and `y' = slope · u'`."""
    y = np.empty_like(slope)
    y[0] = value
    for k in range(1, len(y)):
        y[k] = _convolve(du, slope, 1, k) / k
    return y


def _exponential(u: Numbers, arithmetic: Arithmetic) -> Numbers:
    y, du = np.empty_like(u), _times_order(u)
    y[0] = arithmetic.apply(Elementary.EXP, u[0])
    for k in range(1, len(u)):
        y[k] = _convolve(du, y, 1, k) / k
    return y


def _logistic(u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, Numbers]:
    """`σ(u)` and `σ'(u)`, the sigmoid."""
    sigma, slope, du = np.empty_like(u), np.empty_like(u), _times_order(u)
    sigma[0] = 1 / (1 + arithmetic.apply(Elementary.EXP, -u[0]))
    slope[0] = sigma[0] / (1 + arithmetic.apply(Elementary.EXP, u[0]))
    for k in range(1, len(u)):
        sigma[k] = _convolve(du, slope, 1, k) / k
        slope[k] = sigma[k] - _convolve(sigma, sigma, 0, k)
    return sigma, slope


def _sine_and_cosine(u: Numbers, arithmetic: Arithmetic) -> tuple[Numbers, Numbers]:
    sine, cosine, du = np.empty_like(u), np.empty_like(u), _times_order(u)
    sine[0], cosine[0] = arithmetic.apply(Elementary.SIN, u[0]), arithmetic.apply(Elementary.COS, u[0])
    for k in range(1, len(u)):
        sine[k] = _convolve(du, cosine, 1, k) / k
        cosine[k] = -_convolve(du, sine, 1, k) / k
    return sine, cosine


def _root(number: Any, arithmetic: Arithmetic) -> Any:
    """The square root of one number."""
    return arithmetic.apply(Elementary.SQRT, arithmetic.array(number))[()]


def _constant(value: Numbers, length: int) -> Numbers:
    """The series of a constant."""
    series = np.stack([0 * value] * length)
    series[0] = value
    return series
