# SPDX-License-Identifier: Apache-2.0
"""Single pictures and grids, for notebooks."""

from __future__ import annotations

import ctypes
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._native import lib
from .augment import Augment
from .batch import Batch
from .dataset import Dataset
from .errors import Error
from .loader import Loader

Pixels = npt.NDArray[np.uint8]


Source = Union[str, "os.PathLike[str]", bytes]


def decode(image: Source, channels: int = 3) -> Pixels:
    """Decodes one picture, told by its content: JPEG, PNG, WebP, TIFF, BMP, GIF, NPY.

    Parameters
    ----------
    image : path or bytes
    channels : int
        3: R, G, B; 1: gray; others: as stored in .npy and multi-page TIFF.

    Returns
    -------
    (H, W, channels) uint8, upright (EXIF orientation applied)

    Raises
    ------
    yoload.Error
        With path, stage and cause: truncated, corrupt, unsupported, over a limit.
    OSError
        The file cannot be read.
    """
    return decode_many([image], channels)[0]


def decode_many(
    images: Sequence[Source], channels: int = 3, threads: int = 1, decode: str = "auto"
) -> list[Pixels]:
    """Decodes many pictures, several in flight at a time in each thread; the GIL is released.

    Parameters
    ----------
    images : sequence of paths or bytes
    channels : int
        As in :func:`decode`.
    threads : int
        Threads that decode, the calling one among them.
    decode : "auto" or "libjpeg-turbo"
        Who decodes JPEG files: yoload's own decoder where it can, or libjpeg-turbo alone. The
        pixels are the same.

    Returns
    -------
    list of (H, W, channels) uint8, in the order of ``images``

    Raises
    ------
    yoload.Error
        For the first picture that cannot be decoded.
    OSError
        A file cannot be read.
    ValueError
        For another value of ``decode``.
    """
    if decode not in ("auto", "libjpeg-turbo"):
        raise ValueError(f"decode = {decode!r}: expected 'auto' or 'libjpeg-turbo'")
    tasks = (_native.CPicture * len(images))()
    contents: list[bytes] = []
    pixels: list[Pixels] = []
    height, width = ctypes.c_int(), ctypes.c_int()
    for image, task in zip(images, tasks):
        file = image if isinstance(image, bytes) else Path(image).read_bytes()
        status = lib.yoload_picture_size(file, len(file), ctypes.byref(height), ctypes.byref(width))
        try:
            _native.check(status)
        except Error as error:
            raise _named(error, image) from None
        contents.append(file)
        pixels.append(np.empty((height.value, width.value, channels), np.uint8))
        task.file = ctypes.cast(ctypes.c_char_p(file), ctypes.c_void_p)
        task.file_bytes = len(file)
        task.pixels = pixels[-1].ctypes.data
        task.pixel_bytes = pixels[-1].nbytes
    _native.check(
        lib.yoload_decode(tasks, len(images), channels, int(decode != "auto"), threads)
    )
    for image, task in zip(images, tasks):
        if task.error:
            cause = task.error.decode(errors="replace")
            raise _named(Error(f"decode: {cause}", "", "decode", cause), image)
    return pixels


def _named(error: Error, image: Source) -> Error:
    """The same, naming the file that it is about."""
    if isinstance(image, bytes):
        return error
    path = os.fspath(image)
    return Error(f"{path}: {error}", path, error.stage, error.cause)


@dataclass
class Augmented:
    """One augmented picture.

    Attributes
    ----------
    image : (H, W, C) uint8
    cls : (k,) int64
    boxes : (k, 4) float32, x1 y1 x2 y2 in px of ``image``
    keypoints : (k, K, 3) float32 in px, or None
    mask : (h, w) instance numbers 1..k at 1/mask_ratio, or None
    """

    image: Pixels
    cls: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.float32]
    keypoints: npt.NDArray[np.float32] | None = None
    mask: npt.NDArray[Any] | None = None

    def _repr_png_(self) -> bytes:
        return png(_outlined(self.image.copy(), self.boxes, self.cls))


