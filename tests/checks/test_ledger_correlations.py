r"""Chapter 5, the definitions: the verdicts on record, and certificates that refuse what is wrong."""

from fractions import Fraction

import pytest

from checks.ledger import correlations as ledger
from checks.verdicts import Level, Standing


@pytest.mark.parametrize("claim", ledger.CLAIMS, ids=lambda claim: claim.id)
def test_verdicts_at_the_level_quick(claim):
    judged = claim.judged(level=Level.QUICK)
    assert judged.verdict is claim.expected
    assert [item.label for item in judged.evidence if item.finding.mutants.survived] == []


@pytest.mark.parametrize("part", [0, 1])
def test_a_step_with_a_wrong_term_fails(part):
    step = ledger.STEPS["tanh"]
    assert ledger.step_error(ledger.published, step, part).standing is Standing.HOLDS
    wrong = ledger.step_error(lambda d: Fraction(1 + (d == 6), 1), step, part)
    assert wrong.standing is Standing.FAILS
