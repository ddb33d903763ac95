"""The filters of early stopping by name: of `s = cλt >= 0` for the flow, and of `x = ηcλ` and `k` for descent."""

from __future__ import annotations

from sympy import Expr, Interval, oo

from . import dynamics
from .formula import Formula, Parameter

_S = Parameter(dynamics.s, Interval(0, oo), "c times the eigenvalue times the time (or over the ridge)")
_X = Parameter(dynamics.x, Interval.Lopen(0, 2), "the learning rate times c times the eigenvalue")
_K = Parameter(dynamics.k, Interval(0, 10**6), "the number of steps")
_N = "after arXiv:1806.07572"
_AKT = "derived; Ali, Kolter & Tibshirani (2019)"


def _flow() -> Expr:
    from .early_stopping import flow_filter

    return flow_filter()


def _descent() -> Expr:
    from .early_stopping import descent_filter

    return descent_filter()


def _ridge() -> Expr:
    from .early_stopping import ridge_filter

    return ridge_filter()


DYNAMICS: tuple[Formula, ...] = (
    Formula("flow-filter", "What gradient flow has learnt of a mode", (_S,), _N, expression=_flow),
    Formula(
        "descent-filter", "What k steps of descent have learnt of a mode", (_X, _K), "derived", expression=_descent
    ),
    Formula("ridge-filter", "What ridge regression learns of a mode", (_S,), _AKT, expression=_ridge),
    Formula(
        "ridge-filter-constant",
        "The largest ratio of the filters of gradient flow and ridge regression",
        (),
        _AKT,
        definition=r"\kappa = \max_{s > 0}\, (1 - e^{-s})(1 + s)/s",
    ),
)
