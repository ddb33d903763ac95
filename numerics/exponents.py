r"""The exponent of a power law, `statistic(m) ≈ C m^p`, from samples at several sizes, and how well it is known.

At each size `m` (width, depth, number of steps) there are iid observations, independent of those at the other sizes:
sample each size with its own seeds. A statistic of each sample, `y = log statistic`, is regressed on `log m` by least
squares weighted with the inverse squared standard errors. A decay `1/m` has the exponent −1.

**Standard errors.** To first order `y` is linear in the observations, `y − Ey ≈ (1/n) Σ h(x_i)` (delta method), with

    MEAN                h = x/x̄ − 1                      of  log x̄
    ROOT_MEAN_SQUARE    h = (x²/q² − 1)/2                  of  log q,  q² = mean of x²
    STANDARD_DEVIATION  h = ((x − x̄)²/s² − 1)/2          of  log s

and its standard error is that of the mean of `h`. A quantile's error comes from the order statistics two standard
deviations of their rank away (McKean & Schrader 1984), whatever the tails. MEDIAN_OF_MEANS is the median over blocks
of consecutive observations, for means with heavy tails: relative to the mean it is biased by a fraction that
is the same at all sizes if only the scale of the law depends on `m`, so that the exponent is right.
The errors are themselves estimated: intervals use Student's t with Satterthwaite's degrees of freedom, and pay for
skewness as in `numerics.confidence`, with the studentised skewness `γ_h/√n − 3σ k/2` of each `y` of standard error σ,
`k = 1` for the mean and 2 for the others: its second part is the bend of the logarithm.

**Finite sizes.** Measured at finite `m`, an exponent is contaminated: a bias `c/m (1 + b/m)` has the local slope
`−1 − b/m + O(1/m²)`. Two remedies:

- `Correction.INVERSE_SIZE` fits `log statistic = a + p log m + b/m`, with `p` the exponent as `m → ∞`, at a cost in
  precision.
- The *systematic* error of a fit: the drift of the exponent when the smallest size is left out, extrapolated to
  infinite size as if it came from the next correction (`1/m`, or `1/m²` after `b/m`). It is always added to the
  half-width: a bias of three standard errors is not yet significant, yet it would spoil a test at `α = 1e−6`.

It is an estimate, not a bound: to test an exponent as `m → ∞` with precise data, fit the correction. Where a term in
`(log m)²` is still significant the sizes are not asymptotic (a factor `log m`, a correction `m^{−1/2}`): the exponent
drifts with the size, and nothing can be said on the side it drifts to. No set of finite sizes excludes corrections that
cancel over just these sizes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from numbers import Real

import numpy as np
import scipy  # its parts are loaded when first used
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

from .confidence import LARGEST_PRICE, LARGEST_SHARE, PRICE_ITERATIONS
from .decision import Decision, Outcome
from .moments import observations

SMALLEST_SAMPLE = 30
SMALLEST_BLOCK = 4
LARGEST_RELATIVE_ERROR = 0.25
SIGNIFICANT = 1e-3
RANK_DEVIATIONS = 2.0


class Statistic(Enum):
    """What is measured at each size; all of them must be positive (module docstring)."""

    MEAN = "mean"
    ROOT_MEAN_SQUARE = "root mean square"
    STANDARD_DEVIATION = "standard deviation"
    QUANTILE = "quantile"
    MEDIAN_OF_MEANS = "median of means"


class Correction(Enum):
    """Finite-size corrections to `log statistic = a + p log m`; the value is the number of terms `1/m, 1/m², …`."""

    NONE = 0
    INVERSE_SIZE = 1


@dataclass(frozen=True)
class ExponentEstimate:
    """Exponent `p` of `statistic ≈ C m^p` with its errors.

    `intercept` is `log C`; `correction` the coefficient `b` of `1/m` (0 if none was fitted); `systematic` the error
    from finite sizes; `curvature` the coefficient of an added `(log m)²` and `curvature_p_value` its significance;
    `fit_p_value` that of χ², the scatter about the fit. `standard_error` is enlarged by `√(χ²/degrees)` when
    the scatter is larger than the errors explain. `skewness` is that of the studentised exponent.
    `doubts` say why the exponent is not to be used, `warnings` what to know when using it.
    """

    exponent: float
    standard_error: float
    systematic: float
    intercept: float
    correction: float
    degrees_of_freedom: float
    skewness: float
    fit_p_value: float
    curvature: float
    curvature_p_value: float
    sizes: tuple[float, ...]
    doubts: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def trustworthy(self) -> bool:
        """Whether the samples bear an exponent at all."""
        return not self.doubts

    @property
    def asymptotic(self) -> bool:
        """Whether no curvature is seen in the log-log plot of the sizes, beyond what was fitted."""
        return not self.curvature_p_value < SIGNIFICANT

    def half_width(self, alpha: float) -> float:
        """Half-width of the interval of error `alpha`: statistical plus systematic; `inf` if it cannot be trusted."""
        if not 0 < alpha < 1:
            raise InvalidInput("alpha", alpha, "give an error probability between 0 and 1")
        price, tail = 0.0, alpha / 2
        for _ in range(PRICE_ITERATIONS):
            price = abs(self.skewness) * abs(scipy.special.ndtri(tail)) ** 3 / 3
            tail = alpha / 2 * math.exp(-min(price, 2 * LARGEST_PRICE))
        if self.doubts or not price <= LARGEST_PRICE:
            return math.inf
        return -float(scipy.special.stdtrit(self.degrees_of_freedom, tail)) * self.standard_error + self.systematic

    def interval(self, alpha: float) -> tuple[float, float]:
        """The exponents compatible with the samples, but for the error `alpha`; infinite towards where it drifts."""
        half_width = self.half_width(alpha)
        lower, upper = self.exponent - half_width, self.exponent + half_width
        if not self.asymptotic:
            return (-math.inf, upper) if self.curvature < 0 else (lower, math.inf)
        return lower, upper

    def decide(self, claimed: float, *, alpha: float = 1e-6, wanted_resolution: float = math.inf) -> Decision:
        """Compare a claimed exponent. The resolution is the smallest error *of the exponent* that would be caught.

        UNDECIDED if the samples cannot be trusted, the sizes are not asymptotic and the claim lies where the exponent
        drifts to, or the resolution is worse than wanted.
        """
        if not math.isfinite(claimed):
            raise InvalidInput("claimed", claimed, "give a finite exponent")
        if not wanted_resolution > 0:
            raise InvalidInput("wanted_resolution", wanted_resolution, "give a positive number")
        lower, upper = self.interval(alpha)
        resolution = upper - lower
        found = f"[{lower:.5g}, {upper:.5g}]"
        if claimed < lower or claimed > upper:
            return Decision(Outcome.REJECTED, resolution, f"{claimed:.5g} lies outside {found}")
        if not math.isfinite(resolution):
            causes = (*self.doubts, *(() if self.asymptotic else self.warnings), "too skewed for an error so small")
            return Decision(Outcome.UNDECIDED, resolution, causes[0])
        if resolution > wanted_resolution:
            return Decision(Outcome.UNDECIDED, resolution, f"{found} is wider than the wanted resolution")
        return Decision(Outcome.CONSISTENT, resolution, f"{claimed:.5g} lies inside {found}")


def fit_exponent(
    samples_by_size: Mapping[int, ArrayLike],
    *,
    statistic: Statistic = Statistic.MEAN,
    level: float = 0.5,
    correction: Correction = Correction.NONE,
) -> ExponentEstimate:
    """Fit `statistic ≈ C m^p` to samples of shape `(n,)`, `n ≥ 30`, one for each size `m > 0`, drawn independently.

    `level` is that of the quantile (QUANTILE only). At least three sizes, four with a correction.
    InvalidInput: too few sizes or observations, numbers that are not finite, a statistic that is not positive (its
    logarithm is needed: negate a negative mean, take absolute values for a quantile) or that never varies.

    >>> rng = np.random.default_rng(1)
    >>> fit = fit_exponent({m: rng.exponential(3 / m, size=4000) for m in (16, 32, 64, 128, 256)})
    >>> fit.decide(-1.0, wanted_resolution=0.5).outcome, fit.decide(-0.5).outcome
    (<Outcome.CONSISTENT: 'consistent'>, <Outcome.REJECTED: 'rejected'>)
    """
    if not all(isinstance(size, Real) for size in samples_by_size):
        raise InvalidInput("sizes", list(samples_by_size), "give numbers")
    sizes = sorted(samples_by_size)
    terms = 2 + correction.value
    if len(sizes) <= terms:
        raise InvalidInput("number of sizes", len(sizes), f"give samples at {terms + 1} or more sizes")
    m = np.asarray(sizes, dtype=np.float64)
    if not (np.isfinite(m).all() and (m > 0).all()):
        raise InvalidInput("sizes", sizes, "give finite positive sizes")
    if not 0 < level < 1:
        raise InvalidInput("level", level, "give a quantile level between 0 and 1")
    measured = [_measure(size, samples_by_size[size], statistic, level) for size in sizes]
    y = np.array([x.logarithm for x in measured])
    errors = np.array([x.standard_error for x in measured])

    design = np.column_stack([np.ones_like(m), np.log(m), *(1 / m**k for k in range(1, correction.value + 1))])
    contrasts = _contrasts(design, errors)
    coefficients = contrasts @ y
    slope = contrasts[1]
    variances = (slope * errors) ** 2
    free = len(sizes) - terms
    chi_square = float((((y - design @ coefficients) / errors) ** 2).sum())
    fit_p_value = float(scipy.special.chdtrc(free, chi_square))
    curvature, curvature_p_value = _curvature(design, m, y, errors)

    doubts = [
        f"size {x:g}: the {statistic.value} is known to {error:.0%} only; take more observations"
        for x, error in zip(sizes, errors, strict=True)
        if error > LARGEST_RELATIVE_ERROR
    ]
    share = float((variances * [x.largest_share for x in measured]).max() / variances.sum())
    if share > LARGEST_SHARE:
        doubts.append(f"heavy tail: one observation holds {share:.0%} of the exponent's variance; use a quantile")
    warnings = []
    if curvature_p_value < SIGNIFICANT:
        significance = f"curvature {curvature:.2g} in the log of the size, p = {curvature_p_value:.1g}"
        warnings.append(f"the sizes are not asymptotic ({significance}): take larger ones, or fit a correction")
    if fit_p_value < SIGNIFICANT:
        warnings.append(f"the sizes scatter about the power law by more than their errors (p = {fit_p_value:.1g})")
    return ExponentEstimate(
        exponent=float(coefficients[1]),
        standard_error=math.sqrt(variances.sum() * max(1.0, chi_square / free)),
        systematic=_systematic(design, m, y, errors, correction.value + 1),
        intercept=float(coefficients[0]),
        correction=float(coefficients[2]) if correction.value else 0.0,
        degrees_of_freedom=float(
            variances.sum() ** 2 / (variances**2 / [x.degrees_of_freedom for x in measured]).sum()
        ),
        skewness=float(((slope * errors) ** 3 @ [x.skewness for x in measured]) / variances.sum() ** 1.5),
        fit_p_value=fit_p_value,
        curvature=curvature,
        curvature_p_value=curvature_p_value,
        sizes=tuple(map(float, sizes)),
        doubts=tuple(doubts),
        warnings=tuple(warnings),
    )


def _contrasts(design: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix `K` with weighted least-squares coefficients `K y`."""
    q, r = np.linalg.qr(design / errors[:, None])
    return np.linalg.solve(r, q.T) / errors


