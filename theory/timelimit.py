"""A limit on the time that a call into SymPy may take: some of its limits and integrals never return.

The interruption is an exception raised in the calling thread, so it works in any thread; `OutOfTime` is a
`BaseException` because SymPy swallows exceptions on its way.

One thread watches all calls. A new thread for each would not do: CPython gives a thread that is just being made the
identity of its maker, and would raise the exception there, where it is lost and its maker waits for ever.
"""

from __future__ import annotations

import ctypes
import heapq
import queue
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import TypeVar

T = TypeVar("T")
AGAIN = 0.1  # seconds after which a call that goes on is interrupted again


class OutOfTime(BaseException):
    """The time is up. Raised inside the call, caught by `within`."""


def within(seconds: float, call: Callable[[], T]) -> T | None:
    """What `call()` returns, or None when it took longer than `seconds` (a long step in C is waited for).

    >>> within(5, lambda: 1 + 1)
    2
    >>> within(0.05, lambda: [n for n in iter(int, 1)]) is None
    True
    """
    mine = type("OutOfTime", (OutOfTime,), {})  # an outer limit must pass through an inner one
    thread, lock, finished = threading.get_ident(), threading.Lock(), False

    def expire() -> None:
        with lock:
            if not finished:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(mine))
                _watch(AGAIN, expire)  # in a finalizer it is lost, and another limit's may take its place

    passing: OutOfTime | None = None
    try:
        try:
            _watch(seconds, expire)
            return call()
        finally:
            while not finished:  # even if an outer limit expires just here: else this one would hit a later call
                try:
                    with lock:  # after this no exception can be on its way
                        finished = True
                except OutOfTime as outer:
                    passing = outer
            if passing is not None:
                raise passing
    except mine:
        return None


_Limit = tuple[float, int, Callable[[], None]]  # when, in which order, what then
_limits: queue.SimpleQueue[_Limit] = queue.SimpleQueue()  # which an exception in the midst of `put` leaves whole
_order = count()
_starting = threading.Lock()
_watcher: threading.Thread | None = None


def _watch(seconds: float, expire: Callable[[], None]) -> None:
    """Have `expire` called in so many seconds."""
    global _watcher
    with _starting:
        if _watcher is None or not _watcher.is_alive():  # it does not live through a fork
            _watcher = threading.Thread(target=_expire_in_time, name="time limits", daemon=True)
            _watcher.start()
    _limits.put((time.monotonic() + seconds, next(_order), expire))


def _expire_in_time() -> None:
    pending: list[_Limit] = []
    while True:
        try:
            wait = max(0.0, pending[0][0] - time.monotonic()) if pending else None
            heapq.heappush(pending, _limits.get(timeout=wait))
        except queue.Empty:
            heapq.heappop(pending)[2]()
