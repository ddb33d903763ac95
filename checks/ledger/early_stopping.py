"""Chapter 4, early stopping: the filters of flow and descent against ridge regression, and the noise they fit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm
from sympy import Expr, Rational, exp, expand

from numerics import data, kernels
from numerics.early_stopping import bounds
from numerics.subdivision import Outcome
from theory import early_stopping as stopping
from theory import stopping_risk
from theory.dynamics import k, s, x

from ..claims import claim
from ..evidence import Enclosure, Expectation, Experiment, Identity, Limit
from ..evidence.enclosure import Certificate
from ..evidence.expectation import Prediction
from ..verdicts import Standing, Verdict
from .sources import NTK_ARTICLE

Vector = NDArray[np.float64]
TIMES = (0.1, 1.0, 10.0)


@cache
def training_kernel() -> Vector:
    """The tangent kernel of two hidden layers on eight fixed points in R³."""
    return kernels.ntk(data.sphere(np.random.default_rng(1810_10082), 8, 3), depth=2)


def fitted_noise(rng: np.random.Generator, count: int) -> Vector:
    """`‖f_t(X)‖²` after training on pure noise of variance 1 from 0, at each of `TIMES`, shape `(count, times)`."""
    noise = rng.normal(size=(8, count))
    fitted = [noise - expm(-time * training_kernel()) @ noise for time in TIMES]
    return np.stack([np.square(outputs).sum(axis=0) for outputs in fitted], axis=1)


def noise_by_filter(filtered: Callable[[Vector], Vector]) -> Vector:
    """`∑ φ(λt)²` at each of `TIMES`."""
    eigenvalues: Vector = np.linalg.eigvalsh(training_kernel()).astype(np.float64)
    return np.array([np.square(filtered(eigenvalues * time)).sum() for time in TIMES])


def flow_filter(at: Vector) -> Vector:
    """`1 − e^{−s}`."""
    return -np.expm1(-at)


WRONG_FILTERS: dict[str, Callable[[Vector], Vector]] = {
    "the ridge's filter": lambda at: at / (1 + at),
    "the filter, not its square": lambda at: np.sqrt(flow_filter(at)),
    "all noise": np.ones_like,
    "twice the time": lambda at: flow_filter(2 * at),
}


def end_minus_best(rng: np.random.Generator, count: int) -> Vector:
    """The risk on the data at the end of training minus that at `t = 1`, shape `(count, 1)`.

    Signals are drawn with the kernel as covariance; half of the labels' variance is noise.
    """
    kernel = training_kernel() / np.trace(training_kernel()) * 8
    signal = rng.multivariate_normal(np.zeros(8), kernel, size=count, method="cholesky").T
    labels = signal + rng.normal(size=signal.shape)
    early = labels - expm(-kernel) @ labels
    return (np.square(labels - signal) - np.square(early - signal)).sum(axis=0)[:, None]


def best_constant(claimed: Fraction, *, function: Expr, last_digit: Fraction) -> Certificate:
    """Whether `claimed` bounds the ratio to the ridge's filter for all `s`, and less by `last_digit` does not."""
    above, below = bounds(claimed, function), bounds(claimed - last_digit, function)
    if Outcome.UNDECIDED in (above, below):
        return Certificate(Standing.UNDECIDED, f"not decided at {float(claimed):.12g}")
    holds = above is Outcome.HOLDS and below is Outcome.VIOLATED
    detail = f"for all s: {float(claimed):.12g} {above.value}, {float(claimed - last_digit):.12g} {below.value}"
    return Certificate(Standing.HOLDS if holds else Standing.FAILS, detail)


def constant(name: str, digits: str, function: Expr) -> Enclosure:
    """The best constant, to the last of the digits given, rounded up."""
    value = Fraction(digits)
    last = Fraction(1, 10 ** len(digits.partition(".")[2]))
    return Enclosure(
        name=name,
        certify=partial(best_constant, function=function, last_digit=last),
        claimed=value,
        mutants={
            "one more in the last digit": value + last,
            "one less": value - last,
            "2% more": value * Fraction(102, 100),
            "4/3": Fraction(4, 3),
        },
    )


SIGNAL, NOISE = stopping_risk.signal, stopping_risk.noise
A = stopping.strength

