"""The formulas that can be evaluated by name: what they take, what they refuse, and what they say."""

from __future__ import annotations

import math

import pytest
from sympy import E, Float, I, Integer, Interval, Rational, S, Symbol, cos, log, nan, oo, pi, sqrt, zoo

from theory import correlation, crossover, depth
from theory.errors import InvalidInput
from theory.formulas import FORMULAS, ONE_ULP, Parameter, formula_named

PROMISED = {  # the names and parameters that others rely on
    "relu-nngp": ("rho", "L"),
    "relu-ntk": ("rho", "L"),
    "relu-ntk-normalised": ("rho", "L"),
    "depth-leading-error": ("L",),
    "depth-crossover": ("s",),
}
RHO = Parameter(correlation.rho, Interval(-1, 1), "the correlation")
DEPTH = Parameter(Symbol("L", integer=True, nonnegative=True), Interval(0, oo), "the depth")
OPEN = Parameter(Symbol("x", real=True), Interval.open(0, 1), "a fraction")


@pytest.mark.parametrize(("name", "parameters"), PROMISED.items())
def test_the_promised_formulas(name: str, parameters: tuple[str, ...]) -> None:
    assert tuple(parameter.name for parameter in formula_named(name).parameters) == parameters


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_each_formula_is_complete(formula) -> None:
    assert FORMULAS[formula.name] is formula
    assert formula.title
    assert formula.source
    assert (formula.expression is None) != (formula.definition == "")
    assert all(parameter.meaning for parameter in formula.parameters)
    if formula.expression is not None:
        # `correlation-decay-exponent` takes a depth, on which it does not depend
        assert formula.expression().free_symbols <= {parameter.symbol for parameter in formula.parameters}


def test_the_expressions_are_those_derived() -> None:
    assert formula_named("depth-leading-error").expression() == depth.depth_rate().conclusion * log(depth.L) / depth.L
    assert formula_named("depth-crossover").expression() == crossover.crossover().conclusion
    assert formula_named("depth-crossover-correction").expression() == crossover.crossover_correction().conclusion


@pytest.mark.parametrize("name", ["relu-ntc", "", "RELU-NTK", "depth", "../relu-ntk", 3, None])
def test_an_unknown_name_is_refused_with_the_nearest(name) -> None:
    with pytest.raises(InvalidInput, match="nearest are"):
        formula_named(name)


@pytest.mark.parametrize("value", [Integer(1), Integer(-1), Integer(0), Rational(3, 10), sqrt(2) / 2, cos(1), pi - 3])
def test_what_is_inside_is_taken_as_it_is(value) -> None:
    assert RHO.admit(value) == (value, "")


@pytest.mark.parametrize(("value", "end"), [(1 + ONE_ULP, 1), (-1 - ONE_ULP, -1), (1 + ONE_ULP / 3, 1)])
def test_one_ulp_outside_is_clipped_and_said(value, end: int) -> None:
    admitted, note = RHO.admit(value)
    assert admitted == end
    assert "was taken as" in note
    assert str(value) in note
    assert float(ONE_ULP) == math.nextafter(1, 2) - 1


@pytest.mark.parametrize(
    "value", [1 + 2 * ONE_ULP, Integer(2), -pi, nan, oo, -oo, zoo, I, 1 + I, Symbol("y"), sqrt(-1), log(-1)]
)
def test_what_is_outside_is_refused_with_the_range(value) -> None:
    with pytest.raises(InvalidInput, match=r"rho = .*give a number in \[-1, 1\]: the correlation"):
        RHO.admit(value)


@pytest.mark.parametrize("value", [Rational(1, 2), sqrt(2), pi, Integer(-1), oo, nan, Float(2.5)])
def test_a_depth_is_a_natural_number(value) -> None:
    with pytest.raises(InvalidInput, match=r"L = .*\[0, oo\)"):
        DEPTH.admit(value)
    assert DEPTH.admit(Integer(0)) == (0, "")
    assert DEPTH.admit(sqrt(4)) == (2, "")


def test_an_open_end_is_not_clipped_to() -> None:
    assert OPEN.range() == "(0, 1)"
    for value in (S.Zero, S.One, -ONE_ULP, 1 + ONE_ULP):
        with pytest.raises(InvalidInput):
            OPEN.admit(value)
    assert OPEN.admit(ONE_ULP) == (ONE_ULP, "")
    assert Parameter(Symbol("x"), Interval.Lopen(0, oo), "").range() == "(0, oo)"


def test_a_point_is_checked_as_a_whole() -> None:
    ntk = formula_named("relu-ntk")
    point, notes = ntk.admit({"rho": 1 + ONE_ULP, "L": Integer(3)})
    assert {symbol.name: value for symbol, value in point.items()} == {"rho": 1, "L": 3}
    assert len(notes) == 1
    with pytest.raises(InvalidInput, match="the parameters of relu-ntk are rho, L"):
        ntk.admit({"rho": Integer(0), "L": Integer(3), "width": Integer(5)})
    with pytest.raises(InvalidInput, match="L is missing"):
        ntk.admit({"rho": Integer(0)})
    with pytest.raises(InvalidInput, match="L = E"):
        ntk.admit({"rho": Integer(0), "L": E})


def test_the_ranges_of_the_crossover_and_the_rate() -> None:
    (at,) = formula_named("depth-crossover").parameters
    assert at.range() == "[0, oo)"
    (layers,) = formula_named("depth-leading-error").parameters
    assert layers.range() == "[1, oo)"  # log L/L has no value at 0
    with pytest.raises(InvalidInput):
        layers.admit(Integer(0))
