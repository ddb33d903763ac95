r"""Training finite networks, many at once: gradient descent, stochastic gradient descent, and gradient flow.

For a network `f_θ` with `o` outputs, points `x_1..x_n` and labels `y_i ∈ R^o`, the loss is
`ℓ(θ) = κ Σ_i |f_θ(x_i) − y_i|²` with `κ = 1, 1/2, 1/n, 1/(2n)` as `Loss` says. Over steps `k = 0, 1, …` of the rate
`η > 0`, or over the time `t >= 0`,

    GradientDescent     θ_{k+1} = θ_k − η ∇ℓ(θ_k)
    SGD                 the same with the loss of the k-th minibatch; `n` is then its size
    GradientFlow        dθ/dt = −∇ℓ(θ),

so that `t` corresponds to `k η`. Layers that are frozen keep their parameters. The flow is integrated for each network
by itself, by the explicit Runge–Kutta method of order 8 of Dormand and Prince (SciPy's DOP853), whose local error is
kept below `rtol |θ| + atol` in each parameter.

A run whose outputs or parameters leave the range of float64 has *diverged*: from that step on its outputs are infinite,
never NaN, and `Training.divergence` says which step it was. The flow cannot diverge, as its loss does not increase.

The points are rows `(n, d)` for an `MLP`, images `(n, h, w, c)` for a `CNN`; layers are counted from 1. Memory beyond
the result is bounded: networks and points are taken in chunks. Source: Jacot, Gabriel, Hongler (2018), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput, LimesError
from theory.loss import Loss

from .convolutional_networks import CNN
from .data import Array, as_reals
from .gradients import floats_per_point, pullback
from .networks import MLP, chunks
from .optimisers import SGD, GradientDescent, GradientFlow, Method, as_recorded, check_method

IN_CACHE = 16  # a chunk takes this part of the workspace: whole training runs of it stay in the cache
Network = MLP | CNN
NEVER = math.inf  # the divergence step of a run that has not diverged


@dataclass(frozen=True, eq=False)
class Training:
    """What was recorded at the steps or times `at (r,)`: `outputs (r, batch, n, o)` on the training points.

    `test_outputs (r, batch, n', o)` are those on the test points, `parameters (r, batch, P)`, each None if not asked
    for; `losses (r, batch)` are those of all training points. `divergence (batch,)` is the first step at which a run
    had diverged, or `NEVER`; of such a run the outputs and losses are infinite from there on, the parameters too.
    """

    at: Array
    outputs: Array
    test_outputs: Array | None
    parameters: Array | None
    losses: Array
    divergence: Array

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Whether a run diverged, `(batch,)`."""
        return self.divergence < NEVER


def train(
    network: Network,
    parameters: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    method: Method,
    *,
    X_test: ArrayLike | None = None,
    at: ArrayLike | None = None,
    loss: Loss = Loss.HALF_SUM,
    frozen: Iterable[int] = (),
    keep_parameters: bool = False,
) -> Training:
    """Train each network of `parameters (batch, P)` on the points `X` with the labels `y`, from these parameters on.

    `y` is `(n,)` for one output, `(n, o)`, or `(batch, n, o)` for labels of each network's own. `at` are the steps
    (integers) or times to record, by default the first and the last. `frozen` are layers, counted from 1.

    Raises `InvalidInput` for what does not fit together or is not finite, and `LimesError` where the integrator of the
    flow gives up.

    >>> from numerics.networks import MLP
    >>> line = MLP(dimension=1, widths=())
    >>> train(line, [[0.0]], [[1.0]], [1.0], GradientDescent(0.5, steps=2), at=[0, 1, 2]).outputs.ravel()
    array([0.  , 0.5 , 0.75])
    """
    if not isinstance(network, Network):
        raise InvalidInput("network", network, "give an MLP or a CNN")
    task = _Task.of(network, parameters, X, y, loss, frozen, X_test)
    check_method(method, len(task.X))
    start, at = network.as_parameters(parameters), as_recorded(at, method)
    record = _Record(task, at, keep_parameters)
    per_network = floats_per_point(network) * max(len(task.X), len(task.X_test)) + 4 * network.parameter_count
    for part in chunks(len(start), IN_CACHE * per_network):
        networks = np.arange(len(start))[part]
        if isinstance(method, GradientFlow):
            for index in networks:
                _flow(task, start[index], int(index), method, record)
        else:
            _descend(task, start[part], networks, method, record)
    return record.training(X_test is not None)


