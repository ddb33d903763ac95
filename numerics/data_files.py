r"""Public data files: where they are looked for, and how their bytes are read without trusting them.

A data set is named by the files in which it was published. They are looked for in the folder that the caller names,
else in that of the environment variable `LIMES_DATA`, each with or without `.gz`.

A file is read front to back through a `ByteReader`, which unpacks gzip and zip on the way, knows at which byte of the
unpacked content it stands, and hands out what is there: never more than was asked for, never memory for what a header
only promises. Everything unexpected is a `MalformedFile`, with the file, the byte and what was expected there.
"""

from __future__ import annotations

import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from theory.errors import InvalidInput

FOLDER_VARIABLE = "LIMES_DATA"
LARGEST_CONTENT = 2**29  # bytes of a file, unpacked; the largest that was published has 184 million
PIECE = 2**20  # bytes read at a time


class MalformedFile(InvalidInput):
    """A data file is not what its format says: its path, the byte (of the unpacked content), and what was expected."""

    def __init__(self, path: Path, byte: int, found: object, expected: str) -> None:
        super().__init__(f"{path}, byte {byte}", found, f"expected {expected}")
        self.path, self.byte = path, byte


class Published(NamedTuple):
    """A data set as it was published: its name, the folders its files come in, and where they are to be had."""

    name: str
    folders: tuple[str, ...]
    origin: str

    def find(self, folder: str | os.PathLike[str] | None, names: Sequence[str]) -> Path:
        """The first file of one of these names, with or without `.gz`, in `folder` or, without it, in `LIMES_DATA`.

        Raises `InvalidInput` if neither is given, if the folder does not exist, or if there is no such file.
        """
        argument = FOLDER_VARIABLE if folder is None else "folder"
        given = os.environ.get(FOLDER_VARIABLE) if folder is None else folder
        if not given:
            remedy = f"give the folder of {self.name} ({self.origin}), or set the environment variable {argument}"
            raise InvalidInput("folder", folder, remedy)
        if not isinstance(given, str | os.PathLike):
            raise InvalidInput(argument, given, "give the path of a folder")
        root = Path(given)
        if not root.is_dir():
            raise InvalidInput(argument, str(given), f"give a folder that holds {' or '.join(names)}")
        # the names of two data sets may be the same: without a folder of its own only the caller can tell them apart
        places = self.folders if folder is None else (".", *self.folders)
        for place in places:
            for name in names:
                for candidate in (root / place / name, root / place / f"{name}.gz"):
                    if candidate.is_file():
                        return candidate
        raise InvalidInput(argument, str(given), f"there is no {' or '.join(names)} of {self.name} ({self.origin})")

    def is_there(self, names: Sequence[str]) -> bool:
        """Whether `LIMES_DATA` is set and has one of the files."""
        try:
            self.find(None, names)
        except InvalidInput:
            return False
        return True


class ByteReader:
    """The content of an open file; `offset` is the next byte of it."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path, self.offset, self._stream = path, 0, stream

    def read(self, count: int, expected: str) -> bytes:
        """The next `count` bytes, which are `expected`; `MalformedFile` if there are fewer."""
        if count > LARGEST_CONTENT - self.offset:
            raise MalformedFile(self.path, self.offset, f"{count} bytes announced", f"at most {LARGEST_CONTENT} in all")
        content = bytearray()
        while len(content) < count and (piece := self._next(min(PIECE, count - len(content)))):
            content += piece
            self.offset += len(piece)
        if len(content) < count:
            raise MalformedFile(self.path, self.offset, "the end of the file", f"{expected}: {count} bytes, all told")
        return bytes(content)

    def rest(self, most: int = LARGEST_CONTENT) -> bytes:
        """All that follows; `MalformedFile` if that is more than `most` bytes from the start of the file."""
        content = bytearray()
        while piece := self._next(PIECE):
            content += piece
            self.offset += len(piece)
            if self.offset > most:
                raise MalformedFile(self.path, self.offset, "more content", f"at most {most} bytes in all")
        return bytes(content)

    def end(self) -> None:
        """`MalformedFile` unless this is the end of the file."""
        if self._next(1):
            raise MalformedFile(self.path, self.offset, "more content", "the end of the file")

    def _next(self, count: int) -> bytes:
        try:
            return self._stream.read(count)
        except (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as broken:  # bz2 has OSError
            raise MalformedFile(self.path, self.offset, str(broken), "compressed data that is whole") from broken


@contextmanager
def open_content(path: Path) -> Iterator[ByteReader]:
    """The content of a file, unpacked if it is gzip or a zip archive of one file, which its first bytes tell."""
    with ExitStack() as stack:
        stream: Any = stack.enter_context(path.open("rb"))
        start = stream.read(4)
        stream.seek(0)
        if start.startswith(b"\x1f\x8b"):
            stream = stack.enter_context(gzip.GzipFile(fileobj=stream))
        elif start == b"PK\x03\x04":
            try:
                archive = stack.enter_context(zipfile.ZipFile(stream))
                members = archive.infolist()
                if len(members) != 1:
                    raise MalformedFile(path, 0, f"a zip archive of {len(members)} files", "one file in it")
                stream = stack.enter_context(archive.open(members[0]))
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as broken:  # as zipfile has them
                raise MalformedFile(path, 0, str(broken), "a whole zip archive, not encrypted") from broken
        yield ByteReader(path, stream)
