"""The deep limit of the tangent kernel and its rate, against the recursion itself, in 30 digits."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from mpmath import MPContext
from sympy import Expr, Float, Integer, Limit, Rational, S, Symbol, cos, log, oo, pi

from numerics.points import check_steps
from theory import depth
from theory.arccos import theta
from theory.correlation import L, angle, angle_vanishes
from theory.depth import RECURSION, diagonal, leading_error, normalised, ntk
from theory.derivation import Derivation
from theory.reasons import Continuity, LowestTerm, StolzCesaro
from theory.sums import Induction

DERIVATIONS = {
    "coincident growth": depth.coincident_growth,
    "coincident": depth.coincident,
    "growth": depth.growth,
    "limit": depth.normalised_ntk_limit,
    "logarithm": depth.logarithmic_excess,
    "next cosine": depth.next_cosine_negligible,
    "rate": depth.depth_rate,
}
STARTS = {"opposite": "3.14159265358979323846264338327950288", "obtuse": "2.0", "right": "1.5707963", "acute": "0.45"}


def kernels(start: str, depths: range) -> dict[int, object]:
    """`Θ^L` for each of `depths`, from `ρ_{l+1} = κ₁(ρ_l)` and `Θ^{l+1} = κ₀(ρ_l) Θ^l + ρ_{l+1}`, in 40 digits."""
    mp = MPContext()
    mp.dps = 40
    angle_, found = min(mp.mpf(start), +mp.pi), {}
    kernel = mp.cos(angle_)
    for level in range(1, depths[-1] + 1):
        sign_kernel = 1 - angle_ / mp.pi
        correlation = (mp.sin(angle_) + (mp.pi - angle_) * mp.cos(angle_)) / mp.pi
        angle_ = mp.acos(correlation)
        kernel = sign_kernel * kernel + correlation
        if level in depths:
            found[level] = kernel
    return found


def proved(derivation: Derivation) -> bool:
    return all(checked.outcome.proved for part in derivation.parts() for checked in check_steps(part))


def last_with(derivation: Derivation, **changes: object) -> Derivation:
    """The derivation with its last step changed."""
    return replace(derivation, steps=(*derivation.steps[:-1], replace(derivation.steps[-1], **changes)))


# --- what is derived --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_every_step_is_proved(make) -> None:
    assert proved(make())


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_the_kernel_grows_as_derived(start: str) -> None:
    """`u_L = Θ^L − L/4` gains `(3/8) log 2` when `L` doubles, up to `O(log L/L)`; an error of 0.01 would show."""
    found = kernels(start, range(250, 4001, 250))
    gains = [(found[2 * at] - found[at] - Rational(at, 4)) / log(2) for at in (250, 500, 1000, 2000)]
    errors = [abs(float(gain) - 3 / 8) for gain in gains]
    assert all(after < 0.7 * before for before, after in pairwise(errors))
    assert errors[-1] < 0.01
    assert depth.growth().conclusion == depth.normalised_ntk_limit().conclusion == Rational(1, 4)
    assert depth.logarithmic_excess().conclusion == depth.depth_rate().conclusion == Rational(3, 8)


def test_by_hand() -> None:
    """`Θ = L/4 + A log L` in `Θ' = 1 − (θ/π) Θ`, `θ/π = 3/L − (9/2) log L/L²`: at order `log L/L`, `0 = −3A + 9/8`."""
    A = depth.logarithmic_excess().conclusion
    limit = depth.growth().conclusion
    assert limit == 1 - 3 * limit
    assert -3 * A + Rational(9, 2) * limit == 0
    assert leading_error(Integer(8)) == A * log(8) / 8


def test_equal_inputs() -> None:
    assert depth.coincident_growth().conclusion == L + 1
    assert depth.coincident().conclusion == 1
    assert kernels("0", range(1, 11))[10] == 11


def test_the_recursion_is_that_of_the_kernel() -> None:
    assert list(RECURSION.items()) == [(ntk[L + 1], (1 - angle[L] / pi) * ntk[L] + cos(angle[L + 1]))]
    assert normalised() == ntk[L] / (L + 1)


def test_leading_error_is_the_leading_term() -> None:
    assert leading_error() == Rational(3, 8) * log(L) / L
    found = kernels(STARTS["right"], range(1000, 16001, 15000))
    ratios = [float(found[at] / (at + 1) - 0.25) / float(leading_error(Integer(at))) for at in (1000, 16000)]
    assert abs(ratios[1] - 1) < abs(ratios[0] - 1) < 0.5


# --- what is not proved -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_another_conclusion_is_not_proved(make) -> None:
    right = make()
    value = right.conclusion
    for wrong in (value + 1, value - Rational(1, 8), value + Rational(1, 10**12), value + 1 / L, Float("0.25")):
        assert not check_steps(last_with(right, expression=S(wrong)))[-1].outcome.proved, wrong


@pytest.mark.parametrize(
    "following",
    [
        (1 - angle[L] / pi) * ntk[L] + 1,
        (1 - 2 * angle[L] / pi) * ntk[L] + cos(angle[L + 1]),
        (1 - angle[L + 1] / pi) * ntk[L] + cos(angle[L + 1]),
        (1 - angle[L] / pi) * ntk[L] + cos(angle[L]),
        ntk[L] + cos(angle[L + 1]),
        (1 + angle[L] / pi) * ntk[L] + cos(angle[L + 1]),
    ],
)
@pytest.mark.parametrize("make", [depth.growth, depth.logarithmic_excess])
def test_stolz_cesaro_with_another_recursion(make, following: Expr) -> None:
    right = make()
    lemma = replace(right.steps[0].reason, recursion={ntk[L + 1]: following})
    assert not lemma.check(right.start, right.steps[0].expression).proved


@pytest.mark.parametrize(
    "damping",
    [
        Integer(1),  # not below 1
        Rational(1, 2),  # in [0, 1), but only damping that vanishes is seen to be
        -angle[L] / pi,
        angle[L] / pi + 1,
        L * angle[L] / pi,  # tends to 3
        ntk[L],
        Symbol("a", positive=True),
        1 / (2 - L),
    ],
)
def test_stolz_cesaro_with_another_damping(damping: Expr) -> None:
    lemma = StolzCesaro(L, ntk[L], L, RECURSION, damping=damping, using=(angle_vanishes(),))
    assert not lemma.check(depth.growth().start, depth.growth().steps[0].expression).proved
    assert not lemma.check(Limit(ntk[L] / L, L, oo), Limit(lemma.increments(), L, oo)).proved


def test_stolz_cesaro_needs_to_know_that_the_damping_vanishes() -> None:
    right = depth.growth()
    ignorant = replace(right.steps[0].reason, using=())
    assert not ignorant.check(right.start, right.steps[0].expression).proved


@pytest.mark.parametrize("denominator", [-L, 1 / L, Integer(1), L * ntk[L], L * (2 + cos(L)), log(log(L)), 2 - L])
def test_stolz_cesaro_with_another_denominator(denominator: Expr) -> None:
    lemma = replace(depth.growth().steps[0].reason, denominator=denominator)
    assert not lemma.check(depth.growth().start, depth.growth().steps[0].expression).proved
    if denominator != log(log(L)):
        own = Limit(ntk[L] / denominator, L, oo)
        assert not lemma.check(own, Limit(lemma.increments(), L, oo)).proved


@pytest.mark.parametrize("make", [depth.growth, depth.next_cosine_negligible])
def test_continuity_without_what_it_relies_on(make) -> None:
    right = make()
    reason = right.steps[-1].reason
    for used in reason.using:
        without = replace(reason, using=tuple(other for other in reason.using if other is not used))
        assert not without.check(right.lines[-2], right.conclusion).proved


@pytest.mark.parametrize("make", [depth.growth, depth.normalised_ntk_limit, depth.depth_rate])
def test_continuity_with_a_sequence_that_is_not_null(make) -> None:
    """One argument moved by a constant, with the form adapted, so that the rewriting is right and the value wrong."""
    right = make()
    reason = right.steps[-1].reason
    for name, definition in reason.null.items():
        moved = replace(reason, form=reason.form.subs(name, name - 1), null={**reason.null, name: definition + 1})
        value = moved.form.subs(dict.fromkeys(moved.null, 0))
        assert not moved.check(right.lines[-2], value).proved, name


@pytest.mark.parametrize(
    ("form", "null", "line", "value"),
    [
        ("L*x", {"x": 1 / L}, Integer(1), Integer(0)),  # the index is hidden in the form
        ("x**y", {"x": 2 ** (-L), "y": 1 / L}, Rational(1, 2), Integer(1)),  # 0⁰
        ("1/x", {"x": 1 / L}, L, oo),
        ("x/y", {"x": 1 / L, "y": 1 / L**2}, L, Integer(0)),
        ("sqrt(x)", {"x": 1 / L}, 1 / L ** Rational(1, 2), Integer(0)),  # right, but not analytic at 0
        ("log(x - 1)", {"x": 1 / L}, log(1 / L - 1), log(-1)),  # on the branch cut
        ("x + 1", {"x": (-1) ** L}, (-1) ** L + 1, Integer(1)),
        ("x + 1", {"x": cos(L) / 2}, cos(L) / 2 + 1, Integer(1)),
        ("x + a", {"x": 1 / L}, 1 / L + Symbol("a"), Symbol("a")),  # `a` may be infinite
    ],
)
def test_continuity_refuses(form: str, null: dict[str, Expr], line: Expr, value: Expr) -> None:
    x, y = Symbol("x"), Symbol("y")
    forms = {
        "L*x": L * x,
        "x**y": x**y,
        "1/x": 1 / x,
        "x/y": x / y,
        "sqrt(x)": x ** Rational(1, 2),
        "log(x - 1)": log(x - 1),
        "x + 1": x + 1,
        "x + a": x + Symbol("a"),
    }
    reason = Continuity(forms[form], {Symbol(name): sequence for name, sequence in null.items()})
    assert not reason.check(Limit(line, L, oo), value).proved


def test_induction_with_another_step() -> None:
    right = depth.coincident_growth()
    for first, base, following in (
        (0, S.One, diagonal[L] + 2),
        (0, S.Zero, diagonal[L] + 1),
        (1, S.One, diagonal[L] + 1),
        (0, S.One, diagonal[L] * (1 - theta / pi) + 1),
    ):
        reason = Induction(diagonal[L], L, first=first, base=base, following=following)
        assert not reason.check(right.start, right.conclusion).proved


@pytest.mark.parametrize(
    ("line", "order", "value"),
    [
        ((1 - cos(theta)) / theta**2, 2, Rational(1, 3)),
        ((1 - cos(theta)) / theta**2, 2, Float(0.5)),
        ((1 - cos(theta)) / theta**3, 3, Integer(0)),
        (cos(theta) / theta, 1, Integer(0)),
        (theta ** Rational(1, 2), 0, Integer(0)),
        (abs(theta - 1), 0, Integer(1)),
    ],
)
def test_lowest_term_refuses(line: Expr, order: int, value: Expr) -> None:
    assert not LowestTerm(order).check(Limit(line, theta, 0), value).proved
