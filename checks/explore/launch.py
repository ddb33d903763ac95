"""The explorer's server: marimo's own, in this process, on the loopback interface, behind a random token."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import sys
import threading
import time
from contextlib import redirect_stdout
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from theory.errors import InvalidInput, LimesError

HOST = "127.0.0.1"
MARIMO_STARTS = 1.0  # seconds, about, and its page is sent: earlier the two would fight for the interpreter
REMEDY = "pip install '.[explore]' in the folder of limes; the numbers alone: limes evaluate, limes limit, limes plot"


def require_marimo() -> None:
    """Raise `LimesError`, with the remedy, if there is no marimo."""
    if find_spec("marimo") is None:
        raise LimesError(f"the explorer needs marimo, which is not installed: {REMEDY}")


def refuse_used(port: int) -> None:
    """Refuse a port that another program uses, or that this user may not use."""
    with socket.socket() as probe:
        if os.name != "nt":  # elsewhere it would let two programs listen
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            used = error.errno == errno.EADDRINUSE
            why = "another program uses it" if used else error.strerror
            raise InvalidInput("--port", port, f"{why}; give another, or none: one that is free is taken") from None


def free_port() -> int:
    """One that no program uses."""
    with socket.create_server((HOST, 0)) as probe:
        return probe.getsockname()[1]


def announce(port: int, address: str, out: TextIO) -> None:
    """Say the address as soon as somebody listens there."""
    while True:
        try:
            with socket.create_connection((HOST, port), 1):
                break
        except OSError:
            time.sleep(0.02)
    print(f"limes explore: {address}  Ctrl-C ends it", file=out, flush=True)


def serve(*, port: int | None, browser: bool, state: str) -> None:
    """Run the explorer until Ctrl-C, opened in the state that a line of text says; `require_marimo` first."""
    early = threading.Timer(MARIMO_STARTS, import_module, (f"{__package__}.scene",))  # while the browser loads the page
    early.daemon = True
    early.start()
    os.environ.setdefault("MARIMO_SKIP_UPDATE_CHECK", "1")
    port, token = port or free_port(), secrets.token_urlsafe(16)
    address = f"http://{HOST}:{port}/?access_token={token}"
    threading.Thread(target=announce, args=(port, address, sys.stdout), daemon=True).start()
    (marimo,) = entry_points(group="console_scripts", name="marimo")
    arguments = ["--yes"]  # no question after Ctrl-C
    arguments += ["run", str(Path(__file__).with_name("app.py")), "--host", HOST, "--port", str(port), "--no-check"]
    arguments += ["--token-password", token]
    arguments += [] if browser else ["--headless"]
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):  # its --quiet would end it twice, with a traceback
        marimo.load().main([*arguments, "--", f"--state={state}"], prog_name="limes explore", standalone_mode=False)
