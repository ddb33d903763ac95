"""The law of the change of inner products: finite networks given their outputs, and what is known exactly."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from numerics import features, kernels
from numerics.data import sphere
from numerics.inner_products import _Law, _resolved, change, change_given, integrated_product, summed_product
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.orthant_moments import OrthantMoments
from numerics.trained_features import Trained, summed_residual, train_from_residual
from theory.errors import InvalidInput

POINTS = sphere(np.random.default_rng(11), 4, 3)
X = POINTS[:2]
RESIDUAL = np.array([2.0, -3.0])


def trained(depth: int, width: int, count: int, method: GradientDescent, seed: int = 5) -> Trained:
    network = MLP.of_depth(3, width=width, depth=depth)
    rng = np.random.default_rng(seed)
    return train_from_residual(network, rng, count, X, RESIDUAL, method, X_test=POINTS[2:])


def test_integrated_product_against_steps() -> None:
    kernel = kernels.ntk(X, depth=1)
    fine, coarse = (summed_product(kernel, RESIDUAL, 1.5 / steps, steps) for steps in (20_000, 10_000))
    found = integrated_product(kernel, RESIDUAL, 1.5)
    assert 2 * fine[1] - coarse[1] == pytest.approx(found, rel=1e-6)
    q = features.integrated_residual(kernel, RESIDUAL, 1.5)
    assert 2 * fine[0] - coarse[0] == pytest.approx(q, rel=1e-6)
    assert found + found.T == pytest.approx(np.outer(q, q))


def test_sums_of_gradient_descent() -> None:
    kernel, method = kernels.ntk(X, depth=2), GradientDescent(0.15, steps=6)
    q, products = summed_product(kernel, RESIDUAL, method.learning_rate, method.steps)
    assert q == pytest.approx(summed_residual(kernel, RESIDUAL, method))
    residuals = [np.linalg.matrix_power(np.eye(2) - 0.15 * kernel, step) @ RESIDUAL for step in range(6)]
    later = sum(np.outer(residuals[s], residuals[r]) for s in range(6) for r in range(s))
    assert products == pytest.approx(0.15**2 * later)


@pytest.mark.parametrize(("depth", "width", "count"), [(1, 1024, 400), (2, 192, 400), (3, 96, 400)])
def test_networks_given_their_outputs(depth: int, width: int, count: int) -> None:
    """The standardised change has the mean 0 and the variance 1, up to the order `m^(−1/2)` and `L/m`."""
    method = GradientDescent(0.1, steps=8)
    run = trained(depth, width, count, method)
    q, products = summed_product(kernels.ntk(X, depth=depth), RESIDUAL, method.learning_rate, method.steps)
    law = change_given(X, q, products, run.outputs, POINTS[2:], depth=depth)
    pairs = np.triu_indices(2)
    scores = ((run.change[:, 2:, 2:] - law.mean) / np.sqrt(law.variance))[:, *pairs]
    assert (np.abs(scores.mean(axis=0)) < 5.5 / count**0.5 + 0.15).all()  # three means: a false alarm in ten million
    assert (np.abs(scores.var(axis=0) - 1) < 5.5 * (2 / count) ** 0.5 + 0.15 * depth).all()
    alone = features.deviation_given(X, q, POINTS[2:], depth=depth)
    forgotten = ((law.mean - alone).mean(axis=0) / np.sqrt(law.variance.mean(axis=0)))[pairs]
    assert np.abs(forgotten).max() > 0.45  # what the means would miss


def test_one_training_point_at_itself_is_what_the_output_says() -> None:
    """There `d‖h‖²/dt = 2⟨h, ḣ⟩ = −2 r f`, at every width, with `r = r_0 e^{−2t}` and `f = r + y` in the limit."""
    x = np.eye(3)[:1]
    for f0, y in ((0.0, 1.0), (1.5, -0.5)):
        law = change(x, [y], [f0], x)
        assert law.variance == pytest.approx(0, abs=1e-12)
        assert law.mean[0, 0] == pytest.approx(-2 * ((f0 - y) ** 2 / 4 + (f0 - y) / 2 * y), rel=1e-12)


def test_what_the_edges_at_training_points_leave_out() -> None:
    """Where one residual keeps its direction, and the drives of the two sides of an edge meet: the module's formula."""
    residual, method, count = np.array([2.0, -2.0]), GradientDescent(0.05, steps=20), 1000
    pair = np.array([[1.0, 0.0, 0.0], [0.5, np.sqrt(0.75), 0.0]])
    run = train_from_residual(MLP(3, (512,)), np.random.default_rng(6), count, pair, residual, method, X_test=pair[:1])
    q, products = summed_product(kernels.ntk(pair, depth=1), residual, method.learning_rate, method.steps)
    law = change_given(pair, q, products, run.outputs, pair, depth=1)
    above, below = q[0] + 0.5 * q[1], 0.5 * q[1]  # by √(2/m) v, where the other point drives the unit
    moments = OrthantMoments.of(1 - pair @ pair.T)
    missing = -above * below / 2 * moments.edge(np.array([0]), np.array([1]), np.array([[1]]))[0]
    assert missing <= np.square(q[0]) * np.sqrt(0.75) / (16 * np.pi) + 1e-12
    apart = (run.change[:, 0, 1] - law.mean[:, 0, 1]).mean()
    error = np.sqrt(law.variance[0, 0, 1] / count)
    assert apart == pytest.approx(2 * missing, abs=5 * error + 0.01)


