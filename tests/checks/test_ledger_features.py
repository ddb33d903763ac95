"""The chapter on width: exact evidence rejects its mutants, samplers have the shapes they state."""

from __future__ import annotations

import numpy as np
import pytest

from checks.evidence.base import ExactEvidence
from checks.ledger import LEDGER, features
from checks.verdicts import Level, Standing, Verdict

EXACT = {
    f"{part}: {item.name}": item
    for part, _, item in features.features_move.evidence()
    if isinstance(item, ExactEvidence) and item.name != "as a sum"  # whose mutants take seconds; see tests/theory
}


def test_the_two_claims_are_in_the_ledger() -> None:
    assert [claim.id for claim in features.CLAIMS] == ["neurons-freeze", "features-move"]
    assert {claim.id for claim in features.CLAIMS} <= set(LEDGER)
    assert all(claim.expected is Verdict.SUPPORTED for claim in features.CLAIMS)


@pytest.mark.parametrize("name", EXACT)
def test_exact_evidence_holds_and_rejects_its_mutants(name: str) -> None:
    found = EXACT[name].examine(Level.QUICK)
    assert found.standing is Standing.HOLDS
    assert found.mutants.tried >= 4
    assert not found.mutants.survived


@pytest.mark.parametrize("depth", [1, 2])
def test_distances_of_networks_trained_at_once_or_in_parts(depth: int, monkeypatch) -> None:
    first = features.distance(np.random.default_rng(0), 16, 6, depth=depth)
    assert first.shape == (6,)
    assert ((first > 0) & (first < 2)).all()
    monkeypatch.setattr(features, "AT_ONCE", 16**depth * 3)
    assert features.distance(np.random.default_rng(0), 16, 6, depth=depth).shape == (6,)


def test_observations_have_the_shapes_stated() -> None:
    rng = np.random.default_rng(0)
    assert features.advantage(rng, 2, width=16).shape == (2, 4)
    assert features.standardised(rng, 2, width=16, depth=2, sizes=True).shape == (2, 3)
    assert features.first_order_products(rng, 5, width=4).shape == (5, features.first_order_limit().size)
    assert features.largest(rng, 16, 5, depth=2).shape == (5,)


@pytest.mark.parametrize("depth", [1, 2])
def test_forgotten_parts_of_the_law_are_told_apart(depth: int) -> None:
    """The shifts by which the mutants of the mean are wrong, in standard deviations; and the variance without `f_0`."""
    law = features.law(depth)
    assert (law.mean - law.alone > 0.5).all()
    assert (law.alone > 0.1).all()
    assert (law.unconditional > 1.2).all()
