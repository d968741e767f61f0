# SPDX-License-Identifier: Apache-2.0
"""Loader: what iteration yields, state, ranks, memory, endings. With numpy alone."""

from __future__ import annotations

import gc
import logging
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import yoload
from conftest import checksum, noise, open_files, threads, write_set
from yoload.picture import png


def make(data: object, **options: object) -> yoload.Loader:
    settings: dict[str, object] = dict(imgsz=64, batch_size=4, workers=2, output="numpy")
    settings.update(options)
    return yoload.Loader(data, **settings)  # type: ignore[arg-type]


def epoch(loader: yoload.Loader, number: int) -> list[int]:
    loader.set_epoch(number)
    return [checksum(batch) for batch in loader]


def test_a_batch_has_the_documented_keys_shapes_and_types(data: Path) -> None:
    with make(data) as loader:
        assert len(loader) == 2 and loader.task == "detect" and loader.names == ["nut", "bolt"]
        batch = next(iter(loader))
    n = len(batch["cls"])
    assert batch["img"].shape == (4, 3, 64, 64) and batch["img"].dtype == np.uint8
    assert batch["cls"].shape == (n, 1) and batch["cls"].dtype == np.float32
    assert batch["bboxes"].shape == (n, 4) and batch["bboxes"].dtype == np.float32
    assert batch["batch_idx"].shape == (n,) and batch["batch_idx"].dtype == np.float32
    assert all(Path(f).is_file() for f in batch["im_file"])
    assert batch["resized_shape"] == ((64, 64),) * 4
    assert all(len(shape) == 2 for shape in batch["ori_shape"])
    assert (batch["bboxes"] >= 0).all() and (batch["bboxes"] <= 1).all()
    assert batch.epoch == 0 and batch.index == 0 and not batch.replaced.any()


def test_batches_depend_on_seed_and_epoch_and_on_nothing_else(data: Path) -> None:
    with make(data, workers=1) as loader:
        first = [epoch(loader, e) for e in (0, 1)]
    with make(data, workers=3, prefetch_factor=1, memory_budget="64MB", cache="pixels") as loader:
        assert [epoch(loader, e) for e in (0, 1)] == first
    with make(data, seed=1) as loader:
        assert epoch(loader, 0) != first[0]
    assert first[0] != first[1]


def test_epochs_follow_each_other_without_set_epoch(data: Path) -> None:
    with make(data) as loader:
        expected = [epoch(loader, e) for e in range(3)]
    with make(data) as loader:
        assert [[checksum(b) for b in loader] for _ in range(3)] == expected


def test_breaking_off_and_iterating_again_gives_the_whole_epoch(data: Path) -> None:
    # REPORTS R09: a normalisation pass before training.
    with make(data) as loader:
        expected = epoch(loader, 0)
    with make(data) as loader:
        next(iter(loader))
        before = threads(), open_files()
        for _ in range(50):
            for _batch in loader:
                break
        with pytest.raises(ZeroDivisionError):
            for _batch in loader:
                raise ZeroDivisionError
        assert (threads(), open_files()) == before
        assert [checksum(b) for b in loader] == expected


def test_a_second_iteration_ends_the_first_one_with_a_clear_error(data: Path) -> None:
    with make(data) as loader:
        first = iter(loader)
        next(first)
        second = iter(loader)
        next(second)
        with pytest.raises(RuntimeError, match="another one of the same loader"):
            next(first)
        assert len(list(second)) == 1


def test_kept_batches_never_change(tmp_path: Path) -> None:
    with make(write_set(tmp_path / "many", train=40)) as loader:
        kept = list(loader)
        sums = [checksum(b) for b in kept]
        for _ in range(3):
            for batch in loader:
                del batch
        assert [checksum(b) for b in kept] == sums
        part = kept[3]["img"][1]  # a view keeps its memory
        expected = part.copy()
        del kept
        list(loader)
        assert np.array_equal(part, expected)
    assert np.array_equal(part, expected)


def test_memory_is_recycled_when_batches_are_dropped(tmp_path: Path) -> None:
    with make(write_set(tmp_path / "many", train=40), batch_size=2) as loader:
        addresses = set()
        for _ in range(4):
            for batch in loader:
                addresses.add(batch["img"].__array_interface__["data"][0])
                del batch
        assert len(addresses) <= loader._prefetch + 3


