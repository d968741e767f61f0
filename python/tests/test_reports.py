# SPDX-License-Identifier: Apache-2.0
"""What people ran into with other loaders, through the Python API and Ultralytics' trainers.

The pictures are those of the shared data folder (reports/ID); rows without a folder make their own. R05,
R09, S05 and S07 are in test_loader.py.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yoload
from conftest import checksum, open_files, shared_data, write_set


def folder(name: str) -> Path:
    root = shared_data()
    if root is None:
        pytest.skip("no shared data here")
    return root / "reports" / name


def data_of(name: str) -> Path:
    found = sorted(folder(name).rglob("*.yaml"))
    assert found, name
    return found[0]


def make(data: object, **options: Any) -> yoload.Loader:
    settings: dict[str, Any] = dict(imgsz=64, batch_size=4, workers=2, output="numpy")
    settings.update(options)
    return yoload.Loader(data, **settings)  # type: ignore[arg-type]


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in root.rglob("*")}


def test_r01_brackets_in_paths_are_letters(tmp_path: Path) -> None:
    root = folder("R01")
    before = snapshot(root)
    images = sorted(p for p in root.rglob("*") if p.suffix in (".jpg", ".png"))
    listing = tmp_path / "list.txt"
    listing.write_text("\n".join(map(str, images)) + "\n")
    pictures = images[0].parent
    for data in (data_of("R01"), pictures.parent if pictures.name != "images" else pictures, listing):
        with make(data, augment=False) as loader:
            batches = list(loader)
            assert loader.images_per_epoch == 4, data
        assert sum(len(b["cls"]) for b in batches) == 4, data
    assert snapshot(root) == before


def test_r02_labels_beside_pictures_in_an_images_folder_are_counted() -> None:
    with pytest.warns(yoload.DataWarning, match="3 label files beside pictures"):
        loader = make(data_of("R02"), augment=False, batch_size=6)
    with loader:
        (batch,) = loader
    assert len(batch["im_file"]) == 6 and len(batch["cls"]) == 3


@pytest.mark.parametrize("fliplr", [0.0, 1.0])
def test_r03_visible_keypoints_lie_on_their_own_colour(fliplr: float) -> None:
    colours = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]])
    if fliplr:  # flip_idx of the data set: the point that was number 1 is number 0 now
        colours = colours[[1, 0, 3, 2]]
    augment = yoload.Augment(mosaic=1.0, hsv_h=0, hsv_s=0, hsv_v=0, fliplr=fliplr, flipud=0,
                             blur=0, median_blur=0, to_gray=0, clahe=0)  # fmt: skip
    seen = 0
    with make(data_of("R03"), task="pose", imgsz=320, augment=augment) as loader:
        total = 0
        while total < 60:
            for batch in loader:
                total += len(batch["im_file"])
                for picture, points in zip(batch["batch_idx"].astype(int), batch["keypoints"]):
                    for number, (x, y, visible) in enumerate(points):
                        if visible == 0:
                            continue
                        column, row = min(int(x * 320), 319), min(int(y * 320), 319)
                        pixel = batch["img"][picture, :, row, column].astype(int)
                        wanted = colours[number]
                        assert np.abs(pixel - wanted).max() <= 60, (number, pixel, wanted)
                        seen += 1
    assert seen > 100


@pytest.mark.parametrize("ratio", [1, 2, 4])
def test_r04_masks_have_as_many_numbers_as_there_are_rows(ratio: int) -> None:
    with make(data_of("R04"), task="segment", imgsz=640, batch_size=1, mask_ratio=ratio,
              augment=False) as loader:  # fmt: skip
        rows = numbers = 0
        for batch in loader:
            rows += len(batch["cls"])
            numbers += len(np.unique(batch["masks"])) - 1
        dropped = loader.report()["dropped"]["empty_mask"]
    assert rows == numbers and rows + dropped == 36


def test_r06_sixteen_bit_pictures_keep_their_levels_on_request() -> None:
    def levels(scale: bool) -> dict[str, int]:
        with make(data_of("R06"), augment=False, imgsz=320, batch_size=1, scale_16bit=scale,
                  memory_budget="512MB") as loader:  # fmt: skip
            return {Path(b["im_file"][0]).name: len(np.unique(b["img"])) for b in loader}

    plain, scaled = levels(False), levels(True)
    dark = [name for name in plain if name.startswith("det12")]
    assert dark
    for name in dark:
        assert plain[name] <= 5  # the high byte alone, and the padding
        assert scaled[name] >= 64


def test_r07_a_huge_picture_is_used_within_its_memory() -> None:
    script = (
        "import sys, resource, yoload\n"
        "with yoload.Loader(sys.argv[1], augment=False, imgsz=64, batch_size=1, workers=1, output='numpy',"
        " memory_budget='768MB') as loader:\n"
        "    assert len(list(loader)) == 2 and not loader.ledger(), loader.ledger()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(data_of("R07"))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "corrupt" not in done.stderr
    assert int(done.stdout) * 1024 < 768e6 + 64e6 + 100e6  # and an interpreter with numpy


def test_r08_kept_batches_cost_no_file_descriptors(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=64)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        with make(data, workers=16) as loader:
            start = open_files()
            kept = list(loader)
            sums = [checksum(b) for b in kept]
            for _ in range(20):
                for batch in loader:
                    del batch
                assert open_files() <= start + 64
            assert [checksum(b) for b in kept] == sums
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_r10_a_damaged_label_cache_is_rebuilt_and_changes_nothing(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=12)
    cache = tmp_path / "labels-cache"

    def epoch() -> list[int]:
        with make(data, cache_dir=cache) as loader:
            return [checksum(b) for b in loader]

    expected = epoch()
    files = [p for p in cache.rglob("*") if p.is_file()]
    assert files and epoch() == expected
    (file,) = files
    whole = file.read_bytes()
    damages = [whole[: len(whole) * share // 100] for share in (0, 1, 50, 99)]
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0x40
    for damaged in [*damages, bytes(flipped)]:
        file.write_bytes(damaged)
        with pytest.warns(yoload.DataWarning, match="label cache rebuilt"):
            assert epoch() == expected
        assert epoch() == expected  # rebuilt once
        assert [p for p in cache.rglob("*") if p.is_file()] == [file]


def test_s01_odd_sizes_stack_in_every_mix() -> None:
    for tiles in (4, 9):
        augment = yoload.Augment(mosaic=0.5, mixup=0.5, cutmix=0.5, mosaic_tiles=tiles)
        with make(data_of("S01"), augment=augment, imgsz=96) as loader:
            for _ in range(20):
                assert sum(len(b["im_file"]) for b in loader) == loader.images_per_epoch
            assert not loader.ledger()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_s09_a_read_only_data_set_works_and_starts_warm(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", train=12)
    script = (
        "import sys, yoload\n"
        "with yoload.Loader(sys.argv[1], imgsz=64, batch_size=4, workers=1, output='numpy') as loader:\n"
        "    assert len(list(loader)) == 3\n"
    )
    inner = (
        f"mount --bind {tmp_path}/set {tmp_path}/set && mount -o remount,ro,bind {tmp_path}/set && "
        f"! touch {tmp_path}/set/x 2>/dev/null && {sys.executable} -W error -c \"$0\" {data} && "
        f"{sys.executable} -W error -c \"$0\" {data}"
    )
    done = subprocess.run(["unshare", "-m", "bash", "-c", inner, script], capture_output=True, text=True)
    if done.returncode != 0 and "unshare" in done.stderr:
        pytest.skip("no mount name space here")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "cache").rglob("*"))


# -- the same through Ultralytics' trainers ------------------------------------------------------


def trained(data: Path, task: str, tmp_path: Path, **more: Any) -> Any:
    pytest.importorskip("ultralytics")
    from test_ultralytics import TASKS, train

    settings: dict[str, Any] = dict(val=False, project=str(tmp_path / "runs"), batch=2)
    settings.update(more)
    return train(data, TASKS[task][0], TASKS[task][1], **settings)


def yaml_for(tmp_path: Path, name: str, names: str, more: str = "") -> Path:
    """A data.yaml outside of the shared folder, with both splits."""
    images = next(p for p in sorted(folder(name).rglob("images")) if p.is_dir())
    file = tmp_path / "data" / "data.yaml"
    file.parent.mkdir()
    file.write_text(f"path: {images.parent}\ntrain: {images}\nval: {images}\nnames: {names}\n{more}")
    return file


@pytest.mark.parametrize("name, task, more", [
    ("R01", "detect", ""), ("S01", "detect", ""), ("R04", "segment", ""),
])  # fmt: skip
def test_trainers_take_the_same_folders(tmp_path: Path, name: str, task: str, more: str) -> None:
    source = folder(name)
    before = snapshot(source)
    done = trained(yaml_for(tmp_path, name, "{0: a, 1: b, 2: c}", more), task, tmp_path,
                   mosaic=0.5, mixup=0.5, cutmix=0.5)  # fmt: skip
    from yoload.ultralytics.supply import SuppliedLoader

    assert isinstance(done.train_loader, SuppliedLoader)
    assert snapshot(source) == before
