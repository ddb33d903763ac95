"""The chapter on depth: its claims get the verdicts recorded, for the reasons stated, and kill their mutants."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from mpmath import MPContext
from sympy import Integer, Rational, Symbol, log, oo

from checks.claims import Claim
from checks.evidence.derived import Derived
from checks.ledger import LEDGER, depth
from checks.verdicts import Finding, Level, Standing, Verdict, verdict_on_claim, verdict_on_part
from theory.correlation import L, rho
from theory.crossover import s
from theory.spectrum import n

CLAIMS = {claim.id: claim for claim in depth.CLAIMS}
EVIDENCE = {
    f"{claim.id}: {part}: {item.name}": (claim, item) for claim in depth.CLAIMS for part, _, item in claim.evidence()
}
REFUTED = {
    "depth-rate": {"L/log L times the distance tends to 0, as O(1/L) requires"},
    "depth-spectrum": {"diagonally dominant by rows for any number of points"},
}


@cache
def finding(name: str) -> Finding:
    return EVIDENCE[name][1].examine(Level.QUICK)


def findings(claim: Claim, part: str) -> list[Finding]:
    """What all evidence for one part of a claim found."""
    return [found for name in EVIDENCE if name.startswith(f"{claim.id}: {part}: ") for found in [finding(name)]]


def recursion(correlation: str, size: int) -> object:
    """`Θ^L`, layer by layer in the correlation, in 40 digits."""
    mp = MPContext()
    mp.dps = 40
    here = mp.mpf(correlation)
    value = here
    for _ in range(size):
        angle = mp.acos(here)
        here = (mp.sin(angle) + (mp.pi - angle) * here) / mp.pi
        value = (1 - angle / mp.pi) * value + here
    return value


def test_the_six_claims_are_in_the_ledger() -> None:
    assert list(CLAIMS) == [
        "correlation-flow",
        "depth-limit",
        "depth-rate",
        "depth-crossover",
        "depth-spectrum",
        "depth-predictor",
    ]
    assert all(LEDGER[id] is claim for id, claim in CLAIMS.items())


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_the_verdict_is_the_one_recorded(claim: Claim) -> None:
    parts = {part: verdict_on_part(findings(claim, part)) for part in claim.parts}
    mended = [verdict_on_part(findings(claim, part)) for part in claim.correction.parts] if claim.correction else []
    assert verdict_on_claim(parts.values(), mended) is claim.expected
    refuted = {part for part, verdict in parts.items() if verdict is Verdict.REFUTED}
    assert refuted == REFUTED.get(claim.id, set())
    assert all(verdict is Verdict.PROVED for part, verdict in parts.items() if part not in refuted)
    assert bool(refuted) == bool(claim.correction)


@pytest.mark.parametrize("name", EVIDENCE)
def test_no_mutant_survives(name: str) -> None:
    assert finding(name).mutants.survived == ()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_each_claim_has_five_mutants_and_more_than_one_route(claim: Claim) -> None:
    own = [(item, finding(name)) for name, (of, item) in EVIDENCE.items() if of is claim]
    assert sum(found.mutants.tried for _, found in own) >= 5
    assert {isinstance(item, Derived) for item, _ in own} == {True, False}


@pytest.mark.parametrize("name", [name for name, (_, item) in EVIDENCE.items() if isinstance(item, Derived)])
def test_every_derivation_is_proved(name: str) -> None:
    """A refuted part is refuted because its conclusion is another, not because a step of its derivation is wrong."""
    assert finding(name).worth is Verdict.PROVED
    assert finding(name).standing is not Standing.UNDECIDED
    if finding(name).standing is Standing.FAILS:
        assert finding(name).detail.startswith("derived ")


# --- the numbers computed for `Approach`, against the definition ------------------------------------------------------


@pytest.mark.parametrize("correlation", ["-1", "-0.5", "0", "0.9"])
def test_the_kernel_at_a_depth(correlation: str) -> None:
    at = {rho: Rational(correlation)}
    here = recursion(correlation, 40)
    assert depth.normalised_kernel(40, at) == pytest.approx(float(here) / 41, rel=1e-15)
    gain = (recursion(correlation, 80) - here - 10) / np.log(2)
    assert depth.logarithmic_growth(40, at) == pytest.approx(float(gain), rel=1e-12)


def test_the_kernel_in_the_crossover() -> None:
    mp = MPContext()
    mp.dps = 40
    correlation = mp.nstr(mp.cos(3 * mp.pi * 2 / 50), 40)
    expected = float(recursion(correlation, 50)) / 51
    assert depth.kernel_in_crossover(50, {s: Integer(2)}) == pytest.approx(expected, rel=1e-14)
    phi = (3**4 - 1) / (4 * 2 * 3**3)
    assert depth.crossover_error(50, {s: Integer(2)}) == pytest.approx(50 * (expected - phi), rel=1e-10)


def test_the_matrices_are_those_of_the_points() -> None:
    points = depth.points_on_sphere()
    assert points.shape == (5, 3)
    assert np.linalg.norm(points, axis=1) == pytest.approx(1, abs=1e-15)
    gram = depth.gram(12)
    for i, j in ((0, 0), (0, 1), (2, 4)):
        correlation = "1" if i == j else repr(float(points[i] @ points[j]))
        assert gram[i, j] == pytest.approx(float(recursion(correlation, 12)) / 13, rel=1e-12)
    known = gram[:4, :4]
    assert depth.eigenvalue(12, {}, which=-1) == pytest.approx(np.linalg.eigvalsh(known).max(), rel=1e-12)
    assert depth.eigenvalue(12, {}, which=0) == pytest.approx(np.linalg.eigvalsh(known).min(), rel=1e-12)
    assert depth.weight(12, {n: 4}) == pytest.approx((gram[4, :4] @ np.linalg.inv(known))[0], rel=1e-10)


# --- what is stated ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 100)])
def test_the_bound_leaves_no_other_limit(delta: Fraction) -> None:
    assert depth.within_bound(Rational(1, 4), delta).standing is Standing.HOLDS
    for wrong in (Rational(1, 4) + Rational(1, 10**20), Rational(1, 5), 0, 1):
        assert depth.within_bound(wrong, delta).standing is Standing.FAILS


def test_no_other_slope_is_certified() -> None:
    assert depth.slope_of_logarithm(Fraction(3, 8)).standing is Standing.HOLDS
    for wrong in (Fraction(37, 100), Fraction(38, 100), 0):
        assert depth.slope_of_logarithm(wrong).standing is not Standing.HOLDS


def test_the_corrections_say_what_was_derived() -> None:
    rate = CLAIMS["depth-rate"].correction
    assert rate is not None
    assert rate.expression == Rational(3, 8) * log(L) / L
    spectrum = CLAIMS["depth-spectrum"].correction
    assert spectrum is not None
    assert spectrum.expression == (Symbol("n", integer=True, positive=True) <= 4)


def test_the_crossover_meets_the_rate() -> None:
    """`Φ₁(s) ~ (3/8) log s`, as the findings say; `Φ` runs from 1 to 1/4."""
    assert (depth.CROSSOVER_CORRECTION / log(s)).subs(s, Integer(10) ** 400).evalf(20) == pytest.approx(3 / 8, abs=2e-3)
    assert depth.CROSSOVER.limit(s, 0) == 1
    assert depth.CROSSOVER.limit(s, oo) == Rational(1, 4)
