r"""Equal or unequal rates: is the balanced point a minimum of the loss under a budget?

Definition. Under the budget `η₁ + η₂ = 2x`, `x > 0`, the loss after a few steps is a function of `u = (η₁ − η₂)/2`.
It is even in `u` if it is symmetric in the rates, so that the balanced point `u = 0` is stationary, and it is a strict
local minimum if the coefficient of `u²` is positive, none if it is negative. That coefficient is the *curvature*, a
polynomial in `x` (and the variance `ρ >= 0` of the label noise) with coefficients rational in the width `h >= 1`.

**Wide networks.** With `x = h^α` and `ρ = size · h^(−decay)` the curvature is, up to a positive factor, a finite sum of
powers of `h` whose exponents are linear in `α` (`powers_of_width`). For large `h` its sign is that of the coefficient
of the largest exponent: where several exponents meet there, of the sum of theirs, and where that is zero, of the next.
`favourable_exponents` is the exact set of `α >= 0` for which it is positive; `scaled_curvature` says at which multiple
`c` of `h^α` it changes its sign. Single widths are in `numerics/balance.py`, other splits in `theory/allocation.py`.

Source: arXiv:2606.00340 (B), Corollary 5.4, for the signal-only loss of two and three layers. Departures: here also for
full gradient descent, with label noise and from Gaussian weights, where the answers are others.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import ClassVar

from sympy import (
    Expr,
    Interval,
    Limit,
    Poly,
    Range,
    Rational,
    S,
    Set,
    Symbol,
    Union,
    cancel,
    degree,
    diff,
    factor,
    fraction,
    ilcm,
    oo,
    powsimp,
    sqrt,
)

from .derivation import Derivation, How, Outcome, Relation
from .errors import InvalidInput
from .layerwise import Initialisation, Orthogonal, Updates, eta1, eta2, expected_loss, h, rho
from .notation import Meaning
from .reasons import LowestTerm, equal

x = Symbol("x", nonnegative=True)  # half the budget: the rate of both layers at the balanced point
u = Symbol("u", real=True)  # half the difference of the rates
c = Symbol("c", nonnegative=True)  # the rate in units of a power of the width
s = Symbol("s", positive=True)  # a root of 1/h


NOTATION = (
    Meaning(r"\mathcal L", r"the expected test loss as a function of the rates"),
    Meaning(r"x", r"half the sum of the rates, $u$ half their difference"),
    Meaning(r"L", r"the loss"),
)


@dataclass(frozen=True)
class LabelNoise:
    """Label noise of the variance `ρ = size · h^(−decay)`; both are rational, `size >= 0`."""

    size: Fraction | int = 0
    decay: Fraction | int = 0

    def __post_init__(self) -> None:
        for name, value in (("size", self.size), ("decay", self.decay)):
            if isinstance(value, bool) or not isinstance(value, int | Fraction):
                raise InvalidInput(name, value, "give an int or a Fraction")
        if self.size < 0:
            raise InvalidInput("size", self.size, "give a variance >= 0")


NOISELESS = LabelNoise()


@dataclass(frozen=True)
class CoefficientOfSquare:
    """`after` is the coefficient of `u²` in `before`, an even polynomial in `u`."""

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        even = equal(before.subs(u, -u), before)
        if not even.proved:
            return Outcome(even.how, "the loss is not symmetric in the rates")
        return equal(diff(before, u, 2).subs(u, 0) / 2, after)


@cache
def curvature(
    layers: int = 2,
    steps: int = 2,
    updates: Updates = Updates.SIGNAL,
    initialisation: Initialisation = Orthogonal(),  # noqa: B008  (immutable)
    noise: Expr | int = 0,
) -> Derivation:
    """The coefficient of `u²` in the loss at `η₁ = x + u`, `η₂ = x − u`; `noise` is 0, or `rho` for any variance.

    >>> curvature(steps=1).conclusion
    -2*(h**2 + x**2)/h**7
    """
    loss = expected_loss(layers, steps, updates, initialisation, noise)
    along = loss.conclusion.subs({eta1: x + u, eta2: x - u}, simultaneous=True)
    d = Derivation(
        along,
        r"\mathcal L(x + u,\, x - u)",
        {h: Range(1, oo), x: Interval(0, oo), u: Interval(-1, 1), **({rho: Interval(0, oo)} if noise != 0 else {})},
        f"The balanced point of {layers} layers after {steps} steps, {updates.value}",
        where=NOTATION,
    )
    return d.then(
        factor(diff(along, u, 2).subs(u, S.Zero) / 2),
        because="the coefficient of $u^2$; the loss is even in $u$",
        reason=CoefficientOfSquare(),
        relation=Relation.DECIDES,
        using=(loss,),
    )


@dataclass(frozen=True)
class Power:
    """`coefficient · h^(constant + slope · α)`."""

    coefficient: Fraction
    constant: Fraction
    slope: int

    def exponent(self, alpha: Fraction) -> Fraction:
        """The power of `h` at this `α`."""
        return self.constant + self.slope * alpha


@cache
def powers_of_width(
    layers: int = 2,
    steps: int = 2,
    updates: Updates = Updates.SIGNAL,
    initialisation: Initialisation = Orthogonal(),  # noqa: B008  (immutable)
    noise: LabelNoise = NOISELESS,
) -> tuple[Power, ...]:
    """The curvature at `x = h^α`, times a product of factors `h` and `h + k`, `k > 0`, as a sum of powers of `h`.

    >>> powers_of_width(steps=1)
    (Power(coefficient=Fraction(-2, 1), constant=Fraction(2, 1), slope=0),
     Power(coefficient=Fraction(-2, 1), constant=Fraction(0, 1), slope=2))
    """
    variance = rho if noise.size else 0
    numerator, denominator = _over_common(layers, steps, updates, initialisation, variance)
    assert all(value > 0 for value in Poly(denominator, h).coeffs()), "it is a product of h and h + k"
    found: dict[tuple[int, Fraction], Fraction] = defaultdict(Fraction)
    for (i, j, k), value in numerator.terms():
        found[j, i - noise.decay * Fraction(k)] += Fraction(int(value.p), int(value.q)) * Fraction(noise.size) ** k
    return tuple(Power(value, constant, slope) for (slope, constant), value in sorted(found.items()) if value)


@cache
def _over_common(
    layers: int, steps: int, updates: Updates, initialisation: Initialisation, noise: Expr | int
) -> tuple[Poly, Expr]:
    """The curvature as a polynomial in `h`, `x`, `ρ`, over a common denominator."""
    numerator, denominator = fraction(curvature(layers, steps, updates, initialisation, noise).conclusion.together())
    return Poly(numerator, h, x, rho), denominator


def by_exponent(powers: tuple[Power, ...], alpha: Fraction) -> dict[Fraction, Fraction]:
    """The coefficients of the powers of `h` that are left at this `α`, by their exponents, the largest first."""
    found: dict[Fraction, Fraction] = defaultdict(Fraction)
    for power in powers:
        found[power.exponent(alpha)] += power.coefficient
    return {exponent: found[exponent] for exponent in sorted(found, reverse=True) if found[exponent]}


@cache
def favourable_exponents(
    layers: int = 2,
    steps: int = 2,
    updates: Updates = Updates.SIGNAL,
    initialisation: Initialisation = Orthogonal(),  # noqa: B008  (immutable)
    noise: LabelNoise = NOISELESS,
) -> Set:
    """All real `α >= 0` for which equal rates `h^α` are a strict local minimum under their budget, for all large `h`.

    The largest exponent is a convex, piecewise linear function of `α` (its pieces are the sides of a Newton polygon);
    between neighbouring corners one power leads.

    >>> favourable_exponents(), favourable_exponents(layers=3)
    (Interval(1, 8/5), Interval.Ropen(0, 2/3))
    """
    powers = powers_of_width(layers, steps, updates, initialisation, noise)
    highest = {power.slope: power for power in powers}.values()  # of each slope the one with the largest constant
    marks = {Fraction(0)}
    for one, other in combinations(highest, 2):
        marks.add((one.constant - other.constant) / (other.slope - one.slope))
    ordered = sorted(mark for mark in marks if mark >= 0)
    found: list[Set] = []
    for left, right in pairwise([*ordered, ordered[-1] + 2]):
        end = oo if right > ordered[-1] else _rational(right)
        if _leading(powers, left) > 0:
            found.append(Interval(_rational(left), _rational(left)))
        if _leading(powers, (left + right) / 2) > 0:
            found.append(Interval.open(_rational(left), end))
    return Union(*found)


def _leading(powers: tuple[Power, ...], alpha: Fraction) -> Fraction:
    return next(iter(by_exponent(powers, alpha).values()), Fraction(0))


def _rational(number: Fraction) -> Rational:
    return Rational(number.numerator, number.denominator)


def never_balanced(variance: Fraction | int) -> bool:
    """Whether label noise of this variance or more leaves no balanced minimum to two signal-only steps of two layers.

    True is a proof: for every `h >= 1`, `x >= 0` and `ρ >= variance` the curvature is negative. With `h = 1 + k` and
    `ρ = variance + r` it is `−(a_0 − a_1 x + a_2 x² + …)` over a positive number, where `a_0`, `a_2, a_3, …` and
    `4 a_0 a_2 − a_1²` are polynomials in `k` and `r` with positive coefficients.

    >>> never_balanced(Fraction(1, 7)), never_balanced(Fraction(1, 10))
    (True, False)
    """
    numerator, _ = _over_common(2, 2, Updates.SIGNAL, Orthogonal(), rho)
    k, r = Symbol("k", nonnegative=True), Symbol("r", nonnegative=True)
    least = _rational(Fraction(LabelNoise(variance).size))
    hill = Poly(-numerator.as_expr().subs({rho: least + r, h: 1 + k}, simultaneous=True), x)
    constant, slope, square, *others = reversed(hill.all_coeffs())
    margins = (constant, square, *(other for other in others if other != 0), 4 * constant * square - slope**2)
    return all(value > 0 for margin in margins for value in Poly(margin, k, r).coeffs())


@dataclass(frozen=True)
class InPowersOfWidth:
    """`lim_{h→∞} F(h) = lim_{s→0+} F(s^(−root))`; the limit along all real `h` is the one along the integers."""

    root: int

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not (isinstance(before, Limit) and isinstance(after, Limit)):
            return Outcome(How.UNDECIDED, "expected two limits")
        if before.args[1:3] != (h, oo) or after.args[1:3] != (s, S.Zero) or str(after.args[3]) != "+":
            return Outcome(How.WRONG, "expected limits for h to infinity and for s to zero from the right")
        same = equal(before.args[0].subs(h, s**-self.root), after.args[0])
        return Outcome(How.LEMMA, "substitution") if same.proved else same


def _in_wide_networks(
    function: Expr, root: int, name: str, extra: dict[Symbol, Set], title: str, using: Derivation
) -> Derivation:
    """The limit of `function`, a polynomial in `h^(−1/root)` over factors `1 + k/h`, as `h → ∞`."""
    in_s = cancel(powsimp(function.subs(h, s**-root), force=True))
    d = Derivation(Limit(function, h, oo), name, {c: Interval(0, oo), **extra}, title, where=NOTATION)
    d = d.then(
        Limit(in_s, s, 0),
        because=f"$h = s^{{-{root}}}$",
        reason=InPowersOfWidth(root),
        using=(using,),
    )
    return d.then(in_s.subs(s, 0), because="it is analytic at $s = 0$", reason=LowestTerm(0))


@cache
def scaled_curvature(
    layers: int, steps: int, updates: Updates, exponent: Rational, decay: Rational | None = None
) -> Derivation:
    r"""The leading coefficient, for `h → ∞`, of the curvature at the rates `x = c h^exponent`, a polynomial in `c`.

    Without label noise, or with the variance `ρ h^(−decay)`, where `ρ` is then a constant.

    >>> scaled_curvature(2, 2, Updates.SIGNAL, Rational(1)).conclusion
    8*c - 4
    >>> scaled_curvature(2, 2, Updates.SIGNAL, Rational(8, 5)).conclusion
    -4*c**6 + 8*c
    """
    noise = 0 if decay is None else rho
    found = curvature(layers, steps, updates, noise=noise)
    numerator, denominator = _over_common(layers, steps, updates, Orthogonal(), noise)
    falls = Rational(0) if decay is None else decay
    order = degree(denominator, h) - max(i + exponent * j - falls * k for i, j, k in numerator.monoms())
    at = found.conclusion.subs({x: c * h**exponent, rho: rho * h**-falls}, simultaneous=True)
    scale = f"h^{{{exponent}}}"
    return _in_wide_networks(
        h**order * at,
        ilcm(exponent.q, order.q, falls.q),
        rf"\lim_{{h\to\infty}} \frac{{h^{{{order}}}}}{{2}}\, \partial_u^2 \mathcal L(c {scale} + u, c {scale} - u)",
        {} if decay is None else {rho: Interval(0, oo)},
        f"The balanced point of {layers} wide layers at rates c {scale}, {steps} steps, {updates.value}",
        found,
    )


@cache
def scaled_loss(
    layers: int, exponent: Rational, order: Rational, steps: int = 1, updates: Updates = Updates.SIGNAL
) -> Derivation:
    r"""`lim h^order (L(x, x) − 1)` at equal rates `x = c h^exponent`; without the `− 1` for `order = 0`.

    After one signal-only step. Two layers, `exponent = 5/3`, `order = 1/3`: the gain and the interaction of the layers.
    Three layers, `exponent = 1`, `order = 0`: everything. Two layers, `exponent = 3/2`, `order = 1`, with the gain
    `4c/√h` added: the terms of order `1/h`, where the interaction `c⁴` comes in.

    >>> scaled_loss(2, Rational(3, 2), Rational(1)).conclusion
    c**4 + 4*c**2 + 1
    >>> scaled_loss(2, Rational(5, 3), Rational(1, 3)).conclusion
    c**4 - 4*c
    """
    loss = expected_loss(layers, steps, updates)
    rate = c * h**exponent
    start = S.Zero if order.is_zero else S.One
    gain = 4 * c / sqrt(h) if (layers, steps, exponent) == (2, 1, Rational(3, 2)) else S.Zero
    words = f" - {start}" + (r" + 4 c h^{-1/2}" if gain else "") if start else ""
    return _in_wide_networks(
        h**order * (loss.conclusion.subs({eta1: rate, eta2: rate}) - start + gain),
        ilcm(2, exponent.q, order.q),
        rf"\lim_{{h\to\infty}} h^{{{order}}}\,(\mathcal L(c h^{{{exponent}}}, c h^{{{exponent}}}){words})",
        {},
        f"{steps} step(s) of {updates.value}, {layers} layers at rates of order h^({exponent})",
        loss,
    )
