"""The journal of finished chunks: what lets a killed run go on where it was. One SQLite file, plain JSON in it.

A chunk is filed under the run it belongs to (seed, level, and a digest of the program's sources, so that a changed
program never reads old results), the claim, the evidence and its number. A run that ends takes out the entries of the
claims it judged. A file that is damaged, of another schema, or no journal at all is set aside under another name, never
deleted; where nothing can be kept, the run goes on without. Either is said in `trouble`.
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
SCHEMA = 1  # SQLite keeps it as the user_version of the file
_TABLE = """CREATE TABLE chunks (
    run TEXT, claim TEXT, evidence INTEGER, chunk INTEGER, written REAL, result TEXT,
    PRIMARY KEY (run, claim, evidence, chunk))"""


class _Unusable(Exception):
    """The file is there, but no journal that can be used; the message says what it is."""


def default_path() -> Path:
    """The journal of this user: `$XDG_CACHE_HOME/limes/journal.sqlite`, or under `~/.cache`."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "limes" / "journal.sqlite"


def program_digest() -> str:
    """A digest of the program: the sources of its packages, and the versions of the libraries that compute."""
    import flint
    import numpy
    import scipy
    import sympy

    digest = hashlib.sha256()
    for library in (flint, numpy, scipy, sympy):
        digest.update(f"{library.__name__} {library.__version__}".encode())
    here = Path(__file__).resolve().parent.parent
    for path in sorted(path for room in ("theory", "numerics", "checks") for path in (here / room).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run_key(seed: int, level: str, origins: Iterable[str]) -> str:
    """A digest of all that a result depends on: seed, level, the program, and the sources of the claims."""
    digest = hashlib.sha256(f"{seed} {level} {program_digest()}".encode())
    for path in sorted({Path(origin) for origin in origins}):
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
                if path.exists() and not path.is_file():
                    raise OSError("it is no file")
                try:
                    return self._connect(path)
                except _Unusable as reason:
                    self.trouble = f"the journal {path} {reason}; it was set aside as {_set_aside(path).name}"
                    return self._connect(path)
            except (OSError, sqlite3.Error, _Unusable) as error:
                reason = getattr(error, "strerror", None) or error
                self.trouble = f"no journal at {path} ({reason}): this run cannot be resumed"
        return self._connect(":memory:")

    def _connect(self, path: Path | str) -> sqlite3.Connection:
        """Open the file, and make its table if it is new. Raises `_Unusable`."""
        database = sqlite3.connect(path, timeout=10, isolation_level=None)
        try:
            database.execute("BEGIN IMMEDIATE")  # two runs may start at the same moment
            if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise _Unusable("is damaged")
            (schema,) = database.execute("PRAGMA user_version").fetchone()
            if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                database.execute(_TABLE)
                database.execute(f"PRAGMA user_version = {SCHEMA}")
            elif schema != SCHEMA:
                raise _Unusable(f"has schema {schema}, and this version of limes writes {SCHEMA}")
            database.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            database.close()
            if error.sqlite_errorcode in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                raise _Unusable(f"cannot be read ({error})") from None
            raise
        except _Unusable:
            database.close()
            raise
        self.path = path if isinstance(path, Path) else None
        return database

    def read(self, claim: str, evidence: int, chunk: int) -> Any | None:
        """The result of this chunk, if it was finished and can still be read."""
        where = (self.run, claim, evidence, chunk)
        query = "SELECT result FROM chunks WHERE run = ? AND claim = ? AND evidence = ? AND chunk = ?"
        try:
            row = self._database.execute(query, where).fetchone()
            return None if row is None else json.loads(row[0])
        except (sqlite3.Error, ValueError) as error:
            self.trouble = f"the journal could not be read ({error}): finished work was done again"
            return None

    def write(self, claim: str, evidence: int, chunk: int, result: Any) -> None:
        """File a finished chunk; a disk that is full costs only the possibility to resume."""
        row = (self.run, claim, evidence, chunk, time.time(), json.dumps(result))
        try:
            self._database.execute("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            self.trouble = f"the journal could not be written ({error}): this run cannot be resumed"

    def kept(self) -> str:
        """What a run that ends here leaves, in words."""
        if self.path is None:
            return "nothing is kept without a journal"
        try:
            row = self._database.execute("SELECT count(*) FROM chunks WHERE run = ?", (self.run,)).fetchone()
        except sqlite3.Error as error:
            return f"the journal {self.path} could not be read ({error})"
        return f"{row[0]} finished chunks are kept in {self.path}: the same command goes on from there"

    def finish(self, claims: Iterable[str]) -> None:
        """Take out the entries of these claims: they are judged. Those of a run that was broken off stay."""
        with suppress(sqlite3.Error):
            self._database.executemany(
                "DELETE FROM chunks WHERE run = ? AND claim = ?", [(self.run, claim) for claim in claims]
            )
        self._database.close()


def _set_aside(path: Path) -> Path:
    """Give the file, and SQLite's own beside it, names that nothing has yet."""
    number, stamp = 0, int(time.time())
    while (aside := path.with_name(f"{path.stem}.{stamp + number}.aside")).exists():
        number += 1
    path.rename(aside)
    for ending in ("-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    return aside
