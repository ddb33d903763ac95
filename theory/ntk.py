r"""The neural tangent kernel of depth `L`: its recursion, its sum over layers, and each layer's part of it.

The network is `u^l = W^l g^{l−1} + σ_b b^l`, `g^l = sqrt(c_φ/m_l) φ(u^l)` for `l = 1..L`, `g⁰ = x`, `f = u^{L+1}`, all
parameters iid N(0, 1), `σ_b >= 0` (zero: no biases). For two inputs `x, x'`, as the widths `m_l` tend to infinity,

    ⟨g^l, g^l'⟩ → Σ_l,    Σ_0 = x·x',    Σ_l = c_φ E[φ(u)φ(v)],    Σ̇_l = c_φ E[φ'(u)φ'(v)],

with `(u, v)` centred Gaussian of the covariance `Σ_{l−1} + σ_b²`, which is that of `(u^l, u^l')`. The tangent kernel is
the scalar product of the gradients of `f` at `x` and `x'`, a sum over the layers `h = 1..L+1` to which the parameters
belong. With `δ^h = ∂f/∂u^h`, layer `h` contributes `⟨δ^h, δ^h'⟩` times its *own part* (`own_part`, derived in
`layer_gradient`), and backpropagation gives `⟨δ^h, δ^h'⟩ → ∏_{l=h}^L Σ̇_l`. Hence

    Θ_L = Σ_{h=1}^{L+1} T_h ∏_{l=h}^L Σ̇_l,    T_h = Σ_{h−1} + σ_b²,

or `Θ_L = Θ_{L−1} Σ̇_L + T_{L+1}`, `Θ_0 = T_1`. Without biases `T_h = Σ_{h−1}`. In the standard parametrisation
(`theory/parametrisation.py`) `T_1 = Σ_0 + 1` and `T_h = (m_{h−1}/c_φ) Σ_{h−1} + 1`, with the 1 if there are biases.

The two limits are theorems (Jacot et al. 2018; Arora et al. 2019; Yang 2020), not derived here. For `L = 1` none is
needed: the expectation is `Θ_1` at every width (`one_hidden_layer_expectation`).

Source: arXiv:2511.07272 (W) and the NTK article (N); Jacot, Gabriel, Hongler, arXiv:1806.07572. Departures: `Σ_l` has a
lower index, and the input is not divided by `sqrt(d)`.
"""

from __future__ import annotations

from functools import cache, lru_cache

from sympy import (
    Add,
    Derivative,
    Eq,
    Expr,
    Function,
    IndexedBase,
    Integer,
    Interval,
    Mul,
    Piecewise,
    Product,
    S,
    Sum,
    Symbol,
    acos,
    cos,
    oo,
    sqrt,
    symbols,
)

from .arccos import arccos_kernel
from .derivation import Derivation
from .errors import InvalidInput
from .gaussian import ANGLES, phi, phi_prime, theta
from .notation import Meaning
from .parametrisation import Parametrisation
from .reasons import Algebra
from .sums import Gradient, Induction, Mean
from .typeset import latex

L = Symbol("L", integer=True, nonnegative=True)
h, l = symbols("h l", integer=True, positive=True)  # noqa: E741
c_phi = Symbol("c_phi", positive=True)
sigma_b = Symbol("sigma_b", nonnegative=True)
Sigma, Sigma_dot, Theta, m = (IndexedBase(name) for name in ("Sigma", "Sigmadot", "Theta", "m"))

LARGEST_EXPLICIT_DEPTH = 64


NOTATION = (
    Meaning(r"\Theta_L", r"the tangent kernel of two inputs $x$ and $x'$, with $L$ hidden layers of infinite width"),
    Meaning(
        r"\Sigma_l",
        r"the covariance of the features after $l$ layers, $\Sigma_0 = x \cdot x'$ and $\Sigma_l = c_\varphi "
        r"\operatorname{E}[\varphi(u)\varphi(v)]$ for centred Gaussian $u, v$ of the covariance $\Sigma_{l-1} "
        r"+ \sigma_b^2$",
    ),
    Meaning(r"\dot\Sigma_l", r"the same with the derivative $\varphi'$ in place of the activation $\varphi$"),
    Meaning(r"\sigma_b", r"the standard deviation of the biases"),
    Meaning(r"\phi", r"the activation, $\phi'$ its derivative"),
    Meaning(r"W", r"the weights of the hidden layer, independent and $N(0, 1)$"),
    Meaning(r"V", r"the weights of the output, likewise"),
    Meaning(r"x", r"an input, $x'$ another"),
    Meaning(r"m_l", r"the width of layer $l$"),
)


