r"""Gaussian expectations of any activation, by quadrature and by Mehler's Hermite series, with an error estimate.

With `h_k = He_k/√k!` and `a_k(p) = E[φ(√p z) h_k(z)]`, `z ~ N(0, 1)`, for `(u, v)` centred Gaussian with variances
`p, q >= 0` and correlation `ρ ∈ [−1, 1]`,

    E[φ(u) φ(v)] = Σ_k a_k(p) a_k(q) ρ^k        (Mehler's formula).

Cut after `K` terms the error is at most `|ρ|^K √(T(p) T(q))`, `T(p) = E[φ(√p z)²] − Σ_{k<K} a_k(p)²` (Cauchy–Schwarz
and Parseval). At `ρ = ±1` the expectation is one integral, and no series is used.

The integrals are Gauss–Legendre sums on panels of `[−REACH, REACH]` that end at 0, so a kink of φ at 0 does no harm.
Their error is estimated by a second sum on wider panels, and by what is left of φ at the ends. The estimates are
added; where they exceed `TOLERANCE` relative to `√(E[φ(u)²] E[φ(v)²])`, a `LimesWarning` names the error.

Source: Mehler (1866); Daniely, Frostig, Singer (2016), section 4.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import scipy  # its parts are loaded when first used
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput, LimesWarning

Array = NDArray[np.float64]
Function = Callable[[ArrayLike], Array]

TOLERANCE = 1e-12  # relative error above which a warning is given
TERMS = (64, 256, 1024)  # lengths of the series, tried in this order
REACH = 16  # |z| beyond which √w = exp(−z²/4) leaves nothing of any function with E[φ²] finite and moderate
FINE, COARSE = 0.25, 0.5  # widths of the panels
NODES = 16  # Gauss–Legendre nodes on a panel
CHUNK = 2**12  # variances whose coefficients are held at once


def geometric_mean(p: Array, q: Array) -> Array:
    """`√(pq)` of variances, without overflow, and `p` exactly where `p = q`."""
    return np.where(p == q, p, np.sqrt(p) * np.sqrt(q))


@lru_cache(maxsize=64)
def mean_square(function: Function) -> float:
    """`E[φ(z)²]`, `z ~ N(0, 1)`, by adaptive quadrature, relative error below 1e-10.

    Raises `InvalidInput` if it is zero, infinite, or not found to that accuracy.

    >>> round(mean_square(np.tanh), 12)
    0.394294490398
    """

    def density(z: float) -> float:
        return float(np.square(function(z) * math.exp(-z * z / 4))) / math.sqrt(2 * math.pi)

    # far beyond, exp(−z²/4) φ(z) must have died out, or E[φ²] is infinite
    breaks = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 36.0]
    breaks = [-z for z in reversed(breaks[1:])] + breaks
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.integrate.IntegrationWarning)
        edges = density(breaks[0]) + density(breaks[-1])
        value, error = scipy.integrate.quad(
            density, breaks[0], breaks[-1], points=breaks[1:-1], epsabs=0, epsrel=1e-13, limit=500
        )
    if not (math.isfinite(value) and value > 0 and edges <= 1e-12 * value and error <= 1e-10 * value):
        raise InvalidInput("activation", value, "E[φ(z)²] must be positive, finite, and integrable to 10 digits")
    return value


def expectations(functions: Sequence[Function], p: Array, q: Array, c: Array) -> list[Array]:
    """`E[φ(u) φ(v)]` for each φ of `functions`, for variances and covariances that broadcast, `c² <= pq`.

    Warns `LimesWarning`, naming the estimated error, if that exceeds `TOLERANCE`.
    """
    shape = np.broadcast_shapes(p.shape, q.shape, c.shape)
    if max(p.size, q.size) > CHUNK:
        p, q, c = (np.broadcast_to(array, shape).ravel() for array in (p, q, c))
        results = [np.empty(c.size) for _ in functions]
        for start in range(0, c.size, CHUNK):
            part = slice(start, start + CHUNK)
            for whole, piece in zip(results, expectations(functions, p[part], q[part], c[part]), strict=True):
                whole[part] = piece
        return [result.reshape(shape) for result in results]

    scale = geometric_mean(p, q)
    correlation = np.divide(c, scale, out=np.zeros(shape), where=scale > 0)
    aligned = np.abs(correlation) == 1
    pairs = [np.broadcast_to(array, shape)[aligned] for array in (p, q, np.sign(c))]
    results, worst = [], 0.0
    for function in functions:
        value, error = np.empty(shape), np.zeros(shape)
        if not aligned.all():
            value[...], error[...] = _series(function, p, q, correlation)
        if aligned.any():
            value[aligned], error[aligned] = _aligned(function, *pairs)
        results.append(value)
        worst = max(worst, float(error.max(initial=0.0)))
    if worst > TOLERANCE:
        message = f"a Gaussian expectation is only known to a relative error of about {worst:.0e}"
        warnings.warn(LimesWarning(f"{message}: φ is too sharp for its Hermite series"), stacklevel=4)
    return results


def _series(
    function: Function, p: Array, q: Array, correlation: Array, lengths: Sequence[int] = TERMS
) -> tuple[Array, Array]:
    """Mehler's sum, and its error relative to `√(E[φ(u)²] E[φ(v)²])`, in the shape of `correlation`."""
    terms, *longer = lengths
    size = np.abs(correlation)
    largest = size[size < 1].max(initial=0.0)
    (a, tail_p, error_p), (b, tail_q, error_q) = (_coefficients(function, variance, terms) for variance in (p, q))
    worst_p, worst_q = (tail.reshape(terms + 1, -1).max(axis=1) for tail in (tail_p, tail_q))
    enough = largest ** np.arange(terms + 1) * worst_p * worst_q <= TOLERANCE / 100
    if enough.any():
        terms = int(np.argmax(enough))
    elif longer:
        return _series(function, p, q, correlation, longer)
    value = np.zeros_like(correlation)
    for k in reversed(range(terms)):
        value *= correlation
        value += a[k] * b[k]
    return value, size**terms * (tail_p[terms] * tail_q[terms]) + error_p[terms] + error_q[terms]


