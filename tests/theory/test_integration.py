"""Every reason for integrals accepts a right step and refuses a wrong one."""

import pytest
from sympy import (
    Abs,
    Expr,
    Heaviside,
    Integer,
    Integral,
    Interval,
    Max,
    Rational,
    Symbol,
    cos,
    exp,
    oo,
    pi,
    sin,
    symbols,
)

from theory.derivation import Derivation, How, Reason
from theory.integration import Affine, Known, Linearity, Polar, Separation, Support, over_all
from theory.reasons import Algebra, Antiderivative

x, y, psi, chi = symbols("x y psi chi", real=True)
r, scale = symbols("r scale", positive=True)
theta = Symbol("theta", nonnegative=True)
GAUSSIAN = exp(-(x**2 + y**2) / 2)
FULL_TURN = (psi, -pi / 2, 3 * pi / 2)
RADIUS = (r, 0, oo)


def accepts(reason: Reason, before: Expr, after: Expr) -> bool:
    return reason.check(before, after).proved


class TestLinearity:
    def test_constants_and_sums(self) -> None:
        before = 3 * over_all((x**2 + y) * GAUSSIAN, x, y) + 1
        after = over_all(3 * x**2 * GAUSSIAN, x, y) + 3 * over_all(y * GAUSSIAN, x, y) + 1
        assert accepts(Linearity(), before, after)
        assert not accepts(Linearity(), before, after + 1)
        assert not accepts(Linearity(), before, 2 * after)

    def test_other_sets_are_not_mixed(self) -> None:
        before = Integral(x, (x, 0, 1)) + Integral(x, (x, 0, 2))
        assert accepts(Linearity(), before, before)
        assert not accepts(Linearity(), before, 2 * Integral(x, (x, 0, 2)))

    def test_positive_parts(self) -> None:
        before = over_all(Max(0, scale * x) * Heaviside(scale * y) * GAUSSIAN, x, y)
        assert accepts(Linearity(), before, scale * over_all(Max(0, x) * Heaviside(y) * GAUSSIAN, x, y))
        assert not accepts(Linearity(), before, over_all(Max(0, x) * Heaviside(y) * GAUSSIAN, x, y))
        assert accepts(Linearity(), over_all(Abs(x) * GAUSSIAN, x, y), over_all((2 * Max(0, x) - x) * GAUSSIAN, x, y))
        assert not accepts(Linearity(), over_all(Abs(x) * GAUSSIAN, x, y), over_all(2 * Max(0, x) * GAUSSIAN, x, y))

    def test_trigonometry(self) -> None:
        before = Integral(cos(psi) * cos(psi - theta), (psi, 0, 1))
        assert accepts(Linearity(), before, Integral((cos(2 * psi - theta) + cos(theta)) / 2, (psi, 0, 1)))
        assert not accepts(Linearity(), before, Integral((cos(2 * psi - theta) - cos(theta)) / 2, (psi, 0, 1)))

    def test_odd_part(self) -> None:
        before = over_all((x**2 + x * Abs(y)) * GAUSSIAN, x, y)
        after = over_all(x**2 * GAUSSIAN, x, y)
        assert accepts(Linearity(odd_in=(x, y)), before, after)
        assert not accepts(Linearity(), before, after)
        even = over_all((x**2 + x * y) * GAUSSIAN, x, y)
        assert not accepts(Linearity(odd_in=(x, y)), even, after)  # x y is even in (x, y)
        assert accepts(Linearity(odd_in=(y,)), even, after)  # but odd in y

    def test_odd_needs_a_symmetric_set(self) -> None:
        assert not accepts(Linearity(odd_in=(x,)), Integral(x, (x, 0, 1)), Integer(0))
        assert accepts(Linearity(odd_in=(x,)), over_all(x * exp(-(x**2)), x), Integer(0))

    def test_products_of_integrals_are_not_decided(self) -> None:
        line = Integral(x, (x, 0, 1)) ** 2
        assert Linearity().check(line, line).how is How.UNDECIDED


class TestPolar:
    reason = Polar(x, y, r, psi)
    before = over_all(Max(0, x * cos(theta) + y * sin(theta)) * GAUSSIAN, x, y)
    after = Integral(Max(0, r * cos(psi - theta)) * exp(-(r**2) / 2) * r, RADIUS, FULL_TURN)

    def test_right(self) -> None:
        assert accepts(self.reason, self.before, self.after)

    @pytest.mark.parametrize(
        "wrong",
        [
            Integral(Max(0, r * cos(psi - theta)) * exp(-(r**2) / 2), RADIUS, FULL_TURN),  # no Jacobian
            Integral(Max(0, r * cos(psi + theta)) * exp(-(r**2) / 2) * r, RADIUS, FULL_TURN),
            Integral(Max(0, r * cos(psi - theta)) * exp(-(r**2) / 2) * r, RADIUS, (psi, 0, pi)),
            Integral(Max(0, r * cos(psi - theta)) * exp(-(r**2) / 2) * r, (r, 0, 1), FULL_TURN),
            Integral(Max(0, r * cos(psi - theta)) * exp(-(r**2) / 2) * r, RADIUS),
        ],
    )
    def test_wrong(self, wrong: Expr) -> None:
        assert not accepts(self.reason, self.before, wrong)

    def test_only_over_the_plane(self) -> None:
        assert not accepts(self.reason, Integral(self.before.function, (x, 0, oo), (y, -oo, oo)), self.after)


