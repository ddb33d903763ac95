"""Correlations of models scaled, added and composed, against SymPy's derivatives."""

import itertools

import pytest
from sympy import Rational, diff, factorial, symbols, tanh

from theory import external_scale
from theory.correlations import D, d
from theory.derivation import How
from theory.errors import InvalidInput
from theory.external_scale import Summand, c, c1, c2, composition, g1, g2, kappa, lazy_power, scale_power, shared_sum

x, y = symbols("x y", real=True)
FUNCTION = x + 2 * y + x**2 * y / 3 - x * y**3


def correlation(function, free, contracted, at, rate):
    """Entries of `C_{D,d}` by definition."""
    names = (x, y)
    gradient = [diff(function, name).subs(at) for name in names]
    entries = {}
    for index in itertools.product((0, 1), repeat=free):
        total = 0
        for other in itertools.product((0, 1), repeat=contracted):
            derivative = diff(function, *(names[i] for i in (*index, *other)))
            product = derivative.subs(at)
            for i in other:
                product *= gradient[i]
            total += product
        entries[index] = rate ** (Rational(free, 2) + contracted) * total / (factorial(free) * factorial(contracted))
    return entries


@pytest.mark.parametrize(("free", "contracted"), [(0, 1), (0, 2), (1, 1), (0, 3), (2, 1), (1, 2)])
def test_a_factor_has_its_powers(free, contracted):
    at, factor, rate = {x: Rational(1, 2), y: Rational(-1, 3)}, Rational(3, 2), Rational(4, 9)
    numbers = {D: free, d: contracted, kappa: factor}
    own = correlation(FUNCTION, free, contracted, at, rate)
    scaled = correlation(factor * FUNCTION, free, contracted, at, rate)
    lazy = correlation(factor * FUNCTION, free, contracted, at, rate / factor**2)
    for index, value in own.items():
        assert scaled[index] == scale_power().conclusion.subs(numbers) * value
        assert lazy[index] == lazy_power().conclusion.subs(numbers) * value


@pytest.mark.parametrize("model", Summand)
def test_the_sum_with_shared_parameters(model):
    functions = {Summand.FIRST: x + c * y**2 / 2, Summand.SECOND: y, Summand.SUM: x + c * y**2 / 2 + y}
    function, origin = functions[model], {x: 0, y: 0}
    assert correlation(function, 0, 2, origin, 1)[()] == shared_sum(model).conclusion
    higher = [correlation(function, *order, origin, 1) for order in ((0, 2), (0, 3), (1, 1), (1, 2), (2, 1), (2, 2))]
    assert any(any(entries.values()) for entries in higher) == (model is Summand.SUM)


def test_a_composition():
    outer, at = tanh, {x: Rational(1, 5), y: Rational(2, 5)}
    inner = FUNCTION.subs(at)
    s = symbols("s")
    slopes = {g1: diff(outer(s), s).subs(s, inner), g2: diff(outer(s), s, 2).subs(s, inner)}
    own = {name: correlation(FUNCTION, 0, k, at, 1)[()] for k, name in ((1, c1), (2, c2))}
    found = correlation(outer(FUNCTION), 0, 2, at, 1)[()]
    assert float(found - composition().conclusion.subs(slopes | own)) == pytest.approx(0, abs=1e-14)
    assert float(found) != pytest.approx(float((g1**3 * c2).subs(slopes | own)), rel=1e-3)


def test_all_steps_are_exact():
    made = [scale_power(), lazy_power(), composition(), *map(shared_sum, Summand)]
    assert {step.outcome.how for derivation in made for step in derivation.check()} == {How.ALGEBRA}


def test_bad_input():
    with pytest.raises(InvalidInput):
        external_scale.shared_sum("F_1")
