"""Tables of a function of one angle against the function."""

import math

import numpy as np
import pytest

from numerics.angle_table import ACCURACY, AngleTable

RNG = np.random.default_rng(20)
ANGLES = np.concatenate(
    [np.pi * RNG.random(3000), 10 ** RNG.uniform(-12, 0, 3000), math.pi - 10 ** RNG.uniform(-12, 0, 3000)]
)


@pytest.mark.parametrize("scale", [1e-5, 1e-3, 0.1, 1.0, 100.0, math.inf])
def test_a_crossover_at_any_scale(scale: float) -> None:
    # the leading form of the deep NTK: a cubic in 1/(1 + s)
    def crossover(angle: np.ndarray) -> np.ndarray:
        w = 1 / (1 + angle / scale)
        return (1 + w + w**2 + w**3) / 4

    table = AngleTable.of(crossover, scale)
    assert table is not None
    assert np.abs(table(ANGLES) - crossover(ANGLES)).max() < ACCURACY


def test_the_ends_are_exact() -> None:
    table = AngleTable.of(lambda angle: 1001 - 3 * angle, 0.01)
    assert table is not None
    assert table(np.zeros((2, 2))).tolist() == [[1001.0] * 2] * 2
    assert table(np.array([math.pi])) == pytest.approx(1001 - 3 * math.pi, rel=1e-15)


def test_panels_are_halved_until_it_is_right() -> None:
    table = AngleTable.of(lambda angle: np.cos(6 * angle), 1.0)
    smooth = AngleTable.of(np.cos, 1.0)
    assert table is not None
    assert smooth is not None
    assert table.coefficients.shape[1] > smooth.coefficients.shape[1]
    assert np.abs(table(ANGLES) - np.cos(6 * ANGLES)).max() < 2 * ACCURACY


@pytest.mark.parametrize(
    ("function", "scale"),
    [(lambda angle: np.abs(angle - 1), 1.0), (lambda angle: np.cos(3000 * angle), 1.0), (np.cos, 1e-9)],
    ids=["kink", "wave", "scale"],
)
def test_what_no_table_can_hold(function, scale: float) -> None:
    assert AngleTable.of(function, scale) is None
