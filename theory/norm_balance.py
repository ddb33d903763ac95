r"""The schedule that balances the norms of two layers: from orthogonal weights it is the uniform one.

Definition. Of two trained layers, each gets the rate `η_i = 2η ‖W_j‖_F/(‖W₁‖_F + ‖W₂‖_F)`, `j` the other one, so that
`η₁ + η₂ = 2η`. The network is the two-layer one of `theory/linear_networks.py`, from orthogonal weights and without
label noise. By `theory/two_layers.py`, `W₁ = W₁(0) a(Z)` and `W₂ = b(Z) W₂(0)` with an orthogonal `Z` and real Laurent
polynomials, as long as the rates are numbers; at an eigenvalue of `Z` these are complex numbers `a`, `b`, both 1 at
first, and with `z/√h = w` a step of gradient descent is

    a ← a − (η₁/h) e b̄,    b ← b − (η₂/h) ā e,    e = ab/h − w.

**The norms stay equal.** `‖W₁‖²_F − ‖W₂‖²_F` is the sum of `|a|² − |b|²` over the eigenvalues of `Z`. If the norms are
equal the schedule gives both layers the rate `η`; then `|a|² − |b|²` is multiplied by `1 − (η/h)² |e|²` (`norm_gap`).
It is 0 at the start, and so after every step, for every width `h >= 1` and every rate, of divergent runs too: the
schedule is the uniform one. (For signal-only updates `e = −w`, and the same holds.)

Source: arXiv:2606.00340 (B) proposes the schedule; that it is no other from orthogonal weights is not said there.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, I, Interval, Range, S, Symbol, im, oo, re, symbols

from .derivation import Derivation
from .rate_polynomials import h
from .reasons import Algebra

eta = Symbol("eta", nonnegative=True)  # the rate of both layers
a_re, a_im, b_re, b_im, w_re, w_im = _PARTS = symbols("a_re a_im b_re b_im w_re w_im", real=True)


def squared_modulus(z: Expr) -> Expr:
    """`|z|²`, from the real and imaginary part."""
    return re(z) ** 2 + im(z) ** 2


@cache
def norm_gap() -> Derivation:
    """`|a|² − |b|²` after a step with the rate `η` for both layers: a multiple of what it was before.

    >>> norm_gap().conclusion.subs({a_re: 3, a_im: 4, b_re: 5, b_im: 0})
    0
    """
    a, b, w = a_re + I * a_im, b_re + I * b_im, w_re + I * w_im
    error = a * b / h - w
    a_next = a - eta / h * error * b.conjugate()
    b_next = b - eta / h * a.conjugate() * error
    d = Derivation(
        squared_modulus(a_next) - squared_modulus(b_next),
        r"|a'|^2 - |b'|^2",
        {h: Range(1, oo), eta: Interval(0, oo), **dict.fromkeys(_PARTS, S.Reals)},
        title="The norms of two layers under equal rates",
    )
    before = squared_modulus(a) - squared_modulus(b)
    return d.then(
        before * (1 - (eta / h) ** 2 * squared_modulus(error)),
        because=r"$\operatorname{Re}(\bar a\, e\, \bar b)$ is in both, and cancels",
        reason=Algebra(),
    )
