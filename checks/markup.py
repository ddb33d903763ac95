"""Elements of a page, put together so that text stays text: nobody has to remember to escape it.

>>> write(element("p", "1 < 2, ", element("em", "so it is")))
'<p>1 &lt; 2, <em>so it is</em></p>'
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

Child = str | Element | None


def element(tag: str, *children: Child, **attributes: str) -> Element:
    """An element with its children in order, each an element or text; None is left out.

    Attributes are written with `-` for `_` and without one at the end: `class_="x"`, `aria_label="y"`.
    """
    made = Element(tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    return extend(made, children)


def extend(parent: Element, children: Iterable[Child]) -> Element:
    """`parent` with these children at its end."""
    for child in children:
        if isinstance(child, Element):
            parent.append(child)
        elif child and len(parent):
            parent[-1].tail = (parent[-1].tail or "") + child
        elif child:
            parent.text = (parent.text or "") + child
    return parent


def write(page: Element) -> str:
    """The element as HTML."""
    return tostring(page, encoding="unicode", method="html")
