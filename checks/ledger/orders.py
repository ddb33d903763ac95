"""Chapter 5, orders of random tensors in probability: their rules, uniform bounds, and the definite bound."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sympy import Integer, exp, log

from numerics.exponents import Correction as ExponentCorrection
from numerics.exponents import Statistic
from numerics.orders import PowerTail, Sharpness, StochasticOrder, subordinate_norm
from numerics.points import check_steps
from theory import definite_bounds

from ..claims import Correction, claim
from ..evidence import Enclosure, Evidence, Experiment, Identity, Limit, Property, Scaling
from ..evidence.enclosure import Certificate
from ..evidence.experiment import Measure
from ..verdicts import Standing, Verdict
from .sources import WEAK_CORRELATIONS

Vector = NDArray[np.float64]
ROUNDING = 1e-9

# --- the rules on tensors, drawn at random ----------------------------------------------------------------------------


def _norm(tensor: Vector) -> float:
    return float(subordinate_norm(tensor).lower)


def _random_tensor(rng: np.random.Generator, shape: tuple[int, ...]) -> Vector:
    """Gaussian, heavy-tailed, or of low rank and noise; of any scale."""
    kinds = (rng.standard_normal, partial(rng.standard_t, 1.0), partial(_near_rank_one, rng))
    return np.exp(rng.normal()) * kinds[rng.integers(3)](size=shape)


def _near_rank_one(rng: np.random.Generator, size: tuple[int, ...]) -> Vector:
    tensor = np.array(1.0)
    for d in size:
        tensor = np.multiply.outer(tensor, rng.standard_normal(d))
    return tensor + 0.1 * rng.standard_normal(size)


def product_rule(rng: np.random.Generator, change: Callable[[float, float], float] = lambda a, b: a * b) -> str:
    """What is wrong with `‖X ⊗ Y‖ = ‖X‖ ‖Y‖` for a vector and a matrix, or two matrices, of random shapes."""
    p, q, r, s = rng.integers(1, 6, size=4)
    X = _random_tensor(rng, (p, q))
    Y = _random_tensor(rng, (r,) if rng.random() < 0.5 else (r, s))
    claimed = change(_norm(X), _norm(Y))
    found = subordinate_norm(np.multiply.outer(X, Y), rng=rng)
    inside = found.lower <= claimed * (1 + ROUNDING) and claimed <= found.upper * (1 + ROUNDING)
    return "" if inside else f"{claimed:.6g} is not in [{found.lower:.6g}, {found.upper:.6g}] for {X.shape}, {Y.shape}"


def sum_rule(rng: np.random.Generator, change: Callable[[float, float], float] = lambda a, b: a + b) -> str:
    """What is wrong with `‖X + Y‖ <= ‖X‖ + ‖Y‖` for random matrices, nearly parallel every other time."""
    shape = tuple(rng.integers(1, 8, size=2))
    X = _random_tensor(rng, shape)
    Y = _random_tensor(rng, shape) if rng.random() < 0.5 else rng.normal() * X
    left, right = _norm(X + Y), change(_norm(X), _norm(Y))
    return "" if left <= right * (1 + ROUNDING) else f"{left:.6g} > {right:.6g} for {shape}"


def contraction_rule(rng: np.random.Generator, indices: int = 1, factor: float = 1.0) -> str:
    """What is wrong with `‖X · Y‖ <= ‖X‖ ‖Y‖` over one index: of three indices with a vector, of two matrices."""
    p, q, r = rng.integers(2, 6, size=3)
    X, Y, T = (_random_tensor(rng, shape) for shape in ((p, q), (q, r), (p, q, r)))
    if indices == 2:
        left, right = abs(float((X * X).sum())), _norm(X) ** 2
    elif rng.random() < 0.5:
        y = _random_tensor(rng, (r,))
        left, right = _norm(T @ y), float(subordinate_norm(T, rng=rng).upper) * _norm(y)
    else:
        left, right = _norm(X @ Y), _norm(X) * _norm(Y)
    return "" if left <= factor * right * (1 + ROUNDING) else f"{left:.6g} > {factor * right:.6g}"


# --- tensors of known order -------------------------------------------------------------------------------------------


def lengths(rng: np.random.Generator, size: int, count: int) -> Vector:
    """The norms of Gaussian vectors."""
    return np.linalg.norm(rng.standard_normal((count, size)), axis=1)


def dyads(rng: np.random.Generator, size: int, count: int) -> Vector:
    """Of `x ⊗ y`, Gaussian."""
    return lengths(rng, size, count) * lengths(rng, size, count)


def noisy_dyads(rng: np.random.Generator, size: int, count: int) -> Vector:
    """Of a Gaussian `x xᵀ` and Gaussian noise."""
    x, noise = rng.standard_normal((count, size)), rng.standard_normal((count, size, size))
    return subordinate_norm(x[:, :, None] * x[:, None] + noise, batch=1).lower


def images(rng: np.random.Generator, size: int, count: int) -> Vector:
    """Of `G x`, square and Gaussian."""
    G, x = rng.standard_normal((count, size, size)), rng.standard_normal((count, size, 1))
    return np.linalg.norm(G @ x, axis=(1, 2))


def inner_products(rng: np.random.Generator, size: int, count: int) -> Vector:
    """`|⟨x, y⟩|` of independent Gaussian vectors."""
    return np.abs((rng.standard_normal((count, size)) * rng.standard_normal((count, size))).sum(axis=1))


def cancelled(rng: np.random.Generator, size: int, count: int) -> Vector:
    """Of `|x|² − n`, x Gaussian: the two terms are exactly of order n, what is left of them is a fluctuation."""
    return np.abs(np.square(rng.standard_normal((count, size))).sum(axis=1) - size)


def cauchy_vectors(rng: np.random.Generator, size: int, count: int) -> Vector:
    """Of vectors of Cauchy variables, whose squares have no mean."""
    return np.linalg.norm(rng.standard_cauchy((count, size)), axis=1)


def student_maxima(rng: np.random.Generator, size: int, count: int, *, freedom: int) -> Vector:
    """The largest of `n` variables of Student's law: the norm of a diagonal matrix."""
    return np.abs(rng.standard_t(freedom, (count, size))).max(axis=1)


