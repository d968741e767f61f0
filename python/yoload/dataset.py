# SPDX-License-Identifier: Apache-2.0
"""Data sets that a program already holds."""

from __future__ import annotations

import ctypes
import io
import os
from typing import Any, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ._native import check, lib

_FIELDS = ("image", "name", "cls", "boxes", "polygons", "keypoints")


class Dataset:
    """Pictures and labels in memory. Made by :meth:`from_records`; give it to ``Loader(data=...)``."""

    def __init__(self, handle: int, task: str, names: list[str], size: int) -> None:
        self._handle: int | None = handle
        self.task = task
        self.names = names
        self._size = size

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        names: Sequence[str] | Mapping[int, str],
        *,
        task: str = "detect",
        box_format: str = "xywhn",
        channels: int = 3,
        kpt_shape: Sequence[int] | None = None,
        flip_idx: Sequence[int] | None = None,
    ) -> Dataset:
        """A data set from labels of any origin.

        Parameters
        ----------
        records : iterable of mapping
            One per picture, with the keys

            image : str, path, bytes or array
                A file, the bytes of a picture file, or pixels (H, W, C) or (H, W) uint8 in RGB
                order.
            cls : (n,) int
                Class numbers; classify: one.
            boxes : (n, 4), optional where polygons are given
            polygons : n arrays (P, 2), optional
                Outlines (segment, empty for none) or four corners (obb).
            keypoints : (n, K, 3) or (n, K, 2), pose
                x, y and visibility 0, 1 or 2; without it all are visible.
            name : str, optional
                Shown as im_file where image is no path.
        names : sequence or mapping
            Class names in order of their numbers.
        task : {"detect", "segment", "pose", "obb", "classify"}
        box_format : {"xywhn", "xyxyn", "xyxy", "xywh"}
            Centre and size, or two corners, as fractions of the picture; two corners, or top left
            corner and size, in px. Polygons and keypoints are in the same unit.
        channels : int
            Of the pictures as training sees them.
        kpt_shape : (K, 2 or 3)
            Pose.
        flip_idx : (K,) int, optional
            Pose: order of the keypoints after a horizontal flip; without it flips are off.

        Raises
        ------
        ValueError, TypeError
            A field that does not exist, columns that are out of step, a class that does not exist.
        """
        class_names = [names[i] for i in range(len(names))]
        encoded = [name.encode() for name in class_names]
        kpt_count = int(kpt_shape[0]) if kpt_shape is not None else 0
        if flip_idx is not None and len(flip_idx) != kpt_count:
            raise ValueError(f"flip_idx has {len(flip_idx)} numbers, kpt_shape {kpt_count} keypoints")
        flips = (ctypes.c_int * kpt_count)(*flip_idx) if flip_idx is not None else None
        handle = lib.yoload_records_new(
            task.encode(),
            (ctypes.c_char_p * len(encoded))(*encoded),
            len(encoded),
            channels,
            kpt_count,
            flips,
            box_format.encode(),
        )
        if not handle:
            check(-1)
        dataset = cls(handle, task, class_names, 0)
        for number, record in enumerate(records):
            dataset._add(number, record, kpt_count)
        return dataset

    def _add(self, number: int, record: Mapping[str, Any], kpt_count: int) -> None:
        unknown = [key for key in record if key not in _FIELDS]
        if unknown:
            raise TypeError(f"records[{number}]: no field '{unknown[0]}'; there are {_FIELDS}")
        if "image" not in record:
            raise TypeError(f"records[{number}]: the field 'image' is missing")
        path, contents = _picture(record["image"], number)
        if "name" in record:
            if contents is None:
                raise TypeError(f"records[{number}]: 'name' is for pictures without a path")
            path = os.fsencode(record["name"])
        classes = _floats(record.get("cls", ()), number, "cls").reshape(-1)
        n = len(classes)
        boxes = _column(record.get("boxes"), number, "boxes", (n, 4))
        counts = points = None
        polygons = record.get("polygons")
        if polygons is not None:
            if len(polygons) != n:
                raise ValueError(f"records[{number}].polygons: {len(polygons)} for {n} objects")
            outlines = [_floats(p, number, "polygons").reshape(-1, 2) for p in polygons]
            counts = np.array([len(p) for p in outlines], np.uint32)
            points = np.concatenate([*outlines, np.empty((0, 2), np.float32)])
        keypoints = record.get("keypoints")
        if keypoints is not None:
            keypoints = _floats(keypoints, number, "keypoints")
            if keypoints.shape == (n, kpt_count, 2):
                seen = np.full((n, kpt_count, 1), 2, np.float32)
                keypoints = np.concatenate([keypoints, seen], axis=2)
            keypoints = _column(keypoints, number, "keypoints", (n, kpt_count, 3))
        check(
            lib.yoload_records_add(
                self._handle,
                path,
                contents,
                len(contents) if contents is not None else 0,
                n,
                _address(classes),
                _address(boxes),
                _address(counts),
                _address(points),
                _address(keypoints),
            )
        )
        self._size += 1

    def _records(self) -> int:
        assert self._handle is not None
        return self._handle

    def __len__(self) -> int:
        return self._size

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            lib.yoload_records_free(handle)


def _picture(image: Any, number: int) -> tuple[bytes | None, bytes | None]:
    """(path, contents) of what a record calls its image."""
    if isinstance(image, (str, os.PathLike)):
        return os.fsencode(image), None
    if isinstance(image, (bytes, bytearray, memoryview)):
        return None, bytes(image)
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3):
        raise TypeError(
            f"records[{number}].image: expected a path, bytes or uint8 pixels (H, W, C), got "
            f"{type(image).__name__} {pixels.dtype} {pixels.shape}"
        )
    return None, as_npy(pixels)


def as_npy(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Pixels as the bytes of a .npy file, which the engine reads as a picture."""
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(pixels), allow_pickle=False)
    return stream.getvalue()


def _floats(values: Any, number: int, field: str) -> npt.NDArray[np.float32]:
    try:
        return np.ascontiguousarray(values, np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(f"records[{number}].{field}: {error}") from None


def _column(
    values: Any, number: int, field: str, shape: tuple[int, ...]
) -> npt.NDArray[np.float32] | None:
    if values is None:
        return None
    column = _floats(values, number, field)
    if column.size == 0 and 0 in shape:
        return None
    if column.shape != shape:
        raise ValueError(f"records[{number}].{field}: shape {column.shape}, expected {shape}")
    return column


def _address(values: npt.NDArray[Any] | None) -> int | None:
    return int(values.ctypes.data) if values is not None and values.size else None
