"""What commands have in common: JSON, files that can be written, and an end with a sentence."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from theory.errors import InvalidInput

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


def write_json(data: dict[str, Any], file: str = "-") -> None:
    """`data` as JSON on standard output, or in a file."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    if file == "-":
        print(text)
    else:
        write_text(text + "\n", file)


def write_text(text: str, file: str, option: str = "--json") -> None:
    """`text` in a file, in UTF-8; `InvalidInput` about the `option` if that fails."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:  # the disk is full, or the directory has gone
        raise _unwritable(file, error, option) from None


def refuse_unwritable(file: str, option: str = "--json") -> None:
    """Refuse a file that cannot be written before the work is done, not after."""
    if file in ("", "-"):
        return
    path = Path(file)
    try:
        new = not path.exists()
        path.open("a").close()
        if new:
            path.unlink()
    except OSError as error:
        raise _unwritable(file, error, option) from None


def end(sentence: str, code: int) -> NoReturn:
    """Say it on standard error, in 80 columns if that is a terminal, and end with this exit code."""
    line = f"limes: {sentence}"
    if sys.stderr.isatty():
        line = textwrap.fill(line, 80, break_long_words=False, break_on_hyphens=False)
    print(line, file=sys.stderr)
    raise SystemExit(code)


def _unwritable(file: str, error: OSError, option: str) -> InvalidInput:
    instead = ", or - for standard output" if option == "--json" else ""
    return InvalidInput(option, file, f"give a file that can be written{instead} ({error.strerror})")
