r"""Three ways to follow the gradient of a loss `ℓ`: in steps, in steps on minibatches, and continuously.

Over steps `k = 0, 1, …` of the learning rate `η > 0`, or over the time `t >= 0`,

    GradientDescent     θ_{k+1} = θ_k − η ∇ℓ(θ_k)
    SGD                 the same, where the loss of step `k` is that of its minibatch alone
    GradientFlow        dθ/dt = −∇ℓ(θ),

so that the time `t` corresponds to `k η`. What may be wrong with them is found where they are made, or used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from theory.errors import InvalidInput

from .data import Array, as_integer, as_reals, real_number


@dataclass(frozen=True)
class GradientDescent:
    """`steps >= 0` full-batch steps of the rate `learning_rate`, `η > 0`."""

    learning_rate: float
    steps: int

    def __post_init__(self) -> None:
        _as_positive("learning_rate", self.learning_rate)
        as_integer("steps", self.steps, 0)


@dataclass(frozen=True)
class SGD:
    """A step of the rate `learning_rate` for each of `minibatches`, which hold the indices of their points.

    All networks of a batch see the same minibatches, and so does the linearised network beside them.
    """

    learning_rate: float
    minibatches: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        _as_positive("learning_rate", self.learning_rate)
        indices = all(
            isinstance(batch, tuple) and batch and all(type(point) is int for point in batch)
            for batch in (self.minibatches if isinstance(self.minibatches, tuple) else (None,))
        )
        if not indices:
            raise InvalidInput("minibatches", self.minibatches, "give tuples of integers, none of them empty")

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.minibatches)

    @classmethod
    def shuffled(cls, rng: np.random.Generator, *, points: int, size: int, steps: int, learning_rate: float) -> SGD:
        """Minibatches of `size` of the `points`: each epoch is a new permutation, cut; what is left over is dropped.

        Raises `InvalidInput` for a size that is not from 1 to `points`.

        >>> SGD.shuffled(np.random.default_rng(0), points=4, size=2, steps=3, learning_rate=0.1).minibatches
        ((2, 0), (1, 3), (3, 2))
        """
        points, steps = as_integer("points", points, 1), as_integer("steps", steps, 0)
        if as_integer("size", size, 1) > points:
            raise InvalidInput("size", size, f"give at most {points}, the number of points")
        found: list[tuple[int, ...]] = []
        while len(found) < steps:
            order = rng.permutation(points)[: points // size * size]
            found += [tuple(row) for row in order.reshape(-1, size).tolist()]
        return cls(learning_rate, tuple(found[:steps]))


@dataclass(frozen=True)
class GradientFlow:
    """The flow up to the time `time >= 0`, integrated with the tolerances `rtol` and `atol` (`numerics/training.py`).

    `evaluations` of the gradient, at most, are spent on one network. The vector field of a ReLU network jumps where a
    unit is switched, and may push from both sides towards the jump: an integrator then takes ever smaller steps.
    """

    time: float
    rtol: float = 1e-8
    atol: float = 1e-10
    evaluations: int = 20_000

    def __post_init__(self) -> None:
        if real_number(self.time) != 0:
            _as_positive("time", self.time)
        _as_positive("rtol", self.rtol)
        _as_positive("atol", self.atol)
        as_integer("evaluations", self.evaluations, 1)


Method = GradientDescent | SGD | GradientFlow


def check_method(method: Method, points: int) -> None:
    """Raise `InvalidInput` unless `method` is one, and its minibatches are of these points."""
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "give GradientDescent(…), SGD(…) or GradientFlow(…)")
    if isinstance(method, SGD) and not all(0 <= point < points for batch in method.minibatches for point in batch):
        raise InvalidInput("minibatches", method.minibatches, f"give indices from 0 to {points - 1}")


def as_recorded(at: ArrayLike | None, method: Method) -> Array:
    """The steps or times at which to record, `(r,)`, as floats: by default the first and the last.

    Raises `InvalidInput` unless they are finite, increase, lie within the run, and are integers if they are steps.

    >>> as_recorded([0, 1, 4], GradientDescent(0.1, steps=3))
    Traceback (most recent call last):
    theory.errors.InvalidInput: at = [0, 1, 4]: give increasing numbers from 0 to 3
    """
    flow = isinstance(method, GradientFlow)
    end = float(method.time if flow else method.steps)
    if at is None:
        return np.unique([0.0, end])
    found = as_reals("at", at)
    if (not flow and np.asarray(at).dtype.kind == "f") or found.ndim != 1 or not found.size:
        raise InvalidInput("at", at, f"give a row of {'times' if flow else 'steps, which are integers'}")
    if not (found[0] >= 0 and found[-1] <= end and (np.diff(found) > 0).all()):
        raise InvalidInput("at", at, f"give increasing numbers from 0 to {end:g}")
    return found


def _as_positive(argument: str, value: Any) -> None:
    if not 0 < real_number(value) < math.inf:
        raise InvalidInput(argument, value, "give a finite number > 0")
