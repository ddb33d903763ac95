r"""Label noise, Gaussian weights and Gaussian inputs, against literal gradient descent.

The oracle runs gradient descent on the loss `‖f(X) − Y‖²/2n` with matrices whose random entries are indeterminates, and
takes the mean of the polynomial that comes out, by `E g^{2k} = (2k−1)!!`. That is exact. Larger sizes are sampled.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, log, prod, sqrt
from typing import Any

import flint
import numpy as np
import pytest
from sympy import Expr, Rational, S, Trace, expand, oo

from numerics.points import check_steps
from theory.derivation import Derivation
from theory.errors import InvalidInput
from theory.haar import Z, mean
from theory.layerwise_options import Gaussian, Inputs, Orthogonal, Updates, Vectors
from theory.layerwise_wick import Setting, expected_loss
from theory.linear_networks import rho
from theory.matrix_means import Isserlis
from theory.rate_polynomials import eta1, eta2, h, n
from theory.three_layers import expected_loss as three_layers
from theory.two_layers import expected_loss as two_layers
from theory.wick import cyclic, gaussian_mean, haar_moment, letter, smallest_size, transposed

SIGNAL, FULL = Updates.SIGNAL, Updates.FULL
WHITENED, GAUSSIAN = Inputs.WHITENED, Inputs.GAUSSIAN
UNIT, NORMAL = Orthogonal(Vectors.UNIT), Orthogonal(Vectors.GAUSSIAN)

RATES = Fraction(3, 2), Fraction(5, 7)
NOISE = Fraction(4, 9)  # a square, so that its root is rational


def descend(weights: tuple[Any, Any], a: Any, X: Any, Y: Any, steps: int, updates: Updates, rates: Any) -> Any:
    """`F` of `f(x) = xᵀF` after gradient descent on `‖XF − Y‖²/2n`, of matrices of any numbers, or stacks of them.

    `F = W₁W₂/h` for two layers, `a = None`, and `W₁W₂a` for three, with the factor `1/√h` in `a`. Signal-only updates
    leave `XF` out of the gradient.
    """
    first, second = weights
    scale, by_inputs = one_over(first.shape[-1] if a is None else 1, rates), one_over(X.shape[-2], rates)
    for _ in range(steps):
        learned = second if a is None else second @ a
        residual = (X @ first @ learned * scale if updates is FULL else 0 * Y) - Y
        back = X.swapaxes(-1, -2) @ residual * (scale * by_inputs)
        into_second = first.swapaxes(-1, -2) @ back
        first, second = (
            first - back @ learned.swapaxes(-1, -2) * rates[0],
            second - (into_second if a is None else into_second @ a.swapaxes(-1, -2)) * rates[1],
        )
    return first @ (second if a is None else second @ a) * scale


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
    """Matrices of indeterminates, which stand for independent N(0, 1) variables, and `√h`."""

    def __init__(self, size: int, *shapes: tuple[int, int]) -> None:
        self.size = size
        counts = [rows * columns for rows, columns in shapes]
        context = flint.fmpq_mpoly_ctx.get(["root", *(f"g{k}" for k in range(sum(counts)))], flint.Ordering.lex)
        self.root, *entries = context.gens()
        self.one = context.constant(1)
        starts = [sum(counts[:k]) for k in range(len(counts))]
        self.matrices = [boxed(entries[s : s + k], shape) for s, k, shape in zip(starts, counts, shapes, strict=True)]

    def mean_squared_norm(self, matrix: Any) -> Fraction:
        """Odd powers of `√h` are left out: they go with odd powers of the matrices, and `−β` is as likely as `β`."""
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


def literal(setting: Setting, sizes: tuple[int, int], steps: int, updates: Updates) -> tuple[Fraction, Any]:
    """The test loss, averaged over all that is Gaussian and over `±β`; and the matrix `Z = W₁ᵀQW₂ᵀ`."""
    (size, samples), two = sizes, setting.layers == 2
    outputs = size if two else 1
    shapes = [(size, size), (size, size), (size, outputs), (size, 1), (samples, size), (samples, outputs)]
    entries = Indeterminates(size, *shapes)
    first, second, target, readout, X, noise = entries.matrices
    by_root, by_size = entries.root * flint.fmpq(1, size), flint.fmpq(1, size)  # 1/√h and 1/h
    W1, W2, Q, turn = orthogonal_matrices(size, seed=3)
    if setting.orthogonal:
        first, second = (scaled(matrix, entries.one) for matrix in (W1, W2))
    else:
        first, second = scaled(first, by_root), scaled(second, by_root)
    if setting.initialisation == UNIT:  # for three layers, of width one
        target = scaled(Q, by_root) if two else boxed([entries.root], (1, 1))
        readout = boxed([entries.one], (1, 1))
    else:
        target, readout = scaled(target, by_size if two else by_root), scaled(readout, by_size)
    if setting.inputs is WHITENED:
        X = scaled(np.concatenate([turn] * (samples // size)), entries.root)
    labels = X @ target + (noise * flint.fmpq(2, 3) if setting.noise != 0 else 0 * noise)
    rates = [exact(rate) for rate in RATES]
    learned = descend((first, second), None if two else readout, X, labels, steps, updates, rates)
    return entries.mean_squared_norm(learned - target), W1.T @ Q @ W2.T


def value(expression: Expr, size: int, samples: int) -> Fraction:
    numbers = {eta1: RATES[0], eta2: RATES[1], rho: NOISE}
    at = {h: size, n: samples} | {symbol: Rational(x.numerator, x.denominator) for symbol, x in numbers.items()}
    found = expression.subs(at)
    return Fraction(int(found.p), int(found.q))


def given_traces(line: Expr, matrix: Any) -> Expr:
    """The line with the traces of powers of a given `Z` for their means."""
    line = line.replace(mean, lambda inside: inside)
    for power in range(1, 7):
        trace = np.trace(np.linalg.matrix_power(matrix, power))
        line = line.xreplace({Trace(Z**power): Rational(int(flint.fmpq(trace).p), int(flint.fmpq(trace).q))})
    return line


def pairings(d: Derivation) -> tuple[int, Isserlis]:
    """The step that averages over the Gaussian matrices, and its reason."""
    return next((index, step.reason) for index, step in enumerate(d.steps) if isinstance(step.reason, Isserlis))


SETTINGS = [
    (layers, law, inputs, noise)
    for layers in (2, 3)
    for law in ((UNIT, Gaussian()) if layers == 2 else (UNIT, NORMAL, Gaussian()))
    for inputs in Inputs
    for noise in (S.Zero, rho)
]
OF_ONE_UNIT = [
    (*setting, (1, 2), steps, updates) for setting in SETTINGS for steps, updates in ((1, SIGNAL), (1, FULL))
]
OF_TWO_UNITS = [  # and, with Gaussian inputs, also fewer samples than dimensions
    (2, UNIT, GAUSSIAN, S.Zero, (2, 1), 1, FULL),
    (2, UNIT, GAUSSIAN, rho, (2, 2), 1, SIGNAL),
    (2, UNIT, WHITENED, rho, (2, 4), 1, FULL),
    (2, UNIT, WHITENED, rho, (2, 2), 2, SIGNAL),
    (2, Gaussian(), WHITENED, S.Zero, (2, 2), 2, SIGNAL),
    (2, Gaussian(), WHITENED, rho, (2, 4), 1, SIGNAL),
    (2, Gaussian(), GAUSSIAN, S.Zero, (2, 1), 1, SIGNAL),
    (3, NORMAL, WHITENED, rho, (2, 4), 1, FULL),
    (3, NORMAL, GAUSSIAN, S.Zero, (2, 1), 1, FULL),
    (3, NORMAL, GAUSSIAN, rho, (2, 2), 1, SIGNAL),
    (3, Gaussian(), WHITENED, rho, (2, 2), 1, SIGNAL),
    (3, Gaussian(), GAUSSIAN, rho, (2, 1), 1, SIGNAL),
]
OF_TWO_STEPS = [
    (2, UNIT, GAUSSIAN, S.Zero, (1, 1), 2, SIGNAL),
    (3, UNIT, WHITENED, rho, (1, 1), 2, SIGNAL),
    (3, Gaussian(), WHITENED, rho, (1, 1), 2, SIGNAL),
]


@pytest.mark.parametrize(
    ("layers", "law", "inputs", "noise", "sizes", "steps", "updates"), [*OF_ONE_UNIT, *OF_TWO_UNITS, *OF_TWO_STEPS]
)
def test_the_mean_is_that_of_literal_descent(layers, law, inputs, noise, sizes, steps, updates):
    """With one value of the Haar matrix, and for one unit, where it is `±1`, with all."""
    size, samples = sizes
    setting = Setting(layers, law, inputs, noise, n)
    d = expected_loss(setting, steps, updates)
    loss, matrix = literal(setting, sizes, steps, updates)
    averaged, reason = pairings(d)
    if reason.haar is not None:
        assert value(given_traces(d.lines[averaged + 1], matrix), size, samples) == loss
    if reason.haar is None or size == 1:
        assert value(d.conclusion, size, samples) == loss


def test_unit_vectors_of_two_dimensions():
    """The angle of `a` and `β`, the inputs and the noise by quadrature, exact for these polynomials."""
    angles = np.arange(12) * 2 * np.pi / 12
    roots, shares = np.polynomial.hermite_e.hermegauss(5)
    angle, *gaussian = (part.ravel() for part in np.meshgrid(angles, *[roots] * 3))
    weight = np.prod(np.meshgrid(np.full(12, 1 / 12), *[shares / shares.sum()] * 3), axis=0).ravel()
    target = np.stack([np.cos(angle), np.sin(angle)], axis=1)[:, :, None]
    X, noise = np.stack(gaussian[:2], axis=1)[:, None, :], gaussian[2][:, None, None]
    readout, labels = np.array([[1.0], [0.0]]), X @ target + sqrt(0.5) * noise
    for updates in Updates:
        learned = descend((np.eye(2), np.eye(2)), readout / sqrt(2), X, labels, 1, updates, (1.5, 0.75))
        found = float(weight @ ((learned - target) ** 2).sum(axis=(1, 2)))
        loss = expected_loss(Setting(3, UNIT, GAUSSIAN, rho, n), 1, updates).conclusion
        at = {h: 2, n: 1, eta1: Rational(3, 2), eta2: Rational(3, 4), rho: Rational(1, 2)}
        assert found == pytest.approx(float(loss.subs(at)), rel=1e-12)


def test_two_full_steps_with_noise_need_three_units():
    d = expected_loss(Setting(noise=rho), 2, FULL)
    assert d.domain[h].inf == 3
    loss, _ = literal(Setting(noise=rho), (1, 1), 2, FULL)
    assert value(d.conclusion, 1, 1) != loss


@pytest.mark.parametrize(("steps", "updates"), [(0, SIGNAL), (1, SIGNAL), (2, SIGNAL), (1, FULL)])
def test_in_the_setting_of_the_source_it_is_the_loss_of_the_other_methods(steps, updates):
    for layers, law, other in (
        (2, UNIT, lambda: two_layers(steps, updates)),
        (3, UNIT, lambda: three_layers(steps, updates)),
        (3, NORMAL, lambda: three_layers(steps, updates, Vectors.GAUSSIAN)),
    ):
        assert expand(expected_loss(Setting(layers, law), steps, updates).conclusion - other().conclusion).equals(0)


@pytest.mark.parametrize(("layers", "law", "inputs", "noise"), [s for s in SETTINGS if s[2] is GAUSSIAN and s[3] == 0])
def test_many_gaussian_inputs_are_whitened_ones(layers, law, inputs, noise):
    gaussian, whitened = (
        expected_loss(Setting(layers, law, of, noise, n), 1, FULL).conclusion for of in (GAUSSIAN, WHITENED)
    )
    at = {h: 3, eta1: Rational(3, 2), eta2: Rational(5, 7)}
    assert (gaussian - whitened).subs(at).limit(n, oo) == 0
    assert (gaussian - whitened).subs({**at, n: 5}) != 0


@pytest.mark.parametrize(("layers", "law", "inputs", "noise"), SETTINGS)
def test_every_line_is_proved(layers, law, inputs, noise):
    for part in expected_loss(Setting(layers, law, inputs, noise, n), 1, SIGNAL).parts():
        assert all(checked.outcome.proved for checked in check_steps(part))


@pytest.mark.parametrize("setting", [Setting(noise=rho), Setting(2, Gaussian()), Setting(3, NORMAL, noise=rho)])
def test_two_steps_are_proved_too(setting):
    assert all(checked.outcome.proved for checked in expected_loss(setting, 2, SIGNAL).check())


@pytest.mark.parametrize("factor", [Rational(100, 99), 1 + rho / 1000])
def test_a_wrong_line_is_not_proved(factor):
    for setting in (Setting(noise=rho), Setting(3, UNIT, WHITENED, rho, n)):
        d = expected_loss(setting, 1, SIGNAL)
        for step, before in zip(d.steps[2:], d.lines[2:], strict=False):
            assert step.reason.check(before, step.expression).proved
            assert not step.reason.check(before, expand(step.expression * factor)).proved


def mean_square_of_loss(by: Isserlis, line: Expr, at: dict[Any, Any], size: int, samples: int) -> float:
    """`E‖D‖⁴` for the line `E tr(D Dᵀ)`, with numbers for all scalars."""
    numbers = by.numbers()
    root: Any = line.args[0].args[0].args[0]
    terms = [
        (
            b"".join(letter(numbers[matrix], turned) for matrix, turned in letters),
            float(c.subs({h: size, n: samples} | at)),
        )
        for letters, c in by.words.polynomial(root).items()
    ]
    traces: dict[bytes, float] = defaultdict(float)
    for u, a in terms:
        for v, b in terms:
            traces[cyclic(u + transposed(v))] += a * b
    total = 0.0
    for u, a in traces.items():
        for v, b in traces.items():
            for (p, q, powers), count in gaussian_mean((u, v)).items():
                assert smallest_size(powers) <= size
                total += a * b * count * size**p * samples**q * haar_moment(powers)
    return total


def haar(generator: np.random.Generator, count: int, size: int) -> Any:
    Q, R = np.linalg.qr(generator.standard_normal((count, size, size)))
    return Q * np.sign(np.einsum("sii->si", R))[:, None, :]


def sampled(generator: np.random.Generator, setting: Setting, count: int, size: int, samples: int) -> tuple[Any, ...]:
    """`W₁`, `W₂`, `a`, `β`, `X` and `Y`."""
    outputs = size if setting.layers == 2 else 1
    if setting.orthogonal:
        W1, W2 = (haar(generator, count, size) for _ in range(2))
    else:
        W1, W2 = (generator.standard_normal((count, size, size)) / sqrt(size) for _ in range(2))
    a, beta = (generator.standard_normal((count, size, k)) / sqrt(size) for k in (1, outputs))
    if setting.layers == 2:
        a, beta = None, haar(generator, count, size) / sqrt(size) if setting.orthogonal else beta / sqrt(size)
    X = generator.standard_normal((count, samples, size))
    if setting.inputs is WHITENED:
        X = haar(generator, count, samples)[:, :, :size] * sqrt(samples)
    noise = 0.5 * generator.standard_normal((count, samples, outputs)) if setting.noise != 0 else 0.0
    return W1, W2, a, beta, X, X @ beta + noise


@pytest.mark.parametrize(
    ("setting", "steps", "updates"),
    [
        (Setting(2, UNIT, WHITENED, rho, n), 1, SIGNAL),
        (Setting(2, UNIT, WHITENED, rho, n), 1, FULL),
        (Setting(2, UNIT, GAUSSIAN, S.Zero, n), 1, SIGNAL),
        (Setting(2, Gaussian(), WHITENED, S.Zero, n), 1, FULL),
        (Setting(2, Gaussian(), GAUSSIAN, S.Zero, n), 1, SIGNAL),
        (Setting(3, NORMAL, WHITENED, rho, n), 1, FULL),
        (Setting(3, NORMAL, GAUSSIAN, rho, n), 1, SIGNAL),
        (Setting(3, Gaussian(), GAUSSIAN, S.Zero, n), 1, SIGNAL),
    ],
    ids=str,
)
def test_sampled_descent_of_five_units_and_seven_samples(setting, steps, updates):
    """False alarms below 1e−9, although the losses have heavy tails: the median of the means of groups.

    With `k = 8 ln 10⁹` groups of `m` samples it is off by more than `2σ/√m` with probability at most `e^{−k/8}`: by
    Chebyshev one group is with ¼, by Hoeffding half of them with `e^{−k/8}`. `σ` is exact, from `E‖D‖⁴`.
    """
    size, samples, groups, of_each = 5, 7, ceil(8 * log(1e9)), 300
    rates = (6.0, 9.0) if setting.layers == 2 else (1.0, 2.0)
    at = {eta1: Rational(rates[0]), eta2: Rational(rates[1]), rho: Rational(1, 4)}
    W1, W2, a, beta, X, Y = sampled(np.random.default_rng(2606), setting, groups * of_each, size, samples)
    learned = descend((W1, W2), a if a is None else a / sqrt(size), X, Y, steps, updates, rates)
    means = ((learned - beta) ** 2).sum(axis=(1, 2)).reshape(groups, of_each).mean(axis=1)

    d = expected_loss(setting, steps, updates)
    expected = float(d.conclusion.subs({h: size, n: samples} | at))
    index, reason = pairings(d)
    square = mean_square_of_loss(reason, d.lines[index], at, size, samples)
    assert abs(np.median(means) - expected) < 2 * sqrt((square - expected**2) / of_each)


@pytest.mark.parametrize(
    ("setting", "most"), [(Setting(), 2), (Setting(2, Gaussian(), GAUSSIAN), 1), (Setting(3, noise=rho), 1)]
)
def test_too_many_steps_are_refused(setting, most):
    for steps in (-1, most + 1, True, 1.0):
        with pytest.raises(InvalidInput, match=f"^steps = .*: give 0 to {most}"):
            expected_loss(setting, steps, FULL)
    with pytest.raises(InvalidInput, match="give 0 to 2"):
        expected_loss(setting, 3, SIGNAL)
