"""The variable without a least bound, and the largest of many, against their definitions."""

import math

import numpy as np
import pytest
from sympy import Symbol, lambdify, log

from theory.definite_bounds import (
    log_uniform_tail,
    maximum_law,
    t,
    tail_gained,
    tail_gained_vanishes,
    y,
    z,
)
from theory.derivation import How


def test_all_steps_are_exact():
    derivations = (log_uniform_tail(), tail_gained(), tail_gained_vanishes(), maximum_law())
    assert {step.outcome.how for d in derivations for step in d.check()} <= {How.ALGEBRA, How.LEMMA}


def test_the_tail_is_a_share_of_a_grid():
    n, bound = 1e6, 40.0
    grid = (np.arange(10**6) + 0.5) / 10**6
    assert float(log_uniform_tail().conclusion.subs({t: math.log(n), z: bound})) == pytest.approx(
        (n**grid > bound).mean(), abs=2e-6
    )


@pytest.mark.parametrize("power", [0, 1, 5])
def test_bounds_by_logarithms_improve_without_end(power):
    """`n/(log n)^q` is a bound for every `q`, its tail vanishing, and the step to `q + 1` adds what is derived."""
    logarithm = Symbol("w", real=True)
    tail = lambdify((t, logarithm), log_uniform_tail().conclusion.subs(log(z), logarithm))
    gained = lambdify(t, tail_gained().conclusion)
    sizes = [1e2, 1e4, 1e8]  # log n
    tails = [tail(s, s - power * math.log(s)) for s in sizes]
    following = [tail(s, s - (power + 1) * math.log(s)) for s in sizes]
    assert [after - before for before, after in zip(tails, following, strict=True)] == pytest.approx(
        [gained(s) for s in sizes], rel=1e-6
    )
    assert sorted(following, reverse=True) == following
    assert following[-1] < 1e-5


@pytest.mark.parametrize("rate", [0.1, 1.0, 3.0])
def test_the_largest_of_many(rate):
    count = 10**8
    derived = float(maximum_law().conclusion.subs(y, rate))
    assert derived == pytest.approx(math.exp(count * math.log1p(-rate / count)), rel=1e-6)


def test_a_bound_is_improved_as_in_the_proof():
    """`n^U` has the quantiles `n^{1−ε}`: from any bound the proof makes a smaller one, at sizes far apart."""
    log_bound = lambda log_n: log_n - 3 * math.log(log_n)  # noqa: E731  (n/(log n)³, a bound)
    at = []
    for k in range(2, 8):
        log_n = 10.0
        while log_bound(log_n) <= math.log(k) + (1 - 1 / k) * log_n or (at and log_n <= at[-1][1]):
            log_n *= 1.1
        at.append((k, log_n, (1 - 1 / k) * log_n))
    for k, log_n, smaller in at:
        assert smaller < log_bound(log_n) - math.log(k)
        assert all(smaller >= (1 - 1 / j) * log_n for j in range(1, k + 1))
