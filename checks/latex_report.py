r"""A run as one document for pdflatex, of packages that every TeX has. Nothing in a claim acts as a command.

A formula that math-core does not know, which might be any command of TeX, is printed as it was written. Plots are files
in PDF in a folder beside the document; each stands at the first claim that it illustrates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from theory.errors import InvalidInput
from theory.typeset import latex_text

from .chapters import by_chapter
from .drawing import Drawing
from .figures import FIGURES
from .findings import by_kind
from .latex import display, page
from .mathml import mathml
from .recorded import RecordedAudit, RecordedClaim, RecordedEvidence, RecordedRun
from .report import coarse_time

TWICE = "% Run pdflatex twice: the first run finds the pages and numbers to which the document refers.\n"
PREAMBLE = r"""\usepackage{amssymb}
\usepackage{array}
\usepackage{bm}
\usepackage{graphicx}
\usepackage{longtable}
\setlength{\textwidth}{17.5cm}
\setlength{\oddsidemargin}{-0.8cm}
\setlength{\textheight}{24cm}
\setlength{\topmargin}{-1.5cm}
"""
FINDINGS_COLUMNS = (r"p{3.2cm}", r"p{5cm}", r"p{6.3cm}", r"p{1.2cm}")
EVIDENCE_COLUMNS = (r"p{1.8cm}", r"p{4.4cm}", r"p{6.1cm}", r"p{1.7cm}", r"p{1.5cm}")

_SMALL = dict(zip("₀₁₂₃₄₅₆₇₈₉ₙ⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789n0123456789", strict=True))
_SIGNS = {"⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "∏": r"$\prod$"}
_SPECIAL = re.compile(rf"([₀-₉ₙ]+|[⁰¹²³⁴-⁹]+|[{''.join(_SIGNS)}])")


def figures_folder(document: Path) -> Path:
    """Where the plots of a document are, beside it; the name is one that TeX reads as it stands.

    >>> figures_folder(Path("my 50% report.tex")).name
    'my-50-report-figures'
    """
    return document.parent / f"{re.sub('[^A-Za-z0-9]+', '-', document.stem).strip('-')}-figures"


def write_figures(drawings: Iterable[Drawing], document: Path) -> None:
    """Write the plots, without the title and the caption, which the document sets. Raises `OSError` as writing does."""
    folder = figures_folder(document)
    for drawing in drawings:
        folder.mkdir(exist_ok=True)
        bare = Drawing(replace(drawing.figure, title=""), drawing.seed, replace(drawing.chart, caption=""))
        bare.save(folder / f"{drawing.figure.name}.pdf")


def latex_report(
    run: RecordedRun,
    audit: RecordedAudit | None = None,
    drawings: Iterable[Drawing] = (),
    folder: str = "figures",
    *,
    remark: str = "",
) -> str:
    """The document: the findings first, then the claims by chapter. The plots are those that `write_figures` writes.

    `remark` stands at the top, such as why there are none.
    """
    pictures = {drawing.figure.name: drawing for drawing in drawings}
    missing = dict(pictures)  # the plots that no claim has shown yet
    made = f"Level {run.level.value}, seed {run.seed}, limes {run.version}."
    parts = [r"\title{What is so in the theory of wide and deep networks}\author{}\date{}\maketitle"]
    parts += [
        sentence(f"{run.summary()} {made}"),
        _unexpected(run),
        sentence(remark),
        *_findings(run),
        *_audit(audit),
        r"\tableofcontents",
    ]
    for title, claims in by_chapter(run).items():
        parts.append(rf"\section{{{sentence(title)}}}")
        for one in claims:
            parts += _claim(one, run)
            for name in [name for name, drawing in missing.items() if one.id in drawing.figure.claims]:
                parts.append(_picture(missing.pop(name), folder))
            parts.append(_plots(one, pictures))
    return TWICE + page([part for part in parts if part], PREAMBLE)


def _unexpected(run: RecordedRun) -> str:
    names = [one.id for one in run.claims if not one.as_expected]
    return rf"\textbf{{Not as recorded: {sentence(', '.join(names))}.}}" if names else ""


def _findings(run: RecordedRun) -> list[str]:
    claims = {one.id: one for one in run.claims}
    parts = []
    for kind, found in by_kind().items():
        rows = []
        for one in found:
            if one.claim not in claims:
                continue
            claim = claims[one.claim]
            doubt = "" if claim.as_expected else f" (this run: {claim.verdict.value})"
            said = one.said or "(not there)"
            rows.append([sentence(one.claim) + doubt, sentence(said), sentence(one.so), coarse_time(claim.seconds)])
        if rows:
            heads = ("claim", "the source says", "what is so", "takes")
            parts += [rf"\subsection*{{{sentence(kind.value)}}}", _table(FINDINGS_COLUMNS, heads, rows)]
    if not parts:
        return []
    how = rf"Each line is shown by {_code('limes verify')} and its claim; the times are those of one core."
    return [r"\section*{Findings}", how, *parts]


def _audit(audit: RecordedAudit | None) -> list[str]:
    if audit is None:
        return []
    made = f"limes audit, level {audit.level.value}, seed {audit.seed}, limes {audit.version}."
    checks = [(one.name if one.passed else f"{one.name}: FAILED", one.sentence) for one in audit.checks]
    found = [rf"\paragraph{{{sentence(name)}}} {sentence(words)}" for name, words in checks]
    return [r"\section*{Can the checks be trusted?}", *found, rf"\par {sentence(made)}"]


def _claim(one: RecordedClaim, run: RecordedRun) -> list[str]:
    verdict = rf"\textbf{{{one.verdict.value}}}"
    if not one.as_expected:
        verdict += f" (recorded: {one.expected.value})" if one.expected else " (it should hold)"
    parts = [rf"\subsection{{{sentence(one.title)}}}", rf"{_code(one.id)}. {sentence(one.source)}."]
    parts += [_formula(one.statement), f"Verdict: {verdict}."]
    if one.correction:
        parts += [rf"\paragraph{{Correction}} {sentence(one.correction.text)}:", _formula(one.correction.latex)]
    for heading, sentences in (
        ("Hypotheses", one.hypotheses),
        ("Conditions that it needs besides", one.conditions),
        ("Findings", one.findings),
    ):
        if sentences:
            items = "\n".join(rf"\item {sentence(text)}" for text in sentences)
            parts.append(rf"\paragraph{{{heading}}}" + f"\n\\begin{{itemize}}\n{items}\n\\end{{itemize}}")
    command = f"limes verify {one.id} --level {run.level.value} --seed {run.seed} --evidence"
    return [
        *parts,
        _evidence(one.evidence),
        rf"\noindent Again: {_code(command)} ({coarse_time(one.seconds)}).",
    ]


def _picture(drawing: Drawing, folder: str) -> str:
    """The plot where it is, not floating, as floats and tables that go over pages disturb each other."""
    figure = drawing.figure
    return "\n".join(
        (
            r"\medskip\noindent\begin{minipage}{\linewidth}",
            r"\centering",
            rf"\includegraphics[width=\linewidth,height=0.6\textheight,keepaspectratio]{{{folder}/{figure.name}}}",
            r"\par\medskip\raggedright\refstepcounter{figure}" + rf"\label{{figure:{figure.name}}}",
            rf"Figure~\thefigure. \textbf{{{sentence(figure.title)}.}} {sentence(drawing.chart.caption)}",
            r"\end{minipage}\medskip",
        )
    )


def _plots(one: RecordedClaim, pictures: Mapping[str, Drawing]) -> str:
    """Where the plots of a claim are, and how to draw them."""
    names = [figure.name for figure in FIGURES.values() if one.id in figure.claims]
    shown = (rf"figure~\ref{{figure:{name}}}, " if name in pictures else "" for name in names)
    told = [f"{where}{_code(f'limes plot {name}')}" for name, where in zip(names, shown, strict=True)]
    return f"Plots: {'; '.join(told)}." if told else ""


def _evidence(evidence: Iterable[RecordedEvidence]) -> str:
    """A row for each piece of evidence, under the part of the statement that it is about."""
    rows: list[Sequence[str]] = []
    for (corrects, part), items in groupby(evidence, key=lambda item: (item.corrects, item.part)):
        heading = ", ".join(words for words in ("the correction" if corrects else "", part) if words)
        if heading:
            rows.append([rf"\multicolumn{{5}}{{@{{}}p{{17cm}}@{{}}}}{{\textit{{{sentence(heading)}}}}}"])
        rows += [_piece(item) for item in items]
    return _table(EVIDENCE_COLUMNS, ("verdict", "evidence", "what it found", "resolution", "mutants rejected"), rows)


def _piece(item: RecordedEvidence) -> Sequence[str]:
    named = f"{item.kind}: {item.name}" if item.name not in ("", item.part, item.kind) else item.kind
    resolution = "" if item.resolution is None else f"{item.resolution:.2g}"
    tally = item.mutants
    rejected = f"{tally.killed} of {tally.tried}" if tally.tried else "no mutants" if item.verdict.holds else ""
    survived = "".join(rf"; \textbf{{survived:}} {sentence(text)}" for text in tally.survived)
    return item.verdict.value, sentence(named), sentence(item.detail) + survived, resolution, rejected


def _table(columns: Sequence[str], heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that may go over pages; its cells are set flush left."""
    ragged = "".join(rf">{{\raggedright\arraybackslash}}{column}" for column in columns)
    head = " & ".join(rf"\textit{{{name}}}" for name in heads)
    lines = [" & ".join(cells) + r" \\[2pt]" for cells in rows]
    return "\n".join(
        [rf"\begin{{longtable}}[l]{{@{{}}{ragged}@{{}}}}", head + r" \\ \hline \endhead", *lines, r"\end{longtable}"]
    )


