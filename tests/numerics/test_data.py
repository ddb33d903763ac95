"""Digits, spheres and pairs: exactness at the ends, measured angles against mpmath, and refusals."""

import math
import sys

import mpmath
import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits

from numerics.data import adversarial_pairs, as_integer, as_points, digits, sphere, sphere_pair
from theory.errors import InvalidInput, LimesError

EPS = np.finfo(float).eps
# y = cos θ x + sin θ x⊥: three roundings of EPS/2 per entry, and x, x⊥ are unit and orthogonal to about 2 EPS each.
ANGLE_ERROR = 8 * EPS


def stored_angle(pair: np.ndarray) -> mpmath.mpf:
    """The angle between two float64 vectors as they are, to 40 digits, by Kahan's formula."""
    ctx = mpmath.mp.clone()
    ctx.dps = 40
    x, y = ([ctx.mpf(float(entry)) for entry in row] for row in pair)
    norm_x, norm_y = (ctx.sqrt(ctx.fsum(entry**2 for entry in row)) for row in (x, y))
    difference = ctx.sqrt(ctx.fsum((a / norm_x - b / norm_y) ** 2 for a, b in zip(x, y, strict=True)))
    total = ctx.sqrt(ctx.fsum((a / norm_x + b / norm_y) ** 2 for a, b in zip(x, y, strict=True)))
    return 2 * ctx.atan2(difference, total)


def test_digits_are_grey_levels_over_sixteen():
    raw, labels = load_digits(return_X_y=True)
    found = digits()
    assert found.images.dtype == np.float64
    assert np.array_equal(found.images * 16, raw)
    assert np.array_equal(found.labels, labels)
    assert np.array_equal(digits(5).images, raw[:5] / 16)
    assert len(np.unique(raw, axis=0)) == len(raw), "the docstring says that no two are equal"


def test_digits_on_the_sphere():
    images = digits(unit_sphere=True).images
    assert np.allclose(np.linalg.norm(images, axis=1), 1, rtol=0, atol=4 * EPS)
    assert np.allclose(images[0] * np.linalg.norm(digits(1).images), digits(1).images[0], rtol=4 * EPS)


@pytest.mark.parametrize("count", [0, -1, 1798, 2.0, True, "3"])
def test_digits_refuses(count):
    with pytest.raises(InvalidInput, match="count"):
        digits(count)


def test_digits_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(LimesError, match=r"pip install 'limes\[data\]'"):
        digits()


@pytest.mark.parametrize("dimension", [1, 2, 64])
def test_sphere_has_unit_rows_and_no_preferred_axis(dimension):
    count = 20_000
    points = sphere(np.random.default_rng(1), count, dimension)
    assert np.allclose(np.linalg.norm(points, axis=1), 1, rtol=0, atol=4 * EPS)
    # For a uniform point, x_1 and x_1² − 1/d have mean 0 and variances 1/d and 2(d−1)/(d²(d+2)).
    quantile = stats.norm.isf(1e-9 / 4)  # false alarms: 1e-9 for the two means together, each two-sided
    first = points[:, 0]
    assert abs(first.mean()) <= quantile * math.sqrt(1 / dimension / count)
    spread = math.sqrt(2 * (dimension - 1) / (dimension**2 * (dimension + 2)) / count)
    assert abs((first**2).mean() - 1 / dimension) <= quantile * spread + EPS


def test_sphere_takes_its_randomness_from_the_generator():
    assert np.array_equal(sphere(np.random.default_rng(7), 3, 4), sphere(np.random.default_rng(7), 3, 4))
    rng = np.random.default_rng(7)
    assert not np.array_equal(sphere(rng, 3, 4), sphere(rng, 3, 4))


@pytest.mark.parametrize("dimension", [2, 3, 64])
@pytest.mark.parametrize("angle", [1e-9, 1e-6, 1e-3, 0.5, math.pi / 2, 3.0, math.pi - 1e-6, math.pi - 1e-9])
def test_pair_is_at_the_angle(angle, dimension):
    pair = sphere_pair(np.random.default_rng(2), dimension, angle=angle)
    assert abs(stored_angle(pair) - angle) <= ANGLE_ERROR
    assert np.allclose(np.linalg.norm(pair, axis=1), 1, rtol=0, atol=4 * EPS)


def test_every_pair_in_the_plane_is_at_its_angle():
    """In two dimensions some of 300 directions lie near x, and lose their digits when x is projected out once."""
    rng = np.random.default_rng(5)
    assert max(abs(stored_angle(sphere_pair(rng, 2, angle=0.5)) - 0.5) for _ in range(300)) <= ANGLE_ERROR


