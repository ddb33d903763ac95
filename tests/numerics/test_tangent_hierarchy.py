"""The five limits of the second order of training, against their definitions in finite networks.

Traces are means over a random `v`, and Hessians of units the change of a gradient along a small step, so that all is
done by forward and backward passes. Kinks then count as they do in training.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from numerics import data, features
from numerics.angles import Points
from numerics.features import Layer
from numerics.tangent_hierarchy import Limits, along_gradients, last_layer

TRAINED = 2
NEAR = np.array([[0.3, 0.9, 0.1], [1.0, 0.2, 0.4], [0.8, 0.7, -0.2], [0.6, 0.5, 0.9]])  # at angles from 0.5 to 1.1
NEAR /= np.linalg.norm(NEAR, axis=1)[:, None]
APART = data.sphere(np.random.default_rng(11), 4, 3)
STEP = 1.0  # of a unit, in m^(-1/2)

Weights = list[np.ndarray]


class Network(NamedTuple):
    """The hidden weights `(count, m, m)` of many networks, and what they make of one point, `(count, m)`."""

    weights: Weights
    u: list[np.ndarray]
    h: list[np.ndarray]

    @classmethod
    def at(cls, weights: Weights, point: np.ndarray) -> "Network":
        h, u = [np.broadcast_to(point, (len(weights[0]), len(point)))], []
        for layer, matrix in enumerate(weights):
            scale = np.sqrt(2 / matrix.shape[2]) if layer else 1.0
            u.append(scale * (matrix @ h[-1][:, :, None])[:, :, 0])
            h.append(np.maximum(u[-1], 0))
        return cls(weights, u, h)

    def gradient(self, w: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of `w·h^L` by the weights, as the factors of an outer product for each layer."""
        found = []
        for layer in reversed(range(len(self.u))):
            scale = np.sqrt(2 / self.u[-1].shape[1]) if layer else 1.0
            signal = scale * (self.u[layer] > 0) * w
            found.append((signal, self.h[layer]))
            w = (signal[:, None] @ self.weights[layer])[:, 0]
        return found[::-1]

    def derivative(self, direction: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Of `h^L` along a direction of the weights."""
        moved = np.zeros_like(self.h[0])
        for layer, (out, into) in enumerate(direction):
            scale = np.sqrt(2 / self.u[-1].shape[1]) if layer else 1.0
            own = out * (into * self.h[layer]).sum(axis=1, keepdims=True)
            moved = (self.u[layer] > 0) * scale * (own + (self.weights[layer] @ moved[:, :, None])[:, :, 0])
        return moved


def product(one: list[tuple[np.ndarray, np.ndarray]], other: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Of two gradients, `(count,)`."""
    pairs = zip(one, other, strict=True)
    return np.sum([(a * c).sum(axis=1) * (b * d).sum(axis=1) for (a, b), (c, d) in pairs], axis=0)


def sampled(points: np.ndarray, depth: int, width: int, count: int) -> Limits:
    """The five, for each of `count` networks: a first axis more."""
    rng = np.random.default_rng(7)
    sizes = [points.shape[1], *[width] * depth]
    weights = [rng.normal(size=(count, out, into)) for into, out in pairwise(sizes)]
    v = rng.normal(size=(count, width))
    nets = [Network.at(weights, point) for point in points]
    trained, pair = nets[:TRAINED], nets[TRAINED:]
    through = [[pair_net.derivative(net.gradient(v)) for net in trained] for pair_net in pair]  # A_bi v
    S = [[[[(b[i] * d[k]).sum(axis=1) for k in (0, 1)] for i in (0, 1)] for d in through] for b in through]
    images = np.array([[[net.derivative(b.gradient(y.h[-1])) for net in trained] for y in pair] for b in pair])
    B = np.einsum("zcm,byicm->zibyc", np.array([net.h[-1] for net in nets]), images)
    C = np.einsum("byicm,dwkcm->bydwikc", images, images)
    P, Q = (np.zeros((2, 2, TRAINED, TRAINED, count)) for _ in range(2))
    for k, sign in ((k, sign) for k in range(TRAINED) for sign in (1.0, -1.0)):
        size = STEP / np.sqrt(width)
        slope = trained[k].gradient(sign * v)
        after = [one + size * out[:, :, None] * into[:, None] for one, (out, into) in zip(weights, slope, strict=True)]
        for i in range(TRAINED):
            before, own = trained[i].gradient(sign * v), Network.at(after, points[i]).gradient(sign * v)
            for a, y in np.ndindex(2, 2):
                fixed = pair[a].gradient(pair[y].h[-1])
                moved = Network.at(after, points[TRAINED + a]).gradient(pair[y].h[-1])
                P[a, y, i, k] += (product(before, moved) - product(before, fixed)) / (2 * size)
                Q[a, y, i, k] += (product(own, fixed) - product(before, fixed)) / (2 * size)
    return Limits(*(np.moveaxis(np.array(part), -1, 0) / width for part in (S, B, C, P, Q)))


def limits(points: np.ndarray, depth: int) -> Limits:
    return last_layer(features.layers(Points.of(points), depth), TRAINED, TRAINED, TRAINED + 1)


@pytest.mark.parametrize(
    ("points", "depth", "width", "count"),
    [(NEAR, 1, 1000, 200), (NEAR, 2, 192, 200), (APART, 2, 128, 200), (NEAR, 3, 192, 200)],
)
def test_finite_networks(points: np.ndarray, depth: int, width: int, count: int) -> None:
    """Each number, and for each of the five the sum of all: a false alarm in a thousand for other seeds.

    `0.03 L` is for what is smaller by `m^(-1/2)` or `1/m`. Where `a = y`, `P` is zero, up to the size of the step.
    """
    found, expected = sampled(points, depth, width, count), limits(points, depth)
    assert np.abs(expected.P[[0, 1], [0, 1]]).max() < 1e-15
    others = (slice(None), [0, 1], [1, 0])
    pairs = [*zip(found, expected, strict=True)]
    pairs[3] = (found.P[others], expected.P[others[1:]])
    for observed, value in pairs:
        flat = observed.reshape(count, -1)
        for sample, limit in ((flat, value.ravel()), (flat.sum(axis=1), value.sum())):
            error = sample.std(axis=0) / np.sqrt(count)
            assert (np.abs(sample.mean(axis=0) - limit) < 4.5 * error + 0.03 * depth * np.abs(limit).max()).all()


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_parts_that_are_known(depth: int) -> None:
    """At one point, `x = x'`: no unit that changes its sign there counts, and `B^l = l/2 + B^(l−1)` by hand."""
    q = np.array([1.5, -0.5])
    layers = [*features.layers(Points.of(APART), depth)]
    both = along_gradients(layers, TRAINED, 2, 2).both
    assert q @ both @ q == pytest.approx(features.deviation_given(APART[:2], q, APART[2:3], depth=depth)[0, 0])
    assert along_gradients(layers, 1, 0, 0).shared[0, 0] == pytest.approx(depth * (depth + 1))


def test_exchanging_the_points_changes_nothing() -> None:
    layers = [*features.layers(Points.of(APART), 3)]
    for one, other in zip(along_gradients(layers, 2, 2, 3), along_gradients(layers, 2, 3, 2), strict=True):
        assert one == pytest.approx(other, rel=1e-12)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = limits(APART, 2)
    monkeypatch.setattr("numerics.tangent_hierarchy.BLOCK", 5)
    for one, other in zip(at_once, limits(APART, 2), strict=True):
        assert one == pytest.approx(other, rel=1e-13)


def test_one_point_by_hand() -> None:
    """`h = φ(u)` at the training point: `∇|h|² = 2 h ∇h`, so that `F = 2 f` and `F_11 = 2 |∇f|² = 4`."""
    unit = np.ones((1, 1))
    law = along_gradients([Layer(0 * unit, unit, unit)], 1, 0, 0)
    assert law.shared[0, 0] == pytest.approx(2)
    assert law.variance[0, 0] == pytest.approx(4)
    assert (law.course + 2 * law.both)[0, 0] == pytest.approx(4)
