"""Identity, Limit and Asymptotics: algebra proves, points support, a wrong step or a wrong claim is refuted."""

import math
import re
from fractions import Fraction

import pytest
from sympy import FiniteSet, Interval, Limit, Rational, S, acos, asin, besselj, cos, log, oo, pi, sin, sqrt, symbols

from checks import Asymptotics, Identity, Level, Verdict
from checks import Limit as LimitEvidence
from checks.verdicts import Standing
from theory.derivation import Derivation, How, Outcome
from theory.errors import InvalidInput
from theory.reasons import Algebra

x, y = symbols("x y", real=True)
UNIT = {x: Interval(0, 1)}


class Because:
    """A reason whose check gives what the test wants."""

    def __init__(self, how: How, detail: str = "") -> None:
        self.outcome = Outcome(how, detail)

    def check(self, before, after):
        return self.outcome


def derivation(start, *steps, domain=UNIT):
    made = Derivation(start, "q", domain, title="a test")
    for expression, reason in steps:
        made = made.then(expression, because="a reason", reason=reason)
    return made


def test_an_identity_by_algebra_is_proved_and_kills_its_mutants():
    finding = Identity(derivation=sin(2 * x), claimed=2 * sin(x) * cos(x)).examine(Level.QUICK)
    assert finding.verdict is Verdict.PROVED
    assert finding.resolution is None
    assert finding.mutants.tried >= 5
    assert finding.mutants.survived == ()


def test_a_wrong_identity_is_refuted_at_a_point_that_can_be_checked():
    finding = Identity(derivation=sin(2 * x), claimed=2 * sin(x), domain=UNIT).examine(Level.QUICK)
    assert finding.verdict is Verdict.REFUTED
    shown = re.fullmatch(
        r"they differ at x = (\S+): derived sin\(2\*x\) = (\S+), claimed 2\*sin\(x\) = (\S+)", finding.detail
    )
    assert shown
    witness, derived, claimed = map(float, shown.groups())
    assert 0 < witness <= 1
    assert derived == pytest.approx(math.sin(2 * witness), rel=1e-4)
    assert claimed == pytest.approx(2 * math.sin(witness), rel=1e-4)


def test_of_long_formulas_only_the_values_are_shown():
    long = sum(sin(k * x) / k for k in range(1, 12))
    finding = Identity(derivation=long, claimed=long + x, domain=UNIT).examine(Level.QUICK)
    shown = re.fullmatch(r"they differ at x = (\S+): derived (\S+), claimed (\S+)", finding.detail)
    assert shown
    assert float(shown[3]) - float(shown[2]) == pytest.approx(float(shown[1]), abs=1e-3)


def test_two_different_numbers_are_refuted():
    assert Identity(derivation=S(4), claimed=5).examine(Level.QUICK).verdict is Verdict.REFUTED
    assert Identity(derivation=S(4), claimed=oo).examine(Level.QUICK).verdict is Verdict.REFUTED


def test_agreement_at_points_supports_and_says_so():
    # SymPy does not reduce this difference to zero; it holds on [−1, 1]
    start = derivation(acos(x) + asin(x), (pi / 2, Because(How.UNDECIDED)))
    finding = Identity(derivation=lambda: start, claimed=pi / 2).examine(Level.QUICK)
    assert finding.verdict is Verdict.SUPPORTED
    assert "1 of them checked only at points" in finding.detail


@pytest.mark.parametrize(("how", "verdict"), [(How.WRONG, Verdict.REFUTED), (How.UNDECIDED, Verdict.UNDECIDED)])
def test_one_bad_step_decides_even_if_the_conclusion_is_right(how, verdict):
    # Bessel functions cannot be evaluated, so that points do not settle the undecided step
    lemma = derivation(besselj(0, x), (besselj(1, x), Because(how, "the obstacle")))
    made = derivation(x + x).then(2 * x, because="collect", reason=Algebra(), using=(lemma,))
    finding = LimitEvidence(derivation=lambda: made, claimed=2 * x).examine(Level.QUICK)
    assert finding.verdict is verdict
    assert "the obstacle" in finding.detail


def test_a_derivation_that_ends_elsewhere_refutes_the_claim():
    made = derivation(Limit(log(x) / x, x, oo), (S.Zero, Because(How.LEMMA)), domain={})
    finding = Asymptotics(derivation=lambda: made, claimed=Rational(3, 8)).examine(Level.QUICK)
    assert finding.verdict is Verdict.REFUTED
    assert "derived 0, claimed 3/8" in finding.detail
    assert Asymptotics(derivation=lambda: made, claimed=0).examine(Level.QUICK).verdict is Verdict.PROVED


