"""Drawings inside a page: several beside each other, each complete, and none acting on the page."""

import re
from xml.etree.ElementTree import tostring

import pytest

from checks.drawing import Drawing
from checks.inline_svg import inline_svg
from checks.plot import Axis, Chart, Figure, Kind, Panel, Series

SERIES = (Series("a < b", (1, 2), (1, 2)), Series("points", (1, 2), (2, 1), Kind.POINTS, 1, (0.1, 0.1)))
CHART = Chart((Panel(Axis("x"), Axis("$y$", logarithmic=True), SERIES),), 1, "A caption, 1 < 2.")


def drawing(name):
    figure = Figure(name, f"The title of {name} & more", ("one",), lambda seed: CHART)
    return Drawing(figure, 0, CHART)


@pytest.fixture(scope="module")
def pair():
    return [inline_svg(drawing(name)) for name in ("one", "two")]


def ids(made):
    return [part.attrib["id"] for part in made.iter() if "id" in part.attrib]


def test_no_two_ids_in_a_page_are_the_same(pair):
    found = ids(pair[0]) + ids(pair[1])
    assert len(found) > 20
    assert len(set(found)) == len(found)


def test_every_reference_is_to_something_in_the_same_drawing(pair):
    for made in pair:
        text = tostring(made, encoding="unicode", method="html")
        references = re.findall(r'(?:href="|url\()#([^")]+)', text)
        assert len(references) > 20
        assert set(references) <= set(ids(made))


def test_nothing_in_it_reaches_beyond_it(pair):
    for made in pair:
        assert {part.tag for part in made.iter()} <= {
            "svg",
            "title",
            "desc",
            "defs",
            "g",
            "path",
            "use",
            "clipPath",
            "rect",
        }
        assert "http" not in tostring(made, encoding="unicode", method="html")


def test_it_says_what_it_shows(pair):
    made = pair[0]
    named = {part.attrib["id"]: part.text for part in made.iter() if part.tag in ("title", "desc")}
    assert made.get("role") == "img"
    assert named[made.get("aria-labelledby")] == "The title of one & more"
    assert named[made.get("aria-describedby")] == "A caption, 1 < 2."


def test_it_is_the_same_each_time(pair):
    again = inline_svg(drawing("one"))
    assert tostring(again, method="html") == tostring(pair[0], method="html")
