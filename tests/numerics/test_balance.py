"""Thresholds of the width, against a scan of widths in float64 and exact rational arithmetic at single widths."""

from fractions import Fraction

import pytest
from sympy import Rational, lambdify

from numerics.balance import sign, threshold
from theory.balance import LabelNoise, curvature, favourable_exponents, x
from theory.errors import InvalidInput
from theory.layerwise import Gaussian, Updates, h


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize(
    ("layers", "alpha"), [(2, Fraction(5, 4)), (2, Fraction(3, 2)), (3, Fraction(1, 4)), (3, Fraction(1, 2))]
)
def test_a_scan_of_widths_finds_the_same(layers, alpha, updates):
    found = threshold(alpha, layers=layers, updates=updates)
    value = lambdify((h, x), curvature(layers, 2, updates).conclusion, "math")
    positive = [value(width, float(width) ** float(alpha)) > 0 for width in range(1, 3 * found)]
    assert all(positive[found - 1 :])
    assert not positive[found - 2]


@pytest.mark.parametrize(
    ("alpha", "width"), [(Fraction(3, 2), 256), (Fraction(3, 2), 289), (Fraction(1), 21), (Fraction(1), 22)]
)
def test_the_sign_agrees_with_exact_arithmetic(alpha, width):
    rate = Rational(width) ** Rational(alpha.numerator, alpha.denominator)
    exact = curvature().conclusion.subs({h: width, x: rate})
    assert sign(alpha, width) == (1 if exact > 0 else -1)


def test_there_is_none_where_the_largest_power_is_negative():
    assert threshold(Fraction(9, 10)) is None
    assert threshold(Fraction(17, 10)) is None
    assert threshold(Fraction(1), updates=Updates.FULL) is None
    assert threshold(Fraction(2, 3), layers=3) is None
    assert threshold(Fraction(1), steps=1) is None


def test_gaussian_weights_are_balanced_after_one_surrogate_step_only():
    assert threshold(1, steps=1, initialisation=Gaussian()) == 2
    assert threshold(1, steps=1, updates=Updates.FULL, initialisation=Gaussian()) is None


def test_a_threshold_beyond_all_widths_in_use_is_still_certified():
    found = threshold(Fraction(101, 100), updates=Updates.FULL)
    assert found is not None
    assert 1e47 < found < 1e48
    assert sign(Fraction(101, 100), found, updates=Updates.FULL) == 1
    assert sign(Fraction(101, 100), found - 1, updates=Updates.FULL) == -1


@pytest.mark.parametrize("alpha", [1.5, "3/2", True, None, 11, float("nan")])
def test_bad_exponents_are_refused(alpha):
    with pytest.raises(InvalidInput, match="alpha"):
        threshold(alpha)
    with pytest.raises(InvalidInput, match="alpha"):
        sign(alpha, 100)


@pytest.mark.parametrize("width", [0, 1.5, "2", None, float("nan")])
def test_bad_widths_are_refused(width):
    with pytest.raises(InvalidInput, match="width"):
        sign(Fraction(3, 2), width)


@pytest.mark.parametrize("noise", [1, "1", None])
def test_noise_without_a_law_is_refused(noise):
    with pytest.raises(InvalidInput, match="noise"):
        threshold(Fraction(3, 2), noise=noise)


@pytest.mark.parametrize("noise", [LabelNoise(), LabelNoise(Fraction(1, 20)), LabelNoise(1, Fraction(1, 2))])
def test_there_is_a_width_exactly_for_the_favourable_exponents(noise):
    exponents = favourable_exponents(noise=noise)
    for tenths in range(20):
        alpha = Fraction(tenths, 10)
        assert (threshold(alpha, noise=noise) is not None) == (Rational(tenths, 10) in exponents)
