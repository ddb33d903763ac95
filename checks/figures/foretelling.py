r"""Chapter 5, the two questions of the public reviews of arXiv:2401.04013; `findings/correlations.md` answers them.

Does the correlation `C_{0,2}` at initialisation foretell the gap between a network `f` and its linearisation `f_lin`,
where features are learnt? Do the slopes of `MSE(f, f_lin)` in the width `n`, for rates `η ∝ n^α`, follow the theorem?
"""

from __future__ import annotations

import math

import numpy as np
import scipy  # its parts are loaded when first used

from numerics.data import Array
from numerics.linearisation import deviations
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from theory.activations import Activation, ReLU, Tanh
from theory.loss import Loss

from ..plot import MEDIAN_BARS, TOGETHER, Axis, Centre, Chart, Figure, Kind, Panel, Series, generator

# --- does it foretell the gap? ----------------------------------------------------------------------------------------

STEPS = (1, 3, 10, 30, 100, 300)
TAU_WIDTH, BLOCKS, BLOCK = 32, 24, 60
GAP_WIDTHS, GAP_NETWORKS = (32, 64, 128, 256, 512, 1024), 100
LAZY, FEATURES = "lazy", "features learnt"


def criteria_and_gaps(
    rng: np.random.Generator, width: int, count: int, at: tuple[int, ...], features: bool
) -> tuple[Array, Array]:
    """`C_{0,2}` of each network `(count,)`, in the units of the regime, and its gap at each step `(len(at), count)`.

    One hidden layer of tanh on the target `x₁x₂`. With `features` the output is divided by `√n` and the rate multiplied
    by `n`: the mean field, where `C_{0,2}` is `√n` times as large (`theory/external_scale.py`).
    """
    from ..ledger.linearisation import criterion, multi_index

    X, X_test, labels = multi_index()
    factor = math.sqrt(width) if features else 1.0
    network = MLP(X.shape[1], (width,), activation=Tanh())
    parameters, method = network.sample(rng, count), GradientDescent(0.1, at[-1])
    gaps = deviations(network, parameters, X, factor * labels, X_test, method, at=at, loss=Loss.MEAN) / factor
    return factor * criterion(network, parameters, X, X_test), gaps


def foretold(seed: int) -> Chart:
    """Kendall's τ of the correlation and the gap along training; both against the width."""
    taus, sizes = [], []
    for look, (name, features) in enumerate({LAZY: False, FEATURES: True}.items()):
        blocks = np.empty((BLOCKS, len(STEPS)))
        for block, rng in zip(blocks, generator("correlation-and-gap", seed, look).spawn(BLOCKS), strict=True):
            criteria, gaps = criteria_and_gaps(rng, TAU_WIDTH, BLOCK, STEPS, features)
            block[:] = [scipy.stats.kendalltau(criteria, row).statistic for row in gaps]
        taus.append(Series.of_runs(f"gap, {name}", STEPS, blocks, 2 * look + 1))
        drawn = [
            criteria_and_gaps(
                generator("correlation-and-gap", seed, 10 * width + look), width, GAP_NETWORKS, (100,), features
            )
            for width in GAP_WIDTHS
        ]
        for kind, samples in (("$C_{0,2}$", [c for c, _ in drawn]), ("gap", [gaps[0] for _, gaps in drawn])):
            label = f"{kind}, {name}"
            sizes.append(Series.of_samples(label, GAP_WIDTHS, samples, len(sizes), Centre.MEDIAN))
    panels = (
        Panel(
            Axis("steps", logarithmic=True, ticks=STEPS),
            Axis(r"Kendall's $\tau$", span=(0, 0.6)),
            tuple(taus),
            f"is the order of networks foretold? Width {TAU_WIDTH}",
        ),
        Panel(
            Axis("width $n$", logarithmic=True, ticks=GAP_WIDTHS),
            Axis("median", logarithmic=True),
            tuple(sizes),
            "is the size? After 100 steps",
        ),
    )
    caption = (
        "Tanh networks of one hidden layer on twelve points, target x₁x₂, and their linearisation, on twelve others. "
        "Features learnt: output divided by √n, rate multiplied by n. C₀,₂ is the root mean square over pairs of a "
        f"test and a training point. First panel: means over {BLOCKS} groups of {BLOCK} networks, seed {seed}; "
        f"{TOGETHER}. Second panel: medians over {GAP_NETWORKS} networks; {MEDIAN_BARS}. Where features are learnt "
        "C₀,₂ falls like n^(−1/2), and the gap stays."
    )
    return Chart(panels, 2, caption)


