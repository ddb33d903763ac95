r"""Kernel matrices of very deep ReLU networks: their eigenvalues, their definiteness, and the predictor they make.

Definition. For `n >= 2` different points of the unit sphere, `Θ̄^L(X, X)` is the `n × n` matrix of `Θ̄^L(x_i, x_j)` with
`Θ̄^L` from `theory/depth.py`: 1 on the diagonal, `1/4 + (3/8) ε + o(ε)` off it, `ε = log L/L`. Its leading part lies
in the span of the identity and of `J = 1 1ᵀ`, which is closed under products because `J² = n J`. Such a matrix
`a + b J` acts as `a + b n` on the constant vectors and as `a` on the `n − 1` dimensions orthogonal to them, so that
every function of it is found by putting `n` or `0` for `J`. Here `J` is therefore a commuting symbol.

Source: W (arXiv:2511.07272), Theorem 2 and the properties it lists: "diagonal dominance at sufficient depth",
"positive definiteness at sufficient depth", the data-independent predictor. Departures: dominance by rows holds only
for `n <= 4`; positive definiteness holds from `L = 2` on whatever the points are, and can fail at `L = 1`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from sympy import Expr, Interval, Matrix, S, Symbol, binomial, combsimp, cos, diff, exp, factor, oo, pi, simplify, solve

from .arccos import theta
from .correlation import L, convex, rho
from .depth import depth_rate, normalised_ntk_limit
from .derivation import Derivation, How, Outcome, Relation
from .notation import Meaning
from .reasons import Algebra, equal

n = Symbol("n", integer=True, positive=True)  # the number of different points
J = Symbol("J")  # the matrix of ones: J² = n J
epsilon = Symbol("varepsilon", positive=True)  # log L / L
t = Symbol("t", nonnegative=True)  # the time of gradient flow on ½ Σ (f − y)²
power = Symbol("k", integer=True, nonnegative=True)
gap, phi = Symbol("delta", nonnegative=True), Symbol("phi", nonnegative=True)  # as in `entry_gap`


NOTATION = (
    Meaning("J", "the matrix of ones; in an eigenvalue it stands for its own, $n$ or $0$"),
    Meaning("X", "the list of the $n$ training points, $x_1, \\dots, x_n$; $x$ is a point"),
    Meaning(epsilon, r"$\log L/L$"),
    Meaning(r"\bar\Theta(X, X)", r"the matrix of the normalised kernels $\bar\Theta^{(L)}(x_i, x_j)$"),
    Meaning(r"\lambda_i", r"an eigenvalue of $\bar\Theta(X, X)$"),
    Meaning(phi, r"the angle after the layer, $T(\theta)$"),
    Meaning("v", "$(1, -1, 1, -1, 1, -1)$, for the corners of a regular hexagon"),
    Meaning("k", "the power of the correlation"),
)


def gram_matrix() -> Expr:
    """`Θ̄^L(X, X) = 1 + (1/4 + (3/8) ε)(J − 1)` up to `o(ε)`, from the limits of its entries."""
    return 1 + (normalised_ntk_limit().conclusion + depth_rate().conclusion * epsilon) * (J - 1)


@dataclass(frozen=True)
class ActsOn:
    """A matrix `a + b J` acts on an invariant subspace as the number with `J` replaced by its eigenvalue there.

    The eigenvalue is checked against `J² = n J`, of which the only solutions are 0 and n.
    """

    subspace: Expr

    def check(self, before: Expr, after: Expr) -> Outcome:
        if self.subspace not in solve(J**2 - n * J, J):
            return Outcome(How.WRONG, f"{self.subspace} is no eigenvalue of the matrix of ones")
        return equal(before.subs(J, self.subspace), after)


def _eigenvalue(of: Expr, name: str, title: str, subspace: Expr, words: str) -> Derivation:
    limit_, rate = normalised_ntk_limit(), depth_rate()
    d = Derivation(of, name, {n: Interval(2, oo), epsilon: Interval.open(0, 1)}, title, where=NOTATION)
    value = simplify(of.subs(J, subspace).expand().collect(epsilon))
    return d.then(value, because=words, reason=ActsOn(subspace), using=(limit_, rate))


@cache
def largest_eigenvalue() -> Derivation:
    r"""`(n + 3)/4 + (3/8)(n − 1) ε + o(ε)`, once, on the constant vector.

    >>> largest_eigenvalue().conclusion.subs(epsilon, 0)
    n/4 + 3/4
    """
    words = r"$J$ is $n$ on the constants; by Weyl's inequality the error stays $o(\varepsilon)$"
    return _eigenvalue(gram_matrix(), r"\lambda_1 + o(\varepsilon)", "The largest eigenvalue", n, words)


@cache
def other_eigenvalues() -> Derivation:
    r"""`3/4 − (3/8) ε + o(ε)`, `n − 1` times, orthogonally to the constant vector.

    >>> other_eigenvalues().conclusion
    3/4 - 3*varepsilon/8
    """
    words = r"$J$ is 0 orthogonally to the constants; by Weyl's inequality the error stays $o(\varepsilon)$"
    return _eigenvalue(
        gram_matrix(), r"\lambda_2, \dots, \lambda_n + o(\varepsilon)", "The other eigenvalues", S.Zero, words
    )


@cache
def row_dominance() -> Derivation:
    r"""Diagonal entry minus the sum of the others in its row: `(5 − n)/4 − (3/8)(n − 1) ε`, positive only for `n <= 4`.

    >>> row_dominance().conclusion.subs(n, 5)
    -3*varepsilon/2
    """
    off_diagonal = gram_matrix().subs(J, 0) * -1 + 1  # an entry beside the diagonal: the coefficient of J
    d = Derivation(
        1 - (n - 1) * off_diagonal,
        r"\bar\Theta_{ii} - \sum_{j\ne i}\bar\Theta_{ij} + o(\varepsilon)",
        {n: Interval(2, oo), epsilon: Interval.open(0, 1)},
        "Dominance of the diagonal by rows",
        where=NOTATION,
    )
    value = (1 - (n - 1) * off_diagonal).expand()
    value = factor(value.coeff(epsilon, 0)) + factor(value.coeff(epsilon, 1)) * epsilon
    return d.then(value, because="collect; the entries differ from these by $o(\\varepsilon)$", reason=Algebra())


@cache
def entry_gap() -> Derivation:
    r"""`|Θ^L| < L + 1` for different points: no entry reaches the diagonal, at any depth `L >= 1`.

    Above: with `gap = L − Θ^{L−1}` in the layer before, at the angle `θ`, and `φ = T(θ)` the angle after it,
    `(L + 1) − Θ^L` is a sum in which `L θ/π` is positive and the other terms are not negative, by induction from
    `1 − Θ⁰ = 1 − ρ >= 0`. Below: `Θ^L >= −1`, as `Θ⁰ = ρ >= −1`, and `Θ^{L−1} >= −1` gives
    `Θ^L >= −(1 − θ/π) + cos φ >= −1`. (At `L = 1` some entries are negative, such as that at `ρ = −1/2`; at `L = 0` the
    entry of opposite points is −1.)
    """
    before = L - gap
    d = Derivation(
        (L + 1) - ((1 - theta / pi) * before + cos(phi)),
        r"(L + 1) - \Theta^{(L)}",
        {theta: Interval.Lopen(0, pi), phi: Interval(0, pi / 2), gap: Interval(0, oo)},
        "No entry reaches the diagonal",
        where=NOTATION,
    )
    words = r"the recursion, with $\Theta^{(L-1)} = L - \delta$; all terms are $\ge 0$, the second is $> 0$"
    return d.then((1 - theta / pi) * gap + L * theta / pi + 1 - cos(phi), because=words, reason=Algebra())


@dataclass(frozen=True)
class LargestNumber:
    """The largest n for which `a(n) + b(n) ε > 0` for all small `ε > 0`, where `a` and `b` decrease in n.

    Checked: `a > 0` at this n, and at the next either `a < 0`, or `a = 0` and `b < 0`.
    """

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        leading, following = before.expand().coeff(epsilon, 0), before.expand().coeff(epsilon, 1)
        linear = equal(before, leading + following * epsilon)
        if not (linear.proved and diff(leading, n).is_negative and diff(following, n).is_negative):
            return Outcome(How.UNDECIDED, "cannot see that it decreases in n")
        if not (after.is_Integer and after.is_positive):
            return Outcome(How.WRONG, f"{after} is no number of points")
        here, beyond, slope = leading.subs(n, after), leading.subs(n, after + 1), following.subs(n, after + 1)
        last = here.is_positive and (beyond.is_negative or (beyond.is_zero and slope.is_negative))
        return Outcome(How.ALGEBRA) if last else Outcome(How.WRONG, f"{here} here, {beyond} + ({slope}) eps beyond")


@cache
def largest_dominant() -> Derivation:
    """The largest number of points for which the rows are dominated by the diagonal at sufficient depth: four.

    At `n = 5` the limit is a tie, and the kernel comes down to 1/4 from above.

    >>> largest_dominant().conclusion
    4
    """
    excess = row_dominance()
    d = Derivation(excess.conclusion, excess.name, excess.domain, "The largest dominated matrix", where=NOTATION)
    (limit_zero,) = solve(excess.conclusion.subs(epsilon, 0), n)
    return d.then(
        limit_zero - 1,
        because=r"is the largest $n$ with this positive: at $n = 5$ the limit is zero and the next term negative",
        reason=LargestNumber(),
        using=(excess,),
        relation=Relation.DECIDES,
    )


@cache
def hexagon_singular() -> Derivation:
    r"""`vᵀ Θ¹(X, X) v = 0` for the corners of a regular hexagon and `v = (1, −1, 1, −1, 1, −1)`: not definite."""
    from .ntk import relu_ntk

    kernel = relu_ntk(1).conclusion
    signs = [S(-1) ** k for k in range(6)]
    terms = Matrix(6, 6, lambda i, j: signs[i] * signs[j] * kernel.subs(theta, _between(pi * abs(i - j) / 3)))
    d = Derivation(sum(terms), r"v^{\top}\Theta^{(1)}(X, X)\,v", title="One hidden layer is not enough", where=NOTATION)
    return d.then(S.Zero, because="the angles are multiples of a sixth of a turn", reason=Algebra())


def _between(turn: Expr) -> Expr:
    """The angle in [0, π] between two directions that differ by `turn` in [0, 2π)."""
    return turn if turn <= pi else 2 * pi - turn


@dataclass(frozen=True)
class EvenCoefficients:
    """`before(ρ) = ∑_k after(k) ρ^{2k}`, because both solve `(1 − ρ²) g' = ρ g` with the same value at 0.

    For the coefficients `a_k` the equation reads `(k + 1) a_{k+1} = (k + ½) a_k`; those of odd powers are zero.
    """

    shows: ClassVar[Relation] = Relation.DECIDES

    def check(self, before: Expr, after: Expr) -> Outcome:
        equation = equal((1 - rho**2) * diff(before, rho), rho * before)
        following = after.subs(power, power + 1)
        ratio = equal(combsimp(following / after), (power + S.Half) / (power + 1))
        first = equal(after.subs(power, 0), before.subs(rho, 0))
        failed = [outcome for outcome in (equation, ratio, first) if not outcome.proved]
        return failed[0] if failed else Outcome(How.LEMMA, "the binomial series")


@cache
def definite_from_two_layers() -> Derivation:
    r"""`Θ^L(X, X)` is positive definite for every `L >= 2` and any different points: "sufficient depth" is two.

    The derivation gives the Taylor coefficients of `κ₁''`, all positive at the even powers. Hence
    `κ₁ = 1/π + ρ/2 + ∑_k c_{2k} ρ^{2k}` with all `c_{2k} > 0`. In `Σ² = κ₁∘κ₁` no coefficient is negative, the term
    `κ₁(ρ)/2` has all even powers, and `c₂ κ₁(ρ)²` has the odd ones, `2 · ρ/2 · c_{2k} ρ^{2k}`. A kernel `∑ a_k ρ^k`
    with `a_k >= 0`, infinitely many even and infinitely many odd ones positive, is strictly positive definite on every
    sphere, opposite points included (Pinkus 2004). Proof: if `∑ v_i v_j ∑ a_k (x_i·x_j)^k = 0`, then for each such `k`
    the tensor `∑ v_i x_i^{⊗k}` is zero, and so is `∑ v_i (x_i·y)^k` for every `y`; take one for which the `|x_i·y|` are
    positive and differ except at opposite points, and let `k → ∞`: at the largest, the even `k` leave `v_i + v_j = 0`
    for opposite points and the odd ones `v_i − v_j = 0`; and so on. `Σ^L` for `L >= 2` is again of this kind, and `Θ^L`
    is `Σ^L` plus products of positive semidefinite kernels.
    """
    curvature = convex().lines[1]
    coefficient = binomial(2 * power, power) / 4**power / pi
    d = Derivation(
        convex().start, r"\kappa_1''(\rho)", {rho: Interval.open(-1, 1)}, "Two layers are enough", where=NOTATION
    )
    d = d.then(curvature, because="differentiate", reason=Algebra(), using=(convex(),))
    return d.then(
        coefficient,
        because=r"the coefficient of $\rho^{2k}$, positive for every $k$; there are no odd powers",
        reason=EvenCoefficients(),
        relation=Relation.DECIDES,
    )


@cache
def predictor_weight() -> Derivation:
    r"""Each entry of `lim Θ̄(x, X) Θ̄(X, X)⁻¹`, for `x` not in `X`: `1/(n + 3)`, whatever the data are.

    >>> predictor_weight().conclusion
    1/(n + 3)
    """
    limit_ = normalised_ntk_limit()
    quarter = limit_.conclusion
    gram = gram_matrix().subs(epsilon, 0)
    d = Derivation(
        quarter / gram,
        r"\lim_{L\to\infty}\big(\bar\Theta(x, X)\,\bar\Theta(X, X)^{-1}\big)_i",
        {n: Interval(2, oo)},
        "The weights of the deep predictor",
        where=NOTATION,
    )
    return d.then(
        simplify((quarter / gram).subs(J, n)),
        because=r"the row $\tfrac14 1^{\top}$ is constant, and $J$ is $n$ on the constants",
        reason=ActsOn(n),
        using=(limit_,),
    )


@cache
def predictor_at_time() -> Derivation:
    r"""The weight at time `t`, with `t` counted in units of `1/(L + 1)`: `(1 − e^{−(n+3)t/4})/(n + 3)`.

    `f_t(x) − f_0(x) → −(1 − e^{−(n+3) t/4})/(n+3) ∑_i (f_0(x_i) − y_i)`: one mode alone is learned outside the data. In
    the unscaled time of the flow every `t > 0` is infinite here, as the kernel `Θ = (L+1) Θ̄` grows with the depth.
    """
    limit_ = normalised_ntk_limit()
    gram = gram_matrix().subs(epsilon, 0)
    start = limit_.conclusion / gram * (1 - exp(-gram * t))
    value = simplify(limit_.conclusion / gram.subs(J, n)) * (1 - exp(-simplify(gram.subs(J, n)) * t))
    d = Derivation(
        start,
        r"\lim_{L\to\infty}\Big(\bar\Theta(x, X)\,\bar\Theta^{-1}\big(1 - e^{-\bar\Theta t}\big)\Big)_i",
        {n: Interval(2, oo), t: Interval(0, oo)},
        "The deep predictor during training",
        where=NOTATION,
    )
    return d.then(
        value,
        because=r"$J$ is $n$ on the constants",
        reason=ActsOn(n),
        using=(limit_,),
    )
