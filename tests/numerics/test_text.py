"""Texts, their file, and their windows, against what the definition says entry by entry."""

import gzip
import io
import math
import zipfile

import numpy as np
import pytest
from scipy import stats

from numerics.data_files import FOLDER_VARIABLE, MalformedFile
from numerics.text import ALPHABET, LETTERS, decode, encode, markov_text, one_hot_windows, text8
from theory.errors import InvalidInput

TEXT = " anarchism originated as a term of abuse first used against early working class radicals"


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("text8", content)
    return packed.getvalue()


def test_codes_and_back():
    assert encode(ALPHABET).tolist() == list(range(27))
    assert decode(encode(TEXT)) == TEXT


@pytest.mark.parametrize("text", ["Ab", "a\n", "a1", "aé", "a\u4e00"])
def test_other_characters_are_refused(text):
    with pytest.raises(InvalidInput, match=r"text\["):
        encode(text)


@pytest.mark.parametrize(("name", "pack"), [("text8", bytes), ("text8.gz", gzip.compress), ("text8.zip", zipped)])
def test_text8_is_read(tmp_path, monkeypatch, name, pack):
    (tmp_path / name).write_bytes(pack(TEXT.encode()))
    assert decode(text8(tmp_path)) == TEXT
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert decode(text8(count=10)) == TEXT[:10]


@pytest.mark.parametrize(
    ("content", "count", "byte"),
    [(b"abc dEf", None, 5), (b"abc\n", None, 3), (b"\xff", None, 0), (b"abc", 4, 3), (b"", None, 0)],
)
def test_malformed_text(tmp_path, content, count, byte):
    (tmp_path / "text8").write_bytes(content)
    with pytest.raises(MalformedFile, match="text8, byte") as refusal:
        text8(tmp_path, count=count)
    assert refusal.value.byte == byte


def test_windows_are_the_definition():
    codes = encode("ab ba")
    found = one_hot_windows(codes, 3, starts=[0, 1])
    assert found.points.shape == (2, 81)
    assert found.following.tolist() == [2, 1]
    for row, start in enumerate((0, 1)):
        expected = np.zeros(81)
        for j in range(3):
            expected[27 * j + int(codes[start + j])] = 1 / math.sqrt(3)
        assert np.array_equal(found.points[row], expected)


def test_correlations_count_the_places_that_agree():
    codes = markov_text(np.random.default_rng(0), 400)
    windows = one_hot_windows(codes, 5)
    assert len(windows.points) == 79  # the last window needs a character that follows it
    read = codes[: 79 * 5].reshape(79, 5)
    agree = (read[:, None] == read[None]).sum(axis=2)
    assert np.allclose(windows.points @ windows.points.T, agree / 5, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("codes", "window", "starts"),
    [
        ([0, 1, 27], 1, None),
        ([0, -1], 1, None),
        ([0.5, 1.0], 1, None),
        ([[0, 1]], 1, None),
        ([0, 1], 2, None),
        ([], 1, None),
        ([0, 1, 2], 0, None),
        ([0, 1, 2], 1, [2]),
        ([0, 1, 2], 1, [-1]),
        ([0, 1, 2], 1, []),
        ([0, 1, 2], 1, [0.5]),
    ],
)
def test_windows_refuse(codes, window, starts):
    with pytest.raises(InvalidInput):
        one_hot_windows(codes, window, starts=starts)


def test_a_markov_text_is_a_function_of_its_generator():
    texts = [markov_text(np.random.default_rng(seed), 50) for seed in (1, 1, 2)]
    assert np.array_equal(texts[0], texts[1])
    assert not np.array_equal(texts[0], texts[2])
    assert texts[0][0] == 0
    assert np.array_equal(markov_text(np.random.default_rng(1), 1), [0])


def test_the_letters_follow_one_law_for_each_predecessor():
    """With α → ∞ every law tends to the uniform one: 26 degrees of freedom for each predecessor, false alarm 1e-9."""
    text = markov_text(np.random.default_rng(3), 60_000, concentration=1e9)
    pairs = np.zeros((LETTERS, LETTERS))
    np.add.at(pairs, (text[:-1], text[1:]), 1)
    expected = pairs.sum(axis=1, keepdims=True) / LETTERS
    assert ((pairs - expected) ** 2 / expected).sum() <= stats.chi2.isf(1e-9, LETTERS * (LETTERS - 1))


def test_small_concentrations_make_regular_texts():
    def entropy(alpha):
        text = markov_text(np.random.default_rng(4), 5000, concentration=alpha)
        pairs = np.zeros((LETTERS, LETTERS))
        np.add.at(pairs, (text[:-1], text[1:]), 1)
        share = pairs / pairs.sum()
        return stats.entropy(share.ravel()) - stats.entropy(share.sum(axis=1))

    assert entropy(0.05) < entropy(0.5) < entropy(50.0) < math.log(LETTERS)


@pytest.mark.parametrize(
    "options", [{"length": 0}, {"length": 2.0}, {"concentration": 0.0}, {"concentration": math.nan}]
)
def test_a_markov_text_refuses(options):
    with pytest.raises(InvalidInput):
        markov_text(np.random.default_rng(0), **({"length": 5} | options))
