"""A Dask cluster as the place where chunks are computed, through joblib: the scheduler's address is all it needs.

The results are those of one process, to the last bit, if the workers have the same program and libraries, which is
checked, and processors for which the libraries compute alike, which is not. A worker that dies costs what it was at:
Dask gives that to another. A worker computes one chunk at a time, so processes serve better than threads:
`dask worker ADDRESS --nworkers 4 --nthreads 1`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from theory.errors import InvalidInput, LimesError

from .journal import program_digest

PATIENCE = 5  # seconds until a scheduler must have answered
RESTART = 60  # seconds until a scheduler must have a worker again


class ClusterLost(LimesError):
    """The scheduler does not answer any more, or has no workers."""


class Cluster:
    """A connection to a cluster, open inside `connected`."""

    def __init__(self, client: Any, address: str) -> None:
        self.client = client
        self.address = address

    def serving(self) -> AbstractContextManager[Any]:
        """What `joblib.Parallel` is made for inside goes to the cluster, by a backend of its own."""
        from joblib import parallel_config

        return parallel_config(backend=_backend(self.client, self.address))

    def require_scheduler(self) -> None:
        """Raises `ClusterLost` if the scheduler does not answer."""
        try:
            self.client.sync(self.client.scheduler.identity, callback_timeout=PATIENCE)
        except Exception:
            raise ClusterLost(f"the cluster at {self.address} was lost") from None

    def require_same_program(self) -> None:
        """Raises `InvalidInput` if there are no workers, or one has another version of limes or of its libraries."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InvalidInput("cluster", self.address, "start workers: this scheduler has none") from None
        try:
            digests = self.client.run(program_digest)
        except Exception as problem:
            raise InvalidInput(
                "cluster", self.address, f"install limes where the workers run; there it fails with {_words(problem)}"
            ) from None
        if others := sorted(worker for worker, digest in digests.items() if digest != program_digest()):
            remedy = f"install the limes of this machine, and its libraries, where {others[0]} runs"
            raise InvalidInput("cluster", self.address, f"{remedy} ({len(others)} of {len(digests)} workers differ)")


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The Dask cluster whose scheduler is at `address`, as long as the block lasts.

    Raises `InvalidInput` when Dask is not installed, nothing answers there, or the workers cannot do the work.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InvalidInput("cluster", address, "install Dask first: pip install 'limes[cluster]'") from None
    with _silenced("distributed"):
        _require_scheduler_at(address)
        client = Client(address, timeout=PATIENCE, set_as_default=False)
        try:
            cluster = Cluster(client, address)
            cluster.require_same_program()
            yield cluster
        finally:
            client.close(timeout=PATIENCE)


def _require_scheduler_at(address: str) -> None:
    """Ask who is there before there is a `Client`, which is slow to give up."""
    from distributed.core import rpc

    async def identity() -> Any:
        async with rpc(address, timeout=PATIENCE) as somebody:
            return await asyncio.wait_for(somebody.identity(), PATIENCE)

    try:
        with ThreadPoolExecutor(1) as aside:  # in a notebook this thread has a loop that runs already
            kind = aside.submit(asyncio.run, identity()).result()["type"]
    except Exception as problem:
        kind = _words(problem)
    if kind != "Scheduler":
        raise InvalidInput("cluster", address, f"give a Dask scheduler's address, such as tcp://10.0.0.1:8786 ({kind})")


def _backend(client: Any, address: str) -> Any:
    """joblib's backend for Dask, which would wait for ever for a task that no worker survives: here that is raised."""
    from distributed.scheduler import KilledWorker
    from joblib._dask import DaskDistributedBackend  # joblib gives the class no public name
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    class Backend(DaskDistributedBackend):
        def submit(self, func: Any, callback: Callable[[Any], object] | None = None) -> Any:
            future = super().submit(func, callback)

            def tell(ended: Any) -> None:
                if callback is not None and (problem := ended.exception()) is not None:
                    callback(problem)

            future.add_done_callback(tell)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, KilledWorker):
                raise TerminatedWorkerError(_words(out))  # as processes of this machine end
            if isinstance(out, BaseException):
                raise out
            return super().retrieve_result_callback(out)

        def effective_n_jobs(self, n_jobs: int) -> int:
            try:
                return max(2, super().effective_n_jobs(n_jobs))  # with 1 joblib would compute here, not there
            except TimeoutError:
                raise ClusterLost(f"the cluster at {address} has had no worker for {RESTART} s") from None

    return Backend(client=client, wait_for_workers_timeout=RESTART)


@contextmanager
def _silenced(name: str) -> Iterator[None]:
    """Without the log of `name` and its parts: what has to be said is said in a sentence."""
    loggers = [logging.getLogger(one) for one in logging.root.manager.loggerDict if one.split(".")[0] == name]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _words(problem: BaseException) -> str:
    return " ".join(str(problem).split()) or type(problem).__name__
