# SPDX-License-Identifier: Apache-2.0
"""The README's loop, as it is printed there, on real data sets of four kinds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import shared_data

README = Path(__file__).parents[2] / "README.md"

SETS = {
    "bccd": "bccd",  # Pascal VOC
    "coco-json": "coco-json/annotations",
    "deeppcb-mini": "deeppcb-mini/data.yaml",
    "aerial-cars": "aerial-cars/data.yaml",
}


def readme_loop() -> str:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (loop,) = [block for block in blocks if 'yoload.Loader("data.yaml"' in block]
    return loop


@pytest.mark.parametrize("name", SETS)
def test_the_loop_of_the_readme_runs(name: str) -> None:
    root = shared_data()
    if root is None:
        pytest.skip("no shared data here")
    data = root / SETS[name]
    if data.is_dir() and name == "coco-json":
        data = next(iter(sorted(data.glob("instances*.json"))))
    before = {p: p.stat().st_mtime_ns for p in (root / name).rglob("*")}
    script = readme_loop().replace('"data.yaml"', repr(str(data))).replace("range(100)", "range(2)")
    # What the reader would do with a batch.
    script = script.replace("        ...\n", "        assert len(batch['img']) == len(batch['im_file'])\n")
    assert str(data) in script and "range(2)" in script and "assert" in script
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "images in" in done.stdout and "decode" in done.stdout
    assert {p: p.stat().st_mtime_ns for p in (root / name).rglob("*")} == before
