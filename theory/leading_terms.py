r"""The limit and the leading terms of a closed expression along a path, with a derivation that can be checked.

Definition. `f` is an expression in the variable `v` of a path (`theory/paths.py`) and in positive symbols. Sought are
monomials `t_1, …, t_k` in `v` with `f = limit + t_1 + … + t_k + o(r)`, each of smaller order than the one before.

**Powers.** Where `f` is a rational function of `z = v^{−1/q}` (or of the distance `z = ±(v − a)`), its coefficients in
the positive symbols, it is a quotient `z^m N(z)/D(z)` of polynomials, and `N/D` is a power series if `D(0) ≠ 0`
whatever the symbols are, which SymPy must see. Its coefficients are found by division; the last one that is given is
the limit of what is left over `z^p`, which is checked on its own, in the field of rational functions.

**Taylor.** At the end 0, where `f` is analytic, its Taylor coefficients are the limits of `LowestTerm`.

**Exponentials and logarithms.** For these in one variable, and no other symbol, SymPy has a complete algorithm (Gruntz
1996). The order of `r = f − limit` is found by its logarithmic derivative: if `v r'/r → p` and
`log(v) (v r'/r − p) → q`, then `r ~ c v^p log(v)^q` if the quotient has a finite limit `c ≠ 0`; that limit is checked.

**Continuity.** At a finite end, where all parts of `f` are continuous, it takes its limit as a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import lcm

from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Limit,
    Mul,
    Poly,
    Pow,
    Rational,
    S,
    Symbol,
    diff,
    factor,
    limit,
    log,
    oo,
    simplify,
)
from sympy.polys.fields import sfield

from .algebra import analytic_at, attempt, continuous_between, is_exp_log, taylor_coefficient
from .derivation import Derivation, How, Outcome
from .paths import Path
from .reasons import Continuity, LowestTerm, equal
from .typeset import latex

SECONDS = 10.0  # for each question to SymPy
MOST_ORDERS = 60  # powers of z that are looked at for the next term
MOST_DERIVATIVES = 4
TERMS = 2  # beyond a finite limit


@dataclass(frozen=True)
class Expansion:
    """`value + terms[0] + … + o(remainder)`; without `value` if it is infinite; exact where `remainder` is 0.

    `where` defines symbols that abbreviate parts of `value` and `terms`.
    """

    value: Expr
    terms: tuple[Expr, ...]
    remainder: Expr
    derivations: tuple[Derivation, ...]
    where: Mapping[Symbol, Expr] = field(default_factory=dict)

    @property
    def proved(self) -> bool:
        """Whether every step was."""
        return all(step.outcome.proved for one in self.derivations for part in one.parts() for step in part.check())


def limit_of(function: Expr, path: Path) -> Limit:
    """`function` as an unevaluated limit along the path, from its side."""
    return Limit(function, path.variable, path.target, "+" if path.target.is_finite and path.side > 0 else "-")


def expand_in_powers(function: Expr, path: Path) -> Expansion | None:
    """The expansion of a rational function of a power of the distance to the target, for all values of the symbols.

    None if it is no such function, or if SymPy does not see that a coefficient is never zero, or its sign.

    >>> h, c = Symbol("h", integer=True, positive=True), Symbol("c", positive=True)
    >>> found = expand_in_powers((c * h + 1) / (h - c), Path(h, oo))
    >>> found.value, found.terms[0], found.proved
    (c, (c**2 + 1)/h, True)
    """
    z, distance, into = _distance(function, path)
    found = attempt(lambda: _series(function.subs(path.variable, into), z), SECONDS)
    if found is None:
        return None
    known, ends = found
    reason = RationalInDistance(z, into)
    derivations = []
    if known and known[0][0] < 0:
        leading = known[0][1]
        if not (leading.is_positive or leading.is_negative):
            return None
        value, terms = (oo if leading.is_positive else -oo), known[:TERMS]
        before = terms[:-1]
    else:
        value = known[0][1] if known and known[0][0] == 0 else S.Zero
        terms = [term for term in known if term[0] > 0][:TERMS]
        before = [(0, value), *terms[:-1]]
        derivations.append(_by_powers(function, value, path, reason))
    if terms:
        power, last = terms[-1]
        rest = (function - Add(*(one * distance**order for order, one in before))) / distance**power
        derivations.append(_by_powers(rest, last, path, reason))
    exact = ends and (not known or known[-1] == (terms[-1] if terms else (0, value)))
    remainder = S.Zero if exact else distance ** (terms[-1][0] if terms else 0)
    written = (Mul(one, distance**order, evaluate=one == 1 or not distance.is_Add) for order, one in terms)
    return Expansion(value, tuple(written), remainder, tuple(derivations))


def _distance(function: Expr, path: Path) -> tuple[Symbol, Expr, Expr]:
    """`z`, what it is in the variable, and the variable in it."""
    v, z = path.variable, Symbol("z", positive=True)
    powers = [power.exp for power in function.atoms(Pow) if power.base == v and power.exp.is_Rational]
    root = lcm(*(int(power.q) for power in powers)) if path.target.is_zero or not path.target.is_finite else 1
    if path.target.is_finite:
        return z, (path.side * (v - path.target)) ** Rational(1, root), path.target + path.side * z**root
    sign = 1 if path.target is oo else -1
    return z, (sign * v) ** Rational(-1, root), sign * z ** Integer(-root)


def _quotient(function: Expr, z: Symbol) -> tuple[Poly, Poly] | None:
    """`function` as a reduced quotient of polynomials in `z`; None if it is not one."""
    field_, element = sfield(function)
    if any(generator.has(z) and generator != z for generator in field_.symbols):
        return None
    return Poly(element.numer.as_expr(), z), Poly(element.denom.as_expr(), z)


def _series(function: Expr, z: Symbol) -> tuple[list[tuple[int, Expr]], bool] | None:
    """The first non-zero terms of `function` in powers of `z`, and whether there are no more."""
    quotient = _quotient(function, z)
    if quotient is None:
        return None
    if quotient[0].is_zero:
        return [], True
    over, under = ({power: one for (power,), one in part.terms()} for part in quotient)
    above, below = min(over), min(under)
    first = under[below]
    if factor(first).is_zero is not False:
        return None
    found: list[Expr] = []
    known: list[tuple[int, Expr]] = []
    for k in range(MOST_ORDERS):
        carried = Add(*(under.get(below + i, S.Zero) * found[k - i] for i in range(1, k + 1)))
        found.append(factor((over.get(above + k, S.Zero) - carried) / first))
        if found[-1] != 0:
            known.append((above - below + k, found[-1]))
        if len(known) > TERMS:
            break
    return known, len(under) == 1 and len(known) == len(over)


def _by_powers(function: Expr, value: Expr, path: Path, reason: RationalInDistance) -> Derivation:
    d = Derivation(limit_of(function, path), "", title="The limit along the path")
    words = rf"a rational function of $z$, with ${latex(path.variable)} = {latex(reason.into)}$"
    return d.then(value, because=words, reason=reason)


@dataclass(frozen=True)
class RationalInDistance:
    """`f(v) → N(0)/D(0)`: with `v = into(z)`, which tends to the end as `z → 0+`, it is `N(z)/D(z)`, and `D(0) ≠ 0`.

    A rational function is continuous where its denominator is not zero.
    """

    z: Symbol
    into: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        function, variable, target, side = before.args
        arrives = attempt(lambda: limit(self.into, self.z, 0, "+"), SECONDS) == target
        if not arrives or (target.is_finite and bool((self.into - target).is_positive) != (str(side) == "+")):
            return Outcome(How.WRONG, f"{self.into} does not tend to {target} from the side of the limit")
        quotient = attempt(lambda: _quotient(function.subs(variable, self.into), self.z), SECONDS)
        if quotient is None:
            return Outcome(How.UNDECIDED, f"cannot write {function} as a rational function of {self.z}")
        top, bottom = (part.coeff_monomial(1) for part in quotient)
        if factor(bottom).is_zero is not False:
            return Outcome(How.UNDECIDED, f"the denominator may vanish at {target}")
        value = equal(top / bottom, after)
        return Outcome(How.LEMMA, "continuity") if value.proved else value


def expand_taylor(function: Expr, path: Path) -> Expansion | None:
    """The value at 0 and the first term beyond it, of a function of one variable that is analytic there.

    >>> s = Symbol("s", nonnegative=True)
    >>> found = expand_taylor(s - log(1 + s), Path(s, S.Zero))
    >>> found.value, found.terms, found.proved
    (0, (s**2/2,), True)
    """
    v = path.variable
    if path.target != 0 or not analytic_at(function, {v: S.Zero}):
        return None
    coefficients = (simplify(taylor_coefficient(function, v, order)) for order in range(MOST_DERIVATIVES + 1))
    found = attempt(lambda: [(order, one) for order, one in enumerate(coefficients) if one != 0][:TERMS], SECONDS)
    if found is None:
        return None
    value = found[0][1] if found and found[0][0] == 0 else S.Zero
    beyond = next(((order, one) for order, one in found if order > 0), None)
    wanted = [(0, value, function)]
    if beyond is not None:
        wanted.append((*beyond, (function - value) / v ** beyond[0]))
    derivations = []
    for order, one, quotient in wanted:
        d = Derivation(limit_of(quotient, path), "", title="The limit along the path")
        because = "the value" if order == 0 else f"the Taylor coefficient of order {order}"
        derivations.append(d.then(one, because=because, reason=LowestTerm(order)))
    terms = () if beyond is None else (beyond[1] * v ** beyond[0],)
    return Expansion(value, terms, S.One if beyond is None else v ** beyond[0], tuple(derivations))


def expand_exp_log(function: Expr, path: Path) -> Expansion | None:
    """The limit and the leading term of a function of one variable made of exponentials, logarithms and powers.

    >>> s = Symbol("s", nonnegative=True)
    >>> found = expand_exp_log((1 + log(1 + s)) / s, Path(s, oo))
    >>> found.value, found.terms, found.proved
    (0, (log(s)/s,), True)
    """
    if function.free_symbols != {path.variable} or not is_exp_log(function):
        return None
    value = _limit(function, path)
    if value is None or not value.is_number or value.is_extended_real is not True:
        return None
    rest = function - value if value.is_finite is True else function
    coefficient, monomial = _leading(rest, path) or (S.Zero, S.One)
    derivations = []
    if value.is_finite:
        derivations.append(_null(function, value, path))
    if coefficient == 0:
        exact = S.Zero if rest == 0 else S.One
        return Expansion(value, (), exact, tuple(derivations)) if value.is_finite else None
    term = Mul(coefficient, monomial, evaluate=not monomial.is_Add)
    exact = equal(coefficient * monomial, rest).proved
    if not exact:
        derivations.append(_null(rest / monomial, coefficient, path))
    elif not value.is_finite:
        derivations.append(_null(1 / rest, S.Zero, path))
    return Expansion(value, (term,), S.Zero if exact else monomial, tuple(derivations))


def _limit(function: Expr, path: Path) -> Expr | None:
    found = attempt(lambda: limit(*limit_of(function, path).args[:3], str(limit_of(function, path).args[3])), SECONDS)
    return found if found is not None and not found.has(Limit) else None


def _null(function: Expr, value: Expr, path: Path) -> Derivation:
    """`function → value` because SymPy's algorithm finds that the difference tends to zero."""
    x = Symbol("x")
    d = Derivation(limit_of(function, path), "", title="The limit along the path")
    reason = Continuity(value + x, {x: function - value})
    return d.then(value, because="the algorithm of Gruntz for exponentials and logarithms", reason=reason)


