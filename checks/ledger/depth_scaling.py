"""Chapter 2: depth scaled with the separation of the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from sympy import Rational, Symbol, exp

from numerics import data, kernels, text
from numerics.depth_scaling import eigenvalue_bound, predictor_norms, smallest_angle
from numerics.exponents import Statistic
from numerics.subdivision import Outcome, holds
from theory import depth_scaling
from theory.crossover import s
from theory.depth_scaling import epsilon, sigma
from theory.spectrum import t

from ..claims import Correction, claim
from ..evidence import Enclosure, Identity, Limit, Property, Scaling
from ..evidence.enclosure import Certificate
from ..verdicts import Standing, Verdict
from .sources import WIDTH_AND_DEPTH

Vector = NDArray[np.float64]
CROSSOVER = ((1 + s) ** 4 - 1) / (4 * s * (1 + s) ** 3)
BOUND = (
    sigma
    * (6 * sigma**3 + 22 * sigma**2 + 28 * sigma + 12 - (sigma**2 + 4 * sigma + 6) * exp(epsilon))
    / (16 * (1 + sigma) ** 4)
)
CROSSOVERS = (0.1, 0.5, 2.0)  # values of s
TIMES = tuple(float(time) for time in np.geomspace(0.01, 1e4, 25))
ROUNDING = 1e-10  # of an eigenvalue in float64, relative to the largest possible, the number of points
KAPPA = 0.6381726863389516  # the largest (1 − e^{−z})/√z

# --- data -------------------------------------------------------------------------------------------------------------


def sphere(rng: np.random.Generator, points: int) -> Vector:
    """Points of the spheres in R⁵ to R³⁰; in fewer dimensions some come so close that the depth grows out of hand."""
    return data.sphere(rng, points, int(rng.integers(5, 31)))


@cache
def _digits() -> Vector:
    return data.digits(unit_sphere=True).images


def digits(rng: np.random.Generator, points: int) -> Vector:
    """Digits drawn without replacement; all of scikit-learn's are different."""
    return _digits()[rng.permutation(len(_digits()))[:points]]


def windows(rng: np.random.Generator, points: int) -> Vector:
    """Different one-hot windows of eight characters of a Markov text."""
    codes = text.markov_text(rng, 40 * points + 100)
    different = np.unique(text.one_hot_windows(codes, 8).points, axis=0)
    return different[rng.permutation(len(different))[:points]]


DATA: dict[str, Callable[[np.random.Generator, int], Vector]] = {"sphere": sphere, "digits": digits, "text": windows}


def scaled_kernel(X: Vector, crossover_variable: float) -> tuple[Vector, int]:
    """`Θ̄^L(X, X)` at the depth next to `3π s/θ_min`, and that depth."""
    depth = max(1, round(crossover_variable * 3 * math.pi / smallest_angle(X)))
    return kernels.ntk(X, depth=depth) / (depth + 1), depth


def gap(variable: float) -> float:
    """`1 − Φ(s)`."""
    return 1 - ((1 + variable) ** 4 - 1) / (4 * variable * (1 + variable) ** 3)


# --- trials -----------------------------------------------------------------------------------------------------------


def drawn(rng: np.random.Generator) -> tuple[str, Vector, float]:
    """One of the data sets, 2 to 200 of its points, and one of `CROSSOVERS`."""
    kind = list(DATA)[rng.integers(len(DATA))]
    points = round(2 * 100 ** rng.uniform())
    return kind, DATA[kind](rng, points), CROSSOVERS[rng.integers(len(CROSSOVERS))]


def eigenvalue_between(rng: np.random.Generator, below: float = 1.0, above: float = 1.0) -> str:
    """Whether the smallest eigenvalue lies between `below` times the certified bound and `above` times the pairs'."""
    kind, X, variable = drawn(rng)
    kernel, depth = scaled_kernel(X, variable)
    smallest = float(np.linalg.eigvalsh(kernel)[0])
    lower = below * eigenvalue_bound(smallest_angle(X), len(X), depth)
    upper = above * (1 - float(kernel[~np.eye(len(X), dtype=bool)].max()))
    if lower <= smallest + len(X) * ROUNDING and smallest <= upper + len(X) * ROUNDING:
        return ""
    return (
        f"{len(X)} points of {kind}, L = {depth}: smallest eigenvalue {smallest:.4g} not in [{lower:.4g}, {upper:.4g}]"
    )


