"""`limes report`, as a person uses it: what it writes, what it says, and what it refuses before anything is judged."""

import json
import re

import pytest
from sympy import Rational

import checks.ledger
from checks import Correction, Identity, Verdict, claim, figures
from checks.cli import main
from checks.plot import Axis, Chart, Figure, Panel, Series

HALF = Identity(name="a half", derivation=Rational(2, 4), claimed=Rational(1, 2))
THIRD = Identity(name="a third", derivation=Rational(2, 4), claimed=Rational(1, 3))
MENDED = Correction(text="it is a half", latex=r"\tfrac12", expression=Rational(1, 2), parts={"the value": [HALF]})
TINY = {
    one.id: one
    for one in (
        claim(id="half", title="A half", statement=r"\tfrac24 = \tfrac12", evidence=[HALF]),
        claim(id="third", statement=r"\tfrac13", evidence=[THIRD], correction=MENDED, expected=Verdict.CORRECTED),
        claim(id="wrong", statement=r"\tfrac24 = \tfrac13", evidence=[THIRD]),
    )
}
CHART = Chart((Panel(Axis("x"), Axis("y"), (Series("a", (1, 2), (1, 2)),)),), 1, "A caption.")


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    """A ledger of tiny claims with one figure, and an empty folder to work in."""
    monkeypatch.setattr(checks.ledger, "LEDGER", TINY)
    monkeypatch.setattr(figures, "FIGURES", {"tiny": Figure("tiny", "A tiny figure", ("half",), lambda seed: CHART)})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def limes(capsys):
    """Run `limes` in this process; gives its exit code, standard output and standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return stop.value.code, captured.out, captured.err

    return run


@pytest.fixture
def run_file(limes, tmp_path):
    """A run of `half` and `third`, written by `limes verify --json`."""
    limes("verify", "half", "third", "--jobs", 1, "--seed", 3, "--level", "quick", "--json", "run.json")
    return tmp_path / "run.json"


def test_a_run_is_judged_shown_and_written(limes, tmp_path):
    code, out, err = limes("report", "half", "third", "--html", "r.html", "--latex", "r.tex", "--jobs", 1)
    assert (code, err) == (0, "")
    assert "2 claims: 1 proved, 1 corrected." in out
    assert out.endswith("r.html\nr.tex\n")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "A tiny figure" in page
    assert "Level standard, seed 0" in page
    document = (tmp_path / "r.tex").read_text(encoding="utf-8")
    assert re.match(r"% Run pdflatex twice.*\n\\documentclass", document)
    assert not any("not drawn yet" in text for text in (page, document))


def test_a_run_that_was_written_is_not_judged_again(limes, run_file, tmp_path, monkeypatch):
    monkeypatch.setattr("checks.runner.verify", None)
    first = limes("report", "--from", run_file, "--html", "r.html", "--latex", "r.tex")
    assert first == (0, "2 claims: 1 proved, 1 corrected. 10 of 10 mutants rejected.\nr.html\nr.tex\n", "")
    written = [(tmp_path / name).read_bytes() for name in ("r.html", "r.tex")]
    assert limes("report", "--from", run_file, "--html", "r.html", "--latex", "r.tex") == first
    assert [(tmp_path / name).read_bytes() for name in ("r.html", "r.tex")] == written
    assert b"Level quick, seed 3" in written[0]


def test_claims_are_chosen_from_a_run(limes, run_file, tmp_path):
    assert limes("report", "third", "--from", run_file, "--html", "r.html")[0] == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.findall(r'id="(claim-[a-z]+)"', page) == ["claim-third"]
    assert "<svg" not in page


def test_the_exit_code_tells_whether_the_verdicts_are_those_recorded(limes, run_file):
    code, out, _ = limes("report", "wrong", "--html", "r.html", "--jobs", 1, "--no-figures")
    assert code == 1
    assert "Not as recorded: wrong." in out
    data = json.loads(run_file.read_text())
    data["claims"][0]["verdict"] = "undecided"
    run_file.write_text(json.dumps(data))
    assert limes("report", "--from", run_file, "--latex", "r.tex")[0] == 1


def test_without_plots(limes, run_file, tmp_path, monkeypatch):
    limes("report", "--from", run_file, "--html", "r.html", "--no-figures")
    assert "<svg" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    code, _, err = limes("report", "--from", run_file, "--html", "r.html")
    assert code == 0
    assert err.startswith("limes: no plots in the page: figures need matplotlib")
    assert "no plots in the page" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_plot_that_fails_is_said_and_costs_no_more(limes, run_file, tmp_path, monkeypatch):
    monkeypatch.setitem(figures.FIGURES, "bad", Figure("bad", "A bad figure", ("half",), lambda seed: 1 / 0))
    code, _, err = limes("report", "--from", run_file, "--html", "r.html")
    assert (code, err) == (0, "limes: plots that failed: bad (ZeroDivisionError: division by zero)\n")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 1
    assert "plots that failed: bad" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--html = nothing: give --html FILE, --latex FILE, or both"),
        (("--html", "/nowhere/r.html"), "--html = /nowhere/r.html: give a file that can be written"),
        (("--latex", "/"), "--latex = /: give a file that can be written"),
        (("--html", "-"), "--html = -: give a file"),
        (("--html", "r", "--latex", "r"), "--latex = r: give a file, another for each kind"),
        (("--html", "./r", "--latex", "r"), "--latex = r: give a file, another for each kind"),
        (
            ("--html", "run.json", "--from", "run.json"),
            "--html = run.json: give a file, another for each kind, and none",
        ),
        (("hlf", "--html", "r.html"), "no claim has this id; the nearest are half"),
        (("--html", "r.html", "--from", "nothing.json"), "--from = nothing.json: give a file that can be read"),
        (("--html", "r.html", "--from", "run.json", "--level", "quick"), "--level = "),
        (("--html", "r.html", "--from", "run.json", "--seed", "0"), "--seed = 0: leave it out"),
        (("--html", "r.html", "--from", "run.json", "--jobs", "1"), "--jobs = 1: leave it out"),
        (("--html", "r.html", "--from", "run.json", "--journal", "j"), "--journal = "),
        (("fourth", "--html", "r.html", "--from", "run.json"), "claim = fourth: this run has half, third"),
    ],
)
def test_mistakes_are_said_in_a_sentence(limes, run_file, tmp_path, arguments, words):
    code, out, err = limes("report", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "r.html").exists()


def test_a_broken_run_is_refused_with_the_place(limes, run_file):
    data = json.loads(run_file.read_text())
    data["claims"][1]["verdict"] = "true"
    run_file.write_text(json.dumps(data))
    code, out, err = limes("report", "--from", run_file, "--html", "r.html")
    assert (code, out) == (2, "")
    assert "run.claims[1].verdict = true: it must be one of proved, certified" in err


def test_what_was_judged_is_written_before_the_plots_are_drawn(limes, run_file, tmp_path, monkeypatch):
    seen = []

    def draw(seed):
        seen.extend((tmp_path / name).read_text(encoding="utf-8") for name in ("r.html", "r.tex"))
        return CHART

    monkeypatch.setattr(figures, "FIGURES", {"seen": Figure("seen", "A figure", ("half",), draw)})
    assert limes("report", "--from", run_file, "--html", "r.html", "--latex", "r.tex")[0] == 0
    assert len(seen) == 2
    assert all("the plots were not drawn yet" in text and "half" in text for text in seen)


def test_a_full_disk_costs_the_page_and_not_the_verdicts(limes):
    code, out, err = limes("report", "half", "--html", "/dev/full", "--jobs", 1, "--no-figures")
    assert code == 2
    assert "half                proved" in out
    assert "--html = /dev/full: give a file that can be written" in err
