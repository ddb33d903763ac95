"""Drawings inside a page: several beside each other, each complete, and none acting on the page."""

import re
from xml.etree.ElementTree import tostring

import pytest

from checks.drawing import Drawing
from checks.inline_svg import inline_figure
from checks.plot import Axis, Chart, Figure, Kind, Panel, Series

SERIES = (Series("a < b", (1, 2), (1, 2)), Series("points", (1, 2), (2, 1), Kind.POINTS, 1, (0.1, 0.1)))
CHART = Chart((Panel(Axis("x"), Axis("$y$", logarithmic=True), SERIES),), 1, "A caption, 1 < 2.")


def drawing(name):
    figure = Figure(name, f"The title of {name} & more", ("one",), lambda seed: CHART)
    return Drawing(figure, 0, CHART)


@pytest.fixture(scope="module")
def pair():
    letters = set()
    return [inline_figure(drawing(name), letters) for name in ("one", "two")]


def text(made):
    return tostring(made, encoding="unicode", method="html")


def ids(made):
    return [part.attrib["id"] for part in made.iter() if "id" in part.attrib]


def references(made):
    return set(re.findall(r'(?:href="|url\()#([^")]+)', text(made)))


def test_no_two_ids_in_a_page_are_the_same(pair):
    found = ids(pair[0]) + ids(pair[1])
    assert len(found) > 20
    assert len(set(found)) == len(found)


def test_every_reference_is_to_something_in_the_page_and_everything_with_an_id_is_referred_to(pair):
    one, two = pair
    assert len(references(one)) > 15
    assert references(one) | {"one--title"} == set(ids(one))
    assert references(two) <= {*ids(one), *ids(two)}


def test_only_letters_are_shared(pair):
    two = pair[1]
    shared = references(two) - set(ids(two))
    assert shared
    assert all(name.startswith("DejaVuSans") for name in shared)
    assert references(inline_figure(drawing("two"))) == references(two)


def test_nothing_in_it_reaches_beyond_it(pair):
    for made in pair:
        drawn = {part.tag for svg in made.iter("svg") for part in svg.iter()}
        assert drawn <= {"svg", "defs", "g", "path", "use", "clipPath", "rect"}
        assert "http" not in text(made)


def test_its_words_are_of_the_page_and_stand_there_once(pair):
    made = pair[0]
    title = made.find("p")
    assert (title.text, title.get("id")) == ("The title of one & more", "one--title")
    assert made.find("figcaption").text == "A caption, 1 < 2."
    assert ["".join(item.itertext()) for item in made.find("ul")] == ["a < b", "points"]
    assert [svg.get("aria-labelledby") for svg in made.find("div")] == ["one--title"]


def test_a_panel_can_be_read_on_a_phone(pair):
    """390 pixels less the margins of 0.8rem: letters of 9 points, and of 70 % of that in an exponent."""
    (panel,) = pair[0].find("div")
    _, _, width, height = map(float, panel.get("viewBox").split())
    assert 9 * 0.7 * (390 - 2 * 0.8 * 16) / width > 9
    assert height < width
    assert "width" not in panel.attrib


def test_black_and_white_are_the_colours_of_the_page(pair):
    drawn = text(pair[0])
    assert "#000000" not in drawn
    assert "#ffffff" not in drawn
    assert "stroke: currentColor" in drawn
    assert "fill: var(--paper)" in drawn


def test_lengths_are_rounded_and_scales_are_not():
    (panel,) = inline_figure(drawing("one")).find("div")
    lengths = [part.get(name, "") for part in panel.iter() for name in ("d", "x", "y")]
    assert not any(re.search(r"\.\d{3}", length) for length in lengths)
    letter = next(part for part in panel.iter("path") if part.get("id", "").startswith("DejaVuSans"))
    assert letter.get("transform") == "scale(0.015625)"


def test_it_is_the_same_each_time(pair):
    assert text(inline_figure(drawing("one"))) == text(pair[0])