def _leading(rest: Expr, path: Path) -> tuple[Expr, Expr] | None:
    """Coefficient and monomial of the leading term of what tends to zero or to infinity; None if it is not found."""
    coefficient, product = rest.as_independent(path.variable, as_Add=False)
    if not product.is_Add and not any(part.is_Add for part in product.as_powers_dict()):
        return coefficient, product  # a single product is its own leading term
    w, v = Dummy("w", positive=True), path.variable  # the distance to the end is 1/w
    if path.target.is_finite:
        into, back = path.target + path.side / w, 1 / (path.side * (v - path.target))
    else:
        into, back = (w, v) if path.target is oo else (-w, -v)
    inside = rest.subs(v, into)
    slope = w * diff(inside, w) / inside
    power = attempt(lambda: limit(slope, w, oo), SECONDS)
    if power is None or not power.is_Rational:
        return None
    logs = attempt(lambda: limit(log(w) * (slope - power), w, oo), SECONDS)
    if logs is None or not logs.is_Rational:
        return None
    found = attempt(lambda: limit(inside / (w**power * log(w) ** logs), w, oo), SECONDS)
    if found is None or found.is_finite is not True or found.is_zero is not False:
        return None
    return found, back**power * log(back) ** logs


def attained(function: Expr, path: Path) -> Expansion | None:
    """The value at a finite target where all parts of the function are continuous, from inside of the domain.

    >>> from sympy import Interval, asin
    >>> r = Symbol("r", real=True)
    >>> attained(asin(r), Path(r, S.One, side=-1)).value
    pi/2
    """
    if not path.target.is_finite:
        return None
    reason = AttainedAtEnd(path.side)
    d = Derivation(limit_of(function, path), "", title="The limit along the path")
    d = d.then(function.subs(path.variable, path.target), because="continuity at the end", reason=reason)
    if not all(step.outcome.proved for step in d.check()):
        return None
    return Expansion(d.conclusion, (), S.One, (d,))


@dataclass(frozen=True)
class AttainedAtEnd:
    """`f(v) → f(a)` as `v → a` from one `side`, because `f` is continuous between `a` and a point on that side."""

    side: int

    def check(self, before: Expr, after: Expr) -> Outcome:
        function, variable, target, _ = before.args
        near = target + self.side * Rational(1, 1000)
        if not continuous_between(function, variable, [near, target]):
            return Outcome(How.UNDECIDED, f"cannot see that {function} is continuous at {target}")
        value = equal(function.subs(variable, target), after)
        return Outcome(How.LEMMA, "continuity") if value.proved else value
