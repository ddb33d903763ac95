r"""Mutants: a formula with one coefficient, sign, exponent or term changed. Evidence that accepts one is worthless.

`mutants(expression)` walks the expression and changes one thing at a time: each number outside an exponent by one and
in its sign, each exponent by one, each term dropped or negated. What comes out equal to the original, or undefined, is
left out. The order is fixed; at most `MOST` are kept, evenly spread, so that every kind of change is there.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Integer, Mul, Pow, Product, Rational, S, Sum, nan, oo, zoo
from sympy.tensor.indexed import Indexed

from theory.algebra import attempt, vanishes

MOST = 12
TELLING = 1e-6  # a difference of this size at a point is no rounding error


def mutants(expression: Expr, most: int = MOST) -> dict[str, Expr]:
    """Wrong versions of `expression`, each under a description of what was changed.

    >>> from sympy import symbols, log
    >>> L = symbols("L", positive=True)
    >>> for text, wrong in mutants(3 * log(L) / (8 * L), most=4).items():
    ...     print(f"{text}: {wrong}")
    coefficient 3/8 -> 11/8: 11*log(L)/(8*L)
    coefficient 3/8 -> 3/7: 3*log(L)/(7*L)
    coefficient 3/8 -> 3/4: 3*log(L)/(4*L)
    L -> 2 L: 3*log(2*L)/(8*L)
    """
    found: dict[str, Expr] = {}
    seen = {expression}
    for text, wrong in _changes(expression):
        undefined = any(wrong.has(bad) and not expression.has(bad) for bad in (zoo, nan, oo))
        if wrong in seen or undefined:
            continue
        seen.add(wrong)
        if text in found:
            text = f"{text} ({len(found)})"
        found[text] = wrong
    if len(found) > most:
        texts = list(found)
        found = {texts[i * len(texts) // most]: found[texts[i * len(texts) // most]] for i in range(most)}
    return {text: wrong for text, wrong in found.items() if not _equal(wrong, expression)}


def _equal(wrong: Expr, expression: Expr) -> bool:
    """Whether the change left the value as it was: by algebra, which a look at one point mostly saves."""
    difference = wrong - expression
    symbols = sorted(difference.free_symbols, key=str)
    at = {s: Integer(2 * i + 3) if s.is_integer else Rational(2 * i + 3, 7) for i, s in enumerate(symbols)}
    if attempt(lambda: bool(abs(difference.subs(at).evalf(15)) > TELLING), seconds=2):
        return False
    return vanishes(difference, seconds=2) is True


def _changes(expression: Expr) -> Iterator[tuple[str, Expr]]:
    """All single changes of `expression`, outermost last."""
    if isinstance(expression, Rational):
        yield from _numbers(expression)
        return
    if isinstance(expression, Pow) and isinstance(expression.exp, Rational):
        for changed in (expression.exp + 1, expression.exp - 1):
            yield f"exponent {expression.exp} -> {changed}", expression.base**changed
        for text, wrong in _changes(expression.base):
            yield text, wrong**expression.exp
        return
    if isinstance(expression, Indexed):
        shifted = expression.base[tuple(index + 1 for index in expression.indices)]
        yield f"{expression} -> {shifted}", shifted
        return
    if isinstance(expression, Sum | Product):
        yield from _series(expression)
        return
    arguments = list(expression.args)
    for i, argument in enumerate(arguments):
        if not isinstance(argument, Expr):
            continue
        for text, wrong in _changes(argument):
            yield text, expression.func(*arguments[:i], wrong, *arguments[i + 1 :])
    if isinstance(expression, Add):
        for i, term in enumerate(arguments):
            rest = expression.func(*arguments[:i], *arguments[i + 1 :])
            yield f"sign of the term {term}", rest - term
            yield f"term {term} dropped", rest
    elif isinstance(expression, Mul):
        if not any(isinstance(argument, Rational) for argument in arguments):
            yield "coefficient 1 -> 2", 2 * expression
            yield "coefficient 1 -> -1", -expression
    elif not arguments:
        yield f"{expression} -> 2 {expression}", 2 * expression
        yield f"{expression} -> {expression}^2", expression**2
        yield f"{expression} -> -{expression}", -expression


def _series(series: Sum | Product) -> Iterator[tuple[str, Expr]]:
    """Changes of a sum or product: of what is added up, and of either end of its range."""
    kind, inside, limits = type(series), series.function, series.limits
    for text, wrong in _changes(inside):
        yield text, kind(wrong, *limits)
    index, lower, upper = limits[0]
    yield f"from {lower} -> {lower + 1}", kind(inside, (index, lower + 1, upper), *limits[1:])
    yield f"up to {upper} -> {upper + 1}", kind(inside, (index, lower, upper + 1), *limits[1:])
    yield f"up to {upper} -> {upper - 1}", kind(inside, (index, lower, upper - 1), *limits[1:])


def _numbers(number: Rational) -> Iterator[tuple[str, Expr]]:
    changed = [number + 1, -number, Rational(number.p, number.q - 1) if number.q > 1 else number - 1]
    changed += [Rational(number.p, number.q + 1), number / 2, 2 * number]
    for other in changed:
        if other != number and isinstance(other, Rational | Integer) and other is not S.NaN:
            yield f"coefficient {number} -> {other}", other
