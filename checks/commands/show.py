"""`limes show`: what is stated of a claim, or what a formula is."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from theory.errors import InvalidInput

from .output import AsJson, write_json


def show(
    name: Annotated[str, typer.Argument(metavar="CLAIM|FORMULA", help="An id or a name from limes list.")],
    as_json: AsJson = False,
) -> None:
    """Show a claim or a formula.

    Of a claim: what is stated, by whom, by which evidence it is judged, and what was found.
    """
    from theory.formulas import FORMULAS

    from ..describe import claim_in_full, formula_in_full
    from ..ledger import LEDGER
    from ..terminal import Page, show_claim, show_formula

    if name in LEDGER:
        write_json(claim_in_full(LEDGER[name])) if as_json else show_claim(Page(), LEDGER[name])
    elif name in FORMULAS:
        write_json(formula_in_full(FORMULAS[name])) if as_json else show_formula(Page(), FORMULAS[name])
    else:
        near = difflib.get_close_matches(name, [*LEDGER, *FORMULAS], n=3, cutoff=0.4) or ["listed by limes list"]
        raise InvalidInput("name", name, f"no claim or formula is called so; the nearest are {', '.join(near)}")
