"""The explorer: a page in the browser (`limes explore`), and sliders in a notebook.

>>> from checks.explore import explore  # in a notebook: explore("relu-ntk-normalised")

`state` is what is shown, `controls` what moves it, `scale` what the axis of the values shows; `scene`, `limits`,
`crossings` and `samples` are what is seen, as numbers and LaTeX; `page`, `figures` and `vega` its words and pictures.
None of them knows marimo: only `app`, which puts them on the page, and `launch`, which serves it, do; `notebook` does
the same with ipywidgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .notebook import explore

__all__ = ["explore"]


def __getattr__(name: str) -> Any:
    if name == "explore":
        from .notebook import explore

        return explore
    raise AttributeError(f"module 'checks.explore' has no attribute {name!r}; it has {', '.join(__all__)}")
