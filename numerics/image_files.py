r"""MNIST, Fashion-MNIST and CIFAR-10 from the files in which they were published.

**IDX** (MNIST, Fashion-MNIST): big-endian. Images: the integer 2051, their number, height and width, 32 bits each, then
one byte per pixel, row by row. Labels: the integer 2049, their number, then one byte each.

**CIFAR-10, binary**: records of 3073 bytes, a label 0..9 and 32×32 pixels in three planes, red, green, blue, each row
by row; ten thousand to a file. **Python**: a pickled dictionary with `data`, uint8 `(n, 3072)` in the same order, and
`labels`; read by `numerics/pickled_batches.py`, which executes nothing of it.

Pixels become float64 in `[0, 1]`, the bytes over 255, in arrays `(n, height, width, channels)`; `Scaling` says what is
done to each image then. All of a file is checked; `count` says how much of it is turned into floats.

Sources: LeCun, Cortes, Burges, *The MNIST database*; Xiao, Rasul, Vollgraf (2017), arXiv:1708.07747; Krizhevsky (2009),
*Learning multiple layers of features from tiny images*.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.errors import InvalidInput

from .data import Array, as_integer
from .data_files import LARGEST_CONTENT, MalformedFile, Published, open_content
from .pickled_batches import read_pickled_batch

Folder = str | os.PathLike[str]
Bytes = NDArray[np.uint8]

IMAGES_MAGIC, LABELS_MAGIC = 2051, 2049
CLASSES = 10
CIFAR_SHAPE = (32, 32, 3)
CIFAR_PIXELS = 3072

MNIST = Published("MNIST", ("mnist", "MNIST", "MNIST/raw"), "train-images-idx3-ubyte and so on")
FASHION_MNIST = Published(
    "Fashion-MNIST",
    ("fashion-mnist", "fashion_mnist", "fashion", "FashionMNIST/raw"),
    "github.com/zalandoresearch/fashion-mnist",
)
CIFAR10 = Published(
    "CIFAR-10",
    ("cifar-10-batches-py", "cifar-10-batches-bin", "cifar-10", "cifar10", "."),
    "the unpacked cifar-10-python.tar.gz or cifar-10-binary.tar.gz",
)


class Split(Enum):
    """Which part of a data set; the value is how IDX files call it."""

    TRAIN = "train"
    TEST = "t10k"


class Scaling(Enum):
    """What is done to each image by itself; its pixels come in `[0, 1]`.

    `UNIT_SPHERE` divides it by its Euclidean norm; `CENTRED_SPHERE` subtracts the mean of its pixels first.
    """

    UNIT_INTERVAL = "pixels in [0, 1]"
    UNIT_SPHERE = "norm 1"
    CENTRED_SPHERE = "mean 0 and norm 1"


class LabelledImages(NamedTuple):
    """Images `(n, height, width, channels)`, float64, and the class 0..9 of each, `(n,)`."""

    images: Array
    labels: NDArray[np.int64]

    @property
    def points(self) -> Array:
        """The images as rows, `(n, height · width · channels)`."""
        return self.images.reshape(len(self.images), -1)


def mnist(
    folder: Folder | None = None,
    *,
    split: Split = Split.TRAIN,
    count: int | None = None,
    scaling: Scaling = Scaling.UNIT_INTERVAL,
) -> LabelledImages:
    """The first `count` digits of MNIST (all by default), `(n, 28, 28, 1)`, from `folder` or `LIMES_DATA`.

    Raises `InvalidInput` if the files are not there or `count` is out of range, and its kind `MalformedFile`.
    """
    return _idx(MNIST, folder, split, count, scaling)


def fashion_mnist(
    folder: Folder | None = None,
    *,
    split: Split = Split.TRAIN,
    count: int | None = None,
    scaling: Scaling = Scaling.UNIT_INTERVAL,
) -> LabelledImages:
    """The first `count` pieces of clothing of Fashion-MNIST; as `mnist`."""
    return _idx(FASHION_MNIST, folder, split, count, scaling)


def cifar10(
    folder: Folder | None = None,
    *,
    split: Split = Split.TRAIN,
    count: int | None = None,
    scaling: Scaling = Scaling.UNIT_INTERVAL,
) -> LabelledImages:
    """The first `count` images of CIFAR-10 (all by default: 1.2 GB), `(n, 32, 32, 3)`; arguments and errors as `mnist`.

    Python batches are preferred where both are there. Files beyond those that `count` needs are not opened.
    """
    _as_member("split", split, Split)
    batches = [f"data_batch_{i}" for i in range(1, 6)] if split is Split.TRAIN else ["test_batch"]
    images, labels, found = [], [], 0
    for batch in batches:
        path = CIFAR10.find(folder, (batch, f"{batch}.bin"))
        read = read_cifar_binary if path.name.removesuffix(".gz").endswith(".bin") else read_pickled_batch
        pixels, classes = read(path)
        images.append(pixels)
        labels.append(classes)
        found += len(pixels)
        if count is not None and found >= as_integer("count", count, 1):
            break
    planes = np.concatenate(images).reshape(-1, 3, 32, 32)
    return _prepared(planes.transpose(0, 2, 3, 1), np.concatenate(labels), count, scaling)


def read_idx_images(path: Path) -> Bytes:
    """The pixels `(n, height, width)` of an IDX file of images. Raises `MalformedFile`."""
    with open_content(path) as content:
        _expect_magic(content.read(4, "the number 2051 of IDX images"), IMAGES_MAGIC, path)
        shape = tuple(np.frombuffer(content.read(12, "number, height and width of the images"), ">u4").tolist())
        size = shape[0] * shape[1] * shape[2]
        if not 0 < size <= LARGEST_CONTENT:
            raise MalformedFile(path, 4, shape, f"a number, height and width of 1 to {LARGEST_CONTENT} bytes in all")
        pixels = np.frombuffer(content.read(size, f"{shape[0]} images of {shape[1]}×{shape[2]} bytes"), np.uint8)
        content.end()
    return pixels.reshape(shape)


def read_idx_labels(path: Path) -> Bytes:
    """The labels `(n,)` of an IDX file of labels 0..9. Raises `MalformedFile`."""
    with open_content(path) as content:
        _expect_magic(content.read(4, "the number 2049 of IDX labels"), LABELS_MAGIC, path)
        number = int.from_bytes(content.read(4, "the number of labels"), "big")
        if not 0 < number <= LARGEST_CONTENT:
            raise MalformedFile(path, 4, number, f"a number of labels from 1 to {LARGEST_CONTENT}")
        labels = np.frombuffer(content.read(number, f"{number} labels of a byte"), np.uint8)
        content.end()
    _expect_classes(labels, lambda index: 8 + index, path)
    return labels


def read_cifar_binary(path: Path) -> tuple[Bytes, Bytes]:
    """The pixels `(n, 3072)` and labels `(n,)` of a binary batch of CIFAR-10. Raises `MalformedFile`."""
    record = 1 + CIFAR_PIXELS
    with open_content(path) as content:
        raw = content.rest()
    if len(raw) % record or not raw:
        raise MalformedFile(path, len(raw), "the end of the file", f"records of {record} bytes, the last one whole")
    records = np.frombuffer(raw, np.uint8).reshape(-1, record)
    _expect_classes(records[:, 0], lambda index: index * record, path)
    return records[:, 1:], records[:, 0]


def _idx(
    published: Published, folder: Folder | None, split: Split, count: int | None, scaling: Scaling
) -> LabelledImages:
    _as_member("split", split, Split)
    images_path, labels_path = (
        published.find(folder, _idx_names(split, kind)) for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")
    )
    pixels, labels = read_idx_images(images_path), read_idx_labels(labels_path)
    if len(pixels) != len(labels):
        raise MalformedFile(labels_path, 4, len(labels), f"a label for each of the {len(pixels)} images")
    return _prepared(pixels[..., None], labels, count, scaling)


def _idx_names(split: Split, kind: str) -> Sequence[str]:
    """As the file is called, also by those who lose its hyphen."""
    return f"{split.value}-{kind}", f"{split.value}-{kind.replace('-idx', '.idx')}"


def _expect_magic(found: bytes, expected: int, path: Path) -> None:
    number = int.from_bytes(found, "big")
    if number != expected:
        raise MalformedFile(path, 0, number, f"the magic number {expected} (big-endian)")


def _expect_classes(labels: Bytes, byte: Callable[[int], int], path: Path) -> None:
    if (wrong := np.flatnonzero(labels >= CLASSES)).size:
        index = int(wrong[0])
        raise MalformedFile(path, byte(index), int(labels[index]), f"a label from 0 to {CLASSES - 1}")


def _prepared(pixels: Bytes, labels: Bytes, count: int | None, scaling: Scaling) -> LabelledImages:
    """Bytes `(n, height, width, channels)` as floats, the first `count` of them."""
    _as_member("scaling", scaling, Scaling)
    if count is not None and as_integer("count", count, 1) > len(pixels):
        raise InvalidInput("count", count, f"there are {len(pixels)} images")
    images = pixels[:count] / 255.0
    if scaling is not Scaling.UNIT_INTERVAL:
        rows = images.reshape(len(images), -1)
        if scaling is Scaling.CENTRED_SPHERE:
            rows -= rows.mean(axis=1, keepdims=True)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if (flat := np.flatnonzero(norms[:, 0] < 1e-9)).size:
            raise InvalidInput("scaling", scaling, f"image {flat[0]} is of one colour and has no direction")
        rows /= norms
        images = rows.reshape(images.shape)
    return LabelledImages(images, labels[:count].astype(np.int64))


def _as_member(argument: str, value: object, kind: type[Enum]) -> None:
    if not isinstance(value, kind):
        raise InvalidInput(argument, value, f"give one of {', '.join(str(member) for member in kind)}")
