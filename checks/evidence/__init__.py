"""The kinds of evidence, one module each."""

from .approach import Approach
from .base import Evidence
from .derived import Asymptotics, Identity, Limit
from .enclosure import Enclosure
from .expectation import Expectation
from .experiment import Experiment
from .paired import PairedComparison
from .property import Property
from .scaling import Scaling

__all__ = [
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
]