def own_part(layer: Expr, bias: Expr = S.Zero, parametrisation: Parametrisation = Parametrisation.NTK) -> Expr:
    """`T_h`, what layer `h = 1, …, L+1` contributes for each unit of `⟨δ^h, δ^h'⟩`; `bias` is `σ_b`, zero for none.

    >>> own_part(h), own_part(h, sigma_b)
    (Sigma[h - 1], sigma_b**2 + Sigma[h - 1])
    >>> own_part(Integer(3), sigma_b, Parametrisation.STANDARD)
    1 + Sigma[2]*m[2]/c_phi
    """
    if parametrisation is Parametrisation.NTK:
        return Sigma[layer - 1] + bias**2
    weights = Piecewise((1, Eq(layer, 1)), (m[layer - 1] / c_phi, True))
    return weights * Sigma[layer - 1] + (0 if bias == 0 else 1)


@cache
def layer_gradient(parametrisation: Parametrisation = Parametrisation.NTK) -> Derivation:
    """Where `own_part` comes from: the gradient in the parameters of one layer, at finite width.

    The layer has `m` units and `n` inputs `g`, and `δ_i = ∂f/∂u_i`; `W_ij` and `b_i` enter `f` through `u_i` alone. In
    the standard parametrisation the inputs are `sqrt(n/c_φ) g` and the biases have no factor; the first layer, whose
    inputs are `x` itself, has the weights' part of the NTK parametrisation.
    """
    i, j, k = symbols("i j k", integer=True, positive=True)
    units, inputs = symbols("m n", integer=True, positive=True)
    W, b = IndexedBase("W"), IndexedBase("b")
    scale, bias = (1, sigma_b) if parametrisation is Parametrisation.NTK else (sqrt(inputs / c_phi), 1)
    g, delta = (IndexedBase("g"), IndexedBase("gprime")), (IndexedBase("delta"), IndexedBase("deltaprime"))
    u = [scale * Sum(W[i, j] * values[j], (j, 1, inputs)) + bias * b[i] for values in g]
    back = delta[0][i] * delta[1][i]
    of_weights = Mul(back, *(Derivative(value, W[i, k]) for value in u))
    of_biases = Mul(back, *(Derivative(value, b[i]) for value in u))
    d = Derivation(
        Sum(Sum(of_weights, (k, 1, inputs)), (i, 1, units)) + Sum(of_biases, (i, 1, units)),
        r"\Theta_{\text{layer}}",
        {sigma_b: Interval(0, oo), c_phi: Interval.open(0, oo)},
        title=f"The part of one layer, {parametrisation.value} parametrisation",
        where=NOTATION,
    )
    own = scale**2 * Sum(g[0][k] * g[1][k], (k, 1, inputs)) + bias**2
    return d.then(
        own * Sum(back, (i, 1, units)),
        because=r"$\partial f/\partial W_{ik} = \delta_i\, \partial u_i/\partial W_{ik}$, and the like for $b_i$",
        reason=Gradient(),
    )


def _check_depth(depth: int, largest: int) -> None:
    if isinstance(depth, bool) or not isinstance(depth, int) or not 0 <= depth <= largest:
        raise InvalidInput("depth", depth, f"give the number of hidden layers, an integer from 0 to {largest}")


def ntk(depth: int, bias: Expr = S.Zero, parametrisation: Parametrisation = Parametrisation.NTK) -> Expr:
    """`Θ_L` by the recursion, not multiplied out.

    >>> ntk(2)
    (Sigma[0]*Sigmadot[1] + Sigma[1])*Sigmadot[2] + Sigma[2]
    """
    _check_depth(depth, LARGEST_EXPLICIT_DEPTH)
    return _recursion([own_part(Integer(layer), bias, parametrisation) for layer in range(1, depth + 2)])


def _recursion(own_parts: list[Expr]) -> Expr:
    value, *rest = own_parts
    for layer, own in enumerate(rest, start=1):
        value = value * Sigma_dot[layer] + own
    return value


def layers(depth: int, bias: Expr = S.Zero, parametrisation: Parametrisation = Parametrisation.NTK) -> tuple[Expr, ...]:
    """The parts `T_h ∏_{l=h}^L Σ̇_l` of the layers `h = 1, …, L+1`.

    >>> layers(1)
    (Sigma[0]*Sigmadot[1], Sigma[1])
    """
    _check_depth(depth, LARGEST_EXPLICIT_DEPTH)
    return tuple(
        own_part(Integer(layer), bias, parametrisation) * Mul(*(Sigma_dot[k] for k in range(layer, depth + 1)))
        for layer in range(1, depth + 2)
    )


