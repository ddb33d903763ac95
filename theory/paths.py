r"""Paths in the parameters of a formula: one of them runs to an end of its domain, the others stay or follow it.

Definition. A formula `F(p_1, …, p_k)` (`theory/formulas.py`), one of its parameters, `v`, that tends to `a` from inside
of its domain, and for each other parameter a curve `p_i = g_i(v; c, …)` in positive constants `c, …` of the person's
own. `a` is `oo`, `-oo`, or a finite number; a finite one is approached from the side that lies in the domain, from
above if both do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import Expr, Integer, S, Symbol, oo

from .algebra import attempt
from .dynamics import k as descent_steps
from .errors import InvalidInput, MissingInput, shortened
from .formula import Formula, Parameter

SECONDS = 2.0  # for each question whether a value lies in a domain
FAR = (3, 6, 9, 12)  # powers of ten at which a curve is looked at
COUNTS = (descent_steps.name, "t")  # of steps: the upper end of their range is what can be evaluated in time


@dataclass(frozen=True)
class Path:
    """Where the parameters of a formula go.

    `variable`, one of the formula's own symbols, tends to `target`; `along` has all its other symbols, each as an
    expression in `variable` and in new positive symbols (a number, if it stays). `at` has a number for each of these
    new symbols: what is evaluated, and what the limit is taken at if it is not known for all of them. `side` is 1 where
    a finite `target` is approached from above, −1 from below.
    Make it with `path_through`, which refuses what makes no sense; here nothing is checked.
    """

    variable: Symbol
    target: Expr
    along: Mapping[Symbol, Expr] = field(default_factory=dict)
    at: Mapping[Symbol, Expr] = field(default_factory=dict)
    side: int = 1

    @property
    def curves(self) -> dict[Symbol, Expr]:
        """The parameters that do not stay, and those that stay at a new symbol."""
        return {symbol: curve for symbol, curve in self.along.items() if curve.free_symbols}

    def step(self, power: Expr | int) -> Expr:
        """The value of the variable at `10^power`, or at a distance of `10^-power` from a finite target.

        >>> Path(Symbol("L"), oo).step(3), Path(Symbol("rho"), S.One, side=-1).step(2)
        (1000, 99/100)
        """
        if self.target.is_finite:
            return self.target + self.side * Integer(10) ** -Integer(power)
        return (1 if self.target is oo else -1) * Integer(10) ** power

    def point(self, value: Expr) -> dict[Symbol, Expr]:
        """All parameters, where the variable has this value and the new symbols their numbers."""
        numbers = {**self.at, self.variable: value}
        return {self.variable: value, **{symbol: curve.xreplace(numbers) for symbol, curve in self.along.items()}}

    @property
    def arrow(self) -> str:
        """For instance `rho -> 1 from below`."""
        side = {1: " from above", -1: " from below"}[self.side] if self.target.is_finite else ""
        return f"{self.variable} -> {self.target}{side}"

    def __str__(self) -> str:
        """For instance `L -> oo, rho = 1 - c/L**2`."""
        return ", ".join((self.arrow, *(f"{symbol} = {curve}" for symbol, curve in self.along.items())))


def path_through(
    formula: Formula,
    let: Mapping[str, Expr],
    along: Mapping[str, Expr] | None = None,
    at: Mapping[str, Expr] | None = None,
) -> Path:
    """The path that a person describes by names: `let` has the one parameter that runs, and where to.

    `along` has curves, in the symbols of the formula and new positive ones; `at` numbers, of parameters that stay and
    of the new symbols, which are 1 if not given. Raises `InvalidInput` for unknown, missing and repeated parameters,
    none or several that run, a target outside of the domain, a curve that ends up outside of its domain, or is not an
    integer where it must be.

    >>> from .formulas import formula_named
    >>> L, c = Symbol("L"), Symbol("c")
    >>> print(path_through(formula_named("relu-ntk"), {"L": oo}, {"rho": 1 - c / L**2}))
    L -> oo, rho = 1 - c/L**2
    """
    given = dict(at or {})
    parameters = {parameter.name: parameter for parameter in formula.parameters}
    running = _running(formula, parameters, let)
    variable, target = running.symbol, let[running.name]
    curves = {name: _in_own_symbols(curve, variable) for name, curve in (along or {}).items()}
    new = {symbol.name: symbol for curve in curves.values() for symbol in curve.free_symbols - {variable}}
    for name, curve in curves.items():
        if name not in parameters:
            what = "a symbol of a curve is a number, not along but at" if name in new else formula.known
            raise InvalidInput(name, str(curve), what)
        if name == running.name:
            where = shortened(str(target))
            raise InvalidInput(name, str(curve), f"it goes to {where} already; give curves of the others")
        if tied := sorted(symbol.name for symbol in curve.free_symbols - {variable} if symbol.name in parameters):
            remedy = f"a curve is written in {variable} and new symbols, and {tied[0]} is a parameter"
            raise InvalidInput(name, str(curve), remedy)
    for name in given:
        if name in let or name in curves:
            raise InvalidInput(name, str(given[name]), "it was given before; give it once")
        if name not in parameters and name not in new:
            raise InvalidInput(name, str(given[name]), f"{formula.known}, and no curve has a symbol called so")
        if name in new and given[name].is_extended_positive is not True:
            raise InvalidInput(name, str(given[name]), "symbols of a curve are positive; give a number > 0")
    _refuse_missing(formula, variable, {*let, *curves, *given})
    numbers = {symbol: given.get(name, S.One) for name, symbol in sorted(new.items())}
    fixed = {name: parameters[name].admit(value)[0] for name, value in given.items() if name in parameters}
    values = {**curves, **fixed}
    ordered = {one.symbol: values[one.name] for one in formula.parameters if one.name in values}
    path = Path(variable, target, ordered, numbers, _side(running, target))
    for name in curves:
        _refuse_outside(parameters[name], path)
    return path


def _in_own_symbols(curve: Expr, variable: Symbol) -> Expr:
    """`curve` in the symbol of the formula, and in positive ones for all others."""
    names = {symbol: Symbol(symbol.name, positive=True) for symbol in curve.free_symbols}
    return curve.xreplace({symbol: variable if symbol.name == variable.name else own for symbol, own in names.items()})


def _running(formula: Formula, parameters: Mapping[str, Parameter], let: Mapping[str, Expr]) -> Parameter:
    """The one parameter that runs, and its target is an end that it has."""
    if not parameters:
        raise InvalidInput("formula", formula.name, "it has no parameters, so no limit; evaluate it")
    if not let:
        raise MissingInput("let", f"say which parameter goes where; {formula.known}")
    for name, target in let.items():
        if name not in parameters:
            raise InvalidInput(name, str(target), formula.known)
    if len(let) > 1:
        first, second = list(let)[:2]
        remedy = f"let one go, and say how the other follows: give {second} as a curve in {first}, or a fixed value"
        raise InvalidInput("let", ", ".join(let), remedy)
    (name,) = let
    running, target = parameters[name], let[name]
    if running.words:
        raise InvalidInput(name, str(target), f"this is a choice; give one of {running.range()}, and let another go")
    low, high = _ends(running)
    if target.free_symbols or target.is_extended_real is not True:
        raise InvalidInput(name, str(target), "give a number, oo or -oo")
    ends = f"give {' or '.join(str(end) for end in (low, high) if _may_end(running, end)) or 'another parameter'}"
    if attempt(lambda: bool(low <= target <= high), SECONDS) is not True:
        raise InvalidInput(name, str(target), f"outside of {running.range()}; {ends}: {running.meaning}")
    if not _may_end(running, target):
        raise InvalidInput(name, str(target), f"an integer does not approach a number; {ends}, or let another go")
    return running


def _ends(running: Parameter) -> tuple[Expr, Expr]:
    return running.domain.inf, oo if running.name in COUNTS else running.domain.sup


def _may_end(running: Parameter, end: Expr) -> bool:
    return end.is_finite is False or running.symbol.is_integer is not True


def _side(running: Parameter, target: Expr) -> int:
    return -1 if target == running.domain.sup else 1


def _refuse_missing(formula: Formula, variable: Symbol, given: set[str]) -> None:
    missing = [parameter for parameter in formula.parameters if parameter.name not in given]
    if missing:
        first, *others = missing
        besides = (
            f"; so {'is' if len(others) == 1 else 'are'} {', '.join(one.name for one in others)}" if others else ""
        )
        remedy = f"give it a value in {first.range()}, or a curve in {variable}{besides}"
        raise MissingInput(first.name, remedy)


def _refuse_outside(parameter: Parameter, path: Path) -> None:
    """Refuse a curve that is not an integer where it must be, or not in the domain far out."""
    curve = path.along[parameter.symbol]
    if parameter.symbol.is_integer and curve.xreplace(dict(path.at)).is_integer is not True:
        remedy = f"{parameter.name} is an integer; give it a value, or let it go and write {path.variable} as its curve"
        raise InvalidInput(parameter.name, str(curve), remedy)
    if not inside(parameter, path, path.step(FAR[-1])) or not inside(parameter, path, path.step(FAR[-2])):
        where = next((n for n in reversed(FAR) if inside(parameter, path, path.step(n))), None)
        numbers = "".join(f" at {symbol} = {shortened(value)}" for symbol, value in path.at.items())
        last = "" if where is None else f"; it still was inside at {path.variable} = {path.step(where)}"
        end = f"as {path.variable} -> {shortened(path.target)}"
        remedy = f"{end} this curve lies outside of {parameter.range()}{numbers}{last}"
        raise InvalidInput(parameter.name, str(curve), remedy)


def inside(parameter: Parameter, path: Path, value: Expr) -> bool:
    """Whether the curve of a parameter lies in its domain where the variable has this value; False if not told."""
    there = path.along[parameter.symbol].xreplace({**path.at, path.variable: value})
    return attempt(lambda: parameter.domain.contains(there) == True, SECONDS) is True  # noqa: E712


def entrance(formula: Formula, path: Path) -> Expr:
    """The first power of ten (or distance `10^-n`), or integer, from which on all parameters seem to be inside.

    Looked at are the steps `0, 1, …` of the path, and, for an integer variable, the integers between two of them.
    """

    def admits(value: Expr) -> bool:
        return ends[0] <= value <= ends[1] and all(inside(parameters[symbol], path, value) for symbol in path.curves)

    parameters = {parameter.symbol: parameter for parameter in formula.parameters}
    ends = _ends(parameters[path.variable])
    outside = next((n for n in range(FAR[-1], -1, -1) if not admits(path.step(n))), None)
    if path.variable.is_integer is not True:
        return path.step(0 if outside is None else outside + 1)
    low = int(path.step(outside)) if outside is not None else int(ends[0]) - 1
    high = int(path.step(0 if outside is None else outside + 1))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if admits(Integer(middle)) else (middle, high)
    return Integer(high)