def near_crossover(rng: np.random.Generator, half: float = 0.5) -> str:
    """Whether `λ_n` lies between `half` of `1 − Φ(s)` and a little more than it, for 2000 points (1797 digits)."""
    from scipy.linalg import eigh  # slow to import

    kind = list(DATA)[rng.integers(len(DATA))]
    X = DATA[kind](rng, 2000)
    kernel, depth = scaled_kernel(X, CROSSOVERS[rng.integers(len(CROSSOVERS))])
    variable = depth * smallest_angle(X) / (3 * math.pi)
    reached = gap(variable)
    smallest = float(eigh(kernel, eigvals_only=True, subset_by_index=[0, 0])[0])
    if half * reached <= smallest <= reached + 0.02:
        return ""
    return f"{len(X)} points of {kind}, s = {variable:.3g}: smallest eigenvalue {smallest:.4g}, 1 - Phi = {reached:.4g}"


def predictor_bounded(rng: np.random.Generator, times: float = 1.0, values: float = 1.0) -> str:
    """Whether `‖P_t‖ <= min(κ √t, 1/√λ_n)` (with factors) at a new point and at one of the data, for all `TIMES`."""
    kind, X, variable = drawn(rng)
    kernel, depth = scaled_kernel(X, variable)
    new = X[:1] + 0.3 * rng.standard_normal(X[:1].shape) / math.sqrt(X.shape[1])
    test = np.concatenate([X[:1], new / np.linalg.norm(new)])
    rows = kernels.ntk(test, X, depth=depth) / (depth + 1)
    ceiling = values / math.sqrt(float(np.linalg.eigvalsh(kernel)[0]))
    for time in (*TIMES, math.inf):
        largest = float(predictor_norms(kernel, rows, time).max())
        if largest > min(times * KAPPA * math.sqrt(time), ceiling) * (1 + len(X) * ROUNDING):
            return f"{len(X)} points of {kind}, L = {depth}, t = {time:.3g}: norm {largest:.4g}"
    return ""


def smallest_eigenvalue_ratios(rng: np.random.Generator, size: int, count: int) -> Vector:
    """`λ_n/(1 − Φ(s))` for `size` digits, at `s` next to 1/2, `count` times."""
    found = []
    for _ in range(count):
        points = digits(rng, size)
        kernel, depth = scaled_kernel(points, 0.5)
        smallest = np.linalg.eigvalsh(kernel)[0]
        found.append(smallest / gap(depth * smallest_angle(points) / (3 * math.pi)))
    return np.array(found)


def largest_filter(claimed: Rational) -> Certificate:
    """Whether `(1 − e^{−z})² <= claimed · z` for all `z > 0`: by the ends, and balls between them."""
    z = Symbol("z")
    # below `claimed` the left side is at most z², beyond 1/claimed at most 1
    found = holds((1 - exp(-z)) ** 2 <= claimed * z, {z: (claimed, 1 / claimed)})
    standing = {Outcome.HOLDS: Standing.HOLDS, Outcome.VIOLATED: Standing.FAILS}.get(found.outcome, Standing.UNDECIDED)
    return Certificate(standing, f"(1 - e^-z)^2 <= {float(claimed):.6g} z for all z > 0: {found.outcome.value}")


def keeps_a_share(claimed: bool) -> Certificate:
    """Whether what is learned of the last mode stays away from zero as `λ_n t → 0` (`claimed`)."""
    shown = depth_scaling.learned_in_short_time()
    if not all(step.outcome.proved for step in shown.check()):
        return Certificate(Standing.UNDECIDED, "the limit is not proved")
    holds = (shown.conclusion != 0) == claimed
    return Certificate(
        Standing.HOLDS if holds else Standing.FAILS, "it tends to 0; for two points it is all they differ by"
    )


