r"""Two linear layers from orthogonal weights: the expected test loss after `t` steps, exactly.

The network, the loss and the updates are those of `theory/linear_networks.py`. As `XᵀX = n I`, `M = β = Q/√h`. Let
`Z = W₁(0)ᵀ Q W₂(0)ᵀ`, which is Haar distributed. Then

    W₁(t) = W₁(0) a_t(Z),   W₂(t) = b_t(Z) W₂(0),   W₁(t)W₂(t)/h − β = W₁(0) ℓ_t(Z) W₂(0),   ℓ_t = a_t b_t/h − Z/√h,

with Laurent polynomials in `Z`, which commute with each other; a bar puts `Z⁻¹ = Zᵀ` for `Z`:

    a_{t+1} = a_t + (η₁/h) e_t b̄_t,    b_{t+1} = b_t + (η₂/h) ā_t e_t,    a_0 = b_0 = 1,

where `e_t = −ℓ_t` for full gradient descent and `e_t = Z/√h` for signal-only updates. For the test loss only the
coefficients `l_k` of `ℓ_t = Σ_k l_k Zᵏ` matter: by the traces of `theory/haar.py`, at every `h >= 1`,

    E ‖W₁(t)W₂(t)/h − β‖² = (h − 1) Σ_k l_k² + (Σ_{k even} l_k)² + (Σ_{k odd} l_k)².

Source: beyond B (arXiv:2606.00340), which gives two steps of signal-only updates.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from sympy import QQ, Add, Expr, IndexedBase, Interval, MatAdd, S, Trace, oo, ring, sqrt

from .derivation import Derivation
from .haar import HaarAverage, Z, haar_trace, mean
from .layerwise_options import Updates
from .linear_networks import W1, W2, Q, check_steps, descent, gradient, mean_test_loss, output
from .matrix_words import Words, orthogonal
from .rate_polynomials import SameRatePolynomial, eta1, eta2, grouped, h

MOST_STEPS = {Updates.SIGNAL: 8, Updates.FULL: 2}
BEYOND = "numerics.layerwise_loss evaluates any number"

l = IndexedBase("l")  # noqa: E741  (the coefficients of the residual)

_RING, _eta1, _eta2, _u = ring("eta1, eta2, u", QQ)  # u = 1/√h
Laurent = dict[int, Any]  # the power of Z, and its coefficient in the ring


def _plus(left: Laurent, right: Laurent) -> Laurent:
    return {k: left.get(k, _RING.zero) + right.get(k, _RING.zero) for k in {*left, *right}}


def _times(left: Laurent, right: Laurent) -> Laurent:
    product: Laurent = {}
    for i, c in left.items():
        for j, d in right.items():
            product[i + j] = product.get(i + j, _RING.zero) + c * d
    return product


def _bar(of: Laurent) -> Laurent:
    return {-k: c for k, c in of.items()}


def _residual(a: Laurent, b: Laurent) -> Laurent:
    return _plus(_times({0: _u**2}, _times(a, b)), {1: -_u})


@lru_cache(maxsize=None, typed=True)
def _residual_after(steps: int, updates: Updates) -> Laurent:
    """`ℓ_t` by the recursion."""
    a: Laurent = {0: _RING.one}
    b: Laurent = {0: _RING.one}
    for _ in range(steps):
        error = _times({0: -_RING.one}, _residual(a, b)) if updates is Updates.FULL else {1: _u}
        a, b = (
            _plus(a, _times({0: _eta1 * _u**2}, _times(error, _bar(b)))),
            _plus(b, _times({0: _eta2 * _u**2}, _times(error, _bar(a)))),
        )
    return {k: c for k, c in sorted(_residual(a, b).items()) if c != 0}


def residual(steps: int, updates: Updates) -> dict[int, Expr]:
    """The coefficients `l_k` of `ℓ_t`, grouped by `η₁ + η₂` and `η₁η₂`, lowest power first.

    >>> residual(1, Updates.SIGNAL)
    {0: 1/h, 1: -1/sqrt(h) + (eta1 + eta2)/h**(5/2), 2: eta1*eta2/h**4}
    """
    check_steps(steps, MOST_STEPS[updates], BEYOND)
    found = {}
    for k, coefficient in _residual_after(steps, updates).items():
        half = k % 2  # odd powers of Z come with odd powers of 1/√h
        terms = Add.make_args(grouped(_in_width(coefficient.quo(_u**half))))
        found[k] = Add(*(term / sqrt(h) ** half for term in terms))
    return found


def _in_width(coefficient: Any) -> Expr:
    """An element of the ring, even in `u`, as an expression in `h`."""
    terms = (c * eta1**i * eta2**j / h ** (k // 2) for (i, j, k), c in coefficient.terms())
    return Add(*(S(term) for term in terms))


def _average(of: Laurent) -> Expr:
    """`E tr ℓℓ̄`, from its coefficients."""
    even, odd = (sum((c for k, c in of.items() if k % 2 == parity), _RING.zero) for parity in (0, 1))
    squares = sum((c**2 for c in of.values()), _RING.zero)
    return _in_width((squares + _u**2 * (even**2 + odd**2 - squares)).quo(_u**2))


@lru_cache(maxsize=None, typed=True)
def expected_loss(steps: int, updates: Updates) -> Derivation:
    """The expected test loss after `steps` steps, for every `h >= 1`, from the definition to the polynomial.

    >>> expected_loss(1, Updates.SIGNAL).conclusion
    eta1**2*eta2**2/h**7 + 2*eta1*eta2/h**5 + (h + 1)/h - 2*(eta1 + eta2)/h**2 + (eta1 + eta2)**2/h**4
    """
    check_steps(steps, MOST_STEPS[updates], BEYOND)
    names, given = descent(2, Q / sqrt(h), steps, updates)
    error = output(2, names) - Q / sqrt(h)
    found = residual(steps, updates)
    domain = {h: S.Naturals, eta1: Interval(0, oo), eta2: Interval(0, oo)}
    d = mean_test_loss(error, steps, domain, f"Two layers after {steps} steps of {updates.value}")
    coefficients = {l[k]: c for k, c in found.items()}
    polynomial = MatAdd(*(l[k] * (Z**k if k >= 0 else (Z.T) ** -k) for k in found))
    d = d.then(
        mean(Trace(polynomial * polynomial.T)),
        because=r"gradient descent, with $Z = W_1^\top Q W_2^\top$, is a recursion for Laurent polynomials in $Z$",
        reason=Words(orthogonal(W1, W2, Q), {**given, **coefficients, Z: W1.T * Q * W2.T}, mean),
        using=(gradient(2, 1), gradient(2, 2)),
    )
    known = tuple(haar_trace(k) for k in range(1, max(found) - min(found) + 1))
    squares, even, odd = (Add(*part) for part in ([l[k] ** 2 for k in found], *_by_parity(found)))
    d = d.then(
        (h - 1) * squares + even**2 + odd**2,
        because=r"$\operatorname{E}\operatorname{tr} Z^k$ is $h$ for $k = 0$, 1 for other even $k$, and else 0",
        reason=HaarAverage(known),
        using=known,
    )
    return d.then(
        grouped(_average(_residual_after(steps, updates))),
        because="the coefficients $l_k$, multiplied out",
        reason=SameRatePolynomial(coefficients),
    )


def _by_parity(powers: Iterable[int]) -> tuple[list[Expr], list[Expr]]:
    return [l[k] for k in powers if k % 2 == 0], [l[k] for k in powers if k % 2]
