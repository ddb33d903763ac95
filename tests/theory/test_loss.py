"""The rate of each loss, against a difference quotient of the loss itself."""

from fractions import Fraction

import numpy as np
import pytest

from theory.errors import InvalidInput
from theory.loss import Loss

WRITTEN_OUT = {
    Loss.SUM: lambda r: (r**2).sum(),
    Loss.HALF_SUM: lambda r: (r**2).sum() / 2,
    Loss.MEAN: lambda r: (r**2).mean(),
    Loss.HALF_MEAN: lambda r: (r**2).mean() / 2,
}


@pytest.mark.parametrize("loss", Loss)
def test_the_rate_is_the_derivative_by_an_output(loss):
    residual = np.array([1.0, -2.0, 0.5])
    ends = [WRITTEN_OUT[loss](residual + shift * np.eye(3)[1]) for shift in (1, -1)]  # exact for a quadratic
    assert (ends[0] - ends[1]) / 2 == pytest.approx(float(loss.rate(3)) * residual[1], rel=1e-15)
    assert float(loss.factor(3)) * (residual**2).sum() == pytest.approx(WRITTEN_OUT[loss](residual), rel=1e-15)
    assert isinstance(loss.rate(3), Fraction)


@pytest.mark.parametrize("points", [0, -1, 2.0, True])
def test_a_number_of_points_that_is_none_is_refused(points):
    with pytest.raises(InvalidInput, match="points"):
        Loss.MEAN.rate(points)
