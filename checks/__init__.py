"""The ledger of claims, the kinds of evidence, the verdicts, and everything a person touches.

>>> from checks import verify, claim, ledger

What is exported here is loaded when first used, so that `import checks` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import ledger
    from .claims import Claim, Correction, Source, claim
    from .evidence import (
        Approach,
        Asymptotics,
        Enclosure,
        Evidence,
        Expectation,
        Experiment,
        Identity,
        Limit,
        PairedComparison,
        Property,
        Scaling,
    )
    from .evidence.enclosure import Certificate
    from .evidence.expectation import Prediction
    from .report import Report
    from .runner import verify
    from .verdicts import Level, Standing, Verdict

_HOMES = {
    "claims": ("Claim", "Correction", "Source", "claim"),
    "evidence": (
        "Approach",
        "Asymptotics",
        "Enclosure",
        "Evidence",
        "Expectation",
        "Experiment",
        "Identity",
        "Limit",
        "PairedComparison",
        "Property",
        "Scaling",
    ),
    "evidence.enclosure": ("Certificate",),
    "evidence.expectation": ("Prediction",),
    "report": ("Report",),
    "runner": ("verify",),
    "verdicts": ("Level", "Standing", "Verdict"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Approach",
    "Asymptotics",
    "Certificate",
    "Claim",
    "Correction",
    "Enclosure",
    "Evidence",
    "Expectation",
    "Experiment",
    "Identity",
    "Level",
    "Limit",
    "PairedComparison",
    "Prediction",
    "Property",
    "Report",
    "Scaling",
    "Source",
    "Standing",
    "Verdict",
    "claim",
    "ledger",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "ledger":
        return import_module(".ledger", __name__)
    if name in _HOME_OF:
        return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    raise AttributeError(f"module 'checks' has no attribute {name!r}; it has {', '.join(__all__)}")
