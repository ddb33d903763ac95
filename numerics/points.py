r"""Comparing two expressions at random points of a domain, with certified digits.

Two expressions *differ* when at one point the ball of their difference excludes zero: that is a proof, and the point is
its witness, then rounded to as few decimals as show it. They *agree* when at every point tried the ball contains zero
and is smaller than `10^-AGREEMENT`: that is no proof. Anything else is undecided: also agreement where it would say
little, as points may miss a piece of a function that is defined by pieces, and a few integers say nothing of the
others. Points are rational, drawn by a seeded generator from the sets of the domain; or they are all points of the
domain, if those are few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from flint import arb
from sympy import (
    Abs,
    Expr,
    FiniteSet,
    Float,
    Heaviside,
    Interval,
    Max,
    Min,
    Piecewise,
    Rational,
    S,
    Set,
    Symbol,
    ceiling,
    floor,
    sign,
)
from sympy.core.function import AppliedUndef
from sympy.tensor.indexed import Indexed

from theory.derivation import CheckedStep, Derivation, How, Outcome, Relation
from theory.errors import InvalidInput, LimesError

from .balls import precision
from .evaluate import enclose, evaluate

AGREEMENT = 25  # decimal digits to which two sides must agree at a point
BITS = 256
POINTS = 12
PIECEWISE = (Abs, Heaviside, Max, Min, Piecewise, ceiling, floor, sign)  # equal at points may be different in between
MOST_CASES = 100  # points of finite sets that are looked at one by one
DRAWS = 100  # for one number, before it is given up to find one in the domain
SHORT = 10  # the largest denominator that is clear without a decimal
MOST_DECIMALS = 6  # of the rounded numbers that are tried as a witness


class Agreement(Enum):
    """What comparing at points can say."""

    AGREE = "agree"
    DIFFER = "differ"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """The agreement of two expressions; `reason` says why nothing could be said.

    `witness` is where they differ, and `sides` are their values there; None if they cannot be told.
    """

    agreement: Agreement
    points: int = 0
    witness: Mapping[Symbol, Expr] | None = None
    reason: str = ""
    sides: tuple[str, str] | None = None

    def __str__(self) -> str:
        match self.agreement:
            case Agreement.AGREE:
                return f"{self.points} points"
            case Agreement.DIFFER:
                what = f"they differ at {listed(self.witness)}" if self.witness else "they are different numbers"
                return f"{what}: {' and '.join(self.sides)}" if self.sides else what
            case Agreement.UNDECIDED:
                return self.reason


def listed(at: Mapping[Symbol, Expr]) -> str:
    """A point in words, with decimals where a number does not say its size.

    >>> listed({Symbol("x"): Rational(1, 2), Symbol("y"): Rational(52, 25), Symbol("z"): Rational(1000, 1001)})
    'x = 1/2, y = 52/25 = 2.08, z = 1000/1001 (about 0.999001)'
    """
    return ", ".join(f"{symbol} = {_in_words(value)}" for symbol, value in at.items())


def _in_words(number: Expr) -> str:
    if isinstance(number, Rational) and number.q <= SHORT:
        return str(number)
    text = f"{float(number):.6g}"
    return f"{number} = {text}" if Rational(text) == number else f"{number} (about {text})"


def both_sides(left: Expr, right: Expr, at: Mapping[Symbol, Expr]) -> tuple[str, str] | None:
    """The values of two expressions at a point, with as many digits as tell them apart, at least five.

    None if one of them cannot be evaluated, or `AGREEMENT` digits do not tell them apart.

    >>> x = Symbol("x")
    >>> both_sides(x, x + Rational(1, 10**8), {x: Rational(1, 3)})
    ('0.3333333333', '0.3333333433')
    """
    digits = 5
    try:
        while digits <= 2 * AGREEMENT:
            one, other = (
                evaluate(side, {name: at[name] for name in at if name in side.free_symbols}, digits).value
                for side in (left, right)
            )
            if Fraction(one) != Fraction(other):
                return one, other
            digits *= 2
    except LimesError:
        pass
    return None


def compare(
    left: Expr,
    right: Expr,
    domain: Mapping[Symbol, Set],
    *,
    seed: int = 0,
    points: int = POINTS,
    formal: bool = False,
) -> Comparison:
    """Compare two expressions at `points` random points of `domain`; symbols not in it are taken from the real line.

    Where all symbols live in finite sets, they are compared at all points, if these are no more than `MOST_CASES`.
    Terms of sequences (`Σ[1]`) are refused, as they may depend on each other, unless the comparison is `formal`: then
    each is an unknown of its own, and sums and products over an integer symbol are written out at the integers drawn.

    >>> from sympy import sin, symbols
    >>> x = symbols("x", real=True)
    >>> str(compare(sin(2 * x), 2 * sin(x), {x: Interval(0, 1)}))
    'they differ at x = 1: 0.90930 and 1.6829'
    """
    difference = left - right
    if not formal and difference.has(AppliedUndef, Indexed):
        return Comparison(Agreement.UNDECIDED, reason="it contains a sequence known only by its recursion")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(len(difference.free_symbols),)))
    variables = _variables(difference, domain)
    try:
        everywhere = cases(difference, domain)
    except InvalidInput as error:
        return Comparison(Agreement.UNDECIDED, reason=str(error))
    if everywhere and len(everywhere[0]) < len(variables):
        everywhere = ()
    agreed, tried = 0, len(everywhere) or (points if difference.free_symbols else 1)
    for index in range(tried):
        try:
            at = everywhere[index] if everywhere else _random_point(variables, domain, rng)
            with precision(BITS):
                ball = enclose(_written_out(difference, at, rng), at)
                if _excludes_zero(ball):
                    if formal:
                        return Comparison(Agreement.DIFFER, agreed + 1, at)
                    at = at if everywhere else _rounded(difference, at, domain)
                    return Comparison(Agreement.DIFFER, agreed + 1, at, sides=both_sides(left, right, at))
                agreed += bool(ball.is_finite() and abs(ball) < arb(10) ** -AGREEMENT)
        except LimesError as error:
            return Comparison(Agreement.UNDECIDED, agreed, reason=str(error))
    if agreed < tried:
        return Comparison(Agreement.UNDECIDED, agreed, reason="the balls around zero stay too large")
    integers = [symbol for symbol in variables if symbol.is_integer and symbol in difference.free_symbols]
    if integers and not everywhere and not formal and not difference.is_rational_function(*integers):
        return Comparison(Agreement.UNDECIDED, agreed, reason=f"equal at a few integers {integers[0]} only")
    if difference.has(*PIECEWISE) and not everywhere:
        return Comparison(Agreement.UNDECIDED, agreed, reason="equal at points, which may miss a piece of the function")
    return Comparison(Agreement.AGREE, agreed)


def _excludes_zero(ball: arb) -> bool:
    return bool(ball.is_finite() and ball != 0 and not ball.contains(0))


def _rounded(difference: Expr, at: dict[Symbol, Expr], domain: Mapping[Symbol, Set]) -> dict[Symbol, Expr]:
    """The point with as few decimals as it can have, in the domain and still not a zero; a person has to type it."""
    for places in range(MOST_DECIMALS + 1):
        near: dict[Symbol, Expr] = {}
        for symbol, number in at.items():
            where = domain[symbol].subs(near) if symbol in domain else S.Reals
            rounded = Rational(round(number * 10**places), 10**places) if number.is_Rational else number
            near[symbol] = number if isinstance(where, FiniteSet) else rounded
            if where.contains(near[symbol]) != True or not _is_possible(symbol, near[symbol]):  # noqa: E712
                break
        else:
            try:
                if _excludes_zero(enclose(difference, near)):
                    return near
            except LimesError:
                continue
    return at


def cases(expression: Expr, domain: Mapping[Symbol, Set]) -> tuple[dict[Symbol, Expr], ...]:
    """All values, together, of the symbols in `expression` that live in finite sets; none if they are too many.

    Raises `InvalidInput` for a value that is not known to have the assumptions of its symbol: it would be left out.

    >>> x, y = Symbol("x"), Symbol("y")
    >>> cases(x + y, {x: FiniteSet(0, 1), y: Interval(0, 1)})
    ({x: 0}, {x: 1})
    """
    sets = {symbol: domain[symbol] for symbol in _variables(expression, domain) if symbol in domain}
    finite = {
        symbol: _members(symbol, numbers)
        for symbol, numbers in sets.items()
        if isinstance(numbers, FiniteSet) and not numbers.free_symbols
    }
    if not finite or math.prod(map(len, finite.values())) > MOST_CASES:
        return ()
    return tuple(dict(zip(finite, values, strict=True)) for values in product(*finite.values()))


def _members(symbol: Symbol, numbers: FiniteSet) -> list[Expr]:
    for number in numbers:
        if not _is_possible(symbol, number):
            raise InvalidInput(
                "domain", str(numbers), f"{number} is not known to have the assumptions of {symbol}; leave it out"
            )
    return list(numbers)


def has_value(expression: Expr, domain: Mapping[Symbol, Set], *, seed: int = 0) -> bool:
    """Whether `expression` is a real number at a random point of `domain`; a formula that is not has no meaning there.

    >>> from sympy import sqrt, symbols
    >>> x = symbols("x", real=True)
    >>> has_value(sqrt(1 - x**2), {x: Interval(0, 1)}), has_value(sqrt(-1 - x**2), {x: Interval(0, 1)})
    (True, False)
    """
    rng = np.random.default_rng(seed)
    try:
        at = _random_point(_variables(expression, domain), domain, rng)
        with precision(BITS):
            return bool(enclose(_written_out(expression, at, rng), at).is_finite())
    except LimesError:
        return False


def _variables(expression: Expr, domain: Mapping[Symbol, Set]) -> list[Symbol]:
    """The symbols to be given values, those first on which the domains of the others depend."""
    labels = {part.base.label for part in expression.atoms(Indexed)}
    found = {symbol for symbol in expression.free_symbols if isinstance(symbol, Symbol) and symbol not in labels}
    needed = {other for symbol in found if symbol in domain for other in domain[symbol].free_symbols}
    return sorted(
        found | needed, key=lambda symbol: (len(getattr(domain.get(symbol), "free_symbols", ())), str(symbol))
    )


def _written_out(expression: Expr, at: Mapping[Symbol, Expr], rng: np.random.Generator) -> Expr:
    """`expression`; if it has terms of sequences, with the integers of `at` and a random value for each term."""
    if not expression.has(Indexed):
        return expression
    explicit = expression.subs({symbol: value for symbol, value in at.items() if symbol.is_integer}).doit()
    terms = sorted(explicit.atoms(Indexed), key=str)
    return explicit.xreplace({term: Rational(int(rng.integers(1, 2**20)), 2**20) for term in terms})


def _random_point(
    variables: list[Symbol], domain: Mapping[Symbol, Set], rng: np.random.Generator
) -> dict[Symbol, Expr]:
    """A random number for each symbol, in its set."""
    at: dict[Symbol, Expr] = {}
    for symbol in variables:
        at[symbol] = _random_number(symbol, domain[symbol].subs(at) if symbol in domain else None, rng)
    return at


def _random_number(symbol: Any, domain: Set | None, rng: np.random.Generator) -> Expr:
    """A number in its set, with the assumptions of the symbol: a rational, but in a finite set one of its own.

    In an infinite set it is at most 10 units from the end.
    """
    for _ in range(DRAWS):
        number = _draw(symbol, domain, rng)
        inside = domain is None or domain.contains(number) == True  # noqa: E712  (SymPy has its own truths)
        if inside and _is_possible(symbol, number):
            return number
    raise InvalidInput("domain", str(domain), f"no value of {symbol} was found in it; give an interval or a FiniteSet")


def _is_possible(symbol: Any, number: Expr) -> bool:
    """Whether a number has all that is assumed of the symbol."""
    return all(getattr(number, f"is_{fact}") is truth for fact, truth in symbol.assumptions0.items())


def _draw(symbol: Any, domain: Set | None, rng: np.random.Generator) -> Expr:
    if domain is not None and isinstance(domain, FiniteSet):
        return domain.args[int(rng.integers(len(domain.args)))]
    least = int(bool(symbol.is_integer and symbol.is_nonzero))
    low, high = (least, 10) if symbol.is_nonnegative else (-10, -least) if symbol.is_nonpositive else (-3, 3)
    if domain is not None and isinstance(domain, Interval):
        low = domain.inf if domain.inf.is_finite else min(low, domain.sup - 6)
        high = domain.sup if domain.sup.is_finite else low + 10
    if symbol.is_integer:
        return Rational(int(rng.integers(int(np.ceil(float(low))), int(np.floor(float(high))) + 1)))
    # strictly inside: the ends are not always in the set, and seldom telling
    fraction = Rational(int(rng.integers(1, 2**20)), 2**20)
    inside = low + (high - low) * fraction
    return inside if inside.is_Rational else Rational(int(np.floor(float(inside) * 2**20)), 2**20)


def check_steps(derivation: Derivation, *, seed: int = 0) -> tuple[CheckedStep, ...]:
    """Every step of `derivation` checked by exact algebra and, where that does not decide an equality, at points.

    A step is wrong, besides, if its reason shows another relation than it states, if it relies on a derivation that it
    does not name, or if it goes on behind a bound. Raises `InvalidInput` for a symbol that by its assumptions has a
    sign which it has not in all of the domain.
    """
    require_signs(derivation.domain)
    well_formed = [_well_formed(checked, derivation) for checked in derivation.check()]
    return tuple(_at_points(checked, derivation.domain, seed) for checked in well_formed)


def require_signs(domain: Mapping[Symbol, Set]) -> None:
    """Refuse a domain that is wider than the assumptions on its symbols, which enter whenever SymPy simplifies.

    What is assumed to be positive or non-zero is not zero: the domain of such a symbol is open there.

    >>> require_signs({Symbol("x", positive=True): Interval(-1, 1)})
    Traceback (most recent call last):
    theory.errors.InvalidInput: domain = Interval(-1, 1): x is positive by its assumptions; give a set where it is
    """
    for symbol, where in domain.items():
        if not isinstance(symbol, Symbol) or not isinstance(where, Set):
            raise InvalidInput("domain", f"{{{symbol!r}: {where!r}}}", "give sets of symbols, as {x: Interval(0, 1)}")
        if floats := where.atoms(Float):
            number = f"{float(min(floats)):.15g}"
            raise InvalidInput("domain", str(where), f"the float {number} is not exact; give Rational('{number}')")
        if isinstance(where, FiniteSet) and not where.free_symbols:
            _members(symbol, where)
        if where is S.EmptySet:
            raise InvalidInput("domain", str(where), f"there is no value of {symbol} in it; give a set that has one")
        if symbol.is_nonnegative and where.inf.is_negative:
            raise InvalidInput("domain", str(where), f"{symbol} is positive by its assumptions; give a set where it is")
        if symbol.is_nonpositive and where.sup.is_positive:
            raise InvalidInput("domain", str(where), f"{symbol} is negative by its assumptions; give a set where it is")
        if symbol.is_zero is False and where.contains(0) == True:  # noqa: E712  (SymPy has its own truths)
            raise InvalidInput("domain", str(where), f"{symbol} is not zero by its assumptions; leave zero out")


def _well_formed(checked: CheckedStep, derivation: Derivation) -> CheckedStep:
    """The step, found wrong if it does not state what its reason shows, from what it says it relies on."""
    step, reason = checked.step, checked.step.reason
    shows = getattr(reason, "shows", Relation.EQUALS)
    relied_on = [part for value in vars(reason).values() for part in (value if isinstance(value, tuple) else (value,))]
    if step.relation is not shows:
        fault = f"the reason shows {shows.value}, the line says {step.relation.value}"
    elif any(isinstance(part, Derivation) and part not in step.using for part in relied_on):
        fault = "the reason relies on a derivation that the step does not name"
    elif step.relation is Relation.EXCEEDS and step is not derivation.steps[-1]:
        fault = "a bound ends a derivation"
    elif tied := _tied(derivation, getattr(reason, "given", {})):
        fault = f"a definition ties {tied}, of which all values are meant"
    else:
        return checked
    return replace(checked, outcome=Outcome(How.WRONG, fault))


def _tied(derivation: Derivation, given: Mapping[Expr, Expr]) -> str:
    """The variables of the statement that `given` ties to a number or to each other; new names are no tie."""
    variables = derivation.start.free_symbols & set(derivation.domain)
    return ", ".join(sorted(str(name) for name in variables & set(given) if given[name].free_symbols <= variables))


def _at_points(checked: CheckedStep, domain: Mapping[Symbol, Set], seed: int) -> CheckedStep:
    if checked.outcome.how is not How.UNDECIDED or checked.step.relation is not Relation.EQUALS:
        return checked
    compared = compare(checked.before, checked.step.expression, domain, seed=seed)
    match compared.agreement:
        case Agreement.AGREE:
            return replace(checked, outcome=Outcome(How.POINTS, str(compared)))
        case Agreement.DIFFER:
            return replace(checked, outcome=Outcome(How.WRONG, str(compared)))
        case Agreement.UNDECIDED:
            return replace(checked, outcome=Outcome(How.UNDECIDED, f"{checked.outcome.detail}; {compared}"))