class TestAffine:
    before = 3 * Integral(cos(2 * psi - theta), (psi, theta - pi / 2, pi / 2))
    reason = Affine(psi, (chi + theta) / 2, chi)

    def test_right(self) -> None:
        assert accepts(self.reason, self.before, Rational(3, 2) * Integral(cos(chi), (chi, theta - pi, pi - theta)))

    def test_wrong(self) -> None:
        assert not accepts(self.reason, self.before, 3 * Integral(cos(chi), (chi, theta - pi, pi - theta)))
        assert not accepts(self.reason, self.before, Rational(3, 2) * Integral(cos(chi), (chi, 0, pi - theta)))
        assert not accepts(self.reason, self.before, Rational(3, 2) * Integral(sin(chi), (chi, theta - pi, pi - theta)))

    def test_other_substitutions(self) -> None:
        before = Integral(2 * psi, (psi, 0, 1))
        assert not accepts(Affine(psi, chi**2, chi), before, Integral(4 * chi**3, (chi, 0, 1)))
        assert not accepts(Affine(psi, Integer(0) * chi, chi), before, before)


class TestSupport:
    reason = Support(psi, theta, Interval(0, pi))
    before = Integral(Max(0, cos(psi)) * Max(0, cos(psi - theta)), FULL_TURN)
    after = Integral(cos(psi) * cos(psi - theta), (psi, theta - pi / 2, pi / 2))

    def test_right(self) -> None:
        assert accepts(self.reason, self.before, self.after)
        indicators = Integral(Heaviside(r * cos(psi)) * Heaviside(cos(psi - theta)), FULL_TURN)
        assert accepts(self.reason, indicators, Integral(1, (psi, theta - pi / 2, pi / 2)))

    @pytest.mark.parametrize(
        ("lower", "upper"), [(-pi / 2, pi / 2), (theta - pi / 2, pi), (theta - pi / 4, pi / 2), (theta - pi, pi / 2)]
    )
    def test_wrong_interval(self, lower: Expr, upper: Expr) -> None:
        assert not accepts(self.reason, self.before, Integral(self.after.function, (psi, lower, upper)))

    def test_wrong_integrand(self) -> None:
        assert not accepts(self.reason, self.before, 2 * self.after)

    def test_angles_beyond_the_range(self) -> None:
        beyond = Support(psi, theta, Interval(0, 2 * pi))
        assert not accepts(beyond, self.before, self.after)

    def test_only_factors_vanish(self) -> None:
        summed = Integral(Max(0, cos(psi)) + Max(0, cos(psi - theta)), FULL_TURN)
        after = Integral(cos(psi) + cos(psi - theta), (psi, theta - pi / 2, pi / 2))
        assert not accepts(self.reason, summed, after)

    def test_factors_of_unknown_sign(self) -> None:
        before = Integral(Max(0, x * cos(psi)) * Max(0, cos(psi - theta)), FULL_TURN)
        assert not accepts(self.reason, before, Integral(x * self.after.function, (psi, theta - pi / 2, pi / 2)))


class TestSeparation:
    before = Integral(2 * r * exp(-r) * cos(psi), RADIUS, (psi, 0, theta))

    def test_right(self) -> None:
        assert accepts(
            Separation(), self.before, 2 * Integral(r * exp(-r), RADIUS) * Integral(cos(psi), (psi, 0, theta))
        )

    def test_wrong(self) -> None:
        radius, angle = Integral(r * exp(-r), RADIUS), Integral(cos(psi), (psi, 0, theta))
        assert not accepts(Separation(), self.before, radius * angle)
        assert not accepts(Separation(), self.before, 2 * radius * Integral(cos(psi), (psi, 0, pi)))
        assert not accepts(Separation(), self.before, 2 * radius * angle**2)
        assert not accepts(Separation(), self.before, 2 * (radius + angle))
        assert not accepts(Separation(), self.before, 2 * radius * angle + radius)
        assert not accepts(Separation(), self.before, 2 * radius)

    def test_one_variable_is_not_two(self) -> None:
        before = Integral(r * exp(-r), RADIUS)
        assert not accepts(Separation(), before, Integral(r, RADIUS) * Integral(exp(-r), RADIUS))

    def test_limits_that_depend_on_a_variable(self) -> None:
        before = Integral(r * cos(psi), (r, 0, psi), (psi, 0, 1))
        assert not accepts(Separation(), before, Integral(r, (r, 0, psi)) * Integral(cos(psi), (psi, 0, 1)))


class TestKnown:
    integral = Integral(x**2, (x, 0, theta))
    known = Derivation(3 * integral, "I", {theta: Interval(0, pi)}).then(
        theta**3, because="the fundamental theorem", reason=Antiderivative(x**3 / 3)
    )

    def test_right(self) -> None:
        assert accepts(Known((self.known,)), 5 * self.integral + 1, 5 * theta**3 / 3 + 1)
        assert accepts(Known((self.known,), at={theta: Integer(1)}), Integral(x**2, (x, 0, 1)), Rational(1, 3))

    def test_wrong(self) -> None:
        assert not accepts(Known((self.known,)), 5 * self.integral, 5 * theta**3)
        assert not accepts(Known((self.known,)), Integral(x, (x, 0, theta)), theta**3 / 3)

    def test_outside_the_domain(self) -> None:
        outside = Known((self.known,), at={theta: Integer(4)})
        assert outside.check(Integral(x**2, (x, 0, 4)), Rational(64, 3)).how is How.WRONG

    def test_what_is_not_proved_is_not_known(self) -> None:
        claimed = Derivation(self.integral, "I").then(theta, because="no reason at all", reason=Algebra())
        assert not accepts(Known((claimed,)), self.integral, theta)
