"""The face of the theory; the published losses term by term; gradient descent on random and on all matrices of O(3)."""

import math

import numpy as np
import pytest
from sympy import Integer, Poly, Rational, expand, symbols

from numerics.haar_sampling import haar_orthogonal
from theory.errors import InvalidInput
from theory.layerwise import (
    Gaussian,
    Inputs,
    Orthogonal,
    Updates,
    Vectors,
    by_sum_and_product,
    eta1,
    eta2,
    expected_loss,
    h,
    n,
    product,
    rho,
    term_by_term,
    total,
)

S, P = eta1 + eta2, eta1 * eta2
PAPER_TWO = {
    1: S**2 / h**4 + P**2 / h**7 - 2 * S / h**2 + 1 / h + 2 * P / h**5 + 1,
    2: (1 + P / h**3) ** 4 / h
    + 16 * P**2 / h**7
    + (2 * S * (P + h**3) / h**5 - 1) ** 2
    + (1 + P / h**3) ** 2 * 8 * P / h**5,
}
SCRIPT_TWO = PAPER_TWO[1] - 2 * P / h**5
SCRIPT_THREE = {
    1: S**2 / h**2 + 1 / h + 1 + P**2 / h**4 - 2 * S / h,
    2: (2 * S * (h + P) / h**2 - 1) ** 2
    + 1 / h
    + 2 * P / h**2
    + 10 * P / h**3
    + 37 * P**2 / h**4
    + 12 * P**3 / h**5
    + P**4 / h**6
    + P**2 / h**3,
}


@pytest.mark.parametrize(
    ("published", "layers", "steps", "wrong"),
    [
        (PAPER_TWO[1], 2, 1, {}),
        (PAPER_TWO[2], 2, 2, {}),
        (SCRIPT_THREE[2], 3, 2, {}),
        (SCRIPT_TWO, 2, 1, {product: (0, 2 / h**5)}),
        (SCRIPT_THREE[1], 3, 1, {product: (0, 2 / h**3)}),
    ],
)
def test_published_losses_term_by_term(published, layers, steps, wrong):
    terms = term_by_term(expand(published), expected_loss(layers, steps).conclusion)
    assert {term.monomial: (term.claimed, term.derived) for term in terms if not term.right} == wrong


def test_with_one_rate_zero_full_descent_only_rescales_the_residual():
    """With `η₂ = 0` the second layer stays, and each step multiplies the residual by `1 − η₁/h²` (two layers)."""
    for steps in (1, 2):
        loss = expected_loss(2, steps, Updates.FULL).conclusion.subs(eta2, 0)
        assert expand(loss - (1 + 1 / h) * (1 - eta1 / h**2) ** (2 * steps)) == 0


def two_layer_descent(W1, W2, target, rates, steps, updates):
    """The test losses after gradient descent on batches of matrices, as the definition has it."""
    width = target.shape[-1]
    for _ in range(steps):
        error = -target if updates is Updates.SIGNAL else W1 @ W2 / width - target
        moves = error @ W2.swapaxes(-1, -2), W1.swapaxes(-1, -2) @ error
        W1, W2 = W1 - rates[0] / width * moves[0], W2 - rates[1] / width * moves[1]
    return np.square(W1 @ W2 / width - target).sum(axis=(-1, -2))


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("rates", [(2.0, 1.0), (6.0, 7.0)])
def test_the_mean_over_all_of_three_dimensions(updates, steps, rates):
    """The loss is a class function of `Z`; Weyl's formula integrates it over O(3) exactly with 64 angles."""
    angles = 2 * np.pi * np.arange(64) / 64
    turns = np.zeros((64, 3, 3))
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(angles)
    turns[:, 1, 0], turns[:, 0, 1], turns[:, 2, 2] = np.sin(angles), -np.sin(angles), 1
    targets = np.stack([turns, -turns]) / math.sqrt(3)  # both determinants
    losses = two_layer_descent(np.eye(3), np.eye(3), targets, rates, steps, updates)
    mean = np.mean(losses * (1 - np.cos(angles)))
    found = expected_loss(2, steps, updates).conclusion.subs({h: 3, eta1: rates[0], eta2: rates[1]})
    assert mean == pytest.approx(float(found), rel=1e-10)


