r"""Layer-wise learning rates in linear networks: the face of the theory.

`expected_loss` derives the expected test loss `E‖f(x) − xᵀβ‖²` of a linear network after a few steps of gradient
descent with a rate for each layer, as a polynomial in the rates `η₁, η₂ >= 0` (and in the variance `ρ >= 0` of the
label noise) whose coefficients are rational functions of the width `h >= 1`.

The networks are defined in `theory/linear_networks.py`; the derivations are in `theory/two_layers.py`,
`theory/three_layers.py`, and, with label noise or from Gaussian weights, `theory/layerwise_noise.py`. Any number of
steps is evaluated, not derived, by `numerics/layerwise_loss.py`. What the loss says about the best allocation of the
rates is in `theory/balance.py`.

Source: arXiv:2606.00340 (B).
"""

from __future__ import annotations

from sympy import Expr

from . import layerwise_noise, three_layers, two_layers
from .derivation import Derivation
from .errors import InvalidInput
from .layerwise_options import Gaussian, Initialisation, Orthogonal, Updates, Vectors
from .linear_networks import check_layers, gradient, rho
from .rate_polynomials import by_sum_and_product, eta1, eta2, grouped, h, product, term_by_term, total

__all__ = [
    "Gaussian",
    "Initialisation",
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
) -> Derivation:
    """The expected test loss after `steps` steps; its conclusion is a polynomial in `eta1`, `eta2` and `noise`.

    `noise` is the variance of the label noise: 0 for none, or the symbol `rho`. With noise, or from Gaussian weights,
    there is a derivation for two layers only. Raises `InvalidInput` for what has none.

    >>> by_sum_and_product(expected_loss(steps=1).conclusion)
    P**2/h**7 + 2*P/h**5 + S**2/h**4 - 2*S/h**2 + (h + 1)/h
    """
    check_layers(layers)
    if not isinstance(updates, Updates):
        raise InvalidInput("updates", updates, "give Updates.SIGNAL or Updates.FULL")
    if not isinstance(initialisation, Orthogonal | Gaussian):
        raise InvalidInput("initialisation", initialisation, "give Orthogonal() or Gaussian()")
    if noise not in (0, rho):
        raise InvalidInput("noise", noise, "give 0, or the symbol rho for any variance >= 0 of the label noise")
    noiseless = noise == 0
    if noiseless and isinstance(initialisation, Orthogonal):
        if layers == 3:
            return three_layers.expected_loss(steps, updates, initialisation.vectors)
        return two_layers.expected_loss(steps, updates)
    if layers == 3:
        raise InvalidInput("layers", layers, "with noise or from Gaussian weights there is a derivation for 2 layers")
    if isinstance(initialisation, Orthogonal):
        return layerwise_noise.expected_loss_with_noise(steps, updates)
    if not noiseless:
        raise InvalidInput("noise", noise, "from Gaussian weights there is a derivation without noise only")
    return layerwise_noise.expected_loss_gaussian(steps, updates)
