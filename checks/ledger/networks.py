"""Chapter 1, finite networks: the empirical tangent kernel and the law of the outputs, against their limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Integer, Rational, cos, pi, sin

from numerics import data, deep, kernels
from numerics.empirical import as_matrix, empirical_ntk, jacobian
from numerics.evaluate import evaluate
from numerics.exponents import Statistic
from numerics.networks import MLP, fan_in_uniform
from theory import outputs
from theory.activations import Activation, Erf, ReLU, Tanh
from theory.gaussian import theta
from theory.parametrisation import Parametrisation

from ..claims import claim
from ..evidence import Asymptotics, Expectation, Identity, Property, Scaling
from ..evidence.expectation import Prediction
from ..verdicts import Verdict
from .sources import NTK_ARTICLE

Vector = NDArray[np.float64]
DIMENSION = 3
ANGLES = (Integer(0), Rational(1, 10**6), pi / 6, pi / 2, 5 * pi / 6, pi)  # equal, nearly equal, …, opposite
ONE_LAYER_NNGP = (sin(theta) + (pi - theta) * cos(theta)) / pi
ONE_LAYER_NTK = ONE_LAYER_NNGP + (pi - theta) * cos(theta) / pi
SMALL_WIDTHS = (6, 8, 12, 16, 24)  # where the bias is c/m to a percent, and still measurable
WIDTHS = (8, 16, 32, 64)
BLOCK, SMALL_BLOCK = 100, 16  # networks in a block mean
A_THIRD = np.array([[1.0, 0.0], [-0.5, 0.75**0.5]])  # a third of a turn apart, where the bias is large
FLOOR = 1e-10  # relative rounding error of a kernel of a small network in float64


@cache
def pairs_at_angles() -> Vector:
    """One fixed pair of unit vectors in R³ for each of `ANGLES`, shape `(2 · len(ANGLES), 3)`."""
    rng = np.random.default_rng(1806_07572)
    return np.concatenate([data.sphere_pair(rng, DIMENSION, angle=float(angle)) for angle in ANGLES])


@cache
def digit_pairs() -> Vector:
    """Four of scikit-learn's digits, scaled to the unit sphere, shape `(4, 64)`."""
    return data.digits(4, unit_sphere=True).images


# --- the empirical tangent kernel -------------------------------------------------------------------------------------


def kernels_at_angles(rng: np.random.Generator, count: int, *, width: int) -> Vector:
    """`Θ(x, x')` of random networks with one hidden layer, for each of the pairs, shape `(count, len(ANGLES))`."""
    network = MLP.of_depth(DIMENSION, width=width, depth=1)
    kernel = empirical_ntk(network, network.sample(rng, count), pairs_at_angles()).total[:, :, 0, :, 0]
    first = np.arange(0, 2 * len(ANGLES), 2)
    return kernel[:, first, first + 1]


def kernels_of_outputs(rng: np.random.Generator, count: int, *, width: int) -> Vector:
    """`Θ_{11}, Θ_{12}, Θ_{22}` of networks with two outputs, at a pair π/6 apart, shape `(count, 3)`."""
    network = MLP.of_depth(DIMENSION, width=width, depth=1, outputs=2)
    x = pairs_at_angles()[4:6]
    kernel = empirical_ntk(network, network.sample(rng, count), x[:1], x[1:]).total[:, 0, :, 0, :]
    return np.stack([kernel[:, 0, 0], kernel[:, 0, 1], kernel[:, 1, 1]], axis=1)


def kernels_on_digits(rng: np.random.Generator, count: int, *, width: int) -> Vector:
    """The kernel of random networks on pairs of digits, shape `(count, 10)`: the upper triangle."""
    network = MLP.of_depth(64, width=width, depth=1)
    kernel = empirical_ntk(network, network.sample(rng, count), digit_pairs()).total[:, :, 0, :, 0]
    return kernel[:, *np.triu_indices(4)]


def digits_limit() -> Vector:
    """The infinite-width kernel on the same pairs."""
    return kernels.ntk(digit_pairs(), depth=1)[np.triu_indices(4)]


