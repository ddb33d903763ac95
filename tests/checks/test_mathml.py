r"""LaTeX as MathML: formulas of the ledger can be set, strictly; what is no formula is refused, and shown as it is."""

import re
from xml.etree.ElementTree import tostring

import pytest

from checks.ledger import LEDGER
from checks.mathml import ELEMENTS, displayed, mathml, sentence
from theory.errors import InvalidInput
from theory.formulas import FORMULAS

STATEMENTS = {id: claim.statement for id, claim in LEDGER.items()}
STATEMENTS |= {f"{id} corrected": claim.correction.latex for id, claim in LEDGER.items() if claim.correction}
STATEMENTS |= {name: formula.definition for name, formula in FORMULAS.items() if formula.definition}


def words(node):
    """All that is read in an element, without white space."""
    return re.sub(r"\s", "", "".join(node.itertext()))


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_formula_of_the_ledger_can_be_set(name):
    mathml(STATEMENTS[name], display=True)
    shown = displayed(STATEMENTS[name])
    assert "untypeset" not in shown.get("class")
    assert {node.tag for node in shown.iter()} <= {"div", "span", *ELEMENTS}


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_is_cut_is_still_all_there(name):
    invisible = re.compile("[\u2061\u200b]")  # what math-core puts at the ends of functions
    whole, cut = (invisible.sub("", words(make(STATEMENTS[name]))) for make in (mathml, displayed))
    assert whole == cut


def test_the_parts_of_a_formula_are_where_they_belong():
    made = mathml(r"\sqrt{1 - \rho^2}", display=True)
    assert words(made.find(".//msqrt")) == "1−ρ2"
    assert words(mathml(r"\frac{3\log L}{8L}").find(".//mfrac")[0]) == "3log\u2061L"
    assert made.get("display") == "block"


@pytest.mark.parametrize(
    "code",
    [
        r"\unheard",
        r"\href{javascript:alert(1)}{x}",
        r"\eqref{a}",  # math-core makes a link of it
        r"\boxed{x}",  # of which browsers show no box
        r"\input{/etc/passwd}",
        r"\write18{ls}",
        r"\gdef\section{}x",
        r"\def\a{\a}\a",
        r"\let\a=b",
        r"\renewcommand{\sum}{x}",
        r"\end{document}",
        r"\]",
        "a $ b",
        "{",
        "a_",
        "{" * 20000 + "}" * 20000,
        r"\sqrt" * 20000,
    ],
)
def test_what_is_no_formula_is_refused_and_shown_as_it_is(code):
    with pytest.raises(InvalidInput, match="LaTeX = "):
        mathml(code)
    shown = displayed(code)
    assert shown.get("class") == "display untypeset"
    assert shown.find("code").text == code


def test_left_and_leftarrow_are_not_the_same():
    mathml(r"a \leftarrow b \le c")


@pytest.mark.parametrize("code", [r"\text{<b>}", r"x < y", r"\operatorname{<img src=x>}", "<script>alert(1)</script>"])
def test_signs_of_html_stay_signs(code):
    text = tostring(displayed(code), encoding="unicode", method="html")
    assert not re.search(r"<(b|img|script)\b", text)


def test_words_outside_of_brackets_are_text_between_formulas():
    shown = displayed(r"x = 1 \text{ for all } y,\quad \left( a \text{ in } b \right) \text{ weak} \Rightarrow z")
    first, second, third, fourth = shown
    assert [words(one) for one in shown] == ["x=1", "y,", "(ainb)", "⇒z"]
    assert (first.tail, third.tail, fourth.tail) == (" for all ", " weak ", " ")
    assert second.get("displaystyle") == "true"


def test_a_long_formula_may_be_broken_before_its_signs_outside_of_brackets():
    (long,) = displayed(r"L_1 = \frac{(a + b)^2}{h^4} - 2(a + |b|)^2 + \left(c = d\right) + e \to -f + g")
    assert long.get("class") == "long"
    assert [words(line) for line in long] == ["L1", "=(a+b)2h4", "−2(a+|b|)2", "+(c=d)", "+e", "→−f", "+g"]
    assert [line[0].get("form") for line in long] == [None, *["infix"] * 6]
    assert {line.get("displaystyle") for line in long} == {"true"}


def test_words_in_an_index_stay_there():
    shown = displayed(r"L_\text{script} + M^{\text{full}}")
    assert len(shown) == 1
    assert words(shown) == "Lscript+Mfull"


def test_a_sentence_has_its_mathematics_between_dollars():
    made = sentence(r"5 $x^2$ and $\unheard$, n >= 2")
    assert [one if isinstance(one, str) else one.tag for one in made] == ["5 ", "math", " and ", "code", ", n ≥ 2"]
    assert sentence("it costs 5$, <b>") == ["it costs 5$, <b>"]
