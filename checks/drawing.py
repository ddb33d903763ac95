"""Charts drawn by matplotlib: the same bytes each time, in colours that everybody can tell apart, and without them.

Lines differ by dashes and points by marks, besides their colours (Okabe and Ito 2008), so a figure can be printed in
black. Neither pyplot nor a person's own style has a part in it. matplotlib keeps its settings for the whole process:
they are changed inside a lock, and are as they were afterwards.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from theory.errors import InvalidInput, LimesError

from .plot import Axis, Chart, Figure, Kind, Panel, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure as Canvas

SCHEMA = 1
METADATA: dict[str, dict[str, Any]] = {  # without what changes from day to day, or from version to version
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
STYLE: dict[str, Any] = {
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2,
    "savefig.dpi": 150,
}
LOOKS: tuple[tuple[str, Any, str], ...] = (  # colour, dashes, mark
    ("#000000", "-", "o"),
    ("#d55e00", (0, (5, 2)), "s"),
    ("#0072b2", (0, (6, 2, 1, 2)), "^"),
    ("#009e73", (0, (1, 1.2)), "D"),
    ("#cc79a7", (0, (4, 1.5, 1, 1.5, 1, 1.5)), "v"),
    ("#e69f00", (0, (9, 1.5)), "P"),
)
PANEL_WIDTHS = {1: 5.5, 2: 3.7, 3: 3.2}  # in inches, by the number of columns, as are all lengths
PANEL_HEIGHT, TITLE_HEIGHT, LINE_HEIGHT, MARGIN = 2.6, 0.34, 0.18, 0.08
SINGLE_PANEL = (3.4, 2.5)  # of a panel by itself: as wide as a phone, letters included
KEY = (0.42, 0.14)
LETTER_WIDTH, CAPTION_LETTER_WIDTH, HANDLE_WIDTH = 0.075, 0.064, 0.6
_LOCK = threading.RLock()


def require_matplotlib() -> None:
    """Raise `LimesError`, with the remedy, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        remedy = "pip install '.[explore]' in the folder of limes; the numbers alone need it not: limes plot --json"
        raise LimesError(f"figures need matplotlib, which is not installed: {remedy}") from missing


def suffix_of(path: Path) -> str:
    """The kind of file that `path` asks for: `.svg`, `.png` or `.pdf`.

    >>> suffix_of(Path("rate.jpg"))
    Traceback (most recent call last):
    theory.errors.InvalidInput: output = rate.jpg: give a file that ends in .svg, .png or .pdf
    """
    suffix = path.suffix.lower()
    if suffix not in METADATA:
        raise InvalidInput("output", str(path), "give a file that ends in .svg, .png or .pdf")
    return suffix


@dataclass(frozen=True)
class Drawing:
    """A figure with its numbers; a notebook shows it, and `save` writes it."""

    figure: Figure
    seed: int
    chart: Chart

    def to_json(self) -> dict[str, Any]:
        """The numbers behind the figure, as `limes plot --json` writes them; this needs no matplotlib."""
        panels = [panel.to_json() for panel in self.chart.panels]
        about = {"schema": SCHEMA, **self.figure.in_brief(), "seed": self.seed}
        return about | {"caption": self.chart.caption, "panels": panels}

    def canvas(self, panel: Panel | None = None) -> Canvas:
        """The figure of matplotlib, for those who want to change it; that of one panel alone, if it is given."""
        with _settings(self.figure.name):
            return _draw(self.figure.title, self.chart) if panel is None else _draw_alone(panel)

    def render(self, suffix: str = ".svg") -> bytes:
        """The contents of a file of this kind, `.svg`, `.png` or `.pdf`."""
        with _settings(self.figure.name):
            return _saved(_draw(self.figure.title, self.chart), suffix)

    def panels(self) -> list[bytes]:
        """Each panel as an SVG, for a page that lays them out and sets title, legend and caption as text."""
        with _settings(self.figure.name):
            return [_saved(_draw_alone(panel), ".svg") for panel in self.chart.panels]

    def keys(self) -> dict[str, bytes]:
        """The legend of all panels: for each label its line, its mark, or both, as an SVG."""
        with _settings(self.figure.name):
            return {label: _saved(_draw_key(series), ".svg") for label, series in _by_label(self.chart).items()}

    def save(self, path: Path | str) -> None:
        """Write it; the name's ending says what. Raises `InvalidInput` for another ending, `OSError` as writing does.

        Nothing is written before the drawing is complete.
        """
        content = self.render(suffix_of(Path(path)))
        Path(path).write_bytes(content)

    def _repr_svg_(self) -> str:
        return self.render(".svg").decode()


@contextmanager
def _settings(salt: str) -> Iterator[None]:
    """Our settings of matplotlib, and nobody else's; ids in SVG depend on `salt`."""
    import matplotlib

    settings: Any = STYLE | {"svg.hashsalt": salt}
    with _LOCK, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        yield


