r"""LaTeX as MathML, by math-core, which refuses what it does not know; so nothing is shown that is not what was meant.

A browser breaks no line of a formula. A display is therefore cut where its author put a `\quad` or words outside of all
brackets, a long formula also before its relations and signs, and the pieces are set as a paragraph is.
"""

from __future__ import annotations

import html
import re
from functools import cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from math_core import LatexError, LatexToMathML

from theory.errors import InvalidInput

from .latex import closed, pieces
from .markup import Child, element
from .typed_formulas import notation

# MathML Core: there is no link, picture or script among them, nor `menclose`, of which browsers show only the inside
ELEMENTS = {"math", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom"}
ELEMENTS |= {"mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext"}
ELEMENTS |= {"mprescripts", "mtr", "munder", "munderover"}
_NAMED = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)[A-Za-z]+;")  # characters that HTML has a name for, and XML not
_WORDS = re.compile(r"\\text\{([^\\{}$&%#^_~<>]*)\}")
_BREAKS = frozenset("=<>≤≥≠≈∼∝∈→⇒⇔+−±")  # before which a long formula may go on in the next line
_OPENING, _CLOSING = frozenset("([{⟨⌊⌈"), frozenset(")]}⟩⌋⌉")
SHORT = 24  # characters that fit in a line of a phone
LONGEST = 2000  # characters: a formula that is nested without end would end math-core
DEFINITION = re.compile(r"\\(def|gdef|global|let|newcommand|providecommand|renewcommand)(?![A-Za-z])")


def mathml(code: str, *, display: bool = False) -> Element:
    r"""The formula as one `<math>`; `display` sets its sums and fractions at full size.

    Raises `InvalidInput` for what math-core does not know, and for what is no formula: a link, or a macro's definition,
    which would change the document around it.

    >>> mathml(r"\frac12", display=True).find("mfrac")[0].text
    '1'
    >>> mathml(r"\frac12 + \unheard")
    Traceback (most recent call last):
    theory.errors.InvalidInput: LaTeX = \frac12 + \unheard: it cannot be typeset: 10: Unknown command "\unheard".
    """
    if len(code) > LONGEST:
        raise InvalidInput("LaTeX", code, f"it is no formula: it is longer than {LONGEST} characters")
    if definition := DEFINITION.search(code):
        raise InvalidInput("LaTeX", code, f"it is no formula: it uses {definition.group()}")
    try:
        written = _converter().convert_with_local_state(code, displaystyle=display)
        made = ElementTree.fromstring(_NAMED.sub(lambda name: html.unescape(name.group()), written))
    except (LatexError, ElementTree.ParseError) as error:
        raise InvalidInput("LaTeX", code, f"it cannot be typeset: {error}") from None
    if strange := {part.tag for part in made.iter()} - ELEMENTS:
        raise InvalidInput("LaTeX", code, f"it is no formula: {', '.join(sorted(strange))}")
    return made


def displayed(code: str) -> Element:
    r"""A display: formulas and the words between them, or the LaTeX itself, marked as such, if it cannot be typeset.

    >>> [child.tag for child in displayed(r"x = 1 \text{ for all } y,\quad z = 2")], displayed(r"\unheard")[0].text
    (['math', 'math', 'math'], '\\unheard')
    """
    try:
        mathml(code)
        made: list[Child] = []
        for piece in pieces(code):
            made += [*_with_words(piece), " "]
    except InvalidInput:
        return element("p", element("code", code), class_="display untypeset", title="LaTeX that was not typeset")
    return element("div", *made, class_="display")


def _with_words(piece: str) -> list[Child]:
    """A formula, cut at the words that stand in it outside of all brackets."""
    found: list[Child] = []
    code, *rest = _WORDS.split(piece)  # formula, words, formula, …
    for words, after in zip(rest[::2], rest[1::2], strict=True):
        if closed(code) and not code.rstrip().endswith(("_", "^")):
            found += [_large(code), words, " " if after.lstrip().startswith("\\") else None]  # as before a relation
            code = after
        else:
            code += rf"\text{{{words}}}{after}"
    return [*found, _large(code)]


def _large(code: str) -> Element | None:
    """A formula in the line, its sums and fractions at full size all the same; nothing for nothing."""
    if not code.strip():
        return None
    made = mathml(code, display=True)
    del made.attrib["display"]
    made.set("displaystyle", "true")
    if len("".join(made.itertext())) <= SHORT:
        return made
    return element("span", *_lines(made), class_="long")


def _lines(formula: Element) -> list[Element]:
    """The formula cut before each relation and sign that is outside of all brackets; the pieces look like the whole."""
    lines = [Element(formula.tag, formula.attrib)]
    depth = 0
    for part in formula:
        if depth == 0 and part.tag == "mo" and part.text in _BREAKS and "lspace" not in part.attrib and len(lines[-1]):
            lines.append(Element(formula.tag, formula.attrib))
        lines[-1].append(part)
        core = part
        while core.tag in ("msub", "msup", "msubsup"):  # a bracket may carry an exponent
            core = core[0]
        if core.tag == "mo":
            depth += (core.text in _OPENING) - (core.text in _CLOSING)
    for line in lines[1:]:
        line[0].set("form", "infix")  # or it would be taken for the sign of what follows
    return lines


def sentence(text: str) -> list[Child]:
    """Text as children of an element: mathematics between dollar signs, and what `checks/typed_formulas.py` knows.

    `>=`, `<=` and `->` are written as one sign.

    >>> [child if isinstance(child, str) else child.tag for child in sentence("for $n > 1$, x >= y^2")]
    ['for ', 'math', ', x ≥ y', 'sup', '']
    """
    parts = text.split("$")
    if len(parts) % 2 == 0:  # an odd dollar sign is no mathematics
        return notation(_signs(text))
    made: list[Child] = []
    for index, part in enumerate(parts):
        made += [_formula(part)] if index % 2 else notation(_signs(part))
    return made


def _formula(code: str) -> Element:
    try:
        return mathml(code)
    except InvalidInput:
        return element("code", code)


def _signs(text: str) -> str:
    return text.replace(">=", "≥").replace("<=", "≤").replace("->", "→")


@cache
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False)
