"""The command line: `limes list | show | verify | latex | evaluate | plot`.

Exit code 0: all is as recorded; 1: a verdict is not, or a line or a number could not be decided; 2: bad usage, said in
a sentence; 130: Ctrl-C.
"""

from __future__ import annotations

import difflib
import io
import json
import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from theory.errors import InvalidInput, LimesError

from .verdicts import Level

DIGITS = 15

app = typer.Typer(
    help="Judge the theory of wide and deep networks: derived, evaluated with right digits, compared with networks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line on `arguments` (default: those of the process) and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where Unicode cannot be written: question marks, no traceback
    warnings.filterwarnings("ignore", module="joblib")  # it remarks on the tasks that Ctrl-C cancels
    given = sys.argv[1:] if arguments is None else arguments
    # --at is a flag before any number of values, which options cannot have here; so --at=x=1 means --at x=1
    split = [piece for one in given for piece in (("--at", one[5:]) if one.startswith("--at=") else (one,))]
    try:
        app(split, prog_name="limes")
    except InvalidInput as error:
        _end(str(error), 2)
    except LimesError as error:
        _end(str(error), 1)
    except OSError as error:  # such as a full disk
        _end(str(error), 2)
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:  # where the reader has gone nobody is told, not even at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not isinstance(error, BrokenPipeError):
                _end(str(error), 2)
    raise SystemExit(0)


@app.command("list", epilog="Example: limes list")
def list_(as_json: AsJson = False) -> None:
    """List the claims and the formulas."""
    from theory.formulas import FORMULAS

    from .describe import claim_in_brief, formula_in_brief
    from .ledger import LEDGER
    from .terminal import Page, show_list

    if as_json:
        claims, formulas = map(claim_in_brief, LEDGER.values()), map(formula_in_brief, FORMULAS.values())
        _write_json({"schema": 1, "claims": list(claims), "formulas": list(formulas)})
    else:
        show_list(Page(), LEDGER, FORMULAS)


@app.command(epilog="Example: limes show depth-rate")
def show(
    name: Annotated[str, typer.Argument(metavar="CLAIM|FORMULA", help="An id or a name from limes list.")],
    as_json: AsJson = False,
) -> None:
    """Show a claim or a formula.

    Of a claim: what is stated, by whom, by which evidence it is judged, and what was found.
    """
    from theory.formulas import FORMULAS

    from .describe import claim_in_full, formula_in_full
    from .ledger import LEDGER
    from .terminal import Page, show_claim, show_formula

    if name in LEDGER:
        _write_json(claim_in_full(LEDGER[name])) if as_json else show_claim(Page(), LEDGER[name])
    elif name in FORMULAS:
        _write_json(formula_in_full(FORMULAS[name])) if as_json else show_formula(Page(), FORMULAS[name])
    else:
        near = difflib.get_close_matches(name, [*LEDGER, *FORMULAS], n=3, cutoff=0.4) or ["listed by limes list"]
        raise InvalidInput("name", name, f"no claim or formula is called so; the nearest are {', '.join(near)}")


@app.command(epilog="Example: limes verify depth-limit depth-rate --level quick --json report.json")
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
    _refuse_unwritable(json_file)
    from .journal import default_path
    from .runner import Interrupted
    from .runner import verify as judge
    from .terminal import Page, progress, show_report

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
        _end(str(stopped), 130)
    if json_file != "-":
        show_report(Page(), report, seconds=time.perf_counter() - start, evidence=evidence)
    if json_file:
        _write_json(report.to_json(), json_file)
    if report.trouble:
        print(f"limes: {report.trouble}", file=sys.stderr)
    raise typer.Exit(0 if report.as_expected else 1)


@app.command(epilog="Example: limes latex depth-limit --derivation --document > depth-limit.tex")
def latex(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="An id from limes list.")],
    derivation: Annotated[bool, typer.Option("--derivation", help="All derivations behind it, checked.")] = False,
    document: Annotated[bool, typer.Option("--document", help="A document for pdflatex.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a claim or its derivations as LaTeX.

    It needs only amsmath. Each line of a derivation is checked; a line that is not proved says so.
    """
    from . import latex as typesetting
    from .ledger import find
    from .terminal import progress

    found = find(claim)
    derived = None
    if derivation:
        with progress(f"checking the derivations of {claim}"):
            derived = typesetting.checked_derivations(found)
    if document:
        text = typesetting.document(found, derived)
    else:
        text = "\n\n".join([typesetting.statement(found), *(one.to_latex() for one in derived or ())])
    doubts = [doubt for one in derived or () for doubt in one.doubts]
    _write_json({"id": found.id, "latex": text, "doubts": doubts}) if as_json else print(text)
    for doubt in doubts:
        print(f"limes: {doubt}", file=sys.stderr)
    raise typer.Exit(1 if doubts else 0)


@app.command(epilog="Example: limes evaluate relu-ntk --at rho=3/10 L=5 --digits 30")
def evaluate(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="A name from limes list.")],
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="--at NAME=VALUE", help="Exact: 3/10, 0.3, sqrt(2)/2, or of names given before."),
    ] = None,
    at: Annotated[bool, typer.Option("--at", hidden=True)] = False,
    digits: Annotated[int, typer.Option(help="Significant digits, all of them right.")] = DIGITS,
    as_json: AsJson = False,
) -> None:
    """Evaluate a formula."""
    from numerics.formulas import evaluate_formula
    from theory.formulas import formula_named

    from .grammar import parse_assignments
    from .terminal import progress

    at_point = parse_assignments(values or (), words=formula_named(formula).words)
    with progress(f"evaluating {formula}"):
        found = evaluate_formula(formula, at_point, digits)
    if as_json:
        _write_json(found.to_json())
        return
    print(found.value)
    for note in found.notes:
        print(f"limes: {note}", file=sys.stderr)


@app.command(epilog="Example: limes plot depth-rate -o depth-rate.svg")
def plot(
    figure: Annotated[str | None, typer.Argument(metavar="FIGURE", help="A name; without one, all are listed.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help=".svg, .png or .pdf; default: FIGURE.svg, here.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all random numbers.")] = 0,
    list_all: Annotated[bool, typer.Option("--list", help="List the figures.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON: the numbers behind the figure.")] = False,
) -> None:
    """Draw a figure.

    With --json its numbers are written instead, or, if --output is given, besides.
    """
    from .drawing import Drawing, require_matplotlib, suffix_of
    from .figures import FIGURES, find
    from .terminal import Page, progress, show_figures

    if figure is None and output is not None:
        raise InvalidInput("FIGURE", "missing", "name the figure to draw; limes plot lists them")
    if figure is None or list_all:
        if as_json:
            _write_json({"schema": 1, "figures": [one.in_brief() for one in FIGURES.values()]})
        else:
            show_figures(Page(), FIGURES)
        return
    found = find(figure)
    path = Path(f"{figure}.svg") if output is None and not as_json else output
    if path is not None:
        suffix_of(path)
        require_matplotlib()
        _refuse_unwritable(str(path), "--output")
    with progress(f"drawing {figure}"):
        drawing = Drawing(found, seed, found.chart(seed))
        if path is not None:
            drawing.save(path)
    if as_json:
        _write_json(drawing.to_json())
    else:
        print(path)


def _refuse_unwritable(file: str, option: str = "--json") -> None:
    """Refuse a file that cannot be written before the work is done, not after."""
    if file in ("", "-"):
        return
    path = Path(file)
    try:
        new = not path.exists()
        path.open("a").close()
        if new:
            path.unlink()
    except OSError as error:
        raise _unwritable(file, error, option) from None


def _unwritable(file: str, error: OSError, option: str = "--json") -> InvalidInput:
    instead = ", or - for standard output" if option == "--json" else ""
    return InvalidInput(option, file, f"give a file that can be written{instead} ({error.strerror})")


def _write_json(data: dict[str, Any], file: str = "-") -> None:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    if file == "-":
        print(text)
    else:
        try:
            Path(file).write_text(text + "\n", encoding="utf-8")
        except OSError as error:  # the disk is full, or the directory has gone
            raise _unwritable(file, error) from None


def _end(sentence: str, code: int) -> NoReturn:
    print(f"limes: {sentence}", file=sys.stderr)
    raise SystemExit(code)
