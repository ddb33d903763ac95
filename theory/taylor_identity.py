r"""One step of gradient descent on one sample, as a series in the derivative correlations.

Definition. `F(θ; x)` is a model with one output, analytic in `θ`; `η > 0` the learning rate, `C'` the derivative of
the cost by the output at the sample `x_s`. So `θ₁ = θ − ηC' v` with `v = ∇F(θ; x_s)`, and
`F_lin,1 = F + ∇F·(θ₁ − θ)`. With

    f(t) = F(θ + t v; x),    a_d = f^{(d)}(0)/d!,    C_{0,d} = (η^d/d!) ∇^d F(θ; x)ᵀ v^{×d} = η^d a_d

(`contraction`) and in the same way `g(t) = ∂_p F(θ + t v; x)`, `C_{1,d} = η^{1/2+d} g^{(d)}(0)/d!` for a parameter `p`,

    F(θ₁)(x) − F_lin,1(x) = Σ_{d=2}^N (−C')^d C_{0,d} + r_N,
    √η (∇F(θ₁)(x) − ∇F(θ)(x)) = Σ_{d=1}^N (−C')^d C_{1,d} + √η r'_N.

**When the remainder vanishes.** Let `R` be the distance from 0 to the nearest singularity of `f` in the complex plane.
If `η|C'| < R`, choose `R'` between them and let `M` be the maximum of `|f|` on the circle of radius `R'`: by Cauchy's
estimate `|C'^d C_{0,d}| <= M q^d` with `q = η|C'|/R' < 1`, and `r_N` is a geometric tail (`truncation`). If
`η|C'| > R` the terms do not tend to zero (Cauchy–Hadamard): the series has no sum, although the left-hand side exists.
So **the identity holds when `η|C'| < R` and fails when `η|C'| > R`**: for every step if φ is entire (erf, sin, exp,
polynomials), but not if φ is tanh, sigmoid or softplus. For one hidden layer of tanh, `u_k(t) = u_k + t u̇_k` and

    R = min_k √(u_k² + π²/4)/|u̇_k|,    u̇_k = √(c_φ/m) a_k φ'(u_k) x_s·x      (`radius`),

over the units (a pole is missing only where the outgoing weight, `a_k + t ȧ_k`, vanishes at it): it grows like the root
of the width, up to a logarithm, so that wide networks satisfy the identity at any given step. `divergence` is the
smallest counterexample.

Source: C (arXiv:2401.04013), the remark before Theorem 3.1. Departures: the condition `η|C'| < R`; the sum for the
gradient begins at `d = 1`, as the gradient of `F_lin` does not move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

from sympy import (
    Abs,
    Add,
    Derivative,
    Expr,
    Function,
    I,
    IndexedBase,
    Integer,
    Interval,
    Limit,
    Mul,
    Pow,
    S,
    Sum,
    Symbol,
    cosh,
    diff,
    expand,
    factorial,
    oo,
    pi,
    sqrt,
    symbols,
    tanh,
)

from .activation_growth import lower_bound
from .derivation import Derivation, How, Outcome
from .errors import InvalidInput
from .growth_reasons import RatioTest, k
from .notation import Meaning
from .reasons import Algebra, equal
from .sums import Induction

t = Symbol("t", real=True)
eta = Symbol("eta", positive=True)
slope = Symbol("C'", real=True)  # of the cost, by the output
d, N, m = symbols("d N m", integer=True, nonnegative=True)
q = Symbol("q", positive=True)
bound = Symbol("M", positive=True)
u, velocity = Symbol("u", real=True), Symbol("w", real=True, nonzero=True)

along_line, gradient_along_line = Function("f"), Function("g")
coefficient, gradient_coefficient = IndexedBase("a"), IndexedBase("b")
C0, C1 = IndexedBase("C_0"), IndexedBase("C_1")  # C0[d] is C_{0,d}
remainder, gradient_remainder = IndexedBase("r"), IndexedBase("r'")
geometric = IndexedBase("T")
here, there = IndexedBase("G"), IndexedBase("H")  # ∂_p F at x and at x_s
p, P = symbols("p P", integer=True, positive=True)

ORDERS = {eta: Interval.open(0, oo), slope: S.Reals, N: Interval(2, oo)}


NOTATION = (
    Meaning(r"F", r"the model, $F_{ij}$ its derivatives at the point"),
    Meaning(r"\theta", r"the list of the parameters, $\theta_1$ after the step"),
    Meaning(r"v", r"the gradient at the sample"),
    Meaning(r"f(t)", r"$F(\theta + t v)$"),
    Meaning(r"g(t)", r"a component of the gradient at $\theta + t v$"),
    Meaning(r"a_d, b_d", r"the Taylor coefficients of $f$ and of $g$"),
    Meaning(r"D", r"the number of free indices"),
    Meaning(r"r_N, r_N'", r"the remainders after $N$ terms"),
    Meaning(r"C_{D,d}", r"the derivative correlation of $d$ gradients with $D$ free indices"),
    Meaning(r"T_m", r"the sum of the first terms"),
    Meaning(r"j", r"an index"),
    Meaning(r"G, H", r"the derivatives of the output at two inputs"),
)


@dataclass(frozen=True)
class Taylor:
    """`f(τ) = Σ_{d=0}^N a_d τ^d + r_N` inside the line before, with `a_d = f^{(d)}(0)/d!`.

    This is Taylor's theorem: `r_N = ∫_0^τ f^{(N+1)}(t) (τ − t)^N/N! dt`, by `N` integrations by parts. The sum in the
    line may begin later, where the line before has subtracted the terms in front; for that, `N` is at least its start.
    """

    value: Expr  # f(τ)
    coefficients: IndexedBase
    rest: IndexedBase

    def check(self, before: Expr, after: Expr) -> Outcome:
        (step,) = self.value.args
        sums = after.atoms(Sum)
        if len(sums) != 1 or not before.has(self.value):
            return Outcome(How.UNDECIDED, f"expected one sum, and {self.value} in the line before")
        (series,) = sums
        ((index, first, last),) = series.limits
        term = equal(series.function, self.coefficients[index] * step**index)
        if not term.proved:
            return term
        in_front = Add(*(self.coefficients[k] * step**k for k in range(int(first))))
        expansion = in_front + series + self.rest[last]
        same = equal(expand(before.xreplace({self.value: expansion})), expand(after))
        return Outcome(How.LEMMA, "Taylor's theorem") if same.proved else same


@dataclass(frozen=True)
class Termwise:
    """The lines are equal when in each sum of the one before the name of a sequence is replaced by its definition.

    `sequence` is `a_d` with `index` for `d`, and `meaning` its definition, for every integer `d >= 0`.
    """

    sequence: Expr
    index: Symbol
    meaning: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        replaced = self._defined(before), self._defined(after)
        sums = [sorted(line.atoms(Sum), key=str) for line in replaced]
        if [s.limits for s in sums[0]] != [s.limits for s in sums[1]]:
            return Outcome(How.UNDECIDED, "the sums of the two lines do not have the same ranges")
        for left, right in zip(*sums, strict=True):
            same = equal(left.function, right.function)
            if not same.proved:
                return same
        names = [{part: Symbol(f"S_{i}") for i, part in enumerate(own)} for own in sums]
        return equal(*(line.xreplace(name) for line, name in zip(replaced, names, strict=True)))

    def _defined(self, line: Expr) -> Expr:
        """The line with the definition put in, also below the sums."""
        base = self.sequence.base

        def is_term(part: Expr) -> bool:
            return getattr(part, "base", None) == base

        return line.replace(is_term, lambda part: self.meaning.xreplace({self.index: part.indices[0]}))


@cache
def one_step() -> Derivation:
    """`F(θ₁)(x) − F_lin,1(x)` as a sum over `C_{0,d}`, with the remainder of Taylor's theorem.

    >>> one_step().conclusion
    r[N] + Sum((-C')**d*C_0[d], (d, 2, N))
    """
    value = along_line(-eta * slope)
    start = value - (coefficient[0] - eta * slope * coefficient[1])
    derivation = Derivation(
        start, r"F(\theta_1) - F_{\mathrm{lin},1}", ORDERS, "One step, in correlations", where=NOTATION
    )
    derivation = derivation.then(
        Sum(coefficient[d] * (-eta * slope) ** d, (d, 2, N)) + remainder[N],
        because="Taylor's theorem along the step",
        reason=Taylor(value, coefficient, remainder),
    )
    return derivation.then(
        Sum((-slope) ** d * C0[d], (d, 2, N)) + remainder[N],
        because=r"the definition $C_{0,d} = \eta^d a_d$",
        reason=Termwise(coefficient[d], d, C0[d] / eta**d),
    )


@cache
def one_step_gradient() -> Derivation:
    """`√η (∂_p F(θ₁)(x) − ∂_p F(θ)(x))`, for each parameter, as a sum over `C_{1,d}` from `d = 1` on.

    >>> one_step_gradient().conclusion
    sqrt(eta)*r'[N] + Sum((-C')**d*C_1[d], (d, 1, N))
    """
    value = gradient_along_line(-eta * slope)
    derivation = Derivation(
        sqrt(eta) * (value - gradient_coefficient[0]),
        r"\sqrt\eta\,(\nabla F(\theta_1) - \nabla F(\theta))",
        ORDERS,
        "One step of the gradient, in correlations",
        where=NOTATION,
    )
    derivation = derivation.then(
        sqrt(eta) * (Sum(gradient_coefficient[d] * (-eta * slope) ** d, (d, 1, N)) + gradient_remainder[N]),
        because="Taylor's theorem along the step",
        reason=Taylor(value, gradient_coefficient, gradient_remainder),
    )
    derivation = derivation.then(
        Sum(sqrt(eta) * gradient_coefficient[d] * (-eta * slope) ** d, (d, 1, N)) + sqrt(eta) * gradient_remainder[N],
        because="the root is a constant factor",
        reason=Linear(),
    )
    return derivation.then(
        Sum((-slope) ** d * C1[d], (d, 1, N)) + sqrt(eta) * gradient_remainder[N],
        because=r"the definition $C_{1,d} = \eta^{1/2+d} b_d$",
        reason=Termwise(gradient_coefficient[d], d, C1[d] / eta ** (d + S.Half)),
    )


@dataclass(frozen=True)
class Linear:
    """Constant factors are taken into the sums, or out of them."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        return equal(*(_constants_out(expand(line, mul=True, deep=False)) for line in (before, after)))


