"""The crossover function and its correction, against the recursion at the angle `3π s/L` and against quadrature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from mpmath import MPContext
from sympy import Expr, Float, Integer, Integral, Limit, Rational, Symbol, exp, lambdify, log, oo, pi

from numerics.points import check_steps
from theory import crossover, depth
from theory.correlation import L, angle
from theory.crossover import FluidCorrection, FluidLimit, layer_average, profile, s, x, y
from theory.derivation import Derivation
from theory.reasons import Algebra, Antiderivative

MP = MPContext()
MP.dps = 30

DERIVATIONS = {
    "travelled": crossover.travelled,
    "damping": crossover.damping_product,
    "damping correction": crossover.damping_correction,
    "crossover": crossover.crossover,
    "correction": crossover.crossover_correction,
}
VARIABLES = ["0.1", "0.5", "2", "10"]
FRACTIONS = [0, 1, 2, 3]  # quarters of the depth


@cache
def network(variable: str, size: int) -> tuple[list, object]:
    """The angles `θ_0, …, θ_L` and `Θ̄^L` for `θ_0 = 3π s/L`, from the recursion."""
    at = 3 * MP.pi * MP.mpf(variable) / size
    angles, kernel = [at], MP.cos(at)
    for _ in range(size):
        square = MP.sin(at / 2) ** 2 - (MP.sin(at) - at * MP.cos(at)) / (2 * MP.pi)
        kernel = (1 - at / MP.pi) * kernel + 1 - 2 * square
        at = 2 * MP.asin(MP.sqrt(square))
        angles.append(at)
    return angles, kernel / (size + 1)


def function(expression: Expr, *variables: Symbol) -> Callable:
    return lambdify(variables, expression, modules=[{"pi": +MP.pi, "log": MP.log, "exp": MP.exp}])


def extrapolated(value: Callable[[int], object], size: int = 600) -> object:
    """The limit of a sequence with an error of `O(1/L)`, which cancels between `L` and `2L`; `O((s/L)²)` is left."""
    return 2 * value(2 * size) - value(size)


def proved(derivation: Derivation) -> bool:
    return all(checked.outcome.proved for part in derivation.parts() for checked in check_steps(part))


def with_step(derivation: Derivation, index: int, **changes: object) -> Derivation:
    """The derivation with one step changed."""
    steps = list(derivation.steps)
    steps[index] = replace(steps[index], **changes)
    return replace(derivation, steps=tuple(steps))


# --- what is derived --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_every_step_is_proved(make) -> None:
    assert proved(make())


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_profile_of_the_angle(variable: str) -> None:
    of = function(profile(x), s, x)
    for quarter in FRACTIONS:
        measured = extrapolated(lambda size, at=quarter: size * network(variable, size)[0][at * size // 4])
        assert abs(measured / of(MP.mpf(variable), MP.mpf(quarter) / 4) - 1) < 1e-3


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_sum_of_the_angles(variable: str) -> None:
    of = function(crossover.travelled().conclusion, s, x)
    for quarter in FRACTIONS[1:]:
        measured = extrapolated(lambda size, at=quarter: sum(network(variable, size)[0][: at * size // 4]))
        assert abs(measured / of(MP.mpf(variable), MP.mpf(quarter) / 4) - 1) < 1e-3


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_damping_and_its_correction(variable: str) -> None:
    damping = function(crossover.damping_product().conclusion, s, x)
    correction = function(crossover.damping_correction().conclusion, s, x)
    at = MP.mpf(variable)
    for quarter in FRACTIONS:
        here = MP.mpf(quarter) / 4

        def excess(size: int, quarter: int = quarter, here=here) -> object:
            later = network(variable, size)[0][quarter * size // 4 : size]
            return size * (sum(MP.log(1 - each / MP.pi) for each in later) - MP.log(damping(at, here)))

        assert abs(excess(1200)) < 1200 * 0.05  # the damping itself
        assert abs(extrapolated(excess) - correction(at, here)) < 1e-3 * (1 + abs(correction(at, here)))


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_crossover_and_its_correction(variable: str) -> None:
    at = MP.mpf(variable)
    phi = function(crossover.crossover().conclusion, s)(at)
    phi_1 = function(crossover.crossover_correction().conclusion, s)(at)
    assert abs(extrapolated(lambda size: network(variable, size)[1]) - phi) < 5e-5
    measured = extrapolated(lambda size: size * (network(variable, size)[1] - phi))
    assert abs(measured - phi_1) < 1e-3 * (1 + abs(phi_1))


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_integrals_by_quadrature(variable: str) -> None:
    at = MP.mpf(variable)
    profile_ = function(profile(), s, y)
    phi = MP.quad(lambda u: MP.exp(-MP.quad(lambda w: profile_(at, w), [u, 1]) / MP.pi), [0, 1])
    assert abs(phi - function(crossover.crossover().conclusion, s)(at)) < 1e-15
    damping = function(crossover.damping_product().conclusion, s, x)
    correction = function(crossover.damping_correction().conclusion, s, x)
    mean = MP.quad(lambda u: damping(at, u) * correction(at, u), [0, 1])
    ends = (damping(at, MP.mpf(0)) + damping(at, MP.mpf(1))) / 2
    assert abs(mean + ends - phi - function(crossover.crossover_correction().conclusion, s)(at)) < 1e-15


def test_from_equal_inputs_to_the_deep_limit() -> None:
    phi, phi_1 = crossover.crossover().conclusion, crossover.crossover_correction().conclusion
    of, of_1 = function(phi, s), function(phi_1, s)
    small, large = MP.mpf(10) ** -9, MP.mpf(10) ** 9
    assert abs(of(small) - 1) < 1e-8
    assert phi_1.subs(s, 0) == 0
    assert abs(of(large) - MP.mpf(depth.normalised_ntk_limit().conclusion)) < 1e-8
    # the logarithm of the rate, seen from here
    gain = (of_1(large**2) - of_1(large)) / MP.log(large)
    assert abs(gain - MP.mpf(3) / 8) < 1e-7
    assert depth.depth_rate().conclusion == Rational(3, 8)


# --- what is not proved -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_another_conclusion_is_not_proved(make) -> None:
    right = make()
    value = right.conclusion
    for wrong in (2 * value, value + Rational(1, 10**9), value + s / 10, value * Float(1.0)):
        assert not check_steps(with_step(right, -1, expression=wrong))[-1].outcome.proved, wrong


@pytest.mark.parametrize("make", list(DERIVATIONS.values())[:-1], ids=list(DERIVATIONS)[:-1])
def test_another_antiderivative_is_not_one(make) -> None:
    right = make()
    primitive = right.steps[-1].reason.function
    variable = x if primitive.has(x) and right.start.has(Limit) else y
    for wrong in (2 * primitive, primitive + variable, primitive.subs(s, 2 * s), -primitive):
        outcome = Antiderivative(wrong).check(right.lines[-2], right.conclusion)
        assert not outcome.proved, wrong


@pytest.mark.parametrize(
    "wrong",
    [
        Integral(exp(-Integral(profile() / pi, (y, 0, x))), (x, 0, 1)),  # the layers below instead of those above
        Integral(exp(-Integral(2 * profile() / pi, (y, x, 1))), (x, 0, 1)),
        Integral(exp(Integral(profile() / pi, (y, x, 1))), (x, 0, 1)),
        Integral(exp(-Integral(profile() / pi, (y, x, 1))), (x, 0, 2)),
        Integer(1),
        crossover.crossover().conclusion,  # right, but not what the lemma says
    ],
)
def test_the_fluid_limit_is_one_integral(wrong: Expr) -> None:
    right = crossover.crossover()
    assert FluidLimit().check(right.start, right.steps[0].expression).proved
    assert not FluidLimit().check(right.start, wrong).proved


@pytest.mark.parametrize(
    "line",
    [
        layer_average(),
        Limit(layer_average(), L, 0),
        Limit(layer_average() * 2, L, oo),
        Limit(layer_average().subs(pi, 3), L, oo),
        Limit(layer_average().xreplace({angle: Symbol("a")}), L, oo),
        Limit(depth.normalised(), L, oo),
    ],
)
def test_the_fluid_limit_is_of_one_mean(line: Expr) -> None:
    assert not FluidLimit().check(line, crossover.crossover().steps[0].expression).proved
    assert not FluidCorrection().check(line, crossover.crossover_correction().steps[0].expression).proved


def test_the_mean_is_not_that_of_a_fixed_angle() -> None:
    """At a fixed angle the same mean tends to 1/4: its angles must not be the same symbols."""
    assert not layer_average().has(angle[L])
    assert {part.rank for part in layer_average().atoms(type(angle[L]))} == {2}


def test_the_correction_is_about_the_crossover() -> None:
    reason, right = FluidCorrection(), crossover.crossover_correction()
    integral = right.steps[0].expression
    assert reason.check(right.start, integral).proved
    for wrong in (integral + 1, integral - Rational(1, 2), integral.subs(s, 2 * s), integral * Float(1.0)):
        assert not reason.check(right.start, wrong).proved
    for other in (
        Limit(L * (layer_average() - crossover.crossover().conclusion - 1 / L), L, oo),
        Limit(L**2 * (layer_average() - crossover.crossover().conclusion), L, oo),
        Limit(L * (layer_average() - Rational(1, 4)), L, oo),
    ):
        assert not reason.check(other, integral).proved


def test_a_product_that_was_not_found_is_not_put_in() -> None:
    right, damping = crossover.crossover(), crossover.damping_product()
    wrong = with_step(damping, -1, expression=damping.conclusion**2)
    reason = Algebra(known=(wrong,))
    assert not reason.check(right.lines[1], Integral(wrong.conclusion, (x, 0, 1))).proved
    assert (
        not Algebra({damping.start: wrong.conclusion})
        .check(right.lines[1], Integral(wrong.conclusion, (x, 0, 1)))
        .proved
    )
    assert not proved(with_step(right, 1, using=()))  # it must be named besides


@pytest.mark.parametrize(
    ("line", "primitive", "value"),
    [
        (Integral(1 / (s * y - 1) ** 2, (y, 0, 1)), -1 / (s * (s * y - 1)), -1 / (s * (s - 1)) - 1 / s),  # a pole
        (Integral(s / (1 + s * y), (y, -1, 1)), log(1 + s * y), log(1 + s) - log(1 - s)),  # y is not negative
        (
            Integral(1 / (1 + y) ** 2, (y, 0, oo)),
            s - 1 / (1 + y),
            Integer(1),
        ),  # right; limits with a parameter are not asked
        (Integral(log(y), (y, 0, 1)), y * log(y) - y, Integer(-1)),  # right, but not continuous where it starts
        (Integral(y, (y, 0, 1)), y**2 / 2, Float(0.5)),
        (Integral(y, (y, 0, 1)) + Integral(y**2, (y, 0, 1)), y**2 / 2, Rational(5, 6)),
    ],
)
def test_antiderivative_refuses(line: Expr, primitive: Expr, value: Expr) -> None:
    assert not Antiderivative(primitive).check(line, value).proved
