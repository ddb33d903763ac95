r"""Expressions as LaTeX that compiles with amsmath alone, whatever the symbols are called.

SymPy's printer leaves `%`, `&`, `#`, `$` and Unicode in names as they are, prints `κ_1(r)**2` as if κ_1 were
composed with itself, and brackets all there is; here it is written as one writes it: `2\cos\theta_L`, `1 - \theta/\pi`.

A function of one symbol needs no brackets, unless a factor follows that could be taken for part of its argument:
`y\cos\theta`, but `\cos(\theta) y`. As what follows is known only when all is printed, the printer marks such an
argument with two control characters, and `_settled` puts brackets there or leaves them out.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from sympy import (
    Add,
    Basic,
    Derivative,
    Expr,
    Function,
    Indexed,
    Integral,
    Limit,
    Mul,
    NumberSymbol,
    Pow,
    S,
    Sum,
    Symbol,
    fraction,
)
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter

_SPECIAL = {
    "\\": r"\backslash ",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "~": r"\sim ",
    "^": r"\wedge ",
    '"': "''",
    "_": r"\_",
    " ": r"\ ",
}
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*'*|[A-Za-z]'+_[A-Za-z0-9]+")


def latex(expression: Basic, *, before_factor: bool = False) -> str:
    r"""`expression` as LaTeX for mathematics mode; with `before_factor` another factor may be written behind it.

    >>> from sympy import Function, cos, symbols
    >>> r, theta = symbols("r theta")
    >>> latex(Function("kappa_1")(r) ** 2)
    '(\\kappa_1(r))^2'
    >>> latex(r * cos(theta) ** 2), latex(cos(theta), before_factor=True)
    ('r \\cos^2\\theta', '\\cos(\\theta)')
    >>> latex(symbols("50%"))
    '\\mathrm{50\\%}'
    """
    return _settled(_Printer().doprint(expression) + (_FACTOR if before_factor else ""))


def ordered_terms(expression: Expr) -> list[Expr]:
    """The terms of a sum as they are printed: in SymPy's order, but one without a minus sign first, if there is one."""
    terms = _in_order(expression, Add)
    first = next((index for index, term in enumerate(terms) if not term.could_extract_minus_sign()), 0)
    return [terms[first], *terms[:first], *terms[first + 1 :]]


def _in_order(expression: Expr, kind: type[Add] | type[Mul]) -> list[Expr]:
    """SymPy's order of terms or factors, for which it would compute integrals that are numbers, for seconds each."""
    costly = sorted((one for one in expression.atoms(Integral, Sum, Limit) if one.is_number), key=str)
    names = {one: Symbol(f"z_{index}") for index, one in enumerate(costly)}
    standing_for = {part.xreplace(names): part for part in expression.args}
    if not costly or not isinstance(expression, kind) or len(standing_for) < len(expression.args):
        return expression.as_ordered_terms() if kind is Add else expression.as_ordered_factors()
    return [standing_for[part] for part in _in_order(kind(*standing_for, evaluate=False), kind)]


def ordered_factors(expression: Expr) -> list[Expr]:
    """The factors of a product as they are printed: in SymPy's order, functions such as the cosine last."""
    factors = _in_order(expression, Mul)
    return sorted(factors, key=_ends_in_operator) if expression.is_commutative else factors


def latex_text(text: str) -> str:
    r"""A sentence for `\text{…}`: mathematics between dollar signs is kept, all else is escaped.

    >>> latex_text("at $x_1$, 50% & more")
    'at $x_1$, 50\\% \\& more'
    """
    pieces = text.split("$")
    if len(pieces) % 2 == 0:  # an odd dollar sign is no mathematics
        return _escape_text(text)
    return "".join(f"${p}$" if i % 2 else _escape_text(p) for i, p in enumerate(pieces))


def _escape_text(text: str) -> str:
    text = text.replace(">=", "≥").replace("<=", "≤")
    escaped = "".join(_TEXT_SPECIAL.get(c, c) for c in text)
    return "".join(_ascii(c, mathematics=False) for c in escaped)


_TEXT_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",  # the font of plain LaTeX has other signs in these places
    ">": "$>$",
    "|": "$|$",
}


_UNICODE = {
    "≤": r"\le ",
    "≥": r"\ge ",
    "≠": r"\ne ",
    "→": r"\to ",
    "∞": r"\infty ",
    "√": r"\surd ",
    "−": "-",
    "±": r"\pm ",
    "·": r"\cdot ",
    "×": r"\times ",
    "∈": r"\in ",
    "∑": r"\sum ",
    "‖": r"\|",
    "…": r"\ldots ",
    "½": r"\tfrac12 ",
}


_QUOTES = {"’": "'", "‘": "`", "“": "``", "”": "''", "„": ",,"}


