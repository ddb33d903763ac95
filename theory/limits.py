r"""Limits of the named formulas along a path, with leading terms, and how each is known.

Definition. A formula `F` (`theory/formulas.py`) and a path (`theory/paths.py`). Sought are its limit along the path and
monomials `t_1, …, t_k` with `F = limit + t_1 + … + t_k + o(r)`.

A closed expression is expanded by `theory/leading_terms.py`, the kernels of deep ReLU networks by
`theory/deep_limits.py`: both return derivations, whose steps are checked here before anything is called proved. What
SymPy alone says of a limit is a `candidate` and no more, since some of its limits are wrong (`limit(a**L, L, oo)` is
one answer for all `a`); `numerics/approach.py` holds it against certified values.

**Continuity.** At a finite end a kernel of a given depth takes its limit as a value: its recursion is composed of
continuous functions. So does an orthant probability, and with it `feature-deviation`: if the correlations converge, the
laws do, and the limit has no mass on the boundary `u_i = 0` of the orthant, as every `u_i` has variance one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import AccumBounds, Expr, Limit, Pow, S, Symbol, exp, limit, oo, preorder_traversal

from . import orthants
from .algebra import attempt
from .deep_limits import coinciding, curve_along, nngp, normalised, ntk, unrolled
from .derivation import Derivation, How
from .formula import Formula
from .layerwise import Updates, expected_loss
from .leading_terms import Expansion, attained, expand_exp_log, expand_in_powers, expand_taylor, limit_of
from .paths import Path, path_through
from .typeset import latex, latex_text

__all__ = ["Path", "SymbolicLimit", "limit_along", "path_through"]

SECONDS = 5.0  # for SymPy's own limit
DERIVED_STEPS = 2  # of full gradient descent
UNROLLED = 3  # layers that a kernel is written out for
CONTINUOUS = {"relu-nngp", "relu-ntk", "relu-ntk-normalised", "orthant-3", "orthant-4", "feature-deviation"}
OPEN = {
    "feature-deviation": "no derivation of this limit is known; the formula is q^2 times its value at q = 1",
    "two-layer-full": f"the loss is derived up to t = {DERIVED_STEPS}, and evaluated beyond",
    "three-layer-full": f"the loss is derived up to t = {DERIVED_STEPS}, and evaluated beyond",
    "balance-threshold-signal": "an integer or none, found by certified search; no limit of it is known",
    "balance-threshold-full": "an integer or none, found by certified search; no limit of it is known",
}
DEEP = {"relu-nngp": nngp, "relu-ntk": ntk, "relu-ntk-normalised": normalised}


@dataclass(frozen=True, repr=False)
class SymbolicLimit:
    """A limit, how it is known, and the derivations that it rests on.

    `value` is an expression in the new symbols of the path, `oo` or `-oo` included, or None if no limit is known.
    `terms` are the leading terms beyond it, the largest first: the formula is `value + terms[0] + … + o(remainder)`,
    without `value` if that is infinite, and exactly this if `remainder` is 0 (not known beyond the limit if it is 1).
    `where` defines symbols that abbreviate parts of them; `number` puts these and `path.at` in.

    `how` is ALGEBRA or LEMMA (proved), POINTS (`value` is SymPy's, and was confirmed by certified values), UNDECIDED.
    `remark` says why it is not known, or what else there is to say. `fixed` are the new symbols that have their number
    of `path.at` in `value` and `terms`, because the limit is not known for all values of these. `candidate` is what
    SymPy says and nobody has confirmed. `end` is the point at which the formula takes the limit as its value, where it
    is continuous there; `value` may be None then.
    """

    formula: Formula
    path: Path
    value: Expr | None = None
    terms: tuple[Expr, ...] = ()
    remainder: Expr = S.One
    where: Mapping[Symbol, Expr] = field(default_factory=dict)
    how: How = How.UNDECIDED
    remark: str = ""
    fixed: Mapping[Symbol, Expr] = field(default_factory=dict)
    candidate: Expr | None = None
    end: Mapping[Symbol, Expr] | None = None
    derivations: tuple[Derivation, ...] = ()

    @property
    def known(self) -> bool:
        return self.value is not None or self.end is not None

    def number(self, expression: Expr) -> Expr:
        """`value` or a term, free of abbreviations and of the new symbols of the path."""
        return expression.xreplace(dict(self.where)).xreplace(dict(self.path.at))

    @property
    def standing(self) -> str:
        """How it is known, in words."""
        match self.how:
            case How.ALGEBRA:
                return "proved, by exact algebra"
            case How.LEMMA:
                return "proved, by lemmas whose hypotheses are checked"
            case How.POINTS:
                return "not proved: checked at points"
            case _:
                return "undecided"

    def to_text(self) -> str:
        """The limit and its leading terms in one line; "not known" if it is not.

        >>> from theory.formulas import formula_named
        >>> ntk = formula_named("relu-ntk-normalised")
        >>> limit_along(ntk, path_through(ntk, {"L": oo}, at={"rho": S.Zero})).to_text()
        '1/4 + 3*log(L)/(8*L) + o(log(L)/L)'
        """
        return self._written(str, "o({})", "the value of the formula at the end")

    def to_latex(self) -> str:
        r"""`\lim_{L \to \infty} \text{relu-ntk} = …`, or the formula with its leading terms, for mathematics mode."""
        name = rf"\text{{{latex_text(self.formula.name)}}}"
        side = {1: "^+", -1: "^-"}[self.path.side] if self.path.target.is_finite else ""
        curves = (f"{latex(symbol)} = {latex(curve)}" for symbol, curve in self.path.along.items())
        fixed = (f"{latex(symbol)} = {latex(number)}" for symbol, number in self.fixed.items())
        target = latex(self.path.target) + side
        where = (f"{latex(symbol)} = {latex(meaning)}" for symbol, meaning in self.where.items())
        under = r",\ ".join((rf"{latex(self.path.variable)} \to {target}", *curves, *fixed, *where))
        if not self.known:
            return rf"\lim_{{{under}}} {name} = \;?"
        at_end = r"\text{its value at the end}"
        if self.terms:
            expansion = self._written(latex, r"o\left({}\right)", at_end)
            return rf"{name} = {expansion} \qquad ({under})"
        return rf"\lim_{{{under}}} {name} = {at_end if self.value is None else latex(self.value)}"

    def _written(self, write: Any, order: str, at_end: str) -> str:
        if self.value is None:
            return at_end if self.end is not None else "not known"
        if not self.terms:
            return write(self.value)
        parts = [write(term) for term in ((self.value,) if self.value.is_finite and self.value != 0 else ())]
        parts += [write(term) for term in self.terms]
        parts += [order.format(write(self.remainder))] if self.remainder != 0 else []
        return " + ".join(parts).replace("+ - ", "- ").replace("+ -", "- ")

    def to_json(self) -> dict[str, Any]:
        """Plain data: what `limes limit --json` writes of the symbolic side."""
        return {
            "formula": self.formula.name,
            "variable": self.path.variable.name,
            "target": str(self.path.target),
            "along": {str(symbol): str(curve) for symbol, curve in self.path.along.items()},
            "limit": None if self.value is None else str(self.value),
            "terms": [str(term) for term in self.terms],
            "remainder": str(self.remainder),
            "known": self.standing,
            "where": {str(symbol): str(meaning) for symbol, meaning in self.where.items()},
            "for": {str(symbol): str(number) for symbol, number in self.fixed.items()},
            "remark": self.remark,
            "text": self.to_text(),
            "latex": self.to_latex(),
            "derivations": [one.to_latex(one.check()) for one in self.derivations],
        }

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"

    def __repr__(self) -> str:
        return f"SymbolicLimit({self.formula.name}, {self.path}: {self.to_text()}; {self.standing})"


def limit_along(formula: Formula, path: Path) -> SymbolicLimit:
    """The limit of `formula` along `path`, with derivations; or none, and why in `remark`.

    >>> from theory.formulas import formula_named
    >>> loss = formula_named("three-layer-signal-1")
    >>> c, h = Symbol("c"), Symbol("h")
    >>> found = limit_along(loss, path_through(loss, {"h": oo}, {"eta1": c * h, "eta2": c * h}))
    >>> found.value, found.how.name
    (c**4 + 4*c**2 - 4*c + 1, 'LEMMA')
    """
    positive = _with_positive_variable(path)
    for fixed in _choices(path):
        numbers = dict(fixed)
        along = {symbol: curve.xreplace(numbers) for symbol, curve in positive.along.items()}
        found = _expanded(formula, replace(positive, along=along))
        if found is not None:
            back = {positive.variable: path.variable} if positive is not path else {}
            return SymbolicLimit(
                formula,
                path,
                found.value,
                tuple(term.xreplace(back) for term in found.terms),
                found.remainder.xreplace(back),
                found.where,
                _how(found.derivations),
                fixed=fixed,
                derivations=found.derivations,
            )
    return _not_derived(formula, path)


def _with_positive_variable(path: Path) -> Path:
    """The same path in a variable that is positive where it matters, so that SymPy sees the sign of its powers."""
    if not (path.target is oo or (path.target == 0 and path.side > 0)):
        return path
    positive = Symbol(path.variable.name, positive=True, integer=path.variable.is_integer)
    along = {symbol: curve.xreplace({path.variable: positive}) for symbol, curve in path.along.items()}
    return replace(path, variable=positive, along=along)


def _choices(path: Path) -> Iterator[dict[Symbol, Expr]]:
    """Which new symbols get their numbers: as few as may do, those in exponents always; then all."""
    raised = {
        symbol
        for curve in path.along.values()
        for part in preorder_traversal(curve)
        if isinstance(part, Pow | exp)
        for symbol in part.exp.free_symbols & set(path.at)
    }
    yield {symbol: number for symbol, number in path.at.items() if symbol in raised}
    if raised != set(path.at):
        yield dict(path.at)


def _how(derivations: tuple[Derivation, ...]) -> How:
    outcomes = [step.outcome.how for one in derivations for part in one.parts() for step in part.check()]
    return How.LEMMA if How.LEMMA in outcomes else How.ALGEBRA


def _expanded(formula: Formula, path: Path) -> Expansion | None:
    """The expansion along a path whose curves have no symbols that must be numbers; None unless it is proved."""
    if formula.name in DEEP:
        return _deep(formula, path)
    function = _closed(formula, path)
    if function is None:
        return None
    if path.variable not in function.free_symbols:
        return Expansion(function, (), S.Zero, ())
    found = (expand(function, path) for expand in (expand_in_powers, expand_taylor, expand_exp_log, attained))
    return next((one for one in found if one is not None and one.proved), None)


def _closed(formula: Formula, path: Path) -> Expr | None:
    """The closed expression of a formula along a path, if it has one."""
    expression = formula.expression() if formula.expression else _closed_case(formula, path)
    if expression is None:
        return None
    own = {one.symbol: path.variable for one in formula.parameters if one.name == path.variable.name}
    return expression.subs({**own, **path.along}, simultaneous=True)


def _closed_case(formula: Formula, path: Path) -> Expr | None:
    """The closed expression of a formula that is a recursion in general: a loss after at most two steps, an orthant."""
    if formula.name == "orthant-3":
        return orthants.three().conclusion
    layers = {"two-layer-full": 2, "three-layer-full": 3}.get(formula.name)
    steps = next((curve for symbol, curve in path.along.items() if symbol.name == "t"), None)
    if layers is None or steps is None or not steps.is_Integer or steps > DERIVED_STEPS:
        return None
    return expected_loss(layers, int(steps), Updates.FULL).conclusion


def _deep(formula: Formula, path: Path) -> Expansion | None:
    rho, depth = (one.symbol for one in formula.parameters)
    if path.variable.name == depth.name:
        curve = curve_along(path, path.along[rho])
        found = None if curve is None else DEEP[formula.name](curve)
    else:
        found = (
            coinciding(formula.name, path, path.along[depth]) if path.target == 1 and path.along[depth] != 0 else None
        )
    return found if found is not None and found.proved else None


def _not_derived(formula: Formula, path: Path) -> SymbolicLimit:
    """Where no derivation is known: the value at the end by continuity, or what SymPy says, or nothing, and why."""
    end = _end(formula, path)
    if end is not None:
        value = _unrolled(formula, path, end)
        return SymbolicLimit(formula, path, value, how=How.LEMMA, remark="by continuity", fixed=path.at, end=end)
    function = _closed(formula, path)
    if function is None:
        return SymbolicLimit(formula, path, remark=OPEN.get(formula.name, "no derivation of this limit is known"))
    for fixed in _choices(path):
        along = function.xreplace(dict(fixed))
        arguments = limit_of(along, path).args
        found = attempt(lambda of=arguments: limit(*of[:3], str(of[3])), SECONDS)
        if found is not None and isinstance(found, AccumBounds):
            low, high = found.args
            return SymbolicLimit(formula, path, remark=f"SymPy: no limit, it stays between {low} and {high}")
        if found is not None and not found.has(Limit, S.NaN, S.ComplexInfinity, AccumBounds, path.variable):
            return SymbolicLimit(formula, path, remark="not derived", fixed=fixed, candidate=found)
    return SymbolicLimit(formula, path, remark="neither algebra nor SymPy's algorithm finds it")


def _unrolled(formula: Formula, path: Path, end: Mapping[Symbol, Expr]) -> Expr | None:
    if formula.name not in DEEP:
        return None
    correlation, depth = (
        end[path.variable if one.name == path.variable.name else one.symbol] for one in formula.parameters
    )
    return unrolled(formula.name, correlation, int(depth)) if depth <= UNROLLED else None


def _end(formula: Formula, path: Path) -> dict[Symbol, Expr] | None:
    """The point that the path ends in, if the formula is continuous, and all curves are."""
    if formula.name not in CONTINUOUS or not path.target.is_finite:
        return None
    ends = {symbol: attained(curve.xreplace(dict(path.at)), path) for symbol, curve in path.along.items()}
    if any(one is None for one in ends.values()):
        return None
    return {path.variable: path.target, **{symbol: one.value for symbol, one in ends.items() if one is not None}}
