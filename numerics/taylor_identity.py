r"""One gradient step against its series in the correlations, with balls; and the radius of convergence of the series.

In the symbols of `theory/taylor_identity.py`, for a network with one output, `f(t) = (F, ∇F)(θ + t v; x)` with
`v = ∇F(θ; x_s)` is a vector of `1 + P` functions with the Taylor coefficients `a_d`, and the step is `τ = −ηC'`. Where
`f` is analytic and bounded by `M` on the disc `|t| <= |τ|/q`, `q < 1`, each component satisfies

    |f(τ) − Σ_{d<=N} a_d τ^d| <= M q^{N+1}/(1 − q).

`M` comes from squares that cover the disc, on each of which the balls of `f` are finite: no singularity lies in it.
The parameters are the float64 numbers they are, and so are the factors of the network.

Source: C (arXiv:2401.04013). `series_error` computes both sides independently: the left one by moving the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce

import numpy as np
from flint import acb, arb
from numpy.typing import ArrayLike

from theory.activations import Tanh
from theory.errors import InvalidInput, Undecidable

from . import jets
from .activations import pointwise
from .arithmetic import ComplexBalls, Multiprecision, Numbers
from .balls import ball, interval, precision
from .networks import MLP

BITS = 192
SQUARES = 8  # along the radius of the disc, at first
HALVINGS = 5
BALLS = ComplexBalls()


@dataclass(frozen=True, eq=False)
class Step:
    """The step `τ = −ηC'` from the parameters `(1, P)` along the gradient at `source (1, d)`, seen at `x (1, d)`."""

    network: MLP
    parameters: ArrayLike
    x: ArrayLike
    source: ArrayLike
    tau: Fraction


def series_error(step: Step, order: int, weight: Callable[[int], Fraction], *, ratio: Fraction) -> tuple[arb, arb]:
    """Balls of what the two identities are off by, the larger of all components: `(of F, of ∇F)`.

    The sums go over all `d >= 2` for `F` and `d >= 1` for `∇F`: to `order` in balls, the rest by the bound above with
    `q = ratio`. Each term has the factor `weight(d)`, which is 1 in the identity. Raises `Undecidable` if analyticity
    on the disc could not be shown.

    >>> from theory.activations import Exp
    >>> network = MLP(dimension=1, widths=(1,), activation=Exp())
    >>> step = Step(network, [[0.5, 1.0]], [[1.0]], [[1.0]], Fraction(-1, 8))
    >>> errors = series_error(step, 60, lambda d: Fraction(1), ratio=Fraction(1, 4))
    >>> all(error < 1e-30 for error in errors)
    True
    """
    with precision(BITS):
        tau, (coefficients, moved, bound) = acb(ball(step.tau)), _both_sides(step, order, ratio)
        tail = bound * ball(ratio ** (order + 1) / (1 - ratio))
        errors = []
        for components, first in ((slice(0, 1), 2), (slice(1, None), 1)):
            off = moved[components] - sum(coefficients[d, components] * tau**d for d in range(first))
            for d in range(first, order + 1):
                off = off - coefficients[d, components] * (tau**d * acb(ball(weight(d))))
            errors.append(reduce(arb.max, (abs(value) for value in off)) + arb(0, tail.upper()))
        return errors[0], errors[1]


def taylor_coefficients(step: Step, order: int, digits: int = 30) -> Numbers:
    """The Taylor coefficients of `F(θ + t v; x)` to `order`, in mpmath with about `digits` digits: `(order+1,)`.

    >>> from theory.activations import Identity
    >>> line = MLP(dimension=1, widths=(1,), activation=Identity())
    >>> [int(c) for c in taylor_coefficients(Step(line, [[2.0, 3.0]], [[1.0]], [[1.0]], Fraction(1)), 2)]
    [6, 13, 6]
    """
    arithmetic = Multiprecision(digits)
    v = jets.gradient(step.network, step.parameters, step.source, arithmetic=arithmetic)
    run = jets.forward(step.network, step.parameters, step.x, v, order, arithmetic=arithmetic)
    return run.outputs[:, 0, 0]


def truncation_errors(step: Step, orders: Sequence[int], digits: int) -> list[float]:
    """`|F(θ₁)(x) − Σ_{d<=N} τ^d a_d|` for each order `N` of `orders`, in mpmath with about `digits` digits.

    The digits are those of the values; an error below them has none. `F(θ₁)` is the network with its parameters moved.
    """
    arithmetic = Multiprecision(digits)
    tau = arithmetic.context.mpf(step.tau.numerator) / step.tau.denominator
    v = jets.gradient(step.network, step.parameters, step.source, arithmetic=arithmetic)
    moved = arithmetic.array(np.asarray(step.parameters)) + tau * v.dense(step.network, arithmetic)[:, 0]
    value = jets.forward(step.network, moved, step.x, arithmetic=arithmetic).outputs[0, 0, 0]
    run = jets.forward(step.network, step.parameters, step.x, v, max(orders), arithmetic=arithmetic)
    partial = np.cumsum([a * tau**d for d, a in enumerate(run.outputs[:, 0, 0])])
    return [float(abs(value - partial[order])) for order in orders]


def radius_of_convergence(step: Step) -> float:
    """`R = min_k √(u_k² + π²/4)/|u̇_k|` for one hidden layer of tanh units, without biases or with.

    Raises `InvalidInput` for other networks.

    >>> network = MLP(dimension=1, widths=(1,), activation=Tanh())
    >>> step = Step(network, [[0.0, 1.0]], [[1.0]], [[1.0]], Fraction(1))
    >>> scale = network.feature_factors[0]  # f(t) = scale tanh(scale t)
    >>> radius_of_convergence(step) * scale / (np.pi / 2)
    1.0
    """
    network = step.network
    if network.depth != 1 or not isinstance(network.activation, Tanh):
        raise InvalidInput("network", network, "the radius is known in closed form for one hidden layer of tanh only")
    parameters = network.as_parameters(step.parameters)
    outgoing = network.layers(parameters)[1].weights
    x, source = np.asarray(step.x), np.asarray(step.source)
    u = network.forward(parameters, x).preactivations[0][0, 0]
    at_source = network.forward(parameters, source).preactivations[0][0, 0]
    delta = network.feature_factors[0] * pointwise(network.activation).derivative(at_source) * outgoing[0, 0]
    velocity = delta * (x @ source.T + network.bias_factor**2)[0, 0]
    with np.errstate(divide="ignore"):
        return float((np.sqrt(u**2 + math.pi**2 / 4) / np.abs(velocity)).min())


@lru_cache(maxsize=16)
def _both_sides(step: Step, order: int, ratio: Fraction) -> tuple[Numbers, Numbers, arb]:
    """The Taylor coefficients, the values at the step, and the bound on the disc: what does not depend on weights."""
    v = jets.gradient(step.network, step.parameters, step.source, arithmetic=BALLS)
    moved = _along(step, v, np.array([acb(ball(step.tau))], dtype=object))[0]
    return _coefficients(step, v, order), moved, _bound_on_disc(step, v, abs(step.tau) / ratio)


def _coefficients(step: Step, v: jets.Direction, order: int) -> Numbers:
    """`a_d`, `d = 0..order`, of `(F, ∇F)` along the line: `(order+1, 1+P)`."""
    run = jets.forward(step.network, step.parameters, step.x, v, order, arithmetic=BALLS)
    deltas = [delta for delta, _ in jets.backward(step.network, step.parameters, run, v, arithmetic=BALLS)]
    gradients = jets.gradient_series(step.network, run, deltas, BALLS)
    return np.stack([np.append(value, row[0, 0]) for value, row in zip(run.outputs[:, 0, 0], gradients, strict=True)])


def _along(step: Step, v: jets.Direction, t: Numbers) -> Numbers:
    """`(F, ∇F)(θ + t v; x)` for complex `t`, with the parameters moved there: `(len(t), 1+P)`."""
    theta = BALLS.array(np.asarray(step.parameters, dtype=np.float64))
    moved = theta + t[:, None] * v.dense(step.network, BALLS)[:, 0]
    values = jets.forward(step.network, moved, step.x, arithmetic=BALLS).outputs[0]
    gradients = jets.gradient(step.network, moved, step.x, arithmetic=BALLS).dense(step.network, BALLS)
    return np.concatenate([values, gradients[:, 0]], axis=1)


def _bound_on_disc(step: Step, v: jets.Direction, radius: Fraction) -> arb:
    """A bound on all components on the disc; on its upper half, as they are real on the real line."""
    side = radius / SQUARES
    squares = [(i * side, j * side) for i in range(-SQUARES, SQUARES) for j in range(SQUARES)]
    bound = arb(0)
    for _ in range(HALVINGS):
        squares = [corner for corner in squares if _reaches(corner, side, radius)]
        places = [acb(interval(x, x + side), interval(y, y + side)) for x, y in squares]
        values = _along(step, v, np.array(places, dtype=object))
        finite = [all(value.is_finite() for value in row) for row in values]
        for row, fine in zip(values, finite, strict=True):
            if fine:
                bound = reduce(arb.max, (abs(value) for value in row), bound)
        remaining = [corner for corner, fine in zip(squares, finite, strict=True) if not fine]
        if not remaining:
            return bound
        side /= 2
        squares = [(x + i * side, y + j * side) for x, y in remaining for i in range(2) for j in range(2)]
    raise Undecidable(f"F on the disc of radius {float(radius):.3g}", "a singularity lies in it, or near it")


def _reaches(corner: tuple[Fraction, Fraction], side: Fraction, radius: Fraction) -> bool:
    """Whether the square meets the disc."""
    nearest = [max(0, -(c + side), c) for c in corner]
    return sum(c * c for c in nearest) <= radius**2
