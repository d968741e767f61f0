# SPDX-License-Identifier: Apache-2.0
"""From the engine's batch to what a training loop takes: arrays or tensors in three layouts.

Work here is per batch, never per pixel: the picture numbers already lie in their memory.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._memory import Block, as_buffer
from ._native import CBatch

_IMG_DTYPES = ("uint8", "float16", "float32", "bfloat16")
_IMG_BYTES = (1, 2, 4, 2)

Array = Any  # numpy.ndarray or torch.Tensor, as Loader(output=...) says


def img_bytes(batch: CBatch) -> int:
    """Of the pictures of a batch."""
    numbers = batch.size * batch.channels * batch.height_px * batch.width_px
    return int(numbers * _IMG_BYTES[batch.dtype])


class Batch(dict[str, Any]):
    """A batch as the Ultralytics trainers know it, with where it came from.

    Keys (n objects over all B pictures)
    ------------------------------------
    img : (B, C, H, W), uint8 or float
    cls : (n, 1) float32
    bboxes : (n, 4) float32, x y w h normalised by the picture; OBB (n, 5) with the angle in radians
    batch_idx : (n,) float32, picture of each object
    masks : segment: (B, h, w) instance numbers, or (n, h, w) without overlap_mask
    sem_masks : segment: (B, h, w) float32, class of the instance at each place
    keypoints : pose: (n, K, 3) float32, x y normalised, visibility
    im_file, ori_shape, resized_shape : tuples of length B; shapes are (height, width) in px, of the
        file's picture and of the picture in the batch
    ratio_pad : tuple of (gain_h, gain_w), loaded by original side; without augmentation of
        ((gain_h, gain_w), (pad_w, pad_h)) with the borders left and above in px

    Classification: img and cls (B,) int64 alone, as the reference has it.

    Attributes
    ----------
    epoch, index : int
        Number of the epoch and of the batch in it.
    positions : (B,) int64
        Places in the epoch's global order.
    replaced : (B,) bool
        The planned picture could not be read and another one stands here; see ``Loader.ledger``.
    repeated : (B,) bool
        The sample is here only so that all ranks have as many batches.
    """

    epoch: int
    index: int
    positions: npt.NDArray[np.int64]
    replaced: npt.NDArray[np.bool_]
    repeated: npt.NDArray[np.bool_]


@dataclass
class RawBatch:
    """The engine's batch with its labels copied out, before collation."""

    img: Array  # B,C,H,W
    cls: Array  # n,1
    bboxes: Array  # n,4 | n,5
    batch_idx: Array  # n
    masks: Array | None
    overlap: bool  # masks are one map of instance numbers a picture
    keypoints: Array | None  # n,K,3
    im_file: tuple[str, ...]
    ori_shape: tuple[tuple[int, int], ...]
    loaded_shape: tuple[tuple[int, int], ...]  # after resizing to imgsz, before placement
    epoch: int
    index: int
    records: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    replaced: npt.NDArray[np.bool_]
    repeated: npt.NDArray[np.bool_]

    def first_objects(self) -> npt.NDArray[np.int64]:
        """(B + 1,): objects i to i + 1 of this are those of picture i, which come in a run."""
        owners = np.asarray(self.batch_idx).astype(np.int64)
        return np.searchsorted(owners, np.arange(len(self.im_file) + 1))