def _coefficients(function: Function, variance: Array, terms: int) -> tuple[Array, Array, Array]:
    """`a_k(p)`, `k < terms`; relative to `√E[φ²]`, after `0..terms` of them, `√T(p)` and the quadrature's error.

    The first axis counts the terms; the others are those of `variance`.
    """
    distinct, where = np.unique(variance, return_inverse=True)
    where = where.reshape(variance.shape)
    rooted = _rooted(function, np.sqrt(distinct), FINE)
    a = rooted @ _hermite_functions(FINE)[2][:, :terms]
    coarse = _rooted(function, np.sqrt(distinct), COARSE) @ _hermite_functions(COARSE)[2][:, :terms]
    squares = np.square(rooted).sum(axis=1)
    norm = np.sqrt(np.where(squares > 0, squares, 1.0))
    tails = np.column_stack([squares, squares[:, None] - np.cumsum(a**2, axis=1)]).clip(0)
    ends = np.abs(rooted[:, :1]) + np.abs(rooted[:, -1:])
    errors = np.column_stack([ends, ends + np.sqrt(np.cumsum((a - coarse) ** 2, axis=1))])
    return a.T[:, where], (np.sqrt(tails).T / norm)[:, where], (errors.T / norm)[:, where]


def _aligned(function: Function, p: Array, q: Array, sign: Array) -> tuple[Array, Array]:
    """`E[φ(√p z) φ(±√q z)]` for each triple, and its error relative to `√(E[φ(u)²] E[φ(v)²])`."""
    (p, q, sign), where = np.unique(np.stack([p, q, sign]), axis=1, return_inverse=True)
    results, squares = [], np.ones_like(p)
    for width in (COARSE, FINE):
        first, second = _rooted(function, np.sqrt(p), width), _rooted(function, sign * np.sqrt(q), width)
        results.append((first * second).sum(axis=1))
        squares = np.square(first).sum(axis=1) * np.square(second).sum(axis=1)
    coarse, fine = results
    error = np.abs(fine - coarse) / np.sqrt(np.where(squares > 0, squares, 1.0))
    return fine[where.ravel()], error[where.ravel()]


def _rooted(function: Function, scale: Array, width: float) -> Array:
    """`φ(σ z) √w(z)` at the nodes, one row for each scale σ: inner products of rows are Gaussian expectations."""
    nodes, roots, _ = _hermite_functions(width)
    return function(scale[:, None] * nodes) * roots


@lru_cache(maxsize=2)
def _hermite_functions(width: float) -> tuple[Array, Array, Array]:
    """Nodes `z`, roots `√w(z)` of their Gaussian weights, and `h_k(z) √w(z)`, shape `(nodes, TERMS[-1])`."""
    x, weights = np.polynomial.legendre.leggauss(NODES)
    centres = np.arange(-REACH + width / 2, REACH, width)
    nodes = (centres[:, None] + width / 2 * x).ravel()
    roots = np.sqrt(np.tile(weights * width / 2, len(centres)) / math.sqrt(2 * math.pi)) * np.exp(-(nodes**2) / 4)
    functions = np.empty((TERMS[-1], len(nodes)))
    functions[0], functions[1] = roots, nodes * roots
    for k in range(1, TERMS[-1] - 1):
        functions[k + 1] = (nodes * functions[k] - math.sqrt(k) * functions[k - 1]) / math.sqrt(k + 1)
    for array in (nodes, roots, functions):
        array.flags.writeable = False
    return nodes, roots, np.ascontiguousarray(functions.T)