def _constants_out(line: Expr) -> Expr:
    def out(series: Sum) -> Expr:
        constant, rest = series.function.as_independent(*series.bound_symbols, as_Add=False)
        return constant * Sum(rest, *series.limits)

    return line.replace(lambda part: isinstance(part, Sum), out)


@cache
def tangent_kernel() -> Derivation:
    """`C_{0,1} = η Σ_p ∂_p F(x) ∂_p F(x_s)`: the definition of `C_{D,d}` with one contraction and no free index.

    >>> tangent_kernel().conclusion
    eta*Sum(G[p]*H[p], (p, 1, P))
    """
    free, contracted = symbols("D d", integer=True, nonnegative=True)
    kernel = Sum(here[p] * there[p], (p, 1, P))
    derivation = Derivation(
        eta ** (free / 2 + contracted) / (factorial(free) * factorial(contracted)) * kernel,
        "C_{0,1}",
        {eta: Interval.open(0, oo), P: Interval(1, oo)},
        "The first correlation",
        where=NOTATION,
    )
    return derivation.then(
        eta * kernel, because="$D = 0$ and $d = 1$", reason=Algebra(given={free: S.Zero, contracted: S.One})
    )


@cache
def contraction(order: int) -> Derivation:
    """`(η^d/d!) ∇^dF(θ)ᵀ v^{×d} = η^d a_d` for `d = order`: the tensor contracted, index by index, with `v = (v₁, v₂)`.

    Both sides depend on `F` through its derivatives of order `d` at `θ` alone; those of two parameters are all there
    as symbols `F_{ij}`, in a polynomial that has them. More parameters only make the list longer. Raises
    `InvalidInput` unless `1 <= order <= 6`.

    >>> contraction(2).conclusion
    eta**2*(F_02*v_2**2/2 + F_11*v_1*v_2 + F_20*v_1**2/2)
    """
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= 6:
        raise InvalidInput("order", order, "give an integer from 1 to 6")
    x, direction = symbols("theta_1:3", real=True), symbols("v_1:3", real=True)
    pairs = [(i, order - i) for i in range(order + 1)]
    F = Add(*(Symbol(f"F_{i}{j}", real=True) * x[0] ** i * x[1] ** j / (factorial(i) * factorial(j)) for i, j in pairs))
    tensor = Add(
        *(
            Mul(Derivative(F, *(x[i] for i in indices)), *(direction[i] for i in indices), evaluate=False)
            for indices in product(range(2), repeat=order)
        )
    )
    derivation = Derivation(
        eta**order / factorial(order) * tensor,
        rf"C_{{0,{order}}}",
        {eta: Interval.open(0, oo)},
        f"The contraction of order {order}",
        where=NOTATION,
    )
    on_line = F.subs({x[i]: t * direction[i] for i in range(2)}, simultaneous=True)
    taylor = diff(on_line, t, order).subs(t, 0) / factorial(order)
    return derivation.then(
        eta**order * expand(taylor),
        because=r"the $d$-th derivative of $F(\theta + tv)$ at $t = 0$, over $d!$",
        reason=Algebra(),
    )


