"""The simulators of linear networks side by side, in one run; times are shown, never asserted.

"The authors' way" are the steps of their scripts at their size, `d = h = n = 1000`: float32, `X W₁ W₂ I` from the left,
the gradient by automatic differentiation, the test loss on 500 inputs. A curve is 19 pairs of rates from one draw. All
run on one thread, and times are CPU times, so that other processes disturb them less. Without PyTorch the authors'
products are done by NumPy. The error is that of the test loss, relative to ours.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from numerics.descent import Fixed, descend, sweep
from numerics.linear_networks import Draw, LinearNetwork
from numerics.reduced import ThreeLayers, TwoLayers

pytestmark = pytest.mark.benchmark

WIDTH, BUDGET, TEST_SIZE = 1000, 45_000.0, 500
BATCH = 32  # runs that the reduced simulators make at once
RATES = [(share * BUDGET / 20, (20 - share) * BUDGET / 20) for share in range(1, 20)]
SYMMETRIC = (BUDGET / 2, BUDGET / 2)


@pytest.fixture(autouse=True)
def one_thread(on_demand: None) -> Iterator[None]:
    with threadpool_limits(limits=1):
        yield


class WithTorch:
    """The authors' way, with PyTorch."""

    def __init__(self, torch: Any, draw: Draw, inputs: np.ndarray, tests: np.ndarray) -> None:
        torch.set_num_threads(1)
        self.torch = torch
        self.X, self.x, self.beta, self.W1, self.W2 = (
            torch.tensor(array, dtype=torch.float32) for array in (inputs, tests, draw.target[0], *first_run(draw))
        )
        self.eye, self.y, self.xb = torch.eye(WIDTH), self.X @ self.beta, self.x @ self.beta

    def draw(self) -> list[Any]:
        found = []
        for _ in range(4):  # W₁, W₂, X and β
            Q, R = self.torch.linalg.qr(self.torch.randn(WIDTH, WIDTH))
            found.append(Q * self.torch.sign(self.torch.diag(R)))
        return found

    def run(self, rates: tuple[float, float], steps: int) -> tuple[Any, Any]:
        torch, W1, W2 = self.torch, self.W1.clone(), self.W2.clone()
        for _ in range(steps):
            first = W1.detach().clone().requires_grad_(True)
            second = W2.detach().clone().requires_grad_(True)
            prediction = (1.0 / WIDTH) * self.X @ first @ second @ self.eye
            ((0.5 / WIDTH) * torch.norm(prediction - self.y, p="fro") ** 2).backward()
            with torch.no_grad():
                W1, W2 = first - rates[0] * first.grad, second - rates[1] * second.grad
        with torch.no_grad():
            float(torch.norm((1.0 / WIDTH) * self.x @ W1 @ W2 @ self.eye - self.xb, p="fro") ** 2 / TEST_SIZE)
        return W1.detach().numpy(), W2.detach().numpy()


class WithNumPy:
    """The same products in float32, without PyTorch."""

    def __init__(self, draw: Draw, inputs: np.ndarray, tests: np.ndarray) -> None:
        self.X, self.x, self.beta, self.W1, self.W2 = (
            np.asarray(array, dtype=np.float32) for array in (inputs, tests, draw.target[0], *first_run(draw))
        )
        self.eye = np.eye(WIDTH, dtype=np.float32)
        self.y, self.xb = self.X @ self.beta, self.x @ self.beta

    def draw(self) -> list[Any]:
        found, rng = [], np.random.default_rng(1)
        for _ in range(4):
            Q, R = np.linalg.qr(rng.standard_normal((WIDTH, WIDTH), dtype=np.float32))
            found.append(Q * np.sign(np.diag(R)))
        return found

    def run(self, rates: tuple[float, float], steps: int) -> tuple[Any, Any]:
        W1, W2, scale = self.W1.copy(), self.W2.copy(), np.float32(1 / WIDTH)
        for _ in range(steps):
            features = scale * self.X @ W1
            residual = (features @ W2 @ self.eye - self.y) * scale
            pulled = residual @ self.eye.T
            slopes = scale * self.X.T @ (pulled @ W2.T), features.T @ pulled
            W1, W2 = W1 - np.float32(rates[0]) * slopes[0], W2 - np.float32(rates[1]) * slopes[1]
        float(np.linalg.norm(scale * self.x @ W1 @ W2 @ self.eye - self.xb) ** 2 / TEST_SIZE)
        return W1, W2


