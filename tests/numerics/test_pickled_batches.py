"""Batches as Python 2 and 3 write them, and pickles that try to do something."""

import os
import pickle
import struct

import numpy as np
import pytest

from numerics.data_files import MalformedFile
from numerics.image_files import Split, cifar10
from numerics.pickled_batches import LARGEST_BATCH, read_pickled_batch

PIXELS = np.random.default_rng(0).integers(0, 256, size=(4, 3072), dtype=np.uint8)
LABELS = [6, 9, 0, 4]
MARKER = "limes_was_here"


def short(text: bytes) -> bytes:
    """SHORT_BINSTRING, as Python 2 writes its strings."""
    return b"U" + bytes([len(text)]) + text


def python2(pixels=PIXELS, labels=LABELS, dtype=b"u1", shape=None, extra=b"") -> bytes:
    """The instructions of a batch as Python 2's cPickle wrote it, protocol 2."""
    rows, columns = shape or pixels.shape
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85q\x03U\x01b\x87Rq\x04"
        + b"(K\x01J"
        + struct.pack("<i", rows)
        + b"J"
        + struct.pack("<i", columns)
        + b"\x86"
        + b"cnumpy\ndtype\n"
        + short(dtype)
        + b"K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        + b"\x89T"
        + struct.pack("<i", pixels.size)
        + pixels.tobytes()
        + b"tb"
    )
    listed = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    entries = (
        short(b"batch_label") + short(b"testing batch 1 of 1") + short(b"labels") + listed + short(b"data") + array
    )
    return b"\x80\x02}q\x00(" + entries + extra + b"u."


def written(tmp_path, content: bytes):
    path = tmp_path / "test_batch"
    path.write_bytes(content)
    return path


def test_the_sample_is_a_pickle_that_python_reads():
    found = pickle.loads(python2(), encoding="bytes")
    assert np.array_equal(found[b"data"], PIXELS)
    assert found[b"labels"] == LABELS


@pytest.mark.parametrize(
    "content",
    [python2(), *(pickle.dumps({b"data": PIXELS, b"labels": LABELS}, protocol) for protocol in (0, 1, 2, 3)),
     pickle.dumps({"data": PIXELS, "labels": LABELS}, 2)],
    ids=["python 2", "0", "1", "2", "3", "text keys"],
)  # fmt: skip
def test_batches_are_read(tmp_path, content):
    path = written(tmp_path, content)
    pixels, labels = read_pickled_batch(path)
    assert np.array_equal(pixels, PIXELS)
    assert labels.tolist() == LABELS
    found = cifar10(tmp_path, split=Split.TEST)
    assert found.images[3, 31, 0, 1] * 255 == PIXELS[3, 1024 + 31 * 32]


class Reduced:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


HOSTILE = {
    "os.system": pickle.dumps(Reduced(os.system, f"touch {MARKER}"), 2),
    "os.system, protocol 0": pickle.dumps(Reduced(os.system, f"touch {MARKER}"), 0),
    "eval within a batch": pickle.dumps({b"data": Reduced(eval, f"open('{MARKER}', 'w')"), b"labels": LABELS}, 2),
    "the newest protocol": pickle.dumps(Reduced(os.system, f"touch {MARKER}")),
    "a function of NumPy": pickle.dumps(Reduced(np.load, MARKER), 2),
    "the instruction INST": b"(S'touch " + MARKER.encode() + b"'\nios\nsystem\n.",
    "the instruction OBJ": b"(cos\nsystem\nS'touch " + MARKER.encode() + b"'\no.",
    "NEWOBJ": b"\x80\x02cnumpy\nndarray\nK\x00\x85\x81.",
    "a name on the stack": b"\x80\x02\x8c\x02os\x8c\x06system\x93.",
    "an attribute of a name": b"\x80\x02cnumpy\nndarray.__class__\n.",
    "a name in another module": b"\x80\x02cnumpy.core.multiarray\nscalar\n.",
    "BUILD on a name": b"\x80\x02cnumpy\ndtype\n}U\x04callcos\nsystem\nsb.",
    "a state for a name": b"\x80\x02cnumpy\ndtype\n}b.",
    "an extension": b"\x80\x02\x82\x01.",
    "a persistent id": b"Pfile\n.",
    "ndarray called for memory": b"\x80\x02cnumpy\nndarray\nJ\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86\x85R.",
    "another encoding": b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00zip\x86R.",
    "a memo of gigabytes": b"\x80\x02}r\xff\xff\xff\x7f.",
    "a memo of gigabytes in digits": b"}p2147483647\n.",
    "a byte array of gigabytes": b"\x80\x05\x96\x00\x00\x00\x00\xff\x00\x00\x00.",
    "bytes of gigabytes": b"\x80\x03B\xff\xff\xff\x7f.",
    "an array on itself": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n)Rq\x00h\x00b.",
    "the stack is empty": b"\x80\x02R.",
    "a mark is missing": b"\x80\x02t.",
    "an unhashable key": b"\x80\x02}]K\x01s.",
}