def slackness(rng: np.random.Generator, count: int) -> Vector:
    """How much more the bounds differ, in logarithms, for Gaussian tensors of three indices of 12 than for 4."""
    apart = []
    for size in (12, 4):
        norms = subordinate_norm(rng.standard_normal((count, size, size, size)), batch=1, rng=rng, restarts=4)
        apart.append(np.log(norms.upper / norms.lower))
    return (apart[0] - apart[1])[:, None]


LENGTH = StochasticOrder(Fraction(1, 2), sharpness=Sharpness.EXACT)  # also of a square Gaussian matrix
DYAD = LENGTH * LENGTH
ENTRY = StochasticOrder(sharpness=Sharpness.EXACT)


def _of_order(name: str, draw: Callable[..., Vector], order: StochasticOrder, **fields: object) -> Scaling:
    """The median of norms against the order that the rules give."""
    assert order.log_power == 0
    options: dict[str, object] = {"sizes": (16, 32, 64, 128, 256), "count": 600, "budget": 8, "resolution": 0.5}
    return Scaling(
        name=name,
        draw=draw,
        exponent=float(order.power),
        statistic=Statistic.QUANTILE,
        shifts=(-0.5, 0.5),
        **(options | fields),  # type: ignore[arg-type]
    )


MATRICES = {"sizes": (12, 24, 48, 64, 96), "count": 250, "budget": 4}
SLOW = {"correction": ExponentCorrection.INVERSE_SIZE}  # they are precise enough to show it
RULES: dict[str, list[Evidence]] = {
    "the norm of a product is the product of the norms": [
        Property(
            name="random tensors",
            trial=product_rule,
            mutants={
                "the sum": partial(product_rule, change=lambda a, b: a + b),
                "a hundredth more": partial(product_rule, change=lambda a, b: 1.01 * a * b),
                "a hundredth less": partial(product_rule, change=lambda a, b: 0.99 * a * b),
            },
        ),
        _of_order("x y^T, Gaussian", dyads, DYAD, **SLOW),
    ],
    "a sum has the larger order": [
        Property(
            name="random matrices",
            trial=sum_rule,
            mutants={
                "the larger one": partial(sum_rule, change=max),
                "a tenth less": partial(sum_rule, change=lambda a, b: 0.9 * (a + b)),
            },
        ),
        _of_order("x x^T and noise", noisy_dyads, DYAD + LENGTH, **MATRICES, **SLOW),
        _of_order("|x|^2 - n, two equal orders: less", cancelled, LENGTH),
    ],
    "a contraction has at most the product": [
        Property(
            name="random tensors",
            trial=contraction_rule,
            mutants={
                "over two indices": partial(contraction_rule, indices=2),
                "a tenth": partial(contraction_rule, factor=0.1),
            },
        ),
        _of_order("G x, attained", images, LENGTH.contract(LENGTH), **MATRICES, **SLOW),
        _of_order("x . y, not attained", inner_products, LENGTH),
    ],
    "uniform bounds, given uniform tails": [
        Limit(name="the largest of N", derivation=definite_bounds.maximum_law, claimed=exp(-definite_bounds.y)),
        _of_order(
            "the largest of n Cauchy variables", partial(student_maxima, freedom=1), ENTRY.uniform(1, PowerTail(1))
        ),
        _of_order(
            "of n Student, two degrees of freedom", partial(student_maxima, freedom=2), ENTRY.uniform(1, PowerTail(2))
        ),
        _of_order("a Cauchy vector", cauchy_vectors, StochasticOrder(1)),
    ],
    "for three indices the bounds of the norm part": [
        Experiment(
            name="their ratio at 12 over that at 4", draw=slackness, measure=Measure.MAJORITY, chunk=50, budget=20
        )
    ],
}


