"""Deep recursions against the definition in mpmath, at depths and angles where less careful ones fail."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import pytest
import sympy
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numerics.balls import ball, exactly, precision
from numerics.deep import ALGORITHMS, LARGEST_DEPTH, orbit, relu_nngp, relu_ntk, relu_ntk_normalised
from numerics.subdivision import Outcome, holds
from theory.errors import InvalidInput, LimesWarning

correlations = st.fractions(min_value=-1, max_value=1, max_denominator=10**6)


def definition(rho: Fraction, depth: int, dps: int = 90):
    """`Σ^L` and `Θ^L` by the recursion in ρ, with digits to spare: `κ_1' <= 1`, so errors only add up."""
    mp = MPContext()
    mp.dps = dps
    sigma = theta = mp.mpf(rho.numerator) / rho.denominator
    for _ in range(depth):
        angle = mp.acos(sigma)
        theta *= 1 - angle / mp.pi
        sigma = (mp.sqrt(1 - sigma**2) + (mp.pi - angle) * sigma) / mp.pi
        theta += sigma
    return mp, sigma, theta


@settings(max_examples=60, deadline=None)
@given(correlations, st.integers(0, 40), st.integers(1, 40))
def test_digits_agree_with_the_definition(rho: Fraction, depth: int, digits: int):
    mp, sigma, theta = definition(rho, depth)
    expected = (relu_nngp, sigma), (relu_ntk, theta), (relu_ntk_normalised, theta / (depth + 1))
    for function, truth in expected:
        value = function(rho, depth, digits)
        assert abs(mp.mpf(value.value) - truth) <= mp.mpf(value.radius) * (1 + mp.mpf(10) ** -9) + mp.mpf(10) ** -80


@pytest.mark.parametrize(
    ("rho", "depth"),
    [
        (Fraction(3, 10), 3000),  # balls of ρ are NaN after 300 layers at 1000 bits
        (1 - Fraction(1, 10**30), 500),
        (1 - Fraction(1, 10**15), 20),  # the second term of the series shows
        (Fraction(1, 10**30) - 1, 500),
        (Fraction(-3941, 10000), 1),  # near the root of Θ^1
    ],
)
def test_hard_points(rho: Fraction, depth: int):
    mp, sigma, theta = definition(rho, depth, 140)
    for function, truth in ((relu_nngp, sigma), (relu_ntk, theta)):
        value = function(rho, depth, 50)
        assert abs(mp.mpf(value.value) - truth) <= mp.mpf(value.radius) * (1 + mp.mpf(10) ** -9)


def test_a_million_layers():
    """The reference is `definition(Fraction(3, 10), 10**6, 70)`, which takes a minute."""
    assert relu_ntk_normalised(Fraction(3, 10), 10**6, 30).value == "0.250006133448515515782166209878"


def test_tiny_angles():
    """At depth 1, `Θ^1 = 2 − θ_0/π + O(θ_0²)` with `θ_0 ≈ sqrt(2·10^-1000)`."""
    rho = 1 - Fraction(1, 10**1000)
    mp, _, theta = definition(rho, 1, 1600)
    value = relu_ntk(rho, 1, 600)
    assert abs(mp.mpf(value.value) - theta) <= mp.mpf(value.radius)
    assert 0 < 2 - theta < mp.mpf(10) ** -499


@pytest.mark.parametrize("depth", [0, 1, 2, 1000, LARGEST_DEPTH])
def test_the_diagonal_is_exact_and_fast(depth: int):
    for one in (1, 1.0, Fraction(1), sympy.cos(1) ** 2 + sympy.sin(1) ** 2):
        assert relu_ntk(one, depth).value == str(depth + 1)
    assert relu_ntk_normalised(1, depth).value == relu_nngp(1, depth).value == "1"


def test_antipodes_and_depth_zero_are_exact():
    assert relu_ntk(-1, 0).value == relu_nngp(-1, 0).value == "-1"
    assert relu_ntk(-1, 1).value == relu_nngp(-1, 1).value == "0"
    assert relu_ntk(0, 0).value == "0"
    assert relu_ntk(Fraction(1, 8), 0).value == "0.125"
    assert relu_ntk(-1, 5, 30).value == relu_ntk(0, 4, 30).value


def test_irrational_correlations():
    exact = relu_ntk(sympy.sqrt(2) / 2, 3, 40)
    mp = MPContext()
    mp.dps = 60
    nearby = Fraction(int(mp.sqrt(2) / 2 * 10**55), 10**55)
    assert exact.value == relu_ntk(nearby, 3, 40).value


@pytest.mark.parametrize(("bits", "depth"), [(53, 1000), (64, 100_000)])
def test_balls_do_not_blow_up(bits: int, depth: int):
    for algorithm in ALGORITHMS.values():
        assert algorithm({"rho": Fraction(3, 10), "L": depth}, bits).rel_accuracy_bits() >= bits


def test_the_plain_recursion_does_blow_up():
    with precision(53):
        rho = ball(Fraction(3, 10))
        for _ in range(36):
            rho = ((1 - rho * rho).sqrt() + (arb.pi() - rho.acos()) * rho) / arb.pi()
        assert rho.is_nan()


def test_the_lemma_behind_the_balls():
    """`G >= 0` on `[0, π]`, which gives `T' <= 1`; that a little more is false can be seen as well."""
    t = sympy.Symbol("t", real=True)
    G = t * (2 * sympy.pi - t) - sympy.sin(t) ** 2 - (sympy.pi - t) * sympy.sin(2 * t)
    assert holds(G >= 0, {t: (0, Fraction(22, 7))}).outcome is Outcome.HOLDS
    assert holds(sympy.Rational(43, 100) * t**3 <= G, {t: (0, Fraction(22, 7))}).outcome is Outcome.VIOLATED


angles = st.fractions(min_value=0, max_value=Fraction(314, 100), max_denominator=1000)


@settings(max_examples=60, deadline=None)
@given(angles, angles, st.fractions(0, 1, max_denominator=50), st.integers(0, 25))
def test_an_orbit_encloses_every_start_between(a: Fraction, b: Fraction, share: Fraction, depth: int):
    lower, upper = min(a, b), max(a, b)
    start = lower + share * (upper - lower)
    enclosing = orbit(lower, upper, depth)
    assert len(enclosing.angles) == len(enclosing.kernels) == depth + 1
    mp = MPContext()
    mp.dps = 60
    angle = mp.mpf(start.numerator) / start.denominator
    theta = mp.cos(angle)
    slack = mp.mpf(10) ** -30
    for layer, ((low, high), (least, most)) in enumerate(zip(enclosing.angles, enclosing.kernels, strict=True)):
        if layer:
            theta *= 1 - angle / mp.pi
            angle = mp.acos(min(1, (mp.sin(angle) + (mp.pi - angle) * mp.cos(angle)) / mp.pi))
            theta += mp.cos(angle)
        for bound, value, sign in ((low, angle, 1), (high, angle, -1), (least, theta, 1), (most, theta, -1)):
            exact = exactly(bound)
            assert sign * (value - mp.mpf(exact.numerator) / exact.denominator) >= -slack


@pytest.mark.parametrize("offset", [-999, 0, 999])
def test_the_radius_of_a_start_is_carried_through(offset: int):
    start = Fraction(1) + Fraction(offset, 10**6)
    wide, exact = orbit(arb(1, 1e-3), arb(1, 1e-3), 50), orbit(start, start, 50)
    for (low, high), (least, most) in zip(wide.angles + wide.kernels, exact.angles + exact.kernels, strict=True):
        assert low <= least
        assert most <= high


def test_an_orbit_from_a_point_is_sharp_and_reaches_pi():
    with precision(128):
        pi = arb.pi()
    narrow = orbit(1, 1, 200)
    low, high = narrow.kernels[-1]
    assert high - low < 1e-30
    assert orbit(0, pi, 10).angles[1][1] >= 1.5707963
    assert orbit(0, pi, 10).kernels[10][1] >= 11
    assert orbit(pi, pi, 3).kernels[1][0] <= 0 <= orbit(pi, pi, 3).kernels[1][1]


@pytest.mark.parametrize(("lower", "upper"), [(-1, 1), (1, 4), (2, 1), (Fraction(-1, 10**9), 1)])
def test_orbits_outside_the_circle_are_refused(lower, upper):
    with pytest.raises(InvalidInput, match="lower, upper"):
        orbit(lower, upper, 3)


def test_a_float_one_unit_outside_is_clipped_and_that_is_said():
    beyond = math.nextafter(1.0, 2)
    for rho, value in ((beyond, "4"), (-beyond, relu_ntk(-1, 3).value)):
        with pytest.warns(LimesWarning, match=f"rho = {rho!r} is one unit in the last place outside"):
            assert relu_ntk(rho, 3).value == value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        relu_ntk(math.nextafter(1.0, 0), 3)


BEYOND = [math.nextafter(math.nextafter(1.0, 2), 2), -1.1, 2, Fraction(10**30 + 1, 10**30), sympy.sqrt(2)]
NO_NUMBERS = [float("nan"), float("inf"), "0.3", None, True, 1j, sympy.I, sympy.Symbol("x"), sympy.oo]


@pytest.mark.parametrize("rho", [*BEYOND, sympy.sqrt(1 + sympy.Rational(1, 10**40)), *NO_NUMBERS])
def test_what_is_no_correlation_is_refused(rho):
    with pytest.raises(InvalidInput):
        relu_ntk(rho, 3)


@pytest.mark.parametrize("depth", [-1, 1.5, 2.0, True, None, "3", LARGEST_DEPTH + 1, 10**400, Fraction(1, 2), sympy.pi])
def test_what_is_no_depth_is_refused(depth):
    for function in (relu_nngp, relu_ntk, relu_ntk_normalised):
        with pytest.raises(InvalidInput, match="L = "):
            function(Fraction(1, 2), depth)


def test_depths_of_other_integer_types_and_the_precision_of_the_caller():
    assert relu_ntk(Fraction(1, 2), sympy.Integer(3)).value == relu_ntk(0.5, 3).value
    before = ctx.prec
    relu_ntk(0.5, 3, 100)
    assert ctx.prec == before
