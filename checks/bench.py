"""Measurements side by side: time, memory and accuracy of `limes` and of its peers, in one run on one machine.

The contestants of a case take turns, so that what else the machine does meets them alike; the first turn warms up and
measures the memory, the others the time. Times are reported and never asserted: what is asserted, by those who measure,
is that all computed the same thing.
"""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .report import limes_version

SCHEMA = 1
RUNS = 5  # the most of a contestant that are timed,
SECONDS = 3.0  # and the time after which it has no more turns but the second
PACKAGES = ("numpy", "scipy", "sympy", "python-flint", "scikit-learn", "jax", "neural-tangents", "torch")
PEERS = "pip install 'limes[peers]'"
_CLEAR_REFS, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


@dataclass(frozen=True)
class Row:
    """One contestant in one case: seconds of a run, bytes, and an error as the case defines it; None: not known.

    `ratio` is its shortest time over that of the first contestant, which is `limes`; above 1 it is slower than that.
    """

    case: str
    contestant: str
    shortest: float | None = None
    median: float | None = None
    ratio: float | None = None
    memory: int | None = None
    error: float | None = None
    note: str = ""


def compare(
    case: str,
    contestants: Mapping[str, Callable[[], object]],
    *,
    errors: Mapping[str, float] | None = None,
    missing: Mapping[str, str] | None = None,
    per: int | Mapping[str, int] = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Row]:
    """Measure the contestants, the first of which is `limes`; `missing` says of others how they are installed.

    `per` is the number of things that a contestant does at once in a run; times are for one of them.
    """
    memory = {name: peak_memory(run) for name, run in contestants.items()}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(RUNS):
        for name, run in contestants.items():
            if len(times[name]) >= 2 and sum(times[name]) > SECONDS:
                continue
            start = clock()
            run()
            times[name].append(clock() - start)
    rows: list[Row] = []
    for name, taken in times.items():
        share = per if isinstance(per, int) else per.get(name, 1)
        shortest, median = min(taken) / share, statistics.median(taken) / share
        ratio = shortest / rows[0].shortest if rows and rows[0].shortest else None
        rows.append(Row(case, name, shortest, median, ratio, memory[name], (errors or {}).get(name)))
    return rows + [Row(case, name, note=f"not installed: {how}") for name, how in (missing or {}).items()]


def peak_memory(run: Callable[[], object]) -> int | None:
    """The most memory, in bytes, that this process took during `run()` beyond what it had before. Linux only."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what was freed before is given back, so that it is not used again unseen
        _CLEAR_REFS.write_text("5")  # the peak starts again from what is used now
        before = _status("VmRSS")
    except (OSError, AttributeError):
        run()
        return None
    run()
    return max(0, _status("VmHWM") - before)


def _status(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field + ":"))
    return 1024 * int(line.split()[1])


def machine() -> dict[str, Any]:
    """On what was measured: the processor, its cores, the system, the versions; nothing that tells whose it is."""
    versions = {"limes": limes_version(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system(), "versions": versions}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def to_json(rows: Sequence[Row], on: Mapping[str, Any]) -> dict[str, Any]:
    """The object that `limes bench --json` writes."""
    return {"schema": SCHEMA, "machine": dict(on), "rows": [asdict(row) for row in rows]}


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as text, 80 columns wide: each case, its contestants under it, and what they were measured by."""
    lines, case = [], None
    for row in rows:
        if row.case != case:
            case = row.case
            columns = f"{'shortest':>11}{'median':>10}{'ratio':>9}{'memory':>10}{'error':>9}"
            lines += ["", case, f"  {'':<29}{columns}"]
        if row.note:
            lines.append(f"  {row.contestant:<29} {row.note}")
            continue
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        error = "" if row.error is None else f"{row.error:.1e}"
        cells = f"{_time(row.shortest):>11}{_time(row.median):>10}{ratio:>9}{_bytes(row.memory):>10}{error:>9}"
        lines.append(f"  {row.contestant:<29}{cells}".rstrip())
    return lines


def _time(seconds: float | None) -> str:
    """A time in three digits.

    >>> [_time(seconds) for seconds in (None, 4.9, 0.0123, 2.5e-5)]
    ['', '4.9 s', '12.3 ms', '25 us']
    """
    if seconds is None:
        return ""
    size, unit = next((one for one in ((1.0, "s"), (1e-3, "ms")) if seconds >= one[0]), (1e-6, "us"))
    return f"{seconds / size:.3g} {unit}"


def _bytes(count: int | None) -> str:
    return "" if count is None else f"{count / 1e6:.0f} MB"
