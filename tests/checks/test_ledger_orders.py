"""Orders of random tensors get the verdict recorded, and each rule can be found wrong."""

from dataclasses import replace
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


@pytest.mark.parametrize(("kept", "standing"), [(0.0, Standing.HOLDS), (0.5, Standing.FAILS), (1.0, Standing.FAILS)])
def test_two_orders_that_cancel_are_told_from_two_that_do_not(kept, standing):
    """`|x|² − (1 − kept) n`, whose first term has the chi-squared law, is of order n if anything is kept."""
    (evidence,) = (item for item in orders.RULES["a sum has the larger order"] if item.name.startswith("|x|^2 - n"))

    def draw(rng, size, count):
        return np.abs(rng.chisquare(size, count) - (1 - kept) * size)

    wrong, level = replace(evidence, draw=draw), Level.STANDARD
    chunks = [wrong.sample(i, np.random.default_rng(i), level) for i in range(wrong.chunks(level))]
    finding, _ = wrong.judge(chunks, level, 1e-7)
    assert finding.standing is standing
    assert not finding.mutants.survived
