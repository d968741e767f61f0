# SPDX-License-Identifier: Apache-2.0
"""Augmentation settings."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Augment:
    """What is done to training pictures. Names and defaults are those of Ultralytics 8.x.

    Parameters
    ----------
    mosaic, mixup, cutmix, copy_paste : float
        Probabilities, 0 to 1. copy_paste needs outlines (segment data).
    mosaic_tiles : int
        4 (2 x 2) or 9 (3 x 3).
    copy_paste_mode : str
        "flip" (mirrored objects of the same picture) or "mixup" (objects of a partner).
    degrees, shear : float
        Rotation and shear are drawn from +- this many degrees.
    translate, scale : float
        Shift drawn from +- this fraction of the picture; gain from 1 +- scale.
    perspective : float
        0 to 0.001.
    hsv_h, hsv_s, hsv_v : float
        Gains of hue, saturation and value, 0 to 1.
    flipud, fliplr, bgr : float
        Probabilities of a vertical flip, a horizontal flip, channels left in BGR order.
    blur, median_blur, to_gray, clahe : float
        Probabilities of the filters that Ultralytics applies where albumentations is installed.
    multi_scale : float
        Sizes of batches are drawn from imgsz * (1 +- multi_scale), in strides; 0 is off.
    close_mosaic : int
        In so many last epochs (of Loader(epochs=...)) mosaic, mixup, cutmix, copy_paste are off.
    box_filter : str
        "reference" drops objects under 2 px, with an aspect over 100 or too little area left;
        "keep" keeps all of which at least min_box_px is left. Both are counted in report().
    min_box_px : float
        Smallest side, in px, that "keep" keeps.
    auto_augment : str
        Classification: "randaugment", "autoaugment", "augmix" or "".
    erasing : float
        Classification: probability of random erasing.
    """

    mosaic: float = 1.0
    mosaic_tiles: int = 4
    mixup: float = 0.0
    cutmix: float = 0.0
    copy_paste: float = 0.0
    copy_paste_mode: str = "flip"
    degrees: float = 0.0
    translate: float = 0.1
    scale: float = 0.5
    shear: float = 0.0
    perspective: float = 0.0
    hsv_h: float = 0.015
    hsv_s: float = 0.7
    hsv_v: float = 0.4
    flipud: float = 0.0
    fliplr: float = 0.5
    bgr: float = 0.0
    blur: float = 0.01
    median_blur: float = 0.01
    to_gray: float = 0.01
    clahe: float = 0.01
    multi_scale: float = 0.0
    close_mosaic: int = 10
    box_filter: str = "reference"
    min_box_px: float = 0.0
    auto_augment: str = "randaugment"
    erasing: float = 0.4

    @classmethod
    def none(cls) -> Augment:
        """Nothing random: pictures are letterboxed, as for validation, but shuffled."""
        off = {f.name: 0.0 for f in fields(cls) if f.type == "float"}
        return cls(**off, auto_augment="", close_mosaic=0)  # type: ignore[arg-type]

    def options(self) -> dict[str, str | float | int]:
        """Name -> value, as the engine takes them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
