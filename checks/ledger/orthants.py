"""Orthant probabilities: in closed form for two and three Gaussians, for four by the chambers of reflection groups."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from sympy import Rational, asin, cos, pi

from numerics import certified_orthants
from numerics.balls import precision
from theory import orthants
from theory.orthants import CORRELATIONS, r12, r13, r23

from ..evidence import Enclosure, Identity
from ..evidence.enclosure import Certificate
from ..verdicts import Standing

# The bonds m_ij of the Coxeter diagram: the walls of a chamber meet at π/m_ij, and the chamber is one in |W|.
CHAMBERS = {
    "A4": ({(1, 2): 3, (2, 3): 3, (3, 4): 3}, 120),
    "B4": ({(1, 2): 3, (2, 3): 3, (3, 4): 4}, 384),
    "D4": ({(1, 2): 3, (2, 3): 3, (2, 4): 3}, 192),
    "F4": ({(1, 2): 3, (2, 3): 4, (3, 4): 3}, 1152),
    "H4": ({(1, 2): 5, (2, 3): 3, (3, 4): 3}, 14400),
}


def chamber(claimed: Fraction, name: str) -> Certificate:
    """Whether the orthant probability of the roots of a reflection group is `claimed`, to 30 digits."""
    bonds, _ = CHAMBERS[name]
    at = {f"r{i}{j}": -cos(pi / bonds.get((i, j), 2)) for i, j in CORRELATIONS}
    with precision(160):
        found = certified_orthants.orthant4(at, 160)
        apart = abs(found * claimed.denominator - claimed.numerator)
        standing = Standing.HOLDS if apart < 1e-30 else Standing.FAILS if apart > 1e-30 else Standing.UNDECIDED
    return Certificate(standing, f"one chamber of {name}: {claimed} to 30 digits")


def chamber_evidence(name: str) -> Enclosure:
    """The chamber is one of as many as the group has elements; neighbouring and doubled numbers are wrong."""
    order = CHAMBERS[name][1]
    wrong = {f"1/{n}": Fraction(1, n) for n in (order - 1, order + 1, 2 * order, order // 2)}
    certify: Callable[..., Certificate] = partial(chamber, name=name)
    return Enclosure(name=f"reflection group {name}", certify=certify, claimed=Fraction(1, order), mutants=wrong)


THREE = Rational(1, 8) + (asin(r12) + asin(r13) + asin(r23)) / (4 * pi)

EVIDENCE = (
    Identity(name="two", derivation=orthants.two, claimed=Rational(1, 4) + asin(r12) / (2 * pi)),
    Identity(name="three", derivation=orthants.three, claimed=THREE),
    *map(chamber_evidence, CHAMBERS),
)
