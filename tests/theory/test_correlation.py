"""The flow of the correlation, against the Gaussian integral and the recursion itself, to many digits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mpmath import MPContext
from sympy import (
    Expr,
    Float,
    Function,
    Integer,
    Interval,
    Limit,
    Rational,
    Symbol,
    acos,
    atan,
    cos,
    log,
    oo,
    pi,
    sin,
    sqrt,
    tan,
)

from numerics.points import check_steps
from theory import correlation
from theory.arccos import theta
from theory.correlation import (
    DecreasesToFixedPoint,
    ImplicitExpansion,
    L,
    Positive,
    PositiveByDerivative,
    angle,
    angle_after_layer,
    angle_expansion,
    angle_polynomial,
    reciprocal_increment,
    recursion,
    rho,
)
from theory.derivation import Derivation, Relation
from theory.errors import InvalidInput
from theory.reasons import Continuity, LowestTerm, StolzCesaro

x = Symbol("x", real=True)

EXACT = {
    "increasing": correlation.increasing,
    "convex": correlation.convex,
    "gap": correlation.correlation_gap,
    "apart": correlation.stays_apart,
}
LIMITS = {
    "vanishes": correlation.angle_vanishes,
    "order 2": lambda: angle_expansion(2),
    "order 3": lambda: angle_expansion(3),
    "increment 0": lambda: reciprocal_increment(0),
    "increment 1": lambda: reciprocal_increment(1),
    "increment 2": lambda: reciprocal_increment(2),
    "decay": correlation.angle_decay,
    "scale": correlation.angle_scale,
    "second order": correlation.angle_second_order,
}
STARTS = ("3.14159265358979323846264338327950288419716939937511", "2", "0.5", "0.01")


@pytest.fixture
def mp() -> MPContext:
    context = MPContext()
    context.dps = 50
    return context


def correlation_of_relus(mp: MPContext, at):
    """`2 E[u₊ v₊]` from its definition: the integral over the angle at which both are positive; the radius gives 2."""
    low, high = at - mp.pi / 2, mp.pi / 2
    return 2 * mp.quad(lambda psi: 2 * mp.cos(psi) * mp.cos(psi - at), [low, high]) / (2 * mp.pi)


def layer(mp: MPContext, at):
    """`T(θ)`, without the cancellation of the arc cosine: from `sin²(T/2)`."""
    square = mp.sin(at / 2) ** 2 - (mp.sin(at) - at * mp.cos(at)) / (2 * mp.pi)
    return 2 * mp.asin(mp.sqrt(square))


def proved(derivation: Derivation) -> bool:
    return all(checked.outcome.proved for part in derivation.parts() for checked in check_steps(part))


def ending_in(derivation: Derivation, expression: Expr) -> Derivation:
    """The derivation with another last line."""
    return replace(derivation, steps=(*derivation.steps[:-1], replace(derivation.steps[-1], expression=expression)))


# --- what is derived --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", (EXACT | LIMITS).values(), ids=EXACT | LIMITS)
def test_every_step_is_proved(make) -> None:
    assert proved(make())


@pytest.mark.parametrize("at", STARTS)
def test_the_map_is_the_gaussian_integral(mp: MPContext, at: str) -> None:
    point = min(mp.mpf(at), mp.pi)
    expected = correlation_of_relus(mp, point)
    derived = correlation.cosine_after_layer().evalf(45, subs={theta: Float(at, 50)})
    assert abs(expected - mp.mpf(str(derived))) < mp.mpf(10) ** -40
    assert abs(mp.cos(layer(mp, point)) - expected) < mp.mpf(10) ** -40


@pytest.mark.parametrize("point", ["-0.99", "-0.5", "0", "0.3", "0.99"])
def test_slope_and_curvature_are_finite_differences(mp: MPContext, point: str) -> None:
    step = mp.mpf(10) ** -15

    def kappa(r):
        return correlation_of_relus(mp, mp.acos(r))

    at = mp.mpf(point)
    below, here, above = kappa(at - step), kappa(at), kappa(at + step)
    slope = correlation.increasing().conclusion.evalf(40, subs={rho: Float(point, 50)})
    curvature = correlation.convex().conclusion.evalf(40, subs={rho: Float(point, 50)})
    # the remainders of the differences are the third and fourth derivative, below 1e5 here, times step²
    assert abs((above - below) / (2 * step) - mp.mpf(str(slope))) < mp.mpf(10) ** -20
    assert abs((above - 2 * here + below) / step**2 - mp.mpf(str(curvature))) < mp.mpf(10) ** -15


@pytest.mark.parametrize("order", [2, 3, 4])
def test_the_coefficients_of_the_angle(mp: MPContext, order: int) -> None:
    small = mp.mpf(10) ** -9
    below = mp.mpf(str(angle_polynomial(order - 1).evalf(50, subs={theta: Float("1e-9", 60)})))
    measured = (layer(mp, small) - below) / small**order
    expected = mp.mpf(str(angle_expansion(order).conclusion.evalf(40)))
    assert abs(measured - expected) < 1e-8  # the next term, times the angle
    assert abs(measured - expected) > 1e-13  # which is there


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_coefficients_of_the_inverse_angle(mp: MPContext, order: int) -> None:
    small = mp.mpf(10) ** -9
    found = sum(mp.mpf(str(reciprocal_increment(k).conclusion.evalf(50))) * small**k for k in range(order))
    measured = (1 / layer(mp, small) - 1 / small - found) / small**order
    assert abs(measured - mp.mpf(str(reciprocal_increment(order).conclusion.evalf(40)))) < 1e-8


def test_by_hand() -> None:
    """`cos T = 1 − θ²/2 + θ³/(3π) + θ⁴/24 + …` and `T = θ + aθ² + bθ³` give `a = −1/(3π)`, `b = −a²/2`; then `1/T`."""
    a, b = angle_expansion(2).conclusion, angle_expansion(3).conclusion
    assert a == -1 / (3 * pi)
    assert b == -(a**2) / 2
    assert reciprocal_increment(0).conclusion == -a
    assert reciprocal_increment(1).conclusion == a**2 - b == 1 / (6 * pi**2)


@pytest.mark.parametrize("start", STARTS)
def test_the_angle_decays_as_derived(mp: MPContext, start: str) -> None:
    """`1/θ_L − L/(3π)` gains `log 2/(2π)` when `L` doubles, up to `O(log L/L)`; an error of 0.01 would show."""
    assert correlation.angle_second_order().conclusion == 1 / (2 * pi)
    assert correlation.angle_scale().conclusion == 1 / correlation.angle_decay().conclusion == 3 * pi
    mp.dps = 30
    at, excess = min(mp.mpf(start), mp.pi), {}
    for depth in range(1, 4097):
        previous, at = at, layer(mp, at)
        assert 0 < at < previous
        excess[depth] = 1 / at - depth / (3 * mp.pi)
    slopes = [(excess[2 * depth] - excess[depth]) / mp.log(2) for depth in (512, 1024, 2048)]
    errors = [abs(slope - 1 / (2 * mp.pi)) for slope in slopes]
    assert errors[1] < 0.75 * errors[0]
    assert errors[2] < 0.75 * errors[1]


def test_the_recursion_is_the_map() -> None:
    (value,) = recursion().values()
    assert value == angle_after_layer(angle[L])
    assert angle_after_layer(Integer(0)) == 0


def test_angle_polynomial_refuses() -> None:
    for order in (0, 13, 2.0, True, "3"):
        with pytest.raises(InvalidInput, match="order"):
            angle_polynomial(order)


# --- what is not proved -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", LIMITS.values(), ids=LIMITS)
def test_another_conclusion_is_not_proved(make) -> None:
    right = make()
    value = right.conclusion
    for wrong in (2 * value + 1, -value - 1, value + Rational(1, 10**9), value + theta, value + 1 / L):
        assert not check_steps(ending_in(right, wrong))[-1].outcome.proved, wrong


@pytest.mark.parametrize("make", LIMITS.values(), ids=LIMITS)
def test_a_float_is_never_proved(make) -> None:
    right = make()
    assert not proved(ending_in(right, Float(str(right.conclusion.evalf(30)), 30)))


@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_another_bound_is_not_proved(make) -> None:
    right = make()
    for bound in (Integer(1), right.conclusion, right.conclusion + 1):
        assert not proved(ending_in(right, bound)), bound
    infimum = 1 / pi if make is correlation.convex else Integer(0)
    assert not proved(ending_in(right, infimum + Rational(1, 1000)))


@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_the_bound_is_shown_on_all_of_the_domain(make) -> None:
    derivation = make()
    ((symbol, where),) = derivation.domain.items()
    assert (derivation.steps[-1].reason.symbol, derivation.steps[-1].reason.interval) == (symbol, where)


@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_a_bound_is_no_equality(make) -> None:
    right = make()
    last = replace(right.steps[-1], relation=Relation.EQUALS)
    assert not proved(replace(right, steps=(*right.steps[:-1], last)))


@pytest.mark.parametrize(
    ("expression", "interval"),
    [
        (tan(x), Interval.Lopen(0, 2)),  # a pole inside
        (1 / (2 - x), Interval.open(0, 3)),
        (1 - atan(1 / x), Interval.open(-1, 2)),  # a jump
        (x - Rational(1, 2), Interval.open(0, 2)),
        (sqrt(x) * (1 + x), Interval.open(-1, 3)),  # not real
        (x ** Rational(2, 3) + 1, Interval.open(-2, 3)),  # complex for x < 0, though the real root is not
        (log(x) ** 2 + 1, Interval.open(-1, 3)),
        (Function("f")(x), Interval.open(0, 1)),
        (Float(0.5) + x, Interval.open(0, 1)),
        (-1 - x, Interval.open(0, 1)),
        (x, Interval(0, 1)),  # zero at an end that belongs to it
    ],
)
def test_positive_refuses(expression: Expr, interval: Interval) -> None:
    assert not Positive(x, interval).check(expression, Integer(0)).proved


def test_positive_does_not_use_the_assumptions_on_the_symbol() -> None:
    negative = Symbol("x", negative=True)
    assert not Positive(negative, Interval.open(0, 2)).check(negative - Rational(1, 3), Integer(0)).proved
    integer = Symbol("k", integer=True)
    assert not Positive(integer, Interval.open(0, 1)).check(integer - Rational(1, 3), Integer(0)).proved


@pytest.mark.parametrize(
    ("expression", "interval"),
    [
        (-atan(1 / x) - pi / 4, Interval.Lopen(-1, 1)),  # its slope is positive, but it jumps down at 0
        (tan(x), Interval.Lopen(0, 2)),
        (1 - 1 / (1 + x), Interval.Lopen(-2, 1)),
        (x + 1, Interval.Lopen(0, 1)),  # not zero at the left end
        (x**3 - x, Interval.Lopen(0, 2)),
        (sin(x), Interval.Lopen(0, 4)),
        (x**2, Interval.Lopen(-1, 1)),
        (Float(0.5) * x, Interval.Lopen(0, 1)),
    ],
)
def test_positive_by_derivative_refuses(expression: Expr, interval: Interval) -> None:
    assert not PositiveByDerivative(x, interval).check(expression, Integer(0)).proved


@pytest.mark.parametrize(
    ("polynomial", "order", "value"),
    [
        (-theta, 2, 1 / (3 * pi)),  # the cosine cannot tell −T from T
        (theta, 2, -1 / (3 * pi) - theta / (18 * pi**2)),  # a limit that depends on the variable
        (Integer(0), 1, Integer(-1)),
        (theta, 2, 1 / (3 * pi)),
        (theta, 3, -1 / (3 * pi)),
        (theta + theta**2, 2, -1 / (3 * pi) - 2),
        (theta + 2 * pi, 2, -1 / (3 * pi)),  # nor T + 2π
        (theta, 2, Float(-0.10610329539459689)),
        (sin(theta), 2, -1 / (3 * pi)),  # right, but no polynomial
    ],
)
def test_implicit_expansion_refuses(polynomial: Expr, order: int, value: Expr) -> None:
    before = Limit((angle_after_layer() - polynomial) / theta**order, theta, 0)
    assert not ImplicitExpansion(polynomial, order).check(before, value).proved


def test_implicit_expansion_is_about_its_own_limit() -> None:
    reason = ImplicitExpansion(theta, 2)
    value = -1 / (3 * pi)
    assert reason.check(Limit((angle_after_layer() - theta) / theta**2, theta, 0), value).proved
    for before in (
        Limit((angle_after_layer() - theta) / theta**3, theta, 0),
        Limit((acos(theta) - theta) / theta**2, theta, 0),
        Limit((angle_after_layer() - theta) / theta**2, theta, 0, "-"),
        Limit((angle_after_layer() - theta) / theta**2, theta, oo),
    ):
        assert not reason.check(before, value).proved


def test_the_fixed_point_is_that_of_the_angle() -> None:
    reason = DecreasesToFixedPoint()
    other = Function("f")(L)
    for before, after in (
        (Limit(other, L, oo), Integer(0)),
        (Limit(angle[L], L, 0), Integer(0)),
        (Limit(angle[L], L, oo), Integer(1)),
        (Limit(angle[L], L, oo), Float(0)),
        (Limit(L * angle[L], L, oo), Integer(0)),
        (angle[L], Integer(0)),
    ):
        assert not reason.check(before, after).proved


# --- lemmas with wrong inputs -----------------------------------------------------------------------------------------


def test_stolz_cesaro_with_another_recursion() -> None:
    """The line that follows is that of the right recursion, and of no other."""
    right = correlation.angle_decay()
    lemma = right.steps[0].reason
    for wrong in (angle[L] / 2, angle_after_layer(angle[L]) / 2, angle[L] - angle[L] ** 2, acos(cos(angle[L]) / pi)):
        tampered = replace(lemma, recursion={angle[L + 1]: wrong})
        assert not tampered.check(right.start, right.steps[0].expression).proved


@pytest.mark.parametrize(
    "denominator",
    [L**2, -L, 1 / L, Integer(1), L + angle[L], (-1) ** L * L, cos(L) + 2, Symbol("c", positive=True) * L],
)
def test_stolz_cesaro_with_another_denominator(denominator: Expr) -> None:
    lemma = StolzCesaro(L, 1 / angle[L], denominator, recursion())
    right = correlation.angle_decay()
    assert not lemma.check(right.start, right.steps[0].expression).proved
    own = Limit(lemma.numerator / denominator, L, oo)
    if denominator not in (L**2,):  # that one does increase to infinity
        assert not lemma.check(own, Limit(lemma.increments(), L, oo)).proved


def test_a_null_sequence_that_is_none() -> None:
    right = correlation.angle_scale()
    reason = right.steps[-1].reason
    ((name, _),) = reason.null.items()
    shifted = replace(reason, form=reason.form.subs(name, name - 1), null={name: reason.null[name] + 1})
    assert shifted.form.subs(shifted.null).equals(right.start.args[0])
    value = shifted.form.subs(name, 0)
    assert value != right.conclusion
    assert not shifted.check(right.start, value).proved


def test_what_is_relied_on_must_be_proved_and_named() -> None:
    right = correlation.angle_scale()
    decay = correlation.angle_decay()
    wrong = ending_in(decay, 1 / pi)
    last = right.steps[-1]
    excess = Symbol("q")
    reason = Continuity(1 / (1 / pi + excess), {excess: decay.start.args[0] - 1 / pi}, using=(wrong,))
    on_a_wrong_one = replace(last, expression=pi, reason=reason, using=(wrong,))
    assert not check_steps(replace(right, steps=(on_a_wrong_one,)))[-1].outcome.proved
    silently = replace(last, using=())
    assert not check_steps(replace(right, steps=(silently,)))[-1].outcome.proved


def test_a_pointwise_limit_is_no_uniform_one() -> None:
    """`Lθ → 0` as `θ → 0` for each L, but `L θ_L → 3π`."""
    pointwise = Derivation(Limit(L * theta, theta, 0), "").then(Integer(0), because="at 0", reason=LowestTerm(0))
    assert proved(pointwise)
    name = Symbol("x")
    reason = Continuity(name, {name: L * angle[L]}, using=(pointwise, correlation.angle_vanishes()))
    assert not reason.check(Limit(L * angle[L], L, oo), Integer(0)).proved
