"""`limes explore`: the explorer, a page in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from theory.errors import InvalidInput


def explore(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A formula or a claim from limes list.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Where it listens; default: a free one.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open nothing.")] = False,
    state: Annotated[
        str, typer.Option("--state", metavar="FILE|TEXT", help="What it shows first, as the page shares it.")
    ] = "",
) -> None:
    """Explore formulas and claims in the browser: sliders, values, limits, samples. Ctrl-C ends it.

    It listens on this machine only, behind a token, and needs no network.
    """
    from ..explore.launch import refuse_used, require_marimo, serve

    require_marimo()
    if port is not None:
        refuse_used(port)
    if name is not None and state:
        raise InvalidInput("NAME", name, "give a name or a --state, which has one")
    opened = ""
    if name is not None or state:
        from ..explore.state import State

        start = State.read(state) if name is None else State.of(name)
        if state:
            from ..explore.scene import require_values

            require_values(start)
        opened = start.to_text()
    serve(port=port, browser=not no_browser, state=opened)
