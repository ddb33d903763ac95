"""Chapter 6, experiments: equal or unequal rates in deeper and nonlinear networks, and the schedule of the norms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.descent import Fixed, NormBalance, Schedule, Trainable, Trajectory, Uniform, sweep
from numerics.linear_networks import LinearNetwork
from numerics.nonlinear_networks import NonlinearNetwork
from numerics.reduced import ThreeLayers
from numerics.reduced_depth import deepened
from theory.layerwise_options import Gaussian, Inputs
from theory.norm_balance import a_im, a_re, b_im, b_re, eta, h, norm_gap, w_im, w_re

from ..claims import Correction, claim
from ..evidence import Identity, Property
from ..evidence.experiment import Experiment, Measure
from ..verdicts import Verdict
from .sources import LAYER_BALANCE

Array = NDArray[np.float64]
Steps = tuple[int, ...]
Networks = tuple[tuple[int, int], ...]  # layers and width of each

CONVERGED = 1e-24  # losses below are rounding: two runs that are both there have tied


def stability_limit(layers: int, width: int) -> float:
    """The equal rate beyond which descent does not settle at the minimum it finds, if the network is wide.

    There the `m` trained layers have the singular value `s` along the target, `s² = √h` (two layers) or `s^m = √h`, and
    the curvature of the loss is `λ = 2h^(−3/2)`, or `m h^(−1/m)`: each step multiplies the error by `1 − ηλ`. With the
    rates `η_i` the squares of the singular values grow in proportion to these, and `ηλ` becomes `λ (∏ η_i)^(1/m)`. Of
    all allocations near the equal one, this is then the fastest below half of the limit `2/λ`, and the slowest above.
    """
    if layers == 2:
        return width**1.5
    trained = layers - 1
    return 2 / trained * width ** (1 / trained)


def differences(runs: Sequence[Trajectory], steps: Steps, *, train: bool = False) -> Array:
    """The loss of each run after the first minus that of the first, after each of `steps`, `(batch, …)`.

    Infinite where one of the two has diverged, NaN where both have.
    """
    after = list(steps)
    losses = [np.maximum((run.train_loss if train else run.test_loss)[:, after], CONVERGED) for run in runs]
    with np.errstate(invalid="ignore"):
        return np.concatenate([other - losses[0] for other in losses[1:]], axis=1)


# --- deeper and nonlinear networks ------------------------------------------------------------------------------------


def unequal(trained: int) -> list[Array]:
    """Allocations with the mean 1: first against last layer, and first against all others, either way."""
    ends = np.ones(trained)
    ends[[0, -1]] = 1.5, 0.5
    first, others = np.eye(trained)[0], 1 - np.eye(trained)[0]
    return [ends, *(1 + tilt * (first - others / (trained - 1)) for tilt in (0.5, -0.5))]


def equal_advantage(rng: np.random.Generator, count: int, *, networks: Networks, share: float, steps: Steps) -> Array:
    """The test loss of unequal rates minus that of equal ones, for deep linear networks `(layers, width)`.

    The equal rate is the `share` of the stability limit.
    """
    columns = []
    for layers, width in networks:
        rate = share * stability_limit(layers, width)
        runs = deepened(ThreeLayers.sample(rng, width, count), layers)
        schedules: list[Schedule] = [Uniform(rate)]
        schedules += [Fixed(tuple(map(float, rate * allocation))) for allocation in unequal(layers - 1)]
        columns.append(differences(sweep(runs, schedules, steps=max(steps)), steps))
    return np.concatenate(columns, axis=1)


def unequal_advantage(rng: np.random.Generator, count: int, **how: Any) -> Array:
    """The opposite of `equal_advantage`."""
    return -equal_advantage(rng, count, **how)


def tilt_advantage(rng: np.random.Generator, count: int, *, width: int, steps: Steps) -> Array:
    """Three layers with ReLU, rates `√h/4`: the test loss of equal ones minus that with a tenth moved to the second."""
    network = NonlinearNetwork(linear=LinearNetwork(width=width, layers=3), test_points=64)
    rate = width**0.5 / 4
    tilted, equal = sweep(
        network.sample(rng, count), [Fixed((0.9 * rate, 1.1 * rate)), Uniform(rate)], steps=max(steps)
    )
    return differences([tilted, equal], steps)


def tilt_disadvantage(rng: np.random.Generator, count: int, **how: Any) -> Array:
    """The opposite of `tilt_advantage`."""
    return -tilt_advantage(rng, count, **how)


NARROW: Networks = ((4, 32), (8, 32))
WIDE: Networks = ((4, 256), (8, 256))


def comparison(name: str, draw: Any, *, budget: int = 16, chunk: int = 250, **how: Any) -> Experiment:
    """Means, which say by how much."""
    return Experiment(name=name, draw=partial(draw, **how), chunk=chunk, budget=budget)


def majority(name: str, draw: Any, *, budget: int = 16, chunk: int = 250, **how: Any) -> Experiment:
    """Who wins more pairs, where the tails of the losses are heavy or runs diverge."""
    return Experiment(name=name, draw=partial(draw, **how), measure=Measure.MAJORITY, chunk=chunk, budget=budget)


deeper_and_nonlinear = claim(
    id="deeper-and-nonlinear",
    title="First unequal, then equal rates, in deeper and nonlinear networks",
    source=LAYER_BALANCE.at("experiments"),
    statement=r"\text{4 and 8 linear layers, 3 with ReLU: unequal rates are best at one step, equal ones from two on}",
    hypotheses=("orthogonal initialisation", "n = d = h, X^T X = n I", "no label noise", "the same budget"),
    conditions=(
        "linear: the same budget as equal rates eta, and a half of a layer's rate moved; widths 32 and 256",
        "the stability limit of m trained layers is eta = (2/m) h^(1/m)",
        "ReLU: width 16 up to 4 steps, 32 from 8 on; eta = sqrt(h)/4, a tenth of it moved from the first layer to the "
        "second",
    ),
    findings=(
        "what turns is not the second step but a training time: at 1/16 of the stability limit unequal rates are "
        "better up to 4 steps",
        "in wide networks the error shrinks by 1 - lambda (prod eta_i)^(1/m) in the end: near equal rates these are "
        "the fastest below half of the limit, and the slowest above",
    ),
    parts={
        "4 and 8 linear layers, one step: unequal rates are better": [
            comparison("half of the limit", unequal_advantage, networks=NARROW + WIDE, share=1 / 2, steps=(1,))
        ],
        "4 and 8 linear layers, two steps: equal rates are better": [
            comparison("a quarter of the limit", equal_advantage, networks=NARROW, share=1 / 4, steps=(2,))
        ],
        "4 and 8 linear layers, up to 512 steps: they stay better": [
            majority("9/10 of the limit", equal_advantage, networks=NARROW, share=9 / 10, steps=(32, 64))
        ],
        "ReLU, one step: unequal rates are better": [
            comparison("a tilt to the second layer", tilt_advantage, width=16, steps=(1,), chunk=1000, budget=64),
        ],
        "ReLU, two steps on: equal rates are better": [
            comparison("a tilt to the second layer", tilt_disadvantage, width=32, steps=(2, 4, 8, 16), budget=32),
        ],
    },
    correction=Correction(
        text="4 and 8 linear layers: unequal rates are better at first (up to 4 steps at 1/16 of the stability limit), "
        "then equal ones, to the end, for rates up to half of the limit; near the limit unequal ones are better again. "
        "With ReLU equal rates are the best at no step: a larger one of the second layer is better",
        latex=r"\eta \le \tfrac12 \cdot \tfrac2m h^{1/m}",
        parts={
            "unequal rates at first": [
                comparison("1/16 of the limit", unequal_advantage, networks=NARROW, share=1 / 16, steps=(1, 2, 4))
            ],
            "then equal rates, to the end": [
                majority(
                    f"{name} of the limit, {steps[0]} to {steps[-1]} steps",
                    equal_advantage,
                    networks=NARROW + WIDE,
                    share=share,
                    steps=steps,
                )
                for name, share, steps in (
                    ("1/16", 1 / 16, (32, 64, 128, 256, 512)),
                    ("a quarter", 1 / 4, (8, 16, 32, 64)),
                    ("half", 1 / 2, (8, 16, 32)),
                )
            ],
            "unequal rates again near the limit": [
                majority("9/10 of the limit", unequal_advantage, networks=NARROW, share=9 / 10, steps=(32, 64))
            ],
            "ReLU, 1 to 4 steps: a tilt to the second layer is better": [
                comparison("1 to 4 steps", tilt_advantage, width=16, steps=(1, 2, 4), chunk=1000, budget=32)
            ],
            "ReLU, from 8 steps on: a tilt to the second layer is better": [
                majority("8 to 64 steps", tilt_advantage, width=32, steps=(8, 16, 32, 64), chunk=100, budget=64),
                majority("512 steps", tilt_advantage, width=32, steps=(512,), chunk=20),
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)


# --- the schedule that balances the norms -----------------------------------------------------------------------------


def schedule_advantage(
    rng: np.random.Generator, count: int, *, network: LinearNetwork, share: float, steps: Steps
) -> Array:
    """The test loss of uniform rates minus that of the schedule; with Gaussian inputs the training losses follow."""
    rate = share * stability_limit(network.layers, network.width)
    runs = _both(network.sample(rng, count), rate, max(steps))
    columns = [differences(runs, steps)]
    if network.inputs is Inputs.GAUSSIAN:  # with whitened ones the training loss is half the test loss
        columns.append(differences(runs, steps, train=True))
    return np.concatenate(columns, axis=1)


def schedule_disadvantage(rng: np.random.Generator, count: int, **how: Any) -> Array:
    """The opposite of `schedule_advantage`."""
    return -schedule_advantage(rng, count, **how)


def divergence(rng: np.random.Generator, count: int, *, network: LinearNetwork, share: float, steps: int) -> Array:
    """1 for a run that diverges within `steps`, −1 for others: with the schedule, and with uniform rates."""
    rate = share * stability_limit(network.layers, network.width)
    runs = _both(network.sample(rng, count), rate, steps)
    return np.stack([np.where(run.diverged, 1.0, -1.0) for run in runs], axis=1)


def neither(rng: np.random.Generator, count: int, *, margin: float, **how: Any) -> Array:
    """Positive in the mean if the share of the pairs won minus the share lost lies within `±margin`."""
    sign = np.nan_to_num(np.sign(schedule_advantage(rng, count, **how)))  # both diverged: a tie
    return np.concatenate([margin - sign, margin + sign], axis=1)


def same_losses(rng: np.random.Generator, *, steps: int, **network: Any) -> str:
    """Where the schedule's error `√loss` differs from that of uniform rates by more than rounding."""
    task, rate = _random_network(rng, **network)
    balanced, uniform = (np.sqrt(run.test_loss[0]) for run in _both(task, rate, steps))
    apart = np.flatnonzero(~(np.abs(balanced - uniform) <= 1e-11))
    return f"the losses differ at step {apart[0]}, rate {rate:.4g}" if apart.size else ""


