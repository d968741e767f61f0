# SPDX-License-Identifier: Apache-2.0
"""Ultralytics' trainers and validators over yoload, beside the package's own loader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import write_set
from recording_proxy import Recorder

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")

import ultralytics.models.yolo as package  # noqa: E402
import yoload.ultralytics as fed  # noqa: E402
from ultralytics import YOLO  # noqa: E402
from yoload.ultralytics.supply import SuppliedLoader  # noqa: E402

TASKS = {
    "detect": ("yolov8n.yaml", fed.DetectionTrainer, package.detect.DetectionTrainer),
    "segment": ("yolov8n-seg.yaml", fed.SegmentationTrainer, package.segment.SegmentationTrainer),
    "pose": ("yolov8n-pose.yaml", fed.PoseTrainer, package.pose.PoseTrainer),
    "obb": ("yolov8n-obb.yaml", fed.OBBTrainer, package.obb.OBBTrainer),
    "classify": (
        "yolov8n-cls.yaml", fed.ClassificationTrainer, package.classify.ClassificationTrainer,
    ),
}  # fmt: skip

# No randomness left: what both sides deliver has to be the same.
PLAIN: dict[str, Any] = dict(
    mosaic=0.0, translate=0.0, scale=0.0, hsv_h=0.0, hsv_s=0.0, hsv_v=0.0, fliplr=0.0, erasing=0.0,
)  # fmt: skip


def arguments(data: Path, **more: Any) -> dict[str, Any]:
    settings: dict[str, Any] = dict(
        data=str(data), epochs=1, imgsz=64, batch=4, device="cpu", workers=0, amp=False,
        verbose=False, plots=False, project=str(data.parent.parent / "runs"), exist_ok=True,
        auto_augment=None,
    )  # fmt: skip
    settings.update(more)
    return settings


def train(data: Path, model: str, trainer: type, **more: Any) -> Any:
    """Trains; returns the trainer."""
    yolo = YOLO(model)
    yolo.train(trainer=trainer, **arguments(data, **more))
    return yolo.trainer


def finite(trainer: Any) -> bool:
    losses = trainer.tloss.values() if isinstance(trainer.tloss, dict) else trainer.tloss
    return all(np.isfinite(float(loss)) for loss in losses)


class Stop(Exception):
    """Raised when the loaders exist."""


def loaders(data: Path, task: str, whose: str, **more: Any) -> dict[str, Any]:
    """Mode -> loader, as the trainer makes them."""
    model, ours, theirs = TASKS[task]
    made: dict[str, Any] = {}

    class Stopped(ours if whose == "yoload" else theirs):  # type: ignore[misc,valid-type]
        def get_dataloader(self, *args: Any, **kwargs: Any) -> Any:
            made[kwargs["mode"]] = super().get_dataloader(*args, **kwargs)
            if kwargs["mode"] == "val":
                raise Stop
            return made[kwargs["mode"]]

    with pytest.raises(Stop):
        train(data, model, Stopped, **more)
    return made


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in root.rglob("*")}


@pytest.mark.parametrize("task", TASKS)
def test_a_model_of_each_task_trains_and_the_data_set_stays_as_it_is(
    tmp_path: Path, task: str
) -> None:
    data = write_set(tmp_path / "set", task)
    before = snapshot(tmp_path / "set")
    model, trainer, _ = TASKS[task]
    done = train(data, model, trainer, plots=task == "detect")
    assert isinstance(done.train_loader, SuppliedLoader)
    assert isinstance(done.test_loader, SuppliedLoader)
    assert snapshot(tmp_path / "set") == before
    assert finite(done)
    if task == "detect":
        assert {"labels.jpg", "train_batch0.jpg"} <= {p.name for p in done.save_dir.iterdir()}


FAMILIES = [
    *(f"yolo{n}.yaml" for n in ("v3-tiny", "v5n", "v6n", "v8n", "v9t", "v10n", "11n", "12n", "26n")),
    *(f"yolo{n}-{head}.yaml" for n in ("v8n", "11n", "26n") for head in ("seg", "pose", "obb", "cls")),
]  # fmt: skip


@pytest.mark.skipif(not os.environ.get("YOLOAD_FULL"), reason="./dev test --full")
@pytest.mark.parametrize("model", FAMILIES)
def test_every_family_trains(tmp_path: Path, model: str) -> None:
    heads = {"seg": "segment", "pose": "pose", "obb": "obb", "cls": "classify"}
    head = model.rpartition("-")[2].removesuffix(".yaml")
    task = heads.get(head, "detect")
    data = write_set(tmp_path / "set", task)
    done = train(data, model, TASKS[task][1], val=False)
    assert isinstance(done.train_loader, SuppliedLoader) and finite(done)


# What a trainer does with a loader of its own, by task: SEMANTICS section 13. A release of the
# package that does more fails here, and the adapter has to learn it.
CONTRACT = {
    "iter(train)", "len(train)", "iter(val)", "len(val)",
    "train.batch_size", "train.num_workers", "train.sampler", "len(train.sampler)",
    "train.reset", "train.reset()", "train.close", "train.close()", "val.close", "val.close()",
    "val.sampler", "iter(val.sampler)", "len(val.sampler)",
    "train.dataset", "len(train.dataset)", "train.dataset.labels", "train.dataset.close_mosaic",
    "train.dataset.close_mosaic(arg)", "train.dataset.close_mosaic(hyp)",
    "val.dataset", "len(val.dataset)", "val.dataset.labels",
    # Asked for with hasattr(), and absent in the package's own data sets too:
    "train.dataset.mosaic", "train.dataset.datasets", "val.dataset.datasets",
}  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_trainers_touch_nothing_that_the_adapter_lacks(tmp_path: Path, task: str) -> None:
    data = write_set(tmp_path / "set", task)
    model, ours, theirs = TASKS[task]
    for base in (ours, theirs):
        touched: set[str] = set()

        class Recorded(base):  # type: ignore[misc,valid-type]
            def get_dataloader(self, *args: Any, **kwargs: Any) -> Any:
                return Recorder(super().get_dataloader(*args, **kwargs), kwargs["mode"], touched)

        train(data, model, Recorded, epochs=2, close_mosaic=1, plots=base is ours,
              save_json=task != "classify")  # fmt: skip
        assert touched <= CONTRACT, touched - CONTRACT
        assert {"iter(train)", "len(train)", "iter(val)", "train.reset()"} <= touched


def by_file(batches: list[dict[str, Any]]) -> dict[str, tuple[dict[str, Any], int]]:
    return {f: (batch, i) for batch in batches for i, f in enumerate(batch["im_file"])}


def rows(batch: dict[str, Any], i: int, key: str) -> Any:
    """Rows of picture i in an order that does not depend on the loader's."""
    own = batch["batch_idx"] == i
    order = np.lexsort(batch["bboxes"][own].numpy().round(4).T)
    return batch[key][own][order]


