r"""The formulas that can be evaluated by name, each with its parameters, their ranges, and where it comes from.

A formula has a closed `expression`, made by a derivation when it is first asked for, or it is defined by a recursion
(`definition`, as LaTeX) that `numerics/formulas.py` knows an algorithm for.
"""

from __future__ import annotations

import difflib

from sympy import Interval, Symbol, oo

from . import correlation, crossover, depth
from .correlations_formulas import CORRELATIONS
from .dynamics_formulas import DYNAMICS
from .errors import InvalidInput
from .features_formulas import FEATURES
from .formula import ONE_ULP, Formula, Parameter
from .layerwise_formulas import LAYERWISE

__all__ = ["FORMULAS", "ONE_ULP", "Formula", "Parameter", "formula_named"]

_DEPTH = Symbol("L", integer=True, nonnegative=True)
_L = Parameter(_DEPTH, Interval(0, oo), "the number of hidden layers")
_RHO = Parameter(correlation.rho, Interval(-1, 1), "the correlation of the two inputs, on the unit sphere")
_W = "arXiv:2511.07272"

FORMULAS: dict[str, Formula] = {
    formula.name: formula
    for formula in (
        Formula(
            "relu-nngp",
            "The NNGP kernel of a deep ReLU network on the sphere",
            (_RHO, _L),
            "Cho & Saul (2009)",
            definition=r"\Sigma^{(L)} = \cos\theta_L,\quad \cos\theta_0 = \rho,\quad "
            r"\cos\theta_{l+1} = (\sin\theta_l + (\pi-\theta_l)\cos\theta_l)/\pi",
        ),
        Formula(
            "relu-ntk",
            "The neural tangent kernel of a deep ReLU network on the sphere",
            (_RHO, _L),
            "Jacot, Gabriel & Hongler (2018)",
            definition=r"\Theta^{(L)} = \Theta^{(L-1)}\,(1 - \theta_{L-1}/\pi) + \cos\theta_L,"
            r"\quad \Theta^{(0)} = \rho",
        ),
        Formula(
            "relu-ntk-normalised",
            "The neural tangent kernel of a deep ReLU network, divided by its value L + 1 on the diagonal",
            (_RHO, _L),
            _W,
            definition=r"\bar\Theta^{(L)} = \Theta^{(L)}/(L+1)",
        ),
        Formula(
            "depth-leading-error",
            "The leading term of the distance of the normalised kernel to 1/4",
            (Parameter(correlation.L, Interval(1, oo), "the number of hidden layers"),),
            f"derived; the rate in {_W} is O(1/L)",
            expression=depth.leading_error,
        ),
        Formula(
            "depth-crossover",
            "The normalised kernel as L grows with s = L theta_0/(3 pi) fixed",
            (Parameter(crossover.s, Interval(0, oo), "L theta_0/(3 pi), with the angle theta_0 of the inputs"),),
            f"derived; beyond {_W}",
            expression=lambda: crossover.crossover().conclusion,
        ),
        Formula(
            "depth-crossover-correction",
            "The coefficient of 1/L in the distance to the crossover function",
            (Parameter(crossover.s, Interval(0, oo), "L theta_0/(3 pi), with the angle theta_0 of the inputs"),),
            f"derived; beyond {_W}",
            expression=lambda: crossover.crossover_correction().conclusion,
        ),
        *DYNAMICS,
        *FEATURES,
        *LAYERWISE,
        *CORRELATIONS,
    )
}


def formula_named(name: str) -> Formula:
    """The formula with this name.

    >>> formula_named("relu-ntc")
    Traceback (most recent call last):
    theory.errors.InvalidInput: formula = relu-ntc: no formula has this name; the nearest are relu-ntk, ...
    """
    if name not in FORMULAS:
        near = difflib.get_close_matches(str(name), FORMULAS, n=3, cutoff=0.4) or ["listed by limes list"]
        raise InvalidInput("formula", name, f"no formula has this name; the nearest are {', '.join(near)}")
    return FORMULAS[name]
