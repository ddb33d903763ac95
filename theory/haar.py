r"""Means over a Haar orthogonal matrix: the traces of its powers, and the scalar products of its columns.

**Traces.** For `Z` Haar distributed on the orthogonal group O(h), `h >= 1`, and `k >= 1`,

    E tr Zᵏ = 1 for even k,  0 for odd k,        at every h, however large k is.

Proof. With the eigenvalues `z_i` of `Z`, let `e_r` be the elementary and `s_m` the complete symmetric functions: the
traces of `Z` on antisymmetric tensors of degree `r` and on symmetric ones of degree `m`. By Newton's identity
`Σ z_iᵏ = Σ_{r=1}^k (−1)^{r−1} r e_r s_{k−r}`. Now `E e_r s_m` is the trace of the projector on the invariants of
`Λʳ ⊗ Symᵐ`, that is the number of independent equivariant maps `ω: R^h → Λʳ(R^h)` that are homogeneous polynomials of
degree `m`. The reflections in the hyperplanes that contain `v` fix `v`, so they fix `ω(v)`, and no direction orthogonal
to `v` occurs in it: `ω(v)` is a multiple of 1 (`r = 0`), of `v` (`r = 1`), or zero. Hence `ω = c |v|^m` with even `m`,
or `ω = c |v|^{m−1} v` with odd `m`: `E e_r s_m = 1` for `r = 0` and even `m`, for `r = 1` and odd `m`, and else 0. In
the sum only `r = 1` is left, with `m = k − 1` odd.

In other words, the mean density of the eigenvalues `e^{iφ}` is `(h − 1)/2π` on the circle and ½ at each of ±1; so for a
Laurent polynomial `F = Σ c_k zᵏ`

    E tr F(Z) = (h − 1) c_0 + (F(1) + F(−1))/2.

**Scalar products.** For independent uniform unit vectors `r, c` of `R^h`, `h >= 1`, `τ = rᵀc` has

    E τ^{2k} = ∏_{j<k} (2j + 1)/(h + 2j),    E τ^{2k+1} = 0.

Proof. `g ~ N(0, I)` is `|g|` times a uniform unit vector independent of `|g|`, so `E τ^{2k} = E g_1^{2k}/E|g|^{2k}`. By
Gaussian integration by parts `E g_1^{2k+2} = (2k + 1) E g_1^{2k}` and `E|g|^{2k+2} = (h + 2k) E|g|^{2k}`.

Source: the traces for `k <= h/2` are in Diaconis & Shahshahani (1994); that they hold for all `k` is proved above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod

from sympy import (
    Add,
    Dummy,
    Expr,
    Function,
    Indexed,
    IndexedBase,
    Integer,
    MatrixSymbol,
    Mul,
    Poly,
    S,
    Symbol,
    Trace,
    diff,
    log,
    sqrt,
)

from .derivation import Derivation, How, Outcome
from .errors import InvalidInput
from .matrix_words import Words, orthogonal
from .notation import Meaning
from .rate_polynomials import SameRatePolynomial, eta1, eta2, h
from .reasons import equal, shown

mean = Function("E")
Z = MatrixSymbol("Z", h, h)
tau = Symbol("tau", real=True)  # the scalar product of two unit vectors
A, B = Symbol("A", positive=True), Symbol("B", positive=True)  # norms of two Gaussian vectors
g, R = Symbol("g", real=True), Symbol("R", positive=True)  # an entry and the norm of a standard Gaussian vector
e, s = IndexedBase("e"), IndexedBase("s")  # elementary and complete symmetric functions of the eigenvalues


NOTATION = (
    Meaning(r"Z", r"$W_1^\top Q W_2^\top$ at the start, Haar distributed on the orthogonal group"),
    Meaning(r"l_k", r"the coefficient of $Z^k$ in the residual"),
    Meaning(r"\tau", r"the scalar product of two independent uniform unit vectors"),
    Meaning(r"e_r, s_m", r"the elementary and the complete symmetric functions of the eigenvalues"),
    Meaning(r"s", r"a symmetric function"),
    Meaning(r"k", r"a power"),
    Meaning(r"g", r"an entry of a standard normal vector of length $R$"),
    Meaning(r"r, c", r"two vectors on spheres, independent and uniform"),
    Meaning(r"p, q", r"the components of the residual along $r$ and $c$"),
    Meaning(r"m", r"a degree"),
    Meaning(r"R", r"the length of a standard normal vector"),
)


def _natural(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(name, value, f"give an integer >= {least}")


@dataclass(frozen=True)
class Newton:
    """`tr Zᵏ = Σ_{r=1}^k (−1)^{r−1} r e_r s_{k−r}` under the mean.

    `Σ p_k tᵏ = −t d/dt log ∏(1 − z_i t)`, where `∏(1 − z_i t) = Σ e_r (−t)ʳ` and its reciprocal is `Σ s_m tᵐ`. As the
    logarithm is a sum over the eigenvalues, what is checked is the identity for one of them.
    """

    power: int

    def expected(self) -> Expr:
        """The sum."""
        terms = [(-1) ** (r - 1) * r * mean(e[r] * s[self.power - r]) for r in range(1, self.power + 1)]
        return Add(*terms)

    def check(self, before: Expr, after: Expr) -> Outcome:
        t, z = Symbol("t"), Symbol("z")
        one_eigenvalue = equal(-t * diff(log(1 - z * t), t), z * t / (1 - z * t))
        if before != mean(Trace(Z**self.power)) or after != self.expected() or not one_eigenvalue.proved:
            return Outcome(How.WRONG, f"it is {self.expected()}")
        return Outcome(How.LEMMA, "Newton's identity")


@dataclass(frozen=True)
class Invariants:
    """`E e_r s_m` is 1 for `r = 0`, even `m`, and for `r = 1`, odd `m`, else 0: the proof is at the head."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        values = {}
        for part in before.atoms(mean):
            factors = Mul.make_args(part.args[0])
            degrees = {factor.base: factor.indices[0] for factor in factors if isinstance(factor, Indexed)}
            if len(factors) != 2 or set(degrees) != {e, s}:
                return Outcome(How.UNDECIDED, f"{part} is not the mean of a product of two symmetric functions")
            values[part] = Integer(int(degrees[e] in (0, 1) and degrees[s] % 2 == degrees[e]))
        same = equal(before.xreplace(values), after)
        return Outcome(How.LEMMA, "equivariant polynomials") if same.proved else same


