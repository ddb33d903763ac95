"""Certified digits against mpmath at a higher precision, on formulas drawn at random and on hard cases."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext
from sympy import Function, Integral, Max, Rational, Symbol, acos, cos, exp, log, oo, pi, sin, sqrt, symbols

from numerics import exact
from numerics.balls import precision
from numerics.evaluate import enclose, evaluate, values
from theory.errors import InvalidInput, Undecidable

x, y = symbols("x y", real=True)


def oracle(node, point, mp):
    """The value of a formula by mpmath, at the precision of the context `mp`."""
    if node in point:
        return mp.mpf(point[node].numerator) / point[node].denominator
    if node.is_Rational:
        return mp.mpf(int(node.p)) / int(node.q)
    if node in (sympy.pi, sympy.E):
        return +(mp.pi if node is sympy.pi else mp.e)
    arguments = [oracle(argument, point, mp) for argument in node.args]
    if node.is_Add:
        return mp.fsum(arguments)
    if node.is_Mul:
        return mp.fprod(arguments)
    if node.is_Pow:
        return mp.power(*arguments)
    named_otherwise = {sympy.Abs: mp.fabs, Max: max}
    return (named_otherwise.get(type(node)) or getattr(mp, type(node).__name__))(*arguments)


leaves = st.one_of(
    st.sampled_from([x, y, pi]),
    st.fractions(min_value=-3, max_value=3, max_denominator=20).map(lambda q: Rational(q.numerator, q.denominator)),
)


def _grown(parts):
    bounded = [sin, cos, sympy.tanh, sympy.atan, sympy.erf]
    return st.one_of(
        st.tuples(parts, parts).map(lambda ab: ab[0] + ab[1]),
        st.tuples(parts, parts).map(lambda ab: ab[0] * ab[1]),
        st.tuples(parts, parts).map(lambda ab: Max(*ab)),
        st.tuples(st.sampled_from(bounded), parts).map(lambda fa: fa[0](fa[1])),
        parts.map(lambda a: exp(sin(a))),
        parts.map(lambda a: sqrt(1 + a**2)),
        parts.map(lambda a: sympy.log(2 + a**2)),
        parts.map(lambda a: (1 + a**2) ** Rational(-3, 2)),
        parts.map(lambda a: acos(sin(a) / 2)),
        parts.map(abs),
    )


formulas = st.recursive(leaves, _grown, max_leaves=8)
points = st.fractions(min_value=-4, max_value=4, max_denominator=1000)


@settings(max_examples=150, deadline=None)
@given(formulas, points, points, st.integers(1, 60), st.integers(1, 60))
def test_digits_agree_with_mpmath_and_with_another_precision(formula, a, b, digits, others):
    point = {symbol: value for symbol, value in ((x, a), (y, b)) if symbol in formula.free_symbols}
    first, second = evaluate(formula, point, digits), evaluate(formula, point, others)
    mp = MPContext()
    mp.dps = 3 * max(digits, others) + 60
    truth = oracle(formula, point, mp)
    for value in (first, second):
        assert abs(mp.mpf(value.value) - truth) <= mp.mpf(value.radius) * (1 + mp.mpf(10) ** -20) + mp.mpf(10) ** -(
            mp.dps - 30
        )
    if abs(truth) > 1e-300:
        assert math.isclose(float(first), float(truth), rel_tol=2.0**-51)


@pytest.mark.parametrize(
    ("expression", "at", "digits", "value"),
    [
        # the last digits after heavy cancellation, at known constants
        (exp(pi * sqrt(163)) - 262537412640768744, {}, 10, "-7.499274028e-13"),
        (sin(x), {x: 10**22}, 15, "-0.852200849767189"),
        ((1 - 1 / x) ** x, {x: 10**6}, 20, "0.36787925723164509429"),
        (exp(-exp(x)), {x: 100}, 5, "3.6149e-11674344414002886632798167381008836736851881"),
        (exp(x), {x: 10**9}, 12, "8.00298177066e434294481"),
        (sympy.erf(x), {x: 10**9}, 5, "1.0000"),
        (Max(exp(x), 1) / sqrt(1 + exp(2 * x)), {x: 10**9}, 5, "1.0000"),
        (acos(x), {x: 1}, 30, "0"),
        (sqrt(1 - x**2 - y**2), {x: Fraction(3, 5), y: Fraction(4, 5)}, 30, "0"),
        (Integral(Max(0, x) ** 2 * exp(-(x**2) / 2) / sqrt(2 * pi), (x, -oo, oo)), {}, 40, "0." + "5".ljust(40, "0")),
        (Integral(sin(x) ** 3, (x, -1, 1)), {}, 10, "0"),
        (x, {x: 0.1}, 20, "0.10000000000000000555"),
        ((log(1 + x) - x) / x**3 + 1 / (2 * x), {x: Fraction(1, 10**3000)}, 10, "0.3333333333"),
    ],
)
def test_hard_cases(expression, at, digits, value):
    assert evaluate(expression, at, digits).value == value


def test_names_may_stand_for_symbols_and_the_note_says_what_was_done():
    s = Symbol("s", nonnegative=True)
    crossover = ((1 + s) ** 4 - 1) / (4 * s * (1 + s) ** 3)
    assert evaluate(crossover, {"s": 1}).note == ""
    at_zero = evaluate(crossover, {"s": 0})
    assert at_zero.value == "1"
    assert "removable singularity" in at_zero.note


def test_what_stays_open_names_the_part(monkeypatch):
    monkeypatch.setattr(exact, "SECONDS", 0.2)
    one = cos(1) ** 2 + sin(1) ** 2
    with pytest.raises(Undecidable, match=r"^Integral\(sin\(x\)/x, \(x, 0, 1\)\): .*no finite ball"):
        evaluate(sqrt(2) * Integral(sin(x) / x, (x, 0, 1)))
    with pytest.raises(Undecidable, match="cannot be told from zero"):
        evaluate(Integral(sin(x) ** 3 * exp(-(x**4)), (x, -oo, oo)), digits=3)
    with pytest.raises(Undecidable, match="singular at x = 0"):
        evaluate(one / x, {x: 0})
    with pytest.raises(Undecidable, match=r"no finite ball .* exact algebra"):
        evaluate(acos(1 + exp(-exp(x))), {x: 100})


@pytest.mark.parametrize("expression", ["x + 1", 3, None, x > 1])
def test_only_expressions_are_evaluated(expression):
    with pytest.raises(InvalidInput, match="expression"):
        evaluate(expression, {})
    with pytest.raises(InvalidInput, match="expression"):
        values(expression, {"x": [1.0]})


def test_integrals_must_be_definite_and_one_dimensional():
    for integral in (Integral(x, x), Integral(x * y, (x, 0, 1), (y, 0, 1))):
        with pytest.raises(InvalidInput, match="definite integrals in one variable"):
            evaluate(integral, {x: 1} if integral.free_symbols else {})


def test_enclose_works_at_the_precision_of_its_caller():
    for bits in (64, 640):
        with precision(bits):
            assert abs(enclose(sqrt(2), {}).rel_accuracy_bits() - bits) < 4


# --- float64 arrays


def test_arrays_are_broadcast_and_agree_with_evaluate():
    expression = Max(x, y) * sympy.erf(x) + sympy.Piecewise((sin(x), x < 1), (x**2, True)) + abs(y) ** Rational(3, 2)
    rows, columns = np.linspace(-2, 2, 5)[:, None], np.linspace(0, 3, 4)
    found = values(expression, {"x": rows, y: columns})
    assert found.shape == (5, 4)
    assert found.dtype == np.float64
    for index in np.ndindex(found.shape):
        truth = float(evaluate(expression, {x: rows[index[0], 0], y: columns[index[1]]}))
        assert math.isclose(found[index], truth, rel_tol=1e-14, abs_tol=1e-14)


def test_entries_that_float64_cannot_do_are_repaired():
    s = Symbol("s", nonnegative=True)
    assert values(((1 + s) ** 4 - 1) / (4 * s * (1 + s) ** 3), {"s": [0, 1]}).tolist() == [1.0, 0.46875]
    assert values(Integral(x * y, (x, 0, 1)), {"y": [1, 2]}).tolist() == [0.5, 1.0]
    assert values(sympy.Integer(3), {}).tolist() == 3.0
    assert values(sympy.gamma(x) / sympy.gamma(x - 1), {"x": [200.0]}).tolist() == [199.0]
    with pytest.raises(Undecidable):
        values(1 / x, {"x": [0.0, 1.0]})
    with pytest.raises(Undecidable):
        values(sympy.factorial(x), {"x": [-1.0]})
    with pytest.raises(InvalidInput, match="2000 points"):
        values(1 / x, {"x": np.zeros(2000)})


def test_names_are_not_run_as_code():
    evil = Symbol("(lambda: (_ for _ in ()).throw(SystemExit))()")
    assert values(evil + 1, {evil: [1, 2]}).tolist() == [2.0, 3.0]
    with pytest.raises(InvalidInput, match="has no certified evaluation"):
        values(Function("print")(x), {"x": [1.0]})


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="broadcast"):
        values(x + y, {"x": [1.0, 2.0], "y": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("array", [[], [np.nan], [np.inf], ["1"], [1j], [True], [None], [[1], [2, 3]]])
def test_bad_arrays_are_refused(array):
    with pytest.raises(InvalidInput, match="x = "):
        values(x + 1, {"x": array})


def test_arrays_respect_the_assumptions_of_symbols():
    with pytest.raises(InvalidInput, match="this symbol is positive"):
        values(sympy.log(Symbol("h", positive=True)), {"h": [1.0, -1.0, 2.0]})
