r"""Symmetries of the parameters of a network: what they leave unchanged, what they rescale, and what descent conserves.

A *symmetry* of `F(θ)` is a linear map `T` of the parameters with `F ∘ T = F` at every input. Then `∇F(Tθ) =
T^{−⊤}∇F(θ)` and so on for higher derivatives. Networks are those of `numerics/networks.py`, with unscaled weights `Wˡ`
for parameters; their scale factors `√(c_φ/m)` are part of the slopes `d` below, so that nothing here depends on the
parametrisation.

**Permuting hidden units** is orthogonal, `T^{−⊤} = T`: it leaves `F`, `Θ`, each `C_{0,d}` and every norm unchanged.

**Rescaling.** Let `φ(αs) = αφ(s)` for `α > 0`. For `1 <= l <= L` take `(Wˡ, bˡ) → α(Wˡ, bˡ)`, `W^{l+1} → W^{l+1}/α`.
All preactivations keep their signs, hence all slopes stay. A unit with the weights `w` into it (a row of `Wˡ`, its bias
being the weight of the constant feature `σ_b`), `v` out of it (a column of `W^{l+1}`) and slope `d` passes `v d w g`
on, of its input `g`: unchanged. So this holds unit by unit, with an `α` for each; and for linear φ with any invertible
matrix `S`: `Wˡ → SWˡ`, `W^{l+1} → W^{l+1}S^{−1}`. Take the share of `C_{D,d} = η^{D/2+d}/(D! d!) ∇^{D+d}F (∇F)^{×d}`
whose free indices lie `D_l` times in layer `l` and `D_{l+1}` times in the next, and its contracted ones `d_l` and
`d_{l+1}` times. It is multiplied by `α^{2(d_{l+1} − d_l) + D_{l+1} − D_l}` (`share_power`): `Θ_l` by `α^{−2}` and
`Θ_{l+1}` by `α²`. As a whole `C_{0,d}` has no power, being a sum of those from `α^{−2d}` to `α^{2d}`; and one function
`F` has kernels `Θ` as large as one likes.

**Generators.** Where `F` is differentiable, `⟨w, F_w⟩ = ⟨v, F_v⟩` for every unit (`generator`): the Jacobian `J` of `F`
at any inputs has `J X = 0`, with a column of `X` for each unit, and `rank J <= P − rank X`. Without biases all layers
have `⟨Wˡ, ∇_l F⟩ = F` (`euler`).

**Descent.** For any loss `ℓ` of the outputs, the flow `θ̇ = −∇ℓ` conserves `|v|² − |w|²` of every unit, so also
`‖W^{l+1}‖² − ‖Wˡ‖²` (less `|bˡ|²`), and between linear layers all of `W^{l+1}ᵀW^{l+1} − WˡWˡᵀ`. A step of size `η` adds
exactly `η²(|ℓ_v|² − |ℓ_w|²)` and so on: the order `η²` in a step, `η` in a fixed time. Here `ℓ_w = vᵀH` and `ℓ_v =
Hwᵀ`, with `H = Σ_i ∂ℓ/∂F(x_i) d_i A_iᵀ g_iᵀ`, `A_i` the derivative of `F(x_i)` by the preactivations above.

Source: the title of the summary of arXiv:2401.04013; Du, Hu, Lee (2018) for the conserved quantities.
"""

from __future__ import annotations

from functools import cache

from sympy import (
    Derivative,
    Expr,
    Identity,
    Interval,
    MatrixExpr,
    MatrixSymbol,
    Range,
    S,
    Symbol,
    Trace,
    factorial,
    oo,
    symbols,
)

from .derivation import Derivation
from .errors import InvalidInput
from .matrix_words import Words
from .notation import Meaning
from .reasons import Algebra

alpha, eta, eta1, eta2 = symbols("alpha eta eta_l eta_k", positive=True)  # k stands for l + 1
D_l, D_k, d_l, d_k = symbols("D_l D_k d_l d_k", integer=True, nonnegative=True)
_i, _j = symbols("i j", integer=True, nonnegative=True)
_at_image = Symbol("F_ij")  # a derivative at Tθ, of order i in layer l and j in the next
_m, _p, _q = symbols("m p q", integer=True, positive=True)  # units, features below, preactivations above

