r"""What a person moves: for each parameter the *stops* of a slider, or the words of a choice, from its domain alone.

A stop is a decimal that `checks/grammar.py` reads exactly; a slider is over the numbers of its stops. How they lie
follows the domain:

    a finite set of integers       all of them, or as below if there are many
    integers from `a` to infinity  `a`, …, 20, then 22-25-28-30-… in each decade, up to 1000
    `[−1, 1]`                      hundredths, and closer ones towards both ends: 0.999, 0.9999, …
    a finite interval              100 equal parts, or twentieths, without the ends that do not belong to it
    `[0, ∞)`                       0, then the same in each decade from 1/1000 to 10,000
    all reals                      that on both sides of 0

Whoever wants a value in between types it: the text field takes any expression of the grammar. A curve is computed on a
*grid* from the first stop to the last, which is even on its axis; over `[−1, 1]` it is even in the angle, where
functions of a correlation are smooth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

from sympy import Expr, Integer, Rational, oo

from theory.formula import Formula, Parameter

PARTS, LONG = 100, 5  # of a finite interval, and from which length it is cut into twentieths
MOST_INTEGERS = 200  # of which all are stops
LARGEST = 1000  # integer that has a stop, where there is no end: deeper costs more than a slider may
SINGLE = 20  # up to here every integer is a stop
DECADE = (10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 25, 28, 30, 33, 36, 40, 45, 50, 55, 60, 65, 70, 75, 80, 90)
NEAR = tuple(1 - Rational(k, 10**n) for n in (3, 4, 5, 6) for k in (5, 2, 1))  # correlations close to 1
DEFAULTS = {  # where a slider stands at first: typical, cheap, and the figure says something
    "L": "10",
    "s": "1",
    "x": "0.5",
    "h": "30",
    "n": "30",
    "eta1": "30",
    "eta2": "30",
    "t": "2",
    "alpha": "1.25",
    "k": "10",
    "q": "1",
    "d": "2",
    "depth": "2",
    "D": "0",
}
FALLBACKS = ("0.3", "0")


@dataclass(frozen=True)
class Control:
    """What moves one parameter. `words` are those of a choice, whose stops they are."""

    parameter: Parameter
    stops: tuple[str, ...]
    default: str

    @property
    def words(self) -> bool:
        """Whether it is a choice between words: a list to choose from, not a slider."""
        return bool(self.parameter.words)

    @cached_property
    def values(self) -> tuple[Expr, ...]:
        """The exact value of each stop."""
        return tuple(Integer(self.parameter.words[stop]) if self.words else Rational(stop) for stop in self.stops)

    def nearest(self, value: Expr) -> int:
        """The number of the stop that is nearest to a value, which may lie between two or beyond all.

        >>> from theory.formulas import formula_named
        >>> depth = controls(formula_named("relu-ntk"))["L"]
        >>> depth.stops[depth.nearest(Integer(160))]
        '160'
        """
        distances = [abs(float(value) - number) for number in self._numbers]
        return distances.index(min(distances))

    def text(self, number: float | str | None) -> str:
        """The stop whose number, or word, a slider stands at.

        >>> from theory.formulas import formula_named
        >>> controls(formula_named("relu-ntk"))["rho"].text(0.99999)
        '0.99999'
        """
        if self.words:
            return str(number or self.default)
        return self.stops[self._numbers.index(float(number))] if number in self._numbers else self.default

    @cached_property
    def _numbers(self) -> tuple[float, ...]:
        return tuple(map(float, self.values))

    @property
    def logarithmic(self) -> bool:
        """Whether the stops grow like powers, so that an axis should be logarithmic."""
        last = self.values[-1]
        return not self.words and self.parameter.domain.inf >= 0 and last >= 1000


@cache
def controls(formula: Formula) -> dict[str, Control]:
    """The control of each parameter of a formula, by its name.

    >>> from theory.formulas import formula_named
    >>> [(name, len(one.stops), one.default) for name, one in controls(formula_named("relu-nngp")).items()]
    [('rho', 225, '0.3'), ('L', 63, '10')]
    """
    return {parameter.name: _control(parameter) for parameter in formula.parameters}


@cache
def grid(control: Control, most: int) -> tuple[Expr, ...]:
    """At most so many values from the first stop to the last, even on the axis; none at 0 on a logarithmic one.

    >>> from theory.formulas import formula_named
    >>> depth, rho = (controls(formula_named("relu-ntk"))[name] for name in ("L", "rho"))
    >>> grid(depth, 7), [str(value) for value in grid(rho, 5)]
    ((1, 3, 10, 32, 100, 316, 1000), ['-1', '-707107/1000000', '0', '707107/1000000', '1'])
    """
    domain, whole = control.parameter.domain, bool(control.parameter.symbol.is_integer)
    stops = [value for value in control.values if value > 0 or not control.logarithmic]
    first, last = stops[0], stops[-1]
    shares = [Rational(i, most - 1) for i in range(most)]
    if whole and last - first < most:
        values = [first + k for k in range(int(last - first) + 1)]
    elif control.logarithmic:
        values = [Rational(f"{float(first) * float(last / first) ** float(share):.4g}") for share in shares]
    elif (domain.inf, domain.sup) == (-1, 1):
        values = [-Rational(f"{math.cos(math.pi * share):.6f}") for share in shares]
    elif domain.inf.is_finite and domain.sup.is_finite:
        values = [first + share * (last - first) for share in shares]
    else:
        values = [stops[round(share * (len(stops) - 1))] for share in shares]
    return tuple(sorted({Integer(round(value)) if whole else value for value in values}))


def _control(parameter: Parameter) -> Control:
    if parameter.words:
        words = tuple(parameter.words)
        return Control(parameter, words, words[0])
    stops = tuple(map(decimal, _stops(parameter)))
    wanted = (DEFAULTS.get(parameter.name, ""), *FALLBACKS, stops[0])
    return Control(parameter, stops, next(text for text in wanted if text in stops))


def decimal(value: Rational) -> str:
    """A number whose denominator has no other prime factors than 2 and 5, as a decimal; any other as a fraction.

    >>> decimal(Rational(3, 2500)), decimal(Rational(-7, 2)), decimal(Rational(1, 3))
    ('0.0012', '-3.5', '1/3')
    """
    places = next((n for n in range(20) if (value * 10**n).is_integer), None)
    if places is None:
        return str(value)
    digits = str(abs(int(value * 10**places))).zfill(places + 1)
    whole, part = (digits[:-places], digits[-places:]) if places else (digits, "")
    return ("-" if value < 0 else "") + whole + ("." + part if part else "")


def _stops(parameter: Parameter) -> list[Rational]:
    low, high = parameter.domain.inf, parameter.domain.sup
    if parameter.symbol.is_integer:
        return _integers(int(low), LARGEST if high == oo else int(high))
    if (low, high) == (-1, 1):
        inner = [Rational(k, 100) for k in range(-99, 100)]
        return [Integer(-1), *(-near for near in reversed(NEAR)), *inner, *NEAR, Integer(1)]
    if low.is_finite and high.is_finite:
        step = Rational(1, 20) if high - low >= LONG else (high - low) / PARTS
        equal = [low + step * k for k in range(int((high - low) / step) + 1)]
        return [value for value in equal if parameter.domain.contains(value) == True]  # noqa: E712
    positive = [step * Rational(10) ** (decade - 1) for decade in range(-3, 4) for step in DECADE]
    positive.append(Integer(10**4))
    return [*(() if low == 0 else [-value for value in reversed(positive)]), Integer(0), *positive]


def _integers(low: int, high: int) -> list[Rational]:
    if high - low <= MOST_INTEGERS:
        return [Integer(k) for k in range(low, high + 1)]
    grown = [step * 10**decade for decade in range(len(str(high))) for step in DECADE]
    return [Integer(k) for k in (*range(low, SINGLE), *(k for k in grown if max(low, SINGLE) <= k <= high))]
