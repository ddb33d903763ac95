r"""The ReLU tangent kernel of a very deep network: its limit, and the rate at which it is reached.

Definition. On the unit sphere, with the angles `θ_L` of `theory/correlation.py`, `Σ^L = cos θ_L` and
`Σ̇^L = 1 − θ_{L−1}/π`:

    Θ⁰ = cos θ₀,   Θ^{L+1} = (1 − θ_L/π) Θ^L + cos θ_{L+1},   Θ̄^L = Θ^L/(L + 1).

`L >= 0` counts hidden layers; `θ₀ ∈ [0, π]` is the angle of the inputs, and `Θ̄^L = 1` when `θ₀ = 0`.

Source: W (arXiv:2511.07272), Theorem 2 (`Θ̄^L → 1/4` for `θ₀ ≠ 0`) and the rate `O(1/L)` reported from experiments.
Departure: the rate is `(3/8) log L / L`, whatever the angle of the inputs, so that `O(1/L)` does not hold.
The joint limit of small angles and many layers is in `theory/crossover.py`.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, IndexedBase, Interval, Limit, S, cos, expand, log, oo, pi, symbols

from .algebra import taylor_coefficient
from .arccos import theta
from .correlation import L, angle, angle_scale, angle_second_order, angle_vanishes
from .derivation import Derivation
from .notation import Meaning
from .reasons import Algebra, Continuity, LowestTerm, StolzCesaro
from .sums import Induction

ntk = IndexedBase("Theta")  # ntk[L] is Θ^L, at θ₀ > 0
diagonal = IndexedBase("D")  # diagonal[L] is Θ^L, at θ₀ = 0

RECURSION = {ntk[L + 1]: (1 - angle[L] / pi) * ntk[L] + cos(angle[L + 1])}


def _start() -> dict[Expr, Expr]:
    return {**RECURSION, ntk[0]: cos(angle[0])}


NOTATION = (
    Meaning(ntk[L], "the tangent kernel with $L$ hidden layers of two different inputs $x$ and $x'$", _start),
    Meaning(r"\Theta^{(L)}(x, x')", "the same, also where the inputs are equal"),
    Meaning(r"\bar\Theta^{(L)}(x, x')", "the normalised kernel, $\\Theta^{(L)}(x, x')/(L + 1)$"),
    Meaning(diagonal[L], r"the kernel of equal inputs, $\Theta^{(L)}(x, x)$"),
)


def normalised() -> Expr:
    """`Θ̄^L = Θ^L/(L + 1)`."""
    return ntk[L] / (L + 1)


@cache
def coincident_growth() -> Derivation:
    """`Θ^L = L + 1` when the inputs are equal, by induction: the angle stays 0, so each layer adds exactly 1."""
    following = RECURSION[ntk[L + 1]].subs({angle[L]: 0, angle[L + 1]: 0, ntk[L]: diagonal[L]})
    d = Derivation(
        diagonal[L], r"\Theta^{(L)}(x, x)", {L: Interval(1, oo)}, title="The kernel of equal inputs", where=NOTATION
    )
    return d.then(
        L + 1,
        because=r"by induction, with $\theta_L = 0$ in the recursion",
        reason=Induction(diagonal[L], L, first=0, base=S.One, following=following),
    )


@cache
def coincident() -> Derivation:
    """`Θ̄^L = 1` when the inputs are equal."""
    grows = coincident_growth()
    d = Derivation(
        diagonal[L] / (L + 1),
        r"\bar\Theta^{(L)}(x, x)",
        {L: Interval(1, oo)},
        title="The normalised kernel of equal inputs",
        where=NOTATION,
    )
    return d.then(S.One, because=r"$\Theta^{(L)} = L + 1$", reason=Algebra(known=(grows,)), using=(grows,))


@cache
def growth() -> Derivation:
    r"""`Θ^L/L → 1/4` for any two different inputs."""
    vanishing, scale = angle_vanishes(), angle_scale()
    lemma = StolzCesaro(L, ntk[L], L, RECURSION, damping=angle[L] / pi, using=(vanishing,))
    excess, next_angle = symbols("epsilon phi")
    d = Derivation(Limit(ntk[L] / L, L, oo), "", title="The growth of the kernel", where=NOTATION)
    d = d.then(
        Limit(lemma.increments(), L, oo),
        because="weighted Stolz--Cesaro on the recursion",
        reason=lemma,
        using=(vanishing,),
    )
    form = cos(next_angle) / (1 + (scale.conclusion + excess) / pi)
    null = {excess: L * angle[L] - scale.conclusion, next_angle: angle[L + 1]}
    using = (vanishing, scale)
    return d.then(
        form.subs(dict.fromkeys(null, 0)),
        because=r"$\cos\theta_{L+1} \to 1$ and $L\,\theta_L/\pi \to 3$",
        reason=Continuity(form, null, using=using),
        using=using,
    )


@cache
def normalised_ntk_limit() -> Derivation:
    r"""Limit of the normalised ReLU NTK as the depth grows: 1/4 for any two different inputs, opposite ones included.

    >>> normalised_ntk_limit().conclusion
    1/4
    """
    grows = growth()
    excess, shift = symbols("epsilon x")
    d = Derivation(
        Limit(normalised(), L, oo),
        r"\lim_{L\to\infty}\bar\Theta^{(L)}(x, x')",
        title="The deep limit of the normalised kernel",
        where=NOTATION,
    )
    form = (grows.conclusion + excess) / (1 + shift)
    return d.then(
        form.subs({excess: 0, shift: 0}),
        because=r"$\Theta^{(L)}/L \to 1/4$ and $L/(L+1) \to 1$",
        reason=Continuity(form, {excess: ntk[L] / L - grows.conclusion, shift: 1 / L}, using=(grows,)),
        using=(grows,),
    )


@cache
def logarithmic_excess() -> Derivation:
    r"""`(Θ^L − L/4)/log L → 3/8`: the second term of the kernel, for any two different inputs."""
    quarter = growth().conclusion
    scale, second, vanishing = angle_scale(), angle_second_order(), angle_vanishes()
    excess_ntk = ntk[L] - quarter * L
    lemma = StolzCesaro(L, excess_ntk, log(L), RECURSION, damping=angle[L] / pi, using=(vanishing,))
    d = Derivation(Limit(excess_ntk / log(L), L, oo), "", title="The second term of the kernel", where=NOTATION)
    d = d.then(
        Limit(lemma.increments(), L, oo),
        because="weighted Stolz--Cesaro on the recursion",
        reason=lemma,
        using=(vanishing,),
    )
    # With y = log L/L, z = 1/log L and 1/θ_L = L/(3π) + (1/(2π) + ε) log L:  L θ_L/π = 3/(1 + 3π(1/(2π) + ε) y).
    deviation, y, z, spacing, cosine = symbols("epsilon y z w c")
    slowing = 3 * pi * (second.conclusion + deviation)
    damping = 3 / (1 + slowing * y)
    form = (3 * quarter * slowing / (1 + slowing * y) - cosine) / ((1 + spacing) * z + damping)
    null = {
        deviation: second.start.args[0] - second.conclusion,
        y: log(L) / L,
        z: 1 / log(L),
        spacing: L * (log(L + 1) - log(L)) - 1,
        cosine: (1 - cos(angle[L + 1])) * L / log(L),
    }
    using = (second, next_cosine_negligible())
    return d.then(
        form.subs(dict.fromkeys(null, 0)),
        because=r"$1/\theta_L = L/(3\pi) + (1/(2\pi) + o(1)) \log L$ on both sides",
        reason=Continuity(form, null, using=using),
        using=(scale, vanishing, *using),
    )


@cache
def next_cosine_negligible() -> Derivation:
    r"""`(1 − cos θ_{L+1}) L/log L → 0`: that `Σ^L` is not yet one matters only at order `1/L²`."""
    scale, vanishing, curvature = angle_scale(), angle_vanishes(), _cosine_curvature()
    form_curvature, excess, factor = symbols("eta epsilon v")
    d = Derivation(
        Limit((1 - cos(angle[L + 1])) * L / log(L), L, oo),
        "",
        title="The correlation itself is negligible",
        where=NOTATION,
    )
    form = (curvature.conclusion + form_curvature) * (scale.conclusion + excess) ** 2 * factor
    null = {
        form_curvature: (1 - cos(angle[L + 1])) / angle[L + 1] ** 2 - curvature.conclusion,
        excess: (L + 1) * angle[L + 1] - scale.conclusion,
        factor: L / ((L + 1) ** 2 * log(L)),
    }
    using = (curvature, scale, _next_angle_vanishes())
    return d.then(
        L * 0,
        because=r"$1 - \cos\theta \sim \theta^2/2$ and $L\,\theta_L \to 3\pi$",
        reason=Continuity(form, null, using=using),
        using=(vanishing, *using),
    )


@cache
def _cosine_curvature() -> Derivation:
    d = Derivation(
        Limit((1 - cos(theta)) / theta**2, theta, 0), "", title="The curvature of the cosine", where=NOTATION
    )
    value = taylor_coefficient(1 - cos(theta), theta, 2)
    return d.then(value, because="the Taylor series of the cosine", reason=LowestTerm(2))


@cache
def _next_angle_vanishes() -> Derivation:
    vanishing = angle_vanishes()
    shifted = symbols("phi")
    d = Derivation(Limit(angle[L + 1], L, oo), "", title="The angle one layer later", where=NOTATION)
    return d.then(
        L * 0,
        because=r"as $\theta_L$ does",
        reason=Continuity(shifted, {shifted: angle[L + 1]}, using=(vanishing,)),
        using=(vanishing,),
    )


@cache
def depth_rate() -> Derivation:
    r"""`(Θ̄^L − 1/4) L/log L → 3/8`: the exact leading term of the distance to the limit, the same for all inputs.

    >>> depth_rate().conclusion
    3/8
    """
    limit_, excess = normalised_ntk_limit(), logarithmic_excess()
    deviation, z, x = symbols("epsilon z x")
    d = Derivation(
        Limit((normalised() - limit_.conclusion) * L / log(L), L, oo),
        r"\lim_{L\to\infty}\Big(\bar\Theta^{(L)} - \tfrac14\Big)\frac{L}{\log L}",
        title="The rate of the deep limit",
        where=NOTATION,
    )
    form = expand(excess.conclusion + deviation - limit_.conclusion * z) / (1 + x)
    null = {deviation: excess.start.args[0] - excess.conclusion, z: 1 / log(L), x: 1 / L}
    return d.then(
        form.subs(dict.fromkeys(null, 0)),
        because=r"$\Theta^{(L)} = L/4 + (3/8 + o(1)) \log L$",
        reason=Continuity(form, null, using=(excess,)),
        using=(limit_, excess),
    )


def leading_error(depth: Expr = L) -> Expr:
    """`(3/8) log L/L`, the leading term of `Θ̄^L − 1/4`, with the coefficient that `depth_rate` derives.

    >>> leading_error()
    3*log(L)/(8*L)
    """
    return depth_rate().conclusion * log(depth) / depth
