r"""Chapter 2: the matrices `Θ̄ = Θ^L(X, X)/(L + 1)` of deep ReLU networks, and what a predictor makes of them.

`n >= 2` different unit vectors, of which two span lines at the smallest angle `θ_min ∈ (0, π/2]`; `λ_1 >= … >= λ_n` are
the eigenvalues; `s = L θ_min/(3π)`, and `Φ(s)` is the limit of `theory/crossover.py`. The time `t >= 0` is that of the
gradient flow on half the sum of squares with the kernel `Θ̄`.
"""

from __future__ import annotations

import math

import numpy as np

from numerics import data, kernels
from numerics.data import Array
from numerics.depth_scaling import eigenvalue_bound, predictor_norms, smallest_angle
from numerics.dynamics import predict

from ..plot import Axis, Chart, Figure, Kind, Panel, Series, generator
from .kernels import circle

DEPTHS = tuple(2**k for k in range(15))
LATE = slice(4, None)  # of the depths: where the first order is shown
POINTS, ROW_POINTS = 16, (3, 4, 5)
CLOUD, DIMENSION = 200, 10  # points of each data set; the sphere lies in R^10
SCALES, MIDDLE = np.geomspace(0.02, 20, 13), 0.5  # values of s
COUNTS = (3, 6, 12, 25, 50, 100, 200)
PAIR_DEPTH, PAIR_TIMES = 30, (1.0, 10.0, 100.0)
NORM_SCALES, NORM_TIMES, NEW_POINTS = (0.1, 1.0), np.geomspace(0.01, 1e4, 13), 100


def normalised(X: Array, depth: int, rows: Array | None = None) -> Array:
    """`Θ̄` between the `rows`, or `X` again, and `X`."""
    return kernels.ntk(X if rows is None else rows, X, depth=depth) / (depth + 1)


def depth_at(X: Array, scale: float) -> int:
    """The depth next to `3π s/θ_min`."""
    return max(1, round(3 * math.pi * scale / smallest_angle(X)))


def spectrum(seed: int) -> Chart:
    """The eigenvalues against the depth, and by how much the diagonal exceeds the rest of a row."""
    from sympy import Expr

    from numerics.evaluate import values
    from theory.spectrum import epsilon, largest_eigenvalue, n, other_eigenvalues, row_dominance

    X = data.sphere(generator("depth-spectrum", seed), POINTS, 3)
    kernels_at = [normalised(X, depth) for depth in DEPTHS]
    late = np.array(DEPTHS[LATE])

    def first_order(formula: Expr, count: int) -> Series:
        expected = values(formula.subs(n, count), {epsilon: np.log(late) / late})
        return Series("first order", tuple(late), tuple(expected), Kind.GUIDE)

    eigenvalues = np.stack([np.linalg.eigvalsh(kernel)[::-1] for kernel in kernels_at], axis=1)
    left = [
        Series(r"$\lambda_2, \dots, \lambda_n$" if look else r"$\lambda_1$", DEPTHS, tuple(column), look=look)
        for look, column in zip((0,) + (1,) * (POINTS - 1), eigenvalues, strict=True)
    ]
    right = [
        Series(f"$n = {count}$", DEPTHS, tuple(min(2 - k[:count, :count].sum(axis=1)) for k in kernels_at), look=look)
        for look, count in enumerate(ROW_POINTS, start=2)
    ]
    left += [first_order(line().conclusion, POINTS) for line in (largest_eigenvalue, other_eigenvalues)]
    right += [first_order(row_dominance().conclusion, count) for count in ROW_POINTS]
    across = Axis("hidden layers $L$", logarithmic=True)
    panels = (
        Panel(across, Axis("eigenvalue", logarithmic=True), tuple(left), f"eigenvalues, $n = {POINTS}$"),
        Panel(across, Axis("diagonal − rest of the row"), tuple(right), "dominance of the diagonal, by rows"),
    )
    caption = (
        f"Random points on the sphere in R³, seed {seed}; second panel: the first n of them, and the least over the "
        "rows. First order, derived: (n+3)/4 + (3/8)(n−1) log(L)/L for λ₁, 3/4 − (3/8) log(L)/L for the others, "
        "(5−n)/4 − (3/8)(n−1) log(L)/L for the rows, which their diagonal ends up dominating if and only if n ≤ 4."
    )
    return Chart(panels, 2, caption)


