r"""LaTeX of claims and of the derivations behind them: every line of it checked, amsmath all it needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from sympy import Interval, Set, Symbol, oo

from numerics.points import check_steps
from theory.derivation import CheckedStep, Derivation, How
from theory.layout import PAGE, breadth, sentence_rows, wrapped
from theory.notation import Meaning, clashing, meanings, undefined
from theory.typeset import latex, latex_text

if TYPE_CHECKING:
    from .claims import Claim

_BLACKBOARD = r"\providecommand{\mathbb}{\mathbf} % for want of amsfonts"
_HEAD = r"""\documentclass{article}
\usepackage{amsmath}
"""
_BEGIN = rf"""{_BLACKBOARD}
\allowdisplaybreaks
\setlength{{\parindent}}{{0pt}}
\raggedright
\begin{{document}}
"""
_FOOT = "\n\\end{document}"
_CHECKED = (
    "Each line was checked: by exact algebra, or by a lemma whose hypotheses were checked so. "
    "Where values at random points agree and no more is known, the line says it."
)


@dataclass(frozen=True)
class CheckedDerivation:
    """A derivation and what the check of each of its steps found."""

    derivation: Derivation
    steps: tuple[CheckedStep, ...]

    @property
    def doubts(self) -> list[str]:
        """The steps that are wrong or were not decided, in words."""
        return [
            f"{self.derivation.title or self.derivation.name}: {step.outcome.how.value}: {step.step.because}"
            for step in self.steps
            if step.outcome.how in (How.WRONG, How.UNDECIDED)
        ]

    def to_latex(self, local: Iterable[Meaning] = ()) -> str:
        """Its title, the domain of its symbols and its lines, with what the check found beside those not proved.

        Of the `local` meanings those of its own symbols are given here, as other derivations mean others by them.
        """
        here = [meaning for meaning in meanings([self.derivation]) if meaning in local]
        sentences = "".join(f" Here {meaning.to_latex()}" for meaning in here)
        where = f" For {_conditions(self.derivation.domain)}:" if self.derivation.domain else ""
        heading = wrapped(rf"\paragraph{{{latex_text(self.derivation.title)}}}{sentences}{where}")
        return f"{heading}\n{self.derivation.to_latex(self.steps)}"


_GREATER, _LESS = {True: ">", False: r"\ge"}, {True: "<", False: r"\le"}  # strictly or not


def _conditions(domain: Mapping[Symbol, Set]) -> str:
    r"""Where the symbols live, in words: those that live in one set together.

    >>> x, y = Symbol("x"), Symbol("y")
    >>> _conditions({x: Interval.open(0, oo), y: Interval.open(0, oo)}), _conditions({x: Interval.open(-y, y)})
    ('$x$, $y > 0$', '$|x| < y$')
    """
    return ", ".join(
        f"${_membership('$, $'.join(latex(symbol) for symbol in symbols), where)}$"
        for where, symbols in groupby(domain, key=lambda symbol: domain[symbol])
    )


def _membership(names: str, where: Set) -> str:
    if isinstance(where, Interval):
        if where.end is oo and where.start is not -oo:
            return rf"{names} {_GREATER[where.left_open]} {latex(where.start)}"
        if (
            where.start == -where.end
            and where.end.free_symbols
            and where.left_open == where.right_open
            and "$" not in names
        ):
            return rf"|{names}| {_LESS[where.left_open]} {latex(where.end)}"
    return rf"{names} \in {latex(where)}"


def checked_derivations(claim: Claim) -> list[CheckedDerivation]:
    """Every derivation behind the claim, each step checked: by exact algebra, else at points."""
    return [CheckedDerivation(derivation, check_steps(derivation)) for derivation in claim.all_derivations()]


def notation(derivations: Sequence[CheckedDerivation]) -> str:
    """A paragraph that says what the symbols of these derivations stand for; nothing if they say it themselves.

    A symbol that does not mean the same in all of them is left to each (`CheckedDerivation.to_latex`).
    """
    printed = [one.derivation for one in derivations]
    found = meanings(printed)
    local = clashing(found)
    sentences = [meaning.to_latex() for meaning in found if meaning not in local]
    if missing := undefined(printed):
        sentences.append(f"Without a definition here: {', '.join(f'${letter}$' for letter in missing)}.")
    return wrapped("\n".join([r"\paragraph{Notation}", *sentences])) if sentences else ""


def _derived(claim: Claim, derivations: Sequence[CheckedDerivation]) -> list[str]:
    """The notation, the derivations, and what is no part of them; nothing if there are none."""
    if not derivations:
        return []
    local = clashing(meanings([one.derivation for one in derivations]))
    return [notation(derivations), *(one.to_latex(local) for one in derivations), _besides(claim)]


def _besides(claim: Claim) -> str:
    """A paragraph that lists the evidence that is no derivation, by what it is for; nothing if there is none."""
    from .evidence.derived import Derived

    other: dict[str, list[str]] = {}
    for part, _, item in claim.evidence():
        if not isinstance(item, Derived):
            other.setdefault(part, []).append(f"{item.kind}: {item.name}" if item.name else item.kind)
    if not other:
        return ""
    listed = "; ".join(f"{part} ({'; '.join(names)})" if part else "; ".join(names) for part, names in other.items())
    words = f"What these derivations do not give rests on other evidence, run by limes verify {claim.id}: {listed}."
    return _paragraph("Not derived here", words)


def _paragraph(head: str, words: str, shown: str = "") -> str:
    """Words that may be broken anywhere, as formulas in words have few hyphens; and a display that belongs to them."""
    return wrapped(
        rf"{{\raggedright\paragraph{{{head}}} {latex_text(words)}" + (f"\n{shown}\n" if shown else "") + r"\par}"
    )


def statement(claim: Claim) -> str:
    r"""The statement as a display, under a comment that says whose it is; a long one is broken where it has a `\quad`.

    >>> from sympy import Integer
    >>> from checks import Identity, claim
    >>> print(statement(claim(id="one", statement="1 = 1", evidence=[Identity(derivation=Integer(1), claimed=1)])))
    % one: own claim
    \[
    1 = 1
    \]
    """
    return wrapped(f"% {claim.id}: {_one_line(str(claim.source))}\n{display(claim.statement)}")


def fragment(claim: Claim) -> str:
    """The statement, what it assumes, and what holds instead, where that is known: all of it in print."""
    parts = [statement(claim)]
    if claim.correction:
        published = f"{claim.title} ({claim.source}); not all of it is so:"
        parts = [
            _paragraph("As published", published, parts[0]),
            _paragraph("Corrected", f"{claim.correction.text}:", display(claim.correction.latex)),
        ]
    for head, sentences in (("Hypotheses", claim.hypotheses), ("Conditions needed besides", claim.conditions)):
        if sentences:
            parts.append(_paragraph(head, f"{'; '.join(sentences)}."))
    return "\n\n".join(parts)


def for_a_paper(claim: Claim, derivations: Sequence[CheckedDerivation] = ()) -> str:
    r"""What goes into a document of one's own, which needs amsmath: the statement, the notation and the derivations."""
    text = "\n\n".join(part for part in (fragment(claim), *_derived(claim, derivations)) if part)
    if derivations:  # long ones run over the foot of a page
        text = f"\\begingroup\\allowdisplaybreaks\n{text}\n\\endgroup"
    return f"{_BLACKBOARD}\n{text}" if r"\mathbb" in text else text


