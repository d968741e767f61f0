# SPDX-License-Identifier: Apache-2.0
"""The examples run as they are written, with tiny settings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yoload
from conftest import write_set

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"


def run(name: str, *arguments: object) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def losses(text: str) -> list[float]:
    return [float(value) for value in re.findall(r"loss ([0-9.]+)", text)]


def test_a_plain_loop_learns_and_resumes(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    data = write_set(tmp_path / "set", train=16)
    common = (data, "--imgsz", 64, "--batch", 4)
    whole = losses(run("train_yolov5_style.py", *common, "--epochs", 24))
    assert len(whole) == 24 and whole[-1] < 0.85 * whole[0]
    checkpoint = ("--checkpoint", tmp_path / "state.pt")
    first = losses(run("train_yolov5_style.py", *common, "--epochs", 2, *checkpoint))
    rest = losses(run("train_yolov5_style.py", *common, "--epochs", 4, *checkpoint))
    assert len(first) == 2 and len(rest) == 2


def test_a_torchvision_detector_learns_from_detr_targets(tmp_path: Path) -> None:
    pytest.importorskip("torchvision")
    data = write_set(tmp_path / "set")
    got = losses(run("train_detr_style.py", data, "--imgsz", 96, "--batch", 4, "--steps", 12))
    assert len(got) == 12
    assert sum(got[-3:]) < sum(got[:3])


def test_the_notebook_shows_batches(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    text = run("look_at_batches.py", data, tmp_path)
    assert "decode" in text
    for name in ("batch.png", "mine.png"):
        assert yoload.decode(tmp_path / name).shape[2] == 3
