"""`limes latex`: a claim, and its derivations checked line by line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .output import AsJson, write_json


def latex(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="An id from limes list.")],
    derivation: Annotated[bool, typer.Option("--derivation", help="All derivations behind it, checked.")] = False,
    document: Annotated[bool, typer.Option("--document", help="A document for pdflatex.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a claim or its derivations as LaTeX.

    It needs only amsmath and fits the lines of an article. Each line of a derivation is checked; a line that is not
    proved says so. The symbols are explained in a paragraph in front.
    """
    from .. import latex as typesetting
    from ..ledger import find
    from ..terminal import progress

    found = find(claim)
    derived: list[typesetting.CheckedDerivation] = []
    if derivation:
        with progress(f"checking the derivations of {claim}"):
            derived = typesetting.checked_derivations(found)
    text = (typesetting.document if document else typesetting.for_a_paper)(found, derived)
    doubts = [doubt for one in derived for doubt in one.doubts]
    write_json({"id": found.id, "latex": text, "doubts": doubts}) if as_json else print(text)
    for doubt in doubts:
        print(f"limes: {doubt}", file=sys.stderr)
    raise typer.Exit(1 if doubts else 0)
