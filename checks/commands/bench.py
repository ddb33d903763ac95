"""`limes bench`: measurements side by side with installed peers."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from theory.errors import InvalidInput, MissingInput

from .output import refuse_unwritable, write_json

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "benchmarks"


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="What is measured, such as kernels; default: all.")
    ] = None,
    json_file: Annotated[str, typer.Option("--json", metavar="FILE", help="Write the rows; - is stdout.")] = "",
) -> None:
    """Measure limes beside its peers.

    Those that are installed are measured; it needs a source checkout.
    """
    files = _files(names or [])
    refuse_unwritable(json_file)
    from ..bench import Row, machine, table, to_json
    from ..terminal import Page, progress

    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory() as folder, progress("measuring") as moved:
        written = Path(folder) / "rows"
        options = ["-m", "benchmark", "-p", "no:cacheprovider", "--benchmark-rows", str(written)]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *map(str, files)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            said = _follow(process, written, moved)
        except KeyboardInterrupt:  # what was measured until then is shown
            said = "stopped"
        finally:
            process.kill()
            process.wait()
        lines = written.read_text(encoding="utf-8").splitlines() if written.exists() else []
    rows, on = [Row(**json.loads(line)) for line in lines], machine()
    page = Page()
    if json_file != "-":
        versions = ", ".join(f"{name} {number}" for name, number in on["versions"].items())
        page.write(f"{on['processor']}, {on['cores']} cores, {on['system']}; {versions}")
        for line in table(rows):
            page.console.print(line, markup=False)
    if json_file:
        write_json(to_json(rows, on), json_file)
    if process.returncode != 0:
        Page(stderr=True).write(f"limes: not everything could be measured: {said}")
        raise typer.Exit(130 if said == "stopped" else 1)


def _follow(process: subprocess.Popen[str], written: Path, moved: Callable[[str, int, int], None]) -> str:
    """Wait for the measurements, showing what was measured last; what pytest says in the end, in a sentence."""
    while True:
        try:
            output, _ = process.communicate(timeout=0.5)
        except subprocess.TimeoutExpired:
            lines = written.read_text(encoding="utf-8").splitlines() if written.exists() else []
            last = json.loads(lines[-1])["case"] if lines else "the first case"
            moved(last, len(lines), len(lines) + 1)
            continue
        lines = output.splitlines() or ["pytest said nothing"]
        failed = [line.split(" - ")[0] for line in lines if line.startswith(("FAILED", "ERROR"))]
        reasons = [line[1:].strip() for line in lines if line.startswith("E  ")]
        return f"{failed[0]}: {reasons[0]}" if failed and reasons else lines[-1]


def _files(names: list[str]) -> list[Path]:
    """The files of these benchmarks, or of all."""
    found = {path.name.removeprefix("test_").removesuffix("_benchmark.py"): path for path in FOLDER.glob("test_*.py")}
    if not found:
        raise MissingInput("tests/benchmarks", "run it from a source checkout, installed there with pip install -e .")
    for name in names:
        if name not in found:
            near = difflib.get_close_matches(name, found, n=3, cutoff=0.4) or sorted(found)
            raise InvalidInput("name", name, f"no benchmark has this name; the nearest are {', '.join(near)}")
    return [found[name] for name in names or sorted(found)]
