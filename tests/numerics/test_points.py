"""Comparing at points: a difference comes with a witness, agreement is never called more, and points stay inside."""

import mpmath
import pytest
from sympy import (
    Abs,
    FiniteSet,
    Function,
    Heaviside,
    ImageSet,
    IndexedBase,
    Integer,
    Integral,
    Interval,
    Lambda,
    Max,
    Piecewise,
    Range,
    Rational,
    S,
    Symbol,
    Union,
    acos,
    asin,
    besselj,
    cos,
    exp,
    floor,
    oo,
    pi,
    sin,
    sqrt,
    symbols,
)

from numerics.points import POINTS, Agreement, cases, check_steps, compare, has_value, require_signs
from theory import reasons
from theory.derivation import Derivation, How, Outcome, Relation
from theory.errors import InvalidInput

x, y = symbols("x y", real=True)
UNIT = {x: Interval(0, 1), y: Interval(0, 1)}


def test_equal_expressions_agree_at_every_point():
    found = compare(sin(x + y), sin(x) * cos(y) + cos(x) * sin(y), UNIT)
    assert found.agreement is Agreement.AGREE
    assert str(found) == f"{POINTS} points"


@pytest.mark.parametrize(
    ("left", "right"),
    [(sin(2 * x), 2 * sin(x)), (exp(x), 1 + x + x**2 / 2), (sqrt(x**2), x + Rational(1, 10**20)), (x * y, x / y)],
    ids=str,
)
def test_different_ones_differ_at_the_witness(left, right):
    found = compare(left, right, UNIT)
    assert found.agreement is Agreement.DIFFER
    with mpmath.workdps(60):
        assert abs(mpmath.mpmathify((left - right).subs(found.witness).evalf(50))) > 1e-45
    assert all(0 <= value <= 1 for value in found.witness.values())


def test_a_difference_below_the_agreement_is_not_called_a_difference_nor_agreement_at_random():
    # 10^-30 is beyond the 25 digits compared, but the balls are smaller still: the difference is seen
    assert compare(x, x + Rational(1, 10**30), UNIT).agreement is Agreement.DIFFER


def test_numbers_need_one_point():
    assert compare(sqrt(2) ** 2, Integer(2), {}).points == 1
    assert str(compare(pi, Rational(22, 7), {})) == "they are different numbers: 3.1416 and 3.1429"


def test_an_identity_that_holds_only_inside_its_domain():
    assert compare(asin(sin(x)), x, UNIT).agreement is Agreement.AGREE
    assert compare(asin(sin(x)), x, {x: Interval(2, 3)}).agreement is Agreement.DIFFER
    assert compare(Abs(x), x, {x: Interval(-1, 1)}).agreement is Agreement.DIFFER
    assert compare(acos(x) + asin(x), pi / 2, {x: Interval(-1, 1)}).agreement is Agreement.AGREE


@pytest.mark.parametrize(
    "wrong",
    [
        Piecewise((1, x < Rational(1, 10**9)), (0, True)),
        Max(0, Rational(1, 10**9) - x),
        Heaviside(Rational(1, 10**9) - x),
        floor(x + Rational(1, 10**9)),
    ],
)
def test_a_piece_that_points_miss_is_undecided_never_agreement(wrong):
    found = compare(sin(2 * x) + wrong, 2 * sin(x) * cos(x), UNIT)
    assert found.agreement is Agreement.UNDECIDED
    assert "may miss a piece" in found.reason


def test_what_cannot_be_evaluated_is_undecided_never_agreement():
    assert compare(besselj(0, x), besselj(1, x), UNIT).agreement is Agreement.UNDECIDED
    assert compare(besselj(0, x), besselj(0, x) + besselj(1, x) - besselj(1, x), UNIT).agreement is Agreement.AGREE
    assert compare(acos(2 + x), acos(3 + x), UNIT).agreement is Agreement.UNDECIDED


def test_sequences_known_by_their_recursion_are_undecided():
    for sequence in (IndexedBase("theta")[Symbol("L", integer=True)], Function("f")(x)):
        found = compare(sequence, 2 * sequence, {})
        assert found.agreement is Agreement.UNDECIDED
        assert "recursion" in found.reason


def test_the_seed_chooses_the_points():
    witnesses = [compare(sin(x), x, UNIT, seed=seed, formal=True).witness for seed in (0, 0, 1)]
    assert witnesses[0] == witnesses[1] != witnesses[2]


# --- the points lie in the domain, so that a true identity is not refuted outside it ---------------------------------

