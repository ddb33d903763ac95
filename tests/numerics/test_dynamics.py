"""Flow and descent against matrix exponentials, loops, and a Gaussian process; singular kernels; bad input."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.linalg import expm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from numerics import kernels
from numerics.dynamics import (
    ConditioningWarning,
    DivergenceWarning,
    Stability,
    descend,
    distribution,
    predict,
)
from numerics.kernel_modes import OutsideRangeWarning
from theory.errors import InvalidInput
from theory.loss import Loss

TRAINING, TEST = 6, 3
ALARM = 1e-9  # false alarms per sampled test


def tangent(points: int = TRAINING + TEST, seed: int = 0) -> np.ndarray:
    return kernels.ntk(np.random.default_rng(seed).normal(size=(points, 3)), depth=2)


def begin(outputs: tuple[int, ...] = (), seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(TRAINING + TEST, *outputs))


def labels(outputs: tuple[int, ...] = ()) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(TRAINING, *outputs))


def split(outputs: tuple[int, ...] = ()) -> tuple[np.ndarray, np.ndarray, dict]:
    """The arguments of one problem."""
    kernel, start = tangent(), begin(outputs)
    given = {"f0": start[:TRAINING], "kernel_test": kernel[TRAINING:, :TRAINING], "f0_test": start[TRAINING:]}
    return kernel[:TRAINING, :TRAINING], labels(outputs), given


def exponential(outputs: tuple[int, ...], scaled_time: float) -> np.ndarray:
    """All outputs at `c t`, from the generator of the linear system of training and test points."""
    generator = np.zeros((TRAINING + TEST, TRAINING + TEST))
    generator[:, :TRAINING] = -tangent()[:, :TRAINING]
    shift = np.concatenate([labels(outputs), np.zeros((TEST, *outputs))])
    return expm(scaled_time * generator) @ (begin(outputs) - shift) + shift


def both(found, time=...) -> np.ndarray:
    return np.concatenate([found.train[time], found.test[time]])


# --- the flow ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [(), (2,)], ids=["one output", "two outputs"])
@pytest.mark.parametrize("loss", Loss)
def test_the_flow_is_the_exponential_of_its_generator(loss, outputs):
    kernel, y, given = split(outputs)
    times = [0.01, 0.5, 8.0]
    found = predict(kernel, y, times, loss=loss, **given)
    for i, time in enumerate(times):
        expected = exponential(outputs, time * float(loss.rate(TRAINING)))
        np.testing.assert_allclose(both(found, i), expected, rtol=0, atol=1e-12)
        minimised = float(loss.factor(TRAINING)) * ((expected[:TRAINING] - y) ** 2).sum()
        assert found.training_loss[i] == pytest.approx(minimised, rel=1e-10)


def test_shapes_follow_time_and_labels():
    kernel, y, given = split((2,))
    one, several = predict(kernel, y, 1, **given), predict(kernel, y, [1, 2], **given)
    assert one.train.shape == (TRAINING, 2)
    assert one.test is not None
    assert one.test.shape == (TEST, 2)
    assert one.training_loss.shape == one.digits_lost.shape == ()
    assert several.train.shape == (2, TRAINING, 2)
    assert several.training_loss.shape == (2,)
    np.testing.assert_array_equal(several.train[0], one.train)
    assert predict(kernel, y, 1).test is None


def test_at_time_zero_the_outputs_are_those_given_bit_by_bit():
    kernel, y, given = split()
    for found in (predict(kernel, y, 0.0, **given), descend(kernel, y, 0, 0.01, **given)):
        np.testing.assert_array_equal(both(found), begin())


def test_tiny_times_do_not_cancel():
    """From zero outputs, `f_t = c t Θ y (1 + O(ct λ))`, to the last digits."""
    kernel, y, given = split()
    found = predict(kernel, y, 1e-200, kernel_test=given["kernel_test"])
    np.testing.assert_allclose(found.train, 1e-200 * kernel @ y, rtol=1e-13)
    np.testing.assert_allclose(found.test, 1e-200 * given["kernel_test"] @ y, rtol=1e-13)


def test_the_end_is_kernel_regression():
    kernel, y, given = split()
    found = predict(kernel, y, math.inf, **given)
    np.testing.assert_allclose(found.train, y, atol=1e-13)
    expected = given["f0_test"] + given["kernel_test"] @ np.linalg.solve(kernel, y - given["f0"])
    np.testing.assert_allclose(found.test, expected, atol=1e-12)
    np.testing.assert_array_equal(both(predict(kernel, y, 1e300, **given)), both(found))


# --- descent ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("share", [0.3, 1.0, 1.7, 1.97])
def test_descent_is_its_loop(loss, share):
    kernel, y, given = split((2,))
    rate = share / (float(loss.rate(TRAINING)) * np.linalg.eigvalsh(kernel)[-1])
    counts = [0, 1, 2, 3, 40]
    found = descend(kernel, y, counts, rate, loss=loss, **given)
    every, outputs = tangent()[:, :TRAINING], begin((2,))
    for step in range(41):
        if step in counts:
            np.testing.assert_allclose(both(found, counts.index(step)), outputs, rtol=0, atol=1e-12)
        outputs = outputs - rate * float(loss.rate(TRAINING)) * every @ (outputs[:TRAINING] - y)
    assert found.stability is Stability.CONVERGES
    assert found.threshold == pytest.approx(2 * rate / share, rel=1e-12)


def test_descent_ends_where_the_flow_ends_and_is_ahead_before():
    kernel, y, given = split()
    rate = 0.5 / np.linalg.eigvalsh(kernel)[-1]
    np.testing.assert_allclose(
        both(descend(kernel, y, 10**15, rate, **given)), both(predict(kernel, y, math.inf, **given)), atol=1e-12
    )
    losses = descend(kernel, y, 20, rate, **given).training_loss, predict(kernel, y, 20 * rate, **given).training_loss
    assert losses[0] < losses[1]


def test_one_step_at_the_inverse_eigenvalue_is_exact():
    found = descend(np.eye(3), np.arange(3.0), [1, 2, 10**9], 1.0)
    np.testing.assert_array_equal(found.train, np.tile(np.arange(3.0), (3, 1)))
    np.testing.assert_array_equal(found.training_loss, np.zeros(3))


def test_at_the_threshold_it_oscillates_for_ever():
    kernel = np.diag([4.0, 1.0])
    with pytest.warns(DivergenceWarning, match="keeps its size") as caught:
        found = descend(kernel, [1.0, 1.0], [1, 2, 10**15, 10**15 + 1], 0.5)
    assert found.stability is Stability.OSCILLATES
    np.testing.assert_allclose(found.train[:, 0], [2, 0, 0, 2], atol=1e-15)
    assert caught[0].message.threshold == found.threshold == 0.5
    assert caught[0].filename == __file__
    rate = descend(tangent(), np.ones(TRAINING + TEST), 0, 1e-3).threshold
    with pytest.warns(DivergenceWarning):
        assert descend(tangent(), np.ones(TRAINING + TEST), 7, rate).stability is Stability.OSCILLATES


def test_above_the_threshold_it_diverges_and_says_so():
    with pytest.warns(DivergenceWarning, match="grows without bound") as caught:
        found = descend(np.diag([1.0, 0.5]), [1.0, 1.0], [1, 2, 10_000], 2.5, kernel_test=[[1.0, 0.0]])
    assert len(caught) == 1  # and nothing about digits
    assert found.stability is Stability.DIVERGES
    np.testing.assert_allclose(found.train[:2, 0], [2.5, -1.25])
    assert np.isposinf(found.train[2]).all()
    assert found.test is not None
    assert np.isposinf(found.test[2]).all()
    assert np.isposinf(found.training_loss[2])


# --- singular and nearly singular kernels -----------------------------------------------------------------------------


def duplicates() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The kernel of three points, two of them equal, with different labels there; a start; a test row."""
    points = np.array([[1.0, 0.0], [1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    whole = kernels.ntk(points, depth=1)
    return whole[:3, :3], np.array([1.0, -2.0, 0.5]), np.array([0.25, -0.125, 1.0]), whole[3:, :3]


@pytest.mark.parametrize(
    "run",
    [
        lambda *problem, **given: predict(*problem, [1.0, 1e5, 1e300, math.inf], **given),
        lambda *problem, **given: descend(*problem, [1, 10**5, 10**12, 2**61], 0.2, **given),
    ],
    ids=["flow", "descent"],
)
def test_duplicates_with_different_labels_end_in_a_projection(run):
    """Outputs at equal points keep their difference, whatever the labels; their mean is learnt."""
    kernel, y, f0, row = duplicates()
    given = {"f0": f0, "kernel_test": row, "f0_test": [0.5]}
    with pytest.warns(ConditioningWarning, match="1 modes cannot be told from null") as caught:
        found = run(kernel, y, **given)
    assert caught[0].message.condition == found.condition == math.inf
    np.testing.assert_allclose(found.train[1:], np.tile([-0.3125, -0.6875, 0.5], (3, 1)), atol=1e-10)
    projected = 0.5 + row @ np.linalg.pinv(kernel) @ (y - f0)
    np.testing.assert_allclose(found.test[1:, 0], np.tile(projected, 3), atol=1e-10)
    np.testing.assert_allclose(found.training_loss[1:], (1.3125**2 + 1.3125**2) / 2, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::numerics.dynamics.ConditioningWarning")
def test_near_duplicates_lose_no_monotonicity_and_give_no_nan():
    rng = np.random.default_rng(4)
    points = rng.normal(size=(1, 5)) + 1e-7 * rng.normal(size=(303, 5))
    whole = kernels.ntk(points, depth=3)
    times = np.concatenate([[0.0], np.geomspace(1e-300, 1e300, 120), [math.inf]])
    found = predict(whole[:300, :300], rng.normal(size=300), times, kernel_test=whole[300:, :300])
    assert found.condition > 1e8
    for part in (found.train, found.test, found.training_loss):
        assert np.isfinite(part).all()
    assert (np.diff(found.training_loss) <= 0).all()


def test_a_nearly_null_mode_is_followed_while_that_can_be_told():
    """Different labels at points so close that their kernel, `1 − 2⁻⁶⁰`, is 1 in float64: early times are right."""
    found = predict(np.ones((2, 2)), [1.0, -1.0], 1e-3, kernel_test=[[0.5, 0.5 - 2.0**-32]])
    assert found.test is not None
    assert found.test[0] == pytest.approx(1e-3 * 2.0**-32, rel=1e-12)  # c t θ (y_1 − y_2)/√2, far from saturated


def test_the_warning_comes_only_where_digits_are_lost():
    kernel = np.diag([1.0, 1e-12])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict(kernel, [1.0, 1.0], [0.0, 1.0, 1e3])
    with pytest.warns(ConditioningWarning) as caught:
        found = predict(kernel, [1.0, 1.0], [1.0, math.inf])
    assert caught[0].message.digits_lost == pytest.approx(12, abs=0.01) == found.digits_lost[1]
    assert found.condition == pytest.approx(1e12)
    assert caught[0].filename == __file__


def test_a_row_outside_the_range_is_named():
    kernel, y, _, row = duplicates()
    row[0, :2] += [0.1, -0.1]
    with pytest.warns(OutsideRangeWarning, match=r"kernel_test\[0\] lies outside") as caught:
        found = predict(kernel, y, 1e-3, kernel_test=row)
    assert np.isfinite(found.test).all()
    assert caught[0].filename == __file__


def test_a_zero_kernel_never_moves():
    found = predict(np.zeros((2, 2)), [1.0, 2.0], [0.0, math.inf], kernel_test=[[0.0, 0.0]])
    np.testing.assert_array_equal(found.train, np.zeros((2, 2)))
    np.testing.assert_array_equal(found.test, np.zeros((2, 1)))


# --- the law over initialisations -------------------------------------------------------------------------------------


def law_arguments(prior: np.ndarray) -> dict:
    return {
        "kernel_test": tangent()[TRAINING:, :TRAINING],
        "nngp_test": prior[TRAINING:, :TRAINING],
        "nngp_test_test": prior[TRAINING:, TRAINING:],
    }


@pytest.mark.parametrize("time", [0.0, 0.4, math.inf])
def test_the_law_is_that_of_the_linear_map_of_the_start(time):
    """`f_t = M f_0 + b`, with `M` and `b` from `predict` on unit vectors: the covariance is `M K Mᵀ`."""
    prior = kernels.nngp(np.random.default_rng(0).normal(size=(TRAINING + TEST, 3)), depth=2)
    kernel, y, _ = split()
    law = distribution(kernel, prior[:TRAINING, :TRAINING], y, time, loss=Loss.MEAN, **law_arguments(prior))
    unit = np.eye(TRAINING + TEST)
    moved = predict(
        kernel,
        np.tile(y[:, None], TRAINING + TEST),
        time,
        f0=unit[:TRAINING],
        f0_test=unit[TRAINING:],
        kernel_test=tangent()[TRAINING:, :TRAINING],
        loss=Loss.MEAN,
    )
    mean = predict(kernel, y, time, kernel_test=tangent()[TRAINING:, :TRAINING], loss=Loss.MEAN)
    linear = both(moved) - both(mean)[:, None]
    expected = linear @ prior @ linear.T
    np.testing.assert_allclose(law.covariance, expected[:TRAINING, :TRAINING], atol=1e-11)
    np.testing.assert_allclose(law.covariance_test, expected[TRAINING:, TRAINING:], atol=1e-11)
    np.testing.assert_allclose(np.concatenate([law.mean, law.mean_test]), both(mean), atol=1e-14)


def test_training_the_last_layer_ends_in_a_gaussian_process():
    points = np.random.default_rng(5).normal(size=(TRAINING + TEST, 2))
    whole = RBF(1.0)(points)
    inside, across, beyond = whole[:TRAINING, :TRAINING], whole[TRAINING:, :TRAINING], whole[TRAINING:, TRAINING:]
    law = distribution(inside, inside, labels(), math.inf, kernel_test=across, nngp_test=across, nngp_test_test=beyond)
    process = GaussianProcessRegressor(RBF(1.0), alpha=1e-14, optimizer=None).fit(points[:TRAINING], labels())
    mean, covariance = process.predict(points[TRAINING:], return_cov=True)
    np.testing.assert_allclose(law.mean_test, mean, atol=1e-8)
    np.testing.assert_allclose(law.covariance_test, covariance, atol=1e-8)
    np.testing.assert_allclose(law.covariance, np.zeros((TRAINING, TRAINING)), atol=1e-12)


def test_the_law_of_a_sampled_ensemble():
    """Means of 40,000 draws; 6.5 standard errors are exceeded with probability 1.6e-10 at most, 4 times < ALARM.

    (For the squares, which are χ² with one degree of freedom, the third cumulant makes the normal tail 1.9 times.)
    """
    prior = kernels.nngp(np.random.default_rng(0).normal(size=(TRAINING + TEST, 3)), depth=2)
    kernel, y, _ = split()
    law = distribution(kernel, prior[:TRAINING, :TRAINING], y, 0.5, **law_arguments(prior))
    draws = np.random.default_rng(6).multivariate_normal(np.zeros(len(prior)), prior, size=40_000, method="cholesky").T
    shift = np.concatenate([y, np.zeros(TEST)])[:, None]
    generator = np.zeros((TRAINING + TEST, TRAINING + TEST))
    generator[:, :TRAINING] = -tangent()[:, :TRAINING]
    sampled = expm(0.5 * generator) @ (draws - shift) + shift
    assert law.mean_test is not None
    assert law.covariance_test is not None
    for outputs, mean, spread in (
        (sampled[0], law.mean[0], law.covariance[0, 0]),
        (sampled[TRAINING], law.mean_test[0], law.covariance_test[0, 0]),
    ):
        centred = (outputs - mean) ** 2
        assert abs(outputs.mean() - mean) < 6.5 * math.sqrt(spread / 40_000)
        assert abs(centred.mean() - spread) < 6.5 * spread * math.sqrt(2 / 40_000)


# --- bad input --------------------------------------------------------------------------------------------------------

EYE, ONES = np.eye(2), np.ones(2)
BAD = {
    "not symmetric": lambda: predict([[1.0, 0.5], [0.4, 1.0]], ONES, 1),
    "indefinite": lambda: predict([[1.0, 2.0], [2.0, 1.0]], ONES, 1),
    "not square": lambda: predict(np.ones((2, 3)), ONES, 1),
    "NaN in the kernel": lambda: predict([[1.0, math.nan], [math.nan, 1.0]], ONES, 1),
    "complex": lambda: predict(EYE * 1j, ONES, 1),
    "text": lambda: predict(EYE, ["a", "b"], 1),
    "ragged": lambda: predict([[1.0], [1.0, 2.0]], ONES, 1),
    "empty": lambda: predict(np.empty((0, 0)), np.empty(0), 1),
    "too few labels": lambda: predict(EYE, np.ones(3), 1),
    "labels of three axes": lambda: predict(EYE, np.ones((2, 1, 1)), 1),
    "an infinite label": lambda: predict(EYE, [1.0, math.inf], 1),
    "another start": lambda: predict(EYE, ONES, 1, f0=np.ones(3)),
    "test rows of another length": lambda: predict(EYE, ONES, 1, kernel_test=np.ones((1, 3))),
    "a test start without rows": lambda: predict(EYE, ONES, 1, f0_test=ONES),
    "a start without a test start": lambda: predict(EYE, ONES, 1, f0=ONES, kernel_test=EYE),
    "a negative time": lambda: predict(EYE, ONES, [1.0, -1.0]),
    "no time": lambda: predict(EYE, ONES, []),
    "a NaN time": lambda: predict(EYE, ONES, math.nan),
    "a matrix of times": lambda: predict(EYE, ONES, np.ones((2, 2))),
    "a word for a loss": lambda: predict(EYE, ONES, 1, loss="mean"),  # type: ignore[arg-type]
    "half a step": lambda: descend(EYE, ONES, 1.5, 0.1),
    "a float of steps": lambda: descend(EYE, ONES, [1.0, 2.0], 0.1),
    "True steps": lambda: descend(EYE, ONES, True, 0.1),
    "negative steps": lambda: descend(EYE, ONES, -1, 0.1),
    "too many steps": lambda: descend(EYE, ONES, 2**63 - 1, 0.1),
    "a negative rate": lambda: descend(EYE, ONES, 1, -0.1),
    "an infinite rate": lambda: descend(EYE, ONES, 1, math.inf),
    "several times of a law": lambda: distribution(EYE, EYE, ONES, [1.0, 2.0]),  # type: ignore[arg-type]
    "an indefinite prior": lambda: distribution(EYE, [[1.0, 2.0], [2.0, 1.0]], ONES, 1),
    "a prior of another size": lambda: distribution(EYE, np.eye(3), ONES, 1),
    "test points in part": lambda: distribution(EYE, EYE, ONES, 1, kernel_test=EYE),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_what_has_no_meaning_is_refused(call):
    with pytest.raises(InvalidInput):
        call()


def test_arguments_stay_as_they_are():
    kernel, y, given = split()
    copies = [array.copy() for array in (kernel, y, *given.values())]
    predict(kernel, y, [0.0, 1.0], **given)
    for array, copy in zip((kernel, y, *given.values()), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_entries_near_the_overflow():
    assert predict(1e308 * np.eye(2), [1.0, 0.0], math.inf).train.tolist() == [1.0, 0.0]
    with pytest.raises(InvalidInput, match="overflow"):
        predict(np.full((2, 2), 1e308), [1.0, 0.0], 1.0)


@pytest.mark.parametrize(("y", "f0"), [([1e200, 1.0], None), ([1e308, 0.0], [-1e308, 0.0]), ([0.0, 0.0], [1e155, 1.0])])
def test_residuals_that_overflow_are_refused(y, f0):
    for call in (
        lambda: predict(np.eye(2), y, [0.0, 1.0, math.inf], f0=f0),
        lambda: descend(np.eye(2), y, [0, 1], 0.5, f0=f0),
    ):
        with pytest.raises(InvalidInput, match=r"f0, y = .*overflow"):
            call()
    found = predict(np.eye(2), [1e150, -1e150], [0.0, math.inf])  # its loss does not
    assert found.train.tolist() == [[0, 0], [1e150, -1e150]]


def test_other_overflows_are_refused_by_the_name_of_what_is_too_large():
    with pytest.raises(InvalidInput, match="kernel_test"):
        predict(np.eye(2), [1e10, 1.0], 1.0, kernel_test=[[1e300, 1.0]])
    with pytest.raises(InvalidInput, match="nngp"):
        distribution([[1.0, 0.5], [0.5, 1.0]], np.full((2, 2), 1.7e308), [1.0, 0.0], 0.0)
