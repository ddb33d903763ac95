"""Chapter 5, the equivalence: weak correlations and linearisation, and what correlations foretell."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from sympy import S

from numerics import correlations, data, jets
from numerics.exponents import Correction as SizeCorrection
from numerics.exponents import Statistic
from numerics.linearisation import curvature_along_gradient, deviations
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from theory import linearisation
from theory.activations import Activation, Tanh
from theory.correlations import rate_power
from theory.linearisation import beta, j
from theory.loss import Loss
from theory.scaled_activations import Lacunary

from ..claims import Correction, claim
from ..evidence import Experiment, Identity, Scaling
from ..evidence.experiment import Measure
from ..verdicts import Verdict
from .correlation_decay import DIMENSION, SMOOTH, X_ONE, correlation_sizes
from .sources import WEAK_CORRELATIONS
from .training import THE_LAG, falling

Vector = NDArray[np.float64]

# --- networks beside their linearisation ------------------------------------------------------------------------------

LABELS = np.array([1.0, -1.0, 1.0, -1.0])


@cache
def points() -> tuple[Vector, Vector]:
    """Four training and four test points on the sphere in R³."""
    drawn = data.sphere(np.random.default_rng(2401_04013), 8, DIMENSION)
    return drawn[:4], drawn[4:]


def trained(
    rng: np.random.Generator,
    width: int,
    count: int,
    *,
    activation: Activation = SMOOTH[0],
    rate: float = 0.05,
    alpha: float = 0.0,
    steps: int = 1,
    time: float = 0.0,
    depth: int = 2,
) -> Vector:
    """The deviation after training at the rate `rate (width/64)^alpha`: `steps` steps, or up to `time` if given."""
    network, (X, X_test) = MLP.of_depth(DIMENSION, width=width, depth=depth, activation=activation), points()
    own_rate = rate * (width / 64) ** alpha
    method = GradientDescent(own_rate, round(time / own_rate) if time else steps)
    found = [
        deviations(network, parameters, X, LABELS, X_test, method, at=[method.steps])[0]
        for parameters in network.sample_chunks(rng, count)
    ]
    return np.concatenate(found)


def early(alpha: float, exponent: float | None = None, depth: int = 1) -> Scaling:
    """Two steps, so small that the residual hardly changes; the exponent is the one predicted if none is given."""
    at = {linearisation.alpha: S(str(alpha)), linearisation.mode: linearisation.Mode.FIXED_STEPS}
    return Scaling(
        name=f"rate n^{alpha:g}, tanh, {depth} hidden layer{'s' if depth > 1 else ''}, two small steps",
        draw=partial(trained, alpha=alpha, steps=2, rate=0.004, depth=depth),
        exponent=float(linearisation.deviation_exponent().subs(at)) if exponent is None else exponent,
        sizes=(32, 64, 128, 256, 512, 1024) if depth == 1 else (16, 32, 64, 128, 256),
        statistic=Statistic.QUANTILE,
        correction=SizeCorrection.INVERSE_SIZE,
        count=100,
        budget=16,
        resolution=0.9,
        shifts=(-1.0, -0.5, 0.5, 1.0),
    )


def mean_field_shortfall(rng: np.random.Generator, width: int, count: int, *, step: float = 1.0) -> Vector:
    """`f_lin − f` after one step along the gradient: `F/√m` at the rate `m`, one hidden layer, tanh, `(count,)`."""
    network, found = MLP(DIMENSION, (width,), activation=Tanh()), []
    for parameters in network.sample_chunks(rng, count):
        found.append(-curvature_along_gradient(network, parameters, X_ONE, step * math.sqrt(width)) / math.sqrt(width))
    return np.concatenate(found)


def turning(rng: np.random.Generator, width: int, count: int, *, step: float = 0.1) -> Vector:
    """`|∇F(θ + c∇F) − ∇F(θ)|`, one hidden layer, tanh, one point, `(count,)`."""
    network, found = MLP(DIMENSION, (width,), activation=Tanh()), []
    for parameters in network.sample_chunks(rng, count):
        start = jets.gradient(network, parameters, X_ONE[None]).dense(network)[:, 0]
        moved = jets.gradient(network, parameters + step * start, X_ONE[None]).dense(network)[:, 0]
        found.append(np.linalg.norm(moved - start, axis=1))
    return np.concatenate(found)


def nonlinear_output(rng: np.random.Generator, width: int, count: int, *, step: float = 0.1) -> Vector:
    """The deviation of `F + F²` after one step along its gradient, one hidden layer, tanh, `(count,)`."""
    network, found = MLP(DIMENSION, (width,), activation=Tanh()), []
    for parameters in network.sample_chunks(rng, count):
        start = network(parameters, X_ONE[None])[:, 0, 0]
        squared = correlations.scalar(network, parameters, X_ONE[None], 1)[0, :, 0]  # |∇F|²
        slope = 1 + 2 * start
        move = curvature_along_gradient(network, parameters, X_ONE, step * slope) + step * slope * squared
        found.append(np.abs(move + (start + move) ** 2 - start**2 - step * slope**2 * squared))
    return np.concatenate(found)


def at_a_small_width(rng: np.random.Generator, count: int) -> Vector:
    """By how much both at width 4 exceed 8 times those at 256: the correlation, the deviation after training."""
    (X, X_test), sizes = points(), []
    for width in (4, 256):
        network = MLP(DIMENSION, (width,), activation=Tanh())
        parameters, method = network.sample(rng, count), GradientDescent(0.1, 40)
        gaps = deviations(network, parameters, X, LABELS, X_test, method, at=[method.steps])[0]
        sizes.append(np.stack([criterion(network, parameters, X, X_test), gaps], axis=1))
    return sizes[0] - 8 * sizes[1]


# --- does the correlation at initialisation foretell the deviation? ---------------------------------------------------


def criterion(network: MLP, parameters: Vector, X: Vector, X_test: Vector) -> Vector:
    """The root mean square of `C_{0,2}` over pairs of a test and a training point, `(batch,)`."""
    return np.sqrt(np.square(correlations.scalar(network, parameters, X_test, 2, along=X)[1]).mean(axis=(1, 2)))


def concordance(criteria: Vector, gaps: Vector) -> Vector:
    """For neighbours in a row, positive if both are ordered alike: their mean sign is Kendall's τ, `(count, 1)`."""
    return ((criteria[::2] - criteria[1::2]) * (gaps[::2] - gaps[1::2]))[:, None]


