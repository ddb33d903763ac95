"""The command line, as a person or a program uses it. Runs that are stopped are in `tests/checks/test_runner.py`."""

import json
import os
import re
import shlex
import subprocess
import sys
import time

import pytest
from sympy import Function, Rational, Symbol

import checks.ledger
from checks import Correction, Identity, Limit, Source, Verdict, claim
from checks.cli import app, main
from checks.ledger import LEDGER
from theory.derivation import Derivation, How, Outcome
from theory.formulas import FORMULAS

HALF = Identity(name="a half", derivation=Rational(2, 4), claimed=Rational(1, 2))
THIRD = Identity(name="a third", derivation=Rational(2, 4), claimed=Rational(1, 3))
MENDED = Correction(text="it is a half", latex=r"\tfrac12", expression=Rational(1, 2), parts={"the value": [HALF]})
SOURCE = Source("W", "A paper", "arXiv:1", "Theorem 2")


class Because:
    def __init__(self, how):
        self.how = how

    def check(self, before, after):
        return Outcome(self.how, "as it is")


def derived(id, how):
    """A claim whose derivation has a step that is checked with this result."""
    x = Symbol("x", real=True)
    made = Derivation(Function("f")(x), "q").then(Function("g")(x), because="so it is", reason=Because(how))
    return claim(id=id, statement="f = g", evidence=[Limit(derivation=lambda: made, claimed=made.conclusion)])


TINY = {
    one.id: one
    for one in (
        claim(id="half", title="A half", source=SOURCE, statement=r"\tfrac24 = \tfrac12", evidence=[HALF]),
        claim(
            id="third",
            statement=r"\tfrac24 = \tfrac13",
            evidence=[THIRD],
            correction=MENDED,
            conditions=("never",),
            expected=Verdict.CORRECTED,
        ),
        claim(id="wrong", statement=r"\tfrac24 = \tfrac13", evidence=[THIRD]),
        derived("lemma", How.LEMMA),
        derived("undecided-step", How.UNDECIDED),
        derived("wrong-step", How.WRONG),
    )
}


@pytest.fixture(autouse=True)
def tiny_ledger(monkeypatch, tmp_path):
    """A ledger of tiny claims; the journal goes to an empty folder."""
    monkeypatch.setattr(checks.ledger, "LEDGER", TINY)
    monkeypatch.setattr(checks.ledger, "CHAPTERS", {"tiny": tuple(TINY.values())})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


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


# --- verify -----------------------------------------------------------------------------------------------------------


def test_verify_writes_the_promised_json_and_nothing_else(limes):
    code, out, err = limes("verify", "half", "third", "--level", "quick", "--seed", 3, "--jobs", 1, "--json", "-")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert {"schema", "version", "seed", "level", "claims"} <= set(report)
    assert (report["schema"], report["seed"], report["level"]) == (1, 3, "quick")
    half, third = report["claims"]
    assert {"id", "title", "source", "verdict", "seconds", "correction", "conditions", "evidence"} <= set(half)
    assert (half["id"], half["verdict"], half["correction"]) == ("half", "proved", None)
    assert half["source"] == "A paper, arXiv:1, Theorem 2"
    assert third["correction"] == {"text": "it is a half", "latex": r"\tfrac12", "expression": "1/2"}
    assert third["conditions"] == ["never"]
    (piece,) = half["evidence"]
    assert {"name", "kind", "verdict", "detail", "resolution", "seconds", "mutants"} <= set(piece)
    assert piece["mutants"] == {"tried": 5, "killed": 5, "survived": []}


def test_verify_shows_a_report_and_writes_json_to_a_file(limes, tmp_path):
    code, out, _ = limes("verify", "half", "--jobs", 1, "--json", tmp_path / "report.json", "--evidence")
    assert code == 0
    assert "half                proved     A half" in out
    assert "1 claim: 1 proved." in out
    assert json.loads((tmp_path / "report.json").read_text())["claims"][0]["verdict"] == "proved"


def test_the_exit_code_tells_whether_the_verdicts_are_those_recorded(limes):
    assert limes("verify", "third", "--jobs", 1)[0] == 0
    code, out, _ = limes("verify", "half", "wrong", "--jobs", 1)
    assert code == 1
    assert "derived 1/2, claimed 1/3" in out
    assert "Not as recorded: wrong." in out


def test_all_claims_are_judged_by_default(limes):
    _, out, _ = limes("verify", "--jobs", 1, "--level", "quick", "--json", "-")
    assert [entry["id"] for entry in json.loads(out)["claims"]] == list(TINY)


def test_a_journal_that_cannot_be_kept_is_said_and_nothing_more(limes, tmp_path):
    code, _, err = limes("verify", "half", "--jobs", 1, "--journal", tmp_path)
    assert code == 0
    assert "cannot be resumed" in err


