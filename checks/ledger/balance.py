"""Chapter 6, allocation: equal or unequal learning rates under a budget, and the scales at which the loss turns."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from sympy import EmptySet, Interval, Rational, expand

from numerics.balance import threshold
from theory import balance
from theory.layerwise import Gaussian, Updates, h

from ..claims import Correction, claim
from ..evidence import Enclosure, Identity, Limit
from ..evidence.enclosure import Certificate
from ..verdicts import Standing, Verdict
from .allocation import ALL_EXPONENTS, BEST_RATES, LABEL_NOISE, STABILITY, SYMMETRY, exponents, exponents_contain
from .layerwise import WIDER_CASES, P, S, derivation, simulated
from .sources import LAYER_BALANCE


def threshold_is(claimed: int, *, alpha: Fraction, **how: Any) -> Certificate:
    """Whether `claimed` is the smallest width from which on equal rates `h^alpha` are a strict local minimum."""
    found = threshold(alpha, **how)
    text = f"h_0({alpha}) = {'none' if found is None else found}"
    return Certificate(Standing.HOLDS if found == claimed else Standing.FAILS, text)


def thresholds(what: str, table: Mapping[Fraction, int], **how: Any) -> list[Enclosure]:
    """One enclosure for each exponent of a table."""
    return [
        Enclosure(
            name=f"{what}, alpha = {alpha}",
            certify=partial(threshold_is, alpha=alpha, **how),
            claimed=claimed,
            mutants={"one more": claimed + 1, "one less": claimed - 1, "twice": 2 * claimed},
        )
        for alpha, claimed in table.items()
    ]


def contains(name: str, claimed: Interval, **how: Any) -> Enclosure:
    """Equal rates `h^α` are a minimum in wide networks for each `α` that the source gives."""
    wider = {"from 1/2 on": Interval(Rational(1, 2), claimed.end), "up to 2": Interval(claimed.start, 2)}
    return Enclosure(name=name, certify=partial(exponents_contain, **how), claimed=claimed, mutants=wider)


X, H = balance.x, h
asymmetry_then_balance = claim(
    id="asymmetry-then-balance",
    title="First unequal, then equal learning rates",
    source=LAYER_BALANCE.at("Corollary 5.4"),
    statement=r"\eta_1 = \eta_2 = h^\alpha \text{ is no local minimum under its budget after one step } "
    r"(0 < \alpha \le \tfrac32),\quad \text{ and is one after two steps } (1 < \alpha \le \tfrac32,\ h \text{ large})",
    hypotheses=("orthogonal initialisation", "signal-only updates", "two layers; three layers up to O(h)"),
    conditions=(
        "two layers, two signal-only steps: exactly for 1 <= alpha <= 8/5, in wide networks from the rates h/2 up to "
        "2^(1/5) h^(8/5); h >= 33 for alpha = 5/4, h >= 257 for alpha = 3/2",
        "full gradient descent: exactly for 1 < alpha <= 8/5, from the rates 3h on; h >= 164 for alpha = 5/4, h >= 200 "
        "for alpha = 3/2",
        "label noise must fall with the width: rho = h^(-1/2) leaves 1 <= alpha < 13/10, rho = 1/(8h) all of "
        "1 <= alpha <= 8/5; of a fixed rho only rates c h are left, where 16 c > 4 + 112 c^2 rho + 184 c^4 rho^2 + "
        "16 c^6 rho^3, which needs rho < 0.1357",
    ),
    findings=(
        "near alpha = 1 full descent needs far wider networks than the surrogate: 59264 and 24 at 11/10",
        "with label noise of any fixed variance >= 1/7, two signal-only steps leave no balanced minimum, at any width "
        "and any rate",
        "of all rates the best are those of one layer alone: the rate h^2 (three layers: h) makes the loss of full "
        "descent exactly zero in one step, and the surrogate's 1/h; equal rates at best reach 1 - 3 h^(-1/3) after one "
        "step and 1 - 5 3^(3/5) h^(-1/5) after two, to leading order; after two at h = 1000 0.337, full descent 0.323",
        "under a budget equal rates are never the best split after one step; after two signal-only steps the balanced "
        "point is the best of all splits wherever it is a local minimum",
        "h = 1000, two steps, budget 63000: equal rates 0.593 (full descent 0.629), one layer alone 0.765 (0.772); "
        "full descent, budget 150000: equal rates 1.08, the best pair, 132412 and 17588, 0.134",
        "two layers: the loss depends on the rates by their sum and product only, after any number of steps; three "
        "layers: from the third step on it is not symmetric, so that equal rates are not even stationary",
    ),
    formulas=("balance-threshold-signal", "balance-threshold-full"),
    parts={
        "one step: never a minimum": [
            Identity(
                name="two layers, curvature",
                derivation=partial(balance.curvature, 2, 1),
                claimed=-2 * (H**2 + X**2) / H**7,
            ),
            Identity(
                name="three layers, curvature",
                derivation=partial(balance.curvature, 3, 1),
                claimed=-2 * (H + X**2) / H**4,
            ),
        ],
        "two steps, two layers: a minimum": [
            contains("1 < alpha <= 3/2", Interval.Lopen(1, Rational(3, 2))),
            *thresholds("smallest width", {Fraction(5, 4): 33, Fraction(7, 5): 74, Fraction(3, 2): 257}),
        ],
        "the same under full gradient descent": [
            contains("1 < alpha <= 3/2", Interval.Lopen(1, Rational(3, 2)), updates=Updates.FULL),
            *thresholds(
                "smallest width", {Fraction(5, 4): 164, Fraction(7, 5): 100, Fraction(3, 2): 200}, updates=Updates.FULL
            ),
        ],
        "two steps, three layers, up to O(h): a minimum": [contains("0 < alpha <= 1", Interval.Lopen(0, 1), layers=3)],
    },
    correction=Correction(
        text="for three layers the balanced point is a minimum after two steps for 0 <= alpha < 2/3, not up to O(h)",
        latex=r"k = 3:\quad 0 \le \alpha < \tfrac23",
        parts={
            "three layers": [
                *thresholds(
                    "smallest width",
                    {Fraction(1, 4): 15, Fraction(1, 2): 76, Fraction(3, 5): 2779},
                    layers=3,
                ),
                *thresholds(
                    "smallest width, full descent",
                    {Fraction(1, 4): 18, Fraction(1, 2): 26},
                    layers=3,
                    updates=Updates.FULL,
                ),
            ],
            "two layers, at and near the ends": [
                *thresholds("signal-only", {Fraction(1): 22, Fraction(8, 5): 308061}),
                *thresholds("full descent", {Fraction(11, 10): 59264}, updates=Updates.FULL),
            ],
            **ALL_EXPONENTS,
            **LABEL_NOISE,
            **SYMMETRY,
            **BEST_RATES,
        },
    ),
    expected=Verdict.CORRECTED,
)

GAUSSIAN_SIGNAL = P**2 * (h**2 + 2) / h**9 - 2 * P / h**4 + S**2 * (2 * h + 1) / h**5 - 2 * S / h**2 + (h + 1) / h

gaussian_initialisation = claim(
    id="gaussian-initialisation",
    title="Gaussian weights",
    source=LAYER_BALANCE.at("Gaussian initialisation"),
    statement=r"\text{the results hold for } W_1 \sim N(0, 1/d),\ W_2 \sim N(0, 1/h)",
    hypotheses=("two layers", "n = d = h, X^T X = n I", "beta N(0, 1/d^2)", "no label noise"),
    conditions=("full gradient descent keeps the asymmetry after one step",),
    findings=("the surrogate and full descent disagree on the sign of the curvature after one step",),
    formulas=("two-layer-gaussian-signal-1", "two-layer-gaussian-full-1"),
    parts={
        "the expected loss after one signal-only step": [
            Identity(
                name="Wick calculus",
                derivation=derivation(steps=1, initialisation=Gaussian()),
                claimed=expand(GAUSSIAN_SIGNAL),
            ),
            simulated(
                "gradient descent",
                expand(GAUSSIAN_SIGNAL),
                layers=2,
                steps=1,
                updates=Updates.SIGNAL,
                initialisation=Gaussian(),
                cases=WIDER_CASES,
                resolution=0.1,
            ),
        ],
        "one signal-only step: the balanced point is no minimum": [
            exponents("no exponent", EmptySet, steps=1, initialisation=Gaussian())
        ],
    },
    correction=Correction(
        text="from Gaussian weights the balanced point is a strict minimum already after one signal-only step, "
        "for every alpha < 3/2; under full gradient descent it is none, as claimed",
        latex=r"\partial_u^2 \mathcal L_1 / 2 = \frac{2}{h^4} - \frac{2 x^2 (h^2 + 2)}{h^9} > 0",
        expression=2 / H**4 - 2 * X**2 * (H**2 + 2) / H**9,
        parts={
            "signal-only": [
                Identity(
                    name="curvature",
                    derivation=partial(balance.curvature, 2, 1, Updates.SIGNAL, Gaussian()),
                    claimed=2 / H**4 - 2 * X**2 * (H**2 + 2) / H**9,
                ),
                exponents("all exponents", Interval.Ropen(0, Rational(3, 2)), steps=1, initialisation=Gaussian()),
                *thresholds("smallest width", {Fraction(1): 2, Fraction(5, 4): 3}, steps=1, initialisation=Gaussian()),
            ],
            "full gradient descent": [
                exponents("no exponent", EmptySet, steps=1, updates=Updates.FULL, initialisation=Gaussian())
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

rate_thresholds = claim(
    id="rate-thresholds",
    title="The critical scales of the rates",
    source=LAYER_BALANCE.at("scaling regimes"),
    statement=r"\eta = O(h\sqrt h) \text{ for two layers},\quad \eta = O(h) \text{ for three, are critical}",
    hypotheses=("orthogonal initialisation", "equal rates", "one signal-only step"),
    conditions=(
        "two layers: at c h^(3/2) the interaction c^4/h of the layers becomes as large as the terms beside it; the "
        "loss goes on falling up to h^(5/3)",
        "three layers: at c h every term of the loss is of order one",
        "full gradient descent of three layers: its scale is sqrt h, not h; beyond eta1 eta2 = h it has no stable "
        "minimum, and at h = 1000, rates 300 and 200, the expected loss exceeds 1e100 by the fifth step",
    ),
    findings=(
        "for two layers the loss turns at h^(5/3), not h^(3/2): there it is 1 + (c^4 - 4c) h^(-1/3)",
        "two layers, full descent: a stable global minimum exists if and only if eta1 eta2 < h^3, so h^(3/2) is where "
        "equal rates lose it",
        "two layers, full descent, exact arithmetic: with equal rates the expected loss is always at least 1/(2h), "
        "and tends to it for small ones, as half of all runs end at the saddle of the eigenvalue -1; unequal rates "
        "escape it",
    ),
    parts={
        "two layers, at c h^(3/2): h (L - 1 + 4c/sqrt h)": [
            Limit(
                name="the terms of order 1/h",
                derivation=partial(balance.scaled_loss, 2, Rational(3, 2), Rational(1)),
                claimed=1 + 4 * balance.c**2 + balance.c**4,
            )
        ],
        "two layers, at c h^(5/3): h^(1/3) (L - 1)": [
            Limit(
                name="gain and interaction",
                derivation=partial(balance.scaled_loss, 2, Rational(5, 3), Rational(1, 3)),
                claimed=balance.c**4 - 4 * balance.c,
            )
        ],
        "three layers, at c h: L": [
            Limit(
                name="all terms",
                derivation=partial(balance.scaled_loss, 3, Rational(1), Rational(0)),
                claimed=1 - 4 * balance.c + 4 * balance.c**2 + balance.c**4,
            )
        ],
        **STABILITY,
    },
    expected=Verdict.PROVED,
)

CLAIMS = (rate_thresholds, asymmetry_then_balance, gaussian_initialisation)
