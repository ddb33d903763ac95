"""The runner: the same verdict for any number of processes, a failure costs only itself, a broken run goes on."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sympy import Rational

import checks
from checks import Expectation, Identity, Prediction, Property, Standing, Verdict, claim, verify
from checks.evidence import Evidence
from checks.runner import ALPHA, generator
from checks.verdicts import Finding
from theory.errors import InvalidInput

HALF = claim(id="half", statement="2/4 = 1/2", evidence=[Identity(derivation=Rational(2, 4), claimed=Rational(1, 2))])


def sampled(id="sampled", mean=1.0):
    """A cheap claim on a mean; its functions are local, so that processes get them by value."""

    def draw(rng, count):
        return rng.normal(1.0, 1.0, size=(count, 1))

    prediction = Prediction.number(lambda: np.array([mean]), {"doubled": lambda value: 2 * value})
    evidence = Expectation(draw=draw, prediction=prediction, chunk=500, budget=12, resolution=0.3)
    return claim(id=id, statement="E x = 1", evidence=[evidence])


def tried(id, trial):
    """A claim on a property."""
    return claim(id=id, statement="", evidence=[Property(trial=trial, mutants={}, chunk=1, budget=4)])


def without_seconds(report):
    """The report as JSON, without the times it took."""
    return json.loads(
        json.dumps(report.to_json()), object_hook=lambda d: {k: v for k, v in d.items() if k != "seconds"}
    )


def test_the_result_is_the_same_for_any_number_of_processes():
    claims = [sampled(), HALF, sampled("another")]
    one, two, four = (without_seconds(verify(claims, seed=5, jobs=jobs)) for jobs in (1, 2, 4))
    assert one == two == four
    assert [entry["verdict"] for entry in one["claims"]] == ["supported", "proved", "supported"]


def test_the_result_depends_on_the_seed_and_the_claim_and_on_nothing_else():
    def details(claims, **options):
        report = verify(claims, jobs=1, **options)
        return {result.claim.id: result.evidence[0].finding.resolution for result in report.claims}

    both = details([sampled(), sampled("another")], seed=1)
    assert both == details([sampled("another"), sampled()], seed=1)
    assert both["sampled"] != both["another"]
    assert both["sampled"] == details([sampled()], seed=1)["sampled"]
    assert both["sampled"] != details([sampled()], seed=2)["sampled"]


def test_every_chunk_has_a_stream_of_its_own():
    keys = [(0, "a", 0, 0), (1, "a", 0, 0), (0, "b", 0, 0), (0, "a", 1, 0), (0, "a", 0, 1), (42, "a", 0, 0)]
    assert len({generator(*key).integers(2**62) for key in keys}) == len(keys)
    assert generator(0, "a", 0, 0).integers(2**62) == generator(0, "a", 0, 0).integers(2**62)


@dataclass(frozen=True, kw_only=True)
class Scripted(Evidence):
    """Decides when it has seen `decides_at` chunks, and keeps what it was shown."""

    decides_at: int
    shown: list[Any]
    sampled: Any = None
    kind: ClassVar[str] = "scripted"
    worth: ClassVar[Verdict] = Verdict.SUPPORTED
    statistical: ClassVar[bool] = True

    def chunks(self, level):
        return 7

    def sample(self, chunk, rng, level):
        return (chunk, self.sampled)

    def judge(self, samples, level, alpha):
        self.shown.append((list(samples), alpha))
        enough = len(samples) >= self.decides_at
        return Finding(Standing.HOLDS if enough else Standing.UNDECIDED, self.worth, f"{len(samples)}"), not enough


@pytest.mark.parametrize("decides_at", [1, 3, 7])
def test_the_first_prefix_that_decides_is_the_last_one_looked_at(decides_at):
    shown = []
    report = verify([claim(id="one", statement="", evidence=[Scripted(decides_at=decides_at, shown=shown)])], jobs=1)
    assert [len(samples) for samples, _ in shown] == list(range(1, decides_at + 1))
    assert shown[-1][0] == [[chunk, None] for chunk in range(decides_at)]
    assert report.claims[0].evidence[0].finding.detail == f"{decides_at}"


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_result_is_given_as_soon_as_it_and_all_before_are_known(jobs):
    given, at = [], []
    enough = {"late": 3, "early": 1, "last": 7}
    claims = [claim(id=id, statement="", evidence=[Scripted(decides_at=n, shown=[])]) for id, n in enough.items()]

    def each(result):
        given.append(result)
        at.append(done[-1])

    done = [0]
    report = verify(claims, jobs=jobs, progress=lambda ended, count, known: done.append(count), each=each)
    assert tuple(given) == report.claims
    assert [result.claim.id for result in given] == list(enough)
    assert at[0] <= at[1] <= at[2] <= done[-1]  # another process may be ahead when the last is decided
    assert jobs > 1 or at[1] < at[2]  # the first two do not wait for the last


def test_a_spent_budget_leaves_it_undecided():
    report = verify([claim(id="one", statement="", evidence=[Scripted(decides_at=99, shown=[])])], jobs=1)
    assert report.claims[0].verdict is Verdict.UNDECIDED
    assert report.claims[0].evidence[0].finding.detail == "7"


def test_the_error_allowed_is_shared_by_the_statistical_evidence_of_a_claim():
    shown = []
    evidence = [*HALF.parts[""], *(Scripted(decides_at=1, shown=shown) for _ in range(4))]
    verify([claim(id="one", statement="", evidence=evidence)], jobs=1)
    assert [alpha for _, alpha in shown] == [ALPHA / 4] * 4


def test_what_fails_costs_only_itself():
    def raises(rng):
        raise ZeroDivisionError("by nought")

    def dies(rng):
        os._exit(3)

    def leaves(rng):
        sys.exit(3)

    claims = [tried("raises", raises), tried("dies", dies), tried("leaves", leaves), sampled(), HALF]
    report = verify(claims, jobs=2)
    assert [result.verdict.value for result in report.claims] == [*["undecided"] * 3, "supported", "proved"]
    raised, died, left = (result.evidence[0].finding.detail for result in report.claims[:3])
    assert "failed with SystemExit: 3" in left
    assert "failed with ZeroDivisionError: by nought" in raised
    assert "no process could compute it" in died


def test_evidence_that_cannot_judge_or_be_kept_is_undecided():
    class Broken(Scripted):
        def judge(self, samples, level, alpha):
            raise ValueError("no judgement")

    unkept = Scripted(decides_at=1, shown=[], sampled=object())
    for evidence, words in ((Broken(decides_at=1, shown=[]), "no judgement"), (unkept, "not JSON serializable")):
        report = verify([claim(id="one", statement="", evidence=[evidence]), HALF], jobs=1)
        assert [result.verdict.value for result in report.claims] == ["undecided", "proved"]
        assert words in report.claims[0].evidence[0].finding.detail


def test_progress_ends_with_all_that_was_known_of():
    moves = []
    verify([sampled(), HALF], jobs=1, progress=lambda *move: moves.append(move))
    done, known = zip(*((done, known) for _, done, known in moves), strict=True)
    assert list(done) == list(range(1, len(moves) + 1))
    assert list(known) == sorted(known)
    assert done[-1] == known[-1]
    assert {id for id, _, _ in moves} == {"sampled", "half"}


def test_one_claim_may_be_given_without_a_list():
    assert verify(HALF, jobs=1).claims[0].verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"seed": -1}, "integer >= 0"),
        ({"seed": 1.0}, "integer >= 0"),
        ({"seed": True}, "integer >= 0"),
        ({"jobs": 0}, "integer >= 1"),
        ({"jobs": "2"}, "integer >= 1"),
        ({"jobs": 2, "cluster": "tcp://127.0.0.1:1"}, "leave it out with a cluster"),
        ({"alpha": 0}, "between 0 and 1"),
        ({"alpha": 1.0}, "between 0 and 1"),
        ({"level": "quick"}, "Level.QUICK"),
        ({"claims": [HALF, 3]}, "Claim objects"),
        ({"claims": [sampled("half"), HALF]}, "different ids"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        verify(**({"claims": [HALF]} | arguments))


# --- runs that are broken off, in processes of their own --------------------------------------------------------------

SCRIPT = """
import sys, time
import numpy as np
import checks.ledger
from checks import Expectation, Prediction, claim
from checks.cli import main

