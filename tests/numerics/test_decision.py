"""The three answers, and what counts as resolution."""

import math

import numpy as np
import pytest

from numerics.decision import Outcome, decide, finite_vector
from theory.errors import InvalidInput


def _decide(target, centre, radius, scale=None, **options):
    vectors = [np.array(v, dtype=float) for v in (target, centre, radius, target if scale is None else scale)]
    return decide(*vectors[:3], scale=np.abs(vectors[3]), **options)


@pytest.mark.parametrize(
    ("target", "radius", "wanted", "outcome", "resolution"),
    [
        ([1.0, 4.0], [0.1, 0.1], math.inf, Outcome.CONSISTENT, 0.2),
        ([1.0, 4.0], [0.1, 0.1], 0.2, Outcome.CONSISTENT, 0.2),
        ([1.0, 4.0], [0.1, 0.1], 0.19, Outcome.UNDECIDED, 0.2),
        ([1.0, 4.2], [0.1, 0.1], 0.19, Outcome.REJECTED, 0.2),
        ([1.0, 4.0], [0.1, math.inf], math.inf, Outcome.UNDECIDED, math.inf),
        ([2.0, 9.0], [0.1, math.inf], math.inf, Outcome.REJECTED, math.inf),
        ([1.0, 4.0], [0.0, 0.0], 1e-9, Outcome.CONSISTENT, 0.0),
    ],
)
def test_outcomes(target, radius, wanted, outcome, resolution):
    decision = _decide(target, [1.0, 4.0], radius, wanted_resolution=wanted)
    assert (decision.outcome, decision.resolution) == (outcome, resolution)
    assert decision.reason


def test_a_zero_scale_has_no_resolution_unless_the_value_is_exact():
    assert _decide([0.0], [0.0], [0.1]).outcome is Outcome.UNDECIDED
    assert _decide([0.0], [0.0], [0.0]).resolution == 0
    assert _decide([0.0], [0.0], [0.1], scale=[1.0]).resolution == 0.2


def test_a_claim_wrong_by_more_than_the_resolution_is_rejected_wherever_the_estimate_fell():
    truth, radius = 2.0, 0.05
    for centre in np.linspace(truth - radius, truth + radius, 21):
        resolution = _decide([truth], [centre], [radius * (1 + 1e-12)]).resolution
        for wrong in (truth * (1 - 1.001 * resolution), truth * (1 + 1.001 * resolution)):
            assert _decide([wrong], [centre], [radius]).outcome is Outcome.REJECTED


@pytest.mark.parametrize("wanted", [0.0, -1.0, math.nan])
def test_a_wanted_resolution_is_positive(wanted):
    with pytest.raises(InvalidInput, match="wanted_resolution"):
        _decide([1.0], [1.0], [0.1], wanted_resolution=wanted)


@pytest.mark.parametrize("value", [[1.0], [[1.0, 2.0]], [1.0, math.nan], [1.0, math.inf]])
def test_vectors_are_finite_and_of_the_right_shape(value):
    with pytest.raises(InvalidInput, match="target"):
        finite_vector("target", value, 2)
