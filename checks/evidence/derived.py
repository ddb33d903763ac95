"""Evidence from a derivation: `Identity`, `Limit` and `Asymptotics`. Exact algebra proves, points support.

The derivation and all that it relies on are checked step by step; then its conclusion is compared with what is
claimed. A mutant is rejected when its difference from the conclusion is shown to be non-zero, at a point of the domain,
by a ball that excludes zero. Each point of a finite set in the domain is a case of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from sympy import Expr, S, Set, Symbol, nan, zoo

from numerics.points import Agreement, both_sides, cases, check_steps, compare, has_value, listed, require_signs
from theory.derivation import CheckedStep, Derivation, How
from theory.errors import InvalidInput
from theory.reasons import Algebra

from ..mutants import mutants
from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import ExactEvidence
from .exact import exact

LONGEST = 60  # characters of a formula that is shown beside its value


@dataclass(frozen=True, kw_only=True)
class Derived(ExactEvidence):
    """`claimed` against the conclusion of `derivation`, a function that returns a `Derivation`, or an expression.

    `domain` is needed only with an expression: the set in which each of its symbols lives. Raises `InvalidInput` for
    what is not exact, and for two symbols of one name.
    """

    derivation: Callable[[], Derivation] | Expr
    claimed: Expr | int | Fraction
    domain: Mapping[Symbol, Set] = field(default_factory=dict)
    worth: ClassVar[Verdict] = Verdict.PROVED

    def __post_init__(self) -> None:
        if not (callable(self.derivation) or isinstance(self.derivation, Expr)):
            remedy = "give a function that returns a Derivation, or an expression"
            raise InvalidInput("derivation", self.derivation, remedy)
        if not isinstance(self.domain, Mapping):
            raise InvalidInput("domain", self.domain, "give the set of each symbol, as {x: Interval(0, 1)}")
        claimed = exact("claimed", self.claimed)
        if isinstance(self.derivation, Expr):
            _require_one_symbol_a_name(exact("derivation", self.derivation), claimed, self.domain)

    def derive(self) -> Derivation:
        """The derivation, made now; an expression becomes one with a single step."""
        if isinstance(self.derivation, Expr):
            start = Derivation(self.derivation, "", self.domain)
            return start.then(S(self.claimed), because="exact algebra", reason=Algebra())
        made = self.derivation()
        if not isinstance(made, Derivation):
            raise InvalidInput("derivation", made, "give a function that returns a Derivation, or an expression")
        return made

    def examine(self, level: Level) -> Finding:
        claimed = S(self.claimed)
        derivation = self.derive()
        conclusion = derivation.start if isinstance(self.derivation, Expr) else derivation.conclusion
        if not derivation.steps:
            return Finding(Standing.UNDECIDED, Verdict.PROVED, "nothing is derived: the derivation has no steps")
        require_signs(derivation.domain)
        parts = () if isinstance(self.derivation, Expr) else derivation.parts()  # its one step is the comparison
        checked = [step for part in parts for step in check_steps(part)]
        standing, worth, detail = _weigh(checked)
        if standing is Standing.HOLDS:
            standing, worth, detail = self._compare(conclusion, claimed, derivation, worth, detail)
        tally = MutantTally()
        if standing is Standing.HOLDS:
            domain = derivation.domain
            wrong = {
                text: mutant
                for text, mutant in mutants(claimed).items()
                if has_value(mutant, domain) and not _equal_in_all(_in_cases(claimed, mutant, domain))
            }
            alive = [text for text, mutant in wrong.items() if not _differs(conclusion, mutant, domain)]
            tally = MutantTally(len(wrong), tuple(alive))
        return Finding(standing, worth, detail, None, tally)

    def _compare(
        self, conclusion: Expr, claimed: Expr, derivation: Derivation, worth: Verdict, detail: str
    ) -> tuple[Standing, Verdict, str]:
        for at in cases(conclusion - claimed, derivation.domain):  # SymPy cancels without asking what is zero
            if any(side.subs(at).has(nan, zoo) for side in (conclusion, claimed)):
                return Standing.UNDECIDED, worth, f"{_both(conclusion, claimed)}: no value at {listed(at)}"
        match Algebra().check(conclusion, claimed).how:
            case How.ALGEBRA:
                return Standing.HOLDS, worth, detail or "by exact algebra"
            case How.WRONG:  # two different numbers, of which one may be infinite
                return Standing.FAILS, Verdict.PROVED, f"derived {conclusion}, claimed {claimed}"
        so_far = f"{detail}; " if detail else ""
        in_cases = _in_cases(conclusion, claimed, derivation.domain)
        for at, how in in_cases:
            if how is How.WRONG:
                sides = both_sides(conclusion.subs(at), claimed.subs(at), {})
                return Standing.FAILS, worth, f"they differ at {listed(at)}: {_both(conclusion, claimed, sides)}"
        if _equal_in_all(in_cases):
            return Standing.HOLDS, worth, f"{so_far}by exact algebra in each of {len(in_cases)} cases"
        compared = compare(conclusion, claimed, derivation.domain)
        match compared.agreement:
            case Agreement.DIFFER:
                where = f"they differ at {listed(compared.witness)}" if compared.witness else "they are not the same"
                return Standing.FAILS, worth, f"{where}: {_both(conclusion, claimed, compared.sides)}"
            case Agreement.AGREE:
                return Standing.HOLDS, Verdict.SUPPORTED, f"{so_far}equal to the claim at {compared} only"
            case Agreement.UNDECIDED:
                return Standing.UNDECIDED, worth, f"{_both(conclusion, claimed)}: {compared}"


def _both(conclusion: Expr, claimed: Expr, sides: tuple[str, str] | None = None) -> str:
    """What is derived and what is claimed: formulas with their values, or where these are known, short ones only.

    >>> x = Symbol("x")
    >>> _both(x**2, x, ("9", "3"))
    'derived x**2 = 9, claimed x = 3'
    """
    formulas = [str(conclusion), str(claimed)]
    if sides is None:
        words = formulas
    elif max(map(len, formulas)) > LONGEST:
        words = list(sides)
    else:
        words = [f"{code} = {value}" if code != value else code for code, value in zip(formulas, sides, strict=True)]
    return "derived {}, claimed {}".format(*words)


def _weigh(checked: list[CheckedStep]) -> tuple[Standing, Verdict, str]:
    """What the steps of a derivation are worth together."""
    for step in checked:
        if step.outcome.how is How.WRONG:
            return Standing.FAILS, Verdict.PROVED, f"a wrong step ({step.step.because}): {step.outcome.detail}"
    for step in checked:
        if step.outcome.how is How.UNDECIDED:
            return Standing.UNDECIDED, Verdict.PROVED, f"not decided ({step.step.because}): {step.outcome.detail}"
    at_points = sum(step.outcome.how is How.POINTS for step in checked)
    if at_points:
        return Standing.HOLDS, Verdict.SUPPORTED, f"{len(checked)} steps, {at_points} of them checked only at points"
    detail = f"{len(checked)} steps, each by exact algebra or a lemma" if checked else ""
    return Standing.HOLDS, Verdict.PROVED, detail


def _in_cases(left: Expr, right: Expr, domain: Mapping[Symbol, Set]) -> list[tuple[Mapping[Symbol, Expr], How]]:
    """The points of the finite sets in the domain, and whether two expressions are equal there, by exact algebra."""
    found: list[tuple[Mapping[Symbol, Expr], How]] = []
    for at in cases(left - right, domain):
        sides = left.subs(at), right.subs(at)
        defined = not any(side.has(nan, zoo) for side in sides)
        found.append((at, Algebra().check(*sides).how if defined else How.UNDECIDED))
    return found


def _equal_in_all(in_cases: list[tuple[Mapping[Symbol, Expr], How]]) -> bool:
    return bool(in_cases) and all(how is How.ALGEBRA for _, how in in_cases)


def _require_one_symbol_a_name(derivation: Expr, claimed: Expr, domain: Mapping[Symbol, Set]) -> None:
    """Refuse symbols that look the same and are not, as their assumptions differ."""
    found: dict[str, Symbol] = {}
    for symbol in (*derivation.free_symbols, *claimed.free_symbols, *domain):
        name = str(symbol)
        if found.setdefault(name, symbol) != symbol:
            remedy = (
                f"its symbol {name} occurs with other assumptions in what is claimed or in the domain; make it once"
            )
            raise InvalidInput("derivation", derivation, remedy)


def _differs(conclusion: Expr, mutant: Expr, domain: Mapping[Symbol, Set]) -> bool:
    return compare(conclusion, mutant, domain, formal=True).agreement is Agreement.DIFFER


@dataclass(frozen=True, kw_only=True)
class Identity(Derived):
    """Two expressions are equal on a domain.

    >>> from sympy import Symbol, cos, sin
    >>> x = Symbol("x", real=True)
    >>> Identity(derivation=sin(2 * x), claimed=2 * sin(x) * cos(x)).examine(Level.QUICK).verdict.value
    'proved'
    >>> Identity(derivation=sin(2 * x), claimed=2 * sin(x)).examine(Level.QUICK).verdict.value
    'refuted'
    """

    kind: ClassVar[str] = "identity"


@dataclass(frozen=True, kw_only=True)
class _Stepwise(Derived):
    """From a derivation alone: an expression would be taken for what is claimed to be equal to it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.derivation, Expr):
            remedy = "give a function that returns a Derivation, whose steps are checked; equal expressions: Identity"
            raise InvalidInput("derivation", self.derivation, remedy)


@dataclass(frozen=True, kw_only=True)
class Limit(_Stepwise):
    """A limit, from a derivation: a function that starts from `sympy.Limit(…)` and ends in its value.

    >>> from theory.depth import normalised_ntk_limit
    >>> Limit(derivation=normalised_ntk_limit, claimed=S(1) / 4).examine(Level.QUICK).verdict.value
    'proved'
    """

    kind: ClassVar[str] = "limit"


@dataclass(frozen=True, kw_only=True)
class Asymptotics(_Stepwise):
    """A leading term or its coefficient, from a derivation."""

    kind: ClassVar[str] = "asymptotics"
