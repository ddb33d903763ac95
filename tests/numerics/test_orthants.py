"""Orthant probabilities in float64 against certified ones, exact values, sampling, and their own symmetries."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sympy import Rational

from numerics import certified_orthants
from numerics.balls import precision
from numerics.orthants import PAIRS, orthant2, orthant3, orthant4
from theory.errors import InvalidInput

UPPER = np.triu_indices(4, 1)


def correlations(vectors: np.ndarray) -> np.ndarray:
    """The six correlations of four vectors."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.clip((units @ units.T)[UPPER], -1, 1)


def random_vectors(rng: np.random.Generator, kind: str) -> np.ndarray:
    v = rng.normal(size=(4, 4))
    near = 10.0 ** -rng.integers(2, 5)
    match kind:
        case "nearly equal":
            v[1] = v[0] + near * v[1]
        case "nearly opposite":
            v[1] = -v[0] + near * v[1]
        case "three nearly in a plane":
            v[2] = v[0] - 0.4 * v[1] + near * v[2]
        case "all nearly in a plane":
            v[:, 2:] *= 1e-2
        case "close":
            v = v[0] + near * v
    return v


KINDS = ("generic", "nearly equal", "nearly opposite", "three nearly in a plane", "all nearly in a plane", "close")


@pytest.mark.parametrize("kind", KINDS)
def test_against_certified_values(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(3):
        r = correlations(random_vectors(rng, kind))
        exact = {
            f"r{i + 1}{j + 1}": Rational(*float(one).as_integer_ratio()) for (i, j), one in zip(PAIRS, r, strict=True)
        }
        with precision(120):
            right = float(certified_orthants.orthant4(exact, 120).mid())
        assert float(orthant4(*r)) == pytest.approx(right, abs=1e-11)


def test_against_another_integration() -> None:
    """SciPy's, by Genz's randomised lattice, here to about 1e-5: the lower orthant has the same probability."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        r = correlations(rng.normal(size=(4, 5)))
        matrix = np.eye(4)
        matrix[UPPER] = r
        matrix += np.triu(matrix, 1).T
        genz = multivariate_normal(cov=matrix, maxpts=10**6, abseps=1e-6, seed=1).cdf(np.zeros(4))
        assert float(orthant4(*r)) == pytest.approx(genz, abs=3e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_all_orthants_add_up_to_one_and_any_order_is_right(kind: str) -> None:
    r = correlations(random_vectors(np.random.default_rng(9), kind))
    signs = np.array(list(product((1, -1), repeat=4)))
    every = orthant4(*(one * signs[:, i] * signs[:, j] for (i, j), one in zip(PAIRS, r, strict=True)))
    assert every.sum() == pytest.approx(1, abs=1e-10)
    matrix = np.zeros((4, 4))
    matrix[UPPER] = r
    matrix += matrix.T
    ordered = np.array([[matrix[order[i], order[j]] for i, j in PAIRS] for order in permutations(range(4))])
    assert np.ptp(orthant4(*ordered.T)) < 1e-10


@pytest.mark.parametrize("rho", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_known_values(rho: float) -> None:
    three = float(orthant3(rho, rho, rho))
    assert float(orthant2(rho)) == pytest.approx(0.25 + np.arcsin(rho) / (2 * np.pi))
    assert three == pytest.approx(1 / 8 + 3 * np.arcsin(rho) / (4 * np.pi))
    assert float(orthant4(1.0, rho, rho, rho, rho, rho)) == pytest.approx(three, abs=1e-15)  # two are equal
    assert float(orthant4(-1.0, rho, rho, -rho, -rho, rho)) == 0  # two are opposite
    assert float(orthant4(0, 0, 0, 0, 0, 0)) == 1 / 16


@pytest.mark.parametrize("angles", [(0, 1, 2, 3), (0, 0.1, 0.2, 2.9), (0, 2, 4, 5), (0, 0, 1, 1), (0, 3.0, 1, 2)])
def test_points_in_a_plane(angles: tuple[float, ...]) -> None:
    """The half-planes meet in an arc of `π` less the angle that the points span."""
    turns = np.linspace(0, 2 * np.pi, 400_001)
    inside = np.all([np.cos(turns - angle) > 0 for angle in angles], axis=0).mean()
    found = orthant4(*(np.cos(angles[i] - angles[j]) for i, j in combinations(range(4), 2)))
    assert float(found) == pytest.approx(inside, abs=1e-5)
    span = max(abs(a - b) for a, b in combinations(angles, 2))
    if span <= np.pi:
        assert float(found) == pytest.approx((np.pi - span) / (2 * np.pi), abs=1e-10)
    else:
        assert float(found) == pytest.approx(0, abs=1e-10)


def test_shapes_and_repetition() -> None:
    r = np.random.default_rng(0).uniform(-0.3, 0.3, size=(6, 300, 150))
    first = orthant4(*r)
    assert first.shape == (300, 150)
    assert np.array_equal(first, orthant4(*r))
    assert first[7, 9] == pytest.approx(float(orthant4(*r[:, 7, 9])), abs=1e-15)
    assert orthant4(0.1, [0.1, 0.2], 0, 0, 0, 0).shape == (2,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: orthant2(1.5), "r12 = 1.5"),
        (lambda: orthant2(float("nan")), "r12 = nan"),
        (lambda: orthant2("half"), "real numbers"),
        (lambda: orthant3(-0.9, -0.9, -0.9), r"det\(1, 2, 3\) = -2.89"),
        (lambda: orthant4(0, 0, 0, -0.9, -0.9, -0.9), r"det\(2, 3, 4\)"),
        (lambda: orthant4(-0.4, -0.4, -0.4, -0.4, -0.4, -0.4), r"det\(1, 2, 3, 4\)"),
        (lambda: orthant4([0, 0], [0, 0, 0], 0, 0, 0, 0), "broadcast"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call()
