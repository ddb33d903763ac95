"""Chapter 3: in wide networks each neuron freezes, and yet the features move; trained networks against the limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sympy import Product, Sum, symbols

from numerics import data, features, inner_products, kernels
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.trained_features import Trained, summed_residual, train_from_residual
from numerics.training import train
from theory import features as moving
from theory import orthants as orthant_probabilities
from theory.features import D, T, alpha, back, beta, gates, l, q, x1, x2
from theory.ntk import Sigma_dot, c_phi
from theory.orthants import r13, r23

from ..claims import claim
from ..evidence import Expectation, Experiment, Identity, Property, Scaling
from ..evidence.expectation import Prediction
from ..verdicts import Verdict
from . import orthants
from .sources import WIDTH_AND_DEPTH

Vector = NDArray[np.float64]
DIMENSION, TRAINED = 3, 2
RESIDUAL = np.array([1.0, -1.0])  # f_0 − y: each network's labels are its own outputs less this
FEW_STEPS = GradientDescent(0.15, steps=6)
LARGE = 3.0  # times the residual: the terms of second order then count
BRIEFLY = GradientDescent(1e-8, steps=2)  # so that no neuron changes its sign
HIDDEN = {1: "one hidden layer", 2: "two hidden layers"}
WIDTHS = {1: (64, 256, 1024), 2: (32, 64, 128)}
BLOCK = 4  # networks
AT_ONCE = 2**18  # weights of a layer trained at a time


# --- trained networks -------------------------------------------------------------------------------------------------


@cache
def points() -> Vector:
    """Two training points on the sphere in R³, then two others."""
    return data.sphere(np.random.default_rng(2511_07272), 2 * TRAINED, DIMENSION)


def run(rng: np.random.Generator, count: int, width: int, depth: int, scale: float = 1.0) -> Trained:
    """Networks trained on the first points for a few steps, each from the residual `scale · RESIDUAL`."""
    network = MLP.of_depth(DIMENSION, width=width, depth=depth)
    return train_from_residual(
        network, rng, count, points()[:TRAINED], scale * RESIDUAL, FEW_STEPS, X_test=points()[TRAINED:]
    )


def in_parts(
    statistic: Callable[[Trained], Vector],
    rng: np.random.Generator,
    count: int,
    width: int,
    depth: int,
    scale: float = 1.0,
) -> Vector:
    """A statistic of `count` networks after a few steps, of which wide ones are trained a few at a time."""
    size = max(1, AT_ONCE // width**depth)
    sizes = [min(size, count - begun) for begun in range(0, count, size)]
    parts = zip(rng.spawn(len(sizes)), sizes, strict=True)
    return np.concatenate([statistic(run(stream, some, width, depth, scale)) for stream, some in parts])


@cache
def limit(depth: int) -> Vector:
    """`D` after the few steps."""
    return features.deviation_given(points()[:TRAINED], _q(depth), points(), depth=depth)


def _q(depth: int) -> Vector:
    return summed_residual(kernels.ntk(points()[:TRAINED], depth=depth), RESIDUAL, FEW_STEPS)


def block_means(observations: Vector) -> Vector:
    """Means over blocks: less skewed, with the same mean."""
    return observations.reshape(-1, BLOCK, observations.shape[1]).mean(axis=1)


def distance(rng: np.random.Generator, width: int, count: int, *, depth: int) -> Vector:
    """`‖⟨δh, δh'⟩ − D‖_F/‖D‖_F` of each network, `(count,)`."""

    def relative(found: Trained) -> Vector:
        apart = np.linalg.norm(found.products_of_changes - limit(depth), axis=(1, 2))
        return apart / np.linalg.norm(limit(depth))

    return in_parts(relative, rng, count, width, depth)


def advantage(rng: np.random.Generator, count: int, *, width: int) -> Vector:
    """By how much wrong formulas for two hidden layers are farther off, means over blocks of networks, `(count, 4)`."""
    right = limit(2)
    last = features.deviation_layers(points()[:TRAINED], _q(2), points(), depth=2)[-1]
    wrong = [last, 1.5 * right, right / 1.5, np.diag(np.diag(right))]

    def farther(found: Trained) -> Vector:
        own, *others = (np.linalg.norm(found.products_of_changes - other, axis=(1, 2)) for other in (right, *wrong))
        return np.stack(others, axis=1) - own[:, None]

    return block_means(in_parts(farther, rng, BLOCK * count, width, 2))


def first_order_products(rng: np.random.Generator, count: int, *, width: int) -> Vector:
    """`⟨φ' δu, φ'' δu'⟩` of one hidden layer for `q = RESIDUAL`, the upper triangle, `(count, 10)`."""
    x = points()
    rows, readout = rng.normal(size=(count, width, DIMENSION)), rng.normal(size=(count, width, 1))
    gate = (rows @ x.T > 0).astype(float)
    moved = np.sqrt(2 / width) * readout * gate * ((gate[:, :, :TRAINED] * RESIDUAL) @ (x[:TRAINED] @ x.T))
    return (moved.swapaxes(1, 2) @ moved)[:, *np.triu_indices(len(x))]


def first_order_limit(depth: int = 1) -> Vector:
    """The same from the formula."""
    return features.deviation_given(points()[:TRAINED], RESIDUAL, points(), depth=depth)[np.triu_indices(len(points()))]


class Law(NamedTuple):
    """Of the changes of `⟨h, h'⟩` at the two other points, after few steps from the large residual, given `f_0`.

    For 3 pairs, in units of the standard `deviation`: the mean is `mean + slope · f_0`, of which `D` is `alone`. The
    variance is 1, and `unconditional` where `f_0` is not known.
    """

    mean: Vector
    slope: Vector
    alone: Vector
    unconditional: Vector
    deviation: Vector

    def standardised(self, found: Trained) -> Vector:
        changes = found.change[:, TRAINED:, TRAINED:][:, *np.triu_indices(TRAINED)]
        return changes / self.deviation - self.mean - found.outputs @ self.slope


@cache
def law(depth: int) -> Law:
    """From the formulas: the mean is affine in `f_0`."""
    X, X_test, pairs = points()[:TRAINED], points()[TRAINED:], np.triu_indices(TRAINED)
    kernel = kernels.ntk(X, depth=depth)
    sums = inner_products.summed_product(kernel, LARGE * RESIDUAL, FEW_STEPS.learning_rate, FEW_STEPS.steps)
    outputs = np.concatenate([np.zeros((1, TRAINED)), np.eye(TRAINED)])
    found = inner_products.change_given(X, *sums, outputs, X_test, depth=depth)
    mean, deviation = found.mean[:, *pairs], np.sqrt(found.variance[0][pairs])
    alone = features.deviation_given(X, sums[0], X_test, depth=depth)[pairs]
    slope = (mean[1:] - mean[0]) / deviation
    unconditional = 1 + np.einsum("ip,ij,jp->p", slope, kernels.nngp(X, depth=depth), slope)
    return Law(mean[0] / deviation, slope, alone / deviation, unconditional, deviation)


def standardised(rng: np.random.Generator, count: int, *, width: int, depth: int, sizes: bool) -> Vector:
    """The changes less their means given each network's outputs, over their deviations: block means, `(count, 3)`.

    Of their sizes, or not.
    """
    scores = in_parts(law(depth).standardised, rng, BLOCK * count, width, depth, LARGE)
    return block_means(np.abs(scores) if sizes else scores)


def mean_given_outputs(depth: int, width: int) -> Expectation:
    """The mutants are the shifts if a part were forgotten, or counted twice."""
    forgotten: dict[str, Callable[[Vector], Vector]] = {
        "without the parts of second order": lambda _: law(depth).mean - law(depth).alone,
        "without D": lambda _: law(depth).alone,
        "second order counted twice": lambda _: law(depth).alone - law(depth).mean,
        "D counted twice": lambda _: -law(depth).alone,
    }
    return Expectation(
        name=f"{HIDDEN[depth]}, width {width}: the mean given the outputs",
        draw=partial(standardised, width=width, depth=depth, sizes=False),
        prediction=Prediction.number(lambda: np.zeros(3), forgotten),
        scale=(1.0,) * 3,
        chunk=150,
        budget=8,
        resolution=0.5,
    )


def variance_given_outputs(depth: int, width: int) -> Expectation:
    """The mutants are other variances, among them the one that does not know the outputs."""
    wrong: dict[str, Callable[[Vector], Vector]] = {
        f"{factor} times the variance": partial(np.multiply, np.sqrt(factor)) for factor in (0.0, 0.25, 0.5, 2.0, 4.0)
    }
    return Expectation(
        name=f"{HIDDEN[depth]}, width {width}: the variance given the outputs",
        draw=partial(standardised, width=width, depth=depth, sizes=True),
        prediction=Prediction.number(
            lambda: np.full(3, np.sqrt(2 / np.pi)),  # the mean size of a standard normal variable
            wrong | {"that without them": lambda right: right * np.sqrt(law(depth).unconditional)},
        ),
        chunk=150,
        budget=8,
        resolution=0.4,
    )


def largest(rng: np.random.Generator, width: int, count: int, *, depth: int) -> Vector:
    """`max_k |δh_k|` at the first training point, over the quantile that the largest of `m/2` half-normals reaches."""

    def highest(found: Trained) -> Vector:
        return np.abs(found.after[:, 0] - found.before[:, 0]).max(axis=1) / -ndtri(1 / width)

    return in_parts(highest, rng, count, width, depth)


def unmoved(rng: np.random.Generator, depth: int = 2, away: float = np.pi) -> str:
    """What moves at `x` when one point at the angle `away` from it is trained for a short time."""
    pair = data.sphere_pair(rng, DIMENSION, angle=away)
    network = MLP.of_depth(DIMENSION, width=int(rng.integers(8, 32)), depth=depth)
    start = network.sample(rng, 1)
    found = train(network, start, pair[:1], [5.0], BRIEFLY, at=[BRIEFLY.steps], keep_parameters=True).parameters
    assert found is not None
    before, after = (np.maximum(network.forward(p, pair[1:]).preactivations[depth - 1], 0) for p in (start, found[0]))
    moved = np.abs(after - before).max()
    return f"a neuron moves by {moved:.3g}" if moved > 1e-13 else ""  # what moves does so by about 1e-8


def falling(name: str, draw: Callable[..., Vector], depth: int, resolution: float) -> Scaling:
    """The mean of what is drawn falls like `m^{−1/2}`."""
    return Scaling(
        name=name,
        draw=partial(draw, depth=depth),
        exponent=-0.5,
        sizes=WIDTHS[depth],
        count=160,
        budget=4,
        resolution=resolution,
        shifts=(-1.0, -0.5, 0.5, 1.0),
    )


h, k = symbols("h k", integer=True, positive=True)

neurons_freeze = claim(
    id="neurons-freeze",
    title="Single neurons freeze",
    source=WIDTH_AND_DEPTH.at("section on width"),
    statement=r"\max_k |h_{t,k}(x) - h_{0,k}(x)| \to 0 \text{ like } m^{-1/2}, \text{ up to logarithms}",
    hypotheses=("ReLU", "gradient descent on finitely many points", "the width m grows with all else fixed"),
    findings=(
        "the logarithm is there: the largest of m neurons is sqrt(2 log m) standard deviations, to leading order",
        "a plain power over widths 64 to 1024 is about -0.37, and -1/2 once the Gaussian quantile is divided out",
    ),
    parts={
        f"{depth} hidden layer{'s' * (depth > 1)}": [
            falling("the largest change over the quantile of a Gaussian, at a training point", largest, depth, 0.3)
        ]
        for depth in (1, 2)
    },
    expected=Verdict.SUPPORTED,
)

features_move = claim(
    id="features-move",
    title="The features move",
    source=WIDTH_AND_DEPTH.at("Proposition 4"),
    statement=r"\lim_{m\to\infty} \|h_t - h_0\|_2 \neq 0,\quad \langle h_t(x), h_t(x')\rangle"
    r" \text{ is not constant in } t \text{ for } L \ge 2, \text{ with probability } 1",
    hypotheses=("ReLU", "gradient flow on the squared loss", "points on the unit sphere", "h is not normalised"),
    conditions=(
        "f_0 differs from y on the training points, no two of which are equal or opposite",
        "L = 1: some training point is neither orthogonal nor opposite to x; L = 2: some one is not opposite to x",
    ),
    findings=(
        "D_l = T_l + Sigma'_l D_(l-1): layers below the last one contribute at the same order",
        "the limit is reached like m^(-1/2), not 1/m: about sqrt(m) neurons change their sign",
        "both parts hold for L = 1 too; for every L the law of the change of <h, h'> given f_0 is Gaussian and known",
        "its mean leaves out units held at zero at a training point x_i by drives from both sides: nothing where x, x'"
        " are not trained, at x' = x_i and L = 1 at most q_i^2 sin(x, x_i)/(16 pi), for residuals of one direction",
        "the normalised features sqrt(2/m) h move by O(m^(-1/2)), their inner products by O(1/m)",
    ),
    formulas=("orthant-2", "orthant-3", "orthant-4", "feature-deviation"),
    derivations=(orthant_probabilities.four,),
    parts={
        "the limit for one hidden layer": [
            Identity(name="for every width", derivation=moving.one_hidden_layer, claimed=c_phi * gates * x1 * x2),
            Identity(
                name="one training point",
                derivation=moving.one_training_point,
                claimed=2 * q**2 * r13 * r23 * orthants.THREE,
            ),
            Expectation(
                name="to first order, width 4",
                draw=partial(first_order_products, width=4),
                prediction=Prediction.number(
                    first_order_limit,
                    {
                        "without the factor 2 of ReLU": lambda right: right / 2,
                        "a fifth too large": lambda right: 1.2 * right,
                        "a fifth too small": lambda right: 0.8 * right,
                        "the sign": lambda right: -right,
                        "two hidden layers": lambda _: first_order_limit(2),
                    },
                ),
                scale=(1.0,) * 10,
                chunk=5000,
                resolution=0.1,
            ),
        ],
        "the step from layer to layer": [
            Identity(
                name="from the lemmas",
                derivation=moving.layer,
                claimed=c_phi * alpha * beta * back * gates + Sigma_dot[l] * D[l - 1],
            ),
            Identity(
                name="as a sum",
                derivation=moving.layer_sum,
                claimed=Sum(T[h] * Product(Sigma_dot[k], (k, h + 1, l)), (h, 1, l)),
            ),
            Experiment(
                name="wrong formulas are farther off, two hidden layers, width 64",
                draw=partial(advantage, width=64),
                chunk=150,
                budget=8,
            ),
        ],
        **{
            f"trained networks of {depth} hidden layer{'s' * (depth > 1)} approach it": [
                falling("the relative distance, given each network's outputs", distance, depth, 0.4)
            ]
            for depth in (1, 2)
        },
        "the orthant probabilities": orthants.EVIDENCE,
        "inner products change": [
            mean_given_outputs(1, 512),
            variance_given_outputs(1, 512),
            mean_given_outputs(2, 256),
            variance_given_outputs(2, 256),
        ],
        "where nothing moves": [
            Property(
                name="two hidden layers, one training point, opposite",
                trial=unmoved,
                mutants={
                    "three hidden layers": partial(unmoved, depth=3),
                    "at a right angle": partial(unmoved, away=np.pi / 2),
                    "at the angle 3": partial(unmoved, away=3.0),
                },
                budget=2,
            ),
            Property(
                name="one hidden layer, one training point, orthogonal",
                trial=partial(unmoved, depth=1, away=np.pi / 2),
                mutants={
                    "two hidden layers": partial(unmoved, depth=2, away=np.pi / 2),
                    "at the angle 1": partial(unmoved, depth=1, away=1.0),
                    "at the angle 2": partial(unmoved, depth=1, away=2.0),
                },
                budget=2,
            ),
        ],
    },
    expected=Verdict.SUPPORTED,
)

CLAIMS = (neurons_freeze, features_move)
