"""The excess kurtosis holds at every width and depth: no step of it is checked at sampled depths only."""

import pytest
from sympy import S

from theory import outputs


@pytest.mark.parametrize(
    "derive",
    [outputs.layer_square, outputs.excess_kurtosis, outputs.kurtosis_of_wide_networks],
    ids=lambda f: f.__name__,
)
def test_every_step_is_proved(derive) -> None:
    assert all(step.outcome.proved for part in derive().parts() for step in part.check())


def test_the_domain_is_every_width_and_depth() -> None:
    assert outputs.excess_kurtosis().domain == {outputs.m: S.Naturals, outputs.L: S.Naturals0}


def test_without_hidden_layers_the_output_is_gaussian() -> None:
    assert outputs.excess_kurtosis().conclusion.subs(outputs.L, 0) == 0
