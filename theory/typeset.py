r"""Expressions as LaTeX that compiles with amsmath alone, whatever the symbols are called.

SymPy's printer leaves `%`, `&`, `#`, `$` and Unicode in names as they are, and prints `κ_1(r)**2` as if κ_1 were
composed with itself; both are mended here.
"""

from __future__ import annotations

import re
import unicodedata

from sympy import Basic, Expr, Symbol
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
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*'*")


def latex(expression: Basic) -> str:
    r"""`expression` as LaTeX for mathematics mode.

    >>> from sympy import Function, symbols
    >>> r = symbols("r")
    >>> latex(Function("kappa_1")(r) ** 2)
    '\\left(\\kappa_{1}{\\left(r \\right)}\\right)^{2}'
    >>> latex(symbols("50%"))
    '\\mathrm{50\\%}'
    """
    return _Printer().doprint(expression)


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


class _Printer(LatexPrinter):
    def __init__(self) -> None:
        super().__init__({"fold_short_frac": False, "inv_trig_style": "full"})

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return super()._print_Symbol(expr, style) if _is_plain(expr.name) else _escaped(expr.name)

    def _hprint_Function(self, func: str) -> str:
        # SymPy's caller formats what comes back with the % operator
        return super()._hprint_Function(func) if _is_plain(func) else _escaped(func).replace("%", "%%")

    def _print_Heaviside(self, expr: Basic, exp: str | None = None) -> str:
        step = rf"\operatorname{{H}}\left({self._print(expr.args[0])}\right)"  # SymPy's θ is an angle here
        return step if exp is None else rf"{step}^{{{exp}}}"

    def _print_Pow(self, expr: Expr) -> str:
        base, exponent = expr.as_base_exp()
        if isinstance(expr.base, AppliedUndef) and exponent.is_Rational and exponent > 0 and expr.exp == exponent:
            return rf"\left({self._print(base)}\right)^{{{self._print(exponent)}}}"
        return super()._print_Pow(expr)
