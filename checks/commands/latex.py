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

    It needs only amsmath. Each line of a derivation is checked; a line that is not proved says so.
    """
    from .. import latex as typesetting
    from ..ledger import find
    from ..terminal import progress

    found = find(claim)
    derived = None
    if derivation:
        with progress(f"checking the derivations of {claim}"):
            derived = typesetting.checked_derivations(found)
    if document:
        text = typesetting.document(found, derived)
    else:
        text = "\n\n".join([typesetting.fragment(found), *(one.to_latex() for one in derived or ())])
    doubts = [doubt for one in derived or () for doubt in one.doubts]
    write_json({"id": found.id, "latex": text, "doubts": doubts}) if as_json else print(text)
    for doubt in doubts:
        print(f"limes: {doubt}", file=sys.stderr)
    raise typer.Exit(1 if doubts else 0)
