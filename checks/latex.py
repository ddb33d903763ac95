r"""LaTeX of claims and of the derivations behind them: every line of it checked, amsmath all it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from numerics.points import check_steps
from theory.derivation import CheckedStep, Derivation, How
from theory.layout import PAGE, breadth
from theory.typeset import latex, latex_text

if TYPE_CHECKING:
    from .claims import Claim

_HEAD = r"""\documentclass[a4paper,fleqn]{article}
\usepackage{amsmath}
"""
_LAYOUT = r"""\providecommand{\mathbb}{\mathbf} % amsfonts is not needed
\setlength{\textwidth}{17.5cm}
\setlength{\oddsidemargin}{-0.8cm}
\setlength{\textheight}{24cm}
\setlength{\topmargin}{-1.5cm}
\setlength{\mathindent}{1em}
\setlength{\parindent}{0pt}
\raggedright
\allowdisplaybreaks
\begin{document}
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

    def to_latex(self) -> str:
        """Its title, the domain of its symbols and its lines, with what the check found beside those not proved."""
        domain = ", ".join(rf"${latex(symbol)} \in {latex(where)}$" for symbol, where in self.derivation.domain.items())
        title = latex_text(self.derivation.title) + (f", for {domain}" if domain else "")
        return rf"\paragraph{{{title}}}" + "\n" + self.derivation.to_latex(self.steps)


def checked_derivations(claim: Claim) -> list[CheckedDerivation]:
    """Every derivation behind the claim, each step checked: by exact algebra, else at points."""
    return [CheckedDerivation(derivation, check_steps(derivation)) for derivation in claim.all_derivations()]


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
    return f"% {claim.id}: {_one_line(str(claim.source))}\n{display(claim.statement)}"


def fragment(claim: Claim) -> str:
    """The statement, and what holds instead, where that is known: for a document of one's own."""
    if claim.correction is None:
        return statement(claim)
    mended = f"% what is so: {_one_line(claim.correction.text)}\n{display(claim.correction.latex)}"
    return f"% wrong as published, see below\n{statement(claim)}\n\n{mended}"


def document(claim: Claim, derivations: list[CheckedDerivation] | None = None) -> str:
    """A document that pdflatex compiles: the claim and, if they are given, its derivations."""
    parts = [rf"\section*{{{latex_text(claim.title)}}}", latex_text(f"{claim.id}. {claim.source}."), statement(claim)]
    for heading, sentences in (
        ("Hypotheses", claim.hypotheses),
        ("Conditions that it needs besides", claim.conditions),
        ("Findings", claim.findings),
    ):
        if sentences:
            parts.append(rf"\paragraph{{{heading}}} " + latex_text("; ".join(sentences)) + ".")
    if claim.correction:
        parts.append(r"\paragraph{Correction} " + latex_text(claim.correction.text) + ":")
        parts.append(display(claim.correction.latex))
    if derivations:
        parts += [r"\section*{Derivations}", _CHECKED, *(derivation.to_latex() for derivation in derivations)]
    return page(parts)


def page(parts: Iterable[str], packages: Iterable[str] = ()) -> str:
    """A document that pdflatex compiles of these paragraphs; `packages` are those that they need besides amsmath."""
    used = "".join(f"\\usepackage{{{package}}}\n" for package in packages)
    return _HEAD + used + _LAYOUT + "\n\n".join(parts) + _FOOT


def pieces(code: str) -> list[str]:
    r"""A formula cut after each `\quad` that is outside all brackets: there a line may be broken.

    >>> pieces(r"a = 1,\quad \left(b \quad c\right)")
    ['a = 1,\\quad', ' \\left(b \\quad c\\right)']
    """
    found, whole = [], ""
    for piece in re.split(r"(?<=\\quad)(?![A-Za-z])|(?<=\\qquad)(?![A-Za-z])", code):
        whole += piece
        if closed(whole):
            found.append(whole)
            whole = ""
    return [*found, whole] if whole else found


def display(code: str) -> str:
    r"""A display; one that is too wide is broken where it has a `\quad` outside all brackets."""
    if breadth(code) <= PAGE:
        return f"\\[\n{code}\n\\]"
    rows = [""]
    for piece in pieces(code):
        if rows[-1] and breadth(rows[-1] + piece) > PAGE:
            rows.append("")
        rows[-1] += piece
    return "\\begin{gather*}\n" + " \\\\\n".join(row.strip() for row in rows) + "\n\\end{gather*}"


def closed(code: str) -> bool:
    """Whether every bracket that is opened in `code` is closed in it."""
    words = re.findall(r"[{}]|\\[A-Za-z]+", code)  # words, as \leftarrow opens nothing
    pairs = (("{", "}"), (r"\left", r"\right"), (r"\begin", r"\end"))
    return all(words.count(opening) == words.count(closing) for opening, closing in pairs)


def _one_line(text: str) -> str:
    return " ".join(text.split())