def document(claim: Claim, derivations: Sequence[CheckedDerivation] = ()) -> str:
    """A document that pdflatex compiles: the claim and, if they are given, its derivations."""
    parts = [rf"\section*{{{latex_text(claim.title)}}}", latex_text(f"{claim.id}. {claim.source}."), fragment(claim)]
    if claim.findings:
        parts.append(_paragraph("Findings", f"{'; '.join(claim.findings)}."))
    if derivations:
        parts += [r"\section*{Derivations}", _CHECKED, *_derived(claim, derivations)]
    return wrapped(page([part for part in parts if part]))


def page(parts: Iterable[str], preamble: str = "") -> str:
    """A document that pdflatex compiles of these paragraphs; the preamble has what they need besides amsmath."""
    return _HEAD + preamble + _BEGIN + "\n\n".join(parts) + _FOOT


def pieces(code: str) -> list[str]:
    r"""A formula cut after each `\quad` that is outside all brackets: there a line may be broken.

    >>> pieces(r"a = 1,\quad \left(b \quad c\right)")
    ['a = 1,\\quad', ' \\left(b \\quad c\\right)']
    """
    return _cut(code, _QUAD, closed)


def _cut(code: str, place: str, complete: Callable[[str], bool]) -> list[str]:
    """The code cut at such places, where all before is complete."""
    found, whole = [], ""
    for piece in re.split(place, code):
        whole += piece
        if complete(whole):
            found.append(whole)
            whole = ""
    return [*found, whole] if whole else found


_QUAD = r"(?<=\\quad)(?![A-Za-z])|(?<=\\qquad)(?![A-Za-z])"
# Where a wide statement may be broken, the best places first.
_PLACES = (_QUAD, r"(?<=[^\\][,;])(?! *\\q?quad)", r"(?=\\text\{)", r"(?= (?:=|<|>|\\le|\\ge|\\to) )", r"(?= [+-] )")


def display(code: str) -> str:
    r"""A display; a wide one is broken outside all brackets, where it has a `\quad` or else where it can be."""
    if breadth(code) <= PAGE:
        return wrapped(f"\\[\n{code}\n\\]")
    return wrapped("\\begin{gather*}\n" + " \\\\\n".join(_rows(code)) + "\n\\end{gather*}")


def _rows(code: str) -> list[str]:
    """The code in rows that fit, broken at the best places that suffice; a long text between words."""
    rows: list[str] = []
    for count in range(1, len(_PLACES) + 1):
        rows = [""]
        for piece in _cut(code, "|".join(_PLACES[:count]), _balanced):
            words = re.fullmatch(r"\\text\{([^{}]*)\}", piece.strip())
            longer = rf"{rows[-1]}{piece}".strip()
            if breadth(longer) <= PAGE or (not rows[-1] and words is None):
                rows[-1] = longer
            elif words is None:
                rows.append(piece.strip())
            else:
                rows += [rf"\text{{{row}}}" for row in sentence_rows(words.group(1))]
        rows = [row for row in rows if row]
        if all(breadth(row) <= PAGE for row in rows):
            break
    return rows


def _balanced(code: str) -> bool:
    return closed(code) and code.count("(") == code.count(")")


def closed(code: str) -> bool:
    """Whether every bracket that is opened in `code` is closed in it."""
    words = re.findall(r"[{}]|\\[A-Za-z]+", code)  # words, as \leftarrow opens nothing
    pairs = (("{", "}"), (r"\left", r"\right"), (r"\begin", r"\end"))
    return all(words.count(opening) == words.count(closing) for opening, closing in pairs)


def _one_line(text: str) -> str:
    return " ".join(text.split())
