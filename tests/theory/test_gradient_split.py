"""The best constant of the split against networks of all kinds, and against networks at which it is attained."""

import math

import numpy as np
import pytest
from sympy import Rational, sqrt

from numerics.haar_sampling import haar_orthogonal
from numerics.points import check_steps
from theory.errors import InvalidInput
from theory.gradient_split import LargestOnCircle, OperatorNorm, OrthogonalFactors, best_constant, f, g, supremum
from theory.haar import Z
from theory.linear_networks import W1, W2, Q
from theory.matrix_words import Words, orthogonal
from theory.rate_polynomials import eta1, eta2, h


def ratios(w1: np.ndarray, w2: np.ndarray, target: np.ndarray, rates, steps: int) -> list[float]:
    """`‖B‖/‖G‖` of both layers after steps of gradient descent, as the definition has it."""
    width = len(w1)
    for _ in range(steps):
        error = w1 @ w2 / width - target
        w1, w2 = w1 - rates[0] / width * error @ w2.T, w2 - rates[1] / width * w1.T @ error
    error = w1 @ w2 / width - target
    pairs = [
        (w1 @ w2 @ w2.T / width**2, error @ w2.T / width),
        (w1.T @ w1 @ w2 / width**2, w1.T @ error / width),
    ]
    return [float(np.linalg.norm(own, 2) / np.linalg.norm(full, 2)) for own, full in pairs]


def bound(steps: int, width: int, rates) -> float:
    values = {h: width, eta1: Rational(str(rates[0])), eta2: Rational(str(rates[1]))}
    one, two = (float(best_constant(steps, layer).conclusion.subs(values)) for layer in (1, 2))
    assert one == two
    return one


CASES = [(0, 2, (1.0, 1.0)), (0, 5, (1.0, 1.0)), (1, 2, (0.4, 0.9)), (1, 5, (4.0, 3.0)), (1, 9, (40.0, 0.0))]


@pytest.mark.parametrize(("steps", "width", "rates"), CASES)
def test_it_is_attained_where_the_target_is_the_product_of_the_weights(steps, width, rates):
    w1, w2 = haar_orthogonal(np.random.default_rng(width), 2, width)
    found = ratios(w1, w2, w1 @ w2 / math.sqrt(width), rates, steps)
    assert found == pytest.approx([bound(steps, width, rates)] * 2, rel=1e-12)


@pytest.mark.parametrize(("steps", "width", "rates"), CASES)
def test_no_network_exceeds_it(steps, width, rates):
    """Targets of all kinds: near that product, far from it, and of either determinant."""
    rng = np.random.default_rng(10 + width)
    largest = bound(steps, width, rates)
    for spread in (0.01, 0.1, 1.0, 100.0):
        for sign in (1.0, -1.0):
            w1, w2 = haar_orthogonal(rng, 2, width)
            skew = rng.normal(size=(width, width)) * spread
            skew = skew - skew.T
            turn = np.linalg.solve(np.eye(width) + skew, np.eye(width) - skew)  # a rotation (Cayley)
            turn[:, 0] *= sign
            found = ratios(w1, w2, w1 @ turn @ w2 / math.sqrt(width), rates, steps)
            assert max(found) <= largest * (1 + 1e-12)


def test_at_the_start_it_is_smallest_at_the_eigenvalue_minus_one():
    w1, w2 = haar_orthogonal(np.random.default_rng(3), 2, 4)
    reflection = np.diag([-1.0, 1.0, 1.0, 1.0])
    found = ratios(w1, w2, w1 @ reflection @ w2 / 2, (0.0, 0.0), 0)
    assert found == pytest.approx([1 / 3, 1 / 3])


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("layer", [1, 2])
def test_every_line_is_proved_and_no_wrong_one_is(steps, layer):
    derivation = best_constant(steps, layer)
    assert all(step.outcome.proved for part in derivation.parts() for step in check_steps(part))
    last, before = derivation.steps[-1], derivation.lines[-2]
    for wrong in (2 * last.expression, last.expression + 1 / h**9, 1 / sqrt(h)):
        assert not last.reason.check(before, wrong).proved
    assert not derivation.steps[0].reason.check(derivation.start, before.subs(Z, Z.T)).proved


def test_the_hypotheses_of_the_bound_are_checked():
    good = best_constant(1, 1)
    reason = good.steps[-1].reason
    assert isinstance(reason, LargestOnCircle)
    given, region = reason.given, reason.region

    def holds(given, region) -> bool:
        return LargestOnCircle(given, region).check(good.lines[-2], good.conclusion).proved

    assert holds(given, region)
    assert not holds({f: given[f], g: -given[g]}, region)  # a coefficient is negative
    assert not holds({f: given[f] - given[f], g: given[g]}, region)  # f vanishes
    assert not holds({f: given[f] * W1, g: given[g]}, region)  # no polynomial in Z
    assert not holds(given, {**region, h: 4 * region[h]})  # not where g(1) < √h


def test_factors_must_be_orthogonal():
    line = supremum(OperatorNorm(W1 * Q) / OperatorNorm(Q))
    after = supremum(OperatorNorm(Q) / OperatorNorm(W1.T * Q))
    assert OrthogonalFactors(Words(orthogonal(W1, W2)), W1.T, W2 * W2.T).check(line, after).proved
    assert not OrthogonalFactors(Words(orthogonal(W2)), W1.T, W2 * W2.T).check(line, after).proved
    assert not OrthogonalFactors(Words(orthogonal(W1)), W1.T, 2 * W1).check(line, after).proved


@pytest.mark.parametrize(
    ("arguments", "name"), [((2, 1), "steps"), ((True, 1), "steps"), ((0, 3), "layer"), ((0, True), "layer")]
)
def test_bad_input_is_refused(arguments, name):
    with pytest.raises(InvalidInput, match=f"^{name} = "):
        best_constant(*arguments)
