"""`limes report`: the verdicts of a run as a page of HTML or as a LaTeX document."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theory.errors import InvalidInput, LimesError

from ..verdicts import Level
from .judging import Run, judged
from .output import refuse_unwritable, write_text

if TYPE_CHECKING:
    from ..drawing import Drawing
    from ..plot import Figure
    from ..recorded import RecordedRun


def report(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Ids from limes list; default: all.")
    ] = None,
    html: Annotated[str, typer.Option("--html", metavar="FILE", help="Write a page that needs nothing else.")] = "",
    latex: Annotated[
        str, typer.Option("--latex", metavar="FILE", help="Write a document for pdflatex, with plots beside it.")
    ] = "",
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="What limes verify --json wrote; nothing is judged.")
    ] = None,
    level: Annotated[Level | None, typer.Option(help="How much is spent; default: standard.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of all random numbers; default: 0.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; default: one for each core.")] = None,
    journal: Annotated[Path | None, typer.Option(help="Where finished work is kept; default: the cache.")] = None,
    cluster: Annotated[
        str, typer.Option(metavar="ADDRESS", help="A Dask scheduler; its workers do the work instead.")
    ] = "",
    audit: Annotated[
        Path | None, typer.Option("--audit", metavar="FILE", help="What limes audit --json wrote, to be reported too.")
    ] = None,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Whether to draw plots.")] = True,
) -> None:
    """Report on claims, as HTML, as LaTeX, or both: what was found, the verdicts and their evidence.

    The claims are judged first, which goes on where a stopped run was; a run that ended is kept nowhere but in the file
    of limes verify --json, and with --from nothing is judged twice. The report is written as soon as the verdicts are
    known, and again with the plots.
    """
    if not html and not latex:
        raise InvalidInput("--html", "nothing", "give --html FILE, --latex FILE, or both")
    taken = {one.resolve() for one in (source, audit) if one}
    for option, file in (("--html", html), ("--latex", latex)):
        if file == "-" or (file and Path(file).resolve() in taken):
            raise InvalidInput(option, file, "give a file, another for each kind, and none that is read")
        refuse_unwritable(file, option)
        taken |= {Path(file).resolve()} if file else set()
    from ..latex_report import figures_folder, latex_report, write_figures
    from ..recorded import RecordedAudit, RecordedRun

    folder = figures_folder(Path(latex))
    if latex and figures and folder.exists():
        refuse_unwritable(str(folder / "figure.pdf"), "--latex")
    audited = None if audit is None else RecordedAudit.read(audit)
    if source is None:
        run = RecordedRun.of(judged(Run(claims, level or Level.STANDARD, seed or 0, jobs, cluster, journal)))
    else:
        given = {"--level": level, "--seed": seed, "--jobs": jobs, "--cluster": cluster or None, "--journal": journal}
        for option, value in given.items():
            if value is not None:
                shown = value.value if isinstance(value, Level) else value
                raise InvalidInput(option, shown, f"leave it out: nothing is judged, {source} is a run already")
        run = RecordedRun.read(source)
        run = run.only(claims) if claims else run
        print(run.summary())

    def write(drawings: Sequence[Drawing], remark: str) -> None:
        if html:
            from ..html_report import html_report

            write_text(html_report(run, drawings, remark=remark, audit=audited), html, "--html")
        if latex:
            try:
                write_figures(drawings, Path(latex))
            except OSError as error:
                raise InvalidInput("--latex", folder, f"its plots cannot be written ({error.strerror})") from None
            write_text(latex_report(run, audited, drawings, folder.name, remark=remark), latex, "--latex")

    drawings, remark = [], _missing() if figures and _wanted(run) else ""
    if figures and _wanted(run) and not remark:
        write([], "the plots were not drawn yet when this was written")  # what was judged is safe from here on
        drawings, remark = _drawings(run, jobs)
    write(drawings, remark)
    for file in filter(None, (html, latex)):
        print(file)
    if remark:
        print(f"limes: {remark}", file=sys.stderr)
    raise typer.Exit(0 if all(one.as_expected for one in run.claims) else 1)


def _drawings(run: RecordedRun, jobs: int | None) -> tuple[list[Drawing], str]:
    """The figures that belong to these claims, and a sentence about those that could not be had."""
    from ..figures import FIGURES, draw_all
    from ..terminal import progress

    wanted, found = _wanted(run), {}
    with progress("drawing") as moved:
        for figure, drawing in draw_all(wanted, run.seed, jobs=jobs or -1):
            found[figure.name] = drawing
            moved(figure.name, len(found), len(wanted))
    in_order = {name: found[name] for name in FIGURES if name in found}
    failed = [f"{name} ({words})" for name, words in in_order.items() if isinstance(words, str)]
    drawings = [drawing for drawing in in_order.values() if not isinstance(drawing, str)]
    return drawings, f"plots that failed: {', '.join(failed)}" if failed else ""


def _missing() -> str:
    """Why nothing can be drawn, in a sentence; "" if it can."""
    from ..drawing import require_matplotlib

    try:
        require_matplotlib()
    except LimesError as missing:
        return f"no plots in the page: {missing}"
    return ""


def _wanted(run: RecordedRun) -> list[Figure]:
    """The figures that belong to the claims of this run."""
    from ..figures import FIGURES

    ids = {one.id for one in run.claims}
    return [one for one in FIGURES.values() if ids.intersection(one.claims)]
