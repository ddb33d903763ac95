"""Figures drawn of fewer points and runs, with intervals that are missed once in a million.

All tests here together hold about 300 points against their expectations. Where an expectation is that of infinite size,
sizes and runs are such that the bias of a finite size takes less than half of the interval.
"""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from checks import figures, plot
from checks.figures import balance, correlations, depth, dynamics, features, foretelling, kernels, layerwise, spectra
from numerics.optimisers import GradientDescent
from theory.activations import ReLU, Tanh

SIZES = {
    kernels: {
        "DEPTHS": (1, 3),
        "WIDTH": 16,
        "RUNS": 400,
        "WIDTHS": (8, 32, 128),
        "UNITS": 64_000,
        "GAUSSIAN_WIDTHS": (16, 64),
        "GAUSSIAN_UNITS": 64_000,
        "TAIL_WIDTHS": (4, 16),
        "CHANNELS": (2, 8),
        "PIXEL_UNITS": 8000,
        "DIGIT_UNITS": 400,
    },
    depth: {"DEPTHS": tuple(2**k for k in range(12))},
    spectra: {"DEPTHS": tuple(2**k for k in range(11)), "POINTS": 6, "CLOUD": 24, "COUNTS": (3, 8, 24)},
    features: {
        "WIDTHS": {1: (64, 1024), 2: (64, 256)},
        "RUNS": 60,
        "STEPS": (1, 4, 8),
        "COURSES": 20,
        "TEXT_WIDTHS": (48, 384),
        "TEXT_RUNS": 30,
    },
    dynamics: {
        "DESCENT": GradientDescent(0.05, steps=20),
        "RECORDED": (0, 5, 20),
        "RUNS": 100,
        "DISTANCE_WIDTHS": (64, 512),
        "DISTANCE_RUNS": 100,
        "LAG_WIDTHS": (4, 16),
        "LAG_UNITS": 80_000,
        "DRAWS": 1000,
    },
    correlations: {
        "WIDTHS": (12, 24),
        "UNITS": 2400,
        "RATE_WIDTHS": (64, 1024),
        "RATE_RUNS": 300,
        "MANY": (2, 0.05),
        "SGD_STEPS": (5, 25),
        "SGD_RUNS": 3,
    },
    foretelling: {
        "STEPS": (1, 10),
        "BLOCKS": 24,
        "BLOCK": 20,
        "GAP_WIDTHS": (32, 256),
        "GAP_NETWORKS": 200,
        "SWEEP_STEPS": (3, 30),
        "SWEEPS": ((ReLU(), 2, (32, 128), -1.0, 6), (Tanh(), 1, (32, 128), -2.0, 6)),
    },
    layerwise: {"MATRIX_RUNS": 5000, "REDUCED_RUNS": {2: 40, 3: 5000}},
    balance: {
        "MATRIX_RUNS": 5000,
        "EXPONENTS": {2: [Fraction(9, 10), Fraction(1), Fraction(5, 4)], 3: [Fraction(1, 2), Fraction(1)]},
    },
}


@pytest.fixture(scope="session")
def drawing():
    """Draws the figure of a name, once."""

    @cache
    def draw(name):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plot, "CONFIDENCE", 1 - 1e-6)
            for module, sizes in SIZES.items():
                for constant, value in sizes.items():
                    patch.setattr(module, constant, value)
            return figures.draw(name)

    return draw


@pytest.fixture(scope="session")
def covered():
    """Whether the expectations lie within the intervals of all points, up to rounding."""

    def all_within(points, expected):
        return bool((np.abs(np.subtract(points.y, expected)) <= np.array(points.radius) + 1e-12).all())

    return all_within


@pytest.fixture(scope="session")
def ends():
    """The lower and the upper ends of the intervals of the points."""
    return lambda points: (np.subtract(points.y, points.radius), np.add(points.y, points.radius))


@pytest.fixture(scope="session")
def follows(ends):
    """Whether the intervals of the last two points allow this exponent, and none that is `apart` from it."""

    def allows(points, exponent, apart=0.5):
        low, high = ends(points)
        span = np.log(points.x[-1] / points.x[-2])
        least, most = np.log(low[-1] / high[-2]) / span, np.log(high[-1] / low[-2]) / span
        return bool(exponent - apart < least <= exponent <= most < exponent + apart)

    return allows


@pytest.fixture(scope="session")
def series(drawing):
    """The series of a figure's name, panel, label and kind; there must be one."""

    def find(name, panel, label, kind):
        shown = drawing(name).chart.panels[panel].series
        (found,) = (one for one in shown if one.label == label and one.kind is kind)
        return found

    return find
