"""`limes audit`: checks of the checker."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from ..verdicts import Level
from .output import refuse_unwritable, write_json


def audit(
    level: Annotated[
        Level, typer.Option(help="quick: a part of the ledger, in minutes; standard: all of it; thorough: more seeds.")
    ] = Level.QUICK,
    seed: Annotated[int, typer.Option(min=0, help="Of all random choices.")] = 0,
    json_file: Annotated[str, typer.Option("--json", metavar="FILE", help="Write the numbers; - is stdout.")] = "",
) -> None:
    """Audit limes itself.

    The mutants that are rejected, false alarms, reproducibility, and whether all digits are right.
    """
    refuse_unwritable(json_file)
    from rich.text import Text

    from ..audit import Check
    from ..audit import audit as examine
    from ..terminal import Page, progress

    page, start = Page(), time.perf_counter()

    def show(check: Check) -> None:
        if json_file == "-":
            return
        word, style = ("passed", "green") if check.passed else ("FAILED", "red")
        page.write(check.name, indent=8, head=Text(word, style))
        page.write(check.sentence, indent=8)

    found = examine(level=level, seed=seed, watched=progress, ended=show)
    if json_file != "-":
        page.write()
        verdict = "Every check passed." if found.passed else "Not every check passed."
        page.write(f"{verdict} Level {level.value}, seed {seed}, {time.perf_counter() - start:.0f} s.")
    if json_file:
        write_json(found.to_json(), json_file)
    raise typer.Exit(0 if found.passed else 1)
