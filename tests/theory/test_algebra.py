"""What is told of an expression is so, and where it cannot be told that is what is said."""

import time

import pytest
from sympy import (
    Abs,
    Expr,
    Float,
    Function,
    Integer,
    Integral,
    Interval,
    Limit,
    Max,
    Rational,
    S,
    Sum,
    Symbol,
    acos,
    asin,
    cos,
    exp,
    factorial,
    floor,
    gamma,
    log,
    nan,
    oo,
    pi,
    sign,
    sin,
    sqrt,
    symbols,
    tan,
)

from theory.algebra import (
    analytic_at,
    attempt,
    continuous_between,
    is_exp_log,
    positive_on,
    taylor_coefficient,
    vanishes,
)

x, y = symbols("x y", real=True)
p = Symbol("p", positive=True)
n = Symbol("n", integer=True, positive=True)


def test_attempt() -> None:
    assert attempt(lambda: 7) == 7
    assert attempt(lambda: 1 / 0) is None
    start = time.monotonic()
    assert attempt(lambda: [k for k in iter(int, 1)], seconds=0.1) is None
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "zero",
    [
        S.Zero,
        (x + y) ** 3 - x**3 - 3 * x**2 * y - 3 * x * y**2 - y**3,
        sin(x) ** 2 + cos(x) ** 2 - 1,
        1 / (x - 1) - 1 / (x + 1) - 2 / (x**2 - 1),
        sqrt(p) ** 2 - p,
        Integral(Max(0, x), (x, 0, 1)) - Integral(Max(0, x), (x, 0, 1)),
        exp(x) * exp(-x) - 1,
        sqrt(8) - 2 * sqrt(2),
    ],
)
def test_what_vanishes(zero: Expr) -> None:
    assert vanishes(zero) is True


@pytest.mark.parametrize(
    "number", [Integer(1), Rational(-1, 10**30), pi - Rational(22, 7), sqrt(2) - Rational(141, 100)]
)
def test_what_does_not(number: Expr) -> None:
    assert vanishes(number) is False


@pytest.mark.parametrize(
    "open_question",
    [
        x,
        sin(x) - x,
        Abs(x) - x,  # zero for some x
        sqrt(x**2) - x,
        acos(cos(x)) - x,
        Float(0.0),
        Float(1e-20) * x,
        x + nan,
        Integral(Max(0, x), (x, 0, 1)) - Rational(1, 2),  # true, but integrals are unknown numbers
        Integral(x, (x, 0, 1)),
        Sum(1 / n**2, (n, 1, oo)) - pi**2 / 6,
        Limit(sin(p) / p, p, 0) - 1,
    ],
)
def test_what_is_not_decided(open_question: Expr) -> None:
    assert vanishes(open_question) is None


class TestPositiveOn:
    unit = Interval(0, 1)

    @pytest.mark.parametrize(
        "positive", [1 + x, x**2 + 1, exp(-x), 2 - x, sqrt(1 + x), cos(x), 1 / (1 + x), (x - 2) ** 2, log(2 + x)]
    )
    def test_yes(self, positive: Expr) -> None:
        assert positive_on(positive, x, self.unit)

    @pytest.mark.parametrize(
        "not_positive",
        [x, x - 2, -exp(x), x - Rational(1, 2), (x - Rational(1, 2)) ** 2, sin(x) - 2, tan(2 * x), 1 / (x - 2), S.Zero],
    )
    def test_no(self, not_positive: Expr) -> None:
        assert not positive_on(not_positive, x, self.unit)

    def test_jumps_and_complex_values(self) -> None:
        assert not positive_on(sign(x - Rational(1, 2)) + Rational(1, 2), x, self.unit)
        assert not positive_on((x - 2) ** Rational(1, 3) + 5, x, self.unit)
        assert not positive_on(Float(1.5) + x, x, self.unit)

    def test_open_and_unbounded_intervals(self) -> None:
        assert positive_on(x, x, Interval.open(0, 1))
        assert positive_on(x, x, Interval.open(0, oo))
        assert not positive_on(x, x, Interval(0, oo))
        assert positive_on(1 + x**2, x, Interval(-oo, oo))
        assert positive_on(-x, x, Interval.open(-oo, 0))

    def test_assumptions_on_the_symbol_do_not_enter(self) -> None:
        assert not positive_on(p, p, Interval(-1, 1))


class TestContinuousBetween:
    @pytest.mark.parametrize("function", [x**3, exp(x) * sin(x), 1 / (1 + x**2), asin(x / 4), Integer(3), y * x])
    def test_yes(self, function: Expr) -> None:
        assert continuous_between(function, x, [S.Zero, S.One])

    @pytest.mark.parametrize("function", [1 / x, log(x), tan(2 * x), sign(x), floor(x), 1 / (x - 1), Abs(x) / x])
    def test_no(self, function: Expr) -> None:
        assert not continuous_between(function, x, [Integer(-1), Integer(2)])

    def test_assumptions_against_the_ends(self) -> None:
        assert continuous_between(sqrt(2 + p) / (1 + p), p, [S.Zero, S.One])
        assert not continuous_between(1 / (Rational(1, 2) + p), p, [Integer(-1), S.One])
        assert not continuous_between(1 / p, p, [S.Zero, S.One])

    def test_infinite_end(self) -> None:
        assert continuous_between(exp(-(p**2)), p, [S.Zero, oo])


class TestAnalyticAt:
    @pytest.mark.parametrize(
        "function", [sin(x) / (1 + x), sqrt(1 + x), log(1 + x), exp(x) ** 3, x**5, y * x, 1 / (2 - x)]
    )
    def test_yes(self, function: Expr) -> None:
        assert analytic_at(function, {x: S.Zero})

    @pytest.mark.parametrize(
        "function", [1 / x, sqrt(x), log(x), sqrt(x - 1), Abs(x), sin(x) / x, Function("f")(x), 0.5 * x]
    )
    def test_no(self, function: Expr) -> None:
        assert not analytic_at(function, {x: S.Zero})

    def test_two_variables(self) -> None:
        assert analytic_at(x * y / (1 + x + y), {x: S.Zero, y: S.Zero})
        assert not analytic_at(x / y, {x: S.Zero, y: S.Zero})


def test_taylor_coefficient() -> None:
    for order in range(5):
        assert taylor_coefficient(exp(3 * x), x, order) == Integer(3) ** order / factorial(order)
    assert taylor_coefficient(1 / (1 - y * x), x, 3) == y**3


def test_is_exp_log() -> None:
    assert is_exp_log(exp(p) * log(p) / sqrt(p) + p**3)
    for other in (sin(p), gamma(p), Max(0, x), Function("f")(x), 0.5 * p, Sum(n, (n, 1, x)), floor(x), sqrt(x)):
        assert not is_exp_log(other)