POSITIVE_INTEGER = Symbol("n", integer=True, positive=True)
INTEGER = Symbol("k", integer=True)
NEGATIVE = Symbol("q", negative=True)


@pytest.mark.parametrize(
    ("symbol", "domain"),
    [
        (x, Interval(0, 1)),
        (x, Interval.open(-1, 0)),
        (x, Interval(0, oo)),
        (x, Interval(-oo, -5)),
        (x, Interval(pi, pi + Rational(1, 1000))),
        (x, Interval(10**6, 10**6 + 1)),
        (x, S.Reals),
        (x, Union(Interval(-1, Rational(-1, 2)), Interval(Rational(1, 2), 1))),
        (INTEGER, Interval.open(0, 3)),
        (INTEGER, Interval(2, oo)),
        (INTEGER, Range(0, 3)),
        (INTEGER, S.Naturals),
        (POSITIVE_INTEGER, None),
        (NEGATIVE, None),
        (Symbol("p", positive=True), None),
    ],
    ids=str,
)
def test_points_are_drawn_inside(symbol, domain):
    for seed in range(40):
        for formal in (True, False):  # two sides that differ everywhere: the first point drawn, and that rounded
            sets = {} if domain is None else {symbol: domain}
            found = compare(symbol**2 + 1, -(symbol**2), sets, seed=seed, formal=formal)
            value = found.witness[symbol]
            assert domain is None or domain.contains(value) == True  # noqa: E712
            assert value.is_integer or not symbol.is_integer
            assert value > 0 or not symbol.is_positive
            assert value < 0 or not symbol.is_negative


@pytest.mark.parametrize(
    ("left", "right", "domain", "most"),
    [
        (sin(3 * x), 3 * sin(x) - 3 * sin(x) ** 3, {x: Interval(0, pi)}, 1),
        (x * (x - 1), S.Zero, {x: Interval(0, 1)}, 10),  # not at 0 nor 1
        (sin(x), x, {x: Interval(pi, pi + Rational(1, 1000))}, 10**4),
        (x + y, 2 * x, {x: Interval(0, 1), y: Interval(x, x + 1)}, 10**3),  # one set depends on the other number
    ],
    ids=str,
)
def test_a_witness_is_as_short_as_the_domain_allows(left, right, domain, most):
    for seed in range(20):
        witness = compare(left, right, domain, seed=seed).witness
        assert (left - right).subs(witness) != 0
        assert all(where.subs(witness).contains(witness[symbol]) for symbol, where in domain.items())
        assert max(value.q for value in witness.values()) <= most


def test_the_sides_are_shown_with_digits_that_tell_them_apart():
    assert str(compare(sqrt(x), x, {x: FiniteSet(0, 1, 4)})) == "they differ at x = 4: 2 and 4"
    one, other = compare(pi * x, pi * x + x / 10**30, {x: Interval(1, 2)}).sides
    assert one != other
    assert len(one) > 30
    assert compare(x, x + x / 10**60, {x: Interval(1, 2)}).sides is None


def test_a_set_in_which_no_point_is_found_leaves_it_undecided():
    found = compare(floor(x), x, {x: ImageSet(Lambda(x, pi * x), S.Naturals)})
    assert found.agreement is Agreement.UNDECIDED
    assert "give an interval or a FiniteSet" in found.reason


def test_of_finite_sets_every_point_is_compared():
    both = {x: FiniteSet(*range(6)), y: FiniteSet(0, sqrt(2))}
    assert cases(x + y, both) == tuple({x: Integer(n), y: number} for n in range(6) for number in (0, sqrt(2)))
    assert compare(Max(x, 0), x, both).points == 6
    assert compare(Max(x, 0), x, both).agreement is Agreement.AGREE  # nothing lies in between
    found = compare(x * (x - 1) * (x - 2) * (x - 3) * (x - 4) * (x - 5), y - y**3 / 2, both)
    assert found.agreement is Agreement.AGREE
    assert found.points == 12
    other = compare(Heaviside(x - Rational(9, 2)), S.Zero, both)  # it differs at one point of six
    assert other.witness == {x: 5}


@pytest.mark.parametrize(
    ("symbol", "number"),
    [(x, oo), (x, besselj(0, 1)), (INTEGER, Rational(1, 2)), (x, Integral(sin(x**2), (x, 0, 1)))],
)
def test_no_point_of_a_finite_set_is_left_out(symbol, number):
    on = {symbol: FiniteSet(1, number)}  # where x^2 = x holds at 1
    with pytest.raises(InvalidInput, match="is not known to have the assumptions of"):
        cases(symbol, on)
    with pytest.raises(InvalidInput, match="is not known to have the assumptions of"):
        require_signs(on)
    found = compare(symbol**2, symbol, on)
    assert found.agreement is Agreement.UNDECIDED
    assert "is not known to have the assumptions of" in found.reason


