# SPDX-License-Identifier: Apache-2.0
"""Small data sets that the tests share."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import yoload
from yoload.picture import png


def noise(seed: int, height: int, width: int) -> np.ndarray:
    """Smooth colours with an edge here and there."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (height // 8 + 2, width // 8 + 2, 3), dtype=np.uint8)
    return np.repeat(np.repeat(coarse, 8, axis=0), 8, axis=1)[:height, :width].copy()


SIZES = [(60, 80), (90, 50), (64, 64), (70, 120)]


def write_set(root: Path, task: str = "detect", train: int = 8, val: int = 4) -> Path:
    """A data set in YOLO's layout; returns what to give as ``data``."""
    rng = np.random.default_rng(7)
    for split, count in (("train", train), ("val", val)):
        for i in range(count):
            height, width = SIZES[i % len(SIZES)]
            picture = png(noise(i + 100 * (split == "val"), height, width))
            if task == "classify":
                folder = root / split / ("nut", "bolt")[i % 2]
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{i}.png").write_bytes(picture)
                continue
            for kind in ("images", "labels"):
                (root / kind / split).mkdir(parents=True, exist_ok=True)
            (root / "images" / split / f"im{i:03}.png").write_bytes(picture)
            rows = [_row(rng, task, k % 2) for k in range(3)]
            (root / "labels" / split / f"im{i:03}.txt").write_text("\n".join(rows) + "\n")
    if task == "classify":
        return root
    pose = "kpt_shape: [3, 3]\nflip_idx: [0, 2, 1]\n" if task == "pose" else ""
    (root / "data.yaml").write_text(
        f"path: {root}\ntrain: images/train\nval: images/val\nnames: [nut, bolt]\n{pose}"
    )
    return root / "data.yaml"


def _row(rng: np.random.Generator, task: str, cls: int) -> str:
    x, y = rng.uniform(0.3, 0.7, 2)
    w, h = rng.uniform(0.2, 0.5, 2)
    left, top, right, bottom = x - w / 2, y - h / 2, x + w / 2, y + h / 2
    if task == "segment":
        numbers = [left, top, right, top, right, bottom, x, y, left, bottom]
    elif task == "obb":
        numbers = [left, top, right, top + 0.05, right, bottom, left, bottom - 0.05]
    elif task == "pose":
        numbers = [x, y, w, h, x, y, 2, x + 0.05, y, 2, x - 0.05, y, 1]
    else:
        numbers = [x, y, w, h]
    return " ".join([str(cls), *(f"{n:.6f}" for n in numbers)])


@pytest.fixture()
def data(tmp_path: Path) -> Path:
    return write_set(tmp_path / "set")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a test reaches the user's cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def shared_data() -> Path | None:
    """The folder of real pictures, where there is one."""
    root = Path(__file__).parents[2]
    for place in (os.environ.get("YOLOAD_SHARED_DATA"), root.parent / "shared" / "data"):
        if place and Path(place).is_dir():
            return Path(place)
    return None


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def checksum(batch: yoload.Batch) -> int:
    return hash((np.asarray(batch["img"]).tobytes(), np.asarray(batch["bboxes"]).tobytes()))
