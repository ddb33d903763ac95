r"""Typed text to exact SymPy numbers and formulas, by a grammar: what a person types is never run as Python.

The grammar is in `expressions.lark`. A decimal is the fraction it says (`0.3` is 3/10, not a double); names stand for
what was given before; `e` and `pi` are the constants, `oo` is infinity where that is allowed. The result is real: a
division by zero, a root of a negative number and the like are refused, as are sizes that only serve to exhaust the
machine. Everything refused is an `InvalidInput` that names the column and what to write instead.

The limits: 1000 characters, so 1000 digits in a literal; 50 nested brackets, powers and signs; numbers between
10^-4000 and 10^4000 of at most 4000 digits, so that they can be printed (a power is estimated before it is built);
formulas of 10,000 parts, 60 deep, of degree 10,000 in their symbols.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import sympy
from flint import arb
from lark import Lark, Token, Transformer, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, v_args
from lark.exceptions import VisitError
from sympy import Expr, Pow, Rational, S

from numerics.balls import precision
from numerics.evaluate import enclose
from theory.errors import InvalidInput, MissingInput, shortened
from theory.timelimit import within

LONGEST_TEXT = 1000
DEEPEST = 50
LARGEST_EXPONENT = 10**4  # of a decimal such as 1e-3
LARGEST_NUMBER = 4000  # digits
LARGEST_INTERMEDIATE = 10**5  # digits of a number on the way to a root
LARGEST_FORMULA = 10_000  # parts
DEEPEST_FORMULA = 60  # or SymPy's own recursions run out of stack
LARGEST_DEGREE = 10_000  # of a symbol: SymPy may write out all coefficients of a polynomial
SECONDS = 2.0

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sqrt": sympy.sqrt,
    "exp": sympy.exp,
    "log": sympy.log,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "acos": sympy.acos,
    "asin": sympy.asin,
    "atan": sympy.atan,
    "erf": sympy.erf,
    "abs": sympy.Abs,
}
CONSTANTS: dict[str, Expr] = {"pi": S.Pi, "e": S.Exp1, "oo": S.Infinity}
INFINITIES = ("oo", "inf", "infinity")  # of which the first is understood


def parse(text: str, names: Mapping[str, Expr] | None = None, *, infinity: bool = False) -> Expr:
    """The exact value or formula that `text` says, with `names` standing for their values.

    `infinity` says whether `oo` makes sense here. Raises `InvalidInput`, with the column, for anything else than a real
    expression of reasonable size.

    >>> from sympy import Integer
    >>> parse("0.3"), parse("2*h^(3/2)", {"h": Integer(100)}), parse("sqrt(2)/2")
    (3/10, 2000, sqrt(2)/2)
    >>> parse("2h", {"h": Integer(100)})
    Traceback (most recent call last):
    theory.errors.InvalidInput: expression = 2h: column 2, at "h": an operator is missing; a product is written 2*h
    """
    return _parse(text, names or {}, infinity, "expression")


def parse_assignments(
    assignments: Iterable[str],
    names: Mapping[str, Expr] | None = None,
    *,
    words: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[str, Expr]:
    """The values of `name=expression` texts, in order; each may use the names given before it.

    A name in `words` is a choice: its value is one of these words, and stands for that integer.

    >>> parse_assignments(["h=100", "eta1=2*h^(3/2)"])
    {'h': 100, 'eta1': 2000}
    >>> parse_assignments(["mode=fixed-time"], words={"mode": {"fixed-steps": 0, "fixed-time": 1}})
    {'mode': 1}
    """
    known: dict[str, Expr] = dict(names or {})
    given: dict[str, Expr] = {}
    for label, value in _split(assignments, "rho=3/10"):
        if words is not None and label in words:
            given[label] = _chosen(label, value, words[label])
        else:
            given[label] = known[label] = _parse(value, known, False, label)
    return given


def parse_targets(assignments: Iterable[str]) -> dict[str, Expr]:
    """Where variables go: `name=expression` texts, of a number, `oo` or `-oo`.

    >>> parse_targets(["L=oo", "rho=-1/2"])
    {'L': oo, 'rho': -1/2}
    """
    return {label: _parse(value, {}, True, label) for label, value in _split(assignments, "L=oo")}


def parse_curves(assignments: Iterable[str], variables: Mapping[str, Expr]) -> dict[str, Expr]:
    """Curves, `name = expression` texts in the `variables`; a name that is new stands for a positive symbol.

    Each may use the curves given before it. A name that differs from a known one in its case only is refused.

    >>> parse_curves(["eta1 = c*h^(3/2)", "eta2 = 2*eta1"], {"h": sympy.Symbol("h")})
    {'eta1': c*h**(3/2), 'eta2': 2*c*h**(3/2)}
    """
    curves: dict[str, Expr] = {}
    for label, value in _split(assignments, "'rho = 1 - c/L^2'"):
        known = {**variables, **curves}
        for token in _names(value):
            if token in known or token in FUNCTIONS or token in CONSTANTS:
                continue
            near = next((name for name in known if name.lower() == token.lower()), None)
            if near is not None:
                place = (token.start_pos or 0) + 1
                raise InvalidInput(label, value, f'column {place}, at "{token}": unknown name; did you mean {near}?')
            known[token] = sympy.Symbol(token, positive=True)
        curves[label] = _parse(value, known, False, label)
    return curves


def _split(assignments: Iterable[str], example: str) -> Iterator[tuple[str, str]]:
    """The name and the expression of each `name=expression` text; each name once."""
    given: set[str] = set()
    for text in assignments:
        name, equals, value = text.partition("=") if isinstance(text, str) else ("", "", "")
        if not equals or not name.strip().isidentifier():
            raise InvalidInput("assignment", text, f"write name=value in one piece, for instance {example}")
        label = name.strip()
        _refuse_reserved(label)
        if label in given:
            raise InvalidInput("assignment", text, f"{label} was given a value before; give it once")
        given.add(label)
        yield label, value.strip(" ")  # columns are counted in what is left, which is what a refusal repeats


def _names(text: str) -> list[Token]:
    """The names in a text that the grammar can read at least as far as its tokens; else none."""
    if len(text) > LONGEST_TEXT:
        return []
    try:
        return [token for token in _parser().lex(text) if token.type == "NAME"]
    except UnexpectedInput:
        return []


def _chosen(label: str, word: str, words: Mapping[str, int]) -> Expr:
    if word not in words:
        raise InvalidInput(label, word, f"give one of {', '.join(words)}")
    return sympy.Integer(words[word])


def _parse(text: str, names: Mapping[str, Expr], infinity: bool, argument: str) -> Expr:
    """Parse `text`, which a person typed as the value of `argument`."""

    def refuse(position: int, remedy: str) -> InvalidInput:
        excerpt = text[position : position + 12]
        if excerpt == text.strip():  # it is all there is
            return InvalidInput(argument, text, remedy)
        place = f'column {position + 1}, at "{shortened(excerpt)}"' if excerpt else "at the end"
        return InvalidInput(argument, text, f"{place}: {remedy}")

    if not isinstance(text, str):
        raise InvalidInput(argument, text, "give text")
    if not text.strip():
        raise MissingInput(argument, "give a number or a formula")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(argument, text, f"give at most {LONGEST_TEXT} characters")
    for name, value in names.items():
        _refuse_reserved(name)
        if not isinstance(value, Expr):
            raise InvalidInput(name, value, "give a SymPy expression")
    try:
        _refuse_deep(text)
        tree = _parser().parse(text)
        result = within(SECONDS, lambda: _Builder(names, infinity).transform(tree))
    except UnexpectedInput as error:
        raise refuse(*_explained(error, text)) from None
    except _Refusal as refusal:
        raise refuse(refusal.position, refusal.remedy) from None
    except VisitError as error:
        if isinstance(error.orig_exc, _Refusal):
            raise refuse(error.orig_exc.position, error.orig_exc.remedy) from None
        # SymPy itself fails on some expressions, such as acos(sin(1e400))
        raise refuse(_position(error.obj), f"SymPy cannot build this ({type(error.orig_exc).__name__})") from None
    if result is None:
        raise refuse(0, f"this took more than {SECONDS:g} s; simplify it")
    return result


def _refuse_reserved(name: str) -> None:
    if name in FUNCTIONS or name in CONSTANTS:
        raise InvalidInput("name", name, "this is the name of a function or constant; choose another")


class _Refusal(Exception):
    """What is wrong at which character."""

    def __init__(self, token: Token, remedy: str) -> None:
        super().__init__(remedy)
        self.position, self.remedy = token.start_pos or 0, remedy


def _position(part: Any) -> int:
    """Where the first token of a part of the tree stands."""
    tokens = part.scan_values(lambda value: isinstance(value, Token)) if isinstance(part, Tree) else [part]
    return next((token.start_pos or 0 for token in tokens), 0)


@cache
def _parser() -> Lark:
    grammar = Path(__file__).with_name("expressions.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start="sum")


def _refuse_deep(text: str) -> None:
    """Refuse deep nesting before any recursion meets it: brackets, and chains of powers and signs within them."""
    open_chains, before = [0], "SIGN"
    for token in _parser().lex(text):
        kind = token.type
        if kind == "LPAR":
            open_chains.append(0)
        elif kind == "RPAR":
            open_chains = open_chains[:-1] or [0]
        elif kind == "POWER" or (kind == "SIGN" and before in ("SIGN", "TIMES", "POWER", "LPAR")):
            open_chains[-1] += 1
        elif kind in ("SIGN", "TIMES"):
            open_chains[-1] = 0
        if sum(open_chains) + len(open_chains) - 1 > DEEPEST:
            raise _Refusal(token, f"nested more than {DEEPEST} deep; simplify it")
        before = kind


def _explained(error: UnexpectedInput, text: str) -> tuple[int, str]:
    """Where lark stopped, and what a person should write there."""
    if isinstance(error, UnexpectedCharacters):
        return error.pos_in_stream, "this character has no meaning here; use digits, names, + - * / ^ and brackets"
    assert isinstance(error, UnexpectedToken)
    position = len(text) if error.token.type == "$END" else error.token.start_pos or 0
    if "NUMBER" in error.expected:
        return position, "a number, a name or an opening bracket is missing"
    if error.token.type == "$END":
        return position, "a closing bracket is missing"
    if error.token.type == "RPAR":
        return position, "no bracket is open"
    return position, "an operator is missing; a product is written 2*h"


@v_args(inline=True)
class _Builder(Transformer):
    """Builds the SymPy expression of a parse tree, node by node, refusing what is not real or too large."""

    def __init__(self, names: Mapping[str, Expr], infinity: bool) -> None:
        super().__init__()
        self.names, self.infinity = names, infinity
        self.measures: dict[Any, tuple[int, int]] = {}

    def number(self, token: Token) -> Expr:
        mantissa, _, exponent = token.lower().partition("e")
        whole, _, decimals = mantissa.partition(".")
        if len(exponent) > 10 or abs(int(exponent or 0)) > LARGEST_EXPONENT:
            raise _Refusal(token, f"a decimal exponent beyond {LARGEST_EXPONENT}; give a smaller one")
        power = int(exponent or 0) - len(decimals)
        return self.checked(Rational(int(whole + decimals) * 10 ** max(power, 0), 10 ** max(-power, 0)), token)

    def name(self, token: Token) -> Expr:
        if token in self.names:
            return self.checked(self.names[token], token)
        if token.lower() in INFINITIES and not self.infinity:
            raise _Refusal(token, "infinity is not allowed here; give a finite number")
        if token in CONSTANTS:
            return CONSTANTS[token]
        if token in FUNCTIONS:
            raise _Refusal(token, f"this function needs an argument: {token}(…)")
        if token.lower() in INFINITIES:
            raise _Refusal(token, "infinity is written oo")
        if token.lower() == "nan":
            raise _Refusal(token, "this is not a number; give one")
        known = [name for name in (*self.names, *CONSTANTS, *FUNCTIONS) if name != "oo" or self.infinity]
        raise _Refusal(token, f"unknown name; {_nearest(token, known)}")

    def call(self, token: Token, argument: Expr) -> Expr:
        if token not in FUNCTIONS:
            raise _Refusal(token, f"unknown function; {_nearest(token, FUNCTIONS)}")
        if token == "exp":
            return self.raised(S.Exp1, argument, token)
        return self.checked(FUNCTIONS[token](argument), token)

    def sum(self, first: Expr, *rest: Any) -> Expr:
        total = first
        for sign, term in zip(rest[::2], rest[1::2], strict=True):
            total = self.checked(total + term if sign.value == "+" else total - term, sign)
        return total

    def product(self, first: Expr, *rest: Any) -> Expr:
        total = first
        for operator, factor in zip(rest[::2], rest[1::2], strict=True):
            if operator.value == "/" and factor.is_zero:
                raise _Refusal(operator, "division by zero")
            total = self.checked(total * factor if operator.value == "*" else total / factor, operator)
        return total

    def negated(self, sign: Token, value: Expr) -> Expr:
        return self.checked(-value, sign) if sign == "-" else value

    def power(self, base: Expr, operator: Token, exponent: Expr) -> Expr:
        return self.raised(base, exponent, operator)

    def raised(self, base: Expr, exponent: Expr, token: Token) -> Expr:
        """`base ** exponent`, unless SymPy would write out an astronomically large number for it."""
        if _digits_of_power(base, exponent) > LARGEST_NUMBER or _is_huge(base, exponent):
            raise _Refusal(token, f"a number of more than {LARGEST_NUMBER} digits; give a smaller power")
        # SymPy writes out base^p and base^q on its way to base^(p/q)
        largest = max((max(abs(int(r.p)), int(r.q)) for r in exponent.atoms(Rational)), default=0)
        if _digits_inside(base) * min(largest, 10**9) > LARGEST_INTERMEDIATE:
            raise _Refusal(token, "an exponent with too large a numerator or denominator; give a simpler one")
        return self.checked(base**exponent, token)

    def checked(self, value: Expr, token: Token) -> Expr:
        size, depth = self.measure(value)
        if size > LARGEST_FORMULA or depth > DEEPEST_FORMULA:
            raise _Refusal(token, f"a formula of {size} parts, {depth} deep; simplify it")
        if any(_degree(power) > LARGEST_DEGREE for power in value.atoms(Pow)):
            raise _Refusal(token, f"a power beyond {LARGEST_DEGREE} of something with symbols; give a smaller one")
        if value.has(S.NaN, S.ComplexInfinity):
            raise _Refusal(token, "undefined here: a division by zero or the like")
        if value.has(S.ImaginaryUnit) or value.is_extended_real is False:
            raise _Refusal(token, "not a real number")
        if any(_digits(number) > LARGEST_NUMBER for number in value.atoms(Rational)) or _is_huge(value):
            raise _Refusal(token, f"a number of more than {LARGEST_NUMBER} digits; give a smaller one")
        return value

    def measure(self, value: Any) -> tuple[int, int]:
        """How many parts a formula has, repeated ones counted again, and how deep it is."""
        if value not in self.measures:
            parts = [self.measure(part) for part in value.args]
            self.measures[value] = 1 + sum(size for size, _ in parts), 1 + max((depth for _, depth in parts), default=0)
        return self.measures[value]


def _degree(power: Pow) -> float:
    return abs(float(power.exp)) if power.base.free_symbols and isinstance(power.exp, Rational) else 0.0


def _is_huge(base: Expr, exponent: Expr = S.One) -> bool:
    """Whether `|base ** exponent|` is certainly beyond `10^±LARGEST_NUMBER`; never for anything with symbols."""
    if base.free_symbols or exponent.free_symbols:
        return False
    with precision(64):
        digits = enclose(exponent, {}) * abs(enclose(base, {})).log() / arb(10).log()
        return digits.is_finite() and abs(digits) > LARGEST_NUMBER


def _digits(number: Rational) -> float:
    return max(abs(int(number.p)).bit_length(), int(number.q).bit_length()) * math.log10(2)


def _digits_of_power(base: Expr, exponent: Expr) -> float:
    """A bound of the digits of any number that SymPy writes out when it builds the power or multiplies it."""
    digits = _digits_inside(base) * _magnitude(exponent)
    if exponent.has(sympy.log):
        # b^(r log c / log b) and exp(r log c) become c^r: every rational in the exponent may be part of r
        rationals = exponent.atoms(Rational)
        digits += math.prod(max(1.0, _magnitude(number)) for number in rationals) * sum(map(_digits, rationals))
    return digits


def _digits_inside(base: Any) -> float:
    """The digits that taking `base` to a power multiplies: those of its rational factors; sums are not expanded."""
    if isinstance(base, Rational):
        return 0.0 if base in (1, -1, 0) else _digits(base)
    if base.is_Mul:
        return sum(map(_digits_inside, base.args))
    if base.is_Pow:
        return _digits_inside(base.base) * _magnitude(base.exp)
    return 0.0


def _magnitude(exponent: Expr) -> float:
    """The sum of the absolute values of the rationals in an exponent, no larger than `1e300` so that `0 ·` it is 0."""
    return sum(min(1e300, abs(float(number))) for number in exponent.atoms(Rational))


def _nearest(name: str, known: Iterable[str]) -> str:
    known = list(known)
    near = difflib.get_close_matches(name, known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