class ArrayMaker:
    """Makes arrays or tensors of numbers that the engine holds."""

    def __init__(self, torch: Any | None, pin_memory: bool) -> None:
        self._torch = torch
        self._pin = pin_memory

    def img(self, block: Block, batch: CBatch) -> Array:
        shape = (batch.size, batch.channels, batch.height_px, batch.width_px)
        flat = block.array(img_bytes(batch))
        dtype = _IMG_DTYPES[batch.dtype]
        if self._torch is None:
            return flat.view(dtype).reshape(shape)
        if isinstance(flat, np.ndarray):
            flat = self._torch.from_numpy(flat)
        return flat.view(getattr(self._torch, dtype)).view(shape)

    def floats(self, pointer: int | None, shape: tuple[int, ...]) -> Array:
        if self._torch is None:
            out = np.empty(shape, np.float32)
            address = out.ctypes.data
            count = out.size
        else:
            out = self._torch.empty(shape, dtype=self._torch.float32, pin_memory=self._pin)
            address = out.data_ptr()
            count = out.numel()
        if count:
            ctypes.memmove(address, pointer or 0, 4 * count)
        return out

    def integers(self, values: Array) -> Array:
        """Whole numbers (n,) int64 from (n, 1) floats."""
        if self._torch is None:
            return values[:, 0].astype(np.int64)
        return values[:, 0].long()

    def join(self, columns: list[Array]) -> Array:
        if self._torch is None:
            return np.concatenate(columns, axis=1)
        return self._torch.cat(columns, 1)

    def stack(self, rows: list[Array]) -> Array:
        if self._torch is None:
            return np.concatenate(rows)
        return self._torch.cat(rows)

    def from_numpy(self, values: npt.NDArray[Any]) -> Array:
        return values if self._torch is None else self._torch.from_numpy(values)

    def masks(self, pointer: int | None, shape: tuple[int, ...]) -> Array:
        """uint8 while the instance numbers fit, else int32."""
        count = int(np.prod(shape))
        if count:
            numbers = np.frombuffer(
                as_buffer((ctypes.c_int32 * count).from_address(pointer or 0)), np.int32
            )
            narrow = numbers.max() <= 255
            out = numbers.astype(np.uint8 if narrow else np.int32).reshape(shape)
        else:
            out = np.zeros(shape, np.uint8)
        if self._torch is None:
            return out
        tensor = self._torch.from_numpy(out)
        return tensor.pin_memory() if self._pin else tensor


def unpack(batch: CBatch, img: Array, make: ArrayMaker, overlap: bool) -> RawBatch:
    """Copies the labels of the engine's batch; `img` are its pictures."""
    size, n = batch.size, batch.objects
    samples = batch.samples[:size]
    masks = keypoints = None
    if batch.mask_height_px:
        shape = (batch.mask_count, batch.mask_height_px, batch.mask_width_px)
        masks = make.masks(batch.masks, shape)
    if batch.keypoints_per_object:
        keypoints = make.floats(batch.keypoints, (n, batch.keypoints_per_object, 3))
    return RawBatch(
        img=img,
        cls=make.floats(batch.cls, (n, 1)),
        bboxes=make.floats(batch.bboxes, (n, batch.box_values)),
        batch_idx=make.floats(batch.batch_idx, (n,)),
        masks=masks,
        overlap=overlap,
        keypoints=keypoints,
        im_file=tuple(_path(name) for name in batch.im_files[:size]),
        ori_shape=tuple((s.ori_height_px, s.ori_width_px) for s in samples),
        loaded_shape=tuple((s.resized_height_px, s.resized_width_px) for s in samples),
        epoch=batch.epoch,
        index=batch.index,
        records=np.array([s.record for s in samples], np.int64),
        positions=np.array([s.position for s in samples], np.int64),
        replaced=np.array([s.replaced for s in samples], np.bool_),
        repeated=np.array([s.repeated for s in samples], np.bool_),
    )


def _path(name: bytes | None) -> str:
    return (name or b"").decode("utf-8", "surrogateescape")


Gains = tuple[float, float]


def gains(raw: RawBatch) -> tuple[Gains, ...]:
    """Loaded by original side, (height, width), of each picture."""
    return tuple((h / h0, w / w0) for (h0, w0), (h, w) in zip(raw.ori_shape, raw.loaded_shape))


def ratio_pad(raw: RawBatch) -> tuple[tuple[Gains, tuple[int, int]], ...]:
    """How letterboxing placed each picture, as validators take it to map boxes back.

    The gains, and the borders (left, above) in px (SEMANTICS section 9).
    """
    height, width = raw.img.shape[2:]
    placed = []
    for gain, (h, w) in zip(gains(raw), raw.loaded_shape):
        r = min(height / h, width / w, 1.0)
        left, above = (width - round(w * r)) / 2, (height - round(h * r)) / 2
        placed.append((gain, (round(left - 0.1), round(above - 0.1))))
    return tuple(placed)
