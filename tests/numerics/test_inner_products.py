"""The law of the change of inner products: finite networks given their outputs, and what is known exactly."""

import numpy as np
import pytest

from numerics import features, kernels
from numerics.data import sphere
from numerics.inner_products import change, change_given, integrated_product, summed_product
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
