r"""Layer-wise learning rates in linear networks: the face of the theory.

`expected_loss` derives the expected test loss `E‖f(x) − xᵀβ‖²` of a linear network after a few steps of gradient
descent with a rate for each layer, as a polynomial in the rates `η₁, η₂ >= 0` (and in the variance `ρ >= 0` of the
label noise) whose coefficients are rational functions of the width `h >= 1` (and of the number of inputs `n >= 1`).

The networks are defined in `theory/linear_networks.py`; the derivations are in `theory/two_layers.py`,
`theory/three_layers.py`, and, with label noise, Gaussian weights or Gaussian inputs, `theory/layerwise_wick.py`. Any
number of steps is evaluated, not derived, by `numerics/layerwise_loss.py`. What the loss says about the best allocation
of the rates is in `theory/balance.py` and `theory/allocation.py`, where it is stable in `theory/stability.py`.

Source: arXiv:2606.00340 (B).
"""

from __future__ import annotations

from sympy import Expr, S, Symbol

from . import layerwise_wick, three_layers, two_layers
from .derivation import Derivation
from .errors import InvalidInput
from .layerwise_options import Gaussian, Initialisation, Inputs, Orthogonal, Updates, Vectors
from .linear_networks import check_layers, gradient, rho
from .rate_polynomials import by_sum_and_product, eta1, eta2, grouped, h, n, product, term_by_term, total

__all__ = [
    "Gaussian",
    "Initialisation",
    "Inputs",
    "Orthogonal",
    "Updates",
    "Vectors",
    "by_sum_and_product",
    "eta1",
    "eta2",
    "expected_loss",
    "gradient",
    "grouped",
    "h",
    "n",
    "product",
    "rho",
    "term_by_term",
    "total",
]


def expected_loss(
    layers: int = 2,
    steps: int = 2,
    updates: Updates = Updates.SIGNAL,
    initialisation: Initialisation = Orthogonal(),  # noqa: B008  (immutable)
    noise: Expr | int = 0,
    inputs: Inputs = Inputs.WHITENED,
    samples: Symbol = h,
) -> Derivation:
    """The expected test loss after `steps` steps; its conclusion is a polynomial in `eta1`, `eta2` and `noise`.

    `noise` is the variance of the label noise: 0 for none, or the symbol `rho`; `samples` is the number of inputs: `h`
    as in the source, or the symbol `n` for any, which is `n >= h` for whitened inputs. There are at least two
    signal-only steps and one full one of everything. Raises `InvalidInput` for more, and for other arguments.

    >>> by_sum_and_product(expected_loss(steps=1).conclusion)
    P**2/h**7 + 2*P/h**5 + S**2/h**4 - 2*S/h**2 + (h + 1)/h
    >>> by_sum_and_product(expected_loss(steps=1, inputs=Inputs.GAUSSIAN, samples=n).conclusion).coeff(total, 2)
    (h + n + 1)/(h**4*n)
    """
    check_layers(layers)
    if not isinstance(updates, Updates):
        raise InvalidInput("updates", updates, "give Updates.SIGNAL or Updates.FULL")
    if not isinstance(initialisation, Orthogonal | Gaussian):
        raise InvalidInput("initialisation", initialisation, "give Orthogonal() or Gaussian()")
    if not isinstance(noise, Expr | int) or noise not in (0, rho):
        raise InvalidInput("noise", noise, "give 0, or the symbol rho for any variance >= 0 of the label noise")
    if not isinstance(inputs, Inputs):
        raise InvalidInput("inputs", inputs, "give Inputs.WHITENED or Inputs.GAUSSIAN")
    if samples not in (h, n):
        raise InvalidInput("samples", samples, "give the symbol h, or the symbol n for any number")
    if noise != 0 or inputs is Inputs.GAUSSIAN or isinstance(initialisation, Gaussian):
        setting = layerwise_wick.Setting(layers, initialisation, inputs, S(noise), samples)
        return layerwise_wick.expected_loss(setting, steps, updates)
    if layers == 3:
        return three_layers.expected_loss(steps, updates, initialisation.vectors)
    return two_layers.expected_loss(steps, updates)