def test_what_cannot_be_compared_is_undecided():
    finding = Identity(derivation=besselj(0, x), claimed=besselj(0, x) + besselj(2, x) * x).examine(Level.QUICK)
    assert finding.standing is Standing.UNDECIDED


def test_on_a_finite_set_it_is_proved_case_by_case():
    on = {x: FiniteSet(0, 1)}
    finding = Identity(derivation=x**2, claimed=x, domain=on).examine(Level.QUICK)
    assert (finding.verdict, finding.detail) == (Verdict.PROVED, "by exact algebra in each of 2 cases")
    assert finding.mutants.tried >= 2  # x^2 is none: it is equal there
    assert finding.mutants.survived == ()
    mixed = Identity(derivation=x**2 * sin(2 * y), claimed=2 * x * sin(y) * cos(y), domain=on | {y: Interval(0, 1)})
    assert mixed.examine(Level.QUICK).verdict is Verdict.PROVED
    wrong = Identity(derivation=x**2, claimed=x, domain={x: FiniteSet(0, 1, 3)}).examine(Level.QUICK)
    assert (wrong.verdict, wrong.detail) == (Verdict.REFUTED, "they differ at x = 3: derived x**2 = 9, claimed x = 3")
    nowhere = Identity(derivation=1 / x, claimed=x, domain={x: FiniteSet(0, 1)})
    assert nowhere.examine(Level.QUICK).verdict is Verdict.UNDECIDED  # 1/0 is no number
    with pytest.raises(InvalidInput, match="there is no value of x in it"):
        Identity(derivation=x**2, claimed=x, domain={x: S.EmptySet}).examine(Level.QUICK)


@pytest.mark.parametrize(
    ("claimed", "words"),
    [
        (0.1, r"claimed = 0.1: the float 0.1 is not exact; give Rational\('0.1'\)"),
        (0.25 * x, r"claimed = 0.25\*x: the float 0.25 is not exact; give Rational\('0.25'\)"),
        (float("nan"), "claimed = nan: give an exact value"),
        (float("inf"), "claimed = inf: give an exact value"),
        (S.NaN, "claimed = nan: give an exact value"),
        (S.ComplexInfinity, "claimed = zoo: give an exact value"),
        (1j, "claimed = 1j: give an exact value"),
        (None, "claimed = None: give an exact value"),
        (True, "claimed = True: give an exact value"),
        ("x", "claimed = x: give an exact value.*text is never evaluated"),
        (symbols("x"), "its symbol x occurs with other assumptions"),
    ],
)
def test_what_is_claimed_must_be_exact(claimed, words):
    with pytest.raises(InvalidInput, match=words):
        Identity(derivation=x / 10, claimed=claimed)


def test_a_fraction_is_exact():
    assert Identity(derivation=x / 10, claimed=Fraction(1, 10) * x).examine(Level.QUICK).verdict is Verdict.PROVED
    assert Identity(derivation=S.One / 10, claimed=Fraction(1, 10)).examine(Level.QUICK).verdict is Verdict.PROVED


def test_derivations_and_domains_that_are_none_are_refused():
    with pytest.raises(InvalidInput, match=r"the float 0\.1 is not exact"):
        Identity(derivation=0.1 * x, claimed=x / 10)
    with pytest.raises(InvalidInput, match="give the set of each symbol"):
        Identity(derivation=x, claimed=x, domain=Interval(0, 1))
    with pytest.raises(InvalidInput, match="its symbol x occurs with other assumptions"):
        Identity(derivation=x, claimed=x, domain={symbols("x"): Interval(0, 1)})
    with pytest.raises(InvalidInput, match="give a function that returns a Derivation"):
        LimitEvidence(derivation=lambda: x, claimed=x).examine(Level.QUICK)


def test_text_and_other_things_are_refused():
    with pytest.raises(InvalidInput, match="text is never evaluated"):
        Identity(derivation=x, claimed="x")
    with pytest.raises(InvalidInput, match="a function that returns a Derivation"):
        Identity(derivation="x", claimed=x)


def test_an_expression_becomes_a_derivation_of_one_step():
    made = Identity(derivation=sqrt(x**2), claimed=abs(x)).derive()
    assert made.lines == (sqrt(x**2), abs(x))
    assert made.to_latex().startswith("\\begin{align*}\n&")
