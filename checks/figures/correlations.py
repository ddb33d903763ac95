r"""Chapter 5: how derivative correlations fall with the width, and how far networks get from their linearisation.

`C_{D,d}` is that of `numerics/correlations.py`, at one input and the rate 1; width `n >= 1`, rate `η ∝ n^α`, `s` steps.
"""

from __future__ import annotations

import numpy as np

from numerics import correlations
from numerics.data import Array
from numerics.networks import MLP
from theory.activations import Tanh

from ..plot import MEDIAN_BARS, TOGETHER, Axis, Centre, Chart, Figure, Panel, Series, generator

WIDTHS, UNITS, ORDERS = (24, 48, 96, 192, 384), 80_000, {1: (1, 2, 3), 0: (2, 3, 4)}
RATE_WIDTHS, RATE_RUNS, EXPONENTS = (32, 64, 128, 256, 512), 200, (0.0, -0.5, -1.0)
FEW, MANY = (2, 0.004), (100, 0.05)  # steps, and the rate at width 64
SGD_STEPS, SGD_RUNS = (5, 25, 100, 400, 1600), 16


def decay(seed: int) -> Chart:
    """The median sizes of the correlations against the width, with their derived exponents."""
    from theory import cluster_rule
    from theory.correlations import D, d

    from ..ledger.correlation_decay import DIMENSION, X_ONE

    sizes: dict[tuple[int, int], list[Array]] = {(D_, order): [] for D_, orders in ORDERS.items() for order in orders}
    for width in WIDTHS:
        network = MLP.of_depth(DIMENSION, width=width, depth=2, activation=Tanh())
        drawn = network.sample_chunks(generator("correlation-decay", seed, width), UNITS // width)
        found = [correlations.scalar_and_vector_norms(network, part, X_ONE[None], 4) for part in drawn]
        for (D_, order), samples in sizes.items():
            samples.append(np.concatenate([np.abs(part[D_][order - 1, :, 0]) for part in found]))
    panels = []
    for D_, orders in ORDERS.items():
        series, guides = [], []
        for order in orders:
            measured = Series.of_samples(f"$d = {order}$", WIDTHS, sizes[D_, order], order - 1, Centre.MEDIAN)
            exponent = float(cluster_rule.decay_exponent().subs({D: D_, d: order}))
            series.append(measured)
            guides.append(Series.power("derived exponents", WIDTHS, exponent, measured.y[-1]))
        symbol = r"$\|C_{1,d}\|$" if D_ else "$|C_{0,d}|$"
        across, down = Axis("width $n$", logarithmic=True, ticks=WIDTHS), Axis(f"median {symbol}", logarithmic=True)
        panels.append(Panel(across, down, (*series, *guides), f"{'vectors' if D_ else 'numbers'} {symbol}"))
    caption = (
        f"Tanh networks of two hidden layers at one input of norm 1: medians over {UNITS}/n networks of each width, "
        f"seed {seed}; {MEDIAN_BARS}. Guides through the last points: exponents of the root mean square, −d/2 for "
        "vectors, −⌊d/2⌋ for numbers, derived for one hidden layer, from the cluster rule beyond."
    )
    return Chart(tuple(panels), 2, caption)


def rates(seed: int) -> Chart:
    """The deviation from the linearised network against the width, for rates that fall with it."""
    from sympy import nsimplify

    from theory import linearisation

    from ..ledger.linearisation import trained

    panels = []
    across = Axis("width $n$", logarithmic=True, ticks=RATE_WIDTHS)
    for steps, rate in (FEW, MANY):
        series, guides = [], []
        for look, alpha in enumerate(EXPONENTS):
            samples = [
                trained(
                    generator("rate-scaling", seed, 10**6 * look + 10**3 * steps + width),
                    width,
                    RATE_RUNS,
                    alpha=alpha,
                    steps=steps,
                    rate=rate,
                    depth=1,
                )
                for width in RATE_WIDTHS
            ]
            series.append(Series.of_samples(rf"$\alpha = {alpha:g}$", RATE_WIDTHS, samples, look, Centre.MEDIAN))
            if (steps, rate) == FEW:
                at = {linearisation.alpha: nsimplify(alpha), linearisation.mode: linearisation.Mode.FIXED_STEPS}
                exponent = float(linearisation.deviation_exponent().subs(at))
                guides.append(Series.power(r"$n^{2\alpha - 1}$", RATE_WIDTHS, exponent, series[-1].y[-1]))
        down = Axis("median deviation", logarithmic=True)
        panels.append(Panel(across, down, (*series, *guides), f"{steps} steps"))
    caption = (
        "Tanh networks of one hidden layer, four training and four test points on the sphere in R³; the rate is η₀ "
        f"(n/64)^α, η₀ = {FEW[1]:g} in the first panel, {MANY[1]:g} in the second. Medians over {RATE_RUNS} networks "
        f"of each width, seed {seed}; {MEDIAN_BARS}. Guides through the last points: derived for a fixed number of "
        "steps, early in training. After many steps narrow networks are trained to the end, where the rate hardly "
        "matters, and wide ones at falling rates are not: these slopes are no exponents."
    )
    return Chart(tuple(panels), 2, caption)


def sgd(seed: int) -> Chart:
    """The deviation along stochastic gradient descent, with and without labels that contradict each other."""
    from ..ledger.deviation import NOISE, SGD_RATE, along_sgd

    cases = {"batches of one": 0.0, "batches of one, contradicting labels": NOISE}
    series = []
    for look, (name, noise) in enumerate(cases.items()):
        runs = along_sgd(generator("sgd-deviation", seed, look), SGD_STEPS, SGD_RUNS, noise=noise)
        series.append(Series.of_runs(name, SGD_STEPS, runs, look))
    across, down = Axis("steps $s$", logarithmic=True, ticks=SGD_STEPS), Axis("deviation", logarithmic=True)
    caption = (
        f"Tanh networks of width 32 on three points of the circle, rate {SGD_RATE:g}, against their linearisation on "
        f"three others, along the same minibatches. Contradicting: every point is there twice, with labels ±{NOISE:g} "
        f"from its own. Means over {SGD_RUNS} runs of the median of eight networks, seed {seed}; {TOGETHER}."
    )
    return Chart((Panel(across, down, tuple(series)),), 1, caption)


FIGURES = (
    Figure("correlation-decay", "Derivative correlations fall with the width", ("correlation-decay",), decay),
    Figure("rate-scaling", "The deviation under a falling learning rate", ("rate-scaling",), rates),
    Figure("sgd-deviation", "The deviation along stochastic gradient descent", ("sgd-deviation",), sgd),
)
