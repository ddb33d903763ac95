r"""Features that move: the limit of `⟨δh, δh'⟩` in an infinitely wide ReLU network, trained in the kernel regime.

Definition. The network is `u^l = W^l g^{l−1}`, `g^l = sqrt(c/m) φ(u^l)`, `l = 1..L`, `g⁰ = x`, `f = W^{L+1} g^L`, with
`c = c_φ = 2` for ReLU, and `h^l = φ(u^l)` without the factor. Gradient flow on `½ Σ_i (f(x_i) − y_i)²` changes the
parameters, to leading order in the width `m`, by

    δθ = −Σ_i q_i ∇f(x_i),    q_t = ∫₀ᵗ (f_s − y) ds = Θ⁻¹ (I − e^{−Θt}) (f_0 − y),

and `D^l(x, x') = lim_{m→∞} ⟨δh^l(x), δh^l(x')⟩`. Every `δu_k` is of order `m^{−1/2}`, and `δh_k = φ'(u_k) δu_k` unless
the sign of `u_k` changes, which about `√m` units do and which adds `O(m^{−1/2})` in all.

**The step from layer to layer.** With the backpropagated signal `δ_k(x_i) = sqrt(c/m) φ'(u_k(x_i)) s_k(x_i)` of unit
`k`,

    δu_k(x) = −Σ_i q_i Θ^{l−1}(x, x_i) δ_k(x_i) + e_k(x),    e_k(x) = (W_k · δg^{l−1}(x) without what unit k did to it).

The first part is the unit's own: its row `δW_k = −Σ_i q_i δ_k(x_i) g^{l−1}(x_i)` gives `Σ^{l−1}`, and what its signal
did to the layers below comes back through `W_k` as `Θ^{l−2} Σ̇^{l−1}`. Three lemmas are used, which are theorems on
wide networks (Yang, *Tensor Programs* II, III) and not derived here; none is needed for `L = 1` (`one_hidden_layer`):

1. the `s_k` are, over the units, centred with covariance `B^l(x_i, x_j) = ∏_{k=l+1}^L Σ̇^k(x_i, x_j)`, and independent
   of the preactivations (for `l = L` they are the weights of the output, `B^L = 1`);
2. the `e_k` are centred with covariance `⟨δg^{l−1}, δg^{l−1}'⟩ → (c/m) D^{l−1}`, and independent of both;
3. sums over the units tend to their means.

Hence `D^l = T^l + Σ̇^l D^{l−1}`, `D⁰ = 0` (`layer`), with the units' own part, for ReLU,

    T^l(x, x') = 2 Σ_ij q_i q_j B^l(x_i, x_j) Θ^{l−1}(x, x_i) Θ^{l−1}(x', x_j) P^l(x, x', x_i, x_j),

where `P^l` is the probability that four Gaussians of the covariance `Σ^{l−1}` are positive (`theory/orthants.py`).

**When nothing moves.** `D^L(x, x) = Σ_l T^l(x, x)` as `Σ̇^l(x, x) = 1`, and no term is negative: it is the mean square
of `Σ_i q_i Θ^{l−1}(x, x_i) 1[u(x_i) > 0] s(x_i)` over `u(x) > 0`. Let no two training points be equal or opposite.
Crossing the boundary `u(x_i) = 0` alone changes the sum by its i-th term, so it vanishes only if each term does:

    D^L(x, x) = 0  ⟺  for all i with q_i ≠ 0 and all l = 1..L:  Θ^{l−1}(x, x_i) = 0, or l = 1 and x_i = −x.

For `L = 1` each such `x_i` is orthogonal to `x` or is `−x`. For `L = 2` each is `−x`, where `Θ¹` is zero too (its other
zero is not orthogonal to `x`). For `L >= 3` there is none: where `Θ¹ = 0`, `Θ² = Σ² > 0`. And `q_t = 0` for a `t > 0`
if and only if `f_0 = y`, when `Θ` is regular.

Source: W (arXiv:2511.07272), Proposition 4, for `L >= 2`. Departures: the part `Σ̇^l D^{l−1}` of the lower layers is of
the order of `T^l`; the conditions above. The law of `⟨h_0, δh'⟩` is in `numerics/inner_products.py`.
"""

from __future__ import annotations

from functools import cache

from sympy import (
    Derivative,
    Expr,
    Function,
    IndexedBase,
    Integer,
    Interval,
    Mul,
    Product,
    S,
    Sum,
    Symbol,
    oo,
    symbols,
)