folder, jobs = sys.argv[1:]

def draw(rng, count):
    time.sleep(0.1)
    with open(f"{folder}/chunks", "a") as log:
        log.write("x")
    return rng.normal(1.0, 1.0, size=(count, 1))

prediction = Prediction.number(lambda: np.array([1.0]), {"doubled": lambda value: 2 * value})
slow = claim(
    id="slow",
    statement="E x = 1",
    evidence=[Expectation(draw=draw, prediction=prediction, chunk=100, budget=32, resolution=0.001)],
)
checks.ledger.find = lambda id: slow
main(["verify", "slow", "--json", f"{folder}/report", "--journal", f"{folder}/journal", "--jobs", jobs])
"""


def start(folder: Path, jobs: int) -> subprocess.Popen:
    folder.mkdir(exist_ok=True)
    script = folder / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(Path(checks.__file__).parent.parent)}
    return subprocess.Popen(
        [sys.executable, script, folder, str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,  # a signal to its group reaches it and its workers, as Ctrl-C does
    )


def computed(folder: Path) -> int:
    """The number of chunks that were computed."""
    log = folder / "chunks"
    return len(log.read_text()) if log.exists() else 0


def wait_for_chunks(folder: Path, process: subprocess.Popen, count: int) -> None:
    limit = time.monotonic() + 60
    while computed(folder) < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < limit
        time.sleep(0.02)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The report of a run that nothing breaks off, and the number of chunks it computes."""
    folder = tmp_path_factory.mktemp("unbroken")
    process = start(folder, 1)
    assert process.wait(60) == 1, process.communicate()[1]  # undecided: no budget reaches that resolution
    return report_in(folder), computed(folder)


