r"""Derivative correlations of a network at its initialisation: how they fall with the width.

Definition. For an output `F(θ)` at an input `x`, a learning rate `η > 0`, and integers `D, d >= 0`,

    C_{D,d} = η^{D/2+d}/(D! d!) ∇^{D+d}F(θ)ᵀ (∇F(θ))^{×d},     so     C_{0,d} = η^d [t^d] F(θ + t ∇F(θ)),

a tensor with `D` free parameter indices; `d` of the others are contracted with the gradient. Its size is its absolute
value (`D = 0`), its Euclidean norm (`D = 1`), or its spectral norm (`D = 2`). The network has `L >= 1` hidden layers of
width `m >= 1` in the NTK parametrisation, `c = c_φ`, iid N(0, 1) weights, `‖x‖ = 1`.

**Parity, at every width, depth and activation.** Let `S` change the sign of the outgoing weights. `F∘S = −F`, hence
`∇F(Sθ) = −S∇F(θ)` and `F(Sθ + t∇F(Sθ)) = −F(θ − t∇F(θ))`: `C_{0,d}(Sθ) = (−1)^{d+1} C_{0,d}(θ)`. As `Sθ` has the law of
`θ`, **the mean of `C_{0,d}` vanishes for even `d`** (where it exists).

**One hidden layer, exactly.** `F = √(c/m) Σ_k w_k φ(u_k)` with `u_k = W_k x`, so `∇F` has the entries `√(c/m) φ(u_k)`
and `√(c/m) w_k φ'(u_k) x`, and

    C_{0,d} = η^d/d! (c/m)^{(d+1)/2} Σ_k T_d(w_k, u_k),   T_d = (d/ds)^d (w + sφ(u)) φ(u + s w φ'(u)) at s = 0,

a sum of iid terms of the parity `d + 1` in `w`. Its mean and mean square are derived here at every `m`: the root mean
square is of order `m^{−⌊d/2⌋}`, as the mean if `d` is odd, as the fluctuation if `d` is even. `‖C_{1,d}‖²` is a sum of
iid terms too, times `m^{−(d+1)}`: its root mean square is a pure power, `m^{−d/2}`. `∇²F` is block diagonal, and
`‖C_{2,d}‖` is `m^{−(d+1)/2}` times the largest of `m` iid norms, which grows like a power of `log m`.

Beyond one hidden layer: `theory/cluster_rule.py`, and linear networks in `theory/linear_correlations.py`.

Source: C (arXiv:2401.04013), which has `C_{D,d} = O(m^{−1/2})`, "√n-weakly correlated". Departures: which power it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sympy import (
    Add,
    Derivative,
    Expr,
    Function,
    Integral,
    Interval,
    Limit,
    Rational,
    S,
    Symbol,
    collect,
    diff,
    exp,
    expand,
    factorial,
    factorial2,
    oo,
    pi,
    sqrt,
)

from .activations import Activation
from .derivation import Derivation, How, Outcome
from .errors import InvalidInput
from .gaussian import GaussianMoments
from .haar import mean
from .notation import Meaning
from .reasons import Algebra, LowestTerm, equal

eta, c, m = (Symbol(name, positive=True) for name in ("eta", "c", "m"))
r = Symbol("r", positive=True)  # what the learning rate is multiplied by
w, u, s = (Symbol(name, real=True) for name in ("w", "u", "s"))
t = Symbol("t", positive=True)
z = Symbol("z", positive=True)  # 1/m, or 1/p
D, d = (Symbol(name, integer=True, nonnegative=True) for name in ("D", "d"))
depth = Symbol("depth", integer=True, positive=True)
term = Symbol("C", real=True)  # a term of the series
first, second = Symbol("mu", real=True), Symbol("nu", positive=True)  # E T_d and E T_d²

HIGHEST_DERIVED = 6  # d; the derivations are by cases


NOTATION = (
    Meaning(r"C_{D,d}", r"the derivative correlation of $d$ gradients with $D$ free indices"),
    Meaning(r"G_p, H_p", r"the derivative of the output by parameter $p$, at the two inputs"),
    Meaning(r"D", r"the number of free indices"),
    Meaning(r"T_d", r"the derivative of order $d$ at 0 along the gradient, of one neuron"),
    Meaning(r"\varphi", r"the activation"),
    Meaning(r"w, u", r"the outgoing weight of a neuron and its preactivation"),
    Meaning(r"S", r"the change of sign of all outgoing weights"),
    Meaning(r"\theta", r"the list of all parameters"),
    Meaning(r"z", r"$1/m$"),
    Meaning(r"a, b", r"factors of a term"),
    Meaning(r"g, p", r"polynomials"),
)


class phi(Function):
    """`φ^{(k)}(u)` of any smooth activation, as `phi(k, u)`."""

    nargs = 2

    def fdiff(self, argindex: int = 2) -> Expr:
        order, argument = self.args
        return phi(order + 1, argument)

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        order, argument = self.args
        marks = "'" * int(order) if order <= 3 else f"^{{({order})}}"
        called = rf"\varphi{marks}({printer.doprint(argument)})"
        return called if exp is None else rf"{{{called}}}^{{{exp}}}"


def check_order(d: int) -> None:
    """Refuse a number of contractions for which there is no derivation."""
    if isinstance(d, bool) or not isinstance(d, int) or not 1 <= d <= HIGHEST_DERIVED:
        raise InvalidInput("d", d, f"give an integer from 1 to {HIGHEST_DERIVED}")


# --- symmetries -------------------------------------------------------------------------------------------------------


@cache
def parity(d: int) -> Derivation:
    """The term of order `t^d` of `F(Sθ + t∇F(Sθ)) = −F(θ − t∇F(θ))` is `(−1)^{d+1}` times that of `F(θ + t∇F(θ))`.

    >>> parity(2).conclusion, parity(3).conclusion
    (-C*t**2, C*t**3)
    """
    check_order(d)
    start = Derivation(
        -term * (s**d).subs(s, -t),
        rf"C_{{0,{d}}}(S\theta)\, t^{d}",
        {term: S.Reals, t: Interval.open(0, oo)},
        title=f"The outgoing weights with the other sign, d = {d}",
        where=NOTATION,
    )
    words = r"$F \circ S = -F$ and $\nabla F(S\theta) = -S\nabla F(\theta)$"
    return start.then((-1) ** (d + 1) * term * t**d, because=words, reason=Algebra())


@cache
def rate_power() -> Derivation:
    """With `rη` for `η`, `C_{D,d}` becomes `r^{D/2+d} C_{D,d}`.

    >>> rate_power().conclusion
    X*eta**(D/2 + d)*r**(D/2 + d)/(factorial(D)*factorial(d))
    """
    tensor = Symbol("X", real=True)  # an entry of the contracted derivative
    power = D / 2 + d
    start = Derivation(
        (r * eta) ** power / (factorial(D) * factorial(d)) * tensor,
        r"C_{D,d}(r\eta)",
        {D: Interval(0, 4), d: Interval(0, 8), tensor: S.Reals, r: Interval.open(0, oo), eta: Interval.open(0, oo)},
        title="Another learning rate",
        where=NOTATION,
    )
    scaled = r**power * eta**power / (factorial(D) * factorial(d)) * tensor
    return start.then(scaled, because=r"a power of $\eta$", reason=Algebra())


# --- one hidden layer -------------------------------------------------------------------------------------------------


@cache
def neuron(d: int) -> Derivation:
    """`(d/ds)^d` of one neuron, `(w + sφ(u)) φ(u + swφ'(u))`, along the gradient, at every `s`."""
    check_order(d)
    moved = (w + s * phi(0, u)) * phi(0, u + s * w * phi(1, u))
    start = Derivation(
        Derivative(moved, (s, d)),
        f"T_{d}(s)",
        {w: S.Reals, u: S.Reals, s: S.Reals},
        title=f"One neuron, d = {d}",
        where=NOTATION,
    )
    return start.then(diff(moved, s, d), because="differentiation", reason=Algebra())


def contribution(d: int) -> Expr:
    """`T_d(w, u)`, which is that at `s = 0`.

    >>> contribution(1)
    w**2*phi(1, u)**2 + phi(0, u)**2
    """
    return collect(expand(neuron(d).conclusion.subs(s, 0)), w)


@dataclass(frozen=True)
class OutgoingMoments:
    """`E w^k g(u) = (k − 1)!! E g(u)` for even `k`, 0 for odd `k`, by linearity: `w` is N(0, 1), independent of `u`."""

    def of(self, line: Expr) -> Expr:
        """The line with each mean as a combination of means of products of `φ` and its derivatives.

        >>> OutgoingMoments().of(mean(3 * w**4 * phi(1, u) + w * u))
        9*E(phi(1, u))
        """
        return line.replace(mean, self._mean)

    def _mean(self, function: Expr) -> Expr:
        total = S.Zero
        for term in Add.make_args(expand(function)):
            rest, power = term.as_independent(w)
            degree = power.as_base_exp()[1] if power != 1 else S.Zero
            if power not in (1, w**degree) or not degree.is_Integer:
                raise InvalidInput("function", str(function), "give a polynomial in w")
            number, rest = rest.as_independent(u, s, phi)
            if degree % 2 == 0:
                total += factorial2(degree - 1) * number * (mean(rest) if rest != 1 else 1)
        return total

    def check(self, before: Expr, after: Expr) -> Outcome:
        outcome = equal(self.of(before), self.of(after))
        return Outcome(How.LEMMA, "Gaussian moments") if outcome.proved else outcome


WIDTHS = {eta: Interval.open(0, oo), c: Interval.open(0, oo), m: Interval(1, oo)}


@cache
def mean_correlation(d: int) -> Derivation:
    """`E C_{0,d}` of one hidden layer, at every width: zero if `d` is even.

    >>> mean_correlation(2).conclusion
    0
    >>> mean_correlation(1).conclusion
    c*eta*(E(phi(0, u)**2) + E(phi(1, u)**2))
    """
    one = contribution(d)
    factor = eta**d / factorial(d) * (c / m) ** Rational(d + 1, 2) * m
    start = Derivation(
        factor * mean(one),
        rf"\mathbb{{E}}\,C_{{0,{d}}}",
        WIDTHS,
        title=f"The mean of a correlation, d = {d}",
        where=NOTATION,
    )
    words = r"the moments of $w$" + ("; all its powers are odd" if d % 2 == 0 else "")
    after = factor * OutgoingMoments().of(mean(one))
    return start.then(after, because=words, reason=OutgoingMoments(), using=(neuron(d),))


def _mean_square(d: int, second: Expr, first: Expr) -> Expr:
    """`E C_{0,d}²` from `E T_d²` and `E T_d`: `m` equal pairs of neurons, `m(m − 1)` of independent ones."""
    return (eta**d / factorial(d)) ** 2 * (c / m) ** (d + 1) * (m * second + m * (m - 1) * first**2)


@cache
def mean_square(d: int) -> Derivation:
    """`E C_{0,d}²` of one hidden layer, at every width, in means of products of `φ` and its derivatives.

    >>> expand(mean_square(2).conclusion * m**2 / c**3 / eta**4).coeff(mean(phi(1, u) ** 4 * phi(2, u) ** 2))
    15/4
    """
    one = contribution(d)
    start = Derivation(
        _mean_square(d, mean(one**2), mean(one)),
        rf"\mathbb{{E}}\,C_{{0,{d}}}^2",
        WIDTHS,
        title=f"The mean square of a correlation, d = {d}",
        where=NOTATION,
    )
    after = OutgoingMoments().of(start.start)
    return start.then(after, because="the moments of $w$", reason=OutgoingMoments(), using=(neuron(d),))


@cache
def decay(d: int) -> Derivation:
    """`m^{2⌊d/2⌋} E C_{0,d}²` tends to a positive number, unless `E T_d = 0` for an odd `d`.

    >>> decay(2).conclusion, decay(3).conclusion
    (c**3*eta**4*nu/4, c**4*eta**6*mu**2/36)
    """
    average, square, power = mean_correlation(d), mean_square(d), 2 * (d // 2)
    sized = expand(_mean_square(d, second, S.Zero if average.conclusion == 0 else first).subs(m, 1 / z))
    start = Derivation(
        Limit(sized / z**power, z, 0),
        rf"\lim_{{m\to\infty}} m^{{{power}}}\,\mathbb{{E}}\,C_{{0,{d}}}^2",
        {eta: Interval.open(0, oo), c: Interval.open(0, oo), first: S.Reals, second: Interval.open(0, oo)},
        title=f"How a correlation falls with the width, d = {d}",
        where=NOTATION,
    )
    words = r"with $z = 1/m$, $\nu = \mathbb{E}\,T^2$ and $\mu = \mathbb{E}\,T$" + ("" if d % 2 else r", which is 0")
    return start.then(
        expand(sized / z**power).subs(z, 0), because=words, reason=LowestTerm(power), using=(average, square)
    )


@cache
def vector_square(d: int) -> Derivation:
    """`E ‖C_{1,d}‖²` of one hidden layer: exactly `m^{−d}` times a number.

    With `a = wφ'(u)` and `s = t√(c/m)`, the entries of `∇F(θ + t∇F)` are `√(c/m) φ(u + sa)` and
    `√(c/m) (w + sφ(u)) φ'(u + sa) x`.

    >>> expand(vector_square(1).conclusion * m / c**2 / eta**3).coeff(mean(phi(1, u) ** 2 * phi(2, u) ** 2))
    3
    """
    check_order(d)
    shifted = u + s * w * phi(1, u)
    entries = (phi(0, shifted), (w + s * phi(0, u)) * phi(1, shifted))
    norm = Add(*(Derivative(entry, (s, d)) ** 2 for entry in entries))
    one = Derivation(
        norm,
        rf"\lVert \nabla T_{d}(s) \rVert^2",
        {w: S.Reals, u: S.Reals, s: S.Reals},
        title=f"The gradient of one neuron, d = {d}",
        where=NOTATION,
    ).then(norm.doit(), because="differentiation", reason=Algebra())
    factor = eta ** (2 * d + 1) / factorial(d) ** 2 * (c / m) ** (d + 1) * m
    start = Derivation(
        factor * mean(expand(one.conclusion.subs(s, 0))),
        rf"\mathbb{{E}}\,\lVert C_{{1,{d}}}\rVert^2",
        WIDTHS,
        title=f"The mean square of a vector of correlations, d = {d}",
        where=NOTATION,
    )
    after = OutgoingMoments().of(start.start)
    return start.then(after, because="at $s = 0$; the moments of $w$", reason=OutgoingMoments(), using=(one,))


# --- given activations ------------------------------------------------------------------------------------------------


def of_activation(line: Expr, activation: Activation) -> Expr:
    """`line` for one activation, its means as Gaussian integrals.

    >>> from theory.activations import Identity
    >>> GaussianMoments().of(of_activation(mean(phi(0, u) ** 4 * phi(1, u)), Identity()))
    3
    """
    expression = activation.expression(u)

    def integral(function: Expr) -> Expr:
        own = function.replace(phi, lambda order, argument: diff(expression, u, int(order)).subs(u, argument)).doit()
        return single_integral(own)

    return line.replace(mean, integral)


def single_integral(function: Expr) -> Expr:
    """`E g(u)` as an integral, or zero."""
    if function == 0:
        return S.Zero
    return Integral(expand(function) * exp(-(u**2) / 2) / sqrt(2 * pi), (u, -oo, oo))


@cache
def polynomial(of: Callable[[int], Derivation], d: int, activation: Activation) -> Derivation:
    """The conclusion of `mean_correlation`, `mean_square` or `vector_square` for a polynomial activation.

    >>> from theory.activations import Hermite
    >>> polynomial(mean_correlation, 3, Hermite(2)).conclusion, polynomial(vector_square, 1, Hermite(2)).conclusion
    (2*c**2*eta**3/m, 42*c**2*eta**3/m)
    """
    general = of(d)
    start = Derivation(
        of_activation(general.conclusion, activation),
        general.name,
        general.domain,
        title=f"{general.title}, for {activation.name}",
        where=NOTATION,
    )
    closed = GaussianMoments().of(start.start)
    return start.then(closed, because="Gaussian moments", reason=GaussianMoments(), using=(general,))
