"""The named formulas of `theory/formulas.py`, evaluated with digits that are all right.

A formula with a closed expression goes to `numerics.evaluate`; a threshold, which is an integer or "none", to
`numerics.balance`; one defined by a recursion has an algorithm in `numerics.deep` or `numerics.layerwise_loss`, whose
work grows with the depth or steps and the digits: what would take longer than minutes is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import ctx
from sympy import Expr, Rational, Symbol

from theory.errors import InvalidInput
from theory.formulas import formula_named
from theory.layerwise_options import Updates
from theory.typeset import latex, latex_text

from .balance import threshold
from .certified_features import ALGORITHMS as FEATURES
from .certified_orthants import ALGORITHMS as ORTHANTS
from .certify import DEFAULT_DIGITS, certify
from .deep import ALGORITHMS as DEEP
from .early_stopping import ALGORITHMS as STOPPING
from .evaluate import evaluate
from .exact import exact_number
from .layerwise_loss import ALGORITHMS as LAYERWISE

ALGORITHMS = DEEP | STOPPING | ORTHANTS | FEATURES | LAYERWISE
THRESHOLDS = {"balance-threshold-signal": Updates.SIGNAL, "balance-threshold-full": Updates.FULL}
MOST_DIGITS = 1000
MOST_WORK = 3 * 10**8  # layers times digits: two minutes
LEAST_DIGITS = 30  # below which a layer costs the same


@dataclass(frozen=True)
class FormulaValue:
    """A formula at a point: `value` has `digits` digits, all right, and is within `radius`; `notes` say what was done.

    `at` gives each parameter its exact value, as it was taken.
    """

    formula: str
    at: Mapping[str, Expr]
    value: str
    radius: str
    digits: int
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the schema that `limes evaluate --json` writes."""
        data: dict[str, Any] = {
            "formula": self.formula,
            "at": {name: str(value) for name, value in self.at.items()},
            "value": self.value,
            "radius": self.radius,
            "digits": self.digits,
        }
        return data | ({"notes": list(self.notes)} if self.notes else {})

    def _repr_latex_(self) -> str:
        r"""The value beside its point.

        >>> evaluate_formula("relu-ntk-normalised", {"rho": 1, "L": 10})._repr_latex_()
        '$\\displaystyle \\text{relu-ntk-normalised}(\\rho = 1,\\ L = 10) = 1$'
        """
        point = r",\ ".join(f"{latex(Symbol(name))} = {latex(value)}" for name, value in self.at.items())
        mantissa, _, exponent = self.value.partition("e") if self.value != "none" else (r"\text{none}", "", "")
        value = rf"{mantissa} \cdot 10^{{{exponent}}}" if exponent else mantissa
        name = rf"\text{{{latex_text(self.formula)}}}"
        return f"$\\displaystyle {name}{f'({point})' if point else ''} = {value}$"


def evaluate_formula(name: str, at: Mapping[str, object], digits: int = DEFAULT_DIGITS) -> FormulaValue:
    """The formula called `name` where its parameters have the exact values `at`, to `digits <= 1000` digits.

    Values are int, Fraction, SymPy constants, or float (the double it is). Raises `InvalidInput` for an unknown name, a
    value outside its parameter's range, missing or additional parameters, and sizes that would take too long;
    `Undecidable` where no precision tells the value.

    >>> evaluate_formula("relu-ntk-normalised", {"rho": 1, "L": 10}).value
    '1'
    >>> evaluate_formula("depth-crossover", {"s": 1}, digits=5).value
    '0.46875'
    """
    formula = formula_named(name)
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
        raise InvalidInput("digits", digits, f"give an integer from 1 to {MOST_DIGITS}")
    point, notes = formula.admit({parameter: exact_number(parameter, value) for parameter, value in at.items()})
    taken = {symbol.name: value for symbol, value in point.items()}
    if name in THRESHOLDS:
        alpha = taken["alpha"]
        if not isinstance(alpha, Rational):
            raise InvalidInput("alpha", str(alpha), "give a rational number")
        width = threshold(Fraction(int(alpha.p), int(alpha.q)), updates=THRESHOLDS[name])
        return FormulaValue(name, taken, "none" if width is None else str(width), "0", digits, notes)
    if formula.expression is not None:
        expression = formula.expression()  # which may not depend on all of its parameters
        occurring = {symbol: value for symbol, value in point.items() if symbol in expression.free_symbols}
        value = evaluate(expression, occurring, digits)
    else:
        deepest = MOST_WORK // max(digits, LEAST_DIGITS)
        if "L" in taken and taken["L"] > deepest:
            raise InvalidInput("L", str(taken["L"]), f"give at most {deepest} for {digits} digits")
        algorithm = ALGORITHMS[name]
        value = certify(lambda: algorithm(taken, ctx.prec), digits, subject=f"{name} at {at}")
    return FormulaValue(name, taken, value.value, value.radius, digits, (*notes, *([value.note] if value.note else [])))
