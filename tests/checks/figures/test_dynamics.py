"""Chapter 4: the curves against closed forms, and networks and draws where their means are known."""

import numpy as np
import pytest

from checks.plot import Kind, generator
from numerics import data, kernels

KAPPA = 1.2984256076


def test_modes_decay_by_their_eigenvalues(drawing, series, covered):
    """The bias of the means, of order 1/m, is far below the intervals, of order `(100 m)^(−1/2)`: m = 512."""
    X = data.sphere(generator("gradient-flow", 0), 3, 3)
    eigenvalues = np.linalg.eigvalsh(kernels.ntk(X, depth=1))[::-1]
    curves = [one for one in drawing("gradient-flow").chart.panels[0].series if one.kind is Kind.LINE]
    for eigenvalue, curve in zip(eigenvalues, curves, strict=True):
        assert curve.label == rf"$\lambda = {eigenvalue:.2f}$"
        assert curve.y == pytest.approx((1 - 0.05 * eigenvalue) ** np.arange(21))
        found = series("gradient-flow", 0, curve.label, Kind.POINTS)
        assert covered(found, [curve.y[int(x)] for x in found.x])
        assert not covered(found, (1 - 0.05 * 1.2 * eigenvalue) ** np.array(found.x))


def test_outputs_start_from_the_law_of_random_networks(series, covered):
    """For one hidden layer mean and variance at the start are those of the limit at every width."""
    for label, value in (("mean", 0), ("variance", 1)):
        curve, found = (series("gradient-flow", 1, label, kind) for kind in (Kind.LINE, Kind.POINTS))
        assert curve.y[0] == pytest.approx(value, abs=1e-12)
        assert covered(found, [curve.y[int(x)] for x in found.x])  # the bias of later ones is far below the intervals


def test_the_mean_prediction_is_that_of_the_kernel(series):
    X = data.sphere(generator("gradient-flow", 0), 3, 3)
    x = (X[:1] + X[2:]) / np.linalg.norm(X[0] + X[2])
    kernel, rows = kernels.ntk(X, depth=1), kernels.ntk(x, X, depth=1)
    outputs, new = np.zeros(3), 0.0
    for _ in range(20):
        residual = outputs - [1, -1, 1]
        outputs, new = outputs - 0.05 * kernel @ residual, new - 0.05 * float(rows[0] @ residual)
    assert series("gradient-flow", 1, "mean", Kind.LINE).y[-1] == pytest.approx(new)


def test_the_lag_of_relu_networks_is_the_derived_one(series, covered):
    curve, found = (series("linearised-network", 1, "ReLU", kind) for kind in (Kind.LINE, Kind.POINTS))
    width = np.array(found.x)
    beta = 0.5 * np.sqrt(2 / width)
    expected = np.sqrt(width) * np.sqrt(2 * width) / np.pi * (beta * np.arctan(beta) - beta**2 / 2)
    assert curve.y[0] == pytest.approx(expected[0])
    assert covered(found, expected)
    assert not covered(found, 0.8 * expected)


def test_smooth_networks_approach_their_linearisation_faster(series, follows):
    for label, exponent in (("tanh", -1), ("tanh, limit kernel", -1 / 2)):
        assert follows(series("linearised-network", 0, label, Kind.POINTS), exponent)


def test_the_flow_lies_between_ridge_and_kappa_times_ridge(series):
    flow, ridge, more = (
        series("early-stopping", 0, label, Kind.LINE) for label in ("flow", "ridge", r"$\kappa$ ridge")
    )
    assert all(low <= middle <= high + 1e-12 for low, middle, high in zip(ridge.y, flow.y, more.y, strict=True))
    assert max(series("early-stopping", 1, "flow", Kind.LINE).y) == pytest.approx(KAPPA, rel=1e-3)
    assert max(series("early-stopping", 1, "descent, 2 steps", Kind.LINE).y) == pytest.approx(25 / 16, rel=1e-3)


def test_the_risk_of_draws_is_that_of_the_modes(series, covered):
    """With signals drawn with the kernel and noise of variance 1, by the trace of the matrices of both errors."""
    from scipy.linalg import expm

    from checks.ledger.early_stopping import training_kernel

    kernel = training_kernel() / np.trace(training_kernel()) * 8
    matrices = {
        "flow": lambda time: np.eye(8) - expm(-time * kernel),
        "ridge": lambda time: kernel @ np.linalg.inv(kernel + np.eye(8) / time),
    }
    for label, filtered in matrices.items():
        curve, found = (series("early-stopping", 2, label, kind) for kind in (Kind.LINE, Kind.POINTS))
        assert curve.x[-1] == found.x[-1]
        expected = []
        for time in found.x:
            learnt = filtered(time)
            missed = np.eye(8) - learnt
            expected.append(np.trace(missed @ kernel @ missed.T + learnt @ learnt.T) / 8)
        assert covered(found, expected)
        assert (curve.y[0], curve.y[-1]) == pytest.approx((expected[0], expected[-1]))
