r"""Derivative correlations of deep linear networks at their initialisation, exactly, at every width.

Definition. A linear network of `L >= 1` hidden layers of width `h >= 1`, at an input with `‖x‖ = 1`, is

    F = h^{−L/2} aᵀ W_{L−1} ⋯ W_1 b,        a, b ∈ R^h (b = W⁰x), W_l ∈ R^{h×h}, all entries iid N(0, 1).

It is linear in each of its `L + 1` parameters, so that `F(θ + t∇F)` is a polynomial of degree `L + 1` in `t`, and
`C_{0,d} = η^d [t^d] F(θ + t∇F)` is the sum over the products in which `d` of them are replaced by their gradients. Its
mean square is a polynomial in `h` and `1/h`, by the pairings of `theory/wick.py`.

Every product of neighbouring gradients has the factor `F`, others have factors of its kind. With `L = 1, 2, 3` the root
mean square of `C_{0,d}` is of order `h^{−(d−1)}`: from `d = 3` on it is below the bound of the cluster rule
(`theory/cluster_rule.py`).

Source: C (arXiv:2401.04013) for the correlations; Dyer & Gur-Ari (2020) for the rule.
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import combinations
from operator import mul

from sympy import (
    Add,
    Derivative,
    Expr,
    Interval,
    Limit,
    MatrixExpr,
    MatrixSymbol,
    Rational,
    S,
    Symbol,
    Trace,
    expand,
    oo,
    sqrt,
)

from .correlations import eta, t, z
from .derivation import Derivation
from .errors import InvalidInput
from .haar import mean
from .matrix_means import Isserlis
from .matrix_words import Words
from .notation import Meaning
from .rate_polynomials import h
from .reasons import LowestTerm

MOST_LAYERS = 3

epsilon = Symbol("epsilon", real=True)
g = MatrixSymbol("g", h, 1)  # N(0, I), independent of all else
_WIDTHS = {h: Interval(1, oo), eta: Interval.open(0, oo), t: Interval.open(0, oo)}


NOTATION = (
    Meaning(r"F", r"the linear network, $h^{-L/2} a^\top W_{L-1} \cdots W_1 b$"),
    Meaning(r"a, b", r"the outer weights, independent and $N(0, 1)$"),
    Meaning(r"W_l", r"an inner weight matrix, likewise"),
    Meaning(r"V", r"a direction in which one of them is moved, by $\epsilon$"),
    Meaning(r"\epsilon", r"the size of this change"),
    Meaning(r"R", r"the polynomial whose mean square it is"),
    Meaning(r"\theta", r"the list of all parameters"),
    Meaning(r"g", r"a standard normal vector"),
)


def parameters(layers: int) -> tuple[MatrixSymbol, ...]:
    """`(a, W_{L−1}, …, W_1, b)`. Raises `InvalidInput` for other than 1, 2 or 3 hidden layers."""
    if isinstance(layers, bool) or layers not in range(1, MOST_LAYERS + 1):
        raise InvalidInput("layers", layers, f"give 1 to {MOST_LAYERS}")
    between = (MatrixSymbol(f"W_{index}", h, h) for index in range(layers - 1, 0, -1))
    return (MatrixSymbol("a", h, 1), *between, MatrixSymbol("b", h, 1))


def output(factors: tuple[MatrixExpr, ...]) -> MatrixExpr:
    """`F`, a 1 × 1 matrix, of these parameters."""
    layers = len(factors) - 1
    return reduce(mul, factors[1:], factors[0].T) / h ** Rational(layers, 2)


def gradients(layers: int) -> tuple[MatrixExpr, ...]:
    """`∂F/∂θ_i` for each of the parameters: a column, or a matrix of rank one."""
    names, scale = parameters(layers), h ** Rational(layers, 2)
    found: list[MatrixExpr] = [reduce(mul, names[1:]) / scale]
    for index in range(1, layers):
        left = reduce(mul, (name.T for name in names[index - 1 : 0 : -1]), S.One) * names[0]
        right = reduce(mul, names[index + 1 :])
        found.append(left * right.T / scale)
    back = reduce(mul, (name.T for name in names[layers - 1 : 0 : -1]), S.One) * names[0]
    return (*found, back / scale)


@cache
def gradient(layers: int, index: int) -> Derivation:
    """The derivative of `F` along `V` in one parameter is `tr Vᵀ∂F`: so this is its gradient; for every `ε`.

    >>> all(step.outcome.proved for step in gradient(2, 1).check())
    True
    """
    names = parameters(layers)
    V = MatrixSymbol("V", *names[index].shape)
    moved = (*names[:index], names[index] + epsilon * V, *names[index + 1 :])
    start = Derivation(
        Derivative(Trace(output(moved)), epsilon),
        r"\langle V, \partial F\rangle",
        _WIDTHS,
        title=f"The gradient of parameter {index} of {layers} hidden layers",
        where=NOTATION,
    )
    return start.then(Trace(V.T * gradients(layers)[index]), because="differentiation", reason=Words())


def correlation(layers: int, d: int) -> MatrixExpr:
    """`C_{0,d}/η^d`, a 1 × 1 matrix: the sum over the choices of `d` parameters."""
    names, along = parameters(layers), gradients(layers)
    if isinstance(d, bool) or d not in range(1, layers + 2):
        raise InvalidInput("d", d, f"give 1 to {layers + 1}: F has degree {layers + 1} in its parameters")
    chosen = combinations(range(layers + 1), d)
    return reduce(
        lambda total, one: total + one,
        (output(tuple(along[i] if i in which else names[i] for i in range(layers + 1))) for which in chosen),
    )


@cache
def series(layers: int) -> Derivation:
    """`F(θ + t∇F)` as a polynomial in `t`, whose coefficients are `C_{0,d}/η^d`."""
    names, along = parameters(layers), gradients(layers)
    start = Derivation(
        Trace(output(tuple(name + t * gradient for name, gradient in zip(names, along, strict=True)))),
        r"F(\theta + t\nabla F)",
        _WIDTHS,
        title=f"A linear network of {layers} hidden layers along its gradient",
        where=NOTATION,
    )
    terms = (t**d * Trace(correlation(layers, d)) for d in range(1, layers + 2))
    using = tuple(gradient(layers, index) for index in range(layers + 1))
    return start.then(
        Add(Trace(output(names)), *terms), because="$F$ is linear in each parameter", reason=Words(), using=using
    )


@cache
def mean_square(layers: int, d: int) -> Derivation:
    """`E C_{0,d}²`, at every width.

    >>> mean_square(1, 2).conclusion, mean_square(2, 2).conclusion.subs(eta, 1)
    (eta**4/h**2, 17/h**2 + 46/h**3 + 36/h**4)
    """
    row = MatrixSymbol("R", 1, h)  # SymPy takes a 1 × 1 matrix for a scalar
    pairings = Isserlis(
        (*parameters(layers), g), words=Words(given={row: eta**d * correlation(layers, d) * g.T / sqrt(h)})
    )
    start = Derivation(
        mean(Trace(row * row.T)),
        rf"\mathbb{{E}}\,C_{{0,{d}}}^2",
        _WIDTHS,
        title=f"Mean square of a correlation: {layers} linear layers, d = {d}",
        where=NOTATION,
    )
    words = rf"$R = C_{{0,{d}}}\, g^\top/\sqrt h$ with $\mathbb{{E}}\lvert g\rvert^2 = h$; the pairings of Isserlis"
    return start.then(expand(pairings.of(start.start)), because=words, reason=pairings, using=(series(layers),))


@cache
def decay(layers: int, d: int) -> Derivation:
    """`h^{2(d−1)} E C_{0,d}²` tends to a positive number: the root mean square is of order `h^{−(d−1)}`.

    >>> [decay(2, d).conclusion.subs(eta, 1) for d in (1, 2, 3)]
    [9, 17, 3]
    """
    exact, power = mean_square(layers, d), 2 * (d - 1)
    sized = expand(exact.conclusion.subs(h, 1 / z))
    start = Derivation(
        Limit(sized / z**power, z, 0),
        rf"\lim_{{h\to\infty}} h^{{{power}}}\,\mathbb{{E}}\,C_{{0,{d}}}^2",
        {eta: Interval.open(0, oo)},
        title=f"How a correlation falls with the width: {layers} linear layers, d = {d}",
        where=NOTATION,
    )
    value: Expr = expand(sized / z**power).subs(z, 0)
    return start.then(value, because="with $z = 1/h$", reason=LowestTerm(power), using=(exact,))
