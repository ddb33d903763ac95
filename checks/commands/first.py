"""`limes first`: the first value of a parameter at which a formula passes a level."""

from __future__ import annotations

import sys
import textwrap
from typing import Annotated

import typer

from .output import AsJson, write_json


def first(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="A name from limes list.")],
    parameter: Annotated[str, typer.Argument(metavar="PARAMETER", help="The one that is sought, such as L.")],
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="--at NAME=VALUE", help="The others, exact: 3/10, 0.3, sqrt(2)/2."),
    ] = None,
    at: Annotated[bool, typer.Option("--at", hidden=True)] = False,
    above: Annotated[str | None, typer.Option(metavar="LEVEL", help="Look for a value above it, exact: 0.999.")] = None,
    below: Annotated[str | None, typer.Option(metavar="LEVEL", help="Look for a value below it.")] = None,
    digits: Annotated[int, typer.Option(help="Significant digits, all of them right.")] = 12,
    seconds: Annotated[float, typer.Option(help="How long to look.")] = 5.0,
    as_json: AsJson = False,
) -> None:
    """Find where a formula first passes a level.

    It prints L = 187, or L <= 187 if an earlier one is possible. Exit code 1: nowhere that was looked at.
    """
    from numerics.crossing import Side, first_crossing
    from theory.errors import InvalidInput, MissingInput
    from theory.formulas import formula_named

    from ..grammar import parse_assignments
    from ..terminal import WIDTH, progress

    known = formula_named(formula)
    levels = {side: text for side, text in ((Side.ABOVE, above), (Side.BELOW, below)) if text is not None}
    if not levels:
        raise MissingInput("--above", "give a level, such as --above 0.999 or --below 0.3")
    if len(levels) > 1:
        raise InvalidInput("--below", below, "give --above LEVEL or --below LEVEL, not both")
    ((side, text),) = levels.items()
    (level,) = parse_assignments([f"{side.value}={text}"]).values()
    point = parse_assignments(values or (), words=known.words)
    with progress(f"the first {parameter}"):
        found = first_crossing(formula, parameter, side, level, point, digits=digits, seconds=seconds)
    if as_json:
        write_json(found.to_json())
    else:
        if found.at is not None:
            print(found.headline())
        print(textwrap.fill(found.sentence(), WIDTH, break_on_hyphens=False))
        for note in found.value_at.notes if found.value_at else ():
            print(f"limes: {note}", file=sys.stderr)
    raise typer.Exit(0 if found.at is not None else 1)
