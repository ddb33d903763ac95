r"""Chapter 4: training in the kernel regime, finite networks beside it, and stopping early.

Width `m >= 1`, rate `η > 0`, steps `k`; `λ` is an eigenvalue of the kernel `Θ` on the training points, and time that of
the gradient flow on half the sum of squares, so that `s = λt`, or `ηλk` for descent.
"""

from __future__ import annotations

import math

import numpy as np

from numerics import data, kernels
from numerics.data import Array
from numerics.dynamics import descend, predict
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.training import train
from theory.activations import ReLU, Tanh

from ..plot import BARS, TOGETHER, Axis, Chart, Figure, Panel, Series, generator

POINTS, DESCENT, RECORDED = 3, GradientDescent(0.05, steps=100), (0, 5, 10, 20, 40, 60, 80, 100)
WIDTH, RUNS = 512, 400
DISTANCE_WIDTHS, DISTANCE_RUNS = (32, 64, 128, 256, 512, 1024), 100
LAG_WIDTHS, LAG_UNITS = (4, 16, 64, 256), 2_000_000  # as many networks as have so many units
STEPS = (2, 10)
TIMES, DRAWS = np.geomspace(0.02, 200, 9), 4000


def flow(seed: int) -> Chart:
    """The residual in each mode along descent, and the law of a prediction over initialisations."""
    X = data.sphere(generator("gradient-flow", seed), POINTS, 3)
    x = (X[:1] + X[-1:]) / np.linalg.norm(X[0] + X[-1])  # between points with the label 1
    network = MLP.of_depth(3, width=WIDTH, depth=1)
    parameters = network.sample(generator("gradient-flow", seed, 1), RUNS)
    across = Axis("steps")
    residuals, law = _modes(network, parameters, X), _prediction(network, parameters, X, x)
    panels = (
        Panel(across, Axis("residual in a mode"), residuals, "residuals in the modes of the kernel"),
        Panel(across, Axis("output at a new point"), law, "a prediction, over initialisations"),
    )
    caption = (
        f"ReLU networks of one hidden layer of width {WIDTH}, {POINTS} random points of the sphere in R³, descent of "
        f"the rate {DESCENT.learning_rate:g}. Lines: the limit kernel. Points: means over {RUNS} networks, seed "
        f"{seed}. First panel: each has labels of its own, so that every residual is 1. Second panel: labels 1 and −1; "
        "the new point is between two with label 1; the variance is the mean square distance from the mean of the "
        f"limit; {TOGETHER}."
    )
    return Chart(panels, 2, caption)


def _modes(network: MLP, parameters: Array, X: Array) -> tuple[Series, ...]:
    """The residual in each mode of the limit kernel, from 1 in each of them."""
    kernel = kernels.ntk(X, depth=network.depth)
    eigenvalues, modes = np.linalg.eigh(kernel)
    start = modes.sum(axis=1)
    labels = network(parameters, X) - start[:, None]
    measured = (train(network, parameters, X, labels, DESCENT, at=RECORDED).outputs - labels)[..., 0] @ modes
    steps = tuple(range(DESCENT.steps + 1))
    expected = descend(kernel, np.zeros(len(X)), steps, DESCENT.learning_rate, f0=start).train @ modes
    series = []
    for look, index in enumerate(reversed(range(len(X)))):
        label = rf"$\lambda = {eigenvalues[index]:.2f}$"
        series.append(Series(label, steps, tuple(expected[:, index]), look=look))
        series.append(Series.of_runs(label, RECORDED, measured[:, :, index].T, look))
    return tuple(series)