from .derivation import Derivation
from .gaussian import phi, phi_prime
from .integration import Known
from .notation import Meaning
from .ntk import Sigma_dot, c_phi
from .orthants import RANGE, r12, r13, r23, three
from .reasons import Algebra
from .sums import Gradient, Induction, Mean

D, T = IndexedBase("D"), IndexedBase("T")  # D[l] and T[l] at a fixed pair of points
l = Symbol("l", integer=True, nonnegative=True)  # noqa: E741
q1, q2 = symbols("q_i q_j", real=True)  # q_i, q_j
q = Symbol("q", real=True)  # q of the one training point
x1, x2 = symbols("x_i x_j", real=True)  # x·x_i and x'·x_j
alpha, beta = symbols("alpha beta", real=True)  # q_i Θ^{l−1}(x, x_i) and q_j Θ^{l−1}(x', x_j)
gates = Symbol("Q", nonnegative=True)  # E[φ'(u)φ'(u')φ'(u_i)φ'(u_j)]
back = Symbol("B", nonnegative=True)  # B^l(x_i, x_j)
POSITIVE = Interval.open(0, oo)
_E = Function("E")


NOTATION = (
    Meaning(r"W, V", r"the weights of the hidden and of the output layer, independent and $N(0, 1)$"),
    Meaning(r"D_l", r"the limit of the scalar product of the changes of the features in layer $l$, at two inputs"),
    Meaning(r"T_l", r"the part of it that is the units' own"),
    Meaning(r"\dot\Sigma_l", r"the factor by which a layer passes the change below on"),
    Meaning(r"\phi", r"the activation, $\phi'$ its derivative"),
    Meaning(r"u", r"a preactivation"),
    Meaning(r"x, x'", r"two inputs, $z, z'$ two training points"),
    Meaning(r"f", r"the output"),
    Meaning(
        r"a, a', b, b'",
        r"the gates $\phi'(u)$ at two inputs and at two training points; $s, s'$ are the signals that come back, "
        r"$e, e'$ what the layer below does",
    ),
    Meaning(r"H_i", r"the unit step at $u_i$"),
    Meaning(r"\varphi", r"the activation"),
)


@cache
def one_hidden_layer() -> Derivation:
    """The coefficient `A_ij` in `E⟨φ'(u) δu, φ'(u') δu'⟩ = Σ_ij q_i q_j A_ij` for `L = 1`, at **every** width.

    `f(x) = sqrt(c/m) Σ_j V_j φ(Σ_p W_jp x_p)` with independent standard normal `V_j, W_jp`, and `δW = −Σ_i q_i
    ∂f(x_i)/∂W`.

    >>> one_hidden_layer().conclusion
    Q*c_phi*x_i*x_j
    """
    k, j, p, o = symbols("k j p o", integer=True, positive=True)
    width, dimension = symbols("m d", integer=True, positive=True)
    V, W = IndexedBase("V"), IndexedBase("W")
    x, xp, xi, xj = (IndexedBase(name) for name in ("x", "xprime", "z", "zprime"))

    def unit(index: Expr, point: IndexedBase) -> Expr:
        return Sum(W[index, o] * point[o], (o, 1, dimension))

    def change(test: IndexedBase, train: IndexedBase) -> Expr:
        """`∂f(train)/∂W_k · test`, without the factor of `f`."""
        output = Sum(V[j] * phi(unit(j, train)), (j, 1, width))
        return Sum(test[p] * Derivative(output, W[k, p]), (p, 1, dimension))

    gate = Mul(*(phi_prime(unit(k, point)) for point in (x, xp)))
    d = Derivation(
        c_phi / width * _E(Sum(gate * change(x, xi) * change(xp, xj), (k, 1, width))),
        r"A_{ij}(x, x')",
        {width: S.Naturals, dimension: S.Naturals, c_phi: POSITIVE},
        title="The change of the features of one hidden layer",
        where=NOTATION,
    )
    products = {Sum(a[p] * b[p], (p, 1, dimension)): value for a, b, value in ((x, xi, x1), (xp, xj, x2))}
    every = Mul(*(phi_prime(unit(k, point)) for point in (x, xp, xi, xj)))
    d = d.then(
        c_phi / width * _E(Mul(*products) * Sum(V[k] ** 2 * every, (k, 1, width))),
        because=r"$\partial f(x_i)/\partial W_{kp} = V_k\,\varphi'(u_k(x_i))\,x_{ip}$, without the factor of $f$",
        reason=Gradient(),
    )
    return d.then(
        c_phi * gates * x1 * x2,
        because=r"$V, W$ are independent, $\operatorname{E} V_k^2 = 1$, and $Q$ is the mean of the four $\varphi'$",
        reason=Mean(_E, (V, W), {every: gates, V[k] ** 2: Integer(1)}, given=products),
    )


