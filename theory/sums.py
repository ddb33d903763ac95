r"""Reasons for finite sums and products: gradients, means, and induction on the number of terms.

Sums and products are SymPy's, with symbolic ends. A product over an empty range is one, a sum over it zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import (
    Add,
    Basic,
    Derivative,
    Dummy,
    Expr,
    Indexed,
    IndexedBase,
    Integer,
    KroneckerDelta,
    Mul,
    Product,
    Sum,
    Symbol,
    expand,
    piecewise_fold,
)
from sympy.core.function import UndefinedFunction

from .algebra import vanishes
from .derivation import How, Outcome
from .reasons import equal, written_out


@dataclass(frozen=True)
class Gradient:
    """Partial derivatives of sums by one indexed variable are carried out, and constant factors taken out of sums.

    `∂/∂w_k Σ_{j=1}^n f(w_j) = f'(w_k)` where `k` itself runs over `1..n` in an enclosing sum.
    """

    def check(self, before: Expr, after: Expr) -> Outcome:
        return equal(_pulled(_collapsed(_differentiated(before), {})), _pulled(after))


def _differentiated(line: Expr) -> Expr:
    return line.replace(lambda part: isinstance(part, Derivative), lambda part: part.doit(deep=False))


def _collapsed(line: Basic, ranges: Mapping[Basic, tuple[Expr, Expr]]) -> Basic:
    """`line` with `Σ_j δ_jk f(j) = f(k)`, for `k` with the same range as `j`."""
    if not line.args:
        return line
    if not isinstance(line, Sum):
        return line.func(*(_collapsed(part, ranges) for part in line.args))
    ranges = {**ranges, **{index: (lower, upper) for index, lower, upper in line.limits}}
    body, limits = _collapsed(line.function, ranges), list(line.limits)
    for limit in line.limits:
        for delta in (part for part in Mul.make_args(body) if isinstance(part, KroneckerDelta) and part.has(limit[0])):
            (other,) = set(delta.args) - {limit[0]}
            if ranges.get(other) == ranges[limit[0]]:
                body = body.xreplace({delta: Integer(1)}).subs(limit[0], other)
                limits.remove(limit)
                break
    return Sum(body, *limits) if limits else body


def _pulled(line: Basic) -> Basic:
    """`line` with the factors that do not depend on the index taken out of each sum."""
    if not line.args:
        return line
    if not isinstance(line, Sum):
        return line.func(*map(_pulled, line.args))
    pulled = _pulled(line.function)
    for limit in line.limits:
        constant, rest = pulled.as_independent(limit[0], as_Add=False)
        pulled = constant * Sum(rest, limit)
    return pulled


@dataclass(frozen=True)
class Mean:
    """`E` of sums of products of independent random variables, for the operator `mean`.

    `values` has the mean of each monomial that may occur. Monomials are independent when no array of `random` occurs in
    both; a term that is not a product of constants and such monomials is not decided. `given` are definitions put in
    last.
    """

    mean: UndefinedFunction
    random: tuple[IndexedBase, ...]
    values: Mapping[Expr, Expr]
    given: Mapping[Expr, Expr] = field(default_factory=dict)

    def check(self, before: Expr, after: Expr) -> Outcome:
        means = {part: self._of(part.args[0]) for part in before.atoms(self.mean)}
        if not means or None in means.values():
            return Outcome(How.UNDECIDED, "a term is not a product of independent monomials of known mean")
        return equal(written_out(_constants_counted(_pulled(before.xreplace(means)).xreplace(self.given))), after)

    def _of(self, line: Expr) -> Expr | None:
        terms = [self._of_term(_pulled(term)) for term in Add.make_args(expand(line))]
        return None if None in terms else Add(*terms)

    def _of_term(self, term: Expr) -> Expr | None:
        parts = Mul.make_args(term)
        constant, product = Mul(*(p for p in parts if not self._arrays(p))), Mul(*(p for p in parts if self._arrays(p)))
        if isinstance(product, Sum):
            summand = self._of(product.function)
            return None if summand is None else constant * Sum(summand, *product.limits)
        for monomial, mean in self.values.items():
            if not self._arrays(product / monomial) & self._arrays(monomial):
                constant, product = constant * mean, product / monomial
        return None if self._arrays(product) else constant * product

    def _arrays(self, part: Expr) -> set[Basic]:
        return {entry.base for entry in part.atoms(Indexed)} & set(self.random)


def _constants_counted(line: Expr) -> Expr:
    """`line` with `Σ_{k=a}^b c = (b − a + 1) c` for what does not depend on the index; the ranges are not empty."""

    def is_constant(part: Basic) -> bool:
        return isinstance(part, Sum) and not part.function.has(*(index for index, *_ in part.limits))

    return line.replace(is_constant, lambda s: s.function * Mul(*(upper - lower + 1 for _, lower, upper in s.limits)))


@dataclass(frozen=True)
class Induction:
    """`F_n = S(n)` for all integers `n >= first`, where `F_first = base` and `F_{n+1} = following`.

    `following` is written in `sequence`, that is `F_n`, and `n`. Checked are `S(first) = base` and, with the last term
    of each sum and the last factor of each product in `S(n + 1)` split off, that `S(n + 1)` is `following` with `S(n)`
    for `F_n`. A product over `h..n` may be split if `h <= n`, or if it is empty with `h = n + 1`, where it is one.
    """

    sequence: Expr
    index: Symbol
    first: int
    base: Expr
    following: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before != self.sequence:
            return Outcome(How.WRONG, f"the line before is not {self.sequence}")
        start = equal(written_out(after.subs(self.index, self.first)), self.base)
        if not start.proved:
            return Outcome(start.how, f"the first case: {start.detail}")
        successor = _last_split_off(after.subs(self.index, self.index + 1), {})
        if successor is None:
            return Outcome(How.UNDECIDED, "a sum or product could not be split")
        difference = _one_sum(successor - self.following.xreplace({self.sequence: after}))
        if vanishes(difference) is not True:
            return Outcome(How.UNDECIDED, f"the step from n to n + 1 leaves {difference}")
        return Outcome(How.LEMMA, "induction")


def _last_split_off(line: Basic, largest: Mapping[Symbol, Expr]) -> Basic | None:
    """`line` with the last term of each sum, and the last factor of each product, written apart.

    `largest` has the upper end of the index of each enclosing sum.
    """
    if isinstance(line, Sum | Product):
        ((index, lower, upper),) = line.limits
        if isinstance(line, Product) and expand(upper - lower + 1) == 0:
            return Integer(1)
        if any(lower.has(outer) and not (lower - outer).is_Integer for outer in largest):
            return None  # only h, h + 1, … are known to be largest where h is
        if not expand(upper - lower.subs(largest)).is_nonnegative:
            return None
        shorter = _last_split_off(line.function, {**largest, index: upper - 1})
        last = _last_split_off(line.function.subs(index, upper), largest)
        if shorter is None or last is None:
            return None
        rest = line.func(shorter, (index, lower, upper - 1))
        return rest + last if isinstance(line, Sum) else rest * last
    if not line.args:
        return line
    parts = [_last_split_off(part, largest) for part in line.args]
    return None if None in parts else line.func(*parts)


def _one_sum(line: Expr) -> Expr:
    """The sums in `line` that have the same range, with their factors, as one sum."""
    names = {part: Dummy("sum") for part in line.atoms(Sum)}
    remaining, summands = expand(line.xreplace(names)), {}
    for part, name in names.items():
        coefficient = remaining.coeff(name)
        remaining = expand(remaining - coefficient * name)
        (limits,) = part.limits
        summands[limits] = summands.get(limits, Integer(0)) + coefficient * part.function
    return remaining + Add(*(Sum(expand(piecewise_fold(summand)), limits) for limits, summand in summands.items()))
