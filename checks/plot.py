r"""What a figure shows, as numbers: series in panels, with what must be said of them. `checks/drawing.py` draws it.

A `Series` is a curve or points `(x_i, y_i)`, with the half-widths of confidence intervals where `y_i` was measured; a
`Panel` is a pair of axes with its series; a `Chart` is all panels and the caption: sizes, runs, and what the bars mean.
A `Figure` has a name, a title, the ids of the claims it illustrates, and a function from a seed to its chart. So the
numbers behind a figure can be had without drawing it, and its module only arranges what `theory/` and `numerics/` give.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import scipy  # its parts are loaded when first used
from numpy.typing import ArrayLike

from numerics.moments import Moments, observations
from theory.errors import InvalidInput

CONFIDENCE = 0.999
BARS = f"bars are {100 * CONFIDENCE:g} % confidence intervals for each point, hidden where the mark is larger"
MEDIAN_BARS = f"bars are confidence intervals of at least {100 * CONFIDENCE:g} %, hidden where the mark is larger"
TOGETHER = f"{BARS}; the points of a curve come from the same runs and err together"


class Kind(Enum):
    """How a series is shown."""

    LINE = "line"
    POINTS = "points"
    GUIDE = "guide"  # a thin line to compare the others with


class Centre(Enum):
    """What is shown of a sample, with an interval at `CONFIDENCE`."""

    MEAN = "mean"  # Student's interval: the sample must be large enough for the central limit theorem
    MEDIAN = "median"  # for tails too heavy for that; the interval supposes nothing but independence


def mean_interval(sample: ArrayLike) -> tuple[float, float]:
    """The mean and the half-width of Student's interval."""
    moments = Moments.of(sample)
    if moments.count < 2:
        raise InvalidInput("runs", moments.count, "give at least two runs")
    quantile = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, moments.count - 1)
    return float(moments.mean[0]), float(quantile * np.sqrt(moments.second[0] / (moments.count - 1) / moments.count))


def median_interval(sample: ArrayLike) -> tuple[float, float]:
    """The median, and the longer side of the interval between two order statistics, which holds at any sample size."""
    ordered = np.sort(observations(sample, 1, "runs")[:, 0])
    rank = int(scipy.stats.binom.ppf((1 - CONFIDENCE) / 2, len(ordered), 0.5))
    if rank < 1:  # the k-th smallest is above the median if fewer than k of the sample are below it
        raise InvalidInput("runs", len(ordered), "give at least 11 runs")
    middle = float(np.median(ordered))
    return middle, max(middle - float(ordered[rank - 1]), float(ordered[len(ordered) - rank]) - middle)


INTERVALS: dict[Centre, Callable[[ArrayLike], tuple[float, float]]] = {
    Centre.MEAN: mean_interval,
    Centre.MEDIAN: median_interval,
}


@dataclass(frozen=True)
class Series:
    """Numbers that belong together. Series of one `look` share colour, dashes and mark, so a curve and its points.

    `radius`, if any, is the half-width of a confidence interval for each `y`. Raises `InvalidInput` unless all are
    finite and of the same length.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: Kind = Kind.LINE
    look: int = 0
    radius: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name, column in (("x", self.x), ("y", self.y), ("radius", self.radius)):
            if column is None:
                continue
            numbers = tuple(float(number) for number in column)
            if len(numbers) != len(self.x) or not np.isfinite(numbers).all():
                raise InvalidInput(name, self.label, "give finite numbers, as many as x has")
            object.__setattr__(self, name, numbers)

    @classmethod
    def of_runs(
        cls, label: str, x: Iterable[float], runs: ArrayLike, look: int = 0, centre: Centre = Centre.MEAN
    ) -> Series:
        """The centres of independent runs, `(count, len(x))`; that the columns depend on each other does no harm.

        >>> series = Series.of_runs("a coin", [0], [[0.0], [1.0]] * 50)
        >>> series.y, round(series.radius[0], 3)
        ((0.5,), 0.17)
        """
        points = tuple(x)
        return cls.of_samples(label, points, observations(runs, len(points), "runs").T, look, centre)

    @classmethod
    def of_samples(
        cls, label: str, x: Iterable[float], samples: Iterable[ArrayLike], look: int = 0, centre: Centre = Centre.MEAN
    ) -> Series:
        """The same for samples, one for each `x`, of any sizes.

        >>> series = Series.of_samples("a ruler", [0], [range(101)], centre=Centre.MEDIAN)
        >>> series.y, series.radius
        ((50.0,), (17.0,))
        """
        found = [INTERVALS[centre](sample) for sample in samples]
        y, radius = zip(*found, strict=True)
        return cls(label, tuple(x), y, Kind.POINTS, look, radius)

    @classmethod
    def power(cls, label: str, x: Sequence[float], exponent: float, last: float) -> Series:
        """A guide from the first `x` to the last: a power of it that ends at `last`; a level, if the exponent is 0.

        >>> Series.power("m^(-1/2)", (16, 32, 64), -0.5, 1.0).y
        (2.0, 1.0)
        """
        return cls(label, (x[0], x[-1]), (last * (x[0] / x[-1]) ** exponent, last), Kind.GUIDE)

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"label": self.label, "kind": self.kind.value, "x": self.x, "y": self.y}
        return data if self.radius is None else data | {"radius": self.radius, "confidence": CONFIDENCE}


@dataclass(frozen=True)
class Axis:
    """What is measured along an axis, in which units; `span` is what is shown of it, by default all.

    `ticks` are the only numbers written along it; by default matplotlib chooses.
    """

    label: str
    logarithmic: bool = False
    span: tuple[float, float] | None = None
    ticks: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Panel:
    """A pair of axes and what is drawn between them."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    title: str = ""

    def to_json(self) -> dict[str, Any]:
        series = [one.to_json() for one in self.series]
        return {"title": self.title, "x": self.x.label, "y": self.y.label, "series": series}


@dataclass(frozen=True)
class Chart:
    """The panels, row by row in so many `columns`, and the caption that goes with them."""

    panels: tuple[Panel, ...]
    columns: int
    caption: str


@dataclass(frozen=True)
class Figure:
    """A figure that `limes plot` can draw; `chart` computes its numbers, a function of the seed alone."""

    name: str
    title: str
    claims: tuple[str, ...]
    chart: Callable[[int], Chart]

    def in_brief(self) -> dict[str, Any]:
        """What `limes plot --list --json` writes of it."""
        return {"name": self.name, "title": self.title, "claims": list(self.claims)}


def generator(figure: str, seed: int, stream: int = 0) -> np.random.Generator:
    """Random numbers for the figure of this name: a stream of its own for each name, seed and `stream`."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(zlib.crc32(figure.encode()), stream)))
