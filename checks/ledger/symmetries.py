"""Chapter 5, symmetries of the parameters: what they leave unchanged, what they rescale, what descent conserves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Integer

from numerics import correlations
from numerics.activations import pointwise
from numerics.empirical import empirical_ntk, jacobian
from numerics.gradients import pullback
from numerics.networks import MLP
from numerics.symmetries import balance, generators, permuted, rescaled, squares
from theory import symmetries
from theory.activations import Activation, Identity, LeakyReLU, ReLU, Sin, Softplus, Tanh
from theory.derivation import Derivation

from ..claims import claim
from ..evidence import Identity as IdentityEvidence
from ..evidence import Property
from ..verdicts import Verdict
from .medians import median_scaling
from .sources import WEAK_CORRELATIONS

Vector = NDArray[np.float64]
FLOOR = 1e-9  # relative rounding error in float64 of what is compared here
HOMOGENEOUS: tuple[Activation, ...] = (ReLU(), LeakyReLU(), Identity())
SMOOTH: tuple[Activation, ...] = (Tanh(), Sin(), Softplus())


def apart(one: Vector, other: Vector) -> bool:
    """Whether two arrays differ by more than rounding, relative to the largest entry."""
    size = max(float(np.abs(one).max(initial=0)), float(np.abs(other).max(initial=0)))
    return bool(np.abs(one - other).max(initial=0) > FLOOR * size)


def random_network(
    rng: np.random.Generator, activations: Sequence[Activation], *, biases: bool = False
) -> tuple[MLP, Vector, Vector]:
    """A small random architecture with one to three hidden layers, its parameters, and three random points."""
    widths = tuple(int(w) for w in rng.integers(2, 6, size=rng.integers(1, 4)))
    activation = activations[int(rng.integers(len(activations)))]
    network = MLP(int(rng.integers(2, 4)), widths, activation=activation, bias_std=float(biases and rng.integers(2)))
    return network, network.sample(rng, 1), rng.standard_normal((3, network.dimension))


# --- permuting and rescaling units ------------------------------------------------------------------------------------


def permutation_is_a_symmetry(rng: np.random.Generator, *, incoming_only: bool = False) -> str:
    """What is wrong with `f`, `Θ` and `C_{0,d}`, `‖C_{1,d}‖`, `d <= 4`, after a permutation of the units of a layer."""
    network, parameters, X = random_network(rng, SMOOTH)
    layer = int(rng.integers(1, network.depth + 1))
    image = permuted(network, parameters, layer, rng.permutation(network.widths[layer - 1]).tolist())
    if incoming_only:
        network.layers(image)[layer].weights[...] = network.layers(parameters)[layer].weights
    quantities = {
        "f": network,
        "the kernel": lambda theta, X: empirical_ntk(network, theta, X).total,
        "a correlation": lambda theta, X: np.stack(correlations.scalar_and_vector_norms(network, theta, X, order=4)),
    }
    for name, quantity in quantities.items():
        if apart(quantity(parameters, X), quantity(image, X)):
            return f"{name} changed for {network}"
    return ""


def share(network: MLP, parameters: Vector, x: Vector, contracted: Sequence[int], free: int | None) -> Vector:
    """The share of `C_{D,d}` with a contracted index in each of these layers, and a free one, if any, in `free`.

    Where the activation is piecewise linear, `f` is linear in the weights of each layer: a derivative by some of them,
    in the direction of the gradient, has the gradient in their place. Without biases, for one network and one point.
    """
    slopes = [pointwise(network.activation).derivative(u)[0, 0] for u in network.forward(parameters, x).preactivations]
    own, gradient = (network.layers(theta) for theta in (parameters, jacobian(network, parameters, x)[:, 0]))
    weights = [(gradient if k + 1 in contracted else own)[k].weights[0] for k in range(network.depth + 1)]
    above, below = [np.eye(network.outputs)], [x[0]]
    for k, factor in enumerate(network.feature_factors):
        below.append(factor * slopes[k] * (weights[k] @ below[-1]))
    for k, factor in reversed(list(enumerate(network.feature_factors))):
        above.append(above[-1] @ weights[k + 1] * (factor * slopes[k]))
    if free is None:
        return weights[-1] @ below[-1]
    return np.outer(above[network.depth + 1 - free][0], below[free - 1]).ravel()


def rescaling_has_its_powers(
    rng: np.random.Generator, *, activations: Sequence[Activation] = HOMOGENEOUS, inverse: int = 1, doubled: int = 2
) -> str:
    """What is wrong with `f`, the layers of `Θ` and a share of `C_{D,d}`, `D <= 1`, after rescaling a layer by `α`.

    Wrong on purpose: `activations` that are not homogeneous, the `inverse` powers, others for contracted indices.
    """
    network, parameters, X = random_network(rng, activations)
    layer, alpha = int(rng.integers(1, network.depth + 1)), float(np.exp(rng.choice([-1, 1]) * rng.uniform(0.2, 1)))
    image = rescaled(network, parameters, layer, alpha)
    if apart(network(parameters, X), network(image, X)):
        return f"f changed for {network}"
    layers = range(1, network.depth + 2)
    powers = {k: inverse * ((k == layer + 1) - (k == layer)) for k in layers}
    before, after = (empirical_ntk(network, theta, X).layers for theta in (parameters, image))
    if any(apart(alpha ** (doubled * powers[k]) * before[k - 1], after[k - 1]) for k in layers):
        return f"a layer's kernel has another power for {network}, layer {layer}"
    free = int(rng.integers(1, network.depth + 2)) if rng.integers(2) else None
    contracted = [k for k in layers if k != free and rng.integers(2)]
    power = doubled * sum(powers[k] for k in contracted) + (0 if free is None else powers[free])
    old, new = (share(network, theta, X[:1], contracted, free) for theta in (parameters, image))
    return (
        f"the share of {contracted}, {free} has another power for {network}" if apart(alpha**power * old, new) else ""
    )


# --- generators and ranks ---------------------------------------------------------------------------------------------


def rank(matrix: Vector) -> int:
    return int(np.linalg.matrix_rank(matrix, tol=1e-9 * max(1.0, float(np.linalg.norm(matrix, 2)))))


def rank_is_bounded(
    rng: np.random.Generator, *, activations: Sequence[Activation] = HOMOGENEOUS, missing: int = 0
) -> str:
    """What is wrong with `J X = 0`, `rank J <= P − rank X`, for a random network; `missing` makes the bound smaller."""
    network, parameters, _ = random_network(rng, activations)
    J = jacobian(network, parameters, rng.standard_normal((4 * network.parameter_count, network.dimension)))[0]
    symmetric = network if network.activation.homogeneous else replace(network, activation=ReLU())
    directions = generators(symmetric, parameters)[0]
    if np.abs(J @ directions).max() > FLOOR * np.linalg.norm(J) * np.linalg.norm(directions):
        return f"a generator is not orthogonal to the gradient for {network}"
    bound = network.parameter_count - rank(directions) - missing
    return f"rank {rank(J)} > {bound} for {network}" if rank(J) > bound else ""


def beside_boundaries(rng: np.random.Generator, weights: Vector) -> Vector:
    """Points on both sides of the boundary `w·x = 0` of each unit, nearer to it than any other boundary is.

    Random points may all miss the cell between two boundaries that are close: then no gradient tells the units apart.
    """
    normals = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    apart = [np.linalg.norm(n - (n @ other) * other) for i, n in enumerate(normals) for other in normals[:i]]
    found = []
    for normal in normals:
        along = rng.standard_normal((4 * len(normal), len(normal)))
        along -= np.outer(along @ normal, normal)
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        found += [along + side * min(apart, default=1.0) / 10 * normal for side in (-1, 1)]
    return np.concatenate(found)


def rank_is_attained(rng: np.random.Generator, *, linear: bool, more: int = 0) -> str:
    """What is wrong with the rank of `J`, and with when it is `P − rank X`.

    For ReLU with one hidden layer it is, and `P − m`. For `linear` networks it is `r(o + d − r)`, `r` the least size,
    and less than `P − rank X` if and only if a hidden layer is joined to the output by a matrix of a rank between `r`
    and `o`, or to the input by one between `r` and `d`: its image, or kernel, may turn unseen. `more` makes it wrong.
    """
    dimension, outputs = (int(k) for k in rng.integers(1 if linear else 2, 5, size=2))
    widths = tuple(int(w) for w in rng.integers(1, 5, size=rng.integers(1, 4) if linear else 1))
    network = MLP(dimension, widths, outputs, Identity() if linear else ReLU())
    parameters = network.sample(rng, 1)
    X = rng.standard_normal((8 if linear else 60 * max(widths), dimension))
    if not linear:
        X = np.concatenate([X, beside_boundaries(rng, network.layers(parameters)[0].weights[0])])
    found = rank(jacobian(network, parameters, X)[0]) + more
    left = network.parameter_count - rank(generators(network, parameters)[0])
    if not linear:
        right = found == left == network.parameter_count - widths[0]
        return "" if right else f"rank {found}, but {left} are left by the generators, for {network}"
    sizes = (dimension, *widths, outputs)
    r = min(sizes)
    unseen = any(
        r < min(sizes[at:]) < outputs or r < min(sizes[: at + 1]) < dimension for at in range(1, len(widths) + 1)
    )
    right = found == r * (outputs + dimension - r) and (found < left if unseen else found == left)
    return "" if right else f"rank {found}, but {left} are left by the generators, for {network}"


# --- what descent conserves -------------------------------------------------------------------------------------------


def step_adds_its_square(
    rng: np.random.Generator, *, activations: Sequence[Activation] = HOMOGENEOUS, power: int = 2, scaled: bool = False
) -> str:
    """What is wrong with what a step adds to the balance of each layer: `η²` times that of the gradients, exactly.

    Unit by unit; for linear networks, matrix by matrix. The derivative of the loss by the outputs is drawn at random.
    Wrong on purpose: another `power`, `scaled` weights with their factors `√(c/m)`, `activations` not homogeneous.
    """
    network, parameters, X = random_network(rng, activations, biases=activations is HOMOGENEOUS)
    whole = isinstance(network.activation, Identity) and network.bias_std == 0
    eta = float(np.exp(rng.uniform(-6, -1)))
    run = network.forward(parameters, X)
    gradient = pullback(network, parameters, run, rng.standard_normal(run.outputs.shape))
    before, after = (balance(network, theta) for theta in (parameters, parameters - eta * gradient))
    gained = squares(network, gradient)
    for index, (old, new, square) in enumerate(zip(before, after, gained, strict=True)):
        if scaled:
            new, old = (form * network.scales[index] for form in (new, old))
        change, claimed = new - old, eta**power * square
        if not whole:
            change, claimed = (np.diagonal(form, axis1=1, axis2=2) for form in (change, claimed))
        if np.abs(change - claimed).max() > FLOOR * (np.abs(old).max() + np.abs(claimed).max()):
            return f"layer {index + 1} of {network}: {np.abs(change - claimed).max():.3g} off at rate {eta:.3g}"
    return ""


def drift(rng: np.random.Generator, steps: int, count: int) -> Vector:
    """`|Δ(‖W²‖² − ‖W¹‖²)|` of ReLU networks over the time 1, in this many steps, `(count,)`."""
    network, X, y = MLP(2, (8,)), np.array([[1.0, 0.0], [0.0, 1.0], [-0.6, 0.8]]), np.array([1.0, -1.0, 1.0])[:, None]
    theta = start = network.sample(rng, count)
    for _ in range(steps):
        run = network.forward(theta, X)
        theta = theta - pullback(network, theta, run, run.outputs - y) / steps
    changes = [np.trace(balance(network, end)[0], axis1=1, axis2=2) for end in (start, theta)]
    return np.abs(changes[1] - changes[0])


def change_of_a_step(rng: np.random.Generator, size: int, count: int) -> Vector:
    """The same after one step of size `1/size`."""
    network, X, y = MLP(2, (8,)), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0])[:, None]
    theta = network.sample(rng, count)
    run = network.forward(theta, X)
    moved = theta - pullback(network, theta, run, run.outputs - y) / size
    changes = [np.trace(balance(network, end)[0], axis1=1, axis2=2) for end in (theta, moved)]
    return np.abs(changes[1] - changes[0])


def _identity(name: str, derivation: Callable[[], Derivation], claimed: Expr | int) -> IdentityEvidence:
    return IdentityEvidence(name=name, derivation=derivation, claimed=claimed)


ALPHA, THETA = symmetries.alpha, next(iter(symmetries.rescaled_kernel().conclusion.free_symbols - {symmetries.alpha}))


def _not_homogeneous(trial: Callable[..., str]) -> dict[str, Callable[[np.random.Generator], str]]:
    """The trial without its hypothesis."""
    return {name: partial(trial, activations=(phi,)) for name, phi in (("tanh", Tanh()), ("softplus", Softplus()))}


parameter_symmetries = claim(
    id="parameter-symmetries",
    title="Symmetries of the parameters",
    source=WEAK_CORRELATIONS.at("the symmetries of parameter space"),
    statement=r"f(T\theta) = f(\theta),\ \Theta_l \to \alpha^{-2}\Theta_l,\ \Theta_{l+1} \to \alpha^2\Theta_{l+1}; "
    r"\quad \frac{\mathrm d}{\mathrm dt}\big(\|W^{l+1}\|^2 - \|W^l\|^2\big) = 0",
    hypotheses=(
        "T permutes hidden units; or multiplies W^l by alpha > 0 and divides W^(l+1) by it, phi(a s) = a phi(s)",
        "gradient flow, or gradient descent with one rate, on any loss of the outputs",
    ),
    conditions=(
        "either parametrisation, in its own weights: the factors sqrt(c/m) of the layers drop out",
        "with biases: alpha multiplies b^l too and leaves b^(l+1); conserved is ||W^(l+1)||^2 - ||W^l||^2 - |b^l|^2",
        "rates of their own, eta_l: ||W^(l+1)||^2/eta_(l+1) - ||W^l||^2/eta_l",
    ),
    findings=(
        "C_{D,d} as a whole has no power: its share with D_l free and d_l contracted indices in layer l, and so on, "
        "has alpha^(2(d_(l+1) - d_l) + D_(l+1) - D_l); so the same function has kernels of any size",
        "all this holds unit by unit; linear layers have all invertible matrices for alpha",
        "rank J <= P - sum m_l for homogeneous networks: an equality for ReLU with one hidden layer (d > 1, different "
        "units), not for deeper ones, where units may be silent or always on",
        "linear networks: rank J = r(o + d - r), r the smallest size; it is less than P - rank X if and only if the "
        "matrix from some hidden layer to the output has a rank between r and o, or that to it from the input between "
        "r and d (found on random sizes up to 4)",
        "a step adds eta^2 (|dl/dv|^2 - |dl/dw|^2) exactly, of either sign; over a fixed time that is of order eta",
    ),
    parts={
        "permuting hidden units leaves f, the kernel and the correlations": [
            Property(
                name="smooth networks",
                trial=permutation_is_a_symmetry,
                mutants={"only the weights into the units": partial(permutation_is_a_symmetry, incoming_only=True)},
                chunk=10,
            )
        ],
        "rescaling: powers of the kernels and correlations": [
            _identity("layer l", symmetries.rescaled_kernel, THETA / ALPHA**2),
            _identity("layer l + 1", partial(symmetries.rescaled_kernel, above=True), THETA * ALPHA**2),
            _identity(
                "a share of a correlation",
                symmetries.share_power,
                ALPHA ** (2 * (symmetries.d_k - symmetries.d_l) + symmetries.D_k - symmetries.D_l),
            ),
            Property(
                name="random networks",
                trial=rescaling_has_its_powers,
                mutants={
                    "the inverse powers": partial(rescaling_has_its_powers, inverse=-1),
                    "one power for each index": partial(rescaling_has_its_powers, doubled=1),
                    **_not_homogeneous(rescaling_has_its_powers),
                },
            ),
        ],
        "the generator is orthogonal to the gradient": [
            _identity("a unit", symmetries.generator_of_gradients, Integer(0)),
            Property(
                name="rank J <= P - rank X",
                trial=rank_is_bounded,
                mutants={"one less": partial(rank_is_bounded, missing=1), **_not_homogeneous(rank_is_bounded)},
                chunk=10,
            ),
            Property(
                name="attained by linear networks",
                trial=partial(rank_is_attained, linear=True),
                mutants={"one more": partial(rank_is_attained, linear=True, more=1)},
                chunk=10,
            ),
            Property(
                name="attained by ReLU, one hidden layer",
                trial=partial(rank_is_attained, linear=False),
                mutants={"one more": partial(rank_is_attained, linear=False, more=1)},
                chunk=10,
            ),
        ],
        "gradient flow conserves the balance": [
            _identity("a unit", symmetries.balance_rate, Integer(0)),
            _identity("linear layers", partial(symmetries.balance_rate, linear=True), Integer(0)),
        ],
        "a step of descent adds the order eta^2": [
            _identity(
                "a unit",
                symmetries.balance_step,
                symmetries.eta**2 * (symmetries.square_above - symmetries.square_below),
            ),
            _identity(
                "linear layers",
                partial(symmetries.balance_step, linear=True),
                symmetries.eta**2 * (symmetries.square_above - symmetries.square_below),
            ),
            _identity(
                "rates of their own",
                symmetries.balance_step_unequal,
                symmetries.eta2 * symmetries.square_above - symmetries.eta1 * symmetries.square_below,
            ),
            Property(
                name="random networks",
                trial=step_adds_its_square,
                mutants={
                    "the order eta": partial(step_adds_its_square, power=1),
                    "weights with their factors": partial(step_adds_its_square, scaled=True),
                    **_not_homogeneous(step_adds_its_square),
                },
            ),
            median_scaling("one step of size 1/n", change_of_a_step, -2.0, (8, 16, 32, 64), count=2000, resolution=0.4),
            median_scaling("the time 1 in n steps", drift, -1.0, (32, 64, 128, 256), count=1000, resolution=0.4),
        ],
    },
    derivations=(symmetries.rescaled_output, symmetries.euler, symmetries.transformed_derivative),
    expected=Verdict.SUPPORTED,
)

CLAIMS = (parameter_symmetries,)