@pytest.mark.parametrize("name", ["os.system", "eval within a batch", "the instruction INST", "the instruction OBJ"])
def test_the_hostile_ones_would_do_something(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    pickle.loads(HOSTILE[name])
    assert os.listdir(tmp_path) == [MARKER]


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_is_executed(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, content)
    with pytest.raises(MalformedFile, match="test_batch, byte"):
        read_pickled_batch(path)
    assert sorted(os.listdir(tmp_path)) == ["test_batch"]


def test_a_refused_name_is_named_with_its_byte(tmp_path):
    content = python2(extra=short(b"more") + b"cos\nsystem\n")
    with pytest.raises(MalformedFile, match="os system") as refusal:
        read_pickled_batch(written(tmp_path, content))
    assert content[refusal.value.byte :].startswith(b"cos\nsystem\n")


def test_the_stand_ins_stay_as_they_are(tmp_path):
    """A batch that gave them other attributes would change the next one."""
    for content in HOSTILE.values():
        with pytest.raises(MalformedFile):
            read_pickled_batch(written(tmp_path, content))
    assert np.array_equal(read_pickled_batch(written(tmp_path, python2()))[0], PIXELS)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "whole pickle"),
        (python2()[:-1], "whole pickle"),
        (python2()[:500], "whole pickle"),
        (python2() + b"\0", "the end of the file"),
        (b"not a pickle", "pickle"),
        (pickle.dumps([1, 2], 2), "dictionary"),
        (pickle.dumps({b"labels": LABELS}, 2), "b'data'"),
        (pickle.dumps({b"data": PIXELS}, 2), "b'labels'"),
        (pickle.dumps({b"data": PIXELS, b"labels": LABELS[:3]}, 2), "4 integers"),
        (pickle.dumps({b"data": PIXELS, b"labels": [1, 2, 3, 10]}, 2), "from 0 to 9"),
        (pickle.dumps({b"data": PIXELS, b"labels": [1, 2, 3, True]}, 2), "integers"),
        (pickle.dumps({b"data": PIXELS.astype(np.int16), b"labels": LABELS}, 2), "u1"),
        (pickle.dumps({b"data": PIXELS[:, :3000].copy(), b"labels": LABELS}, 2), "3072"),
        (pickle.dumps({b"data": np.asfortranarray(PIXELS), b"labels": LABELS}, 2), "C order"),
        (pickle.dumps({b"data": PIXELS.astype(object), b"labels": LABELS}, 2), "u1"),
        (python2(shape=(2**31 - 1, 3072)), "3072"),
        (python2(shape=(5, 3072)), "3072"),
        (python2(dtype=b"u4"), "u1"),
    ],
)
def test_malformed_batches(tmp_path, content, said):
    with pytest.raises(MalformedFile, match=said):
        read_pickled_batch(written(tmp_path, content))


def test_a_large_file_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("numerics.pickled_batches.LARGEST_BATCH", 1000)
    assert LARGEST_BATCH > 31_035_704  # the size of the published ones
    with pytest.raises(MalformedFile, match="at most 1000 bytes"):
        read_pickled_batch(written(tmp_path, python2()))


NESTED = b"".join(b"0h%ch%c\x86q%c" % (i, i, i + 1) for i in range(1, 60))  # a tuple of twice the last one, and so on


@pytest.mark.parametrize(
    "hashed",
    [
        b"\x80\x02K\x01\x85q\x01" + NESTED + b"0}h\x3cK\x01s.",  # to hash it takes 2^59 steps
        b"\x80\x02}K\x01" + b"\x85" * 10**6 + b"K\x01s.",  # deeper than the stack of the interpreter
        b"\x80\x02}(K\x01" + b"\x85" * 10**6 + b"K\x01u.",
        b"(K\x01" + b"\x85" * 10**6 + b"K\x01d.",
    ],
)
def test_no_tuple_is_hashed(tmp_path, hashed):
    path = tmp_path / "data_batch_1"
    path.write_bytes(hashed)
    with pytest.raises(MalformedFile, match="key"):
        read_pickled_batch(path)


def test_labels_too_deep_to_print_are_refused(tmp_path):
    path = tmp_path / "data_batch_1"
    deep = b"X\x06\x00\x00\x00labels" + b"]" * 10**5 + b"a" * (10**5 - 1) + b"s."
    path.write_bytes(pickle.dumps({b"data": PIXELS}, 2)[:-1] + deep)
    with pytest.raises(MalformedFile, match="b'labels'"):
        read_pickled_batch(path)
