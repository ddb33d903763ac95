"""Chapter 4, gradient flow: training with a constant kernel, continuous and step by step, and its law."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm
from sympy import Rational, Sum, exp

from numerics import data, dynamics, kernels
from theory import dynamics as flow
from theory import ensembles
from theory.dynamics import c, eta, k, lam, n, overlap, pull, slower, start, t, x
from theory.loss import Loss

from ..claims import claim
from ..evidence import Asymptotics, Expectation, Identity, Limit, Property
from ..evidence.expectation import Prediction
from ..verdicts import Verdict
from .sources import NTK_ARTICLE

Vector = NDArray[np.float64]
TOLERANCE = 1e-10  # of closed forms against a matrix exponential or a loop, both in float64, relative to the outputs
TRAINING, TEST = 4, 2


# --- random problems, solved by another route -------------------------------------------------------------------------


def random_problem(rng: np.random.Generator) -> tuple[Vector, Vector, Vector, Loss]:
    """Features of training and test points, fewer than there are points in half of the cases; labels; a loss."""
    training, parameters = int(rng.integers(1, 7)), int(rng.integers(1, 12))
    features = rng.normal(size=(training + TEST, parameters))
    features /= np.linalg.norm(features, 2)  # so that the largest eigenvalue is at most one
    return features[:training], features[training:], rng.normal(size=training), list(Loss)[rng.integers(4)]


def by_matrix_exponential(kernel: Vector, rows: Vector, y: Vector, begin: Vector, time: float) -> Vector:
    """The outputs at all points at the time `c t`: the exponential of the generator of the whole linear system."""
    generator = np.zeros((len(begin), len(begin)))
    generator[:, : len(y)] = -np.vstack([kernel, rows])
    shift = np.concatenate([y, np.zeros(len(rows))]).reshape(-1, *(1,) * (begin.ndim - 1))
    return expm(time * generator) @ (begin - shift) + shift  # the equation is linear in f − y


def by_steps(kernel: Vector, rows: Vector, y: Vector, begin: Vector, steps: int, pace: float) -> Vector:
    """The outputs after steps of `pace = c η`, one after the other."""
    every, outputs = np.vstack([kernel, rows]), begin.copy()
    for _ in range(steps):
        outputs = outputs - pace * every @ (outputs[: len(y)] - y)
    return outputs


def outputs_of(found: dynamics.Prediction) -> Vector:
    """Training and test outputs, one after the other."""
    assert found.test is not None
    return np.concatenate([found.train, found.test])


def flow_is(rng: np.random.Generator, *, slowed: float = 1.0, forgotten: float = 0.0) -> str:
    """What is wrong with `predict` on a random problem; it is made wrong by another time, or another start."""
    features, others, y, loss = random_problem(rng)
    kernel, rows, begin = features @ features.T, others @ features.T, rng.normal(size=len(y) + TEST)
    time = float(10 ** rng.uniform(-3, 1.5)) / float(loss.rate(len(y)))
    found = dynamics.predict(
        kernel,
        y,
        slowed * time,
        f0=begin[: len(y)],
        kernel_test=rows,
        f0_test=(1 - forgotten) * begin[len(y) :],
        loss=loss,
    )
    expected = by_matrix_exponential(kernel, rows, y, begin, time * float(loss.rate(len(y))))
    return _difference(outputs_of(found), expected, f"{len(y)} points, {loss.name}, t = {time:.3g}")


def descent_is(rng: np.random.Generator, *, quicker: float = 1.0, relabelled: bool = False) -> str:
    """The same for `descend`, up to twice the rate of stability; `relabelled` puts the flow at the time `kη` for it."""
    features, others, y, loss = random_problem(rng)
    kernel, rows, begin = features @ features.T, others @ features.T, rng.normal(size=len(y) + TEST)
    rate, steps = float(loss.rate(len(y))), int(rng.integers(1, 12))
    pace = float(rng.uniform(0.1, 1.9))
    given = {"f0": begin[: len(y)], "kernel_test": rows, "f0_test": begin[len(y) :], "loss": loss}
    if relabelled:
        found = dynamics.predict(kernel, y, steps * pace / rate, **given)
    else:
        found = dynamics.descend(kernel, y, steps, quicker * pace / rate, **given)
    expected = by_steps(kernel, rows, y, begin, steps, pace)
    return _difference(outputs_of(found), expected, f"{len(y)} points, {loss.name}, {steps} steps of {pace:.3g}/c")


def _difference(found: Vector, expected: Vector, where: str) -> str:
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    return f"off by {error:.2g} for {where}" if error > TOLERANCE else ""


# --- the law over initialisations -------------------------------------------------------------------------------------


@cache
def sphere_kernels() -> tuple[Vector, Vector]:
    """The tangent kernel and the NNGP kernel, two hidden ReLU layers, at fixed points in R³; the last are for test."""
    points = data.sphere(np.random.default_rng(1806_07572), TRAINING + TEST, 3)
    return kernels.ntk(points, depth=2), kernels.nngp(points, depth=2)


LABELS = np.array([1.0, -1.0, 0.5, 2.0])


def moments_of(outputs: Vector) -> Vector:
    """The two test outputs, their squares, their product, and a training output and its square: the last axis."""
    first, second, training = outputs[..., TRAINING], outputs[..., TRAINING + 1], outputs[..., 0]
    return np.stack([first, second, first**2, second**2, first * second, training, training**2], axis=-1)


def trained_ensemble(rng: np.random.Generator, count: int, *, time: float) -> Vector:
    """These moments of `count` random initialisations, each trained by the exponential of its linear system."""
    tangent, prior = sphere_kernels()
    begin = rng.multivariate_normal(np.zeros(len(prior)), prior, size=count, method="cholesky")
    trained = by_matrix_exponential(tangent[:TRAINING, :TRAINING], tangent[TRAINING:, :TRAINING], LABELS, begin.T, time)
    return moments_of(trained.T)


def law_at(time: float, tangent: Vector | None = None, prior: Vector | None = None) -> Vector:
    """The same moments by the closed form."""
    both = sphere_kernels()
    tangent, prior = both[0] if tangent is None else tangent, both[1] if prior is None else prior
    inside, across, between = (
        (slice(TRAINING), slice(TRAINING)),
        (slice(TRAINING, None), slice(TRAINING)),
        (slice(TRAINING, None), slice(TRAINING, None)),
    )
    law = dynamics.distribution(
        tangent[inside],
        prior[inside],
        LABELS,
        time,
        kernel_test=tangent[across],
        nngp_test=prior[across],
        nngp_test_test=prior[between],
    )
    assert law.mean_test is not None
    assert law.covariance_test is not None
    mean, spread = law.mean_test, law.covariance_test + np.outer(law.mean_test, law.mean_test)
    second = law.covariance[0, 0] + law.mean[0] ** 2
    return np.array([*mean, spread[0, 0], spread[1, 1], spread[0, 1], law.mean[0], second])


def ensemble(time: float) -> Expectation:
    """The closed form against sampled ensembles, at one time."""
    tangent, prior = sphere_kernels()
    wrong: dict[str, Callable[[Vector], Vector]] = {
        "half the time": lambda _: law_at(time / 2),
        "twice the rate": lambda _: law_at(2 * time),
        "the last layer's kernel": lambda _: law_at(time, tangent=prior),
        "a prior of the tangent kernel": lambda _: law_at(time, prior=tangent),
    }
    return Expectation(
        name=f"sampled ensembles at t = {time:g}",
        draw=partial(trained_ensemble, time=time),
        prediction=Prediction.number(partial(law_at, time), wrong),
        scale=np.ones(7).tolist(),
        chunk=20_000,
        budget=12,
        resolution=0.1,
    )


gradient_flow = claim(
    id="gradient-flow",
    title="Gradient flow with a constant kernel",
    source=NTK_ARTICLE.at("infinite width, convergence and generalisation"),
    statement=r"f_t(x) = f_0(x) - \Theta(x, X)\,\Theta^{-1}\big(1 - e^{-c\Theta t}\big)(f_0(X) - y), "
    r"\text{ larger eigenvalues first}, \text{ kernel regression as } t \to \infty",
    hypotheses=("a kernel that stays constant", "a squared loss"),
    conditions=(
        "c = 2, 1, 2/n, 1/n for the losses sum r^2, sum r^2/2, sum r^2/n, sum r^2/(2n)",
        "where the kernel is singular its inverse is the pseudo-inverse: null modes stay where they start",
        "'faster' is relative to each mode's own residual",
    ),
    findings=(
        "from equal residuals the mode mu < lambda moves faster than lambda after t = log(lambda/mu)/(c(lambda - mu))",
        "descent has (1 - eta c lambda)^k for e^{-c lambda t}: faster than the flow by 1 + eta c lambda/2 + ...; it "
        "converges for eta < 2/(c lambda_max), oscillates for ever at equality, and diverges above",
        "the last layer trained alone ends in the posterior of a Gaussian process; all layers trained do not",
    ),
    formulas=("flow-filter", "descent-filter"),
    parts={
        "a prediction moves against the kernel times the residual": [
            Identity(name=loss.name.lower().replace("_", " "), derivation=partial(flow.velocity, loss), claimed=claimed)
            for loss, claimed in zip(Loss, (-2 * pull, -pull, -2 * pull / n, -pull / n), strict=True)
        ],
        "the closed form": [
            Identity(name="the residual", derivation=flow.residual_decay, claimed=start * exp(-c * lam * t)),
            Identity(
                name="a prediction",
                derivation=flow.prediction_change,
                claimed=-overlap * start * (1 - exp(-c * lam * t)) / lam,
            ),
            Property(
                name="against matrix exponentials, singular kernels too",
                trial=flow_is,
                mutants={
                    "half the time": partial(flow_is, slowed=0.5),
                    "a start from zero": partial(flow_is, forgotten=1.0),
                },
            ),
        ],
        "larger eigenvalues first": [
            Identity(name="what is left", derivation=flow.decay_order, claimed=-c * t * exp(-c * lam * t)),
            Identity(
                name="the speeds",
                derivation=flow.speed_ratio,
                claimed=lam / slower * exp(-c * (lam - slower) * t),
            ),
        ],
        "the end is kernel regression": [
            Limit(name="one mode", derivation=flow.kernel_regression, claimed=-overlap * start / lam)
        ],
        "the law over initialisations": [
            Identity(
                name="the mean",
                derivation=ensembles.mean_prediction,
                claimed=Sum(ensembles.weight[ensembles.i] * ensembles.labels[ensembles.i], (ensembles.i, 1, n)),
            ),
            Identity(
                name="the covariance",
                derivation=ensembles.covariance,
                claimed=ensembles.between - ensembles.at_first - ensembles.at_second + ensembles.twice,
            ),
            Identity(
                name="the last layer alone",
                derivation=ensembles.posterior_covariance,
                claimed=ensembles.between - ensembles.explained,
            ),
            *(ensemble(time) for time in (0.3, 3.0)),
        ],
        "gradient descent": [
            Identity(name="the residual", derivation=flow.descent_residual, claimed=start * (1 - eta * c * lam) ** k),
            Identity(
                name="a prediction",
                derivation=flow.descent_change,
                claimed=-overlap * start * (1 - (1 - eta * c * lam) ** k) / lam,
            ),
            Identity(name="where it contracts", derivation=flow.contraction, claimed=x * (2 - x)),
            Identity(name="where it expands", derivation=flow.expansion, claimed=x * (x - 2)),
            Limit(name="its end", derivation=flow.descent_converges, claimed=0),
            Asymptotics(name="against the flow", derivation=flow.descent_is_faster, claimed=Rational(1, 2)),
            Property(
                name="against steps one by one, singular kernels too",
                trial=descent_is,
                mutants={
                    "the flow relabelled": partial(descent_is, relabelled=True),
                    "half the rate": partial(descent_is, quicker=0.5),
                },
            ),
        ],
    },
    expected=Verdict.PROVED,
)

CLAIMS = (gradient_flow,)