def _curvature(
    design: NDArray[np.float64], m: NDArray[np.float64], y: NDArray[np.float64], errors: NDArray[np.float64]
) -> tuple[float, float]:
    """Coefficient of an added `(log m)²`, and the probability of a larger one if the fitted law were exact."""
    contrast = _contrasts(np.column_stack([design, np.log(m) ** 2]), errors)[-1]
    value = float(contrast @ y)
    return value, float(scipy.special.chdtrc(1, value**2 / ((contrast * errors) ** 2).sum()))


def _systematic(
    design: NDArray[np.float64],
    m: NDArray[np.float64],
    y: NDArray[np.float64],
    errors: NDArray[np.float64],
    power: int,
) -> float:
    """Bias of the exponent if its drift without the smallest size came from a neglected term in `1/m^power`."""
    neglected = (m[0] / m) ** power
    slope, slope_without = _contrasts(design, errors)[1], _contrasts(design[1:], errors[1:])[1]
    drift = slope @ y - slope_without @ y[1:]
    bias, bias_without = slope @ neglected, slope_without @ neglected[1:]
    if bias == bias_without:  # the smallest size has no weight, so the drift says nothing
        return math.inf
    return abs(float(drift * bias / (bias - bias_without)))


@dataclass(frozen=True)
class _Measurement:
    logarithm: float
    standard_error: float
    degrees_of_freedom: float
    skewness: float
    largest_share: float  # of one observation in the squared standard error


