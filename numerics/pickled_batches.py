r"""The Python batches of CIFAR-10: pickles, read without executing what they contain.

A pickle is a program for a stack machine; it may name any function and call it. Here it is read twice. First its
instructions are listed, none carried out: only those are let through that a dictionary of byte strings, integers, lists
and one array needs, and only the names by which NumPy writes down an array. Then it is carried out on stand-ins for
these names, which are not NumPy's functions and do nothing but keep what they are given. The pixels and labels that
come out are checked as any other bytes.

The batches were written by Python 2, with protocol 2; up to 3 is read. Later protocols look a name up on the stack,
where it cannot be seen in advance.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .data_files import MalformedFile, open_content

Bytes = NDArray[np.uint8]

PIXELS = 3072
CLASSES = 10
LARGEST_BATCH = 2**26  # bytes; those published have 31 million
# fmt: off
INSTRUCTIONS = frozenset((
    "PROTO", "STOP", "MARK", "POP", "NONE", "NEWTRUE", "NEWFALSE",
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1",
    "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "BINBYTES", "SHORT_BINBYTES",
    "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3",
    "EMPTY_LIST", "LIST", "APPEND", "APPENDS", "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS",
    "PUT", "BINPUT", "LONG_BINPUT", "GET", "BINGET", "LONG_BINGET",
    "GLOBAL", "REDUCE", "BUILD",
))
# fmt: on
LARGEST_PROTOCOL = 3


def read_pickled_batch(path: Path) -> tuple[Bytes, Bytes]:
    """The pixels `(n, 3072)` and labels `(n,)` of a Python batch of CIFAR-10. Raises `MalformedFile`."""
    with open_content(path) as content:
        raw = content.rest(LARGEST_BATCH)
    _examine(path, raw)
    try:
        found = _Inert(io.BytesIO(raw), encoding="bytes").load()
    except MalformedFile:
        raise
    except Exception as broken:  # a program that breaks off may do so in any way
        raise MalformedFile(path, 0, f"{type(broken).__name__}: {broken}", "a pickled dictionary") from broken
    if not isinstance(found, dict):
        raise MalformedFile(path, 0, type(found).__name__, "a pickled dictionary")
    entries = {_as_bytes(key): value for key, value in found.items()}
    pixels = _pixels(path, entries.get(b"data"))
    return pixels, _labels(path, entries.get(b"labels"), len(pixels))


def _examine(path: Path, raw: bytes) -> None:
    """Refuse every instruction that is not needed, and every name that is not that of an array."""
    byte = number = 0
    try:
        for number, (instruction, argument, position) in enumerate(pickletools.genops(raw)):
            byte = position or 0
            name = instruction.name
            if name == "PROTO" and int(argument or 0) > LARGEST_PROTOCOL:
                raise MalformedFile(path, byte, f"pickle protocol {argument}", f"at most {LARGEST_PROTOCOL}")
            if name not in INSTRUCTIONS:
                raise MalformedFile(path, byte, f"the instruction {name}", "a dictionary of arrays and lists")
            if name == "GLOBAL" and argument not in STAND_INS:
                raise MalformedFile(path, byte, f"the name {argument!r}", "no other names than those of NumPy's arrays")
            if name.endswith("PUT") and int(argument or 0) > number:  # no pickler writes larger ones
                raise MalformedFile(path, byte, f"the memo {argument}", f"memos up to {number} here")
    except MalformedFile:
        raise
    except Exception as broken:
        remedy = "a whole pickle, its instructions and their arguments"
        raise MalformedFile(path, byte, str(broken), remedy) from broken
    if byte + 1 != len(raw):
        raise MalformedFile(path, byte + 1, "more content", "the end of the file")


def _pixels(path: Path, data: Any) -> Bytes:
    if not isinstance(data, _Array):
        raise MalformedFile(path, 0, type(data).__name__, f"under b'data' an array (n, {PIXELS}) of bytes")
    state: Any = data.state if isinstance(data.state, tuple) and len(data.state) == 5 else (None,) * 5
    shape, dtype, fortran, content = *state[1:4], _as_bytes(state[4])
    well_formed = (
        isinstance(shape, tuple)
        and len(shape) == 2
        and all(type(size) is int for size in shape)
        and shape[0] > 0
        and shape[1] == PIXELS
        and isinstance(dtype, _DType)
        and _as_bytes(dtype.code) == b"u1"
        and not fortran
        and isinstance(content, bytes)
    )
    if not well_formed or shape is None or len(content) != shape[0] * PIXELS:
        raise MalformedFile(path, 0, "another state of it", f"under b'data' n · {PIXELS} bytes, type u1, in C order")
    return np.frombuffer(content, np.uint8).reshape(shape)


def _labels(path: Path, labels: Any, count: int) -> Bytes:
    whole = isinstance(labels, list) and all(type(label) is int and 0 <= label < CLASSES for label in labels)
    if not whole or len(labels) != count:
        raise MalformedFile(
            path, 0, type(labels).__name__, f"under b'labels' a list of {count} integers from 0 to {CLASSES - 1}"
        )
    return np.array(labels, np.uint8)


def _as_bytes(value: Any) -> Any:
    """Byte strings as they are, the two ways in which Python 3 may write them turned back; anything else as it is."""
    match value:
        case _Latin1(text=text, encoding="latin1") if isinstance(text, str):
            return text.encode("latin1", "replace")
        case str():
            return value.encode("latin1", "replace")
    return value


# --- what stands for NumPy's functions --------------------------------------------------------------------------------


class _Array:
    """What `_reconstruct` returns: an array whose contents come later, with BUILD."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _DType:
    """What `dtype` returns; its state, the byte order, means nothing for bytes."""

    __slots__ = ("code",)

    def __init__(self, code: Any) -> None:
        self.code = code

    def __setstate__(self, state: Any) -> None:
        pass


