r"""Why one line of a derivation follows from the one before, and the check of it.

`Algebra`, `Antiderivative` and `LowestTerm` are settled by exact algebra. The limits of this project are limits of
sequences that are only known through a recursion, for which SymPy has no algorithm; two lemmas carry them all:

**Weighted Stolz–Cesàro.** Let `N_{L+1} = (1 − a_L) N_L + r_L` with `0 ≤ a_L < 1` for `L ≥ L₀`, and let `D_L > 0`
increase to infinity. If `r_L / (D_{L+1} − (1 − a_L) D_L) → c`, then `N_L / D_L → c`.
Proof: with `P_L = ∏_{L₀≤l<L} 1/(1 − a_l) ≥ 1`, the sequences `N_L P_L` and `D_L P_L` have the increments `r_L P_{L+1}`
and `(D_{L+1} − (1 − a_L) D_L) P_{L+1} > 0`, and `D_L P_L ≥ D_L → ∞`; apply Stolz–Cesàro to them. (`a ≡ 0` is the
classical lemma.) That `a_L < 1` from some `L₀` on is seen from `a_L ≥ 0` and `a_L → 0`.

**Continuity.** If `F_L = G(x_L, y_L, …)` where every one of `x_L, y_L, …` tends to zero and `G`, which does not depend on
`L` otherwise, is a composition of elementary functions, each analytic at the value it takes at zero, then
`F_L → G(0, 0, …)`.

An equality shown here holds wherever both of its sides are defined. Nothing inexact is ever proved: a line with a
floating-point number in it stays undecided. What a reason takes from another derivation, that derivation must prove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from sympy import (
    Add,
    Basic,
    Derivative,
    Dummy,
    Expr,
    Float,
    Integer,
    Integral,
    Interval,
    Limit,
    Mul,
    Number,
    NumberSymbol,
    Pow,
    Product,
    Rational,
    S,
    Set,
    Subs,
    Sum,
    Symbol,
    acos,
    asin,
    cancel,
    cos,
    cosh,
    diff,
    erf,
    exp,
    expand,
    factor,
    factorial,
    limit,
    log,
    nan,
    oo,
    preorder_traversal,
    simplify,
    sin,
    sinh,
    solveset,
    together,
    trigsimp,
    zoo,
)
from sympy.calculus.util import continuous_domain
from sympy.core.function import AppliedUndef
from sympy.tensor.indexed import Indexed

from .derivation import Derivation, How, Outcome, Relation
from .timelimit import within

_Found = TypeVar("_Found")

_ENTIRE = (Add, Mul, Number, NumberSymbol, Symbol, exp, sin, cos, sinh, cosh)
_ELEMENTARY = (*_ENTIRE, Pow, log)
# SymPy would evaluate these while it simplifies, and not always rightly; nor may names be put inside them.
_UNEVALUATED = (Integral, Limit, Sum, Product, Derivative, Subs)

SECONDS = 20.0  # for one call into SymPy; what takes longer is undecided, not wrong


def attempt(call: Callable[[], _Found], seconds: float = SECONDS) -> _Found | None:
    """What SymPy finds within the time, or None: it raises errors of many kinds where it cannot tell."""
    try:
        return within(seconds, call)
    except Exception:
        return None


def vanishes(expression: Expr, seconds: float = SECONDS) -> bool | None:
    """Whether `expression` is zero: True by exact algebra, False if it is a non-zero number, None if not decided.

    Integrals, limits, sums, products and derivatives in it count as unknown numbers.

    >>> from sympy import cos, sin, symbols
    >>> x = symbols("x", real=True)
    >>> vanishes(sin(x) ** 2 + cos(x) ** 2 - 1), vanishes(Rational(1, 7)), vanishes(sin(x) - x)
    (True, False, None)
    >>> vanishes(Float(0.25) - Rational(1, 4)) is None
    True
    """
    if expression.has(Float, nan, zoo):
        return None
    if expression.is_zero:
        return True
    named = expression.xreplace({part: Dummy() for part in expression.atoms(*_UNEVALUATED)})
    for rewrite in (lambda e: e, expand, lambda e: cancel(together(e)), trigsimp, simplify):
        rewritten = attempt(lambda r=rewrite: r(named), seconds)
        if rewritten is not None and rewritten.is_zero:
            return True
        if rewritten is not None and rewritten.is_number and rewritten.is_zero is False:
            return False
    return None


def equal(left: Expr, right: Expr) -> Outcome:
    """The outcome of comparing two expressions by exact algebra."""
    match vanishes(left - right):
        case True:
            return Outcome(How.ALGEBRA)
        case False:
            return Outcome(How.WRONG, f"the two sides differ by {left - right}")
        case None:
            return Outcome(How.UNDECIDED, "SymPy did not reduce the difference to zero")


def positive_on(expression: Expr, symbol: Symbol, interval: Interval) -> bool:
    """Whether `expression` is continuous on `interval`, without zeros, and positive at a point of it.

    False also when SymPy cannot tell. The assumptions on `symbol` do not enter.

    >>> from sympy import pi, sin, tan, symbols
    >>> x = symbols("x", real=True)
    >>> positive_on(x * sin(x), x, Interval.open(0, pi)), positive_on(x - 1, x, Interval.open(0, pi))
    (True, False)
    >>> positive_on(tan(x), x, Interval.open(0, 2))  # it has a pole
    False
    """
    at = Dummy("x", real=True)
    expression = expression.subs(symbol, at)
    roots = [power for power in expression.atoms(Pow) if power.exp.is_integer is not True]
    if expression.has(Float) or not all(power.exp.is_Rational and power.exp.q == 2 for power in roots):
        return False
    if attempt(lambda: continuous_domain(expression, at, interval)) != interval:
        return False
    numerator, denominator = together(factor(expression)).as_numer_denom()
    for part in (*numerator.as_ordered_factors(), *denominator.as_ordered_factors()):
        zeros = attempt(lambda p=part: solveset(p, at, interval)) if part.has(at) else S.EmptySet
        if zeros is None or zeros.is_empty is not True:
            return False
    return bool(expression.subs(at, _inside(interval)).is_positive)


def _inside(interval: Interval) -> Expr:
    """A point in the interior of `interval`."""
    low, high = interval.inf, interval.sup
    if low.is_finite:
        return (low + high) / 2 if high.is_finite else low + 1
    return high - 1 if high.is_finite else Integer(0)


def shown(derivations: tuple[Derivation, ...]) -> Iterator[tuple[Expr, Expr]]:
    """The start and the conclusion of each of `derivations` in which every step between them is an equality, proved."""
    for derivation in derivations:
        checked = derivation.check()[: -1 if derivation.bound is not None else None]
        if all(link.step.relation is Relation.EQUALS and link.outcome.proved for link in checked):
            yield derivation.start, derivation.conclusion


@dataclass(frozen=True)
class Algebra:
    """Both lines are the same expression, by exact algebra.

    `given` are definitions put in first, `known` derivations whose start may be replaced by their conclusion. Sums and
    products with numbers for ends, and derivatives, are written out.
    """

    given: Mapping[Expr, Expr] = field(default_factory=dict)
    known: tuple[Derivation, ...] = ()

    def check(self, before: Expr, after: Expr) -> Outcome:
        for name, meaning in self.given.items():
            is_name = isinstance(name, Symbol | Indexed | AppliedUndef)
            if not is_name and vanishes((name - meaning).rewrite(exp)) is not True:
                return Outcome(How.UNDECIDED, f"{name} is not a name, and not seen to equal {meaning}")
        known = dict(shown(self.known))
        lines = (_written_out(line.xreplace(known).subs(self.given)) for line in (before, after))
        return equal(*lines)


def _written_out(line: Expr) -> Expr:
    def counted(part: Basic) -> bool:
        return isinstance(part, Sum | Product) and all(end.is_Integer for _, *ends in part.limits for end in ends)

    line = line.replace(counted, lambda part: part.doit())
    return line.replace(lambda part: isinstance(part, Derivative), lambda part: part.doit(deep=False))


@dataclass(frozen=True)
class Antiderivative:
    """`∫_a^b f dx = F(b) − F(a)`, where `F' = f` and `F` is continuous from `a` to `b`; the integral may have a factor."""

    function: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        integrals = before.atoms(Integral)
        if len(integrals) != 1:
            return Outcome(How.UNDECIDED, f"expected one integral in the line before, found {len(integrals)}")
        (integral,) = integrals
        if len(integral.limits) != 1 or len(integral.limits[0]) != 3:
            return Outcome(How.UNDECIDED, "expected an integral over one variable, between two ends")
        variable, *ends = integral.limits[0]
        derivative = equal(diff(self.function, variable), integral.function)
        if not derivative.proved:
            return derivative
        if not self._is_continuous(variable, ends):
            return Outcome(How.UNDECIDED, f"cannot see that {self.function} is continuous from {ends[0]} to {ends[1]}")
        lower, upper = (self._at(variable, end) for end in ends)
        if lower is None or upper is None:
            return Outcome(How.UNDECIDED, "the antiderivative at an infinite end is not known")
        return equal(before.xreplace({integral: upper - lower}), after)

    def _is_continuous(self, variable: Symbol, ends: list[Expr]) -> bool:
        """Whether every part of the antiderivative is continuous along the real line between the ends.

        The assumptions on the variable hold there if they are about its sign, and the ends are not beyond 0.
        """
        if variable.is_integer or (variable.is_nonnegative and not all(end.is_extended_nonnegative for end in ends)):
            return False
        return variable.is_negative is not True and all(
            self._part_is_continuous(part, variable, ends)
            for part in preorder_traversal(self.function)
            if part.has(variable)
        )

    def _part_is_continuous(self, part: Basic, variable: Symbol, ends: list[Expr]) -> bool:
        if isinstance(part, Pow | log):
            base, power = (part.base, part.exp) if isinstance(part, Pow) else (part.args[0], None)
            if power is not None and power.is_Integer and power.is_nonnegative:
                return True
            values = (base, *(base.subs(variable, end) for end in ends))
            return not (power is not None and power.has(variable)) and all(v.is_extended_positive for v in values)
        along_real_line = isinstance(part, asin | acos | erf) and part.args[0].is_extended_real
        return isinstance(part, _ENTIRE) or bool(along_real_line)

    def _at(self, variable: Symbol, end: Expr) -> Expr | None:
        if end.is_finite:
            return self.function.subs(variable, end)
        if self.function.free_symbols != {variable}:  # SymPy's limits with a parameter can miss cases
            return None
        return attempt(lambda: limit(self.function, variable, end))


@dataclass(frozen=True)
class LowestTerm:
    """`f(x)/x^n → f⁽ⁿ⁾(0)/n!` for `x → 0`: `f` is analytic at 0, and its derivatives below the n-th vanish there."""

    order: int

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Limit) or before.args[2] != 0:
            return Outcome(How.UNDECIDED, "the line before is not a limit at zero")
        quotient, variable = before.args[:2]
        function = quotient * variable**self.order
        if not analytic_at(function, {variable: S.Zero}):
            return Outcome(How.UNDECIDED, f"cannot see that {function} is analytic at zero")
        below, value = taylor_coefficients(function, variable, self.order)
        for coefficient in below:
            if vanishes(coefficient) is not True:
                return Outcome(How.UNDECIDED, "a lower derivative may not vanish at zero")
        return equal(value, after)


def taylor_coefficients(function: Expr, variable: Symbol, order: int) -> tuple[list[Expr], Expr]:
    """The Taylor coefficients of `function` at 0 below `order`, and the one of that order."""
    found = [diff(function, variable, k).subs(variable, 0) / factorial(k) for k in range(order + 1)]
    return found[:-1], found[-1]


def analytic_at(form: Expr, point: Mapping[Symbol, Expr]) -> bool:
    """Whether `form` is composed of elementary functions, each analytic at the value it takes at `point`.

    >>> from sympy import sqrt, symbols
    >>> x, y = symbols("x y")
    >>> analytic_at(sqrt(1 + x), {x: 0}), analytic_at(sqrt(x), {x: 0}), analytic_at(x**y, {x: 0, y: 0})
    (True, False, False)
    """
    return all(_part_is_analytic(part, point) for part in preorder_traversal(form))


def _part_is_analytic(part: Basic, point: Mapping[Symbol, Expr]) -> bool:
    if not isinstance(part, _ELEMENTARY) or isinstance(part, Float) or part.xreplace(point).is_finite is not True:
        return False
    if isinstance(part, log):
        return bool(part.args[0].xreplace(point).is_positive)
    if isinstance(part, Pow):  # a power with an integer for exponent is analytic where it is finite
        return part.exp.is_Integer or bool(part.base.xreplace(point).is_positive)
    return True


def tends_to_zero(sequence: Expr, along: Limit, using: tuple[Derivation, ...]) -> bool:
    """Whether `sequence` tends to zero as in the limit `along`, of which only the index, its end and its side matter.

    By SymPy's algorithm if it is an elementary function of the index alone; else if it is, up to a constant factor, what
    a derivation in `using` shows to tend to zero.
    """
    _, index, point, side = along.args
    for null in _null_sequences(index, point, side, tuple(shown(using))):
        if (sequence / null).is_number or vanishes(sequence - null) is True:
            return True
    if sequence.free_symbols != {index} or not _is_elementary(sequence):
        return False
    return attempt(lambda: limit(sequence, index, point, str(side))) == 0


def _is_elementary(line: Expr) -> bool:
    return not line.has(Float) and all(isinstance(part, _ELEMENTARY) for part in preorder_traversal(line))


def _null_sequences(index: Symbol, point: Expr, side: Symbol, known: tuple[tuple[Expr, Expr], ...]) -> Iterator[Expr]:
    """The distances to known limits: of a sequence, of the same one index later, or of a function along a sequence.

    The function has its limit from the right at zero; the sequence must tend to zero and be positive.
    """
    limits = [(*start.args, value) for start, value in known if isinstance(start, Limit) and value.is_finite]
    along = [(index, point, side)]
    positive = [line for line, *to, value in limits if to == list(*along) and value == 0 and line.is_positive]
    for line, variable, end, from_, value in limits:
        distance = line - value
        if distance == 0:
            continue
        if [(variable, end, from_)] == along:
            yield distance
            if point is oo:
                yield distance.subs(index, index + 1)
        elif end == 0 and str(from_) == "+" and index not in line.free_symbols:
            yield from (distance.subs(variable, sequence) for sequence in positive)


@dataclass(frozen=True)
class StolzCesaro:
    """`lim N_L/D_L = lim r_L/(D_{L+1} − (1 − a_L) D_L)`, by the weighted lemma at the head of this module.

    `recursion` defines the sequences: each at `L + 1` by its values at `L`. The `damping` `a_L` must be non-negative by
    the assumptions on its sequences, and tend to zero by a derivation in `using`.
    """

    index: Symbol
    numerator: Expr
    denominator: Expr
    recursion: Mapping[Expr, Expr]
    damping: Expr = S.Zero
    using: tuple[Derivation, ...] = ()

    def increments(self) -> Expr:
        """`r_L/(D_{L+1} − (1 − a_L) D_L)`, computed from the recursion."""
        kept = 1 - self.damping
        following = self.numerator.subs(self.index, self.index + 1).subs(self.recursion)
        remainder = expand(following - kept * self.numerator)
        return remainder / (self.denominator.subs(self.index, self.index + 1) - kept * self.denominator)

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit(self.numerator / self.denominator, self.index, oo):
            return Outcome(How.WRONG, "the line before is not the limit of numerator over denominator")
        if after.func is not Limit or after.args[1:] != before.args[1:]:
            return Outcome(How.WRONG, "the line is not a limit of the same kind")
        if vanishes(after.args[0] - self.increments()) is not True:
            return Outcome(How.WRONG, f"the increments give {self.increments()}")
        if not self._grows():
            return Outcome(How.UNDECIDED, f"cannot see that {self.denominator} increases to infinity")
        if not self._damps(before):
            return Outcome(How.UNDECIDED, f"cannot see that {self.damping} lies in [0, 1) from some index on")
        return Outcome(How.LEMMA, "weighted Stolz–Cesàro")

    def _grows(self) -> bool:
        if self.denominator.free_symbols != {self.index} or not _is_elementary(self.denominator):
            return False
        beyond = Symbol("beyond", positive=True)
        slope = diff(self.denominator, self.index).subs(self.index, 1 + beyond)
        value = self.denominator.subs(self.index, 1 + beyond)
        unbounded = attempt(lambda: limit(self.denominator, self.index, oo)) == oo
        return bool(self.index.is_integer and slope.is_positive and value.is_positive and unbounded)

    def _damps(self, along: Limit) -> bool:
        return self.damping == 0 or bool(
            self.damping.is_nonnegative and tends_to_zero(self.damping, along, self.using)
        )


@dataclass(frozen=True)
class Continuity:
    """`lim F_L = G(0, 0, …)` for `F_L = G(x_L, y_L, …)`, by the second lemma at the head of this module.

    `null` defines each argument of `form` (that is `G`) as a sequence; that it tends to zero is found by `tends_to_zero`.
    """

    form: Expr
    null: Mapping[Symbol, Expr]
    using: tuple[Derivation, ...] = ()

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Limit):
            return Outcome(How.UNDECIDED, "the line before is not a limit")
        sequence, index = before.args[:2]
        if index in self.form.free_symbols - set(self.null):
            return Outcome(How.UNDECIDED, f"{index} occurs in {self.form} by itself")
        rewriting = equal(self.form.xreplace(self.null), sequence)
        if not rewriting.proved:
            return Outcome(rewriting.how, f"the rewriting in null sequences: {rewriting.detail}")
        for name, definition in self.null.items():
            if not tends_to_zero(definition, before, self.using):
                return Outcome(How.UNDECIDED, f"cannot see that {name} = {definition} tends to zero")
        at_zero = dict.fromkeys(self.null, S.Zero)
        if not analytic_at(self.form, at_zero):
            return Outcome(How.UNDECIDED, f"{self.form} may not be continuous where the null sequences vanish")
        value = equal(self.form.xreplace(at_zero), after)
        return Outcome(How.LEMMA, "continuity") if value.proved else value
