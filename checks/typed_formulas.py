"""Formulas as they are typed in a sentence, such as `n^(-1/2)`, set as they are written by hand: n⁻¹ᐟ².

Three things are known: a power (`x^2`, `x**2`, `(1 + r)^k`, `h^(3/2)`, `e^{-ct}`, a derivative `phi^[k]`), an index of
a letter (`theta_0`, `C_{0,2}`, `f_lin`, `eta1` with the name of a Greek letter), and the name of a Greek letter itself.
Round brackets and braces around an exponent or index go, as its height says what they said; `x^2/2` is (x^2)/2, as in
every programming language. Whatever is not exactly that stays as it was typed, such as a power of a power.
"""

from __future__ import annotations

import re

from .markup import Child, element

LONGEST = 60  # characters of an exponent in brackets

_NAMES = "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_CAPITALS = "Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega"
_LETTERS = "αβγδεζηθκλμνξπρστφχψω" + "ΓΔΘΛΞΣΦΨΩ"
GREEK: dict[str, str] = dict(zip(f"{_NAMES} {_CAPITALS}".split(), _LETTERS, strict=True))

_GREEK = "|".join(GREEK)
_LETTER = "A-Za-zΑ-Ωα-ω"
_SYMBOL = rf"""
    (?<![\w\\]) (?<![A-Za-z]-)                      # not inside of a word, nor after a hyphen
    (?P<symbol> {_GREEK} | [{_LETTER}]{{1,2}} (?='*_) ) (?P<primes>'*)
    (?: _ (?: (?P<index> \d+ | [A-Za-z]+ ) | \{{ (?P<braces> [^{{}}]{{1,30}} ) \}} | \( (?P<round> [^()]{{1,30}} ) \) )
      | (?P<number> \d+ ) )?
    (?! \w | -[A-Za-z] | \.\w )                     # nor before one
"""
_POWER = rf"""
    (?<= [\w)\]}}|'] ) (?: \^ | \*\* )
    (?: (?P<open> [(\[{{] )
      | (?P<exponent> [-−]? (?: \d+ (?: \.\d+ )? | {_GREEK} | [{_LETTER}] ) ) (?! [\w^{{] | \.\d | \*\* )
      | (?: [\w.−-]+ (?: \^ | \*\* ) )+ )             # a power of a power, left alone
"""
_TYPED = re.compile(f"(?:{_SYMBOL})|(?:{_POWER})", re.VERBOSE)
_AGAIN = re.compile(r"\^|\*\*")
_INSIDE = re.compile(r"[\w\s+\-−*/.,'|^⌊⌋()\[\]{}]*")  # what an exponent in brackets may be made of


def notation(text: str) -> list[Child]:
    """The sentence as children of an element.

    >>> from checks.markup import element, write
    >>> write(element("p", *notation("falls like size^-0.83, for theta_0 > h^(2 alpha - 1)")))
    '<p>falls like size<sup>−0.83</sup>, for θ<sub>0</sub> &gt; h<sup>2 α − 1</sup></p>'
    """
    made: list[Child] = []
    done = 0  # so much of the text is in `made`
    for typed in _TYPED.finditer(text):
        end = _closing(text, typed.start("open")) if typed["open"] else typed.end()
        if typed.start() < done or not end:
            continue
        found = _set(typed, text[typed.start() : end])
        if typed["open"] and (again := _AGAIN.match(text, end)):  # a power of a power, left alone too
            end = again.end()
            found = [text[typed.start() : end]]
        made += [text[done : typed.start()], *found]
        done = end
    return [*made, text[done:]]


def _set(typed: re.Match[str], whole: str) -> list[Child]:
    """What is shown for `whole`, a power, a letter with or without an index, or what is left alone."""
    if typed["open"]:
        exponent = whole[whole.index(typed["open"]) :]
        return [element("sup", *notation(_minus(exponent if typed["open"] == "[" else exponent[1:-1])))]
    if typed["exponent"]:
        return [element("sup", *notation(_minus(typed["exponent"])))]
    if not typed["symbol"]:
        return [whole]
    base = GREEK.get(typed["symbol"], typed["symbol"]) + typed["primes"]
    index = typed["index"] or typed["braces"] or typed["round"] or typed["number"]
    return [base, element("sub", *notation(_minus(index)))] if index else [base]


def _closing(text: str, start: int) -> int:
    """Just after the bracket that closes the one at `start`; 0 if there is none near, or no exponent between them."""
    closing = {"(": ")", "[": "]", "{": "}"}
    expected: list[str] = []
    for place, character in enumerate(text[start : start + LONGEST], start=start):
        if character in closing:
            expected.append(closing[character])
        elif character in closing.values() and character != expected.pop():
            return 0
        if not expected:
            inside = text[start + 1 : place]
            return place + 1 if inside.strip() and _INSIDE.fullmatch(inside) else 0
    return 0


def _minus(formula: str) -> str:
    return formula.replace("-", "−")
