r"""Three linear layers from orthogonal weights: the expected test loss after `t` steps, exactly.

The network, the loss and the updates are those of `theory/linear_networks.py`; the last layer `a` is fixed, and
`m = Xᵀy/n = β`. With `r = W₁(0)ᵀβ` and `c = W₂(0)a`, independent uniform vectors on spheres of the radii `B = |β|` and
`A = |a|`, everything that moves stays in the span of the two:

    W₁(t) = W₁(0) K_t,   W₂(t)a = v_t,   W₁(t)W₂(t)a/√h − β = −W₁(0) e_t,   e_t = r − K_t v_t/√h,

    K_{t+1} = K_t + (η₁/√h) d_t v_tᵀ,    v_{t+1} = v_t + (η₂ A²/√h) K_tᵀ d_t,    K_0 = I,  v_0 = c,

where `d_t = e_t` for full gradient descent and `d_t = r` for signal-only updates. `K_t − I` is made of `rrᵀ, rcᵀ, crᵀ`
and `ccᵀ`, so `e_t = p r + q c` with polynomials `p, q` in `rᵀc = A B τ`, and the test loss is

    E |e_t|² = E[p² B² + 2 p q A B τ + q² A²],

in which the norms and `τ`, the scalar product of two uniform unit vectors, are independent (`theory/haar.py`).

Source: beyond B (arXiv:2606.00340), which gives two steps of signal-only updates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sympy import QQ, Add, Expr, Interval, Mul, S, Symbol, oo, ring, sqrt

from .derivation import Derivation
from .haar import A, B, SphereAverage, mean, norm_moment, sphere_moment, tau
from .layerwise_options import Updates, Vectors
from .linear_networks import W1, W2, a, beta, check_steps, descent, gradient, mean_test_loss, output
from .matrix_words import Words, orthogonal, word
from .rate_polynomials import eta1, eta2, grouped, h

MOST_STEPS = {Updates.SIGNAL: 8, Updates.FULL: 2}
BEYOND = "numerics.layerwise_loss evaluates any number"

p, q = Symbol("p", real=True), Symbol("q", real=True)  # the components of the residual along r and c

_RING, _eta1, _eta2, _A, _B, _tau, _u = ring("eta1, eta2, A, B, tau, u", QQ)  # u = 1/√h
_SCALARS = (eta1, eta2, A, B, tau)
Vector = tuple[Any, Any]  # the components along r and c, in the ring
_GRAM = ((_B**2, _A * _B * _tau), (_A * _B * _tau, _A**2))


def _products(vector: Vector) -> Vector:
    """The scalar products of a vector with `r` and `c`."""
    return _GRAM[0][0] * vector[0] + _GRAM[0][1] * vector[1], _GRAM[1][0] * vector[0] + _GRAM[1][1] * vector[1]


@lru_cache(maxsize=None, typed=True)
def _residual_after(steps: int, updates: Updates) -> Vector:
    """`p` and `q` by the recursion; `K − I` is kept as the coefficients of `rrᵀ, rcᵀ; crᵀ, ccᵀ`."""
    zero, one = _RING.zero, _RING.one
    K, v = ((zero, zero), (zero, zero)), (zero, one)

    def residual() -> Vector:
        on_v = _products(v)
        Kv = tuple(v[i] + K[i][0] * on_v[0] + K[i][1] * on_v[1] for i in (0, 1))
        return one - _u * Kv[0], -_u * Kv[1]

    for _ in range(steps):
        error = residual()
        direction = error if updates is Updates.FULL else (one, zero)
        on_d = _products(direction)
        moved = tuple(direction[j] + K[0][j] * on_d[0] + K[1][j] * on_d[1] for j in (0, 1))
        K = tuple(tuple(K[i][j] + _eta1 * _u * direction[i] * v[j] for j in (0, 1)) for i in (0, 1))
        v = tuple(v[j] + _eta2 * _A**2 * _u * moved[j] for j in (0, 1))
    return residual()


def _expression(element: Any) -> Expr:
    """An element of the ring as an expression in `√h`."""
    powers = (*_SCALARS, 1 / sqrt(h))
    return Add(*(S(c) * Mul(*(base**k for base, k in zip(powers, ks, strict=True))) for ks, c in element.terms()))


@lru_cache(maxsize=None, typed=True)
def expected_loss(steps: int, updates: Updates, vectors: Vectors = Vectors.UNIT) -> Derivation:
    """The expected test loss after `steps` steps, for every `h >= 1`, from the definition to the polynomial.

    >>> expected_loss(1, Updates.SIGNAL).conclusion.subs({h: 2, eta1: 1, eta2: 1})
    13/16
    """
    check_steps(steps, MOST_STEPS[updates], BEYOND)
    gaussian = vectors is Vectors.GAUSSIAN
    norms = {A: A if gaussian else S.One, B: B if gaussian else S.One}
    names, given = descent(3, beta, steps, updates)
    error = output(3, names) - beta
    domain = {h: S.Naturals, eta1: Interval(0, oo), eta2: Interval(0, oo)}
    d = mean_test_loss(
        error, steps, domain, f"Three layers after {steps} steps of {updates.value}; a and beta: {vectors.value}"
    )
    residual = _residual_after(steps, updates)
    components = {name: _expression(part).subs(norms) for name, part in zip((p, q), residual, strict=True)}
    square = (p**2 * B**2 + 2 * p * q * A * B * tau + q**2 * A**2).subs(norms)
    rules = {word(a.T, a): A**2, word(beta.T, beta): B**2, word(beta.T, W1, W2, a): A * B * tau}
    rules = {part: value.subs(norms) for part, value in rules.items()} | orthogonal(W1, W2)
    d = d.then(
        mean(square),
        because=r"gradient descent stays in the span of $r = W_1^\top \beta$ and $c = W_2 a$: residual $p r + q c$",
        reason=Words(rules, {**given, **components}, mean, random=(tau, A, B)),
        using=(gradient(3, 1), gradient(3, 2)),
    )
    average, known = _average(residual, gaussian)
    return d.then(
        grouped(average),
        because=r"$p$ and $q$ multiplied out, and the moments of $\tau" + (", A, B$" if gaussian else "$"),
        reason=SphereAverage(known, components),
        using=known,
    )


def _average(residual: Vector, gaussian: bool) -> tuple[Expr, tuple[Derivation, ...]]:
    """`E |e_t|²`, and the moments used."""
    p_, q_ = residual
    square = p_**2 * _B**2 + 2 * p_ * q_ * _A * _B * _tau + q_**2 * _A**2
    terms, known = [], {}
    for (i, j, *norms, k, root), c in square.terms():
        moments = [sphere_moment(k)] if k else []
        if gaussian and k % 2 == 0:  # else the mean is zero all the same
            moments += [norm_moment(name, power) for name, power in zip((A, B), norms, strict=True) if power]
        known |= {moment.start: moment for moment in moments}
        terms.append(Mul(S(c), eta1**i, eta2**j, h ** -(root // 2), *(moment.conclusion for moment in moments)))
    return Add(*terms), tuple(known.values())
