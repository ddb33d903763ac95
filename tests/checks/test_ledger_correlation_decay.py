"""How correlations fall with the width: the exact parts are proved, and what is measured is what it says."""

import numpy as np
import pytest

from checks.evidence.derived import Derived
from checks.ledger import correlation_decay as ledger
from checks.verdicts import Level, Verdict
from numerics.exponents import fit_exponent
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
    network = MLP(len(ledger.BASIS), (1,), activation=Tanh())
    parameters = network.sample(np.random.default_rng(1), 50)
    scale = network.scales[0]
    w, u = parameters[:, -1:], parameters[:, :-1]  # each input of the basis sees a weight of its own
    slope = 1 - np.tanh(u) ** 2
    second = scale**3 * (w**3 * slope**2 * -2 * np.tanh(u) * slope + 2 * w * np.tanh(u) * slope**2) / 2
    found = ledger.correlation_sizes(np.random.default_rng(1), 1, 50, activation=Tanh(), depth=1, D=0, order=2)
    assert found == pytest.approx(np.sqrt(np.square(second).mean(axis=1)), rel=1e-9)


def test_vectors_are_averaged_over_the_basis():
    network = MLP(len(ledger.BASIS), (5,), activation=Tanh())
    parameters = network.sample(np.random.default_rng(2), 4)
    vectors = ledger.correlations.vectors(network, parameters, ledger.BASIS, 2)[1]
    found = ledger.correlation_sizes(np.random.default_rng(2), 5, 4, activation=Tanh(), depth=1, D=1, order=2)
    assert found == pytest.approx(np.sqrt(np.square(vectors).sum(axis=(1, 2)) / len(ledger.BASIS)), rel=1e-7)


def test_exponents_are_known_to_the_standard_error_that_was_asked_for():
    """From three of the chunks: the error falls like the root of their number."""
    item = ledger.decay(Tanh(), 1, 0, 2)
    by_size = dict(zip(item.sizes, item.sample(0, np.random.default_rng(3), Level.QUICK), strict=True))
    for chunk in (1, 2):
        for size, more in zip(
            item.sizes, item.sample(chunk, np.random.default_rng(3 + chunk), Level.QUICK), strict=True
        ):
            by_size[size] = by_size[size] + more
    fit = fit_exponent(by_size, statistic=item.statistic, correction=item.correction)
    assert fit.standard_error < 0.05 * np.sqrt(item.budget / 3)


def test_deep_matrices_are_drawn_from_both_widths():
    found = ledger.deep_matrices_fall_faster(np.random.default_rng(4), 3)
    assert found.shape == (3, 1)
    assert np.isfinite(found).all()


def test_the_largest_block_is_the_spectral_norm():
    network = MLP(1, (6,), activation=Tanh())  # parameters u_1..u_6, w_1..w_6 at the input 1
    rng = np.random.default_rng(6)
    w, u = rng.standard_normal((2, 3, 6))
    found = ledger.largest_block(np.random.default_rng(6), 6, 3)
    wanted = ledger.correlations.operator_norm(network, np.concatenate([u, w], axis=1), [[1.0]], 1)[:, 0]
    assert found == pytest.approx(wanted, rel=1e-6)