def test_batches_and_symmetry() -> None:
    f0 = np.random.default_rng(3).normal(size=(5, 2))
    law = change(X, [1.0, 2.0], f0, POINTS, t=0.8, depth=2)
    assert law.mean.shape == law.variance.shape == (5, 4, 4)
    assert law.mean == pytest.approx(law.mean.swapaxes(1, 2))
    single = change(X, [1.0, 2.0], f0[3], POINTS, t=0.8, depth=2)
    assert single.mean == pytest.approx(law.mean[3])
    assert single.variance == pytest.approx(law.variance[3])
    assert not change(X, [1.0, 2.0], f0, POINTS, t=0.0).mean.any()


def test_points_in_a_plane_are_a_limit() -> None:
    turns = np.array([0.0, 0.5, 1.1, 2.3])
    plane = np.column_stack([np.cos(turns), np.sin(turns), 0 * turns])
    near = plane + 1e-4 * np.array([[0, 0, 1]]) * np.array([[0], [1], [-1], [0.5]])
    near /= np.linalg.norm(near, axis=1)[:, None]
    flat, lifted = (change(x[:2], [1.0, 2.0], [0.5, -1.0], x, depth=2) for x in (plane, near))
    assert lifted.mean == pytest.approx(flat.mean, rel=1e-3, abs=1e-3)
    assert lifted.variance == pytest.approx(flat.variance, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (2 * POINTS, "unit sphere"),
        (np.concatenate([POINTS, -POINTS[:1]]), "opposite"),
        (POINTS[:, :2], "dimension"),
    ],
)
def test_bad_points_are_refused(points: np.ndarray, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        change(X, [0.0, 0.0], [1.0, 1.0], points)


def close(apart: float, dimension: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Two training points at this distance, and three others."""
    points = sphere(np.random.default_rng(4), 6, dimension)
    pair = np.array([points[0], points[0] + apart * points[1]])
    return pair / np.linalg.norm(pair, axis=1)[:, None], points[2:5]


@pytest.mark.parametrize("depth", [1, 2])
def test_close_training_points_with_unlike_residuals(depth: int) -> None:
    """The change grows like one over the distance; what is left of it is known from twice and half the distance."""
    scaled = []
    for apart in (2e-3, 1e-3, 5e-4):
        pair, points = close(apart)
        law = change(pair, [1.0, -2.0], [0.3, 0.4], points, depth=depth)
        scaled.append(apart * np.stack([law.mean, law.variance]))
    assert scaled[1] == pytest.approx((2 * scaled[0] + 4 * scaled[2]) / 6, rel=2e-3)
    assert np.abs(scaled[1][0]).min() > 1e-3


def test_a_turned_problem_has_the_same_law() -> None:
    pair, points = close(1e-3)
    turn = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
    laws = [
        change(x / np.linalg.norm(x, axis=1)[:, None], [1.0, -2.0], [0.3, 0.4], z / np.linalg.norm(z, axis=1)[:, None])
        for x, z in ((pair, points), (pair @ turn, points @ turn))
    ]
    assert laws[0].mean == pytest.approx(laws[1].mean, rel=1e-5)
    assert laws[0].variance == pytest.approx(laws[1].variance, rel=1e-5)


@pytest.mark.parametrize("apart", [1e-5, 3e-6])
@pytest.mark.parametrize("dimension", [3, 5])
def test_points_too_close_for_their_residuals_are_refused(apart: float, dimension: int) -> None:
    pair, points = close(apart, dimension)
    with pytest.raises(InvalidInput, match=r"(?s)X_train\[0\], X_train\[1\] = .* from equal or opposite"):
        change(pair, [1.0, -2.0], [0.3, 0.4], points)


def test_no_change_at_points_without_common_units() -> None:
    """All is zero but for rounding, which is not refused: no unit is on at both points and at a training point."""
    turns = np.radians([-139.3, -154.4, -47.9, 53.2])
    points = np.column_stack([np.cos(turns), np.sin(turns)])
    law = change(points[:2], [0.3, -0.8], [0.0, 0.0], points[2:])
    assert abs(law.mean[0, 1]) + law.variance[0, 1] < 1e-14


def test_nearly_opposite_points_in_a_plane_are_a_limit() -> None:
    turns = np.array([2.848, 2.7644, 2.7644 - np.pi, 0.5278])
    laws = []
    for apart in (2.5e-4, 1.2e-5):
        at = turns + np.array([0, 0, apart, 0])
        points = np.column_stack([np.cos(at), np.sin(at)])
        laws.append(change(points[:2], [0.3, -0.8], [0.0, 0.0], points[2:]))
    assert laws[0].mean == pytest.approx(laws[1].mean, abs=2e-2)
    assert np.diag(laws[0].variance) == pytest.approx(np.diag(laws[1].variance), abs=2e-2)
    assert laws[0].variance[0, 1] / 2.5e-4 == pytest.approx(laws[1].variance[0, 1] / 1.2e-5, rel=1e-2)


def test_close_points_that_pull_alike_are_one() -> None:
    """Its output is given, and now that it does not slope towards the second: that can only lessen the variance."""
    pair, points = close(1e-5)
    law = change_given(pair, [0.5, 0.5], np.full((2, 2), 0.125), [0.3, 0.3], points)
    merged = change_given(pair[:1], [1.0], [[0.5]], [0.3], points)
    assert law.mean == pytest.approx(merged.mean, abs=1e-4)
    assert (np.diag(law.variance) < np.diag(merged.variance) + 1e-4).all()


def test_rounding_that_makes_a_variance_negative_is_refused() -> None:
    one = np.ones((1, 1, 1))
    with pytest.raises(InvalidInput, match="fewer than four digits"):
        _resolved(lambda _: _Law(one, -one, one), X, [0], 2, "q")


def test_a_test_point_that_is_a_training_point_up_to_rounding() -> None:
    moved = X[:1].copy()
    moved[0, 0] = np.nextafter(moved[0, 0], 2.0)
    found, own = (change(X, [0.0, 1.0], [1.0, 1.0], np.concatenate([x, POINTS[3:]])) for x in (moved, X[:1]))
    assert np.array_equal(found.mean, own.mean)
    assert np.array_equal(found.variance, own.variance)


@pytest.mark.parametrize("rates", [(1.0, 1.0), (2.0, 0.3), (1.0, 1e-9), (1e-9, 3e-10)])
@pytest.mark.parametrize("t", [1e-18, 1e-14, 1e-6, 0.1, 0.6, 3.0, 1e3, math.inf])
def test_integrated_product_at_all_times(rates: tuple[float, float], t: float) -> None:
    """`∫₀ᵗ e^{−as} (1 − e^{−bs})/b ds` in fifty digits and more."""
    found = integrated_product(np.diag(rates), np.ones(2), t)
    with mpmath.workdps(90):
        decay = [[mpmath.exp(-mpmath.mpf(x) * t) for x in (a, a + mpmath.mpf(b))] for a in rates for b in rates]
        pairs = [(mpmath.mpf(a), mpmath.mpf(b)) for a in rates for b in rates]
        exact = [((1 - one) / a - (1 - two) / (a + b)) / b for (a, b), (one, two) in zip(pairs, decay, strict=True)]
    assert found.ravel() == pytest.approx([float(value) for value in exact], rel=2e-14, abs=0)


def test_integrated_product_leaves_null_directions_out() -> None:
    found = integrated_product(np.diag([2.0, 0.0]), np.array([1.0, 1.0]), math.inf)
    assert found == pytest.approx(np.diag([1 / 8, 0.0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: change(X, np.ones((2, 2)), np.ones((3, 2)), POINTS), "f0, y = .*rows"),
        (lambda: change(X, [0.0, 0.0], [[1.0, 2.0], [1.0]], POINTS), "f0 = .*lengths"),
        (lambda: change(X, [0.0, 0.0], np.ones((0, 2)), POINTS), "f0 = "),
        (lambda: change(X, [0.0, math.nan], [1.0, 1.0], POINTS), "y = .*finite"),
        (lambda: change(X, [1e200, 1.0], [0.0, 0.0], POINTS), "y, f0 = .*overflow"),
        (lambda: change(X, [-1.7e308, 1.0], [1.7e308, 0.0], POINTS), "y, f0 = .*overflow"),
        (lambda: change(X, [1.0, 1.0], [0.0, 0.0], POINTS, depth=10**6), "depth = 1000000: give at most 10000"),
        (lambda: change(X, [1.0, 1.0], [0.0, 0.0], POINTS, t=math.nan), "t = nan"),
        (lambda: change_given(X, [1.0, 1.0], np.ones((0, 2)), [0.0, 0.0], POINTS), "products = "),
        (lambda: change_given(X, [1.0, 1.0], [[1.0], [1.0, 2.0]], [0.0, 0.0], POINTS), "products = .*lengths"),
        (lambda: change_given(X, [1e200, 1.0], np.eye(2), [0.0, 0.0], POINTS), "q, products, f0 = .*overflow"),
        (lambda: change_given(X, [1.0, 1.0], np.eye(2), [0.0, 0.0], POINTS, depth=10**6), "depth = 1000000"),
        (lambda: summed_product(np.eye(2), np.ones(2), math.nan, 3), "learning_rate = nan"),
        (lambda: summed_product(np.eye(2), np.ones(2), 0.1, -1), "steps = -1"),
        (lambda: summed_product(np.eye(2), np.ones(3), 0.1, 1), "kernel = "),
        (lambda: summed_product(np.eye(2), np.ones((1, 2)), 0.1, 1), "residual = "),
        (lambda: summed_product(np.eye(2), np.ones(2), 1e10, 100), "overflow"),
        (lambda: integrated_product(np.eye(2), np.ones(3), 1.0), "kernel = "),
        (lambda: integrated_product(-np.eye(2), np.ones(2), 1.0), "eigenvalue -1"),
        (lambda: integrated_product(np.eye(2), np.array([1e200, 1.0]), 1.0), "overflow"),
        (lambda: integrated_product(np.eye(2), np.array([math.nan, 1.0]), 1.0), "residual = "),
        (lambda: integrated_product(np.eye(2), np.ones(2), math.nan), "t = nan"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput, match=f"(?s){message}"):
        call()


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(InvalidInput, match="t = -1"):
        change(X, [0.0, 0.0], [1.0, 1.0], POINTS, t=-1)
    with pytest.raises(InvalidInput, match="f0"):
        change(X, [0.0, 0.0], [1.0], POINTS)
    with pytest.raises(InvalidInput, match="X_train"):
        change(X[[0, 0]], [0.0, 0.0], [1.0, 1.0], POINTS)
    with pytest.raises(InvalidInput, match="depth"):
        change(X, [0.0, 0.0], [1.0, 1.0], POINTS, depth=0)
    with pytest.raises(InvalidInput, match="products"):
        change_given(X, [1.0, 1.0], np.eye(3), [1.0, 1.0], POINTS)
    with pytest.raises(InvalidInput, match="q = "):
        change_given(X, [1.0], np.eye(2), [1.0, 1.0], POINTS)
