"""The figures, by name. A module here holds those of a chapter, and only arranges numbers of `theory` and `numerics`.

>>> from checks import figures
>>> drawing = figures.draw("depth-crossover")  # a notebook shows it; drawing.save("crossover.svg") writes it

A new figure is a function from a seed to a `Chart` and a record in the chapter's `FIGURES`; nothing else is touched.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from theory.errors import InvalidInput
from theory.timelimit import within

from ..drawing import Drawing, require_matplotlib
from ..plot import Chart, Figure
from . import balance, correlations, depth, dynamics, features, foretelling, kernels, layerwise, spectra

PATIENCE = 600.0  # seconds for the numbers of one figure; the slowest takes 70 on one free core

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


def draw_all(
    wanted: Sequence[Figure], seed: int = 0, *, jobs: int = -1, seconds: float = PATIENCE
) -> Iterator[tuple[Figure, Drawing | str]]:
    """Each figure with its drawing, or with a sentence why there is none, as they end.

    Their numbers are computed in `jobs` processes (-1: one for each core), each on one thread, in at most `seconds`.
    The last begin first, as the slowest are among them.
    """
    from joblib import Parallel, delayed  # loaded here, as a single figure does not need it
    from joblib.externals.loky.process_executor import BrokenProcessPool

    from ..runner import interrupts_held

    left, processes = dict(enumerate(wanted)), jobs if len(wanted) > 1 else 1
    for _ in range(2):  # where a process died, joblib cannot say at which figure: the others get a second chance
        calls = [delayed(_numbers)(number, figure, seed, seconds) for number, figure in reversed(left.items())]
        try:
            with interrupts_held():
                found = Parallel(processes, return_as="generator_unordered", batch_size=1)(calls)  # type: ignore
            for number, chart in found:  # type: ignore[misc]
                figure = left.pop(number)
                yield figure, chart if isinstance(chart, str) else Drawing(figure, seed, chart)
            return
        except BrokenProcessPool:
            continue
    for figure in left.values():
        yield figure, "the process that drew it, or one beside it, died"


def _numbers(number: int, figure: Figure, seed: int, seconds: float) -> tuple[int, Chart | str]:
    """What the figure of this number shows; a failure becomes a sentence."""
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(limits=1):
            return number, within(seconds, lambda: figure.chart(seed)) or f"it took longer than {seconds:g} s"
    except Exception as problem:  # one plot's failure must not cost the report of a long run
        return number, f"{type(problem).__name__}: {problem}"
