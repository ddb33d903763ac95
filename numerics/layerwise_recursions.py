r"""The loss of one run of full gradient descent in a linear network, by a recursion of few scalars that contracts well.

The networks are those of `theory/linear_networks.py`, from orthogonal weights, without noise; `h >= 1` is the width.

**Two layers.** With `a, b` of `theory/two_layers.py` at an eigenvalue `z = e^{iφ}`, let `ε = 1 − a b z̄/√h`, so that
`|ab/h − z/√h|² = |ε|²/h`, and `w = (η₁|b|² + η₂|a|²)/h²`, `κ = η₁η₂/h³`. The recursion for `a` and `b` gives

    ε ← ε (1 − w + κ|ε|² − κε),    w ← w + κ (w|ε|² + 4 (Re ε − |ε|²)),    from  ε = 1 − z̄/√h,  w = (η₁ + η₂)/h² :

of the rates, only their sum and their product matter. Below, `E = Re ε` and `G = (Im ε)²`, from `sin²φ/h`.

**Three layers.** With `e, K, v` of `theory/three_layers.py` for unit vectors, let `N = (η₂/h) KKᵀ`, `V = (η₁/h)|v|²`,
`κ = η₁η₂/h` and `k = e·(r − e)`. Then

    e ← (1 − V − κk) e − N e,    V ← V + κ (2k + eᵀNe),    N ← N + κ (e(r − e)ᵀ + (r − e)eᵀ + V eeᵀ),

from `e = r − c/√h`, `V = η₁/h`, `N = (η₂/h) I`. Below, in the orthonormal frame of `r`, `e = (E, F√Q)` with
`Q = (1 − τ²)/h`, `τ = rᵀc`, and `N` has the entries `a`, `b√Q`, `d`.

Where descent converges, `ε` and `e` are multiplied by small factors, in ball arithmetic too: no error is amplified.
All is a polynomial in one variable, `cos φ/√h` or `τ/√h`, with coefficients rational in `h` and the rates.
"""

from __future__ import annotations

from typing import Any


def two_layers(cosine: Any, h: Any, eta1: Any, eta2: Any, steps: int) -> Any:
    """`|ε_t|²` where `cos φ/√h` is `cosine`, in any ring that contains `1/h` and the rates.

    >>> from fractions import Fraction
    >>> two_layers(Fraction(1, 2), Fraction(2), Fraction(1), Fraction(1), 1)
    Fraction(65, 512)
    """
    g = 1 / h
    kappa = eta1 * eta2 * (g * g * g)
    E, G, w = 1 - cosine, g - cosine * cosine, (eta1 + eta2) * (g * g)
    for _ in range(steps):
        EE = E * E
        nu = EE + G
        m = 1 - w + kappa * nu
        factor = m - 2 * kappa * E
        E, G, w = (
            E * m - kappa * (EE - G),
            G * (factor * factor),
            w + kappa * (w * nu + 4 * (E - nu)),
        )
    return E * E + G


def three_layers(product: Any, h: Any, eta1: Any, eta2: Any, steps: int) -> Any:
    """`|e_t|²` where `τ/√h` is `product`, in any ring that contains `1/h` and the rates.

    >>> from fractions import Fraction
    >>> three_layers(Fraction(1, 2), Fraction(2), Fraction(1), Fraction(1), 0)
    Fraction(1, 2)
    """
    g = 1 / h
    kappa, Q = eta1 * eta2 * g, g - product * product
    E, F, V = 1 - product, -1, eta1 * g
    a, b, d = eta2 * g, 0, eta2 * g
    for _ in range(steps):
        EE, QF = E * E, Q * F
        QFF, bQF, bE = QF * F, b * QF, b * E
        aE, dF = a * E, d * F
        k = E - EE - QFF
        m = 1 - V - kappa * k
        E, F, V, a, b, d = (
            E * (m - a) - bQF,
            F * (m - d) - bE,
            V + kappa * (2 * k + E * (aE + bQF) + QF * (bE + dF)),
            a + kappa * (2 * (E - EE) + V * EE),
            b + kappa * (F - E * F * (2 - V)),
            d - kappa * (QFF * (2 - V)),
        )
    return E * E + Q * (F * F)
