# SPDX-License-Identifier: Apache-2.0
"""The examples run as they are written, with tiny settings; docs/migrate.md names what exists."""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yoload
from conftest import write_set

ROOT = Path(__file__).parents[2]


def run(name: str, *arguments: object) -> str:
    command = [sys.executable, str(ROOT / "examples" / "python" / name), *map(str, arguments)]
    # One thread: on a busy machine two are slower, and sums of floats keep their order.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def losses(text: str) -> list[float]:
    return [float(value) for value in re.findall(r"loss (\S+)", text)]


def test_a_plain_loop_learns_and_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    data = write_set(tmp_path / "set", train=16)
    common = (data, "--imgsz", 64, "--batch", 4)
    whole = losses(run("train_yolov5_style.py", *common, "--epochs", 10))
    assert len(whole) == 10 and whole[-1] < 0.9 * whole[0]
    # Ten epochs or fewer have no mosaic, so the planned number of them changes no batch.
    checkpoint = ("--checkpoint", tmp_path / "state.pt")
    first = losses(run("train_yolov5_style.py", *common, "--epochs", 4, *checkpoint))
    rest = losses(run("train_yolov5_style.py", *common, "--epochs", 10, *checkpoint))
    assert len(first) == 4
    assert first + rest == pytest.approx(whole, abs=1e-3)


def test_a_torchvision_detector_learns_from_detr_targets(tmp_path: Path) -> None:
    pytest.importorskip("torchvision")
    data = write_set(tmp_path / "set")
    (tmp_path / "set" / "labels" / "train" / "im002.txt").write_text("")  # nothing in that picture
    got = losses(run("train_detr_style.py", data, "--imgsz", 96, "--batch", 4, "--steps", 6))
    assert len(got) == 6 and all(map(math.isfinite, got))
    assert sum(got[-2:]) < sum(got[:2])


def test_the_notebook_shows_batches(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    out = tmp_path / "pictures"
    text = run("look_at_batches.py", data, out)
    assert "decode" in text
    # 8 pictures in 4 columns, and one, each with a frame of 2 px.
    assert yoload.decode(out / "batch.png").shape == (2 * 322, 4 * 322, 3)
    assert yoload.decode(out / "mine.png").shape == (322, 322, 3)


def test_the_migration_guide_names_arguments_that_exist() -> None:
    known = {
        "Loader": set(inspect.signature(yoload.Loader).parameters) | set(yoload.option_table()),
        "Augment": set(inspect.signature(yoload.Augment).parameters),
    }
    text = (ROOT / "docs" / "migrate.md").read_text()
    seen = 0
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            for keyword in node.keywords if node.func.attr in known else ():
                assert keyword.arg in known[node.func.attr], keyword.arg
                seen += 1
    assert seen > 5
