"""The law over initialisations, against matrices that are written out, and a Gaussian process."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Symbol, Trace

from numerics.points import check_steps
from theory import ensembles
from theory.derivation import How
from theory.ensembles import MeanOfConstant, at_first, at_second, between, explained, twice
from theory.haar import mean

DERIVATIONS = {
    "mean": ensembles.mean_prediction,
    "covariance": ensembles.covariance,
    "posterior": ensembles.posterior_covariance,
}


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_every_step_is_proved(make):
    assert all(checked.outcome.proved for part in make().parts() for checked in check_steps(part))


def problem(seed: int = 0):
    """The rows of `f_0` at `x`, `x'` and `X` in a white vector, and `A`, `A'`."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=7), rng.normal(size=7), rng.normal(size=(4, 7)), rng.normal(size=4), rng.normal(size=4)


def test_the_covariance_is_that_of_the_linear_map_of_the_white_vector():
    a, a2, F, A, A2 = problem()
    expected = (a - A @ F) @ (a2 - A2 @ F)
    numbers = {between: a @ a2, at_first: A @ F @ a2, at_second: a @ F.T @ A2, twice: A @ F @ F.T @ A2}
    assert float(ensembles.covariance().conclusion.subs(numbers)) == pytest.approx(expected, rel=1e-12)


def test_the_last_layer_alone_ends_in_the_posterior():
    a, a2, F, *_ = problem()
    K = F @ F.T
    A, A2 = np.linalg.solve(K, F @ a), np.linalg.solve(K, F @ a2)
    expected = (a - A @ F) @ (a2 - A2 @ F)
    numbers = {between: a @ a2, explained: a @ F.T @ np.linalg.solve(K, F @ a2)}
    assert float(ensembles.posterior_covariance().conclusion.subs(numbers)) == pytest.approx(expected, rel=1e-10)


def test_the_reason_of_constants_refuses_what_is_random():
    reason, trace = MeanOfConstant(ensembles.z), Trace(ensembles.K)
    assert reason.check(mean(trace), trace).how is How.ALGEBRA
    assert not reason.check(mean(trace), 2 * trace).proved
    random = Trace(ensembles.z * ensembles.z.T)
    assert not reason.check(mean(random), random).proved
    assert not reason.check(Symbol("u"), Symbol("u")).proved
