"""`limes evaluate`: a formula with digits that are all right."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .output import AsJson, write_json

DIGITS = 15


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

    from ..grammar import parse_assignments
    from ..terminal import progress

    at_point = parse_assignments(values or (), words=formula_named(formula).words)
    with progress(f"evaluating {formula}"):
        found = evaluate_formula(formula, at_point, digits)
    if as_json:
        write_json(found.to_json())
        return
    print(found.value)
    for note in found.notes:
        print(f"limes: {note}", file=sys.stderr)