def lower_losses(rng: np.random.Generator, *, steps: int, **network: Any) -> str:
    """Where the schedule's loss is not below that of uniform rates by more than rounding."""
    task, rate = _random_network(rng, **network)
    balanced, uniform = (run.test_loss[0] for run in _both(task, rate, steps))
    above = np.flatnonzero(~(balanced[1:] < uniform[1:] * (1 - 1e-11)))
    if not above.size:
        return ""
    step = above[0] + 1
    return f"step {step}, rate {rate:.4g}: loss {balanced[step]:.10g} with the schedule, {uniform[step]:.10g} uniform"


def _random_network(
    rng: np.random.Generator, *, layers: int = 2, wider: int = 1, **laws: Any
) -> tuple[Trainable, float]:
    width = int(rng.integers(3, 13))
    network = LinearNetwork(width=width, layers=layers, dimension=wider * width, **laws)
    return network.sample(rng), float(rng.uniform(0.1, 0.4)) * stability_limit(layers, width)


def _both(task: Trainable, rate: float, steps: int) -> list[Trajectory]:
    return sweep(task, [NormBalance(rate), Uniform(rate)], steps=steps)


def three_layers_advantage(rng: np.random.Generator, count: int, *, width: int, share: float, steps: Steps) -> Array:
    """Three layers from orthogonal weights: the test loss of uniform rates minus that of the schedule."""
    rate = share * stability_limit(3, width)
    return differences(_both(ThreeLayers.sample(rng, width, count), rate, max(steps)), steps)