@lru_cache(maxsize=None, typed=True)
def haar_trace(power: int) -> Derivation:
    """`E tr Zᵏ` for `k >= 1` and every `h >= 1`.

    >>> [haar_trace(k).conclusion for k in range(1, 5)]
    [0, 1, 0, 1]
    """
    _natural("power", power, 1)
    newton = Newton(power)
    d = Derivation(
        mean(Trace(Z**power)),
        rf"\operatorname{{E}}\operatorname{{tr}} Z^{{{power}}}",
        {h: S.Naturals},
        "A Haar trace",
        where=NOTATION,
    )
    d = d.then(newton.expected(), because="Newton's identity between symmetric functions", reason=newton)
    return d.then(
        Integer(1 - power % 2),
        because=r"$E\, e_r s_m = 1$ for $r = 1$ and odd $m$, else 0",
        reason=Invariants(),
    )


@dataclass(frozen=True)
class HaarAverage:
    """`E tr F(Z)` for a Laurent polynomial `F`, by linearity and the traces `known`; `tr I = h`."""

    known: tuple[Derivation, ...] = ()

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not (isinstance(before, mean) and isinstance(before.args[0], Trace)):
            return Outcome(How.UNDECIDED, "the line before is not the mean of a trace")
        values = dict(shown(self.known))
        total = S.Zero
        for letters, coefficient in Words(orthogonal(Z)).polynomial(before.args[0].arg).items():
            if (letters and len(set(letters)) > 1) or any(matrix != Z for matrix, _ in letters):
                return Outcome(How.UNDECIDED, "it is no Laurent polynomial in Z")
            value = values.get(mean(Trace(Z ** len(letters)))) if letters else h
            if value is None:
                return Outcome(How.UNDECIDED, f"the mean of tr Z^{len(letters)} is not known")
            total += coefficient * value
        return equal(total, after)


@dataclass(frozen=True)
class NormAndDirection:
    """`E τᵏ = E gᵏ/E Rᵏ` for an entry `g` and the norm `R` of a Gaussian vector."""

    power: int

    def check(self, before: Expr, after: Expr) -> Outcome:
        if before == mean(tau**self.power) and after == mean(g**self.power) / mean(R**self.power):
            return Outcome(How.LEMMA, "norm and direction are independent")
        return Outcome(How.WRONG, f"expected E g^{self.power}/E R^{self.power}")


