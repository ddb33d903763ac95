"""The lag of ReLU networks: every line proved, its value by quadrature, and what the new reasons refuse."""

import math
from itertools import pairwise

import pytest
from scipy.integrate import dblquad
from sympy import Heaviside, Integral, Limit, Max, S, atan, cos, pi, sin, sqrt, tan

from theory import linearisation_lag as lag
from theory.linearisation_lag import SWITCH, ByTangent, SignsOnPieces, alpha, beta, m, psi, q


def test_every_line_is_proved():
    for derivation in (lag.mean_lag(), lag.leading_lag()):
        for part in derivation.parts():
            assert [step.outcome.detail for step in part.check() if not step.outcome.proved] == []


@pytest.mark.parametrize(("width", "step"), [(1, 0.3), (3, 0.9), (2, 4.0)])
def test_it_is_the_mean_over_one_unit(width, step):
    """`E(f_lin − f)` by quadrature of the step itself, over the pair `(a, u)`; the units that are off do not move."""

    def missed(a, u):
        moved = (a + step * u) * max(u + step * a, 0.0)
        linear = a * u + step * (u * u + a * a)
        return (linear - moved) * math.exp(-(u * u + a * a) / 2) / (2 * math.pi)

    kink = lambda u: -u / step  # noqa: E731
    parts = [dblquad(missed, 0, 9, *ends, epsabs=1e-10)[0] for ends in ((-9, kink), (kink, 9))]
    formula = float(lag.mean_lag().conclusion.subs({m: width, beta: step}))
    assert math.sqrt(2 * width) * sum(parts) == pytest.approx(formula, abs=1e-7)


def test_the_limit_is_that_of_the_formula():
    wide = 10**8
    formula = float(lag.mean_lag().conclusion.subs({m: wide, beta: 0.7 * sqrt(S(2) / wide)}))
    assert math.sqrt(wide) * formula == pytest.approx(float(lag.leading_lag().conclusion.subs(q, 0.7)), rel=1e-7)


def test_it_is_a_lag_below_the_root_of_the_module():
    formula = lag.mean_lag().conclusion.subs(m, 1)
    assert float(formula.subs(beta, 2.3311)) > 0 > float(formula.subs(beta, 2.3312))


CUTS = (-pi / 2, SWITCH, pi / 2, 3 * pi / 2)
KINK = cos(psi) + beta * sin(psi)


def test_signs_on_pieces():
    turn = Integral(Heaviside(cos(psi)) * Max(0, KINK), (psi, -pi / 2, 3 * pi / 2))
    on = Integral(KINK, (psi, SWITCH, pi / 2))
    reason = SignsOnPieces(CUTS)
    assert reason.check(turn, on).proved
    for wrong in (2 * on, Integral(KINK, (psi, -pi / 2, pi / 2)), Integral(-KINK, (psi, SWITCH, pi / 2)), S.Zero):
        assert not reason.check(turn, wrong).proved
    for cuts in (
        (-pi / 2, pi / 2, 3 * pi / 2),  # the kink changes its sign within
        (-pi / 2, atan(beta), pi / 2, 3 * pi / 2),
        (-pi / 2, SWITCH, 3 * pi / 2),  # longer than π
        (-pi / 2, SWITCH, pi / 2),  # not the whole turn
    ):
        assert not SignsOnPieces(cuts).check(turn, on).proved
    no_wave = Integral(Heaviside(cos(psi)) * Max(0, cos(2 * psi)), (psi, -pi / 2, 3 * pi / 2))
    assert not reason.check(no_wave, Integral(cos(2 * psi), (psi, SWITCH, pi / 2))).proved


@pytest.mark.parametrize(
    "cuts", [(0, -pi, 0, pi), (0, pi, 0, pi), (S.Zero, S.Zero, pi), (-pi / 2, -atan(beta), SWITCH)]
)
def test_cuts_must_increase(cuts):
    before = Integral(Max(0, sin(psi)), (psi, cuts[0], cuts[-1]))
    pieces = [Integral(sin(psi), (psi, *ends)) for ends in pairwise(cuts) if ends != (0, 0)]
    for choice in range(1 << len(pieces)):
        after = sum((piece for at, piece in enumerate(pieces) if choice >> at & 1), S.Zero)
        assert not SignsOnPieces(cuts).check(before, after).proved


def test_a_step_at_nothing_is_not_one():
    """`1[w > 0]` of `w ≡ 0`, also where SymPy does not see that it is 0."""
    hidden = sin(psi + 1) - sin(psi) * cos(1) - cos(psi) * sin(1)
    for zero in (hidden, -hidden):
        before = Integral(Heaviside(zero) * cos(psi), (psi, 0, 1))
        for after in (Integral(cos(psi), (psi, 0, 1)), S.Zero):
            assert not SignsOnPieces((S.Zero, S.One)).check(before, after).proved


def test_by_tangent_with_alpha_in_use():
    assert not ByTangent().check(Limit(alpha * cos(beta), beta, 0), Limit(alpha * cos(tan(alpha)), alpha, 0)).proved
    captured = Limit(alpha * cos(sin(alpha) / cos(alpha)), alpha, 0)
    assert not ByTangent().check(Limit(alpha * cos(beta), beta, 0), captured).proved


def test_by_tangent():
    before, after = Limit(atan(beta) / beta, beta, 0), Limit(alpha * cos(alpha) / sin(alpha), alpha, 0)
    assert ByTangent().check(before, after).proved
    for wrong in (
        Limit(alpha / sin(alpha), alpha, 0),
        Limit(alpha * cos(alpha) / sin(alpha), alpha, 1),
        Limit(alpha * cos(alpha) / sin(alpha), alpha, 0, "-"),
        S.One,
    ):
        assert not ByTangent().check(before, wrong).proved
