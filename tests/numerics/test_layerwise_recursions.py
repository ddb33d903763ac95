"""The scalar recursions against gradient descent on numbers, matrices and vectors, as defined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.layerwise_recursions import three_layers, two_layers

rates = st.floats(0, 2)
phases = st.floats(0, np.pi)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 50), phases, rates, rates, st.integers(0, 5))
def test_two_layers_at_an_eigenvalue(h, phi, first, second, steps):
    eta1, eta2 = first * h**1.5, second * h**1.5
    z, a, b = np.exp(1j * phi), 1.0 + 0j, 1.0 + 0j
    for _ in range(steps):
        error = z / np.sqrt(h) - a * b / h
        a, b = a + eta1 / h * error * np.conj(b), b + eta2 / h * np.conj(a) * error
    expected = abs(a * b / h - z / np.sqrt(h)) ** 2 * h
    found = two_layers(np.cos(phi) / np.sqrt(h), float(h), eta1, eta2, steps)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6), rates, rates, st.integers(0, 4))
def test_three_layers_with_random_matrices(h, seed, first, second, steps):
    rng = np.random.default_rng(seed)
    eta1, eta2 = first * np.sqrt(h), second * np.sqrt(h)
    W1, W2 = (np.linalg.qr(rng.normal(size=(h, h)))[0] for _ in range(2))
    a, beta = (vector / np.linalg.norm(vector) for vector in rng.normal(size=(2, h)))
    product = beta @ W1 @ W2 @ a / np.sqrt(h)
    for _ in range(steps):
        error = beta - W1 @ W2 @ a / np.sqrt(h)
        moves = np.outer(error, W2 @ a), np.outer(W1.T @ error, a)
        W1, W2 = W1 + eta1 / np.sqrt(h) * moves[0], W2 + eta2 / np.sqrt(h) * moves[1]
    expected = np.square(beta - W1 @ W2 @ a / np.sqrt(h)).sum()
    assert three_layers(product, float(h), eta1, eta2, steps) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_only_sum_and_product_of_the_rates_matter_for_two_layers():
    assert two_layers(0.1, 10.0, 3.0, 5.0, 6) == pytest.approx(two_layers(0.1, 10.0, 5.0, 3.0, 6), rel=1e-14)


@pytest.mark.parametrize(("rate", "converges"), [(0.99, True), (1.01, False)])
def test_beyond_the_critical_scale_no_minimum_is_stable(rate, converges):
    """`η₁η₂ < h³` (two layers), `η₁η₂ < h` (three) is needed: the least curvature at a global minimum is 2 of 2."""
    h = 100.0
    assert (two_layers(0.03, h, rate * h**1.5, rate * h**1.5, 20_000) < 1e-12) is converges
    assert (three_layers(0.003, h, rate * h**0.5, rate * h**0.5, 20_000) < 1e-12) is converges
