"""What `limes` shows in a terminal: reports, claims, formulas and progress, in 80 columns.

Colours and the progress bar appear only on a terminal; in a pipe it is plain text.
"""

from __future__ import annotations

import textwrap
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from .verdicts import Verdict

if TYPE_CHECKING:
    import rich.progress

    from theory.formulas import Formula

    from .claims import Claim, JudgedEvidence
    from .evidence import Evidence
    from .plot import Figure
    from .report import ClaimResult, Report

WIDTH = 80
PATIENCE = 2.0  # seconds before progress is shown
STYLES = {
    Verdict.PROVED: "green",
    Verdict.CERTIFIED: "green",
    Verdict.SUPPORTED: "cyan",
    Verdict.CORRECTED: "yellow",
    Verdict.REFUTED: "red",
    Verdict.UNDECIDED: "magenta",
}


class Page:
    """A stream on which paragraphs are written."""

    def __init__(self, *, stderr: bool = False) -> None:
        self.console = Console(stderr=stderr, highlight=False, emoji=False, soft_wrap=True)

    def write(self, text: str = "", *, indent: int = 0, head: Text | str = "", style: str = "") -> None:
        """A paragraph in `style`, indented, with `head` in the indentation of its first line."""
        margin = Text.assemble(head)
        margin.pad_right(max(indent - len(margin.plain), 1 if margin.plain else indent))
        room = max(WIDTH - indent, 20)
        for line in textwrap.wrap(text, room, break_on_hyphens=False) or [""]:
            row = margin.append(line, style)
            row.rstrip()
            self.console.print(row)
            margin = Text(" " * indent)

    def title(self, text: str) -> None:
        self.write(text, style="bold")

    def section(self, name: str, lines: Iterable[str]) -> None:
        """A heading and its lines, after an empty line; nothing if there are no lines."""
        lines = list(lines)
        if lines:
            self.write()
            self.title(name)
        for line in lines:
            self.write(line, indent=2)


def show_list(page: Page, chapters: Mapping[str, Sequence[Claim]], formulas: Mapping[str, Formula]) -> None:
    """All claims, chapter by chapter, their sources, and all formulas."""
    every = [claim for claims in chapters.values() for claim in claims]
    column = 3 + max((len(claim.id) for claim in every), default=0)
    for name, claims in chapters.items():
        page.title(f"Claims, chapter_{name}")
        for claim in claims:
            page.write(claim.title, indent=column, head=f"  {claim.id}")
        page.write()
    page.title("Sources")
    for source in {claim.source.key: claim.source.at("") for claim in every}.values():
        page.write(str(source), indent=column, head=f"  source_{source.key}")
    page.write()
    page.title("Formulas")
    for formula in formulas.values():
        names = ", ".join(parameter.name for parameter in formula.parameters)
        page.write(f"{formula.name}{f' ({names})' if names else ''}", indent=2)
        page.write(formula.title, indent=6)


def show_figures(page: Page, figures: Mapping[str, Figure]) -> None:
    """All figures, a line each."""
    for figure in figures.values():
        page.write(figure.title, indent=26, head=f"  {figure.name}")


def show_claim(page: Page, claim: Claim) -> None:
    """What is claimed, by whom, under which hypotheses, by what it is judged, and what was found."""
    page.title(f"{claim.id}: {claim.title}")
    page.write(str(claim.source))
    page.section("Statement", [claim.statement])
    page.section("Hypotheses", claim.hypotheses)
    page.section("Conditions that it needs besides", claim.conditions)
    page.write()
    page.title("Evidence")
    _show_parts(page, claim.parts)
    if claim.correction:
        page.section("Correction", [claim.correction.text, claim.correction.latex])
        _show_parts(page, claim.correction.parts)
    page.section("Findings", claim.findings)
    page.section("Formulas", claim.formulas)
    if claim.expected:
        page.section("Recorded verdict", [claim.expected.value])


def _show_parts(page: Page, parts: Mapping[str, Sequence[Evidence]]) -> None:
    for part, items in parts.items():
        if part:
            page.write(part, indent=2)
        for item in items:
            page.write(item.name, indent=18, head=f"    {item.kind}")


