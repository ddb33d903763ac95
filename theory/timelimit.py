"""A limit on the time that a call into SymPy may take: some of its limits and integrals never return.

The interruption is an exception raised in the calling thread, so it works in any thread; `OutOfTime` is a
`BaseException` because SymPy swallows exceptions on its way.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


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

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    try:
        timer.start()
        try:
            return call()
        finally:
            with lock:  # after this no exception can be on its way
                finished = True
            timer.cancel()
    except mine:
        return None
