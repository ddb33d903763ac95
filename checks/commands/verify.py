"""`limes verify`: the verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..verdicts import Level
from .judging import Run, judged
from .output import refuse_unwritable, write_json


def verify(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Ids from limes list; default: all.")
    ] = None,
    level: Annotated[Level, typer.Option(help="How much is spent.")] = Level.STANDARD,
    seed: Annotated[int, typer.Option(min=0, help="Of all random numbers.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; default: one for each core.")] = None,
    cluster: Annotated[
        str, typer.Option(metavar="ADDRESS", help="A Dask scheduler; its workers do the work instead.")
    ] = "",
    json_file: Annotated[str, typer.Option("--json", metavar="FILE", help="Write the report; - is stdout.")] = "",
    journal: Annotated[Path | None, typer.Option(help="Where finished work is kept; default: the cache.")] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Show each piece of evidence.")] = False,
) -> None:
    """Judge claims. A run that was stopped goes on where it was when the same command is given again."""
    refuse_unwritable(json_file)
    chosen = Run(claims, level, seed, jobs, cluster, journal)
    report = judged(chosen, shown=json_file != "-", evidence=evidence)
    if json_file:
        write_json(report.to_json(), json_file)
    raise typer.Exit(0 if report.as_expected else 1)
