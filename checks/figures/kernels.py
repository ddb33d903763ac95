r"""Chapter 1: the kernels of infinitely wide ReLU networks, and finite networks around them.

Depth `L >= 1` (hidden layers), width `m >= 1`, or `C >= 1` channels; `ρ = cos θ ∈ [−1, 1]` is the correlation of two
unit vectors, `Θ^L` the tangent kernel and `Σ^L` the covariance of the outputs, as in `numerics/kernels.py`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy  # its parts are loaded when first used

from numerics import data
from numerics import kernels as limits
from numerics.convolutional_networks import CNN, empirical_cntk
from numerics.data import Array
from numerics.empirical import empirical_ntk
from numerics.networks import MLP
from theory.pooling import Pooling

from ..plot import BARS, TOGETHER, Axis, Chart, Figure, Kind, Panel, Series, generator

DEPTHS = (1, 3, 10)
WIDTH, RUNS = 128, 500
ANGLES = np.linspace(0, math.pi, 97)
MARKED = slice(None, None, 8)  # of the angles: those at which networks are shown
WIDTHS, UNITS = (8, 16, 32, 64, 128), 160_000  # as many networks of each width as have so many units in a layer
APART = np.array([0, 2 * math.pi / 3])  # two points where the bias is large
GAUSSIAN_WIDTHS, TAIL_WIDTHS = (8, 16, 32, 64, 128), (4, 16, 64)
GAUSSIAN_DEPTH, GAUSSIAN_UNITS = 2, 256_000
TINY = 1e-300  # a deviation by which nothing is divided: a network of dead units has none
CHANNELS, PIXEL_UNITS, DIGIT_UNITS = (4, 8, 16, 32), 64_000, 9_600
POOLINGS = {Pooling.NONE: "flattened", Pooling.MEAN: "pooled"}


def circle(angles: Array) -> Array:
    """Unit vectors at these angles, `(n, 2)`."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def by_correlation(seed: int) -> Chart:
    """`Θ^L/(L + 1)` and `Σ^L` against the correlation, with the means of finite networks."""
    X, rho = circle(ANGLES), np.cos(ANGLES)
    tangent, outputs = [], []
    for look, depth in enumerate(DEPTHS):
        label = f"$L = {depth}$"
        network = MLP.of_depth(2, width=WIDTH, depth=depth)
        draws = network.sample_chunks(generator("kernels", seed, depth), RUNS)
        found = [empirical_ntk(network, draw, X[:1], X[MARKED]) for draw in draws]
        for series, kernel, empirical in (
            (tangent, limits.ntk(X[:1], X, depth=depth) / (depth + 1), [one.total / (depth + 1) for one in found]),
            (outputs, limits.nngp(X[:1], X, depth=depth), [one.layers[-1] for one in found]),
        ):
            series.append(Series(label, tuple(rho), tuple(kernel[0]), look=look))
            series.append(Series.of_runs(label, rho[MARKED], np.concatenate(empirical)[:, 0, 0, :, 0], look))
    quarter = Series.power("$1/4$", (-1, 1), 0, 0.25)
    across = Axis(r"correlation $\rho$")
    panels = (
        Panel(across, Axis(r"$\Theta^L/(L+1)$"), (*tangent, quarter), "tangent kernel"),
        Panel(across, Axis(r"$\Sigma^L$"), tuple(outputs), "covariance of the outputs"),
    )
    caption = (
        f"Two unit vectors. Lines: infinite width. Points: means over {RUNS} ReLU networks of width {WIDTH}, seed "
        f"{seed}; in the second panel each network is given its last features. Their expectations are the lines for L "
        f"= 1, and off by O(1/m) for L > 1; {TOGETHER}."
    )
    return Chart(panels, 2, caption)


