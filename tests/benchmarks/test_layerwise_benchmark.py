"""The simulators of linear networks side by side, in one run; times are printed, never asserted.

    pip install torch                # optional: without it the authors' products are done by NumPy
    pytest -m benchmark -s tests/benchmarks/test_layerwise_benchmark.py

"The authors' way" are the steps of their scripts at their size, `d = h = n = 1000`: float32, `X W₁ W₂ I` from the left,
the gradient by automatic differentiation, the test loss on 500 inputs. A curve is 19 pairs of rates from one draw. All
run on one thread, and times are CPU times, so that other processes disturb them less.
"""

import math
import statistics
import time
from collections.abc import Callable
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
def on_demand(request: pytest.FixtureRequest):
    if "benchmark" not in request.config.getoption("markexpr"):
        pytest.skip("measures times: run it with -m benchmark")
    with threadpool_limits(limits=1):
        yield


def seconds(repeats: int, contestants: dict[str, Callable[[], object]], per: int = 1) -> dict[str, float]:
    """The shortest CPU time of each contestant, who take turns, over `per`, the number of runs it makes at once."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            start = time.process_time()
            run()
            times[name].append((time.process_time() - start) / per)
    for name, measured in times.items():
        print(f"  {name:<36}{min(measured) * 1e3:>12.4f} ms{statistics.median(measured) * 1e3:>12.4f} ms")
    return {name: min(measured) for name, measured in times.items()}


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
def test_matrices_beside_the_authors_way(steps: int) -> None:
    network, rng = LinearNetwork(width=WIDTH), np.random.default_rng(0)
    draw = network.sample(rng, keep_inputs=True)
    assert draw.inputs is not None
    tests = rng.standard_normal((TEST_SIZE, WIDTH))
    contestants: dict[str, WithTorch | WithNumPy] = {"NumPy": WithNumPy(draw, draw.inputs[0], tests)}
    try:
        import torch  # type: ignore[import-not-found]
    except ImportError:
        print("\nPyTorch is not installed")
    else:
        contestants["PyTorch"] = WithTorch(torch, draw, draw.inputs[0], tests)
    ours = Draw(draw.weights, draw.target)
    expected = descend(ours, Fixed(SYMMETRIC), steps=steps).test_loss[0, -1]
    for way in contestants.values():
        loss = exact_loss(way.run(SYMMETRIC, steps), draw.target[0])
        assert math.isclose(loss, expected, rel_tol=1e-4), "not the same run: the comparison would be void"

    print(f"\ntwo layers, width {WIDTH}, {steps} steps: shortest and median time")
    schedules = [Fixed(rates) for rates in RATES]
    one = {"one run: limes, float64": lambda: descend(ours, Fixed(SYMMETRIC), steps=steps)}
    curve = {"a curve: limes, float64": lambda: sweep(ours, schedules, steps=steps)}
    drawing = {"drawing: limes, float64": lambda: network.sample(np.random.default_rng(1))}
    for name, way in contestants.items():
        one[f"one run: {name}, float32"] = lambda way=way: way.run(SYMMETRIC, steps)
        curve[f"a curve: {name}, float32"] = lambda way=way: [way.run(rates, steps) for rates in RATES]
        drawing[f"drawing: {name}, float32"] = way.draw
    for repeats, lines in ((7, one), (2, curve), (3, drawing)):
        seconds(repeats, lines)


@pytest.mark.parametrize("layers", [2, 3])
def test_reduced_beside_the_matrices(layers: int) -> None:
    network, rng = LinearNetwork(width=WIDTH, layers=layers), np.random.default_rng(0)
    kind = TwoLayers if layers == 2 else ThreeLayers
    schedule = Fixed(SYMMETRIC if layers == 2 else (20.0, 20.0))
    draw = network.sample(rng)
    reduced = kind.of(draw)
    theirs, ours = (descend(task, schedule, steps=2).test_loss for task in (draw, reduced))
    assert np.allclose(ours, theirs, rtol=1e-10), "not the same run: the comparison would be void"
    for steps in (2, 64):
        print(f"\n{layers} layers, width {WIDTH}, {steps} steps: shortest and median time of a run")
        literal = seconds(
            5 if steps == 2 else 1,
            {
                "matrices": lambda steps=steps: descend(draw, schedule, steps=steps),
                "drawing matrices": lambda: network.sample(rng),
            },
        )
        many = kind.sample(rng, WIDTH, BATCH)
        own = seconds(
            10,
            {
                "reduced": lambda steps=steps, many=many: descend(many, schedule, steps=steps),
                "drawing reduced": lambda: kind.sample(rng, WIDTH, BATCH),
            },
            per=BATCH,
        )
        print(f"  ratio {literal['matrices'] / own['reduced']:.0f}; ", end="")
        print(f"drawing included {sum(literal.values()) / sum(own.values()):.0f}")


def test_expected_loss_without_sampling() -> None:
    expectation = TwoLayers.expectation(WIDTH)
    print(f"\nexpected loss of two layers, width {WIDTH}: shortest and median time")
    for steps in (2, 64):
        seconds(20, {f"{steps} steps": lambda steps=steps: descend(expectation, Fixed(SYMMETRIC), steps=steps)})