def augment(
    image: Any,
    boxes: Any = (),
    cls: Any = None,
    *,
    polygons: Sequence[Any] | None = None,
    keypoints: Any = None,
    flip_idx: Sequence[int] | None = None,
    box_format: str = "xyxy",
    augment: bool | Augment | Mapping[str, Any] = True,
    imgsz: int = 640,
    seed: int = 0,
    **options: Any,
) -> Augmented:
    """What training would see of this picture for a seed.

    A mosaic is made of copies of the picture, there being no other.

    Parameters
    ----------
    image : path, bytes of a picture file, or pixels (H, W, C) or (H, W) uint8 in RGB order
    boxes : (n, 4)
    cls : (n,) int, default zeros
    polygons : n arrays (P, 2), optional
    keypoints : (n, K, 3) or (n, K, 2), optional
    box_format : {"xyxy", "xywh", "xyxyn", "xywhn"}
    augment, imgsz, options
        As in :class:`Loader`.
    seed : int
        Another seed, another picture.
    """
    boxes = np.asarray(boxes, np.float32).reshape(-1, 4)
    classes = np.zeros(len(boxes), np.int64) if cls is None else np.asarray(cls, np.int64)
    record: dict[str, Any] = {"image": image, "cls": classes, "boxes": boxes}
    task, kpt_shape = "detect", None
    if polygons is not None:
        task, record["polygons"] = "segment", polygons
    if keypoints is not None:
        task, record["keypoints"] = "pose", keypoints
        kpt_shape = np.asarray(keypoints).shape[1:]
    channels = 3
    if isinstance(image, np.ndarray):
        channels = 1 if image.ndim == 2 else image.shape[2]
    names = [f"class_{i}" for i in range(int(classes.max(initial=0)) + 1)]
    dataset = Dataset.from_records(
        [record], names, task=task, box_format=box_format, channels=channels,
        kpt_shape=kpt_shape, flip_idx=flip_idx,
    )  # fmt: skip
    loader = Loader(
        dataset, imgsz=imgsz, batch_size=1, augment=augment, seed=seed, workers=1,
        output="numpy", rank=0, world_size=1, prefetch_factor=1, **options,
    )  # fmt: skip
    with loader:
        batch = loader.replay(0, 0)
    pixels = batch["img"][0].transpose(1, 2, 0)
    height, width = pixels.shape[:2]
    scale = np.array([width, height], np.float32)
    centre, size = batch["bboxes"][:, :2] * scale, batch["bboxes"][:, 2:4] * scale
    points = batch.get("keypoints")
    return Augmented(
        image=np.ascontiguousarray(pixels),
        cls=batch["cls"][:, 0].astype(np.int64),
        boxes=np.concatenate([centre - size / 2, centre + size / 2], axis=1),
        keypoints=None if points is None else points * np.array([width, height, 1], np.float32),
        mask=None if batch.get("masks") is None else batch["masks"][0],
    )