def as_labels(y: ArrayLike, batch: int, points: int, outputs: int) -> Array:
    """Labels as float64 `(1, n, o)` or `(batch, n, o)`; `InvalidInput` for another shape, NaN or infinity."""
    labels = as_reals("y", y)
    if labels.shape == (points,) and outputs == 1:
        labels = labels[:, None]
    if labels.shape not in ((points, outputs), (batch, points, outputs)):
        raise InvalidInput(
            "y.shape", labels.shape, f"give labels ({points}, {outputs}), or ({batch}, {points}, {outputs})"
        )
    if not np.isfinite(labels).all():
        raise InvalidInput("y", labels, "every label must be finite")
    return labels.reshape(-1, points, outputs)


def recorded_training(at: Array, outputs: Array, points: int, labels: Array, loss: Loss) -> Training:
    """A training known by its outputs `(r, batch, n + n', o)` on `points` training points, then test points.

    What is not finite has diverged, from the first record at which it is not.
    """
    gone = np.logical_or.accumulate(~np.isfinite(outputs).all(axis=(2, 3)), axis=0)
    outputs[gone] = math.inf
    divergence = np.where(gone.any(axis=0), at[gone.argmax(axis=0)], NEVER)
    tested = outputs[:, :, points:] if outputs.shape[2] > points else None
    return Training(
        at, outputs[:, :, :points], tested, None, losses_of(outputs[:, :, :points], labels, loss), divergence
    )


def losses_of(outputs: Array, labels: Array, loss: Loss) -> Array:
    """`κ Σ_i |f(x_i) − y_i|²` for outputs `(…, n, o)` and labels that broadcast; shape `(…,)`."""
    with np.errstate(over="ignore"):
        return float(loss.factor(outputs.shape[-2])) * np.square(outputs - labels).sum(axis=(-2, -1))


class _Task(NamedTuple):
    """What is to be trained on what: `y` is `(1, n, o)` or `(batch, n, o)`, `trained (P,)` is 0 where frozen, or 1."""

    network: Network
    batch: int
    X: Array
    y: Array
    X_test: Array
    loss: Loss
    trained: Array

    @classmethod
    def of(
        cls,
        network: Network,
        parameters: ArrayLike,
        X: ArrayLike,
        y: ArrayLike,
        loss: Loss,
        frozen: Iterable[int],
        X_test: ArrayLike | None,
    ) -> _Task:
        """The arguments of `train`, or `InvalidInput`."""
        start = network.as_parameters(parameters)
        for points in (X,) if X_test is None else (X, X_test):
            network(start[:1], points)  # refuses what is wrong with them
        X = np.asarray(X)
        tested = X[:0] if X_test is None else np.asarray(X_test)
        if not isinstance(loss, Loss):
            raise InvalidInput("loss", loss, "give a Loss, such as Loss.HALF_SUM")
        trained = np.ones(network.parameter_count)
        for layer in frozen if isinstance(frozen, Iterable) else (frozen,):
            number = isinstance(layer, int | np.integer) and not isinstance(layer, bool)
            if not number or not 1 <= layer <= len(network.slices):
                raise InvalidInput("frozen", layer, f"the layers are 1..{len(network.slices)}")
            trained[network.slices[layer - 1]] = 0
        return cls(network, len(start), X, as_labels(y, len(start), len(X), network.outputs), tested, loss, trained)

    def labels(self, networks: NDArray[np.int64]) -> Array:
        """The labels of these networks."""
        return self.y if len(self.y) == 1 else self.y[networks]

    def gradient(self, parameters: Array, networks: NDArray[np.int64], points: NDArray[np.int64]) -> Array:
        """`∇ℓ` of these networks on these points, `(batch, P)`; infinite where the outputs overflow."""
        try:
            return self._gradient(parameters, networks, points)
        except InvalidInput:
            if len(parameters) == 1:
                return np.full_like(parameters, math.inf)
            alone = range(len(parameters))
            return np.concatenate([self.gradient(parameters[i : i + 1], networks[i : i + 1], points) for i in alone])

    def _gradient(self, parameters: Array, networks: NDArray[np.int64], points: NDArray[np.int64]) -> Array:
        labels, factor = self.labels(networks), float(self.loss.rate(len(points)))
        gradient = np.zeros_like(parameters)
        for rows in chunks(len(points), floats_per_point(self.network) * len(parameters)):
            run = self.network.forward(parameters, self.X[points[rows]])
            cotangents = factor * (run.outputs - labels[:, points[rows]])
            gradient += pullback(self.network, parameters, run, cotangents)
        gradient *= self.trained
        return gradient

    def outputs(self, parameters: Array, X: Array) -> Array:
        """`f(X)` of each network, infinite throughout for one whose outputs overflow."""
        if not len(X):
            return np.empty((len(parameters), 0, self.network.outputs))
        try:
            return self.network(parameters, X)
        except InvalidInput:
            if len(parameters) == 1:
                return np.full((1, len(X), self.network.outputs), math.inf)
            return np.concatenate([self.outputs(row[None], X) for row in parameters])


