r"""Where a long line of mathematics is broken, so that a page holds it: TeX breaks no line of a display by itself.

`breadth` estimates how wide LaTeX code is when set as a display, from the size of its symbols alone; one unit is a
digit (5 pt in a 10 pt font). `rows` breaks an expression into lines of at most so many units: between the terms of a
sum; a product inside its widest sum, or else between its factors; a limit, sum, integral, derivative, trace, power or
function inside what it is of, which is put in brackets. What cannot be broken so stays on one line.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any, cast

from sympy import (
    Add,
    Derivative,
    Dummy,
    Expr,
    Function,
    Heaviside,
    Integral,
    Limit,
    MatAdd,
    MatMul,
    Mul,
    Pow,
    Product,
    S,
    Subs,
    Sum,
    Trace,
    fraction,
    oo,
)

from .typeset import latex, ordered_factors, ordered_terms

PAGE = 65.0  # units: a little less than the 345 pt of an article
INDENT = 4.0
BRACKET = 1.5  # a large one

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_FRACTIONS = {r"\frac", r"\dfrac", r"\tfrac", r"\binom"}
_NO_BREADTH = {r"\left", r"\right", r"\displaystyle", r"\limits", r"\big", r"\Big", r"\bigg", r"\Bigg", r"\!", r"\,"}
_WORDS = {r"\arccos", r"\arcsin", r"\arctan", r"\cos", r"\cosh", r"\det", r"\exp", r"\lim", r"\log", r"\max", r"\min"}
_WORDS |= {r"\sin", r"\sinh", r"\sup", r"\tan", r"\tanh"}
_WIDE = {
    r"\quad": 2.0,
    r"\top": 1.6,
    r"\qquad": 4.0,
    r"\int": 2.0,
    r"\sum": 3.0,
    r"\prod": 3.0,
    r"\sqrt": 2.0,
    "&": 2.0,
}
_SPACED = {"=", "+", "-", "<", ">", r"\le", r"\leq", r"\ge", r"\geq", r"\ne", r"\neq", r"\to", r"\in", r"\cdot"}
_SCRIPT = 0.7  # the size of subscripts and superscripts, where signs stand without space
_SMALLER = (1.0, 0.82, 0.87, 1.0)  # what a fraction does to its parts, inside of so many others: small fonts are broad


def breadth(code: str) -> float:
    r"""How wide `code` is as a display, in digits; brackets, operators and scripts are counted with their spacing.

    >>> breadth("12345"), breadth(r"\frac{123}{1}") == breadth("123") + 0.5
    (5.0, True)
    """
    return _group(iter(_TOKEN.findall(code)), 0)


def _group(tokens: Iterator[str], depth: int) -> float:
    """The breadth up to the closing brace, of several rows the widest; `depth` counts the fractions around it."""
    widest = total = 0.0
    for token in tokens:
        if token == "}":
            break
        if token == r"\\":
            widest, total = max(widest, total), 0.0
        else:
            total += _symbol(token, tokens, depth)
    return max(widest, total)


def _symbol(token: str, tokens: Iterator[str], depth: int) -> float:
    if token == "{":
        return _group(tokens, depth)
    if token in "^_":
        return _SCRIPT * _argument(tokens, depth) + 0.1
    if token in _FRACTIONS:
        size = _SMALLER[min(depth, 3)]
        return size * max(_argument(tokens, depth + 1), _argument(tokens, depth + 1)) + 0.5
    if token == r"\text":
        return _text(tokens)
    if token in (r"\begin", r"\end"):
        _argument(tokens, depth)
        return 0.0
    if token in _NO_BREADTH or token.isspace():
        return 0.0
    if token in _WORDS:
        return len(token) - 0.5
    return _WIDE.get(token, 2.5 if token in _SPACED else 1.0 if token.isdigit() else 1.15)


def _text(tokens: Iterator[str]) -> float:
    """The braced words after `\\text`, where spaces count."""
    total, nested = 0.0, 0
    for token in tokens:
        nested += (token == "{") - (token == "}")
        if nested == 0:
            break
        total += len(token) if token.isalnum() or token.isspace() else 1.0
    return total


def _argument(tokens: Iterator[str], depth: int) -> float:
    for token in tokens:
        if not token.isspace():
            return _symbol(token, tokens, depth)
    return 0.0


_OPERATORS = (Derivative, Integral, Limit, Product, Sum)


def rows(expression: Expr, room: float = PAGE, *, taken: float = 0.0, before_factor: bool = False) -> list[str]:
    r"""`expression` as LaTeX in rows of at most `room` units, where it can be broken.

    In the first row so many units are `taken` by what stands before; for `before_factor` see `latex`.

    >>> from sympy import symbols
    >>> a, b, c = symbols("alpha beta gamma")
    >>> rows(a + b - c, room=6)
    ['\\alpha + \\beta', '- \\gamma']
    """
    code = latex(expression, before_factor=before_factor)
    if taken + breadth(code) <= room:
        return [code]
    if isinstance(expression, Add | MatAdd):
        return _sum_in_rows(expression, room, taken)
    if isinstance(expression, Mul | MatMul):
        return _product_in_rows(expression, room, taken)
    if (around := _around(expression)) is None:
        return [code]
    return _in_brackets(expression.args[0], around, room, taken) or [code]


def _around(expression: Any) -> tuple[str, str] | None:
    """What stands before and after the one argument inside which an expression can be broken, if there is one."""
    if isinstance(expression, Trace):
        return r"\operatorname{tr}", ""
    if isinstance(expression, Pow) and expression.exp.is_positive and expression.base is not S.Exp1:
        return "", f"^{{{latex(expression.exp)}}}"  # a root too, as a power
    if isinstance(expression, Subs):
        at = ",\\ ".join(f"{latex(old)} = {latex(new)}" for old, new in zip(*expression.args[1:], strict=True))
        return "", rf"\bigg|_{{{at}}}"
    if isinstance(expression, Heaviside) or (isinstance(expression, Function) and len(expression.args) == 1):
        mark: Any = Dummy("@")
        name, brackets, after = latex(expression.func(mark), before_factor=True).partition(f"({latex(mark)})")
        return (name, after) if brackets else None
    if isinstance(expression, Derivative):
        mark = Function("@")(*expression.variables)  # a name alone would not depend on the variables
    elif isinstance(expression, _OPERATORS):
        mark = Dummy("@")
    else:
        return None
    before, after = latex(expression.func(mark, *cast(Any, expression.args[1:]))).split(latex(mark))
    return before.rstrip(), after


def _in_brackets(inner: Any, around: tuple[str, str], room: float, taken: float) -> list[str]:
    """`inner` in rows, in brackets between `around`; no rows if it cannot be broken."""
    before, after = around
    broken = rows(inner, room - breadth(after) - BRACKET, taken=taken + breadth(before) + BRACKET)
    if len(broken) == 1:
        return []
    return [rf"{before}\bigg({broken[0]}", *broken[1:-1], rf"{broken[-1]}\bigg){after}"]


def _product_in_rows(expression: Any, room: float, taken: float) -> list[str]:
    """A product with one wide sum inside that sum; any other between its factors."""
    sums = [factor for factor in expression.args if isinstance(factor, Add)]
    if sums and isinstance(expression, Mul):
        inner = max(sums, key=lambda factor: breadth(latex(factor)))
        rest = expression / inner
        code = latex(rest, before_factor=True)
        before = {S.One: "", S.NegativeOne: "- "}.get(rest, rf"\left({code}\right) " if rest.is_Add else f"{code} ")
        found = _in_brackets(inner, (before, ""), room, taken) if 2 * breadth(before) < room - taken else []
        if found:
            return found
    numerator, denominator = fraction(expression) if isinstance(expression, Mul) else (expression, S.One)
    coefficient, _ = numerator.as_coeff_Mul()
    filled = ["- " if coefficient.is_negative else ""]
    ordered = numerator.args if isinstance(numerator, MatMul) else ordered_factors(numerator)
    factors = [part for factor in ordered for part in _absolute(factor)]
    parts = [denominator] if breadth(latex(1 / denominator)) <= room else Mul.make_args(denominator)
    every = [*(1 / part for part in parts if part != 1), *factors]
    for index, factor in enumerate(every, start=1):
        goes_on = isinstance(factor, _OPERATORS) and index < len(every)  # the next factor would be taken as part of it
        is_sum = factor.is_Add or factor.is_MatAdd or goes_on
        begun = filled[-1] not in ("", "- ")
        start = breadth(r"\cdot") if begun else taken
        within = room if factor != expression else oo  # one over a product is all there is
        bare = rows(factor, within - 2 * BRACKET * is_sum, taken=start, before_factor=True)
        first, *more = _bracketed(bare) if is_sum else bare
        begins_at = taken if len(filled) == 1 else 0.0
        if begun and (more or begins_at + breadth(f"{filled[-1]} {first}") > room):
            filled += [rf"\cdot {first}", *more]
        else:
            filled[-1:] = [f"{filled[-1]} {first}" if begun else f"{filled[-1]}{first}", *more]
    return filled


def _absolute(factor: Any) -> list[Any]:
    """A numerical factor without its sign, left out if it is one."""
    return [factor] if not factor.is_Number or factor.is_positive else [] if factor == -1 else [-factor]


def _bracketed(bare: list[str]) -> list[str]:
    return [rf"\bigg({bare[0]}", *bare[1:-1], rf"{bare[-1]}\bigg)"] if len(bare) > 1 else [rf"\bigg({bare[0]}\bigg)"]


def _sum_in_rows(expression: Any, room: float, taken: float) -> list[str]:
    """The terms in the printer's order, as many in a row as fit."""
    filled: list[str] = []
    terms: Any = ordered_terms(expression) if isinstance(expression, Add) else expression.args
    for index, term in enumerate(terms):
        begins_at = (taken if len(filled) < 2 else 0.0) + breadth(filled[-1] if filled else "")
        first, *more = rows(term, room, taken=breadth("+") if filled else taken)
        if filled and more and 3 * begins_at <= room:  # a short beginning is no row of its own
            first, *more = rows(term, room, taken=begins_at + breadth("+"))
        signed = first if index == 0 else f"- {first[1:].lstrip()}" if first.startswith("-") else f"+ {first}"
        if filled and begins_at + breadth(signed) <= room and (not more or 3 * begins_at <= room):
            filled[-1:] = [f"{filled[-1]} {signed}", *more]
        else:
            filled += [signed, *more]
    return filled


