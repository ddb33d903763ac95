r"""Two linear layers with label noise or Gaussian weights: the expected test loss after one or two steps, exactly.

The network, the loss and the updates are those of `theory/linear_networks.py`, with `n = h` inputs. Two settings are
added to the one of `theory/two_layers.py`:

- **Label noise.** `Y = Xβ + √ρ Ξ` with iid N(0, 1) entries of `Ξ`, `ρ >= 0`. From orthogonal weights,

      M = W₁ R W₂,    R = (Z + √ρ N)/√h,    Z = W₁ᵀQW₂ᵀ Haar,    N = W₁ᵀXᵀΞW₂ᵀ/√n with iid N(0, 1) entries

  (`label_signal`; so the noise in `M` has iid N(0, ρ/h) entries), and with `M` as `β` in `theory/two_layers.py`, except
  that `R` and `Rᵀ` do not commute,

      W₁(t) = W₁ F_t,    W₂(t) = G_t W₂,    W₁(t)W₂(t)/h − β = W₁ (F_t G_t/h − Z/√h) W₂.

- **Gaussian weights.** `W₁, W₂` with N(0, 1/h) entries and `β` with N(0, 1/h²), without noise. The inputs are whitened,
  or `X` has iid N(0, 1) entries (the same in all steps), where `XᵀX/n` stays in the self-interaction.

The test loss is taken against `xᵀβ`, without noise. The means are those of `theory/wick.py`. The results are
polynomials in `η₁, η₂, ρ, 1/h`. They hold for every `h >= 1`, except two full steps with noise: proved for `h >= 3`.

Source: arXiv:2606.00340 (B), which claims that its results hold in these two settings.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import cache
from typing import Any

from sympy import (
    Add,
    Derivative,
    Expr,
    Identity,
    Interval,
    MatrixSymbol,
    Poly,
    Range,
    Set,
    Symbol,
    Trace,
    expand,
    factor,
    oo,
    sqrt,
)

from .derivation import Derivation
from .errors import InvalidInput
from .haar import Z, h, mean
from .layerwise_options import Updates
from .linear_networks import W1, W2, D, M, Q, X, Y, epsilon, n, output, rho, signal, x
from .linear_networks import gradient as whitened_gradient
from .matrix_means import HaarMoments, Isserlis, Law, Rotated, Rotation
from .matrix_words import Words, orthogonal, word
from .rate_polynomials import eta1, eta2, grouped

beta, R, N = (MatrixSymbol(name, h, h) for name in ("beta", "R", "N"))
Xi = MatrixSymbol("Xi", n, h)
G1, G2, G3 = (MatrixSymbol(f"G_{index}", h, h) for index in (1, 2, 3))

Weights = tuple[Any, Any]  # two matrices; SymPy does not type their sums and products
Names = dict[Any, Any]


class Inputs(Enum):
    """The training inputs."""

    WHITENED = "whitened inputs"  # XᵀX = n I
    GAUSSIAN = "iid N(0, 1) inputs"


@cache
def label_signal() -> Derivation:
    """The label signal with noise, in the frame of the weights: both lines hold for every `D`. `n = h`.

    >>> label_signal().conclusion
    Trace(D.T*(sqrt(rho)*N + Z))/sqrt(h)
    """
    to_frame: Any = W1.T * X.T / sqrt(h)
    rotations = {Z: Rotation(W1.T, Q, W2.T, Law.HAAR), N: Rotation(to_frame, Xi, W2.T, Law.GAUSSIAN)}
    given: Names = {M: X.T * Y / h, Y: X * beta + sqrt(rho) * Xi, beta: Q / sqrt(h)}
    d = Derivation(Trace(D.T * W1.T * M * W2.T), r"\langle D, R\rangle", _domain(1), title="Label signal with noise")
    return d.then(
        Trace(D.T * (Z + sqrt(rho) * N)) / sqrt(h),
        because=r"$M = X^\top(X\beta + \sqrt\rho\,\Xi)/n$; $Z = W_1^\top Q W_2^\top$ is Haar distributed, and "
        r"$N = W_1^\top X^\top \Xi W_2^\top/\sqrt n$ Gaussian, independent of $Z$ and of the weights",
        reason=Rotated(Words({**orthogonal(W1, W2, Q), word(X.T, X): h}, given), rotations),
    )


def _domain(smallest: int) -> dict[Symbol, Set]:
    return {h: Range(smallest, oo), **dict.fromkeys((eta1, eta2, rho), Interval(0, oo))}


def interaction(weights: Weights, gram: Any) -> Weights:
    """`B₁` and `B₂` for two layers and any inputs, with `gram` for `XᵀX/n`."""
    first, second = weights
    return gram * first * second * second.T / h**2, first.T * gram * first * second / h**2


@cache
def gradient(layer: int) -> Derivation:
    """As in `theory/linear_networks.py`, but for any inputs: the derivative of the loss along `D` is `tr Dᵀ(B − A)`."""
    moved: Weights = (W1 + epsilon * D, W2) if layer == 1 else (W1, W2 + epsilon * D)
    residual: Any = X * output(2, moved) - Y
    d = Derivation(
        Derivative(Trace(residual.T * residual) / (2 * n), epsilon),
        rf"\langle D, G_{layer}\rangle",
        title=f"The gradient of layer {layer} of 2, any inputs",
    )
    A, B = signal(2, moved, M)[layer - 1], interaction(moved, X.T * X / n)[layer - 1]
    return d.then(
        Trace(D.T * (B - A)),
        because=r"differentiation, with $X^\top Y = n M$",
        reason=Words(given={M: X.T * Y / n}),
    )


def _iterates(
    letters: tuple[str, str], start: Weights, labels: Any, gram: Any, steps: int, updates: Updates
) -> tuple[Weights, Names]:
    """Names for the weights after `steps` steps of descent, and the definitions of all on the way."""
    weights, given = start, Names()
    for step in range(1, steps + 1):
        parts = zip(signal(2, weights, labels), interaction(weights, gram), strict=True)
        descent = [A - B if updates is Updates.FULL else A for A, B in parts]
        moved = [W + rate * G for W, rate, G in zip(weights, (eta1, eta2), descent, strict=True)]
        first, second = (MatrixSymbol(f"{name}_{step}", h, h) for name in letters)
        given |= {first: moved[0], second: moved[1]}
        weights = (first, second)
    return weights, given


def _test_loss(error: Any, title: str) -> Derivation:
    """The test loss of `f(x) − xᵀβ = xᵀ error`, and the mean over `x`."""
    d = Derivation(
        mean(Trace(x.T * error * error.T * x)), r"\operatorname{E}\|f(x) - x^\top\beta\|^2", _domain(1), title=title
    )
    return d.then(
        mean(Trace(error * error.T)),
        because=r"$\operatorname{E}\, x x^\top = I$, and $x$ is independent of the weights",
        reason=Words(mean=mean, white=(x,)),
    )


@cache
def expected_loss_with_noise(steps: int = 1, updates: Updates = Updates.SIGNAL) -> Derivation:
    """The expected test loss after 0 to 2 steps from orthogonal weights, with label noise of the variance `rho`.

    Raises `InvalidInput` for more steps.

    >>> expected_loss_with_noise().conclusion.coeff(rho, 2)
    eta1**2*eta2**2*(h**2 + 2)/h**7
    >>> expected_loss_with_noise().conclusion.subs(rho, 0)
    eta1**2*eta2**2/h**7 + 2*eta1*eta2/h**5 + (h + 1)/h - 2*(eta1 + eta2)/h**2 + (eta1 + eta2)**2/h**4
    """
    _check_steps(steps, 2)
    weights, given = _iterates(("W_1", "W_2"), (W1, W2), M, Identity(h), steps, updates)
    (F, G), frame = _iterates(("F", "G"), (Identity(h), Identity(h)), R, Identity(h), steps, updates)
    d = _test_loss(output(2, weights) - beta, f"Two layers with label noise after {steps} steps of {updates.value}")
    error: Any = F * G / h - Z / sqrt(h)
    d = d.then(
        mean(Trace(error * error.T)),
        because=r"gradient descent with $M = W_1 R W_2$ and $\beta = W_1 Z W_2/\sqrt h$: $W_1(t) = W_1 F_t$ and "
        r"$W_2(t) = G_t W_2$, with the same recursion from $F_0 = G_0 = I$ and $R$ for $M$",
        reason=Words(orthogonal(W1, W2), {**given, **frame, M: W1 * R * W2, beta: W1 * Z * W2 / sqrt(h)}, mean),
        using=(*_gradients(Inputs.WHITENED), label_signal()),
    )
    pairings = Isserlis((N,), Z, Words(orthogonal(Z), {**frame, R: (Z + sqrt(rho) * N) / sqrt(h)}))
    d = d.then(
        pairings.of(d.conclusion),
        because=r"Isserlis' theorem for $N$, in $R = (Z + \sqrt\rho N)/\sqrt h$; $Z$ and $-Z$ have the same law",
        reason=pairings,
    )
    moments = HaarMoments.covering(d.conclusion, Z)
    d = replace(d, domain=_domain(moments.smallest))
    return d.then(_in_order(moments.of(d.conclusion)), because="$Z$ is Haar distributed", reason=moments)


@cache
def expected_loss_gaussian(
    steps: int = 1, updates: Updates = Updates.SIGNAL, inputs: Inputs = Inputs.WHITENED
) -> Derivation:
    """The expected test loss after 0 to 2 steps from Gaussian weights, without noise.

    Full descent is derived for two steps on whitened inputs (in half a minute), for one on Gaussian inputs. Raises
    `InvalidInput` for more.

    >>> expected_loss_gaussian().conclusion.coeff(eta1, 2).coeff(eta2, 2)
    (h**2 + 2)/h**9
    """
    _check_steps(steps, 1 if (updates, inputs) == (Updates.FULL, Inputs.GAUSSIAN) else 2)
    whitened = inputs is Inputs.WHITENED
    data: Any = X if whitened else MatrixSymbol("X", h, h)
    gram: Any = Identity(h) if whitened else data.T * data / h
    weights, given = _iterates(("W_1", "W_2"), (W1, W2), M, gram, steps, updates)
    d = _test_loss(
        output(2, weights) - beta, f"Two Gaussian layers, {inputs.value}, after {steps} steps of {updates.value}"
    )
    given |= {W1: G1 / sqrt(h), W2: G2 / sqrt(h), M: data.T * data * beta / data.rows, beta: G3 / h}
    rules = {word(data.T, data): n} if whitened else {}
    pairings = Isserlis((G1, G2, G3) if whitened else (G1, G2, G3, data), words=Words(rules, given))
    return d.then(
        _in_order(pairings.of(d.conclusion)),
        because=r"Isserlis' theorem, with $M = X^\top X\beta/n$, $W_i = G_i/\sqrt h$, $\beta = G_3/h$",
        reason=pairings,
        using=_gradients(inputs),
    )


def _gradients(inputs: Inputs) -> tuple[Derivation, ...]:
    of = gradient if inputs is Inputs.GAUSSIAN else lambda layer: whitened_gradient(2, layer)
    return of(1), of(2)


def _check_steps(steps: int, most: int) -> None:
    if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= most:
        raise InvalidInput("steps", steps, f"give the number of steps, an integer from 0 to {most}")


def _in_order(line: Expr) -> Expr:
    """By powers of `ρ`, and each by `η₁ + η₂` and `η₁η₂` where it is symmetric in the rates, else by their powers."""
    return Add(*(_by_rates(coefficient) * rho**power for (power,), coefficient in Poly(line, rho).terms()))


def _by_rates(line: Expr) -> Expr:
    if expand(line - line.xreplace({eta1: eta2, eta2: eta1})) == 0:
        return grouped(line)
    return Add(*(factor(coefficient) * eta1**i * eta2**j for (i, j), coefficient in Poly(line, eta1, eta2).terms()))
