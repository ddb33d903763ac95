"""The claims of chapter 6 get the verdicts that they record."""

import pytest

from checks import Level, verify
from checks.ledger import balance, layerwise


@pytest.mark.parametrize("claim", [*layerwise.CLAIMS, *balance.CLAIMS], ids=lambda claim: claim.id)
def test_the_verdict_is_the_one_recorded(claim):
    (result,) = verify([claim], level=Level.QUICK, jobs=1).claims
    assert result.verdict is claim.expected
