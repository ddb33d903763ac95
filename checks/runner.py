"""Judging claims: the chunks of their evidence over processes, the same verdict whatever their number.

A chunk's random generator comes from the seed, the claim's id, the evidence's place in it and the chunk's number. The
evidence judges its chunks in order, and the first prefix on which it is done decides; chunks computed beyond are not
looked at. Each chunk runs on one thread, as the bits of a matrix product depend on the number of threads.

The processes are those of this machine, or the workers of a Dask cluster (`checks.cluster`).
"""

from __future__ import annotations

import json
import math
import signal
import sys
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from theory.errors import InvalidInput

from .claims import Claim, JudgedEvidence
from .cluster import Cluster, ClusterLost, connected
from .evidence.base import Evidence
from .journal import Journal, run_key
from .report import ClaimResult, Report
from .verdicts import Finding, Level, Standing, Verdict, verdict_on_claim, verdict_on_part

ALPHA = 1e-6  # the probability that a true claim is refuted by its statistical evidence
Progress = Callable[[str, int, int], None]  # what just ended, chunks done, chunks known of
_Done = tuple["_Stream", int, dict[str, Any]]
_ALONE = threading.Lock()  # a worker with several threads computes one chunk at a time


@dataclass
class _Stream:
    """The chunks of one piece of evidence, and how far they are."""

    claim: Claim
    index: int
    part: str
    corrects: bool
    evidence: Evidence
    alpha: float
    samples: dict[int, Any] = field(default_factory=dict)
    looked_at: int = 0
    finding: Finding | None = None
    seconds: float = 0.0
    asked: int = 0

    def look(self, level: Level) -> None:
        """Judge every prefix that is complete and new, in order; stop at the first that decides."""
        while self.finding is None and self.looked_at in self.samples:
            self.looked_at += 1
            prefix = [self.samples[i]["result"] for i in range(self.looked_at)]
            self.seconds += self.samples[self.looked_at - 1]["seconds"]
            error = self.samples[self.looked_at - 1]["error"]
            if error:
                self.finding = Finding(Standing.UNDECIDED, self.evidence.worth, error)
                return
            try:
                found, more = self.evidence.judge(prefix, level, self.alpha)
            except Exception as problem:  # one claim's failure must not cost the others; it is shown as undecided
                self.finding = Finding(Standing.UNDECIDED, self.evidence.worth, _sentence(problem))
                return
            if not more or self.looked_at >= self.evidence.chunks(level):
                self.finding = found

    def wanted(self, level: Level) -> Iterator[int]:
        """The chunks to compute now: as many again as were looked at, within the budget, until they decide."""
        while self.finding is None and self.asked < min(self.evidence.chunks(level), max(2, 2 * self.looked_at)):
            self.asked += 1
            if self.asked - 1 not in self.samples:
                yield self.asked - 1


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `verify`; the message says what is kept, and how to go on."""

    def __init__(self, book: Journal) -> None:
        super().__init__(f"stopped; {book.kept()}")


def verify(
    claims: Sequence[Claim | str] | Claim | str | None = None,
    *,
    level: Level = Level.STANDARD,
    seed: int = 0,
    jobs: int | None = None,
    cluster: str = "",
    journal: Path | None = None,
    alpha: float = ALPHA,
    progress: Progress | None = None,
    each: Callable[[ClaimResult], None] | None = None,
) -> Report:
    """Judge `claims` (ids of the ledger, or `Claim` objects, or one of them; default the whole ledger).

    `jobs` is the number of processes (default: one per core); with one, nothing leaves this process. `cluster` is the
    address of a Dask scheduler whose workers do the work instead. `journal` is the file in which finished chunks are
    kept until the run ends, so that a killed run goes on where it was. `alpha` is the probability, for each claim, that
    its statistical evidence refutes it although it is true. `each` is called with the result of each claim, in their
    order, as soon as it and all before it are judged.
    Raises `InvalidInput` for an unknown id, a seed that is not a natural number, `jobs < 1`, a cluster that cannot do
    the work, or `alpha` outside (0, 1).
    """
    chosen = _chosen(claims)
    if not isinstance(level, Level):
        raise InvalidInput("level", level, "give Level.QUICK, Level.STANDARD or Level.THOROUGH")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidInput("seed", seed, "give an integer >= 0")
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InvalidInput("jobs", jobs, "give the number of processes, an integer >= 1")
    if jobs is not None and cluster:
        raise InvalidInput("jobs", jobs, "leave it out with a cluster, whose workers are the processes")
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        raise InvalidInput("alpha", alpha, "give a probability between 0 and 1")
    jobs = jobs or cpu_count()
    streams = [stream for one in chosen for stream in _streams(one, alpha)]
    key = run_key(seed, level.value, (one.origin for one in chosen)) if journal else ""
    book = Journal(journal, key)
    results: list[ClaimResult] = []

    def settle() -> None:
        """Take the results of the claims that are judged, up to the first that is not."""
        while len(results) < len(chosen):
            mine = [stream for stream in streams if stream.claim is chosen[len(results)]]
            if any(stream.finding is None for stream in mine):
                return
            results.append(_result(chosen[len(results)], mine))
            if each:
                each(results[-1])

    _restore(streams, book, level)
    try:
        settle()
        with connected(cluster) if cluster else nullcontext() as workers:
            _judge(streams, book, level, seed, workers or jobs, progress, settle)
    except KeyboardInterrupt:
        raise Interrupted(book) from None
    except ClusterLost as lost:
        raise ClusterLost(f"{lost}; {book.kept()}") from None
    book.finish(one.id for one in chosen)
    return Report(seed, level, tuple(results), book.trouble)


def _judge(
    streams: list[_Stream],
    book: Journal,
    level: Level,
    seed: int,
    workers: Cluster | int,
    progress: Progress | None,
    settle: Callable[[], None],
) -> None:
    """Compute chunks until every stream has its finding; `settle` is called after each."""
    done = given = 0

    def tasks() -> Iterator[tuple[_Stream, int]]:
        """The first chunk, in the order of the claims, that can be computed now, again and again until there is none.

        What comes back in the meantime makes more of them, so that the first claims are the first to be judged.
        """
        nonlocal given
        while (task := next(((one, i) for one in streams for i in one.wanted(level)), None)) is not None:
            given += 1
            yield task

    while any(stream.finding is None for stream in streams):
        for stream, i, result in _compute(tasks(), level, seed, workers):
            stream.samples[i] = result
            if not result["error"]:
                book.write(stream.claim.id, stream.index, i, result)
            done += 1
            stream.look(level)
            if progress:
                waiting = sum(one.finding is None and not one.asked for one in streams)
                progress(stream.claim.id, done, given + waiting)
            settle()


def _chosen(claims: Sequence[Claim | str] | Claim | str | None) -> list[Claim]:
    if claims is None:
        from .ledger import LEDGER

        return list(LEDGER.values())
    if isinstance(claims, Claim | str):
        claims = [claims]
    chosen = [_found(one) if isinstance(one, str) else one for one in claims]
    for one in chosen:
        if not isinstance(one, Claim):
            raise InvalidInput("claims", one, "give ids of the ledger or Claim objects")
    unique = {one.id: one for one in chosen}
    if len(unique) < len({id(one) for one in chosen}):
        raise InvalidInput("claims", [one.id for one in chosen], "give different claims different ids")
    return list(unique.values())


def _found(id: str) -> Claim:
    from .ledger import find

    return find(id)


def _streams(claim: Claim, alpha: float) -> list[_Stream]:
    items = claim.evidence()
    statistical = max(1, sum(item.statistical for _, _, item in items))
    return [
        _Stream(claim, index, part, corrects, item, alpha / statistical)
        for index, (part, corrects, item) in enumerate(items)
    ]


def _restore(streams: list[_Stream], book: Journal, level: Level) -> None:
    for stream in streams:
        for i in range(stream.evidence.chunks(level)):
            result = book.read(stream.claim.id, stream.index, i)
            if isinstance(result, dict) and result.keys() >= {"result", "error", "seconds"}:
                stream.samples[i] = result
        stream.look(level)


def generator(seed: int, claim: str, evidence: int, chunk: int) -> np.random.Generator:
    """The random generator of one chunk: a stream of its own for each (seed, claim, evidence, chunk)."""
    key = (zlib.crc32(claim.encode()), evidence, chunk)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def _chunk(evidence: Evidence, claim: str, index: int, chunk: int, level: Level, seed: int) -> dict[str, Any]:
    """Compute one chunk; a failure becomes a sentence."""
    start = time.perf_counter()
    result, error = None, ""
    try:
        with threadpool_limits(limits=1):
            sample = evidence.sample(chunk, generator(seed, claim, index, chunk), level)
        result = json.loads(json.dumps(sample))  # what a resumed run reads is what an unbroken one sees
    except (Exception, SystemExit) as problem:  # shown as the finding of this evidence, undecided
        error = _sentence(problem)
    return {"result": result, "error": error, "seconds": time.perf_counter() - start}


def _sentence(problem: BaseException) -> str:
    last = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return f"it failed with {type(problem).__name__}: {problem} ({where})"


def _compute(tasks: Iterable[tuple[_Stream, int]], level: Level, seed: int, workers: Cluster | int) -> Iterator[_Done]:
    """Yield `(stream, chunk, result)` as they end. `workers` is a cluster, or the number of processes here.

    Each task is asked for when a process is about to be free.
    """
    if workers == 1:
        for stream, i in tasks:
            yield stream, i, _chunk(stream.evidence, stream.claim.id, stream.index, i, level, seed)
        return
    left: dict[int, tuple[_Stream, int]] = {}

    def numbered() -> Iterator[tuple[int, tuple[_Stream, int]]]:
        for number, task in enumerate(tasks):
            left[number] = task
            yield number, task

    try:
        for number, result in _parallel(numbered(), level, seed, workers):
            stream, i = left.pop(number)
            yield stream, i, result
    except ClusterLost:
        raise
    except Exception:  # a worker died, and joblib cannot say of which task
        for number, (stream, i) in list(left.items()):
            yield stream, i, _alone(number, (stream, i), level, seed, workers)


def _alone(number: int, task: tuple[_Stream, int], level: Level, seed: int, workers: Cluster | int) -> dict[str, Any]:
    """The result of one task; where its process dies again, this evidence is undecided and the others go on."""
    try:
        ((_, result),) = _parallel([(number, task)], level, seed, workers)
    except ClusterLost:
        raise
    except Exception as problem:
        if isinstance(workers, Cluster):
            workers.require_scheduler()
        return {"result": None, "error": f"no process could compute it ({type(problem).__name__})", "seconds": 0.0}
    return result


def _parallel(
    tasks: Iterable[tuple[int, tuple[_Stream, int]]], level: Level, seed: int, workers: Cluster | int
) -> Iterator[tuple[int, dict[str, Any]]]:
    calls = (
        delayed(_numbered)(number, _reference(stream), stream.claim.id, stream.index, i, level, seed)
        for number, (stream, i) in tasks
    )
    there = workers.serving() if isinstance(workers, Cluster) else nullcontext()
    jobs = workers if isinstance(workers, int) else -1
    with interrupts_held(), there:
        results = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(calls)  # type: ignore[arg-type]
    yield from results  # type: ignore[misc]


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back inside. Processes started there never see it: this one ends them, without their tracebacks."""
    if not hasattr(signal, "pthread_sigmask"):  # not POSIX
        yield
        return
    resource_tracker.ensure_running()  # started inside, it would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reference(stream: _Stream) -> Evidence | None:
    """None for evidence that a worker finds in its own ledger; the evidence itself for a user's claim."""
    ledger = sys.modules.get("checks.ledger")  # if it was never loaded, the claim is not from there
    known = ledger is not None and ledger.LEDGER.get(stream.claim.id) is stream.claim
    return None if known else stream.evidence


def _numbered(
    number: int, evidence: Evidence | None, claim: str, index: int, chunk: int, level: Level, seed: int
) -> tuple[int, dict[str, Any]]:
    if evidence is None:
        from .ledger import LEDGER

        evidence = LEDGER[claim].evidence()[index][2]
    with _ALONE:
        return number, _chunk(evidence, claim, index, chunk, level, seed)


def _result(claim: Claim, streams: list[_Stream]) -> ClaimResult:
    judged = [
        JudgedEvidence(s.part, s.corrects, s.evidence.name, s.evidence.kind, s.finding, s.seconds)
        for s in streams
        if s.finding is not None
    ]

    def verdicts(corrects: bool) -> list[Verdict]:
        parts = dict.fromkeys(item.part for item in judged if item.corrects is corrects)
        return [
            verdict_on_part(item.finding for item in judged if item.part == part and item.corrects is corrects)
            for part in parts
        ]

    verdict = verdict_on_claim(verdicts(False), verdicts(True))
    return ClaimResult(claim, verdict, tuple(judged), math.fsum(s.seconds for s in streams))
