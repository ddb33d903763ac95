r"""Why one line of a derivation follows from the one before, and the check of it.

`Algebra`, `Antiderivative` and `LowestTerm` are settled by exact algebra. The limits of this project are limits of
sequences that are only known through a recursion, for which SymPy has no algorithm; two lemmas carry them all:

**Weighted Stolz–Cesàro.** Let `N_{L+1} = (1 − a_L) N_L + r_L` with `0 ≤ a_L < 1` for all `L ≥ L₀`, and let `D_L > 0`
increase to infinity. If `r_L / (D_{L+1} − (1 − a_L) D_L) → c`, then `N_L / D_L → c`.
Proof: with `P_L = ∏_{L₀ ≤ l < L} 1/(1 − a_l) ≥ 1`, the sequences `N_L P_L` and `D_L P_L ≥ D_L → ∞` have the increments
`r_L P_{L+1}` and `(D_{L+1} − (1 − a_L) D_L) P_{L+1} > 0`; apply Stolz–Cesàro to them. (`a ≡ 0` is the classical lemma.)
That `a_L < 1` from some `L₀` on follows from `a_L → 0`.

**Continuity.** If `F_L = G(x_L, y_L, …)` where every one of `x_L, y_L, …` tends to zero, and `G`, in which `L` does not
occur otherwise, is composed of elementary functions, each analytic at the value it takes at zero, then
`F_L → G(0, 0, …)`.

An equality holds wherever both of its sides are defined. What a reason takes from another derivation must be proved
there. That a recursion defines a sequence, or that a name stands for an expression, is a definition and not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sympy import (
    Basic,
    Derivative,
    Expr,
    Float,
    Integral,
    Limit,
    Product,
    S,
    Sum,
    Symbol,
    diff,
    exp,
    expand,
    limit,
    oo,
)
from sympy.core.function import AppliedUndef
from sympy.tensor.indexed import Indexed

from .algebra import analytic_at, attempt, continuous_between, is_exp_log, taylor_coefficient, vanishes
from .derivation import Derivation, How, Outcome, Relation


def equal(left: Expr, right: Expr) -> Outcome:
    """The outcome of comparing two expressions by exact algebra.

    >>> equal(Float(0.25), S.One / 4).how.name
    'UNDECIDED'
    """
    if left.has(Float) or right.has(Float):  # their difference may be free of them
        return Outcome(How.UNDECIDED, "a floating-point number is not exact")
    match vanishes(left - right):
        case True:
            return Outcome(How.ALGEBRA)
        case False:
            return Outcome(How.WRONG, f"the two sides differ by {left - right}")
        case None:
            return Outcome(How.UNDECIDED, "SymPy did not reduce the difference to zero")


def shown(derivations: tuple[Derivation, ...]) -> Iterator[tuple[Expr, Expr]]:
    """The start and the conclusion of each derivation that is a chain of equalities, every one of them proved.

    A bound at the end (`… > 0`) is no part of the chain.
    """
    for derivation in derivations:
        chain = derivation.check()[: None if derivation.bound is None else -1]
        if all(link.step.relation is Relation.EQUALS and link.outcome.proved for link in chain):
            yield derivation.start, derivation.conclusion


@dataclass(frozen=True)
class Algebra:
    """Both lines are the same expression, by exact algebra.

    `given` are definitions put in first (or identities of functions), `known` derivations whose start is replaced by
    their conclusion. Derivatives, and sums and products with numbers for ends, are written out.
    """

    given: Mapping[Expr, Expr] = field(default_factory=dict)
    known: tuple[Derivation, ...] = ()

    def check(self, before: Expr, after: Expr) -> Outcome:
        for name, meaning in self.given.items():
            is_name = isinstance(name, Symbol | Indexed | AppliedUndef)
            if not is_name and not equal(name.rewrite(exp), meaning.rewrite(exp)).proved:
                return Outcome(How.UNDECIDED, f"{name} is not a name, and was not seen to equal {meaning}")
        found = dict(shown(self.known))
        return equal(*(written_out(line.xreplace(found).subs(self.given)) for line in (before, after)))


def written_out(line: Expr) -> Expr:
    """`line` with its derivatives, and its sums and products between numbers, carried out; nothing else is."""

    def is_counted(part: Basic) -> bool:
        return isinstance(part, Sum | Product) and all(end.is_Integer for _, *ends in part.limits for end in ends)

    counted = line.replace(is_counted, lambda part: part.doit())
    return counted.replace(lambda part: isinstance(part, Derivative), lambda part: part.doit(deep=False))


@dataclass(frozen=True)
class Antiderivative:
    """`∫_a^b f dx = F(b) − F(a)`, because `F' = f` and `F` is continuous from `a` to `b`.

    The integral may have a factor. A value at an infinite end is a limit.
    """

    function: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        integrals = before.atoms(Integral)
        if len(integrals) != 1:
            return Outcome(How.UNDECIDED, f"expected one integral in the line before, found {len(integrals)}")
        (integral,) = integrals
        if len(integral.limits) != 1 or len(integral.limits[0]) != 3:
            return Outcome(How.UNDECIDED, "expected an integral over one variable, from one end to another")
        variable, *ends = integral.limits[0]
        derivative = equal(diff(self.function, variable), integral.function)
        if not derivative.proved:
            return derivative
        if not continuous_between(self.function, variable, ends):
            return Outcome(How.UNDECIDED, f"cannot see that {self.function} is continuous between the ends")
        lower, upper = (self._at(end, variable) for end in ends)
        if lower is None or upper is None:
            return Outcome(How.UNDECIDED, "the antiderivative at an infinite end is not known")
        return equal(before.xreplace({integral: upper - lower}), after)

    def _at(self, end: Expr, variable: Symbol) -> Expr | None:
        if end.is_finite:
            return self.function.subs(variable, end)
        if self.function.free_symbols != {variable}:  # SymPy's limits with a parameter can miss cases
            return None
        return attempt(lambda: limit(self.function, variable, end))


@dataclass(frozen=True)
class LowestTerm:
    """`f(x)/xⁿ → f⁽ⁿ⁾(0)/n!` as `x → 0`, where `f` is analytic at 0 and its derivatives below the n-th vanish there."""

    order: int

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Limit) or before.args[2] != 0:
            return Outcome(How.UNDECIDED, "the line before is not a limit at zero")
        quotient, variable = before.args[:2]
        function = quotient * variable**self.order
        if not analytic_at(function, {variable: S.Zero}):
            return Outcome(How.UNDECIDED, f"cannot see that {function} is analytic at zero")
        if not all(vanishes(taylor_coefficient(function, variable, k)) for k in range(self.order)):
            return Outcome(How.UNDECIDED, f"cannot see that the derivatives below order {self.order} vanish")
        return equal(taylor_coefficient(function, variable, self.order), after)


def tends_to_zero(sequence: Expr, as_in: Limit, using: tuple[Derivation, ...]) -> bool:
    """Whether `sequence` tends to zero where the index goes to its end from the side `as_in` says.

    Either `sequence` is a function of the index alone for which SymPy has an algorithm (`is_exp_log`), or it is a
    constant times what a derivation in `using` shows to tend to zero.
    """
    _, index, end, side = as_in.args
    if sequence.free_symbols == {index} and is_exp_log(sequence):
        return attempt(lambda: limit(sequence, index, end, str(side))) == 0
    nulls = list(_null_sequences(as_in, using))
    factors = (sequence / null for null in nulls)
    return any(factor.is_number and factor.is_finite for factor in factors) or any(
        equal(sequence, null).proved for null in nulls
    )


def _null_sequences(as_in: Limit, using: tuple[Derivation, ...]) -> Iterator[Expr]:
    """The distances from limits shown: of a sequence, of it one index later, or of a function along a sequence.

    Such a function has its limit from the right at zero, and the sequence is positive and tends to zero.
    """
    index, *end = as_in.args[1:]
    limits = [(*start.args, value) for start, value in shown(using) if isinstance(start, Limit) and value.is_finite]
    positive = [line for line, *where, value in limits if where == [index, *end] and value == 0 and line.is_positive]
    for line, variable, point, side, value in limits:
        distance = line - value
        if [variable, point, side] == [index, *end]:
            yield distance
            if point is oo:
                yield distance.subs(index, index + 1)
        elif point == 0 and str(side) == "+" and index not in line.free_symbols:
            yield from (distance.subs(variable, sequence) for sequence in positive)


@dataclass(frozen=True)
class StolzCesaro:
    """`lim N_L/D_L = lim r_L/(D_{L+1} − (1 − a_L) D_L)`, by the weighted lemma at the head of this module.

    `recursion` defines the sequences: each at `L + 1` by what is known at `L`. The `damping` `a_L` must be non-negative
    by the assumptions on its sequences, and tend to zero as a derivation in `using` shows.
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
        if not isinstance(after, Limit) or after.args[1:] != before.args[1:]:
            return Outcome(How.WRONG, "the line is not a limit along the same index")
        if not equal(after.args[0], self.increments()).proved:
            return Outcome(How.WRONG, f"the increments give {self.increments()}")
        if not self._grows():
            return Outcome(How.UNDECIDED, f"cannot see that {self.denominator} increases to infinity")
        if not self._damps(before):
            return Outcome(How.UNDECIDED, f"cannot see that {self.damping} lies in [0, 1) from some index on")
        return Outcome(How.LEMMA, "weighted Stolz–Cesàro")

    def _grows(self) -> bool:
        if not (self.index.is_integer and self.denominator.free_symbols == {self.index}):
            return False
        real = self.denominator.subs(self.index, 1 + Symbol("beyond", positive=True))
        (beyond,) = real.free_symbols
        unbounded = attempt(lambda: limit(real, beyond, oo)) == oo
        return bool(is_exp_log(real) and diff(real, beyond).is_positive and real.is_positive and unbounded)

    def _damps(self, as_in: Limit) -> bool:
        return self.damping == 0 or bool(self.damping.is_nonnegative and tends_to_zero(self.damping, as_in, self.using))


@dataclass(frozen=True)
class Continuity:
    """`lim F_L = G(0, 0, …)` for `F_L = G(x_L, y_L, …)`, by the second lemma at the head of this module.

    `null` defines each argument of `form` (that is `G`) as a sequence, which must tend to zero (see `tends_to_zero`).
    The index may be a real variable.
    """

    form: Expr
    null: Mapping[Symbol, Expr]
    using: tuple[Derivation, ...] = ()

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, Limit):
            return Outcome(How.UNDECIDED, "the line before is not a limit")
        sequence, index = before.args[:2]
        if index in self.form.free_symbols - set(self.null):
            return Outcome(How.UNDECIDED, f"{index} occurs in {self.form} outside the null sequences")
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
