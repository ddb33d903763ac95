"""The norms of two layers under equal rates, against steps in plain complex numbers and in matrices."""

import numpy as np
import pytest
from sympy import Rational

from theory.norm_balance import a_im, a_re, b_im, b_re, eta, h, norm_gap, w_im, w_re


def test_every_step_is_checked_exactly():
    assert all(step.outcome.proved for step in norm_gap().check())


@pytest.mark.parametrize("seed", range(3))
def test_a_step_in_complex_numbers(seed):
    rng = np.random.default_rng(seed)
    a, b, w = rng.normal(size=3) + 1j * rng.normal(size=3)
    width, rate = int(rng.integers(1, 5)), float(rng.uniform(0, 3))
    error = a * b / width - w
    after = abs(a - rate / width * error * b.conjugate()) ** 2 - abs(b - rate / width * a.conjugate() * error) ** 2
    parts = {a_re: a.real, a_im: a.imag, b_re: b.real, b_im: b.imag, w_re: w.real, w_im: w.imag, eta: rate, h: width}
    assert float(norm_gap().conclusion.subs(parts)) == pytest.approx(after, rel=1e-10, abs=1e-12)


def test_equal_norms_stay_equal():
    gap = norm_gap().conclusion.subs({a_re: Rational(3, 5), a_im: Rational(4, 5), b_re: 0, b_im: 1})
    assert gap == 0


@pytest.mark.parametrize("h_", [1, 2, 3, 7])
def test_the_norms_of_matrices(h_):
    """From orthogonal weights they are equal after every step; from a target that is not orthogonal they are not."""
    rng = np.random.default_rng(h_)
    first, second, target = (np.linalg.qr(rng.normal(size=(h_, h_)))[0] for _ in range(3))

    def gap(target, steps):
        w1, w2 = first, second
        for _ in range(steps):
            error = w1 @ w2 / h_ - target
            w1, w2 = w1 - 0.4 * h_**0.5 * error @ w2.T, w2 - 0.4 * h_**0.5 * w1.T @ error
        return np.linalg.norm(w1) - np.linalg.norm(w2)

    assert all(abs(gap(target / h_**0.5, steps)) < 1e-12 for steps in range(1, 10))
    if h_ > 2:  # a real 2×2 matrix and its transpose are alike under rotations, which is enough
        assert abs(gap(rng.normal(size=(h_, h_)) / h_, 3)) > 1e-6
