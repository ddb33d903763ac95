r"""What the symbols of a derivation stand for, so that its LaTeX can be read alone.

A `Meaning` says it in words, and by equations where there are some: these are printed from the objects with which the
derivation computes, so that the two cannot differ. Each derivation gives the meanings of the symbols that it
introduces (`Derivation.where`), and those it relies on give theirs.

A letter is defined in a set of derivations if it stands for what one of them derives (`κ_1(θ) = …`), is in the domain
of one, is bound (a variable of integration, an index), or has a meaning. `undefined` lists the others, as they are
printed: letters in lines, in names and in reasons, without subscripts. `π`, `e`, `i`, `d`, `O`, `o`, the
identity `I`, the expectation `E` and the function `Γ` are as everywhere. One meaning of
a letter covers it with every subscript and argument, so that those need a meaning of their own that differ in kind. A
symbol of which two derivations say different things (`clashing`) is explained at each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Basic, Expr, Symbol

from .layout import PAGE, breadth
from .typeset import latex, latex_text

if TYPE_CHECKING:
    from .derivation import Derivation

_LOWER = (
    r"alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|(?:var)?theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|upsilon"
)
_GREEK = re.compile(
    rf"\\(?:{_LOWER}|(?:var)?phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Sigma|Upsilon|Phi|Psi|Omega|ell)"
)
_WORDS = re.compile(r"\\(?:operatorname|mathrm|mathbb|mathcal|text|begin|end)\s*\{[^{}]*\}")
_SUBSCRIPT = re.compile(r"_(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\?[A-Za-z0-9]+)")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_HEAD = re.compile(r"(?:\\(?:bar|dot|hat|tilde)\s*)?(\\?[A-Za-z]+)[_^{}()\\A-Za-z0-9, '*]*")
_ARGUMENTS = re.compile(r"\([^()]*\)|_\{[^{}]*\}")
_STANDARD = {r"\pi", "e", "i", "d", "O", "o", "I", "E", r"\Gamma"}


@dataclass(frozen=True)
class Meaning:
    """What a symbol is, in words that follow "is"; and a function that gives equations for it, as left and right sides.

    >>> from sympy import IndexedBase, cos, symbols
    >>> L, theta, rho = symbols("L"), IndexedBase("theta"), IndexedBase("rho")
    >>> print(Meaning(rho[L], "the correlation after $L$ layers", lambda: {rho[L]: cos(theta[L])}).to_latex())
    $\\rho_L$ is the correlation after $L$ layers, $\\rho_L = \\cos\\theta_L$.
    """

    symbol: Expr | str
    words: str
    equations: Callable[[], Mapping[Any, Expr]] = dict  # a function, as it may have to derive them

    def to_latex(self) -> str:
        """A sentence; equations that are wide are displays after it."""
        several = isinstance(self.symbol, str) and "," in _ARGUMENTS.sub("", self.symbol)
        equations = [f"{_code(left)} = {latex(right)}" for left, right in self.equations().items()]
        inline = "".join(f", ${code}$" for code in equations if breadth(code) <= PAGE / 3)
        wide = "".join(f"\n\\[\n{code}\n\\]" for code in equations if breadth(code) > PAGE / 3)
        sentence = f"${_code(self.symbol)}$ {'are' if several else 'is'} {latex_text(self.words)}{inline}"
        return f"{sentence}:{wide}" if wide else f"{sentence}."

    def letters(self) -> set[str]:
        """The letters that it defines."""
        return letters(_code(self.symbol))

    def symbols(self) -> set[str]:
        r"""The symbols that it defines, as they are printed.

        >>> sorted(Meaning(r"\Theta(x, x'), a_k", "two").symbols())
        ["\\Theta(x, x')", 'a_k']
        """
        return {part.strip() for part in re.split(r",(?![^(){}]*[)}])", _code(self.symbol))}


def letters(code: str) -> set[str]:
    r"""The letters in LaTeX code, Greek ones with their backslash; subscripts, words and commands left out.

    >>> sorted(letters(r"\lim_{L\to\infty} \bar\Theta^{(n)}(x, x') \sin a_k"))
    ['\\Theta', 'a', 'n', 'x']
    """
    code = _SUBSCRIPT.sub(" ", _WORDS.sub(" ", code))
    greek = {command for command in _COMMAND.findall(code) if _GREEK.fullmatch(command)}
    return greek | set(re.findall(r"[A-Za-z]", _COMMAND.sub(" ", code)))


def meanings(derivations: Iterable[Derivation]) -> list[Meaning]:
    """The meanings that these derivations give of letters that they print, each once."""
    derivations = list(derivations)
    printed = set().union(*(_printed(derivation) for derivation in derivations))
    given = (meaning for derivation in derivations for meaning in derivation.where)
    return [meaning for meaning in dict.fromkeys(given) if meaning.letters() & printed]


def clashing(given: Iterable[Meaning]) -> list[Meaning]:
    """Those of these meanings that are of a symbol which another gives in other words.

    >>> clashing([Meaning("a, b", "angles"), Meaning("b", "a bias"), Meaning("c", "a rate")])[1].words
    'a bias'
    """
    given = list(given)
    return [one for one in given if any(one != other and one.symbols() & other.symbols() for other in given)]


def undefined(derivations: Iterable[Derivation]) -> list[str]:
    """The letters that these derivations print and nowhere define."""
    derivations = list(derivations)
    defined = set(_STANDARD).union(*(meaning.letters() for derivation in derivations for meaning in derivation.where))
    for derivation in derivations:
        bound = set().union(*(line.atoms(Symbol) - line.free_symbols for line in derivation.lines))
        defined |= set().union(*(letters(latex(symbol)) for symbol in (*derivation.domain, *bound)))
        if derived := _HEAD.fullmatch(derivation.name):
            defined |= letters(derived.group(1))
    printed = set().union(*(_printed(derivation) for derivation in derivations))
    return sorted(printed - defined)


def _printed(derivation: Derivation) -> set[str]:
    reasons = (formula for step in derivation.steps for formula in re.findall(r"\$([^$]*)\$", step.because))
    return set().union(*map(letters, (derivation.name, *map(latex, derivation.lines), *reasons)))


def _code(part: Basic | str) -> str:
    return part if isinstance(part, str) else latex(part)
