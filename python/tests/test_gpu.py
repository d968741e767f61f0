# SPDX-License-Identifier: Apache-2.0
"""Batches on their way to a GPU. Fails, rather than skips, where YOLOAD_GPU=1 claims that there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yoload
from conftest import write_set

torch = pytest.importorskip("torch")

if not torch.cuda.is_available():
    if os.environ.get("YOLOAD_GPU") == "1":
        raise RuntimeError("YOLOAD_GPU=1, but torch sees no GPU")
    pytest.skip("no GPU here", allow_module_level=True)


def test_a_batch_may_be_dropped_while_its_copy_is_under_way(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=64)
    options = dict(imgsz=320, batch_size=4, workers=4)
    with yoload.Loader(data, pin_memory=False, **options) as loader:
        expected = [int(b["img"].long().sum()) for b in loader] * 1
    stream = torch.cuda.Stream()
    busy = torch.empty(1 << 28, device="cuda")
    with yoload.Loader(data, **options) as loader:
        for _ in range(3):
            loader.set_epoch(0)
            sums = []
            with torch.cuda.stream(stream):
                for batch in loader:
                    assert batch["img"].is_pinned() and batch["bboxes"].is_pinned()
                    for _ in range(20):
                        busy.mul_(1.0001)  # what was queued before delays the copy
                    sums.append(batch["img"].cuda(non_blocking=True))
                    del batch
            stream.synchronize()
            assert [int(s.long().sum()) for s in sums] == expected


def test_kept_pinned_batches_never_change(tmp_path: Path) -> None:
    with yoload.Loader(write_set(tmp_path / "set", train=32), imgsz=128, batch_size=4) as loader:
        kept = list(loader)
        sums = [int(b["img"].long().sum()) for b in kept]
        for _ in range(3):
            for batch in loader:
                batch["img"].cuda(non_blocking=True)
        assert [int(b["img"].long().sum()) for b in kept] == sums
