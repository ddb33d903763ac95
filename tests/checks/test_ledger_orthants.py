"""Orthant probabilities by reflection groups: a wrong number of chambers fails."""

from fractions import Fraction

import pytest

from checks.ledger import orthants
from checks.verdicts import Standing


@pytest.mark.parametrize(("claimed", "standing"), [(120, Standing.HOLDS), (119, Standing.FAILS)])
def test_the_number_of_chambers(claimed, standing):
    assert orthants.chamber(Fraction(1, claimed), "A4").standing is standing