def _prediction(network: MLP, parameters: Array, X: Array, x: Array) -> tuple[Series, ...]:
    """The mean and the variance of the output at `x (1, d)`, for labels 1 and −1 in turn."""
    y, steps = np.where(np.arange(len(X)) % 2, -1.0, 1.0), tuple(range(DESCENT.steps + 1))
    found = train(network, parameters, X, y, DESCENT, X_test=x, at=RECORDED).test_outputs
    covariance = kernels.nngp(np.concatenate([X, x]), depth=network.depth)
    root = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)

    def limit(labels: Array, start: Array) -> Array:
        """The outputs at `x` after the steps, from the outputs `start` at all points; they are affine in it."""
        kernel, rows = kernels.ntk(X, depth=network.depth), kernels.ntk(x, X, depth=network.depth)
        rate, (f0, f0_test) = DESCENT.learning_rate, np.split(start, [-1])
        outputs = descend(kernel, labels, steps, rate, f0=f0, kernel_test=rows, f0_test=f0_test).test
        assert outputs is not None  # as there is a test point
        return outputs[:, 0]

    assert found is not None
    measured = found[:, :, 0, 0].T
    mean = limit(y, np.zeros(len(root)))
    variance = np.square(limit(np.zeros_like(root[:-1]), root)).sum(axis=1)
    return (
        Series("mean", steps, tuple(mean), look=POINTS),
        Series.of_runs("mean", RECORDED, measured, POINTS),
        Series("variance", steps, tuple(variance), look=POINTS + 1),
        Series.of_runs("variance", RECORDED, (measured - mean[list(RECORDED)]) ** 2, POINTS + 1),
    )


