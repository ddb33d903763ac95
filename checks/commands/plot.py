"""`limes plot`: a figure, or the numbers behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theory.errors import MissingInput

from .output import refuse_unwritable, write_json


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
    from ..drawing import Drawing, require_matplotlib, suffix_of
    from ..figures import FIGURES, find
    from ..terminal import Page, progress, show_figures

    if figure is None and output is not None:
        raise MissingInput("FIGURE", "name the figure to draw; limes plot lists them")
    if figure is None or list_all:
        if as_json:
            write_json({"schema": 1, "figures": [one.in_brief() for one in FIGURES.values()]})
        else:
            show_figures(Page(), FIGURES)
        return
    found = find(figure)
    path = Path(f"{figure}.svg") if output is None and not as_json else output
    if path is not None:
        suffix_of(path)
        require_matplotlib()
        refuse_unwritable(str(path), "--output")
    with progress(f"drawing {figure}"):
        drawing = Drawing(found, seed, found.chart(seed))
        if path is not None:
            drawing.save(path)
    if as_json:
        write_json(drawing.to_json())
    else:
        print(path)
