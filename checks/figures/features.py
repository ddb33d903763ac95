r"""Chapter 3: the features `h = φ(u^L)` of finite ReLU networks in training: each freezes, and together they move.

Width `m >= 1`, depth `L >= 1`; `δh` is what training changes, and `D(x, x')` the limit of `⟨δh(x), δh(x')⟩` as `m → ∞`
(`numerics/features.py`).
"""

from __future__ import annotations

import math

import numpy as np

from numerics import data, features, kernels
from numerics.data import Array
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.trained_features import Trained, summed_residual, train_from_residual

from ..plot import BARS, Axis, Chart, Figure, Panel, Series, generator

TRAINED, RESIDUAL = 2, np.array([1.0, -1.0])  # f₀ − y of every network
WIDTHS, RUNS, FEW_STEPS = {1: (32, 64, 128, 256, 512, 1024), 2: (32, 64, 128, 256)}, 100, GradientDescent(0.15, steps=6)
COURSE_WIDTH, COURSES, RATE, STEPS = 128, 100, 0.05, (1, 2, 4, 8, 16, 32)
TEXT_WIDTHS, TEXT_RUNS = (48, 96, 192, 384), 40


def named(depth: int) -> tuple[str, str]:
    """What the legend says of all units, and of the one that changes most."""
    return f"$L = {depth}$, all units", f"$L = {depth}$, the largest"


def points() -> Array:
    """Two training points on the sphere in R³, then two others."""
    return data.sphere(np.random.default_rng(2511_07272), 2 * TRAINED, 3)


def limit(depth: int, method: GradientDescent) -> Array:
    """`D` between all points after the steps of `method`."""
    X = points()[:TRAINED]
    q = summed_residual(kernels.ntk(X, depth=depth), RESIDUAL, method)
    return features.deviation_given(X, q, points(), depth=depth)


def trained(rng: np.random.Generator, width: int, depth: int, runs: int, method: GradientDescent) -> Trained:
    """Networks before and after training on the first points."""
    network, X = MLP.of_depth(3, width=width, depth=depth), points()
    return train_from_residual(network, rng, runs, X[:TRAINED], RESIDUAL, method, X_test=X[TRAINED:])


def deviation(seed: int) -> Chart:
    """All units and the largest change against the width, the distance from the limit, and the course of training."""
    widths = WIDTHS[1]
    sizes, distances, courses = [], [], []
    for depth in WIDTHS:
        *changes, distance = _by_width(seed, depth)
        sizes += changes
        distances.append(distance)
        courses += _course(seed, depth)
    sizes += [
        Series.power("limit of all units", widths, 0, math.sqrt(limit(depth, FEW_STEPS)[0, 0])) for depth in WIDTHS
    ]
    distances.append(Series.power("$m^{-1/2}$", widths, -0.5, distances[0].y[-1] / 1.5))
    across = Axis("width $m$", logarithmic=True, ticks=widths)
    change = Axis("change at a training point", logarithmic=True)
    distance = Axis(r"$\|\langle\delta h, \delta h'\rangle - D\| / \|D\|$", logarithmic=True)
    course = f"course at a new point, $m = {COURSE_WIDTH}$"
    panels = (
        Panel(across, change, tuple(sizes), r"$\|\delta h\|$ and $\max_k |\delta h_k|$"),
        Panel(across, distance, tuple(distances), "distance from the limit"),
        Panel(Axis("steps"), Axis(r"$\|\delta h(x)\|^2$"), tuple(courses), course),
    )
    caption = (
        f"Two training points on the sphere in R³, residuals 1 and −1 in every network; seed {seed}. First panels: "
        f"means over {RUNS} networks of each width after {FEW_STEPS.steps} steps of the rate "
        f"{FEW_STEPS.learning_rate:g}. Last panel: the rate {RATE:g}; points: means over {COURSES} networks, the same "
        f"at all steps; lines: the limit D, derived; {BARS}."
    )
    return Chart(panels, 3, caption)


