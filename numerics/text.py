r"""Character sequences as inputs: text8 from its file, a Markov text for want of it, and one-hot windows.

A text is an array of codes `0..26`: the space, then a to z. The *window* of `w >= 1` characters that starts at `i` is
the point of `R^{27 w}` with the entry `1/√w` at `27 j + c_{i+j}`, `j = 0..w−1`, and 0 elsewhere; it lies on the unit
sphere, and two windows have the correlation (number of places where they agree)/w. What follows it is `c_{i+w}`.

A *Markov text* is a chain in which the letter after `c` has the law `p_c`; the laws are drawn once, independently, from
the Dirichlet distribution with all parameters α: the smaller α, the more regular the text.

Source: text8, the first 10⁸ characters of a cleaned Wikipedia, mattmahoney.net/dc/textdata.
"""

from __future__ import annotations

import math
import os
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.errors import InvalidInput

from .data import Array, as_integer
from .data_files import MalformedFile, Published, open_content

Codes = NDArray[np.uint8]

ALPHABET = " abcdefghijklmnopqrstuvwxyz"
LETTERS = len(ALPHABET)
REGULARITY = 0.1  # α
TEXT8 = Published("text8", (".", "text8"), "mattmahoney.net/dc/text8.zip")
TEXT8_NAMES = ("text8", "text8.zip")


class Windows(NamedTuple):
    """Windows of a text, `(n, 27 w)`, and the code of the character that follows each, `(n,)`."""

    points: Array
    following: Codes


def encode(text: str) -> Codes:
    """The codes of a text of the letters a to z and the space. Raises `InvalidInput` for any other character.

    >>> encode("a bc")
    array([1, 0, 2, 3], dtype=uint8)
    """
    codes = _CODES[np.frombuffer(text.encode("latin1", "replace"), np.uint8)]
    if (wrong := np.flatnonzero(codes == LETTERS)).size:
        raise InvalidInput(f"text[{wrong[0]}]", text[wrong[0]], "give letters from a to z and spaces")
    return codes


def decode(codes: Codes) -> str:
    """The text with these codes, the inverse of `encode`."""
    return "".join(ALPHABET[code] for code in codes)


def text8(folder: str | os.PathLike[str] | None = None, *, count: int | None = None) -> Codes:
    """The first `count` characters of text8 (all by default), from `folder` or `LIMES_DATA`; plain, gzip or zip.

    Raises `InvalidInput` if the file is not there or has fewer characters, and `MalformedFile` for another character.
    """
    path = TEXT8.find(folder, TEXT8_NAMES)
    wanted = None if count is None else as_integer("count", count, 1)
    with open_content(path) as content:
        raw = content.rest() if wanted is None else content.read(wanted, "characters of text8")
    codes = _CODES[np.frombuffer(raw, np.uint8)]
    if (wrong := np.flatnonzero(codes == LETTERS)).size:
        byte = int(wrong[0])
        raise MalformedFile(path, byte, raw[byte : byte + 1], "a letter from a to z, or a space")
    if not codes.size:
        raise MalformedFile(path, 0, "the end of the file", "text")
    return codes


def markov_text(rng: np.random.Generator, length: int, *, concentration: float = REGULARITY) -> Codes:
    """A Markov text of `length` characters, its laws drawn with `α = concentration > 0`; it starts with a space.

    Raises `InvalidInput` for a length that is no integer >= 1 and a concentration that is not positive.

    >>> decode(markov_text(np.random.default_rng(0), 24))
    '...'
    """
    length = as_integer("length", length, 1)
    if (
        isinstance(concentration, bool)
        or not isinstance(concentration, Real)
        or not 0 < float(concentration) < math.inf
    ):
        raise InvalidInput("concentration", concentration, "give a finite number > 0")
    laws = np.cumsum(rng.dirichlet(np.full(LETTERS, float(concentration)), size=LETTERS), axis=1)
    laws[:, -1] = 1.0  # whatever the rounding of the sum
    uniform = rng.random(length).tolist()
    codes = np.zeros(length, np.uint8)
    for i in range(1, length):
        codes[i] = np.searchsorted(laws[codes[i - 1]], uniform[i], side="right")
    return codes


def one_hot_windows(codes: ArrayLike, window: int, *, starts: ArrayLike | None = None) -> Windows:
    """The windows of `window` characters that start at `starts`, by default one after the other without overlap.

    Memory is `27 · window · 8` bytes for each. Raises `InvalidInput` for codes beyond 0..26, a text too short for one
    window and what follows it, and a start at which they do not fit.

    >>> one_hot_windows(encode("abcab"), 2).points @ one_hot_windows(encode("abcab"), 2).points.T
    array([[1., 0.],
           [0., 1.]])
    """
    codes, window = np.asarray(codes), as_integer("window", window, 1)
    if (
        codes.ndim != 1
        or codes.dtype.kind not in "iu"
        or (codes.size and not 0 <= codes.min() <= codes.max() < LETTERS)
    ):
        raise InvalidInput("codes", codes, f"give a row of integers from 0 to {LETTERS - 1}, as encode() does")
    last = len(codes) - window - 1
    if last < 0:
        raise InvalidInput("codes", codes, f"give at least {window + 1} characters, a window and what follows it")
    first = np.arange(0, last + 1, window) if starts is None else np.asarray(starts)
    if first.ndim != 1 or first.dtype.kind not in "iu" or not first.size or not 0 <= first.min() <= first.max() <= last:
        raise InvalidInput("starts", starts, f"give a row of integers from 0 to {last}")
    read = codes[first[:, None] + np.arange(window)].astype(np.intp)
    points = np.zeros((len(first), window, LETTERS))
    np.put_along_axis(points, read[..., None], 1 / math.sqrt(window), axis=2)
    return Windows(points.reshape(len(first), -1), codes[first + window].astype(np.uint8))


def _code_table() -> Codes:
    """The code of each byte; `LETTERS` for what is no character."""
    table = np.full(256, LETTERS, np.uint8)
    table[np.frombuffer(ALPHABET.encode(), np.uint8)] = np.arange(LETTERS)
    return table


_CODES = _code_table()