def show_formula(page: Page, formula: Formula) -> None:
    """A formula: where it comes from, its parameters and their ranges, its definition or its expression."""
    from theory.typeset import latex

    page.title(f"{formula.name}: {formula.title}")
    page.write(formula.source)
    page.section("Parameters", [f"{one.name} in {one.range()}: {one.meaning}" for one in formula.parameters])
    if formula.expression is None:
        page.section("Definition", [formula.definition])
    else:
        expression = formula.expression()
        page.section("Expression", [str(expression), latex(expression)])


def show_report(page: Page, report: Report, *, seconds: float, evidence: bool = False) -> None:
    """The verdict on each claim with what must be said of it, and a summary; with `evidence`, each piece of that."""
    for result in report.claims:
        show_result(page, result, evidence=evidence)
    show_summary(page, report, seconds=seconds)


def show_result(page: Page, result: ClaimResult, *, evidence: bool = False) -> None:
    """The verdict on one claim with what must be said of it; with `evidence`, each piece of that."""
    verdict = Text.assemble(f"{result.claim.id:<19} ", (result.verdict.value, STYLES[result.verdict]))
    page.write(result.claim.title, indent=31, head=verdict)
    for remark in result.remarks():
        page.write(remark, indent=20)
    for item in result.evidence if evidence else ():
        _show_evidence(page, item)


def show_summary(page: Page, report: Report, *, seconds: float) -> None:
    """What stands below the verdicts: how many there are of each, how they were found, those not as recorded."""
    page.write()
    for line in _summary(report, seconds):
        page.write(line)
    if not report.as_expected:
        ids = ", ".join(result.claim.id for result in report.claims if not result.as_expected)
        page.write(f"Not as recorded: {ids}.", style="red")


def _show_evidence(page: Page, item: JudgedEvidence) -> None:
    found, style = item.finding, STYLES[item.finding.verdict]
    page.write(item.label, indent=16, head=Text.assemble("    ", (found.verdict.value, style)))
    details = [found.detail]
    if found.resolution is not None:
        details.append(f"resolution {found.resolution:.2g}")
    if found.mutants.tried or found.verdict.holds:
        details.append(str(found.mutants))
    page.write("; ".join(details), indent=16)


def _summary(report: Report, seconds: float) -> tuple[str, str]:
    counts = Counter(result.verdict for result in report.claims)
    verdicts = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    tried = sum(result.mutants_tried for result in report.claims)
    killed = tried - sum(len(result.mutants_survived) for result in report.claims)
    claims = "1 claim" if len(report.claims) == 1 else f"{len(report.claims)} claims"
    return (
        f"{claims}: {verdicts}. {killed} of {tried} mutants rejected.",
        f"Level {report.level.value}, seed {report.seed}, {seconds:.0f} s.",
    )


class Progress:
    """A progress bar on standard error, if there is one; in a pipe nothing is shown."""

    def __init__(self, doing: str, bar: rich.progress.Progress | None = None) -> None:
        self.doing, self.bar, self.lock = doing, bar, threading.Lock()
        self.task = bar.add_task(doing, total=None) if bar else None

    def __call__(self, ended: str, done: int, known: int) -> None:
        """Move it: what just ended, the number done and the number known of."""
        if self.bar and self.task is not None:
            self.bar.update(self.task, description=f"{self.doing} {done}/{known} {ended}", completed=done, total=known)

    def begin(self) -> None:
        """Show it."""
        with self.lock:
            if self.bar:
                self.bar.start()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Away with it, for as long as something else is written on the terminal."""
        with self.lock:
            if not (self.bar and self.bar.live.is_started):
                yield
                return
            self.bar.stop()
            try:
                yield
            finally:
                self.bar.start()


@contextmanager
def progress(doing: str) -> Iterator[Progress]:
    """A progress bar on standard error, if that is a terminal and the block takes longer than `PATIENCE`."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Progress(doing)
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    bar = Bar(*columns, console=console, transient=True)
    moved = Progress(doing, bar)
    begin = threading.Timer(PATIENCE, moved.begin)
    begin.daemon = True
    begin.start()
    try:
        yield moved
    finally:
        begin.cancel()
        begin.join()
        bar.stop()