from_depth_scaling = claim(
    id="depth-scaling",
    title="Depth scaled with the separation of the data",
    source=WIDTH_AND_DEPTH.at("Theorem 3"),
    statement=r"t \in o(1/\lambda_n),\ L \in O\big(1/\sqrt{1 - \rho^{(2)}}\big) \implies \|P_t\| = O(n) "
    r"\text{ and } f_t \text{ stays non-trivial}",
    hypotheses=("ReLU", "n >= 2 different points of the unit sphere", "gradient flow on half the sum of squares"),
    conditions=(
        "the bound on the depth is s = L theta_min/(3 pi) = O(1), with the smallest angle theta_min between two lines",
        "the norm needs no upper bound on the depth but a lower one: it is O((log n)^(1/4)) for L >= c/theta_min",
        "non-trivial is read as: two points with different labels get different predictions",
    ),
    findings=(
        "||P_t|| <= min(0.6382 sqrt(t), lambda_n^(-1/2)) at every time, in the time of the normalised kernel",
        "c s/sqrt(log 2n) <= lambda_n in the crossover, in any dimension",
        "lambda_n <= 1 - Phi(s) <= (3/2) s if two points are at the angle theta_min; opposite ones keep it large",
        "on spheres, digits and one-hot text of 2000 points it is between half of 1 - Phi(s) and 1 - Phi(s) + 0.02",
    ),
    parts={
        "the norm of the predictor": [
            Enclosure(
                name="the largest share of a mode",
                certify=largest_filter,
                claimed=Rational(40727, 100_000),
                mutants={"a ten-thousandth less": Rational(40717, 100_000), "half": Rational(1, 5)},
            ),
            Property(
                name="spheres, digits and text",
                trial=predictor_bounded,
                chunk=10,
                mutants={
                    "0.9 of the bound in the time": partial(predictor_bounded, times=0.9),
                    "half the bound by the eigenvalue": partial(predictor_bounded, values=0.5),
                },
            ),
        ],
        "the smallest eigenvalue": [
            Identity(name="a mixture of powers", derivation=depth_scaling.mixture, claimed=CROSSOVER),
            Identity(name="from below", derivation=depth_scaling.eigenvalue_bound, claimed=BOUND),
            Limit(
                name="from below, few layers",
                derivation=depth_scaling.eigenvalue_slope,
                claimed=Rational(3, 4) - 3 * exp(epsilon) / 8,
            ),
            Limit(name="from above, few layers", derivation=depth_scaling.closest_pair, claimed=Rational(3, 2)),
            Property(
                name="spheres, digits and text",
                trial=eigenvalue_between,
                chunk=10,
                mutants={
                    "60 times the bound from below": partial(eigenvalue_between, below=60.0),
                    "0.8 of that from above": partial(eigenvalue_between, above=0.8),
                },
            ),
            Property(
                name="two thousand points",
                trial=near_crossover,
                mutants={"at least 1.2 of it": partial(near_crossover, half=1.2)},
                chunk=1,
                budget=3,
            ),
            Scaling(
                name="with the number of points, digits",
                draw=smallest_eigenvalue_ratios,
                exponent=0.0,
                sizes=(25, 50, 100, 200),
                statistic=Statistic.QUANTILE,
                count=60,
                budget=2,
                resolution=0.1,
            ),
        ],
        "the predictor tells two points apart": [
            Enclosure(name="the last mode at t in o(1/lambda_n)", certify=keeps_a_share, claimed=True)
        ],
    },
    correction=Correction(
        text="the predictor tells two points apart only if t is at least of the order of 1/lambda_n",
        latex=r"1 - e^{-\lambda_n t}, \quad \lambda_n = 1 - \Phi(s) \text{ for two points}",
        parts={
            "what two points learn of their difference": [
                Identity(
                    name="in the crossover",
                    derivation=depth_scaling.learned_difference,
                    claimed=1 - exp(-(1 - CROSSOVER) * t),
                )
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (from_depth_scaling,)