def layer_sum(depth: Expr, bias: Expr = S.Zero, parametrisation: Parametrisation = Parametrisation.NTK) -> Expr:
    """`Σ_{h=1}^{L+1} T_h ∏_{l=h}^L Σ̇_l`, for a number or a symbol.

    >>> layer_sum(2).doit()
    Sigma[0]*Sigmadot[1]*Sigmadot[2] + Sigma[1]*Sigmadot[2] + Sigma[2]
    """
    return Sum(own_part(h, bias, parametrisation) * Product(Sigma_dot[l], (l, h, depth)), (h, 1, depth + 1))


def nngp(depth: Expr, bias: Expr = S.Zero) -> Expr:
    """`Σ_L + σ_b²`, the covariance of the outputs `f(x), f(x')` at initialisation (the NNGP kernel)."""
    return Sigma[depth] + bias**2


@lru_cache(maxsize=None, typed=True)  # typed: 2.0 must not find what was cached for 2
def recursion_equals_layer_sum(
    depth: int, bias: Expr = S.Zero, parametrisation: Parametrisation = Parametrisation.NTK
) -> Derivation:
    """`Θ_L`, unrolled one layer at a time, is the sum over layers; `depth` a number.

    >>> recursion_equals_layer_sum(1).conclusion.doit()
    Sigma[0]*Sigmadot[1] + Sigma[1]
    """
    _check_depth(depth, LARGEST_EXPLICIT_DEPTH)
    d = Derivation(
        Theta[depth], rf"\Theta_{{{depth}}}(x, x')", {}, title=f"The sum over layers at depth {depth}", where=NOTATION
    )
    own = [own_part(Integer(layer), bias, parametrisation) for layer in range(1, depth + 2)]
    for level in range(depth, -1, -1):
        value = own[level] + (Theta[level - 1] * Sigma_dot[level] if level > 0 else 0)
        d = d.then(
            d.conclusion.xreplace({Theta[level]: value}),
            because=rf"the recursion for $\Theta_{{{level}}}$"
            if level > 0
            else r"$\Theta_0$ is the own part of layer 1",
            reason=Algebra(given={Theta[level]: value}),
        )
    return d.then(layer_sum(depth, bias, parametrisation), because="both lines multiplied out", reason=Algebra())


@cache
def layer_sum_by_induction(bias: Expr = S.Zero, parametrisation: Parametrisation = Parametrisation.NTK) -> Derivation:
    """`Θ_L` is the sum over layers for every `L >= 0`, by induction on the depth.

    >>> layer_sum_by_induction().conclusion == layer_sum(L)
    True
    """
    d = Derivation(
        Theta[L], r"\Theta_{L}(x, x')", {L: S.Naturals0}, title="The sum over layers at every depth", where=NOTATION
    )
    first = own_part(Integer(1), bias, parametrisation)
    following = Theta[L] * Sigma_dot[L + 1] + own_part(L + 2, bias, parametrisation)
    return d.then(
        layer_sum(L, bias, parametrisation),
        because=rf"induction from $\Theta_0 = {latex(first)}$ with $\Theta_{{L+1}} = {latex(following)}$",
        reason=Induction(Theta[L], L, 0, first, following),
    )


@lru_cache(maxsize=None, typed=True)  # typed: 2.0 must not find what was cached for 2
def trained_layers(depth: int, trained: frozenset[int], bias: Expr = S.Zero) -> Derivation:
    """The kernel when only the layers `trained`, of `1, …, L+1`, are: the recursion without the others' own parts.

    Its conclusion is the sum of the parts of the trained layers. For `trained = {L+1}` it is the NNGP kernel.

    >>> trained_layers(2, frozenset({1, 3})).conclusion
    Sigma[0]*Sigmadot[1]*Sigmadot[2] + Sigma[2]
    >>> trained_layers(2, frozenset({3})).conclusion == nngp(2)
    True
    """
    _check_depth(depth, LARGEST_EXPLICIT_DEPTH)
    if not trained <= set(range(1, depth + 2)):
        raise InvalidInput("trained", sorted(trained), f"layers are numbered from 1 to {depth + 1} at depth {depth}")
    own = [own_part(Integer(layer), bias) if layer in trained else Integer(0) for layer in range(1, depth + 2)]
    kept = ", ".join(map(str, sorted(trained)))
    d = Derivation(
        _recursion(own),
        rf"\Theta_{{{depth}}}^{{\{{{kept}\}}}}",
        {},
        title=f"The kernel of depth {depth} with trained layers: {kept or 'none'}",
        where=NOTATION,
    )
    parts = layers(depth, bias)
    return d.then(
        Add(*(parts[layer - 1] for layer in sorted(trained))),
        because="multiplied out; a frozen layer has no term",
        reason=Algebra(),
    )


