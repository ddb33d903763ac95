"""Early stopping gets the verdict recorded, and its constants are the best to the digits stated, not merely bounds."""

from fractions import Fraction

import pytest

from checks import Level, verify
from checks.ledger import early_stopping
from checks.verdicts import Standing
from theory.early_stopping import flow_filter


def test_the_verdict_is_the_one_recorded():
    (result,) = verify(early_stopping.CLAIMS, level=Level.QUICK, jobs=1).claims
    assert result.verdict is result.claim.expected
    assert not any(item.finding.mutants.survived for item in result.evidence)


@pytest.mark.parametrize(
    ("claimed", "standing"), [("1.2985", Standing.HOLDS), ("1.2984", Standing.FAILS), ("1.2986", Standing.FAILS)]
)
def test_a_constant_must_be_the_best_one(claimed, standing):
    found = early_stopping.best_constant(Fraction(claimed), function=flow_filter(), last_digit=Fraction(1, 10**4))
    assert found.standing is standing
