r"""The expected test loss of full gradient descent in linear networks after any number of steps, with right digits.

The networks are those of `theory/linear_networks.py`, from orthogonal weights, without noise; the loss of a run is a
function `F` of an angle `φ ∈ [0, π]`, by the recursions of `numerics/layerwise_recursions.py`:

    two layers     E loss = ((h − 1)/(πh)) ∫_0^π F dφ + (F(0) + F(π))/(2h)            (traces of `theory/haar.py`);
    three layers   E loss = ∫_0^π F sin^{h−2}φ dφ / ∫_0^π sin^{h−2}φ dφ,  h >= 2      (`τ = cos φ` on the sphere);
                   E loss = (F(0) + F(π))/2,                              h = 1.

`F` is a polynomial in `cos φ` of a degree like `3ᵗ`. Up to `EXACT_STEPS`, with rational rates, it is written out and
averaged exactly. Beyond, the range of `φ` is cut adaptively, and on each piece the recursion runs in Taylor models
(`numerics/taylor_models.py`), which the integral of is a ball. Dual numbers give the derivatives by the rates.

**What cannot be had.** A run that diverges has a loss like `C^{3ᵗ}`. Where a certified lower bound of the expectation
exceeds `LARGEST_LOSS`, `Divergent` is raised, even if the runs to blame are of tiny probability: with three layers and
many steps they soon decide the expectation. Where neighbouring angles part company exponentially fast without
diverging, the pieces become too many, and `Undecidable` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb, prod
from typing import Any

from flint import arb, arb_poly, ctx, fmpq, fmpq_poly
from sympy import Expr

from theory.errors import InvalidInput, LimesError, Undecidable

from .balls import ball, precision
from .certify import DEFAULT_DIGITS, Value, certify
from .dual_numbers import Dual
from .evaluate import enclose
from .exact import exact_number
from .layerwise_recursions import three_layers, two_layers
from .taylor_models import TaylorModel, TooWide, circle

EXACT_STEPS = 4
LARGEST_WIDTH = 10**9
MOST_STEPS = 1000
MOST_PIECES = 600
LARGEST_LOSS = 10**100
ORDER = 64  # of the Taylor models
STEEPEST = 10**5  # slope of the loss, relative to its size over the range of the angle
SAMPLES = 32  # angles at which the size of the loss is estimated, and divergence looked for


class Divergent(LimesError):
    """The expected loss exceeds `LARGEST_LOSS`: runs diverge, with certainty or with a tiny probability."""

    def __init__(self, subject: str) -> None:
        """Say that the loss called `subject` diverges.

        >>> print(Divergent("two-layer-full at h = 2"))
        two-layer-full at h = 2: divergent, the expected loss is certainly greater than 1e100
        """
        super().__init__(f"{subject}: divergent, the expected loss is certainly greater than 1e100")


@dataclass(frozen=True)
class _Law:
    """The mean of `F` is `density ∫_0^π F sin^power φ dφ + ends (F(0) + F(π))`; balls at the working precision."""

    density: arb
    power: int
    ends: arb


def _law(layers: int, h: int) -> _Law:
    if layers == 2:
        return _Law((arb(h) - 1) / (h * arb.pi()), 0, 1 / arb(2 * h))
    if h == 1:
        return _Law(arb(0), 0, 1 / arb(2))
    half = arb(h) / 2
    return _Law(half.gamma() / ((half - arb(1) / 2).gamma() * arb.pi().sqrt()), h - 2, arb(0))


def _moments(layers: int, h: int, count: int) -> list[Fraction]:
    """The means of the powers `0, 2, 4, …` of `cos φ/√h` under this law."""
    if layers == 2:
        return [(Fraction((h - 1) * comb(2 * k, k), 4**k) + 1) / h ** (k + 1) for k in range(count)]
    return [Fraction(prod(2 * j + 1 for j in range(k)), prod(h * (h + 2 * j) for j in range(k))) for k in range(count)]


@dataclass(frozen=True)
class _Problem:
    """A network, its width, exact rates, and the number of steps."""

    layers: int
    h: int
    eta1: Expr
    eta2: Expr
    steps: int

    def __str__(self) -> str:
        return f"{self.layers} layers, h = {self.h}, eta1 = {self.eta1}, eta2 = {self.eta2}, t = {self.steps}"

    def loss(self, variable: Any, h: Any, eta1: Any, eta2: Any) -> tuple[Any, ...]:
        """`F` and its derivatives by the rates, if these are dual numbers, else `F` alone."""
        found = (two_layers if self.layers == 2 else three_layers)(variable, h, eta1, eta2, self.steps)
        return (found.value, *found.slopes) if isinstance(found, Dual) else (found,)

    @property
    def exact(self) -> bool:
        return self.steps <= EXACT_STEPS and self.eta1.is_Rational and self.eta2.is_Rational

    def exact_means(self, derivatives: bool) -> list[Fraction]:
        """The means as rational numbers."""
        rates = [fmpq(int(rate.p), int(rate.q)) for rate in (self.eta1, self.eta2)]
        parts = self.loss(fmpq_poly([0, 1]), fmpq(self.h), *_rates(rates, derivatives))
        polynomials = [fmpq_poly([part]) if not isinstance(part, fmpq_poly) else part for part in parts]
        moments = _moments(self.layers, self.h, max(p.length() for p in polynomials) // 2 + 1)
        exact = [[Fraction(int(c.p), int(c.q)) for c in p.coeffs()[::2]] for p in polynomials]
        return [sum((c * m for c, m in zip(part, moments, strict=False)), Fraction(0)) for part in exact]

    def means(self, bits: int, derivatives: bool) -> list[arb]:
        """Balls of the means, with about `bits` right bits."""
        if self.exact:
            with precision(bits + 32):
                return [ball(mean) for mean in self.exact_means(derivatives)]
        with precision(bits + 2 * self.steps + 32):  # next to a saddle, errors grow by up to two bits in each step
            return _Integration(self, bits, derivatives).means()


def _rates(rates: list[Any], derivatives: bool) -> list[Any]:
    return [Dual(rates[0], (1, 0)), Dual(rates[1], (0, 1))] if derivatives else rates


class _Integration:
    """The means of a problem by integration, at the working precision of the caller."""

    def __init__(self, problem: _Problem, bits: int, derivatives: bool) -> None:
        self.problem, self.law = problem, _law(problem.layers, problem.h)
        self.rates = _rates([enclose(rate, {}) for rate in (problem.eta1, problem.eta2)], derivatives)
        self.h, self.root, self.pi = arb(problem.h), arb(problem.h).sqrt(), arb.pi()
        self.goals = [size * arb(2) ** -(bits + 8) for size in self.sizes()]

    def at(self, cosine: Any) -> tuple[Any, ...]:
        return self.problem.loss(cosine * (1 / self.root), self.h, *self.rates)

    def sizes(self) -> list[arb]:
        """Estimates of the means, from samples where the weight is; raises `Divergent`."""
        spread = self.pi / 2 if self.law.power == 0 else min(self.pi / 2, 8 / self.root)
        angles = [self.pi / 2 + spread * (2 * k + 1 - SAMPLES) / SAMPLES for k in range(SAMPLES)]
        for angle in angles:
            self.look_for_divergence(angle)
        samples = [self.at(angle.cos()) for angle in angles]
        self.look_for_chaos(angles, samples, spread)
        samples += [tuple(part * self.law.ends for part in self.at(arb(end))) for end in (1, -1)]
        return [sum((abs(part.mid()) for part in parts), arb(0)) for parts in zip(*samples, strict=True)]

    def look_for_chaos(self, angles: list[arb], samples: list[tuple[Any, ...]], spread: arb) -> None:
        """Raise `Undecidable` if the loss has a steep slope at half of the samples: the pieces would be too many."""
        close_by = arb(2) ** -(ctx.prec // 2)
        slopes = []
        for angle, sample in zip(angles, samples, strict=True):
            slope = (self.at((angle + close_by).cos())[0] - sample[0]) * spread / close_by
            slopes.append(abs(slope.mid()))
        sizes = [abs(sample[0].mid()) for sample in samples]
        if sorted(slopes)[SAMPLES // 2] > STEEPEST * max(sizes):
            raise Undecidable(str(self.problem), "runs are chaotic: their loss depends too finely on where they start")

    def look_for_divergence(self, angle: arb) -> None:
        """Raise `Divergent` if the angles very close to this one make the mean exceed `LARGEST_LOSS`."""
        with precision(8 * self.problem.steps + 2 * ctx.prec):
            width = arb(2) ** -(4 * self.problem.steps + 64)
            near = arb(angle.mid(), width)
            loss = self.at(near.cos())[0]
            weight = self.law.density * near.sin() ** self.law.power * 2 * width
            if loss.is_finite() and (loss * weight).lower() > LARGEST_LOSS:
                raise Divergent(str(self.problem))

    def means(self) -> list[arb]:
        ends = [arb(0)] * len(self.goals)
        if self.law.ends != 0:
            parts = zip(*(self.at(arb(end)) for end in (1, -1)), strict=True)
            ends = [self.law.ends * sum(part, arb(0)) for part in parts]
        if ends[0].is_finite() and ends[0].lower() > LARGEST_LOSS:
            raise Divergent(str(self.problem))
        if self.law.density == 0:
            return ends
        return [self.law.density * inside + end for inside, end in zip(self.integrals(), ends, strict=True)]

    def integrals(self) -> list[arb]:
        """`∫_0^π F sin^power φ dφ`, and the like for the derivatives, piece by piece; exact angles in units of `π`."""
        totals = [arb(0)] * len(self.goals)
        waiting, done = [(Fraction(1, 2), Fraction(1, 2))], 0
        while waiting:
            middle, half = waiting.pop()
            done += 1
            if done > MOST_PIECES:
                raise Undecidable(str(self.problem), "the loss of a run depends too finely on where it starts")
            parts = self.piece(middle, half)
            if parts is None:
                self.look_for_divergence(self.pi * ball(middle))
                waiting += [(middle + half / 2, half / 2), (middle - half / 2, half / 2)]
            else:
                totals = [total + part for total, part in zip(totals, parts, strict=True)]
        return totals

    def piece(self, middle: Fraction, half: Fraction) -> list[arb] | None:
        """The integrals over `(middle ± half) π`, or None if they are not known well enough."""
        angle, radius = self.pi * ball(middle), self.pi * ball(half)
        most = 2 * radius * self.largest_weight(middle, half)
        values = self.at((angle + arb(0, radius.upper())).cos())  # crude, but enough where there is hardly any weight
        crude = [arb(0, (most * value).abs_upper()) if value.is_finite() else arb.nan() for value in values]
        if all(map(self.good, crude, self.goals)):
            return crude
        cosine, sine = circle(angle, radius, ORDER)
        try:
            models = [_model(part) for part in self.at(cosine)]
            weight = sine**self.law.power
            parts = [radius * (model * weight).integral() for model in models]
        except TooWide:
            return None
        return parts if all(map(self.good, parts, self.goals)) else None

    def good(self, part: arb, goal: arb) -> bool:
        return bool(part.is_finite() and part.rad() * self.law.density <= goal)

    def largest_weight(self, middle: Fraction, half: Fraction) -> arb:
        """An upper bound of `sin^power φ` for the angles `(middle ± half) π`."""
        if abs(middle - Fraction(1, 2)) <= half:
            return arb(1)
        nearest = middle + half if middle < Fraction(1, 2) else middle - half
        return (self.pi * ball(nearest)).sin() ** self.law.power


def _model(part: Any) -> TaylorModel:
    return part if isinstance(part, TaylorModel) else TaylorModel(arb_poly([part]), ORDER)


def expected_loss(layers: int, h: Any, eta1: Any, eta2: Any, steps: Any, digits: int = DEFAULT_DIGITS) -> Value:
    """The expected test loss after `steps` steps of full gradient descent, to `digits` right digits.

    `layers` is 2 or 3 (`a`, `β` unit vectors), `1 <= h <= 10^9`, the rates are exact numbers `>= 0` (int, Fraction,
    SymPy constant, or float, which is the double it is), and `0 <= steps <= 1000`. Raises `InvalidInput` for anything
    else, `Divergent` and `Undecidable` as said at the head of this module.

    >>> print(expected_loss(2, 100, 500, 400, steps=64, digits=20))
    4.2762048150027898314e-105
    """
    problem = _problem(layers, h, eta1, eta2, steps)
    return certify(lambda: problem.means(ctx.prec, derivatives=False)[0], digits, subject=problem)


def gradient(
    layers: int, h: Any, eta1: Any, eta2: Any, steps: Any, digits: int = DEFAULT_DIGITS
) -> tuple[Value, Value]:
    """The derivatives of the expected loss by `η₁` and `η₂`; arguments and errors as for `expected_loss`.

    >>> print(*gradient(3, 10, 1, 2, steps=3, digits=10))
    -0.1205357653 -0.1297360446
    """
    problem = _problem(layers, h, eta1, eta2, steps)
    known: dict[int, list[arb]] = {}

    def slope(which: int) -> Value:
        def enclosure() -> arb:
            if ctx.prec not in known:
                known[ctx.prec] = problem.means(ctx.prec, derivatives=True)
            return known[ctx.prec][which]

        return certify(enclosure, digits, subject=f"derivative by eta{which}: {problem}")

    return slope(1), slope(2)


def exact_loss(layers: int, h: Any, eta1: Any, eta2: Any, steps: Any) -> Fraction:
    """The expected loss as a rational number, for rational rates and at most `EXACT_STEPS` steps.

    >>> exact_loss(2, 3, 0, 0, 0), exact_loss(3, 2, Fraction(1, 2), 1, 1)
    (Fraction(4, 3), Fraction(21, 64))
    """
    problem = _problem(layers, h, eta1, eta2, steps)
    if not problem.exact:
        raise InvalidInput("steps", steps, f"give rational rates and at most {EXACT_STEPS} steps, or ask for digits")
    return problem.exact_means(derivatives=False)[0]


def _problem(layers: Any, h: Any, eta1: Any, eta2: Any, steps: Any) -> _Problem:
    if layers not in (2, 3):
        raise InvalidInput("layers", layers, "give 2 or 3")
    width, count = _integer("h", h, 1, LARGEST_WIDTH), _integer("t", steps, 0, MOST_STEPS)
    rates = [exact_number(name, rate) for name, rate in (("eta1", eta1), ("eta2", eta2))]
    for name, rate in zip(("eta1", "eta2"), rates, strict=True):
        if rate.is_extended_nonnegative is not True:
            raise InvalidInput(name, str(rate), "give a learning rate >= 0")
    return _Problem(layers, width, rates[0], rates[1], count)


def _integer(name: str, value: Any, least: int, most: int) -> int:
    exact = exact_number(name, value)
    if not exact.is_Integer or isinstance(value, float) or not least <= exact <= most:
        raise InvalidInput(name, str(value), f"give an integer from {least} to {most}")
    return int(exact)


def _at(layers: int, at: Mapping[str, Any], bits: int) -> arb:
    return _problem(layers, at["h"], at["eta1"], at["eta2"], at["t"]).means(bits, derivatives=False)[0]


ALGORITHMS: dict[str, Callable[[Mapping[str, Any], int], arb]] = {
    "two-layer-full": partial(_at, 2),
    "three-layer-full": partial(_at, 3),
}
"""By the name of the formula: `(at, bits)` to a ball, `at` giving exact `h`, `eta1`, `eta2`, `t`."""
