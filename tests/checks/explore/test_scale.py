from fractions import Fraction

import pytest

from checks.explore.scale import Scale, is_sharp
from numerics.formulas import FormulaValue


def value(text: str, radius: str = "0") -> FormulaValue:
    return FormulaValue("f", {}, text, radius, 12)


@pytest.mark.parametrize(("text", "shown"), [("0.9999999999999999999999", Fraction(1, 10**22)), ("3", -2), ("1", 0)])
def test_one_minus_a_value_is_exact(text, shown):
    assert Scale.COMPLEMENT.of(value(text)) == shown
    assert Scale.LINEAR.of(value(text)) == Fraction(text)


def test_what_is_not_told_from_1_is_0():
    assert Scale.COMPLEMENT.of(value("0.999999999999", "5e-12")) == 0
    assert Scale.COMPLEMENT.of(value("1.00000000000", "5e-12")) == 0


def test_near_1_more_digits_are_needed_and_elsewhere_none():
    assert not is_sharp(value("0.999999999999", "5e-13"), Scale.COMPLEMENT)
    assert is_sharp(value("0.999999999999", "5e-13"), Scale.LOGARITHMIC)
    assert is_sharp(value("0.500000000000", "5e-13"), Scale.COMPLEMENT)
    assert is_sharp(value("1"), Scale.COMPLEMENT)


@pytest.mark.parametrize("text", ["none", "1e400", "-1e400"])
def test_what_no_axis_can_show(text):
    assert [scale.of(value(text)) for scale in Scale] == [None] * 4
    assert Scale.LINEAR.of(None) is None


def test_a_tiny_value_is_not_written_out():
    assert Scale.LINEAR.of(value("1e-1000000000")) == 0


def test_which_axes_are_logarithmic():
    wide, flat, signed = ([Fraction(1), Fraction(10**4)], [Fraction(1), Fraction(2)], [Fraction(-1), Fraction(10**4)])
    assert [Scale.AUTOMATIC.logarithmic(values) for values in (wide, flat, signed, [])] == [True, False, False, False]
    assert not Scale.LINEAR.logarithmic(wide)
    assert Scale.LOGARITHMIC.logarithmic(flat)
    assert Scale.COMPLEMENT.logarithmic([])


def test_words_and_labels():
    assert len({scale.words for scale in Scale}) == 4
    assert Scale.COMPLEMENT.label("f") == "1 - f"
    assert Scale.LINEAR.label("f") == "f"
