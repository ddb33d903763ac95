"""Certified orthant probabilities against the chambers of reflection groups, and where determinants vanish."""

import pytest
from sympy import Expr, Integer, Rational, asin, cos, pi, sqrt

from checks.ledger.orthants import CHAMBERS
from numerics.certified_orthants import ALGORITHMS, orthant3, orthant4
from numerics.certify import certify
from theory.errors import InvalidInput, Undecidable
from theory.orthants import CORRELATIONS

HALF = Rational(1, 2)


def four(*values: Expr | int, digits: int = 30) -> str:
    at = {f"r{i}{j}": Integer(0) + value for (i, j), value in zip(CORRELATIONS, values, strict=True)}
    return certify(lambda: orthant4(at, 0), digits).value


@pytest.mark.parametrize("name", CHAMBERS)
def test_chambers_of_reflection_groups(name: str) -> None:
    """The roots' half-spaces meet in a chamber, one of as many as the group has elements."""
    bonds, order = CHAMBERS[name]
    found = four(*(-cos(pi / bonds.get(pair, 2)) for pair in CORRELATIONS))
    assert abs(Rational(found) * order - 1) < Rational(1, 10**28)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0, 0, 0, 0, 0, 0), Rational(1, 16)),
        ((HALF,) * 6, Rational(1, 5)),
        ((0, 0, 1, 0, 0, 0), Rational(1, 8)),  # equal
        ((0, 0, -1, 0, 0, 0), 0),  # opposite
        ((1, 1, 1, 1, 1, 1), HALF),
        ((0, 0, 1 / sqrt(2), 0, 1 / sqrt(2), 0), Rational(1, 8)),  # the fourth between the first two
        ((0, 0, 1 / sqrt(3), 0, 1 / sqrt(3), 1 / sqrt(3)), Rational(1, 8)),  # in the midst of the others
        ((0, 0, -1 / sqrt(3), 0, -1 / sqrt(3), -1 / sqrt(3)), 0),  # against them
        ((0, 0, 1 / sqrt(2), 0, -1 / sqrt(2), 0), Rational(1, 16)),
        (tuple(cos(pi * (j - i) / 5) for i, j in CORRELATIONS), Rational(1, 5)),  # in a plane
        (tuple(cos(pi * (j - i) / 2) for i, j in CORRELATIONS), 0),  # all around it
    ],
)
def test_degenerate_points_are_exact(values, expected) -> None:
    assert abs(Rational(four(*values)) - expected) < Rational(1, 10**29)


def nearly_flat(epsilon: Rational) -> tuple[Expr, ...]:
    """The vectors `±(1, 0)`, `±(0, 1)` of the plane, raised by `ε d` with `d` at the angle π/3 for the two pairs."""
    across, opposite = epsilon**2 / (1 + epsilon**2) / 2, (epsilon**2 - 1) / (1 + epsilon**2)
    return across, opposite, across, across, opposite, across


@pytest.mark.parametrize("pairs", [("12", "34"), ("13", "24"), ("14", "23")])
def test_two_independent_pairs(pairs) -> None:
    given = dict(zip(pairs, (Rational(9, 10), HALF), strict=True))
    found = four(*(given.get(f"{i}{j}", 0) for i, j in CORRELATIONS))
    product = Integer(1)
    for correlation in given.values():
        product *= Rational(1, 4) + asin(correlation) / (2 * pi)
    assert abs(Rational(found) - product.evalf(40)) < Rational(1, 10**28)


@pytest.mark.parametrize("exponent", [8, 15, 40])
def test_nearly_planar_points(exponent) -> None:
    """`|y_1| < ε z_1, |y_2| < ε z_2` for a normal pair `z`: `(4 ε²/2π) E[z_1⁺ z_2⁺]`, up to the factor `1 + O(ε²)`."""
    epsilon = Rational(1, 10**exponent)
    leading = epsilon**2 / pi**2 * (sqrt(3) / 2 + pi / 3)
    found = Rational(four(*nearly_flat(epsilon), digits=min(30, 2 * exponent)))
    assert abs(found / leading - 1) < 100 * epsilon**2 + Rational(1, 10**29)


def test_a_nearly_flat_simplex() -> None:
    """At `r = q − 1/3` the cone's section is a regular tetrahedron of the inradius `√(3q/4)` volume `8√3 r³`."""
    q = Rational(1, 10**30)
    leading = 8 * sqrt(3) * (3 * q / 4) ** Rational(3, 2) / (2 * pi**2)
    assert abs(Rational(four(*[q - Rational(1, 3)] * 6)) / leading - 1) < Rational(1, 10**28)


def test_what_would_take_minutes_is_refused_in_words() -> None:
    with pytest.raises(Undecidable, match=r"nearly dependent, by 10\^-200: at .* takes too long"):
        four(*nearly_flat(Rational(1, 10**100)))


def test_it_is_the_integral_it_says() -> None:
    assert four(
        Rational(3, 10), Rational(-1, 5), HALF, Rational(1, 10), Rational(2, 5), Rational(-3, 10), digits=12
    ) == ("0.0940848236410")


def test_three_and_its_zero() -> None:
    at = {"r12": HALF, "r13": HALF, "r23": HALF}
    assert certify(lambda: orthant3(at, 0), 20).value == "0.25000000000000000000"
    around = dict.fromkeys(at, -HALF)  # three points around a circle
    assert certify(lambda: orthant3(around, 0), 20).value == "0"
    assert set(ALGORITHMS) == {"orthant-3", "orthant-4"}


@pytest.mark.parametrize(
    "values", [(Rational(-9, 10), Rational(-9, 10), 0, Rational(-9, 10), 0, 0), (Rational(-2, 5),) * 6]
)
def test_indefinite_matrices_are_refused(values) -> None:
    with pytest.raises(InvalidInput, match=r"det\(1, 2, 3.*\) < 0"):
        four(*values)
