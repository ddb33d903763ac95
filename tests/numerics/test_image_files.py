"""Files written byte by byte from the definition of their formats, read back; and every way in which they are wrong."""

import gzip
import struct

import numpy as np
import pytest

from numerics.data_files import FOLDER_VARIABLE, MalformedFile
from numerics.image_files import (
    Scaling,
    Split,
    cifar10,
    fashion_mnist,
    mnist,
    read_cifar_binary,
    read_idx_images,
    read_idx_labels,
)
from theory.errors import InvalidInput

PIXELS = np.random.default_rng(0).integers(0, 256, size=(5, 4, 3), dtype=np.uint8)
LABELS = np.array([3, 0, 9, 9, 1], dtype=np.uint8)


def idx_images(pixels=PIXELS, magic=2051, shape=None) -> bytes:
    return struct.pack(">IIII", magic, *(shape or pixels.shape)) + pixels.tobytes()


def idx_labels(labels=LABELS, magic=2049, count=None) -> bytes:
    return struct.pack(">II", magic, len(labels) if count is None else count) + labels.tobytes()


def write_idx(folder, split="train", pack=bytes, suffix="", images=None, labels=None):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{split}-images-idx3-ubyte{suffix}").write_bytes(pack(idx_images() if images is None else images))
    (folder / f"{split}-labels-idx1-ubyte{suffix}").write_bytes(pack(idx_labels() if labels is None else labels))


@pytest.mark.parametrize(("pack", "suffix"), [(bytes, ""), (gzip.compress, ".gz")])
@pytest.mark.parametrize("load", [mnist, fashion_mnist])
def test_idx_is_read(tmp_path, load, pack, suffix):
    write_idx(tmp_path, pack=pack, suffix=suffix)
    found = load(tmp_path)
    assert found.images.dtype == np.float64
    assert np.array_equal(found.images[..., 0] * 255, PIXELS)
    assert np.array_equal(found.labels, LABELS)
    assert np.array_equal(found.points[2], PIXELS[2].ravel() / 255)
    assert np.array_equal(load(tmp_path, count=2).images, found.images[:2])


def test_splits_and_folders_are_told_apart(tmp_path, monkeypatch):
    write_idx(tmp_path / "mnist", "t10k", images=idx_images(255 - PIXELS))
    write_idx(tmp_path / "fashion-mnist", "t10k")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert np.array_equal(mnist(split=Split.TEST).images[..., 0] * 255, 255 - PIXELS)
    assert np.array_equal(fashion_mnist(split=Split.TEST).images[..., 0] * 255, PIXELS)
    with pytest.raises(InvalidInput, match="train-images-idx3-ubyte"):
        mnist()


def test_names_with_a_dot_are_found(tmp_path):
    (tmp_path / "train-images.idx3-ubyte").write_bytes(idx_images())
    (tmp_path / "train-labels.idx1-ubyte").write_bytes(idx_labels())
    assert len(mnist(tmp_path).labels) == 5


@pytest.mark.parametrize(
    ("content", "byte", "said"),
    [
        (b"", 0, "2051"),
        (idx_images()[:3], 3, "2051"),
        (idx_images(magic=2049), 0, "2051"),
        (idx_images().replace(struct.pack(">I", 2051), struct.pack("<I", 2051), 1), 0, "big-endian"),
        (idx_images()[:10], 10, "height and width"),
        (idx_images()[:-1], 16 + 59, "5 images of 4×3 bytes"),
        (idx_images() + b"\0", 16 + 60, "the end of the file"),
        (idx_images(shape=(2**32 - 1,) * 3), 4, "in all"),
        (idx_images(shape=(0, 4, 3)), 4, "in all"),
        (idx_images(shape=(2**20, 16, 16)), 16 + 60, "images"),
    ],
)
def test_malformed_images(tmp_path, content, byte, said):
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(content)
    with pytest.raises(MalformedFile, match=said) as refusal:
        read_idx_images(path)
    assert (refusal.value.byte, refusal.value.path) == (byte, path)
    assert str(path) in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "byte", "said"),
    [
        (idx_labels(magic=2051), 0, "2049"),
        (idx_labels(count=2**32 - 1), 4, "number of labels"),
        (idx_labels(count=6), 13, "6 labels"),
        (idx_labels(count=4), 12, "the end of the file"),
        (idx_labels(np.array([1, 10, 2], np.uint8)), 9, "0 to 9"),
    ],
)
def test_malformed_labels(tmp_path, content, byte, said):
    path = tmp_path / "labels"
    path.write_bytes(content)
    with pytest.raises(MalformedFile, match=said) as refusal:
        read_idx_labels(path)
    assert refusal.value.byte == byte


