r"""Why one line of a derivation follows from the one before, and the check of it.

`Algebra`, `Antiderivative` and `Substitution` are settled by exact algebra. The limits of this project are limits of
sequences that are only known through a recursion, for which SymPy has no algorithm; two lemmas carry them all:

**Weighted Stolz–Cesàro.** Let `N_{L+1} = (1 − a_L) N_L + r_L` with `0 ≤ a_L < 1` from some `L` on, and let `D_L > 0`
increase to infinity. If `r_L / (D_{L+1} − (1 − a_L) D_L) → c`, then `N_L / D_L → c`.
Proof: with `P_L = ∏_{l<L} 1/(1 − a_l) ≥ 1`, the sequences `N_L P_L` and `D_L P_L ↑ ∞` have the increments `r_L P_{L+1}`
and `(D_{L+1} − (1 − a_L) D_L) P_{L+1} > 0`; apply Stolz–Cesàro to them. (`a ≡ 0` is the classical lemma.)

**Continuity.** If `F_L = G(x_L, y_L, …)` where every one of `x_L, y_L, …` tends to zero and `G` is a composition of
elementary functions, each of them defined and continuous at the value it takes at zero, then `F_L → G(0, 0, …)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import (
    Add,
    Expr,
    Integral,
    Interval,
    Limit,
    Mul,
    Number,
    NumberSymbol,
    Pow,
    Rational,
    S,
    Set,
    Symbol,
    cancel,
    cos,
    diff,
    exp,
    expand,
    factor,
    limit,
    log,
    oo,
    preorder_traversal,
    simplify,
    sin,
    solveset,
    together,
    trigsimp,
)
from sympy.core.function import AppliedUndef
from sympy.tensor.indexed import Indexed

from .derivation import Derivation, How, Outcome
from .timelimit import within

# What `Continuity` accepts: continuous wherever they are finite.
_CONTINUOUS = (Add, Mul, Pow, Number, NumberSymbol, Symbol, exp, log, sin, cos)

SECONDS = 20.0  # for one call into SymPy; what takes longer is undecided, not wrong


def vanishes(expression: Expr, seconds: float = SECONDS) -> bool | None:
    """Whether `expression` is zero: True by exact algebra, False if it is a non-zero number, None if not decided.

    >>> from sympy import cos, sin, symbols
    >>> x = symbols("x", real=True)
    >>> vanishes(sin(x) ** 2 + cos(x) ** 2 - 1), vanishes(Rational(1, 7)), vanishes(sin(x) - x)
    (True, False, None)
    """
    for rewrite in (lambda e: e, expand, lambda e: cancel(together(e)), trigsimp, simplify):
        rewritten = within(seconds, lambda r=rewrite: r(expression))
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
            return Outcome(How.WRONG, f"the two sides differ by {simplify(left - right)}")
        case None:
            return Outcome(How.UNDECIDED, "SymPy did not reduce the difference to zero")


def positive_on(expression: Expr, symbol: Symbol, interval: Set) -> bool:
    """Whether every factor of `expression` is without zeros on `interval` and their product positive at a point of it.

    False also when SymPy cannot tell. The factors must be continuous there, as products of elementary functions are.

    >>> from sympy import pi, sin, symbols
    >>> x = symbols("x", real=True)
    >>> positive_on(x * sin(x), x, Interval.open(0, pi)), positive_on(x - 1, x, Interval.open(0, pi))
    (True, False)
    """
    numerator, denominator = together(factor(expression)).as_numer_denom()
    for part in (*numerator.as_ordered_factors(), *denominator.as_ordered_factors()):
        if not part.has(symbol):
            continue
        zeros = within(SECONDS, lambda p=part: solveset(p, symbol, interval))
        if zeros is None or zeros.is_empty is not True:
            return False
    inside = (interval.inf + interval.sup) / 2 if interval.sup.is_finite else interval.inf + 1
    return bool(expression.subs(symbol, inside).is_positive)


@dataclass(frozen=True)
class Algebra:
    """Both lines are the same expression, by exact algebra; `given` are definitions put in first."""

    given: Mapping[Expr, Expr] = field(default_factory=dict)

    def check(self, before: Expr, after: Expr) -> Outcome:
        return equal(before.subs(self.given).doit(), after.subs(self.given).doit())


@dataclass(frozen=True)
class Antiderivative:
    """`∫_a^b f dx = F(b) − F(a)`, where `F' = f` is checked by differentiating; the integral may have a factor."""

    function: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        integrals = before.atoms(Integral)
        if len(integrals) != 1:
            return Outcome(How.UNDECIDED, f"expected one integral in the line before, found {len(integrals)}")
        (integral,) = integrals
        if len(integral.limits) != 1:
            return Outcome(How.UNDECIDED, "expected an integral over one variable")
        variable, lower, upper = integral.limits[0]
        derivative = equal(diff(self.function, variable), integral.function)
        if not derivative.proved:
            return derivative
        ends = [
            self.function.subs(variable, end) if end.is_finite else within(SECONDS, lambda e=end: self._at(variable, e))
            for end in (lower, upper)
        ]
        if any(end is None for end in ends):
            return Outcome(How.UNDECIDED, "the antiderivative at an infinite end took too long")
        return equal(before.xreplace({integral: ends[1] - ends[0]}), after)

    def _at(self, variable: Symbol, end: Expr) -> Expr:
        return limit(self.function, variable, end)


@dataclass(frozen=True)
class StolzCesaro:
    """`lim N_L/D_L = lim r_L/(D_{L+1} − (1 − a_L) D_L)`, by the weighted lemma at the head of this module.

    `recursion` gives each sequence at `L + 1` by its values at `L`; `ranges` the interval in which each sequence that
    occurs in `a` lies from some `L` on. `a` must be linear in it.
    """

    index: Symbol
    numerator: Expr
    denominator: Expr
    recursion: Mapping[Expr, Expr]
    damping: Expr = S.Zero
    ranges: Mapping[Expr, Interval] = field(default_factory=dict)

    def increments(self) -> Expr:
        """`r_L/(D_{L+1} − (1 − a_L) D_L)`, computed from the recursion."""
        kept = 1 - self.damping
        following = self.numerator.subs(self.index, self.index + 1).subs(self.recursion)
        remainder = expand(following - kept * self.numerator)
        return remainder / (self.denominator.subs(self.index, self.index + 1) - kept * self.denominator)

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != Limit(self.numerator / self.denominator, self.index, oo, "-"):
            return Outcome(How.WRONG, "the line before is not the limit of numerator over denominator")
        if not isinstance(after, Limit) or vanishes(after.args[0] - self.increments()) is not True:
            return Outcome(How.WRONG, f"the increments give {self.increments()}")
        if not self._grows():
            return Outcome(How.UNDECIDED, f"cannot see that {self.denominator} increases to infinity")
        if not self._damps():
            return Outcome(How.UNDECIDED, f"cannot see that {self.damping} lies in [0, 1)")
        return Outcome(How.LEMMA, "weighted Stolz–Cesàro")

    def _grows(self) -> bool:
        beyond = Symbol("beyond", positive=True)
        slope = diff(self.denominator, self.index).subs(self.index, 1 + beyond)
        value = self.denominator.subs(self.index, 1 + beyond)
        return bool(slope.is_positive and value.is_positive and limit(self.denominator, self.index, oo) == oo)

    def _damps(self) -> bool:
        if self.damping == 0:
            return True
        ((sequence, interval),) = self.ranges.items()
        slope = diff(self.damping, sequence)
        ends = [self.damping.subs(sequence, end) for end in (interval.inf, interval.sup)]
        return bool(slope.is_number and all(end.is_nonnegative and (1 - end).is_positive for end in ends))


@dataclass(frozen=True)
class Continuity:
    """`lim F_L = G(0, 0, …)` for `F_L = G(x_L, y_L, …)`, by the second lemma at the head of this module.

    `null` defines each argument of `form` (that is `G`) as a sequence; that it tends to zero is found by SymPy where it
    is an explicit function of the index, and else by a derivation in `using` of the limit it is the distance to.
    """

    form: Expr
    null: Mapping[Symbol, Expr]
    using: tuple[Derivation, ...] = ()

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Limit):
            return Outcome(How.UNDECIDED, "the line before is not a limit")
        sequence, index, point = before.args[:3]
        rewriting = equal(self.form.subs(self.null), sequence)
        if not rewriting.proved:
            return Outcome(rewriting.how, f"the rewriting in null sequences: {rewriting.detail}")
        for name, definition in self.null.items():
            if not self._tends_to_zero(definition, index, point):
                return Outcome(How.UNDECIDED, f"cannot see that {name} = {definition} tends to zero")
        at_zero = dict.fromkeys(self.null, Rational(0))
        for part in preorder_traversal(self.form):
            if not isinstance(part, _CONTINUOUS) or part.subs(at_zero).is_finite is not True:
                return Outcome(How.UNDECIDED, f"{part} may not be continuous where the null sequences vanish")
        value = equal(self.form.subs(at_zero), after)
        return Outcome(How.LEMMA, "continuity") if value.proved else value

    def _tends_to_zero(self, definition: Expr, index: Symbol, point: Expr) -> bool:
        if any(vanishes(definition - distance) is True for distance in self._known_distances(index, point)):
            return True
        if definition.atoms(AppliedUndef, Indexed):
            return False
        return within(SECONDS, lambda: limit(definition, index, point)) == 0

    def _known_distances(self, index: Symbol, point: Expr) -> list[Expr]:
        """What `using` shows to tend to zero: a sequence, the same one index later, or along another such sequence."""
        limits = [(used.start.args, used.conclusion) for used in self.using if isinstance(used.start, Limit)]
        found: list[Expr] = []
        for (known, variable, where, *_), value in limits:
            if where == point and variable == index:
                found.append(known - value)
                if point is oo:
                    found.append((known - value).subs(index, index + 1))
            elif where == 0:
                found.extend(
                    (known - value).subs(variable, sequence)
                    for (sequence, along, end, *_), vanishing in limits
                    if vanishing == 0 and along == index and end == point
                )
        return found
