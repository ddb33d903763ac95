r"""Linear networks with a learning rate for each layer: what is trained, from where, and the gradients split in two.

Definition. `n` inputs, the rows of `X`, in as many dimensions as the width, `d = h >= 1`; whitened inputs have
`XᵀX = n I`. Labels `Y = Xβ + √ρ Ξ`, with iid N(0, 1) entries of `Ξ`, where there is label noise of the variance `ρ`.

    two layers     f(x) = (1/h) xᵀW₁W₂  ∈ R^h,    loss (1/2n) ‖XW₁W₂/h − Y‖²_F,     β a matrix;
    three layers   f(x) = (1/√h) xᵀW₁W₂a ∈ R,     loss (1/2n) ‖XW₁W₂a/√h − Y‖²,     a fixed, β a vector.

`W₁, W₂` are `h × h` and move both at once, `W_i ← W_i − η_i G_i`, with rates `η₁, η₂ >= 0`. The gradients are split as
`G_i = B_i − A_i`, where `A_i`, the *label signal*, is all that contains `M = XᵀY/n`, and `B_i`, the *self-interaction*,
contains the weights and the Gram matrix `C = XᵀX/n` of the inputs only, which is `I` for whitened ones:

    two layers     A₁ = MW₂ᵀ/h,      A₂ = W₁ᵀM/h,      B₁ = CW₁W₂W₂ᵀ/h²,      B₂ = W₁ᵀCW₁W₂/h²;
    three layers   A₁ = MaᵀW₂ᵀ/√h,   A₂ = W₁ᵀMaᵀ/√h,   B₁ = CW₁W₂aaᵀW₂ᵀ/h,    B₂ = W₁ᵀCW₁W₂aaᵀ/h.

Signal-only updates drop `B`. The test loss is `E‖f(x) − xᵀβ‖²`, with `x ~ N(0, I)`, without noise. The laws of the
weights, of `β` and `a`, and of the inputs are those of `theory/layerwise_options.py`.

Source: arXiv:2606.00340 (B), where `n = h`. `a` and `β` are the source's unit vectors, of any law, or, as in its
released code, independent `N(0, I/h)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sympy import Basic, Derivative, Identity, MatrixExpr, MatrixSymbol, Set, Symbol, Trace, sqrt

from .derivation import Derivation
from .errors import InvalidInput
from .haar import mean
from .layerwise_options import Inputs, Updates
from .matrix_words import Words, word
from .notation import Meaning
from .rate_polynomials import eta1, eta2, h, n

rho = Symbol("rho", nonnegative=True)  # the variance of the label noise
epsilon = Symbol("epsilon", real=True)

W1, W2, Q, M = (MatrixSymbol(name, h, h) for name in ("W_1", "W_2", "Q", "M"))
D = MatrixSymbol("D", h, h)  # a direction in which a weight matrix is moved
X = MatrixSymbol("X", n, h)
Y = MatrixSymbol("Y", n, h)
a, beta, x = (MatrixSymbol(name, h, 1) for name in ("a", "beta", "x"))
m, y = MatrixSymbol("m", h, 1), MatrixSymbol("y", n, 1)  # `M` and `Y` for scalar outputs


identity = Identity(h)
Weights = tuple[MatrixExpr, MatrixExpr]


WEIGHTS = Meaning(r"W_1, W_2", r"the weights of the two moving layers; $W_{1\,t}$ those after $t$ steps")
TARGET = Meaning(r"Q", r"the target of two layers times $\sqrt h$, orthogonal")
GRADIENT = Meaning(r"G_i", r"the gradient of the loss by $W_i$")
NOTATION = (
    WEIGHTS,
    Meaning(r"X", r"the matrix whose rows are the $n$ inputs"),
    Meaning(r"Y, y", r"the labels, a matrix or a vector"),
    Meaning(r"n", r"the number of inputs"),
    Meaning(r"\beta", r"the target, in the labels $X\beta$"),
    Meaning(r"a", r"the fixed last layer of three"),
    Meaning(r"M, m", r"$X^\top Y/n$ and $X^\top y/n$"),
    TARGET,
    Meaning(r"x", r"a new input, of the law $N(0, I)$"),
    GRADIENT,
    Meaning(r"D", r"a direction, in which a weight matrix is moved by $\epsilon$"),
    Meaning(r"\epsilon", r"the size of this change"),
)


def check_layers(layers: int) -> None:
    if isinstance(layers, bool) or layers not in (2, 3):
        raise InvalidInput("layers", layers, "give 2 or 3")


def check_steps(steps: int, most: int, beyond: str = "") -> None:
    """Refuse a number of steps that is no integer from 0 to `most`; `beyond` says what there is for more."""
    if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= most:
        raise InvalidInput("steps", steps, f"give 0 to {most}" + (f"; {beyond}" if beyond else ""))


def signal(
    layers: int, weights: Weights, label_signal: MatrixExpr, readout: MatrixExpr = a
) -> tuple[MatrixExpr, MatrixExpr]:
    """`A₁` and `A₂`."""
    first, second = weights
    if layers == 2:
        return label_signal * second.T / h, first.T * label_signal / h
    return label_signal * readout.T * second.T / sqrt(h), first.T * label_signal * readout.T / sqrt(h)


def interaction(
    layers: int, weights: Weights, gram: MatrixExpr = identity, readout: MatrixExpr = a
) -> tuple[MatrixExpr, MatrixExpr]:
    """`B₁` and `B₂`; `gram` is `C`."""
    first, second = weights
    if layers == 2:
        return gram * first * second * second.T / h**2, first.T * gram * first * second / h**2
    learned = first * second * readout * readout.T
    return gram * learned * second.T / h, first.T * gram * learned / h


def output(layers: int, weights: Weights, readout: MatrixExpr = a) -> MatrixExpr:
    """The matrix, or column, `F` of `f(x) = xᵀF`."""
    first, second = weights
    return first * second / h if layers == 2 else first * second * readout / sqrt(h)


def descent(
    layers: int,
    label_signal: MatrixExpr,
    steps: int,
    updates: Updates,
    *,
    gram: MatrixExpr = identity,
    readout: MatrixExpr = a,
    start: Weights = (W1, W2),
    letters: tuple[str, str] = ("W_1", "W_2"),
) -> tuple[Weights, dict[Basic, Basic]]:
    """The names of the weights after `steps` steps of gradient descent, and the definitions of all on the way.

    >>> descent(2, M, 1, Updates.SIGNAL)[1]
    {W_1_1: (eta1/h)*M*W_2.T + W_1, W_2_1: (eta2/h)*W_1.T*M + W_2}
    """
    names, given = start, {}
    for step in range(1, steps + 1):
        moves = signal(layers, names, label_signal, readout)
        if updates is Updates.FULL:
            moves = tuple(A - B for A, B in zip(moves, interaction(layers, names, gram, readout), strict=True))
        following = tuple(MatrixSymbol(f"{letter}_{step}", h, h) for letter in letters)
        given |= {new: W + rate * G for new, W, rate, G in zip(following, names, (eta1, eta2), moves, strict=True)}
        names = following
    return names, given


def mean_test_loss(error: MatrixExpr, steps: int, domain: Mapping[Symbol, Set], title: str) -> Derivation:
    """The start that all expected losses share: the test loss of `f(x) − xᵀβ = xᵀ error`, and its mean over `x`."""
    d = Derivation(
        mean(Trace(x.T * error * error.T * x)),
        rf"\operatorname{{E}}\mathcal{{L}}_{{{steps}}}",
        domain,
        title=title,
        where=NOTATION,
    )
    return d.then(
        mean(Trace(error * error.T)),
        because=r"$\operatorname{E}\, x x^\top = I$, and $x$ is independent of the weights",
        reason=Words(mean=mean, white=(x,)),
    )


@lru_cache(maxsize=None, typed=True)
def gradient(layers: int, layer: int, inputs: Inputs = Inputs.WHITENED) -> Derivation:
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
        title=f"The gradient of layer {layer} of {layers}, {inputs.value}",
        where=NOTATION,
    )
    whitened = inputs is Inputs.WHITENED
    gram = identity if whitened else X.T * X / n
    A, B = signal(layers, moved, label_signal)[layer - 1], interaction(layers, moved, gram)[layer - 1]
    return d.then(
        Trace(D.T * (B - A)),
        because=r"differentiation, with "
        + (r"$X^\top X = n I$ and " if whitened else "")
        + rf"$X^\top {labels.name} = n {label_signal.name}$",
        reason=Words(rules={word(X.T, X): n} if whitened else {}, given={label_signal: X.T * labels / n}),
    )
