"""Chapter 5, the deviation from the linearised network: under a falling rate, and along stochastic gradient descent."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from sympy import S

from numerics import correlations, data
from numerics.empirical import jacobian
from numerics.gradients import pullback
from numerics.linearisation import deviations
from numerics.linearised import linearise
from numerics.networks import MLP
from numerics.optimisers import SGD, GradientDescent
from numerics.training import train
from theory import linearisation, sgd_drift
from theory.activations import Activation, ReLU, Tanh
from theory.linearisation import even_terms, odd_terms
from theory.sgd_drift import delta, eta, gamma, h12, nu, rho

from ..claims import Correction, claim
from ..evidence import Experiment, Identity, Scaling
from ..evidence.experiment import Measure
from ..verdicts import Verdict
from .correlation_decay import DIMENSION
from .linearisation import LABELS, early, points
from .medians import median_scaling
from .sources import WEAK_CORRELATIONS

Vector = NDArray[np.float64]

# --- rates that fall with the width -----------------------------------------------------------------------------------


def powers_of_rate(
    rng: np.random.Generator, count: int, *, activation: Activation, early: bool, width: int = 32
) -> Vector:
    """`d log(deviation)/d log(rate)` of each network, `(count, 1)`: above 3/2 early in training, below 1/2 late."""
    network, (X, X_test) = MLP.of_depth(DIMENSION, width=width, depth=2, activation=activation), points()
    rate, steps = (0.004, 2) if early else (0.1, 300)
    found = []
    for parameters in network.sample_chunks(rng, count):
        full, half = (
            deviations(network, parameters, X, LABELS, X_test, GradientDescent(one, steps), at=[steps])[0]
            for one in (rate, rate / 2)
        )
        found.append(np.log2(full / half))
    power = np.concatenate(found)[:, None]
    return power - 1.5 if early else 0.5 - power


BASIS = np.eye(12)  # of orthogonal training points: they make the deviation vary least from network to network


@cache
def along_basis() -> tuple[Vector, Vector]:
    """Labels of the basis, and twelve test points on its sphere."""
    return np.tile([1.0, -1.0], 6), data.sphere(np.random.default_rng(2401), len(BASIS), len(BASIS))


def fixed_time(rng: np.random.Generator, width: int, count: int, *, alpha: float, time: float = 2.0) -> Vector:
    """The deviation at a time at which most is learnt, one hidden layer, tanh, at the rate `0.1 (width/64)^alpha`."""
    labels, X_test = along_basis()
    network, found = MLP(len(BASIS), (width,), activation=Tanh()), []
    rate = 0.1 * (width / 64) ** alpha
    method = GradientDescent(rate, round(time / rate))
    for parameters in network.sample_chunks(rng, count):
        found.append(deviations(network, parameters, BASIS, labels, X_test, method, at=[method.steps])[0])
    return np.concatenate(found)


def late(alpha: float, largest: int) -> Scaling:
    """The exponent at a fixed time; the widths are large enough for corrections `1/n` to drown in the noise."""
    at = {linearisation.alpha: S(str(alpha)), linearisation.mode: linearisation.Mode.FIXED_TIME}
    return median_scaling(
        f"rate n^{alpha:g}, tanh, 1 hidden layer, at a fixed time",
        partial(fixed_time, alpha=alpha),
        float(linearisation.deviation_exponent().subs(at)),
        tuple(width for width in (128, 256, 512, 1024, 2048, 4096) if width <= largest),
        count=30,
        budget=10,
        resolution=0.5,
    )


rate_scaling = claim(
    id="rate-scaling",
    title="The deviation under a falling learning rate",
    source=WEAK_CORRELATIONS.at("theorem 3.2 and the experiments"),
    statement=r"\eta \propto n^\alpha,\ \alpha \le 0: \quad "
    r"\operatorname{MSE}(f, f_{\mathrm{lin}}) = O(n^{2\alpha - 1})",
    hypotheses=("a fixed number of steps", "squared loss"),
    conditions=("the root mean square is measured: half of the exponent of the MSE",),
    findings=(
        "smooth activations: MSE ~ n^(4 alpha - 2) early in training at fixed steps: the published bound holds and is "
        "not tight",
        "at a fixed time MSE ~ n^(-2), whatever the rate: measured -0.99 and -0.97 for half of that, errors 0.01, 0.02",
        "ReLU: n^(4 alpha - 1) and n^(-1), steeper at moderate widths; at alpha = 0 this is the published -1.14",
        "a fixed number of steps is neither early nor late at all widths: the slope is p + alpha g, with the power g "
        "of the rate in the MSE, which falls from 4 to 0 as training ends. The published slopes, -1.14, -1.14, -1.30, "
        "-1.73, -2.72 for alpha = 0 to -1 (its last four above 2 alpha - 1: no exponents), are those of p = -1.14 and "
        "g = 0, 0.3, 0.8, 1.6",
        "ReLU networks of two hidden layers show this shape after some 30 steps: limes plot rate-sweep",
        "the authors' experiment (MNIST, widths 2048 to 19484) is not repeated: our source has neither its steps nor "
        "its activation",
    ),
    derivations=(even_terms, odd_terms),
    formulas=("linearisation-exponent",),
    parts={
        **{
            f"root mean square ~ n^(2 alpha - 1) <= n^(alpha - 1/2): {one.name}": [one]
            for one in (*map(early, (-0.5, -1.0)), early(-0.5, depth=2))
        },
        **{f"root mean square ~ n^(-1): {one.name}": [one] for one in (late(0.0, 4096), late(-0.5, 2048))},
        **{
            f"between them: the power of the rate in it, {where}, {activation.name}": [
                Experiment(
                    name=f"power of the rate {'> 3/2, two steps' if first else '< 1/2, 300 steps'}, {activation.name}",
                    draw=partial(powers_of_rate, activation=activation, early=first),
                    measure=Measure.MAJORITY,
                    chunk=40,
                    budget=10,
                )
            ]
            for activation in (Tanh(), ReLU())
            for first, where in ((True, "early"), (False, "late"))
        },
    },
    expected=Verdict.SUPPORTED,
)

# --- stochastic gradient descent --------------------------------------------------------------------------------------

NOISE = 0.8
SGD_RATE = 0.2


@cache
def few_points() -> tuple[Vector, Vector, Vector]:
    """Three training points on the circle, three test points, and labels."""
    drawn = data.sphere(np.random.default_rng(5), 6, 2)
    return drawn[:3], drawn[3:], np.array([1.0, -1.0, 1.0])


def along_sgd(rng: np.random.Generator, at: tuple[int, ...], count: int, *, noise: float, networks: int = 8) -> Vector:
    """The median deviation of eight networks of width 32 at the steps `at` of one run of SGD, batches of one.

    Shape `(count, len(at))`. With `noise` every point is there twice, with labels `±noise` apart from its own, so that
    no network fits both.
    """
    X, X_test, y = few_points()
    if noise:
        X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2) + noise * np.tile([1.0, -1.0], 3)
    network, found = MLP(2, (32,), activation=Tanh()), np.empty((count, len(at)))
    for row in found:
        sgd = SGD.shuffled(rng, points=len(X), size=1, steps=at[-1], learning_rate=SGD_RATE)
        row[:] = np.median(deviations(network, network.sample(rng, networks), X, y, X_test, sgd, at=at), axis=1)
    return found


def flat_without_noise(rng: np.random.Generator, count: int) -> Vector:
    """By how much less than 5 % the deviation changes from 400 to 800 steps, and how much more from 5 to 400."""
    first, early, late = along_sgd(rng, (5, 400, 800), count, noise=0.0).T
    return np.stack([0.05 * early - np.abs(late - early), np.abs(early - first) - 0.05 * early], axis=1)


def large_rate(rng: np.random.Generator, count: int) -> Vector:
    """At a rate of 2.5/λ for the largest eigenvalue λ of its kernel: the loss of `f_lin` grows, that of `f` falls."""
    X, _, y = few_points()
    network, found = MLP(2, (32,), activation=Tanh()), np.empty((count, 2))
    for row in found:
        parameters = network.sample(rng)
        beside = linearise(network, parameters, X)
        method = GradientDescent(2.5 / float(np.linalg.eigvalsh(beside.kernel[0]).max()), steps=200)
        own, linear_losses = (
            run.losses[:, 0] for run in (train(network, parameters, X, y, method), beside.train(y, method))
        )
        row[:] = own[0] - own[-1], linear_losses[-1] - linear_losses[0]
    return found


# --- labels that contradict each other --------------------------------------------------------------------------------

PAIR = np.array([[1.0, 0.0], [0.6, 0.8]])  # the training input, and another
PACE = 0.5  # ηa, of each network: a quarter of the largest at which full batches converge


def contradicted(
    rng: np.random.Generator, width: int, count: int, *, steps: int, scale: float
) -> tuple[Vector, Vector]:
    """`f − f_lin` at the other input, and what `theory/sgd_drift.py` says of it in its order, `(count,)` each.

    The training input has the labels `f_0` and `f_0 + 2 scale`, of which each network draws its own in every step.
    """
    network = MLP(PAIR.shape[1], (width,), activation=Tanh())
    theta = network.sample(rng, count)
    start, (g, g_other) = network(theta, PAIR)[..., 0].T, jacobian(network, theta, PAIR).swapaxes(0, 1)
    bent = correlations.vectors(network, theta, PAIR, 1, along=PAIR[:1])[0, :, :, 0].swapaxes(0, 1)  # Hg and H'g
    a, b, c, c_across, c_other = (
        np.einsum("bp,bp->b", *pair) for pair in ((g, g), (g, g_other), (g, bent[0]), (g_other, bent[0]), (g, bent[1]))
    )
    across = c_across - b / a * c  # K
    q, squares = np.zeros((2, count))
    for _ in range(steps):
        labels = start[0] + 2 * scale * rng.integers(2, size=count)
        run = network.forward(theta, PAIR[:1])
        rates = PACE / a
        theta = theta - pullback(network, theta, run, (rates * (run.outputs[:, 0, 0] - labels))[:, None, None])
        moved = rates * (start[0] - a * q - labels)
        q, squares = q + moved, squares + moved**2
    own, other = network(theta, PAIR)[..., 0].T - start + q * np.stack([a, b])
    return other, b / a * own + (c_other - b / a * c + across) / 2 * q**2 - across / 2 * squares


def along_steps(rng: np.random.Generator, steps: int, count: int, *, width: int) -> Vector:
    """The size of the deviation after so many steps, `(count,)`; the labels are close enough for it to stay small."""
    return np.abs(contradicted(rng, width, count, steps=steps, scale=np.sqrt(width) / 64)[0])


def by_width(rng: np.random.Generator, width: int, count: int) -> Vector:
    """The same after 100 steps."""
    return np.abs(contradicted(rng, width, count, steps=100, scale=1 / 8)[0])


def beyond_first_order(rng: np.random.Generator, kappa: int, count: int) -> Vector:
    """By how much `κ(f − f_lin)` differs from its order `1/κ` after 100 steps, with labels `κf_0` and `κf_0 + 2`."""
    found, predicted = contradicted(rng, 16, count, steps=100, scale=1 / kappa)
    return kappa * np.abs(found - predicted)


def in_steps(exponent: float, width: int) -> Scaling:
    """The exponent in the number of steps at one width."""
    return of_deviation(f"width {width}", partial(along_steps, width=width), exponent, (50, 100, 200, 400))


of_deviation = partial(median_scaling, count=400, budget=4, resolution=0.8)


K = gamma * delta * h12  # of theory/sgd_drift.py

sgd_deviation = claim(
    id="sgd-deviation",
    title="The deviation along stochastic gradient descent",
    source=WEAK_CORRELATIONS.at("the bound along SGD"),
    statement=r"F(\theta(s)) - F_{\mathrm{lin}}(s) = O\big(s^0/m(n)\big)",
    hypotheses=("exponentially weak correlations", "a rate at which full batches of the linearised network converge"),
    conditions=("flat where the squared residuals of f_lin are summable, as in interpolation",),
    findings=(
        "no noise: most of the deviation is there after the first steps; it changes by less than 5 % between 400 and "
        "800 steps of batches of one at half of the largest stable rate",
        "one training input, first order of weak correlations: elsewhere the deviation is bounded less half of eta^2 K "
        "times the sum of the squared residuals of f_lin, for bounded labels and eta Theta < 2; so it is flat if and "
        "only if that converges, unless K = 0, as where the gradients at both inputs are parallel",
        "labels drawn independently at +-nu from their mean keep it growing by eta^2 K nu^2/(2 - eta Theta) in each "
        "step, in the mean (labels that take turns do too, by another factor); K, the part of C_{1,1} across the "
        "gradient, is of order 1/n: the deviation is of order s/n as long as it is small",
        "our source gives no condition on the labels; one under which f_lin itself converges would exclude this. It "
        "also says that the deviation accumulates during training, which is so",
        "three inputs: limes plot sgd-deviation",
        "at 2.5 over the largest eigenvalue f_lin diverges and f converges: the deviation is unbounded at every width",
    ),
    parts={"flat in s, with contradicting labels": [in_steps(0.0, 32)]},
    correction=Correction(
        text="flat in s if and only if the squared residuals are summable (one training input, eta Theta < 2, bounded "
        "labels, K != 0, leading order); under labels drawn at +-nu from their mean it grows in proportion to s",
        latex=r"\mathbb{E}\,(F - F_{\mathrm{lin}})(x') = -\frac{\eta^2 \nu^2 K}{2 - \eta\Theta}\, s + O(s^0), \quad"
        r" K = O(1/n)",
        parts={
            "what a step adds": [
                Identity(name="for any labels", derivation=sgd_drift.gain, claimed=-(eta**2) * K * rho**2 / 2),
                Identity(
                    name="in the mean, for contradicting labels",
                    derivation=sgd_drift.mean_gain,
                    claimed=-(eta**2) * K * nu**2 / (2 - eta * gamma**2),
                ),
                of_deviation(
                    "networks times kappa, 100 steps: what is left beyond it", beyond_first_order, -2.0, (8, 16, 32, 64)
                ),
            ],
            "proportional to s with contradicting labels": [in_steps(1.0, width) for width in (32, 128)],
            "and to 1/n": [of_deviation("100 steps", by_width, -1.0, (32, 64, 128, 256))],
            "flat once the data are fitted": [
                Experiment(
                    name="400 to 800 steps within 5 %, 5 to 400 not",
                    draw=flat_without_noise,
                    measure=Measure.MAJORITY,
                    chunk=25,
                    budget=10,
                )
            ],
            "large rates": [
                Experiment(
                    name="2.5 over the largest eigenvalue",
                    draw=large_rate,
                    measure=Measure.MAJORITY,
                    chunk=30,
                    budget=8,
                )
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (rate_scaling, sgd_deviation)