def three_layers_disadvantage(rng: np.random.Generator, count: int, **how: Any) -> Array:
    """The opposite of `three_layers_advantage`."""
    return -three_layers_advantage(rng, count, **how)


GAUSSIAN_WEIGHTS = LinearNetwork(width=16, initialisation=Gaussian())
NARROW_GAUSSIAN_WEIGHTS = LinearNetwork(width=8, initialisation=Gaussian())
GAUSSIAN_INPUTS = LinearNetwork(width=16, samples=32, initialisation=Gaussian(), inputs=Inputs.GAUSSIAN)
FIRST_STEPS = comparison(
    "1 to 4 steps",
    schedule_advantage,
    network=GAUSSIAN_WEIGHTS,
    share=1 / 4,
    steps=(1, 2, 4),
    chunk=1000,
    budget=60,
)

norm_balance_scheduler = claim(
    id="norm-balance-scheduler",
    title="The schedule that balances the norms of the layers",
    source=LAYER_BALANCE.at("proposed scheduler"),
    statement=r"\eta_i = \frac{2\,\|W_j\|_F}{\|W_1\|_F + \|W_2\|_F}\,\eta \text{ reaches lower training and test "
    r"losses than the uniform rate } \eta",
    hypotheses=("two trained layers, j the other one", "n = d = h", "no label noise"),
    conditions=(
        "shares of the stability limit: eta = h^(3/2) for two layers, sqrt h for three",
        "Gaussian weights: widths 8 and 16; near the limit is at 9/10 of it, where most runs diverge within 64 steps, "
        "with the schedule as without",
        "Gaussian inputs, where the training loss is not half the test loss: n = 2h",
    ),
    findings=(
        "it does not start unequal and turn equal: from orthogonal weights it is equal at every step, and from "
        "Gaussian ones it starts within a relative difference of order 1/h",
        "from Gaussian weights the mean advantage is 5e-4 at its largest, at width 16 and a quarter of the limit",
    ),
    parts={
        "two layers, orthogonal weights: a lower loss": [
            Property(
                name="matrices, 1 to 32 steps", trial=partial(lower_losses, steps=32), mutants={}, chunk=5, budget=2
            )
        ],
        "three layers, orthogonal weights: a lower loss": [
            majority("4 to 32 steps", three_layers_advantage, width=32, share=1 / 4, steps=(4, 8, 16, 32))
        ],
        "two layers, Gaussian weights, the first steps: a lower loss": [
            FIRST_STEPS,
            comparison(
                "training and test loss, Gaussian inputs",
                schedule_advantage,
                network=GAUSSIAN_INPUTS,
                share=1 / 4,
                steps=(1, 2),
                chunk=1000,
                budget=60,
            ),
        ],
        "two layers, Gaussian weights, near the stability limit: a lower loss": [
            majority("9/10 of it", schedule_advantage, network=NARROW_GAUSSIAN_WEIGHTS, share=9 / 10, steps=(2, 4))
        ],
    },
    correction=Correction(
        text="two layers from orthogonal weights: it is the uniform schedule at every step, for every h and eta. Three "
        "layers from orthogonal weights: the same for three steps, then a higher loss. Two layers from Gaussian "
        "weights: a lower mean loss in the first steps, later neither wins; near the stability limit a higher loss",
        latex=r"W_i(0) \text{ orthogonal}:\quad \|W_1\|_F = \|W_2\|_F \text{ after every step, so } \eta_i = \eta",
        parts={
            "two layers, orthogonal weights: it is the uniform schedule": [
                Identity(
                    name="equal norms stay equal",
                    derivation=norm_gap,
                    claimed=(a_re**2 + a_im**2 - b_re**2 - b_im**2)
                    * (
                        1
                        - (eta / h) ** 2
                        * (
                            ((a_re * b_re - a_im * b_im) / h - w_re) ** 2
                            + ((a_re * b_im + a_im * b_re) / h - w_im) ** 2
                        )
                    ),
                ),
                Property(
                    name="matrices, 32 steps",
                    trial=partial(same_losses, steps=32),
                    mutants={
                        "Gaussian weights": partial(same_losses, steps=32, initialisation=Gaussian()),
                        "label noise": partial(same_losses, steps=32, noise=0.1),
                        "more inputs than hidden units": partial(same_losses, steps=32, wider=2),
                        "three layers": partial(same_losses, steps=32, layers=3),
                    },
                    chunk=5,
                ),
            ],
            "three layers, orthogonal weights: the same for three steps": [
                Property(
                    name="matrices",
                    trial=partial(same_losses, steps=3, layers=3),
                    mutants={"four steps": partial(same_losses, steps=4, layers=3)},
                    chunk=5,
                )
            ],
            "three layers, orthogonal weights: then a higher loss": [
                majority(
                    f"width {width}, 4 to 32 steps",
                    three_layers_disadvantage,
                    width=width,
                    share=1 / 4,
                    steps=(4, 8, 16, 32),
                )
                for width in (8, 32)
            ],
            "two layers, Gaussian weights: a lower mean loss in the first steps": [FIRST_STEPS],
            "two layers, Gaussian weights: later neither wins 65 % of the runs": [
                comparison(
                    "16 to 512 steps",
                    neither,
                    network=NARROW_GAUSSIAN_WEIGHTS,
                    share=1 / 4,
                    margin=0.3,
                    steps=(16, 32, 64, 128, 256, 512),
                )
            ],
            "two layers, Gaussian weights: a higher loss near the limit": [
                majority(
                    "2 and 4 steps", schedule_disadvantage, network=NARROW_GAUSSIAN_WEIGHTS, share=9 / 10, steps=(2, 4)
                )
            ],
            "there most runs diverge, with the schedule as without": [
                majority("64 steps", divergence, network=NARROW_GAUSSIAN_WEIGHTS, share=9 / 10, steps=64)
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (deeper_and_nonlinear, norm_balance_scheduler)
