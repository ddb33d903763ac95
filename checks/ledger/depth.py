"""Chapter 2: what becomes of the ReLU tangent kernel, its matrices and its predictor in very deep networks."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sympy import Integer, Rational, acos, binomial, cos, exp, log, oo, pi, sin, sqrt

from numerics import deep, kernels
from numerics.depth_bound import Constants, depth_bound
from theory import correlation, crossover, depth, spectrum
from theory.arccos import theta
from theory.correlation import L, rho
from theory.crossover import s
from theory.spectrum import epsilon, gap, n, phi, power, t

from ..claims import Correction, claim
from ..evidence import Approach, Asymptotics, Enclosure, Identity, Limit
from ..evidence.enclosure import Certificate
from ..verdicts import Standing, Verdict
from .sources import WIDTH_AND_DEPTH

SIZES = (250, 500, 1000, 2000, 4000)
CORRELATIONS = [{rho: value} for value in (Integer(-1), Rational(-1, 2), Integer(0), Rational(9, 10))]
CROSSOVER_VARIABLES = [{s: value} for value in (Rational(1, 10), Rational(1, 2), Integer(2), Integer(20))]
CROSSOVER = ((1 + s) ** 4 - 1) / (4 * s * (1 + s) ** 3)
CROSSOVER_CORRECTION = (
    3 * (s**4 + 4 * s**3 + 6 * s**2 + 4 * s + 4) * log(1 + s) - s * (3 * s + 2) * (s**2 + 4 * s + 6)
) / (8 * (1 + s) ** 4)
POINTS_ON_SPHERE = 4


# --- numbers computed from the definition, for `Approach` -------------------------------------------------------------


def normalised_kernel(size: int, at: Mapping[Any, Any]) -> float:
    """`Θ̄^L` at the correlation `at[rho]`, with certified digits."""
    return float(deep.relu_ntk_normalised(at[rho], size, 17))


def logarithmic_growth(size: int, at: Mapping[Any, Any]) -> float:
    """`(u_{2L} − u_L)/log 2` with `u_L = Θ^L − L/4`: the coefficient of `log L`, free of the constant beside it."""
    excess = [float(deep.relu_ntk(at[rho], depth_, 25)) - depth_ / 4 for depth_ in (size, 2 * size)]
    return (excess[1] - excess[0]) / float(np.log(2))


def kernel_in_crossover(size: int, at: Mapping[Any, Any]) -> float:
    """`Θ̄^L` at the angle `3π s/L`, with certified digits."""
    return float(deep.relu_ntk_normalised(cos(3 * pi * at[s] / size), size, 25))


def crossover_error(size: int, at: Mapping[Any, Any]) -> float:
    """`L (Θ̄^L − Φ(s))` at the angle `3π s/L`."""
    return size * (kernel_in_crossover(size, at) - float(CROSSOVER.subs(s, at[s])))


def points_on_sphere(count: int = POINTS_ON_SPHERE + 1) -> np.ndarray:
    """Fixed points in general position on the sphere in R³, the last of them a test point."""
    points = np.random.default_rng(20251107).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def gram(size: int) -> np.ndarray:
    """`Θ̄^L` on these points."""
    return kernels.ntk(points_on_sphere(), depth=size) / (size + 1)


def eigenvalue(size: int, at: Mapping[Any, Any], *, which: int) -> float:
    """An eigenvalue of `Θ̄^L(X, X)`, counted from the smallest."""
    return float(np.linalg.eigvalsh(gram(size)[:-1, :-1])[which])


def weight(size: int, at: Mapping[Any, Any]) -> float:
    """The first entry of `Θ̄(x, X) Θ̄(X, X)⁻¹`."""
    matrix = gram(size)
    return float(np.linalg.solve(matrix[:-1, :-1], matrix[:-1, -1])[0])


# --- the certified bound ----------------------------------------------------------------------------------------------


def within_bound(claimed: Any, delta: Fraction) -> Certificate:
    """Whether the bound on `|Θ̄^L − 1/4|`, valid for all depths, leaves `claimed` as the limit for all `ρ ≤ 1 − δ`."""
    bound = depth_bound(delta)
    far = 10**30
    if abs(Rational(claimed) - Rational(1, 4)) > Rational(bound.at(far)):
        return Certificate(Standing.FAILS, f"at L = 1e30 the kernel is within {bound.at(far):.2g} of 1/4")
    text = f"|Theta - 1/4| <= ({float(bound.slope):.3g} log L + {float(bound.offset):.3g})/(L+1), "
    return Certificate(Standing.HOLDS, f"{text}L >= {bound.depth}, rho <= {1 - delta}")


def slope_of_logarithm(claimed: Any) -> Certificate:
    """Whether `(L + 1)(Θ̄^L − 1/4) − claimed · log L` stays bounded, above and below, for all inputs apart."""
    constants = Constants(slope=Fraction(claimed))
    if failing := constants.failing():
        return Certificate(Standing.UNDECIDED, f"inequalities {', '.join(map(str, failing))} of the proof do not hold")
    return Certificate(Standing.HOLDS, f"(L+1)(Theta - 1/4) - {claimed} log L is bounded on both sides, for all depths")


correlation_flow = claim(
    id="correlation-flow",
    title="The flow of the correlation",
    source=WIDTH_AND_DEPTH.at("section on depth"),
    statement=r"\rho_{l+1} = \kappa_1(\rho_l) > \rho_l \text{ for } \rho_l < 1,\quad \rho_l \to 1,\quad "
    r"\theta_{l+1} = \theta_l - \frac{\theta_l^2}{3\pi} + \dots",
    hypotheses=("ReLU", "inputs on the unit sphere", "infinite width"),
    conditions=("at rho = -1 the slope of the map is 0; it increases strictly all the same",),
    findings=("1/theta_l = l/(3 pi) + log(l)/(2 pi) + o(log l), for every pair of different inputs",),
    formulas=("relu-nngp",),
    parts={
        "the map increases": [
            Identity(name="its slope", derivation=correlation.increasing, claimed=1 - acos(rho) / pi),
        ],
        "the map is convex": [
            Identity(name="its curvature", derivation=correlation.convex, claimed=1 / (pi * sqrt(1 - rho**2))),
        ],
        "a layer raises the correlation": [
            Identity(
                name="the gain",
                derivation=correlation.correlation_gap,
                claimed=(sin(theta) - theta * cos(theta)) / pi,
            ),
        ],
        "the correlation tends to one": [
            Limit(name="the angle vanishes", derivation=correlation.angle_vanishes, claimed=0),
            Approach(
                name="the correlation at growing depth",
                sequence=lambda size, at: float(deep.relu_nngp(at[rho], size, 17)),
                claimed=Integer(1),
                points=CORRELATIONS,
                sizes=SIZES,
                order=2,
                slack=0.2,
            ),
        ],
        "the expansion of the angle": [
            Asymptotics(name="order 2", derivation=partial(correlation.angle_expansion, 2), claimed=-1 / (3 * pi)),
            Asymptotics(name="order 3", derivation=partial(correlation.angle_expansion, 3), claimed=-1 / (18 * pi**2)),
            Asymptotics(name="the decay of the angle", derivation=correlation.angle_scale, claimed=3 * pi),
            Asymptotics(name="its logarithm", derivation=correlation.angle_second_order, claimed=1 / (2 * pi)),
        ],
    },
    expected=Verdict.PROVED,
)

depth_limit = claim(
    id="depth-limit",
    title="The deep limit of the normalised kernel",
    source=WIDTH_AND_DEPTH.at("Theorem 2"),
    statement=r"\bar\Theta^{(L)}(x, x') \to \tfrac14 \quad (x \neq x'),\qquad \bar\Theta^{(L)}(x, x) = 1",
    hypotheses=("ReLU", "inputs on the unit sphere", "infinite width before infinite depth"),
    findings=("it holds for opposite inputs too", "uniformly in rho <= 1 - delta, not up to rho = 1 (depth-crossover)"),
    formulas=("relu-ntk", "relu-ntk-normalised"),
    parts={
        "different inputs": [
            Limit(name="from the recursion", derivation=depth.normalised_ntk_limit, claimed=Rational(1, 4)),
            *(
                Enclosure(
                    name=f"for all depths, all rho up to {1 - delta}",
                    certify=partial(within_bound, delta=delta),
                    claimed=Rational(1, 4),
                    mutants={str(wrong): wrong for wrong in (Rational(1, 3), Rational(1, 5), Rational(26, 100), 0, 1)},
                )
                for delta in (Fraction(1, 10), Fraction(1, 100))
            ),
            Approach(
                name="the kernel at growing depth",
                sequence=normalised_kernel,
                claimed=Rational(1, 4),
                points=CORRELATIONS,
                sizes=SIZES,
                order=1,
                slack=0.25,
            ),
        ],
        "equal inputs": [Identity(name="by induction", derivation=depth.coincident, claimed=1)],
    },
    expected=Verdict.PROVED,
)

depth_rate = claim(
    id="depth-rate",
    title="The rate of the deep limit",
    source=WIDTH_AND_DEPTH.at("experiments"),
    statement=r"\bar\Theta^{(L)}(x, x') - \tfrac14 = O(1/L)",
    hypotheses=("ReLU", "different inputs on the unit sphere"),
    findings=("the leading term does not depend on the inputs, and is positive: 1/4 is reached from above",),
    formulas=("depth-leading-error", "relu-ntk-normalised"),
    parts={
        r"L/log L times the distance tends to 0, as O(1/L) requires": [
            Asymptotics(name="from the recursion", derivation=depth.depth_rate, claimed=0)
        ]
    },
    correction=Correction(
        text="the distance is (3/8) log(L)/L + O(1/L), not O(1/L)",
        latex=r"\bar\Theta^{(L)}(x, x') - \tfrac14 = \frac{3\log L}{8L} + O\!\left(\frac1L\right)",
        expression=3 * log(L) / (8 * L),
        parts={
            "the coefficient of log(L)/L": [
                Asymptotics(name="from the recursion", derivation=depth.depth_rate, claimed=Rational(3, 8)),
                Enclosure(
                    name="for all depths and all inputs apart",
                    certify=slope_of_logarithm,
                    claimed=Fraction(3, 8),
                    mutants={str(wrong): wrong for wrong in (Fraction(1, 4), Fraction(3, 10), Fraction(1, 2), 0, 1)},
                ),
                Approach(
                    name="the kernel's growth between L and 2L",
                    sequence=logarithmic_growth,
                    claimed=Rational(3, 8),
                    points=CORRELATIONS,
                    sizes=(1000, 2000, 4000, 8000),
                    order=1,
                    slack=0.3,
                ),
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

depth_crossover = claim(
    id="depth-crossover",
    title="Close inputs in deep networks",
    source=WIDTH_AND_DEPTH.at("beyond Theorem 3"),
    statement=r"\bar\Theta^{(L)} \to \frac{(1+s)^4 - 1}{4s(1+s)^3} \quad \text{as } L\to\infty,\ L\theta_0 = 3\pi s",
    hypotheses=("ReLU", "inputs on the unit sphere at the angle theta_0"),
    findings=(
        "two inputs are told apart when L exceeds 3 pi/theta_0",
        "the error at finite depth is Phi_1(s)/L, with Phi_1(s) ~ (3/8) log s: the rate of depth-rate",
    ),
    formulas=("depth-crossover", "depth-crossover-correction"),
    parts={
        "the limit": [
            Limit(
                name="Riemann sums over the layers",
                derivation=crossover.crossover,
                claimed=CROSSOVER,
            ),
            Approach(
                name="the kernel at growing depth",
                sequence=kernel_in_crossover,
                claimed=CROSSOVER,
                points=CROSSOVER_VARIABLES,
                sizes=SIZES,
                order=1,
                slack=0.2,
            ),
        ],
        "its error at finite depth": [
            Asymptotics(
                name="Euler-Maclaurin",
                derivation=crossover.crossover_correction,
                claimed=CROSSOVER_CORRECTION,
            ),
            Approach(
                name="L times the error at growing depth",
                sequence=crossover_error,
                claimed=CROSSOVER_CORRECTION,
                points=CROSSOVER_VARIABLES,
                sizes=SIZES,
                order=1,
                slack=0.3,
            ),
        ],
    },
    expected=Verdict.PROVED,
)

depth_spectrum = claim(
    id="depth-spectrum",
    title="The eigenvalues of deep kernel matrices",
    source=WIDTH_AND_DEPTH.at("Theorem 2 and its consequences"),
    statement=r"\lambda_1 \to \frac{n+3}{4},\quad \lambda_2, \dots, \lambda_n \to \frac34;\quad "
    r"\bar\Theta^{(L)}(X, X) \text{ is diagonally dominant and positive definite at sufficient depth}",
    hypotheses=("ReLU", "n >= 2 different points of the unit sphere"),
    conditions=(
        "dominance entry by entry holds at every depth L >= 1; by rows, at sufficient depth, if and only if n <= 4",
        "positive definiteness holds for every L >= 2; at L = 1 it fails, for the corners of a regular hexagon",
    ),
    findings=("the eigenvalues approach their limits like log(L)/L: (3/8)(n-1) log(L)/L and -(3/8) log(L)/L",),
    parts={
        "the eigenvalues and their rate": [
            Asymptotics(
                name="on the constants",
                derivation=spectrum.largest_eigenvalue,
                claimed=(n + 3) / 4 + Rational(3, 8) * (n - 1) * epsilon,
            ),
            Asymptotics(
                name="orthogonally to them",
                derivation=spectrum.other_eigenvalues,
                claimed=Rational(3, 4) - Rational(3, 8) * epsilon,
            ),
            Approach(
                name="the largest, four points",
                sequence=partial(eigenvalue, which=-1),
                claimed=(n + 3) / 4,
                points=[{n: Integer(POINTS_ON_SPHERE)}],
                sizes=SIZES,
                order=1,
                slack=0.25,
            ),
            Approach(
                name="the smallest, four points",
                sequence=partial(eigenvalue, which=0),
                claimed=Rational(3, 4),
                points=[{}],
                sizes=SIZES,
                order=1,
                slack=0.25,
            ),
        ],
        "dominant entry by entry": [
            Identity(
                name="the gap to the diagonal",
                derivation=spectrum.entry_gap,
                claimed=(1 - theta / pi) * gap + L * theta / pi + 1 - cos(phi),
            )
        ],
        "positive definite at sufficient depth": [
            Identity(
                name="Taylor coefficients of the kernel's curvature",
                derivation=spectrum.definite_from_two_layers,
                claimed=binomial(2 * power, power) / (4**power * pi),
            ),
        ],
        "one layer is not sufficient": [
            Identity(name="a regular hexagon", derivation=spectrum.hexagon_singular, claimed=0)
        ],
        "diagonally dominant by rows for any number of points": [
            Identity(name="the largest n", derivation=spectrum.largest_dominant, claimed=oo)
        ],
    },
    correction=Correction(
        text="dominance by rows at sufficient depth holds if and only if there are at most 4 points",
        latex=r"\sum_{j\ne i}\bar\Theta^{(L)}_{ij} < \bar\Theta^{(L)}_{ii} \text{ at sufficient depth} \iff n \le 4",
        expression=n <= 4,
        parts={
            "dominance by rows": [
                Identity(name="the largest n", derivation=spectrum.largest_dominant, claimed=4),
                Asymptotics(
                    name="diagonal minus row sum",
                    derivation=spectrum.row_dominance,
                    claimed=(5 - n) / 4 - Rational(3, 8) * (n - 1) * epsilon,
                ),
            ]
        },
    ),
    expected=Verdict.CORRECTED,
)

depth_predictor = claim(
    id="depth-predictor",
    title="The data-independent predictor",
    source=WIDTH_AND_DEPTH.at("consequences of Theorem 2"),
    statement=r"\bar\Theta(x, X)\,\bar\Theta(X, X)^{-1} \to \frac{1}{n+3}\,1^{\top} \quad (x \notin X)",
    hypotheses=("ReLU", "n >= 2 different points of the unit sphere", "x is none of them"),
    conditions=(
        "at a fixed time t of the flow with the kernel Theta = (L+1) times the normalised one, the limit is that of "
        "t = infinity; the time must shrink like 1/(L+1) for anything else",
    ),
    findings=(
        "every residual gets the weight 1/(n+3); from f_0 = 0 the mean label is shrunk by n/(n+3)",
        "at time t/(L+1) the weight is (1 - exp(-(n+3)t/4))/(n+3)",
    ),
    parts={
        "the weights at infinite time": [
            Limit(name="from the limit of the kernel", derivation=spectrum.predictor_weight, claimed=1 / (n + 3)),
            Approach(
                name="four points",
                sequence=weight,
                claimed=1 / (n + 3),
                points=[{n: Integer(POINTS_ON_SPHERE)}],
                sizes=SIZES,
                order=1,
                slack=0.25,
            ),
        ],
        "the weights at a time": [
            Limit(
                name="in units of 1/(L+1)",
                derivation=spectrum.predictor_at_time,
                claimed=(1 - exp(-(n + 3) * t / 4)) / (n + 3),
            ),
        ],
    },
    expected=Verdict.PROVED,
)

CLAIMS = (correlation_flow, depth_limit, depth_rate, depth_crossover, depth_spectrum, depth_predictor)
