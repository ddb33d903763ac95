r"""Where a long line of mathematics is broken, so that a page holds it: TeX breaks no line of a display by itself.

`breadth` estimates how wide LaTeX code is when set as a display, from the size of its symbols alone; one unit is a
digit (5 pt in a 10 pt font). `rows` breaks an expression into lines of at most so many units: between the terms of a
sum; a product, limit, sum or integral inside its widest factor, which is put in brackets. What cannot be broken so
stays on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from sympy import Add, Dummy, Expr, Integral, Limit, Mul, Product, S, Sum

from .typeset import latex

PAGE = 92.0  # units: the 17 cm that are set on an A4 page
INDENT = 4.0

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_FRACTIONS = {r"\frac", r"\dfrac", r"\tfrac", r"\binom"}
_NO_BREADTH = {r"\left", r"\right", r"\displaystyle", r"\limits", r"\big", r"\Big", r"\bigg", r"\Bigg", r"\!", r"\,"}
_WORDS = {r"\arccos", r"\arcsin", r"\arctan", r"\cos", r"\cosh", r"\det", r"\exp", r"\lim", r"\log", r"\max", r"\min"}
_WORDS |= {r"\sin", r"\sinh", r"\sup", r"\tan", r"\tanh"}
_WIDE = {r"\quad": 2.0, r"\qquad": 4.0, r"\int": 2.0, r"\sum": 3.0, r"\prod": 3.0, r"\sqrt": 2.0, "&": 2.0}
_SPACED = {"=", "+", "-", "<", ">", r"\le", r"\leq", r"\ge", r"\geq", r"\ne", r"\neq", r"\to", r"\in", r"\cdot"}
_SCRIPT = 0.7  # the size of subscripts, superscripts and fractions in fractions


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
        size = _SCRIPT if depth else 1.0
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


def rows(expression: Expr, room: float = PAGE) -> list[str]:
    r"""`expression` as LaTeX in rows of at most `room` units, where it can be broken.

    >>> from sympy import symbols
    >>> a, b, c = symbols("alpha beta gamma")
    >>> rows(a + b - c, room=6)
    ['\\alpha + \\beta', '- \\gamma']
    """
    code = latex(expression)
    if breadth(code) <= room:
        return [code]
    if isinstance(expression, Add):
        return _sum_in_rows(expression, room)
    inner: Any = None
    if isinstance(expression, Mul):
        inner = max((f for f in expression.args if isinstance(f, Add)), key=lambda f: breadth(latex(f)), default=None)
    elif isinstance(expression, Integral | Limit | Product | Sum):
        inner = expression.args[0]
    if inner is None:
        return [code]
    if isinstance(expression, Mul):
        rest = expression / inner
        before, after = {S.One: "", S.NegativeOne: "- "}.get(rest, latex(rest) + " "), ""
    else:
        mark, bounds = Dummy("@"), cast(Any, expression.args[1:])
        before, after = latex(expression.func(mark, *bounds)).split(latex(mark))
    broken = rows(inner, room - breadth(before) - INDENT)
    if len(broken) == 1:
        return [code]
    return [rf"{before}\bigg({broken[0]}", *broken[1:-1], rf"{broken[-1]}\bigg){after}"]


def _sum_in_rows(expression: Add, room: float) -> list[str]:
    """The terms in the printer's order, as many in a row as fit."""
    filled: list[str] = []
    terms: Any = expression.as_ordered_terms()
    for index, term in enumerate(terms):
        first, *more = rows(term, room)
        signed = first if index == 0 else f"- {first[1:].lstrip()}" if first.startswith("-") else f"+ {first}"
        if filled and breadth(f"{filled[-1]} {signed}") <= room and not more:
            filled[-1] += f" {signed}"
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
    for word in words:
        longer = f"{filled[-1]} {word}".lstrip()
        if filled[-1] and breadth_of_sentence(longer) > room:
            filled.append(word)
        else:
            filled[-1] = longer
    return filled


def breadth_of_sentence(text: str) -> float:
    """How wide a sentence with `$…$` in it is on one line.

    >>> breadth_of_sentence("at $12$") == breadth("12") + 3
    True
    """
    pieces = text.split("$")
    return sum(breadth(piece) if i % 2 else float(len(piece)) for i, piece in enumerate(pieces))
