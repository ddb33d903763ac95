"""Deep networks by 2×2 matrices against the matrices themselves, run by run."""

import numpy as np
import pytest

from numerics.descent import Fixed, descend
from numerics.linear_networks import Draw, LinearNetwork
from numerics.reduced import ThreeLayers
from numerics.reduced_depth import deepened
from theory.errors import InvalidInput
from theory.layerwise_options import Orthogonal, Updates, Vectors


def reduced(draw: Draw) -> Draw:
    """The runs of a draw of matrices, from the definition of the overlap."""
    assert draw.readout is not None
    c = draw.readout
    for layer in reversed(draw.weights):
        c = layer @ c
    norms = [np.linalg.norm(vector, axis=(1, 2)) for vector in (c, draw.target)]
    overlap = (c * draw.target).sum(axis=(1, 2)) / (norms[0] * norms[1])
    return deepened(ThreeLayers(c.shape[1], overlap, *norms), len(draw.weights) + 1)


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("vectors", Vectors)
@pytest.mark.parametrize(("h", "layers"), [(1, 4), (2, 4), (3, 5), (16, 8), (40, 4)])
def test_the_losses_are_those_of_the_matrices(h, layers, vectors, updates):
    network = LinearNetwork(width=h, layers=layers, initialisation=Orthogonal(vectors))
    draw = network.sample(np.random.default_rng(h + layers), 10)
    scale = h ** (1 / (layers - 1)) / (layers - 1)
    schedule = Fixed(tuple(scale * np.linspace(0.1, 0.7, layers - 1)))
    steps = 30 if updates is Updates.FULL else 4  # without the self-interaction the loss soon overflows
    literal, own = (descend(runs, schedule, steps=steps, updates=updates) for runs in (draw, reduced(draw)))
    assert np.isfinite(literal.test_loss).all()
    assert np.allclose(np.sqrt(own.test_loss), np.sqrt(literal.test_loss), rtol=1e-10, atol=1e-10)
    assert np.allclose(own.train_loss, own.test_loss / 2, rtol=1e-15)


@pytest.mark.parametrize("layers", [3, 4.0, True])
def test_layers_are_refused(layers):
    with pytest.raises(InvalidInput, match="layers"):
        deepened(ThreeLayers.sample(np.random.default_rng(0), 3), layers)
