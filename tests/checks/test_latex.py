r"""LaTeX of claims: it compiles with amsmath alone, stays on the page, and no unproved line is printed as if it were.

A document compiles here whatever its symbols are called and however long its lines and sentences are.
"""

import re
import shutil
import subprocess

import pytest
from sympy import Function, Interval, Limit, Symbol, cos, expand, log, oo, pi, sin, symbols

from checks import Approach, Correction, Identity, Source, claim
from checks import Limit as LimitEvidence
from checks.latex import CheckedDerivation, checked_derivations, document, for_a_paper, notation, statement
from checks.ledger import LEDGER
from theory.derivation import CheckedStep, Derivation, How, Outcome
from theory.layout import PAGE, breadth
from theory.notation import Meaning
from theory.reasons import Algebra

x = symbols("x", real=True)
NAMES = [
    "50%",
    "a&b",
    "c#",
    "d$",
    "e_f",
    "_",
    "{",
    "}",
    "\\frac",
    "g^h",
    "~",
    '"',
    "αβ",
    "ρ_0",
    "Ω",
    "naïve",
    "日本",
    "x y",
]
NAMES += ["-", "<", ">", "|", "lambda", "N1", "😀", "ℝ", "é"]


class Because:
    def __init__(self, how, detail=""):
        self.outcome = Outcome(how, detail)

    def check(self, before, after):
        return self.outcome


def derived(*derivations, **fields):
    """A claim with these derivations behind it."""
    evidence = [LimitEvidence(derivation=lambda d=d: d, claimed=d.conclusion) for d in derivations]
    return claim(**({"id": "one", "statement": "1 = 1", "evidence": evidence} | fields))


def taken_for_granted(derivation):
    """Each step as if it had been checked, which the tests of the ledger do: here it is only printed."""
    lines = zip(derivation.lines, derivation.steps, strict=False)
    return CheckedDerivation(derivation, tuple(CheckedStep(*line, Outcome(How.ALGEBRA)) for line in lines))


SINE, DOUBLE_ANGLE = sin(2 * x), 2 * sin(x) * cos(x)


def one_step(reason, because="a reason", name="q", start=SINE, end=DOUBLE_ANGLE, **fields):
    return Derivation(start, name, **fields).then(end, because=because, reason=reason)


PAPER = r"\documentclass{article}\usepackage{amsmath}\begin{document}Some words.\input{derivation}\end{document}"
needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")