def kernel_deficit(rng: np.random.Generator, width: int, count: int) -> Vector:
    """`Θ²(x, x') − Θ(x, x')` of networks with two hidden layers, averaged over blocks of networks, shape `(count,)`."""
    network = MLP.of_depth(2, width=width, depth=2)
    limit = float(deep.relu_ntk(-Rational(1, 2), 2))
    return _block_means(
        limit - empirical_ntk(network, parameters, A_THIRD[:1], A_THIRD[1:]).total[:, 0, 0, 0, 0]
        for parameters in network.sample_chunks(rng, count * BLOCK)
    )


def kernel_at_width(rng: np.random.Generator, width: int, count: int) -> Vector:
    """`Θ(x, x')`, two hidden layers, averaged over blocks of networks, shape `(count,)`: the exponent is the same."""
    network = MLP.of_depth(2, width=width, depth=2)
    return _block_means(
        (
            empirical_ntk(network, parameters, A_THIRD[:1], A_THIRD[1:]).total[:, 0, 0, 0, 0]
            for parameters in network.sample_chunks(rng, count * SMALL_BLOCK)
        ),
        SMALL_BLOCK,
    )


def _block_means(parts: Iterable[Vector], size: int = BLOCK) -> Vector:
    """Means over blocks: their mean is that of the networks, and there are fewer of them to keep."""
    return np.concatenate(list(parts)).reshape(-1, size).mean(axis=1)


def random_case(rng: np.random.Generator) -> tuple[MLP, Vector, Vector]:
    """A small random architecture, its parameters, and random points."""
    activation: Activation = (ReLU(), Tanh(), Erf())[rng.integers(3)]
    widths = tuple(int(w) for w in rng.integers(1, 7, size=rng.integers(0, 4)))
    outputs, dimension, n = (int(k) for k in rng.integers(1, (4, 5, 7)))
    network = MLP(dimension, widths, outputs, activation, bias_std=float(rng.integers(2)))
    return network, network.sample(rng, 1), rng.normal(size=(n, dimension))


def gram_of_gradients(rng: np.random.Generator, change: Callable[..., Vector] | None = None) -> str:
    """What is wrong with the kernel of a random case as a matrix `J Jᵀ`; `change` makes it wrong on purpose."""
    network, parameters, x = random_case(rng)
    found = empirical_ntk(network, parameters, x)
    kernel = as_matrix(found.total if change is None else change(found))[0]
    gradients = jacobian(network, parameters, x)[0]
    size = float(np.trace(gradients @ gradients.T)) or 1.0
    if np.abs(kernel - kernel.T).max() > FLOOR * size:
        return f"not symmetric for {network}"
    if np.abs(kernel - gradients @ gradients.T).max() > FLOOR * size:
        return f"not the Gram matrix of the gradients of {network}"
    eigenvalues = np.linalg.eigvalsh((kernel + kernel.T) / 2)
    if eigenvalues[0] < -FLOOR * size:
        return f"a negative eigenvalue {eigenvalues[0]:.3g} for {network}"
    rank, most = int((eigenvalues > FLOOR * size).sum()), min(gradients.shape)
    return f"rank {rank} > {most} for {network}" if rank > most else ""


WRONG_KERNELS: dict[str, Callable[[Any], Vector]] = {
    "the first layer left out": lambda k: k.total - k.layers[0],
    "the last layer left out": lambda k: k.total - k.layers[-1],
    "the last layer counted twice": lambda k: k.total + k.layers[-1],
    "a thousandth too large": lambda k: 1.001 * k.total,
    "the outputs transposed": lambda k: k.total * (1 + 1e-3 * np.arange(k.total.shape[1]))[None, :, None, None, None],
    "the sign": lambda k: -k.total,
}


def article_example(rng: np.random.Generator, factor: float = 1.0, drop_biases: bool = False) -> str:
    """The article's example: two digits, a 64–8–1 tanh network with biases in the usual uniform initial law."""
    network = MLP(64, (8,), activation=Tanh(), bias_std=1.0, parametrisation=Parametrisation.STANDARD)
    parameters = fan_in_uniform(network, rng, 1)
    x = data.digits(2).images
    kernel = factor * as_matrix(empirical_ntk(network, parameters, x).total)[0]
    gradients = jacobian(network, parameters, x)[0]
    if drop_biases:
        gradients = gradients[:, : 64 * 8]
    direct = gradients @ gradients.T
    if np.abs(kernel - direct).max() > FLOOR * np.trace(direct):
        return "the kernel is not the Gram matrix of the gradients"
    return "" if np.linalg.eigvalsh(kernel)[0] >= -FLOOR * np.trace(direct) else "a negative eigenvalue"