@dataclass(frozen=True)
class GaussianMoments:
    """`E g^{2k} = (2k − 1)!!` and `E R^{2k} = ∏_{j<k} (h + 2j)`, by Gaussian integration by parts; `A = B = R/√h`."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        values = {}
        for part in before.atoms(mean):
            base, power = part.args[0].as_base_exp()
            if base not in (g, R, A, B) or not power.is_Integer or power % 2:
                return Outcome(How.UNDECIDED, f"{part} is not an even moment of a Gaussian vector")
            half = range(int(power) // 2)
            if base == g:
                values[part] = Mul(*(2 * j + 1 for j in half))
            else:
                values[part] = Mul(*(h + 2 * j for j in half)) / (1 if base == R else h ** len(half))
        same = equal(before.xreplace(values), after)
        return Outcome(How.LEMMA, "Gaussian integration by parts") if same.proved else same


@lru_cache(maxsize=None, typed=True)
def sphere_moment(power: int) -> Derivation:
    """`E τᵏ` for the scalar product of two independent uniform unit vectors, at every `h >= 1`.

    >>> sphere_moment(4).conclusion
    3/(h*(h + 2))
    """
    _natural("power", power, 1)
    d = Derivation(
        mean(tau**power),
        rf"\operatorname{{E}}\tau^{{{power}}}",
        {h: S.Naturals},
        "A moment on the sphere",
        where=NOTATION,
    )
    if power % 2:
        return d.then(S.Zero, because=r"$-r$ has the law of $r$", reason=Symmetry())
    d = d.then(
        mean(g**power) / mean(R**power),
        because=r"$g = R\,\tau$ with independent factors is an entry of a Gaussian vector of norm $R$",
        reason=NormAndDirection(power),
    )
    return d.then(
        Mul(*(Integer(2 * j + 1) / (h + 2 * j) for j in range(power // 2))),
        because=r"$E\,g^{2k+2} = (2k+1)\,E\,g^{2k}$ and $E R^{2k+2} = (h+2k)\,E R^{2k}$",
        reason=GaussianMoments(),
    )


@dataclass(frozen=True)
class Symmetry:
    """The mean of an odd power of `τ` is zero, as `τ` and `−τ` have the same law."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        if isinstance(before, mean) and before.args[0].subs(tau, -tau) == -before.args[0] and after == 0:
            return Outcome(How.LEMMA, "symmetry")
        return Outcome(How.WRONG, "it is not the mean of an odd function")


@lru_cache(maxsize=None, typed=True)
def norm_moment(norm: Symbol, power: int) -> Derivation:
    """`E Aᵏ` for even `k`, where `A` (or `B`) is the norm of a vector `N(0, I/h)`.

    >>> norm_moment(A, 4).conclusion
    (h + 2)/h
    """
    _natural("power", power, 2)
    d = Derivation(
        mean(norm**power),
        rf"\operatorname{{E}}{norm}^{{{power}}}",
        {h: S.Naturals},
        "A moment of a norm",
        where=NOTATION,
    )
    half = range(power // 2)
    return d.then(
        Mul(*(h + 2 * j for j in half)) / h ** len(half),
        because=r"$h\,A^2$ has the $\chi^2$ law of $h$ degrees of freedom",
        reason=GaussianMoments(),
    )


@dataclass(frozen=True)
class SphereAverage:
    """The mean of a polynomial in the independent `τ`, `A`, `B`, from their moments `known`, as a polynomial in rates.

    `given` are definitions put in first. The coefficients are polynomials in `1/√h`.
    """

    known: tuple[Derivation, ...] = ()
    given: Mapping[Symbol, Expr] = field(default_factory=dict)

    def check(self, before: Expr, after: Expr) -> Outcome:
        if not isinstance(before, mean):
            return Outcome(How.UNDECIDED, "the line before is not a mean")
        values = dict(shown(self.known))
        terms = []
        for powers, coefficient in self._in_random(before.args[0]):
            moments = [mean(name**power) for name, power in zip((tau, A, B), powers, strict=True) if power]
            if any(values.get(moment) == 0 for moment in moments):
                continue
            unknown = [moment for moment in moments if moment not in values]
            if unknown:
                return Outcome(How.UNDECIDED, f"{unknown[0]} is not known")
            terms.append(Mul(coefficient, *(values[moment] for moment in moments)))
        return SameRatePolynomial().check(Add(*terms), after)

    def _in_random(self, line: Expr) -> Iterator[tuple[tuple[int, ...], Expr]]:
        """The monomials of `line` in the rates and in `τ, A, B`: the powers of these three, and the rest."""
        root = Symbol("u", positive=True)  # 1/√h
        names = (tau, A, B, eta1, eta2, root)
        rest = (eta1, eta2, 1 / sqrt(h))
        put_in = [Poly(meaning.subs(h, root**-2), *names) for meaning in self.given.values()]
        expanded = Poly(0, *names)
        for powers, coefficient in Poly(line, *self.given, Dummy()).terms():  # there may be nothing given
            parts = (part**k for part, k in zip(put_in, powers, strict=False))
            expanded += prod(parts, start=Poly(coefficient, *names))
        for powers, coefficient in expanded.terms():
            yield powers[:3], Mul(coefficient, *(base**k for base, k in zip(rest, powers[3:], strict=True)))
