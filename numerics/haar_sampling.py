r"""Haar orthogonal matrices, and the eigen-angles of one without the matrix.

The Haar law of `O(h)`, `h >= 1`, is the one that multiplying by any fixed orthogonal matrix, from either side, leaves
as it is. Its first `c <= h` columns are uniform on the Stiefel manifold.

**Matrices** (Stewart 1980). In the QR decomposition of a Gaussian matrix by Householder reflections, the column that
step `k` reflects onto the axis `e_k` is Gaussian and independent of what came before. So the reflections can be drawn
outright, and the factor `Q`, its columns multiplied by the signs of the diagonal of `R`, is Haar: no decomposition.

**Eigen-angles.** Let `Z` be Haar, `u` its first column, and `G_k(α) = [[α, ρ], [ρ, −α]]`, `ρ = √(1 − α²)`, on the
coordinates `k, k+1` (the identity elsewhere); `G_{h−1} = ±1` on the last alone. `Z = H (1 ⊕ Z')` for some `H` with
`H e_0 = u`, where `Z'` is Haar on `O(h−1)`, independent of `u`. Turning the coordinates other than the first makes
`u = α_0 e_0 + ρ_0 e_1`, and `H` can be `G_0(α_0)`. The same for `Z'`, whose turns commute with `G_0`, and so on:

    Z is conjugate to G_0 G_1 ⋯ G_{h−1},   α_k independent, the first coordinate of a uniform unit vector in R^{h−k}.

Neighbours alone do not commute, so the product is conjugate to that in any other order, such as `L M` with
`L = G_0 G_2 ⋯`, `M = G_1 G_3 ⋯`: two symmetric reflections. On an eigenplane of `L M` of angles `±θ` they are two
reflections of a plane, and if `v` is the unit vector that `L` keeps, `v·Mv = cos θ`. So the cosines are the eigenvalues
of `M` compressed to the vectors that `L` keeps, a tridiagonal matrix of half the size: O(h²) operations.

Source: Stewart, SIAM J. Numer. Anal. 17 (1980); Killip and Nenciu, IMRN 2004 (the law of the α_k); Ammar, Gragg,
Reichel (1986) for orthogonal eigenproblems of half the size.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used
from numpy.typing import NDArray

from theory.errors import InvalidInput

from .data import as_integer

Array = NDArray[np.float64]

BLOCK = 64  # columns per block in LAPACK: its workspace is BLOCK numbers for each


@cache
def _lapack(name: str) -> Any:
    """`orgqr`, the matrix of a product of reflections, or `sterf`, the eigenvalues of a tridiagonal matrix."""
    return scipy.linalg.get_lapack_funcs((name,), dtype=np.float64)[0]


class EigenAngles(NamedTuple):
    """Eigenvalues `e^{±iθ}` of real orthogonal matrices: `angles` in [0, π] and `counts`, both `(batch, k)`.

    A pair `θ, −θ` counts 2, an eigenvalue ±1 counts 1, and an angle that only fills up the array counts 0.
    """

    angles: Array
    counts: Array


def haar_orthogonal(rng: np.random.Generator, batch: int, rows: int, columns: int | None = None) -> Array:
    """Independent matrices `(batch, rows, columns)`, the first `columns <= rows` columns (default all) of Haar ones.

    Raises `InvalidInput` for sizes that are no positive integers, or more columns than rows.

    >>> Q = haar_orthogonal(np.random.default_rng(0), 3, 5, 2)
    >>> bool(np.allclose(Q.swapaxes(1, 2) @ Q, np.eye(2)))
    True
    """
    batch, rows = as_integer("batch", batch, 1), as_integer("rows", rows, 1)
    columns = rows if columns is None else as_integer("columns", columns, 1)
    if columns > rows:
        raise InvalidInput("columns", columns, f"there are no more than {rows} orthonormal vectors in R^{rows}")
    vectors = np.triu(rng.standard_normal((batch, columns, rows)))  # item k is 0 before coordinate k
    first = np.diagonal(vectors, axis1=1, axis2=2)
    onto = -np.copysign(np.sqrt(np.einsum("bki,bki->bk", vectors, vectors)), first)  # the diagonal of R
    scale = (onto - first) / onto
    vectors /= (first - onto)[:, :, None]
    for matrix, factors in zip(vectors, scale, strict=True):  # in the layout of LAPACK: in place, no copy
        _, _, info = _lapack("orgqr")(matrix.T, factors, lwork=BLOCK * columns, overwrite_a=1)
        assert info == 0
    vectors *= np.sign(onto)[:, :, None]
    return np.ascontiguousarray(vectors.swapaxes(1, 2))


def haar_eigenangles(rng: np.random.Generator, batch: int, size: int) -> EigenAngles:
    """The eigen-angles of independent Haar matrices of `O(size)`, `size = h`, in O(h²) operations each.

    `k = h//2 + 1`. Angles near 0 and π have an absolute error of about 1e-16 divided by their distance from there;
    eigenvalues 1 and −1 are exact. Raises `InvalidInput` for sizes that are no positive integers.

    >>> haar_eigenangles(np.random.default_rng(1), 1, 3)
    EigenAngles(angles=array([[0.        , 2.55599217]]), counts=array([[1., 2.]]))
    """
    batch, h = as_integer("batch", batch, 1), as_integer("size", size, 1)
    freedom = np.arange(h - 1, 0, -1) / 2
    # (1 + α_k)/2 and (1 − α_k)/2, the squares of the two coordinates of the vector that G_k keeps
    kept = np.ones((batch, h + 2))
    kept[:, : h - 1] = rng.beta(freedom, freedom, (batch, h - 1))
    last = rng.integers(2, size=batch)
    kept[:, h - 1] = last
    kept[:, h:] = 0  # reflections beyond the end, α = −1, make the sizes even without adding eigenvalues
    alpha = 2 * kept - 1
    rho = 2 * np.sqrt(kept * (1 - kept))
    k = h // 2 + 1
    before = np.concatenate([np.full((batch, 1), -1.0), alpha[:, 1 : 2 * k - 2 : 2]], axis=1)
    even, odd = kept[:, 0 : 2 * k : 2], alpha[:, 1 : 2 * k : 2]
    diagonal = (1 - even) * odd - even * before
    beside = np.sqrt((1 - even[:, :-1]) * even[:, 1:]) * rho[:, 1 : 2 * k - 2 : 2]
    if k > 1:
        for row, neighbours in zip(diagonal, beside, strict=True):
            row[:], info = _lapack("sterf")(row, neighbours)
            assert info == 0
    angles = np.arccos(np.clip(diagonal[:, ::-1], -1, 1))
    counts = np.full((batch, k), 2.0)
    # α_{h−1} = 1 is an eigenvalue 1, the first; the last is −1, with an eigenvector of Z or, if not, beyond the end
    angles[last == 1, 0] = 0
    counts[:, 0] -= last
    counts[:, -1] -= (1 - last) + (h % 2 == 0)
    return EigenAngles(angles, counts)