early_stopping = claim(
    id="early-stopping",
    title="Stopping early",
    source=NTK_ARTICLE.at("infinite width, convergence and generalisation"),
    statement=r"\frac{s}{1+s} \le 1 - e^{-s} \le \kappa\,\frac{s}{1+s},\quad s = c\lambda t; \text{ early stopping "
    r"limits the fit to slowly learnt components, and so the noise fitted}",
    hypotheses=("gradient flow with a constant kernel", "a squared loss", "the ridge mu = 1/(ct)"),
    conditions=(
        "noise in a mode is kept out only while c lambda t is small: a fraction 1 - 1/e is fitted at t = 1/(c lambda)",
        "for descent with eta <= 1/(c lambda_max), where 2 stands for kappa; beyond it the lower bound fails",
    ),
    findings=(
        "kappa = 1.2984256076: 1 + s/(1 + s + s^2) at e^s = 1 + s + s^2; no other matching than mu = 1/(ct) is closer",
        "the risk on the data is at most kappa^2 = 1.68591 times that of ridge regression, and there is no bound "
        "backwards; 1.2147 for signals drawn with the kernel as covariance and the best ridge",
        "white noise is the same in all modes: stopping tells fast modes from slow ones, not signal from noise",
        "the best time of a mode is log(1 + b^2/sigma^2)/(c lambda): with noise the end of training is never best",
        "with 1 < eta c lambda < 2 a further step of descent can take fitted noise away",
    ),
    formulas=("flow-filter", "ridge-filter", "descent-filter", "ridge-filter-constant"),
    parts={
        "ridge regression learns less": [
            Identity(
                name="the difference",
                derivation=stopping.lower_bound,
                claimed=(exp(s) - 1 - s) * exp(-s) / (1 + s),
            )
        ],
        "and at least 1/kappa of it": [
            Identity(
                name="where the ratio is largest",
                derivation=stopping.peak_slope,
                claimed=((1 + s + s**2) * exp(-s) - 1) / s**2,
            ),
            Identity(name="one such point", derivation=stopping.single_peak, claimed=s * (1 - s) * exp(-s)),
            Identity(name="the ratio there", derivation=stopping.ridge_constant, claimed=1 + s / (1 + s + s**2)),
        ],
        "the digits of kappa": [constant("for all times", "1.2984256076", stopping.flow_filter())],
        "no other strength of the ridge is closer": [
            Identity(
                name="a weaker ridge",
                derivation=stopping.weaker_matching,
                claimed=(1 / A - 1) * (1 - exp(-s)),
            ),
            Identity(
                name="a stronger ridge",
                derivation=stopping.stronger_matching,
                claimed=(A - 1) * (1 - exp(-s)) / s,
            ),
        ],
        "gradient descent": [
            Identity(name="from below", derivation=stopping.bernoulli_step, claimed=(k + 1) * x**2),
            Identity(name="from above, early", derivation=stopping.twice_ridge_early, claimed=s * (1 - s) / (1 + s)),
            Identity(name="from above, late", derivation=stopping.twice_ridge_late, claimed=(s - 1) / (1 + s)),
            Identity(name="two steps", derivation=stopping.two_step_constant, claimed=(x - Rational(3, 4)) ** 2),
            Identity(
                name="a rate too large",
                derivation=stopping.overshoot,
                claimed=x**2 * (2 * x - 3) / (1 + 2 * x),
            ),
            Identity(
                name="noise taken away",
                derivation=stopping.noise_may_fall,
                claimed=x**2 * (x - 1) * (3 - x),
            ),
        ],
        "the noise fitted": [
            Identity(
                name="its square",
                derivation=stopping_risk.fitted_noise,
                claimed=NOISE**2 * stopping_risk.squares,
            ),
            Identity(
                name="it grows",
                derivation=stopping_risk.noise_grows,
                claimed=2 * exp(-s) * (1 - exp(-s)),
            ),
            Limit(name="early", derivation=stopping_risk.noise_early, claimed=1),
            Limit(name="late", derivation=stopping_risk.noise_late, claimed=1),
            Expectation(
                name="training on noise",
                draw=fitted_noise,
                prediction=Prediction.number(
                    partial(noise_by_filter, flow_filter),
                    {text: lambda _, wrong=wrong: noise_by_filter(wrong) for text, wrong in WRONG_FILTERS.items()},
                ),
                chunk=5000,
                budget=20,
                resolution=0.1,
            ),
        ],
        "when to stop": [
            Identity(
                name="the slope of the risk",
                derivation=stopping_risk.risk_slope,
                claimed=2 * exp(-s) * (NOISE**2 - (SIGNAL**2 + NOISE**2) * exp(-s)),
            ),
            Identity(
                name="the least risk",
                derivation=stopping_risk.least_risk,
                claimed=SIGNAL**2 * NOISE**2 / (SIGNAL**2 + NOISE**2),
            ),
            Experiment(name="stopping beats the end", draw=end_minus_best, chunk=2000, budget=10),
        ],
        "its risk against that of ridge regression": [
            Identity(
                name="mode by mode",
                derivation=stopping_risk.risk_comparison,
                claimed=SIGNAL**2 * (stopping_risk.q**2 / (1 + s) ** 2 - exp(-2 * s))
                + NOISE**2 * (stopping_risk.q**2 * s**2 / (1 + s) ** 2 - (1 - exp(-s)) ** 2),
            ),
            Limit(name="no bound backwards", derivation=stopping_risk.no_converse, claimed=0),
        ],
        "the constant for signals drawn with the kernel": [
            constant("for all times", "1.2147", expand(stopping_risk.balanced_flow_risk().conclusion / NOISE**2))
        ],
    },
    expected=Verdict.CERTIFIED,
)

CLAIMS = (early_stopping,)
