"""The ledger: every claim that `limes` judges, by its id, and the chapters they stand in. The modules here only state.

A new claim is a record in one of these modules, a derivation in `theory/`, and a test; nothing else is touched.
"""

from __future__ import annotations

import difflib

from theory.errors import InvalidInput

from ..claims import Claim
from . import (
    activation_growth,
    balance,
    convolution,
    correlation_decay,
    correlations,
    depth,
    depth_scaling,
    deviation,
    dynamics,
    early_stopping,
    external_scale,
    features,
    kernel_conditions,
    kernels,
    layerwise,
    linearisation,
    networks,
    orders,
    schedules,
    symmetries,
    training,
)

CHAPTERS: dict[str, tuple[Claim, ...]] = {
    "kernels": (*kernels.CLAIMS, *networks.CLAIMS, *convolution.CLAIMS),
    "depth": (*depth.CLAIMS, *depth_scaling.CLAIMS, *kernel_conditions.CLAIMS),
    "features": (*features.CLAIMS, training.text_features),
    "dynamics": (
        *dynamics.CLAIMS,
        *early_stopping.CLAIMS,
        *(one for one in training.CLAIMS if one is not training.text_features),
    ),
    "correlations": (
        *correlations.CLAIMS,
        *correlation_decay.CLAIMS,
        *linearisation.CLAIMS,
        *deviation.CLAIMS,
        *activation_growth.CLAIMS,
        *orders.CLAIMS,
        *symmetries.CLAIMS,
        *external_scale.CLAIMS,
    ),
    "layerwise": (*layerwise.CLAIMS, *balance.CLAIMS, *schedules.CLAIMS),
}
LEDGER: dict[str, Claim] = {}
for _claims in CHAPTERS.values():
    for _claim in _claims:
        assert _claim.id not in LEDGER, f"two claims have the id {_claim.id}"
        LEDGER[_claim.id] = _claim


def find(id: str) -> Claim:
    """The claim with this id; an unknown one is refused with the nearest ids.

    >>> find("dept-limit")
    Traceback (most recent call last):
    theory.errors.InvalidInput: claim = dept-limit: no claim has this id; the nearest are depth-limit, ...
    """
    if id not in LEDGER:
        near = difflib.get_close_matches(id, LEDGER, n=3, cutoff=0.4) or ["listed by limes list"]
        raise InvalidInput("claim", id, f"no claim has this id; the nearest are {', '.join(near)}")
    return LEDGER[id]
