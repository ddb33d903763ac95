r"""Orthant probabilities of two, three and four Gaussians in float64, on whole arrays.

For centred Gaussian variables of unit variance and correlations `r_ij ∈ [−1, 1]`, and `θ_ij = arccos r_ij`,

    P₂ = P(u₁, u₂ > 0) = 1/2 − θ₁₂/(2π),    P₃ = 1/2 − (θ₁₂ + θ₁₃ + θ₂₃)/(4π),    P₄ = P(u₁, u₂, u₃, u₄ > 0),

and `P₄`, which has no closed form, is one integral (`theory/orthants.py`). With `Δ` the determinant of the first three,
`τ = det R/Δ` the variance of `u₄` given them, and `s` scaling the correlations of `u₄`,

    P₄ = 7/16 − Σ θ_ij/(8π) + (1/4π²) Σ_{i<4} ∫₀¹ r_i4 atan2(N_i, √(Δ (1 − (1−τ)s²)(1 − s² r_i4²)))/√(1 − s² r_i4²) ds,
    N_i = (1 − s²) A_i + s² M_i,    {i, j, k} = {1, 2, 3},
    A_i = r_jk − r_ij r_ik,    M_i the cofactor of r_jk, up to its sign.

How: in `s √(1−τ) = sin ψ` the first root is `√Δ cos ψ`. What else is singular lies behind `ψ = π/2`, at a distance
that is the square root of the smallest variance of `u₄` given two of the others: Gauss–Legendre panels shrink towards
it until they are no longer than that. All determinants are polynomials in `p = 1 − r`, exact for close points; where
`u_i` is replaced by `−u_i`, the sum of the integrals only changes its sign, so opposite points are made close ones. The
fourth variable is chosen so that `Δ` is largest. Where all four lie in a plane, or two of them are equal or opposite,
the probability is the smallest `P₃` of three of them.

Accuracy: 1e-10 in `P₄` for `|r| <= 1 − 1e-10` and for `|r| = 1`; in between, the rounding of `r` itself counts more.
The same input gives the same result. `P₄` with guaranteed digits is in `numerics/certified_orthants.py`.

Source: Plackett, *A reduction formula for normal multivariate integrals* (1954).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

Array = NDArray[np.float64]

PAIRS = tuple(combinations(range(4), 2))  # 12, 13, 14, 23, 24, 34: the order of the correlations everywhere here
NODES = 10  # of a panel: with a singularity no nearer than its length the error is below 1e-13
MOST_PANELS = 32  # the last one is then shorter than 1e-9
WORKSPACE = 2**17  # numbers of a block: it stays in a core's cache
FLAT = 1e-11  # of Δ, in units of the widest pair: then the plane errs less than the roots of rounding errors
SLACK = 1e-12  # of a minor that rounding has made negative


def orthant2(r12: ArrayLike) -> Array:
    """`P(u₁, u₂ > 0)`, an array of the shape of `r12`. Raises `InvalidInput` for correlations outside `[−1, 1]`.

    >>> orthant2([0.5, -1.0])
    array([0.33333333, 0.        ])
    """
    (p12,) = _complements({"r12": r12})
    return np.asarray(0.5 - _angle(p12) / (2 * np.pi))


def orthant3(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike) -> Array:
    """`P(u₁, u₂, u₃ > 0)` for arrays of correlations, which are broadcast.

    Raises `InvalidInput` for correlations outside `[−1, 1]`, or no positive semidefinite matrix of them: the message
    names the minor that is negative.

    >>> orthant3(0.5, 0.5, 0.5)
    array(0.25)
    """
    p = _complements({"r12": r12, "r13": r13, "r23": r23})
    _refuse_negative({"det(1, 2, 3)": _determinant3(*p)}, p)
    return np.asarray(three(*p))


def orthant4(r12: ArrayLike, r13: ArrayLike, r14: ArrayLike, r23: ArrayLike, r24: ArrayLike, r34: ArrayLike) -> Array:
    """`P(u₁, u₂, u₃, u₄ > 0)` for arrays of correlations, which are broadcast; errors as for `orthant3`.

    >>> orthant4(*[0.5] * 6)
    array(0.2)
    """
    p = _complements({"r12": r12, "r13": r13, "r14": r14, "r23": r23, "r24": r24, "r34": r34})
    minors = {
        f"det({', '.join(str(i + 1) for i in triple)})": _determinant3(*(p[PAIRS.index(pair)] for pair in pairs))
        for triple, pairs in ((t, tuple(combinations(t, 2))) for t in combinations(range(4), 3))
    }
    _refuse_negative(minors | {"det(1, 2, 3, 4)": _determinant4(*p)}, p)
    return four(*p)


def three(p12: Array, p13: Array, p23: Array) -> Array:
    """`P₃` from `p = 1 − r`, unchecked; for callers who know small `p` better than `r`."""
    turn = _angle(p12) + _angle(p13) + _angle(p23)
    return np.maximum(0.5 - turn / (4 * np.pi), 0.0)


def four(p12: Array, p13: Array, p14: Array, p23: Array, p24: Array, p34: Array) -> Array:
    """`P₄` from `p = 1 − r`, arrays of one shape, unchecked."""
    p = np.stack([p12, p13, p14, p23, p24, p34]).reshape(6, -1)
    result = np.empty(p.shape[1])
    step = WORKSPACE // 8
    for start in range(0, len(result), step):
        result[start : start + step] = _block(p[:, start : start + step])
    return result.reshape(np.shape(p12))


def _block(p: Array) -> Array:
    """`P₄` of columns of `p (6, n)`."""
    aligned, parity = _aligned(p)
    triples = np.stack([_determinant3(*aligned[rows]) for rows in _TRIPLES])
    widths = p * (2 - p)
    planar = triples.max(axis=0) <= FLAT * np.square(widths.max(axis=0))
    flat = planar | (widths <= 0).any(axis=0)
    result = np.empty(p.shape[1])
    if flat.any():
        corner = p[:, flat]
        result[flat] = np.min([three(*corner[rows]) for rows in _TRIPLES], axis=0)
    solid = np.flatnonzero(~flat)
    if solid.size:
        order = _ORDERS[triples[:, solid].argmax(axis=0)].T  # so that the first three have the largest determinant
        integral = parity[solid] * _integral(np.take_along_axis(aligned[:, solid], order, axis=0))
        turn = _angle(p[:, solid]).sum(axis=0)
        result[solid] = np.maximum(7 / 16 - turn / (8 * np.pi) + integral / (4 * np.pi**2), 0.0)
    return result


def _aligned(p: Array) -> tuple[Array, Array]:
    """`p` with signs of variables changed so that none has a negative correlation with the first; and their product."""
    signs = np.concatenate([np.ones((1, p.shape[1])), np.where(p[:3] > 1, -1.0, 1.0)])
    i, j = np.array(PAIRS).T
    return np.where(signs[i] * signs[j] < 0, 2 - p, p), signs.prod(axis=0)


def _rows(points: tuple[int, ...]) -> list[int]:
    """Where the pairs of these points stand among `PAIRS`."""
    return [PAIRS.index((min(pair), max(pair))) for pair in combinations(points, 2)]


_TRIPLES = [_rows(tuple(point for point in range(4) if point != last)) for last in range(4)]
_WITH_LAST = [(0, 2, 4), (1, 2, 5), (3, 4, 5)]  # the triples of two of the first three and the last
_ORDERS = np.array([_rows((*(point for point in range(4) if point != last), last)) for last in range(4)])


def _integral(p: Array) -> Array:
    """`Σ_i ∫ …` of the module for columns `p (6, n)`, grouped by the number of panels."""
    determinant = _determinant3(*p[[0, 1, 3]])
    rest = np.clip(_determinant4(*p) / determinant, 0.0, 1.0)  # τ
    given_two = [_determinant3(*p[list(rows)]) / (p[rows[0]] * (2 - p[rows[0]])) for rows in _WITH_LAST]
    nearest = np.sqrt(np.maximum(np.min(given_two, axis=0), rest))
    panels = np.clip(np.ceil(1 - np.log2(np.maximum(nearest, 2.0**-MOST_PANELS))), 1, MOST_PANELS)
    panels[rest == 1] = 0  # the last one is independent of the others: the integrals are zero
    result = np.zeros(p.shape[1])
    for count in np.unique(panels[panels > 0]):
        v, weights = _graded(int(count))
        members = np.flatnonzero(panels == count)
        step = max(1, WORKSPACE // v.size)
        for start in range(0, members.size, step):
            some = members[start : start + step]
            result[some] = _integrand(p[:, some, None], determinant[some, None], rest[some, None], v) @ weights
    return result


def _integrand(p: Array, determinant: Array, rest: Array, v: Array) -> Array:
    """The integrand at `ψ = ψ₁ (1 − v)`, times `ψ₁`, which is where `s = 1`."""
    known = 1 - rest
    last, root = np.arctan2(np.sqrt(known), np.sqrt(rest)), np.sqrt(rest * known)  # ψ₁, and the product of its sin, cos
    sine, cosine = np.sin(last * v), np.cos(last * v)
    cos_psi = np.sqrt(rest) * cosine + np.sqrt(known) * sine
    left = sine * (2 * root * cosine + (known - rest) * sine) / known  # 1 − s²
    total = np.zeros_like(sine)
    # a = p_i4, b = p_ij, c = p_ik, d = p_jk, e = p_j4, f = p_k4
    for a, b, c, d, e, f in (p[[2, 0, 1, 3, 4, 5]], p[[4, 0, 3, 1, 2, 5]], p[[5, 1, 3, 0, 2, 4]]):
        A = b + c - d - b * c
        M = (a * (b + c + e + f - a - 2 * d) + b * f + c * e - e * f - b * c) + a * (a * d - b * f - c * e)
        scaled = (1 - a) * cos_psi
        W = np.sqrt(np.maximum(a * (2 - a) - rest, 0.0) + scaled * scaled)
        total += scaled / W * np.arctan2(M + left * (A - M), np.sqrt(determinant / known) * cos_psi * W)
    return last * total


@cache
def _graded(panels: int) -> tuple[Array, Array]:
    """Nodes and weights on `[0, 1]`, in panels that halve towards 0."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    ends = np.concatenate([[0.0], 2.0 ** np.arange(1 - panels, 1)])
    lengths = np.diff(ends)
    return (ends[:-1, None] + lengths[:, None] * (x + 1) / 2).ravel(), (lengths[:, None] * w / 2).ravel()


