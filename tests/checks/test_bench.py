"""`limes bench`: contestants take turns, the table fits, missing peers and missing benchmarks are said."""

import json
import sys

import numpy as np
import pytest

from checks import bench
from checks.bench import Row, compare, machine, peak_memory, table
from checks.cli import main
from checks.commands import bench as command


def test_contestants_take_turns_and_the_first_is_the_measure():
    turns, now = [], [0.0]

    def takes(name, seconds):
        def run():
            turns.append(name)
            now[0] += seconds

        return run

    contestants = {"limes": takes("a", 0.5), "slow": takes("b", 3.0), "batch": takes("c", 1.0)}
    rows = compare(
        "case",
        contestants,
        errors={"slow": 0.5},
        missing={"other": "pip install x"},
        per={"batch": 8},
        clock=lambda: now[0],
    )
    assert turns[:6] == ["a", "b", "c"] * 2  # a warm-up for each, then in turns
    assert turns.count("a") == 1 + bench.RUNS
    assert turns.count("b") == 3  # two of them timed, which took more than the time a contestant has
    assert [(row.contestant, row.shortest, row.ratio, row.error) for row in rows] == [
        ("limes", 0.5, None, None),
        ("slow", 3.0, 6.0, 0.5),
        ("batch", 0.125, 0.25, None),
        ("other", None, None, None),
    ]
    assert rows[3].note == "not installed: pip install x"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured on Linux only")
def test_the_peak_of_a_run_is_measured_though_it_is_freed():
    taken = peak_memory(lambda: np.ones(8_000_000).sum())  # 64 MB
    assert taken is not None
    assert 55e6 < taken < 100e6
    assert peak_memory(lambda: None) < 5e6


def test_where_memory_cannot_be_measured_the_run_is_done_all_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "_CLEAR_REFS", tmp_path / "missing" / "file")
    done = []
    assert peak_memory(lambda: done.append(1)) is None
    assert done == [1]


def test_the_table_fits():
    rows = [
        Row("A kernel", "limes", 1.23e-5, 2.0, None, 123_456_789, 0.0),
        Row("A kernel", "neural-tangents", 123.4, 2e-3, 12345.6, None, 1.5e-8),
        Row("A kernel", "PyTorch", note="not installed: pip install torch"),
        Row("Another", "limes", 4.9, 4.9),
    ]
    lines = table(rows)
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert "12.3 us" in text
    assert "123 MB" in text
    assert "1.23e+04" in text
    assert "PyTorch                       not installed: pip install torch" in text
    assert text.count("A kernel") == text.count("Another") == 1


def test_the_machine_has_no_names_of_people_or_places():
    found = machine()
    assert set(found) == {"processor", "cores", "system", "versions"}
    assert {"limes", "python", "numpy"} <= set(found["versions"])


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(["bench", *arguments])
    return stop.value.code


BENCHMARK = """
import pytest
pytestmark = pytest.mark.benchmark

def test_it(bench, installed):
    assert installed("no_such_module") is None
    bench("A sum", {"limes": lambda: sum(range(10))}, missing={"peer": "pip install peer"})

def test_another(bench):
    assert FINE, "not the same: the comparison would be void"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A checkout with one tiny benchmark; its conftest is the real one."""
    made = tmp_path / "tests" / "benchmarks"
    made.mkdir(parents=True)
    (made / "conftest.py").write_text((command.FOLDER / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = benchmark\naddopts = --import-mode=importlib\n")
    monkeypatch.setenv("PYTHONPATH", str(command.ROOT))
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "FOLDER", made)
    return made


def test_benchmarks_are_run_and_shown(folder, capsys, tmp_path):
    (folder / "test_sums_benchmark.py").write_text(BENCHMARK.replace("FINE", "True"))
    assert run("sums", "--json", str(tmp_path / "rows.json")) == 0
    out = capsys.readouterr().out
    assert "A sum" in out
    assert "not installed: pip install peer" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    data = json.loads((tmp_path / "rows.json").read_text())
    assert data["schema"] == 1
    assert [row["contestant"] for row in data["rows"]] == ["limes", "peer"]
    assert data["machine"]["cores"] >= 1


def test_a_comparison_that_is_void_is_said(folder, capsys):
    (folder / "test_sums_benchmark.py").write_text(BENCHMARK.replace("FINE", "False"))
    assert run() == 1
    out, err = capsys.readouterr()
    assert "A sum" in out  # what was measured is shown
    assert "test_another" in err
    assert "the comparison would be void" in " ".join(err.split())


def test_what_was_measured_before_ctrl_c_is_shown(folder, capsys, monkeypatch):
    def stopped(process, written, moved):
        process.wait()
        raise KeyboardInterrupt

    (folder / "test_sums_benchmark.py").write_text(BENCHMARK.replace("FINE", "False"))
    monkeypatch.setattr(command, "_follow", stopped)
    assert run() == 130
    out, err = capsys.readouterr()
    assert "A sum" in out
    assert "stopped" in err


def test_bad_usage(folder, capsys):
    assert run() == 2
    assert "run it from a source checkout" in capsys.readouterr().err
    (folder / "test_sums_benchmark.py").write_text(BENCHMARK)
    assert run("sum") == 2
    assert "no benchmark has this name; the nearest are sums" in capsys.readouterr().err
