"""A call is interrupted where it stands, whatever it swallows, and never afterwards."""

import threading
import time
from contextlib import suppress

import pytest

from theory.timelimit import OutOfTime, within


def forever() -> None:
    while True:
        pass


def test_result_is_passed_on() -> None:
    assert within(10, lambda: "done") == "done"


def test_endless_call_ends() -> None:
    start = time.monotonic()
    assert within(0.1, forever) is None
    assert time.monotonic() - start < 5


def test_errors_of_the_call_are_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        within(10, lambda: 1 / 0)


def test_handlers_of_exceptions_do_not_stop_it() -> None:
    def swallows() -> None:
        while True:
            with suppress(Exception):
                forever()

    assert within(0.1, swallows) is None


def test_outer_limit_passes_through_the_inner() -> None:
    reached: list[str] = []

    def outer() -> None:
        within(60, forever)
        reached.append("after the inner limit")

    assert within(0.1, outer) is None
    assert not reached


def test_inner_limit_leaves_the_outer_call_running() -> None:
    assert within(60, lambda: (within(0.1, forever), "went on")) == (None, "went on")


def test_no_interruption_arrives_late() -> None:
    """Calls that end about when their time does: the exception is raised inside, or not at all."""
    for _ in range(200):
        within(0.002, lambda: time.sleep(0.002))
    try:
        for _ in range(100_000):
            pass
    except OutOfTime:
        pytest.fail("an interruption of a call that had ended")


def test_threads_do_not_see_each_other() -> None:
    found: dict[str, object] = {}

    def short() -> None:
        found["short"] = within(0.1, forever)

    def long() -> None:
        found["long"] = within(60, lambda: sum(range(3_000_000)))

    threads = [threading.Thread(target=target) for target in (short, long)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"short": None, "long": sum(range(3_000_000))}


def test_a_call_that_loses_an_interruption_gets_another() -> None:
    """As it is lost in a finalizer."""

    def loses_the_first() -> None:
        with suppress(OutOfTime):
            forever()
        forever()

    assert within(60, lambda: (within(0.05, loses_the_first), "went on")) == (None, "went on")
