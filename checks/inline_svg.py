"""A figure inside a page: its panels as SVG, which the page lays out; its title, legend and caption as text.

So it is whole on a phone, where the panels stand below each other, and its words are of the page's size. The ids of an
SVG are its own, nothing in it acts on the page around it, and black and white are the page's ink and paper.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from .drawing import Drawing
from .markup import element
from .mathml import sentence

_COLOURS = {"#000000": "currentColor", "#ffffff": "var(--paper)"}
_LENGTHS = ("d", "x", "y", "width", "height")
_LONG = re.compile(r"-?\d+\.\d{3,}")
_MOVE = re.compile(r"translate\([^)]*\)")
_URL = re.compile(r"url\(#([^)]*)\)")


def inline_figure(drawing: Drawing, letters: set[str] | None = None) -> Element:
    """The drawing as a `<figure>`; a page that has several needs their names to differ.

    `letters` are those that figures before this one have drawn; those that this one adds are put there.
    """
    name = drawing.figure.name
    title, letters = f"{name}--title", set() if letters is None else letters
    keys = []
    for number, (label, svg) in enumerate(drawing.keys().items(), start=1):
        key = inline_svg(svg, f"{name}-key-{number}-", letters)
        key.set("aria-hidden", "true")
        keys.append(element("li", key, *sentence(label)))
    panels = [inline_svg(svg, f"{name}-{number}-", letters) for number, svg in enumerate(drawing.panels(), start=1)]
    for panel in panels:
        panel.attrib |= {"role": "img", "aria-labelledby": title}
    return element(
        "figure",
        element("p", drawing.figure.title, class_="title", id=title),
        element("ul", *keys, class_="legend"),
        element("div", *panels, class_="panels"),
        element("figcaption", *sentence(drawing.chart.caption)),
    )


def inline_svg(svg: bytes, prefix: str, letters: set[str]) -> Element:
    """What matplotlib wrote, as an `<svg>` of the page; ids in it begin with `prefix`, but those of `letters`."""
    made = ElementTree.fromstring(svg)
    for part in made.iter():
        part.tag = _bare(part.tag)
        part.attrib = {_bare(name): value for name, value in part.attrib.items()}
        part.text = part.tail = None  # white space between elements
    _drop(made, lambda part: part.tag in ("metadata", "style"))  # a style here would be one of the whole page
    made.set("style", "stroke-linejoin: round; stroke-linecap: butt; fill: currentColor")  # as matplotlib's style says
    _shorten(made)
    _own_ids(made, prefix, letters)
    for size in ("width", "height"):  # the page decides; the viewBox keeps the proportions
        made.attrib.pop(size, None)
    return made


def _bare(name: str) -> str:
    """A name without its namespace: a page of HTML knows none."""
    return name.rpartition("}")[2]


def _drop(made: Element, wanted: Callable[[Element], bool]) -> None:
    for parent in list(made.iter()):
        for child in [child for child in parent if wanted(child)]:
            parent.remove(child)


def _shorten(made: Element) -> None:
    """Lengths to a hundredth, which nobody sees, no style twice, and the page's colours."""
    for part in made.iter():
        for name in _LENGTHS:
            if name in part.attrib:
                part.set(name, " ".join(_rounded(part.attrib[name]).split()))
        if move := part.get("transform"):  # a scale is none
            part.set("transform", _MOVE.sub(lambda found: _rounded(found.group()), move))
        if style := part.get("style"):
            for drawn, shown in _COLOURS.items():
                style = style.replace(drawn, shown)
            part.set("style", style)
    styles = {f"#{part.get('id')}": part.get("style") for part in made.iter() if "id" in part.attrib}
    for part in made.iter("use"):
        if part.get("style") == styles.get(part.get("href", "")):
            part.attrib.pop("style", None)


def _rounded(lengths: str) -> str:
    return _LONG.sub(lambda number: f"{float(number.group()):.2f}".rstrip("0").rstrip("."), lengths)


def _own_ids(made: Element, prefix: str, letters: set[str]) -> None:
    """Ids begin with `prefix`; those that nothing refers to go, and letters that the page has are not drawn again.

    A letter is the same in all drawings: its id is the font's name and its place there, with a hyphen, as in no other.
    """
    known = set(letters)
    referred: set[str] = set()
    for part in made.iter():
        if target := part.get("href", "").removeprefix("#"):
            referred.add(target)
            part.set("href", f"#{_own(target, prefix)}")
        for name in ("clip-path", "style"):
            if found := _URL.findall(part.get(name, "")):
                referred.update(found)
                part.set(name, _URL.sub(lambda url: f"url(#{_own(url[1], prefix)})", part.attrib[name]))
    for part in made.iter():
        name = part.attrib.pop("id", "")
        if name in referred:
            part.set("id", _own(name, prefix))
            letters.update({name} if "-" in name else ())
    _drop(made, lambda part: part.get("id") in known)
    _drop(made, lambda part: part.tag == "defs" and not len(part))


def _own(name: str, prefix: str) -> str:
    return name if "-" in name else prefix + name
