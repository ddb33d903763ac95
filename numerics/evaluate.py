r"""The value of an expression at an exact point, with digits that are all right; or float64 arrays, for speed.

`evaluate` walks a SymPy expression, built by a program and never from text, into Arb balls (`numerics.walk`), doubling
the precision until the asked digits are right (`numerics.certify`). What no precision can decide is put to exact
algebra (`numerics.exact`); what remains open raises `Undecidable` and names the part that stayed open.

Supported: rational, algebraic and mathematical constants; sums, products, real powers; exp, log, trigonometric,
hyperbolic functions and their inverses; erf, gamma, factorial, binomial; Abs, sign, Heaviside, Max, Min, Piecewise;
Sum and Product with finite integer limits; one-dimensional Integral (`numerics.quadrature`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy
from flint import arb
from numpy.typing import ArrayLike, NDArray
from sympy import Dummy, Expr, Symbol, preorder_traversal

from theory.errors import InvalidInput, Undecidable

from .balls import precision
from .certify import DEFAULT_DIGITS, LAST_PRECISION, Value, certify
from .exact import exact_point, settle
from .quadrature import integral
from .real_rules import RULES as REAL_RULES
from .walk import Bounds, Rule, Walk

MOST_REPAIRS = 1000  # entries of an array that float64 could not do and `evaluate` is asked for


def _integral(walk: Walk, node: Any) -> arb:
    if len(node.limits) != 1 or len(node.limits[0]) != 3:
        raise InvalidInput("expression", str(node), "only definite integrals in one variable are evaluated")
    variable, lower, upper = node.limits[0]
    return integral(node.function, variable, lower, upper, walk)


RULES: Mapping[type, Rule] = {**REAL_RULES, sympy.Integral: _integral}


def enclose(expression: Any, at: Mapping[Any, Any]) -> arb:
    """A ball that contains `expression` at exact values of its symbols, at the working precision of the caller.

    >>> with precision(64):
    ...     enclose(sympy.sqrt(2), {}) ** 2 - 2 < arb(2) ** -60
    True
    """
    constants = Walk(RULES, {})
    exact: dict[Any, Bounds] = {symbol: constants.bounds(value) for symbol, value in at.items()}
    return Walk(RULES, {symbol: constants(value) for symbol, value in at.items()}, exact)(expression)


def evaluate(expression: Expr, at: Mapping[Any, object] | None = None, digits: int = DEFAULT_DIGITS) -> Value:
    """The real number `expression` at the exact point `at`, to `digits` significant digits, all right.

    `at` maps each free symbol, or its name, to an int, Fraction, SymPy constant or float (the double it is). The digits
    printed differ from the number by at most `radius`, itself at most 0.51 units in the last digit. A removable
    singularity is evaluated by its limit, with a note.

    Raises `InvalidInput` for text, unknown functions and bad points; `Undecidable` where neither balls nor exact
    algebra tell the value, for instance at a pole.

    >>> s = Symbol("s", nonnegative=True)
    >>> crossover = ((1 + s) ** 4 - 1) / (4 * s * (1 + s) ** 3)
    >>> print(evaluate(crossover, {"s": 1}), evaluate(crossover, {s: 0}))
    0.46875 1
    """
    if not isinstance(expression, Expr):
        raise InvalidInput("expression", expression, "give a SymPy expression; text is never evaluated")
    point = exact_point(expression, at or {})
    stop = _last_precision(expression, point)
    try:
        return certify(lambda: enclose(expression, point), digits, subject=expression, stop=stop)
    except Undecidable as error:
        first = error
    try:
        settled, note = settle(expression, point, enclose)
    except Undecidable as second:
        raise Undecidable(expression, f"{first.reason}; and {second.reason}") from None
    try:
        return certify(lambda: enclose(settled, {}), digits, subject=expression, note=note, stop=stop)
    except Undecidable as error:
        raise Undecidable(_culprit(settled), f"{error.reason}; met in {expression}") from None


def _last_precision(expression: Expr, point: Mapping[Any, Expr]) -> int:
    """The bits to end at: close to a removable singularity a few times the digits of the point cancel."""
    if expression.has(sympy.Integral):  # integrals do not end well at high precision
        return 0
    numbers = [number for value in point.values() for number in value.atoms(sympy.Rational)]
    return max([LAST_PRECISION, *(8 * max(int(n.p).bit_length(), int(n.q).bit_length()) for n in numbers)])


def _culprit(constant: Expr) -> object:
    """The smallest part of a constant that has no finite ball, else the constant itself."""
    everything = (part for part in preorder_traversal(constant) if isinstance(part, Expr))
    parts = [part for part in everything if not part.free_symbols and part.is_finite is not False]
    with precision(64):
        for part in reversed(parts):
            if not enclose(part, {}).is_finite():
                return part
    return constant


def values(expression: Expr, at: Mapping[Any, ArrayLike]) -> NDArray[np.float64]:
    """`expression` on float64 arrays, which are broadcast: fast, with the rounding errors of float64 and no promise.

    Entries that come out infinite or NaN, and expressions that NumPy cannot do (integrals), are put to `evaluate` one
    by one. Raises `InvalidInput` for empty or non-numeric arrays, NaN, infinities, and as `evaluate` does.

    >>> values(Symbol("x") ** 2, {"x": [1, 2, 3]})
    array([1., 4., 9.])
    """
    if not isinstance(expression, Expr):
        raise InvalidInput("expression", expression, "give a SymPy expression; text is never evaluated")
    arrays = {str(key): _real_array(str(key), array) for key, array in at.items()}
    symbols: list[Any] = sorted(expression.free_symbols, key=str)
    for extreme in (np.min, np.max):  # names and assumptions are refused as there
        exact_point(expression, {name: extreme(array) for name, array in arrays.items()})
    shapes = [array.shape for array in arrays.values()]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise InvalidInput("at", shapes, "give arrays whose shapes can be broadcast together") from None
    columns = [np.broadcast_to(arrays[str(symbol)], shape) for symbol in symbols]
    result = np.full(shape, np.nan)
    if _elementary(expression):
        # lambdify writes Python: a symbol's name would be part of it, so every symbol goes in as a Dummy
        dummies = {symbol: Dummy(f"x{i}") for i, symbol in enumerate(sorted(expression.atoms(Symbol), key=str))}
        arguments = [dummies[symbol] for symbol in symbols]
        body = expression.rewrite(sympy.factorial, sympy.gamma).xreplace(dummies)  # factorial(-1) is 0 in SciPy
        function = sympy.lambdify(arguments, body, modules=["scipy", "numpy"])
        with np.errstate(all="ignore"):
            result = np.array(np.broadcast_to(function(*columns), shape), dtype=np.float64)
    for index in _to_repair(result):
        point = {symbol: column[index] for symbol, column in zip(symbols, columns, strict=True)}
        result[index] = float(evaluate(expression, point))
    return result


def _real_array(name: str, array: ArrayLike) -> NDArray[np.float64]:
    try:
        given = np.asarray(array)
    except ValueError:
        raise InvalidInput(name, array, "give a rectangular array") from None
    if given.dtype.kind not in "iuf" or given.size == 0:
        raise InvalidInput(name, array, "give a non-empty array of real numbers")
    if not np.isfinite(given).all():
        raise InvalidInput(name, array, "give finite numbers")
    return given.astype(np.float64)


def _elementary(expression: Expr) -> bool:
    """Whether every part is of a type known here, so that the printed code holds nothing else."""
    parts = list(preorder_traversal(expression))
    unknown = Walk(RULES, {})
    for part in parts:
        if isinstance(part, Expr) and not isinstance(part, Symbol):
            unknown.rule(part)  # refuses what has no rule
    return not any(isinstance(part, sympy.Integral | sympy.Sum | sympy.Product) for part in parts)


def _to_repair(result: NDArray[np.float64]) -> list[tuple[int, ...]]:
    broken = [tuple(index) for index in np.argwhere(~np.isfinite(result))]
    if len(broken) > MOST_REPAIRS:
        raise InvalidInput(
            "at", f"{len(broken)} points", f"float64 fails here; give at most {MOST_REPAIRS} such points"
        )
    return broken
