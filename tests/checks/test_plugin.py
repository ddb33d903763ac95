"""The pytest plugin, used as a person would: a file of claims of their own, and the claims of the ledger."""

import multiprocessing
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import checks

TEN_LINES = """
from sympy import cos, sin, symbols
from checks import Identity, claim

x = symbols("x", real=True)
double_angle = claim(
    id="double-angle",
    statement=r"\\sin 2x = 2 \\sin x \\cos x",
    evidence=[Identity(derivation=sin(2 * x), claimed=2 * sin(x) * cos(x))],
)
"""
OTHERS = """
import numpy as np
from sympy import Rational, besselj, oo
from checks import Expectation, Prediction, Property, Verdict

wrong = claim(id="wrong", statement="", evidence=[Identity(derivation=sin(2 * x), claimed=2 * sin(x))])
known_wrong = claim(
    id="known-wrong",
    statement="",
    evidence=[Identity(derivation=sin(2 * x), claimed=2 * sin(x))],
    expected=Verdict.REFUTED,
)
open_question = claim(
    id="open-question", statement="", evidence=[Identity(derivation=besselj(0, x), claimed=besselj(1, x) + 1)]
)
raises = claim(id="raises", statement="", evidence=[Property(trial=lambda rng: 1 / 0, mutants={})])
loose = claim(
    id="loose", statement="", evidence=[Property(trial=lambda rng: "", mutants={"the same": lambda rng: ""}, budget=2)]
)

untried = claim(id="untried", statement="", evidence=[Property(trial=lambda rng: "", mutants={}, budget=2)])

def test_an_ordinary_test():
    assert double_angle.statement

class TestClaims:
    inside = claim(id="inside", statement="", evidence=[Identity(derivation=x + x, claimed=2 * x)])
"""


# what is run in a process that has SymPy and the ledger already; the two names that it uses are put before it
IN_PROCESS = """
import os, sys, pytest
os.chdir(folder)
output = os.open("output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
os.dup2(output, 1), os.dup2(output, 2)
sys.stdin, sys.stdout, sys.stderr = open(os.devnull), open(1, "w", closefd=False), open(2, "w", closefd=False)
os.environ |= {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins take long to load
code = pytest.main(arguments)
sys.stdout.flush()
sys.exit(code)
"""