def _by_width(seed: int, depth: int) -> tuple[Series, Series, Series]:
    """`‖δh‖` and `max_k |δh_k|` at the first training point, and `‖⟨δh, δh'⟩ − D‖/‖D‖` over all points."""
    target, widths, look = limit(depth, FEW_STEPS), WIDTHS[depth], 2 * (depth - 1)
    norms, largest, apart = [], [], []
    for width in widths:
        found = trained(generator("feature-deviation", seed, 10**4 * depth + width), width, depth, RUNS, FEW_STEPS)
        change = found.after[:, 0] - found.before[:, 0]
        norms.append(np.linalg.norm(change, axis=1))
        largest.append(np.abs(change).max(axis=1))
        apart.append(np.linalg.norm(found.products_of_changes - target, axis=(1, 2)) / np.linalg.norm(target))
    together, single = named(depth)
    return (
        Series.of_samples(together, widths, norms, look),
        Series.of_samples(single, widths, largest, look + 1),
        Series.of_samples(together, widths, apart, look),
    )


def _course(seed: int, depth: int) -> tuple[Series, Series]:
    """`‖δh(x)‖²` at a new point along training: the limit at every step, and the same networks at some."""
    expected = [limit(depth, GradientDescent(RATE, step))[TRAINED, TRAINED] for step in range(STEPS[-1] + 1)]
    measured = []
    for step in STEPS:
        rng = generator("feature-deviation", seed, depth)
        found = trained(rng, COURSE_WIDTH, depth, COURSES, GradientDescent(RATE, step))
        measured.append(found.products_of_changes[:, TRAINED, TRAINED])
    name, look = named(depth)[0], 2 * (depth - 1)
    curve = Series(name, tuple(range(len(expected))), tuple(expected), look=look)
    return curve, Series.of_samples(name, STEPS, measured, look)


def on_text(seed: int) -> Chart:
    """The change of the features on windows of text: of nine units in ten, of the largest, and of all together."""
    from numerics import text

    from ..ledger.training import ON_TEXT, WINDOW, WINDOWS, deviations

    most, largest, together = [], [], []
    for width in TEXT_WIDTHS:
        changes = deviations(generator("text-features", seed, width), width, TEXT_RUNS)
        most.append(np.quantile(changes, 0.9, axis=2).mean(axis=1))
        largest.append(changes.max(axis=2).mean(axis=1))
        together.append(np.sqrt(np.square(changes).sum(axis=2).mean(axis=1)))
    names = (
        ("all units together", together),
        ("the largest unit", largest),
        ("nine units in ten", most),
    )
    series = [Series.of_samples(name, TEXT_WIDTHS, found, look) for look, (name, found) in enumerate(names)]
    guide = Series.power("$m^{-1/2}$", TEXT_WIDTHS, -0.5, series[2].y[-1] / 1.3)
    source = "text8" if text.TEXT8.is_there(text.TEXT8_NAMES) else "a Markov text"
    caption = (
        f"{WINDOWS} one-hot windows of {WINDOW} characters of {source}; {TEXT_RUNS} ReLU networks of two hidden layers "
        f"for each width, after {ON_TEXT.steps} steps of the rate {ON_TEXT.learning_rate:g}, labels 1 and −1 counted "
        "from the outputs at the start. Nine units in ten change by no more than shown. Means over windows and "
        f"networks, seed {seed}; {BARS}."
    )
    panel = Panel(
        Axis("width $m$", logarithmic=True, ticks=TEXT_WIDTHS),
        Axis(r"$|\delta h|$", logarithmic=True),
        (*series, guide),
    )
    return Chart((panel,), 1, caption)


FIGURES = (
    Figure(
        "feature-deviation", "Neurons freeze, and the features move", ("neurons-freeze", "features-move"), deviation
    ),
    Figure("text-features", "The features of text move together", ("text-features",), on_text),
)