@cache
def layer() -> Derivation:
    """`D^l` by `D^{l−1}`: one pair `i, j` of training points, by the three lemmas of the module.

    `a, a', b, b'` are the `φ'` of unit `k` at `x, x', x_i, x_j`, `s, s'` the signals of `x_i, x_j`, `e, e'` what
    wanders in from the layer below.

    >>> layer().conclusion
    B*Q*alpha*beta*c_phi + D[l - 1]*Sigmadot[l]
    """
    k, width = symbols("k m", integer=True, positive=True)
    a, ap, b, bp, signal, signalp, e, ep = (IndexedBase(n) for n in ("a", "a'", "b", "b'", "s", "s'", "e", "e'"))
    scale = c_phi / width
    moved, movedp = (
        -coefficient * gate[k] * one[k] + wandering[k]
        for coefficient, gate, one, wandering in ((alpha, b, signal, e), (beta, bp, signalp, ep))
    )
    d = Derivation(
        _E(Sum(a[k] * ap[k] * moved * movedp, (k, 1, width))),
        r"D_l(x, x')",
        {
            width: S.Naturals,
            c_phi: POSITIVE,
            alpha: S.Reals,
            beta: S.Reals,
            back: Interval(0, oo),
            gates: Interval(0, oo),
        },
        title="The change of the features, layer by layer",
        where=NOTATION,
    )
    third = symbols("Q_i Q_j", nonnegative=True)  # what multiplies a mean of zero
    values = {
        a[k] * ap[k] * b[k] * bp[k]: gates,
        a[k] * ap[k] * b[k]: third[0],
        a[k] * ap[k] * bp[k]: third[1],
        a[k] * ap[k]: Sigma_dot[l] / c_phi,
        signal[k] * signalp[k]: scale * back,
        e[k] * ep[k]: scale * D[l - 1],
        **{one[k]: Integer(0) for one in (signal, signalp, e, ep)},
    }
    return d.then(
        c_phi * alpha * beta * back * gates + Sigma_dot[l] * D[l - 1],
        because="signals, wandering parts and preactivations are independent, with the covariances of the lemmas",
        reason=Mean(_E, (a, ap, b, bp, signal, signalp, e, ep), values),
    )


@cache
def layer_sum() -> Derivation:
    """`D^l = Σ_{h=1}^l T^h ∏_{k=h+1}^l Σ̇^k`, for every `l`, by induction.

    >>> layer_sum().conclusion.subs(l, 2).doit()
    Sigmadot[2]*T[1] + T[2]
    """
    step = layer()
    h, k = symbols("h k", integer=True, positive=True)
    own = step.conclusion - Sigma_dot[l] * D[l - 1]
    following = step.conclusion.xreplace({own: T[l]}).subs(l, l + 1)
    d = Derivation(
        D[l], r"D_l(x, x')", {l: S.Naturals0}, title="The change of the features as a sum over layers", where=NOTATION
    )
    return d.then(
        Sum(T[h] * Product(Sigma_dot[k], (k, h + 1, l)), (h, 1, l)),
        because=r"induction from $D_0 = 0$ with $D_{l+1} = T_{l+1} + \dot\Sigma_{l+1} D_l$",
        reason=Induction(D[l], l, 0, Integer(0), following),
        using=(step,),
    )


@cache
def one_training_point() -> Derivation:
    """`D¹` for ReLU and a single training point `x` of the sphere, at the points `x_1, x_2`: in closed form.

    `r12` is the correlation of the two points, `r13` and `r23` are theirs with the training point, and `q = q_t`.

    >>> one_training_point().conclusion.subs({r12: 1, r13: 1, r23: 1, q: 1})
    1
    """
    step, triple = one_hidden_layer(), three()
    d = Derivation(
        q**2 * step.conclusion,
        r"D_1(x_1, x_2)",
        {r12: RANGE, r13: RANGE, r23: RANGE, q: S.Reals},
        title="One hidden layer and one training point",
        where=NOTATION,
    )
    relu = {c_phi: Integer(2), x1: r13, x2: r23, gates: triple.start}
    d = d.then(
        2 * q**2 * r13 * r23 * triple.start,
        because=r"ReLU: $\varphi'$ is an indicator, so that equal ones count once, and $c_\varphi = 2$",
        reason=Algebra(given=relu),
        using=(step,),
    )
    known = Known((triple,))
    return d.then(
        known.of(d.conclusion),
        because="the orthant probability of three Gaussians",
        reason=known,
        using=(triple,),
    )
