"""Leading terms of closed expressions: against values close to the end, and the checks that must fail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Expr, Interval, Limit, Rational, S, Symbol, asin, exp, log, oo, sin, sqrt

from theory.derivation import How
from theory.leading_terms import (
    AttainedAtEnd,
    Expansion,
    RationalInDistance,
    attained,
    expand_exp_log,
    expand_in_powers,
    expand_taylor,
    limit_of,
)
from theory.paths import Path

c = Symbol("c", positive=True)
h = Symbol("h", integer=True, positive=True)
v = Symbol("v", positive=True)
r = Symbol("r", real=True)
z = Symbol("z", positive=True)


def remainder_falls(function: Expr, found: Expansion, path: Path, powers=(6, 12)) -> bool:
    """`(f − value − terms)/remainder` falls along the path: the definition of `o(remainder)`, seen at two points."""
    known = sum(found.terms) + (found.value if found.value.is_finite else 0)
    left = (function - known) / found.remainder
    near, nearer = (abs(left.subs({path.variable: path.step(power), c: 2}).evalf(60)) for power in powers)
    return bool(nearer < near / 2)


@pytest.mark.parametrize(
    ("function", "path", "value"),
    [
        ((c * h + 1) / (h - c), Path(h, oo), c),
        ((h**2 + c) / (h + 1), Path(h, oo), oo),
        ((1 - h**3) / (h**2 + c), Path(h, oo), -oo),
        ((c * sqrt(h) + 1) / (sqrt(h) + h ** Rational(1, 3)), Path(h, oo), c),
        ((1 - v) / (1 + c * v**2), Path(v, S.Zero), S.One),
        ((1 + r) / (2 - r) + c * r**3, Path(r, S.One, side=-1), c + 2),
        (r**2 / (1 + r**2), Path(r, -oo), S.One),
    ],
)
def test_rational_functions_for_all_values_of_the_symbols(function, path: Path, value) -> None:
    found = expand_in_powers(function, path)
    assert found is not None
    assert found.value == value
    assert found.proved
    assert remainder_falls(function, found, path)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=4), st.lists(st.integers(-3, 3), min_size=1, max_size=4))
def test_quotients_of_polynomials(top: list[int], bottom: list[int]) -> None:
    numerator, denominator = (sum(n * h**i for i, n in enumerate(part)) for part in (top, bottom))
    if denominator == 0:
        return
    function = numerator / denominator
    found = expand_in_powers(function, Path(h, oo))
    assert found is not None
    assert found.proved
    exact = sum(found.terms) + (found.value if found.value.is_finite else 0)
    if found.remainder == 0:
        assert (exact - function).simplify() == 0
    else:
        assert remainder_falls(function, found, Path(h, oo))


@pytest.mark.parametrize(
    "function", [(c - 1) * h, h / (c * h - h + 1), exp(-h), log(h), h**c, sin(h), (-1) ** h, sqrt(h + 1)]
)
def test_what_depends_on_the_symbols_or_is_no_power_is_not_guessed(function) -> None:
    assert expand_in_powers(function, Path(h, oo)) is None


def test_a_coefficient_that_may_vanish_does_no_harm_below_the_leading_one() -> None:
    found = expand_in_powers((c - 1) / h + 1 / h**2, Path(h, oo))
    assert found is not None
    assert (found.value, found.terms) == (0, ((c - 1) / h, h**-2))


@pytest.mark.parametrize(
    ("function", "path", "value", "term"),
    [
        ((1 + log(v + 1)) / v, Path(v, oo), S.Zero, log(v) / v),
        (1 - exp(-v), Path(v, oo), S.One, -exp(-v)),
        (log(v) + log(v) ** 2 / v, Path(v, oo), oo, log(v)),
        (v * log(v) + v, Path(v, S.Zero), S.Zero, v * log(v)),
    ],
)
def test_exponentials_and_logarithms(function, path: Path, value, term) -> None:
    found = expand_exp_log(function, path)
    assert found is not None
    assert found.value == value
    assert (found.terms[0] - term).rewrite(log).expand(force=True) == 0
    assert found.proved


@pytest.mark.parametrize("function", [exp(-c * v), sin(v) / v, (-1) ** h])
def test_gruntz_is_asked_about_nothing_else(function) -> None:
    assert expand_exp_log(function, Path(v, oo)) is None


def test_taylor() -> None:
    found = expand_taylor(log(1 + v) - v, Path(v, S.Zero))
    assert found is not None
    assert (found.value, found.terms, found.proved) == (0, (-(v**2) / 2,), True)
    assert expand_taylor(log(1 + v) - v, Path(v, oo)) is None
    assert expand_taylor(sqrt(v), Path(v, S.Zero)) is None


def test_continuity_at_a_closed_end() -> None:
    found = attained(asin(r), Path(r, S.One, side=-1))
    assert found is not None
    assert found.value == asin(1)
    assert attained(1 / (1 - r), Path(r, S.One, side=-1)) is None
    assert attained(asin(r), Path(r, oo)) is None


@pytest.mark.parametrize(
    ("reason", "before", "after", "how"),
    [
        (RationalInDistance(z, 1 / z), limit_of(h / (h + 1), Path(h, oo)), S.One, How.LEMMA),
        (RationalInDistance(z, 1 / z), limit_of(h / (h + 1), Path(h, oo)), S.Zero, How.WRONG),
        (RationalInDistance(z, z), limit_of(h / (h + 1), Path(h, oo)), S.Zero, How.WRONG),  # another end
        (RationalInDistance(z, 1 - z), Limit(1 / r, r, 1, "+"), S.One, How.WRONG),  # another side
        (RationalInDistance(z, 1 / z), limit_of(h, Path(h, oo)), S.One, How.UNDECIDED),
        (RationalInDistance(z, 1 / z), limit_of(sin(h), Path(h, oo)), S.One, How.UNDECIDED),
        (AttainedAtEnd(-1), Limit(asin(r), r, 1, "-"), S.One, How.WRONG),
        (AttainedAtEnd(-1), Limit(r + 1, r, 1, "-"), S.One, How.WRONG),
        (AttainedAtEnd(-1), Limit(1 / (r - 1), r, 1, "-"), S.One, How.UNDECIDED),
    ],
)
def test_the_reasons_check(reason, before, after, how: How) -> None:
    assert reason.check(before, after).how is how


def test_the_domain_of_a_limit_is_its_side() -> None:
    assert Interval(0, 1).contains(Path(r, S.One, side=-1).step(2)) == True  # noqa: E712