def _ascii(character: str, *, mathematics: bool) -> str:
    """A non-ASCII character as LaTeX: Greek by its name, a known sign by its macro, else its code point."""
    if ord(character) < 128:
        return character
    if character in _QUOTES:
        return _QUOTES[character]
    if character in "–—":
        return "--"
    words = unicodedata.name(character, "").split()
    if character in _UNICODE:
        code = _UNICODE[character]
    elif words[:2] in (["GREEK", "SMALL"], ["GREEK", "CAPITAL"]) and len(words) == 4:
        name = words[3].lower().replace("lamda", "lambda")
        code = rf"\{name if words[1] == 'SMALL' else name.capitalize()} "
        code = _LATIN_LETTERS.get(code.strip(), code)
    elif mathematics:
        return rf"\mathrm{{U{ord(character):04X}}}"
    else:
        base = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
        return base or f"U+{ord(character):04X}"
    return code if mathematics else f"${code.strip()}$"


# Greek letters that LaTeX writes with Latin ones.
_LATIN_LETTERS = {r"\omicron": r"\mathrm{o}"} | {
    rf"\{name}": rf"\mathrm{{{letter}}}"
    for name, letter in zip(
        ("Alpha", "Beta", "Epsilon", "Zeta", "Eta", "Iota", "Kappa", "Mu", "Nu", "Omicron", "Rho", "Tau", "Chi"),
        "ABEZHIKMNOPTX",
        strict=True,
    )
}


def _is_plain(name: str) -> bool:
    return name.isascii() and _PLAIN_NAME.fullmatch(name) is not None


def _escaped(name: str) -> str:
    """Any name, upright, for mathematics mode."""
    characters = (_SPECIAL.get(c, c) if c.isascii() else _ascii(c, mathematics=True) for c in name)
    return rf"\mathrm{{{''.join(characters)}}}"


# Control characters: around an argument that may stand without brackets; a factor follows; brackets that must grow.
_BARE, _END, _FACTOR, _LEFT, _RIGHT = "\x02", "\x03", "\x04", "\x05", "\x06"
_NAMED = {"arccos", "arcsin", "arctan", "cos", "cosh", "cot", "coth", "csc", "log", "sec", "sin", "sinh", "tan", "tanh"}
_BARE_ARGUMENT = re.compile(rf"{_BARE}([^{_BARE}{_END}]*){_END}")
_ENDS_ARGUMENT = re.compile(
    rf"\s*($|[])}},|+=<>&-]|\\[,;]|\\(right|rfloor|to|operatorname|{'|'.join(sorted(_NAMED))})(?![A-Za-z]))"
)
_BRACKETS = re.compile(r"\\left([(\[])((?:(?!\\left|\\right).)*?)\\right([)\]])", re.DOTALL)
_TALL = re.compile(rf"\\(frac|sum|prod|int|binom|begin|sqrt|lim)(?![A-Za-z])|{_LEFT}")
_ONE_SIGN = re.compile(r"(?<!\\)([_^])\{([A-Za-z0-9])\}")
_PRIMED = re.compile(r"(?<![A-Za-z}_^])\{(\\[A-Za-z]+|[A-Za-z])\}(?=')")
_NUMBER_ENDS, _NUMBER_BEGINS = re.compile(r"[0-9][} ]*$"), re.compile(r"\d|\\frac\{\d+\}\{\d+\}")


def _settled(code: str) -> str:
    """What the printer wrote: marked arguments with brackets or without, brackets no larger than they need to be."""
    code = re.sub(r"\s+\\right(?![A-Za-z])", r"\\right", code)
    code = _BARE_ARGUMENT.sub(_argument, code).replace(_FACTOR, "")
    while (smaller := _BRACKETS.sub(_sized, code)) != code:
        code = smaller
    code = code.replace(_LEFT, r"\left").replace(_RIGHT, r"\right")
    code = _PRIMED.sub(r"\1", _ONE_SIGN.sub(r"\1\2", code))
    return code.replace(r"}\int", r"} \int")


def _argument(found: re.Match[str]) -> str:
    inner = found.group(1)
    if not _ENDS_ARGUMENT.match(found.string, found.end()):
        return rf"\left({inner}\right)"
    return inner if inner.startswith("\\") else f" {inner}"


def _sized(found: re.Match[str]) -> str:
    left, inner, right = found.groups()
    return f"{_LEFT}{left}{inner}{_RIGHT}{right}" if _TALL.search(inner) else f"{left}{inner}{right}"


def _operator(function: type[Basic]) -> str | None:
    """The name of a function that has a command of its own in LaTeX, without the backslash."""
    name = re.sub("^a(?=cos$|sin$|tan$)", "arc", function.__name__)
    return name if name in _NAMED and not issubclass(function, AppliedUndef) else None


def _ends_in_operator(factor: Basic) -> bool:
    base = factor.args[0] if isinstance(factor, Pow) else factor
    return isinstance(base, Function) and _operator(base.func) is not None


