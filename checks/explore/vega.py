r"""A panel of numbers as a Vega-Lite chart, which marimo and JupyterLab both draw in the browser, without the network.

matplotlib would need about as long for one picture as a slider may take altogether; it draws what is kept
(`checks/drawing.py`). The colours and dashes are the same.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

from ..drawing import LOOKS
from ..plot import Axis, Kind, Panel, Series

MIME = "application/vnd.vegalite.v5+json"
HEIGHT = 300
FEW = 20  # points
DEEPEST = 1e-3
DASHES = ([1, 0], [6, 3], [8, 3, 2, 3], [2, 2], [5, 2, 2, 2, 2, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down")


@dataclass(frozen=True)
class Vega:
    """A panel that shows itself.

    >>> from checks.plot import Panel
    >>> curve = Series("a line", (1.0, 2.0), (3.0, 4.0))
    >>> Vega(Panel(Axis("x", logarithmic=True), Axis("y"), (curve,))).spec()["layer"][0]["data"]
    {'values': [{'x': 1.0, 'y': 3.0}, {'x': 2.0, 'y': 4.0}]}
    """

    panel: Panel

    def spec(self) -> dict[str, Any]:
        """The chart in the Vega-Lite language, version 5; its data are in it."""
        shown = self.panel.series
        if self.panel.y.logarithmic:  # which has no place for anything else
            shown = tuple(filter(None, map(_positive, shown)))
        named = {series.label: _colour(series) for series in shown}
        colours = {"scale": {"domain": list(named), "range": list(named.values())}}
        legend = {"title": None, "orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3}
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
            "usermeta": {"embedOptions": {"renderer": "svg", "actions": False}},
            "width": "container",
            "height": HEIGHT,
            "encoding": {"x": _channel("x", self.panel.x), "y": _channel("y", self.panel.y)},
            "layer": [
                layer
                | {
                    "encoding": {
                        **layer.get("encoding", {}),
                        "color": {"datum": series.label, **colours, "legend": legend},
                    }
                }
                for series in shown
                for layer in _layers(series, self.panel.y.logarithmic)
            ],
            "config": {"view": {"stroke": None}, "axis": {"gridOpacity": 0.4}, "background": "white"},
        }

    def _mime_(self) -> tuple[str, str]:
        return MIME, json.dumps(self.spec())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self.spec()}


def _positive(series: Series) -> Series | None:
    kept = [i for i, y in enumerate(series.y) if y > 0]
    radius = series.radius and tuple(series.radius[i] for i in kept)
    x, y = tuple(series.x[i] for i in kept), tuple(series.y[i] for i in kept)
    return replace(series, x=x, y=y, radius=radius) if kept else None


def _channel(name: str, axis: Axis) -> dict[str, Any]:
    scale: dict[str, Any] = {"type": "log"} if axis.logarithmic else {"zero": False}
    if axis.span:
        scale["domain"] = list(axis.span)
    few = {"tickCount": 6} if axis.logarithmic else {}  # or a grid of all multiples, which takes the longest to draw
    return {"field": name, "type": "quantitative", "scale": scale, "title": axis.label, "axis": few}


def _colour(series: Series) -> str:
    return "#777777" if series.kind is Kind.GUIDE else LOOKS[series.look][0]


def _layers(series: Series, logarithmic: bool) -> list[dict[str, Any]]:
    data = {"values": [{"x": x, "y": y} for x, y in zip(series.x, series.y, strict=True)]}
    if series.kind is Kind.GUIDE:
        return [{"data": data, "mark": {"type": "line", "strokeWidth": 1, "strokeDash": [4, 4], "tooltip": True}}]
    if series.kind is Kind.LINE and len(series.x) > 1:
        few = len(series.x) < FEW  # a line through few points should not look like a curve
        return [
            {"data": data, "mark": {"type": "line", "strokeDash": DASHES[series.look], "point": few, "tooltip": True}}
        ]
    marks = {"type": "point", "filled": True, "size": 60, "shape": SHAPES[series.look], "tooltip": True}
    bars = []
    if series.radius is not None:
        ends = zip(series.x, series.y, series.radius, strict=True)
        least = DEEPEST if logarithmic else -math.inf  # of the mean: a logarithm has no zero
        between = {"values": [{"x": x, "y": max(y - r, least * abs(y)), "top": y + r} for x, y, r in ends]}
        bars = [{"data": between, "mark": {"type": "rule", "strokeWidth": 2}, "encoding": {"y2": {"field": "top"}}}]
    return [*bars, {"data": data, "mark": marks}]
