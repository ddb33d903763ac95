"""The named formulas, against their definitions by mpmath, and what is refused."""

import math
import re
import time
from fractions import Fraction

import mpmath
import pytest
from sympy import Float, Integer, Rational, cos, nan, oo, pi, sqrt, symbols

from numerics.formulas import MOST_DIGITS, evaluate_formula
from theory.errors import InvalidInput
from theory.formulas import FORMULAS


def recursion(rho, depth):
    """`Σ^L`, `Θ^L` and `Θ̄^L` by their recursion, at 80 digits."""
    with mpmath.workdps(80):
        angle = mpmath.acos(mpmath.mpf(rho.numerator) / rho.denominator)
        kernel = mpmath.cos(angle)
        for _ in range(depth):
            factor = 1 - angle / mpmath.pi
            angle = mpmath.acos((mpmath.sin(angle) + (mpmath.pi - angle) * mpmath.cos(angle)) / mpmath.pi)
            kernel = kernel * factor + mpmath.cos(angle)
        return mpmath.cos(angle), kernel, kernel / (depth + 1)


@pytest.mark.parametrize("rho", [Fraction(3, 10), Fraction(-9, 10), Fraction(999, 1000), Fraction(0)])
@pytest.mark.parametrize("depth", [0, 1, 2, 7, 40])
def test_the_kernels_have_the_digits_of_their_recursion(rho, depth):
    expected = recursion(rho, depth)
    for name, value in zip(("relu-nngp", "relu-ntk", "relu-ntk-normalised"), expected, strict=True):
        found = evaluate_formula(name, {"rho": rho, "L": depth}, digits=30)
        with mpmath.workdps(60):
            error = abs(mpmath.mpf(found.value) - value)
            assert error <= mpmath.mpf(found.radius) + mpmath.mpf(10) ** -70
            assert mpmath.mpf(found.radius) <= mpmath.mpf(10) ** -29 * max(abs(value), mpmath.mpf(10) ** -99)


def test_the_closed_formulas_have_the_digits_of_their_definitions():
    with mpmath.workdps(50):
        leading = 3 * mpmath.log(1000) / (8 * 1000)
        s = mpmath.mpf(3) / 2
        crossover = ((1 + s) ** 4 - 1) / (4 * s * (1 + s) ** 3)
    for name, at, value in (
        ("depth-leading-error", {"L": 1000}, leading),
        ("depth-crossover", {"s": Rational(3, 2)}, crossover),
    ):
        found = evaluate_formula(name, at, digits=40)
        with mpmath.workdps(60):
            assert abs(mpmath.mpf(found.value) - value) <= mpmath.mpf(found.radius)


def test_the_crossover_and_its_correction_are_what_deep_kernels_do():
    # Θ̄^L = Φ(s) + Φ₁(s)/L + o(1/L) at the angle 3π s/L
    depth, s = 2000, Rational(1, 2)
    kernel = float(evaluate_formula("relu-ntk-normalised", {"rho": cos(3 * pi * s / depth), "L": depth}).value)
    leading = float(evaluate_formula("depth-crossover", {"s": s}).value)
    correction = float(evaluate_formula("depth-crossover-correction", {"s": s}).value)
    assert kernel - leading == pytest.approx(correction / depth, rel=0.05)


def test_irrational_and_decimal_values_are_exact():
    half = evaluate_formula("relu-ntk", {"rho": sqrt(2) / 2, "L": 3}, digits=20)
    assert half.at == {"rho": sqrt(2) / 2, "L": Integer(3)}
    double = evaluate_formula("relu-ntk", {"rho": 0.1, "L": 0}, digits=30)
    assert double.value == "0.100000000000000005551115123126"
    assert evaluate_formula("relu-ntk", {"rho": Fraction(1, 10), "L": 0}, digits=30).value == "0.1" + "0" * 29


