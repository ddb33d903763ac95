"""The journal of finished chunks: what lets a killed run go on where it was. One SQLite file, plain JSON in it.

A chunk is filed under the run it belongs to (seed, level, and a digest of the program's sources, so that a changed
program never reads old results), the claim, the evidence and its number. A run that ends takes out the entries of the
claims it judged.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

KEPT_SECONDS = 14 * 24 * 3600
_TABLE = """CREATE TABLE IF NOT EXISTS chunks (
    run TEXT, claim TEXT, evidence INTEGER, chunk INTEGER, written REAL, result TEXT,
    PRIMARY KEY (run, claim, evidence, chunk))"""


def default_path() -> Path:
    """The journal of this user: `$XDG_CACHE_HOME/limes/journal.sqlite`, or under `~/.cache`."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "limes" / "journal.sqlite"


def run_key(seed: int, level: str, origins: Iterable[str]) -> str:
    """A digest of all that a result depends on: seed, level, the sources of the packages and of the claims."""
    import flint
    import numpy
    import scipy
    import sympy

    digest = hashlib.sha256(f"{seed} {level}".encode())
    for library in (flint, numpy, scipy, sympy):
        digest.update(f"{library.__name__} {library.__version__}".encode())
    here = Path(__file__).resolve().parent.parent
    files = sorted(path for room in ("theory", "numerics", "checks") for path in (here / room).rglob("*.py"))
    for path in [*files, *sorted({Path(origin) for origin in origins})]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Journal:
    """Finished chunks of one run. `None` as path keeps them in memory only."""

    def __init__(self, path: Path | None, run: str) -> None:
        self.run = run
        self.trouble = ""  # why nothing is kept on disk, in a sentence
        self.path: Path | None = None  # where it is kept
        self._database = self._open(path)
        with suppress(sqlite3.Error):
            self._database.execute("DELETE FROM chunks WHERE written < ?", (time.time() - KEPT_SECONDS,))

    def _open(self, path: Path | None) -> sqlite3.Connection:
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                return self._connect(path)
            except sqlite3.DatabaseError as error:
                if path.exists() and "not a database" in str(error):
                    aside = path.with_suffix(f".{int(time.time())}.aside")
                    path.rename(aside)
                    self.trouble = f"the journal {path} was no database; it was set aside as {aside.name}"
                    return self._connect(path)
                self.trouble = f"no journal at {path} ({error}): this run cannot be resumed"
            except OSError as error:
                self.trouble = f"no journal at {path} ({error.strerror or error}): this run cannot be resumed"
        return self._connect(":memory:")

    def _connect(self, path: Path | str) -> sqlite3.Connection:
        database = sqlite3.connect(path, timeout=10, isolation_level=None)
        database.execute(_TABLE)
        self.path = path if isinstance(path, Path) else None
        return database

    def read(self, claim: str, evidence: int, chunk: int) -> Any | None:
        """The result of this chunk, if it was finished and can still be read."""
        where = (self.run, claim, evidence, chunk)
        query = "SELECT result FROM chunks WHERE run = ? AND claim = ? AND evidence = ? AND chunk = ?"
        try:
            row = self._database.execute(query, where).fetchone()
        except sqlite3.Error as error:
            self.trouble = f"the journal could not be read ({error}): finished work was done again"
            return None
        return None if row is None else json.loads(row[0])

    def write(self, claim: str, evidence: int, chunk: int, result: Any) -> None:
        """File a finished chunk; a disk that is full costs only the possibility to resume."""
        row = (self.run, claim, evidence, chunk, time.time(), json.dumps(result))
        try:
            self._database.execute("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            self.trouble = f"the journal could not be written ({error}): this run cannot be resumed"

    def count(self) -> int:
        """The number of chunks of this run that are filed."""
        row = self._database.execute("SELECT count(*) FROM chunks WHERE run = ?", (self.run,)).fetchone()
        return int(row[0])

    def finish(self, claims: Iterable[str]) -> None:
        """Take out the entries of these claims: they are judged. Those of a run that was broken off stay."""
        with suppress(sqlite3.Error):
            self._database.executemany(
                "DELETE FROM chunks WHERE run = ? AND claim = ?", [(self.run, claim) for claim in claims]
            )
        self._database.close()
