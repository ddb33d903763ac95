r"""The exponents of derivative correlations at any depth: counting clusters of contracted derivatives.

Rule. The mean of a product of `f` functions `F`, whose derivatives are contracted
in pairs so that the functions form clusters, `n_e` of an even and `n_o` of an odd number of functions, is

    O(m^{n_e + (n_o − f)/2}).

It is proved there for linear and for one hidden layer, and conjectured beyond; here it is used at every depth and then
measured. It is a bound: in linear networks it is attained for `d <= 2`, not for `d = 3`, where `C_{0,3}` is of order
`m^{−2}` (`theory/linear_correlations.py`).

So `C_{0,d}²` is two clusters of `d + 1` functions: `m^{1−d}` if `d` is odd, `m^{−d}` if it is even. `‖C_{1,d}‖²` is one
of `2(d + 1)` functions: `m^{−d}`. `tr C_{2,d}^{2p}` is one of `2p(d + 1)`: `m^{1−p(d+1)}`. Its 2p-th root bounds the
spectral norm at every `p`, so that `m^{−(d+1)/2}` does, up to factors that grow more slowly than any power.

Source: Dyer & Gur-Ari, *Asymptotics of wide networks from Feynman diagrams* (2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import Eq, Expr, Integer, Interval, Limit, Piecewise, S, expand

from .correlations import D, d, z
from .derivation import Derivation
from .reasons import LowestTerm


@dataclass(frozen=True)
class Clusters:
    """A product of `functions` copies of `F` and its derivatives, whose contractions form `even` and `odd` clusters."""

    functions: Expr
    even: Expr
    odd: Expr

    @property
    def exponent(self) -> Expr:
        """The power of the width that bounds the mean of the product.

        >>> Clusters(Integer(6), even=Integer(0), odd=Integer(2)).exponent  # C_{0,2}², twice three functions
        -2
        """
        return self.even + (self.odd - self.functions) / 2


def square(d: Expr, parity: int) -> Clusters:
    """`C_{0,d}²`: two clusters of `d + 1` functions; `parity` is that of `d`."""
    both = Integer(2)
    return Clusters(2 * (d + 1), *((both, S.Zero) if parity else (S.Zero, both)))


def ring(d: Expr, links: Expr) -> Clusters:
    """`tr C_{2,d}^{2p}` with `p = links`, or `‖C_{1,d}‖²` with `p = 1`: one cluster of `2p(d + 1)` functions."""
    return Clusters(2 * links * (d + 1), S.One, S.Zero)


@cache
def operator_exponent() -> Derivation:
    """The exponent of `‖C_{2,d}‖ <= (tr C_{2,d}^{2p})^{1/2p}` as `p → ∞`.

    >>> operator_exponent().conclusion
    -d/2 - 1/2
    """
    start = Derivation(
        Limit(expand(ring(d, 1 / z).exponent * z) / 2, z, 0),
        r"\lim_{p\to\infty} \frac{1 - p(d + 1)}{2p}",
        {d: Interval(0, 8)},
        title="The exponent of the spectral norm",
    )
    return start.then(expand(-(d + 1) / 2), because="with $z = 1/p$", reason=LowestTerm(0))


def decay_exponent() -> Expr:
    """The exponent of the width in the root mean square of `C_{D,d}`, `D = 0, 1, 2`, by the cluster rule.

    >>> [decay_exponent().subs({D: 0, d: order}) for order in range(1, 6)]
    [0, -1, -1, -2, -2]
    >>> [decay_exponent().subs({D: 1, d: 1}), decay_exponent().subs({D: 2, d: 1})]
    [-1/2, -1]
    """
    odd = (1 - (-1) ** d) / 2
    scalar = odd * square(d, 1).exponent / 2 + (1 - odd) * square(d, 0).exponent / 2
    vector = ring(d, S.One).exponent / 2
    return Piecewise((expand(scalar), Eq(D, 0)), (vector, Eq(D, 1)), (operator_exponent().conclusion, True))