def _saved(canvas: Canvas, suffix: str) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, format=suffix[1:], metadata=METADATA[suffix])
    return file.getvalue()


def _draw(title: str, chart: Chart) -> Canvas:
    """The panels between a header, of the title and the legend, and a footer, of the caption."""
    from matplotlib.figure import Figure as Canvas

    width = PANEL_WIDTHS[chart.columns] * chart.columns
    labels = list(_by_label(chart))
    beside = max(1, int(width / (HANDLE_WIDTH + LETTER_WIDTH * max(map(_letters, labels)))))
    legend_rows = -(-len(labels) // beside)
    caption = wrap(chart.caption, int(width / CAPTION_LETTER_WIDTH))
    rows = -(-len(chart.panels) // chart.columns)
    body, footer = rows * PANEL_HEIGHT, len(caption) * LINE_HEIGHT + MARGIN
    height = TITLE_HEIGHT + legend_rows * LINE_HEIGHT + MARGIN + body + footer

    canvas = Canvas(figsize=(width, height))
    canvas.set_layout_engine("constrained", rect=(0, footer / height, 1, body / height))
    handles: dict[str, dict[Kind, Any]] = {label: {} for label in labels}
    for index, panel in enumerate(chart.panels):
        axes = canvas.add_subplot(rows, chart.columns, index + 1)
        repeated = index % chart.columns > 0 and panel.y.label == chart.panels[index - 1].y.label
        for series, drawn in zip(panel.series, _draw_panel(axes, panel, silent=repeated), strict=True):
            handles[series.label].setdefault(series.kind, drawn)
    canvas.text(0.5, 1 - MARGIN / height, title, ha="center", va="top", fontsize=11, fontweight="bold")
    together: Any = [tuple(kinds.values()) for kinds in handles.values()]  # a line and its points in one entry
    canvas.legend(
        together,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - TITLE_HEIGHT / height),
        borderaxespad=0,
        ncols=-(-len(labels) // legend_rows),
    )
    canvas.text(MARGIN / width, MARGIN / height, "\n".join(caption), ha="left", va="bottom", fontsize=8)
    return canvas


def _by_label(chart: Chart) -> dict[str, dict[Kind, Series]]:
    """One series of each kind for every label, in the order in which they appear."""
    found: dict[str, dict[Kind, Series]] = {}
    for panel in chart.panels:
        for series in panel.series:
            found.setdefault(series.label, {}).setdefault(series.kind, series)
    return found


def _draw_alone(panel: Panel) -> Canvas:
    """A panel as a figure of its own."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=SINGLE_PANEL)
    canvas.set_layout_engine("constrained")
    _draw_panel(canvas.add_subplot(), panel)
    return canvas


def _draw_key(kinds: dict[Kind, Series]) -> Canvas:
    """What stands in a legend beside a label."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=KEY)
    axes = canvas.add_axes((0, 0, 1, 1), xlim=(0, 1), ylim=(-1, 1))
    axes.set_axis_off()
    for kind, series in kinds.items():
        x = (0.5,) if kind is Kind.POINTS else (0.0, 1.0)
        _draw_series(axes, Series(series.label, x, (0.0,) * len(x), kind, series.look))
    return canvas


def _draw_panel(axes: Axes, panel: Panel, silent: bool = False) -> list[Any]:
    """Draw it, without the label of its second axis if that is to be `silent`; what was drawn for each series."""
    drawn = [_draw_series(axes, series) for series in panel.series]
    _label_axis(axes.xaxis, panel.x)
    _label_axis(axes.yaxis, panel.y, silent=silent)
    axes.set_title(panel.title)
    return drawn


def _letters(label: str) -> int:
    """About how many letters wide a label is, of which some is TeX."""
    return len(re.sub(r"\\[a-z]+|[${}_^]", "", label))


def _label_axis(axis: XAxis | YAxis, asked: Axis, silent: bool = False) -> None:
    if asked.logarithmic:
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    elif axis.axis_name == "x":
        axis.axes.locator_params("x", nbins=5)
    if asked.ticks:
        axis.set_ticks(asked.ticks, labels=[f"{tick:g}" for tick in asked.ticks])
        axis.set_ticks([], minor=True)
    if asked.span:
        axis.axes.set(**{f"{axis.axis_name}lim": asked.span})
    axis.set_label_text("" if silent else asked.label)


def _draw_series(axes: Axes, series: Series) -> Any:
    colour, dashes, mark = LOOKS[series.look]
    if series.kind is Kind.GUIDE:
        return axes.plot(series.x, series.y, color="0.45", linewidth=0.8, zorder=1)[0]
    if series.kind is Kind.LINE:
        return axes.plot(series.x, series.y, color=colour, linestyle=dashes, zorder=2)[0]
    return axes.errorbar(
        series.x,
        series.y,
        yerr=series.radius,
        linestyle="none",
        marker=mark,
        color=colour,
        markerfacecolor="white",
        zorder=3,
    )
