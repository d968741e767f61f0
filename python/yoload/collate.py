# SPDX-License-Identifier: Apache-2.0
"""The layouts that training loops expect, by name."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .batch import ArrayMaker, Batch, RawBatch, gains, ratio_pad

Collate = Callable[[RawBatch, str, bool, ArrayMaker], Any]
"""(batch, task, augmented, make) -> what iteration yields."""


def ultralytics(raw: RawBatch, task: str, augmented: bool, make: ArrayMaker) -> Batch:
    """The dict that Ultralytics' trainers and validators take; see :class:`Batch`."""
    batch = Batch()
    if task == "classify":
        batch["img"] = raw.img
        batch["cls"] = make.integers(raw.cls)
    else:
        batch["batch_idx"] = raw.batch_idx
        batch["bboxes"] = raw.bboxes
        batch["cls"] = raw.cls
        batch["im_file"] = raw.im_file
        batch["img"] = raw.img
        if raw.keypoints is not None:
            batch["keypoints"] = raw.keypoints
        if raw.masks is not None:
            batch["masks"] = raw.masks
        batch["ori_shape"] = raw.ori_shape
        batch["ratio_pad"] = gains(raw) if augmented else ratio_pad(raw)
        height, width = (int(side) for side in raw.img.shape[2:])
        batch["resized_shape"] = ((height, width),) * len(raw.im_file)
        if raw.masks is not None:
            batch["sem_masks"] = semantic_masks(raw, make)
    batch.epoch, batch.index = raw.epoch, raw.index
    batch.positions, batch.replaced, batch.repeated = raw.positions, raw.replaced, raw.repeated
    return batch


def semantic_masks(raw: RawBatch, make: ArrayMaker) -> Any:
    """(B, h, w) float32: the class of the smallest instance that covers a place.

    Where none does, the class of the picture's last instance: the reference has it so, and its
    losses look at covered places only. Pictures without an instance are 0.
    """
    assert raw.masks is not None
    masks = np.asarray(raw.masks)
    classes = np.asarray(raw.cls)[:, 0]
    size = len(raw.im_file)
    starts = raw.first_objects()
    out = np.zeros((size, *masks.shape[1:]), np.float32)
    for i in range(size):
        first, last = starts[i], starts[i + 1]
        if first == last:
            continue
        if raw.overlap:
            table = np.concatenate([classes[last - 1 : last], classes[first:last]])
            out[i] = table[masks[i]]
        else:
            for k in first + np.argsort(-masks[first:last].sum((1, 2)), kind="stable"):
                out[i][masks[k] > 0] = classes[k]
    return make.from_numpy(out)


def yolov5(
    raw: RawBatch, task: str, augmented: bool, make: ArrayMaker
) -> tuple[Any, Any, tuple[str, ...], tuple[Any, ...] | None]:
    """(img, targets (n, 6) of batch_idx, cls, x, y, w, h, paths, shapes) as YOLOv5's loops take it.

    ``shapes`` is a tuple of ((h0, w0), ((gain_h, gain_w), (pad_w, pad_h))), or None with
    augmentation.
    """
    if task in ("classify", "obb"):
        raise ValueError(f"collate = 'yolov5' has no form for {task}: expected 'ultralytics'")
    targets = make.join([raw.batch_idx[:, None], raw.cls, raw.bboxes])
    shapes = None if augmented else tuple(zip(raw.ori_shape, ratio_pad(raw)))
    return raw.img, targets, raw.im_file, shapes


def detr(
    raw: RawBatch, task: str, augmented: bool, make: ArrayMaker
) -> tuple[list[Any], list[dict[str, Any]]]:
    """(images, targets) as torchvision's detection models and DETR-style loops take them.

    ``images`` is a list of (C, H, W), ``targets`` a list of dicts: boxes (k, 4) float32 x1 y1 x2 y2
    in px of the picture as delivered, labels (k,) int64 from 0, image_id int, orig_size and size
    (height, width) in px, masks (k, h, w) uint8 and keypoints (k, K, 3) in px where the task has
    them.
    """
    if task in ("classify", "obb"):
        raise ValueError(f"collate = 'detr' has no form for {task}: expected 'ultralytics'")
    height, width = (int(side) for side in raw.img.shape[2:])
    starts = raw.first_objects()
    half = raw.bboxes[:, 2:] / 2
    size = make.from_numpy(np.array([width, height], np.float32))
    boxes = make.join([(raw.bboxes[:, :2] - half) * size, (raw.bboxes[:, :2] + half) * size])
    labels = make.integers(raw.cls)
    targets = []
    for i in range(len(raw.im_file)):
        run = slice(int(starts[i]), int(starts[i + 1]))
        target = {
            "boxes": boxes[run],
            "labels": labels[run],
            "image_id": int(raw.records[i]),
            "orig_size": raw.ori_shape[i],
            "size": (height, width),
        }
        if raw.masks is not None:
            target["masks"] = instance_masks(raw, i, run)
        if raw.keypoints is not None:
            scale = make.from_numpy(np.array([width, height, 1], np.float32))
            target["keypoints"] = raw.keypoints[run] * scale
        targets.append(target)
    return [raw.img[i] for i in range(len(raw.im_file))], targets


def instance_masks(raw: RawBatch, picture: int, run: slice) -> Any:
    """One mask an object, from a map of instance numbers or from masks that are single already."""
    assert raw.masks is not None
    if not raw.overlap:
        return raw.masks[run]
    count = run.stop - run.start
    overlap = raw.masks[picture]
    if isinstance(overlap, np.ndarray):
        return np.stack([overlap == k + 1 for k in range(count)] or [overlap[:0]]).astype(np.uint8)
    numbers = overlap.new_tensor(range(1, count + 1)).view(-1, 1, 1)
    return (overlap[None] == numbers).byte()


COLLATES: dict[str, Collate] = {"ultralytics": ultralytics, "yolov5": yolov5, "detr": detr}
