"""Chapter 5, a factor on the output, and models added and composed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Integer

from numerics import correlations
from numerics.exponents import Statistic
from numerics.linearised import linearise
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.training import train
from theory import external_scale
from theory.activations import Activation, Sin, Softplus, Tanh
from theory.derivation import Derivation

from ..claims import Correction, claim
from ..evidence import Identity, Property, Scaling
from ..verdicts import Verdict
from .medians import median_scaling
from .sources import WEAK_CORRELATIONS

Vector = NDArray[np.float64]
FLOOR = 1e-9  # relative rounding error in float64 of what is compared here
ROOT_FLOOR = 1e-6  # the same where half the digits cancel, or Lanczos stops
SMOOTH: tuple[Activation, ...] = (Tanh(), Sin(), Softplus())


def added_models(rng: np.random.Generator, *, power: int = 1, larger: bool = False) -> str:
    """What is wrong with the correlations of `κ₁F₁ + κ₂F₂`, with parameters of their own: both rules, to the order 3.

    Two networks with one hidden layer side by side are one, with `κ = √(share of the units)`. `C_{0,d}` and
    `C_{1,d}` get `κ^{d+1}`; the former add, and the squared norms of the latter; of `C_{2,1}` the larger norm is left.
    """
    activation, x = SMOOTH[int(rng.integers(len(SMOOTH)))], rng.standard_normal((1, 2))
    widths = tuple(int(m) for m in rng.integers(2, 6, size=2))
    models = [MLP(2, (m,), activation=activation) for m in widths]
    parts = [model.sample(rng) for model in models]
    whole = MLP(2, (sum(widths),), activation=activation)
    halves = [[layer.weights[0] for layer in model.layers(part)] for model, part in zip(models, parts, strict=True)]
    joined = whole.pack([np.concatenate(both, axis=axis) for axis, both in enumerate(zip(*halves, strict=True))])
    order = np.arange(1, 4)
    factors = [np.sqrt(m / sum(widths)) ** (order + power) for m in widths]
    numbers, norms = [], []
    for model, part in zip(models, parts, strict=True):
        number, norm = correlations.scalar_and_vector_norms(model, part, x, order=3)
        numbers.append(number[:, 0, 0])
        norms.append(norm[:, 0, 0])
    number, norm = correlations.scalar_and_vector_norms(whole, joined, x, order=3)
    added = sum(k * c for k, c in zip(factors, numbers, strict=True))
    if np.abs(added - number[:, 0, 0]).max() > FLOOR * max(np.abs(c).max() for c in numbers):
        return f"C_(0,d) do not add for {widths}"
    squared = [(k * c) ** 2 for k, c in zip(factors, norms, strict=True)]
    if np.abs(sum(squared) - norm[:, 0, 0] ** 2).max() > ROOT_FLOOR * max(c.max() ** 2 for c in norms):
        return f"the squares of |C_(1,d)| do not add for {widths}"
    spectral = [
        k[0] * correlations.operator_norm(a, p, x, d=1)[0, 0] for k, a, p in zip(factors, models, parts, strict=True)
    ]
    claimed = sum(spectral) if larger else max(spectral)
    found = correlations.operator_norm(whole, joined, x, d=1)[0, 0]
    return f"|C_(2,1)| is {found:.6g}, not {claimed:.6g}" if abs(found - claimed) > ROOT_FLOOR * claimed else ""


def lazy_distance(rng: np.random.Generator, kappa: int, count: int) -> Vector:
    """`sup |κf − (κf)_lin|` in 20 steps of the rate `η/κ²`: `κ` times that of `f` towards `f₀ + Y/κ`, `(count,)`."""
    network, X = MLP(2, (12,), activation=Tanh()), np.array([[1.0, 0.0], [0.0, 1.0]])
    parameters, descent, at = network.sample(rng, count), GradientDescent(0.2, steps=20), range(21)
    y = network(parameters, X) + np.array([1.0, -1.0])[:, None] / kappa
    own = train(network, parameters, X, y, descent, at=at)
    linear = linearise(network, parameters, X).train(y, descent, at=at)
    return kappa * np.abs(own.outputs - linear.outputs).max(axis=(0, 2, 3))


def second_correlation(rng: np.random.Generator, width: int, count: int, *, bottleneck: bool) -> Vector:
    """`|C_{0,2}|` of tanh networks with hidden layers `(m, m)`, or `(m, 1, m)` with a `bottleneck`, `(count,)`."""
    widths = (width, 1, width) if bottleneck else (width, width)
    network, x = MLP(2, widths, activation=Tanh()), np.array([[1.0, 0.0]])
    found = [correlations.scalar(network, part, x, order=2)[1, :, 0] for part in network.sample_chunks(rng, count)]
    return np.abs(np.concatenate(found))


def mixed_correlation(rng: np.random.Generator, width: int, count: int) -> Vector:
    """`|C_{0,2}|` at a unit vector, of units that are tanh, sin and softplus in turn, `(count,)`.

    It is `½ m^{−3/2} |Σ_k v_k φ_k'² (2φ_k + v_k² φ_k'')|` for `F = m^{−1/2} Σ_k v_k φ_k(u_k)`, `u_k, v_k` iid N(0, 1).
    """
    u, v = rng.standard_normal((2, count, width))
    tanh, sigmoid = np.tanh(u), 1 / (1 + np.exp(-u))
    values = (tanh, np.sin(u), np.logaddexp(0, u))
    slopes = (1 - tanh**2, np.cos(u), sigmoid)
    bends = (-2 * tanh * (1 - tanh**2), -np.sin(u), sigmoid * (1 - sigmoid))
    kind = np.arange(width) % 3
    phi, slope, bend = (np.choose(kind, arrays) for arrays in (values, slopes, bends))
    return np.abs((v * slope**2 * (2 * phi + v**2 * bend)).sum(axis=1)) / (2 * width**1.5)


def _identity(name: str, derivation: Callable[[], Derivation], claimed: Expr | int) -> Identity:
    return Identity(name=name, derivation=derivation, claimed=claimed)


KAPPA, D, d = external_scale.kappa, external_scale.D, external_scale.d
G1, G2, C1, C2 = (external_scale.g1, external_scale.g2, external_scale.c1, external_scale.c2)
SHARED = dict(zip(external_scale.Summand, (Integer(0), Integer(0), external_scale.c / 2), strict=True))
COMPOSED = G1**3 * C2 + G2 * G1**2 * C1**2 / 2


in_the_width = partial(median_scaling, sizes=(32, 64, 128, 256), resolution=0.6, shifts=(-0.5, 0.5))

scaled_models = claim(
    id="external-scale",
    title="Models scaled, added and composed",
    source=WEAK_CORRELATIONS.at("external scale; sub-models"),
    statement=r"C_{D,d}(\kappa F) = \kappa^{d+1} C_{D,d}(F); "
    r"\quad F,\ G \text{ weak} \Rightarrow F + G,\ G \circ F \text{ weak}",
    hypotheses=("a model is weak if its C_{D,d}, d >= 1, D + d >= 2, vanish in a limit and its C_{0,1} does not",),
    conditions=(
        "lazy as kappa grows: at the rate eta/kappa^2, which keeps C_{0,1}; at a fixed rate all of them grow",
        "sums: parameters of their own",
        "compositions: the second model is linear in its input to leading order",
        "activations that differ from unit to unit: bounds on their moments that are uniform over the units",
    ),
    findings=(
        "at the rate eta/kappa^2, C_{D,d} has kappa^(1 - D - d), and the distance from the linearisation is of order "
        "1/kappa",
        "sums with shared parameters need not be weak: x + c y^2/2 and y have no correlations at the origin, their sum "
        "has C_{0,2} = eta^2 c/2",
        "C_{0,2} of a composition is G'^3 C_{0,2}(F) + G'' G'^2 C_{0,1}(F)^2/2: of two wide networks joined by one "
        "unit it does not fall with the width at all, nor with a nonlinear output",
        "units side by side: C_{0,d} add, |C_{1,d}|^2 add, and |C_{2,d}| is the largest",
    ),
    parts={
        "a factor on the output": [
            _identity("at the same rate", external_scale.scale_power, KAPPA ** (d + 1)),
            _identity("at the rate eta/kappa^2", external_scale.lazy_power, KAPPA ** (1 - D - d)),
            median_scaling(
                "distance from the linearisation", lazy_distance, -1.0, (8, 16, 32, 64), count=1000, resolution=0.5
            ),
        ],
        "a sum of models": [
            Property(
                name="with parameters of their own",
                trial=added_models,
                mutants={
                    "the power d of the factor": partial(added_models, power=0),
                    "the sum of the norms of C_(2,1)": partial(added_models, larger=True),
                },
                chunk=8,
            ),
            _identity("with shared parameters", external_scale.shared_sum, Integer(0)),
        ],
        "a composition of models": [
            _identity("it vanishes with C_(0,2) of the first", external_scale.composition, G1**3 * C2),
        ],
        "different activations": [
            Scaling(
                name="tanh, sin and softplus in turn",
                draw=mixed_correlation,
                exponent=-1.0,  # at every multiple of 3: it is a sum of iid terms of mean zero
                sizes=(36, 72, 144, 288),
                statistic=Statistic.ROOT_MEAN_SQUARE,
                count=2000,
                budget=8,
                resolution=0.3,
            )
        ],
    },
    correction=Correction(
        text="sums of models with parameters of their own are weak, and compositions if the second model has no "
        "curvature in its input in the limit",
        latex=r"C_{0,2}(G \circ F) = G'^3\, C_{0,2}(F) + \tfrac12\, G''\, G'^2\, C_{0,1}(F)^2",
        expression=COMPOSED,
        parts={
            "a sum with shared parameters": [
                _identity(summand.value, partial(external_scale.shared_sum, summand), value)
                for summand, value in SHARED.items()
            ],
            "a composition": [
                _identity("second correlation", external_scale.composition, COMPOSED),
                in_the_width(
                    "hidden layers of width m, 1, m", partial(second_correlation, bottleneck=True), 0.0, count=1000
                ),
                in_the_width(
                    "hidden layers of width m, m", partial(second_correlation, bottleneck=False), -1.0, count=500
                ),
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (scaled_models,)
