import json

import pytest

from checks.explore.vega import DASHES, FEW, MIME, SHAPES, Vega
from checks.plot import Axis, Kind, Panel, Series

LINE = Series("a curve", tuple(map(float, range(1, FEW + 1))), (2.0,) * FEW)
DOT = Series("here", (3.0,), (2.0,), look=1)
RUNS = Series("samples", (1.0, 2.0), (2.0, 2.5), Kind.POINTS, 2, (0.5, 0.25))
GUIDE = Series("limit", (1.0, 9.0), (0.25, 0.25), Kind.GUIDE)


def spec(*series, x=None):
    return Vega(Panel(x or Axis("x"), Axis("y"), series)).spec()


def test_all_numbers_are_in_it():
    layers = spec(LINE, DOT, RUNS, GUIDE)["layer"]
    shown = [[(row["x"], row["y"]) for row in layer["data"]["values"]] for layer in layers]
    assert shown[0] == list(zip(LINE.x, LINE.y, strict=True))
    assert shown[1] == [(3.0, 2.0)]
    assert shown[4] == [(1.0, 0.25), (9.0, 0.25)]


def test_an_interval_goes_from_below_to_above():
    bars = spec(RUNS)["layer"][0]
    assert bars["mark"]["type"] == "rule"
    assert [(row["y"], row["top"]) for row in bars["data"]["values"]] == [(1.5, 2.5), (2.25, 2.75)]


def test_an_interval_on_a_logarithmic_axis_stays_above_zero():
    wide = Series("samples", (1.0,), (2.0,), Kind.POINTS, 2, (5.0,))
    bars = Vega(Panel(Axis("x"), Axis("y", logarithmic=True), (wide,))).spec()["layer"][0]
    assert bars["data"]["values"] == [{"x": 1.0, "y": 0.002, "top": 7.0}]


def test_a_logarithmic_axis_has_no_place_for_what_is_not_positive():
    mixed = Series("mixed", (1.0, 2.0, 3.0), (-1.0, 0.0, 2.0), Kind.POINTS, 2, (1.0, 1.0, 1.0))
    panel = Panel(Axis("x"), Axis("y", logarithmic=True), (mixed, Series("zero", (1.0, 9.0), (0.0, 0.0), Kind.GUIDE)))
    bars, points = Vega(panel).spec()["layer"]
    assert points["data"]["values"] == [{"x": 3.0, "y": 2.0}]
    assert len(bars["data"]["values"]) == 1
    assert points["encoding"]["color"]["scale"]["domain"] == ["mixed"]


@pytest.mark.parametrize(("series", "mark"), [(LINE, "line"), (DOT, "point"), (GUIDE, "line")])
def test_marks(series, mark):
    assert spec(series)["layer"][0]["mark"]["type"] == mark


def test_a_line_through_few_points_shows_them():
    short = Series("few", (1.0, 2.0), (1.0, 2.0))
    assert spec(short)["layer"][0]["mark"]["point"]
    assert not spec(LINE)["layer"][0]["mark"]["point"]


def test_axes():
    encoding = spec(LINE, x=Axis("depth", logarithmic=True, span=(1, 10)))["encoding"]
    assert encoding["x"]["scale"] == {"type": "log", "domain": [1, 10]}
    assert encoding["x"]["title"] == "depth"
    assert encoding["y"]["scale"] == {"zero": False}


def test_every_series_has_its_colour_in_the_legend():
    colours = spec(LINE, DOT, RUNS, GUIDE)["layer"][0]["encoding"]["color"]["scale"]
    assert colours["domain"] == ["a curve", "here", "samples", "limit"]
    assert len(set(colours["range"])) == 4


def test_looks_differ_without_colours():
    assert len(set(map(tuple, DASHES))) == len(DASHES) == len(set(SHAPES))


def test_it_is_json_without_a_network():
    mime, text = Vega(Panel(Axis("x"), Axis("y"), (LINE,)))._mime_()
    assert mime == MIME
    assert "url" not in json.loads(text)["layer"][0]["data"]


def test_an_empty_panel():
    assert spec()["layer"] == []
