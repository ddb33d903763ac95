r"""Norms of random tensors, and the orders in probability that samples of them show.

The subordinate norm (`theory/orders.py`) of a vector is its length, and of a matrix its largest singular value. For
three indices and more it is NP-hard to compute (Hillar & Lim 2013), and is enclosed:

- *from above* by the least of the spectral norms of the unfoldings, the matrices that have some indices for rows and
  the others for columns. It exceeds the norm by a factor of at most `√d`, `d` the smallest dimension, for three
  indices, as the unfolding with the index of the largest dimension for its rows does: `‖T‖ <= sup_u ‖T(u)‖_F <=
  √d sup_u ‖T(u)‖`. That is attained up to constants: a Gaussian tensor `n × n × n` has the norm `O(√n)` and unfoldings
  of norm `n + √n`, so that an order found from this bound may be too large by `n^{1/2}`;
- *from below* by alternating power iteration, `vʲ ← T(…, ·, …)/‖·‖` over the indices in turn, which never falls. It
  ends in a local maximum; random restarts make it likely to be the highest, but nothing vouches for it.

Both are exact for the product of a vector and a matrix, and for `Σ λ_i e_i ⊗ e_i ⊗ e_i` with orthonormal `e_i`.

**The order of samples.** At each size the quantiles of the norms at several `levels` are fitted by `C n^p (log n)^q`,
`q` given (`numerics/exponents.py`). Were the bound definite, all high levels would have the same exponent; if they
differ, the order depends on the level, as for `n^U`, and there may be no definite bound.

**Errors.** Those of `interval`, by which orders are decided, come from order statistics: they hold for any tails, reach
down to an error of 1e-6, and add what the finite sizes may hide. `bootstrap` resamples the norms at each size instead.
It takes over 20 resamples for each error that it allows, so that 1e-6 is out of its reach, and knows nothing of finite
sizes: it is for comparison. Both warn, through `warnings`, where the sizes are not yet asymptotic.

Source: arXiv:2401.04013, section 2. De Lathauwer, De Moor, Vandewalle (2000) for the iteration.
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput, LimesWarning
from theory.orders import ExponentialTail, PowerTail, Sharpness, StochasticOrder

from .data import as_integer, as_reals, real_number
from .decision import Decision, Outcome
from .exponents import SIGNIFICANT, ExponentEstimate, Statistic, fit_exponent

__all__ = [
    "ExponentialTail",
    "Norms",
    "OrderEstimate",
    "PowerTail",
    "Sharpness",
    "StochasticOrder",
    "estimate",
    "subordinate_norm",
]

Array = NDArray[np.float64]
LEVELS = (0.5, 0.75, 0.9)
RESTARTS = 8
MOST_RESTARTS = 10_000
RESAMPLES = 1999
MOST_RESAMPLES = 1_000_000
DRAWN_AT_ONCE = 2**22  # observations, by the bootstrap
FEWEST_BEYOND = 10  # resamples beyond each end of a bootstrap interval
SWEEPS = 200
CONVERGED = 1e-6  # relative growth of the form in a sweep


class Norms(NamedTuple):
    """`lower <= ‖T‖ <= upper`, arrays of the shape of the batch; equal to rounding for at most two indices."""

    lower: Array
    upper: Array


def subordinate_norm(
    tensors: ArrayLike, *, batch: int = 0, rng: np.random.Generator | None = None, restarts: int = RESTARTS
) -> Norms:
    """Enclose the norm of tensors `(*batch axes, d_1, …, d_k)`, `k >= 0`, the first `batch` axes being no indices.

    `rng` is for the restarts of three indices and more. Raises `InvalidInput` for entries that are not real or not
    finite, empty tensors, a norm beyond float64, a missing `rng`, restarts outside 1..10000.

    >>> rng = np.random.default_rng(0)
    >>> u, M = np.array([3.0, 4.0]), np.diag([1.0, 2.0])
    >>> norms = subordinate_norm(np.multiply.outer(u, M), rng=rng)
    >>> round(float(norms.lower), 8), round(float(norms.upper), 8)
    (10.0, 10.0)
    """
    T = as_reals("tensors", tensors)
    if as_integer("batch", batch, 0) > T.ndim:
        raise InvalidInput("batch", batch, f"give the number of leading axes that are no indices, 0 to {T.ndim}")
    if T.size == 0 or not np.isfinite(T).all():
        raise InvalidInput("tensors", T.shape, "give tensors with at least one entry, all of them finite")
    largest = np.abs(T).max(axis=tuple(range(batch, T.ndim)), keepdims=True)
    _, exponents = np.frexp(largest)  # a power of two is divided out at no error: no square overflows or vanishes
    scaled = _scaled_norms(np.ldexp(T, -exponents), batch, rng, restarts)
    with np.errstate(over="ignore"):
        norms = Norms(*(np.ldexp(bound, exponents.reshape(bound.shape)) for bound in scaled))
    if not np.isfinite(norms.upper).all():
        raise InvalidInput("tensors", T.shape, "the norm exceeds the largest float: give smaller entries")
    return norms


def _scaled_norms(T: Array, batch: int, rng: np.random.Generator | None, restarts: int) -> Norms:
    """Of tensors whose largest entries are between ½ and 1, or 0."""
    indices = T.ndim - batch
    if indices == 0:
        return Norms(np.abs(T), np.abs(T))
    if indices <= 2:
        norm = np.linalg.norm(T, axis=-1) if indices == 1 else np.linalg.norm(T, 2, (-2, -1))
        return Norms(norm, norm)
    generator = _generator(rng, "the restarts of the iteration")
    if as_integer("restarts", restarts, 1) > MOST_RESTARTS:
        raise InvalidInput("restarts", restarts, f"give at most {MOST_RESTARTS}")
    flat = T.reshape(-1, *T.shape[batch:])
    lower = np.array([_largest_form(tensor, generator, restarts) for tensor in flat])
    upper = np.min([np.linalg.norm(unfolded, 2, (-2, -1)) for unfolded in _unfoldings(flat)], axis=0)
    return Norms(lower.reshape(T.shape[:batch]), upper.reshape(T.shape[:batch]))


def _generator(rng: object, purpose: str) -> np.random.Generator:
    if not isinstance(rng, np.random.Generator):
        raise InvalidInput("rng", rng, f"give a numpy Generator for {purpose}")
    return rng


def _unfoldings(tensors: Array) -> Iterator[Array]:
    """All matrices `(batch, rows, columns)` of tensors `(batch, d_1, …, d_k)`, transposes left out."""
    indices = range(1, tensors.ndim)
    for size in range(1, len(indices) // 2 + 1):
        for rows in itertools.combinations(indices, size):
            if 2 * size == len(indices) and 1 not in rows:
                continue
            columns = [index for index in indices if index not in rows]
            count = math.prod(tensors.shape[index] for index in rows)
            yield tensors.transpose(0, *rows, *columns).reshape(len(tensors), count, -1)


def _largest_form(tensor: Array, rng: np.random.Generator, restarts: int) -> float:
    """The highest of the local maxima of the multilinear form that the iteration reaches, from all starts at once."""
    vectors = [_units(rng.standard_normal((restarts, d))) for d in tensor.shape]
    reached = np.zeros(restarts)
    for _ in range(SWEEPS):
        before = reached
        for index in range(tensor.ndim):
            form = _contracted(tensor, vectors, index)
            reached, vectors[index] = np.linalg.norm(form, axis=1), _units(form)
        if (reached <= (1 + CONVERGED) * before).all():
            break
    return float(reached.max())


def _contracted(tensor: Array, vectors: Sequence[Array], free: int) -> Array:
    """`T` contracted with all vectors but the one of index `free`, for each start: `(starts, d_free)`."""
    *others, last = (index for index in range(tensor.ndim) if index != free)
    form = tensor.transpose(free, *others, last) @ vectors[last].T  # the starts are the last axis
    for index in reversed(others):
        form = np.einsum("...js,sj->...s", form, vectors[index])
    return form.T


def _units(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


@dataclass(frozen=True)
class OrderEstimate:
    """What samples say of an order: the exponent of each quantile of the lower and the upper bound of the norm.

    `levels` are those of the quantiles; `lower` and `upper` have a fit for each, the same ones if norms are exact.
    `log_power` was given. `warnings` say what to know when using it. `norms` are those of the samples at each size,
    divided by the logarithm to its power.
    """

    levels: tuple[float, ...]
    lower: tuple[ExponentEstimate, ...]
    upper: tuple[ExponentEstimate, ...]
    log_power: Fraction
    warnings: tuple[str, ...]
    norms: Mapping[int, Norms] = field(repr=False)

    def interval(self, alpha: float) -> tuple[float, float]:
        """The power of `n` at the level where it grows fastest, but for the error `alpha`.

        A norm that concentrates, as `√n + O(1)`, is seen with the power ½ in its median, and less in high quantiles.
        Raises `InvalidInput` unless `0 < alpha < 1`.
        """
        each = self._share(alpha)
        lower = max(fit.interval(each)[0] for fit in self.lower)
        return lower, max(fit.interval(each)[1] for fit in self.upper)

    def _share(self, alpha: float) -> float:
        """The error that is left to each level."""
        if not 0 < real_number(alpha) < 1:
            raise InvalidInput("alpha", alpha, "give an error probability between 0 and 1")
        return alpha / (len(self.levels) + 1)

    def bootstrap(self, alpha: float, rng: np.random.Generator, *, resamples: int = RESAMPLES) -> tuple[float, float]:
        """As `interval`, from percentiles of the exponents of resampled norms, without the error from finite sizes.

        Raises `InvalidInput` unless enough of the `resamples`, at most a million, lie beyond its ends: it takes
        `20 (levels + 1)/alpha`.

        >>> rng = np.random.default_rng(1)
        >>> found = estimate({n: rng.standard_normal((200, n)) for n in (16, 64, 256)})
        >>> low, high = found.bootstrap(0.05, rng)
        >>> low < 0.5 < high < low + 0.1
        True
        """
        each = self._share(alpha)
        rng = _generator(rng, "the resamples")
        if as_integer("resamples", resamples, 1) > MOST_RESAMPLES:
            raise InvalidInput("resamples", resamples, f"give at most {MOST_RESAMPLES}")
        if each / 2 * resamples < FEWEST_BEYOND:
            raise InvalidInput("alpha", alpha, f"{resamples} resamples do not reach it: give a larger one, or more")
        lower, upper = (self._resampled(side, rng, resamples) for side in (0, 1))
        ends = np.quantile(lower, each / 2, axis=1).max(), np.quantile(upper, 1 - each / 2, axis=1).max()
        return float(ends[0]), float(ends[1])

    def _resampled(self, side: int, rng: np.random.Generator, resamples: int) -> Array:
        """The exponents of the quantiles of norms, those of each size resampled by themselves: `(levels, resamples)`.

        Sizes are weighted with the inverse squared errors, as these resamples show them.
        """

        def logarithms(norms: Array, axis: int) -> Array:
            return np.log(np.quantile(norms, self.levels, axis=axis))

        options: Any = {"method": "percentile", "random_state": rng}  # the name that SciPy before 1.15 knows too
        drawn = np.stack(
            [
                scipy.stats.bootstrap(
                    (norms[side],),
                    logarithms,
                    n_resamples=resamples,
                    batch=max(1, DRAWN_AT_ONCE // norms[side].size),
                    **options,
                ).bootstrap_distribution
                for norms in self.norms.values()
            ],
            axis=1,
        )
        sizes = np.log(list(self.norms))
        return np.stack([np.polyfit(sizes, level, 1, w=1 / level.std(axis=1))[0] for level in drawn])

    def decide(self, order: StochasticOrder, *, alpha: float = 1e-6, wanted_resolution: float = math.inf) -> Decision:
        """Compare an order. An upper bound is rejected where the samples grow faster, a definite one also where slower.

        Raises `InvalidInput` unless the logarithms are those that were fitted, `0 < alpha < 1` and the resolution is
        positive. Samples see growth at their levels: what is rarer than one minus the highest of them escapes.
        """
        if not isinstance(order, StochasticOrder):
            raise InvalidInput("order", order, "give a StochasticOrder")
        if not real_number(wanted_resolution) > 0:
            raise InvalidInput("wanted_resolution", wanted_resolution, "give a positive number")
        if order.log_power != self.log_power:
            raise InvalidInput("order", str(order), f"the fit was made with log_power = {self.log_power}")
        low, high = self.interval(alpha)
        power, resolution, found = real_number(order.power), high - low, f"[{low:.4g}, {high:.4g}]"
        if power < low or (order.definite and power > high):
            return Decision(Outcome.REJECTED, resolution, f"{order} does not fit the power {found}")
        if (power <= high and resolution > wanted_resolution) or not math.isfinite(low + high):
            return Decision(Outcome.UNDECIDED, resolution, f"{found} is wider than the wanted resolution")
        return Decision(Outcome.CONSISTENT, resolution, f"{order} fits the power {found}")


def estimate(
    samples_by_size: Mapping[int, ArrayLike],
    *,
    log_power: Fraction | int = 0,
    levels: Sequence[float] = LEVELS,
    rng: np.random.Generator | None = None,
) -> OrderEstimate:
    """Estimate the order of random tensors from samples `(count, d_1, …, d_k)` at three or more sizes `n`, `k >= 0`.

    With `k = 0` they are norms already. `rng` is needed for `k >= 3`. Warns `LimesWarning` where the sizes are not yet
    asymptotic, or the order depends on the level. Raises `InvalidInput` as `subordinate_norm` and `fit_exponent` do,
    for sizes that are no integers >= 1, and levels outside (0, 1).

    >>> rng = np.random.default_rng(1)
    >>> found = estimate({n: rng.standard_normal((200, n)) for n in (16, 64, 256)})
    >>> found.decide(StochasticOrder(Fraction(1, 2), sharpness=Sharpness.EXACT)).outcome
    <Outcome.CONSISTENT: 'consistent'>
    >>> found.decide(StochasticOrder(Fraction(1, 4))).outcome
    <Outcome.REJECTED: 'rejected'>
    """
    q = StochasticOrder(0, log_power).growth[1]
    given = as_reals("levels", levels)
    if given.ndim != 1 or not given.size or not ((given > 0) & (given < 1)).all():
        raise InvalidInput("levels", levels, "give one or more quantile levels between 0 and 1")
    levels = tuple(np.sort(given).tolist())
    if not isinstance(samples_by_size, Mapping):
        raise InvalidInput("samples_by_size", samples_by_size, "give a mapping from sizes to samples")
    for n in samples_by_size:
        if as_integer("size", n, 1) > sys.maxsize:
            raise InvalidInput("size", n, f"give at most {sys.maxsize}")
    if q and min(samples_by_size, default=2) < 2:
        raise InvalidInput("sizes", list(samples_by_size), "give sizes >= 2, log(n) divides the norms")
    norms = {n: subordinate_norm(samples, batch=1, rng=rng) for n, samples in samples_by_size.items()}
    if q:
        norms = {n: Norms(*(bound / _logarithm(n, q) for bound in found)) for n, found in norms.items()}
    lower, upper = (
        tuple(
            fit_exponent({n: found[side] for n, found in norms.items()}, statistic=Statistic.QUANTILE, level=level)
            for level in levels
        )
        for side in (0, 1)
    )
    said = _warnings(levels, lower, upper)
    for warning in said:
        warnings.warn(warning, LimesWarning, stacklevel=2)
    return OrderEstimate(levels, lower, upper, q, said, norms)


def _logarithm(n: int, q: Fraction) -> float:
    with np.errstate(over="ignore"):
        power = float(np.log(n) ** np.float64(real_number(q)))
    if not 0 < power < math.inf:
        raise InvalidInput("log_power", q, f"log({n}) to this power is beyond floats")
    return power


def _warnings(
    levels: tuple[float, ...], lower: tuple[ExponentEstimate, ...], upper: tuple[ExponentEstimate, ...]
) -> tuple[str, ...]:
    said = {
        f"the {level:g}-quantile: {text}": None
        for level, *fits in zip(levels, lower, upper, strict=True)
        for fit in fits
        for text in (*fit.doubts, *fit.warnings)
    }
    first, last = upper[0].interval(SIGNIFICANT), lower[-1].interval(SIGNIFICANT)
    if first[1] < last[0] or last[1] < first[0]:
        exponents = f"{upper[0].exponent:.3g} at {levels[0]:g}, {lower[-1].exponent:.3g} at {levels[-1]:g}"
        said[f"the order depends on the level of the quantile ({exponents}): there may be no definite bound"] = None
    return tuple(said)
