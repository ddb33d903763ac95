"""Inequalities over boxes: true ones hold, false ones give a point that can be evaluated again, others stay open."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq, Max, Rational, Symbol, acos, cos, erf, exp, gamma, log, oo, pi, sin, sqrt, symbols, tan, true

from numerics.evaluate import evaluate
from numerics.subdivision import Outcome, holds
from theory.errors import InvalidInput

x, y, z = symbols("x y z", real=True)
HOLDS, VIOLATED, UNDECIDED = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED
tenth = Fraction(1, 10)


@pytest.mark.parametrize(
    ("inequality", "over"),
    [
        (exp(x) > 1 + x, {x: (tenth, 1)}),
        (exp(x) >= 1 + x, {x: (-1, 1)}),  # touches at 0, a corner after one halving
        (x - sin(x) >= 0, {x: (0, 3)}),  # to third order at 0
        (sin(x) - x <= 0, {x: (0, 3)}),
        (tan(x) >= x, {x: (0, 1.5)}),
        (erf(x) <= 2 * x / sqrt(pi), {x: (0, 2)}),
        (acos(x) >= 0, {x: (-1, 1)}),
        (sqrt(1 - x**2) >= 0, {x: (-1, 1)}),
        ((3 * x - 1) ** 2 + y >= 0, {x: (0, 1), y: (0, 1)}),  # touches at 1/3, where no halving ends
        (3 * x >= 1, {x: (Fraction(1, 3), 2)}),  # touches at an end without a finite binary expansion
        (x + y * z > -1, {x: (0, 1), y: (-1, 1), z: (0, Fraction(1, 2))}),
        (sin(x) * sin(y) <= 1, {x: (0, 3), y: (0, 3)}),
        (x * sin(y) < 2, {"x": (0, 1), "y": (0, 9)}),
        (Max(x, y) > 0, {x: (tenth, 1), y: (-1, 1)}),
        (x >= 1, {x: (1, 1)}),
    ],
)
def test_true_inequalities_hold(inequality, over):
    found = holds(inequality, over, budget=2000)
    assert found.outcome is HOLDS
    assert not found.remaining


@pytest.mark.parametrize(
    ("inequality", "over"),
    [
        (x**2 > x / 2, {x: (Fraction(1, 8), 1)}),
        (sin(x * y) < Rational(99, 100), {x: (0, 3), y: (0, 3)}),
        (x > 0, {x: (0, 1)}),  # only at the end
        (3 * x > 1, {x: (Fraction(1, 3), 2)}),  # only at an end that no ball hits
        (exp(x) >= 1 + x + x**2 / 2, {x: (-1, 1)}),
        (cos(x) <= 1 - Rational(1, 10**30), {x: (-1, 1)}),
        (sqrt(x) >= x, {x: (0, Fraction(1001, 1000))}),
        (x + y + z > 0, {x: (-1, 0), y: (0, 1), z: (0, 1)}),
    ],
)
def test_false_inequalities_give_a_point_that_fails_again(inequality, over):
    found = holds(inequality, over)
    assert found.outcome is VIOLATED
    for symbol, value in found.counterexample.items():
        assert isinstance(value, Fraction)
        assert over[symbol][0] <= value <= over[symbol][1]
    difference = inequality.gts - inequality.lts
    again = evaluate(difference, found.counterexample)
    assert again.ball <= 0
    assert found.value is not None
    assert found.value.overlaps(again.ball)


def test_zero_is_not_positive_in_any_dimension():
    many = symbols("a:5", real=True)
    box = dict.fromkeys(many, (0, 0))
    assert holds(sum(many) > 0, box).outcome is VIOLATED
    assert holds(sum(many) >= 0, box).outcome is HOLDS


def test_functions_of_balls():
    def cubic(shift: str):
        return lambda a: a * a * a - a + arb(shift)  # its minimum is shift − 0.38490…

    assert holds(cubic("0.385"), {"a": (0, 2)}).outcome is HOLDS
    found = holds(cubic("0.38"), {"a": (0, 2)})
    assert found.outcome is VIOLATED
    assert cubic("0.38")(arb(found.counterexample["a"].numerator) / found.counterexample["a"].denominator) < 0
    assert holds(lambda a, b: a - b, {"a": (2, 3), "b": (0, 1)}).outcome is HOLDS


def test_a_ball_that_is_not_finite_is_never_a_pass():
    assert holds(lambda a: arb.nan(), {"a": (0, 1)}, budget=50).outcome is UNDECIDED
    assert holds(1 / x > 0, {x: (0, 1)}, budget=200).outcome is UNDECIDED
    assert holds(log(x) >= -(10**6), {x: (0, 1)}, budget=500).outcome is UNDECIDED
    assert holds(gamma(x) > -5, {x: (-1, 1)}, budget=500).outcome is not HOLDS


def test_what_remains_is_told_and_covers_what_is_open():
    found = holds(log(x) <= x - 1, {x: (tenth, 3)})  # touches at 1, which no halving hits
    assert found.outcome is UNDECIDED
    assert any(box[x][0] <= 1 <= box[x][1] for box in found.remaining)
    assert all(box[x][1] - box[x][0] < Fraction(1, 10**9) for box in found.remaining)
    few = holds(x * y <= (x**2 + y**2) / 2, {x: (0, 1), y: (0, 1)}, budget=10)
    assert few.outcome is UNDECIDED
    assert few.boxes == 10
    assert few == holds(x * y <= (x**2 + y**2) / 2, {x: (0, 1), y: (0, 1)}, budget=10)


coefficients = st.fractions(min_value=-3, max_value=3, max_denominator=12)


@settings(max_examples=60, deadline=None)
@given(coefficients, coefficients, coefficients)
def test_quadratics_on_the_unit_interval(a: Fraction, b: Fraction, c: Fraction):
    """Oracle: the exact minimum, at an end or at the vertex."""
    candidates = [Fraction(0), Fraction(1)] + ([-b / (2 * a)] if a and 0 <= -b / (2 * a) <= 1 else [])
    least = min(a * t * t + b * t + c for t in candidates)
    inequality = Rational(a) * x**2 + Rational(b) * x + Rational(c) >= 0
    if inequality in (True, False) or not inequality.free_symbols:
        return
    found = holds(inequality, {x: (0, 1)}, budget=3000)
    assert found.outcome is (HOLDS if least > 0 else VIOLATED if least < 0 else found.outcome)
    if least == 0:
        assert found.outcome is not VIOLATED


@pytest.mark.parametrize(
    ("inequality", "over", "message"),
    [
        (x > 0, {x: (1, 0)}, "lower end first"),
        (x > 0, {x: (0, pi)}, "rational ends"),
        (x > 0, {x: (0, oo)}, "finite real number"),
        (x > 0, {x: (0, float("nan"))}, "finite number"),
        (x > 0, {x: (0, "1")}, "give a number"),
        (x > 0, {x: 1}, r"give an interval \(a, b\)"),
        (x > 0, {}, "give at least one symbol"),
        (x > y, {x: (0, 1)}, "give an interval to each of"),
        (x > 0, {x: (0, 1), y: (0, 1)}, "give an interval to each of"),
        (x + Symbol("x") > 0, {"x": (0, 1)}, "give an interval to each of"),
        (Eq(x, 1), {x: (0, 1)}, "give a comparison with"),
        (x + 1, {x: (0, 1)}, "give a comparison with"),
        (true, {x: (0, 1)}, "already decided"),
        ("x > 0", {x: (0, 1)}, "give a SymPy comparison or a function"),
    ],
)
def test_bad_questions_are_refused(inequality, over, message):
    with pytest.raises(InvalidInput, match=message):
        holds(inequality, over)


@pytest.mark.parametrize("budget", [0, -1, 1.5, True])
def test_bad_budgets_are_refused(budget):
    with pytest.raises(InvalidInput, match="budget"):
        holds(x > 0, {x: (0, 1)}, budget)
