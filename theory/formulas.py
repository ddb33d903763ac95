r"""The formulas that can be evaluated by name, each with its parameters, their ranges, and where it comes from.

A formula has a closed `expression`, made by a derivation when it is first asked for, or it is defined by a recursion
(`definition`, as LaTeX) that `numerics/formulas.py` knows an algorithm for.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr, Interval, Rational, Set, Symbol, oo

from . import correlation, crossover, depth
from .errors import InvalidInput

ONE_ULP = Rational(1, 2**52)  # of a double near one; so far outside an interval, a value is clipped


@dataclass(frozen=True)
class Parameter:
    """A parameter of a formula: its symbol, the set it lives in, and what it means."""

    symbol: Symbol
    domain: Set
    meaning: str

    @property
    def name(self) -> str:
        return self.symbol.name

    def admit(self, value: Expr) -> tuple[Expr, str]:
        """`value` if it is in the domain, and a note if it was moved there from one unit in the last place outside.

        >>> Parameter(correlation.rho, Interval(-1, 1), "").admit(1 + ONE_ULP)[0]
        1
        """
        if not value.is_number or value.is_extended_real is not True:
            raise InvalidInput(self.name, str(value), f"give a number in {self.range()}: {self.meaning}")
        if self.symbol.is_integer and value.is_integer is not True:
            raise InvalidInput(self.name, str(value), f"give an integer in {self.range()}: {self.meaning}")
        if self.domain.contains(value) == True:  # noqa: E712  (SymPy answers with its own truth values)
            return value, ""
        for end in (self.domain.inf, self.domain.sup):
            if end.is_finite and abs(value - end) <= ONE_ULP and self.domain.contains(end) == True:  # noqa: E712
                return end, f"{self.name} = {value} was taken as {end}, one unit in the last place away"
        raise InvalidInput(self.name, str(value), f"give a number in {self.range()}: {self.meaning}")

    def range(self) -> str:
        """The domain in brackets.

        >>> Parameter(correlation.L, Interval(1, oo), "").range()
        '[1, oo)'
        """
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

    def admit(self, at: dict[str, Expr]) -> tuple[dict[Symbol, Expr], tuple[str, ...]]:
        """The point `at`, checked: every parameter has a value in its domain, and nothing else is given."""
        names = [parameter.name for parameter in self.parameters]
        for name in at:
            if name not in names:
                raise InvalidInput(name, str(at[name]), f"the parameters of {self.name} are {', '.join(names)}")
        point: dict[Symbol, Expr] = {}
        notes = []
        for parameter in self.parameters:
            if parameter.name not in at:
                raise InvalidInput(
                    parameter.name, "missing", f"give a number in {parameter.range()}: {parameter.meaning}"
                )
            point[parameter.symbol], note = parameter.admit(at[parameter.name])
            notes += [note] if note else []
        return point, tuple(notes)


_DEPTH = Symbol("L", integer=True, nonnegative=True)
_L = Parameter(_DEPTH, Interval(0, oo), "the number of hidden layers")
_RHO = Parameter(correlation.rho, Interval(-1, 1), "the correlation of the two inputs, on the unit sphere")
_W = "arXiv:2511.07272"

FORMULAS: dict[str, Formula] = {
    formula.name: formula
    for formula in (
        Formula(
            "relu-nngp",
            "The NNGP kernel of a deep ReLU network on the sphere",
            (_RHO, _L),
            "Cho & Saul (2009)",
            definition=r"\Sigma^{(L)} = \cos\theta_L,\quad \cos\theta_0 = \rho,\quad "
            r"\cos\theta_{l+1} = (\sin\theta_l + (\pi-\theta_l)\cos\theta_l)/\pi",
        ),
        Formula(
            "relu-ntk",
            "The neural tangent kernel of a deep ReLU network on the sphere",
            (_RHO, _L),
            "Jacot, Gabriel & Hongler (2018)",
            definition=r"\Theta^{(L)} = \Theta^{(L-1)}\,(1 - \theta_{L-1}/\pi) + \cos\theta_L,"
            r"\quad \Theta^{(0)} = \rho",
        ),
        Formula(
            "relu-ntk-normalised",
            "The same, divided by its value L + 1 on the diagonal",
            (_RHO, _L),
            _W,
            definition=r"\bar\Theta^{(L)} = \Theta^{(L)}/(L+1)",
        ),
        Formula(
            "depth-leading-error",
            "The leading term of the distance of the normalised kernel to 1/4",
            (Parameter(correlation.L, Interval(1, oo), "the number of hidden layers"),),
            f"derived; the rate in {_W} is O(1/L)",
            expression=depth.leading_error,
        ),
        Formula(
            "depth-crossover",
            "The normalised kernel as L grows with s = L theta_0/(3 pi) fixed",
            (Parameter(crossover.s, Interval(0, oo), "L theta_0/(3 pi), with the angle theta_0 of the inputs"),),
            f"derived; beyond {_W}",
            expression=lambda: crossover.crossover().conclusion,
        ),
        Formula(
            "depth-crossover-correction",
            "The coefficient of 1/L in the distance to the crossover function",
            (Parameter(crossover.s, Interval(0, oo), "L theta_0/(3 pi), with the angle theta_0 of the inputs"),),
            f"derived; beyond {_W}",
            expression=lambda: crossover.crossover_correction().conclusion,
        ),
    )
}


def formula_named(name: str) -> Formula:
    """The formula with this name.

    >>> formula_named("relu-ntc")
    Traceback (most recent call last):
    theory.errors.InvalidInput: formula = relu-ntc: no formula has this name; the nearest are relu-ntk, ...
    """
    if name not in FORMULAS:
        near = difflib.get_close_matches(str(name), FORMULAS, n=3, cutoff=0.4) or list(FORMULAS)
        raise InvalidInput("formula", name, f"no formula has this name; the nearest are {', '.join(near)}")
    return FORMULAS[name]
