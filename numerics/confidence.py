r"""Confidence sequences for a mean: intervals `C_1, C_2, …` with `P(μ ∈ C_n for every n) ≥ 1 − α`.

One may look after every chunk and stop at will. `μ ∈ R^dimension` is the mean of independent, identically distributed
observations; each component gets the error `a = α/dimension` (union bound; components may depend on each other).
For observations in a known interval use `numerics.empirical_bernstein`, which is exact; this module is for unbounded
ones (kernel entries and products of outputs of random networks), where no finite-sample guarantee can exist
(Bahadur & Savage 1956: mass that was never seen may carry any mean).

**Boundary.** With `T = √n (x̄ − μ)/s`, `s² = Σ(x_i − x̄)²/(n − 1)`, and `g > 0`,

    M_n = (1 + ng)^{−1/2} [ (1 + T²/(n−1)) / (1 + T²/((n−1)(1 + ng))) ]^{n/2}

is for Gaussian observations a non-negative martingale with `M_1 = 1`, whatever μ and σ: the Student-t mixture
(Lai 1976; Wang & Ramdas, "Anytime-valid t-tests", 2024). So `M_n < 1/a` for all `n`, but for probability `a`. For
large `n` it is the Gaussian mixture of Robbins, the asymptotic confidence sequence of Waudby-Smith et al.,
"Time-uniform central limit theory" (2021); for small `n` it is wider, as not knowing σ demands.

**Price of not being Gaussian.** At `a = 1e−6` that boundary lies at `x ≈ 6`, where the central limit theorem is wrong
by factors: within 10⁵ observations the measured error is some 6 times the stated one for a lognormal law (σ = 1), and
of the order of 1000 times for a product `u₊²v₊²` of ReLU outputs. Blocks of observations do not help: the skewness of
a sum does not depend on how it is grouped. For the self-normalised sum `x = S/V`, `S = Σ(x_i − μ)`, `V² = Σ(x_i − μ)²`
(a monotone function of T), large deviations (Shao 1997; Jing, Shao & Wang 2003) give, with skewness γ and kurtosis κ,

    log P(S/V ≤ −x) − log P_Gaussian(S/V ≤ −x) ≈ γx³/(3√n) − (κ − 3)x⁴/(12n) .

The cubic term is the danger; the quartic one hurts only when `κ < 3`, by at most `x⁴/(6n)`. Both are paid for: the
boundary at `n` is taken at the error `a e^{−p}` with the *price* `p = |γ̂|x³/(3√n) + x⁴/(6n)`, which vanishes as `n`
grows, and so does its effect on the width.

**Trust.** A component's mean is not used (radius `inf`, decision undecided) while

- the sample is small for so high a boundary, `x² > n/10` (the expansion above is in `x/√n`);
- one observation holds more than 5 % of the sum of squares: the variance is not yet seen, or does not exist;
- the price exceeds 4, where the skewness itself is poorly known;
- it has never varied, unless it is declared deterministic: an output that is 0 so far (ReLU, small width) may be
  a rare event that has not happened yet.

`tests/numerics/test_confidence.py` measures the error at `α = 1e−6` itself, by importance sampling.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

from .decision import Decision, Outcome, decide, finite_vector
from .moments import Moments

LARGEST_SHARE = 0.05
LARGEST_PRICE = 4.0
LARGEST_RATE = 0.1  # of x²/n
PRICE_ITERATIONS = 12  # of the fixed point p = p(x(p)), which contracts wherever p is below its limit


class MeanSequence(ABC):
    """What the confidence sequences have in common; a subclass gives `update`, `count`, `mean`, `radius`, `reason`."""

    def __init__(self, alpha: float, dimension: int) -> None:
        if not 0 < alpha < 1:
            raise InvalidInput("alpha", alpha, "give an error probability between 0 and 1")
        if dimension != int(dimension) or dimension < 1:
            raise InvalidInput("dimension", dimension, "give an integer >= 1")
        self.alpha, self.dimension = float(alpha), int(dimension)

    @abstractmethod
    def update(self, chunk: ArrayLike) -> None:
        """Take in the next observations, shape `(k, dimension)`; nothing is changed if they are refused."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of observations so far."""

    @property
    @abstractmethod
    def mean(self) -> NDArray[np.float64]:
        """Centre of the interval, shape `(dimension,)`."""

    @property
    @abstractmethod
    def radius(self) -> NDArray[np.float64]:
        """Half-width, shape `(dimension,)`; `inf` where the sample cannot be trusted."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why the sample mean is not to be trusted; empty if it is."""

    @property
    def trustworthy(self) -> bool:
        """Whether every component's mean can be used."""
        return not self.reason

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends, each of shape `(dimension,)`."""
        return self.mean - self.radius, self.mean + self.radius

    def decide(
        self, target: ArrayLike, *, wanted_resolution: float = math.inf, scale: ArrayLike | None = None
    ) -> Decision:
        """Compare the claimed mean `target`, shape `(dimension,)`, with the interval as it is now.

        REJECTED may be final at any time: the probability that the true mean is ever rejected is at most `alpha`.
        The resolution is the largest over components of `2 radius_j/scale_j`: a claim wrong by more than that fraction
        of `scale_j`, in any one component, would have been rejected. `scale` defaults to `|target|`; give it where
        a target is 0, for which a relative error has no meaning.
        """
        claimed = finite_vector("target", target, self.dimension)
        size = np.abs(claimed) if scale is None else finite_vector("scale", scale, self.dimension)
        if (size < 0).any():
            raise InvalidInput("scale", scale, "give non-negative numbers")
        decision = decide(claimed, self.mean, self.radius, scale=size, wanted_resolution=wanted_resolution)
        if decision.outcome is Outcome.UNDECIDED and not self.trustworthy:
            return replace(decision, reason=self.reason)
        return decision


class ConfidenceSequence(MeanSequence):
    """Asymptotic confidence sequence for the mean of unbounded observations with finite variance (module docstring).

    `tuned_for` is the number of observations at which the interval is to be tight (it hardly matters within a factor
    10). `rounding` bounds the rounding error of an observation relative to the largest one seen; it is added to
    the radius, so that a quantity that is constant up to rounding is not told apart from its exact value.
    `deterministic`, a bool or one for each component, says which may be constant: a sample without spread (beyond
    rounding) then is the exact value, with radius `2 rounding |value|` or less, else it is not trusted.

    >>> sequence = ConfidenceSequence(alpha=1e-6)
    >>> sequence.update(np.random.default_rng(1).normal(loc=2, size=100))
    >>> sequence.decide(2.0).reason
    'component 0: 100 observations are too few for this alpha'
    >>> sequence.update(np.random.default_rng(2).normal(loc=2, size=50_000))
    >>> sequence.decide(2.0, wanted_resolution=0.05).outcome, sequence.decide(2.1).outcome
    (<Outcome.CONSISTENT: 'consistent'>, <Outcome.REJECTED: 'rejected'>)
    """

    def __init__(
        self,
        alpha: float = 1e-6,
        dimension: int = 1,
        *,
        tuned_for: int = 10_000,
        rounding: float = 1e-12,
        deterministic: ArrayLike = False,
    ) -> None:
        super().__init__(alpha, dimension)
        if not (tuned_for >= 1 and math.isfinite(tuned_for)):
            raise InvalidInput("tuned_for", tuned_for, "give a number of observations >= 1")
        if not 0 <= rounding < 1:
            raise InvalidInput("rounding", rounding, "give a relative rounding error in [0, 1)")
        self.tuned_for, self.rounding = int(tuned_for), float(rounding)
        declared = np.asarray(deterministic)
        if declared.dtype != np.bool_ or declared.shape not in ((), (self.dimension,)):
            raise InvalidInput("deterministic", deterministic, f"give a bool, or {self.dimension} of them")
        self.deterministic = np.broadcast_to(declared, (self.dimension,)).copy()
        self.moments = Moments.none(self.dimension)

    def update(self, chunk: ArrayLike) -> None:
        self.absorb(Moments.of(chunk, self.dimension))

    def absorb(self, moments: Moments) -> None:
        """Take in the moments of the next chunk; the same as `update` with the chunk itself."""
        self.moments = self.moments.merged(moments)

    @property
    def count(self) -> int:
        return self.moments.count

    @property
    def mean(self) -> NDArray[np.float64]:
        return self.moments.mean

    @property
    def radius(self) -> NDArray[np.float64]:
        return self._assess()[0]

    @property
    def reason(self) -> str:
        return self._assess()[1]

    def _assess(self) -> tuple[NDArray[np.float64], str]:
        m = self.moments
        if m.count < 2:
            return np.full(self.dimension, math.inf), f"{m.count} observations say nothing about the variance"
        allowance = self.rounding * np.maximum(np.abs(m.minimum), np.abs(m.maximum))
        spread = m.maximum - m.minimum
        constant = spread <= allowance
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            deviation = np.sqrt(m.second / m.count)
            skewness = np.where(constant, 0.0, m.third / m.count / deviation / deviation / deviation)
            share = np.where(constant, 0.0, np.maximum(m.maximum - m.mean, m.mean - m.minimum) ** 2 / m.second)
        threshold, rate, price = student_boundary(m.count, self.alpha / self.dimension, skewness, self.tuned_for)
        # Conditions are written so that NaN (an overflowed moment) is not trusted.
        doubts = [
            (~(rate <= LARGEST_RATE), f"{m.count} observations are too few for this alpha"),
            (constant & ~self.deterministic, "it has never varied, and is not declared deterministic"),
            (~(share <= LARGEST_SHARE), "heavy tail: one observation holds {share:.0%} of the sum of squares"),
            (~(price <= LARGEST_PRICE), "too skewed for this many observations: skewness {skewness:.3g}"),
        ]
        statistical = threshold * np.sqrt(m.second / (m.count - 1.0) / m.count)
        radius = np.where(constant, spread, statistical) + allowance
        reason = ""
        for doubt, text in doubts:
            if doubt.any():
                j = int(np.argmax(doubt))
                radius = np.where(doubt, math.inf, radius)
                reason = reason or f"component {j}: " + text.format(share=share[j], skewness=skewness[j])
        return radius, reason

    def to_state(self) -> dict[str, Any]:
        """Plain numbers and lists (JSON keeps them exactly); inverse of `from_state`."""
        options = {name: getattr(self, name) for name in ("alpha", "dimension", "tuned_for", "rounding")}
        options["deterministic"] = self.deterministic.tolist()
        return options | {"moments": self.moments.to_state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> ConfidenceSequence:
        """The sequence that `to_state` wrote down."""
        options = dict(state)
        moments = Moments.from_state(options.pop("moments"))
        sequence = cls(**options)
        sequence.moments = moments
        return sequence


def student_boundary(
    count: int, error: float, skewness: ArrayLike, tuned_for: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Boundary for `|T|` after `count ≥ 2` observations, with the rate `x²/count` and the price `p` paid for skewness.

    `skewness` may have any shape. Where the price has no solution it is returned as `inf` or above the limit of trust.
    """
    n = float(count)
    doubled = -2 * math.log(error)
    # Robbins' mixture is tightest at n = tuned_for with this precision (Waudby-Smith et al. 2021).
    g = (doubled + math.log1p(doubled)) / tuned_for
    cubic = np.abs(np.asarray(skewness, dtype=np.float64)) / (3 * math.sqrt(n))
    price, ratio, x = np.zeros_like(cubic), np.zeros_like(cubic), np.zeros_like(cubic)
    for _ in range(PRICE_ITERATIONS):
        # M_n = e^p/error solved for ratio = T²/(n − 1); the cap keeps a diverging price finite.
        logarithm = (math.log1p(n * g) + doubled + 2 * np.minimum(price, 2 * LARGEST_PRICE)) / n
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            ratio = np.expm1(logarithm) / -np.expm1(logarithm - math.log1p(n * g))
        ratio = np.where(logarithm < math.log1p(n * g), ratio, math.inf)
        x = np.sqrt(n / (1 + 1 / ratio))
        price = cubic * x**3 + x**4 / (6 * n)
    return np.sqrt(ratio * (n - 1)), x**2 / n, price


def count_needed(error: float, relative_deviation: float, *, alpha: float = 1e-6, skewness: float = 0.0) -> int:
    """Observations after which a claim wrong by the fraction `error` is rejected, but for probability `alpha`.

    `relative_deviation` is the standard deviation of an observation over the claimed mean. The answer is for a sequence
    tuned for that count. It is the smallest `n` (up to 1 %) that is trusted and has a resolution of at most `error`.

    >>> count_needed(0.01, 1.0) < count_needed(0.01, 1.0, skewness=3.0) < count_needed(0.005, 1.0)
    True
    """
    for argument, value in (("error", error), ("relative_deviation", relative_deviation)):
        if not (value > 0 and math.isfinite(value)):
            raise InvalidInput(argument, value, "give a positive number")
    n = 2
    while n < 10**15:
        threshold, rate, price = student_boundary(n, alpha, skewness, n)
        trusted = rate <= LARGEST_RATE and price <= LARGEST_PRICE
        if trusted and 2 * threshold * relative_deviation / math.sqrt(n) <= error:
            return n
        n += max(1, n // 100)
    raise InvalidInput("error", error, "no affordable number of observations can resolve it")