def _determinant3(p: Array, q: Array, r: Array) -> Array:
    """The determinant of three correlations `1 − p, 1 − q, 1 − r`."""
    return 2 * (p * q + q * r + r * p) - p * p - q * q - r * r - 2 * p * q * r


def _determinant4(p12: Array, p13: Array, p14: Array, p23: Array, p24: Array, p34: Array) -> Array:
    """The determinant of six correlations: of the four points, plus twice that of Cayley and Menger."""
    x, y, z = p12 * p34, p13 * p24, p14 * p23
    a, b, c = p12 + p34, p13 + p24, p14 + p23
    faces = p12 * p13 * p23 + p12 * p14 * p24 + p13 * p14 * p34 + p23 * p24 * p34
    edges = x * (b + c - a) + y * (a + c - b) + z * (a + b - c) - faces
    return x * x + y * y + z * z - 2 * (x * y + x * z + y * z) + 2 * edges


def _angle(p: Array) -> Array:
    """`arccos(1 − p)`, accurate also near 0 and π."""
    return 2 * np.arctan2(np.sqrt(p), np.sqrt(2 - p))


def _complements(correlations: dict[str, ArrayLike]) -> list[Array]:
    """`1 − r` for each, broadcast; refused unless real numbers in `[−1, 1]`."""
    arrays = []
    for name, given in correlations.items():
        try:
            array = np.asarray(given)
        except ValueError:
            raise InvalidInput(name, given, "give a rectangular array of correlations") from None
        if array.dtype.kind not in "iuf":
            raise InvalidInput(name, given, "give real numbers in [-1, 1]")
        outside = ~(np.abs(array) <= 1)  # NaN too
        if outside.any():
            raise InvalidInput(name, float(array[outside][0]), "a correlation lies in [-1, 1]")
        arrays.append(1.0 - array.astype(np.float64))
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = [array.shape for array in arrays]
        raise InvalidInput("shapes", shapes, "give arrays that can be broadcast together") from None


def _refuse_negative(minors: dict[str, Array], p: list[Array]) -> None:
    """Refuse correlations with a negative minor, beyond rounding."""
    for name, minor in minors.items():
        if minor.size and minor.min() < -SLACK:
            at = np.unravel_index(minor.argmin(), minor.shape)
            remedy = f"{name} = {minor[at]:.3g} is negative: these are no correlations of Gaussian variables"
            raise InvalidInput("correlations", tuple(float(1 - one[at]) for one in p), remedy)