class _Name:
    """A name in a pickle; `call` is what calling it does."""

    __slots__ = ("call",)

    def __init__(self, call: Any) -> None:
        self.call = call

    def __call__(self, *arguments: Any) -> Any:
        return self.call(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a function is given a state")


def _no_call(*arguments: Any) -> Any:
    raise pickle.UnpicklingError("the class ndarray is called")


class _Latin1:
    """What `encode` returns, which is how Python 3 writes byte strings in protocol 2; they are made when needed."""

    __slots__ = ("encoding", "text")

    def __init__(self, text: Any, encoding: Any) -> None:
        self.text, self.encoding = text, encoding


STAND_INS = {
    "numpy.core.multiarray _reconstruct": lambda *arguments: _Array(),
    "numpy._core.multiarray _reconstruct": lambda *arguments: _Array(),
    "numpy ndarray": _no_call,
    "numpy dtype": lambda code, *arguments: _DType(code),
    "_codecs encode": _Latin1,
}


KEYS = (str, bytes, int, _Latin1)


def _with_plain_keys(instruction: int, keys: slice) -> Callable[[Any], None]:
    """The instruction, refused for keys but `KEYS`: the hash of nested tuples may take for ever, or end the process."""
    load: Any = pickle._Unpickler.dispatch[instruction]

    def checked(unpickler: Any) -> None:
        if not all(type(key) in KEYS for key in unpickler.stack[keys]):
            raise pickle.UnpicklingError("a dictionary key that is no string")
        load(unpickler)

    return checked


class _Inert(pickle._Unpickler):
    """An unpickler that knows nothing but the stand-ins; that of Python's, whose instructions can be replaced."""

    dispatch: ClassVar = pickle._Unpickler.dispatch | {
        pickle.SETITEM[0]: _with_plain_keys(pickle.SETITEM[0], slice(-2, -1)),
        pickle.SETITEMS[0]: _with_plain_keys(pickle.SETITEMS[0], slice(None, None, 2)),
        pickle.DICT[0]: _with_plain_keys(pickle.DICT[0], slice(None, None, 2)),
    }

    def find_class(self, module: str, name: str) -> Any:
        return _Name(STAND_INS[f"{module} {name}"])