@cache
def truncation() -> Derivation:
    """`Σ_{j=0}^m M q^{N+1+j} = M q^{N+1} (1 − q^{m+1})/(1 − q)`: a bound on `m + 1` terms beyond the order `N`.

    So the error of the sum up to `N` is at most `M q^{N+1}/(1 − q)`.
    """
    derivation = Derivation(
        geometric[m],
        r"\sum_{j=0}^m M q^{N+1+j}",
        {q: Interval.open(0, 1), bound: Interval.open(0, oo), N: Interval(0, oo), m: Interval(0, oo)},
        "The error of the truncated sum",
        where=NOTATION,
    )
    return derivation.then(
        bound * q ** (N + 1) * (1 - q ** (m + 1)) / (1 - q),
        because="a geometric sum, by induction",
        reason=Induction(geometric[m], m, 0, bound * q ** (N + 1), geometric[m] + bound * q ** (N + 2 + m)),
    )


@dataclass(frozen=True)
class PoleOfTanh:
    """The line is the square of the distance from 0 to the poles of `tanh(u + t w)` nearest to it, `u, w` real.

    The poles of `tanh = sinh/cosh` are the zeros of `cosh`, `iπ(n + ½)`; those with `n = 0, −1` are nearest to the real
    line, at the same distance from any real point. Checked: `cosh` vanishes at `u + t w` for the `t` of this square.
    """

    def check(self, before: Expr, after: Expr) -> Outcome:
        pole = (I * pi / 2 - u) / velocity
        if cosh(expand(u + velocity * pole)) != 0:
            return Outcome(How.WRONG, "cosh does not vanish there")
        if not isinstance(before, Pow) or before.base != Abs(pole):
            return Outcome(How.UNDECIDED, "the line before is not the square of the modulus of this pole")
        return equal((pole * pole.conjugate()).expand(), expand(after))


