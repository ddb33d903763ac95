r"""Random networks beside a formula: a few more at each look, the running mean, and its interval.

A `Sampler` knows how to draw what a formula is about: the tangent kernel of finite networks, the test loss of linear
networks after some steps, the signs of Gaussian vectors. `Sampling` draws it at several places of an axis, one chunk
after the other, and stops when the time of a look is up. The intervals are confidence sequences, which hold however
often one looks and whenever one stops: each contains the mean with probability `CONFIDENCE`, for each place by itself
(`numerics/confidence.py`; where it does not trust so few observations, nothing is shown). The mean itself is the
formula where `exact`, else the formula up to what `what` says; `unit` is what one observation comes from.

The random numbers are a function of the formula, the place and the chunk.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sympy import Expr

from numerics.confidence import ConfidenceSequence, MeanSequence
from numerics.descent import Fixed, descend
from numerics.empirical import empirical_ntk
from numerics.empirical_bernstein import BoundedConfidenceSequence
from numerics.linear_networks import LinearNetwork
from numerics.networks import MLP
from numerics.optimisers import GradientDescent
from numerics.trained_features import summed_residual, train_from_residual
from theory.errors import InvalidInput, LimesError
from theory.layerwise_options import Gaussian, Inputs, Orthogonal, Updates

from ..plot import CONFIDENCE, Kind, Panel, Series
from .scale import Scale

Vector = NDArray[np.float64]
At = Mapping[str, Expr]

LOOK = 0.25  # seconds of drawing at each look
CHUNK = 2 * 10**7  # operations, some hundredths of a second
MOST_WORK = 5 * 10**7  # operations for one observation
MOST_AT_ONCE = 1000
ENOUGH = 100_000  # observations at a place
STEPS = 3  # of descent, for what moves in training


@dataclass(frozen=True)
class Sampler:
    """What is drawn: `draw(rng, at, width, count) -> (count,)`, and `work(at, width)`, the operations for one.

    `sized` says whether the width of the networks is the person's choice, beside the parameters of the formula;
    `bounded` whether the observations lie in [0, 1].
    """

    what: str
    draw: Callable[[np.random.Generator, At, int, int], Vector]
    work: Callable[[At, int], float]
    exact: bool = True
    sized: bool = False
    bounded: bool = False
    unit: str = "networks"


class Sampling:
    """Observations at places `(x, at)` of an axis, which grow with each call of `advance`.

    >>> from sympy import Rational
    >>> coin = Sampling("orthant-2", [(0.0, {"r12": Rational(0)}), (0.5, {"r12": Rational(1, 2)})])
    >>> while coin.least < 3000:
    ...     coin.advance(seconds=0.01)
    >>> [bool(abs(mean - exact) < radius) for mean, exact, radius in zip(coin.means(), (1/4, 1/3), coin.radii())]
    [True, True]
    """

    def __init__(self, formula: str, places: Sequence[tuple[float, At]], width: int = 64, seed: int = 0) -> None:
        if formula not in SAMPLERS:
            raise InvalidInput("formula", formula, f"nothing random belongs to it; samples have {', '.join(SAMPLERS)}")
        self.sampler, self.places, self.width = SAMPLERS[formula], list(places), width
        own = zlib.crc32(formula.encode())
        self._generators = [
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(own, i))) for i in range(len(self.places))
        ]
        self._sequences: list[MeanSequence] = [self._sequence() for _ in self.places]
        self._refusals: dict[int, str] = {}
        self._turn = 0
        for index, (_, at) in enumerate(self.places):
            if self.sampler.work(at, width) > MOST_WORK:
                self._refusals[index] = "a network takes too long there, give a smaller width or depth"

    def _sequence(self) -> MeanSequence:
        error = 1 - CONFIDENCE
        if self.sampler.bounded:
            return BoundedConfidenceSequence(error, lower=0.0, upper=1.0)
        return ConfidenceSequence(error, tuned_for=1000)

    def advance(self, seconds: float) -> None:
        """Draw chunks, one place after the other, at least one chunk, until the time is up or no place needs more."""
        end = time.perf_counter() + seconds
        while not self.done:
            index = self._turn % len(self.places)
            self._turn += 1
            if self._needs_more(index):
                self._draw(index)
                if time.perf_counter() >= end:
                    return

    def _needs_more(self, index: int) -> bool:
        return index not in self._refusals and self._sequences[index].count < ENOUGH

    def _draw(self, index: int) -> None:
        _, at = self.places[index]
        count = int(np.clip(CHUNK / self.sampler.work(at, self.width), 1, MOST_AT_ONCE))
        try:
            self._sequences[index].update(self.sampler.draw(self._generators[index], at, self.width, count))
        except LimesError as error:
            self._refusals[index] = str(error)

    @property
    def least(self) -> int:
        """The number of observations at the place that has fewest, of those where there are any to be had."""
        return min((one.count for i, one in enumerate(self._sequences) if i not in self._refusals), default=0)

    @property
    def done(self) -> bool:
        """Whether no place needs more."""
        return not any(map(self._needs_more, range(len(self.places))))

    def remark(self) -> str:
        """What is plotted, and why nothing is shown at some places, in plain words."""
        unit, places = self.sampler.unit, len(self.places)
        size = f" of width {self.width}" if self.sampler.sized else ""
        said = [
            f"samples: {self.sampler.what}. Each point is the mean of {self.least} or more {unit}{size}, "
            f"with its {100 * CONFIDENCE:g} % confidence interval"
        ]
        if waiting := [one.reason for i, one in enumerate(self._sequences) if i not in self._refusals and one.reason]:
            yet, why = "" if self.done else " yet", waiting[0].removeprefix("component 0: ")
            said.append(
                f"At {len(waiting)} of {places} places none is shown{yet}: a few {unit} far from the others may decide "
                f"the mean, and an error bar would be too short ({why})"
            )
        out = Counter(self._refusals.values())
        return ". ".join([*said, *(f"{count} of {places} places are left out: {why}" for why, count in out.items())])

    def means(self) -> Vector:
        """The running means, one for each place."""
        return np.array([float(one.mean[0]) for one in self._sequences])

    def radii(self) -> Vector:
        """Half-widths of the intervals; infinite where there are too few observations."""
        return np.array([float(one.radius[0]) for one in self._sequences])

    def series(self, scale: Scale = Scale.AUTOMATIC) -> Series | None:
        """The means, or what the axis shows of them, with their intervals, where these can be trusted."""
        means, radii = self.means(), self.radii()
        shown = [i for i in range(len(self.places)) if np.isfinite(radii[i]) and i not in self._refusals]
        if not shown:
            return None
        x = tuple(self.places[i][0] for i in shown)
        means = 1 - means if scale is Scale.COMPLEMENT else means
        return Series("samples", x, tuple(means[shown]), Kind.POINTS, 2, tuple(radii[shown]))

    def on(self, panel: Panel, scale: Scale = Scale.AUTOMATIC) -> Panel:
        """The panel with the samples in it."""
        series = self.series(scale)
        return replace(panel, series=(*panel.series, series)) if series else panel


def _unit_vectors(gram: Sequence[Sequence[float]]) -> Vector:
    """Rows with these scalar products."""
    values, vectors = np.linalg.eigh(np.array(gram, dtype=np.float64))
    if values[0] < -1e-9:
        raise InvalidInput("correlations", gram, "these are no correlations: an eigenvalue is negative")
    return np.asarray(vectors * np.sqrt(np.clip(values, 0, None)))


def _pair(at: At) -> Vector:
    rho = float(at["rho"])
    return np.array([[1.0, 0.0], [rho, np.sqrt((1 - rho) * (1 + rho))]])


def _tangent(rng: np.random.Generator, at: At, width: int, count: int, *, normalised: bool) -> Vector:
    network, X = MLP.of_depth(2, width=width, depth=int(at["L"])), _pair(at)
    kernel = empirical_ntk(network, network.sample(rng, count), X[:1], X[1:]).total.reshape(count)
    return kernel / (network.depth + 1) if normalised else kernel


def _features(rng: np.random.Generator, at: At, width: int, count: int) -> Vector:
    network = MLP.of_depth(2, width=width, depth=int(at["L"]))
    last = network.forward(network.sample(rng, count), _pair(at)).features[-1]
    return np.broadcast_to((last[..., 0, :] * last[..., 1, :]).sum(axis=-1), (count,))


def _deviation(rng: np.random.Generator, at: At, width: int, count: int) -> Vector:
    r12, r1, r2, q = (float(at[name]) for name in ("rho_12", "rho_x1", "rho_x2", "q"))
    X = _unit_vectors([[1, r1, r2], [r1, 1, r12], [r2, r12, 1]])
    network = MLP.of_depth(3, width=width, depth=int(at["L"]))
    kernel = np.array([[network.depth + 1.0]])
    method = GradientDescent(0.3 / float(kernel[0, 0]), steps=STEPS)
    residual = q / summed_residual(kernel, np.ones(1), method)
    trained = train_from_residual(network, rng, count, X[:1], residual, method, X_test=X[1:])
    return trained.products_of_changes[:, 1, 2]


def _orthant(rng: np.random.Generator, at: At, width: int, count: int, *, size: int) -> Vector:
    gram = np.eye(size)
    for name, value in at.items():
        i, j = int(name[1]) - 1, int(name[2]) - 1
        gram[i, j] = gram[j, i] = float(value)
    positive = rng.standard_normal((count, size)) @ _unit_vectors(gram.tolist()).T > 0
    return np.asarray(positive.all(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class _Losses:
    """Linear networks whose test loss is sampled: see `numerics/linear_networks.py`."""

    layers: int
    updates: Updates
    steps: int | None
    gaussian: bool = False
    gaussian_inputs: bool = False

    def __call__(self, rng: np.random.Generator, at: At, width: int, count: int) -> Vector:
        network = LinearNetwork(
            width=int(at["h"]),
            layers=self.layers,
            samples=int(at["n"]) if self.gaussian_inputs else None,
            initialisation=Gaussian() if self.gaussian else Orthogonal(),
            inputs=Inputs.GAUSSIAN if self.gaussian_inputs else Inputs.WHITENED,
            noise=float(at.get("rho", 0)),
        )
        rates = Fixed((float(at["eta1"]), float(at["eta2"])))
        run = descend(network.sample(rng, count), rates, steps=self._steps(at), updates=self.updates)
        if run.diverged.any():
            raise InvalidInput("rates", f"{at['eta1']}, {at['eta2']}", "runs diverge there; give smaller ones")
        return run.test_loss[:, -1]

    def _steps(self, at: At) -> int:
        return int(at["t"]) if self.steps is None else self.steps

    def work(self, at: At, width: int) -> float:
        return 20 * float(at["h"]) ** 3 * (2 + self._steps(at))


def _network_work(at: At, width: int) -> float:
    return 20 * (2 + float(at["L"])) * width**2


def _orthant_work(at: At, width: int) -> float:
    return 100 * len(at)


_BIAS = "; their mean is O(1/width) from the formula, which is its limit, if L >= 2"
_LAYERS = {"two": 2, "three": 3}
_LOSSES = {
    f"{word}-layer-{rest}": _Losses(layers, updates, steps, **options)
    for word, layers in _LAYERS.items()
    for rest, updates, steps, options in (
        *((f"{kind.name.lower()}-{steps}", kind, steps, {}) for kind in Updates for steps in (1, 2)),
        *((f"noise-{steps}", Updates.SIGNAL, steps, {}) for steps in (1, 2)),
        *((f"gaussian-{kind.name.lower()}-1", kind, 1, {"gaussian": True}) for kind in Updates),
        *((f"gaussian-inputs-{kind.name.lower()}-1", kind, 1, {"gaussian_inputs": True}) for kind in Updates),
        ("full", Updates.FULL, None, {}),
    )
}

SAMPLERS: dict[str, Sampler] = {
    "relu-nngp": Sampler(
        "scalar products of the last features of ReLU networks" + _BIAS, _features, _network_work, False, True
    ),
    "relu-ntk": Sampler(
        "tangent kernels of ReLU networks" + _BIAS, partial(_tangent, normalised=False), _network_work, False, True
    ),
    "relu-ntk-normalised": Sampler(
        "tangent kernels of ReLU networks, divided by L + 1" + _BIAS,
        partial(_tangent, normalised=True),
        _network_work,
        False,
        True,
    ),
    "feature-deviation": Sampler(
        f"ReLU networks trained by {STEPS} steps; their mean is O(width^(-1/2)) from the formula, its limit",
        _deviation,
        lambda at, width: 6 * STEPS * _network_work(at, width),
        False,
        True,
    ),
    **{
        f"orthant-{size}": Sampler(
            f"{size} Gaussians, 1 if all are positive",
            partial(_orthant, size=size),
            _orthant_work,
            bounded=True,
            unit="draws",
        )
        for size in (2, 3, 4)
    },
    **{
        name: Sampler("test losses of linear networks of this width", losses, losses.work)
        for name, losses in _LOSSES.items()
    },
}
"""By the name of the formula."""