def sentence_rows(text: str, room: float = PAGE) -> list[str]:
    r"""A sentence (`$…$` in it is mathematics) in rows of at most `room` units, broken between words.

    >>> sentence_rows("one two $a + b$ three", room=10)
    ['one two', '$a + b$', 'three']
    """
    filled = [""]
    words = re.findall(r"(?:\$[^$]*\$|[^\s$])+", text) if text.count("$") % 2 == 0 else text.split()
    for word in (part for whole in words for part in _equations(whole, room)):
        longer = f"{filled[-1]} {word}".lstrip()
        if filled[-1] and breadth_of_sentence(longer) > room:
            filled.append(word)
        else:
            filled[-1] = longer
    return filled


def _equations(word: str, room: float) -> list[str]:
    """A formula that no row holds, cut before its equality signs."""
    if word.count("$") != 2 or breadth_of_sentence(word) <= room:
        return [word]
    first, *others = word.split(" = ")
    return [part if part.endswith("$") else f"{part}$" for part in (first, *(f"$= {other}" for other in others))]


def breadth_of_sentence(text: str) -> float:
    """How wide a sentence with `$…$` in it is on one line.

    >>> breadth_of_sentence("at $12$") == breadth("12") + 3
    True
    """
    pieces = text.split("$")
    return sum(breadth(piece) if i % 2 else float(len(piece)) for i, piece in enumerate(pieces))


def wrapped(code: str, columns: int = 80) -> str:
    r"""The same code in lines of at most so many characters, broken at spaces: a comment stays one.

    >>> print(wrapped("% one two three\nx + y + z", columns=9))
    % one two
    % three
    x + y + z
    """
    return "\n".join(row for line in code.split("\n") for row in _wrapped_line(line, columns))


def _wrapped_line(line: str, columns: int) -> list[str]:
    if len(line) <= columns:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    more = "% " if line.startswith("%") else f"{indent}  "
    return textwrap.wrap(line, columns, subsequent_indent=more, break_long_words=False, break_on_hyphens=False)