# --- the law of the outputs -------------------------------------------------------------------------------------------


def output_products(rng: np.random.Generator, count: int, *, width: int) -> Vector:
    """`f(x) f(x')` of random networks with one hidden layer, for each of the pairs, shape `(count, len(ANGLES))`."""
    network = MLP.of_depth(DIMENSION, width=width, depth=1)
    outputs = network(network.sample(rng, count), pairs_at_angles())[:, :, 0]
    return outputs[:, 0::2] * outputs[:, 1::2]


def covariance_deficit(rng: np.random.Generator, width: int, count: int) -> Vector:
    """`Σ²(x, x') − ⟨g²(x), g²(x')⟩`, block means: given the features, the covariance of the outputs."""
    network = MLP.of_depth(2, width=width, depth=2)
    limit = float(deep.relu_nngp(-Rational(1, 2), 2))
    features = (
        network.forward(parameters, A_THIRD).features[2] for parameters in network.sample_chunks(rng, count * BLOCK)
    )
    return _block_means(limit - np.einsum("cm,cm->c", g[:, 0], g[:, 1]) for g in features)


def squared_norm_excess(rng: np.random.Generator, count: int, *, width: int) -> Vector:
    """`3 (q_l − 1)²`, `l = 1, 2`: given its features an output is N(0, q_l), so its mean is the kurtosis."""
    network = MLP.of_depth(DIMENSION, width=width, depth=2)
    x = pairs_at_angles()[:1]
    features = network.forward(network.sample(rng, count), x).features[1:]
    return np.stack([3 * (np.square(g[:, 0]).sum(axis=1) - 1) ** 2 for g in features], axis=1)


def at_angles(expression: Any) -> Prediction:
    """A formula in the angle, at each of `ANGLES`."""
    return Prediction.of(expression, [{theta: angle} for angle in ANGLES])


EXCESS_KURTOSIS = 3 * (1 + 5 / outputs.m) ** outputs.L - 3
OPPOSITE_IS_ZERO = (False,) * 5 + (True,)  # opposite inputs share no active unit: their kernel is exactly 0
UNIT_SCALE = (1.0,) * len(ANGLES)

empirical = claim(
    id="empirical-ntk",
    title="The empirical tangent kernel",
    source=NTK_ARTICLE.at("empirical kernel"),
    statement=r"\hat\Theta = J J^{\top} \succeq 0,\quad \operatorname{rank} \le \min(n\,o, P),\quad "
    r"\mathbb{E}\,\hat\Theta = \Theta + O(1/m),\quad \operatorname{sd} \hat\Theta = O(1/\sqrt m),\quad "
    r"\hat\Theta \to \Theta \otimes I_o",
    hypotheses=("NTK parametrisation", "all weights N(0, 1)"),
    conditions=("the expectation is the limit at every width if L = 1; for L >= 2 it is off by O(1/m)",),
    parts={
        "symmetric, semidefinite, of bounded rank": [
            Property(
                name="random architectures against J J^T",
                trial=gram_of_gradients,
                mutants={text: partial(gram_of_gradients, change=change) for text, change in WRONG_KERNELS.items()},
            ),
        ],
        "one hidden layer: unbiased at every width": [
            Expectation(
                name=f"width {width}, equal to opposite inputs",
                draw=partial(kernels_at_angles, width=width),
                prediction=at_angles(ONE_LAYER_NTK),
                scale=UNIT_SCALE,
                deterministic=OPPOSITE_IS_ZERO,
                chunk=5000,
                resolution=0.1,
            )
            for width in (2, 4)
        ]
        + [
            Expectation(
                name="width 16, digits",
                draw=partial(kernels_on_digits, width=16),
                prediction=Prediction.number(
                    digits_limit,
                    {
                        "the NNGP kernel instead": lambda _: kernels.nngp(digit_pairs(), depth=1)[np.triu_indices(4)],
                        "two hidden layers": lambda _: kernels.ntk(digit_pairs(), depth=2)[np.triu_indices(4)],
                        "a tenth too large": lambda limit: 1.1 * limit,
                        "a tenth too small": lambda limit: 0.9 * limit,
                        "no factor two for ReLU": lambda limit: limit / 2,
                    },
                ),
                chunk=2000,
                resolution=0.1,
            )
        ],
        "two outputs: blocks of the identity": [
            Expectation(
                name="width 4",
                draw=partial(kernels_of_outputs, width=4),
                prediction=Prediction.number(
                    lambda: float(evaluate(ONE_LAYER_NTK, {theta: pi / 6})) * np.array([1.0, 0.0, 1.0]),
                    {
                        "outputs coupled": lambda limit: limit[0] * np.array([1.0, 0.2, 1.0]),
                        "outputs coupled negatively": lambda limit: limit[0] * np.array([1.0, -0.2, 1.0]),
                        "second output twice the first": lambda limit: limit * np.array([1.0, 1.0, 2.0]),
                        "a fifth too large": lambda limit: 1.2 * limit,
                        "a fifth too small": lambda limit: 0.8 * limit,
                    },
                ),
                scale=(1.0, 1.0, 1.0),
                chunk=5000,
                resolution=0.2,
            )
        ],
        "two hidden layers: the bias": [
            Scaling(
                name="a third of a turn apart",
                draw=kernel_deficit,
                exponent=-1.0,
                sizes=SMALL_WIDTHS,
                count=200,
                budget=24,
                resolution=0.8,
                shifts=(-1.0, -0.75, 0.5, 0.75, 1.0),
            )
        ],
        "two hidden layers: the standard deviation": [
            Scaling(
                name="a third of a turn apart",
                draw=kernel_at_width,
                exponent=-0.5,
                sizes=WIDTHS,
                statistic=Statistic.STANDARD_DEVIATION,
                count=2000,
                budget=4,
                resolution=0.4,
            )
        ],
        "the article's example": [
            Property(
                name="two digits, 64-8-1 tanh network",
                trial=article_example,
                mutants={
                    "a thousandth too large": partial(article_example, factor=1.001),
                    "a thousandth too small": partial(article_example, factor=0.999),
                    "the sign": partial(article_example, factor=-1.0),
                    "half": partial(article_example, factor=0.5),
                    "biases and readout forgotten": partial(article_example, drop_biases=True),
                },
            )
        ],
    },
    expected=Verdict.SUPPORTED,
)