def least_bound_exists(claimed: bool) -> Certificate:
    """Whether `n^U` has a least bound: not if a bound divided by `log n` is one, as the derivation shows."""
    derivation = definite_bounds.tail_gained_vanishes()
    proved = all(step.outcome.proved for part in derivation.parts() for step in check_steps(part))
    if not proved or derivation.conclusion != 0:
        return Certificate(Standing.UNDECIDED, "the derivation was not proved")
    standing = Standing.FAILS if claimed else Standing.HOLDS
    return Certificate(standing, "X = n^U, U uniform on [0, 1]: with g, also g/log n is a bound")


tensor_asymptotics = claim(
    id="tensor-asymptotics",
    title="Orders of random tensors in probability",
    source=WEAK_CORRELATIONS.at("section 2"),
    statement=r"X = O(f),\ Y = O(g) \Rightarrow X \otimes Y,\ X \cdot Y = O(fg),\ X + Y = O(f + g); "
    r"\quad \text{every } X \text{ has a definite bound, unique up to constants}",
    hypotheses=(
        "subordinate norm: the largest value of the multilinear form at unit vectors",
        "X = O(f): for every eps there is C with P(|X| > C f) < eps from some n on",
        "a definite bound is a least upper bound, up to constants",
    ),
    conditions=(
        "contractions over one index of each tensor: over two at once the norm of the identity, 1, gives n",
        "uniform bounds over n^k tensors: a tail that is uniform over them; n^(k/s) more for the tail t^(-s), "
        "(log n)^(1/r) for exp(-t^r); a fixed number of tensors needs nothing",
    ),
    findings=(
        "the definite bound exists if and only if some quantile of the norm is a bound, and is that quantile: Zorn's "
        "lemma is not needed, and does not apply elsewhere; X = n^U has none, not even a minimal one",
        "in the scale n^p (log n)^q there are fewer: X = n^(1 + (-1)^n) has the least bound n^2 there, and is o(n^2) "
        "along odd n",
        "definite bounds do not multiply: X = n or 1 with probability 1/2, Y = n/X give XY = n, not n^2; "
        "they do if one is exact (its inverse is bounded too) or X, Y are independent",
        "sums of equal orders and contractions have an upper bound only; negative powers take an exact one",
        "n variables that are a_n with probability 1/n are each o(g) for any g, and their largest is a_n with "
        "probability 1 - 1/e",
        "orders say nothing of moments: n with probability n^(-1/2), else 1, is exactly of order 1, its mean sqrt(n)",
        "for three indices the norm is NP-hard; the least unfolding exceeds it by up to the root of the smallest "
        "dimension, and on Gaussian tensors by that order: it shows n where the norm is sqrt(n)",
    ),
    parts={
        **RULES,
        "every sequence has a definite bound": [
            Enclosure(name="a log-uniform variable", certify=least_bound_exists, claimed=True)
        ],
    },
    correction=Correction(
        text="it is unique, and exists if and only if some quantile of the norm is itself a bound",
        latex=r"\exists \min\{g : X = O(g)\} \iff \exists \varepsilon_0 > 0:\ X = O(q_{\varepsilon_0}), "
        r"\quad q_\varepsilon(n) = \inf\{x : P(\|X_n\| > x) \le \varepsilon\}",
        parts={
            "no bound of n^U is minimal": [
                Identity(
                    name="the tail gained by dividing a bound by log n",
                    derivation=definite_bounds.tail_gained,
                    claimed=log(definite_bounds.t) / definite_bounds.t,
                ),
                Limit(name="it vanishes", derivation=definite_bounds.tail_gained_vanishes, claimed=Integer(0)),
                Enclosure(
                    name="so none is least", certify=least_bound_exists, claimed=False, mutants={"there is one": True}
                ),
            ],
        },
    ),
    derivations=(definite_bounds.log_uniform_tail,),
    expected=Verdict.CORRECTED,
)

CLAIMS = (tensor_asymptotics,)
