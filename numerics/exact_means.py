r"""The expected test loss of narrow networks with label noise, exact but for rounding: a mean over all labels.

Two layers of width `h = 1` or `2` as in `numerics/linear_networks.py`, from given orthogonal weights and whitened
inputs. The labels are `Xβ + √ρ Ξ` with `β = Q/√h`, `Q` Haar on O(h), and `Ξ` of iid N(0, 1) entries. The loss after `t`
steps is a polynomial in the entries of `Q` and `Ξ`, of degree `max(2, 4t)` after signal-only updates and, as a residual
of degree `k` multiplies a weight matrix of degree `k/2`, of degree `4·3^{t−1}` after full ones (`t >= 1`). Its mean is
that over finitely many nodes with weights: equally spaced angles in both components of O(2), and the roots of a Hermite
polynomial for each entry of `Ξ`.

As the law of `W₁ᵀQW₂ᵀ` does not depend on the weights, that is the mean over these too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theory.errors import InvalidInput
from theory.layerwise_options import Updates

from .data import Array, as_integer
from .descent import Fixed, as_nonnegative, descend
from .linear_networks import Draw


class Nodes(NamedTuple):
    """`Q` and `Ξ` at each node, `(count, h, h)`, and the weights `(count,)`, which sum to one."""

    targets: Array
    noise: Array
    weights: Array


def all_labels(width: int, degree: int) -> Nodes:
    """Nodes at which the mean of a polynomial of that degree is exact. Raises `InvalidInput` unless `width` is 1 or 2.

    >>> labels = all_labels(2, degree=4)
    >>> trace, noise = np.trace(labels.targets, axis1=1, axis2=2), labels.noise[:, 0, 0]
    >>> [round(float(labels.weights @ values), 12) for values in (trace**2, trace**4, noise**2, noise**4)]
    [1.0, 3.0, 1.0, 3.0]
    """
    if as_integer("width", width, 1) > 2:
        raise InvalidInput("width", width, "give 1 or 2; O(3) has three angles, and its noise nine entries")
    degree = as_integer("degree", degree, 0)
    angles = 2 * np.pi * np.arange(degree + 1) / (degree + 1)
    cosine, sine = np.cos(angles), np.sin(angles)
    turns = np.stack([cosine, -sine, sine, cosine], axis=1).reshape(-1, 2, 2)
    group = np.array([[[1.0]], [[-1.0]]]) if width == 1 else np.concatenate([turns, turns * [1.0, -1.0]])
    roots, shares = np.polynomial.hermite_e.hermegauss(degree // 2 + 1)
    entries = width**2
    noise = np.stack(np.meshgrid(*[roots] * entries), axis=-1).reshape(-1, width, width)
    of_noise = np.prod(np.meshgrid(*[shares / shares.sum()] * entries), axis=0).ravel()
    return Nodes(
        np.repeat(group, len(noise), axis=0),
        np.tile(noise, (len(group), 1, 1)),
        np.tile(of_noise, len(group)) / len(group),
    )


def mean_test_loss(
    weights: tuple[Array, Array],
    inputs: Array,
    rates: tuple[float, float],
    *,
    noise: float,
    steps: int,
    updates: Updates,
) -> float:
    """The mean test loss after `steps` steps from the weights `W₁, W₂ (h, h)`, with `noise` for `ρ`.

    `inputs` are `X (n, h)` with `XᵀX = nI`, `n = h`. Raises `InvalidInput` as `all_labels` and `descend` do.

    >>> one = np.eye(1)
    >>> round(mean_test_loss((one, one), one, (1.0, 1.0), noise=0.0, steps=1, updates=Updates.SIGNAL), 12)
    5.0
    """
    steps = as_integer("steps", steps, 0)
    degree = 4 * steps if updates is Updates.SIGNAL else 4 * 3 ** max(0, steps - 1)
    width = len(weights[0])
    labels = all_labels(width, max(2, degree))
    draw = Draw(
        tuple(np.broadcast_to(layer, labels.targets.shape) for layer in weights),
        labels.targets / width**0.5,
        inputs=np.broadcast_to(inputs, labels.targets.shape),
        label_noise=as_nonnegative("noise", noise) ** 0.5 * labels.noise,
    )
    run = descend(draw, Fixed(rates), steps=steps, updates=updates)
    return float(labels.weights @ run.test_loss[:, -1])
