r"""The largest derivatives of activations, `‖φ^{(k)}‖ = sup_s |φ^{(k)}(s)|`, as balls, from exact polynomials.

The derivatives of tanh and of erf are made of polynomials with integer coefficients:

    tanh^{(k)} = P_k(y),  y = tanh s,  P_1 = 1 − y²,  P_{k+1} = (1 − y²) P_k'           on −1 <= y <= 1,
    erf^{(k)} = (2/√π) (−1)^{k−1} H_{k−1}(s) e^{−s²}, H_k Hermite's polynomials         on the line.

The sigmoid is `(1 + tanh(s/2))/2`, and softplus is the sigmoid one order later. The extrema are at the real roots of
`P_k'` and `H_k`, which Arb isolates: the supremum is that over these finitely many balls, none missed. This knows
nothing of poles or Fourier integrals, by which `theory/activation_growth.py` bounds the same numbers.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache, reduce
from typing import Any

from flint import arb, fmpz_poly

from .balls import precision
from .data import as_integer

BITS = 400  # the roots of the polynomials of degree 60 are isolated, and their values have 30 digits


class Growing(Enum):
    """The activations whose largest derivatives are computed here."""

    TANH = "tanh"
    SIGMOID = "sigmoid"
    SOFTPLUS = "softplus"
    ERF = "erf"


@lru_cache(maxsize=256, typed=True)  # 1.0 must not find what was cached for 1
def supremum(activation: Growing, k: int) -> arb:
    """A ball around `sup_s |φ^{(k)}(s)|`, for `k >= 1`.

    Raises `InvalidInput` for an order below 1.

    >>> [float(supremum(Growing.TANH, k).mid()) for k in (1, 3)]
    [1.0, 2.0]
    """
    k = as_integer("k", k, 1)
    with precision(BITS):
        match activation:
            case Growing.TANH:
                polynomial = _derivative_of_tanh(k)
                places = [y for y in _real_roots(polynomial.derivative()) if not abs(y) > 1]
                return _maximum([abs(_value(polynomial, y)) for y in places])
            case Growing.SIGMOID:
                return supremum(Growing.TANH, k) / 2 ** (k + 1)
            case Growing.SOFTPLUS:
                return arb(1) if k == 1 else supremum(Growing.SIGMOID, k - 1)
            case Growing.ERF:
                places = _real_roots(_hermite(k))
                sizes = [abs(_value(_hermite(k - 1), s)) * (-s * s).exp() for s in places]
                return _maximum(sizes) * 2 / arb.pi().sqrt()


def lacunary_derivative(k: int) -> arb:
    """A ball around `|φ^{(2k)}(0)| = Σ_j 2^{4jk} e^{−2^j}` of the lacunary series of `theory/activation_growth.py`.

    The terms decrease by more than half from `2^j >= 8k + 8` on, as each is `2^{4k} e^{−2^j}` times the one before.

    >>> lacunary_derivative(1) > 4**4 * arb(-4).exp()
    True
    """
    k = as_integer("k", k, 1)
    with precision(BITS):
        total, j = arb(0), 0
        while True:
            term = arb(2) ** (4 * j * k) * (-(arb(2) ** j)).exp()
            total += term
            if 2**j >= 8 * k + 8 and term < total * arb(2) ** -BITS:
                return total + arb(0, term)
            j += 1


def _derivative_of_tanh(k: int) -> fmpz_poly:
    """`P_k`, which vanishes at −1 and 1."""
    factor = fmpz_poly([1, 0, -1])
    polynomial = factor
    for _ in range(k - 1):
        polynomial = factor * polynomial.derivative()
    return polynomial


def _hermite(k: int) -> fmpz_poly:
    """The physicists' `H_k`."""
    previous, current = fmpz_poly([]), fmpz_poly([1])
    for order in range(k):
        previous, current = current, fmpz_poly([0, 2]) * current - 2 * order * previous
    return current


def _real_roots(polynomial: fmpz_poly) -> list[arb]:
    """Balls that contain all real roots; what is not on the real line by its ball is left out."""
    roots: Any = polynomial.complex_roots()  # with their multiplicities
    return [root.real for root, _ in roots if root.imag.contains(0)]


def _value(polynomial: fmpz_poly, x: arb) -> arb:
    total = arb(0)
    for coefficient in reversed(polynomial.coeffs()):
        total = total * x + arb(coefficient)
    return total


def _maximum(values: list[arb]) -> arb:
    """A ball around the largest of some numbers."""
    return reduce(arb.max, values)
