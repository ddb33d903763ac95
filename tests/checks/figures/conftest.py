"""Figures drawn of fewer points and runs."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from checks import figures
from checks.figures import balance, correlations, depth, dynamics, features, foretelling, kernels, layerwise, spectra
from numerics.optimisers import GradientDescent
from theory.activations import ReLU, Tanh

SIZES = {
    kernels: {
        "DEPTHS": (1, 3),
        "WIDTH": 16,
        "RUNS": 400,
        "WIDTHS": (8, 32),
        "UNITS": 32_000,
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
        "WIDTHS": {1: (32, 128), 2: (16, 64)},
        "RUNS": 40,
        "STEPS": (1, 4, 8),
        "COURSES": 60,
        "TEXT_WIDTHS": (48, 192),
        "TEXT_RUNS": 8,
    },
    dynamics: {
        "DESCENT": GradientDescent(0.05, steps=20),
        "RECORDED": (0, 5, 20),
        "RUNS": 100,
        "DISTANCE_WIDTHS": (32, 128),
        "DISTANCE_RUNS": 40,
        "LAG_WIDTHS": (4, 16),
        "LAG_UNITS": 80_000,
        "DRAWS": 1000,
    },
    correlations: {
        "WIDTHS": (12, 24),
        "UNITS": 2400,
        "RATE_WIDTHS": (16, 64),
        "RATE_RUNS": 40,
        "MANY": (10, 0.05),
        "SGD_STEPS": (5, 25),
        "SGD_RUNS": 3,
    },
    foretelling: {
        "STEPS": (1, 10),
        "BLOCKS": 6,
        "BLOCK": 20,
        "GAP_WIDTHS": (16, 64),
        "GAP_NETWORKS": 40,
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
            for module, sizes in SIZES.items():
                for constant, value in sizes.items():
                    patch.setattr(module, constant, value)
            return figures.draw(name)

    return draw


@pytest.fixture(scope="session")
def sure():
    """The half-width at 99.9 % times this is that at an error of 1e-6 a point, for 40 runs and more.

    Student's quantiles are 5.9 and 3.6. All tests here together hold about 300 points against their expectations.
    """
    return 1.7


@pytest.fixture(scope="session")
def covered(sure):
    """Whether the expectations lie within the intervals of all points, widened to be sure; up to rounding."""

    def all_within(points, expected):
        return bool((np.abs(np.subtract(points.y, expected)) <= sure * np.array(points.radius) + 1e-12).all())

    return all_within


@pytest.fixture(scope="session")
def series(drawing):
    """The series of a figure's name, panel, label and kind; there must be one."""

    def find(name, panel, label, kind):
        shown = drawing(name).chart.panels[panel].series
        (found,) = (one for one in shown if one.label == label and one.kind is kind)
        return found

    return find
