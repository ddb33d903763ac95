"""Approach: a sequence that comes closer at its rate is told from one that stops, or is too slow."""

import math

import pytest
from sympy import Integer, Rational, symbols

from checks import Approach, Level, Verdict
from theory.errors import InvalidInput

a = symbols("a", positive=True)
SIZES = (100, 200, 400, 800)
QUARTER = Rational(1, 4)


def examine(sequence, claimed=QUARTER, points=({},), sizes=SIZES, order=1.0, **options):
    evidence = Approach(sequence=sequence, claimed=claimed, points=points, sizes=sizes, order=order, **options)
    return evidence.examine(Level.QUICK)


def test_a_sequence_with_this_limit_and_rate_supports_it():
    finding = examine(lambda n, at: 0.25 + 3 / n)
    assert finding.verdict is Verdict.SUPPORTED
    assert finding.resolution == pytest.approx(4 * 3 / 800)
    assert finding.mutants.tried >= 5
    assert finding.mutants.survived == ()


def test_a_logarithm_is_within_the_slack():
    assert examine(lambda n, at: 0.25 + math.log(n) / n, slack=0.25).verdict is Verdict.SUPPORTED
    assert examine(lambda n, at: 0.25 + math.log(n) / n, slack=0.05).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("error", [1e-3, -1e-3, 0.3])
def test_another_limit_is_refuted(error):
    assert examine(lambda n, at: 0.25 + error + 0.01 / n).verdict is Verdict.REFUTED


def test_half_the_rate_is_undecided_and_less_is_refuted():
    assert examine(lambda n, at: 0.25 + n**-0.6).verdict is Verdict.UNDECIDED
    assert examine(lambda n, at: 0.25 + n**-0.3).verdict is Verdict.REFUTED


def test_the_slowest_point_decides_and_is_named():
    finding = examine(
        lambda n, at: float(at[a]) + (1 / n if at[a] == 1 else 0.1),
        claimed=a,
        points=({a: Integer(1)}, {a: Integer(2)}),
    )
    assert finding.verdict is Verdict.REFUTED
    assert "a = 2" in finding.detail


def test_rounding_errors_of_a_sequence_that_has_arrived_refute_nothing():
    noise = {100: 3e-16, 200: -2e-16, 400: 4e-16, 800: 4e-16}
    assert examine(lambda n, at: 0.25 + noise[n]).verdict is Verdict.SUPPORTED
    # but going away again does
    assert examine(lambda n, at: 0.25 + (1e-16 if n < 800 else 1e-9)).verdict is Verdict.REFUTED


def test_values_that_are_no_numbers_are_undecided():
    assert examine(lambda n, at: math.nan).verdict is Verdict.UNDECIDED
    assert examine(lambda n, at: math.inf).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("sizes", [(100, 200), (100, 100, 200), (400, 200, 100)])
def test_three_growing_sizes_are_needed(sizes):
    with pytest.raises(InvalidInput, match="growing sizes"):
        examine(lambda n, at: 0.25, sizes=sizes)


def test_a_slack_that_would_let_wrong_limits_pass_is_refused():
    with pytest.raises(InvalidInput, match="half the order"):
        examine(lambda n, at: 0.25, slack=0.5)


def test_the_limit_that_is_claimed_is_exact():
    assert examine(lambda n, at: 2 + 3 / n, claimed=2).verdict is Verdict.SUPPORTED
    with pytest.raises(InvalidInput, match=r"the float 0.25 is not exact; give Rational\('0.25'\)"):
        examine(lambda n, at: 0.25 + 3 / n, claimed=0.25)
