"""Mehler's series against polynomials, whose expectations Isserlis' theorem gives, and its estimate of its error."""

import math
import warnings

import numpy as np
import pytest

from numerics import mehler
from theory.errors import InvalidInput, LimesWarning


def one(function, p: float, q: float, c: float) -> float:
    (value,) = mehler.expectations([function], *(np.array(number) for number in (p, q, c)))
    return float(value)


@pytest.mark.parametrize(("p", "q", "c"), [(1.0, 1.0, 0.5), (0.25, 4.0, -0.75), (9.0, 4.0, 6.0), (2.0, 2.0, 2.0)])
def test_powers_have_the_moments_of_isserlis(p: float, q: float, c: float) -> None:
    assert one(np.square, p, q, c) == pytest.approx(p * q + 2 * c**2, rel=1e-13)
    cube = 9 * p * q * c + 6 * c**3
    assert one(lambda s: np.asarray(s) ** 3, p, q, c) == pytest.approx(cube, rel=1e-12)


def test_every_length_of_series_is_reached_and_right() -> None:
    # E[sign(u) sign(v)] = (2/π) arcsin ρ: its coefficients decay slowly, so ρ decides how many terms are needed
    for correlation in (0.5, 0.9, 0.97):
        assert one(np.sign, 1.0, 2.0, math.sqrt(2) * correlation) == pytest.approx(
            2 / math.pi * math.asin(correlation), rel=1e-12
        )


@pytest.mark.parametrize("correlation", [0.99, 0.999, 0.99999, -0.9999])
def test_a_cut_series_says_how_wrong_it_may_be(correlation: float) -> None:
    with pytest.warns(LimesWarning, match="relative error of about") as caught:
        found = one(np.sign, 1.0, 1.0, correlation)
    claimed = float(str(caught[0].message).split("about ")[1].split(":")[0])
    error = abs(found - 2 / math.pi * math.asin(correlation))
    assert 1e-14 < error < 1.1 * claimed  # the claim is printed with one digit


def test_aligned_points_need_no_series() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert one(np.sign, 3.0, 3.0, 3.0) == pytest.approx(1, rel=1e-14)
        assert one(np.sign, 3.0, 2.0, -math.sqrt(3.0) * math.sqrt(2.0)) == pytest.approx(-1, rel=1e-14)


def test_a_kink_between_the_panels_ends_is_noticed() -> None:
    with pytest.warns(LimesWarning):
        one(lambda s: np.abs(s - 0.1), 1.0, 1.0, 0.5)


def test_many_variances_are_taken_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q, c = np.linspace(0.5, 2, 50)[:, None], np.linspace(0.5, 1, 3), np.full((50, 3), -0.25)
    (whole,) = mehler.expectations([np.tanh], p, q, c)
    monkeypatch.setattr(mehler, "CHUNK", 7)
    (parts,) = mehler.expectations([np.tanh], p, q, c)
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-13)


def test_mean_square() -> None:
    assert mehler.mean_square(lambda s: np.asarray(s) ** 4) == pytest.approx(105, rel=1e-13)
    assert mehler.mean_square(lambda s: np.asarray(np.abs(s) < 0.3) + 0.0) == pytest.approx(
        math.erf(0.3 / math.sqrt(2)), rel=1e-10
    )


@pytest.mark.parametrize(
    "function",
    [lambda s: np.exp(np.square(s) / 4), lambda s: 0.0 * np.asarray(s), lambda s: np.asarray(s) + np.nan],
    ids=["infinite", "zero", "nan"],
)
def test_mean_square_refuses(function) -> None:
    with pytest.raises(InvalidInput, match="activation"):
        mehler.mean_square(function)