def report_in(folder: Path) -> dict:
    text = (folder / "report").read_text()
    return json.loads(text, object_hook=lambda d: {k: v for k, v in d.items() if k != "seconds"})


def finished(folder: Path) -> int:
    """The number of chunks in the journal."""
    with sqlite3.connect(folder / "journal") as database:
        return database.execute("SELECT count(*) FROM chunks").fetchone()[0]


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_goes_on_and_computes_nothing_twice(tmp_path, unbroken, jobs):
    killed = start(tmp_path, jobs)
    wait_for_chunks(tmp_path, killed, 10)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    before, kept = computed(tmp_path), finished(tmp_path)
    assert 10 - jobs <= kept < unbroken[1]
    resumed = start(tmp_path, jobs)
    assert resumed.wait(60) == 1, resumed.communicate()[1]
    assert computed(tmp_path) - before == unbroken[1] - kept
    assert report_in(tmp_path) == unbroken[0]
    assert finished(tmp_path) == 0


KILLED_TEN_TIMES = """
import json, os, signal, sys, time
from pathlib import Path
import numpy as np
from checks import Expectation, Prediction, Property, claim, verify

folder, seed = Path(sys.argv[1]), int(sys.argv[2])

def draw(rng, count):
    time.sleep(0.02)
    return rng.normal(1.0, 1.0, size=(count, 1))

def trial(rng):
    time.sleep(0.001)
    return ""

prediction = Prediction.number(lambda: np.array([1.0]), {"doubled": lambda value: 2 * value})
claims = [
    claim(
        id="mean", statement="",
        evidence=[Expectation(draw=draw, prediction=prediction, chunk=100, budget=40, resolution=0.001)],
    ),
    claim(id="property", statement="", evidence=[Property(trial=trial, mutants={}, budget=8)]),
]

def judged(journal):
    report = verify(claims, jobs=1, seed=5, journal=journal)
    assert not report.trouble, report.trouble
    data = json.dumps(report.to_json())
    return json.loads(data, object_hook=lambda d: {k: v for k, v in d.items() if k != "seconds"})

ends = []
for wait in np.random.default_rng(seed).uniform(0.0, 0.3, 10):
    child = os.fork()  # which saves the time to import everything ten times
    if child == 0:
        judged(folder / "journal")
        os._exit(0)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    ends.append(os.WTERMSIG(os.waitpid(child, 0)[1]))
resumed = judged(folder / "journal")
print(json.dumps({"ends": ends, "resumed": resumed, "unbroken": judged(None)}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
def test_ten_kills_at_random_moments_do_not_change_the_report(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(checks.__file__).parent.parent), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", KILLED_TEN_TIMES, str(tmp_path), "0"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ends"].count(signal.SIGKILL) >= 5  # most were killed at work, and none had more than 0.3 s
    assert found["resumed"] == found["unbroken"]
    assert [entry["verdict"] for entry in found["unbroken"]["claims"]] == ["undecided", "supported"]


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_in_a_sentence_that_says_how_to_go_on(tmp_path, jobs):
    process = start(tmp_path, jobs)
    wait_for_chunks(tmp_path, process, 6)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert output == ""
    (sentence,) = errors.splitlines()
    assert "the same command goes on from there" in sentence
    assert f"{finished(tmp_path)} finished chunks are kept in {tmp_path / 'journal'}" in sentence