class _Record:
    """What is recorded of a task, infinite as long as nothing has been."""

    def __init__(self, task: _Task, at: Array, keep_parameters: bool) -> None:
        shape, o = (len(at), task.batch), task.network.outputs
        self.task, self.at = task, at
        self.outputs = np.full((*shape, len(task.X), o), math.inf)
        self.tested = np.full((*shape, len(task.X_test), o), math.inf)
        self.parameters = np.full((*shape, task.network.parameter_count), math.inf) if keep_parameters else None
        self.divergence = np.full(task.batch, NEVER)

    def write(self, which: int, networks: NDArray[np.int64], parameters: Array) -> None:
        """Record these networks at `at[which]`."""
        outputs, tested = self.task.outputs(parameters, self.task.X), self.task.outputs(parameters, self.task.X_test)
        finite = np.isfinite(outputs).all(axis=(1, 2)) & np.isfinite(tested).all(axis=(1, 2))
        self.diverge(networks[~finite], self.at[which])
        networks = networks[finite]
        self.outputs[which, networks], self.tested[which, networks] = outputs[finite], tested[finite]
        if self.parameters is not None:
            self.parameters[which, networks] = parameters[finite]

    def diverge(self, networks: NDArray[np.int64], step: float) -> None:
        """These networks have diverged at this step, if not before."""
        self.divergence[networks] = np.minimum(self.divergence[networks], step)

    def training(self, tested: bool) -> Training:
        """All of it; nothing is finite after a divergence."""
        gone = self.at[:, None] >= self.divergence
        for kept in (self.outputs, self.tested, self.parameters):
            if kept is not None:
                kept[gone] = math.inf
        losses = losses_of(self.outputs, self.task.y, self.task.loss)
        return Training(
            self.at, self.outputs, self.tested if tested else None, self.parameters, losses, self.divergence
        )


def _descend(
    task: _Task, start: Array, networks: NDArray[np.int64], method: GradientDescent | SGD, record: _Record
) -> None:
    """Steps of some networks, with those that diverge left behind."""
    parameters, everything = start.copy(), np.arange(len(task.X))
    recorded = {int(step): which for which, step in enumerate(record.at)}
    for step in range(max(recorded) + 1):
        if step in recorded:
            record.write(recorded[step], networks, parameters)
        if step == max(recorded):
            return
        points = np.array(method.minibatches[step]) if isinstance(method, SGD) else everything
        with np.errstate(over="ignore", invalid="ignore"):
            parameters -= method.learning_rate * task.gradient(parameters, networks, points)
        finite = np.isfinite(parameters).all(axis=1)
        if not finite.all():
            record.diverge(networks[~finite], step + 1)
            parameters, networks = parameters[finite], networks[finite]
            if not len(networks):
                return


def _flow(task: _Task, start: Array, network: int, method: GradientFlow, record: _Record) -> None:
    """The flow of one network, by SciPy's integrator."""
    everything, networks = np.arange(len(task.X)), np.array([network])
    if record.at[-1] == 0:
        record.write(0, networks, start[None])
        return
    spent = 0

    def velocity(time: float, parameters: Array) -> Array:
        nonlocal spent
        if (spent := spent + 1) > method.evaluations:
            remedy = "give more evaluations, larger tolerances, a smooth activation, or GradientDescent"
            raise LimesError(
                f"the gradient flow of network {network} is at the time {time:.6g} of {method.time}: {remedy}"
            )
        return -task.gradient(parameters[None], networks, everything)[0]

    solution = scipy.integrate.solve_ivp(
        velocity,
        (0.0, record.at[-1]),
        start,
        method="DOP853",
        t_eval=record.at,
        rtol=method.rtol,
        atol=method.atol,
    )
    if not solution.success:
        raise LimesError(f"the gradient flow of network {network} could not be integrated: {solution.message}")
    for which, parameters in enumerate(solution.y.T):
        record.write(which, networks, parameters[None])
