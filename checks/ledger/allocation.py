"""Evidence for chapter 6: the best allocation of the rates, with and without a budget, and what full descent leaves."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from sympy import FiniteSet, Integer, Interval, Rational, S, Set, sqrt

from numerics.allocation import Split, best_allocation, best_equal_rates
from numerics.layerwise_loss import Divergent, exact_loss, expected_loss
from theory import allocation, balance, stability
from theory.layerwise import Updates, eta1, eta2, h, product, rho, total

from ..evidence import Enclosure, Identity, Limit
from ..evidence.base import Evidence
from ..evidence.enclosure import Certificate
from ..verdicts import Standing

Parts = dict[str, list[Evidence]]
P, SUM, H, C = product, total, h, balance.c
FULL, SIGNAL = Updates.FULL, Updates.SIGNAL


def certificate(holds: bool, detail: str) -> Certificate:
    """A statement that was decided, either way."""
    return Certificate(Standing.HOLDS if holds else Standing.FAILS, detail)


# --- the set of exponents for which equal rates are a minimum ---------------------------------------------------------


def exponents_are(claimed: Set, **how: Any) -> Certificate:
    """Whether `claimed` is the set of all `α >= 0` for which equal rates `h^α` are a minimum in wide networks."""
    found = balance.favourable_exponents(**how)
    return certificate(found == claimed, f"alpha in {found}")


def exponents_contain(claimed: Set, **how: Any) -> Certificate:
    """Whether equal rates `h^α` are a minimum in wide networks for each `α` in `claimed`."""
    found = balance.favourable_exponents(**how)
    return certificate(claimed.is_subset(found) is True, f"alpha in {found}")


def exponents(name: str, claimed: Set, **how: Any) -> Enclosure:
    """The exact set of exponents; its mutants are other intervals."""
    others = (Interval(1, Rational(8, 5)), Interval.Lopen(1, Rational(8, 5)), Interval.Ropen(1, Rational(8, 5)))
    others += (Interval.Lopen(1, Rational(3, 2)), Interval.Ropen(0, 1), S.EmptySet, Interval.Ropen(0, Rational(2, 3)))
    return Enclosure(
        name=name,
        certify=partial(exponents_are, **how),
        claimed=claimed,
        mutants={str(other): other for other in others if other != claimed},
    )


def turning(name: str, claimed: Any, *of: Any) -> Limit:
    """The leading coefficient of the curvature at equal rates `c h^α`."""
    return Limit(name=name, derivation=partial(balance.scaled_curvature, *of), claimed=claimed)


ALL_EXPONENTS: Parts = {
    "all exponents, two layers": [
        exponents("signal-only", Interval(1, Rational(8, 5))),
        exponents("full descent", Interval.Lopen(1, Rational(8, 5)), updates=FULL),
        turning("signal-only, at c h", 8 * C - 4, 2, 2, SIGNAL, Integer(1)),
        turning("full descent, at c h", 8 * C - 24, 2, 2, FULL, Integer(1)),
        turning("signal-only, at c h^(8/5)", 8 * C - 4 * C**6, 2, 2, SIGNAL, Rational(8, 5)),
    ],
    "all exponents, three layers": [
        exponents("signal-only", Interval.Ropen(0, Rational(2, 3)), layers=3),
        exponents("full descent", Interval.open(0, Rational(2, 3)), layers=3, updates=FULL),
        turning("signal-only, at c h^(2/3)", 8 * C - 32 * C**4, 3, 2, SIGNAL, Rational(2, 3)),
    ],
}


# --- label noise ------------------------------------------------------------------------------------------------------


def never_balanced(variance: Fraction) -> Certificate:
    """Whether equal rates are no minimum for any width and any rate, with label noise of this variance or more."""
    return certificate(balance.never_balanced(variance), f"every h >= 1, every rate, every rho >= {variance}")


def noisy(size: Any, decay: Any, claimed: Set) -> Enclosure:
    """The set of exponents with noise of the variance `size · h^(−decay)`."""
    noise = balance.LabelNoise(size, decay)
    return exponents(f"rho = {size} h^(-{decay})", claimed, noise=noise)


NOISE_AT_WIDTH = -16 * C**6 * rho**4 - 184 * C**4 * rho**3 - 112 * C**2 * rho**2 + 16 * C * rho - 4 * rho

LABEL_NOISE: Parts = {
    "label noise of fixed variance": [
        turning("at c h", NOISE_AT_WIDTH, 2, 2, SIGNAL, Integer(1), Integer(0)),
        Enclosure(
            name="rho >= 1/7",
            certify=never_balanced,
            claimed=Fraction(1, 7),
            mutants={"rho >= 1/10": Fraction(1, 10), "rho >= 0": Fraction(0)},
        ),
        noisy(1, 0, S.EmptySet),
        noisy(Fraction(1, 20), 0, FiniteSet(1)),
    ],
    "label noise that falls with the width": [
        noisy(1, Fraction(1, 2), Interval.Ropen(1, Rational(13, 10))),
        noisy(Fraction(1, 8), 1, Interval(1, Rational(8, 5))),
        noisy(1, 2, Interval(1, Rational(8, 5))),
        turning(
            "rho/h, at c h^(8/5)",
            8 * C * (1 + 2 * rho) - 4 * C**6 * (4 * rho**4 + 16 * rho**3 + 20 * rho**2 + 8 * rho + 1),
            2,
            2,
            SIGNAL,
            Rational(8, 5),
            Integer(1),
        ),
    ],
}


# --- the best rates ---------------------------------------------------------------------------------------------------


def splits_are(claimed: Mapping[int, Split], *, width: int, **how: Any) -> Certificate:
    """Whether these are the best splits of the budgets."""
    found = {budget: best_allocation(width, budget, digits=6, **how) for budget in claimed}
    losses = (f"{b}: {a.split.value}, {a.loss} (equal {a.equal}, one layer {a.one_layer})" for b, a in found.items())
    return certificate({b: a.split for b, a in found.items()} == dict(claimed), f"h = {width}; " + "; ".join(losses))


def splits(name: str, claimed: Mapping[int, Split], **how: Any) -> Enclosure:
    """The best split of each budget; a mutant has another for one of them."""
    following = {Split.ONE_LAYER: Split.UNEQUAL, Split.UNEQUAL: Split.EQUAL, Split.EQUAL: Split.ONE_LAYER}
    mutants = {f"{b}: {following[split].value}": {**claimed, b: following[split]} for b, split in claimed.items()}
    return Enclosure(name=name, certify=partial(splits_are, **how), claimed=claimed, mutants=mutants)


def equal_rates_reach(claimed: str, *, updates: Updates) -> Certificate:
    """Whether `claimed` is the least loss with equal rates after two steps of two layers, h = 1000, to six digits."""
    rate, loss = best_equal_rates(1000, updates=updates, digits=6)
    return certificate(str(loss) == claimed, f"{loss} at the rates {rate}, h = 1000")


ONE, UNEQUAL, EQUAL = Split.ONE_LAYER, Split.UNEQUAL, Split.EQUAL

BEST_RATES: Parts = {
    "of all rates: one layer alone": [
        Identity(
            name=f"{layers} layers, {steps} step(s), {updates.value}",
            derivation=partial(allocation.one_layer_alone, layers, steps, updates),
            claimed=(1 - steps * SUM / scale) ** 2 + 1 / H
            if updates is SIGNAL
            else (1 + 1 / H) * (1 - SUM / scale) ** (2 * steps),
        )
        for layers, scale in ((2, H**2), (3, H))
        for steps, updates in ((2, SIGNAL), (1, FULL))
    ],
    "nothing is below 1/h for the surrogate": [
        Identity(
            name="two layers, two steps",
            derivation=partial(allocation.excess, 2, 2),
            claimed=((1 + P / H**3) ** 4 - 1) / H + 16 * P**2 / H**7 + 8 * P * (1 + P / H**3) ** 2 / H**5,
        )
    ],
    "of equal rates": [
        Limit(
            name=f"{steps} step(s), {updates.value}: h^({order}) (L - 1)",
            derivation=partial(allocation.best_equal_rates, 2, steps, updates),
            claimed=least,
        )
        for steps, updates, order, least in (
            (1, SIGNAL, "1/3", Integer(-3)),
            (1, FULL, "1/3", Integer(-3)),
            (2, SIGNAL, "1/5", -5 * Integer(3) ** Rational(3, 5)),
        )
    ],
    "of equal rates, at h = 1000": [
        Enclosure(
            name=f"two steps, {updates.value}",
            certify=partial(equal_rates_reach, updates=updates),
            claimed=claimed,
            mutants={"the last digit": claimed[:-1] + "5", "the other updates": other},
        )
        for updates, claimed, other in ((SIGNAL, "0.337234", "0.323033"), (FULL, "0.323033", "0.337234"))
    ],
    "under a budget, one step": [
        Identity(
            name="signal-only: one layer alone, as the loss grows with P",
            derivation=partial(allocation.slope, 2, 1, SIGNAL),
            claimed=2 * P / H**7 + 2 / H**5,
        ),
        Identity(
            name="full descent, two layers: P*",
            derivation=partial(allocation.best_product, 2),
            claimed=2 * H**2 * (SUM - H**2) / (H + 3),
        ),
        Identity(
            name="full descent, three layers: P*",
            derivation=partial(allocation.best_product, 3),
            claimed=H * (SUM - H) / 2,
        ),
        Identity(
            name="full descent: S^2/4 - P* > 0",
            derivation=partial(allocation.room, 2),
            claimed=(SUM - 4 * H**2 / (H + 3)) ** 2 / 4 + 2 * H**4 * (H + 1) / (H + 3) ** 2,
        ),
    ],
    "under a budget, two steps": [
        Identity(
            name="signal-only: convex in P",
            derivation=partial(allocation.convexity, 2),
            claimed=4 * (3 * P**2 + 6 * P * H**2 * (H + 2) + 2 * SUM**2 * H**3 + 11 * H**6 + 8 * H**5) / H**13,
        ),
        splits(
            "signal-only, h = 1000",
            {1004: ONE, 1005: UNEQUAL, 1007: EQUAL, 63000: EQUAL, 120000: UNEQUAL, 10**6: ONE},
            width=1000,
        ),
        splits(
            "full descent, h = 1000",
            {5990: ONE, 6050: UNEQUAL, 27000: EQUAL, 63000: EQUAL, 150000: UNEQUAL, 10**6: ONE},
            width=1000,
            updates=FULL,
        ),
    ],
}


# --- many steps of full descent ---------------------------------------------------------------------------------------


def left_over(claimed: Fraction, *, rates: tuple[int, int]) -> Certificate:
    """Whether the expected loss at h = 100 after 24 steps with these rates is above `claimed`, by less than 10^−4."""
    loss = expected_loss(2, 100, *rates, steps=24, digits=6)
    return certificate(0 < float(loss) - claimed < 1e-4, f"{loss} after 24 steps with rates {rates}, h = 100")


def asymmetric(claimed: int, *, width: int) -> Certificate:
    """Whether `claimed` is the first step after which the loss of three layers is not symmetric in the rates."""
    pairs = ((Fraction(1, 3), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 3)))
    for steps in range(1, 5):
        one, other = (exact_loss(3, width, *rates, steps) for rates in pairs)
        if one != other:
            return certificate(steps == claimed, f"step {steps}: {float(one):.6g} and {float(other):.6g}")
    return certificate(False, "symmetric through four steps")


def divergent(claimed: int) -> Certificate:
    """Whether the expected loss of three layers at h = 1000, rates 300 and 200, first exceeds 1e100 at this step."""
    for steps in range(1, 9):
        try:
            expected_loss(3, 1000, 300, 200, steps, digits=3)
        except Divergent as beyond:
            return certificate(steps == claimed, f"step {steps}: {beyond}")
    return certificate(False, "below 1e100 through eight steps")


EPS, EPS_BAR, W, KAPPA = stability.epsilon, stability.epsilon_bar, stability.w, stability.kappa
A, FIRST = stability.A, stability.a

SYMMETRY: Parts = {
    "two layers, any number of steps: only S and P matter": [
        Identity(
            name="the residual after a step",
            derivation=stability.residual_step,
            claimed=EPS * (1 - W + KAPPA * EPS * EPS_BAR - KAPPA * EPS),
        ),
        Identity(
            name="the weights after a step",
            derivation=stability.weight_step,
            claimed=W + KAPPA * (W * EPS * EPS_BAR + 2 * EPS + 2 * EPS_BAR - 4 * EPS * EPS_BAR),
        ),
    ],
    "three layers: symmetric in the rates for two steps only": [
        Enclosure(
            name="the first step that is not",
            certify=partial(asymmetric, width=7),
            claimed=3,
            mutants={"one": 1, "two": 2, "four": 4},
        )
    ],
}

STABILITY: Parts = {
    "full descent, two layers: a stable minimum needs eta1 eta2 < h^3": [
        Identity(
            name="the factor of the residual in a step",
            derivation=partial(stability.contraction, 2),
            claimed=1 - 2 * sqrt(eta1 * eta2 / H**3) - (sqrt(eta1 * H) / A - sqrt(eta2) * A) ** 2 / H**2,
        )
    ],
    "full descent, three layers: it needs eta1 eta2 < h": [
        Identity(
            name="the factor of the residual in a step",
            derivation=partial(stability.contraction, 3),
            claimed=1 - 2 * sqrt(eta1 * eta2 / H) - (sqrt(eta1 * H) / A - sqrt(eta2) * A) ** 2 / H,
        ),
        Enclosure(
            name="h = 1000, rates 300 and 200",
            certify=divergent,
            claimed=5,
            mutants={"one step earlier": 4, "one step later": 6},
        ),
    ],
    "full descent, two layers, equal rates: at least 1/(2h) is left": [
        Identity(
            name="the loss and the saddle at the eigenvalue -1",
            derivation=stability.least_loss,
            claimed=1 / (2 * H)
            + ((H - 1) * stability.inside + stability.at_one / 2) / H
            + (2 * FIRST**2 / sqrt(H) + FIRST**4 / H) / (2 * H),
        ),
        Identity(name="equal layers stay equal", derivation=stability.layers_stay_equal, claimed=S.Zero),
        Enclosure(
            name="equal rates",
            certify=partial(left_over, rates=(500, 500)),
            claimed=Fraction(1, 200),
            mutants={"1/h": Fraction(1, 100), "1/(3h)": Fraction(1, 300), "1/(4h)": Fraction(1, 400)},
        ),
    ],
    "unequal rates leave nothing": [
        Identity(name="what the flow conserves", derivation=stability.flow_invariant, claimed=S.Zero),
        Enclosure(
            name="rates 510 and 490",
            certify=partial(left_over, rates=(510, 490)),
            claimed=Fraction(0),
            mutants={"1/(2h)": Fraction(1, 200), "1/(4h)": Fraction(1, 400)},
        ),
    ],
}
