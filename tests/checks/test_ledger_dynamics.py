"""Gradient flow gets the verdict recorded; its evidence has oracles that are right and mutants that are caught."""

import numpy as np
import pytest

from checks import Level, verify
from checks.ledger import dynamics
from theory.loss import Loss


def test_the_verdict_is_the_one_recorded():
    (result,) = verify(dynamics.CLAIMS, level=Level.QUICK, jobs=1).claims
    assert result.verdict is result.claim.expected
    assert not any(item.finding.mutants.survived for item in result.evidence)


def test_the_matrix_exponential_takes_several_starts_at_once():
    rng = np.random.default_rng(0)
    features, y = rng.normal(size=(4, 5)), rng.normal(size=3)
    kernel, rows = features[:3] @ features[:3].T, features[3:] @ features[:3].T
    begin = rng.normal(size=(4, 2))
    both = dynamics.by_matrix_exponential(kernel, rows, y, begin, 0.3)
    for column in range(2):
        alone = dynamics.by_matrix_exponential(kernel, rows, y, begin[:, column], 0.3)
        np.testing.assert_allclose(both[:, column], alone, rtol=1e-13)
    small = 1e-6
    moved = dynamics.by_matrix_exponential(kernel, rows, y, begin[:, 0], small) - begin[:, 0]
    np.testing.assert_allclose(moved, -small * np.vstack([kernel, rows]) @ (begin[:3, 0] - y), rtol=1e-4)


@pytest.mark.parametrize("make_wrong", [{"slowed": 1.001}, {"forgotten": 0.001}])
def test_a_small_error_of_the_flow_is_caught(make_wrong):
    assert any(dynamics.flow_is(np.random.default_rng(seed), **make_wrong) for seed in range(10))


def test_singular_kernels_and_all_losses_are_tried():
    problems = [dynamics.random_problem(np.random.default_rng(seed)) for seed in range(100)]
    assert sum(features.shape[0] > features.shape[1] for features, *_ in problems) > 10
    assert {loss for *_, loss in problems} == set(Loss)