# --- list and show ----------------------------------------------------------------------------------------------------


def test_list_names_claims_and_formulas(limes):
    code, out, _ = limes("list")
    assert code == 0
    assert all(re.search(rf"^  {name}\b", out, re.MULTILINE) for name in (*TINY, *FORMULAS))
    data = json.loads(limes("list", "--json")[1])
    assert [entry["id"] for entry in data["claims"]] == list(TINY)
    assert [entry["name"] for entry in data["formulas"]] == list(FORMULAS)


def test_show_tells_all_about_a_claim(limes):
    _, out, _ = limes("show", "third")
    assert all(words in out for words in (r"\tfrac24 = \tfrac13", "never", "a third", "it is a half", "corrected"))
    data = json.loads(limes("show", "third", "--json")[1])
    assert data["statement"] == r"\tfrac24 = \tfrac13"
    assert data["parts"] == [{"part": "", "evidence": [{"name": "a third", "kind": "identity"}]}]
    assert data["correction"]["parts"][0]["part"] == "the value"
    assert data["expected"] == "corrected"


def test_show_tells_all_about_a_formula(limes):
    assert "rho in [-1, 1]" in limes("show", "relu-ntk")[1]
    data = json.loads(limes("show", "depth-leading-error", "--json")[1])
    assert data["expression"] == "3*log(L)/(8*L)"
    assert data["parameters"][0]["name"] == "L"


# --- latex ------------------------------------------------------------------------------------------------------------


def test_latex_writes_only_latex(limes):
    code, out, err = limes("latex", "half")
    assert (code, err) == (0, "")
    assert out == "% half: A paper, arXiv:1, Theorem 2\n\\[\n\\tfrac24 = \\tfrac12\n\\]\n"
    assert limes("latex", "half", "--document")[1].startswith("\\documentclass")
    assert "\\begin{align*}" in limes("latex", "half", "--derivation")[1]


def test_latex_as_json_has_the_same_text_and_the_doubts(limes):
    text = limes("latex", "undecided-step", "--derivation")[1]
    code, out, _ = limes("latex", "undecided-step", "--derivation", "--json")
    data = json.loads(out)
    assert code == 1
    assert data["latex"] + "\n" == text
    assert len(data["doubts"]) == 1


def test_latex_of_checked_lines_ends_well(limes):
    code, out, err = limes("latex", "lemma", "--derivation", "--document")
    assert (code, err) == (0, "")
    assert "so it is" in out


@pytest.mark.parametrize(("id", "word"), [("wrong-step", "wrong"), ("undecided-step", "not decided")])
def test_latex_does_not_pass_a_bad_line_in_silence(limes, id, word):
    code, out, err = limes("latex", id, "--derivation")
    assert code == 1
    assert f"q: {word}: so it is" in err
    assert "as it is" in out  # the line itself says it too


