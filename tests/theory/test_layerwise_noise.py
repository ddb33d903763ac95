r"""Label noise and Gaussian weights, against literal gradient descent.

The oracle runs gradient descent on the loss `‖X W₁W₂/h − Y‖²/2n` with matrices whose random entries are indeterminates,
and takes the mean of the polynomial that comes out, by `E g^{2k} = (2k−1)!!`. That is exact. A larger size is sampled.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, log, prod, sqrt
from typing import Any

import flint
import numpy as np
import pytest
from sympy import Expr, Rational, Trace, expand

from theory.errors import InvalidInput
from theory.haar import Z, h, mean
from theory.layerwise_noise import Inputs, expected_loss_gaussian, expected_loss_with_noise, gradient, label_signal
from theory.layerwise_options import Updates
from theory.linear_networks import rho
from theory.matrix_means import Isserlis
from theory.rate_polynomials import eta1, eta2
from theory.two_layers import expected_loss
from theory.wick import cyclic, gaussian_mean, haar_moment, letter, smallest_size, transposed

SIGNAL, FULL = Updates.SIGNAL, Updates.FULL
WHITENED, GAUSSIAN = Inputs.WHITENED, Inputs.GAUSSIAN

RATES = Fraction(3, 2), Fraction(5, 7)
NOISE = Fraction(4, 9)  # a square, so that its root is rational


def descend(weights: tuple[Any, Any], X: Any, Y: Any, steps: int, updates: Updates, rates: Any) -> Any:
    """`W₁W₂/h` after gradient descent on `‖X W₁W₂/h − Y‖²/2n`, of matrices of any numbers, or stacks of matrices.

    Signal-only updates leave `X W₁W₂/h` out of the gradient.
    """
    first, second = weights
    size, inputs = first.shape[-1], X.shape[-2]
    by_size, by_both = one_over(size, rates), one_over(size * inputs, rates)
    for _ in range(steps):
        predicted = X @ first @ second * by_size
        residual = predicted - Y if updates is FULL else 0 * predicted - Y
        back = X.swapaxes(-1, -2) @ residual * by_both
        first, second = (
            first - back @ second.swapaxes(-1, -2) * rates[0],
            second - first.swapaxes(-1, -2) @ back * rates[1],
        )
    return first @ second * by_size


def one_over(number: int, rates: Any) -> Any:
    return flint.fmpq(1, number) if isinstance(rates[0], flint.fmpq) else 1 / number


def exact(number: Fraction) -> flint.fmpq:
    return flint.fmpq(number.numerator, number.denominator)


def boxed(polynomials: list[Any], shape: tuple[int, ...]) -> Any:
    """An array of polynomials, which NumPy by itself takes for sequences."""
    array = np.empty(len(polynomials), dtype=object)
    for index, entry in enumerate(polynomials):
        array[index] = entry
    return array.reshape(shape)


def scaled(matrix: Any, factor: Any) -> Any:
    return boxed([factor * entry for entry in matrix.flat], matrix.shape)


class Indeterminates:
    """Square matrices of indeterminates, which stand for independent N(0, 1) variables, and `√h`."""

    def __init__(self, size: int, matrices: int) -> None:
        self.size = size
        names = ["root", *(f"g{k}" for k in range(matrices * size**2))]
        context = flint.fmpq_mpoly_ctx.get(names, flint.Ordering.lex)
        self.root, *entries = context.gens()
        self.one = context.constant(1)
        self.matrices = [boxed(entries[k * size**2 : (k + 1) * size**2], (size, size)) for k in range(matrices)]

    def mean_squared_norm(self, matrix: Any) -> Fraction:
        """Odd powers of `√h` are left out: they go with odd powers of the matrices, and `−Q` is as likely as `Q`."""
        total, square = Fraction(0), sum((entry * entry for entry in matrix.flat), 0 * self.one)
        for exponents, coefficient in square.to_dict().items():
            root, *powers = map(int, exponents)
            if root % 2 == 0 and all(power % 2 == 0 for power in powers):
                moments = prod(prod(range(1, power, 2)) for power in powers)
                total += Fraction(int(coefficient.p), int(coefficient.q)) * moments * self.size ** (root // 2)
        return total


def orthogonal_matrices(size: int, seed: int) -> list[Any]:
    """Four, in rational numbers: Cayley transforms of skew matrices of integers, each with a column turned round."""
    generator, found = np.random.default_rng(seed), []
    for _ in range(4):
        skew = np.triu(generator.integers(-3, 4, (size, size)), 1)
        skew = flint.fmpq_mat([[int(entry) for entry in row] for row in skew - skew.T])
        identity = flint.fmpq_mat([[int(i == j) for j in range(size)] for i in range(size)])
        rotation = np.array(((identity - skew) * (identity + skew).inv()).tolist(), dtype=object)
        rotation[:, 0] = rotation[:, 0] * int(generator.choice([-1, 1]))
        found.append(rotation)
    return found


def literal_with_noise(size: int, steps: int, updates: Updates, seed: int = 3) -> tuple[Fraction, Any]:
    """The test loss, averaged over the noise and over `±Q`; and the matrix `Z = W₁ᵀQW₂ᵀ`."""
    entries = Indeterminates(size, 1)
    W1, W2, Q, of_inputs = orthogonal_matrices(size, seed)
    first, second = (scaled(matrix, entries.one) for matrix in (W1, W2))
    X, beta = scaled(of_inputs, entries.root), scaled(Q, entries.root * flint.fmpq(1, size))
    Y = X @ beta + entries.matrices[0] * flint.fmpq(2, 3)
    learned = descend((first, second), X, Y, steps, updates, [exact(rate) for rate in RATES])
    return entries.mean_squared_norm(learned - beta), W1.T @ Q @ W2.T


def literal_gaussian(size: int, steps: int, updates: Updates, inputs: Inputs) -> Fraction:
    entries = Indeterminates(size, 4)
    first, second, beta, X = entries.matrices
    if inputs is WHITENED:
        X = scaled(orthogonal_matrices(size, 5)[0], entries.root)
    scale = entries.root * flint.fmpq(1, size)
    beta = beta * flint.fmpq(1, size)
    rates = [exact(rate) for rate in RATES]
    learned = descend((scaled(first, scale), scaled(second, scale)), X, X @ beta, steps, updates, rates)
    return entries.mean_squared_norm(learned - beta)


def value(expression: Expr, size: int, noise: Fraction = NOISE) -> Fraction:
    numbers = {eta1: RATES[0], eta2: RATES[1], rho: noise}
    found = expression.subs({h: size} | {symbol: Rational(x.numerator, x.denominator) for symbol, x in numbers.items()})
    return Fraction(int(found.p), int(found.q))


def given_traces(line: Expr, matrix: Any) -> Expr:
    """The line with the traces of powers of a given `Z` for their means."""
    line = line.replace(mean, lambda inside: inside)
    for power in range(1, 7):
        trace = np.trace(np.linalg.matrix_power(matrix, power))
        line = line.xreplace({Trace(Z**power): Rational(int(flint.fmpq(trace).p), int(flint.fmpq(trace).q))})
    return line


@pytest.mark.parametrize(
    ("size", "steps", "updates"),
    [(size, steps, updates) for size in (1, 2) for steps in (1, 2) for updates in (SIGNAL, FULL)]
    + [(3, 1, SIGNAL), (3, 1, FULL)],
)
def test_mean_over_the_noise_is_that_of_literal_descent(size, steps, updates):
    d = expected_loss_with_noise(steps, updates)
    loss, matrix = literal_with_noise(size, steps, updates)
    assert value(given_traces(d.lines[-2], matrix), size) == loss


@pytest.mark.parametrize(("steps", "updates"), [(1, SIGNAL), (2, SIGNAL), (1, FULL)])
def test_expected_loss_with_noise_of_one_unit(steps, updates):
    """For `h = 1`, where `Z = ±1`, the average over the noise and `±Q` is all there is."""
    loss, _ = literal_with_noise(1, steps, updates)
    assert value(expected_loss_with_noise(steps, updates).conclusion, 1) == loss


def test_two_full_steps_with_noise_need_three_units():
    d = expected_loss_with_noise(2, FULL)
    assert d.domain[h].inf == 3
    loss, _ = literal_with_noise(1, 2, FULL)
    assert value(d.conclusion, 1) != loss


@pytest.mark.parametrize(("steps", "updates"), [(0, SIGNAL), (1, SIGNAL), (2, SIGNAL), (1, FULL), (2, FULL)])
def test_without_noise_it_is_the_loss_of_the_laurent_method(steps, updates):
    """At four sizes, and rates that are no roots of a small polynomial."""
    with_noise, without = expected_loss_with_noise(steps, updates), expected_loss(steps, updates)
    for size in (1, 2, 3, 4):
        assert value(with_noise.conclusion, size, Fraction(0)) == value(without.conclusion, size)


@pytest.mark.parametrize(
    ("steps", "updates", "inputs", "sizes"),
    [
        (1, SIGNAL, WHITENED, (1, 2, 3)),
        (2, SIGNAL, WHITENED, (1, 2)),
        (1, FULL, WHITENED, (1, 2)),
        (1, SIGNAL, GAUSSIAN, (1, 2)),
        (2, SIGNAL, GAUSSIAN, (1,)),
        (1, FULL, GAUSSIAN, (1, 2)),
    ],
)
def test_expected_loss_of_gaussian_weights_is_that_of_literal_descent(steps, updates, inputs, sizes):
    d = expected_loss_gaussian(steps, updates, inputs)
    assert [value(d.conclusion, size) for size in sizes] == [
        literal_gaussian(size, steps, updates, inputs) for size in sizes
    ]


@pytest.mark.parametrize(
    "derivation",
    [
        label_signal,
        lambda: gradient(1),
        lambda: gradient(2),
        lambda: expected_loss_with_noise(1, SIGNAL),
        lambda: expected_loss_with_noise(2, SIGNAL),
        lambda: expected_loss_with_noise(1, FULL),
        lambda: expected_loss_gaussian(1, SIGNAL),
        lambda: expected_loss_gaussian(2, SIGNAL),
        lambda: expected_loss_gaussian(1, FULL),
        lambda: expected_loss_gaussian(1, FULL, GAUSSIAN),
    ],
)
def test_every_line_is_proved(derivation):
    for part in derivation().parts():
        assert all(checked.outcome.proved for checked in part.check())


@pytest.mark.parametrize("factor", [Rational(100, 99), 1 + rho / 1000])
def test_a_wrong_line_is_not_proved(factor):
    d = expected_loss_with_noise(1, SIGNAL)
    for step, before in zip(d.steps[2:], d.lines[2:], strict=False):
        assert step.reason.check(before, step.expression).proved
        assert not step.reason.check(before, expand(step.expression * factor)).proved


def mean_square_of_loss(pairings: Isserlis, line: Expr, at: dict[Any, Any], size: int) -> float:
    """`E‖D‖⁴` for the line `E tr(D Dᵀ)`, with numbers for all scalars."""
    numbers = dict(zip(pairings.gaussian, range(64, 128), strict=False)) | {pairings.haar: 0}
    root: Any = line.args[0].args[0].args[0]
    terms = [
        (b"".join(letter(numbers[matrix], turned) for matrix, turned in letters), float(c.subs({h: size} | at)))
        for letters, c in pairings.words.polynomial(root).items()
    ]
    traces: Counter = Counter()
    for u, a in terms:
        for v, b in terms:
            traces[cyclic(u + transposed(v))] += a * b
    total = 0.0
    for u, a in traces.items():
        for v, b in traces.items():
            for (power, powers), count in gaussian_mean((u, v)).items():
                assert smallest_size(powers) <= size
                total += a * b * count * size**power * haar_moment(powers)
    return total


def haar(generator: np.random.Generator, shape: tuple[int, int, int]) -> Any:
    Q, R = np.linalg.qr(generator.standard_normal(shape))
    return Q * np.sign(np.einsum("sii->si", R))[:, None, :]


def sampled_with_noise(generator: np.random.Generator, shape: tuple[int, int, int], noise: float) -> tuple[Any, ...]:
    """`W₁`, `W₂`, `β`, `X` and `Y`."""
    W1, W2, Q, of_inputs = (haar(generator, shape) for _ in range(4))
    beta, X = Q / sqrt(shape[-1]), of_inputs * sqrt(shape[-1])
    return W1, W2, beta, X, X @ beta + sqrt(noise) * generator.standard_normal(shape)


def sampled_gaussian(generator: np.random.Generator, shape: tuple[int, int, int], inputs: Inputs) -> tuple[Any, ...]:
    """The same."""
    W1, W2, beta = (generator.standard_normal(shape) for _ in range(3))
    X = generator.standard_normal(shape) if inputs is GAUSSIAN else haar(generator, shape) * sqrt(shape[-1])
    beta = beta / shape[-1]
    return W1 / sqrt(shape[-1]), W2 / sqrt(shape[-1]), beta, X, X @ beta


@pytest.mark.parametrize(
    ("steps", "updates", "inputs"),
    [
        (1, SIGNAL, None),
        (2, SIGNAL, None),
        (1, FULL, None),
        (1, SIGNAL, WHITENED),
        (2, SIGNAL, WHITENED),
        (1, FULL, WHITENED),
        (1, SIGNAL, GAUSSIAN),
    ],
)
def test_sampled_descent_at_size_5(steps, updates, inputs):
    """False alarms below 1e−9, although the losses have heavy tails: the median of the means of groups.

    With `k = 8 ln 10⁹` groups of `m` samples it is off by more than `2σ/√m` with probability at most `e^{−k/8}`: by
    Chebyshev one group is with ¼, by Hoeffding half of them with `e^{−k/8}`. `σ` is exact, from `E‖D‖⁴`.
    """
    size, groups, of_each, noise = 5, ceil(8 * log(1e9)), 600, 0.25
    at = {eta1: 6, eta2: 9, rho: Rational(1, 4)}
    generator, shape = np.random.default_rng(2606), (groups * of_each, size, size)
    if inputs is None:
        d, sample = expected_loss_with_noise(steps, updates), sampled_with_noise(generator, shape, noise)
    else:
        d, sample = expected_loss_gaussian(steps, updates, inputs), sampled_gaussian(generator, shape, inputs)
    W1, W2, beta, X, Y = sample
    learned = descend((W1, W2), X, Y, steps, updates, (6.0, 9.0))
    means = ((learned - beta) ** 2).sum(axis=(1, 2)).reshape(groups, of_each).mean(axis=1)

    expected = float(d.conclusion.subs({h: size} | at))
    index = next(index for index, step in enumerate(d.steps) if isinstance(step.reason, Isserlis))
    square = mean_square_of_loss(d.steps[index].reason, d.lines[index], at, size)
    assert abs(np.median(means) - expected) < 2 * sqrt((square - expected**2) / of_each)


def test_bad_input_is_refused():
    for steps in (-1, 3, True, 1.0):
        with pytest.raises(InvalidInput, match="steps"):
            expected_loss_with_noise(steps)
        with pytest.raises(InvalidInput, match="steps"):
            expected_loss_gaussian(steps)
    with pytest.raises(InvalidInput, match="an integer from 0 to 1"):
        expected_loss_gaussian(2, FULL, GAUSSIAN)