def compile_document(folder, text):
    """The log of pdflatex; fails if it reports an error."""
    (folder / "document.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log_ = (folder / "document.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log_[-2000:]
    return log_


def overfull(log_):
    """By how much lines run over the margin, and pages over their foot."""
    return [float(points) for points in re.findall(r"Overfull \\[hv]box \(([\d.]+)pt", log_)]


@needs_tex
def test_any_names_compile(tmp_path):
    symbols_ = [Symbol(name, real=True) for name in NAMES]
    total = sum(symbol**k for k, symbol in enumerate(symbols_, 1)) + Function("κ_1")(symbols_[0]) ** 2
    made = one_step(
        Algebra(), "50% & more_of #1 {is} <less> | ~ ^ \\ $x_1 \\le 2$, ρ → ∞, “naïve” 日本", start=total, end=total + 0
    )
    one = derived(
        made,
        title="100% & <title>",
        source=Source("k", "A & B_C", "50%"),
        hypotheses=("n >= 2", "a_b", "ReLU"),
        conditions=("θ < π/2",),
        findings=("1/4 & 3/8",),
        correction=Correction(
            text="it is <1/2> & 50%", latex=r"\tfrac12", parts={"": [Identity(derivation=x, claimed=x)]}
        ),
    )
    compile_document(tmp_path, document(one, checked_derivations(one)))


@needs_tex
def test_long_lines_and_sentences_stay_on_the_page(tmp_path):
    y = symbols("y")
    long_sum = expand((x + 2 * y + 3) ** 7)
    words = "because the sum of all the terms is what it is, $x_1 + x_2 \\le x_3$, " * 6
    made = Derivation(long_sum, r"\lim_{L\to\infty}\Big(\bar\Theta(x, X)\,\bar\Theta^{-1}\Big)_i", title="Long lines")
    for line in (long_sum / (1 + x) ** 2, Limit(long_sum * log(y), y, oo), -long_sum):
        made = made.then(line, because=words, reason=Because(How.POINTS, "12 points"))
    one = derived(
        made,
        statement=r"\lambda_1 \to \frac{n+3}{4},\quad \lambda_2, \dots, \lambda_n \to \frac34;\quad "
        r"\bar\Theta^{(L)}(X, X) \text{ is diagonally dominant and positive definite at sufficient depth}",
        hypotheses=(words, words),
    )
    log_ = compile_document(tmp_path, document(one, checked_derivations(one)))
    assert overfull(log_) == []


@needs_tex
def test_a_line_off_the_page_would_have_been_seen(tmp_path):
    wide = r"\begin{align*} q &= " + " + ".join(["xxxx"] * 60) + r"\end{align*}"
    text = document(derived(one_step(Algebra()))).replace(r"\end{document}", wide + r"\end{document}")
    assert overfull(compile_document(tmp_path, text))


@needs_tex
@pytest.mark.parametrize("id", LEDGER)
def test_what_goes_into_a_paper_compiles_in_a_plain_article_and_stays_in_its_lines(tmp_path, id):
    derivations = [taken_for_granted(derivation) for derivation in LEDGER[id].all_derivations()]
    (tmp_path / "derivation.tex").write_text(text := for_a_paper(LEDGER[id], derivations), encoding="utf-8")
    assert [points for points in overfull(compile_document(tmp_path, PAPER)) if points > 1] == []
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "Without a definition here" not in text


@needs_tex
@pytest.mark.parametrize("id", ["depth-rate", "norm-balance-scheduler"])
def test_a_document_compiles_and_stays_on_the_page(tmp_path, id):
    log_ = compile_document(tmp_path, document(LEDGER[id], checked_derivations(LEDGER[id])))
    assert [points for points in overfull(log_) if points > 1] == []


def test_only_amsmath_is_used():
    text = document(derived(one_step(Algebra())))
    assert re.findall(r"\\usepackage.*", text) == [r"\usepackage{amsmath}"]


def test_the_statement_says_whose_it_is():
    one = claim(
        id="one",
        statement="1 = 1",
        source=Source("k", "A paper", "arXiv:1", "two\nlines"),
        evidence=[Identity(derivation=x, claimed=x)],
    )
    assert statement(one) == "% one: A paper, arXiv:1, two lines\n\\[\n1 = 1\n\\]"


def flat(text):
    """The text as one line, however it was wrapped."""
    return " ".join(text.split())


def test_what_is_wrong_as_published_is_said_in_print_as_are_the_hypotheses():
    mended = Correction(text="it is two", latex="1 + 1 = 2", parts={"": [Identity(derivation=x, claimed=x)]})
    one = derived(one_step(Algebra()), title="A sum", hypotheses=("a", "b"), conditions=("c",), correction=mended)
    printed = flat(re.sub(r"(?m)^%.*", "", for_a_paper(one)))
    assert r"\paragraph{As published} A sum (own claim); not all of it is so: \[ 1 = 1 \]" in printed
    assert r"\paragraph{Corrected} it is two: \[ 1 + 1 = 2 \]" in printed
    assert r"\paragraph{Hypotheses} a; b." in printed
    assert r"\paragraph{Conditions needed besides} c." in printed
    assert "As published" not in for_a_paper(derived(one_step(Algebra())))


def test_what_the_derivations_do_not_give_is_named():
    approach = Approach(
        name="at growing sizes",
        sequence=lambda size, at: 1 + 1 / size,
        claimed=1,
        points=({},),
        sizes=(8, 16, 32),
        order=1,
    )
    limit = LimitEvidence(derivation=lambda: one_step(Algebra()), claimed=DOUBLE_ANGLE)
    one = claim(id="one", statement="1 = 1", parts={"the limit": [limit, approach]})
    made = checked_derivations(one)
    assert "verify one: the limit (approach: at growing sizes)." in flat(for_a_paper(one, made))
    assert "Not derived here" not in for_a_paper(one)
    assert "Not derived here" not in for_a_paper(derived(one_step(Algebra())), made)


def test_a_symbol_of_two_meanings_is_explained_where_it_has_each():
    first = one_step(Algebra(), title="First", where=(Meaning("x", "an angle"), Meaning("q", "a sine")))
    second = one_step(Algebra(), title="Second", where=(Meaning("x", "an input"), Meaning("q", "a sine")))
    printed = flat(for_a_paper(one := derived(first, second), checked_derivations(one)))
    assert r"\paragraph{Notation} $q$ is a sine. \paragraph{First} Here $x$ is an angle." in printed
    assert r"\paragraph{Second} Here $x$ is an input." in printed


def test_a_long_statement_is_broken_outside_brackets_only():
    piece = "x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7 + x_8 + x_9"
    long = rf"{piece},\quad \left({piece}, \quad {piece}\right),\qquad {piece}"
    broken = statement(claim(id="one", statement=long, evidence=[Identity(derivation=x, claimed=x)]))
    rows = broken.split("\\begin{gather*}\n")[1].split("\n\\end{gather*}")[0].split(" \\\\\n")
    assert len(rows) == 3
    assert all(row.count(r"\left") == row.count(r"\right") for row in rows)


def test_every_derivation_is_printed_with_its_title_domain_and_reasons():
    lemma = one_step(Algebra(), "the double angle", title="A lemma", domain={x: Interval(0, pi)})
    made = one_step(Algebra(), "the same", title="A theorem").then(
        2 * sin(x) * cos(x), because="as said", reason=Algebra(), using=(lemma,)
    )
    lemma_latex, theorem_latex = (one.to_latex() for one in checked_derivations(derived(made)))
    assert lemma_latex.startswith(r"\paragraph{A lemma} For $x \in [0, \pi]$:")
    assert r"\text{(the double angle)}" in lemma_latex
    assert theorem_latex.startswith(r"\paragraph{A theorem}")


@pytest.mark.parametrize(
    ("how", "words", "doubtful"),
    [
        (How.ALGEBRA, "(a reason)", False),
        (How.LEMMA, "(a reason)", False),
        (How.POINTS, "[checked at points only: 12 points]", False),
        (How.UNDECIDED, "[not decided: ", True),
        (How.WRONG, "[WRONG: ", True),
    ],
)
def test_a_line_that_is_not_proved_says_so_and_a_doubtful_one_is_reported(how, words, doubtful):
    end = Function("f")(x) if how is How.UNDECIDED else 2 * sin(x) * cos(x)
    (one,) = checked_derivations(derived(one_step(Because(how, "12 points"), end=end, title="A test")))
    assert words in one.to_latex().replace("\n", " ")
    assert one.doubts == ([f"A test: {how.value}: a reason"] if doubtful else [])


@pytest.mark.parametrize("statement_", [r"a = \text{" + "some long words " * 12 + "}", "x = " + " + ".join("y" * 60)])
def test_a_wide_statement_is_broken_where_it_can_be(statement_):
    rows_ = statement(claim(id="one", statement=statement_, evidence=[Identity(derivation=x, claimed=x)])).split(r" \\")
    assert len(rows_) > 2
    assert all(breadth(re.sub(r"\\(begin|end)\{gather\*\}|%.*", "", row)) <= PAGE for row in rows_)


def test_blackboard_letters_are_defined_where_they_are_used():
    line = r"\providecommand{\mathbb}{\mathbf} % for want of amsfonts"
    assert line not in for_a_paper(derived(one_step(Algebra())))
    assert for_a_paper(derived(one_step(Algebra()), statement=r"x \in \mathbb{R}")).startswith(line)


def test_the_notation_says_what_the_symbols_are():
    height = Symbol("H")
    meaning = Meaning(height, "the height of 50% of them", lambda: {height: 2 * x})
    made = one_step(
        Algebra(), start=height + x, end=x + height, name="q", domain={x: Interval(0, pi)}, where=(meaning,)
    )
    assert notation(checked_derivations(derived(made))) == (
        "\\paragraph{Notation}\n$H$ is the height of 50\\% of them, $H = 2 x$."
    )
    assert notation(checked_derivations(derived(one_step(Algebra(), domain={x: Interval(0, pi)})))) == ""


def test_what_is_not_defined_is_said():
    made = one_step(Algebra(), r"as $\kappa$ is", name="q_k")
    assert notation(checked_derivations(derived(made))).endswith(r"Without a definition here: $\kappa$, $x$.")