def least_eigenvalue(seed: int) -> Chart:
    """The least eigenvalue in the crossover for three kinds of data, with its bounds: against `s`, and against `n`."""
    from numerics.evaluate import values
    from theory.crossover import crossover, s

    from ..ledger.depth_scaling import digits, windows

    gap, rng = 1 - crossover().conclusion, generator("least-eigenvalue", seed)
    clouds = {"sphere": data.sphere(rng, CLOUD, DIMENSION), "digits": digits(rng, CLOUD), "text": windows(rng, CLOUD)}
    fine = np.geomspace(SCALES[0], SCALES[-1], 61)
    by_scale = [Series(r"$1 - \Phi(s)$", tuple(fine), tuple(values(gap, {s: fine})))]
    by_count = [Series(r"$1 - \Phi(s)$", (COUNTS[0], COUNTS[-1]), (1.0, 1.0))]
    for look, (name, X) in enumerate(clouds.items(), start=1):
        depths = sorted({depth_at(X, scale) for scale in SCALES})
        found = np.array([bounded_eigenvalue(X, depth) for depth in depths])
        by_scale += with_bound(name, found, look)
        first = [X[:count] for count in COUNTS]
        found = np.array([bounded_eigenvalue(part, depth_at(part, MIDDLE)) for part in first])
        found[:, 1:] /= values(gap, {s: found[:, 0]})[:, None]
        found[:, 0] = COUNTS
        by_count += with_bound(name, found, look)
    down = r"$\lambda_n$"
    panels = (
        Panel(
            Axis(r"$s = L\,\theta_{\min}/(3\pi)$", logarithmic=True),
            Axis(down, logarithmic=True),
            tuple(by_scale),
            f"$n = {CLOUD}$ points",
        ),
        Panel(
            Axis("points $n$", logarithmic=True, ticks=COUNTS),
            Axis(rf"{down} over $1 - \Phi(s)$", logarithmic=True),
            tuple(by_count),
            rf"$s \approx {MIDDLE:g}$",
        ),
    )
    caption = (
        f"Points: the least eigenvalue for random points on the sphere in R^{DIMENSION}, scikit-learn's digits and "
        f"one-hot windows of a Markov text, on the unit sphere; one draw of each, seed {seed}, of which n are used in "
        "the second panel. Lines of the same colour: the certified bound from below for as many points as far apart, "
        "at the same depth. 1 − Φ(s) is the limit for two points, and that of a bound on λₙ from above."
    )
    return Chart(panels, 2, caption)


def bounded_eigenvalue(X: Array, depth: int) -> tuple[float, float, float]:
    """`s`, the least eigenvalue, and the certified bound below it."""
    angle = smallest_angle(X)
    least = float(np.linalg.eigvalsh(normalised(X, depth))[0])
    return depth * angle / (3 * math.pi), least, eigenvalue_bound(angle, len(X), depth)


def with_bound(name: str, found: Array, look: int) -> tuple[Series, Series]:
    """Points and their bound, from rows `(x, value, bound)`."""
    x, value, bound = (tuple(column) for column in found.T)
    return Series(name, x, value, Kind.POINTS, look), Series(name, x, bound, look=look)


def predictor(seed: int) -> Chart:
    """What two points learn of their difference, against `s`, and the norm of the predictor, against the time."""
    from numerics.evaluate import values
    from theory.crossover import s
    from theory.depth_scaling import learned_difference
    from theory.spectrum import t

    from ..ledger.depth_scaling import KAPPA

    share, fine = learned_difference().conclusion, np.geomspace(SCALES[0], SCALES[-1], 61)
    learned, norms = [], []
    for look, time in enumerate(PAIR_TIMES):
        label = f"$t = {time:g}$"
        at = SCALES[SCALES < PAIR_DEPTH / 3]  # as θ₀ <= π
        pairs = [circle(np.array([0, 3 * math.pi * scale / PAIR_DEPTH])) for scale in at]
        outputs = [predict(normalised(pair, PAIR_DEPTH), [1.0, -1.0], time).train for pair in pairs]
        learned += [
            Series(label, tuple(fine), tuple(values(share, {s: fine, t: time})), look=look),
            Series(label, tuple(at), tuple((f[0] - f[1]) / 2 for f in outputs), Kind.POINTS, look),
        ]
    rng = generator("depth-predictor", seed)
    X, times = data.sphere(rng, CLOUD, DIMENSION), np.geomspace(NORM_TIMES[0], NORM_TIMES[-1], 97)
    new = data.sphere(rng, NEW_POINTS, DIMENSION)
    for look, scale in enumerate(NORM_SCALES, start=len(PAIR_TIMES)):
        label, depth = f"$s = {scale:g}$", depth_at(X, scale)
        kernel, rows = normalised(X, depth), normalised(X, depth, np.concatenate([X, new]))
        largest = [predictor_norms(kernel, rows, time).max() for time in NORM_TIMES]
        ceiling = 1 / math.sqrt(np.linalg.eigvalsh(kernel)[0])
        norms += [
            Series(label, tuple(times), tuple(np.minimum(KAPPA * np.sqrt(times), ceiling)), look=look),
            Series(label, tuple(NORM_TIMES), tuple(largest), Kind.POINTS, look),
        ]
    panels = (
        Panel(
            Axis(r"$s = L\,\theta_0/(3\pi)$", logarithmic=True),
            Axis("share of the difference"),
            tuple(learned),
            "what two points learn of their difference",
        ),
        Panel(
            Axis("time $t$", logarithmic=True),
            Axis(r"largest $\|P_t\|$", logarithmic=True),
            tuple(norms),
            "norm of the predictor",
        ),
    )
    caption = (
        "Time is that of the normalised kernel. First panel: two points at the angle θ₀ with labels 1 and −1, from f₀ "
        f"= 0; lines: the limit 1 − exp(−(1 − Φ(s)) t), derived; points: L = {PAIR_DEPTH}. Second panel: lines: the "
        f"bound min(0.6382 √t, 1/√λₙ); points: the largest norm among {CLOUD} training points on the sphere in "
        f"R^{DIMENSION} and {NEW_POINTS} others, one draw, seed {seed}."
    )
    return Chart(panels, 2, caption)


FIGURES = (
    Figure("depth-spectrum", "The eigenvalues of deep kernel matrices", ("depth-spectrum",), spectrum),
    Figure("least-eigenvalue", "The least eigenvalue in the crossover", ("depth-scaling",), least_eigenvalue),
    Figure("depth-predictor", "Deep predictors tell points apart", ("depth-scaling",), predictor),
)
