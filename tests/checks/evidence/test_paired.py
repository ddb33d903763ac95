"""The paired comparison: its interval, its verdicts, and how often it is wrong where the two methods are equal."""

import json

import numpy as np
import pytest
from scipy.stats import binom

from checks.evidence.paired import PairedComparison
from checks.verdicts import Level, Standing
from theory.errors import InvalidInput


def judge(won, lost, alpha=1e-6, both=100):
    """The finding where the first method alone is right `won` times, the second `lost` times."""
    answers = np.zeros((2, won + lost + both), dtype=bool)
    answers[0, :won] = answers[1, won : won + lost] = answers[:, won + lost :] = True
    evidence = PairedComparison(draw=lambda rng: answers)
    sample = evidence.sample(0, np.random.default_rng(0), Level.STANDARD)
    assert json.loads(json.dumps(sample)) == sample == [won, lost, won + lost + both]
    finding, more = evidence.judge([sample], Level.STANDARD, alpha)
    assert not more
    return finding


@pytest.mark.parametrize(
    ("won", "lost", "standing"),
    [
        (60, 5, Standing.HOLDS),
        (5, 60, Standing.FAILS),
        (30, 20, Standing.UNDECIDED),
        (0, 0, Standing.UNDECIDED),
        (20, 0, Standing.UNDECIDED),  # 2 · 2^{−20} is more than 1e-6
        (21, 0, Standing.HOLDS),
    ],
)
def test_verdicts(won, lost, standing):
    finding = judge(won, lost)
    assert finding.standing is standing
    assert finding.mutants.tried == (standing is Standing.HOLDS)
    assert 0 < finding.resolution <= 1


def test_questions_that_both_answer_do_not_count():
    one, other = judge(60, 5, both=0), judge(60, 5, both=10_000)
    assert one.resolution == other.resolution
    assert "60 of 65" in one.detail
    assert "60 of 10065" in other.detail


@pytest.mark.parametrize("alpha", [0.1, 1e-3])
def test_equal_methods_are_told_apart_no_more_often_than_the_error(alpha):
    """Over all outcomes of 50 discordant questions, with their probabilities: no sampling."""
    wrong = sum(
        binom.pmf(won, 50, 0.5) for won in range(51) if judge(won, 50 - won, alpha).standing is not Standing.UNDECIDED
    )
    assert 0 < wrong <= alpha


@pytest.mark.parametrize("drawn", [None, np.ones(4, bool), np.ones((3, 4), bool), np.full((2, 4), np.nan)])
def test_answers_that_are_no_booleans_of_two_methods_are_refused(drawn):
    with pytest.raises(InvalidInput, match=r"return booleans of shape \(2, questions\)"):
        PairedComparison(draw=lambda rng: drawn).sample(0, np.random.default_rng(0), Level.QUICK)