@pytest.mark.parametrize("updates", Updates)
def test_random_weights_and_targets(updates):
    """Hoeffding's inequality: a step from here leaves `|ab/h − z/√h| <= bound` for every eigenvalue; alarm 1e-9."""
    width, rates, count, rng = 3, (2.0, 1.0), 50_000, np.random.default_rng(6)
    W1, W2, Q = (haar_orthogonal(rng, count, width) for _ in range(3))
    losses = two_layer_descent(W1, W2, Q / math.sqrt(width), rates, 1, updates)
    residual = 1 / width + 1 / math.sqrt(width) if updates is Updates.FULL else 1 / math.sqrt(width)
    moved = [1 + rate / width * residual for rate in rates]
    bound = width * (moved[0] * moved[1] / width + 1 / math.sqrt(width)) ** 2
    assert losses.max() <= bound
    allowed = bound * math.sqrt(math.log(2e9) / (2 * count))
    found = float(expected_loss(2, 1, updates).conclusion.subs({h: width, eta1: rates[0], eta2: rates[1]}))
    assert abs(losses.mean() - found) <= allowed < 0.2 * found


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("steps", [1, 2])
def test_gaussian_vectors_of_three_layers(updates, steps):
    """`h = 1`: `a, β ~ N(0, 1)` and signs, integrated by Gauss–Hermite quadrature, exact for these polynomials."""
    rates = (0.4, 0.7)
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    a, beta = np.meshgrid(nodes, nodes)
    weight = np.outer(weights, weights) / (2 * np.pi)
    w1, w2 = np.ones_like(a), np.ones_like(a)  # the signs of the weights go into those of a and β
    for _ in range(steps):
        error = -beta if updates is Updates.SIGNAL else w1 * w2 * a - beta
        w1, w2 = w1 - rates[0] * error * w2 * a, w2 - rates[1] * w1 * error * a
    mean = float(np.sum(weight * np.square(w1 * w2 * a - beta)))
    loss = expected_loss(3, steps, updates, Orthogonal(Vectors.GAUSSIAN))
    assert mean == pytest.approx(float(loss.conclusion.subs({h: 1, eta1: rates[0], eta2: rates[1]})), rel=1e-9)


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("updates", Updates)
def test_two_steps_are_proved_line_by_line(layers, updates):
    derivation = expected_loss(layers, 2, updates)
    assert all(step.outcome.proved for part in derivation.parts() for step in part.check())


@pytest.mark.parametrize(("layers", "updates"), [(2, Updates.SIGNAL), (3, Updates.FULL)])
def test_a_wrong_line_is_not_proved(layers, updates):
    derivation = expected_loss(layers, 1, updates)
    for before, step in zip(derivation.lines, derivation.steps, strict=False):
        assert not step.reason.check(before, step.expression + P / h**9).proved
        assert not step.reason.check(before, 2 * step.expression).proved


def test_at_the_start_the_loss_is_one_and_one_over_h():
    for layers in (2, 3):
        for updates in Updates:
            assert expand(expected_loss(layers, 0, updates).conclusion - 1 - 1 / h) == 0


def test_by_sum_and_product_of_the_face():
    found = by_sum_and_product(expected_loss(2, 1, Updates.FULL).conclusion)
    assert expand(found.coeff(total, 2) - (h + 1) / h**5) == 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"layers": 4}, "layers"),
        ({"layers": "2"}, "layers"),
        ({"layers": 3, "noise": rho, "updates": Updates.FULL}, "steps"),
        ({"layers": 3, "noise": rho, "steps": 3}, "steps"),
        ({"inputs": "gaussian"}, "inputs"),
        ({"samples": 7}, "samples"),
        ({"steps": -1}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"steps": True}, "steps"),
        ({"steps": 3, "updates": Updates.FULL}, "steps"),
        ({"updates": "full"}, "updates"),
        ({"initialisation": Gaussian}, "initialisation"),
        ({"noise": -1}, "noise"),
        ({"noise": Rational(1, 2)}, "noise"),
        ({"noise": symbols("r")}, "noise"),
    ],
)
def test_what_has_no_derivation_is_refused(arguments, name):
    with pytest.raises(InvalidInput, match=f"^{name} = "):
        expected_loss(**arguments)


@pytest.mark.parametrize("samples", [h, n])
@pytest.mark.parametrize("noise", [0, rho])
@pytest.mark.parametrize("inputs", Inputs)
@pytest.mark.parametrize("initialisation", [Orthogonal(), Orthogonal(Vectors.GAUSSIAN), Gaussian()])
@pytest.mark.parametrize("layers", [2, 3])
def test_everything_has_a_first_step(layers, initialisation, inputs, noise, samples):
    """With `η₂ = 0` the loss is quadratic in `η₁`, and without rates that of the start."""
    how = {"initialisation": initialisation, "noise": noise, "inputs": inputs, "samples": samples}
    for updates in Updates:
        loss = expected_loss(layers, 1, updates, **how).conclusion
        assert loss.free_symbols <= {h, n, rho, eta1, eta2}
        assert expand(loss.subs({eta1: 0, eta2: 0}) - 1 - 1 / h) == 0
        assert Poly(loss.subs(eta2, 0), eta1).degree() == 2


def test_more_noise_or_fewer_samples_hurt():
    """The variance of the label signal grows with `ρ` and falls with `n`: so does the coefficient of `S²`."""
    loss = expected_loss(3, 1, inputs=Inputs.GAUSSIAN, noise=rho, samples=n).conclusion
    noisy, clean = (by_sum_and_product(loss.subs({rho: Rational(k, 2), h: 4})).coeff(total, 2) for k in (1, 0))
    assert noisy.subs(n, 5) > noisy.subs(n, 6) > clean.subs(n, 6)


def test_zero_noise_may_be_any_zero():
    assert expected_loss(2, 1, noise=Integer(0)) is expected_loss(2, 1)