def by_width(seed: int) -> Chart:
    """The error of the empirical tangent kernel, signed and not, against the width."""
    cases = {}
    for depth in (1, 2, 3):
        limit = limits.ntk(circle(APART), depth=depth)[0, 1]
        errors = []
        for width in WIDTHS:
            network = MLP.of_depth(2, width=width, depth=depth)
            draws = network.sample_chunks(generator("kernel-width", seed, 10**4 * depth + width), UNITS // width)
            found = [empirical_ntk(network, draw, *np.split(circle(APART), 2)).total.ravel() for draw in draws]
            errors.append((np.concatenate(found) - limit) / (depth + 1))
        cases[f"$L = {depth}$"] = errors
    caption = (
        f"Two unit vectors a third of a turn apart; {UNITS}/m ReLU networks of each width m and depth, seed {seed}. "
        "The error is (finite kernel − limit)/(L + 1). For one hidden layer its expectation is 0 at every width, which "
        f"is derived; for more it is O(1/m). Its size falls like the square root of 1/m; {BARS}."
    )
    panels = (
        _mean_errors(cases, WIDTHS, "width $m$"),
        _sizes_of_errors(cases, WIDTHS, "width $m$", "$m^{-1/2}$"),
    )
    return Chart(panels, 2, caption)


Errors = dict[str, list[Array]]  # by what is written in the legend: for each size a sample `(runs,)`


def _mean_errors(cases: Errors, sizes: tuple[int, ...], across: str) -> Panel:
    series = [Series.of_samples(label, sizes, errors, look) for look, (label, errors) in enumerate(cases.items())]
    axis = Axis(across, logarithmic=True, ticks=sizes)
    return Panel(axis, Axis("mean error"), (*series, Series.power("limit", sizes, 0, 0)), "mean of the errors")


def _sizes_of_errors(cases: Errors, sizes: tuple[int, ...], across: str, guide: str) -> Panel:
    """On logarithmic axes, with a guide that falls like the root of the size."""
    series = [
        Series.of_samples(label, sizes, map(np.abs, errors), look) for look, (label, errors) in enumerate(cases.items())
    ]
    slope = Series.power(guide, sizes, -0.5, series[0].y[-1] / 1.3)
    axis = Axis(across, logarithmic=True, ticks=sizes)
    return Panel(axis, Axis("mean size of the error", logarithmic=True), (*series, slope), "their size")


def gaussian_limit(seed: int) -> Chart:
    """The excess kurtosis of the outputs against the width, and their tails."""
    from numerics.evaluate import values
    from theory.outputs import L, excess_kurtosis, m

    formula = excess_kurtosis().conclusion
    fine = np.geomspace(GAUSSIAN_WIDTHS[0], GAUSSIAN_WIDTHS[-1], 33)
    kurtosis = []
    norms = {width: _squared_norms(width, generator("gaussian-limit", seed, width)) for width in GAUSSIAN_WIDTHS}
    for look, depth in enumerate((1, GAUSSIAN_DEPTH)):
        label = f"$L = {depth}$"
        excess = [3 * (squares[:, depth - 1] - 1) ** 2 for squares in norms.values()]
        kurtosis.append(Series(label, tuple(fine), tuple(values(formula, {L: depth, m: fine})), look=look))
        kurtosis.append(Series.of_samples(label, norms, excess, look))
    at, few = np.linspace(0, 5, 51), np.arange(1, 6)
    tails = [Series("Gaussian", tuple(at), tuple(scipy.special.erfc(at / math.sqrt(2))), Kind.GUIDE)]
    for look, width in enumerate(TAIL_WIDTHS, start=2):
        deviations = np.sqrt(_squared_norms(width, generator("gaussian-limit", seed, 10**4 + width))[:, -1:])
        beyond = scipy.special.erfc(few / np.maximum(deviations, TINY) / math.sqrt(2))
        tails.append(Series.of_runs(f"$m = {width}$", few, beyond, look))
    panels = (
        Panel(
            Axis("width $m$", logarithmic=True, ticks=GAUSSIAN_WIDTHS),
            Axis("excess kurtosis", logarithmic=True),
            tuple(kurtosis),
            "excess kurtosis of an output",
        ),
        Panel(
            Axis("$x$"),
            Axis("$P(|f| > x)$", logarithmic=True),
            tuple(tails),
            f"tails of an output, $L = {GAUSSIAN_DEPTH}$",
        ),
    )
    caption = (
        f"One unit vector; {GAUSSIAN_UNITS}/m ReLU networks of each width m, seed {seed}. Points: means over the "
        f"networks, each given its features, with which an output is Gaussian; {BARS}; those of one width in the "
        "second panel err together. Lines in the first: 3 (1 + 5/m)^L − 3, derived, for every width."
    )
    return Chart(panels, 2, caption)


def _squared_norms(width: int, rng: np.random.Generator) -> Array:
    """`q_l = |g^l(x)|²` for `l = 1..L` of random networks, `(runs, L)`: given its features an output is `N(0, q_L)`."""
    network, found = MLP.of_depth(2, width=width, depth=GAUSSIAN_DEPTH), []
    for parameters in network.sample_chunks(rng, GAUSSIAN_UNITS // width):
        features = network.forward(parameters, circle(np.zeros(1))).features[1:]
        found.append(np.stack([np.square(g[:, 0]).sum(axis=1) for g in features], axis=1))
    return np.concatenate(found)


def convolution(seed: int) -> Chart:
    """The error of the tangent kernel of finite convolutional networks against their channels: its mean, and its size.

    The mean is shown for opposite images of 1×2 pixels, where the bias is large, the size for two digits.
    """
    opposite = np.array([[[1.0, 0.5]], [[-1.0, -0.5]]])
    digits = data.digits(2).images.reshape(2, 8, 8)
    cases: dict[str, Errors] = {"opposite": {}, "digits": {}}
    for name, images, units in (("opposite", opposite, PIXEL_UNITS), ("digits", digits, DIGIT_UNITS)):
        height, width = images.shape[1:]
        for case, (depth, pooling) in enumerate((depth, pooling) for depth in (1, 2) for pooling in POOLINGS):
            gram = limits.cntk(images, depth=depth, pooling=pooling)
            errors = []
            for channels in CHANNELS:
                network = CNN.of_depth((height, width, 1), width=channels, depth=depth, pooling=pooling)
                rng = generator(f"cntk {name}", seed, 10**4 * case + channels)
                found = [
                    empirical_cntk(network, draw, images[:1], images[1:]).total.ravel()
                    for draw in network.sample_chunks(rng, units // channels)
                ]
                errors.append((np.concatenate(found) - gram[0, 1]) / math.sqrt(gram[0, 0] * gram[1, 1]))
            cases[name][f"$L = {depth}$, {POOLINGS[pooling]}"] = errors
    mean = _mean_errors(cases["opposite"], CHANNELS, "channels $C$")
    size = _sizes_of_errors(cases["digits"], CHANNELS, "channels $C$", "$C^{-1/2}$")
    caption = (
        f"ReLU networks of L layers of C channels, 3×3 filters, seed {seed}; the error is (finite kernel − limit), "
        f"over √(Θ(x, x) Θ(x′, x′)) of the limit. First panel: opposite images of 1×2 pixels, {PIXEL_UNITS}/C networks "
        "for each point; for one layer the expectation is 0 at every C, which is derived, for more it is O(1/C). "
        f"Second panel: two of scikit-learn's digits, {DIGIT_UNITS}/C networks; {BARS}."
    )
    panels = (replace(mean, title="mean of the errors, 1×2 pixels"), replace(size, title="their size, two digits"))
    return Chart(panels, 2, caption)


FIGURES = (
    Figure(
        "kernels",
        "Kernels of wide ReLU networks, and finite networks",
        ("arccos-kernels", "ntk-recursion", "empirical-ntk"),
        by_correlation,
    ),
    Figure("kernel-width", "The tangent kernel of finite networks", ("empirical-ntk",), by_width),
    Figure("gaussian-limit", "The outputs of wide networks are Gaussian", ("nngp-limit",), gaussian_limit),
    Figure("cntk", "The tangent kernel of convolutional networks", ("cntk",), convolution),
)