def _formula(code: str) -> str:
    """A display; what is no formula is printed as it was written."""
    if not _is_formula(code):
        return _code(code)
    lines = "\n".join(line for line in code.splitlines() if line.strip())  # no paragraph ends in a display
    return f"\\begin{{gather*}}\n{lines}\n\\end{{gather*}}" if r"\\" in lines else display(lines)


def _is_formula(code: str) -> bool:
    """Whether TeX can set it, and takes it for nothing else."""
    try:
        mathml(code)
    except InvalidInput:
        return False
    return code.isascii()


def sentence(text: str) -> str:
    r"""Text in which formulas stand between dollar signs; all else is escaped, and small figures are kept.

    >>> sentence("2η₁ of $x^2$, 50%"), sentence(r"$\input{file}$")
    ('2$\\eta$$_{1}$ of $x^2$, 50\\%', '\\texttt{\\textbackslash{}input\\{file\\}}')
    """
    parts = text.split("$")
    if len(parts) % 2 == 0:  # an odd dollar sign is no mathematics
        return _escaped(text)
    return "".join(_inline(part) if index % 2 else _escaped(part) for index, part in enumerate(parts))


def _escaped(text: str) -> str:
    done = ""
    for piece in _SPECIAL.split(text):
        if piece in _SIGNS:
            done += _SIGNS[piece]
        elif piece and piece[0] in _SMALL:
            small = "".join(_SMALL[character] for character in piece)
            done += f"$_{{{small}}}$" if "₀" <= piece[0] <= "ₙ" else f"$^{{{small}}}$"
        else:
            done += r"\$".join(map(latex_text, piece.split("$")))  # a dollar sign here is one, and no mathematics
    return done


def _inline(code: str) -> str:
    return f"${code}$" if _is_formula(code) and r"\\" not in code else _code(code)


def _code(text: str) -> str:
    """Text as it was typed."""
    return rf"\texttt{{{_escaped(text)}}}"