@pytest.fixture(scope="session")
def prepared():
    """Processes that start with all imported, forked from one that has no threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "checks.ledger", "checks.runner"])
    return context


@pytest.fixture
def run(tmp_path, prepared):
    """pytest in a process of its own, in an empty folder, with the plugin; gives its exit code and its output.

    Where it is not `fresh`, which costs two seconds, the process has imported SymPy and the ledger before.
    """

    def run(*arguments, plugin="checks.plugin", fresh=False, **files):
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        arguments = ["-p", "no:cacheprovider", *(["-p", plugin] if plugin else []), *arguments]
        if fresh:
            environment = os.environ | {"PYTHONPATH": str(Path(checks.__file__).parent.parent), "PYTEST_ADDOPTS": ""}
            command = [sys.executable, "-m", "pytest", *arguments]
            done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr
        script = tmp_path / "script"
        script.write_text(f"folder, arguments = {str(tmp_path)!r}, {arguments}\n{IN_PROCESS}")
        process = prepared.Process(target=runpy.run_path, args=(str(script),))
        process.start()
        process.join()
        return process.exitcode, (tmp_path / "output").read_text()

    return run


def test_a_claim_in_ten_lines_runs_under_pytest(run):
    code, output = run("-v", fresh=True, test_mine=TEN_LINES)
    assert code == 0
    assert "test_mine.py::double-angle PASSED" in output
    assert "1 passed" in output


def test_every_kind_of_end(run):
    code, output = run("-v", "-rw", test_mine=TEN_LINES + OTHERS)
    assert code == 1
    outcomes = {
        "double-angle": "PASSED",
        "wrong": "FAILED",
        "known-wrong": "PASSED",
        "open-question": "FAILED",
        "raises": "FAILED",
        "loose": "FAILED",
        "untried": "PASSED",
        "test_an_ordinary_test": "PASSED",
        "TestClaims::inside": "PASSED",
    }
    for name, outcome in outcomes.items():
        assert f"test_mine.py::{name} {outcome}" in output
    # the counterexample and the obstacle are shown, and nothing of the inside of limes
    assert "The claim wrong is refuted" in output
    assert "identity: they differ at x = " in output
    assert "The claim open-question is undecided" in output
    assert "it failed with ZeroDivisionError: division by zero (test_mine.py:" in output
    assert "Traceback" not in output
    assert "runner.py" not in output
    # evidence that accepts all its mutants says nothing; without any it says so, and what to do
    assert "loose: its evidence also accepts the mutant the same" in output
    assert "it accepts every mutant, so it says nothing" in " ".join(output.split())
    assert "untried: property was tried with no mutants; give it wrong versions to reject, mutants={...}" in output


def test_the_number_of_mutants_is_shown_with_the_verdict(run):
    output = run("-rA", "-k", "double-angle or untried", test_mine=TEN_LINES + OTHERS)[1]
    assert re.search(r"proved; (\d+) of \1 mutants rejected", output)
    assert "supported; no mutants" in output


def test_claims_are_chosen_like_tests(run):
    assert "1 passed" in run("-k", "double-angle", test_mine=TEN_LINES + OTHERS)[1]
    assert "1 passed" in run("test_mine.py::known-wrong", test_mine=TEN_LINES + OTHERS)[1]


def test_level_and_seed_are_options(run):
    assert run("--claims-level", "quick", "--claims-seed", "7", test_mine=TEN_LINES)[0] == 0
    for arguments, words in ((("--claims-level", "slow"), "invalid choice"), (("--claims-seed", "-1"), "integer >= 0")):
        code, output = run(*arguments)
        assert code == pytest.ExitCode.USAGE_ERROR
        assert words in output


def test_two_claims_with_one_id_in_a_file_are_refused(run):
    twice = TEN_LINES + "other = claim(id='double-angle', statement='', evidence=double_angle.parts[''])\n"
    code, output = run(test_mine=twice)
    assert code == pytest.ExitCode.INTERRUPTED
    assert "two claims have the id double-angle" in output
    # but one claim under two names is one claim
    assert "1 passed" in run(test_mine=TEN_LINES + "alias = double_angle\n")[1]


def test_without_the_plugin_nothing_changes(run):
    code, _ = run("--claims", plugin=None, test_mine=TEN_LINES)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert run(plugin=None, test_mine=TEN_LINES)[0] == pytest.ExitCode.NO_TESTS_COLLECTED


def test_without_claims_it_is_light(run):
    heavy = "import sys\ndef test_light():\n    assert not {'sympy', 'numpy', 'rich'} & set(sys.modules)\n"
    assert run("-p", "no:hypothesispytest", fresh=True, test_light=heavy)[0] == 0


def test_the_ledger_is_collected_on_request(run):
    from checks.ledger import LEDGER

    code, output = run("--claims", "--collect-only", "-q", test_mine=TEN_LINES)
    assert code == 0
    assert "test_mine.py::double-angle" in output
    assert all(f"limes::{id}" in output for id in LEDGER)
    assert "limes::" not in run("--collect-only", "-q", test_mine=TEN_LINES)[1]


def test_claims_run_in_several_processes(run):
    pytest.importorskip("xdist")
    arguments = ("-n", "2", "--claims", "-k", "double-angle or ntk-layers", "--strict-markers", "--junit-xml", "x.xml")
    code, output = run(*arguments, fresh=True, test_mine=TEN_LINES)
    assert code == 0, output
    assert "2 passed" in output


def test_the_folder_of_claims_is_found(run):
    named = TEN_LINES.replace("double-angle", "in-the-folder")
    files = {"claims__trigonometry": named, "claims__deep": "import no_such_module", "lemmas": TEN_LINES}
    listed = run("--collect-only", "-q", **files)
    assert listed[0] == 0, listed[1]  # what does not import checks is left alone, and so is any other folder
    assert [line for line in listed[1].splitlines() if "::" in line] == ["claims/trigonometry.py::in-the-folder"]
    # nothing is collected twice: not what is asked for by its name, and not what has the name of a test module
    for arguments in (("claims/trigonometry.py",), ("claims",), ()):
        assert "1 passed" in run(*arguments)[1]
    assert "2 passed" in run(claims__test_more=TEN_LINES)[1]


def test_without_the_plugin_the_folder_is_not_looked_at(run):
    assert run(plugin=None, claims__mine=TEN_LINES)[0] == pytest.ExitCode.NO_TESTS_COLLECTED


def chosen(run, expression, *arguments, **files):
    """The names of the items that `-m expression` leaves."""
    code, output = run("--collect-only", "-q", "--strict-markers", "-m", expression, *arguments, **files)
    assert code in (0, pytest.ExitCode.NO_TESTS_COLLECTED), output
    return {line.split("::")[-1] for line in output.splitlines() if "::" in line}


def test_claims_are_chosen_by_chapter_and_by_source(run):
    from checks.ledger import CHAPTERS, LEDGER

    both = {one.id for one in CHAPTERS["features"] if one.source.key == "W"}
    assert chosen(run, "chapter_features and source_W", "--claims") == both
    others = {id for id, one in LEDGER.items() if one not in CHAPTERS["features"]}
    assert chosen(run, "claim and not chapter_features", "--claims") == others


def test_the_sources_of_ones_own_are_markers(run):
    mine = TEN_LINES + (
        'lemma = claim(id="lemma", statement="", evidence=double_angle.parts[""],\n'
        '    source=Source("A & B/7", "A paper", "arXiv:1"))\n'
    ).replace("Source(", "__import__('checks').Source(")
    plain = "def test_ordinary():\n    pass\n"
    assert chosen(run, "source_A___B_7", test_mine=mine, test_plain=plain) == {"lemma"}
    assert chosen(run, "source_own") == {"double-angle"}
    assert chosen(run, "not claim") == {"test_ordinary"}
    assert "@pytest.mark.claim: a claim, judged by limes" in run("--markers")[1]


def test_junit_has_verdict_level_and_seed(run, tmp_path):
    run("--junit-xml", "out.xml", "--claims-level", "quick", "--claims-seed", "7", test_mine=TEN_LINES + OTHERS)
    cases = {case.get("name"): case for case in ElementTree.parse(tmp_path / "out.xml").iter("testcase")}
    for name, verdict in (("double-angle", "proved"), ("wrong", "refuted"), ("open-question", "undecided")):
        said = {one.get("name"): one.get("value") for one in cases[name].iter("property")}
        assert said == {"verdict": verdict, "level": "quick", "seed": "7"}
    (failure,) = cases["wrong"].iter("failure")
    assert "they differ at x = " in failure.text
    assert "level quick, seed 7" in failure.text
