# SPDX-License-Identifier: Apache-2.0
"""The type hints hold, strictly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_mypy_strict_finds_nothing(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml"]
    done = subprocess.run(
        [*command, "--cache-dir", str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_help_of_the_public_names_reads_like_documentation() -> None:
    import yoload

    for name in yoload.__all__:
        text = getattr(yoload, name).__doc__
        assert text and len(text) > 30, name
    for word in ("Parameters", "Raises", "Examples", "batch_size", "of this rank"):
        assert word in (yoload.Loader.__doc__ or "")
