r"""The law of the outputs of a finite ReLU network at one input: exactly how far from Gaussian it is.

Definition. A network without biases, of `L >= 0` hidden layers of width `m >= 1`, at an input with `‖x‖ = 1`; the
features `g^l = √(2/m) (W^l g^{l−1})₊`, the output `f = W^{L+1} g^L`, all weights N(0, 1). Given its features the output
is `N(0, q_L)` with `q_l = ‖g^l‖²`, so that `E f² = E q_L` and `E f⁴ = 3 E q_L²`. As `W^l g^{l−1}` is
`N(0, q_{l−1})` in each coordinate, independently, `q_l = q_{l−1} (2/m) ∑_{i<=m} z_i₊²` with fresh `z_i ~ N(0, 1)`.

Source: N states `O(1/m)`; that the excess grows with `L/m` is in Hanin & Nica (2020). Here it is an equality.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Limit, S, Symbol

from .arccos import arccos_kernel, theta
from .derivation import Derivation
from .notation import Meaning
from .reasons import Algebra, LowestTerm

m = Symbol("m", integer=True, positive=True)  # the width of every hidden layer
L = Symbol("L", integer=True, nonnegative=True)  # the number of hidden layers


NOTATION = (
    Meaning(r"f", r"the output of the network at an input of norm 1"),
    Meaning(r"z_i", r"independent standard normal variables"),
    Meaning(r"q_l", r"the squared norm of the features after $l$ layers"),
    Meaning(r"m", r"the width of every hidden layer"),
    Meaning(r"L", r"the number of hidden layers"),
)


def _moment(degree: int) -> Expr:
    """`E[z₊^{2k}]`, from the arc-cosine kernel of degree k at the angle 0."""
    return arccos_kernel(degree).conclusion.subs(theta, 0) / 2


@cache
def layer_square() -> Derivation:
    """`E[((2/m) ∑ z_i₊²)²] = 1 + 5/m`: what one layer does to the second moment of `q`.

    >>> layer_square().conclusion
    1 + 5/m
    """
    second, fourth = _moment(1), _moment(2)
    d = Derivation(
        (2 / m) ** 2 * (m * fourth + m * (m - 1) * second**2),
        r"\mathbb{E}\Big(\frac2m \sum_{i \le m} z_{i+}^2\Big)^2",
        {m: S.Naturals},
        "A layer's effect on the squared norm",
        where=NOTATION,
    )
    using = (arccos_kernel(1), arccos_kernel(2))
    words = r"$\mathbb{E} z_+^2 = \tfrac12$ and $\mathbb{E} z_+^4 = \tfrac32$; $m$ equal pairs, $m(m-1)$ different"
    return d.then(1 + 5 / m, because=words, reason=Algebra(), using=using)


@cache
def excess_kurtosis() -> Derivation:
    r"""`E f⁴/(E f²)² − 3 = 3 ((1 + 5/m)^L − 1)`, at every width and depth.

    >>> excess_kurtosis().conclusion
    3*(1 + 5/m)**L - 3
    """
    layer = layer_square()
    d = Derivation(
        3 * layer.start**L - 3,
        r"\frac{\mathbb{E} f^4}{(\mathbb{E} f^2)^2} - 3",
        {m: S.Naturals, L: S.Naturals0},
        "The excess kurtosis of a finite network",
        where=NOTATION,
    )
    words = (
        r"the layers are independent factors with mean 1, so that $\mathbb{E} q_L = 1$ and $\mathbb{E} q_L^2$ "
        r"is the product of their mean squares"
    )
    return d.then(3 * layer.conclusion**L - 3, because=words, reason=Algebra(), using=(layer,))


@cache
def kurtosis_of_wide_networks() -> Derivation:
    """`m` times the excess kurtosis tends to `15 L`: it is `O(1/m)` at a fixed depth, and grows with the depth.

    >>> kurtosis_of_wide_networks().conclusion
    15*L
    """
    excess, u = excess_kurtosis(), Symbol("u", positive=True)
    d = Derivation(
        Limit(excess.conclusion.subs(m, 1 / u) / u, u, 0),
        r"\lim_{m\to\infty} m\,\Big(\frac{\mathbb{E} f^4}{(\mathbb{E} f^2)^2} - 3\Big)",
        {L: S.Naturals0},
        "The excess kurtosis of wide networks",
        where=NOTATION,
    )
    return d.then(
        15 * L, because="with $u = 1/m$, a limit of elementary functions", reason=LowestTerm(1), using=(excess,)
    )
