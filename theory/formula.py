"""A formula that can be evaluated by name, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sympy import Expr, Rational, Set, Symbol

from .errors import InvalidInput, MissingInput, shortened
from .typeset import latex

ONE_ULP = Rational(1, 2**52)  # of a double near one; so far outside an interval, a value is clipped


@dataclass(frozen=True)
class Parameter:
    """A parameter of a formula: its symbol, the set it lives in, and what it means.

    A choice between a few things is an integer in a program, and one of `words` where a person types it.
    """

    symbol: Symbol
    domain: Set
    meaning: str
    words: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        return self.symbol.name

    def admit(self, value: Expr) -> tuple[Expr, str]:
        """`value` if it is in the domain, and a note if it was moved there from one unit in the last place outside.

        >>> from sympy import Interval
        >>> Parameter(Symbol("rho", real=True), Interval(-1, 1), "").admit(1 + ONE_ULP)[0]
        1
        """
        real = value.is_number and value.is_extended_real is True
        if not real or (self.symbol.is_integer and value.is_integer is not True):
            raise InvalidInput(self.name, str(value), self.remedy(self.kind))
        if self.domain.contains(value) == True:  # noqa: E712  (SymPy answers with its own truth values)
            return value, ""
        for end in (self.domain.inf, self.domain.sup):
            if end.is_finite and abs(value - end) <= ONE_ULP and self.domain.contains(end) == True:  # noqa: E712
                return end, f"{self.name} = {shortened(value)} was taken as {end}, one unit in the last place away"
        raise InvalidInput(self.name, str(value), self.remedy(self.kind))

    @property
    def kind(self) -> str:
        """What its values are, in words."""
        return "an integer" if self.symbol.is_integer else "a number"

    def remedy(self, kind: str) -> str:
        """What to give instead of a value that is not admitted."""
        return f"give {'one' if self.words else kind} {'of' if self.words else 'in'} {self.range()}: {self.meaning}"

    def range(self) -> str:
        """The domain in brackets, or the words of a choice.

        >>> from sympy import Interval, oo
        >>> Parameter(Symbol("L", integer=True), Interval(1, oo), "").range()
        '[1, oo)'
        """
        if self.words:
            return "{" + ", ".join(self.words) + "}"
        low, high = self.domain.inf, self.domain.sup
        left = "[" if self.domain.contains(low) == True else "("  # noqa: E712
        right = "]" if self.domain.contains(high) == True else ")"  # noqa: E712
        return f"{left}{low}, {high}{right}"


@dataclass(frozen=True)
class Formula:
    """A named formula. Exactly one of `expression` and `definition` is given."""

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    source: str
    expression: Callable[[], Expr] | None = None
    definition: str = ""

    @property
    def words(self) -> dict[str, Mapping[str, int]]:
        """The parameters that are choices, each with its words."""
        return {parameter.name: parameter.words for parameter in self.parameters if parameter.words}

    @property
    def known(self) -> str:
        """A sentence that names the parameters.

        >>> Formula("half", "A half", (), "", expression=lambda: Rational(1, 2)).known
        'half has no parameters'
        """
        names = ", ".join(parameter.name for parameter in self.parameters)
        return f"the parameters of {self.name} are {names}" if names else f"{self.name} has no parameters"

    def admit(self, at: dict[str, Expr]) -> tuple[dict[Symbol, Expr], tuple[str, ...]]:
        """The point `at`, checked: every parameter has a value in its domain, and nothing else is given."""
        names = [parameter.name for parameter in self.parameters]
        for name in at:
            if name not in names:
                raise InvalidInput(name, str(at[name]), self.known)
        point: dict[Symbol, Expr] = {}
        notes = []
        for parameter in self.parameters:
            if parameter.name not in at:
                raise MissingInput(parameter.name, parameter.remedy(parameter.kind))
            point[parameter.symbol], note = parameter.admit(at[parameter.name])
            notes += [note] if note else []
        return point, tuple(notes)

    def _repr_latex_(self) -> str:
        r"""The definition, or the expression, which is derived for it.

        >>> Formula("half", "A half", (), "", expression=lambda: Rational(1, 2))._repr_latex_()
        '$\\displaystyle \\frac{1}{2}$'
        """
        code = self.definition if self.expression is None else latex(self.expression())
        return f"$\\displaystyle {code}$"