def test_one_unit_in_the_last_place_outside_is_taken_as_the_end_and_said():
    found = evaluate_formula("relu-ntk", {"rho": 1 + 2.0**-52, "L": 5})
    assert found.value == "6"
    assert "one unit in the last place" in found.notes[0]
    assert found.to_json()["notes"] == list(found.notes)
    assert evaluate_formula("relu-ntk", {"rho": 1, "L": 5}).notes == ()


def test_json_has_the_promised_fields():
    data = evaluate_formula("depth-crossover", {"s": 1}, digits=5).to_json()
    assert data == {"formula": "depth-crossover", "at": {"s": "1"}, "value": "0.46875", "radius": "0", "digits": 5}


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_can_be_evaluated(name):
    at = {
        "rho": Rational(1, 3),
        "L": 4,
        "s": Rational(1, 7),
        "h": 3,
        "eta1": 1,
        "eta2": 2,
        "alpha": Rational(5, 4),
        "t": 3,
        "x": Rational(1, 2),
        "k": 2,
        "q": 1,
        "n": 5,
        "D": 0,
        "d": 2,
        "depth": 2,
        "mode": 1,
    }
    at |= {f"r{i}{j}": Rational(1, 5) for i in range(1, 5) for j in range(i + 1, 5)}
    at |= {f"rho_{pair}": Rational(1, 4) for pair in ("12", "x1", "x2")}
    if name == "linearisation-exponent":
        at["alpha"] = Rational(-1, 2)
    names = [parameter.name for parameter in FORMULAS[name].parameters]
    assert math.isfinite(float(evaluate_formula(name, {key: at[key] for key in names}).value))


@pytest.mark.parametrize(
    ("name", "at", "digits", "words"),
    [
        ("relu-ntc", {}, 15, "nearest are relu-ntk"),
        ("relu-ntk", {"rho": 0, "L": 1}, 0, f"from 1 to {MOST_DIGITS}"),
        ("relu-ntk", {"rho": 0, "L": 1}, 1001, f"from 1 to {MOST_DIGITS}"),
        ("relu-ntk", {"rho": 0, "L": 1}, 15.0, f"from 1 to {MOST_DIGITS}"),
        ("relu-ntk", {"rho": 0}, 15, "L is missing: give an integer"),
        ("relu-ntk", {"rho": 0, "L": 1, "s": 1}, 15, "parameters of relu-ntk are rho, L"),
        ("relu-ntk", {"rho": 2, "L": 1}, 15, "number in [-1, 1]"),
        ("relu-ntk", {"rho": 1 + 2.0**-51, "L": 1}, 15, "number in [-1, 1]"),
        ("relu-ntk", {"rho": nan, "L": 1}, 15, "rho"),
        ("relu-ntk", {"rho": oo, "L": 1}, 15, "rho"),
        ("relu-ntk", {"rho": float("nan"), "L": 1}, 15, "finite"),
        ("relu-ntk", {"rho": "0", "L": 1}, 15, "text"),
        ("relu-ntk", {"rho": symbols("x"), "L": 1}, 15, "rho"),
        ("relu-ntk", {"rho": 0, "L": -1}, 15, "[0, oo)"),
        ("relu-ntk", {"rho": 0, "L": Rational(3, 2)}, 15, "integer"),
        ("relu-ntk", {"rho": 0, "L": Float(2.5)}, 15, "integer"),
        ("relu-ntk", {"rho": 0, "L": True}, 15, "L = True"),
        ("relu-ntk", {"rho": 0, "L": 10**7 + 1}, 15, "at most 10000000"),
        ("relu-ntk", {"rho": 0, "L": 10**7}, 1000, "at most 300000"),
        ("depth-leading-error", {"L": 0}, 15, "[1, oo)"),
        ("depth-crossover", {"s": -1}, 15, "[0, oo)"),
        ("balance-threshold-full", {"alpha": pi / 3}, 15, "rational"),
    ],
)
def test_what_is_refused_is_refused_quickly(name, at, digits, words):
    start = time.perf_counter()
    with pytest.raises(InvalidInput, match=re.escape(words)):
        evaluate_formula(name, at, digits)
    assert time.perf_counter() - start < 2