w, v = MatrixSymbol("w", 1, _p), MatrixSymbol("v", _q, 1)  # the weights into a unit and out of it
g, g2 = MatrixSymbol("g", _p, 1), MatrixSymbol("g'", _p, 1)  # the features below, at two inputs
A, A2 = MatrixSymbol("A", 1, _q), MatrixSymbol("A'", 1, _q)  # the derivative of F by the preactivations above
slope = Symbol("d", positive=True)
H = MatrixSymbol("H", _q, _p)
W1, W2 = MatrixSymbol("W_l", _m, _p), MatrixSymbol("W_k", _q, _m)
D, D2 = MatrixSymbol("D", _m, _m), MatrixSymbol("D'", _m, _m)  # the slopes of a layer, at two inputs

_SIZES = {name: Range(1, oo) for name in (_m, _p, _q)}
_POSITIVE = {name: Interval.open(0, oo) for name in (alpha, eta, eta1, eta2, slope)}


NOTATION = (
    Meaning(r"\theta", r"the list of the parameters; $T$ is a linear map of them that leaves the network unchanged"),
    Meaning(r"T", r"that map"),
    Meaning(r"F_{ij}", r"a derivative of the network, $i$ times by layer $l$ and $j$ times by the next, $k$"),
    Meaning(r"W_l, W_k", r"the weights of layers $l$ and $k = l + 1$"),
    Meaning(r"w, v", r"the weights into a unit and out of it"),
    Meaning(r"g, g'", r"the features below, at two inputs"),
    Meaning(r"A, A'", r"the derivatives of the output by the preactivations above"),
    Meaning(r"D, D'", r"the slopes of the activations"),
    Meaning(r"G_l, G_k", r"the gradients of the loss by $W_l$ and $W_k$"),
    Meaning(r"V_l, V_k", r"the gradients of the output by $W_l$ and $W_k$"),
    Meaning(r"S", r"a test matrix, or any invertible one between linear layers"),
    Meaning(r"N_l, N_k", r"the squared norms of these gradients"),
    Meaning(r"C_{D,d}", r"the derivative correlation of $d$ gradients with $D$ free indices"),
    Meaning(r"\Delta", r"the change in a step"),
    Meaning(r"\ell", r"the loss"),
    Meaning(r"s, r, j, l, t, a, b", r"positive numbers and indices"),
)


def _domain(*names: Symbol) -> dict[Expr, object]:
    return {name: (_SIZES | _POSITIVE)[name] for name in names}


@cache
def rescaled_output() -> Derivation:
    """What a layer passes on after `Wˡ → αWˡ`, `W^{l+1} → W^{l+1}/α`: what it did before."""
    d = Derivation(
        Trace(A * (W2 / alpha) * D * (alpha * W1) * g),
        r"F(T\theta)",
        _domain(alpha),
        "Rescaling leaves the output",
        where=NOTATION,
    )
    return d.then(Trace(A * W2 * D * W1 * g), because=r"$D$, the slopes, depend on signs only", reason=Words())


@cache
def rescaled_kernel(above: bool = False) -> Derivation:
    r"""`Θ_l(Tθ)` by `Θ_l(θ)`, where `Θ_l = ⟨δˡ, δ'ˡ⟩⟨g^{l−1}, g'^{l−1}⟩`; that of the layer `above` by its own.

    >>> rescaled_kernel().conclusion, rescaled_kernel(above=True).conclusion
    (Theta/alpha**2, Theta*alpha**2)
    """
    if not isinstance(above, bool):
        raise InvalidInput("above", above, "give True for the layer above, False for the layer that is multiplied")
    share = Symbol("Theta", real=True)
    if above:
        image, before = (Trace(A * A2.T) * Trace((D * X * g).T * D2 * X * g2) for X in (alpha * W1, W1))
    else:
        image, before = (Trace(A * X * D * (A2 * X * D2).T) * Trace(g.T * g2) for X in (W2 / alpha, W2))
    d = Derivation(
        image,
        rf"\Theta_{{{'l+1' if above else 'l'}}}(T\theta)",
        _domain(alpha),
        f"Rescaling changes the kernel of the layer {'above' if above else 'below'}",
        where=NOTATION,
    )
    return d.then(
        share * (alpha**2 if above else alpha**-2),
        because=r"only one of the two factors changes; $\Theta$ is the share at $\theta$",
        reason=Words(given={share: before}),
    )