class Grid:
    """A grid of pictures: shown by notebooks, saved as PNG elsewhere.

    Attributes
    ----------
    pixels : (H, W, 3) uint8
    """

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a PNG file."""
        Path(path).write_bytes(png(self.pixels))

    def _repr_png_(self) -> bytes:
        return png(self.pixels)

    def __repr__(self) -> str:
        height, width = self.pixels.shape[:2]
        return f"<yoload.Grid {width}x{height}: .save(path) writes a PNG>"


def show(batch: Batch | Mapping[str, Any], columns: int = 4, max_images: int = 16) -> Grid:
    """A grid of a batch's pictures with what the labels say: boxes, keypoints, masks.

    Parameters
    ----------
    batch : Batch
        As iteration yields it with collate="ultralytics".
    columns, max_images : int
    """
    img = _to_numpy(batch["img"])[:max_images]
    if img.dtype != np.uint8:
        img = np.clip(np.asarray(img, np.float32) * 255 + 0.5, 0, 255).astype(np.uint8)
    if img.shape[1] != 3:
        img = np.repeat(img[:, :1], 3, axis=1)
    count, _, height, width = img.shape
    columns = max(1, min(columns, count))
    rows = -(-count // columns)
    grid = np.full((rows * (height + 2), columns * (width + 2), 3), 255, np.uint8)
    for i in range(count):
        picture = np.ascontiguousarray(img[i].transpose(1, 2, 0))
        _annotate(picture, batch, i)
        top, left = (i // columns) * (height + 2), (i % columns) * (width + 2)
        grid[top : top + height, left : left + width] = picture
    return Grid(grid)


def _annotate(picture: Pixels, batch: Mapping[str, Any], i: int) -> None:
    if "bboxes" not in batch:
        return
    height, width = picture.shape[:2]
    owners = _to_numpy(batch["batch_idx"]) == i
    classes = _to_numpy(batch["cls"])[owners, 0].astype(np.int64)
    boxes = _to_numpy(batch["bboxes"])[owners]
    if "masks" in batch and len(batch["masks"]) == len(batch["img"]):
        _tint(picture, _to_numpy(batch["masks"])[i], classes)
    scale = np.array([width, height], np.float32)
    if boxes.shape[1] == 5:
        for box, cls in zip(boxes, classes):
            _polygon(picture, _corners(box, scale), colour(int(cls)))
    else:
        centre, size = boxes[:, :2] * scale, boxes[:, 2:4] * scale
        _outlined(picture, np.concatenate([centre - size / 2, centre + size / 2], 1), classes)
    if "keypoints" in batch:
        for points in _to_numpy(batch["keypoints"])[owners]:
            for x, y, seen in points:
                if seen > 0:
                    _dot(picture, x * width, y * height)


def _corners(box: Any, scale: Any) -> npt.NDArray[np.float32]:
    (x, y), (w, h), angle = box[:2] * scale, box[2:4] * scale, float(box[4])
    along = np.array([np.cos(angle), np.sin(angle)], np.float32) * w / 2
    across = np.array([-np.sin(angle), np.cos(angle)], np.float32) * h / 2
    centre = np.array([x, y], np.float32)
    return np.stack(
        [centre - along - across, centre + along - across, centre + along + across,
         centre - along + across]
    )  # fmt: skip


def colour(cls: int) -> tuple[int, int, int]:
    """A colour for a class; neighbours differ."""
    hue = (cls * 0.61803398875) % 1.0
    channels = [abs(((hue + shift) % 1.0) * 6 - 3) - 1 for shift in (0.0, 2 / 3, 1 / 3)]
    r, g, b = (int(255 * min(max(c, 0.0), 1.0)) for c in channels)
    return r, g, b


def _outlined(picture: Pixels, boxes: Any, classes: Any) -> Pixels:
    height, width = picture.shape[:2]
    thick = max(1, round(max(height, width) / 320))
    for (x1, y1, x2, y2), cls in zip(boxes, classes):
        left, right = sorted((int(np.clip(x1, 0, width - 1)), int(np.clip(x2, 0, width - 1))))
        top, bottom = sorted((int(np.clip(y1, 0, height - 1)), int(np.clip(y2, 0, height - 1))))
        shade = colour(int(cls))[: picture.shape[2]]
        picture[top : top + thick, left : right + 1] = shade
        picture[max(bottom - thick + 1, 0) : bottom + 1, left : right + 1] = shade
        picture[top : bottom + 1, left : left + thick] = shade
        picture[top : bottom + 1, max(right - thick + 1, 0) : right + 1] = shade
    return picture


def _polygon(picture: Pixels, corners: Any, shade: tuple[int, int, int]) -> None:
    height, width = picture.shape[:2]
    for start, end in zip(corners, np.roll(corners, -1, axis=0)):
        steps = int(max(abs(end - start).max(), 1)) + 1
        line = np.linspace(start, end, steps).astype(np.int64)
        inside = (line >= 0).all(1) & (line[:, 0] < width) & (line[:, 1] < height)
        picture[line[inside, 1], line[inside, 0]] = shade


def _dot(picture: Pixels, x: float, y: float) -> None:
    radius = max(1, round(max(picture.shape[:2]) / 200))
    top, left = max(int(y) - radius, 0), max(int(x) - radius, 0)
    picture[top : int(y) + radius + 1, left : int(x) + radius + 1] = (255, 255, 0)


def _tint(picture: Pixels, mask: Any, classes: Any) -> None:
    height, width = picture.shape[:2]
    ys = np.arange(height) * mask.shape[0] // height
    xs = np.arange(width) * mask.shape[1] // width
    full = mask[ys][:, xs]
    for number, cls in enumerate(classes, start=1):
        there = full == number
        picture[there] = picture[there] // 2 + np.array(colour(int(cls)), np.uint8) // 2


def _to_numpy(values: Any) -> npt.NDArray[Any]:
    return values if isinstance(values, np.ndarray) else np.asarray(values.detach().cpu())


def png(pixels: Pixels) -> bytes:
    """(H, W, 1 or 3) uint8 as the bytes of a PNG file."""
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # filter type 0 before each row
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)

    kind = {1: 0, 3: 2}[channels]
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + chunk(b"IEND", b"")
    )