def test_state_is_exact_in_the_middle_of_an_epoch(tmp_path: Path) -> None:
    many = write_set(tmp_path / "many", train=30)
    with make(many) as loader:
        expected = epoch(loader, 2) + epoch(loader, 3)
    with make(many) as loader:
        loader.set_epoch(2)
        stream = iter(loader)
        got = [checksum(next(stream)) for _ in range(3)]
        state = loader.state_dict()
    assert all(isinstance(value, int) for value in state.values())
    with make(many) as loader:
        loader.load_state_dict(state)
        loader.set_epoch(state["epoch"])  # as training loops do
        assert loader.state_dict() == state
        got += [checksum(b) for b in loader]
        got += [checksum(b) for b in loader]
    assert got == expected


def test_state_moves_to_another_world_size(tmp_path: Path) -> None:
    many = write_set(tmp_path / "many", train=32)

    def positions(state: dict[str, int] | None, world: int, take: int) -> tuple[set[int], dict]:
        seen: set[int] = set()
        states = []
        for rank in range(world):
            with make(many, rank=rank, world_size=world) as loader:
                if state:
                    loader.load_state_dict(state)
                stream = iter(loader)
                for _, batch in zip(range(take), stream):
                    seen |= set(batch.positions.tolist())
                states.append(loader.state_dict())
        assert all(s == states[0] for s in states)
        return seen, states[0]

    first, state = positions(None, world=2, take=2)
    rest, _ = positions(state, world=4, take=99)
    assert first == set(range(16)) and rest == set(range(16, 32))


def test_state_of_another_seed_or_between_batches_is_refused(data: Path) -> None:
    with make(data) as loader:
        state = loader.state_dict()
        with pytest.raises(ValueError, match="seed"):
            loader.load_state_dict({**state, "seed": 5})
        with pytest.raises(ValueError, match="within a batch"):
            loader.load_state_dict({**state, "sample": 3})
        with pytest.raises(ValueError, match="version"):
            loader.load_state_dict({**state, "version": 9})


@pytest.mark.parametrize("task", ["detect", "segment", "pose", "obb"])
def test_replay_makes_the_batch_anew_without_disturbing_iteration(tmp_path: Path, task: str) -> None:
    with make(write_set(tmp_path / "set", task, train=10), task=task) as loader:
        loader.set_epoch(1)
        for index, batch in enumerate(loader):
            again = loader.replay(1, index)
            assert again.keys() == batch.keys()
            for key, value in batch.items():
                if isinstance(value, np.ndarray):
                    assert np.array_equal(value, again[key]), key
                else:
                    assert value == again[key], key
            assert np.array_equal(again.positions, batch.positions)
        with pytest.raises(ValueError, match="batch = 7"):
            loader.replay(0, 7)


def test_ranks_together_are_the_epoch(tmp_path: Path) -> None:
    many = write_set(tmp_path / "many", train=30)

    def files(rank: int, world: int, augment: bool) -> list[str]:
        with make(many, rank=rank, world_size=world, augment=augment) as loader:
            return [f for batch in loader for f in batch["im_file"]]

    whole = sorted(files(0, 1, True))
    ranks = [files(r, 4, True) for r in range(4)]
    assert [len(r) for r in ranks] == [8] * 4  # 30 of 32: two come again
    assert set(sum(ranks, [])) == set(whole)
    validation = [files(r, 4, False) for r in range(4)]
    assert sorted(sum(validation, [])) == whole