def test_images_without_their_labels(tmp_path):
    write_idx(tmp_path, labels=idx_labels(LABELS[:4]))
    with pytest.raises(MalformedFile, match="a label for each of the 5 images"):
        mnist(tmp_path)


def test_scalings(tmp_path):
    write_idx(tmp_path)
    raw = mnist(tmp_path).points
    sphere = mnist(tmp_path, scaling=Scaling.UNIT_SPHERE).points
    assert np.allclose(sphere, raw / np.linalg.norm(raw, axis=1, keepdims=True), rtol=1e-14)
    centred = mnist(tmp_path, scaling=Scaling.CENTRED_SPHERE).points
    assert np.allclose(np.linalg.norm(centred, axis=1), 1, rtol=1e-14)
    assert np.allclose(centred.sum(axis=1), 0, atol=1e-14)
    assert np.allclose(np.corrcoef(centred[1], raw[1])[0, 1], 1, rtol=1e-12)


@pytest.mark.parametrize(("scaling", "level"), [(Scaling.UNIT_SPHERE, 0), (Scaling.CENTRED_SPHERE, 200)])
def test_an_image_of_one_colour_has_no_direction(tmp_path, scaling, level):
    pixels = PIXELS.copy()
    pixels[3] = level
    write_idx(tmp_path, images=idx_images(pixels))
    with pytest.raises(InvalidInput, match="image 3"):
        mnist(tmp_path, scaling=scaling)
    assert len(mnist(tmp_path, scaling=scaling, count=3).labels) == 3


@pytest.mark.parametrize(
    "changed", [{"count": 0}, {"count": 6}, {"count": 2.0}, {"split": "train"}, {"scaling": "none"}]
)
def test_loading_refuses(tmp_path, changed):
    write_idx(tmp_path)
    with pytest.raises(InvalidInput, match=next(iter(changed))):
        mnist(tmp_path, **changed)


RECORDS = np.random.default_rng(1).integers(0, 256, size=(3, 3073), dtype=np.uint8)
RECORDS[:, 0] = [7, 0, 9]


def test_binary_batches_are_read(tmp_path):
    for number in range(1, 6):
        (tmp_path / f"data_batch_{number}.bin").write_bytes(RECORDS.tobytes())
    found = cifar10(tmp_path)
    assert found.images.shape == (15, 32, 32, 3)
    assert found.labels[:4].tolist() == [7, 0, 9, 7]
    row, column, channel = 5, 17, 2
    assert found.images[1, row, column, channel] * 255 == RECORDS[1, 1 + 1024 * channel + 32 * row + column]


def test_batches_beyond_the_count_are_not_opened(tmp_path):
    (tmp_path / "data_batch_1.bin").write_bytes(RECORDS.tobytes())
    assert len(cifar10(tmp_path, count=3).labels) == 3
    with pytest.raises(InvalidInput, match="data_batch_2"):
        cifar10(tmp_path, count=4)


@pytest.mark.parametrize(
    ("content", "byte"),
    [(b"", 0), (RECORDS.tobytes()[:-1], 3 * 3073 - 1), (RECORDS.tobytes() + b"\0", 3 * 3073 + 1)],
)
def test_binary_batches_have_whole_records(tmp_path, content, byte):
    path = tmp_path / "test_batch.bin"
    path.write_bytes(content)
    with pytest.raises(MalformedFile, match="3073") as refusal:
        read_cifar_binary(path)
    assert refusal.value.byte == byte


def test_binary_batches_have_labels_up_to_nine(tmp_path):
    records = RECORDS.copy()
    records[2, 0] = 10
    path = tmp_path / "test_batch.bin"
    path.write_bytes(records.tobytes())
    with pytest.raises(MalformedFile, match="from 0 to 9") as refusal:
        read_cifar_binary(path)
    assert refusal.value.byte == 2 * 3073
