"""What exact algebra may settle, and that it is not believed without a ball that agrees."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from sympy import Rational, Symbol, acos, cos, exp, log, pi, sin, sqrt, symbols

from numerics import exact
from numerics.evaluate import enclose, evaluate
from numerics.exact import exact_number, exact_point, settle
from theory.errors import InvalidInput, Undecidable

x, y = symbols("x y")
ONE = cos(1) ** 2 + sin(1) ** 2  # SymPy leaves it as it is
S = Symbol("s", nonnegative=True)


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (3, 3),
        (Fraction(3, 10), Rational(3, 10)),
        (0.1, Rational(3602879701896397, 36028797018963968)),
        (np.float32(0.1), Rational(13421773, 134217728)),
        (np.int64(7), 7),
        (sqrt(2) / 2, sqrt(2) / 2),
        (sympy.Float(0.5), Rational(1, 2)),
    ],
)
def test_numbers_are_taken_exactly(number, value):
    assert exact_number("rho", number) == value


@pytest.mark.parametrize(
    "number",
    ["0.3", True, float("nan"), float("inf"), np.inf, 1j, None, sympy.I, sympy.oo, sympy.nan, x, [1], sympy.zoo],
)
def test_what_is_no_finite_real_number_is_refused(number):
    with pytest.raises(InvalidInput, match="rho = "):
        exact_number("rho", number)


def test_points_name_each_symbol_once_and_respect_its_assumptions():
    count = Symbol("n", integer=True, positive=True)
    assert exact_point(x + count, {"x": 0.5, count: 3}) == {x: Rational(1, 2), count: 3}
    with pytest.raises(InvalidInput, match="at = xx: no such symbol; known are x"):
        exact_point(x + 1, {"xx": 1})
    with pytest.raises(InvalidInput, match="at = y: give these symbols a value"):
        exact_point(x + y, {"x": 1})
    with pytest.raises(InvalidInput, match="n = 1/2: this symbol is integer"):
        exact_point(count, {"n": 0.5})
    with pytest.raises(InvalidInput, match="n = -1: this symbol is positive"):
        exact_point(count, {"n": -1})


@pytest.mark.parametrize(
    ("expression", "settled"),
    [
        (ONE - 1, 0),
        (acos(ONE), 0),
        (acos(-ONE), pi),
        (sqrt(ONE - 1), 0),
        (sympy.acosh(ONE), 0),
        (sympy.sign(ONE - 1), 0),
        (2 + sympy.Heaviside(ONE - 1), Rational(5, 2)),
        (sympy.Piecewise((1, ONE > 1), (2, ONE >= 1), (3, True), evaluate=False), 2),
        (sqrt(sqrt(2) - sqrt(3) + sqrt(5 - 2 * sqrt(6))), 0),
    ],
)
def test_edges_and_zeros_are_settled(expression, settled):
    assert settle(expression, {}, enclose) == (settled, "")


def test_a_near_miss_of_an_edge_is_not_settled():
    nearly = ONE + Rational(1, 10**60)
    assert settle(sympy.sign(nearly - 1), {}, enclose)[0] == sympy.sign(nearly - 1)
    assert evaluate(sympy.sign(nearly - 1)).value == "1"


def test_a_zero_that_the_ball_contradicts_is_not_believed(monkeypatch):
    monkeypatch.setattr(exact.sympy, "simplify", lambda expression: sympy.S.Zero)
    assert settle(sin(1) - Rational(1, 10**100), {}, enclose)[0] != 0


@pytest.mark.parametrize(
    ("expression", "point", "value", "note"),
    [
        (((1 + S) ** 4 - 1) / (4 * S * (1 + S) ** 3), {S: 0}, 1, "cancelled"),
        ((x**2 - y**2) / (x - y), {x: 1, y: 1}, 2, "cancelled"),
        ((1 - cos(x)) / x**2, {x: 0}, Rational(1, 2), "limit for x -> 0"),
        (S * log(S), {S: 0}, 0, "limit for s -> 0"),
        (sin(x) / (x - pi), {x: pi}, -1, "limit for x -> pi"),
    ],
)
def test_removable_singularities_say_so(expression, point, value, note):
    point = {symbol: sympy.sympify(number) for symbol, number in point.items()}
    found, said = settle(expression, point, enclose)
    assert found == value
    assert note in said


@pytest.mark.parametrize(
    ("expression", "point"),
    [(1 / x, {x: 0}), (abs(x) / x, {x: 0}), (exp(1 / x), {x: 0}), (sin(x * y) / (x * y), {x: 0, y: 1})],
)
def test_other_singularities_stay_open(expression, point):
    with pytest.raises(Undecidable, match="singular at x = 0"):
        settle(expression, {symbol: sympy.Integer(number) for symbol, number in point.items()}, enclose)


def test_a_limit_that_values_close_by_contradict_is_not_believed(monkeypatch):
    monkeypatch.setattr(exact.sympy, "limit", lambda *arguments: sympy.Integer(2))
    with pytest.raises(Undecidable, match="do not confirm the limit 2"):
        settle(sin(x) / x, {x: sympy.Integer(0)}, enclose)


def test_what_is_not_real_is_refused():
    for expression, value in ((log(x), -1), (sqrt(x), -2), (acos(x), 2), (x ** Rational(1, 3), -8)):
        with pytest.raises(InvalidInput, match="is not real there"):
            settle(expression, {x: sympy.Integer(value)}, enclose)


def test_numbers_too_large_for_exact_algebra_are_not_written_out():
    with pytest.raises(Undecidable, match="too large for exact algebra"):
        settle(2**x - 2**x * ONE, {x: sympy.Integer(10**9)}, enclose)
    with pytest.raises(Undecidable, match="too large for exact algebra"):
        settle(sympy.factorial(x), {x: sympy.Integer(10**9)}, enclose)
    with pytest.raises(Undecidable, match="too large for exact algebra"):
        settle(12**x, {x: Rational(10**9 - 1, 10**9)}, enclose)