def linearised(seed: int) -> Chart:
    """The distance of networks from their linearisation against the width, and the mean lag of ReLU networks."""
    from numerics.evaluate import values

    from ..ledger.training import DESCENT as COURSE
    from ..ledger.training import FIRST_STEP, LAG, distances, lags, m

    cases = {
        "ReLU": {"activation": ReLU()},
        "tanh": {"activation": Tanh()},
        "tanh, limit kernel": {"activation": Tanh(), "limit": True},
    }
    found = []
    for look, (label, case) in enumerate(cases.items()):
        samples = [
            distances(generator("linearised-network", seed, 10**4 * look + width), width, DISTANCE_RUNS, **case)
            for width in DISTANCE_WIDTHS
        ]
        found.append(Series.of_samples(label, DISTANCE_WIDTHS, samples, look))
    guides = [
        Series.power("$m^{-1/2}$ and $m^{-1}$", DISTANCE_WIDTHS, exponent, series.y[-1] / 1.4)
        for exponent, series in ((-0.5, found[0]), (-1.0, found[1]))
    ]
    fine = np.geomspace(LAG_WIDTHS[0], LAG_WIDTHS[-1], 65)
    late = [
        math.sqrt(width) * lags(generator("linearised-network", seed, 10**5 + width), width, LAG_UNITS // width)
        for width in LAG_WIDTHS
    ]
    lagging = (
        Series("ReLU", tuple(fine), tuple(np.sqrt(fine) * values(LAG, {m: fine}))),
        Series.of_samples("ReLU", LAG_WIDTHS, late),
        Series.power("limit", LAG_WIDTHS, 0, math.sqrt(2) / math.pi * FIRST_STEP**2),
    )
    panels = (
        Panel(
            Axis("width $m$", logarithmic=True, ticks=DISTANCE_WIDTHS),
            Axis(r"$\sup |f - f_{\mathrm{lin}}|$", logarithmic=True),
            (*found, *guides),
            "distance from the linearised network",
        ),
        Panel(
            Axis("width $m$", logarithmic=True, ticks=LAG_WIDTHS),
            Axis(r"$\sqrt{m}\,(f_{\mathrm{lin}} - f)$"),
            lagging,
            "lag after one step on one point",
        ),
    )
    caption = (
        f"One hidden layer. First panel: over {COURSE.steps} steps, four training and two test points on the sphere in "
        f"R³; means over {DISTANCE_RUNS} networks of each width; 'limit kernel' is the distance from training with the "
        "kernel of infinite width. Second panel: line: the mean at every width, derived; points: means over "
        f"{LAG_UNITS}/m networks. Seed {seed}; {BARS}."
    )
    return Chart(panels, 2, caption)


def early_stopping(seed: int) -> Chart:
    """What is learnt of a mode by flow, descent and ridge regression; and the risk on noisy data against the time."""
    from numerics.balls import precision
    from numerics.early_stopping import ridge_filter_constant
    from numerics.evaluate import values
    from theory.early_stopping import descent_filter, flow_filter, k, ratio, ridge_filter, s, x

    with precision(64):
        kappa = float(ridge_filter_constant())
    at = np.geomspace(0.01, 100, 121)
    flow_learns, ridge_learns = (values(formula, {s: at}) for formula in (flow_filter(), ridge_filter()))
    learnt = [
        Series("flow", tuple(at), tuple(flow_learns)),
        Series("ridge", tuple(at), tuple(ridge_learns), look=1),
        Series(r"$\kappa$ ridge", tuple(at), tuple(kappa * ridge_learns), look=2),
    ]
    ratios = [
        Series("flow", tuple(at), tuple(values(ratio(), {s: at}))),
        *(Series.power(r"1 and $\kappa$", (at[0], at[-1]), 0, level) for level in (1, kappa)),
    ]
    for look, steps in enumerate(STEPS, start=3):
        within = at[at <= steps]  # rates up to 1/λ
        fractions = values(descent_filter().subs(k, steps), {x: within / steps})
        ratios.append(
            Series(
                f"descent, {steps} steps",
                tuple(within),
                tuple(fractions / values(ridge_filter(), {s: within})),
                look=look,
            )
        )
    across = Axis(r"$s = \lambda t$", logarithmic=True)
    panels = (
        Panel(across, Axis("learnt of a mode", span=(0, 1.4)), tuple(learnt), "filters"),
        Panel(across, Axis("over that of ridge regression"), tuple(ratios), "ratio of the filters"),
        Panel(
            Axis("time $t$", logarithmic=True), Axis("risk on the data, per point"), _risks(seed), "signal and noise"
        ),
    )
    caption = (
        f"Ridge regression has the strength 1/t. κ = {kappa:.6f}, certified, is the largest ratio of the flow; descent "
        "of a number of steps k is shown at s = ηλk, up to the rate 1/λ. Last panel: labels on eight points, half of "
        f"whose variance is noise and half a signal drawn with the kernel. Lines: derived; points: means over {DRAWS} "
        f"draws, seed {seed}; {TOGETHER}."
    )
    return Chart(panels, 3, caption)


def _risks(seed: int) -> tuple[Series, ...]:
    """The mean risk of the flow and of ridge regression on data drawn with the kernel, by its modes, and of draws."""
    from numerics.evaluate import values
    from theory.early_stopping import flow_filter, ridge_filter, s
    from theory.stopping_risk import noise, risk, signal

    from ..ledger.early_stopping import training_kernel

    kernel = training_kernel() / np.trace(training_kernel()) * len(training_kernel())
    eigenvalues, modes = np.linalg.eigh(kernel)
    fine = np.geomspace(TIMES[0], TIMES[-1], 97)
    series = []
    for look, (name, filtered) in enumerate((("flow", flow_filter()), ("ridge", ridge_filter()))):
        formula = risk(filtered)
        curves = [
            values(formula, {signal: math.sqrt(eigenvalue), noise: 1.0, s: eigenvalue * fine})
            for eigenvalue in eigenvalues
        ]
        series.append(Series(name, tuple(fine), tuple(np.mean(curves, axis=0)), look=look))
    rng = generator("early-stopping", seed)
    drawn = modes * np.sqrt(eigenvalues) @ rng.normal(size=(len(kernel), DRAWS))
    labels = drawn + rng.normal(size=drawn.shape)
    outputs = {
        "flow": predict(kernel, labels, TIMES).train,
        "ridge": np.stack([kernel @ np.linalg.solve(kernel + np.eye(len(kernel)) / time, labels) for time in TIMES]),
    }
    for look, (name, found) in enumerate(outputs.items()):
        series.append(Series.of_runs(name, TIMES, np.square(found - drawn).mean(axis=1).T, look))
    return tuple(series)


FIGURES = (
    Figure("gradient-flow", "Trained networks and their kernel", ("gradient-flow",), flow),
    Figure("linearised-network", "A wide network beside its linearisation", ("linearised-network",), linearised),
    Figure("early-stopping", "Stopping early, and ridge regression", ("early-stopping",), early_stopping),
)
