# SPDX-License-Identifier: Apache-2.0
"""Small versions of tests/parity: samples and random numbers against the installed Ultralytics."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import shared_data

pytest.importorskip("ultralytics", reason="the reference is not installed")
pytest.importorskip("scipy", reason="scipy has the tests of distributions")
PARITY = Path(__file__).parents[2] / "tests" / "parity"
if not PARITY.is_dir():
    pytest.skip("tests/parity is not there", allow_module_level=True)
sys.path.insert(0, str(PARITY))

import distributions  # noqa: E402
import pixels_by_plan  # noqa: E402
import reference  # noqa: E402

IMGSZ, SAMPLES, DRAWS = 320, 3, 2000


@pytest.fixture(autouse=True)
def program() -> Path:
    found = reference.program()
    if found is None:
        pytest.skip("the yoload program is not beside the library: set YOLOAD_PROGRAM")
    if b"--draws" not in subprocess.run([found, "explain", "--help"], capture_output=True).stdout:
        pytest.skip(f"{found} is too old: it has no explain --draws")
    return found


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    shared = shared_data()
    if shared is None or not (shared / "coco256").is_dir():
        pytest.skip("the folder of real pictures is not there: set YOLOAD_SHARED_DATA")
    yield pixels_by_plan.sets(shared, tmp_path_factory.mktemp("parity"), IMGSZ)


@pytest.mark.parametrize("name", pixels_by_plan.CASES)
def test_a_sample_is_the_references_for_the_same_random_numbers(name: str, folders: Any) -> None:
    case = pixels_by_plan.CASES[name]
    figures = pixels_by_plan.run_case(case, *folders[case.set], IMGSZ, SAMPLES, seed=5)
    assert figures.samples == SAMPLES
    assert not pixels_by_plan.verdict(case, figures)


def test_random_numbers_are_distributed_as_the_references() -> None:
    pytest.importorskip("albumentations", reason="it draws the parameters of the filters")
    draws = int(os.environ.get("YOLOAD_PARITY_DRAWS", DRAWS))
    lines = distributions.run(draws)
    assert not {name: line for name, line in lines.items() if not line["p"] > distributions.LEAST_P}
