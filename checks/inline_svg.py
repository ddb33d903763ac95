"""A drawing inside a page: its ids are its own, nothing in it acts on the page around it, and it says what it shows."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from .drawing import Drawing
from .markup import element

_REFERENCES = ("href", "clip-path", "fill", "mask", "style")


def inline_svg(drawing: Drawing) -> Element:
    """The drawing as an `<svg>`; its ids begin with the figure's name, and its title and caption are read aloud."""
    figure = drawing.figure
    made = ElementTree.fromstring(drawing.render(".svg"))
    for part in made.iter():
        part.tag = _bare(part.tag)
        part.attrib = {_bare(name): value for name, value in part.attrib.items()}
        part.tail = None  # white space between elements
    _drop(made, "metadata")
    _drop(made, "style")  # matplotlib's rule for all elements would be one for the page; it stands at the top instead
    made.set("style", f"stroke-linejoin: round; stroke-linecap: butt; --natural: {made.get('width', '100%')}")
    _prefix_ids(made, f"{figure.name}-")
    title, description = f"{figure.name}--title", f"{figure.name}--description"
    made.insert(0, element("title", figure.title, id=title))
    made.insert(1, element("desc", drawing.chart.caption, id=description))
    made.attrib |= {"role": "img", "aria-labelledby": title, "aria-describedby": description}
    for size in ("width", "height"):  # the page decides; the viewBox keeps the proportions
        made.attrib.pop(size, None)
    return made


def _bare(name: str) -> str:
    """A name without its namespace: a page of HTML knows none."""
    return name.rpartition("}")[2]


def _drop(made: Element, tag: str) -> None:
    for parent in list(made.iter()):
        for child in parent.findall(tag):
            parent.remove(child)


def _prefix_ids(made: Element, prefix: str) -> None:
    for part in made.iter():
        if "id" in part.attrib:
            part.set("id", prefix + part.attrib["id"])
        for name in _REFERENCES:
            value = part.get(name, "")
            if name == "href" and value.startswith("#"):
                part.set(name, f"#{prefix}{value[1:]}")
            elif "url(#" in value:
                part.set(name, value.replace("url(#", f"url(#{prefix}"))
