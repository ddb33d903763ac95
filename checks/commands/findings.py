"""`limes findings`: what was found that the sources do not say, or say wrongly."""

from __future__ import annotations

from .output import AsJson, write_json


def findings(as_json: AsJson = False) -> None:
    """List what the sources do not say, or say wrongly.

    With each, the command that shows it, and how long that takes.
    """
    from ..findings import DISCOVERIES, by_kind
    from ..terminal import Page

    if as_json:
        write_json({"schema": 1, "findings": [one.to_json() for one in DISCOVERIES]})
        return
    page = Page()
    for number, (kind, found) in enumerate(by_kind().items()):
        if number:
            page.write()
        page.title(kind.value)
        for one in found:
            page.write()
            if one.said:
                page.write(f"{one.said} ({one.source})", indent=10, head="  source")
            page.write(one.so, indent=10, head="  found")
            page.write(f"{one.command}  ({one.takes})", indent=10)
