"""Deep kernels along curves: against the recursion itself at large depth, and the lemmas' checks."""

from __future__ import annotations

import math

import pytest
from sympy import Expr, Limit, Rational, S, Symbol, cos, exp, limit, log, oo, pi

from theory.crossover import crossover, s
from theory.deep_limits import (
    NNGP,
    NORMALISED,
    FewLayers,
    Lemma,
    _limit,
    coinciding,
    crossover_at,
    curve_along,
    nngp,
    normalised,
    ntk,
    unrolled,
)
from theory.derivation import How
from theory.paths import Path

L = Symbol("L", integer=True, positive=True)
rho = Symbol("rho", real=True)
c = Symbol("c", positive=True)
DEPTHS = (500, 20_000)


def recursion(angle: float, depth: int) -> tuple[float, float]:
    """`1 − Σ^L` and `Θ^L` by the definition, in double precision, from `sin²(θ/2)` so that small angles keep digits."""
    kernel = math.cos(angle)
    for _ in range(depth):
        damping = 1 - angle / math.pi
        lift = math.sin(angle) - angle * math.cos(angle) if angle > 1e-2 else angle**3 / 3 - angle**5 / 30
        half = math.sin(angle / 2) ** 2 - lift / (2 * math.pi)
        angle = 2 * math.asin(math.sqrt(half))
        kernel = damping * kernel + 1 - 2 * half
    return 2 * math.sin(angle / 2) ** 2, kernel


def angle_at(curve: Expr, depth: int) -> float:
    return 2 * math.asin(math.sqrt(float(((1 - curve.subs({c: 2, L: depth})) / 2).evalf(60))))


CURVES = [
    (1 - c / L**2, math.sqrt(4) / (3 * math.pi)),
    (1 - c / L**2 + 3 / L**3, math.sqrt(4) / (3 * math.pi)),
    (1 - c / L**2 + 1 / L ** Rational(5, 2), math.sqrt(4) / (3 * math.pi)),
    (cos(3 * pi * c / L), 2.0),
    (1 - c / L, math.inf),
    (c / (L + 2), math.inf),
    (1 - c / L**3, 0.0),
    (1 - c / L ** Rational(7, 2), 0.0),
    (1 - c / L**5, 0.0),
]


@pytest.mark.parametrize(("curve", "scale"), CURVES)
def test_limits_and_leading_terms_are_those_of_the_recursion(curve, scale: float) -> None:
    found = curve_along(Path(L, oo), curve)
    assert found is not None
    assert float(found.scale.subs(c, 2)) == pytest.approx(scale)
    expansions = [kernel(found) for kernel in (normalised, ntk, nngp)]
    assert all(one.proved for one in expansions)
    errors = []
    for depth in DEPTHS:
        gap, kernel = recursion(angle_at(curve, depth), depth)
        values = (kernel / (depth + 1), kernel, 1 - gap)
        numbers = {c: 2, L: depth}
        left = []
        for one, value in zip(expansions, values, strict=True):
            known = sum(one.terms) + (one.value if one.value.is_finite else 0)
            predicted = float(known.xreplace(dict(one.where)).subs(numbers))
            left.append(abs(value - predicted) / float(one.remainder.subs(numbers)))
        errors.append(left)
    for here, there in zip(*errors, strict=True):  # what is left is o(remainder); rounding is about 1e-16 sqrt(L) L²
        assert there < max(here / 2, 1e-5)


@pytest.mark.parametrize("start", [Rational(3, 10), S.NegativeOne, S.Zero])
def test_a_fixed_pair(start) -> None:
    found = curve_along(Path(L, oo), start)
    assert found is not None
    assert normalised(found).value == Rational(1, 4)
    assert normalised(found).terms == (3 * log(L) / (8 * L),)
    assert ntk(found).terms == (L / 4, 3 * log(L) / 8)
    assert nngp(found).terms == (-9 * pi**2 / (2 * L**2),)
    gap, kernel = recursion(math.acos(float(start)), DEPTHS[1])
    assert gap * DEPTHS[1] ** 2 == pytest.approx(9 * math.pi**2 / 2, rel=0.01)
    assert abs(kernel - DEPTHS[1] / 4 - 3 / 8 * math.log(DEPTHS[1])) < 2  # O(1)


def test_equal_inputs_are_exact() -> None:
    found = curve_along(Path(L, oo), S.One)
    assert found is not None
    assert (normalised(found).value, normalised(found).terms, normalised(found).remainder) == (1, (), 0)
    assert ntk(found).terms == (L, 1)
    assert nngp(found).value == 1


@pytest.mark.parametrize("curve", [cos(L), 1 - c * (2 + cos(L)) / L**2, 1 - c / L**c])
def test_curves_without_a_scale_are_left_open(curve) -> None:
    assert curve_along(Path(L, oo), curve) is None


def test_a_curve_that_falls_exponentially() -> None:
    found = curve_along(Path(L, oo), 1 - exp(-L))
    assert found is not None
    assert found.scale == 0
    assert normalised(found).value == 1


def test_the_ends_of_the_crossover_are_its_limits() -> None:
    assert limit(crossover().conclusion, s, 0) == crossover_at(S.Zero)
    assert limit(crossover().conclusion, s, oo) == crossover_at(oo)


@pytest.mark.parametrize("name", ["relu-nngp", "relu-ntk", "relu-ntk-normalised"])
@pytest.mark.parametrize("depth", [1, 5])
def test_inputs_that_come_together_in_a_few_layers(name: str, depth: int) -> None:
    found = coinciding(name, Path(rho, S.One, side=-1), S(depth))
    assert found.proved
    errors = []
    for power in (4, 8):
        gap, kernel = recursion(2 * math.asin(math.sqrt(10.0**-power / 2)), depth)
        value = {"relu-nngp": 1 - gap, "relu-ntk": kernel}.get(name, kernel / (depth + 1))
        near = 1 - Rational(1, 10**power)
        known = float((found.value + sum(found.terms)).subs(rho, near).evalf(40))
        errors.append(abs(value - known) / float(found.remainder.subs(rho, near)))
    assert errors[1] < max(errors[0] / 2, 1e-6)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("start", [-1.0, 0.25])
def test_a_few_layers_written_out(depth: int, start: float) -> None:
    gap, kernel = recursion(math.acos(start), depth)
    assert float(unrolled("relu-nngp", Rational(start), depth)) == pytest.approx(1 - gap)
    assert float(unrolled("relu-ntk", Rational(start), depth)) == pytest.approx(kernel)


def test_the_lemmas_refuse_other_statements() -> None:
    path = Path(L, oo)
    found = curve_along(path, 1 - c / L**2)
    assert found is not None
    lemma = Lemma(_limit, found)
    start = Limit(NORMALISED(L, 1 - c / L**2), L, oo)
    assert lemma.check(start, crossover_at(found.scale)).how is How.LEMMA
    assert lemma.check(start, Rational(1, 4)).how in (How.WRONG, How.UNDECIDED)
    assert lemma.check(Limit(NORMALISED(L, 1 - c / L**3), L, oo), crossover_at(found.scale)).how is How.WRONG
    few = FewLayers(Path(rho, S.One, side=-1), S(5))
    function, slope = few.statement(True)
    assert few.check(Limit(function, rho, 1, "-"), slope).how is How.LEMMA
    assert few.check(Limit(function, rho, 1, "-"), 2 * slope).how is How.WRONG
    assert few.check(Limit(NNGP(5, rho), rho, 1, "-"), slope).how is How.WRONG
