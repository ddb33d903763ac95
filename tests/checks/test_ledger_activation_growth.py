r"""The condition on the activation: the verdict on record, and certificates that refuse what is wrong."""

from sympy import Integer, Rational, pi

from checks.ledger import activation_growth
from checks.verdicts import Level, Standing
from numerics.activation_growth import Growing


def test_the_verdict_at_the_level_quick():
    (claim,) = activation_growth.CLAIMS
    judged = claim.judged(level=Level.QUICK)
    assert judged.verdict is claim.expected
    assert [item.label for item in judged.evidence if item.finding.mutants.survived] == []


def test_wrong_radii_and_amplitudes_fail():
    assert activation_growth.pole_growth((Integer(2), pi / 2), Growing.TANH).standing is Standing.HOLDS
    for claimed in ((Integer(2), pi), (Integer(2), pi / 3), (Rational(21, 10), pi / 2), (Rational(19, 10), pi / 2)):
        assert activation_growth.pole_growth(claimed, Growing.TANH).standing is Standing.FAILS
    assert (
        activation_growth.erf_growth(activation_growth.ERF_GROWTH * (1 + Rational(1, 10**20))).standing
        is Standing.FAILS
    )
    assert activation_growth.lacunary_growth(2 * activation_growth.LACUNARY_GROWTH).standing is Standing.FAILS
