"""The explorer in a real Chromium: how long until its first picture, and from a slider's move to the new one.

Times are shown, never asserted. A picture is there when its curve is in the page; the curve of a move is another one
than before it. Each run of the first picture starts a server and a page of their own.
"""

import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from checks.bench import Row

pytest.importorskip("marimo", reason="marimo is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.benchmark, pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")]

RUNS, MOVES = 3, 20
SETTLED = 3000  # milliseconds, after which nothing of the first picture is still being made
BETWEEN = 200  # milliseconds from one move to the next
PATIENCE = 60_000  # milliseconds
COMMAND = [sys.executable, "-c", "from checks.cli import main; main()", "explore", "--no-browser"]
CURVE = "svg.marks .mark-line path"
WATCH = """
curve => {
  const find = (root, selector) => root.querySelector(selector) ?? [...root.querySelectorAll('*')]
    .map(one => one.shadowRoot && find(one.shadowRoot, selector)).find(Boolean)
  const look = () => [find(document, 'output')?.textContent, find(document, curve)?.getAttribute('d')]
  const before = look(), start = performance.now()
  let value = null
  window.moved = new Promise(done => {
    const watch = setInterval(() => {
      const [text, path] = look()
      if (value === null && text && text !== before[0]) value = performance.now() - start
      if (value === null || !path || path === before[1]) return
      clearInterval(watch)
      done([value, performance.now() - start])
    }, 10)
  })
}
"""


@contextmanager
def served() -> Iterator[str]:
    """The address of an explorer of its own."""
    server = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def row(case: str, contestant: str, seconds: list[float]) -> Row:
    return Row(case, contestant, min(seconds), statistics.median(seconds))


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_first_picture_and_moves(filed, width: int, height: int) -> None:
    case = f"explorer, relu-ntk-normalised, window of {width} x {height}"
    whole, opening, values, pictures = [], [], [], []
    with playwright.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for run in range(RUNS):
            tab = chromium.new_page(viewport={"width": width, "height": height})
            start = time.perf_counter()
            with served() as address:
                opened = time.perf_counter()
                tab.goto(address, wait_until="commit")
                tab.locator(CURVE).first.wait_for(timeout=PATIENCE)
                whole.append(time.perf_counter() - start)
                opening.append(time.perf_counter() - opened)
                if run == RUNS - 1:
                    tab.wait_for_timeout(SETTLED)
                    for value, picture in moves(tab):
                        values.append(value)
                        pictures.append(picture)
            tab.close()
        chromium.close()
    filed(
        [
            row(case, "picture, from the command", whole),
            row(case, "picture, from opening the page", opening),
            row(case, f"slider to value, {MOVES} moves", values),
            row(case, f"slider to picture, {MOVES} moves", pictures),
            row(case, "slider to picture, the worst", [max(pictures)]),
        ]
    )


def moves(tab) -> Iterator[tuple[float, float]]:
    """Seconds from a press of a key on the first slider to the new value, and to the new curve."""
    tab.get_by_role("slider").first.focus()
    for _ in range(MOVES):
        tab.evaluate(WATCH, CURVE)
        tab.keyboard.press("ArrowRight")
        value, picture = tab.evaluate("() => window.moved")
        yield value / 1000, picture / 1000
        tab.wait_for_timeout(BETWEEN)
