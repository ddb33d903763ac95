"""Orders of random tensors get the verdict recorded, and each rule can be found wrong."""

from functools import partial

import numpy as np
import pytest

from checks import Level, Standing, Verdict, verify
from checks.ledger import orders

MAKE_WRONG = [
    partial(orders.product_rule, change=lambda a, b: 1.001 * a * b),
    partial(orders.product_rule, change=lambda a, b: 0.999 * a * b),
    partial(orders.sum_rule, change=max),
    partial(orders.contraction_rule, indices=2),
]


def test_the_verdict_is_the_one_recorded():
    (result,) = verify(orders.CLAIMS, level=Level.QUICK, jobs=1).claims
    assert result.verdict is result.claim.expected is Verdict.CORRECTED
    assert not any(item.finding.mutants.survived for item in result.evidence)
    refuted = [item.part for item in result.evidence if item.finding.standing is Standing.FAILS]
    assert refuted == ["every sequence has a definite bound"]


@pytest.mark.parametrize("trial", MAKE_WRONG)
def test_a_small_error_of_a_rule_is_caught(trial):
    assert any(trial(np.random.default_rng(seed)) for seed in range(20))
    assert not any(trial.func(np.random.default_rng(seed)) for seed in range(20))
