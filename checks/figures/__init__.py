"""The figures, by name. A module here holds those of a chapter, and only arranges numbers of `theory` and `numerics`.

>>> from checks import figures
>>> drawing = figures.draw("depth-crossover")  # a notebook shows it; drawing.save("crossover.svg") writes it

A new figure is a function from a seed to a `Chart` and a record in the chapter's `FIGURES`; nothing else is touched.
"""

from __future__ import annotations

import difflib

from theory.errors import InvalidInput

from ..drawing import Drawing, require_matplotlib
from ..plot import Figure
from . import balance, correlations, depth, dynamics, features, foretelling, kernels, layerwise, spectra

FIGURES: dict[str, Figure] = {}
for _chapter in (kernels, depth, spectra, features, dynamics, correlations, foretelling, layerwise, balance):
    for _figure in _chapter.FIGURES:
        assert _figure.name not in FIGURES, f"two figures have the name {_figure.name}"
        FIGURES[_figure.name] = _figure


def find(name: str) -> Figure:
    """The figure with this name; an unknown one is refused with the nearest names.

    >>> find("dept-rate")
    Traceback (most recent call last):
    theory.errors.InvalidInput: figure = dept-rate: no figure has this name; the nearest are depth-rate, ...
    """
    if name not in FIGURES:
        near = difflib.get_close_matches(name, FIGURES, n=3, cutoff=0.4) or ["listed by limes plot"]
        raise InvalidInput("figure", name, f"no figure has this name; the nearest are {', '.join(near)}")
    return FIGURES[name]


def draw(name: str, seed: int = 0) -> Drawing:
    """The figure with this name, drawn: what `limes plot` writes. Raises `LimesError` without matplotlib."""
    figure = find(name)
    require_matplotlib()  # before the numbers are computed
    return Drawing(figure, seed, figure.chart(seed))