def _measure(size: float, sample: ArrayLike, statistic: Statistic, level: float) -> _Measurement:
    name = f"samples_by_size[{size:g}]"
    x = observations(sample, 1, name)[:, 0]
    needed = SMALLEST_SAMPLE * (SMALLEST_BLOCK if statistic is Statistic.MEDIAN_OF_MEANS else 1)
    if x.size < needed:
        raise InvalidInput(f"{name}.size", x.size, f"give at least {needed} observations")
    unit = float(np.abs(x).max())
    if unit == 0:
        raise InvalidInput(name, 0.0, "the statistic is zero at this size, its logarithm does not exist")
    x = x / unit  # squares neither overflow nor vanish
    if statistic is Statistic.QUANTILE:
        found = _order_statistics(name, x, level)
    elif statistic is Statistic.MEDIAN_OF_MEANS:
        blocks = max(SMALLEST_SAMPLE, math.isqrt(x.size))
        length = x.size // blocks
        found = _order_statistics(name, x[: blocks * length].reshape(blocks, length).mean(axis=1), 0.5)
    else:
        found = _delta_method(name, x, statistic)
    return replace(found, logarithm=found.logarithm + math.log(unit))


def _delta_method(name: str, x: NDArray[np.float64], statistic: Statistic) -> _Measurement:
    n = x.size
    # Each statistic is a mean of `terms`, or the root of one (degree 2).
    degree = 1 if statistic is Statistic.MEAN else 2
    terms = (x - x.mean() if statistic is Statistic.STANDARD_DEVIATION else x) ** degree
    mean = float(terms.mean())
    if not mean > 0:
        raise InvalidInput(name, mean, f"the {statistic.value} must be positive to have a logarithm")
    influence = (terms / mean - 1) / degree
    power = {k: float((influence**k).sum()) for k in (2, 3, 4)}
    error = math.sqrt(power[2] / n / (n - 1))
    if not error > 1e-12:
        raise InvalidInput(name, mean, "the observations do not vary: there is no standard error to weigh them by")
    kurtosis = n * power[4] / power[2] ** 2
    return _Measurement(
        math.log(mean) / degree,
        error,
        min(n - 1.0, 2 * n / max(kurtosis - 1, 1e-9)),
        power[3] / power[2] ** 1.5 - 1.5 * degree * error,
        float((influence**2).max()) / power[2],
    )


def _order_statistics(name: str, x: NDArray[np.float64], level: float) -> _Measurement:
    n = x.size
    deviation = math.sqrt(n * level * (1 - level))
    low = math.floor(n * level - RANK_DEVIATIONS * deviation)
    high = math.ceil(n * level + RANK_DEVIATIONS * deviation) - 1
    if low < 0 or high >= n:
        raise InvalidInput("level", level, f"too extreme a quantile for {n} observations")
    ordered = np.sort(x)
    if not ordered[low] > 0:
        raise InvalidInput(name, float(ordered[low]), "the observations about the quantile must be positive")
    error = math.log(ordered[high] / ordered[low]) * deviation / (high - low)
    if not error > 1e-12:
        raise InvalidInput(name, float(ordered[low]), "the observations about the quantile do not vary")
    # The gap is a sum of k = high − low nearly exponential spacings: its square varies as a χ²_{k/2}.
    return _Measurement(math.log(np.quantile(ordered, level)), error, (high - low) / 2, 0.0, 0.0)
