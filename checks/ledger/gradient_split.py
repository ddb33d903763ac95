"""Chapter 6, the split of the gradient: how large the self-interaction can be beside it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from sympy import Expr, Rational, sqrt

from numerics.linear_networks import LinearNetwork
from theory.gradient_split import best_constant
from theory.layerwise import eta1, eta2, h

from ..claims import Correction, claim
from ..evidence import Identity, Property
from ..verdicts import Verdict
from .sources import LAYER_BALANCE


def split_bound(rng: np.random.Generator, *, steps: int, corrected: bool, factor: float = 1.0) -> str:
    """What is wrong with `‖B‖ <= κ/(√h − κ) ‖G‖` in operator norm, for a network of random weights, both layers.

    The target is random, or for the corrected `κ`, at which it is attained, every other time `W₁W₂/√h`. The published
    `κ` is 1. `factor` makes it wrong on purpose.
    """
    h_ = int(rng.integers(40, 80))
    root = h_**0.5
    scale = float(rng.uniform(0.5, 1.0))  # the rate in units of h^(3/2)
    draw = LinearNetwork(width=h_, layers=2).sample(rng)
    w1, w2 = (weights[0] for weights in draw.weights)
    target = w1 @ w2 / root if corrected and rng.random() < 0.5 else draw.target[0]
    for _ in range(steps):
        error = w1 @ w2 / h_ - target
        w1, w2 = w1 - scale * root * error @ w2.T, w2 - scale * root * w1.T @ error
    kappa = factor * ((1 + scale * (1 - 1 / root)) ** (2 * steps) if corrected else 1.0)
    for own, full in (
        (w1 @ w2 @ w2.T / h_**2, (w1 @ w2 / h_ - target) @ w2.T / h_),
        (w1.T @ w1 @ w2 / h_**2, w1.T @ (w1 @ w2 / h_ - target) / h_),
    ):
        left, right = np.linalg.norm(own, 2), kappa / (root - kappa) * np.linalg.norm(full, 2)
        if left > right * (1 + 1e-9):
            return f"||B|| = {left:.4g} > {right:.4g} at h = {h_}, both rates {scale:.4g} h^(3/2), step {steps}"
    return ""


def _split(steps: int, corrected: bool, mutants: Mapping[str, float]) -> Property:
    return Property(
        name="networks of random weights, rates up to h^(3/2)",
        trial=partial(split_bound, steps=steps, corrected=corrected),
        mutants={
            text: partial(split_bound, steps=steps, corrected=corrected, factor=factor)
            for text, factor in mutants.items()
        },
    )


def _best(steps: int, claimed: Expr) -> list[Identity]:
    return [
        Identity(
            name=f"best constant, layer {layer}",
            derivation=partial(best_constant, steps, layer),
            claimed=claimed,
        )
        for layer in (1, 2)
    ]


ROOT = sqrt(h)
KAPPA = (1 + eta1 * (1 - 1 / ROOT) / h ** Rational(3, 2)) * (1 + eta2 * (1 - 1 / ROOT) / h ** Rational(3, 2))
SMALLER = {"99 hundredths": 0.99, "half": 0.5, "a tenth": 0.1}

gradient_split = claim(
    id="gradient-split",
    title="The self-interaction is small beside the gradient",
    source=LAYER_BALANCE.at("gradient approximation"),
    statement=r"\|B\| \le \frac{\|G\|}{\sqrt h - 1} \quad \text{for } \eta \le O(h\sqrt h),\ t = 0, 1",
    hypotheses=("two layers", "orthogonal initialisation", "operator norm"),
    conditions=("h > 1, and after one step kappa < sqrt h: at kappa = sqrt h and Q = W1 W2 the gradient is zero",),
    findings=(
        "both constants are attained, at Q = W1 W2; at the start ||B||/||G|| is 1/(sqrt h + 1), the smallest there is, "
        "wherever W1^T Q W2^T has the eigenvalue -1",
    ),
    parts={
        "at the start": [*_best(0, 1 / (ROOT - 1)), _split(0, False, {"half": 0.5, "a tenth": 0.1})],
        "after one step": [*_best(1, 1 / (ROOT - 1)), _split(1, False, {})],
    },
    correction=Correction(
        text="after one step the best constant is kappa/(sqrt h - kappa), with kappa = "
        "(1 + c1 (1 - 1/sqrt h)) (1 + c2 (1 - 1/sqrt h)), c = eta/h^(3/2), wherever kappa < sqrt h",
        latex=r"\|B\| \le \frac{\kappa}{\sqrt h - \kappa}\,\|G\|,\quad "
        r"\kappa = \prod_i \Big(1 + \frac{\eta_i}{h^{3/2}}\big(1 - h^{-1/2}\big)\Big)",
        expression=KAPPA / (ROOT - KAPPA),
        parts={"after one step": [*_best(1, KAPPA / (ROOT - KAPPA)), _split(1, True, SMALLER)]},
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (gradient_split,)