# --- evaluate ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "at",
    [
        ("--at", "rho=3/10", "--at", "L=5"),
        ("--at", "rho=3/10", "L=5"),
        ("--at=rho=0.3", "--at=L=2+3"),
        ("--at", "L=5", "--at", "rho = 3*L/50"),
    ],
)
def test_evaluate_takes_exact_values_in_any_arrangement(limes, at):
    code, out, err = limes("evaluate", "relu-ntk", *at, "--digits", 20, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["at"] == {"rho": "3/10", "L": "5"}
    assert data["value"] == "2.1190002972813307611"
    assert set(data) == {"formula", "at", "value", "radius", "digits"}


def test_evaluate_prints_the_value_and_says_what_it_changed(limes):
    assert limes("evaluate", "depth-crossover", "--at", "s=1")[:2] == (0, "0.46875\n")
    code, out, err = limes("evaluate", "relu-ntk", "--at", "rho=1+2^-52", "L=3", "--digits", 5)
    assert (code, out) == (0, "4\n")
    assert "one unit in the last place" in err


# --- bad usage --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "haf"), "claim = haf: no claim has this id; the nearest are half"),
        (("verify", "half", "--level", "slow"), "'slow' is not one of 'quick', 'standard', 'thorough'"),
        (("verify", "half", "--seed", "-1"), "--seed"),
        (("verify", "half", "--seed", "one"), "--seed"),
        (("verify", "half", "--jobs", "0"), "--jobs"),
        (("verify", "half", "--json", "/nowhere/report.json"), "--json = /nowhere/report.json: give a file"),
        (("verify", "half", "--json", "/"), "--json = /: give a file"),
        (("verify", "half", "--json", "x" * 300), "File name too long"),
        (("show", "relu-nkt"), "the nearest are relu-ntk"),
        (("show", "§"), "listed by limes list"),
        (("show",), "CLAIM|FORMULA"),
        (("latex", "halff"), "the nearest are half"),
        (("evaluate", "relu-ntc", "--at", "rho=0", "L=1"), "the nearest are relu-ntk"),
        (("evaluate", "relu-ntk", "--at", "rho=0"), "L is missing: give an integer in [0, oo)"),
        (("evaluate", "relu-ntk", "--at", "rho=nan", "L=1"), "limes: rho = nan: this is not a number; give one"),
        (
            ("evaluate", "relu-ntk", "--at", "rho=1e400", "L=1"),
            "1" + "0" * 39 + "…" + "0" * 20 + " (401 characters): give",
        ),
        (("evaluate", "ridge-filter-constant", "--at", "rho=0"), "ridge-filter-constant has no parameters"),
        (("evaluate", "relu-ntk", "--at", "rho=0", "L=1", "s=2"), "the parameters of relu-ntk are rho, L"),
        (("evaluate", "relu-ntk", "--at", "rho=2", "L=1"), "rho = 2: give a number in [-1, 1]"),
        (("evaluate", "relu-ntk", "--at", "rho=0", "L=1.5"), "give an integer"),
        (("evaluate", "relu-ntk", "--at", "rho=0", "L=-1"), "L = -1"),
        (("evaluate", "relu-ntk", "--at", "rho=0", "L=10^9"), "give at most"),
        (("evaluate", "relu-ntk", "--at", "rho=0", "L=10^(10^10)"), "more than 4000 digits"),
        (("evaluate", "relu-ntk", "--at", "rho=0", "L=1", "--digits", "10000000"), "digits = 10000000"),
        (("evaluate", "relu-ntk", "--at", "rho=0", "L=1", "--digits", "many"), "--digits"),
        (("evaluate", "relu-ntk", "--at", "rho=__import__('os')", "L=1"), "rho"),
        (("evaluate", "relu-ntk", "--at", "rho=1/0", "L=1"), "division by zero"),
        (("evaluate", "relu-ntk", "--at", "rho", "L=1"), "write name=value"),
        (("nonsense",), "nonsense"),
        (("list", "--colour"), "--colour"),
    ],
)
def test_bad_usage_is_said_in_a_sentence(limes, arguments, words):
    start = time.perf_counter()
    code, out, err = limes(*arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert time.perf_counter() - start < 5


def test_the_help_shows_every_summary_whole(limes):
    code, out, _ = limes("--help")
    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines())
    summaries = re.findall(r"^  [a-z]+ +[A-Z].*\w\.$", out, re.MULTILINE)  # one that is cut off ends in three dots
    assert len(summaries) == len(app.registered_commands)


QUICK_EXAMPLES = {"list", "evaluate", "limit", "plot"}  # the others take minutes, or serve a page


@pytest.mark.parametrize("command", [one.name or one.callback.__name__ for one in app.registered_commands])
def test_every_help_has_an_example(limes, command, monkeypatch, tmp_path):
    code, out, _ = limes(command, "--help")
    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines())
    example = shlex.split(" ".join(out.split("Example: limes ")[1].split()).split(" > ")[0])
    assert example[0] == command
    if command in ("verify", "latex", "show"):  # the ids of the examples are those of the real ledger
        assert set(example[1:]) & set(LEDGER)
    elif command in QUICK_EXAMPLES:
        monkeypatch.chdir(tmp_path)  # for the file that it may write
        assert limes(*example)[0] == 0


# --- as a program -----------------------------------------------------------------------------------------------------


def run_program(*arguments, **environment):
    code = "from checks.cli import main; main()"
    folder = checks.__path__[0] + "/.."
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        check=False,
        env={"PYTHONPATH": folder, "PATH": "/usr/bin:/bin"} | environment,
    )


def test_it_runs_where_unicode_cannot_be_written():
    done = run_program("show", "empirical-ntk", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    done.stdout.decode("ascii")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", ["list --json > /dev/full", "verify ntk-layers --level quick --json /dev/full"])
def test_a_full_disk_is_said_in_a_sentence(arguments):
    done = subprocess.run(
        f"{sys.executable} -c 'from checks.cli import main; main()' {arguments}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": checks.__path__[0] + "/..", "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 2
    assert ": No space left on device" in done.stderr or "(No space left on device)" in done.stderr
    assert "Errno" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_is_closed_is_no_error(closed):
    done = subprocess.run(
        f"{sys.executable} -c 'from checks.cli import main; main()' show relu-ntk {closed}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": checks.__path__[0] + "/..", "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_goes_away_is_no_error():
    folder = checks.__path__[0] + "/.."
    done = subprocess.run(
        f"{sys.executable} -c 'from checks.cli import main; main()' list --json | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": folder, "PATH": "/usr/bin:/bin"},
    )
    assert done.stderr == ""