def by_seed(rng: np.random.Generator, count: int, *, steps: int, rate: float) -> Vector:
    """Pairs of networks of one architecture: tanh, two hidden layers of 16."""
    network, (X, X_test) = MLP.of_depth(DIMENSION, width=16, depth=2, activation=Tanh()), points()
    parameters = network.sample(rng, 2 * count)
    gaps = deviations(network, parameters, X, LABELS, X_test, GradientDescent(rate, steps), at=[steps])[0]
    return concordance(criterion(network, parameters, X, X_test), gaps)


def by_architecture(rng: np.random.Generator, count: int) -> Vector:
    """Pairs of networks of random widths from 16 to 256, one or two hidden layers, and random activations."""
    (X, X_test), found = points(), np.empty((2, 2 * count))
    for index in range(2 * count):
        network = MLP.of_depth(
            DIMENSION,
            width=int(2 ** rng.uniform(4, 8)),
            depth=int(rng.integers(1, 3)),
            activation=SMOOTH[rng.integers(len(SMOOTH))],
        )
        parameters = network.sample(rng)
        found[0, index] = criterion(network, parameters, X, X_test)[0]
        found[1, index] = deviations(network, parameters, X, LABELS, X_test, GradientDescent(0.05, 30), at=[30])[0, 0]
    return concordance(*found)


@cache
def multi_index() -> tuple[Vector, Vector, Vector]:
    """Twelve training points of norm 2 in R⁴, as many test points, and the labels `x₁x₂`."""
    drawn = 2 * data.sphere(np.random.default_rng(8), 24, 4)
    return drawn[:12], drawn[12:], drawn[:12, 0] * drawn[:12, 1]


def multi_index_gaps(
    rng: np.random.Generator, width: int, count: int, *, mean_field: bool = True, steps: int = 100
) -> tuple[Vector, Vector]:
    """Criterion and deviation, one hidden layer, tanh, on a multi-index target.

    With `mean_field` the output is divided by `√m` and the rate multiplied by `m`, so that features are learnt at every
    width: that is the network itself trained to `√m` times the labels, divided by `√m` (`theory/external_scale.py`).
    """
    X, X_test, labels = multi_index()
    factor = math.sqrt(width) if mean_field else 1.0
    network = MLP(X.shape[1], (width,), activation=Tanh())
    parameters = network.sample(rng, count)
    gaps = deviations(
        network, parameters, X, factor * labels, X_test, GradientDescent(0.1, steps), at=[steps], loss=Loss.MEAN
    )[0]
    return criterion(network, parameters, X, X_test), gaps / factor


def features_foretold(rng: np.random.Generator, count: int, *, steps: int) -> Vector:
    """Pairs of mean-field networks of width 32 on the multi-index target."""
    return concordance(*multi_index_gaps(rng, 32, 2 * count, steps=steps))


def gaps_that_stay(rng: np.random.Generator, count: int) -> Vector:
    """From width 64 to 512: the gap keeps over 0.4 of it in the mean field, and falls below otherwise, `(count, 2)`."""
    found = []
    for mean_field in (True, False):
        narrow, wide = (multi_index_gaps(rng, width, count, mean_field=mean_field)[1] for width in (64, 512))
        found.append((wide - 0.4 * narrow) * (1 if mean_field else -1))
    return np.stack(found, axis=1)


def foretold(
    name: str, draw: Callable[[np.random.Generator, int], Vector], chunk: int = 200, budget: int = 10
) -> Experiment:
    """Kendall's τ of the criterion and the deviation is positive."""
    return Experiment(name=f"Kendall's tau, {name}", draw=draw, measure=Measure.MAJORITY, chunk=chunk, budget=budget)


