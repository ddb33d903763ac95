"""Drawing many figures: each its chart or a sentence, whatever the others do, in processes or without."""

import os
import time

import pytest

from checks.drawing import Drawing
from checks.figures import draw_all
from checks.plot import Axis, Chart, Figure, Panel, Series


def functions():
    """A chart, and one that never ends: made here, as another process cannot import this file."""

    def chart(seed):
        return Chart((Panel(Axis("x"), Axis("y"), (Series("a", (1, 2), (1, seed)),)),), 1, "A caption.")

    def forever(seed):
        while True:
            time.sleep(0.01)

    return chart, forever


chart, forever = functions()


def named(**charts):
    return [Figure(name, name, (), made) for name, made in charts.items()]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_figure_that_fails_or_takes_too_long_is_a_sentence(jobs):
    wanted = named(good=chart, bad=lambda seed: 1 / 0, slow=forever, fine=chart)
    found = {figure.name: drawing for figure, drawing in draw_all(wanted, 3, jobs=jobs, seconds=0.5)}
    assert found.pop("bad") == "ZeroDivisionError: division by zero"
    assert found.pop("slow") == "it took longer than 0.5 s"
    assert set(found) == {"good", "fine"}
    assert all(isinstance(drawing, Drawing) and drawing.chart == chart(3) for drawing in found.values())


def test_a_process_that_dies_is_a_sentence():
    found = {figure.name: drawing for figure, drawing in draw_all(named(a=lambda seed: os._exit(1), b=chart), jobs=2)}
    assert found["a"] == "the process that drew it, or one beside it, died"
    assert set(found) == {"a", "b"}


def test_nothing_is_drawn_of_nothing():
    assert list(draw_all([])) == []
