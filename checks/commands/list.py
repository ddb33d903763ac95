"""`limes list`: the claims and the formulas."""

from __future__ import annotations

from .output import AsJson, write_json


def list_(as_json: AsJson = False) -> None:
    """List the claims and the formulas.

    The names of chapters and sources are those that pytest -m takes.
    """
    from theory.formulas import FORMULAS

    from ..describe import claim_in_brief, formula_in_brief
    from ..ledger import CHAPTERS, LEDGER
    from ..terminal import Page, show_list

    if as_json:
        claims, formulas = map(claim_in_brief, LEDGER.values()), map(formula_in_brief, FORMULAS.values())
        write_json({"schema": 1, "claims": list(claims), "formulas": list(formulas)})
    else:
        show_list(Page(), CHAPTERS, FORMULAS)
