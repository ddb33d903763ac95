"""Claims: what may be written down, and what is refused in a sentence."""

import re

import pytest
from sympy import Integer, Rational, symbols

from checks import Correction, Identity, Limit, Source, Verdict, claim
from theory.derivation import Derivation
from theory.errors import InvalidInput
from theory.reasons import Algebra

HALF = Identity(name="a half", derivation=Rational(2, 4), claimed=Rational(1, 2))
WRONG = Identity(name="a third", derivation=Rational(2, 4), claimed=Rational(1, 3))
x = symbols("x")


def test_a_claim_in_a_few_words_is_judged():
    result = claim(id="half", statement="2/4 = 1/2", evidence=[HALF]).judged()
    assert result.verdict is Verdict.PROVED
    assert result.as_expected
    assert result.claim.title == "half"
    assert result.claim.origin == __file__


def test_a_wrong_claim_is_refuted_and_not_as_expected_unless_recorded_so():
    assert not claim(id="third", statement="2/4 = 1/3", evidence=[WRONG]).judged().as_expected
    assert claim(id="third", statement="", evidence=[WRONG], expected=Verdict.REFUTED).judged().as_expected
    assert not claim(id="half", statement="", evidence=[HALF], expected=Verdict.REFUTED).judged().as_expected


def test_a_correction_is_judged_by_its_own_evidence():
    def corrected(evidence):
        mended = Correction(text="it is a half", latex=r"\tfrac12", parts={"the value": [evidence]})
        return claim(id="third", statement="2/4 = 1/3", evidence=[WRONG], correction=mended).judged().verdict

    assert corrected(HALF) is Verdict.CORRECTED
    assert corrected(WRONG) is Verdict.REFUTED


def test_evidence_comes_part_by_part_and_that_of_the_correction_last():
    mended = Correction(text="", latex="", parts={"c": [HALF]})
    made = claim(id="one", statement="", parts={"a": [HALF, WRONG], "b": [WRONG]}, correction=mended)
    assert [(part, corrects) for part, corrects, _ in made.evidence()] == [
        ("a", False),
        ("a", False),
        ("b", False),
        ("c", True),
    ]


def test_all_derivations_come_once_each_and_before_those_that_use_them():
    def first():
        return Derivation(x + x, "a").then(2 * x, because="collect", reason=Algebra())

    lemma = first()

    def second():
        return Derivation(4 * x - 2 * x, "b").then(2 * x, because="the same", reason=Algebra(), using=(lemma,))

    parts = {"one": [Limit(derivation=second, claimed=2 * x)], "two": [Limit(derivation=first, claimed=2 * x)]}
    made = claim(id="one", statement="", parts=parts, derivations=(second,))
    assert [derivation.name for derivation in made.all_derivations()] == ["a", "b"]


def test_a_source_says_where():
    source = Source("W", "A paper", "arXiv:1").at("Theorem 2")
    assert str(source) == "A paper, arXiv:1, Theorem 2"
    assert source.key == "W"


@pytest.mark.parametrize("id", ["", "Half", "two words", "under_score", "-a", "a--b", 3, None, "a\n"])
def test_ids_are_lower_case_words_joined_by_hyphens(id):
    with pytest.raises(InvalidInput, match="lower-case words"):
        claim(id=id, statement="", evidence=[HALF])


@pytest.mark.parametrize(
    ("fields", "remedy"),
    [
        ({}, "either evidence"),
        ({"evidence": [HALF], "parts": {"a": [HALF]}}, "either evidence"),
        ({"evidence": HALF}, "give a list"),
        ({"evidence": [HALF, "text"]}, "kind of evidence"),
        ({"parts": {"a": [HALF], "b": []}}, "evidence of b, not empty"),
        ({"parts": {"a": HALF}}, "give a list"),
        ({"evidence": [HALF], "correction": Correction(text="", latex="", parts={"c": []})}, "evidence of c"),
        ({"evidence": [HALF], "hypotheses": "one sentence"}, "tuple of sentences"),
        ({"evidence": [HALF], "expected": "refuted"}, "Verdict.REFUTED"),
        ({"evidence": [HALF], "correction": "it is a half"}, "give a Correction"),
    ],
)
def test_what_is_refused(fields, remedy):
    with pytest.raises(InvalidInput, match=re.escape(remedy)):
        claim(id="one", statement="", **fields)


def test_it_shows_itself_as_mathematics():
    assert claim(id="one", statement="1 = 1", evidence=[HALF])._repr_latex_() == r"$\displaystyle 1 = 1$"


def test_an_integer_may_be_claimed():
    made = claim(id="one", statement="", evidence=[Identity(derivation=Integer(3) - 2, claimed=1)])
    assert made.judged().verdict is Verdict.PROVED
