"""Findings as plain data, for the journal."""

import json

import pytest

from checks.evidence.base import finding_from_data, finding_to_data
from checks.verdicts import Finding, MutantTally, Standing, Verdict


@pytest.mark.parametrize("standing", Standing)
@pytest.mark.parametrize("resolution", [None, 0.1, float("inf")])
def test_a_finding_survives_the_journal(standing, resolution):
    finding = Finding(standing, Verdict.CERTIFIED, "ρ < 1, “quoted”", resolution, MutantTally(3, ("a", "b")))
    assert finding_from_data(json.loads(json.dumps(finding_to_data(finding)))) == finding
