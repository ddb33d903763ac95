r"""How far features move, with guaranteed digits: one training point on the unit sphere, any depth.

For a training point `x` and two points of the sphere, with `θ_l` the angles of a pair after `l` layers,

    D^l = 2 q² Θ^{l−1}(x, x_1) Θ^{l−1}(x, x_2) P^l + (1 − θ_{l−1}(x_1, x_2)/π) D^{l−1},    D⁰ = 0,
    P^l = 1/2 − (θ_{l−1}(x_1, x_2) + θ_{l−1}(x, x_1) + θ_{l−1}(x, x_2))/(4π),

which is `numerics/features.py` for `n = 1`. The angles and kernels of all layers come from `deep.orbit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flint import arb
from sympy import Expr

from theory.errors import InvalidInput

from .certified_orthants import angle, refuse_indefinite, three
from .deep import orbit
from .evaluate import enclose

DEEPEST = 10_000
PAIRS = ("rho_12", "rho_x1", "rho_x2")


def feature_deviation(at: Mapping[str, Any], bits: int) -> arb:
    """A ball that contains `D^L` at the exact `rho_12, rho_x1, rho_x2, L, q`, at the working precision.

    Raises `InvalidInput` for correlations of no three points, and for more than 10000 layers.
    """
    depth = int(at["L"])
    if depth > DEEPEST:
        raise InvalidInput("L", depth, f"give at most {DEEPEST}")
    matrix = refuse_indefinite({name: at[pair] for name, pair in zip(("r12", "r13", "r23"), PAIRS, strict=True)}, 3)
    between, first, second = (_orbit(at[pair], depth, bits) for pair in PAIRS)
    q, pi, deviation = enclose(at["q"], {}), arb.pi(), arb(0)
    orthant = three(matrix, (0, 1, 2))  # the only one that may be zero
    for layer, ((angle_12, _), (angle_x1, ntk_1), (angle_x2, ntk_2)) in enumerate(
        zip(between, first, second, strict=True)
    ):
        if layer > 0:
            orthant = arb(1) / 2 - (angle_12 + angle_x1 + angle_x2) / (4 * pi)
        deviation = 2 * q * q * ntk_1 * ntk_2 * orthant + (1 - angle_12 / pi) * deviation
    return deviation


ALGORITHMS: dict[str, Callable[[Mapping[str, Any], int], arb]] = {"feature-deviation": feature_deviation}
"""By the name of the formula: `(at, bits)` to a ball, `at` giving exact values."""


def _orbit(rho: Expr, depth: int, bits: int) -> list[tuple[arb, arb]]:
    """Angle and kernel after `l = 0..depth − 1` layers, for a pair of correlation `rho`."""
    start = arb(0) if rho == 1 else angle(rho)
    found = orbit(start, start, depth - 1, bits)
    angles, kernels = ([low.union(high) for low, high in part] for part in (found.angles, found.kernels))
    kernels[0] = enclose(rho, {})
    if rho == -1 and depth > 1:
        kernels[1] = arb(0)  # opposite points share no unit
    return list(zip(angles, kernels, strict=True))
