"""`limes limit`: where a formula goes when its parameters do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .evaluate import DIGITS
from .output import AsJson, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sympy import Expr, Symbol

    from numerics.approach import Approach

    from ..terminal import Page

OBSERVED = "The exponent is the slope between two rows, seen at these sizes only: a logarithm makes it drift."


def limit(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="A name from limes list.")],
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="--at NAME=VALUE", help="Parameters that stay, and the symbols of curves (default: 1)."),
    ] = None,
    at: Annotated[bool, typer.Option("--at", hidden=True)] = False,
    let: Annotated[
        list[str] | None, typer.Option("--let", metavar="NAME=END", help="The one that runs: L=oo, rho=1.")
    ] = None,
    along: Annotated[
        list[str] | None,
        typer.Option("--along", metavar="NAME=CURVE", help="One that follows: 'rho = 1 - c/L^2', 'eta1 = c*h^(3/2)'."),
    ] = None,
    digits: Annotated[int, typer.Option(help="Significant digits of the numbers, all of them right.")] = DIGITS,
    as_json: AsJson = False,
) -> None:
    """Find a limit: symbolically, with leading terms, and by numbers.

    Names in a curve that are no parameters are positive symbols of your own. Exit code 1: no limit is known.
    """
    from numerics.approach import approach
    from theory.errors import MissingInput
    from theory.formulas import formula_named
    from theory.paths import path_through

    from ..grammar import parse_assignments, parse_curves, parse_targets
    from ..terminal import Page, progress

    found = formula_named(formula)
    if not let:
        raise MissingInput("--let", f"say which parameter goes where, such as L=oo; {found.known}")
    targets = parse_targets(let)
    running = {one.name: one.symbol for one in found.parameters if one.name in targets}
    curves = parse_curves(along or (), running)
    path = path_through(found, targets, curves, parse_assignments(values or (), words=found.words))
    with progress(f"the limit of {formula}"):
        result = approach(found, path, digits=digits)
    write_json(result.to_json()) if as_json else _show(Page(), result)
    raise typer.Exit(0 if result.limit.known else 1)


def _show(page: Page, result: Approach) -> None:
    """The path, the limit and how it is known, and the rows."""
    limit, path = result.limit, result.limit.path
    words = {one.symbol: {number: word for word, number in one.words.items()} for one in limit.formula.parameters}
    page.title(f"{limit.formula.name} as {path.arrow}")
    for symbol, curve in path.along.items():
        page.write(f"{symbol} = {words[symbol].get(curve, curve)}", indent=2)
    if path.at:
        page.write(f"with {_listed(path.at)}; --at gives other values", indent=2)
    page.section("Limit", [limit.to_text() if limit.value is None else str(limit.value)])
    if limit.terms:
        page.write(f"leading terms: {limit.to_text()}", indent=2)
    if limit.where:
        page.write(f"where {_listed(limit.where)}", indent=2)
    if limit.fixed and limit.known:
        page.write(f"for {_listed(limit.fixed)}", indent=2)
    page.write(f"{limit.standing}{f' ({limit.remark})' if limit.remark else ''}", indent=2)
    page.write()
    page.title("Approach")
    _show_rows(page, result)
    for note in result.notes:
        page.write(note, indent=2)
    if any(row.exponent is not None for row in result.rows):
        page.write(OBSERVED, indent=2)


def _listed(values: Mapping[Symbol, Expr]) -> str:
    return ", ".join(f"{symbol} = {value}" for symbol, value in values.items())


def _show_rows(page: Page, result: Approach) -> None:
    from numerics.approach import exponent_text

    from ..terminal import WIDTH

    compared = "distance" if result.limit.value is None or result.limit.value.is_finite else "value"
    heads = (result.limit.path.variable.name, "value", "distance", "exponent", f"{compared}/terms")
    table = [
        (row.label, row.value, row.distance or "", exponent_text(row.exponent), row.ratio or "") for row in result.rows
    ]
    if result.limit_value is not None:
        table.append(("limit", result.limit_value, "", "", ""))
    columns = [column for column in range(len(heads)) if any(line[column] for line in table)]
    widths = {column: max(len(line[column]) for line in (heads, *table)) for column in columns}
    if 2 + sum(widths.values()) + 2 * (len(columns) - 1) <= WIDTH:
        for line in (heads, *table):
            page.write("  ".join(line[column].ljust(widths[column]) for column in columns), indent=2)
        return
    for line in table:  # too many digits for a line
        page.write(
            "  ".join(f"{heads[column]} {line[column]}" for column in columns if column != 1 and line[column]), indent=2
        )
        for start in range(0, len(line[1]), WIDTH - 4):
            page.write(line[1][start : start + WIDTH - 4], indent=4)
