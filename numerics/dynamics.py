r"""Training with a constant kernel in float64: gradient flow, gradient descent, and their law over initialisations.

For a kernel matrix `Θ (n, n)` on the training points, symmetric and positive semidefinite, test rows `Θ(x, X)`, labels
`y`, outputs `f_0` at the start, and a loss with the rate `c` (`Loss`: 2, 1, 2/n, 1/n for `∑r²`, `½∑r²`, `(1/n)∑r²`,
`(1/2n)∑r²`; sums over several outputs too), with `r = f_0(X) − y`:

    predict:   f_t(x) = f_0(x) − Θ(x, X) Θ⁻¹ (1 − e^{−cΘt}) r,        0 <= t <= ∞,
    descend:   f_k(x) = f_0(x) − Θ(x, X) Θ⁻¹ (1 − (1 − ηcΘ)^k) r,     k = 0, 1, …

The unit of `t` is `1/(c · eigenvalue)`; `k` steps of the learning rate `η` take the time `kη`. Descent converges for
`η < 2/(cλ_max)`. On the training points `Θ(x, X)` is `Θ`.

How: one eigendecomposition, then each mode by `expm1`, so that tiny and huge times lose nothing; `t = 0` gives `f_0`
bit by bit. **Singular kernels.** A mode whose eigenvalue cannot be told from zero (`numerics/kernel_modes.py`) is taken
as null, which means that it stays where it starts: it follows the flow until it has moved by the fraction `STEADY`, as
much as it can if its eigenvalue is the `cutoff`, and stops. So early times are right whatever it is, and late ones are
projections. `ConditioningWarning` says so where it matters, and where half of the digits are lost. NaN never comes out.

Derived in `theory/dynamics.py` and `theory/ensembles.py`. Source: Lee et al. (2019), arXiv:1902.06720.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput, LimesWarning
from theory.loss import Loss

from .descent import as_nonnegative
from .kernel_modes import KernelModes, covariance_matrix, finite_array, symmetrised

Array = NDArray[np.float64]

HALF = 8.0  # decimal digits: more than that lost, and a warning is given
STEADY = 1e-11  # how far null modes move, as a fraction of their residual
SEEN = 1e-8  # how far they may have moved on the training points before a warning is given
LARGEST_STEPS = 2**62


class ConditioningWarning(LimesWarning):
    """`condition = λ_max/λ_min` (`inf` if singular), and how many decimal digits of a prediction may be lost by it."""

    def __init__(self, condition: float, digits_lost: float, null_modes: int) -> None:
        null = f"; {null_modes} modes cannot be told from null and stay where they started" if null_modes else ""
        super().__init__(
            f"the kernel has the condition number {condition:.2g}: up to {digits_lost:.1f} of 16 digits are lost{null}"
        )
        self.condition, self.digits_lost, self.null_modes = condition, digits_lost, null_modes


class DivergenceWarning(LimesWarning):
    """Gradient descent does not converge: `learning_rate >= threshold = 2/(c λ_max)`."""

    def __init__(self, learning_rate: float, threshold: float, stability: Stability) -> None:
        super().__init__(f"learning_rate = {learning_rate:.6g}, 2/(c lambda_max) = {threshold:.6g}: {stability.value}")
        self.learning_rate, self.threshold, self.stability = learning_rate, threshold, stability


class Stability(Enum):
    """What becomes of the residual in the mode of the largest eigenvalue, `x = ηcλ_max`."""

    CONVERGES = "the residual tends to zero"  # x < 2
    OSCILLATES = "the residual changes its sign for ever and keeps its size"  # x = 2, within rounding
    DIVERGES = "the residual grows without bound"  # x > 2


@dataclass(frozen=True, eq=False)
class Prediction:
    """Outputs along training. An axis for the times comes first, unless one number was given for `t`.

    `train` and `test` have, for each time, the shape of `y` with `n` training or `m` test points (None without test
    points); `training_loss` is the loss that was minimised. `condition` is as in `ConditioningWarning`, `digits_lost`
    an estimate for each time.
    """

    train: Array
    test: Array | None
    training_loss: Array
    condition: float
    digits_lost: Array


@dataclass(frozen=True, eq=False)
class Descent(Prediction):
    """The same after numbers of steps. A step at which a number overflows is infinite in all of its outputs."""

    threshold: float  # 2/(c λ_max)
    stability: Stability


@dataclass(frozen=True, eq=False)
class Distribution:
    """The Gaussian law of the outputs over initialisations: means as `y`, covariances `(n, n)` and `(m, m)`.

    Each of several outputs has the same covariance, and they are independent.
    """

    mean: Array
    covariance: Array
    mean_test: Array | None
    covariance_test: Array | None


def predict(
    kernel: ArrayLike,
    y: ArrayLike,
    t: ArrayLike,
    *,
    f0: ArrayLike | None = None,
    kernel_test: ArrayLike | None = None,
    f0_test: ArrayLike | None = None,
    loss: Loss = Loss.HALF_SUM,
) -> Prediction:
    """Gradient flow on `loss` from `f0` (zero if left out) for the times `t >= 0`, a number or `(times,)`, also `inf`.

    `kernel (n, n)`, `y` and `f0` `(n,)` or `(n, outputs)`; `kernel_test (m, n)` has the rows `Θ(x, X)`, `f0_test` is
    `(m,)` or `(m, outputs)`. Raises `InvalidInput` for other shapes, NaN and infinities, a kernel that is not symmetric
    or has an eigenvalue below zero by more than rounding, negative times, and numbers so large that the loss at the
    start, or an output, overflows.

    >>> found = predict(np.eye(2), [1.0, -1.0], [0.0, math.log(2), math.inf])
    >>> found.train
    array([[ 0. ,  0. ],
           [ 0.5, -0.5],
           [ 1. , -1. ]])
    >>> found.training_loss
    array([1.  , 0.25, 0.  ])
    """
    times = _times(t)
    task = _Task.of(kernel, y, f0, kernel_test, f0_test, loss)
    found = Prediction(*task.outputs(_flow(task.modes, task.rate, times), times))
    _refuse_overflow("kernel_test", kernel_test, found.test)  # on training points the flow is a contraction
    return found


def descend(
    kernel: ArrayLike,
    y: ArrayLike,
    steps: ArrayLike,
    learning_rate: float,
    *,
    f0: ArrayLike | None = None,
    kernel_test: ArrayLike | None = None,
    f0_test: ArrayLike | None = None,
    loss: Loss = Loss.HALF_SUM,
) -> Descent:
    """Gradient descent on `loss` after `steps`, an integer >= 0 or `(times,)` of them; the rest as for `predict`.

    At and above the threshold `2/(c λ_max)` a `DivergenceWarning` is given, and the outputs are what descent does.

    >>> descend(np.eye(1), [1.0], [0, 1, 2, 3], 0.5).train.ravel()
    array([0.   , 0.5  , 0.75 , 0.875])
    >>> descend(np.eye(1), [1.0], 1, 0.5, loss=Loss.SUM).stability, descend(np.eye(1), [1.0], 1, 0.5).threshold
    (<Stability.CONVERGES: 'the residual tends to zero'>, 2.0)
    """
    counts = _counts(steps)
    rate = as_nonnegative("learning_rate", learning_rate)
    task = _Task.of(kernel, y, f0, kernel_test, f0_test, loss)
    pace = rate * task.rate
    step = pace * task.modes.eigenvalues
    step[np.abs(step - 2) <= task.modes.rounding] = 2.0
    largest, scale = step.max(), task.rate * task.modes.largest
    threshold = 2 / scale if scale > 0 else math.inf
    stability = Stability.OSCILLATES if largest == 2 else Stability.DIVERGES if largest > 2 else Stability.CONVERGES
    if stability is not Stability.CONVERGES:
        warnings.warn(DivergenceWarning(rate, threshold, stability), stacklevel=2)
    found = task.outputs(_descent(task.modes, step, pace, counts), rate * counts.astype(np.float64))
    return Descent(*found, threshold, stability)


def distribution(
    kernel: ArrayLike,
    nngp: ArrayLike,
    y: ArrayLike,
    t: float,
    *,
    kernel_test: ArrayLike | None = None,
    nngp_test: ArrayLike | None = None,
    nngp_test_test: ArrayLike | None = None,
    loss: Loss = Loss.HALF_SUM,
) -> Distribution:
    """The law of gradient flow at one time `t`, from initial outputs of mean 0 and covariance `nngp`.

    `nngp (n, n)` is `K(X, X)`, `nngp_test (m, n)` is `K(x, X)`, `nngp_test_test (m, m)` is `K(x, x')`; the three
    arguments of test points belong together. With `kernel = nngp`, as when only the last layer is trained, `t = inf` is
    the posterior of a Gaussian process. Errors and warnings as for `predict`.

    >>> law = distribution(np.eye(1), np.eye(1), [1.0], math.log(2))
    >>> law.mean, law.covariance
    (array([0.5]), array([[0.25]]))
    """
    times = _times(t)
    if times.ndim:
        raise InvalidInput("t", t, "give one time; the covariances of several would be large")
    task = _Task.of(kernel, y, None, kernel_test, None, loss)
    n, modes = len(task.residual), task.modes
    prior = covariance_matrix("nngp", nngp, n)
    fractions = _flow(modes, task.rate, times)
    mean, mean_test, *_ = task.outputs(fractions, times)
    with np.errstate(over="ignore", invalid="ignore"):
        turned = fractions.remaining.T * (modes.vectors.T @ prior @ modes.vectors) * fractions.remaining
        covariance = symmetrised(modes.vectors @ turned @ modes.vectors.T)
    _refuse_overflow("nngp", nngp, covariance)
    given = [argument is not None for argument in (kernel_test, nngp_test, nngp_test_test)]
    if any(given) and not all(given):
        raise InvalidInput("kernel_test, nngp_test, nngp_test_test", given, "give all three, or none")
    if task.overlaps is None or nngp_test is None or nngp_test_test is None:
        return Distribution(mean, covariance, None, None)
    m = len(task.overlaps)
    across, between = (
        finite_array("nngp_test", nngp_test, (m, n)),
        covariance_matrix("nngp_test_test", nngp_test_test, m),
    )
    weights = (task.overlaps * fractions.divided) @ modes.vectors.T  # Θ(x, X) Θ⁻¹ (1 − e^{−cΘt})
    half = across - 0.5 * weights @ prior
    covariance_test = symmetrised(between - weights @ half.T - half @ weights.T)
    _refuse_overflow("kernel_test", kernel_test, mean_test, covariance_test)
    return Distribution(mean, covariance, mean_test, covariance_test)


# --- what is learnt of each mode --------------------------------------------------------------------------------------


class _Filter(NamedTuple):
    """For each time and mode, `(times, n)`: the fraction learnt, the same over `λ`, and the fraction that remains."""

    learnt: Array
    divided: Array
    remaining: Array


def _flow(modes: KernelModes, rate: float, times: Array) -> _Filter:
    """`1 − e^{−s}`, `(1 − e^{−s})/λ` and `e^{−s}` for `s = cλt`."""
    column = times.reshape(-1, 1)
    if modes.null.any():
        column = np.where(modes.null, np.minimum(column, _steady_time(modes, rate)), column)
    with np.errstate(over="ignore", invalid="ignore"):
        s = np.where(modes.eigenvalues > 0, rate * modes.eigenvalues * column, 0.0)
        s = np.where(column > 0, s, 0.0)
        divided = np.where(modes.eigenvalues > 0, -np.expm1(-s) / modes.divisors, rate * column)
    return _Filter(-np.expm1(-s), divided, np.exp(-s))


def _descent(modes: KernelModes, step: Array, pace: float, counts: NDArray[np.int64]) -> _Filter:
    """`1 − (1 − x)^k` and so on for the steps `x = pace · λ`; beyond `x = 1` odd powers are negative."""
    column = counts.reshape(-1, 1)
    if modes.null.any() and pace > 0:
        most = math.floor(min(_steady_time(modes, pace), LARGEST_STEPS))
        column = np.where(modes.null, np.minimum(column, most), column)
    beyond = step > 1
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logarithm = np.log1p(np.where(beyond, step - 2, -step))
        power = np.where(column > 0, column * logarithm, 0.0)
        negative = beyond & (column % 2 == 1)
        size = np.exp(power)
        learnt = np.where(negative, 1 + size, -np.expm1(power))
        divided = np.where(modes.eigenvalues > 0, learnt / modes.divisors, pace * column)
    return _Filter(learnt, divided, np.where(negative, -size, size))


def _steady_time(modes: KernelModes, rate: float) -> float:
    """When null modes stop: at `STEADY/(c cutoff)`."""
    return STEADY / (rate * modes.cutoff) if modes.cutoff > 0 else 0.0


# --- the arguments, and the outputs from them ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Task:
    """Arguments that were checked; the outputs are the last axis of `residual (n, outputs)` and the `f0`."""

    modes: KernelModes
    residual: Array  # in the modes
    f0: Array
    f0_test: Array | None
    overlaps: Array | None  # Θ(x, X) V
    shape: tuple[int, ...]  # of y behind the points
    factor: float
    rate: float

    @staticmethod
    def of(
        kernel: ArrayLike,
        y: ArrayLike,
        f0: ArrayLike | None,
        kernel_test: ArrayLike | None,
        f0_test: ArrayLike | None,
        loss: Loss,
    ) -> _Task:
        if not isinstance(loss, Loss):
            raise InvalidInput("loss", loss, "give Loss.SUM, HALF_SUM, MEAN or HALF_MEAN")
        labels = finite_array("y", y, None)
        if labels.ndim not in (1, 2):
            raise InvalidInput("y", y, f"has shape {labels.shape}; give (n,) or (n, outputs)")
        n, shape = len(labels), labels.shape[1:]
        begin = np.zeros_like(labels) if f0 is None else finite_array("f0", f0, labels.shape)
        rows = None if kernel_test is None else finite_array("kernel_test", kernel_test, (None, n))
        if rows is None and f0_test is not None:
            raise InvalidInput(
                "f0_test", f0_test, "leave it out, or give kernel_test, the kernel's rows at those points"
            )
        if rows is not None and f0_test is None and f0 is not None:
            raise InvalidInput("f0_test", None, "give the outputs at the test points from which training starts, as f0")
        begin_test = None
        if rows is not None:
            behind = (len(rows), *shape)
            begin_test = np.zeros(behind) if f0_test is None else finite_array("f0_test", f0_test, behind)
        modes = KernelModes.of(kernel, n)
        with np.errstate(over="ignore", invalid="ignore"):
            residual = modes.vectors.T @ (begin - labels).reshape(n, -1)
            at_start = np.square(residual).sum()
        _refuse_overflow("f0, y", (f0, y), at_start)
        overlaps = None if rows is None else modes.overlaps(rows)
        return _Task(modes, residual, begin, begin_test, overlaps, shape, float(loss.factor(n)), float(loss.rate(n)))

    def outputs(self, fractions: _Filter, times: Array) -> tuple[Array, Array | None, Array, float, Array]:
        """The fields of a `Prediction`; a time at which a number overflows is infinite throughout."""
        test = None
        with np.errstate(over="ignore", invalid="ignore"):
            train = self._moved(self.f0, self.modes.vectors, fractions.learnt)
            if self.overlaps is not None and self.f0_test is not None:
                test = self._moved(self.f0_test, self.overlaps, fractions.divided)
            loss = self.factor * np.square(fractions.remaining[:, :, None] * self.residual).sum(axis=(1, 2))
        lost = self._digits_lost(fractions, times)
        parts = [part for part in (train, test, loss) if part is not None]
        over = ~np.all([np.isfinite(part.reshape(len(part), -1)).all(axis=1) for part in parts], axis=0)
        for part in parts:
            part[over] = math.inf
        behind = times.shape
        return (
            train.reshape(behind + train.shape[1:]),
            None if test is None else test.reshape(behind + test.shape[1:]),
            loss.reshape(behind),
            self.modes.condition,
            lost.reshape(behind),
        )

    def _moved(self, begin: Array, directions: Array, fractions: Array) -> Array:
        """`begin − directions · (fractions × residual)` for each time, `(times, points, …)`."""
        modes, outputs = self.residual.shape
        weighted = (fractions.T[:, :, None] * self.residual[:, None, :]).reshape(modes, -1)
        moved = (directions @ weighted).reshape(len(begin), len(fractions), outputs).swapaxes(0, 1)
        return begin - moved.reshape(len(fractions), len(begin), *self.shape)

    def _digits_lost(self, fractions: _Filter, times: Array) -> Array:
        """The logarithm of `λ_max · max φ/λ`, by which rounding errors of the kernel grow; warns where it is large."""
        modes = self.modes
        with np.errstate(over="ignore", invalid="ignore"):
            stable = np.where(np.abs(fractions.learnt) <= 2, np.abs(fractions.divided), 0.0)
            gain = np.fmax(modes.largest * stable.max(axis=1), 1.0)
        lost = np.minimum(np.log10(gain), -math.log10(np.finfo(np.float64).eps))
        followed = STEADY if self.overlaps is not None else SEEN
        stopped = modes.null.any() and modes.cutoff * self.rate * float(times.max()) > followed
        if stopped or lost.max() > HALF:
            warning = ConditioningWarning(modes.condition, float(lost.max()), int(modes.null.sum()))
            warnings.warn(warning, stacklevel=4)
        return lost


def _refuse_overflow(argument: str, value: Any, *found: Array | None) -> None:
    """`InvalidInput` if a number that was found is not finite."""
    if not all(np.isfinite(part).all() for part in found if part is not None):
        raise InvalidInput(argument, value, "squares or products of it overflow float64; give smaller numbers")


def _array(value: ArrayLike) -> NDArray[Any]:
    """`value` as an array; rows of different lengths make an empty one, which is refused."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.empty((0, 0))


def _times(t: ArrayLike) -> Array:
    """`t` as a number or `(times,)`, none of them negative or NaN; infinity is one."""
    times = _array(t)
    if times.dtype.kind not in "fiu" or times.ndim > 1 or times.size == 0:
        raise InvalidInput("t", t, "give a time >= 0, or an array (times,) of them")
    if not (times >= 0).all():  # or it is NaN
        raise InvalidInput("t", t, "give times >= 0; math.inf is the end of training")
    return times.astype(np.float64)


def _counts(steps: ArrayLike) -> NDArray[np.int64]:
    """`steps` as an integer or `(times,)`, none of them negative."""
    counts = _array(steps)
    if counts.dtype.kind not in "iu" or counts.ndim > 1 or counts.size == 0:
        raise InvalidInput("steps", steps, "give a whole number of steps, or an array (times,) of them")
    if counts.min() < 0 or counts.max() > LARGEST_STEPS:
        raise InvalidInput("steps", steps, "give numbers of steps from 0 to 2**62")
    return counts.astype(np.int64)
