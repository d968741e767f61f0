# SPDX-License-Identifier: Apache-2.0
"""Batches made on a GPU. Fails, rather than skips, where YOLOAD_GPU=1 claims that there is one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import yoload
from conftest import write_set

torch = pytest.importorskip("torch")

if not torch.cuda.is_available():
    if os.environ.get("YOLOAD_GPU") == "1":
        raise RuntimeError("YOLOAD_GPU=1, but torch sees no GPU")
    pytest.skip("no GPU here", allow_module_level=True)

OPTIONS = dict(imgsz=320, batch_size=4, workers=3, seed=3)


def batches(data: Path, **options: object) -> list[yoload.Batch]:
    with yoload.Loader(data, **{**OPTIONS, **options}) as loader:
        return [batch for _ in range(2) for batch in loader]


def test_everything_lies_on_the_gpu_and_equals_the_cpu(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=32)  # PNG: decoded by the same code on both
    for dtype in ("uint8", "float16", "float32"):
        on_gpu = batches(data, device="cuda", dtype=dtype)
        on_cpu = batches(data, device="cpu", dtype=dtype)
        assert len(on_gpu) == len(on_cpu) == 16
        for g, c in zip(on_gpu, on_cpu):
            for key, value in c.items():
                if isinstance(value, torch.Tensor):
                    assert g[key].is_cuda and g[key].dtype == value.dtype
                    assert torch.equal(g[key].cpu(), value), key
                else:
                    assert g[key] == value
            assert np.array_equal(g.positions, c.positions)


@pytest.mark.parametrize("task", ["segment", "pose", "obb", "classify"])
def test_every_task(tmp_path: Path, task: str) -> None:
    data = write_set(tmp_path / "set", task=task, train=16)
    augment = {"auto_augment": ""} if task == "classify" else True
    extra = {"task": "classify"} if task == "classify" else {}
    on_gpu = batches(data, device="cuda", augment=augment, **extra)
    on_cpu = batches(data, augment=augment, **extra)
    for g, c in zip(on_gpu, on_cpu, strict=True):
        for key, value in c.items():
            if isinstance(value, torch.Tensor):
                assert torch.equal(g[key].cpu(), value), key


@pytest.mark.parametrize("collate", ["yolov5", "detr"])
def test_other_layouts(tmp_path: Path, collate: str) -> None:
    data = write_set(tmp_path / "set", train=8)
    with yoload.Loader(data, device="cuda", collate=collate, **OPTIONS) as loader:
        img, targets, *_ = next(iter(loader))
    assert img[0].is_cuda
    assert (targets if collate == "yolov5" else targets[0]["boxes"]).is_cuda


def test_a_batch_may_be_dropped_while_it_is_used(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=64)
    expected = [int(b["img"].long().sum()) for b in batches(data, device="cuda")]
    busy = torch.empty(1 << 28, device="cuda")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with yoload.Loader(data, device="cuda", **OPTIONS) as loader:
            sums = []
            with torch.cuda.stream(stream):
                for _ in range(2):
                    for batch in loader:
                        for _ in range(20):
                            busy.mul_(1.0001)
                        sums.append(batch["img"].long().sum())
                        del batch
        stream.synchronize()
        assert [int(s) for s in sums] == expected


def test_another_stream_in_the_middle(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=64)
    expected = [int(b["img"].long().sum()) for b in batches(data, device="cuda")]
    streams = [torch.cuda.Stream() for _ in range(3)]
    sums = []
    with yoload.Loader(data, device="cuda", **OPTIONS) as loader:
        for epoch in range(2):
            loader.set_epoch(epoch)
            iterator = iter(loader)
            for i in range(len(loader)):
                with torch.cuda.stream(streams[i % 3]):
                    sums.append(next(iterator)["img"].long().sum())
    torch.cuda.synchronize()
    assert [int(s) for s in sums] == expected


def test_kept_batches_never_change_and_state_resumes(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=32)
    with yoload.Loader(data, device="cuda", **OPTIONS) as loader:
        kept = list(loader)
        sums = [int(b["img"].long().sum()) for b in kept]
        for _ in range(3):
            for _batch in loader:
                pass
        assert [int(b["img"].long().sum()) for b in kept] == sums
    with yoload.Loader(data, device="cuda", **OPTIONS) as loader:
        iterator = iter(loader)
        for _ in range(3):
            next(iterator)
        state = loader.state_dict()
    with yoload.Loader(data, device="cuda", **OPTIONS) as loader:
        loader.load_state_dict(state)
        rest = [int(b["img"].long().sum()) for b in loader]
        again = loader.replay(0, 1)
    assert rest == sums[3:]
    assert torch.equal(again["img"].cpu(), kept[1]["img"].cpu())


def test_iteration_makes_no_python_visible_wait(tmp_path: Path) -> None:
    """next() must come back while the GPU is still busy with what the consumer queued before."""
    data = write_set(tmp_path / "set", train=64)
    busy = torch.empty(1 << 28, device="cuda")
    done = torch.cuda.Event()
    with yoload.Loader(data, device="cuda", **OPTIONS) as loader:
        list(loader)
        torch.cuda.synchronize()
        iterator = iter(loader)
        next(iterator)
        for _ in range(400):
            busy.mul_(1.0001)
        done.record()
        next(iterator)
        assert not done.query()


def test_a_step_that_fills_the_memory_leaves_the_loader_unharmed(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=32)
    expected = [int(b["img"].long().sum()) for b in batches(data, device="cuda")]
    with yoload.Loader(data, device="cuda", device_memory_budget=64 << 20, **OPTIONS) as loader:
        iterator = iter(loader)
        sums = [int(next(iterator)["img"].long().sum())]
        free, _ = torch.cuda.mem_get_info()
        hog = torch.empty(int(free * 0.98) // (1 << 20) << 20, dtype=torch.uint8, device="cuda")
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(free, dtype=torch.uint8, device="cuda")
        sums += [int(b["img"].long().sum()) for b in iterator]
        del hog
        sums += [int(b["img"].long().sum()) for b in loader]
    assert sums == expected


def test_clear_errors(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    with pytest.raises(yoload.Error, match="GPU 63"):
        yoload.Loader(data, device="cuda:63")
    with pytest.raises(ValueError, match="device"):
        yoload.Loader(data, device="gpu")
    with pytest.raises(ValueError, match="output"):
        yoload.Loader(data, device="cuda", output="numpy")


def test_ultralytics_trains_from_the_gpu(tmp_path: Path) -> None:
    pytest.importorskip("ultralytics")
    import ultralytics.engine.trainer as engine
    from ultralytics import YOLO
    from yoload.ultralytics import DetectionTrainer

    engine.check_amp = lambda model: True  # it downloads a model otherwise
    data = write_set(tmp_path / "set", train=16)
    seen: list[bool] = []

    class Watched(DetectionTrainer):
        def preprocess_batch(self, batch: dict) -> dict:
            seen.append(batch["img"].is_cuda and batch["bboxes"].is_cuda)
            return super().preprocess_batch(batch)

    YOLO("yolov8n.yaml").train(
        data=str(data), trainer=Watched, epochs=2, imgsz=64, batch=8, device=0, plots=False,
        project=str(tmp_path / "runs"), verbose=False,
    )  # fmt: skip
    assert seen and all(seen)


def test_ultralytics_gets_finished_batches_under_autocast(tmp_path: Path) -> None:
    pytest.importorskip("ultralytics")
    import ultralytics.engine.trainer as engine
    from ultralytics import YOLO
    from yoload.ultralytics import DetectionTrainer

    engine.check_amp = lambda model: True  # it downloads a model otherwise
    data = write_set(tmp_path / "set", train=16)
    for amp, dtype in ((True, torch.float16), (False, torch.uint8)):
        seen: list[torch.dtype] = []

        class Watched(DetectionTrainer):
            def get_dataloader(self, *args: object, **kwargs: object) -> object:
                made = super().get_dataloader(*args, **kwargs)
                if kwargs["mode"] == "train":
                    seen.append(next(iter(made))["img"].dtype)  # noqa: B023
                return made

        yolo = YOLO("yolov8n.yaml")
        yolo.train(
            data=str(data), trainer=Watched, epochs=1, imgsz=64, batch=8, device=0, plots=True,
            project=str(tmp_path / "runs"), verbose=False, amp=amp,
        )  # fmt: skip
        assert seen == [dtype]
        assert all(torch.isfinite(torch.tensor(float(x))) for x in yolo.trainer.tloss.values())
