"""Chapter 6, losses: linear networks with a learning rate for each layer, one and two steps from the start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Rational, expand

from numerics.descent import Fixed, descend
from numerics.exact_means import mean_test_loss
from numerics.linear_networks import LinearNetwork
from theory import layerwise
from theory.layerwise import Updates, eta1, eta2, h, rho

from ..claims import Correction, claim
from ..evidence import Expectation, Identity, Property
from ..evidence.expectation import Prediction
from ..mutants import mutants
from ..verdicts import Verdict
from .gradient_split import gradient_split
from .sources import LAYER_BALANCE

Vector = NDArray[np.float64]
S, P = eta1 + eta2, eta1 * eta2

# --- the published expressions, as they stand -------------------------------------------------------------------------

PAPER_ONE_STEP = (
    eta1**2 / h**4
    + eta2**2 / h**4
    + 2 * P / h**4
    + P**2 / h**7
    - 2 * eta1 / h**2
    - 2 * eta2 / h**2
    + 1 / h
    + 2 * P / h**5
    + 1
)
SCRIPT_ONE_STEP = (
    eta1**2 / h**4 + eta2**2 / h**4 + 2 * P / h**4 + P**2 / h**7 - 2 * eta1 / h**2 - 2 * eta2 / h**2 + 1 / h + 1
)
PAPER_TWO_STEPS = (
    (1 + P / h**3) ** 4 / h
    + 16 * P**2 / h**7
    + (2 * S * (P + h**3) / h**5 - 1) ** 2
    + (1 + P / h**3) ** 2 * 8 * P / h**5
)
SCRIPT_THREE_ONE_STEP = (
    eta1**2 / h**2 + eta2**2 / h**2 + 2 * P / h**2 + 1 / h + 1 + P**2 / h**4 - 2 * eta1 / h - 2 * eta2 / h
)
SCRIPT_THREE_TWO_STEPS = (
    (2 * S * (h + P) / h**2 - 1) ** 2
    + 1 / h
    + 2 * P / h**2
    + 10 * P / h**3
    + 37 * P**2 / h**4
    + 12 * P**3 / h**5
    + P**4 / h**6
    + P**2 / h**3
)
FULL_ONE_STEP = (
    P**2 * (h + 1) * (h + 3) / h**9
    - 4 * P * S * (h + 1) / h**7
    + 4 * P * (h + 1) / h**5
    + S**2 * (h + 1) / h**5
    - 2 * S * (h + 1) / h**3
    + (h + 1) / h
)
FULL_THREE_ONE_STEP = (
    2 * P**2 * (h + 3) / h**5
    - 2 * P * S * (h + 3) / h**4
    + 2 * P * (h + 3) / h**3
    + S**2 * (h + 1) / h**3
    - 2 * S * (h + 1) / h**2
    + (h + 1) / h
)

# Widths and rates at which the closed forms are held against gradient descent: small, where every term counts.
Cases = tuple[tuple[int, str, str], ...]
CASES: Cases = ((1, "1/2", "1/3"), (2, "2", "3"), (3, "4", "7"), (5, "12", "9"))


# Where the weights or labels are Gaussian, and for three layers, rates that keep the tails light.
WIDER_CASES: Cases = ((2, "3/2", "3/2"), (3, "3", "4"), (5, "7", "6"))
THREE_LAYER_CASES: Cases = ((1, "1/2", "1/3"), (2, "1", "1/2"), (3, "1", "2"), (5, "2", "1"))


def points(cases: Cases, *fixed: tuple[Any, Any]) -> list[dict[Any, Any]]:
    """The cases as exact points, with further symbols fixed."""
    return [{h: width, eta1: Rational(one), eta2: Rational(two), **dict(fixed)} for width, one, two in cases]


def simulate(
    rng: np.random.Generator, count: int, *, cases: Cases, steps: int, updates: Updates, **network: Any
) -> Vector:
    """The test loss of gradient descent on matrices, in each of `cases`, shape `(count, len(cases))`."""
    columns = []
    for width, one, two in cases:
        rates = Fixed((float(Rational(one)), float(Rational(two))))
        draw = LinearNetwork(width=width, **network).sample(rng, count)
        columns.append(descend(draw, rates, steps=steps, updates=updates).test_loss[:, -1])
    return np.stack(columns, axis=1)


def simulated(
    name: str,
    expression: Expr | Callable[[], Expr],
    *,
    resolution: float = 0.05,
    cases: Cases = CASES,
    **how: Any,
) -> Expectation:
    """A closed form against gradient descent on matrices."""
    return Expectation(
        name=name,
        draw=partial(simulate, cases=cases, **how),
        prediction=Prediction.of(expression, points(cases)),
        deterministic=True,
        chunk=5000,
        budget=40,
        resolution=resolution,
    )


def derived(layers: int, steps: int, updates: Updates) -> Any:
    """The conclusion of a derivation, when it is asked for."""
    return partial(_conclusion, layers, steps, updates)


def _conclusion(layers: int, steps: int, updates: Updates) -> Expr:
    return layerwise.expected_loss(layers, steps, updates).conclusion


def derivation(**how: Any) -> Any:
    return partial(layerwise.expected_loss, **how)


loss_two_layer = claim(
    id="loss-two-layer",
    title="The loss of two layers after one and two signal-only steps",
    source=LAYER_BALANCE.at("two-layer theorems, and the released script"),
    statement=r"\mathcal L_1 = \frac{(\eta_1+\eta_2)^2}{h^4} + \frac{\eta_1^2\eta_2^2}{h^7} - "
    r"\frac{2(\eta_1+\eta_2)}{h^2} + \frac{2\eta_1\eta_2}{h^5} + \frac1h + 1,\quad "
    r"\mathcal L_1^{\text{script}} = \mathcal L_1 - \frac{2\eta_1\eta_2}{h^5},\quad "
    r"\mathcal L_2 = \frac{(1 + P/h^3)^4}{h} + \frac{16P^2}{h^7} + \frac{8P}{h^5}\Big(1 + \frac{P}{h^3}\Big)^2 + "
    r"\Big(\frac{2S(P + h^3)}{h^5} - 1\Big)^2,\quad S = \eta_1 + \eta_2,\ P = \eta_1\eta_2",
    hypotheses=("orthogonal initialisation", "n = d = h, X^T X = n I", "no label noise", "signal-only updates"),
    conditions=("every width h >= 1",),
    parts={
        "paper, one step": [
            Identity(name="derived", derivation=derivation(steps=1), claimed=expand(PAPER_ONE_STEP)),
            simulated("gradient descent", expand(PAPER_ONE_STEP), layers=2, steps=1, updates=Updates.SIGNAL),
        ],
        "paper, two steps": [
            Identity(name="derived", derivation=derivation(steps=2), claimed=expand(PAPER_TWO_STEPS)),
            simulated("gradient descent", expand(PAPER_TWO_STEPS), layers=2, steps=2, updates=Updates.SIGNAL),
        ],
        "released script, one step": [
            Identity(name="derived", derivation=derivation(steps=1), claimed=SCRIPT_ONE_STEP),
        ],
    },
    correction=Correction(
        text="the script's one-step loss lacks the term 2 eta1 eta2/h^5; the paper's formulas are right as they stand",
        latex=r"\mathcal L_1 = \mathcal L_1^{\text{script}} + \frac{2\eta_1\eta_2}{h^5}",
        expression=expand(PAPER_ONE_STEP),
        parts={
            "one step": [
                Identity(
                    name="script and missing term",
                    derivation=derivation(steps=1),
                    claimed=expand(SCRIPT_ONE_STEP + 2 * P / h**5),
                )
            ]
        },
    ),
    expected=Verdict.CORRECTED,
)

loss_three_layer = claim(
    id="loss-three-layer",
    title="The loss of three layers after one and two signal-only steps",
    source=LAYER_BALANCE.at("released script"),
    statement=r"\mathcal L_1 = \frac{(\eta_1+\eta_2)^2}{h^2} + \frac{\eta_1^2\eta_2^2}{h^4} - "
    r"\frac{2(\eta_1+\eta_2)}{h} + \frac1h + 1,\quad "
    r"\mathcal L_2 = \Big(\frac{2S(h + P)}{h^2} - 1\Big)^2 + \frac1h + \frac{2P}{h^2} + \frac{10P}{h^3} + "
    r"\frac{37P^2}{h^4} + \frac{P^2}{h^3} + \frac{12P^3}{h^5} + \frac{P^4}{h^6},\quad "
    r"S = \eta_1 + \eta_2,\ P = \eta_1\eta_2",
    hypotheses=("orthogonal initialisation", "a, beta unit vectors", "n = d = h, X^T X = n I", "signal-only updates"),
    conditions=("every width h >= 1",),
    parts={
        "released script, one step": [
            Identity(name="derived", derivation=derivation(layers=3, steps=1), claimed=expand(SCRIPT_THREE_ONE_STEP)),
        ],
        "released script, two steps": [
            Identity(name="derived", derivation=derivation(layers=3, steps=2), claimed=expand(SCRIPT_THREE_TWO_STEPS)),
            simulated(
                "gradient descent",
                expand(SCRIPT_THREE_TWO_STEPS),
                layers=3,
                steps=2,
                updates=Updates.SIGNAL,
                cases=THREE_LAYER_CASES,
            ),
        ],
    },
    correction=Correction(
        text="the script's one-step loss lacks the term 2 eta1 eta2/h^3; its two-step loss is right",
        latex=r"\mathcal L_1 = \mathcal L_1^{\text{script}} + \frac{2\eta_1\eta_2}{h^3}",
        expression=expand(SCRIPT_THREE_ONE_STEP + 2 * P / h**3),
        parts={
            "one step": [
                Identity(
                    name="script and missing term",
                    derivation=derivation(layers=3, steps=1),
                    claimed=expand(SCRIPT_THREE_ONE_STEP + 2 * P / h**3),
                ),
                simulated(
                    "gradient descent",
                    expand(SCRIPT_THREE_ONE_STEP + 2 * P / h**3),
                    layers=3,
                    steps=1,
                    updates=Updates.SIGNAL,
                    cases=THREE_LAYER_CASES,
                ),
            ]
        },
    ),
    expected=Verdict.CORRECTED,
)

loss_exact = claim(
    id="loss-exact",
    title="The exact loss of full gradient descent",
    source=LAYER_BALANCE.at("beyond the source"),
    statement=r"\mathbb E\,\mathcal L_t \text{ of full gradient descent: a polynomial in } \eta_1, \eta_2 "
    r"\text{ with coefficients rational in } h",
    hypotheses=("orthogonal initialisation", "n = d = h, X^T X = n I", "no label noise"),
    conditions=("every width h >= 1",),
    findings=(
        "after one step the surrogate is wrong at leading order: it has 2 eta1 eta2/h^4, full descent 6 eta1 eta2/h^4",
    ),
    parts={
        "two layers, one step": [
            Identity(
                name="derived",
                derivation=derivation(steps=1, updates=Updates.FULL),
                claimed=expand(FULL_ONE_STEP),
            ),
            simulated("gradient descent", expand(FULL_ONE_STEP), layers=2, steps=1, updates=Updates.FULL),
        ],
        "three layers, one step": [
            Identity(
                name="derived",
                derivation=derivation(layers=3, steps=1, updates=Updates.FULL),
                claimed=expand(FULL_THREE_ONE_STEP),
            ),
            simulated(
                "gradient descent",
                expand(FULL_THREE_ONE_STEP),
                layers=3,
                steps=1,
                updates=Updates.FULL,
                cases=THREE_LAYER_CASES,
            ),
        ],
        "two steps": [
            simulated(
                f"{layers} layers, gradient descent",
                derived(layers, 2, Updates.FULL),
                layers=layers,
                steps=2,
                updates=Updates.FULL,
                cases=CASES if layers == 2 else THREE_LAYER_CASES,
                resolution=0.1,
            )
            for layers in (2, 3)
        ],
    },
    expected=Verdict.SUPPORTED,
)


NOISE_ONE_STEP = (
    P**2 / h**7
    + 2 * P / h**5
    + (h + 1) / h
    - 2 * S / h**2
    + S**2 / h**4
    + rho * (2 * P**2 * (h**2 + 2) / h**8 + 2 * P / h**4 + S**2 / h**3)
    + rho**2 * P**2 * (h**2 + 2) / h**7
)

NOISE_TWO_STEPS = (
    PAPER_TWO_STEPS
    + rho
    * (
        4 * S**2 / h**3
        + 4 * P * (h + 2) / h**4
        - 4 * P * S * (2 * h + 1) / h**5
        + 16 * P * S**2 * (2 * h + 1) / h**7
        + 4 * P**2 * (12 * h**2 + 17 * h + 28) / h**8
        + 12 * P**2 * S**2 * (3 * h + 2) / h**10
        + 20 * P**3 * (h + 2) ** 2 / h**11
        + 4 * P**4 * (2 * h**2 + h + 4) / h**14
    )
    + rho**2
    * (
        8 * P * S**2 * (2 * h + 1) / h**6
        + 2 * P**2 * (12 * h**2 + 17 * h + 28) / h**7
        + 12 * P**2 * S**2 * (5 * h**2 + 6 * h + 4) / h**10
        + 12 * P**3 * (h + 2) ** 2 * (2 * h + 3) / h**11
        + 2 * P**4 * (10 * h**3 + 9 * h**2 + 54 * h + 32) / h**14
    )
    + rho**3
    * (
        4 * P**2 * S**2 * (5 * h**2 + 6 * h + 4) / h**9
        + 4 * P**3 * (h + 2) ** 2 * (2 * h + 3) / h**10
        + 4 * P**4 * (4 * h**4 + 4 * h**3 + 37 * h**2 + 40 * h + 20) / h**14
    )
    + rho**4 * P**4 * (4 * h**4 + 4 * h**3 + 37 * h**2 + 40 * h + 20) / h**13
)


NOISE_THREE_LAYERS = (
    SCRIPT_THREE_ONE_STEP
    + 2 * P / h**3
    + rho * (S**2 / h**2 + 2 * P / h**3 + 2 * P**2 * (h + 2) / h**5)
    + rho**2 * P**2 * (h + 2) / h**5
)


def all_labels(rng: np.random.Generator, *, expression: Expr, steps: int) -> str:
    """What is wrong with the mean over all labels, at random weights, rates and noise, for width 1 or 2."""
    width = int(rng.integers(1, 3))
    one, two, variance = (Rational(int(number), 8) for number in rng.integers(4, 24, 3))
    drawn = LinearNetwork(width=width).sample(rng, keep_inputs=True)
    assert drawn.inputs is not None
    W1, W2 = (layer[0] for layer in drawn.weights)
    rates = float(one), float(two)
    mean = mean_test_loss((W1, W2), drawn.inputs[0], rates, noise=float(variance), steps=steps, updates=Updates.SIGNAL)
    said = float(expression.subs({h: width, eta1: one, eta2: two, rho: variance}))
    if abs(mean - said) <= 1e-9 * mean:
        return ""
    return f"{said:.10g} instead of {mean:.10g} at h = {width}, rates {one} and {two}, rho = {variance}"


def over_all_labels(expression: Expr, steps: int) -> Property:
    """A loss with label noise against gradient descent, its mean taken by quadrature, exact but for rounding."""

    def wrong() -> dict[str, Any]:
        return {
            text: partial(all_labels, expression=mutant, steps=steps) for text, mutant in mutants(expression).items()
        }

    return Property(
        name="gradient descent on all labels, widths 1 and 2",
        trial=partial(all_labels, expression=expression, steps=steps),
        mutants=wrong,
        budget=4,
    )


def wider(expression: Expr, steps: int, layers: int = 2) -> Expectation:
    """A loss with label noise against sampled descent where the exact mean is out of reach.

    What sampling sees is the noise as a whole; single coefficients are told apart by the exact means.
    """
    variance, cases = Rational(1, 4), (WIDER_CASES if layers == 2 else THREE_LAYER_CASES)[-2:]

    def at(noise: Rational) -> Vector:
        return np.array([float(expression.subs(point)) for point in points(cases, (rho, noise))])

    return Expectation(
        name="gradient descent, widths 3 and 5",
        draw=partial(simulate, cases=cases, layers=layers, steps=steps, updates=Updates.SIGNAL, noise=float(variance)),
        prediction=Prediction.number(
            lambda: at(variance), {f"rho -> {k} rho": lambda _, k=k: at(k * variance) for k in (0, 2)}
        ),
        chunk=5000,
        resolution=0.1,
    )


label_noise = claim(
    id="label-noise",
    title="Label noise",
    source=LAYER_BALANCE.at("label noise"),
    statement=r"\text{the expected loss with label noise } \xi \sim N(0, \rho)",
    hypotheses=("orthogonal initialisation", "n = d = h, X^T X = n I", "signal-only updates"),
    conditions=("every width h >= 1",),
    findings=(
        "two layers: noise of fixed variance adds rho S^2/h^3, which in wide networks outweighs the signal's S^2/h^4; "
        "three layers: rho S^2/h^2 beside S^2/h^2",
    ),
    formulas=("two-layer-noise-1", "two-layer-noise-2", "three-layer-noise-1", "three-layer-noise-2"),
    parts={
        f"two layers, {part}": [
            Identity(name="Wick calculus", derivation=derivation(steps=steps, noise=rho), claimed=expand(loss)),
            over_all_labels(loss, steps),
            wider(loss, steps),
        ]
        for part, steps, loss in (("one step", 1, NOISE_ONE_STEP), ("two steps", 2, NOISE_TWO_STEPS))
    }
    | {
        "three layers, one step": [
            Identity(
                name="Wick calculus",
                derivation=derivation(layers=3, steps=1, noise=rho),
                claimed=expand(NOISE_THREE_LAYERS),
            ),
            wider(NOISE_THREE_LAYERS, 1, layers=3),
        ]
    },
    expected=Verdict.PROVED,
)

CLAIMS = (gradient_split, loss_two_layer, loss_three_layer, loss_exact, label_noise)
