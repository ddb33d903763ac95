r"""Orders of random tensors in probability, and the rules by which they are computed.

For a random tensor `X_n ∈ R^{d_1 × … × d_k}`, whose shape may grow with the size `n`, the *subordinate norm* is

    ‖X‖ = sup |Σ X_{i_1…i_k} v¹_{i_1} … vᵏ_{i_k}|   over vectors `vʲ` of Euclidean length 1:

the length of a vector, the largest singular value of a matrix. For `g(n) = n^p (log n)^q`, `p, q` rational, in words
that apply to any positive sequence `g`:

    upper       X = O(g):  for every ε > 0 there is C with P(‖X_n‖ > C g(n)) < ε for all large n;
    definite    an upper bound, and P(‖X_n‖ ≥ c g(n)) ≥ δ for all large n, with some c, δ > 0;
    exact       X = O(g), and for every ε > 0 there is c > 0 with P(‖X_n‖ < c g(n)) < ε for all large n.

`X = O(g)` says the same as P(‖X_n‖ ≤ f(n)) → 1 for every `f` with `f/g → ∞`. A definite bound is the least of the upper
bounds up to constants, if there is one (`theory/definite_bounds.py`); an exact one is definite. For `X` that is `n` or
1 with probability ½ each, `n` is definite and not exact.

**Rules**, by the union bound `P(A ∪ B) ≤ P(A) + P(B)`:

    product      ‖X ⊗ Y‖ = ‖X‖ ‖Y‖     bounds multiply. Exact if both are exact; definite if one is exact and the other
                 definite, or both are definite and X, Y independent; else only upper: let X be n or 1 as above and
                 Y = n/X, then XY = n, where n² is the product of the definite bounds.
    sum          ‖X + Y‖ ≤ ‖X‖ + ‖Y‖   the larger bound, and as sharp as that is if it is larger by more than constants;
                 of equal bounds only upper: Y may be −X.
    contraction  ‖X · Y‖ ≤ ‖X‖ ‖Y‖     over one index of each: bounds multiply, only upper, as Y may be in the kernel
                 of X. Over two indices at once it is false: Σ_ij I_ij I_ij = n for the identity of norm 1.
    power        ‖X‖^r, r > 0          as sharp as before; for r < 0 it takes an exact bound.
    maximum      of many tensors       takes more than an order for each of them, see `StochasticOrder.uniform`.

Orders in probability say nothing of moments: a variable that is `n` with probability `n^{−1/2}`, else 1, is exactly of
order 1 and has the mean `√n` to leading order.

Free of SymPy, so that what only needs numbers can import it at no cost. Source: arXiv:2401.04013, section 2, and Mann
and Wald (1943) for orders in probability. Departure: the source's bounds are any sequences, here powers and logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING

from .errors import InvalidInput

if TYPE_CHECKING:
    from sympy import Expr


class Sharpness(IntEnum):
    """What is known of a bound, from the least to the most; see the module."""

    UPPER = 0
    DEFINITE = 1
    EXACT = 2


@dataclass(frozen=True)
class PowerTail:
    """`P(‖X‖ > t g) ≤ C t^{−s}` for all `t ≥ 1`, with one `C` for all the tensors and sizes; `s > 0`."""

    exponent: Fraction | int

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponent", _positive("exponent", self.exponent))


@dataclass(frozen=True)
class ExponentialTail:
    """`P(‖X‖ > t g) ≤ C exp(−c t^r)` for all `t ≥ 0`, with one `C, c > 0` for all tensors and sizes; `r > 0`.

    Lengths of Gaussian vectors, relative to the square root of their variance, have `r = 2`.
    """

    exponent: Fraction | int

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponent", _positive("exponent", self.exponent))


Tail = PowerTail | ExponentialTail


@dataclass(frozen=True)
class StochasticOrder:
    """The bound `n^power (log n)^log_power` on a random tensor, and how sharp it is known to be.

    `<` and `<=` compare the growth of the bounds only: `a < b` says that `a` is `o(b)`. Raises `InvalidInput` for
    exponents that are not rational, and for operands that are no orders.

    >>> length = StochasticOrder(Fraction(1, 2), sharpness=Sharpness.EXACT)  # of a Gaussian vector
    >>> print(length * length, length + StochasticOrder(1), length.contract(length), length**-2)
    Θ(n) O(n) O(n) Θ(n^-1)
    """

    power: Fraction | int = Fraction(0)
    log_power: Fraction | int = Fraction(0)
    sharpness: Sharpness = Sharpness.UPPER

    def __post_init__(self) -> None:
        for name in ("power", "log_power"):
            object.__setattr__(self, name, _rational(name, getattr(self, name)))
        if not isinstance(self.sharpness, Sharpness):
            raise InvalidInput("sharpness", self.sharpness, "give Sharpness.UPPER, .DEFINITE or .EXACT")

    @property
    def definite(self) -> bool:
        """Whether no bound of smaller order holds: `X` is not `o(g)` along any sequence of sizes."""
        return self.sharpness >= Sharpness.DEFINITE

    @property
    def growth(self) -> tuple[Fraction, Fraction]:
        """`(power, log_power)`; bounds are ordered as these are, the power first."""
        return Fraction(self.power), Fraction(self.log_power)

    def __le__(self, other: StochasticOrder) -> bool:
        return self.growth <= _order(other).growth

    def __lt__(self, other: StochasticOrder) -> bool:
        return self.growth < _order(other).growth

    def __ge__(self, other: StochasticOrder) -> bool:
        return _order(other) <= self

    def __gt__(self, other: StochasticOrder) -> bool:
        return _order(other) < self

    def __mul__(self, other: StochasticOrder) -> StochasticOrder:
        return self.product(other)

    def product(self, other: StochasticOrder, *, independent: bool = False) -> StochasticOrder:
        """The order of `X ⊗ Y`. That the two are `independent` matters where both bounds are definite and not exact.

        >>> coin = StochasticOrder(1, sharpness=Sharpness.DEFINITE)
        >>> print(coin * coin, coin.product(coin, independent=True))
        O(n^2) definite O(n^2)
        """
        weakest, strongest = sorted((self.sharpness, _order(other).sharpness))
        if weakest is Sharpness.DEFINITE and strongest is Sharpness.DEFINITE and not independent:
            weakest = Sharpness.UPPER
        return StochasticOrder(self.power + other.power, self.log_power + other.log_power, weakest)

    def __add__(self, other: StochasticOrder) -> StochasticOrder:
        """The order of `X + Y`, whatever their joint law."""
        if self.growth == _order(other).growth:
            return replace(self, sharpness=Sharpness.UPPER)
        return max(self, other, key=lambda order: order.growth)

    __radd__, __rmul__ = __add__, __mul__  # from the left comes what is no order, and is refused

    def contract(self, other: StochasticOrder) -> StochasticOrder:
        """The order of a contraction of `X` with `Y` over one index of each or, `Y` being a vector, of `X`."""
        return replace(self * other, sharpness=Sharpness.UPPER)

    def __pow__(self, exponent: Fraction | int) -> StochasticOrder:
        """The order of `‖X‖^exponent`. Raises `InvalidInput` for a negative one of a bound that is not exact."""
        r = _rational("exponent", exponent)
        if r < 0 and self.sharpness is not Sharpness.EXACT:
            raise InvalidInput(
                "exponent", exponent, "the norm may be arbitrarily small: only exact bounds are divided by"
            )
        sharpness = Sharpness.EXACT if r == 0 else self.sharpness
        return StochasticOrder(r * self.power, r * self.log_power, sharpness)

    def uniform(self, count_power: Fraction | int, tail: Tail) -> StochasticOrder:
        """The order of the largest norm of `n^count_power` tensors, each of this order, with a uniform `tail`.

        By the union bound: `n^{k/s}` more for a power tail, `(log n)^{1/r}` for an exponential one; iid variables with
        such tails attain it (`theory.definite_bounds.maximum_law`). Without a tail that is uniform nothing follows: of
        `n` independent variables that are `a_n` with probability `1/n`, else 0, each is `o(g)` for every `g > 0`, and
        the largest is `a_n` with probability `1 − 1/e` in the limit, however large `a_n` is.

        >>> entry = StochasticOrder(0, sharpness=Sharpness.EXACT)
        >>> print(entry.uniform(1, PowerTail(1)), entry.uniform(1, ExponentialTail(2)))  # Cauchy, Gaussian
        O(n) O(log(n)^(1/2))
        """
        k = _positive("count_power", count_power)
        match tail:
            case PowerTail(s):
                return StochasticOrder(self.power + k / s, self.log_power)
            case ExponentialTail(r):
                return StochasticOrder(self.power, self.log_power + Fraction(1) / r)
        raise InvalidInput("tail", tail, "give PowerTail(s) or ExponentialTail(r), uniform over all the tensors")

    def expression(self, n: Expr) -> Expr:
        """`n^p (log n)^q` as a SymPy expression."""
        import sympy

        p, q = (sympy.Rational(x.numerator, x.denominator) for x in self.growth)
        return n**p * sympy.log(n) ** q

    def __str__(self) -> str:
        parts = (_power("n", self.growth[0]), _power("log(n)", self.growth[1]))
        bound = " ".join(part for part in parts if part) or "1"
        return {
            Sharpness.UPPER: f"O({bound})",
            Sharpness.DEFINITE: f"definite O({bound})",
            Sharpness.EXACT: f"Θ({bound})",
        }[self.sharpness]


def _power(base: str, exponent: Fraction) -> str:
    if exponent in (0, 1):
        return base if exponent else ""
    return f"{base}^{exponent}" if exponent.denominator == 1 else f"{base}^({exponent})"


def _order(other: object) -> StochasticOrder:
    if not isinstance(other, StochasticOrder):
        raise InvalidInput("other", other, "give a StochasticOrder; StochasticOrder() is that of a constant")
    return other


def _rational(name: str, value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise InvalidInput(name, value, "give an integer or a Fraction")
    return Fraction(int(value.numerator), int(value.denominator))


def _positive(name: str, value: object) -> Fraction:
    found = _rational(name, value)
    if not found > 0:
        raise InvalidInput(name, value, "give a positive number")
    return found
