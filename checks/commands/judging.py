"""Judging claims for a command: with progress, and with the verdicts in the terminal, where no full disk loses them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..verdicts import Level
from .output import end

if TYPE_CHECKING:
    from ..report import Report


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
    from ..terminal import Page, progress, show_report

    start = time.perf_counter()
    try:
        with progress("judging") as moved:
            report = verify(
                run.claims or None,
                level=run.level,
                seed=run.seed,
                jobs=run.jobs,
                cluster=run.cluster,
                journal=run.journal or default_path(),
                progress=moved,
            )
    except Interrupted as stopped:
        end(str(stopped), 130)
    if shown:
        show_report(Page(), report, seconds=time.perf_counter() - start, evidence=evidence)
    if report.trouble:
        Page(stderr=True).write(f"limes: {report.trouble}")
    return report