@cache
def transformed_derivative() -> Derivation:
    r"""`∂^i_l ∂^j_{l+1} F` at `θ` by that at `Tθ`, along any directions: it is `α^{i−j}` times that.

    `F(T(θ + s a + r b)) = F(θ + s a + r b)` for `a` in layer `l` and `b` in the next: terms of the two Taylor series.

    >>> transformed_derivative().conclusion
    F_ij*alpha**(i - j)
    """
    s, r = symbols("s r", positive=True)

    def term(coefficient: Expr, first: Expr, second: Expr) -> Expr:
        return coefficient * first**_i * second**_j / (factorial(_i) * factorial(_j))

    d = Derivation(
        term(_at_image, alpha * s, r / alpha) / term(S.One, s, r),
        r"\partial_l^i \partial_{l+1}^j F(\theta)",
        _domain(alpha),
        "Derivatives along a symmetry",
        where=NOTATION,
    )
    return d.then(
        _at_image * alpha ** (_i - _j),
        because=r"$T(sa + rb) = \alpha s a + r b/\alpha$",
        reason=Algebra(),
    )


@cache
def share_power() -> Derivation:
    r"""The factor of the share `(D_l, D_{l+1}; d_l, d_{l+1})` of `C_{D,d}` at `Tθ`.

    >>> share_power().conclusion
    alpha**(D_k - D_l + 2*d_k - 2*d_l)
    """
    law = transformed_derivative()

    def image(first: Expr, second: Expr) -> Expr:
        """What a derivative is multiplied by from `θ` to `Tθ`."""
        return _at_image / law.conclusion.subs({_i: first, _j: second})

    d = Derivation(
        image(D_l + d_l, D_k + d_k) * image(S.One, S.Zero) ** d_l * image(S.Zero, S.One) ** d_k,
        r"\frac{C_{D,d}(T\theta)}{C_{D,d}(\theta)}",
        _domain(alpha) | {name: Range(0, oo) for name in (D_l, D_k, d_l, d_k)},
        "A share of a correlation along a symmetry",
        where=NOTATION,
    )
    return d.then(
        alpha ** (2 * (d_k - d_l) + D_k - D_l),
        because=r"one derivative of order $D + d$, and $d$ gradients",
        reason=Algebra(),
        using=(law,),
    )


@cache
def generator() -> Derivation:
    r"""The derivative of `F` along the rescaling of a unit; at `α = 1` it is `⟨w, F_w⟩ − ⟨v, F_v⟩`.

    >>> generator().conclusion
    0
    """
    passed = Trace(A * (v / alpha) * slope * (alpha * w) * g)
    d = Derivation(
        Derivative(passed, alpha),
        r"\frac{\mathrm d}{\mathrm d\alpha} F(T\theta)",
        _domain(slope, alpha),
        "Along a rescaling",
        where=NOTATION,
    )
    return d.then(S.Zero, because=r"$\alpha$ cancels", reason=Words())


@cache
def generator_of_gradients() -> Derivation:
    """The same from the gradients `∂F/∂w = d (Av)gᵀ`, `∂F/∂v = d (wg)Aᵀ`."""
    by_w, by_v = slope * v.T * A.T * g.T, slope * A.T * g.T * w.T
    d = Derivation(
        Trace(w.T * by_w) - Trace(v.T * by_v),
        r"\langle w, F_w\rangle - \langle v, F_v\rangle",
        _domain(slope),
        "The generator of a rescaling is orthogonal to the gradient",
        where=NOTATION,
    )
    return d.then(S.Zero, because="traces are cyclic", reason=Words(), using=(generator(),))


@cache
def euler() -> Derivation:
    r"""`⟨Wˡ, ∇_l F⟩ = F`, without biases above: `F` is homogeneous of degree 1 in each `Wˡ`."""
    gradient = (A * W2 * D).T * g.T
    d = Derivation(
        Trace(W1.T * gradient), r"\langle W^l, \nabla_l F\rangle", {}, "Euler's theorem for a layer", where=NOTATION
    )
    along = Derivative(Trace(A * W2 * D * (alpha * W1) * g), alpha)
    d = d.then(along, because=r"the derivative along $W^l$", reason=Words())
    return d.then(Trace(A * W2 * D * W1 * g), because=r"$F(\alpha W^l) = \alpha F(W^l)$", reason=Words())


# --- what descent conserves: for the weights of a unit, or of two linear layers tested with a matrix S ---------------

_TEST = MatrixSymbol("S", _m, _m)
_INVARIANTS = {False: "(|v|^2 - |w|^2)", True: r"\operatorname{tr} S(W_k^\top W_k - W_l W_l^\top)"}
square_below, square_above = symbols("N_l N_k", real=True)  # of the gradients of the loss, in layers l and l + 1


