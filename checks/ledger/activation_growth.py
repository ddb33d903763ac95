"""Chapter 5, the condition on the activation: how fast its derivatives grow."""

from __future__ import annotations

import math
from functools import partial

from flint import arb
from sympy import Expr, Integer, S, exp, gamma, pi

from numerics import activation_growth
from numerics.activation_growth import Growing
from numerics.balls import precision
from numerics.evaluate import enclose
from theory import activation_growth as growth
from theory.growth_reasons import k

from ..claims import Correction, claim
from ..evidence import Enclosure, Identity, Limit
from ..evidence.enclosure import Certificate
from ..mutants import mutants
from ..verdicts import Standing, Verdict
from .sources import WEAK_CORRELATIONS

DERIVATIVES = 60


def pole_growth(claimed: tuple[Expr, Expr], activation: Growing, shift: int = 0) -> Certificate:
    """Whether `‖φ^{(k+shift)}‖` is `A k!/R^{k+1}` for odd `k`, to the next pole, and no more for even `k`, up to 60.

    `claimed` is `(A, R)`. The next poles are at three times the distance and more: the part `(5/2) 3^{−k−1}` at most.
    """
    amplitude, radius = claimed
    for order in range(1, DERIVATIVES + 1 - shift):
        size = activation_growth.supremum(activation, order + shift)
        with precision(activation_growth.BITS):
            scaled = size * enclose(radius, {}) ** (order + 1) / (enclose(amplitude, {}) * math.factorial(order))
            most = 1 + arb(5) / (2 * arb(3) ** (order + 1))
            if not (scaled <= most and (order % 2 == 0 or scaled >= 1)):
                wrong = scaled > most or (order % 2 == 1 and scaled < 1)
                text = f"off by the factor {float(scaled.mid()):.6g} at k = {order + shift}"
                return Certificate(Standing.FAILS if wrong else Standing.UNDECIDED, text)
    detail = f"A = {amplitude}, R = {radius}; attained for odd k, and not exceeded for even k <= {DERIVATIVES - shift}"
    return Certificate(Standing.HOLDS, detail)


POLE_MUTANTS = {
    "half the amplitude": (S.One, None),
    "twice the amplitude": (Integer(4), None),
    "twice the radius": (Integer(2), 2),
    "a radius of 1": (Integer(2), 0),
    "the radius off by a thousandth": (Integer(2), S(1001) / 1000),
}


def _poles(activation: Growing, radius: Expr, shift: int = 0) -> Enclosure:
    wrong = {
        text: (amplitude, radius if factor is None else S.One if factor == 0 else factor * radius)
        for text, (amplitude, factor) in POLE_MUTANTS.items()
    }
    return Enclosure(
        name=f"the largest values of the first {DERIVATIVES} derivatives, from exact polynomials",
        certify=partial(pole_growth, activation=activation, shift=shift),
        claimed=(Integer(2), radius),
        mutants=wrong,
    )


def erf_growth(claimed: Expr) -> Certificate:
    """Whether `‖erf^{(k)}‖` is `claimed`, to 30 digits, for odd `k`, and less for even `k`, up to 60."""
    for order in range(1, DERIVATIVES + 1):
        size = activation_growth.supremum(Growing.ERF, order)
        with precision(activation_growth.BITS):
            relative = size / enclose(claimed.subs(k, order), {})
            fine = abs(relative - 1) < arb(10) ** -30 if order % 2 else relative < 1
            if not fine:
                wrong = relative > 1 or (order % 2 == 1 and relative < 1)
                text = f"off by the factor {float(relative.mid()):.6g} at k = {order}"
                return Certificate(Standing.FAILS if wrong else Standing.UNDECIDED, text)
    return Certificate(Standing.HOLDS, f"attained for odd k, and not exceeded for even k <= {DERIVATIVES}")


def lacunary_growth(claimed: Expr) -> Certificate:
    """Whether `|φ^{(2k)}(0)|` is at least `claimed` at `4k = 4, 8, …, 128`, and at most twice that."""
    for order in (1, 2, 4, 8, 16, 32):
        size = activation_growth.lacunary_derivative(order)
        with precision(activation_growth.BITS):
            relative = size / enclose(claimed.subs(k, order), {})
            if not (relative >= 1 and relative <= 2):
                wrong = relative < 1 or relative > 2
                text = f"off by the factor {float(relative.mid()):.6g} at 2k = {2 * order}"
                return Certificate(Standing.FAILS if wrong else Standing.UNDECIDED, text)
    return Certificate(Standing.HOLDS, "exact derivatives at 0 of the orders 2, 4, 8, 16, 32, 64")


