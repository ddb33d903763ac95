"""`limes verify`: the verdicts."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from ..verdicts import Level
from .output import end, refuse_unwritable, write_json


def verify(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Ids from limes list; default: all.")
    ] = None,
    level: Annotated[Level, typer.Option(help="How much is spent.")] = Level.STANDARD,
    seed: Annotated[int, typer.Option(min=0, help="Of all random numbers.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; default: one for each core.")] = None,
    json_file: Annotated[str, typer.Option("--json", metavar="FILE", help="Write the report; - is stdout.")] = "",
    journal: Annotated[Path | None, typer.Option(help="Where finished work is kept; default: the cache.")] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Show each piece of evidence.")] = False,
) -> None:
    """Judge claims. A run that was stopped goes on where it was when the same command is given again."""
    refuse_unwritable(json_file)
    from ..journal import default_path
    from ..runner import Interrupted
    from ..runner import verify as judge
    from ..terminal import Page, progress, show_report

    start = time.perf_counter()
    try:
        with progress("judging") as moved:
            report = judge(
                claims or None,
                level=level,
                seed=seed,
                jobs=jobs,
                journal=journal or default_path(),
                progress=moved,
            )
    except Interrupted as stopped:
        end(str(stopped), 130)
    if json_file != "-":
        show_report(Page(), report, seconds=time.perf_counter() - start, evidence=evidence)
    if json_file:
        write_json(report.to_json(), json_file)
    if report.trouble:
        print(f"limes: {report.trouble}", file=sys.stderr)
    raise typer.Exit(0 if report.as_expected else 1)
