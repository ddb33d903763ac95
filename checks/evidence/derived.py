"""Evidence from a derivation: `Identity`, `Limit` and `Asymptotics`. Exact algebra proves, points support.

The derivation and all that it relies on are checked step by step; then its conclusion is compared with what is
claimed. A mutant is rejected when its difference from the conclusion is shown to be non-zero, at a point of the domain,
by a ball that excludes zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from sympy import Expr, S, Set, Symbol

from numerics.points import Agreement, check_steps, compare, has_value, require_signs
from theory.derivation import CheckedStep, Derivation, How
from theory.errors import InvalidInput
from theory.reasons import Algebra

from ..mutants import mutants
from ..verdicts import Finding, Level, MutantTally, Standing, Verdict
from .base import ExactEvidence


@dataclass(frozen=True, kw_only=True)
class Derived(ExactEvidence):
    """`claimed` against the conclusion of `derivation`, a function that returns a `Derivation`, or an expression.

    `domain` is needed only with an expression: the set in which each of its symbols lives.
    """

    derivation: Callable[[], Derivation] | Expr
    claimed: Expr | int
    domain: Mapping[Symbol, Set] = field(default_factory=dict)
    worth: ClassVar[Verdict] = Verdict.PROVED

    def __post_init__(self) -> None:
        if not isinstance(self.claimed, Expr | int) or isinstance(self.claimed, bool):
            raise InvalidInput("claimed", self.claimed, "give a SymPy expression; text is never evaluated")
        if not (callable(self.derivation) or isinstance(self.derivation, Expr)):
            raise InvalidInput(
                "derivation", self.derivation, "give a function that returns a Derivation, or an expression"
            )

    def derive(self) -> Derivation:
        """The derivation, made now; an expression becomes one with a single step."""
        if isinstance(self.derivation, Expr):
            start = Derivation(self.derivation, "", self.domain)
            return start.then(S(self.claimed), because="exact algebra", reason=Algebra())
        return self.derivation()

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
            wrong = {text: mutant for text, mutant in mutants(claimed).items() if has_value(mutant, derivation.domain)}
            alive = [text for text, mutant in wrong.items() if not _differs(conclusion, mutant, derivation.domain)]
            tally = MutantTally(len(wrong), tuple(alive))
        return Finding(standing, worth, detail, None, tally)

    def _compare(
        self, conclusion: Expr, claimed: Expr, derivation: Derivation, worth: Verdict, detail: str
    ) -> tuple[Standing, Verdict, str]:
        match Algebra().check(conclusion, claimed).how:
            case How.ALGEBRA:
                return Standing.HOLDS, worth, detail
            case How.WRONG:  # two different numbers, of which one may be infinite
                return Standing.FAILS, Verdict.PROVED, f"derived {conclusion}, claimed {claimed}"
        compared = compare(conclusion, claimed, derivation.domain)
        match compared.agreement:
            case Agreement.DIFFER:
                return Standing.FAILS, worth, f"derived {conclusion}, claimed {claimed}: {compared}"
            case Agreement.AGREE:
                return Standing.HOLDS, Verdict.SUPPORTED, f"{detail}; equal to the claim at {compared} only"
            case Agreement.UNDECIDED:
                return Standing.UNDECIDED, worth, f"derived {conclusion}, claimed {claimed}: {compared}"


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
    detail = f"{len(checked)} steps, each by exact algebra or a lemma" if checked else "by exact algebra"
    return Standing.HOLDS, Verdict.PROVED, detail


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