linearisation_equivalence = claim(
    id="linearisation-equivalence",
    title="Weak correlations and linearisation",
    source=WEAK_CORRELATIONS.at("theorems 3.1 and 3.2"),
    statement=r"C_{D,d}(\theta_0) \to 0 \iff F(\theta(s)) - F_{\mathrm{lin}}(s) \to 0, "
    r"\text{ at the same rate } O(1/m(n))",
    hypotheses=("a fixed number of steps and fixed data", "an analytic activation, with a series that converges"),
    conditions=(
        "all orders have to decay: in the mean-field scaling C_{0,2} falls like n^(-1/2), C_{0,3} does not, nor does "
        "the deviation",
        "correlations almost everywhere are not enough: those of a ReLU network are of order 1/n or zero, and it "
        "deviates like n^(-1/2), by its kinks",
        "it is a statement on limits: among networks of one width the correlation foretells little",
    ),
    findings=(
        "C_{0,2} orders the deviations of networks of one width better than chance, and worse the longer they are "
        "trained: limes plot correlation-and-gap has Kendall's tau, 0.5 after one step, 0.1 after 300 where features "
        "are learnt",
        "the growth of the derivatives has no part in it: the lacunary activation, where they outgrow every k! R^(-k), "
        "linearises like 1/n",
        "after one step the deviation is, as a function of C', the series of the C_{0,d}: it vanishes at all C' if and "
        "only if each of them does",
    ),
    derivations=(rate_power,),
    parts={
        "all at one rate: C_{1,1} like F - F_lin, 1/n": [
            falling(
                "C_{1,1}, one hidden layer, tanh",
                partial(correlation_sizes, activation=Tanh(), depth=1, D=1, order=1),
                -1.0,
                sizes=(24, 48, 96, 192),
                count=50,
            )
        ],
        "weak, to all orders": [
            Identity(
                name="no even order is larger than the second",
                derivation=linearisation.even_terms,
                claimed=(1 + 2 * beta) * (j - 1),
            ),
            Identity(
                name="no odd order is larger",
                derivation=linearisation.odd_terms,
                claimed=j - 1 + beta * (2 * j - 1),
            ),
        ],
        "and they linearise: 1/n": [early(0.0)],
        "not weak, and they do not, one step in the mean field": [
            falling(
                "C_{0,3} stays, and so does the deviation",
                mean_field_shortfall,
                0.0,
                sizes=(256, 512, 1024, 2048),
                count=500,
                budget=4,
            )
        ],
        "not weak, and they do not: a nonlinear output": [
            falling("F + F^2, one step", nonlinear_output, 0.0, count=1500, budget=4)
        ],
        "not weak, and they do not: a multi-index target": [
            Experiment(
                name="learnt, and not",
                draw=gaps_that_stay,
                measure=Measure.MAJORITY,
                chunk=25,
                budget=12,
            )
        ],
        "not weak at a small width": [
            Experiment(
                name="correlation and deviation at width 4 over 8 times those at 256",
                draw=at_a_small_width,
                measure=Measure.MAJORITY,
                chunk=50,
                budget=8,
            )
        ],
        "no growth condition, and it linearises: 1/n": [
            falling(
                "the lacunary activation, two small steps",
                partial(trained, activation=Lacunary(), steps=2, rate=0.004, depth=1),
                -1.0,
                statistic=Statistic.QUANTILE,
                sizes=(64, 128, 256, 512, 1024),
                count=75,
                budget=16,
                resolution=0.8,
                shifts=(-1.0, -0.5, 0.5, 1.0),
            )
        ],
        "not analytic: ReLU lags by n^(-1/2)": [THE_LAG],
        "foretold at initialisation, beyond chance: seeds, one step": [
            foretold("seeds, one step", partial(by_seed, steps=1, rate=0.02))
        ],
        "seeds, 50 steps": [foretold("seeds, 50 steps", partial(by_seed, steps=50, rate=0.05), budget=100)],
        "architectures": [foretold("architectures", by_architecture, chunk=50)],
        "features learnt, 3 steps": [foretold("features learnt, 3 steps", partial(features_foretold, steps=3))],
        "features learnt, 100 steps": [
            foretold("features learnt, 100 steps", partial(features_foretold, steps=100), budget=20)
        ],
    },
    correction=Correction(
        text="F - F_lin falls with the numbers C_{0,d}, like 1/n, its gradient with the vectors C_{1,d}, like "
        "n^(-1/2): one rate for both, sqrt(n), is a bound that F does not attain",
        latex=r"F - F_{\mathrm{lin}} = O(1/n), \qquad \nabla F - \nabla F_{\mathrm{lin}} = O(n^{-1/2})",
        parts={
            "F like 1/n, after two small steps": [early(0.0)],
            "its gradient like n^(-1/2), after one step": [
                falling("one hidden layer, tanh", turning, -0.5, sizes=(32, 64, 128, 256), count=400)
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (linearisation_equivalence,)
