"""How correlations fall with the width: the exact parts are proved, and what is measured is what it says."""

import numpy as np
import pytest

from checks.evidence.derived import Derived
from checks.ledger import correlation_decay as ledger
from checks.verdicts import Level, Verdict
from numerics.networks import MLP
from theory.activations import Tanh


def exact_parts():
    return [item for claim in ledger.CLAIMS for _, _, item in claim.evidence() if isinstance(item, Derived)]


@pytest.mark.parametrize("evidence", exact_parts(), ids=lambda evidence: evidence.name)
def test_exact_parts_are_proved(evidence):
    finding = evidence.examine(Level.QUICK)
    assert finding.verdict is Verdict.PROVED
    assert finding.mutants.survived == ()


def test_correlations_of_one_unit_are_those_of_the_definition():
    network = MLP(ledger.DIMENSION, (1,), activation=Tanh())
    parameters = network.sample(np.random.default_rng(1), 50)
    scale = network.scales[0]
    w, u = parameters[:, 3], parameters[:, 0]
    slope = 1 - np.tanh(u) ** 2
    second = scale**3 * (w**3 * slope**2 * -2 * np.tanh(u) * slope + 2 * w * np.tanh(u) * slope**2) / 2
    found = ledger.correlation_sizes(np.random.default_rng(1), 1, 50, activation=Tanh(), depth=1, D=0, order=2)
    assert found == pytest.approx(np.abs(second), rel=1e-9)


def test_the_largest_block_is_the_spectral_norm():
    network = MLP(1, (6,), activation=Tanh())  # parameters u_1..u_6, w_1..w_6 at the input 1
    rng = np.random.default_rng(6)
    w, u = rng.standard_normal((2, 3, 6))
    found = ledger.largest_block(np.random.default_rng(6), 6, 3)
    wanted = ledger.correlations.operator_norm(network, np.concatenate([u, w], axis=1), [[1.0]], 1)[:, 0]
    assert found == pytest.approx(wanted, rel=1e-6)