ERF_GROWTH = 2**k * gamma(k / 2) / pi
LACUNARY_GROWTH = (4 * k) ** (4 * k) * exp(-4 * k)


activation_growth_ = claim(
    id="activation-growth",
    title="The growth of the derivatives of activations",
    source=WEAK_CORRELATIONS.at("section on architectures"),
    statement=r"\phi^{[k]} \le O((k+1)!) \text{ is what keeps the system weakly correlated}",
    hypotheses=("smooth activations; the supremum over the real line, or for exp at each point",),
    findings=(
        "the largest k-th derivative, odd k, is at s = 0: of tanh about 2 k! (2/pi)^(k+1), of sigmoid 2 k!/pi^(k+1)",
        "erf: 2^k Gamma(k/2)/pi, about sqrt(k!); sin, cos: 1; exp: e^s; the identity: 0",
        "the factor k + 1 is not needed by any of them; (k+1)! is a double pole at distance 1",
        "the condition depends on the scale: tanh(c s) satisfies it if and only if c <= pi/2",
    ),
    parts={
        "tanh satisfies it": [
            Limit(name="from its poles", derivation=partial(growth.over_factorial, growth.tanh_bound), claimed=0),
            _poles(Growing.TANH, pi / 2),
        ],
        "sigmoid satisfies it": [
            Limit(name="from tanh", derivation=partial(growth.over_factorial, growth.sigmoid_bound), claimed=0),
            _poles(Growing.SIGMOID, pi),
        ],
        "softplus satisfies it": [
            Limit(
                name="from the sigmoid",
                derivation=partial(growth.over_factorial, growth.softplus_bound, k + 1),
                claimed=0,
            ),
            _poles(Growing.SOFTPLUS, pi, shift=1),
        ],
        "erf satisfies it": [
            Limit(
                name="from its Fourier integral",
                derivation=partial(growth.over_factorial, growth.erf_bound, step=2),
                claimed=0,
            ),
            Enclosure(
                name=f"the largest values of the first {DERIVATIVES} derivatives, from Hermite polynomials",
                certify=erf_growth,
                claimed=ERF_GROWTH,
                mutants=mutants(ERF_GROWTH),
            ),
        ],
        "sin, exp and the identity satisfy it": [
            Limit(name="sin", derivation=partial(growth.over_factorial, growth.sine_bound), claimed=0),
            Limit(name="exp", derivation=partial(growth.over_factorial, growth.exponential_derivatives), claimed=0),
            Identity(name="the identity", derivation=growth.identity_derivatives, claimed=0),
        ],
        "a smooth function that is not analytic violates it": [
            Limit(
                name="a lacunary series",
                derivation=partial(growth.factorial_over, growth.lacunary, 2 * k),
                claimed=0,
            ),
            Enclosure(
                name="its derivatives at zero",
                certify=lacunary_growth,
                claimed=LACUNARY_GROWTH,
                mutants=mutants(LACUNARY_GROWTH),
            ),
        ],
        "it does not depend on the scale of the argument, as weak correlation does not": [
            Limit(
                name="tanh(2s)",
                derivation=partial(growth.over_factorial, partial(growth.scaled, Integer(2)), growth.ODD),
                claimed=0,
            )
        ],
    },
    correction=Correction(
        text="the condition that does not depend on the scale is O(k! R^-k) for some R > 0: analytic in a strip",
        latex=r"\exists R > 0:\ \sup_s |\phi^{[k]}(s)| = O(k!\, R^{-k})",
        parts={
            "tanh at every scale satisfies it": [
                Limit(
                    name="tanh(c s), R = pi/(4 c)",
                    derivation=partial(growth.over_strip, growth.scaled_bound, pi / (4 * growth.c)),
                    claimed=0,
                )
            ],
            "the lacunary series violates it for every R": [
                Limit(
                    name="against any strip",
                    derivation=partial(growth.strip_over, growth.lacunary, growth.R, 2 * k),
                    claimed=0,
                )
            ],
        },
    ),
    expected=Verdict.CORRECTED,
)

CLAIMS = (activation_growth_,)
