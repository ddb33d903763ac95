"""Merged moments against their definition in exact arithmetic."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.moments import Moments
from theory.errors import InvalidInput

numbers = st.integers(-(10**6), 10**6).map(lambda k: k / 1000)
samples = st.lists(st.lists(numbers, min_size=1, max_size=9), min_size=1, max_size=5)


@given(samples)
def test_merged_moments_are_those_of_the_whole_sample(chunks):
    merged = Moments.none(1)
    for chunk in chunks:
        merged = merged.merged(Moments.of(chunk))
    whole = [Fraction(x) for chunk in chunks for x in chunk]
    mean = sum(whole) / len(whole)
    second, third = (float(sum((x - mean) ** k for x in whole)) for k in (2, 3))
    size = max(map(abs, whole)) or 1
    rounding = 1e-13 * len(whole)  # at most 45 terms, some ten roundings each
    assert merged.count == len(whole)
    assert merged.mean[0] == pytest.approx(float(mean), abs=rounding * float(size))
    assert merged.second[0] == pytest.approx(second, abs=rounding * float(size**2))
    assert merged.third[0] == pytest.approx(third, abs=rounding * float(size**3))
    assert (merged.minimum[0], merged.maximum[0]) == (min(whole), max(whole))


def test_a_large_offset_does_not_swallow_the_variance():
    x = np.random.default_rng(1).normal(size=(1000, 1))
    near, far = Moments.none(1), Moments.none(1)
    for part in np.split(x, 10):
        near, far = near.merged(Moments.of(part)), far.merged(Moments.of(part + 1e9))
    # x + 1e9 is stored to 1.2e-7, so 1000 deviations change their sum of squares by some 1e-7 √1000.
    assert far.second[0] == pytest.approx(near.second[0], abs=1e-4)


def test_equal_numbers_have_no_spread():
    m = Moments.of(np.full(1001, 0.1)).merged(Moments.of(np.full(17, 0.1)))
    assert (m.mean[0], m.second[0], m.third[0]) == (0.1, 0.0, 0.0)


def test_components_are_independent():
    x = np.random.default_rng(2).normal(size=(50, 3))
    together = Moments.of(x, 3)
    for j in range(3):
        alone = Moments.of(x[:, j])
        assert together.third[j] == pytest.approx(alone.third[0], rel=1e-12)


def test_the_state_is_exact():
    m = Moments.of(np.random.default_rng(3).normal(size=(20, 2)), 2)
    copy = Moments.from_state(json.loads(json.dumps(m.to_state())))
    assert copy.to_state() == m.to_state()
    assert copy.merged(m).to_state() == m.merged(m).to_state()


@pytest.mark.parametrize("chunk", [[], [[]], [[1.0, 2.0, 3.0]], [math.nan, 0.0], [[1.0, math.inf]], [["a", "b"]]])
def test_bad_chunks_are_refused(chunk):
    with pytest.raises(InvalidInput):
        Moments.of(chunk, 2)


def test_dimensions_must_agree():
    with pytest.raises(InvalidInput, match="dimension"):
        Moments.none(2).merged(Moments.none(3))
