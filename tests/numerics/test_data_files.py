"""Finding files, and reading them without trusting what they announce."""

import gzip
import io
import zipfile

import numpy as np
import pytest

from numerics import data_files
from numerics.data_files import FOLDER_VARIABLE, MalformedFile, Published, open_content
from theory.errors import InvalidInput

SET = Published("a set", ("inner",), "somewhere")
CONTENT = bytes(range(256)) * 20


def zipped(*contents: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"member{number}", content)
    return packed.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zipped], ids=["plain", "gzip", "zip"])
def test_content_is_read_however_it_is_packed(tmp_path, pack):
    path = tmp_path / "file"
    path.write_bytes(pack(CONTENT))
    with open_content(path) as content:
        assert content.read(10, "ten bytes") == CONTENT[:10]
        assert content.offset == 10
        assert content.rest() == CONTENT[10:]
        content.end()
        with pytest.raises(MalformedFile, match=rf"file, byte {len(CONTENT)} = the end of the file: expected one more"):
            content.read(1, "one more")


@pytest.mark.parametrize("pack", [gzip.compress, zipped], ids=["gzip", "zip"])
@pytest.mark.parametrize("left", [6, 60, -9])
def test_truncated_archives_are_malformed(tmp_path, pack, left):
    path = tmp_path / "file"
    path.write_bytes(pack(np.random.default_rng(0).bytes(4000))[:left])
    with pytest.raises(MalformedFile, match="file, byte"), open_content(path) as content:
        content.rest()


def test_damaged_gzip_is_malformed(tmp_path):
    packed = bytearray(gzip.compress(CONTENT))
    packed[-6] ^= 0xFF  # the check sum
    path = tmp_path / "file"
    path.write_bytes(packed)
    with pytest.raises(MalformedFile), open_content(path) as content:
        content.rest()


def test_a_zip_of_two_files_is_malformed(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(zipped(b"a", b"b"))
    with pytest.raises(MalformedFile, match="one file"), open_content(path):
        pass


@pytest.mark.parametrize("pack", [gzip.compress, zipped], ids=["gzip", "zip"])
def test_a_bomb_is_not_unpacked(tmp_path, pack, monkeypatch):
    """A small file that unpacks to much: reading stops at the limit, wherever it is."""
    monkeypatch.setattr(data_files, "PIECE", 1000)
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(10**7)))
    assert path.stat().st_size < 20_000
    with open_content(path) as content, pytest.raises(MalformedFile, match="at most 5000 bytes") as refusal:
        content.rest(5000)
    assert refusal.value.byte <= 6000


def test_what_is_announced_is_not_allocated(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    with open_content(path) as content, pytest.raises(MalformedFile, match="announced"):
        content.read(10**15, "a petabyte")
    with open_content(path) as content, pytest.raises(MalformedFile, match=f"byte {len(CONTENT)} = the end"):
        content.read(2**29, "much")


def test_a_folder_is_searched_for_every_name(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "data.gz").write_bytes(b"")
    assert SET.find(tmp_path, ["other", "data"]) == tmp_path / "inner" / "data.gz"
    (tmp_path / "data").write_bytes(b"")
    assert SET.find(tmp_path, ["other", "data"]) == tmp_path / "data"
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert SET.find(None, ["data"]) == tmp_path / "inner" / "data.gz"  # outside of its own folder it may be another
    assert SET.is_there(["data"])
    assert not SET.is_there(["other"])


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    for folder, said in [(None, FOLDER_VARIABLE), (tmp_path, "no data of a set"), (tmp_path / "none", "folder")]:
        with pytest.raises(InvalidInput, match=said):
            SET.find(folder, ["data"])
    assert not SET.is_there(["data"])
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(InvalidInput, match=FOLDER_VARIABLE):
        SET.find(None, ["data"])


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_broken_zip_of_any_method_is_malformed(tmp_path, method):
    path = tmp_path / "text8"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("text8", b"a b" * 100)
    broken = bytearray(path.read_bytes())
    broken[44:51] = bytes(value ^ 255 for value in broken[44:51])
    path.write_bytes(broken)
    with open_content(path) as content, pytest.raises(MalformedFile, match="whole"):
        content.rest()


@pytest.mark.parametrize("folder", [5, b"/", ["a"]])
def test_a_folder_is_a_path(folder):
    with pytest.raises(InvalidInput, match="folder"):
        Published("text8", (".",), "").find(folder, ("text8",))