@pytest.mark.parametrize("task", ["detect", "segment", "pose", "obb"])
def test_unaugmented_training_batches_are_those_of_the_package(tmp_path: Path, task: str) -> None:
    data = write_set(tmp_path / "set", task)
    ours = list(loaders(data, task, "yoload", **PLAIN)["train"])
    theirs = list(loaders(data, task, "ultralytics", **PLAIN)["train"])
    assert list(ours[0]) == list(theirs[0])
    for key, value in theirs[0].items():
        assert type(ours[0][key]) is type(value), key
        if torch.is_tensor(value):
            assert ours[0][key].dtype == value.dtype, key
            assert ours[0][key].shape[1:] == value.shape[1:], key
    mine, reference = by_file(ours), by_file(theirs)
    assert mine.keys() == reference.keys()
    for file, (batch, i) in mine.items():
        expected, k = reference[file]
        difference = (batch["img"][i].int() - expected["img"][k].int()).abs()
        assert (difference > 1).float().mean() <= 0.001, file
        for key in ("ori_shape", "resized_shape", "ratio_pad"):
            assert batch[key][i] == expected[key][k], key
        assert torch.allclose(
            rows(batch, i, "bboxes"), rows(expected, k, "bboxes"), rtol=0, atol=1e-3 / 64
        )
        assert torch.equal(rows(batch, i, "cls"), rows(expected, k, "cls"))
        if task == "pose":
            assert torch.allclose(
                rows(batch, i, "keypoints"), rows(expected, k, "keypoints"), atol=1e-5
            )
        if task == "segment":
            # Numbers follow the order of areas, which ties leave open: the covered places count.
            covered = (batch["masks"][i] > 0) != (expected["masks"][k] > 0)
            assert covered.float().mean() < 0.01


