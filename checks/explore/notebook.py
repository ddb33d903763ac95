"""The explorer in a notebook: sliders of ipywidgets, and the same modules underneath.

from checks.explore import explore

explore("relu-ntk-normalised")
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from theory.errors import LimesError

from . import limits, page, scene, vega
from .controls import Control, controls
from .state import FIRST, State

if TYPE_CHECKING:
    import ipywidgets
    from sympy import Expr


def explore(name: str = FIRST) -> ipywidgets.VBox:
    """Sliders for the parameters of a formula, its value with right digits, and its curve with the limit.

    `name` may also be the id of a claim that has a formula, or a line that the explorer shares. Raises `InvalidInput`
    for an unknown name, and `LimesError`, with the remedy, without ipywidgets.
    """
    try:
        import ipywidgets as widgets
    except ImportError as missing:
        raise LimesError("sliders in a notebook need ipywidgets: pip install ipywidgets") from missing
    state = State.from_text(name)
    formula = state.known
    if formula is None:
        raise LimesError(f"{name} has no formula to explore; show it by checks.ledger.LEDGER[{name!r}]")
    texts = {key: widgets.Text(value=text, continuous_update=False) for key, text in state.at.items()}
    sliders = {key: _Slider(widgets, control, texts[key]) for key, control in controls(formula).items()}
    digits = widgets.BoundedIntText(value=state.digits, min=1, max=200, description="digits")
    title, refusals = widgets.HTMLMath(), {key: widgets.HTML() for key in texts}
    value, chart, remark = widgets.HTML(), widgets.Output(), widgets.HTML()
    title.value = f"<style>{page.STYLE}</style>{page.formula_head(formula)}$${scene.typeset(formula)}$$"

    def redraw(_: Any = None) -> None:
        now = replace(state, at={key: text.value for key, text in texts.items()}, digits=digits.value)
        where = scene.point(formula, now.at)
        for key, words in refusals.items():
            words.value = page.refusal(where.refusals.get(key, ""))
            if key in where.values:
                sliders[key].follow(where.values[key])
        value.value = page.value(formula, where, scene.reading(formula, where, now.digits))
        if now.axis:
            panel, said = scene.curve(now, where)
            data = {vega.MIME: vega.Vega(limits.marked(panel, now, where)).spec()}
            chart.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)
            remark.value = page.remark(said)

    for moved in (*texts.values(), digits):
        moved.observe(redraw, "value")
    redraw()
    rows = [widgets.VBox([widgets.HBox([sliders[key].widget, texts[key]]), refusals[key]]) for key in texts]
    return widgets.VBox([title, *rows, digits, value, chart, remark])


class _Slider:
    """A slider over the stops of a control: it moves a text, and follows what is typed there without moving it."""

    def __init__(self, widgets: Any, control: Control, text: Any) -> None:
        kind = widgets.Dropdown if control.words else widgets.SelectionSlider
        self.widget = kind(options=control.stops, value=control.default, description=control.parameter.name)
        self.control, self.text, self.following = control, text, False
        self.widget.observe(self.moved, "value")

    def moved(self, change: Any) -> None:
        if not self.following:
            self.text.value = change["new"]

    def follow(self, value: Expr) -> None:
        self.following = True
        self.widget.value = self.control.stops[self.control.nearest(value)]
        self.following = False
