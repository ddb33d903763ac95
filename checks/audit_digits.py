"""Precision honesty: are the digits that `limes evaluate` prints all right? Random formulas, points and digits.

A named formula at a random point of its ranges is held against itself with `MORE` digits; a random expression against
SymPy's `evalf` with as many more, which shares no code with the balls of `numerics.evaluate`. With `v` the number
printed, `r` its stated radius and `x` the reference, it must be so that `|x − v| <= r <= 0.51` units in the last digit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, Integer, Rational, Symbol, atan, cos, erf, exp, log, sin, sqrt

from numerics.evaluate import evaluate
from numerics.formulas import evaluate_formula
from theory.errors import LimesError
from theory.formula import Parameter
from theory.formulas import FORMULAS
from theory.timelimit import within

MORE = 30  # digits of the reference beyond those of the number that is checked
MOST_DIGITS = 60
SECONDS = 20  # for one number; what takes longer is left out, and counted
LAST_DIGIT = Fraction(51, 100)
_FUNCTIONS = (exp, sin, cos, atan, erf, lambda x: sqrt(x**2 + 1), lambda x: log(x**2 + 2), lambda x: 1 / (x**2 + 3))


@dataclass(frozen=True)
class Dishonest:
    """A number with a digit that is wrong: what was asked for, what was printed, and the reference."""

    asked: str
    printed: str
    reference: str

    def __str__(self) -> str:
        return f"{self.asked} was printed as {self.printed} where it is {self.reference}"


def dishonest_digits(
    rng: np.random.Generator, count: int, moved: Callable[[str, int, int], None] = lambda ended, done, known: None
) -> tuple[list[Dishonest], Counter[str]]:
    """What is wrong among `count` random numbers, half of them named formulas; and how many were checked or left out.

    The counter has `formulas` and `expressions` that were checked, `refused` (no value at that point, as it was said)
    and `slow`.
    """
    wrong: list[Dishonest] = []
    tally: Counter[str] = Counter()
    for i in range(count):
        kind, draw = ("formulas", _formula) if i % 2 == 0 else ("expressions", _expression)
        asked, compute, reference = draw(rng)
        digits = int(rng.integers(1, MOST_DIGITS + 1))
        try:
            pair = within(SECONDS, lambda: (compute(digits), reference(digits + MORE)))  # noqa: B023  (called at once)
        except (LimesError, ArithmeticError):  # the second from a reference that is not sure of its own digits
            tally["refused"] += 1
            continue
        finally:
            moved(asked, i + 1, count)
        if pair is None:
            tally["slow"] += 1
            continue
        tally[kind] += 1
        printed, truth = pair
        if not honest(printed.value, printed.radius, digits, truth):
            wrong.append(Dishonest(f"{asked} to {digits} digits", printed.value, truth))
    return wrong, tally


def honest(value: str, radius: str, digits: int, truth: str) -> bool:
    """Whether `value`, printed to `digits` digits and within `radius`, agrees with `truth`, which has `MORE` digits.

    >>> honest("3.14", "0.005", 3, "3.14159265358979323846264338327950288")
    True
    >>> honest("3.15", "0.005", 3, "3.14159265358979323846264338327950288")
    False
    """
    if value == truth:
        return True
    try:
        v, r, x = Fraction(value), Fraction(radius), Fraction(truth)
    except ValueError:  # a threshold that is "none" in one of the two
        return False
    slack = abs(x) / 10 ** (digits + MORE - 2)
    return abs(x - v) <= r + slack and r <= LAST_DIGIT * _last_digit(v, digits)


def _last_digit(v: Fraction, digits: int) -> Fraction:
    """One unit in the last of `digits` significant digits of `v`."""
    exponent = len(str(int(abs(v)))) - 1 if abs(v) >= 1 else -1
    while v and abs(v) < Fraction(10) ** exponent:
        exponent -= 1
    return Fraction(10) ** (exponent - digits + 1)


_Case = tuple[str, Callable[[int], Any], Callable[[int], str]]  # what is asked, its value, the reference, by digits


def _formula(rng: np.random.Generator) -> _Case:
    """A named formula at a random point of the ranges of its parameters."""
    names = list(FORMULAS)
    formula = FORMULAS[names[rng.integers(len(names))]]
    at = {parameter.name: _point(parameter, rng) for parameter in formula.parameters}

    def value(digits: int) -> Any:
        return evaluate_formula(formula.name, at, digits)

    asked = " ".join([formula.name, *(f"{name}={number}" for name, number in at.items())])
    return asked, value, lambda digits: value(digits).value


def _point(parameter: Parameter, rng: np.random.Generator) -> Rational:
    """A value in the range of a parameter: small integers; rational numbers of all sizes, some close to the ends."""
    if parameter.words:
        return Integer(int(rng.choice([int(word) for word in parameter.words.values()])))
    low, high = parameter.domain.inf, parameter.domain.sup
    if parameter.symbol.is_integer:
        return Integer(int(low)) + int(rng.integers(0, 13))
    share = Rational(int(rng.integers(1, 1000)), 1000)
    if rng.uniform() < 0.2:
        share = Rational(1, 10 ** int(rng.integers(3, 12)))
    if low.is_finite and high.is_finite:
        return low + (high - low) * (share if rng.uniform() < 0.5 else 1 - share)
    size = share * 10 ** int(rng.integers(0, 4))
    return size if low.is_finite or rng.uniform() < 0.5 else -size


def _expression(rng: np.random.Generator) -> _Case:
    """A random expression in two symbols at a random rational point."""
    x, y = Symbol("x", real=True), Symbol("y", real=True)
    expression = _tree(rng, 4, (x, y))
    at = {s: Rational(int(rng.integers(-300, 301)), int(rng.integers(1, 200))) for s in (x, y)}

    def value(digits: int) -> Any:
        return evaluate(expression, {s: at[s] for s in expression.free_symbols}, digits)

    asked = f"{expression} at {', '.join(f'{s} = {number}' for s, number in at.items())}"
    return asked, value, lambda digits: str(expression.subs(at).evalf(digits, maxn=10_000, strict=True))


def _tree(rng: np.random.Generator, height: int, leaves: tuple[Symbol, ...]) -> Expr:
    if height == 0 or rng.uniform() < 0.1:
        number = Rational(int(rng.integers(-9, 10)), int(rng.integers(1, 10)))
        return leaves[rng.integers(len(leaves))] if rng.uniform() < 0.7 else number
    left = _tree(rng, height - 1, leaves)
    match rng.integers(4):
        case 0:
            return left + _tree(rng, height - 1, leaves)
        case 1:
            return left * _tree(rng, height - 1, leaves)
        case 2:
            return left - _tree(rng, height - 1, leaves)
        case _:
            return _FUNCTIONS[rng.integers(len(_FUNCTIONS))](left)
