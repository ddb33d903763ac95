r"""Chapter 6, allocation: where equal rates `η₁ = η₂` are a minimum, and the scales at which the loss turns.

Width `h >= 1`; rates `h^α`, `α` rational, or `c h^e`, `c >= 0`; orthogonal weights but where Gaussian is said.
Source: arXiv:2606.00340, Corollary 5.4 and its scaling regimes.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from numerics.linear_networks import LinearNetwork
from theory.layerwise_options import Gaussian, Updates

from ..plot import TOGETHER, Axis, Chart, Figure, Kind, Panel, Series, generator
from .layerwise import MATRIX_RUNS, NAMES, WORDS, diagonals, named

EXPONENTS = {2: [Fraction(k, 40) for k in range(38, 67)], 3: [Fraction(k, 20) for k in range(21)]}
SPANS = {2: (0.94, 1.66), 3: (-0.05, 1.05)}


def threshold(seed: int) -> Chart:
    """The smallest width from which on equal rates `h^α` are a strict local minimum after two steps."""
    from numerics.balance import threshold as smallest_width

    panels = []
    for layers, exponents in EXPONENTS.items():
        series = []
        for look, updates in enumerate((Updates.FULL, Updates.SIGNAL)):
            widths = {alpha: smallest_width(alpha, layers=layers, updates=updates) for alpha in exponents}
            found = [(float(alpha), width) for alpha, width in widths.items() if width is not None]
            at, smallest = zip(*found, strict=True)
            series += [Series(NAMES[updates], at, smallest, kind, look) for kind in (Kind.LINE, Kind.POINTS)]
        down = Axis("smallest width $h_0$", logarithmic=True)
        across = Axis(r"$\alpha$ in $\eta_1 = \eta_2 = h^\alpha$", span=SPANS[layers])
        panels.append(Panel(across, down, tuple(series), f"{WORDS[layers]} layers"))
    caption = (
        "Equal rates are a strict local minimum of the expected test loss under their budget after two steps at every "
        "width from h₀ on, and not at h₀ − 1: certified at multiples of 1/40 and 1/20; without a point there is none. "
        "Claimed: 1 < α ≤ 3/2 for two layers, rates up to O(h) for three."
    )
    return Chart(tuple(panels), 2, caption)


def rate_thresholds(seed: int) -> Chart:
    """One signal-only step at equal rates, in the scales at which the loss turns."""
    from sympy import Rational

    from numerics.evaluate import values
    from theory.balance import c, scaled_loss
    from theory.layerwise import expected_loss

    cases = (
        (2, Rational(5, 3), Rational(1, 3), 1.0, 2.0, r"$h^{1/3}\,(\mathcal{L} - 1)$", r"$\eta/h^{5/3}$"),
        (3, Rational(1), Rational(0), 0.0, 1.2, r"$\mathcal{L}$", r"$\eta/h$"),
    )
    panels = []
    for layers, exponent, order, start, end, down, across in cases:
        loss = expected_loss(layers, 1, Updates.SIGNAL).conclusion
        at = np.linspace(0, end, 81)
        series = [Series("limit", tuple(at), tuple(values(scaled_loss(layers, exponent, order).conclusion, {c: at})))]
        for look, width in enumerate((10, 10**2, 10**4, 10**8), start=1):
            rate = at * float(width) ** float(exponent)
            scaled = float(width) ** float(order) * (values(loss, {"h": width, "eta1": rate, "eta2": rate}) - start)
            series.append(Series(named(width), tuple(at), tuple(scaled), look=look))
        panels.append(Panel(Axis(across), Axis(down), tuple(series), f"{WORDS[layers]} layers"))
    caption = (
        "The expected test loss after one signal-only step at equal rates η, derived. Two layers: it falls "
        "beyond the published scale h^(3/2), up to h^(5/3). Three layers: at the published scale h all its terms count."
    )
    return Chart(tuple(panels), 2, caption)


def gaussian_initialisation(seed: int) -> Chart:
    """The one-step loss from Gaussian weights: a valley for the surrogate, a hill for full gradient descent."""
    width, runs, budget = 10, MATRIX_RUNS, 36.0
    network = LinearNetwork(width=width, initialisation=Gaussian())
    draw = network.sample(generator("gaussian-initialisation", seed), runs)
    panels = diagonals(draw, width, 2, (budget,), (1,), Gaussian())
    caption = (
        f"Two layers, h = {width}. Lines: derived. Points: means of {runs} runs of matrices, seed {seed}; {TOGETHER}."
    )
    return Chart(panels, 1, caption)


FIGURES = (
    Figure(
        "balance-threshold", "From which width on equal rates are a minimum", ("asymmetry-then-balance",), threshold
    ),
    Figure("rate-thresholds", "The scales at which the loss turns", ("rate-thresholds",), rate_thresholds),
    Figure(
        "gaussian-initialisation",
        "One step from Gaussian weights",
        ("gaussian-initialisation",),
        gaussian_initialisation,
    ),
)