def test_rank_and_world_size_come_from_the_environment_of_torchrun(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with make(data) as loader:
        assert loader.images_per_epoch == 4
        assert all(p % 2 == 1 for batch in loader for p in batch.positions)


def test_wrong_names_and_values_name_the_right_ones(data: Path) -> None:
    for error, options, message in [
        (TypeError, {"mosiac": 1.0}, "mosaic"),
        (TypeError, {"num_workers": 4}, "did you mean 'workers'"),
        (TypeError, {"augment": {"mixpu": 0.1}}, "mixup"),
        (TypeError, {"augment": 3}, "augment"),
        (ValueError, {"batch_size": 0}, "batch_size = 0: expected at least 1"),
        (ValueError, {"imgsz": "big"}, "imgsz"),
        (ValueError, {"cache": "dsik"}, "none|bytes|pixels"),
        (ValueError, {"augment": {"mosaic": 1.5}}, "mosaic"),
        (ValueError, {"collate": "yolov4"}, "yolov5"),
        (ValueError, {"output": "jax"}, "numpy"),
        (ValueError, {"device": "cuda"}, "output='torch'"),
        (ValueError, {"device": "tpu"}, "cpu"),
        (ValueError, {"memory_budget": "lots"}, "4GB"),
        (ValueError, {"rank": 2, "world_size": 2}, "rank"),
    ]:
        with pytest.raises(error) as caught:
            make(data, **options)
        assert message.replace("|", "") in str(caught.value).replace("|", ""), options


def test_errors_carry_path_stage_and_cause(tmp_path: Path) -> None:
    with pytest.raises(yoload.Error) as caught:
        make(tmp_path / "nowhere.yaml")
    assert caught.value.stage == "dataset" and "nowhere.yaml" in caught.value.path
    assert caught.value.cause and caught.value.cause in str(caught.value)


def test_bad_pictures_are_replaced_flagged_and_in_the_ledger(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    many = write_set(tmp_path / "many", train=24)
    victim = tmp_path / "many/images/train/im005.png"
    victim.write_bytes(victim.read_bytes()[:200])  # the header is whole
    with make(many) as loader:
        with caplog.at_level(logging.WARNING, "yoload"):
            batches = list(loader)
        assert sum(int(b.replaced.sum()) for b in batches) >= 1
        (entry,) = [e for e in loader.ledger() if e["epoch"] == 0 and e["path"] == str(victim)]
        assert entry["stage"] == "decode" and entry["cause"]
        assert any("im005.png" in record.getMessage() for record in caplog.records)


def test_warnings_go_through_the_warnings_module(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set")
    (tmp_path / "set/labels/train/im000.txt").write_text("7 0.5 0.5 0.1 0.1\n")
    with pytest.warns(yoload.DataWarning, match="label rows are not used"):
        make(data).close()


def test_nothing_is_written_into_the_data_set(data: Path) -> None:
    root = data.parent
    before = {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in root.rglob("*")}
    with make(data, cache="pixels") as loader:
        list(loader)
    assert {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in root.rglob("*")} == before


def test_closing_is_final_prompt_and_leaves_batches_alone(data: Path) -> None:
    before = threads()
    loader = make(data)
    stream = iter(loader)
    batch = next(stream)
    expected = checksum(batch)
    loader.close()
    loader.close()
    assert threads() == before
    assert checksum(batch) == expected
    for use in (lambda: next(stream), lambda: len(loader), lambda: iter(loader), loader.report):
        with pytest.raises(yoload.Closed):
            use()
    assert "closed" in repr(loader)


def test_a_loader_that_is_forgotten_stops_its_threads(data: Path) -> None:
    before = threads()
    for _ in range(5):  # a notebook cell that is run again
        loader = make(data)
        next(iter(loader))
    del loader
    gc.collect()
    assert threads() == before


def test_after_a_fork_the_child_gets_an_error_and_no_hang(data: Path) -> None:
    with make(data) as loader:
        next(iter(loader))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of forking with threads
            child = os.fork()
        if child == 0:
            try:
                next(iter(loader))
            except yoload.Error as error:
                os._exit(0 if "fork" in str(error) else 2)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert len(list(loader)) == 2


def test_collates_have_the_layouts_that_loops_expect(data: Path) -> None:
    with make(data, augment=False) as loader:
        batch = next(iter(loader))
    with make(data, augment=False, collate="yolov5") as loader:
        img, targets, paths, shapes = next(iter(loader))
    assert np.array_equal(img, batch["img"]) and paths == batch["im_file"]
    assert np.array_equal(targets[:, 0], batch["batch_idx"])
    assert np.array_equal(targets[:, 2:], batch["bboxes"])
    assert shapes[0] == (batch["ori_shape"][0], batch["ratio_pad"][0])
    with make(data, augment=False, collate="detr") as loader:
        images, targets = next(iter(loader))
    assert len(images) == len(targets) == 4
    assert images[0].dtype == np.float32 and images[0].max() <= 1
    own = batch["bboxes"][batch["batch_idx"] == 1] * 64
    assert np.allclose(targets[1]["boxes"][:, :2], own[:, :2] - own[:, 2:] / 2, atol=1e-4)
    assert targets[1]["labels"].dtype == np.int64
    with make(data, collate=lambda b: len(b["im_file"])) as loader:
        assert list(loader) == [4, 4]


def test_validation_is_letterboxed_in_order_with_exact_boxes(tmp_path: Path) -> None:
    picture = np.zeros((50, 100, 3), np.uint8)
    picture[10:30, 20:60] = (255, 0, 0)
    records = [{"image": picture, "boxes": [[20, 10, 60, 30]], "cls": [0]}]
    dataset = yoload.Dataset.from_records(records, ["plate"], box_format="xyxy")
    with make(dataset, augment=False, imgsz=100, batch_size=1) as loader:
        (batch,) = loader
    x, y, w, h = batch["bboxes"][0] * batch["img"].shape[3]
    inside = batch["img"][0, :, round(y - h / 2) + 1 : round(y + h / 2) - 1,
                          round(x - w / 2) + 1 : round(x + w / 2) - 1]  # fmt: skip
    assert (inside[0] == 255).all() and (inside[1:] == 0).all()
    assert batch["ratio_pad"] == (((1.0, 1.0), (0, 25)),)


def test_channels_of_the_data_set_decide_the_batch(tmp_path: Path) -> None:
    # REPORTS R05: gray pictures, and an augmentation that changes them.
    gray = [{"image": noise(i, 60, 80)[:, :, 0], "boxes": [[0.5, 0.5, 0.4, 0.4]], "cls": [0]}
            for i in range(6)]  # fmt: skip

    def pictures(blur: float) -> np.ndarray:
        dataset = yoload.Dataset.from_records(gray, ["pore"], channels=1)
        augment = yoload.Augment(blur=blur, median_blur=0, clahe=0, to_gray=0)
        with pytest.warns(yoload.DataWarning, match="hsv"):
            loader = make(dataset, augment=augment, batch_size=6)
        with loader:
            return next(iter(loader))["img"].astype(np.int32)

    sharp, blurred = pictures(0.0), pictures(1.0)
    assert sharp.shape == (6, 1, 64, 64)
    assert np.abs(sharp - blurred).mean() > 1


def test_a_png_is_decoded_as_it_was_written() -> None:
    picture = noise(3, 37, 53)
    assert np.array_equal(yoload.decode(png(picture)), picture)


@pytest.mark.parametrize("task", ["segment", "pose", "obb"])
def test_other_tasks_have_their_columns(tmp_path: Path, task: str) -> None:
    with make(write_set(tmp_path / "set", task), task=task) as loader:
        batch = next(iter(loader))
    n = len(batch["cls"])
    if task == "segment":
        assert batch["masks"].shape == (4, 16, 16) and batch["masks"].dtype == np.uint8
        assert batch["sem_masks"].shape == (4, 16, 16)
        counts = [int((batch["batch_idx"] == i).sum()) for i in range(4)]
        assert [int(m.max()) for m in batch["masks"]] == counts
    elif task == "pose":
        assert batch["keypoints"].shape == (n, 3, 3)
    else:
        assert batch["bboxes"].shape == (n, 5)


def test_classification_has_pictures_and_classes_alone(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", "classify")
    with make(data, task="classify", augment={"auto_augment": ""}) as loader:
        assert loader.names == ["bolt", "nut"]
        batch = next(iter(loader))
    assert list(batch) == ["img", "cls"]
    assert batch["img"].dtype == np.float32 and 0 <= batch["img"].min() <= batch["img"].max() <= 1
    assert batch["cls"].shape == (4,) and batch["cls"].dtype == np.int64


def test_oversampling_by_repeated_lines_is_kept(tmp_path: Path) -> None:
    # REPORTS S07: five times p1 and once p2 in the list.
    data = write_set(tmp_path / "set", train=2)
    images = tmp_path / "set/images/train"
    lines = [str(images / "im000.png")] * 5 + [str(images / "im001.png")]
    (tmp_path / "set/train.txt").write_text("\n".join(lines) + "\n")
    data.write_text(data.read_text().replace("train: images/train", "train: train.txt"))
    with make(data, batch_size=6) as loader:
        (batch,) = loader
    assert sorted(batch["im_file"]) == sorted(lines)
    assert len({picture.tobytes() for picture in batch["img"]}) == 6


def test_caches_do_not_change_batches(data: Path) -> None:
    # REPORTS S05.
    sums = []
    for cache in (None, "bytes", "ram"):
        with make(data, cache=cache) as loader:
            sums.append(epoch(loader, 0) + epoch(loader, 1))
    assert sums[0] == sums[1] == sums[2]


def test_report_and_table_of_options_read_well(data: Path) -> None:
    with make(data) as loader:
        list(loader)
        report = loader.report()
    assert report["images"] == 8 and "decode" in str(report) and report["verdict"]
    table = yoload.option_table()
    assert table["imgsz"] == ("int", "640")
    assert set(yoload.Augment().options()) <= set(table)
    defaults = {name: table[name][1] for name in yoload.Augment().options()}
    for name, value in yoload.Augment().options().items():
        assert str(value) == defaults[name] or float(value) == float(defaults[name]), name
