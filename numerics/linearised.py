r"""The linearised network: a finite network replaced by its first-order expansion around its initial parameters.

    f_lin(θ)(x) = f(θ₀)(x) + ∇f(θ₀)(x)·(θ − θ₀),

linear in `θ`, not in `x`. Whatever `θ` is, its tangent kernel is the empirical one of the network at `θ₀`, `Θ = J Jᵀ`
over the trained layers. So along the methods of `numerics/optimisers.py`, with `c = 2κ` and `κ` that of the loss
(`numerics/training.py`), its outputs follow without its parameters, exactly:

    GradientFlow        f_lin(x) = f₀(x) − Θ(x,X) Θ(X,X)⁻¹ (1 − e^{−cΘt}) (f₀(X) − y)
    GradientDescent     f_lin(x) = f₀(x) − Θ(x,X) Θ(X,X)⁻¹ (1 − (1 − ηcΘ)^k) (f₀(X) − y)
    SGD                 f_{k+1}(x) = f_k(x) − ηc Θ(x,B) (f_k(B) − y_B)      over the minibatches B,

the first by `numerics/dynamics.py`, whose warnings about singular kernels apply, and the second too beyond
`MANY_STEPS`; up to there descent is cheaper step by step, for all networks at once.

**Its distance from the network**, for fixed depth, data and time, as the width `m → ∞` in the NTK parametrisation:
`sup_t |f_t(x) − f_lin,t(x)|` is `O(m^{−1/2})` (Lee et al. 2019, theorem 2.1). For smooth activations it is of order
`m^{−1}`, as the second order of `f` is odd in the outgoing weights, whose law is symmetric (`theory/linearisation.py`).
For ReLU it is of order `m^{−1/2}`: a training point moves a unit only while it is active there, so those pushed down
switch off and stop, those that are off are not switched on, and **the network lags behind**, after one step by a known
mean (`theory/linearisation_lag.py`). The fluctuations about it, of about `√m` units that switch and miss `m^{−1}` each,
are of order `(m^{1/2} m^{−2})^{1/2} = m^{−3/4}`, so that at moderate widths a slope between −1/2 and −3/4 is seen; that
is an argument, measured by the claim `linearised-network`. With the limit kernel in place of the empirical one the
distance is `m^{−1/2}`, the fluctuation of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from theory.loss import Loss

from .convolutional_networks import CNN, empirical_cntk
from .data import Array
from .dynamics import descend, predict
from .empirical import EmpiricalNTK, as_matrix, empirical_ntk
from .optimisers import SGD, GradientDescent, GradientFlow, Method, as_recorded, check_method
from .training import Network, Training, as_labels, recorded_training

MANY_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Linearised:
    """Linearised networks on `n` training and `n'` test points, known by their kernels.

    `outputs (batch, n + n', o)` are those before training, on all points, the training points first;
    `kernel (batch, (n + n')·o, n·o)` is `Θ` between all points and the training points.
    """

    points: int
    outputs: Array
    kernel: Array

    def train(
        self, y: ArrayLike, method: Method, *, at: ArrayLike | None = None, loss: Loss = Loss.HALF_SUM
    ) -> Training:
        """The training of the linearised networks; arguments, result and errors as those of `training.train`."""
        batch, total, o = self.outputs.shape
        check_method(method, self.points)
        at, labels = as_recorded(at, method), as_labels(y, batch, self.points, o)
        if isinstance(method, SGD):
            outputs = self._by_steps(labels, method.learning_rate, method.minibatches, at, loss)
        elif isinstance(method, GradientDescent) and method.steps <= MANY_STEPS:
            everything = (tuple(range(self.points)),) * method.steps
            outputs = self._by_steps(labels, method.learning_rate, everything, at, loss)
        else:
            outputs = self._in_closed_form(labels, method, at, float(loss.rate(self.points)))
        return recorded_training(at, outputs.reshape(len(at), batch, total, o), self.points, labels, loss)

    def _in_closed_form(self, labels: Array, method: GradientDescent | GradientFlow, at: Array, rate: float) -> Array:
        """The outputs `(r, batch, (n + n')·o)`; `c` goes into the unit of time, the loss is then `½ Σ r²`."""
        start, trained = self.outputs.reshape(len(self.outputs), -1), self.kernel.shape[2]
        wanted = np.broadcast_to(labels.reshape(len(labels), -1), (len(start), trained))
        found = np.empty((len(at), *start.shape))
        for index, (f0, y, kernel) in enumerate(zip(start, wanted, self.kernel, strict=True)):
            given: dict[str, Any] = {"f0": f0[:trained]}
            if len(f0) > trained:
                given |= {"kernel_test": kernel[trained:], "f0_test": f0[trained:]}
            if isinstance(method, GradientFlow):
                run = predict(kernel[:trained], y, rate * at, **given)
            else:
                run = descend(kernel[:trained], y, at.astype(np.int64), rate * method.learning_rate, **given)
            found[:, index, :trained] = run.train
            if run.test is not None:
                found[:, index, trained:] = run.test
        return found

    def _by_steps(
        self, labels: Array, learning_rate: float, minibatches: Sequence[tuple[int, ...]], at: Array, loss: Loss
    ) -> Array:
        """The outputs along the steps, in the same shape."""
        o, now = self.outputs.shape[2], self.outputs.reshape(len(self.outputs), -1)
        wanted = labels.reshape(len(labels), -1)
        found, recorded = np.empty((len(at), *now.shape)), {int(step): which for which, step in enumerate(at)}
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(max(recorded) + 1):
                if step in recorded:
                    found[recorded[step]] = now
                if step < max(recorded):
                    points = np.array(minibatches[step])
                    rows = (points[:, None] * o + np.arange(o)).ravel()
                    pace = learning_rate * float(loss.rate(len(points)))
                    residual = now[:, rows] - wanted[:, rows]
                    now = now - pace * (self.kernel[:, :, rows] @ residual[..., None])[..., 0]
        return found


def linearise(
    network: Network,
    parameters: ArrayLike,
    X: ArrayLike,
    X_test: ArrayLike | None = None,
    *,
    frozen: Iterable[int] = (),
) -> Linearised:
    """The linearisations of each network of `parameters (batch, P)`, on training points `X` and test points `X_test`.

    `frozen` are the layers that are not trained, counted from 1. Raises `InvalidInput` as `empirical_ntk` does.

    >>> from numerics.networks import MLP
    >>> line = linearise(MLP(dimension=1, widths=()), [[0.0]], [[1.0]])
    >>> line.train([1.0], GradientDescent(0.5, steps=2), at=[0, 1, 2]).outputs.ravel()
    array([0.  , 0.5 , 0.75])
    """
    kernels = [as_matrix(_tangent_kernel(network, parameters, X).freeze(*frozen))]
    outputs = [network(parameters, X)]
    if X_test is not None:
        kernels.append(as_matrix(_tangent_kernel(network, parameters, X_test, X).freeze(*frozen)))
        outputs.append(network(parameters, X_test))
    return Linearised(outputs[0].shape[1], np.concatenate(outputs, axis=1), np.concatenate(kernels, axis=1))


def _tangent_kernel(network: Network, parameters: ArrayLike, X: ArrayLike, X2: ArrayLike | None = None) -> EmpiricalNTK:
    if isinstance(network, CNN):
        return empirical_cntk(network, parameters, X, X2)
    return empirical_ntk(network, parameters, X, X2)
