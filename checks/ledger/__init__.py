"""The ledger: every claim that `limes` judges, by its id. A module here holds a chapter of claims and only states them.

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

LEDGER: dict[str, Claim] = {}
for _chapter in (
    kernels,
    networks,
    convolution,
    depth,
    depth_scaling,
    kernel_conditions,
    features,
    dynamics,
    early_stopping,
    training,
    layerwise,
    balance,
    schedules,
    correlations,
    correlation_decay,
    linearisation,
    deviation,
    activation_growth,
    orders,
    symmetries,
    external_scale,
):
    for _claim in _chapter.CLAIMS:
        assert _claim.id not in LEDGER, f"two claims have the id {_claim.id}"
        LEDGER[_claim.id] = _claim


def find(id: str) -> Claim:
    """The claim with this id; an unknown one is refused with the nearest ids.

    >>> find("dept-limit")
    Traceback (most recent call last):
    theory.errors.InvalidInput: claim = dept-limit: no claim has this id; the nearest are depth-limit, ...
    """
    if id not in LEDGER:
        near = difflib.get_close_matches(id, LEDGER, n=3, cutoff=0.4) or list(LEDGER)
        raise InvalidInput("claim", id, f"no claim has this id; the nearest are {', '.join(near)}")
    return LEDGER[id]
