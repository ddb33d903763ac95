"""Runs that nobody judged, to report on."""

import pytest

from checks import Level, Standing, Verdict
from checks.claims import JudgedEvidence
from checks.ledger import LEDGER
from checks.recorded import RecordedRun
from checks.report import ClaimResult, Report
from checks.verdicts import Finding, MutantTally


@pytest.fixture(scope="session")
def unjudged():
    """Makes a run of claims, by default of the whole ledger, that all got the verdict they record, or another."""

    def run(claims=None, verdict=None, survived=(), detail="what was found", tried=6):
        results = []
        for claim in LEDGER.values() if claims is None else claims:
            evidence = []
            for part, corrects, item in claim.evidence():
                resolution = 0.0046 if item.statistical else None
                found = Finding(Standing.HOLDS, item.worth, detail, resolution, MutantTally(tried, tuple(survived)))
                evidence.append(JudgedEvidence(part, corrects, item.name, item.kind, found, 1.0))
            judged = verdict or claim.expected or Verdict.PROVED
            results.append(ClaimResult(claim, judged, tuple(evidence), float(len(evidence))))
        return RecordedRun.of(Report(5, Level.QUICK, tuple(results)))

    return run