nngp_limit = claim(
    id="nngp-limit",
    title="The outputs of wide networks are Gaussian",
    source=NTK_ARTICLE.at("NNGP"),
    statement=r"\mathbb{E}\,f(x) f(x') = \Sigma^{(L)}(x, x') + O(1/m),\qquad "
    r"\operatorname{kurt} f(x) = 3 + O(1/m)",
    hypotheses=(
        "NTK parametrisation",
        "all weights N(0, 1)",
        "L hidden layers of width m",
        "Sigma^(L) is the limit of the covariance of the outputs, kurt f = E f^4/(E f^2)^2",
    ),
    conditions=("the covariance is the limit at every width if L = 1",),
    findings=("for ReLU the excess kurtosis is 3 (1 + 5/m)^L - 3, at every width m and depth L",),
    parts={
        "one hidden layer: the covariance at every width": [
            Expectation(
                name=f"width {width}, equal to opposite inputs",
                draw=partial(output_products, width=width),
                prediction=at_angles(ONE_LAYER_NNGP),
                scale=UNIT_SCALE,
                chunk=5000,
                budget=60,
                resolution=0.1,
            )
            for width in (4,)
        ],
        "two hidden layers: the bias of the covariance": [
            Scaling(
                name="a third of a turn apart",
                draw=covariance_deficit,
                exponent=-1.0,
                sizes=SMALL_WIDTHS,
                count=200,
                budget=24,
                resolution=0.8,
                shifts=(-1.0, -0.75, 0.5, 0.75, 1.0),
            )
        ],
        "the excess kurtosis": [
            Identity(name="at every width and depth", derivation=outputs.excess_kurtosis, claimed=EXCESS_KURTOSIS),
            Asymptotics(name="wide networks", derivation=outputs.kurtosis_of_wide_networks, claimed=15 * outputs.L),
            Expectation(
                name="width 64, one and two hidden layers",
                draw=partial(squared_norm_excess, width=64),
                prediction=Prediction.of(EXCESS_KURTOSIS, [{outputs.m: 64, outputs.L: depth} for depth in (1, 2)]),
                chunk=5000,
                budget=60,
                resolution=0.15,
            ),
        ],
    },
    expected=Verdict.SUPPORTED,
)

CLAIMS = (empirical, nngp_limit)
