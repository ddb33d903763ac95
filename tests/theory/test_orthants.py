"""Orthant probabilities against sampling, and every step of their derivations."""

import numpy as np
import pytest
from sympy import Integral, Rational, asin, lambdify, pi

from numerics.points import check_steps
from theory import orthants
from theory.derivation import How
from theory.orthants import CORRELATIONS, P, Pairs, Plackett, four, r12, r13, r23, s, three, two

DERIVATIONS = {"two": two, "three": three, "four": four}


@pytest.mark.parametrize("derive", DERIVATIONS.values(), ids=DERIVATIONS)
def test_every_step_is_proved(derive) -> None:
    assert all(step.outcome.proved for part in derive().parts() for step in check_steps(part))


def sampled(correlations: list[float], size: int, count: int = 10**6) -> tuple[float, float]:
    """The share of positive samples, and five of its standard errors: a false alarm in two million."""
    matrix = np.eye(size)
    matrix[np.triu_indices(size, 1)] = correlations
    root = np.linalg.cholesky(matrix + matrix.T - np.eye(size))
    share = float((np.random.default_rng(size).normal(size=(count, size)) @ root.T > 0).all(axis=1).mean())
    return share, 5 * (share * (1 - share) / count) ** 0.5


def test_two_and_three_against_sampling() -> None:
    share, error = sampled([0.3], 2)
    assert float(two().conclusion.subs(r12, 0.3)) == pytest.approx(share, abs=error)
    at = {r12: 0.3, r13: -0.4, r23: 0.5}
    share, error = sampled(list(at.values()), 3)
    assert float(three().conclusion.subs(at)) == pytest.approx(share, abs=error)


def test_four_against_sampling() -> None:
    values = [0.3, -0.2, 0.5, 0.1, 0.4, -0.3]
    at = dict(zip(CORRELATIONS.values(), values, strict=True))
    conclusion = four().conclusion.subs(at)
    (integral,) = conclusion.atoms(Integral)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    slope = lambdify(s, integral.function, "numpy")((nodes + 1) / 2)
    share, error = sampled(values, 4)
    assert float(conclusion.xreplace({integral: 0})) + weights @ slope / 2 == pytest.approx(share, abs=error)


def test_wrong_lines_are_not_proved() -> None:
    pair, triple = two(), three()
    d = three()
    wrong = Rational(1, 8) + (asin(r12) + asin(r13) - asin(r23)) / (4 * pi)
    assert not Pairs(pair).check(d.lines[1], wrong).proved
    assert not Pairs(pair).check(d.lines[0], d.conclusion).proved  # a product of three indicators
    right = four().conclusion
    (integral,) = right.atoms(Integral)
    plackett = Plackett(pair, triple)
    assert plackett.check(P(1), right).how is How.LEMMA
    assert plackett.check(P(1), right + triple.conclusion / 2).how is How.WRONG
    assert plackett.check(P(1), right.xreplace({integral: 2 * integral})).how is How.WRONG
    assert plackett.check(P(0), right).how is How.WRONG


def test_the_path_keeps_the_first_three() -> None:
    matrix = orthants.scaled_correlations()
    assert matrix.subs(s, 0)[:3, 3].is_zero_matrix
    assert matrix[:3, :3].free_symbols == {r12, r13, r23}
