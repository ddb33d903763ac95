r"""Full-batch gradient descent with a learning rate for each layer, many independent runs at once.

With weights `W_1, …, W_m` (`m >= 1` trained layers), loss `ℓ` and rates `η_i >= 0`, a step is, for all layers at once,

    W_i ← W_i − η_i ∂ℓ/∂W_i.

The gradient splits as `B − A`: `A` comes from the labels, `B` from the outputs. `Updates.FULL` is gradient descent,
`Updates.SIGNAL` drops `B`, which is to put the residual `0 − y` where the gradient has `f(X) − y`.

A run whose losses leave the range of float64 has diverged: from that step on they are infinite, never NaN, and
`Trajectory.divergence_step` says which step it was.

Source: *Balancing Learning Rates Across Layers*, arXiv:2606.00340 (the split; the schedule of `NormBalance`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from theory.errors import InvalidInput
from theory.layerwise_options import Updates

from .data import as_integer, real_number

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Norms = Callable[[], Sequence[Array]]  # the Frobenius norm of each trained layer, each `(batch,)`

NEVER = -1  # the divergence step of a run that has not diverged


class Evaluation(NamedTuple):
    """Runs at given weights: losses `(batch,)`, and on demand `∂ℓ/∂W_i`, arrays of the shapes of the weights."""

    test_loss: Array
    train_loss: Array
    gradients: Callable[[Updates], Sequence[NDArray[Any]]]


class Trainable(Protocol):
    """What `descend` trains: initial `weights`, one array `(batch, …)` for each trained layer, and what they do."""

    @property
    def weights(self) -> tuple[NDArray[Any], ...]: ...

    def evaluate(self, weights: Sequence[NDArray[Any]]) -> Evaluation: ...

    def norms(self, weights: Sequence[NDArray[Any]]) -> Sequence[Array]: ...


@runtime_checkable
class Schedule(Protocol):
    """Learning rates that may follow the weights."""

    def refuse(self, layers: int) -> None:
        """Raise `InvalidInput` if the schedule does not apply to that many trained layers."""
        ...

    def rates(self, norms: Norms, layers: int) -> Sequence[float | Array]:
        """`η_i` of each trained layer for the next step: one number, or one for each run, `(batch,)`."""
        ...


@dataclass(frozen=True)
class Fixed:
    """`η_i = layer_rates[i]`, constant. Raises `InvalidInput` for a rate that is negative or not finite.

    >>> Fixed((0.1, -0.2))
    Traceback (most recent call last):
    theory.errors.InvalidInput: layer_rates[1] = -0.2: give a finite number >= 0
    """

    layer_rates: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.layer_rates, Sequence):
            raise InvalidInput("layer_rates", self.layer_rates, "give one rate for each trained layer, as (1.0, 2.0)")
        rates = tuple(as_nonnegative(f"layer_rates[{i}]", rate) for i, rate in enumerate(self.layer_rates))
        object.__setattr__(self, "layer_rates", rates)

    def refuse(self, layers: int) -> None:
        if len(self.layer_rates) != layers:
            raise InvalidInput("layer_rates", self.layer_rates, f"give {layers}, one for each trained layer")

    def rates(self, norms: Norms, layers: int) -> Sequence[float]:
        return self.layer_rates


@dataclass(frozen=True)
class Uniform:
    """`η_i = rate` in all layers. Raises `InvalidInput` if it is negative or not finite."""

    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", as_nonnegative("rate", self.rate))

    def refuse(self, layers: int) -> None:
        pass

    def rates(self, norms: Norms, layers: int) -> Sequence[float]:
        return (self.rate,) * layers


@dataclass(frozen=True)
class NormBalance:
    """`η_i = 2 rate ‖W_j‖_F / (‖W_1‖_F + ‖W_2‖_F)`, `j` the other one of two layers: the budget of `Uniform(rate)`.

    The norms are those before the step. Where both are zero, both rates are `rate`. Source B defines the schedule for
    two trained layers, and `refuse` raises `InvalidInput` for more.

    >>> NormBalance(1.0).rates(lambda: (np.array([1.0]), np.array([3.0])), 2)
    (array([1.5]), array([0.5]))
    """

    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", as_nonnegative("rate", self.rate))

    def refuse(self, layers: int) -> None:
        if layers != 2:
            raise InvalidInput("schedule", self, f"the norm balance is defined for 2 trained layers; here are {layers}")

    def rates(self, norms: Norms, layers: int) -> Sequence[Array]:
        first, second = norms()
        total = first + second
        share = np.divide(second, total, out=np.full_like(total, 0.5), where=total > 0)
        return 2 * self.rate * share, 2 * self.rate * (1 - share)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Losses before the first step and after each: `test_loss` and `train_loss` of shape `(batch, steps + 1)`.

    `divergence_step (batch,)` is the first step after which a loss is infinite, or `NEVER`.
    """

    test_loss: Array
    train_loss: Array

    @property
    def divergence_step(self) -> Integers:
        infinite = np.isinf(self.test_loss)
        return np.where(infinite.any(axis=1), infinite.argmax(axis=1), NEVER)

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Whether a run diverged, `(batch,)`."""
        return self.divergence_step != NEVER


def descend(task: Trainable, schedule: Schedule, *, steps: int, updates: Updates = Updates.FULL) -> Trajectory:
    """The losses along `steps >= 0` steps from the task's initial weights, which stay as they are.

    Raises `InvalidInput` for a number of steps that is no integer >= 0, updates that are no `Updates`, and a schedule
    that does not fit the layers.
    """
    return sweep(task, [schedule], steps=steps, updates=updates)[0]


def sweep(
    task: Trainable, schedules: Sequence[Schedule], *, steps: int, updates: Updates = Updates.FULL
) -> list[Trajectory]:
    """`descend` with each of the schedules from the same initial weights, whose gradient is computed once for all."""
    steps = as_integer("steps", steps, 0)
    if not isinstance(updates, Updates):
        raise InvalidInput("updates", updates, "give Updates.FULL or Updates.SIGNAL")
    for schedule in schedules:
        if not isinstance(schedule, Schedule):
            raise InvalidInput("schedule", schedule, "give Uniform(rate), Fixed(rates) or another Schedule")
        schedule.refuse(len(task.weights))
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is what divergence looks like
        first = task.evaluate(task.weights)
        gradients = first.gradients(updates) if steps > 0 else ()
        first = first._replace(gradients=lambda updates: gradients)
        return [_descend(task, schedule, first, steps, updates) for schedule in schedules]


def _descend(task: Trainable, schedule: Schedule, first: Evaluation, steps: int, updates: Updates) -> Trajectory:
    batch = len(first.test_loss)
    test_loss, train_loss = np.full((batch, steps + 1), math.inf), np.full((batch, steps + 1), math.inf)
    running = np.ones(batch, dtype=bool)
    weights, now = task.weights, first
    for step in range(steps + 1):
        running &= np.isfinite(now.test_loss) & np.isfinite(now.train_loss)
        test_loss[running, step] = now.test_loss[running]
        train_loss[running, step] = now.train_loss[running]
        if step == steps or not running.any():
            break
        rates = schedule.rates(partial(task.norms, weights), len(weights))
        weights = tuple(map(_step, weights, now.gradients(updates), rates))
        now = task.evaluate(weights)
    return Trajectory(test_loss, train_loss)


def _step(weights: NDArray[Any], gradient: NDArray[Any], rate: float | Array) -> NDArray[Any]:
    change = np.reshape(rate, (-1,) + (1,) * (weights.ndim - 1)) * gradient
    return np.subtract(weights, change, out=change)


def as_nonnegative(argument: str, value: Any) -> float:
    """`value` as a float; `InvalidInput`, in the name of `argument`, unless it is a finite real number >= 0."""
    if not 0 <= real_number(value) < math.inf:
        raise InvalidInput(argument, value, "give a finite number >= 0")
    return float(value)


def squared_norm(array: NDArray[Any]) -> Array:
    """The squared Frobenius norm of each item of a real array `(batch, …)`: shape `(batch,)`."""
    flat = array.reshape(len(array), -1)
    return np.einsum("bi,bi->b", flat, flat)
