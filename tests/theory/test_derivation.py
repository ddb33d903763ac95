"""A derivation is checked line by line, and says in print how each line was settled."""

import pytest
from sympy import Expr, Integer, Interval, cos, sin, symbols

from theory.derivation import Derivation, How, Outcome, Relation
from theory.errors import InvalidInput
from theory.reasons import Algebra

x, y = symbols("x y", real=True)
RIGHT = Derivation(sin(2 * x) / sin(x), "q", {x: Interval.open(0, 3)}, title="A quotient").then(
    2 * cos(x), because="the double angle", reason=Algebra()
)


class Says:
    """A reason with a given outcome, which counts how often it is asked."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.asked = outcome, 0

    def check(self, before: Expr, after: Expr) -> Outcome:
        self.asked += 1
        return self.outcome


def ending(how: How, detail: str = "") -> Derivation:
    return Derivation(x, "q").then(y, because="so", reason=Says(Outcome(how, detail)))


def test_lines_and_conclusion() -> None:
    assert RIGHT.lines == (sin(2 * x) / sin(x), 2 * cos(x))
    assert RIGHT.conclusion == 2 * cos(x)
    assert Derivation(x, "q").conclusion == x


def test_then_leaves_the_shorter_one_alone() -> None:
    longer = RIGHT.then(cos(x) * 2 + 0 * y, because="nothing", reason=Algebra())
    assert len(RIGHT.steps) == 1
    assert len(longer.steps) == 2
    assert (longer.start, longer.title, longer.domain) == (RIGHT.start, RIGHT.title, RIGHT.domain)


@pytest.mark.parametrize("because", ["", "   ", "\n"])
def test_a_reason_in_words_is_required(because: str) -> None:
    with pytest.raises(InvalidInput, match="because"):
        RIGHT.then(x, because=because, reason=Algebra())


def test_every_step_is_checked_on_its_own() -> None:
    wrong = RIGHT.then(cos(x), because="a mistake", reason=Algebra()).then(
        cos(x) + 0, because="right again", reason=Algebra()
    )
    assert [checked.outcome.proved for checked in wrong.check()] == [True, False, True]
    assert [checked.before for checked in wrong.check()] == list(wrong.lines[:-1])


def test_the_check_is_done_once() -> None:
    reason = Says(Outcome(How.ALGEBRA))
    derivation = Derivation(x, "q").then(y, because="so", reason=reason)
    derivation.check()
    derivation.check()
    assert reason.asked == 1


def test_what_counts_as_proved() -> None:
    assert [how for how in How if Outcome(how).proved] == [How.ALGEBRA, How.LEMMA]


def test_parts_come_first_and_once() -> None:
    lemma = Derivation(x, "l")
    middle = Derivation(x, "m").then(y, because="by l", reason=Algebra(), using=(lemma,))
    whole = Derivation(x, "w").then(y, because="by m", reason=Algebra(), using=(middle, lemma))
    whole = whole.then(x, because="by l", reason=Algebra(), using=(lemma,))
    assert [part.name for part in whole.parts()] == ["l", "m", "w"]


def test_a_bound_at_the_end_is_not_the_conclusion() -> None:
    positive = RIGHT.then(Integer(0), because="cos > 0", reason=Algebra(), relation=Relation.EXCEEDS)
    assert (positive.conclusion, positive.bound) == (2 * cos(x), 0)
    assert RIGHT.bound is None


class TestLatex:
    def test_lines(self) -> None:
        code = RIGHT.to_latex()
        assert code.startswith("\\begin{align*}\nq &= ")
        assert code.endswith("\\end{align*}")
        assert r"&= 2 \cos x" in code
        assert "the double angle" in code
        assert RIGHT._repr_latex_() == code

    def test_relations(self) -> None:
        for relation in Relation:
            line = Derivation(x, "q").then(y, because="so", reason=Algebra(), relation=relation)
            assert f"&{relation.value} y" in line.to_latex()

    def test_nothing_is_said_beside_what_is_proved(self) -> None:
        for how in (How.ALGEBRA, How.LEMMA):
            derivation = ending(how, "a witness")
            assert derivation.to_latex(derivation.check()) == derivation.to_latex()

    @pytest.mark.parametrize(
        ("how", "words"), [(How.POINTS, "at points only"), (How.UNDECIDED, "not decided"), (How.WRONG, "WRONG")]
    )
    def test_what_is_not_proved_is_marked(self, how: How, words: str) -> None:
        derivation = ending(how, "the witness")
        code = derivation.to_latex(derivation.check())
        assert words in code
        assert "the witness" in code
        assert words not in derivation.to_latex()

    def test_reasons_are_escaped(self) -> None:
        code = Derivation(x, "q").then(y, because="100% & $x_1$", reason=Algebra()).to_latex()
        assert r"100\% \& $x_1$" in code
