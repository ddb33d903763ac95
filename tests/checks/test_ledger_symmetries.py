"""Symmetries get the verdict recorded; what their evidence computes is right by other routes."""

import itertools
from functools import partial

import numpy as np
import pytest

from checks import Level, Verdict, verify
from checks.ledger import symmetries
from numerics import correlations
from numerics.empirical import jacobian
from numerics.networks import MLP
from theory.activations import Identity, ReLU

LEAST = {
    "inverse powers": partial(symmetries.rescaling_has_its_powers, inverse=-1),
    "powers of contracted indices": partial(symmetries.rescaling_has_its_powers, doubled=1),
    "a smaller rank": partial(symmetries.rank_is_bounded, missing=1),
    "a larger rank, linear": partial(symmetries.rank_is_attained, linear=True, more=1),
    "a larger rank, ReLU": partial(symmetries.rank_is_attained, linear=False, more=1),
    "the order eta": partial(symmetries.step_adds_its_square, power=1),
    "the order eta^3": partial(symmetries.step_adds_its_square, power=3),
    "weights with factors": partial(symmetries.step_adds_its_square, scaled=True),
    "half a permutation": partial(symmetries.permutation_is_a_symmetry, incoming_only=True),
}


def test_the_verdict_is_the_one_recorded():
    (result,) = verify(symmetries.CLAIMS, level=Level.QUICK, jobs=1).claims
    assert result.verdict is result.claim.expected is Verdict.SUPPORTED
    assert not any(item.finding.mutants.survived for item in result.evidence)


@pytest.mark.parametrize("trial", LEAST.values(), ids=LEAST)
def test_what_is_wrong_is_caught(trial):
    assert any(trial(np.random.default_rng(seed)) for seed in range(20))


def test_shares_add_to_the_correlation():
    """In linear networks no layer can be contracted twice: the shares of all sets of `d` layers make `C_{0,d}`."""
    network = MLP(2, (3, 2), activation=Identity())
    rng = np.random.default_rng(0)
    parameters, x = network.sample(rng), rng.standard_normal((1, 2))
    expected = correlations.scalar(network, parameters, x, order=3)[:, 0, 0]
    for d in (1, 2, 3):
        sets = itertools.combinations((1, 2, 3), d)
        total = sum(symmetries.share(network, parameters, x, layers, None)[0] for layers in sets)
        assert total == pytest.approx(expected[d - 1], rel=1e-11)


def test_a_share_with_a_free_index_is_a_gradient():
    network = MLP(2, (3, 4), activation=ReLU())
    rng = np.random.default_rng(1)
    parameters, x = network.sample(rng), rng.standard_normal((1, 2))
    own, columns = jacobian(network, parameters, x)[0, 0], network.slices
    for layer in (1, 2, 3):
        found = symmetries.share(network, parameters, x, (), layer)
        np.testing.assert_allclose(found, own[columns[layer - 1]], rtol=1e-12, atol=1e-14)


def test_units_whose_boundaries_are_close_are_told_apart():
    weights = np.array([[1.0, 0.0], [1.0, 1e-5], [-1.0, 2e-5]])
    points = symmetries.beside_boundaries(np.random.default_rng(0), weights)
    patterns = points @ weights.T > 0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert len(np.unique(patterns[:, [i, j]], axis=0)) == 4  # all four sides of the two boundaries are seen


@pytest.mark.parametrize("number", [2121, 2481, 2482])  # with random points alone, one network in 200 was
def test_networks_with_close_boundaries_are_no_counterexamples(number):
    assert symmetries.rank_is_attained(np.random.default_rng([5, number]), linear=False) == ""