def _product(first: tuple[MatrixExpr, MatrixExpr], second: tuple[MatrixExpr, MatrixExpr], linear: bool) -> Expr:
    """The bilinear form whose diagonal is `|v|² − |w|²`, or `tr S(W^{l+1}ᵀW^{l+1} − WˡWˡᵀ)` of linear layers."""
    (below, below2), (above, above2) = first, second
    if linear:
        return Trace(_TEST * above.T * above2) - Trace(_TEST * below * below2.T)
    return Trace(above.T * above2) - Trace(below * below2.T)


def _weights(linear: bool) -> tuple[MatrixSymbol, MatrixSymbol]:
    if not isinstance(linear, bool):
        raise InvalidInput("linear", linear, "give True for linear layers, False for a homogeneous unit")
    return (W1, W2) if linear else (w, v)


def _names(symbol: str, linear: bool) -> tuple[MatrixSymbol, MatrixSymbol]:
    below, above = _weights(linear)
    return MatrixSymbol(f"{symbol}_l", *below.shape), MatrixSymbol(f"{symbol}_k", *above.shape)


@cache
def balance_rate(linear: bool = False) -> Derivation:
    r"""The derivative of `|v|² − |w|²` along gradient flow, or for `linear` layers of `tr S(W^{l+1}ᵀW^{l+1} − WˡWˡᵀ)`.

    >>> balance_rate().conclusion, balance_rate(linear=True).conclusion
    (0, 0)
    """
    (below, above), (to_below, to_above) = _weights(linear), _names("V", linear)
    d = Derivation(
        _product((to_below, below), (to_above, above), linear) + _product((below, to_below), (above, to_above), linear),
        rf"\frac{{\mathrm d}}{{\mathrm dt}} {_INVARIANTS[linear]}",
        title="What gradient flow conserves" + (" between linear layers" if linear else ""),
        where=NOTATION,
    )
    return d.then(
        S.Zero,
        because=r"along the flow $V_l = -\nabla_l\ell$, $V_k = -\nabla_k\ell$; traces are cyclic",
        reason=Words(given={to_below: -above.T * H, to_above: -H * below.T}),
    )


@cache
def balance_step(linear: bool = False) -> Derivation:
    """What a step of size `η` adds to the same: `η²` times its value for the gradients of the loss, `N_k − N_l`.

    >>> balance_step().conclusion
    eta**2*(N_k - N_l)
    """
    (below, above), (by_below, by_above) = _weights(linear), _names("G", linear)
    moved = (below - eta * by_below,) * 2, (above - eta * by_above,) * 2
    d = Derivation(
        _product(*moved, linear) - _product((below, below), (above, above), linear),
        rf"\Delta {_INVARIANTS[linear]}",
        _domain(eta),
        "What a step adds to it" + (" between linear layers" if linear else ""),
        where=NOTATION,
    )
    test = _TEST if linear else Identity(1)
    squares = {
        square_below: Trace(test * by_below * by_below.T),
        square_above: Trace(test * by_above.T * by_above),
    }
    return d.then(
        eta**2 * (square_above - square_below),
        because=r"the terms of first order cancel; $N_l$ is the square of the gradient $G_l = \nabla_l\ell$",
        reason=Words(given=squares | {by_below: above.T * H, by_above: H * below.T}),
        using=(balance_rate(linear),),
    )


@cache
def balance_step_unequal() -> Derivation:
    """What a step with rates `η_l` and `η_k`, `k = l + 1`, adds to `|v|²/η_k − |w|²/η_l`, which their flow conserves.

    >>> balance_step_unequal().conclusion
    N_k*eta_k - N_l*eta_l
    """
    by_w, by_v = _names("G", False)
    w_moved, v_moved = w - eta1 * by_w, v - eta2 * by_v
    d = Derivation(
        (Trace(v_moved.T * v_moved) - Trace(v.T * v)) / eta2 - (Trace(w_moved * w_moved.T) - Trace(w * w.T)) / eta1,
        r"\Delta (|v|^2/\eta_k - |w|^2/\eta_l)",
        _domain(eta1, eta2),
        "A step with unequal rates",
        where=NOTATION,
    )
    squares = {square_below: Trace(by_w * by_w.T), square_above: Trace(by_v.T * by_v)}
    return d.then(
        eta2 * square_above - eta1 * square_below,
        because=r"the terms of first order cancel",
        reason=Words(given=squares | {by_w: v.T * H, by_v: H * w.T}),
    )
