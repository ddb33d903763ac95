"""The certified bound against certified orbits, its tightness, and the constants of its proof when tampered with."""

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

import flint
import mpmath
import pytest
import sympy
from flint import arb

from numerics import depth_bound as module
from numerics.balls import ball, precision
from numerics.depth_bound import CONSTANTS, Constants, depth_bound
from theory.correlation import reciprocal_increment
from theory.errors import InvalidInput, Undecidable

BITS = 192
DELTAS = (Fraction(1, 100), Fraction(1, 10), Fraction(1), Fraction(19, 10))
DEEP = (1, 2, 5, 20, 100, 1000, 10_000, 100_000)


@cache
def orbit(rho, depths):
    """Balls of `θ_L` and `Θ^L` at ascending `depths`, by the definition; the ends of the angle's ball go through `T`.

    The ball so grows by rounding alone, as `T` increases and `T' <= 1`.
    """
    with precision(BITS):

        def after(angle):
            return ((angle.sin() + (arb.pi() - angle) * angle.cos()) / arb.pi()).acos()

        start = ball(rho).acos()
        lower, upper, kernel, found = start.lower(), start.upper(), ball(rho), []
        for L in range(depths[-1] + 1):
            if L in depths:
                found.append((lower.union(upper), kernel))
            kernel = (1 - lower.union(upper) / arb.pi()) * kernel
            lower, upper = after(lower).lower(), after(upper).upper()
            kernel += lower.union(upper).cos()
        assert all(x.rel_accuracy_bits() > 60 for x in found[-1])
        return tuple(found)


def distances(rho, depths):
    """`Θ̄^L − 1/4` at each depth."""
    with precision(BITS):
        return [
            kernel / (L + 1) - ball(Fraction(1, 4)) for L, (_, kernel) in zip(depths, orbit(rho, depths), strict=True)
        ]


def correlations(delta, number):
    """`number` correlations from −1 to `1 − delta`, both included."""
    return [-1 + (2 - delta) * Fraction(i, number - 1) for i in range(number)]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("depth", [1, 10, 100])
def test_the_bounds_hold_on_certified_orbits(delta, depth):
    bound = depth_bound(delta, depth)
    depths = (1, 2, 3, 7, 10, 11, 30, 100, 101, 200)
    for rho in correlations(delta, 12):
        for L, distance in zip(depths, distances(rho, depths), strict=True):
            if depth <= L:
                assert abs(distance) < bound.at(L)
                assert distance > bound.lower_at(L)


@pytest.mark.parametrize("delta", [Fraction(1, 10**k) for k in (3, 4, 6)])
def test_nearly_equal_inputs(delta):
    depths = (1, 10, 100, 1000, 10_000)
    for L, distance in zip(depths, distances(1 - delta, depths), strict=True):
        for bound in (depth_bound(delta, 1), depth_bound(delta, L)):
            assert abs(distance) < bound.at(L)
            assert distance > bound.lower_at(L)


@pytest.mark.parametrize("rho", [Fraction(-1), Fraction(99, 100)])
def test_the_bounds_hold_up_to_a_hundred_thousand_layers(rho):
    bound = depth_bound(Fraction(1, 100), 1)
    for L, distance in zip(DEEP, distances(rho, DEEP), strict=True):
        assert abs(distance) < bound.at(L)
        assert distance > bound.lower_at(L)


def test_the_bounds_are_tight():
    assert depth_bound(Fraction(1, 10)).at(10**6) < 1e-5
    nearest, opposite = distances(Fraction(99, 100), DEEP)[-1], distances(Fraction(-1), DEEP)[-1]
    for depth, excess in ((1, 1.15), (100, 1.02), (10**5, 1.001)):
        assert nearest < depth_bound(Fraction(1, 100), depth).at(10**5) < nearest * excess
    assert opposite * 0.9 < depth_bound(Fraction(1, 100)).lower_at(10**5) < opposite


@pytest.mark.parametrize("depth", [1, 3, 10, 100])
def test_the_absolute_value_is_covered_from_below_too(depth):
    for delta in DELTAS:
        bound = depth_bound(delta, depth)
        assert all(bound.at(L) >= -bound.lower_at(L) for L in (depth, depth + 1, 2 * depth, 10**6))


def test_the_lower_bound_refutes_the_rate_one_over_depth():
    bound = depth_bound(Fraction(1, 10))
    assert bound.lower_slope == bound.slope == Fraction(3, 8)
    assert bound.lower_offset < 0
    assert 10**30 * bound.lower_at(10**30) > 25