def tensors_of(batch: dict[str, Any]) -> dict[str, Any]:
    return {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in batch.items()}


@pytest.mark.parametrize("task", ["detect", "segment", "pose", "obb"])
def test_finished_batches_pass_the_preprocessing_untouched_and_give_the_same_loss(
    tmp_path: Path, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a GPU delivers, made on the CPU: floats, scaled by the engine."""
    data = write_set(tmp_path / "set", task)
    model, ours, _ = TASKS[task]
    seen: dict[str, list[Any]] = {}

    class Watched(ours):  # type: ignore[misc,valid-type]
        def preprocess_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
            before = tensors_of(batch)
            memory = batch["img"].data_ptr()
            after = super().preprocess_batch(batch)
            seen.setdefault(str(before["img"].dtype), []).append((before, tensors_of(after)))
            if before["img"].is_floating_point():
                assert after["img"].data_ptr() == memory
            return after

    done: dict[str, Any] = {}
    for dtype in ("uint8", "float32"):
        monkeypatch.setenv("YOLOAD_OPTIONS", f"dtype={dtype}")
        done[dtype] = train(data, model, Watched, val=False, plots=dtype == "float32")
    for name, loss in done["uint8"].tloss.items():
        assert float(done["float32"].tloss[name]) == pytest.approx(float(loss), rel=1e-4)
    assert set(seen) == {"torch.uint8", "torch.float32"}
    for (_, of_bytes), (floats, of_floats) in zip(seen["torch.uint8"], seen["torch.float32"]):
        for key, value in floats.items():
            if isinstance(value, torch.Tensor):
                assert torch.equal(value, of_floats[key]), key
                # The engine multiplies by 1/255: the last bit of a float32 may differ.
                assert torch.allclose(of_bytes[key], of_floats[key], rtol=0, atol=1e-7), key

    def first(dtype: str) -> dict[str, Any]:
        monkeypatch.setenv("YOLOAD_OPTIONS", f"dtype={dtype}")
        return tensors_of(next(iter(loaders(data, task, "yoload", **PLAIN)["train"])))

    # Autocast would turn the package's floats into the very numbers that the engine makes.
    levels, brain = first("uint8"), first("bfloat16")
    assert torch.equal(first("float16")["img"], (levels["img"].float() / 255).half())
    trainer = done["uint8"]
    trainer.model.train()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        losses = [trainer.model(trainer.preprocess_batch(b))[0] for b in (levels, brain)]
    assert losses[0].isfinite().all() and torch.equal(losses[0], losses[1])


def test_numbers_of_gpu_batches_are_what_autocast_would_make_of_them() -> None:
    from types import SimpleNamespace

    from yoload.ultralytics.settings import batch_dtype

    assert batch_dtype(SimpleNamespace(amp=True, multi_scale=0.0), True) == "float16"
    assert batch_dtype(SimpleNamespace(amp="bf16", multi_scale=0.0), True) == "bfloat16"
    assert batch_dtype(SimpleNamespace(amp=True, multi_scale=0.5), True) == "uint8"
    assert batch_dtype(SimpleNamespace(amp=True), False) == "uint8"


def test_batches_stay_bytes_on_the_cpu_and_for_a_preprocessing_of_ones_own(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    asked: list[str] = []
    import yoload.ultralytics.trainers as trainers

    def supply(**arguments: Any) -> Any:
        asked.append(arguments["dtype"])
        return real(**arguments)

    class Own(package.detect.DetectionTrainer):
        def preprocess_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
            assert batch["img"].dtype == torch.uint8
            return super().preprocess_batch(batch)

    class Ours(fed.DetectionTrainer):
        preprocess_batch = Own.preprocess_batch

    real, trainers.supply = trainers.supply, supply
    try:
        for kind in (fed.DetectionTrainer, Ours, fed.accelerate(Own)):
            asked.clear()

            class Amp(kind):  # type: ignore[misc,valid-type]
                amp = True

                def get_dataloader(self, *args: Any, **kwargs: Any) -> Any:
                    self.amp = True
                    made = super().get_dataloader(*args, **kwargs)
                    self.amp = False
                    if kwargs["mode"] == "train":
                        assert next(iter(made))["img"].dtype == torch.uint8
                        return made
                    raise Stop

            with pytest.raises(Stop):
                train(data, "yolov8n.yaml", Amp)
            expected = "float16" if kind is fed.DetectionTrainer else "uint8"
            assert asked == [expected, "uint8"]
    finally:
        trainers.supply = real


@pytest.mark.parametrize("task", ["detect", "segment", "pose", "obb"])
def test_validation_batches_are_those_of_the_package(tmp_path: Path, task: str) -> None:
    data = write_set(tmp_path / "set", task, val=11)
    ours = list(loaders(data, task, "yoload")["val"])
    theirs = list(loaders(data, task, "ultralytics")["val"])
    assert len(ours) == len(theirs)
    for mine, expected in zip(ours, theirs):
        assert list(mine) == list(expected)
        assert mine["im_file"] == expected["im_file"]
        assert mine["ratio_pad"] == expected["ratio_pad"]
        assert mine["ori_shape"] == expected["ori_shape"]
        assert mine["img"].shape == expected["img"].shape
        assert (mine["img"].int() - expected["img"].int()).abs().max() <= 1
        assert torch.equal(mine["batch_idx"], expected["batch_idx"])
        assert [tuple(s) for s in mine["resized_shape"]] == [
            tuple(int(v) for v in s) for s in expected["resized_shape"]
        ]
        for i in range(len(mine["im_file"])):
            assert torch.equal(rows(mine, i, "cls"), rows(expected, i, "cls"))
            assert torch.allclose(
                rows(mine, i, "bboxes"), rows(expected, i, "bboxes"), rtol=0, atol=1e-5
            )


def test_validation_of_classification_is_that_of_the_package(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", "classify", val=6)
    ours = list(loaders(data, "classify", "yoload")["val"])
    theirs = list(loaders(data, "classify", "ultralytics")["val"])
    mine, expected = (torch.cat([b["img"] for b in side]) for side in (ours, theirs))
    assert mine.dtype == expected.dtype and mine.shape == expected.shape
    assert sorted(torch.cat([b["cls"] for b in ours]).tolist()) == sorted(
        torch.cat([b["cls"] for b in theirs]).tolist()
    )
    # The package shuffles here.
    pairs = torch.cdist(mine.flatten(1), expected.flatten(1)).argmin(1)
    assert sorted(pairs.tolist()) == list(range(len(mine)))
    difference = (mine - expected[pairs]).abs() * 255
    assert (difference > 1.01).float().mean() <= 0.001


def test_rect_training_has_the_shapes_of_the_package(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    ours = list(loaders(data, "detect", "yoload", rect=True, **PLAIN)["train"])
    theirs = list(loaders(data, "detect", "ultralytics", rect=True, **PLAIN)["train"])
    assert sorted(tuple(b["img"].shape) for b in ours) == sorted(
        tuple(b["img"].shape) for b in theirs
    )


def test_classes_single_cls_and_fraction_keep_their_meaning(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    choice: dict[str, Any] = dict(classes=[1], single_cls=True, fraction=0.5, **PLAIN)
    mine = loaders(data, "detect", "yoload", **choice)
    expected = loaders(data, "detect", "ultralytics", **choice)
    for mode in ("train", "val"):
        a, b = by_file(list(mine[mode])), by_file(list(expected[mode]))
        assert a.keys() == b.keys()
        for file in a:
            assert torch.equal(rows(*a[file], "cls"), rows(*b[file], "cls"))


@pytest.mark.parametrize("reason", ["augmentations", "auto_augment", "its own data set", ".npy", "scale", "fraction"])
def test_what_cannot_be_reproduced_is_left_to_the_package_and_said(
    tmp_path: Path, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yoload.ultralytics.supply._said", set())
    task = "classify" if reason == "auto_augment" else "detect"
    data = write_set(tmp_path / "set", task)
    model, trainer, _ = TASKS[task]
    more: dict[str, Any] = {}
    if reason == "augmentations":
        albumentations = pytest.importorskip("albumentations")
        more["augmentations"] = [albumentations.Blur(p=0.5)]
    elif reason == "scale":
        more["scale"] = (0.5, 1.5)
    elif reason == "fraction":
        more["fraction"] = 4
    elif reason == "auto_augment":
        more["auto_augment"] = "randaugment"
    elif reason == "its own data set":

        class Own(trainer):  # type: ignore[misc,valid-type]
            def build_dataset(self, *args: Any, **kwargs: Any) -> Any:
                return super().build_dataset(*args, **kwargs)

        trainer = Own
    else:
        picture = np.zeros((60, 80, 3), np.uint8)
        np.save(tmp_path / "set/images/train/im000.npy", picture)
    with pytest.warns(UserWarning, match=reason.replace(".", r"\.")):
        done = train(data, model, trainer, val=False, **more)
    assert not isinstance(done.train_loader, SuppliedLoader)
    with warnings.catch_warnings():  # said once
        warnings.simplefilter("error", UserWarning)
        from yoload.ultralytics.supply import say_once

        for message in list(__import__("yoload").ultralytics.supply._said):
            say_once(message)


def test_a_subclass_and_accelerate_are_fed_too(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")

    class Own(package.detect.DetectionTrainer):
        def preprocess_batch(self, batch: Any) -> Any:
            return super().preprocess_batch(batch)

    done = train(data, "yolov8n.yaml", fed.accelerate(Own), val=False)
    assert isinstance(done.train_loader, SuppliedLoader)
    assert fed.accelerate(Own) is fed.accelerate(Own)
    assert fed.accelerate(fed.PoseTrainer) is fed.PoseTrainer
    with pytest.raises(TypeError):
        fed.accelerate(dict)


def test_accelerated_classes_can_be_imported_by_name() -> None:
    # As Ultralytics' launcher does in the processes that it starts.
    from ultralytics.models.rtdetr.train import RTDETRTrainer

    made = fed.accelerate(RTDETRTrainer)
    script = f"from {made.__module__} import {made.__name__} as T; assert T.__name__ == '{made.__name__}'"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_rtdetr_batches_are_those_of_the_package(tmp_path: Path) -> None:
    from ultralytics.models.rtdetr.train import RTDETRTrainer

    data = write_set(tmp_path / "set")

    def batches(base: type) -> dict[str, list[Any]]:
        made: dict[str, list[Any]] = {}

        class Stopped(base):  # type: ignore[misc,valid-type]
            def get_model(self, *args: Any, **kwargs: Any) -> Any:
                return YOLO("yolov8n.yaml").model  # any: the loaders alone matter

            def get_dataloader(self, *args: Any, **kwargs: Any) -> Any:
                loader = super().get_dataloader(*args, **kwargs)
                made[kwargs["mode"]] = list(loader)
                if kwargs["mode"] == "val":
                    raise Stop
                return loader

        settings = arguments(data, model="rtdetr-l.yaml", task="detect", **PLAIN)
        with pytest.raises(Stop):
            Stopped(overrides=settings).train()
        return made

    mine, expected = batches(fed.accelerate(RTDETRTrainer)), batches(RTDETRTrainer)
    for mode in ("train", "val"):
        a, b = by_file(mine[mode]), by_file(expected[mode])
        assert a.keys() == b.keys()
        for file in a:
            (ours, i), (theirs, k) = a[file], b[file]
            assert ours["img"][i].shape == theirs["img"][k].shape, mode
            assert (ours["img"][i].int() - theirs["img"][k].int()).abs().max() <= 1, mode
            assert torch.allclose(
                rows(ours, i, "bboxes"), rows(theirs, k, "bboxes"), rtol=0, atol=1e-5
            )


@pytest.mark.parametrize("task", TASKS)
def test_validators_of_both_sides_give_the_same_metrics(tmp_path: Path, task: str) -> None:
    data = write_set(tmp_path / "set", task, val=6)
    model, trainer, _ = TASKS[task]
    done = train(data, model, trainer, epochs=2, val=False)
    weights = done.save_dir / "weights" / "last.pt"
    metrics = {}
    for name, module in (("ours", fed), ("theirs", getattr(package, task))):
        kinds = {"detect": "Detection", "segment": "Segmentation", "pose": "Pose", "obb": "OBB",
                 "classify": "Classification"}  # fmt: skip
        validator = getattr(module, kinds[task] + "Validator")
        settings = arguments(data, batch=4)
        for key in ("epochs", "amp", "auto_augment"):
            settings.pop(key)
        metrics[name] = YOLO(str(weights)).val(validator=validator, **settings).results_dict
    assert metrics["ours"].keys() == metrics["theirs"].keys()
    for key, value in metrics["theirs"].items():
        assert metrics["ours"][key] == pytest.approx(value, abs=1e-3), key


def test_ranks_of_a_distributed_run_get_disjoint_pictures(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    script = tmp_path / "job.py"
    # On CPUs the package trains in several processes and fails when the epoch ends: one epoch.
    script.write_text(
        "import json, os, sys\n"
        "from ultralytics import YOLO\n"
        "from yoload.ultralytics import DetectionTrainer\n"
        "files = []\n"
        "class Rank(DetectionTrainer):\n"
        "    def preprocess_batch(self, batch):\n"
        "        files.extend(batch['im_file'])\n"
        "        return super().preprocess_batch(batch)\n"
        "def told(trainer):\n"
        "    open(sys.argv[2] + os.environ['RANK'], 'w').write(json.dumps(files))\n"
        "    sys.exit(0)\n"
        "model = YOLO('yolov8n.yaml')\n"
        "model.add_callback('on_train_epoch_end', told)\n"
        "model.train(trainer=Rank, **json.loads(sys.argv[1]))\n"
    )
    settings = arguments(data, val=False, save=False)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
    command += ["--master_port", "29713", str(script), json.dumps(settings), str(tmp_path / "rank")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    files = [json.loads((tmp_path / f"rank{r}").read_text()) for r in range(2)]
    assert len(files[0]) == len(files[1]) == 4
    assert len(set(files[0]) | set(files[1])) == 8


def test_mosaic_closes_at_the_planned_epoch_and_on_request(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    made = loaders(data, "detect", "yoload", epochs=4, close_mosaic=2, **{**PLAIN, "mosaic": 1.0})
    supplied = made["train"]
    supplied._epoch_of = None  # no training is under way: epochs follow each other

    def is_mosaic(batch: Any) -> bool:
        # Letterboxed pictures have their own boxes only: three each.
        counts = [int((batch["batch_idx"] == i).sum()) for i in range(len(batch["im_file"]))]
        return counts != [3] * len(counts)

    seen = [any([is_mosaic(b) for b in supplied]) for _ in range(4)]
    assert seen == [True, True, False, False]
    supplied.loader.set_epoch(0)
    supplied.dataset.close_mosaic(None)
    assert not any(is_mosaic(b) for b in supplied)


def test_resuming_goes_on_with_the_epoch_of_the_trainer(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    seen: list[int] = []

    class Told(fed.DetectionTrainer):
        def preprocess_batch(self, batch: Any) -> Any:
            seen.append(batch.epoch)
            return super().preprocess_batch(batch)

        def save_model(self) -> Any:
            out = super().save_model()
            if self.epoch == 1 and not getattr(Told, "interrupted", False):
                Told.interrupted = True  # type: ignore[attr-defined]
                raise Stop
            return out

    with pytest.raises(Stop):
        train(data, "yolov8n.yaml", Told, epochs=4)
    last = next((tmp_path / "runs").rglob("last.pt"))
    YOLO(str(last)).train(trainer=Told, resume=True, device="cpu", workers=0)
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3]


def test_yoload_train_reads_the_words_of_yolo_train(tmp_path: Path) -> None:
    from yoload.ultralytics.train import parse

    words = ["detect", "train", "data=a.yaml", "lr0=0.01", "amp=False", "classes=[0,2]", "device=cpu"]
    assert parse(words) == {
        "task": "detect", "data": "a.yaml", "lr0": 0.01, "amp": False, "classes": [0, 2],
        "device": "cpu",
    }  # fmt: skip
    data = write_set(tmp_path / "set")
    command = [sys.executable, "-m", "yoload.ultralytics.train", "model=yolov8n.yaml"]
    command += [f"{name}={value}" for name, value in arguments(data).items()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "yoload: train: 8 images" in done.stdout + done.stderr
    wrong = subprocess.run([*command[:3], "epochs"], capture_output=True, text=True)
    assert wrong.returncode != 0 and "NAME=VALUE" in wrong.stderr
