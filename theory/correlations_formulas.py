"""How correlations, and the distance of a network from its linearisation, fall with the width: exponents by name."""

from __future__ import annotations

from sympy import Interval, oo

from .cluster_rule import decay_exponent
from .correlations import D, d, depth
from .formula import Formula, Parameter
from .linearisation import Mode, alpha, deviation_exponent, mode

_C = "arXiv:2401.04013"

CORRELATIONS: tuple[Formula, ...] = (
    Formula(
        "correlation-decay-exponent",
        "The exponent of the width in the root mean square of a derivative correlation, smooth activations",
        (
            Parameter(D, Interval(0, 2), "the number of free indices"),
            Parameter(d, Interval(0, 1000), "the number of contractions with the gradient"),
            Parameter(depth, Interval(1, oo), "the number of hidden layers; the exponent does not depend on it"),
        ),
        f"derived for one hidden layer, else by the cluster rule of Dyer & Gur-Ari (2020); {_C} has a bound",
        expression=decay_exponent,
    ),
    Formula(
        "linearisation-exponent",
        "The exponent of the width in the root mean square of f - f_lin, for rates m^alpha and smooth activations",
        (
            Parameter(alpha, Interval(-10, 0), "the learning rate is proportional to the width to the power alpha"),
            Parameter(
                mode,
                Interval(0, 1),
                "what is kept as the width grows, the number of steps or the training time",
                words={"fixed-steps": Mode.FIXED_STEPS, "fixed-time": Mode.FIXED_TIME},
            ),
        ),
        f"derived from the exponents of the correlations; {_C} has a bound",
        expression=deviation_exponent,
    ),
)