# --- do the slopes follow the theorem? --------------------------------------------------------------------------------

ALPHAS = (0.0, -0.25, -0.5, -0.75, -1.0)
PUBLISHED = (-1.14, -1.14, -1.30, -1.73, -2.72)
SWEEP_STEPS = (3, 10, 30, 100)
SWEEPS: tuple[tuple[Activation, int, tuple[int, ...], float, int], ...] = (  # early: MSE ~ n^(4α + the number)
    (ReLU(), 2, (64, 128, 256, 512), -1.0, 40),
    (Tanh(), 1, (64, 128, 256, 512, 1024), -2.0, 100),
)


def slopes(rng: np.random.Generator, activation: Activation, depth: int, widths: tuple[int, ...], runs: int) -> Array:
    """Slopes of `log MSE` in `log n`, from one network a width in each run: `(len(SWEEP_STEPS), runs, len(ALPHAS))`.

    The networks of a run are the same at all `α`; the rate is `0.1 (n/64)^α`.
    """
    from ..ledger.deviation import BASIS, along_basis

    labels, X_test = along_basis()
    logarithms = np.empty((len(widths), len(SWEEP_STEPS), runs, len(ALPHAS)))
    for at_width, width in zip(logarithms, widths, strict=True):
        network, first = MLP.of_depth(len(BASIS), width=width, depth=depth, activation=activation), 0
        for part in network.sample_chunks(rng, runs):
            for index, alpha in enumerate(ALPHAS):
                method = GradientDescent(0.1 * (width / widths[0]) ** alpha, SWEEP_STEPS[-1])
                gaps = deviations(network, part, BASIS, labels, X_test, method, at=SWEEP_STEPS)
                at_width[:, first : first + len(part), index] = 2 * np.log(gaps)
            first += len(part)
    centred = np.log(widths) - np.log(widths).mean()
    return np.einsum("w,wsra->sra", centred / (centred @ centred), logarithms)


def sweep(seed: int) -> Chart:
    """The slopes of the mean squared gap against `α`, after a few steps and after many, beside the published ones."""
    panels = []
    for stream, (activation, depth, widths, early, runs) in enumerate(SWEEPS):
        found = slopes(generator("rate-sweep", seed, stream), activation, depth, widths, runs)
        series = [
            Series.of_runs(f"{steps} steps", ALPHAS, rows, look)
            for look, (steps, rows) in enumerate(zip(SWEEP_STEPS, found, strict=True))
        ]
        ends = np.array([ALPHAS[0], ALPHAS[-1]])
        guides = {rf"early, ${early:g} + 4\alpha$": early + 4 * ends, f"late, ${early:g}$": early + 0 * ends}
        series += [Series(label, tuple(ends), tuple(y), Kind.GUIDE) for label, y in guides.items()]
        series.append(Series(r"theorem 3.2, $2\alpha - 1$", tuple(ends), tuple(2 * ends - 1), Kind.LINE, 4))
        if activation == ReLU():
            series.append(Series("published (MNIST)", ALPHAS, PUBLISHED, Kind.LINE, 5))
        layers = f"{depth} hidden layer{'s' if depth > 1 else ''}"
        title = f"{activation.name}, {layers}, widths {widths[0]} to {widths[-1]}"
        panels.append(
            Panel(Axis(r"$\alpha$ in $\eta \propto n^\alpha$"), Axis("slope of the MSE"), tuple(series), title)
        )
    caption = (
        "Slopes of the mean of log MSE(f, f_lin) in log n at a fixed number of steps, rate 0.1 (n/64)^α, twelve "
        f"orthonormal training points, twelve test points. Means over {SWEEPS[0][-1]} sets of networks in the "
        f"first panel and {SWEEPS[1][-1]} in the second, the same at all α, seed {seed}; {TOGETHER}. Guides: n → ∞, "
        "derived for tanh, for ReLU from the lag by its kinks. Early in training the slopes are below the bound of the "
        "theorem; as training ends they forget α."
    )
    return Chart(tuple(panels), 2, caption)


FIGURES = (
    Figure(
        "correlation-and-gap",
        "Is the gap foretold where features are learnt?",
        ("linearisation-equivalence",),
        foretold,
    ),
    Figure("rate-sweep", "Do the slopes under falling rates follow the theorem?", ("rate-scaling",), sweep),
)
