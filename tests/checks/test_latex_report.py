r"""The LaTeX of a run: pdflatex compiles it, all stays on the page, and nothing in a claim acts as a command."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sympy import Integer

from checks import Correction, Identity, Source, Verdict, claim
from checks.drawing import Drawing
from checks.findings import DISCOVERIES
from checks.latex_report import figures_folder, latex_report, sentence, write_figures
from checks.ledger import LEDGER
from checks.plot import Axis, Chart, Figure, Panel, Series

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
ATTACK = r"50% & #1 {x} \input{/etc/passwd} \end{document} $\gdef\section{}$ ~ ^ _ < > | ρ₁² “日本” 5$ " + "long " * 60
EVIDENCE = [Identity(name=ATTACK, derivation=Integer(1), claimed=1)]


def attacked(statement):
    return claim(
        id="attacked",
        title=ATTACK,
        source=Source("k", ATTACK, "A & B", ATTACK),
        statement=statement,
        hypotheses=(ATTACK,),
        conditions=(ATTACK,),
        findings=(ATTACK,),
        parts={ATTACK: EVIDENCE},
        correction=Correction(text=ATTACK, latex=statement, parts={ATTACK: EVIDENCE}),
    )


def compiled(folder, text):
    """The log of pdflatex; fails if it reports an error."""
    (folder / "report.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "report.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-2000:]
    return log


def overfull(log):
    return [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]


@needs_tex
def test_a_run_of_the_whole_ledger_compiles_and_stays_on_the_page(tmp_path, unjudged):
    log = compiled(tmp_path, latex_report(unjudged(detail="distance falls at least like size^-1.00", survived=["a_b"])))
    assert [points for points in overfull(log) if points > 2] == []


@needs_tex
@pytest.mark.parametrize(
    "statement",
    [r"\input{/etc/passwd}", r"\gdef\section{}", "a\n\nb", r"\text{x} \\ y", "x % y", "日本", r"\bm{\mathfrak{x}}"],
)
def test_whatever_stands_in_a_claim_compiles(tmp_path, unjudged, statement):
    run = unjudged([attacked(statement)], verdict=Verdict.CORRECTED, survived=[ATTACK], detail=ATTACK)
    compiled(tmp_path, latex_report(run))


def test_nothing_in_a_claim_is_a_command(unjudged):
    for statement in (r"\input{/etc/passwd}", r"\gdef\section{}"):
        text = latex_report(unjudged([attacked(statement)], verdict=Verdict.CORRECTED, survived=[ATTACK]))
        assert not re.search(r"\\(input|gdef)", text)
        assert text.count(r"\end{document}") == 1


def test_only_standard_packages_are_used(unjudged):
    packages = re.findall(r"\\usepackage\{(.*)\}", latex_report(unjudged([])))
    assert packages == ["amsmath", "amssymb", "array", "bm", "graphicx", "longtable"]


def test_all_that_is_known_of_a_claim_is_there(unjudged):
    one = LEDGER["depth-rate"]
    text = latex_report(unjudged([one], survived=["x -> 2"], detail="the detail")).replace("\n  ", " ")
    for known in (one.title, str(one.source), *one.hypotheses, *one.findings, one.correction.text, "the detail"):
        assert sentence(known) in text
    for known in (one.statement, one.correction.latex, r"\textbf{corrected}", "5 of 6", "limes plot depth-rate"):
        assert known in text
    (found,) = [finding for finding in DISCOVERIES if finding.claim == one.id]
    assert sentence(found.so) in text
    assert text.index(sentence(found.so)) < text.index(one.statement)


def test_what_is_not_as_recorded_is_said(unjudged):
    text = latex_report(unjudged([LEDGER["depth-rate"]], verdict=Verdict.UNDECIDED))
    assert r"\textbf{Not as recorded: depth-rate.}" in text
    assert r"\textbf{undecided} (recorded: corrected)" in text
    assert "(this run: undecided)" in text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("C₁,₁ and h⁵", "C$_{1}$,$_{1}$ and h$^{5}$"),
        ("λₙ^(−1/2)", r"$\lambda$$_{n}$\textasciicircum{}($-$1/2)"),
        ("⌊d/2⌋ costs 5$", r"$\lfloor$d/2$\rfloor$ costs 5\$"),
        (r"$x^2$ \input", r"$x^2$ \textbackslash{}input"),
        (r"$\write18{ls}$", r"\texttt{\textbackslash{}write18\{ls\}}"),
    ],
)
def test_sentences(text, code):
    assert sentence(text) == code


def plotted(name, *claims, caption=ATTACK):
    chart = Chart((Panel(Axis("x"), Axis("y"), (Series("a", (1, 2), (1, 2)),)),), 1, caption)
    return Drawing(Figure(name, ATTACK, claims, lambda seed: chart), 0, chart)


@needs_tex
def test_plots_are_files_beside_the_document_each_at_its_first_claim(tmp_path, unjudged):
    pytest.importorskip("matplotlib")
    claims = [LEDGER["depth-limit"], LEDGER["depth-rate"]]
    drawings = [plotted("one", "depth-rate"), plotted("both", "depth-rate", "depth-limit")]
    write_figures(drawings, tmp_path / "report.tex")
    assert sorted(file.name for file in (tmp_path / "report-figures").iterdir()) == ["both.pdf", "one.pdf"]
    text = latex_report(unjudged(claims), None, drawings, "report-figures")
    assert text.count(r"\includegraphics") == 2
    assert (
        text.index("report-figures/both}") < text.index(sentence(claims[1].title)) < text.index("report-figures/one}")
    )
    compiled(tmp_path, text)
    log = compiled(tmp_path, text)
    assert [points for points in overfull(log) if points > 1] == []
    assert "undefined references" not in log


def test_without_plots_the_command_that_draws_each_is_there(unjudged):
    text = latex_report(unjudged([LEDGER["depth-rate"]]))
    assert r"\includegraphics" not in text
    assert r"\texttt{limes plot depth-rate}" in text


@pytest.mark.parametrize(
    ("document", "folder"),
    [("r.tex", "r-figures"), ("a b/50% #1_x.tex", "a b/50-1-x-figures"), ("r", "r-figures"), ("日.tex", "-figures")],
)
def test_the_folder_of_the_plots_is_one_that_tex_can_read(document, folder):
    assert figures_folder(Path(document)) == Path(folder)


def test_no_folder_is_made_for_no_plots(tmp_path):
    write_figures([], tmp_path / "report.tex")
    assert list(tmp_path.iterdir()) == []


def test_evidence_that_was_given_no_mutants_says_so(unjudged):
    assert latex_report(unjudged([LEDGER["depth-rate"]], tried=0)).count("no mutants") == len(
        LEDGER["depth-rate"].evidence()
    )
    assert "no mutants" not in latex_report(unjudged([LEDGER["depth-rate"]]))


def test_the_remark_and_how_to_compile_it_are_said(unjudged):
    text = latex_report(unjudged([LEDGER["depth-rate"]]), remark="no plots: 100%")
    assert text.startswith("% Run pdflatex twice")
    assert r"no plots: 100\%" in text