def first_run(draw: Draw) -> list[np.ndarray]:
    return [layer[0] for layer in draw.weights]


def exact_loss(weights: tuple[np.ndarray, np.ndarray], target: np.ndarray) -> float:
    first, second = (np.asarray(layer, dtype=np.float64) for layer in weights)
    return float(np.square(first @ second / WIDTH - target).sum())


@pytest.mark.parametrize("steps", [1, 2])
def test_matrices_beside_the_authors_way(bench, installed, steps: int) -> None:
    network, rng = LinearNetwork(width=WIDTH), np.random.default_rng(0)
    draw = network.sample(rng, keep_inputs=True)
    assert draw.inputs is not None
    tests = rng.standard_normal((TEST_SIZE, WIDTH))
    ways: dict[str, WithTorch | WithNumPy] = {"NumPy": WithNumPy(draw, draw.inputs[0], tests)}
    missing = {}
    if torch := installed("torch"):
        ways["PyTorch"] = WithTorch(torch, draw, draw.inputs[0], tests)
    else:
        missing["PyTorch"] = "pip install torch"
    ours = Draw(draw.weights, draw.target)
    expected = descend(ours, Fixed(SYMMETRIC), steps=steps).test_loss[0, -1]
    losses = {name: exact_loss(way.run(SYMMETRIC, steps), draw.target[0]) for name, way in ways.items()}
    errors = {f"{name}, float32": abs(loss / expected - 1) for name, loss in losses.items()}
    assert max(errors.values()) < 1e-4, "not the same run: the comparison would be void"

    schedules = [Fixed(rates) for rates in RATES]
    one, curve, drawing = ({}, {}, {})
    one["limes, float64"] = partial(descend, ours, Fixed(SYMMETRIC), steps=steps)
    curve["limes, float64"] = partial(sweep, ours, schedules, steps=steps)
    drawing["limes, float64"] = lambda: network.sample(np.random.default_rng(1))
    for name, way in ways.items():
        one[f"{name}, float32"] = partial(way.run, SYMMETRIC, steps)
        curve[f"{name}, float32"] = lambda way=way: [way.run(rates, steps) for rates in RATES]
        drawing[f"{name}, float32"] = way.draw
    case = f"two layers, width {WIDTH}, {steps} steps"
    bench(f"one run: {case}", one, errors=errors, missing=missing, clock=time.process_time)
    bench(f"a curve of {len(RATES)} rates: {case}", curve, missing=missing, clock=time.process_time)
    if steps == 1:
        bench(f"drawing two layers, width {WIDTH}", drawing, missing=missing, clock=time.process_time)


@pytest.mark.parametrize("steps", [2, 64])
@pytest.mark.parametrize("layers", [2, 3])
def test_reduced_beside_the_matrices(bench, layers: int, steps: int) -> None:
    network, rng = LinearNetwork(width=WIDTH, layers=layers), np.random.default_rng(0)
    kind = TwoLayers if layers == 2 else ThreeLayers
    schedule = Fixed(SYMMETRIC if layers == 2 else (20.0, 20.0))
    draw = network.sample(rng)
    theirs, ours = (descend(task, schedule, steps=2).test_loss for task in (draw, kind.of(draw)))
    assert np.allclose(ours, theirs, rtol=1e-10), "not the same run: the comparison would be void"
    many = kind.sample(rng, WIDTH, BATCH)
    running = {
        "limes, reduced": partial(descend, many, schedule, steps=steps),
        "limes, matrices": partial(descend, draw, schedule, steps=steps),
    }
    drawing = {
        "limes, reduced": lambda: kind.sample(rng, WIDTH, BATCH),
        "limes, matrices": lambda: network.sample(rng),
    }
    options = {"per": {"limes, reduced": BATCH}, "clock": time.process_time}
    bench(f"a run: {layers} layers, width {WIDTH}, {steps} steps", running, **options)
    if steps == 2:
        bench(f"drawing {layers} layers, width {WIDTH}", drawing, **options)


@pytest.mark.parametrize("steps", [2, 64])
def test_expected_loss_without_sampling(bench, steps: int) -> None:
    run = partial(descend, TwoLayers.expectation(WIDTH), Fixed(SYMMETRIC), steps=steps)
    bench(f"expected loss: two layers, width {WIDTH}, {steps} steps", {"limes": run}, clock=time.process_time)