@cache
def radius() -> Derivation:
    r"""`|t|² = (u² + π²/4)/w²` for the singularity of `tanh(u + t w)` nearest to 0: the radius of one unit, squared."""
    pole = (I * pi / 2 - u) / velocity
    derivation = Derivation(
        Pow(Abs(pole), 2, evaluate=False),
        r"R_k^2",
        {u: S.Reals, velocity: Interval.open(0, oo)},
        "The radius of convergence of one unit",
        where=NOTATION,
    )
    return derivation.then(
        (u**2 + pi**2 / 4) / velocity**2,
        because=r"$\cosh$ vanishes first at $\pm i\pi/2$",
        reason=PoleOfTanh(),
    )


@cache
def counterexample() -> Derivation:
    """`f(t) = tanh t` for the network `F = a tanh(w x)` at `(w, a) = (0, 1)`, `x = x_s = 1`: its gradient is `(1, 0)`.

    >>> counterexample().conclusion
    tanh(t)
    """
    w, a = symbols("w a", real=True)
    F = a * tanh(w)
    derivation = Derivation(
        (a + t * Derivative(F, a)) * tanh(w + t * Derivative(F, w)),
        "f(t)",
        {t: S.Reals},
        "A network that is the hyperbolic tangent of its step",
        where=NOTATION,
    )
    derivation = derivation.then(
        (a + t * diff(F, a)) * tanh(w + t * diff(F, w)), because="the gradient of the network", reason=Algebra()
    )
    return derivation.then(tanh(t), because="$w = 0$ and $a = 1$", reason=Algebra(given={w: S.Zero, a: S.One}))


@cache
def divergence() -> Derivation:
    r"""`1/|C'^d C_{0,d}| → 0` for the network of `counterexample` and the step `η|C'| = 2`, along odd `d = 2k − 1`.

    The derivatives of `tanh` at 0 are bounded from below by `activation_growth.lower_bound`; the step is beyond the
    radius of convergence, `π/2`.
    """
    line, least = counterexample(), lower_bound()
    step = Integer(2)
    order = 2 * k - 1
    term = least.conclusion * step**order / factorial(order)
    derivation = Derivation(
        Limit(1 / term, k, oo),
        r"\lim_{k\to\infty} |C'^{2k-1} C_{0,2k-1}|^{-1}",
        title="A step beyond the radius of convergence",
        where=NOTATION,
    )
    return derivation.then(
        S.Zero,
        because=r"by the ratio test, as the step $2$ exceeds $\pi/2$",
        reason=RatioTest(using=(line, least)),
        using=(line, least),
    )