@pytest.mark.parametrize("rho", [Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(9, 10)])
def test_what_the_proof_says_about_angles_and_kernel(rho):
    depths = (0, 1, 2, 5, 20, 100, 1000)
    with precision(BITS):
        (start, _), *deeper = orbit(rho, depths)
        for L, (angle, kernel) in zip(depths[1:], deeper, strict=True):
            inverse, first = 3 * arb.pi() / angle, 3 * arb.pi() / start
            kappa = inverse - first - L - arb(3) / 2 * (inverse / first).log()
            assert ball(CONSTANTS.slowest) * (start - angle) < kappa < ball(CONSTANTS.fastest) * (start - angle)
            remainder = kernel - inverse / 4 + arb(1) / 8
            assert remainder < 0
            if rho <= 0:
                assert remainder > -ball(CONSTANTS.defect) * angle


def test_the_zeros_that_the_proof_states_follow_from_the_derived_expansion():
    theta, a = sympy.Symbol("theta", positive=True), sympy.Rational(3, 8)
    increment = reciprocal_increment(0).conclusion + reciprocal_increment(1).conclusion * theta  # 1/T − 1/θ
    growth, ratio = 3 * sympy.pi * increment, 1 / (1 + theta * increment)
    defect = growth / 4 + sympy.Rational(3, 4) - theta / (8 * sympy.pi) - sympy.cos(theta * ratio)
    for expression, order in ((growth - 1, 1), (growth + 4 * a * sympy.log(ratio) - 1, 2), (defect, 2)):
        assert sympy.series(expression, theta, 0, order).removeO() == 0


def test_the_constants_are_certified():
    assert CONSTANTS.failing() == ()


@pytest.mark.parametrize(
    ("tampered", "failing"),
    [
        (Constants(slope=Fraction(3, 10)), (2, 3)),
        (Constants(slope=Fraction(2, 5)), (2, 3)),
        (Constants(slowest=Fraction(62, 100)), (2,)),  # 0.611 at θ = π
        (Constants(fastest=Fraction(73, 100)), (3,)),  # 0.734 at θ = 0
        (Constants(defect=Fraction(24, 10)), (5,)),  # 2.468 at θ = 0
    ],
)
def test_tampered_constants_fail(tampered, failing):
    assert tampered.failing() == failing


def test_no_bound_without_a_certificate(monkeypatch):
    monkeypatch.setattr(module, "CONSTANTS", Constants(slope=Fraction(3, 10)))
    module._certify.cache_clear()
    try:
        with pytest.raises(Undecidable, match=r"\(2, 3\)"):
            depth_bound(Fraction(1, 10))
    finally:
        module._certify.cache_clear()


def test_a_smaller_domain_never_has_a_larger_bound():
    for depth in (1, 100):
        by_delta = [depth_bound(Fraction(2 * i, 100), depth).offset for i in range(1, 100)]
        assert all(later <= earlier for earlier, later in pairwise(by_delta))
    by_depth = [depth_bound(Fraction(1, 10), depth).offset for depth in (1, 2, 5, 10, 100, 10**4, 10**30)]
    assert all(later <= earlier for earlier, later in pairwise(by_depth))


@pytest.mark.parametrize("L", [100, 101, 12345, 10**6, 10**400])
def test_values_are_rounded_outwards_by_at_most_one_unit(L):
    bound, context = depth_bound(Fraction(1, 10)), mpmath.MPContext()
    context.dps = 60
    logarithm = context.mpf(3) / 8 * context.log(L)
    for value, offset, side in (
        (bound.at(L), bound.offset, 1),
        (bound.lower_at(L), -bound.lower_offset, -1),
    ):
        exact = (logarithm + context.mpf(offset.numerator) / offset.denominator) / (L + 1)
        assert 0 <= side * (context.mpf(value) - exact) <= math.ulp(value)


def test_a_bound_too_large_for_a_double_is_infinite():
    assert depth_bound(Fraction(1, 10**700), 1).at(1) == math.inf


def test_the_type_of_delta_does_not_matter_and_nothing_leaks():
    before = flint.ctx.prec, flint.ctx.cap
    assert depth_bound(0.5) == depth_bound(Fraction(1, 2))
    assert depth_bound(1).delta == 1
    assert (flint.ctx.prec, flint.ctx.cap) == before


@pytest.mark.parametrize("delta", [0, 2, -0.1, 2.5, math.nan, math.inf, True, "0.1", None, 1j])
def test_delta_outside_its_range_is_refused(delta):
    with pytest.raises(InvalidInput, match=r"delta = .*0 < delta < 2"):
        depth_bound(delta)


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "3", None])
def test_depth_is_a_positive_integer(depth):
    with pytest.raises(InvalidInput, match=r"depth = .*integer >= 1"):
        depth_bound(Fraction(1, 10), depth)


@pytest.mark.parametrize("L", [99, 100.0, True, math.nan])
def test_a_depth_that_the_bound_does_not_cover_is_refused(L):
    bound = depth_bound(Fraction(1, 10), 100)
    for value in (bound.at, bound.lower_at):
        with pytest.raises(InvalidInput, match=r"L = .*integer >= 100"):
            value(L)
