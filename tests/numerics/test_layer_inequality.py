"""The layer's Taylor series, balls and disc against the map of the angle itself; and verdicts known by hand."""

from fractions import Fraction

import mpmath
import pytest
import sympy
from flint import arb

from numerics.balls import ball, interval, precision
from numerics.layer_inequality import RADIUS, TERMS, disc_layer, holds, layer_at, taylor_layer
from theory.arccos import theta
from theory.correlation import angle_polynomial
from theory.errors import Undecidable

MP = mpmath.MPContext()
MP.dps = 40


def angle_after(theta):
    """`T(θ)`, also for complex θ with `|θ| <= RADIUS`: the branch that is analytic at 0."""
    cosine = (MP.sin(theta) + (MP.pi - theta) * MP.cos(theta)) / MP.pi
    return 2 * MP.asin(theta * MP.sqrt((1 - cosine) / 2 / theta**2))


def exact_layer(theta):
    after = angle_after(theta)
    return theta, (theta - after) / theta**2, theta / after, MP.log(after / theta), MP.cos(after)


def fields(layer):
    return layer.angle, layer.loss, layer.inverse, layer.logarithm, layer.cosine


def midpoint(x):
    return MP.mpf(str(x.mid().str(35, radius=False)))


@pytest.mark.parametrize("theta", ["0.01", "0.3", "0.7"])
def test_the_taylor_series_sums_to_the_layer(theta):
    with precision(160):
        sums = [midpoint(polynomial(arb(theta))) for polynomial in fields(taylor_layer())]
    for value, exact in zip(sums, exact_layer(MP.mpf(theta)), strict=True):
        assert abs(value - exact) < 1e-18


def test_the_taylor_series_begins_as_derived():
    polynomial = sympy.Poly(angle_polynomial(4), theta)
    with precision(128):
        loss = taylor_layer().loss.coeffs()
        assert len(loss) == TERMS
        for k in range(3):
            derived = -MP.mpf(str(sympy.N(polynomial.coeff_monomial((k + 2,)), 35)))
            assert abs(midpoint(loss[k]) - derived) < 1e-30


@pytest.mark.parametrize("ends", [(Fraction(1), Fraction(101, 100)), (Fraction(3), Fraction(157, 50))])
def test_balls_contain_the_layer_and_are_narrow(ends):
    with precision(128):
        balls = fields(layer_at(interval(*ends)))
        for i in range(11):
            theta = MP.mpf(ends[0].numerator) / ends[0].denominator
            theta += (MP.mpf(ends[1].numerator) / ends[1].denominator - theta) * i / 10
            for x, exact in zip(balls, exact_layer(theta), strict=True):
                assert abs(midpoint(x) - exact) <= MP.mpf(x.rad().str(10, radius=False)) * (1 + 1e-8)
        assert all(x.rad() < 10 * ball(ends[1] - ends[0]) for x in balls)


def test_the_disc_contains_the_layer_on_its_rim():
    with precision(128):
        sizes = [MP.mpf(x.real.upper().str(30, radius=False)) for x in fields(disc_layer())]
    for i in range(32):
        theta = MP.mpf(RADIUS.numerator) / RADIUS.denominator * MP.expjpi(MP.mpf(i) / 16)
        for size, exact in zip(sizes, exact_layer(theta), strict=True):
            assert abs(exact) <= size * (1 + MP.mpf(10) ** -20)


@pytest.mark.parametrize(
    ("limit", "order", "verdict"),
    [
        (Fraction(106, 1000), 0, True),  # (θ − T)/θ² grows from 1/(3π) = 0.10610… to 1/(2π) = 0.1591…
        (Fraction(107, 1000), 0, False),
        (Fraction(106, 1000), 1, False),  # there is no zero of order 1
    ],
)
def test_verdicts_on_an_inequality_known_by_hand(limit, order, verdict):
    assert holds(lambda layer: layer.loss - ball(limit), order) is verdict


def test_a_violation_near_a_half_turn_is_found():
    assert holds(lambda layer: ball(Fraction(1592, 10_000)) - layer.loss, 0)
    assert not holds(lambda layer: ball(Fraction(1591, 10_000)) - layer.loss, 0)


def test_what_no_ball_can_tell_is_not_a_pass():
    angle = ball(Fraction(2))
    with pytest.raises(Undecidable, match="sign stays open"):
        holds(lambda layer: (layer.angle - angle) * (layer.angle - angle), 0)
