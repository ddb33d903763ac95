r"""Linear networks with a learning rate for each layer: what is trained, from where, and the gradients split in two.

Definition. `n` inputs, the rows of `X`, with `XᵀX = n I`; `n = d = h`, the width `h >= 1`. Targets `Y = Xβ`.

    two layers     f(x) = (1/h) xᵀW₁W₂  ∈ R^h,    loss (1/2n) ‖XW₁W₂/h − Y‖²_F,     β = Q/√h, Q Haar orthogonal;
    three layers   f(x) = (1/√h) xᵀW₁W₂a ∈ R,     loss (1/2n) ‖XW₁W₂a/√h − Y‖²,     a fixed, β a vector.

`W₁, W₂` are `h × h`, independent and Haar orthogonal at the start. A step moves both at once, `W_i ← W_i − η_i G_i`,
with rates `η₁, η₂ >= 0`; the gradients are split as `G_i = B_i − A_i`, where `A_i`, the *label signal*, is all that
contains `M = XᵀY/n`, and `B_i`, the *self-interaction*, contains the weights only:

    two layers     A₁ = MW₂ᵀ/h,      A₂ = W₁ᵀM/h,      B₁ = W₁W₂W₂ᵀ/h²,      B₂ = W₁ᵀW₁W₂/h²;
    three layers   A₁ = MaᵀW₂ᵀ/√h,   A₂ = W₁ᵀMaᵀ/√h,   B₁ = W₁W₂aaᵀW₂ᵀ/h,    B₂ = W₁ᵀW₁W₂aaᵀ/h.

Signal-only updates drop `B`. The test loss is `E‖f(x) − xᵀβ‖²`, with `x ~ N(0, I)`.

Source: arXiv:2606.00340 (B). Departures: none. `a` and `β` are the source's unit vectors, of any law, or, as in its
released code, independent `N(0, I/h)`.
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Basic, Derivative, MatrixExpr, MatrixSymbol, Symbol, Trace, sqrt

from .derivation import Derivation
from .errors import InvalidInput
from .layerwise_options import Updates
from .matrix_words import Words, word
from .rate_polynomials import eta1, eta2, h

rho = Symbol("rho", nonnegative=True)  # the variance of the label noise
n = Symbol("n", integer=True, positive=True)  # the number of samples
epsilon = Symbol("epsilon", real=True)

W1, W2, Q, M = (MatrixSymbol(name, h, h) for name in ("W_1", "W_2", "Q", "M"))
D = MatrixSymbol("D", h, h)  # a direction in which a weight matrix is moved
X = MatrixSymbol("X", n, h)
Y = MatrixSymbol("Y", n, h)
a, beta, x = (MatrixSymbol(name, h, 1) for name in ("a", "beta", "x"))
m, y = MatrixSymbol("m", h, 1), MatrixSymbol("y", n, 1)  # `M` and `Y` for scalar outputs


def check_layers(layers: int) -> None:
    if isinstance(layers, bool) or layers not in (2, 3):
        raise InvalidInput("layers", layers, "give 2 or 3")


def signal(layers: int, weights: tuple[MatrixExpr, MatrixExpr], label_signal: MatrixExpr) -> tuple[MatrixExpr, ...]:
    """`A₁` and `A₂`."""
    first, second = weights
    if layers == 2:
        return label_signal * second.T / h, first.T * label_signal / h
    return label_signal * a.T * second.T / sqrt(h), first.T * label_signal * a.T / sqrt(h)


def interaction(layers: int, weights: tuple[MatrixExpr, MatrixExpr]) -> tuple[MatrixExpr, ...]:
    """`B₁` and `B₂`."""
    first, second = weights
    if layers == 2:
        return first * second * second.T / h**2, first.T * first * second / h**2
    return first * second * a * a.T * second.T / h, first.T * first * second * a * a.T / h


def output(layers: int, weights: tuple[MatrixExpr, MatrixExpr]) -> MatrixExpr:
    """The matrix, or column, `F` of `f(x) = xᵀF`."""
    first, second = weights
    return first * second / h if layers == 2 else first * second * a / sqrt(h)


def descent(
    layers: int, label_signal: MatrixExpr, steps: int, updates: Updates
) -> tuple[tuple[MatrixSymbol, MatrixSymbol], dict[Basic, Basic]]:
    """The names of `W₁, W₂` after `steps` steps of gradient descent, and the definitions of all on the way.

    >>> descent(2, M, 1, Updates.SIGNAL)[1]
    {W_1_1: (eta1/h)*M*W_2.T + W_1, W_2_1: (eta2/h)*W_1.T*M + W_2}
    """
    names, given = (W1, W2), {}
    for step in range(1, steps + 1):
        moves = signal(layers, names, label_signal)
        if updates is Updates.FULL:
            moves = tuple(A - B for A, B in zip(moves, interaction(layers, names), strict=True))
        following = (MatrixSymbol(f"W_1_{step}", h, h), MatrixSymbol(f"W_2_{step}", h, h))
        given |= {new: W + rate * G for new, W, rate, G in zip(following, names, (eta1, eta2), moves, strict=True)}
        names = following
    return names, given


@lru_cache(maxsize=None, typed=True)
def gradient(layers: int, layer: int) -> Derivation:
    """The derivative of the loss along `D` in the weights of `layer` is `tr Dᵀ(B − A)`: so the gradient is `B − A`.

    The weights are moved by `εD`, and both lines hold for every `ε`.

    >>> all(step.outcome.proved for step in gradient(2, 1).check())
    True
    """
    check_layers(layers)
    if layer not in (1, 2):
        raise InvalidInput("layer", layer, "give 1 or 2")
    moved = (W1 + epsilon * D, W2) if layer == 1 else (W1, W2 + epsilon * D)
    labels, label_signal = (Y, M) if layers == 2 else (y, m)
    residual = X * output(layers, moved) - labels
    d = Derivation(
        Derivative(Trace(residual.T * residual) / (2 * n), epsilon),
        rf"\langle D, G_{layer}\rangle",
        {},
        title=f"The gradient of layer {layer} of {layers}",
    )
    A, B = signal(layers, moved, label_signal)[layer - 1], interaction(layers, moved)[layer - 1]
    return d.then(
        Trace(D.T * (B - A)),
        because=rf"differentiation, with $X^\top X = n I$ and $X^\top {labels.name} = n {label_signal.name}$",
        reason=Words(rules={word(X.T, X): n}, given={label_signal: X.T * labels / n}),
    )
