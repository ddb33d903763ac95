"""Judging claims for a command: with progress, and with the verdicts in the terminal, where no full disk loses them.

What is known is written at once: each claim as soon as it and all before it are judged.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..verdicts import Level
from .output import end

if TYPE_CHECKING:
    from ..report import ClaimResult, Report


@dataclass(frozen=True)
class Run:
    """What is to be judged, and how, as a person gave it; see `checks.runner.verify`."""

    claims: list[str] | None = None
    level: Level = Level.STANDARD
    seed: int = 0
    jobs: int | None = None
    cluster: str = ""
    journal: Path | None = None


def judged(run: Run, *, shown: bool = True, evidence: bool = False) -> Report:
    """The report, `shown` in the terminal, if asked for with each piece of `evidence`; Ctrl-C ends with a sentence."""
    from ..journal import default_path
    from ..runner import Interrupted, verify
    from ..terminal import Page, progress, show_result, show_summary

    start, page = time.perf_counter(), Page()
    try:
        with progress("judging") as moved:

            def show(result: ClaimResult) -> None:
                with moved.hidden():
                    show_result(page, result, evidence=evidence)

            report = verify(
                run.claims or None,
                level=run.level,
                seed=run.seed,
                jobs=run.jobs,
                cluster=run.cluster,
                journal=run.journal or default_path(),
                progress=moved,
                each=show if shown else None,
            )
    except Interrupted as stopped:
        end(str(stopped), 130)
    if shown:
        show_summary(page, report, seconds=time.perf_counter() - start)
    if report.trouble:
        Page(stderr=True).write(f"limes: {report.trouble}")
    return report
