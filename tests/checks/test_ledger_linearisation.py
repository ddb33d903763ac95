"""The equivalence: the exact parts are proved, and what is measured is what it says."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from checks.evidence.derived import Derived
from checks.grammar import parse_assignments
from checks.ledger import linearisation as ledger
from checks.verdicts import Level, Verdict
from numerics.networks import MLP
from theory.activations import Tanh
from theory.errors import InvalidInput


def exact_parts():
    return [item for claim in ledger.CLAIMS for _, _, item in claim.evidence() if isinstance(item, Derived)]


@pytest.mark.parametrize("evidence", exact_parts(), ids=lambda evidence: evidence.name)
def test_exact_parts_are_proved(evidence):
    finding = evidence.examine(Level.QUICK)
    assert finding.verdict is Verdict.PROVED
    assert finding.mutants.survived == ()


def test_a_nonlinear_output_deviates_by_its_square():
    rng = np.random.default_rng(2)
    found = ledger.nonlinear_output(rng, 4096, 20, step=1e-3)
    network = MLP(ledger.DIMENSION, (4096,), activation=Tanh())
    parameters = network.sample(np.random.default_rng(2), 20)
    start = network(parameters, ledger.X_ONE[None])[:, 0, 0]
    squared = ledger.correlations.scalar(network, parameters, ledger.X_ONE[None], 1)[0, :, 0]
    assert found == pytest.approx((1e-3 * (1 + 2 * start) * squared) ** 2, rel=0.02)


def test_the_mean_field_step_is_the_rescaled_network():
    network = MLP(ledger.DIMENSION, (16,), activation=Tanh())
    parameters = network.sample(np.random.default_rng(5), 30)
    start = network(parameters, ledger.X_ONE[None])[:, 0, 0] / 4
    hidden, outgoing = parameters[:, :48].reshape(30, 16, 3), parameters[:, 48:]
    phi = np.tanh(hidden[:, :, 0])
    scale = network.scales[0] / 4
    gradient = np.concatenate([(scale * outgoing * (1 - phi**2)), scale * phi], axis=1)  # by u_k, then by w_k
    moved_u, moved_w = hidden[:, :, 0] + 16 * 0.1 * gradient[:, :16], outgoing + 16 * 0.1 * gradient[:, 16:]
    moved = scale * (moved_w * np.tanh(moved_u)).sum(axis=1)
    wanted = start + 16 * 0.1 * (gradient**2).sum(axis=1) - moved
    found = ledger.mean_field_shortfall(np.random.default_rng(5), 16, 30, step=0.1)
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_concordance_is_kendalls_tau():
    rng = np.random.default_rng(3)
    x = rng.standard_normal(4000)
    y = x + 2 * rng.standard_normal(4000)
    signs = np.sign(ledger.concordance(x, y)[:, 0])
    # each sign is ±1: five standard errors of their mean
    assert abs(signs.mean() - kendalltau(x, y)[0]) < 5 / np.sqrt(len(signs))


def test_words_are_parsed_and_others_refused():
    words = {"mode": {"fixed-steps": 0, "fixed-time": 1}}
    assert parse_assignments(["alpha=-1/2", "mode= fixed-time "], words=words)["mode"] == 1
    for wrong in ("mode=1", "mode=fixed", "mode="):
        with pytest.raises(InvalidInput, match="fixed-steps, fixed-time"):
            parse_assignments([wrong], words=words)


def test_at_a_small_width_both_are_compared_with_eight_times_those_of_a_large_one():
    differences = ledger.at_a_small_width(np.random.default_rng(8), 40)
    assert differences.shape == (40, 2)
    assert (np.sign(differences).mean(axis=0) > 0).all()
