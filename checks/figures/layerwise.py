r"""Chapter 6, losses: the expected test loss of linear networks whose two trained layers share a budget of rates.

Width `h >= 1`, rates `η₁, η₂ >= 0`, budget `η₁ + η₂`; orthogonal weights, `n = d = h`, whitened inputs, no noise, `a`
and `β` unit vectors, as in arXiv:2606.00340, whose script has the widths and budgets of the first two figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numerics.data import Array
from numerics.descent import Fixed, Trainable, sweep
from numerics.linear_networks import LinearNetwork
from numerics.reduced import ThreeLayers, TwoLayers
from theory.layerwise_options import Initialisation, Orthogonal, Updates

from ..plot import TOGETHER, Axis, Chart, Figure, Kind, Panel, Series, generator

WIDTH = 1000
REDUCED_RUNS, MATRIX_RUNS = {2: 100, 3: 20000}, 20000
NAMES = {Updates.SIGNAL: "signal-only surrogate", Updates.FULL: "full gradient descent"}
WORDS = {2: "two", 3: "three"}
STEPS = {1: "one step", 2: "two steps"}
SHARES = np.linspace(0, 1, 9)
FINE = np.linspace(0, 1, 65)
LOSS = "expected test loss"


def named(width: int) -> str:
    """The width as it is written in a legend."""
    return f"$h = {width}$" if width <= 1000 else f"$h = 10^{len(str(width)) - 1}$"


def along(budget: float, shares: Array) -> list[Fixed]:
    """The rates `(η₁, η₂)` that share the budget."""
    return [Fixed((budget * share, budget * (1 - share))) for share in shares.tolist()]


def simulated(task: Trainable, budget: float, steps: Sequence[int], updates: Updates) -> dict[int, Array]:
    """The test losses `(runs, shares)` after each number of `steps`, of the same runs at every share."""
    found = sweep(task, along(budget, SHARES), steps=max(steps), updates=updates)
    return {step: np.stack([run.test_loss[:, step] for run in found], axis=1) for step in steps}


def derived(budget: float, width: int, layers: int, steps: int, updates: Updates, law: Initialisation) -> Array:
    """The derived expected loss at the shares `FINE`."""
    from numerics.evaluate import values
    from theory.layerwise import expected_loss

    loss = expected_loss(layers, steps, updates, law).conclusion
    return values(loss, {"h": width, "eta1": budget * FINE, "eta2": budget * (1 - FINE)})


def diagonals(
    task: Trainable, width: int, layers: int, budgets: Sequence[float], steps: Sequence[int], law: Initialisation
) -> tuple[Panel, ...]:
    """For each number of steps and each budget, the loss along the budget: derived curves and simulated points."""
    panels = {}
    for budget in budgets:
        series: dict[int, list[Series]] = {step: [] for step in steps}
        for look, updates in enumerate((Updates.FULL, Updates.SIGNAL)):
            runs = simulated(task, budget, steps, updates)
            for step in steps:
                curve = derived(budget, width, layers, step, updates, law)
                series[step] += [
                    Series(NAMES[updates], tuple(budget * FINE), tuple(curve), look=look),
                    Series.of_runs(NAMES[updates], budget * SHARES, runs[step], look),
                ]
        for step in steps:
            title = rf"{STEPS[step]}, $\eta_1 + \eta_2 = {budget:g}$"
            panels[step, budget] = Panel(Axis(r"$\eta_1$"), Axis(LOSS), tuple(series[step]), title)
    return tuple(panels[step, budget] for step in steps for budget in budgets)


def two_layers(seed: int) -> Chart:
    """The loss along three budgets, two layers."""
    runs = REDUCED_RUNS[2]
    task = TwoLayers.sample(generator("two-layer-loss", seed), WIDTH, runs)
    panels = diagonals(task, WIDTH, 2, (27000, 45000, 63000), (1, 2), Orthogonal())
    return Chart(panels, 3, f"h = {WIDTH}. Lines: derived. Points: means of {runs} runs, seed {seed}; {TOGETHER}.")


def three_layers(seed: int) -> Chart:
    """The loss along three budgets, three layers."""
    runs = REDUCED_RUNS[3]
    task = ThreeLayers.sample(generator("three-layer-loss", seed), WIDTH, runs)
    panels = diagonals(task, WIDTH, 3, (30, 60, 100), (1, 2), Orthogonal())
    return Chart(panels, 3, f"h = {WIDTH}. Lines: derived. Points: means of {runs} runs, seed {seed}; {TOGETHER}.")


def released_script(seed: int) -> Chart:
    """The one-step losses of the released script against those derived, at a small width where they differ much."""
    from numerics.evaluate import values

    from ..ledger.layerwise import SCRIPT_ONE_STEP, SCRIPT_THREE_ONE_STEP

    width, runs = 3, MATRIX_RUNS
    panels = []
    for layers, budget, script in ((2, 12.0, SCRIPT_ONE_STEP), (3, 4.0, SCRIPT_THREE_ONE_STEP)):
        rng = generator("released-script", seed, layers)
        draw = LinearNetwork(width=width, layers=layers).sample(rng, runs)
        measured = simulated(draw, budget, (1,), Updates.SIGNAL)[1]
        curve = derived(budget, width, layers, 1, Updates.SIGNAL, Orthogonal())
        printed = values(script, {"h": width, "eta1": budget * FINE, "eta2": budget * (1 - FINE)})
        series = (
            Series("derived, and simulated", tuple(budget * FINE), tuple(curve)),
            Series.of_runs("derived, and simulated", budget * SHARES, measured),
            Series("released script", tuple(budget * FINE), tuple(printed), look=1),
        )
        title = rf"{WORDS[layers]} layers, $\eta_1 + \eta_2 = {budget:g}$"
        panels.append(Panel(Axis(r"$\eta_1$"), Axis(LOSS), series, title))
    caption = (
        "One step of signal-only updates. The script lacks 2η₁η₂/h⁵ (two layers) and 2η₁η₂/h³ (three), which shows at "
        f"a small width, h = {width}. Points: means of {runs} runs of matrices, seed {seed}; {TOGETHER}."
    )
    return Chart(tuple(panels), 2, caption)


def surrogate_error(seed: int) -> Chart:
    """How far the surrogate is off in the loss itself, and in what the allocation of the budget changes."""
    from sympy import Expr, expand

    from numerics.evaluate import values
    from theory.layerwise import eta1, eta2, expected_loss

    rates = np.geomspace(0.15, 1, 41)
    across = Axis(r"$\eta_1/h^{3/2} = \eta_2/h^{3/2}$", span=(0.1, 1))
    total = eta1 + eta2

    def effect(loss: Expr) -> Expr:
        """What equal rates change against training one layer alone with the same budget."""
        return expand(loss - loss.subs({eta1: total, eta2: 0}, simultaneous=True))

    above, below = [], []
    for steps, name in STEPS.items():
        losses = [expected_loss(2, steps, updates).conclusion for updates in (Updates.SIGNAL, Updates.FULL)]
        errors, ratios = [], []
        for look, width in enumerate((10**3, 10**4, 10**6)):
            at: dict[str, Any] = {"h": width, "eta1": rates * width**1.5, "eta2": rates * width**1.5}
            surrogate, full = (values(loss, at) for loss in losses)
            changed, truly_changed = (values(effect(loss), at) for loss in losses)
            errors.append(Series(named(width), tuple(rates), tuple(abs(surrogate / full - 1)), look=look))
            ratios.append(Series(named(width), tuple(rates), tuple(changed / truly_changed), look=look))
        above.append(Panel(across, Axis("relative error", logarithmic=True), tuple(errors), f"{name}: the loss"))
        one = Series("agreement", (0.1, 1), (1, 1), Kind.GUIDE)
        title = f"{name}: what the allocation changes"
        below.append(Panel(across, Axis("surrogate / full", span=(0, 3)), (*ratios, one), title))
    caption = (
        "Two layers, derived. The loss: |surrogate/full − 1| at equal rates. What the allocation changes: the "
        "difference between the loss at equal rates and with the whole budget in one layer, which decides between "
        "allocations; after one step the surrogate gets it wrong at every width."
    )
    return Chart((*above, *below), 2, caption)


def loss_over_steps(seed: int) -> Chart:
    r"""The exact loss of full gradient descent, step by step, for five ways to share a budget.

    With equal rates it never falls below `1/(2h)`: at an eigenvalue −1 of the Haar matrix `Z` of `numerics/reduced.py`,
    which half of all runs have, the two factors stay equal and real, so that the network's `a b/h = a²/h >= 0` keeps at
    least the distance `1/√h` from the target's `−1/√h`.
    """
    from numerics.layerwise_loss import expected_loss

    width, budget = 100, 1000
    few, many = tuple(range(5)), tuple(range(65))
    checked = (8, 16, 32)
    shares = {"1/2": 0.5, "2/5": 0.4, "1/4": 0.25, "1/10": 0.1, "0": 0.0}
    runs = sweep(TwoLayers.expectation(width), along(budget, np.array(list(shares.values()))), steps=many[-1])
    equal = runs[0].test_loss[0, : len(few)]
    first, later = [], []
    for look, ((share, part), run) in enumerate(zip(shares.items(), runs, strict=True)):
        label = rf"$\eta_1/(\eta_1+\eta_2) = {share}$"
        rates = budget * part, budget * (1 - part)
        certified = [float(expected_loss(2, width, *rates, step)) for step in (*few, *checked)]
        loss = run.test_loss[0]
        first.append(Series(label, few, tuple(loss[: len(few)] / equal), look=look))
        first.append(Series(label, few, tuple(certified[: len(few)] / equal), Kind.POINTS, look))
        shown = int(np.sum(loss > 1e-20))  # below, float64 loses its digits
        later.append(Series(label, many[:shown], tuple(loss[:shown]), look=look))
        later.append(Series(label, checked, tuple(certified[len(few) :]), Kind.POINTS, look))
    floor = Series("$1/(2h)$", (0, many[-1]), (0.5 / width, 0.5 / width), Kind.GUIDE)
    panels = (
        Panel(Axis("steps"), Axis("loss / loss with equal rates", span=(0.92, 1.13)), tuple(first), "the first steps"),
        Panel(Axis("steps"), Axis(LOSS, logarithmic=True, span=(1e-12, 3)), (*later, floor), "many steps"),
    )
    caption = (
        f"Two layers, full gradient descent, h = {width}, η₁ + η₂ = {budget}. Lines: by quadrature in float64. Points: "
        "certified. Of these shares, the most unequal is best after one step, the equal one after two, and unequal "
        "ones again from three on: with equal rates the expected loss never falls below 1/(2h)."
    )
    return Chart(panels, 2, caption)


FIGURES = (
    Figure(
        "two-layer-loss",
        "Two layers: test loss along a budget of rates",
        ("loss-two-layer", "loss-exact", "asymmetry-then-balance"),
        two_layers,
    ),
    Figure(
        "three-layer-loss",
        "Three layers: test loss along a budget of rates",
        ("loss-three-layer", "loss-exact", "asymmetry-then-balance"),
        three_layers,
    ),
    Figure(
        "released-script",
        "The released script's one-step losses lack a term",
        ("loss-two-layer", "loss-three-layer"),
        released_script,
    ),
    Figure("surrogate-error", "How far the surrogate is from gradient descent", ("loss-exact",), surrogate_error),
    Figure("loss-over-steps", "Equal and unequal learning rates over many steps", ("loss-exact",), loss_over_steps),
)