class _Printer(LatexPrinter):
    def __init__(self) -> None:
        super().__init__({"inv_trig_style": "full"})

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return super()._print_Symbol(expr, style) if _is_plain(expr.name) else _escaped(expr.name)

    def _print_Transpose(self, expr: Basic) -> str:
        matrix = expr.args[0]
        code = self._print(matrix)
        return rf"{code}^\top" if matrix.is_symbol else rf"\left({code}\right)^\top"

    def _hprint_Function(self, func: str) -> str:
        if func == "E":
            return r"\operatorname{E}"  # the expectation
        if func.endswith("prime") and func != "prime":
            return f"{self._hprint_Function(func[:-5])}'"
        # SymPy's caller formats what comes back with the % operator
        return super()._hprint_Function(func) if _is_plain(func) else _escaped(func).replace("%", "%%")

    def _print_Function(self, expr: Function, exp: str | None = None) -> str:
        if (name := _operator(expr.func)) is None:
            return super()._print_Function(expr, exp).replace(r"{\left(", r"\left(").replace(r"\right)}", r"\right)")
        (argument,) = expr.args
        power = "" if exp is None else f"^{{{exp}}}"
        code = self._print(argument)
        bare = isinstance(argument, Symbol | Indexed | NumberSymbol) or (
            argument.is_Integer and argument.is_nonnegative
        )
        return rf"\{name}{power}" + (f"{_BARE}{code}{_END}" if bare else rf"\left({code}\right)")

    _print_log = _print_Function

    def _print_Heaviside(self, expr: Basic, exp: str | None = None) -> str:
        step = rf"\operatorname{{H}}\left({self._print(expr.args[0])}\right)"  # SymPy's θ is an angle here
        return step if exp is None else rf"{step}^{{{exp}}}"

    def _print_Abs(self, expr: Basic, exp: str | None = None) -> str:
        size = rf"\left|{self._print(expr.args[0])}\right|"
        return size if exp is None else rf"{size}^{{{exp}}}"

    def _print_Indexed(self, expr: Indexed) -> str:
        base, indices = self._print(expr.base), ",".join(map(self._print, expr.indices))
        return rf"{base}_{{{indices}}}" if re.fullmatch(r"\\?[A-Za-z]+", base) else rf"{{{base}}}_{{{indices}}}"

    def _print_Limit(self, expr: Limit) -> str:
        body, variable, target, side = expr.args
        direction = "" if target.is_infinite or str(side) == "+-" else f"^{side}"
        code = self._print(body)
        grouped = rf"\left({code}\right)" if body.is_Add or code.startswith("-") else f" {code}"
        return rf"\lim_{{{self._print(variable)} \to {self._print(target)}{direction}}}{grouped}"

    def _print_Add(self, expr: Expr, order: Any = None) -> str:
        return super()._print_Add(expr, order).replace("+ - ", "- ")  # SymPy overlooks the sign of a matrix product

    def _as_ordered_terms(self, expr: Expr, order: Any = None) -> list[Expr]:
        return ordered_terms(expr)

    def _needs_mul_brackets(self, expr: Expr, first: bool = False, last: bool = False) -> bool:
        return super()._needs_mul_brackets(expr, first, last) or (not last and expr.has(Limit, Derivative))

    def _print_Mul(self, expr: Expr) -> str:
        if not isinstance(expr, Mul) or expr.args[0] is S.One or any(arg.is_Number for arg in expr.args[1:]):
            return super()._print_Mul(expr)  # written unevaluated, to be shown as it is
        if expr.could_extract_minus_sign():
            opposite = -expr
            return f"- {self._print(opposite)}" if not opposite.is_Add else rf"- \left({self._print(opposite)}\right)"
        numerator, denominator = fraction(expr, exact=True)
        if denominator is S.One:
            return self._factors(expr)
        return rf"\frac{{{self._factors(numerator)}}}{{{self._factors(denominator)}}}"

    def _factors(self, expr: Expr) -> str:
        factors = ordered_factors(expr) if isinstance(expr, Mul) else [expr]
        code = ""
        for index, factor in enumerate(factors):
            piece = self._print(factor)
            alone = len(factors) == 1
            if not alone and self._needs_mul_brackets(factor, first=index == 0, last=index == len(factors) - 1):
                piece = rf"\left({piece}\right)"
            numbers = _NUMBER_ENDS.search(code) and _NUMBER_BEGINS.match(piece)
            code += rf" \cdot {piece}" if numbers else f" {piece}" if code else piece
        return code

    def _print_Pow(self, expr: Expr) -> str:
        base, exponent = expr.as_base_exp()
        below = exponent.is_Rational and exponent.is_negative  # printed as a fraction
        if isinstance(expr.base, AppliedUndef) and expr.exp == exponent and not below and exponent != S.Half:
            return rf"\left({self._print(base)}\right)^{{{self._print(exponent)}}}"
        return super()._print_Pow(expr)