def test_points_of_finite_sets_may_be_too_many():
    assert cases(x, {x: FiniteSet(*range(101))}) == ()
    assert compare(x**2, x, {x: FiniteSet(*range(101))}).agreement is Agreement.DIFFER
    assert cases(x, {y: FiniteSet(1)}) == ()


def test_has_value_tells_a_formula_without_meaning():
    assert has_value(sqrt(1 - x**2), UNIT)
    assert not has_value(sqrt(-1 - x**2), UNIT)
    assert not has_value(besselj(0, x), UNIT)


# --- the steps of a derivation ----------------------------------------------------------------------------------------


class Because:
    """A reason whose check gives what the test wants."""

    def __init__(self, how, shows=Relation.EQUALS):
        self.how, self.shows = how, shows

    def check(self, before, after):
        return Outcome(self.how, "the obstacle")


def step(after, how, relation=Relation.EQUALS, shows=None):
    reason = Because(how, shows or relation)
    made = Derivation(sin(2 * x), "q", UNIT).then(after, because="so it is", reason=reason, relation=relation)
    (checked,) = check_steps(made)
    return checked.outcome


def test_points_are_asked_only_where_algebra_did_not_decide():
    assert step(2 * sin(x), How.ALGEBRA).how is How.ALGEBRA
    assert step(2 * sin(x) * cos(x), How.WRONG).how is How.WRONG


def test_an_undecided_equality_is_settled_at_points():
    assert step(2 * sin(x) * cos(x), How.UNDECIDED) == Outcome(How.POINTS, f"{POINTS} points")
    wrong = step(2 * sin(x), How.UNDECIDED)
    assert wrong.how is How.WRONG
    assert "they differ at x = " in wrong.detail
    open_ = step(besselj(0, x), How.UNDECIDED)
    assert open_.how is How.UNDECIDED
    assert "the obstacle" in open_.detail


def test_a_limit_or_an_inequality_is_not_compared_as_if_it_were_an_equality():
    assert step(2 * sin(x) * cos(x), How.UNDECIDED, Relation.TENDS_TO).how is How.UNDECIDED
    assert step(Integer(-2), How.UNDECIDED, Relation.EXCEEDS).how is How.UNDECIDED


def test_a_step_must_state_what_its_reason_shows():
    assert step(Integer(-2), How.ALGEBRA, Relation.EXCEEDS).how is How.ALGEBRA
    assert step(Integer(-2), How.ALGEBRA, Relation.EXCEEDS, shows=Relation.EQUALS).how is How.WRONG


def test_a_domain_beyond_the_assumptions_on_its_symbols_is_refused():
    positive = Symbol("t", positive=True)
    made = Derivation(sqrt(positive**2), "q", {positive: Interval(-1, 1)})
    with pytest.raises(InvalidInput, match="positive by its assumptions"):
        check_steps(made.then(positive, because="a root", reason=Because(How.ALGEBRA)))


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        ({Symbol("t", positive=True): Interval(0, 1)}, "leave zero out"),  # where sign(t) is not 1
        ({Symbol("t", real=True, nonzero=True): Interval(-1, 1)}, "leave zero out"),
        ({"x": Interval(0, 1)}, "give sets of symbols"),
        ({x: (0, 1)}, "give sets of symbols"),
        ({x: S.EmptySet}, "there is no value of x in it"),
        ({x: FiniteSet(0.3)}, "the float 0.3 is not exact"),
        ({x: Interval(0, 0.1)}, "the float 0.1 is not exact"),
    ],
)
def test_a_domain_that_says_more_than_the_symbol_or_is_none_is_refused(domain, words):
    with pytest.raises(InvalidInput, match=words):
        require_signs(domain)


def test_a_variable_of_the_statement_cannot_be_defined():
    y = Symbol("y", real=True)
    claimed = Derivation(y**2, "q", {y: Interval(0, 3)}).then(
        Integer(7), because="put in", reason=reasons.Algebra(given={y: 7 ** Rational(1, 2)})
    )
    (checked,) = check_steps(claimed)
    assert checked.outcome.how is How.WRONG
    assert "y" in checked.outcome.detail
