"""Every figure: it belongs to claims, is a function of the seed, and is drawn without overlaps or ambiguity."""

import json
from dataclasses import replace
from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from checks.drawing import LOOKS
from checks.figures import FIGURES, layerwise
from checks.ledger import LEDGER
from checks.plot import Kind


def test_every_figure_belongs_to_claims_of_the_ledger():
    for figure in FIGURES.values():
        assert figure.claims
        assert set(figure.claims) <= set(LEDGER)


def test_a_figure_is_a_function_of_the_seed(monkeypatch):
    monkeypatch.setattr(layerwise, "MATRIX_RUNS", 50)
    figure = FIGURES["released-script"]
    assert figure.chart(1) == figure.chart(1)
    assert figure.chart(1) != figure.chart(2)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_whole(drawing, name):
    drawn = drawing(name)
    refuse_overlaps(drawn.canvas())
    for panel in drawn.chart.panels:
        refuse_overlaps(drawn.canvas(panel))
    refuse_ambiguous_looks(drawn.chart.panels)
    assert all(panel.x.label and panel.y.label for panel in drawn.chart.panels)
    data = json.loads(json.dumps(drawn.to_json(), allow_nan=False))
    assert (data["name"], len(data["panels"])) == (name, len(drawn.chart.panels))


def refuse_overlaps(canvas):
    """Nothing is cut off, and nothing is drawn over anything else, be it title, legend, panel or caption."""
    renderer = FigureCanvasAgg(canvas).get_renderer()
    canvas.draw(renderer)
    boxes = [words.get_window_extent(renderer) for words in (*canvas.texts, *canvas.legends)]
    boxes += [axes.get_tightbbox(renderer) for axes in canvas.axes]
    for box in boxes:
        assert min(box.x0, box.y0) >= -0.5
        assert box.x1 <= canvas.bbox.x1 + 0.5
        assert box.y1 <= canvas.bbox.y1 + 0.5
    groups = [boxes]
    for axes in canvas.axes:
        for axis in (axes.xaxis, axes.yaxis):
            shown = [axis.get_majorticklabels(), axis.get_minorticklabels()]
            groups.append([text.get_window_extent(renderer) for texts in shown for text in texts if text.get_text()])
    for group in groups:
        for one, other in combinations(group, 2):
            assert not one.padded(-1).overlaps(other.padded(-1))


def refuse_ambiguous_looks(panels):
    """A label has one look in all panels, and a look one label."""
    looks = {(one.label, one.look) for panel in panels for one in panel.series if one.kind is not Kind.GUIDE}
    assert len(looks) == len({label for label, _ in looks}) == len({look for _, look in looks})
    assert max(look for _, look in looks) < len(LOOKS)


def test_overlaps_are_seen(drawing):
    fine = drawing("depth-crossover")
    refuse_overlaps(fine.canvas())
    panel = fine.chart.panels[0]
    crowded = replace(panel, x=replace(panel.x, ticks=(1.0, 1.01)))
    long = replace(fine.figure, title="A title that is far too long " * 5)
    bad = [replace(fine, figure=long), replace(fine, chart=replace(fine.chart, panels=(crowded, panel)))]
    for canvas in (*(one.canvas() for one in bad), fine.canvas(crowded)):
        with pytest.raises(AssertionError):
            refuse_overlaps(canvas)
