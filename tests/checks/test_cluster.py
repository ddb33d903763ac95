"""Chunks on a Dask cluster of two processes on this machine: the results of one process, also when a worker dies."""

import json
import os
import signal
import socket
import sys
import threading
import time

import numpy as np
import pytest
from sympy import Rational

from checks import Expectation, Identity, Prediction, Property, claim, verify
from checks.cli import main
from checks.cluster import Cluster, ClusterLost
from theory.errors import InvalidInput

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="Dask is not installed")
HALF = claim(id="half", statement="2/4 = 1/2", evidence=[Identity(derivation=Rational(2, 4), claimed=Rational(1, 2))])
QUIET = {"host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": 60}


def sampled(budget=32, log=os.devnull):
    """A claim that no budget decides; each chunk writes the process that computes it to a log."""

    def draw(rng, count):
        time.sleep(0.05)
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")
        return rng.normal(size=(count, 8)) @ np.ones((8, 1)) + 1

    prediction = Prediction.number(lambda: np.array([1.0]), {"doubled": lambda value: 2 * value})
    evidence = Expectation(draw=draw, prediction=prediction, chunk=200, budget=budget, resolution=1e-3)
    return claim(id="sampled", statement="E x = 1", evidence=[evidence])


def without_seconds(report):
    """The report as JSON, without the times it took."""
    return json.loads(
        json.dumps(report.to_json()), object_hook=lambda d: {k: v for k, v in d.items() if k != "seconds"}
    )


@pytest.fixture(scope="module")
def local():
    """A cluster of two worker processes on the loopback, which restarts those that die."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **QUIET) as cluster:
        yield cluster


def test_the_results_are_those_of_one_process_though_a_worker_is_killed(local, tmp_path):
    log = tmp_path / "log"
    log.touch()
    killed = []

    def kill_one():
        while len(log.read_text().split()) < 6:
            time.sleep(0.02)
        killed.append(int(log.read_text().split()[-1]))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    there = verify([sampled(log=str(log)), HALF, sampled_twice()], cluster=local.scheduler_address)
    killer.join()
    computing = {int(line) for line in log.read_text().split()}
    assert killed
    assert os.getpid() not in computing
    assert len(computing) >= 2
    assert without_seconds(there) == without_seconds(verify([sampled(), HALF, sampled_twice()], jobs=1))


def sampled_twice():
    """A claim with two pieces of evidence that need streams of their own."""

    def trial(rng):
        return "" if rng.uniform() < 1 else "impossible"

    pieces = [Property(trial=trial, mutants={}, chunk=5, budget=4) for _ in range(2)]
    return claim(id="twice", statement="", evidence=pieces)


def test_a_chunk_that_no_worker_survives_costs_only_itself():
    def dies(rng):
        os._exit(3)

    claims = [claim(id="dies", statement="", evidence=[Property(trial=dies, mutants={}, chunk=1, budget=1)]), HALF]
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),  # one death is enough, not four
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **QUIET) as cluster,
    ):
        report = verify(claims, cluster=cluster.scheduler_address)
    assert [result.verdict.value for result in report.claims] == ["undecided", "proved"]
    assert "no process could compute it" in report.claims[0].evidence[0].finding.detail


def test_workers_with_another_program_are_refused(local, monkeypatch):
    here = os.getpid()
    monkeypatch.setattr("checks.cluster.program_digest", lambda: "this" if os.getpid() == here else "another")
    with pytest.raises(InvalidInput, match=r"install the limes of this machine.* where tcp://127\.0\.0\.1"):
        verify(HALF, cluster=local.scheduler_address)


def test_workers_without_limes_are_refused(local, monkeypatch):
    def missing():
        raise ModuleNotFoundError("No module named 'checks'")

    monkeypatch.setattr("checks.cluster.program_digest", missing)
    with pytest.raises(InvalidInput, match=r"install limes where the workers run; .* No module named 'checks'"):
        verify(HALF, cluster=local.scheduler_address)


@pytest.fixture
def impatient(monkeypatch):
    """Give up after a second."""
    monkeypatch.setattr("checks.cluster.PATIENCE", 1)


@pytest.mark.usefixtures("impatient")
def test_a_scheduler_without_workers_is_refused():
    with (
        distributed.LocalCluster(n_workers=0, **QUIET) as empty,
        pytest.raises(InvalidInput, match="start workers: this scheduler has none"),
    ):
        verify(HALF, cluster=empty.scheduler_address)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("address", ["nonsense", "foo://bar:1", "127.0.0.1:99999", "tcp://127.0.0.1:1"])
def test_where_no_scheduler_answers_it_is_said(address):
    with pytest.raises(InvalidInput, match="give a Dask scheduler's address"):
        verify(HALF, cluster=address)


@pytest.mark.usefixtures("impatient")
def test_the_command_says_it_in_a_sentence(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["verify", "ntk-layers", "--cluster", "tcp://127.0.0.1:1"])
    assert stop.value.code == 2
    assert "limes: cluster = tcp://127.0.0.1:1: give a Dask scheduler's address" in capsys.readouterr().err


@pytest.mark.usefixtures("impatient")
def test_what_answers_but_is_no_scheduler_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InvalidInput, match="give a Dask scheduler's address"):
            verify(HALF, cluster=address)


def test_a_cluster_that_is_lost_leaves_what_is_finished(tmp_path, monkeypatch):
    def lost(*arguments):
        raise ClusterLost("the cluster at tcp://x was lost")

    monkeypatch.setattr("checks.runner._judge", lost)
    monkeypatch.setattr("checks.runner.connected", lambda address: Opened())
    with pytest.raises(ClusterLost, match=r"was lost; 0 finished chunks are kept in .*: the same command goes on"):
        verify(HALF, cluster="tcp://x", journal=tmp_path / "journal")


class Opened:
    def __enter__(self):
        return Cluster(None, "tcp://x")

    def __exit__(self, *error):
        return None


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInput, match=r"pip install 'limes\[cluster\]'"):
        verify(HALF, cluster="tcp://127.0.0.1:1")
