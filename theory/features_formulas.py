"""Orthant probabilities, and how far features move for one training point, by name.

Correlations lie in `[−1, 1]`; `r_ij` is that of the i-th and the j-th Gaussian. For `feature-deviation`, `rho_12` is
the correlation of two points, `rho_x1` and `rho_x2` are theirs with the training point `x`, all on the unit sphere, and
`q` is the integral of the residual at `x` over the training time: `q = (1 − e^{−(L+1)t}) (f_0 − y)/(L + 1)`.
"""

from __future__ import annotations

from itertools import combinations

from sympy import Interval, S, Symbol, oo

from .formula import Formula, Parameter
from .orthants import CORRELATIONS, RANGE, two

_W = "arXiv:2511.07272, Proposition 4"
_PLACKETT = "derived; Plackett (1954)"


def _correlations(count: int) -> tuple[Parameter, ...]:
    pairs = combinations(range(1, count + 1), 2)
    return tuple(Parameter(CORRELATIONS[i, j], RANGE, f"the correlation of u_{i} and u_{j}") for i, j in pairs)


def _between(name: str, meaning: str) -> Parameter:
    return Parameter(Symbol(name, real=True), RANGE, meaning)


FEATURES: tuple[Formula, ...] = (
    Formula(
        "orthant-2",
        "The probability that two Gaussians are both positive",
        _correlations(2),
        "derived; Sheppard (1899)",
        expression=lambda: two().conclusion,
    ),
    Formula(
        "orthant-3",
        "The probability that three Gaussians are all positive",
        _correlations(3),
        "derived; Sheppard (1899)",
        definition=r"\operatorname{P}(u_1, u_2, u_3 > 0) = \tfrac18 + (\arcsin r_{12} + \arcsin r_{13}"
        r" + \arcsin r_{23})/(4\pi)",
    ),
    Formula(
        "orthant-4",
        "The probability that four Gaussians are all positive",
        _correlations(4),
        _PLACKETT,
        definition=r"\operatorname{P}(u_1, u_2, u_3, u_4 > 0),\quad \operatorname{E} u_i u_j = r_{ij}",
    ),
    Formula(
        "feature-deviation",
        "The limit of the scalar product of the changes of the last hidden features at two points, one training point",
        (
            _between("rho_12", "the correlation of the two points"),
            _between("rho_x1", "the correlation of the training point and the first"),
            _between("rho_x2", "the correlation of the training point and the second"),
            Parameter(Symbol("L", integer=True, positive=True), Interval(1, oo), "the number of hidden layers"),
            Parameter(Symbol("q", real=True), S.Reals, "the residual at the training point, integrated over time"),
        ),
        f"derived; {_W}, has no formula in our source",
        definition=r"D_L,\quad D_l = 2 q^2\, \Theta_{l-1}(x, x_1)\, \Theta_{l-1}(x, x_2)\,"
        r" \operatorname{P}(u, u_1, u_2 > 0) + \dot\Sigma_l(x_1, x_2)\, D_{l-1},\quad D_0 = 0",
    ),
)