@cache
def one_hidden_layer_expectation() -> Derivation:
    """`E[Θ] = Σ_1 + Σ_0 Σ̇_1` for one hidden layer, at **every** width `m >= 1`, for a differentiable φ.

    `f(x) = sqrt(c_φ/m) Σ_j V_j φ(Σ_i W_ji x_i)` with independent standard normal `V_j, W_ji`; `Θ` is the scalar product
    of its gradients at `x` and `x'`.

    >>> one_hidden_layer_expectation().conclusion
    Sigma[0]*Sigmadot[1] + Sigma[1]
    """
    i, j, k, p = symbols("i j k p", integer=True, positive=True)
    width, dimension = symbols("m d", integer=True, positive=True)
    E = Function("E")
    V, W, inputs = IndexedBase("V"), IndexedBase("W"), (IndexedBase("x"), IndexedBase("xprime"))

    def unit(index: Expr, x: IndexedBase) -> Expr:
        return Sum(W[index, i] * x[i], (i, 1, dimension))

    outputs = [Sum(V[j] * phi(unit(j, x)), (j, 1, width)) for x in inputs]  # without their factor sqrt(c_φ/m)
    of_last = Mul(*(Derivative(output, V[k]) for output in outputs))
    of_first = Mul(*(Derivative(output, W[k, p]) for output in outputs))
    d = Derivation(
        c_phi / width * E(Sum(of_last, (k, 1, width)))
        + c_phi / width * E(Sum(of_first, (p, 1, dimension), (k, 1, width))),
        r"\operatorname{E}[\Theta]",
        {width: S.Naturals, dimension: S.Naturals, c_phi: Interval.open(0, oo)},
        title="The expected kernel of one hidden layer",
        where=NOTATION,
    )
    pair = Mul(*(phi(unit(k, x)) for x in inputs))
    pair_of_derivatives = Mul(*(phi_prime(unit(k, x)) for x in inputs))
    scalar_product = Sum(inputs[0][p] * inputs[1][p], (p, 1, dimension))
    d = d.then(
        c_phi / width * E(Sum(pair, (k, 1, width)))
        + c_phi / width * E(scalar_product * Sum(V[k] ** 2 * pair_of_derivatives, (k, 1, width))),
        because="differentiation",
        reason=Gradient(),
    )
    return d.then(
        Sigma[1] + Sigma[0] * Sigma_dot[1],
        because=r"$V, W$ are independent, $E[V_k^2] = 1$; the other means are $\Sigma_1/c_\phi$, $\dot\Sigma_1/c_\phi$",
        reason=Mean(
            E,
            (V, W),
            {pair: Sigma[1] / c_phi, pair_of_derivatives: Sigma_dot[1] / c_phi, V[k] ** 2: Integer(1)},
            given={scalar_product: Sigma[0]},
        ),
    )


@cache
def relu_ntk(depth: int) -> Derivation:
    """The ReLU kernel `Θ_L` of two unit vectors at the angle `theta`, without biases, for `0 <= L <= 4`.

    On the sphere `Σ_l = cos θ_l` with the angles `θ_0 = θ`, `cos θ_l = κ_1(θ_{l−1})`, and `Σ̇_l = κ_0(θ_{l−1})`.

    >>> relu_ntk(1).conclusion
    (pi - theta)*cos(theta)/pi + ((pi - theta)*cos(theta) + sin(theta))/pi
    >>> relu_ntk(4).conclusion.subs(theta, 0)
    5
    """
    _check_depth(depth, 4)
    sign_kernel, kernel = arccos_kernel(0), arccos_kernel(1)
    angles = [theta, *(Symbol(f"theta_{level}", nonnegative=True) for level in range(1, depth))]
    by_angles: dict[Expr, Expr] = {Sigma[0]: cos(theta)}
    for level in range(1, depth + 1):
        by_angles[Sigma[level]] = kernel.conclusion.subs(theta, angles[level - 1])
        by_angles[Sigma_dot[level]] = sign_kernel.conclusion.subs(theta, angles[level - 1])
    nested: dict[Expr, Expr] = {}
    for level in range(1, depth):
        nested[angles[level]] = acos(kernel.conclusion.subs(theta, angles[level - 1])).subs(nested)
    d = Derivation(
        Add(*layers(depth)),
        rf"\Theta_{{{depth}}}",
        dict.fromkeys(angles, ANGLES),
        title=f"The ReLU kernel of depth {depth} on the sphere",
        where=NOTATION,
    )
    d = d.then(
        d.conclusion.subs(by_angles),
        because=r"$\Sigma_l = \kappa_1(\theta_{l-1})$ and $\dot\Sigma_l = \kappa_0(\theta_{l-1})$ on the sphere",
        reason=Algebra(given=by_angles),
        using=(sign_kernel, kernel),
    )
    if not nested:
        return d
    return d.then(
        d.conclusion.subs(nested),
        because=r"$\theta_l = \arccos \kappa_1(\theta_{l-1})$",
        reason=Algebra(given=nested),
    )
