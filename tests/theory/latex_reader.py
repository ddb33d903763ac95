r"""Reads LaTeX as a mathematician does, for tests: it knows nothing of how `theory/typeset.py` writes.

A function takes what is in the brackets behind it, or else the one symbol or number behind it. If a factor that is no
function follows such a symbol, one could take it for part of the argument, and it is refused as ambiguous.
"""

import re

from sympy import E, Expr, Integer, Symbol, acos, cos, log, pi, sin, sqrt

FUNCTIONS = {r"\cos": cos, r"\sin": sin, r"\log": log, r"\arccos": acos}
TOKEN = re.compile(r"\\[A-Za-z]+|\d+|[A-Za-z]|[-+^_{}()]")
SIZES = re.compile(r"\\(left|right|bigg)(?![A-Za-z])")
ENDS = {"", "+", "-", ")", "}"}


def read(code: str) -> Expr:
    """The expression; raises `ValueError` where it is ambiguous or no formula."""
    reader = _Reader(TOKEN.findall(SIZES.sub("", code)))
    found = reader.sum()
    if reader.next:
        raise ValueError(f"cannot go on at {reader.tokens}")
    return found


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    @property
    def next(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, expected: str = "") -> str:
        token = self.tokens.pop(0)
        if expected and token != expected:
            raise ValueError(f"{token} in place of {expected}")
        return token

    def sum(self) -> Expr:
        total: Expr = Integer(0)
        sign = self.take() if self.next in ("+", "-") else "+"
        while True:
            total += self.product() if sign == "+" else -self.product()
            if self.next not in ("+", "-"):
                return total
            sign = self.take()

    def product(self) -> Expr:
        result = self.power()
        while self.next not in ENDS:
            if self.next == r"\cdot":
                self.take()
            result *= self.power()
        return result

    def power(self) -> Expr:
        if self.next in FUNCTIONS:
            return self.function()
        base = self.atom()
        return base ** self.exponent() if self.next == "^" else base

    def exponent(self) -> Expr:
        self.take("^")
        return self.group() if self.next == "{" else self.atom()

    def function(self) -> Expr:
        function = FUNCTIONS[self.take()]
        power = self.exponent() if self.next == "^" else Integer(1)
        in_brackets = self.next == "("
        value = function(self.atom()) ** power
        if not in_brackets and self.next not in ENDS and self.next not in FUNCTIONS:
            raise ValueError(f"ambiguous before {self.next}")
        if self.next == "^":
            raise ValueError("ambiguous power")
        return value

    def group(self) -> Expr:
        self.take("{")
        found = self.sum()
        self.take("}")
        return found

    def atom(self) -> Expr:
        token = self.take()
        if token == "(":
            found = self.sum()
            self.take(")")
            return found
        if token == r"\frac":
            return self.group() / self.group()
        if token == r"\sqrt":
            return sqrt(self.group())
        if token.isdigit():
            return Integer(token)
        if token in ("e", r"\pi"):
            return E if token == "e" else pi
        name = token.lstrip("\\")
        if self.next == "_":
            self.take()
            name += f"_{self.take()}"
        return Symbol(name)
