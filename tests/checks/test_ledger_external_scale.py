"""Scaled, added and composed models get the verdict recorded; their evidence is right by other routes."""

from functools import partial

import numpy as np
import pytest

from checks import Level, Standing, Verdict, verify
from checks.ledger import external_scale
from numerics.empirical import jacobian
from numerics.networks import MLP
from theory.activations import Sin, Softplus, Tanh


def test_the_verdict_is_the_one_recorded():
    (result,) = verify(external_scale.CLAIMS, level=Level.QUICK, jobs=1).claims
    assert result.verdict is result.claim.expected is Verdict.CORRECTED
    refuted = {item.part for item in result.evidence if item.finding.standing is Standing.FAILS}
    assert refuted == {"a sum of models", "a composition of models"}
    assert not any(item.finding.mutants.survived for item in result.evidence)


@pytest.mark.parametrize("wrong", [{"power": 0}, {"power": 2}, {"larger": True}], ids=str)
def test_wrong_rules_for_sums_are_caught(wrong):
    assert any(partial(external_scale.added_models, **wrong)(np.random.default_rng(seed)) for seed in range(20))


def test_training_a_scaled_model_is_training_the_model_to_nearer_labels():
    """`κf` at the rate `η/κ²` to `κf₀ + Y`, by its own steps, against `κ` times the run that the evidence makes."""
    kappa, rate, Y = 5.0, 0.2, np.array([1.0, -1.0])
    network, X = MLP(2, (12,), activation=Tanh()), np.array([[1.0, 0.0], [0.0, 1.0]])
    theta = start = network.sample(np.random.default_rng(2), 1)
    J = kappa * jacobian(network, start, X)[0]
    linear = residuals = -Y
    apart = []
    for _ in range(20):
        theta = theta - rate / kappa**2 * residuals @ (kappa * jacobian(network, theta, X)[0])
        linear = linear - rate / kappa**2 * J @ (J.T @ linear)
        residuals = kappa * (network(theta, X) - network(start, X))[0, :, 0] - Y
        apart.append(np.abs(residuals - linear).max())
    found = external_scale.lazy_distance(np.random.default_rng(2), 5, 1)
    assert found[0] == pytest.approx(max(apart), rel=1e-8)


def test_the_correlation_of_mixed_units_by_their_definition():
    """One unit of each kind: the second term of `t ↦ F(θ + t∇F)`, by a central difference."""
    activations = (Tanh(), Sin(), Softplus())
    u, v = np.random.default_rng(3).standard_normal((2, 1, 3))
    values = [MLP(1, (1,), activation=activation) for activation in activations]

    def output(inner, outer):
        parts = (
            network(network.pack([[[a]], [[b]]]), [[1.0]])[0, 0, 0] / network.scales[0]
            for network, a, b in zip(values, inner, outer, strict=True)
        )
        return sum(parts) / np.sqrt(3)

    h = 1e-4
    steps = h * np.eye(3)
    by_u = np.array([output(u[0] + e, v[0]) - output(u[0] - e, v[0]) for e in steps]) / (2 * h)
    by_v = np.array([output(u[0], v[0] + e) - output(u[0], v[0] - e) for e in steps]) / (2 * h)
    line = [output(u[0] + t * by_u, v[0] + t * by_v) for t in (h, 0, -h)]
    expected = abs(line[0] - 2 * line[1] + line[2]) / (2 * h**2)
    assert external_scale.mixed_correlation(np.random.default_rng(3), 3, 1)[0] == pytest.approx(expected, rel=1e-4)
