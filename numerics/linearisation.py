r"""How far finite networks are from their linearisation: after training, and after one step along the gradient.

    deviation(s) = (mean over test points and outputs of (f_s − f_lin,s)²)^{1/2},
    F(θ + c ∇F) − F(θ) − c |∇F|²,    for one output at one point: what the correlations `C_{0,d}`, `d >= 2`, sum up to.

`f` and `f_lin` start from the same parameters, are trained by the same steps on the same minibatches
(`numerics/training.py`, `numerics/linearised.py`), and are compared at the same steps.

Source: C (arXiv:2401.04013). Departure: its released script compares the losses of `f` after steps of descent and of
`f_lin` after a gradient flow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.errors import InvalidInput
from theory.loss import Loss

from .data import Array, as_points, as_reals
from .gradients import pullback
from .linearised import linearise
from .networks import MLP, refuse_overflow
from .optimisers import Method
from .training import train


def deviations(
    network: MLP,
    parameters: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    method: Method,
    *,
    at: ArrayLike | None = None,
    loss: Loss = Loss.HALF_SUM,
) -> Array:
    """The deviation of each network at the steps or times `at (r,)`: `(r, batch)`, infinite once either has diverged.

    The arguments, and the errors raised, are those of `training.train`.

    >>> from numerics.optimisers import GradientDescent
    >>> line = MLP(dimension=1, widths=())
    >>> deviations(line, [[0.0]], [[1.0]], [1.0], [[2.0]], GradientDescent(0.5, steps=2)).ravel()
    array([0., 0.])
    """
    own = train(network, parameters, X, y, method, X_test=X_test, at=at, loss=loss)
    linear = linearise(network, parameters, X, X_test).train(y, method, at=at, loss=loss)
    assert own.test_outputs is not None
    assert linear.test_outputs is not None
    with np.errstate(invalid="ignore", over="ignore"):
        squares = np.square(own.test_outputs - linear.test_outputs).mean(axis=(2, 3))
    return np.where(np.isfinite(squares), np.sqrt(squares), np.inf)


def curvature_along_gradient(network: MLP, parameters: ArrayLike, x: ArrayLike, steps: ArrayLike) -> Array:
    """`F(θ + c∇F) − F(θ) − c|∇F|²` at one point `x (d,)`, each network with a step `c` of its own, `(batch,)`.

    Raises `InvalidInput` for a network with several outputs, wrong shapes, what is not finite, and on overflow.

    >>> from theory.activations import Identity
    >>> product = MLP(dimension=1, widths=(1,), activation=Identity())  # (2 + 3c)(3 + 2c) = 6 + 13c + 6c²
    >>> curvature_along_gradient(product, [[2.0, 3.0]], [1.0], 0.5)
    array([1.5])
    """
    if network.outputs != 1:
        raise InvalidInput("network.outputs", network.outputs, "give a network with one output")
    theta, X = network.as_parameters(parameters), as_points("x", as_reals("x", x)[None], network.dimension)
    c = as_reals("steps", steps)
    if c.shape not in ((), (1,), (len(theta),)) or not np.isfinite(c).all():
        raise InvalidInput("steps", steps, f"give a finite number, or {len(theta)}, one for each network")
    run = network.forward(theta, X)
    gradient = pullback(network, theta, run, np.ones((len(theta), 1, 1)))
    with np.errstate(over="ignore", invalid="ignore"):
        moved = theta + c.reshape(-1, 1) * gradient
        refuse_overflow("steps", moved)
        found = network(moved, X)[:, 0, 0] - run.outputs[:, 0, 0] - c * np.square(gradient).sum(axis=1)
    refuse_overflow("curvature", found)
    return found
