"""Chapter 1, infinite width: the arc-cosine kernels, the dual activations, and the recursion of the tangent kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray
from sympy import Add, Expr, Integer, Rational, acos, asin, cos, cosh, exp, pi, sin, sinh, sqrt

from numerics import activations, kernels
from numerics.data import sphere
from theory import arccos, dual, ntk
from theory.activations import (
    Activation,
    Cos,
    Erf,
    Exp,
    Hermite,
    LeakyReLU,
    ReLU,
    Sin,
    Softplus,
    Tanh,
)
from theory.activations import (
    Identity as Linear,
)
from theory.dual import a, b, c
from theory.gaussian import sigma, sigma_prime, theta
from theory.ntk import Sigma, Sigma_dot, m, sigma_b
from theory.parametrisation import Parametrisation

from ..claims import claim
from ..evidence import Expectation, Identity, Property
from ..evidence.expectation import Prediction
from ..verdicts import Verdict
from .sources import NTK_ARTICLE, WIDTH_AND_DEPTH

Vector = NDArray[np.float64]
J0 = pi - theta
J1 = sin(theta) + (pi - theta) * cos(theta)
J2 = 3 * sin(theta) * cos(theta) + (pi - theta) * (1 + 2 * cos(theta) ** 2)
ANGLES = (Integer(0), Rational(1, 1000), pi / 3, pi / 2, 3 * pi / 4)


def products_of_activations(rng: np.random.Generator, count: int, *, degree: int) -> Vector:
    """`2 u₊^k v₊^k` for Gaussian pairs at each of `ANGLES`, shape `(count, len(ANGLES))`."""
    angles = np.array([float(angle) for angle in ANGLES])
    first, second = rng.normal(size=(2, count, 1))
    pair = (first, first * np.cos(angles) + second * np.sin(angles))
    powers = [(w > 0).astype(float) if degree == 0 else np.maximum(w, 0) ** degree for w in pair]
    return 2 * powers[0] * powers[1]


arccos_kernels = claim(
    id="arccos-kernels",
    title="The arc-cosine kernels",
    source=WIDTH_AND_DEPTH.at("after Cho & Saul (2009)"),
    statement=r"2\,\mathbb{E}[u_+^k v_+^k] = J_k(\theta)/\pi,\quad J_0 = \pi - \theta,\quad "
    r"J_1 = \sin\theta + (\pi-\theta)\cos\theta,\quad "
    r"J_2 = 3\sin\theta\cos\theta + (\pi-\theta)(1 + 2\cos^2\theta)",
    hypotheses=("u, v centred Gaussian of variance 1 at the angle theta",),
    findings=("for any degree, d kappa_k/d rho = k^2 kappa_(k-1); d kappa_1/d rho = kappa_0 is the case k = 1",),
    parts={
        **{
            f"degree {degree}": [
                Identity(
                    name="from the Gaussian integral",
                    derivation=partial(arccos.arccos_kernel, degree),
                    claimed=value / pi,
                ),
                Expectation(
                    name="equal to obtuse angles",
                    draw=partial(products_of_activations, degree=degree),
                    prediction=Prediction.of(value / pi, [{theta: angle} for angle in ANGLES]),
                    chunk=40_000,
                    resolution=0.1,
                ),
            ]
            for degree, value in enumerate((J0, J1, J2))
        },
        "the derivative of degree 1 is degree 0": [
            Identity(name="in the correlation", derivation=partial(arccos.derivative_identity, 1), claimed=J0 / pi),
            Identity(name="degree 2", derivation=partial(arccos.derivative_identity, 2), claimed=4 * J1 / pi),
        ],
        "general variances": [
            Identity(
                name=f"degree {degree}",
                derivation=partial(arccos.homogeneity, degree),
                claimed=(sigma * sigma_prime) ** degree * value / pi,
            )
            for degree, value in ((1, J1), (2, J2))
        ],
    },
    expected=Verdict.PROVED,
)


_ROOT = sqrt(a) * sqrt(b)
_RELU = (c * (pi - acos(c / _ROOT)) + sqrt(a * b - c**2)) / (2 * pi)
_RELU_DERIVATIVE = (pi - acos(c / _ROOT)) / (2 * pi)
_A, _B = Rational(3, 4), Rational(1, 4)  # a leaky ReLU of slope 1/2 on the left
# For each activation what is claimed of E[φ(u)φ(v)] and of E[φ'(u)φ'(v)].
CLOSED_FORMS: Mapping[str, tuple[Activation, Expr, Expr]] = {
    "ReLU": (ReLU(), _RELU, _RELU_DERIVATIVE),
    "leaky ReLU": (
        LeakyReLU(0.75, 0.25),
        (_A**2 - _B**2) * c + 4 * _B**2 * _RELU,
        _A**2 - _B**2 + 4 * _B**2 * _RELU_DERIVATIVE,
    ),
    "erf": (
        Erf(),
        2 / pi * asin(2 * c / sqrt((1 + 2 * a) * (1 + 2 * b))),
        4 / (pi * sqrt((1 + 2 * a) * (1 + 2 * b) - 4 * c**2)),
    ),
    "sin": (Sin(), exp(-(a + b) / 2) * sinh(c), exp(-(a + b) / 2) * cosh(c)),
    "cos": (Cos(), exp(-(a + b) / 2) * cosh(c), exp(-(a + b) / 2) * sinh(c)),
    "exp": (Exp(), exp((a + b) / 2 + c), exp((a + b) / 2 + c)),
    "identity": (Linear(), c, Integer(1)),
    "Hermite, degree 2": (Hermite(2), ((a - 1) * (b - 1) + 2 * c**2) / 2, 2 * c),
}


def dual_by_quadrature(rng: np.random.Generator, wrong: Callable[[float, float, float], float] | None = None) -> str:
    """What is wrong with the float64 dual of a random activation without closed form, against tensor quadrature."""
    activation: Activation = (Tanh(), Softplus())[rng.integers(2)]
    variance, variance2 = rng.uniform(0.1, 1.5, size=2)
    covariance = rng.uniform(-0.95, 0.95) * np.sqrt(variance * variance2)
    value = activations.dual(activation, variance, variance2, covariance)[0]
    if wrong is not None:
        value = wrong(float(value), float(variance), float(covariance))
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    phi = activations.pointwise(activation).value
    rest = np.sqrt(variance2 - covariance**2 / variance)
    u = np.sqrt(variance) * nodes[:, None]
    v = covariance / variance * u + rest * nodes[None, :]
    direct = activations.normalisation(activation) * float(weights @ (phi(u) * phi(v)) @ weights)
    return "" if abs(value - direct) <= 1e-7 * max(1.0, abs(direct)) else f"{value} is not {direct} for {activation}"


dual_activations = claim(
    id="dual-activations",
    title="The dual activations in closed form",
    source=NTK_ARTICLE.at("NNGP and NTK recursions"),
    statement=r"\Sigma = \mathbb{E}\,\phi(u)\phi(v),\quad \dot\Sigma = \mathbb{E}\,\phi'(u)\phi'(v),\quad "
    r"\frac{\partial\Sigma}{\partial c} = \dot\Sigma",
    hypotheses=("(u, v) centred Gaussian of variances a, b and covariance c",),
    conditions=("Price's theorem inside, c^2 < a b; for ReLU both sides are continuous up to c^2 = a b",),
    parts={
        **{
            name: [
                Identity(name="the kernel", derivation=partial(dual.dual, activation), claimed=value),
                Identity(name="its derivative", derivation=partial(dual.dual_derivative, activation), claimed=slope),
                Identity(name="Price's theorem", derivation=partial(dual.price, activation), claimed=slope),
            ]
            for name, (activation, value, slope) in CLOSED_FORMS.items()
        },
        "tanh and softplus, by series": [
            Property(
                name="against tensor quadrature",
                trial=dual_by_quadrature,
                mutants={
                    "a millionth too large": partial(dual_by_quadrature, wrong=lambda v, _, __: v * (1 + 1e-6)),
                    "not normalised": partial(dual_by_quadrature, wrong=lambda v, _, __: 0.9 * v),
                    "the sign": partial(dual_by_quadrature, wrong=lambda v, _, __: -v),
                    "linearised": partial(dual_by_quadrature, wrong=lambda _, __, covariance: covariance),
                    "perfectly correlated": partial(dual_by_quadrature, wrong=lambda _, variance, __: variance),
                },
            )
        ],
    },
    expected=Verdict.SUPPORTED,
)


def written_out(depth: int) -> Expr:
    """The sum over layers at an explicit depth."""
    terms = (Sigma[h - 1] * prod(Sigma_dot[k] for k in range(h, depth + 1)) for h in range(1, depth + 2))
    return Add(*terms)


ntk_recursion = claim(
    id="ntk-recursion",
    title="The tangent kernel is a sum over layers",
    source=WIDTH_AND_DEPTH.at("definitions"),
    statement=r"\Theta^{(L)} = \sum_{h=1}^{L+1} \Sigma^{(h-1)} \prod_{l=h}^{L} \dot\Sigma^{(l)}",
    hypotheses=("infinite width",),
    findings=(
        "with biases every layer adds sigma_b^2 to its own part",
        "in standard parametrisation the weights of layer h >= 2 count m_(h-1)/c_phi times, biases 1/sigma_b^2 times",
        "for one hidden layer the recursion is the exact expectation at every width",
    ),
    parts={
        "for every depth, by induction": [
            Identity(
                name="without biases",
                derivation=ntk.layer_sum_by_induction,
                claimed=ntk.layer_sum(ntk.L),
            ),
            Identity(
                name="with biases",
                derivation=partial(ntk.layer_sum_by_induction, sigma_b),
                claimed=ntk.layer_sum(ntk.L, sigma_b),
            ),
        ],
        "at depth 1 to 4, written out": [
            Identity(
                name=f"L = {depth}",
                derivation=partial(ntk.recursion_equals_layer_sum, depth),
                claimed=written_out(depth),
            )
            for depth in (1, 2, 3, 4)
        ],
        "in standard parametrisation": [
            Identity(
                name="L = 1, with biases",
                derivation=partial(ntk.recursion_equals_layer_sum, 1, sigma_b, Parametrisation.STANDARD),
                claimed=(Sigma[0] + 1) * Sigma_dot[1] + m[1] / ntk.c_phi * Sigma[1] + 1,
            ),
        ],
        "one hidden layer, at every width": [
            Identity(
                name="the expected kernel",
                derivation=ntk.one_hidden_layer_expectation,
                claimed=Sigma[1] + Sigma[0] * Sigma_dot[1],
            ),
        ],
    },
    expected=Verdict.PROVED,
)


def layers_of_gram(rng: np.random.Generator, change: Callable[[Vector], Vector] | None = None) -> str:
    """What is wrong with the layers of a random kernel matrix: their sum, and the last of them."""
    depth, bias = int(rng.integers(1, 6)), float(rng.integers(2))
    activation: Activation = (ReLU(), Erf(), Linear())[rng.integers(3)]
    points = sphere(rng, 4, 3)
    parts = kernels.ntk_layers(points, depth=depth, activation=activation, bias_std=bias)
    if change is not None:
        parts = change(parts)
    total = kernels.ntk(points, depth=depth, activation=activation, bias_std=bias)
    last = kernels.nngp(points, depth=depth, activation=activation, bias_std=bias)
    if np.abs(parts.sum(axis=0) - total).max() > 1e-12 * total.max():
        return f"the layers do not add up at depth {depth}"
    return (
        ""
        if np.abs(parts[-1] - last).max() <= 1e-12 * total.max()
        else f"the last layer is not the NNGP kernel, {depth}"
    )


ntk_layers = claim(
    id="ntk-layers",
    title="Freezing layers",
    source=NTK_ARTICLE.at("parameter selection"),
    statement=r"\Theta = \sum_{l \in \text{trained}} \Theta_l,\qquad \Theta_{\{L+1\}} = \Sigma^{(L)}",
    hypotheses=("infinite width", "each layer is trained or frozen as a whole"),
    parts={
        "a frozen layer's term is removed": [
            Identity(
                name="the second of three layers frozen",
                derivation=partial(ntk.trained_layers, 2, frozenset({1, 3})),
                claimed=Sigma[0] * Sigma_dot[1] * Sigma_dot[2] + Sigma[2],
            ),
            Identity(
                name="the first of four layers frozen",
                derivation=partial(ntk.trained_layers, 3, frozenset({2, 3, 4})),
                claimed=Sigma[1] * Sigma_dot[2] * Sigma_dot[3] + Sigma[2] * Sigma_dot[3] + Sigma[3],
            ),
            Property(
                name="their layers in float64",
                trial=layers_of_gram,
                mutants={
                    "the first layer left out": partial(layers_of_gram, change=lambda parts: parts[1:]),
                    "the last layer left out": partial(layers_of_gram, change=lambda parts: parts[:-1]),
                    "the order reversed": partial(layers_of_gram, change=lambda parts: parts[::-1]),
                    "a millionth too large": partial(layers_of_gram, change=lambda parts: parts * (1 + 1e-6)),
                    "the first layer twice": partial(
                        layers_of_gram, change=lambda parts: np.concatenate([parts[:1], parts])
                    ),
                },
            ),
        ],
        "the last layer alone gives the NNGP kernel": [
            Identity(
                name="linear probing, with biases",
                derivation=partial(ntk.trained_layers, 3, frozenset({4}), sigma_b),
                claimed=Sigma[3] + sigma_b**2,
            ),
        ],
    },
    expected=Verdict.PROVED,
)

CLAIMS = (arccos_kernels, dual_activations, ntk_recursion, ntk_layers)
