"""Taylor models enclose their functions, and say when they cannot."""

import pytest
from flint import arb, arb_poly
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numerics.balls import ball, precision
from numerics.taylor_models import TaylorModel, TooWide, circle

ORDER = 12  # low, so that what is cut off matters
middles = st.fractions(-3, 3, max_denominator=50)
radii = st.fractions(min_value=0, max_value="1/2", max_denominator=50)
places = st.fractions(-1, 1, max_denominator=50)


def value(model: TaylorModel, place) -> arb:
    """The ball of the model at one `ξ`."""
    return model.polynomial(ball(place))


@settings(max_examples=60, deadline=None)
@given(middles, radii, places)
def test_sums_products_and_powers_enclose_the_function(middle, radius, place):
    mp = MPContext()
    mp.dps = 40
    angle = mp.mpf(middle.numerator) / middle.denominator
    angle += mp.mpf(radius.numerator) / radius.denominator * place.numerator / place.denominator
    expected = (mp.cos(angle) * mp.sin(angle) - 2) ** 5 - 3 * mp.cos(angle) + 1 / mp.mpf(7)
    with precision(150):
        cosine, sine = circle(ball(middle), ball(radius), ORDER)
        model = (cosine * sine - 2) ** 5 - 3 * cosine + arb(1) / 7
        found = value(model, place)
        truth = arb(str(expected)) + arb(0, 1e-35)
        assert found.overlaps(truth)
        assert model.range().overlaps(truth)


@settings(max_examples=40, deadline=None)
@given(middles, radii.filter(bool))
def test_integrals_enclose_the_integral(middle, radius):
    with precision(150):
        m, r = ball(middle), ball(radius)
        _, sine = circle(m, r, ORDER)
        primitive = lambda x: (x - (2 * x).sin() / 2) / 2  # of sin²  # noqa: E731
        truth = (primitive(m + r) - primitive(m - r)) / r
        found = (sine * sine).integral()
        assert found.overlaps(truth)
        assert found.rad() < 1e-2


def test_odd_terms_with_uncertain_coefficients_do_not_cancel():
    """`f(ξ) = δ(ξ) ξ` with `|δ| <= 1` may be `|ξ|`, whose integral is 1."""
    with precision(60):
        assert TaylorModel(arb_poly([0, arb(0, 1)]), 4).integral().contains(1)
        assert TaylorModel(arb_poly([0, 5]), 4).integral() == 0


def test_a_recursion_of_models_beats_one_of_balls():
    """The logistic map `x ← 3.2 x (1 − x)` has an attracting cycle; 100 steps from [0.3, 0.301]."""
    with precision(200):
        plain = ball(0.3005) + arb(0, 0.0005)
        model = TaylorModel(arb_poly([ball(0.3005), ball(0.0005)]), 30)
        rate = arb(16) / 5
        for _ in range(100):
            plain, model = rate * plain * (1 - plain), rate * model * (1 - model)
        assert not plain.is_finite() or plain.rad() > 1e30
        assert model.range().rad() < 0.01


def test_too_wide_intervals_are_refused():
    with precision(100):
        cosine, _ = circle(arb(0), arb(50), ORDER)
        with pytest.raises(TooWide):
            cosine**3
