r"""Chapter 2: the normalised ReLU kernel `Θ̄^L` of deep networks, against its limits.

`ρ = cos θ₀ ∈ [−1, 1]` is the correlation of the two inputs, `L >= 1` the number of hidden layers, `s = L θ₀/(3π)`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from numerics.deep import relu_ntk_normalised

from ..plot import Axis, Chart, Figure, Kind, Panel, Series

CORRELATIONS = tuple(Fraction(text) for text in ("-1", "0", "1/2", "9/10", "99/100"))
DEPTHS = tuple(2**k for k in range(16))
CROSSOVER_DEPTHS = (10, 30, 100, 1000)


def rate(seed: int) -> Chart:
    r"""`(L + 1)(Θ̄^L − 1/4)` against `log L`: straight lines of slope 3/8, where a rate `O(1/L)` would be flat."""
    from theory.depth import depth_rate

    slope = float(depth_rate().conclusion)
    excesses, slopes = [], []
    for look, rho in enumerate(CORRELATIONS):
        label = rf"$\rho = {float(rho):g}$"
        excess = np.array([(depth + 1) * (float(relu_ntk_normalised(rho, depth)) - 0.25) for depth in DEPTHS])
        excesses.append(Series(label, DEPTHS, tuple(excess), look=look))
        slopes.append(Series(label, DEPTHS[:-1], tuple(np.diff(excess) / np.log(2)), look=look))
    ends = np.array([DEPTHS[0], DEPTHS[-1]], dtype=float)
    guide = r"slope $3/8$"
    panels = (
        Panel(
            Axis("hidden layers $L$", logarithmic=True),
            Axis(r"$(L+1)\,(\bar\Theta^L - 1/4)$"),
            (*excesses, Series(guide, tuple(ends), tuple(slope * np.log(ends)), Kind.GUIDE)),
            "distance to the limit, times $L + 1$",
        ),
        Panel(
            Axis("hidden layers $L$", logarithmic=True),
            Axis(r"slope against $\log L$", span=(0, 1)),
            (*slopes, Series(guide, tuple(ends), (slope, slope), Kind.GUIDE)),
            "its slope, between $L$ and $2L$",
        ),
    )
    caption = (
        "Certified values for two inputs of correlation ρ. At the published rate O(1/L) the left curves would stay "
        "bounded and their slopes would vanish; the slope tends to 3/8, which is derived, for all different inputs."
    )
    return Chart(panels, 2, caption)


def crossover(seed: int) -> Chart:
    """`Θ̄^L` at `L θ₀/(3π) = s` against its limit `Φ(s)`, and the distance times `L` against `Φ₁(s)`."""
    from sympy import Rational, cos, pi

    from numerics.evaluate import values
    from theory.crossover import crossover, crossover_correction, s

    limit, correction = crossover().conclusion, crossover_correction().conclusion
    curve = np.geomspace(0.01, 100, 81)
    kernels, distances = [], []
    for look, depth in enumerate(CROSSOVER_DEPTHS, start=1):
        points = [Rational(round(100 * 10 ** (k / 4)), 10000) for k in range(17)]
        points = [point for point in points if 3 * point <= depth]  # as θ₀ <= π
        found = np.array([float(relu_ntk_normalised(cos(3 * pi * point / depth), depth, 17)) for point in points])
        at = tuple(float(point) for point in points)
        scaled = depth * (found - values(limit, {s: at}))
        kernels.append(Series(f"$L = {depth}$", at, tuple(found), Kind.POINTS, look))
        distances.append(Series(f"$L = {depth}$", at, tuple(scaled), Kind.POINTS, look))
    across = Axis(r"$s = L\,\theta_0/(3\pi)$", logarithmic=True)
    panels = (
        Panel(
            across,
            Axis(r"$\bar\Theta^L$"),
            (Series("limit", tuple(curve), tuple(values(limit, {s: curve}))), *kernels),
            r"$\Phi(s) = \frac{(1+s)^4-1}{4s(1+s)^3}$",
        ),
        Panel(
            across,
            Axis(r"$L\,(\bar\Theta^L - \Phi(s))$"),
            (Series("limit", tuple(curve), tuple(values(correction, {s: curve}))), *distances),
            r"its error times $L$, and the limit $\Phi_1(s)$",
        ),
    )
    caption = (
        "Lines: the limits for L → ∞ with s fixed, derived. Points: certified values at finite depth, "
        "for two inputs at the angle θ₀ = 3π s/L."
    )
    return Chart(panels, 2, caption)


FIGURES = (
    Figure("depth-rate", "The deep kernel approaches 1/4 like (3/8) log(L)/L", ("depth-rate", "depth-limit"), rate),
    Figure("depth-crossover", "Between few layers and many", ("depth-crossover",), crossover),
)
