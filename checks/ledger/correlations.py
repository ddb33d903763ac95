"""Chapter 5, the definitions: the first correlation, and one step as a series in the correlations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
from flint import arb
from sympy import Add, Expr, Integer, Rational, Sum, Symbol, factorial, oo, pi, sqrt, symbols

from numerics import correlations, taylor_identity
from numerics.empirical import empirical_ntk
from numerics.networks import MLP
from numerics.taylor_identity import Step
from theory import taylor_identity as identity
from theory.activations import Activation, Erf, Exp, Hermite, LeakyReLU, Sin, Softplus, Tanh
from theory.taylor_identity import (
    C0,
    C1,
    N,
    P,
    bound,
    d,
    eta,
    gradient_remainder,
    here,
    m,
    p,
    remainder,
    slope,
    there,
    u,
    velocity,
)
from theory.taylor_identity import q as ratio

from ..claims import Correction, claim
from ..evidence import Approach, Enclosure, Identity, Limit, Property
from ..evidence.enclosure import Certificate
from ..verdicts import Standing, Verdict
from .sources import WEAK_CORRELATIONS

ACTIVATIONS = (Tanh(), Erf(), Softplus(), Sin(), LeakyReLU(), Hermite(3))
share = Symbol("q", positive=True)  # of the step in the radius of convergence
ORDER = 60  # with steps of a quarter of the disc, 4^-60 of the bound is left out


# --- the first correlation --------------------------------------------------------------------------------------------


def contracted(order: int) -> Expr:
    """`η^d Σ_{i+j=d} F_ij v₁^i v₂^j/(i! j!)`: the symmetric tensor of order `d` in two parameters, on `v^{×d}`."""
    v1, v2 = symbols("v_1:3", real=True)
    parts = [(Symbol(f"F_{i}{order - i}", real=True), i, order - i) for i in range(order + 1)]
    return eta**order * Add(*(F * v1**i * v2**j / (factorial(i) * factorial(j)) for F, i, j in parts))


def tangent_kernel(rng: np.random.Generator, *, wrong: str = "") -> str:
    """What is wrong with `C_{0,1} = η ∇Fᵀ∇F`, for a random network, two points and three sources of gradients.

    `wrong` is a mutant: the kernel without its first layer, or with the rate squared.
    """
    depth = int(rng.integers(1, 4))
    widths = tuple(int(width) for width in rng.integers(1, 9, size=depth))
    network = MLP(3, widths, activation=rng.choice(np.array(ACTIVATIONS, dtype=object)), bias_std=rng.choice([0, 0.5]))
    parameters = network.sample(rng, batch=2)
    X, sources, rate = rng.standard_normal((2, 3)), rng.standard_normal((3, 3)), float(rng.uniform(0.1, 2))
    kernel = empirical_ntk(network, parameters, X, sources)
    expected = kernel.freeze(1) if wrong == "layer" else kernel.total
    expected = expected[:, :, 0, :, 0] * (rate**2 if wrong == "rate" else rate)
    found = correlations.scalar(network, parameters, X, 1, along=sources, learning_rate=rate)[0]
    distance, size = np.abs(found - expected).max(), np.abs(kernel.total).max()
    return "" if distance <= 1e-12 * max(size, 1) else f"they differ by {distance:.2g} for {network}"


# --- one step, in balls -----------------------------------------------------------------------------------------------


WEIGHTS: Mapping[str, Callable[[int], Fraction]] = {
    "the term of order 2 dropped": lambda d: Fraction(d != 2),
    "the sign of C'": lambda d: Fraction((-1) ** d),
    "order 3 doubled": lambda d: Fraction(1 + (d == 3)),
    "divided by d": lambda d: Fraction(1, d),
    "up to order 12 only": lambda d: Fraction(d <= 12),
}


def published(d: int) -> Fraction:
    """The factor of each term, relative to the identity: 1."""
    return Fraction(1)


@cache
def small_step(activation: Activation, widths: tuple[int, ...], bias_std: float, tau: Fraction) -> Step:
    """A step of a fixed small network with two inputs, on one sample, seen at another point."""
    rng = np.random.default_rng(20240104)
    network = MLP(2, widths, activation=activation, bias_std=bias_std)
    parameters = network.sample(rng)
    x, source = rng.standard_normal((2, 1, 2))
    return Step(network, parameters, x, source, tau)


STEPS = {
    "tanh": small_step(Tanh(), (3,), 0.5, Fraction(-1, 4)),
    "softplus": small_step(Softplus(), (2, 2), 0.0, Fraction(-1, 3)),
    "erf": small_step(Erf(), (2, 2), 0.0, Fraction(-1, 8)),
    "sin": small_step(Sin(), (3,), 0.5, Fraction(1, 4)),
    "exp": small_step(Exp(), (2,), 0.0, Fraction(-1, 16)),
}


def step_error(claimed: Callable[[int], Fraction], step: Step, part: int) -> Certificate:
    """Whether the identity with the factors `claimed` holds to 30 digits, for `F` (part 0) or `∇F` (part 1)."""
    error = taylor_identity.series_error(step, ORDER, claimed, ratio=Fraction(1, 4))[part]
    if error < arb(10) ** -30:
        return Certificate(
            Standing.HOLDS, f"off by less than {float(error.upper()):.1g}, the tail of the series included"
        )
    if error > 0:
        return Certificate(Standing.FAILS, f"off by {float(error.lower()):.2g}")
    return Certificate(Standing.UNDECIDED, f"off by less than {float(error.upper()):.1g}")


def _to_thirty_digits(part: int) -> list[Enclosure]:
    return [
        Enclosure(
            name=f"{name}, widths {step.network.widths}, {step.network.parameter_count} parameters, to 30 digits",
            certify=partial(step_error, step=step, part=part),
            claimed=published,
            mutants=WEIGHTS,
        )
        for name, step in STEPS.items()
    ]


def truncation_rate(size: int, at: Mapping[Any, Any]) -> float:
    """`E_N^{1/N} R/(η|C'|)`, the sum to order `N` off by `E_N`, for a tanh layer with imaginary nearest poles.

    The first unit does not see the point, so that its preactivation there is 0; the step is `at[share]` of the radius.
    """
    network = MLP(2, (3,), activation=Tanh())
    parameters = network.pack([[[0.0, 1.0], [1.5, 0.5], [-2.0, 1.0]], [[3.0, 0.5, 0.25]]])
    x, source = np.array([[1.0, 0.0]]), np.array([[1.0, 0.25]])
    radius = taylor_identity.radius_of_convergence(Step(network, parameters, x, source, Fraction(1)))
    step = Step(network, parameters, x, source, Fraction(radius) * Fraction(int(at[share].p), int(at[share].q)))
    (error,) = taylor_identity.truncation_errors(step, [size], digits=size)
    return error ** (1 / size) / float(at[share])


correlation_ntk = claim(
    id="correlation-ntk",
    title="The first correlation is the tangent kernel",
    source=WEAK_CORRELATIONS.at("definition of the derivative correlations"),
    statement=r"C_{0,1}(\theta; x, x_s) = \eta\, \nabla F(\theta; x)^{\mathsf T} \nabla F(\theta; x_s)",
    hypotheses=("a model with one output, differentiable in its parameters",),
    evidence=[
        Identity(
            name="no free index, one contraction",
            derivation=identity.tangent_kernel,
            claimed=eta * Sum(here[p] * there[p], (p, 1, P)),
        ),
        Property(
            name="the series along the gradient beside the kernel of the network, layer by layer",
            trial=tangent_kernel,
            mutants={
                "the first layer left out": partial(tangent_kernel, wrong="layer"),
                "the rate squared": partial(tangent_kernel, wrong="rate"),
            },
        ),
    ],
    expected=Verdict.PROVED,
)

taylor_identity_ = claim(
    id="taylor-identity",
    title="One step as a series in the correlations",
    source=WEAK_CORRELATIONS.at("before Theorem 3.1"),
    statement=r"F(\theta_1)(x) - F_{\mathrm{lin},1}(x) = \sum_{d\ge 2} (-C')^d C_{0,d}(x; x_s, \dots, x_s), "
    r"\text{ and likewise for } \nabla F \text{ with } C_{1,d}",
    hypotheses=("analytic activations", "one step of gradient descent on one sample", "one output"),
    conditions=(
        "eta |C'| < R, the distance from 0 to the nearest complex singularity of t -> F(theta + t grad F(x_s); x)",
        "for the gradient the sum begins at d = 1 and gives sqrt(eta) (grad F(theta_1) - grad F(theta))",
    ),
    findings=(
        "erf, sin, exp and polynomials are entire: the identity holds for every step",
        "one hidden layer of tanh: R = min_k sqrt(u_k^2 + pi^2/4)/|du_k/dt|, which grows with the width",
        "beyond R the terms do not tend to zero: a tanh(w x) at w = 0, a = 1, x = 1 with eta |C'| = 2 > pi/2",
    ),
    parts={
        "the correlations are Taylor coefficients": [
            Identity(
                name=f"the tensor of order {order}, contracted index by index",
                derivation=partial(identity.contraction, order),
                claimed=contracted(order),
            )
            for order in (2, 3)
        ],
        "one step of F": [
            Identity(
                name="with the remainder of Taylor's theorem",
                derivation=identity.one_step,
                claimed=Sum((-slope) ** d * C0[d], (d, 2, N)) + remainder[N],
            ),
            *_to_thirty_digits(0),
        ],
        "one step of the gradient": [
            Identity(
                name="with the remainder of Taylor's theorem",
                derivation=identity.one_step_gradient,
                claimed=Sum((-slope) ** d * C1[d], (d, 1, N)) + sqrt(eta) * gradient_remainder[N],
            ),
            *_to_thirty_digits(1),
        ],
        "for analytic activations and any step, so that the terms tend to zero": [
            Limit(name="a network that is tanh along its step", derivation=identity.divergence, claimed=oo)
        ],
    },
    correction=Correction(
        text="it holds if eta |C'| < R, the radius of convergence along the step, and fails if eta |C'| > R",
        latex=r"\eta |C'| < R = \min \{|t| : t \mapsto F(\theta + t \nabla F(\theta; x_s); x) \text{ singular}\}",
        parts={
            "below the radius": [
                Identity(
                    name="the tail is geometric",
                    derivation=identity.truncation,
                    claimed=bound * ratio ** (N + 1) * (1 - ratio ** (m + 1)) / (1 - ratio),
                ),
                Approach(
                    name="the error of the truncated sum falls like (eta |C'|/R)^N",
                    sequence=truncation_rate,
                    claimed=Integer(1),
                    points=[{share: Rational(1, 2)}, {share: Rational(4, 5)}],
                    sizes=(24, 48, 96),
                    order=1,
                    slack=0.25,
                ),
            ],
            "the radius of a layer of tanh": [
                Identity(
                    name="the poles of tanh",
                    derivation=identity.radius,
                    claimed=(u**2 + pi**2 / 4) / velocity**2,
                )
            ],
            "beyond the radius the terms do not tend to zero": [
                Limit(name="a network that is tanh along its step", derivation=identity.divergence, claimed=0)
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (correlation_ntk, taylor_identity_)