@pytest.mark.parametrize("correlation", [1 - 2.0**-53, 1 - 1e-8, 0.999, 0.3, 0.0, -0.3, -1 + 2.0**-53])
def test_pair_is_at_the_correlation(correlation):
    pair = sphere_pair(np.random.default_rng(3), 5, correlation=correlation)
    ctx = mpmath.mp.clone()
    ctx.dps = 40
    assert abs(stored_angle(pair) - ctx.acos(ctx.mpf(correlation))) <= ANGLE_ERROR


@pytest.mark.parametrize("dimension", [1, 2, 9])
def test_pair_at_the_ends_is_exact(dimension):
    for ends in ({"angle": 0.0}, {"correlation": 1.0}):
        x, y = sphere_pair(np.random.default_rng(4), dimension, **ends)
        assert np.array_equal(x, y)
    for ends in ({"angle": math.pi}, {"correlation": -1.0}):
        x, y = sphere_pair(np.random.default_rng(4), dimension, **ends)
        assert np.array_equal(x, -y)


@pytest.mark.parametrize(
    ("dimension", "place"),
    [
        (3, {}),
        (3, {"angle": 0.1, "correlation": 0.5}),
        (3, {"angle": -1e-9}),
        (3, {"angle": 3.2}),
        (3, {"angle": math.nan}),
        (3, {"correlation": 1 + EPS}),
        (3, {"correlation": math.nan}),
        (1, {"angle": 0.1}),
        (0, {"angle": 0.0}),
        (2.0, {"angle": 0.0}),
    ],
)
def test_pair_refuses(dimension, place):
    with pytest.raises(InvalidInput):
        sphere_pair(np.random.default_rng(0), dimension, **place)


@pytest.mark.parametrize("dimension", [2, 3, 64])
def test_adversarial_pairs_are_what_they_are_called(dimension):
    pairs = {pair.name: pair for pair in adversarial_pairs(dimension)}
    assert list(pairs) == ["equal", "antipodal", "nearly equal", "orthogonal"]
    points = {name: pair.points for name, pair in pairs.items()}
    assert np.array_equal(points["equal"][0], points["equal"][1])
    assert np.array_equal(points["antipodal"][0], -points["antipodal"][1])
    assert points["orthogonal"][0] @ points["orthogonal"][1] == 0
    for pair in pairs.values():
        assert abs(stored_angle(pair.points) - pair.angle) <= ANGLE_ERROR
        assert np.allclose(np.linalg.norm(pair.points, axis=1), 1, rtol=0, atol=4 * EPS)


@pytest.mark.parametrize("dimension", [1, 0, -3, 2.5])
def test_adversarial_pairs_refuse(dimension):
    with pytest.raises(InvalidInput, match="dimension"):
        adversarial_pairs(dimension)


def test_as_points_keeps_float64_and_widens_float32():
    points = np.ones((2, 3))
    assert as_points("X", points) is points
    assert as_points("X", points.astype(np.float32), 3).dtype == np.float64
    assert as_points("X", [[0.5, 0.0]]).shape == (1, 2)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([[1.0, math.nan]], "finite"),
        ([[1.0, math.inf]], "finite"),
        ([1.0, 2.0], "one point per row"),
        (np.empty((0, 3)), "one point per row"),
        (np.empty((3, 0)), "one point per row"),
        (np.ones((1, 1, 1)), "one point per row"),
        ([[1, 2]], "astype"),
        ([[True]], "astype"),
        ([[1j]], "astype"),
        ([["a"]], "astype"),
        ([[1.0], [1.0, 2.0]], "different lengths"),
        (None, "astype"),
    ],
)
def test_as_points_refuses(value, said):
    with pytest.raises(InvalidInput, match=said) as refusal:
        as_points("X2", value)
    assert refusal.value.argument.startswith("X2")


def test_as_points_refuses_another_dimension():
    with pytest.raises(InvalidInput, match="dimension 2; 3 is expected"):
        as_points("X", [[1.0, 2.0]], 3)


@pytest.mark.parametrize("value", [-1, 0.0, True, None, math.nan, "1"])
def test_as_integer_refuses(value):
    with pytest.raises(InvalidInput, match="n = "):
        as_integer("n", value, 0)


def test_as_integer_passes_integers_of_numpy():
    assert as_integer("n", np.int32(3), 3) == 3
