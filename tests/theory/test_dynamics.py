"""The modes of flow and descent, against an integrator, loops, and a network written out with its parameters."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from sympy import Limit, S, exp, lambdify, log, oo

from numerics.points import check_steps
from theory import dynamics
from theory.derivation import Derivation, How
from theory.dynamics import GeometricDecay, LinearFlow, c, eta, k, lam, overlap, pull, residual, slower, start, t, x
from theory.loss import Loss

DERIVATIONS = {
    **{f"velocity, {loss.name}": lambda loss=loss: dynamics.velocity(loss) for loss in Loss},
    "residual": dynamics.residual_decay,
    "prediction": dynamics.prediction_change,
    "regression": dynamics.kernel_regression,
    "order": dynamics.decay_order,
    "speeds": dynamics.speed_ratio,
    "descent residual": dynamics.descent_residual,
    "descent prediction": dynamics.descent_change,
    "contraction": dynamics.contraction,
    "expansion": dynamics.expansion,
    "descent's end": dynamics.descent_converges,
    "faster": dynamics.descent_is_faster,
}
AT = {c: 0.7, lam: 1.3, overlap: 0.4, start: -1.1}


def number(derivation: Derivation, **more: float) -> float:
    """The conclusion at `AT`."""
    by_name = {str(symbol): value for symbol, value in AT.items()} | more
    symbols = sorted(derivation.conclusion.free_symbols, key=str)
    return float(lambdify(symbols, derivation.conclusion)(*(by_name[str(symbol)] for symbol in symbols)))


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_every_step_is_proved(make):
    assert all(checked.outcome.proved for part in make().parts() for checked in check_steps(part))


@pytest.mark.parametrize("loss", Loss)
def test_the_velocity_is_that_of_parameters_that_follow_the_gradient(loss):
    """`ḟ(x) = g·ẇ` with `ẇ` from differences of the loss, which is quadratic, so that they are exact."""
    rng = np.random.default_rng(3)
    J, y, w, g = rng.normal(size=(4, 6)), rng.normal(size=4), rng.normal(size=6), rng.normal(size=6)

    def value(at):
        return float(loss.factor(4)) * ((J @ at - y) ** 2).sum()

    gradient = np.array([(value(w + unit) - value(w - unit)) / 2 for unit in np.eye(6)])
    expected = dynamics.velocity(loss).conclusion.subs({pull: g @ J.T @ (J @ w - y), dynamics.n: 4})
    assert float(-g @ gradient) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("time", [0.0, 0.3, 4.0])
def test_a_mode_solves_its_differential_equations(time):
    """Residual and prediction together, by an integrator with relative tolerance 1e-11."""
    rate, eigenvalue, pulled, begin = AT[c], AT[lam], AT[overlap], AT[start]
    solution = solve_ivp(
        lambda _, state: [-rate * eigenvalue * state[0], -rate * pulled * state[0]],
        (0, max(time, 1e-9)),
        [begin, 0.0],
        rtol=1e-11,
        atol=1e-13,
    )
    assert number(dynamics.residual_decay(), t=time) == pytest.approx(solution.y[0, -1], rel=1e-7)
    assert number(dynamics.prediction_change(), t=time) == pytest.approx(solution.y[1, -1], rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_descent_is_its_own_loop(steps):
    rate, eigenvalue, pulled, begin, pace = AT[c], AT[lam], AT[overlap], AT[start], 1.9
    remaining, moved = begin, 0.0
    for _ in range(steps):
        moved -= pace * rate * pulled * remaining
        remaining -= pace * rate * eigenvalue * remaining
    at = {"eta": pace, "k": steps}
    assert number(dynamics.descent_residual(), **at) == pytest.approx(remaining, rel=1e-12)
    assert number(dynamics.descent_change(), **at) == pytest.approx(moved, rel=1e-12, abs=1e-15)


def test_the_end_of_the_flow_is_the_limit_of_its_prediction():
    assert number(dynamics.prediction_change(), t=60.0) == pytest.approx(number(dynamics.kernel_regression()))


def test_the_slower_mode_overtakes_at_the_time_stated():
    at = {lam: 3, slower: 2, c: 1}
    crossing = dynamics.speed_ratio().conclusion.subs({**at, t: log(S(3) / 2)})
    assert crossing == 1
    assert (
        dynamics.speed_ratio().conclusion.subs({**at, t: 1}) < 1 < dynamics.speed_ratio().conclusion.subs({**at, t: 0})
    )


@pytest.mark.parametrize("step", [0.5, 1.0, 1.9])
def test_descent_contracts_below_two_and_expands_above(step):
    assert dynamics.contraction().conclusion.subs(x, step) > 0
    assert dynamics.expansion().conclusion.subs(x, step + 1.6) > 0
    assert dynamics.contraction().conclusion.subs(x, 2) == 0


def test_descent_is_ahead_of_the_flow_by_half_the_step():
    step = 1e-4
    ahead = (-math.log1p(-step) / step - 1) / step
    assert float(dynamics.descent_is_faster().conclusion) == pytest.approx(ahead, rel=1e-3)  # the next term is step/3


def test_the_reason_of_the_flow_refuses_another_rate_start_or_unknown():
    reason = LinearFlow(t, c * lam, start)
    assert reason.check(residual(t), start * exp(-c * lam * t)).how is How.LEMMA
    assert not reason.check(residual(t), start * exp(-2 * c * lam * t)).proved
    assert not reason.check(residual(t), 2 * start * exp(-c * lam * t)).proved
    assert reason.check(start, start * exp(-c * lam * t)).how is How.WRONG
    assert replace(reason, speed=t * lam).check(residual(t), start * exp(-(t**2) * lam / 2)).how is How.WRONG


def test_the_reason_of_the_powers_needs_a_ratio_below_one():
    before = Limit((1 - x) ** k, k, oo)
    assert GeometricDecay(1 - x, dynamics.contraction()).check(before, S.Zero).how is How.LEMMA
    assert not GeometricDecay(1 - x, dynamics.expansion()).check(before, S.Zero).proved
    assert not GeometricDecay(1 - eta, dynamics.contraction()).check(Limit((1 - eta) ** k, k, oo), S.Zero).proved
    assert not GeometricDecay(1 - x, dynamics.contraction()).check(before, S.One).proved
