"""The figures of a claim on the explorer's page: each drawn once, in a process of its own, so that no slider waits.

A thread alone would not do: SymPy and the page would share one interpreter, and marimo looks after each cell whether
matplotlib is imported, which must not be halfway.
"""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64encode
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

from ..claims import Claim
from ..figures import FIGURES
from ..markup import element, write
from ..plot import Figure
from .page import refusal

DRAW = """
import sys
from checks.figures import draw
from theory.errors import LimesError
try:
    sys.stdout.buffer.write(draw(sys.argv[1]).render(".svg"))
except LimesError as error:
    sys.exit(str(error))
"""
_POOL = ThreadPoolExecutor(max_workers=1)  # one after the other: a processor is left to the page


def of(claim: Claim) -> list[Figure]:
    """Those that illustrate it."""
    return [figure for figure in FIGURES.values() if claim.id in figure.claims]


@cache
def drawing(name: str) -> Future[str]:
    """What `shown` will be; it begins to be drawn when it is first asked for."""
    return _POOL.submit(shown, name)


def shown(name: str) -> str:
    """The figure as an image in HTML, or the sentence that says why there is none."""
    here = os.pathsep.join(map(os.path.abspath, sys.path))  # "" is the folder in which it was started
    drawn = subprocess.run(
        [sys.executable, "-c", DRAW, name],
        env=os.environ | {"PYTHONPATH": here, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    if drawn.returncode != 0:
        *_, last = drawn.stderr.decode(errors="replace").splitlines() or [f"exit code {drawn.returncode}"]
        return refusal(f"not drawn: {last}")
    picture = b64encode(drawn.stdout).decode()
    return write(
        element("img", src=f"data:image/svg+xml;base64,{picture}", alt=FIGURES[name].title, style="max-width: 100%")
    )
