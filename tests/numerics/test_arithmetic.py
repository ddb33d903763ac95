r"""The number systems: their functions agree, each keeps to its own precision, and balls do not hide a branch cut."""

import mpmath
import numpy as np
import pytest
from flint import acb, arb

from numerics.arithmetic import ComplexBalls, Elementary, Float64, Multiprecision
from numerics.balls import precision
from theory.errors import InvalidInput

POINTS = np.array([[-1.5, 0.25], [0.75, 3.0]])


@pytest.mark.parametrize("function", Elementary)
def test_the_three_systems_agree(function):
    points = np.abs(POINTS)
    expected = Float64().apply(function, points)
    precise = Multiprecision(40).apply(function, Multiprecision(40).array(points))
    np.testing.assert_allclose(precise.astype(float), expected, rtol=1e-15)
    with precision(100):
        balls = ComplexBalls().apply(function, ComplexBalls().array(points))
        for ball, value in zip(balls.ravel(), precise.ravel(), strict=True):
            assert abs(ball - arb(mpmath.nstr(value, 40))) < arb(10) ** -25


def test_the_precision_is_of_the_system_and_nothing_global_changes():
    before = mpmath.mp.dps
    few, many = Multiprecision(10), Multiprecision(50)
    third = many.array([1.0])[0] / 3
    assert abs(third * 3 - 1) < 1e-50
    assert few.context.dps == 20
    assert mpmath.mp.dps == before
    assert abs(float(many.pi()) - np.pi) < 1e-15


def test_zeros_and_scalars_are_arrays_of_the_system():
    assert Float64().zeros(2, 3).dtype == np.float64
    zeros = Multiprecision(20).zeros(2)
    assert zeros.dtype == object
    assert all(zero == 0 and not isinstance(zero, float) for zero in zeros)
    assert Multiprecision(20).array(2.0).shape == ()


def test_softplus_is_not_finite_where_its_branch_is_not_known():
    with precision(80):
        crossing = np.array([acb(arb(1), arb(3, 0.5))], dtype=object)  # 1 + e^s goes around 0 near s = 1 + iπ
        assert not ComplexBalls().apply(Elementary.SOFTPLUS, crossing)[0].is_finite()
        fine = np.array([acb(arb(1), arb(1, 0.5))], dtype=object)
        assert ComplexBalls().apply(Elementary.SOFTPLUS, fine)[0].is_finite()


def test_no_digits_are_refused():
    with pytest.raises(InvalidInput, match="digits"):
        Multiprecision(0)
