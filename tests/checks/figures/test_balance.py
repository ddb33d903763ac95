"""Chapter 6, allocation: the thresholds of the ledger."""

import numpy as np
import pytest

from checks.plot import Kind


def test_balance_thresholds_are_those_of_the_ledger(series):
    expected = {
        (0, "signal-only surrogate"): {1: 22, 1.25: 33},
        (0, "full gradient descent"): {1.25: 164},
        (1, "signal-only surrogate"): {0.5: 76},
        (1, "full gradient descent"): {0.5: 26},
    }
    for (panel, label), widths in expected.items():
        found = series("balance-threshold", panel, label, Kind.POINTS)
        assert dict(zip(found.x, found.y, strict=True)) == widths


def test_the_loss_turns_at_the_five_thirds_power(series):
    limit = series("rate-thresholds", 0, "limit", Kind.LINE)
    wide = series("rate-thresholds", 0, "$h = 10^8$", Kind.LINE)
    assert limit.x[np.argmin(limit.y)] == pytest.approx(1)
    assert min(limit.y) == pytest.approx(-3)
    assert np.abs(np.subtract(limit.y, wide.y)).max() < 0.1
