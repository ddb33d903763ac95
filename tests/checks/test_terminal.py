"""What is shown: in 80 columns, without colours in a pipe, with all that must be said; progress only when slow."""

import io
import time

import pytest
from rich.console import Console
from sympy import Rational

from checks import (
    Certificate,
    Correction,
    Enclosure,
    Identity,
    Level,
    Source,
    Standing,
    Verdict,
    claim,
    terminal,
    verify,
)
from checks.terminal import WIDTH, Page, progress, show_claim, show_formula, show_list, show_report
from theory.formulas import FORMULAS

SOURCE = Source("W", "A paper with a title that is rather long, as titles of papers tend to be", "arXiv:1", "Theorem 2")
HALF = Identity(name="a half", derivation=Rational(2, 4), claimed=Rational(1, 2))
THIRD = Identity(name="a third", derivation=Rational(2, 4), claimed=Rational(1, 3))
MENDED = Correction(text="it is a half, [not] a third", latex=r"\tfrac12", parts={"the value": [HALF]})
FULL = claim(
    id="one-half",
    title="The value of two quarters, in words that do not fit on one line of eighty columns",
    source=SOURCE,
    statement=r"\tfrac24 = \tfrac13",
    parts={"the value": [THIRD]},
    hypotheses=("numbers are [rational]",),
    conditions=("and finite",),
    findings=("a half is less than one",),
    formulas=("relu-ntk",),
    correction=MENDED,
    expected=Verdict.CORRECTED,
)


def shown(capsys, show, *arguments, **options):
    show(Page(), *arguments, **options)
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert all(len(line) <= WIDTH and line == line.rstrip() for line in text.splitlines())
    return text


def test_a_claim_is_shown_with_everything_that_is_stated(capsys):
    text = shown(capsys, show_claim, FULL)
    for words in (
        "one-half: The value of two quarters",
        "arXiv:1, Theorem 2",
        r"\tfrac24 = \tfrac13",
        "numbers are [rational]",
        "and finite",
        "identity      a third",
        "it is a half, [not] a third",
        "identity      a half",
        "a half is less than one",
        "relu-ntk",
        "corrected",
    ):
        assert words in text


def test_sections_without_content_are_left_out(capsys):
    text = shown(capsys, show_claim, claim(id="half", statement="", evidence=[HALF]))
    assert "Hypotheses" not in text
    assert "Correction" not in text


@pytest.mark.parametrize("name", ["relu-ntk", "depth-crossover"])
def test_a_formula_is_shown_with_its_parameters_and_what_it_is(capsys, name):
    text = shown(capsys, show_formula, FORMULAS[name])
    for parameter in FORMULAS[name].parameters:
        assert f"{parameter.name} in {parameter.range()}" in text
    assert ("Definition" in text) == (FORMULAS[name].expression is None)


def test_the_list_names_every_claim_and_formula(capsys):
    text = shown(capsys, show_list, {"halves": (FULL,)}, FORMULAS)
    assert "Claims, chapter_halves\n  one-half" in text
    assert "  source_W" in text
    assert "arXiv:1" in text
    assert all(name in text for name in FORMULAS)


def test_a_report_says_what_must_be_said(capsys):
    half = claim(id="half", statement="", evidence=[HALF])
    third = claim(id="third", title="[red]no markup[/red]", statement="", evidence=[THIRD])
    report = verify([half, FULL, third], level=Level.QUICK, jobs=1)
    text = shown(capsys, show_report, report, seconds=3.2)
    lines = text.splitlines()
    assert lines[0] == "half                proved     half"
    assert "correction: it is a half, [not] a third" in text
    assert "[red]no markup[/red]" in text
    assert "it should hold" in text
    assert "derived 1/2, claimed 1/3" in text
    assert "3 claims: 1 proved, 1 corrected, 1 refuted." in text
    assert "Level quick, seed 0, 3 s." in text
    assert lines[-1] == "Not as recorded: third."


def test_evidence_is_listed_when_asked_for(capsys):
    report = verify([FULL], level=Level.QUICK, jobs=1)
    text = shown(capsys, show_report, report, seconds=0, evidence=True)
    assert "refuted     identity (a third)" in text
    assert "proved      identity (a half)" in text
    assert "by exact algebra; 5 of 5 mutants rejected" in " ".join(text.split())
    untried = Enclosure(certify=lambda bound: Certificate(Standing.HOLDS, f"below {bound}"), claimed=1)
    report = verify([claim(id="untried", statement="", evidence=[untried])], level=Level.QUICK, jobs=1)
    assert "below 1; no mutants" in shown(capsys, show_report, report, seconds=0, evidence=True)
    assert "Not as recorded" not in text


def test_colours_appear_on_a_terminal(monkeypatch):
    stream = io.StringIO()
    page = Page()
    page.console = Console(file=stream, force_terminal=True, highlight=False, soft_wrap=True, color_system="standard")
    show_report(page, verify([claim(id="half", statement="", evidence=[HALF])], jobs=1), seconds=0)
    assert "\x1b[32mproved" in stream.getvalue()


def terminal_of(stream):
    """What `checks.terminal` takes for a console of standard error: a terminal that is `stream`."""
    return lambda **_: Console(file=stream, force_terminal=True, width=80)


def run_with_progress(monkeypatch, patience, seconds):
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "Console", terminal_of(stream))
    monkeypatch.setattr(terminal, "PATIENCE", patience)
    with progress("judging") as moved:
        moved("one-half", 3, 12)
        time.sleep(seconds)
    return stream.getvalue()


def test_progress_is_shown_when_it_takes_long(monkeypatch):
    assert "judging 3/12 one-half" in run_with_progress(monkeypatch, patience=0.01, seconds=0.4)


def test_progress_is_away_while_something_is_written(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "Console", terminal_of(stream))
    monkeypatch.setattr(terminal, "PATIENCE", 0.01)
    with progress("judging") as moved:
        moved("one-half", 3, 12)
        time.sleep(0.4)
        with moved.hidden():
            shown = len(stream.getvalue())
            assert stream.getvalue().endswith("\x1b[2K")  # the line is empty
            time.sleep(0.3)
            assert len(stream.getvalue()) == shown
        time.sleep(0.3)
    assert "judging 3/12 one-half" in stream.getvalue()[shown:]


def test_no_progress_is_shown_when_it_is_quick(monkeypatch):
    assert "judging" not in run_with_progress(monkeypatch, patience=30, seconds=0)


def test_progress_is_silent_in_a_pipe(capsys):
    with progress("judging") as moved:
        moved("one-half", 3, 12)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
