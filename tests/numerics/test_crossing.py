"""The first value past a level, against brute force by mpmath; and that the answer never says more than was seen."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import I, Integer, Rational, Symbol, exp, nan, oo, sqrt, zoo

from numerics import crossing
from numerics.crossing import Side, decimal, first_crossing
from numerics.formulas import FormulaValue, evaluate_formula
from theory.errors import InvalidInput, MissingInput, Undecidable
from theory.timelimit import OutOfTime

mp = mpmath.MPContext()
mp.dps = 60
AMPLE = 120.0  # seconds; no search here needs a hundredth of them
HALF = Rational(1, 2)
NINE_TENTHS = {"rho": Rational(9, 10)}


def number(value):
    return mp.mpf(value.numerator) / value.denominator


def nngp(rho, depth):
    """`Σ^L` by the recursion of the correlation itself."""
    correlation = number(rho)
    for _ in range(depth):
        correlation = (mp.sqrt(1 - correlation**2) + (mp.pi - mp.acos(correlation)) * correlation) / mp.pi
    return correlation


def normalised_ntk(rho, depth):
    """`Θ^L/(L + 1)` by the recursions of the kernel and the correlation."""
    correlation = kernel = number(rho)
    for _ in range(depth):
        angle = mp.acos(correlation)
        correlation = (mp.sin(angle) + (mp.pi - angle) * correlation) / mp.pi
        kernel = kernel * (1 - angle / mp.pi) + correlation
    return kernel / (depth + 1)


def past(value, side, level):
    return value > number(level) if side is Side.ABOVE else value < number(level)


@pytest.mark.parametrize(
    ("name", "oracle", "rho", "side", "level"),
    [
        ("relu-nngp", nngp, Rational(9, 10), Side.ABOVE, Rational(999, 1000)),
        ("relu-nngp", nngp, Rational(-1, 2), Side.ABOVE, Rational(9, 10)),
        ("relu-nngp", nngp, Integer(0), Side.ABOVE, Rational(1, 100)),
        ("relu-ntk-normalised", normalised_ntk, Rational(9, 10), Side.BELOW, Rational(3, 10)),
        ("relu-ntk-normalised", normalised_ntk, Rational(-3, 10), Side.ABOVE, Rational(1, 5)),
    ],
)
def test_the_depth_is_that_of_brute_force(name, oracle, rho, side, level):
    depth = next(depth for depth in range(1000) if past(oracle(rho, depth), side, level))
    found = first_crossing(name, "L", side, level, {"rho": rho}, seconds=AMPLE)
    assert (found.at, found.before, found.complete) == (depth, depth - 1, True)
    for value, place in ((found.value_at, depth), (found.value_before, depth - 1)):
        assert abs(mp.mpf(value.value) - oracle(rho, place)) <= mp.mpf(value.radius)
    assert found.headline() == f"L = {depth}"
    assert found.sentence().endswith("Each was evaluated.")


@settings(max_examples=30, deadline=None)
@given(
    rho=st.fractions(-1, Fraction(19, 20), max_denominator=100),
    level=st.fractions(-1, Fraction(199, 200)).map(Rational),
)
def test_the_value_is_past_and_the_one_before_is_not(rho, level):
    found = first_crossing("relu-nngp", "L", Side.ABOVE, level, {"rho": Rational(rho)}, seconds=AMPLE)
    assert nngp(rho, int(found.at)) > number(level)
    assert found.complete or found.remarks  # the value at L = 0 may be the level itself
    if found.before is None:
        assert found.at == 0
    else:
        assert found.before == found.at - 1
        assert nngp(rho, int(found.before)) <= number(level) + mp.mpf(10) ** -55


def run_on(values, side):
    """Search depths whose values are the integers given, "none", or refused (None, and all beyond); the level is 0."""

    def fake(name, at, digits):
        depth = int(at["L"])
        if depth >= len(values) or values[depth] is None:
            raise InvalidInput("L", str(depth), "too deep")
        return FormulaValue(name, at, str(values[depth]), "0", digits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossing, "evaluate_formula", fake)
        return first_crossing("relu-nngp", "L", side, Integer(0), {"rho": Integer(0)}, seconds=AMPLE)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([-2, -1, 0, 0, 0, 1, "none"]), min_size=1, max_size=40), st.sampled_from(Side))
def test_any_sequence_is_searched_to_its_first(values, side):
    """However the values jump: doubling and bisection alone would miss islands."""
    found = run_on(values, side)
    sign = 1 if side is Side.ABOVE else -1
    places = [depth for depth, value in enumerate(values) if value != "none" and sign * value > 0]
    if places:
        assert (found.at, found.complete) == (places[0], True)
        assert found.before == (places[0] - 1 if places[0] else None)
        assert found.value_at.value == str(values[places[0]])
    else:
        assert (found.at, found.complete) == (None, False)  # what lies beyond was refused
        assert found.unbroken >= len(values) - 1
        assert any("too deep" in remark for remark in found.remarks)


def test_places_without_a_value_are_passed_over_and_said():
    found = run_on([None, None, -1, "none", -1, 1], Side.ABOVE)
    assert (found.at, found.complete) == (5, True)
    assert found.remarks == (
        "At L = 0 and 1 more there is no value: L = 0: too deep.",
        "At L = 3 there is no value: it is none.",
    )
    found = run_on([0, "none", 1], Side.ABOVE)
    assert (found.before, found.value_before.value) == (1, "none")
    assert found.remarks == ("At L = 1 there is no value: it is none.",)


def test_a_dip_between_the_doubled_widths_is_found():
    """The loss falls below 2/5 between two widths of the doubling, and is above it at all of these."""
    rates = {"eta1": Integer(200), "eta2": Integer(200)}

    def loss(h):
        return Fraction(evaluate_formula("two-layer-signal-2", {"h": h, **rates}, 12).value)

    below = [h for h in range(1, 100) if loss(h) < Fraction(2, 5)]
    assert all(1 + 2**k not in below for k in range(7))
    assert loss(2) > loss(40) < loss(99)
    found = first_crossing("two-layer-signal-2", "h", Side.BELOW, Rational(2, 5), rates, seconds=AMPLE)
    assert (found.at, found.complete) == (below[0], True)


def test_a_level_that_is_attained_is_not_passed():
    half = {"x": Rational(1, 2)}  # 1 − 2^−k
    assert first_crossing("descent-filter", "k", Side.ABOVE, Rational(7, 8), half).at == 4
    found = first_crossing("descent-filter", "k", Side.BELOW, Integer(0), half, seconds=0.5)
    assert found.at is None
    # 1 − e^−s, where no digits tell the value at s = 1 from 1 − 1/e, but algebra does
    found = first_crossing("flow-filter", "s", Side.ABOVE, 1 - exp(-1), {})
    assert (found.before, found.remarks) == (1, ())
    assert 1 < found.at < 1 + Rational(1, 10**11)


def test_what_no_digits_tell_from_the_level_is_said():
    found = first_crossing("relu-nngp", "L", Side.ABOVE, Rational(9, 10), NINE_TENTHS)
    assert (found.at, found.before, found.complete) == (1, 0, False)
    assert found.value_before.value == "0.900000000000"
    assert found.remarks == ("At L = 0 it is open: 200 digits do not tell it from 0.9.",)


def test_digits_are_added_until_the_value_is_told_from_the_level():
    exact = Rational(evaluate_formula("relu-nngp", {"rho": Rational(1, 3), "L": 4}, 40).value)  # rounded at digit 40
    just_below = exact - Rational(1, 10**39)
    found = first_crossing("relu-nngp", "L", Side.ABOVE, just_below, {"rho": Rational(1, 3)}, digits=5)
    assert (found.at, found.complete) == (4, True)
    assert found.value_at.digits >= 39
    assert first_crossing("relu-nngp", "L", Side.ABOVE, exact + Rational(1, 10**39), {"rho": Rational(1, 3)}).at == 5


def test_an_irrational_level():
    assert first_crossing("relu-nngp", "L", Side.ABOVE, sqrt(2) / 2, {"rho": Integer(0)}).at == 5
    assert nngp(Integer(0), 4) < mp.sqrt(2) / 2 < nngp(Integer(0), 5)


def test_a_real_parameter_of_a_finite_range():
    level = Rational(999, 1000)
    found = first_crossing("relu-nngp", "rho", Side.ABOVE, level, {"L": Integer(10)}, seconds=AMPLE)
    assert nngp(found.before, 10) < number(level) < nngp(found.at, 10)
    assert 0 < found.at - found.before < Rational(1, 10**12)
    assert (found.complete, found.unbroken) == (False, None)
    assert found.headline() == f"rho <= {decimal(found.at)}"
    assert found.sentence().startswith(f"The first rho with a value above 0.999 is at most {decimal(found.at)}: ")
    assert found.sentence().endswith("; nothing is known of others.")


def test_a_real_parameter_of_an_infinite_range():
    found = first_crossing("flow-filter", "s", Side.ABOVE, HALF, {}, digits=20)
    assert number(found.before) < mp.log(2) < number(found.at)
    assert found.at - found.before < Rational(1, 10**20)
    assert first_crossing("ridge-filter", "s", Side.ABOVE, Integer(1), {}).at is None


def test_a_range_without_a_lower_end_is_searched_from_zero():
    at = {name: Rational(9, 10) for name in ("rho_12", "rho_x1", "rho_x2")} | {"L": Integer(2)}
    found = first_crossing("feature-deviation", "q", Side.ABOVE, Integer(-1), at)
    assert (found.at, found.before, found.complete) == (0, None, False)
    assert "where the search began" in found.sentence()


def test_the_start_of_the_range_may_be_past_the_level():
    found = first_crossing("relu-nngp", "L", Side.ABOVE, HALF, NINE_TENTHS)
    assert (found.at, found.before, found.value_before, found.complete) == (0, None, None, True)
    assert found.sentence() == "L = 0, where the range begins, has a value above 0.5 already: 0.900000000000."
    found = first_crossing("relu-nngp", "rho", Side.BELOW, HALF, {"L": Integer(1)})
    assert (found.at, found.complete) == (-1, True)


def test_a_range_that_was_searched_to_its_end():
    at = {"d": Integer(0), "depth": Integer(1)}
    found = first_crossing("correlation-decay-exponent", "D", Side.BELOW, Integer(-30), at)
    assert (found.at, found.complete, found.looked_at, found.furthest) == (None, True, 3, 2)
    assert found.sentence() == "No D of 0, ..., 2 has a value below -30: each was evaluated."


def test_where_there_is_no_time_for_all_bisection_finds_one():
    """1 − (1 − x)^k passes 1/2 at k = log 2/(−log(1 − x)), too far for every smaller one to be looked at."""
    x = Rational(1, 10**6)
    expected = int(mp.ceil(mp.log(2) / -mp.log1p(-number(x))))
    found = first_crossing("descent-filter", "k", Side.ABOVE, HALF, {"x": x}, seconds=2)
    assert (found.at, found.before, found.complete) == (expected, expected - 1, False)
    assert found.headline() == f"k <= {expected}"
    assert found.sentence().startswith(f"The first k with a value above 0.5 is at most {expected}: ")
    assert found.sentence().endswith("; an earlier one is possible.")


def test_a_bracket_for_which_there_was_no_time_is_said_to_be_one(monkeypatch):
    def stopped(seconds, call):
        with contextlib.suppress(OutOfTime):
            call()

    def interrupted(name, at, digits):
        if at["L"] not in {0, *(2**k for k in range(15))}:
            raise OutOfTime
        return FormulaValue(name, at, str(int(at["L"]) - 5000), "0", digits)

    monkeypatch.setattr(crossing, "evaluate_formula", interrupted)
    monkeypatch.setattr(crossing, "within", stopped)
    found = first_crossing("relu-nngp", "L", Side.ABOVE, Integer(0), NINE_TENTHS, seconds=AMPLE)
    assert (found.at, found.before, found.complete) == (8192, 4096, False)
    assert found.headline() == "L <= 8192"
    assert found.sentence() == (
        "The first L with a value above 0 is at most 8192: 3192 (at 4096: -904); between these nothing was looked at. "
        "Looked at: 0, ..., 2 and 12 more up to 8192; an earlier one is possible."
    )


def test_a_search_that_is_out_of_time_says_how_far_it_came():
    found = first_crossing("relu-nngp", "L", Side.ABOVE, 1 - Rational(1, 10**6), NINE_TENTHS, seconds=1)
    assert not found.complete
    assert found.unbroken < 6635  # the first, which needs a minute to be known as such
    assert f"Looked at: 0, ..., {found.unbroken}" in found.sentence()
    found = first_crossing("relu-nngp", "L", Side.ABOVE, Integer(1), NINE_TENTHS, seconds=1)
    assert (found.at, found.complete) == (None, False)
    assert "No L was found with a value above 1." in found.sentence()
    with pytest.raises(Undecidable, match=r"no value within 0\.2 s"):
        first_crossing("relu-nngp", "rho", Side.ABOVE, HALF, {"L": Integer(10**6)}, seconds=0.2)


def test_what_arb_makes_of_an_interruption_ends_the_search(monkeypatch):
    def integrated(name, at, digits):
        """As python-flint does when its integrand is interrupted."""
        if at["L"] < 3:
            return FormulaValue(name, at, "0", "0", digits)
        try:
            while True:
                pass
        except OutOfTime as error:
            raise SystemError("integrand") from error

    monkeypatch.setattr(crossing, "evaluate_formula", integrated)
    found = first_crossing("relu-nngp", "L", Side.ABOVE, HALF, NINE_TENTHS, seconds=0.5)
    assert (found.at, found.complete, found.unbroken, found.looked_at) == (None, False, 2, 3)


def test_other_system_errors_are_not_hidden(monkeypatch):
    def broken(name, at, digits):
        raise SystemError("broken")

    monkeypatch.setattr(crossing, "evaluate_formula", broken)
    with pytest.raises(SystemError, match="broken"):
        first_crossing("relu-nngp", "L", Side.ABOVE, HALF, NINE_TENTHS, seconds=AMPLE)


def test_a_threshold_may_be_none():
    found = first_crossing("balance-threshold-signal", "alpha", Side.BELOW, Integer(300), {})
    assert (found.value_at.value, found.value_before.value) == (
        evaluate_formula("balance-threshold-signal", {"alpha": found.at}).value,
        "none",
    )
    assert "there is no value: it is none." in found.sentence()


def test_where_the_formula_is_not_defined_is_said():
    at = {"r13": Rational(9, 10), "r23": Rational(9, 10)}
    found = first_crossing("orthant-3", "r12", Side.ABOVE, Rational(1, 4), at)
    edge = Rational(62, 100)  # from which on the determinant is not negative
    assert (found.at, found.value_before) == (edge, None)
    assert "these are no correlations" in found.sentence()


@pytest.mark.parametrize("level", [nan, oo, -oo, zoo, I, Symbol("c"), "1/2", True, None])
def test_levels_that_are_no_real_numbers_are_refused(level):
    with pytest.raises(InvalidInput, match="level"):
        first_crossing("relu-nngp", "L", Side.ABOVE, level, NINE_TENTHS)


TRIPLE = {"r13": Integer(1), "r14": Integer(-1), "r34": Integer(1), "r23": Integer(0), "r24": Integer(0)}
REFUSED = {
    "formula": (("relu-ntc", "L", Side.ABOVE, HALF, NINE_TENTHS), {}, "the nearest are"),
    "parameter": (("relu-nngp", "M", Side.ABOVE, HALF, NINE_TENTHS), {}, "the parameters of relu-nngp are rho, L"),
    "none": (("ridge-filter-constant", "s", Side.ABOVE, HALF, {}), {}, "no parameters"),
    "choice": (("linearisation-exponent", "mode", Side.ABOVE, HALF, {"alpha": Integer(0)}), {}, "a choice between"),
    "side": (("relu-nngp", "L", "above", HALF, NINE_TENTHS), {}, "give Side.ABOVE or Side.BELOW"),
    "range": (("relu-nngp", "L", Side.ABOVE, HALF, {"rho": Integer(2)}), {}, r"in \[-1, 1\]"),
    "sought": (("relu-nngp", "L", Side.ABOVE, HALF, {**NINE_TENTHS, "L": Integer(1)}), {}, "leave it out"),
    "unknown": (("relu-nngp", "L", Side.ABOVE, HALF, {**NINE_TENTHS, "M": Integer(1)}), {}, "the parameters"),
    "nowhere": (("orthant-4", "r12", Side.ABOVE, HALF, TRIPLE), {}, "no correlations"),
    "digits": (("relu-nngp", "L", Side.ABOVE, HALF, NINE_TENTHS), {"digits": 0}, "from 1 to 1000"),
    "no seconds": (("relu-nngp", "L", Side.ABOVE, HALF, NINE_TENTHS), {"seconds": 0}, "a positive number"),
    "nan seconds": (("relu-nngp", "L", Side.ABOVE, HALF, NINE_TENTHS), {"seconds": float("nan")}, "a positive number"),
}


@pytest.mark.parametrize(("arguments", "options", "sentence"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_in_a_sentence(arguments, options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        first_crossing(*arguments, **options)


def test_a_parameter_that_is_missing():
    with pytest.raises(MissingInput, match="rho"):
        first_crossing("relu-nngp", "L", Side.ABOVE, HALF, {})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Rational(1, 8), "0.125"),
        (Integer(10**12), "1000000000000"),
        (Rational(1, 7), "1/7"),
        (sqrt(2), "sqrt(2)"),
        (Integer(0), "0"),
        (Rational(-1, 10**20), "-0.00000000000000000001"),
        (Integer(10) ** 70, "1" + "0" * 70),
    ],
)
def test_numbers_are_written_as_a_person_types_them(value, text):
    assert decimal(value) == text


def test_values_of_many_places_do_not_hold_up_the_search():
    found = first_crossing("flow-filter", "s", Side.ABOVE, Integer(1), {}, seconds=60)
    assert found.at is None
    assert found.furthest == 5 * 10**11  # where 10^11 digits of the distance to 0 would never be written out
