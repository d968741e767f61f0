# SPDX-License-Identifier: Apache-2.0
"""Single pictures, records in memory, grids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yoload
from conftest import noise, shared_data
from yoload.picture import png


def test_decode_takes_paths_and_bytes_and_names_what_fails(tmp_path: Path) -> None:
    picture = noise(1, 40, 60)
    path = tmp_path / "a.png"
    path.write_bytes(png(picture))
    assert np.array_equal(yoload.decode(path), picture)
    assert yoload.decode(path, channels=1).shape == (40, 60, 1)
    path.write_bytes(png(picture)[:100])
    with pytest.raises(yoload.Error) as caught:
        yoload.decode(path)
    assert caught.value.path == str(path) and caught.value.stage == "decode"
    with pytest.raises(yoload.Error):
        yoload.decode(b"no picture")
    with pytest.raises(OSError):
        yoload.decode(tmp_path / "nowhere.png")


def test_decode_many_equals_one_by_one_in_any_number_of_threads(tmp_path: Path) -> None:
    data = shared_data()
    if data is None:
        pytest.skip("no real pictures")
    files = sorted((data / "coco256" / "images").rglob("*.jpg"))[:37]
    expected = [yoload.decode(file) for file in files]
    for threads in (1, 3):
        for who in ("auto", "libjpeg-turbo"):
            pictures = yoload.decode_many(files, threads=threads, decode=who)
            assert all(np.array_equal(a, b) for a, b in zip(pictures, expected))
    assert yoload.decode_many([]) == []
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(files[0].read_bytes()[:5000])
    with pytest.raises(yoload.Error) as caught:
        yoload.decode_many([files[0], cut, files[1]])
    assert caught.value.path == str(cut) and "truncated" in str(caught.value)
    with pytest.raises(ValueError, match="libjpeg-turbo"):
        yoload.decode_many(files, decode="libjpeg")


def test_augment_moves_boxes_with_the_pixels() -> None:
    picture = np.full((80, 120, 3), 60, np.uint8)
    picture[20:50, 30:90] = (0, 255, 0)
    settings = yoload.Augment(mosaic=0, hsv_h=0, hsv_s=0, hsv_v=0, blur=0, median_blur=0,
                              to_gray=0, clahe=0)  # fmt: skip
    for seed in range(8):
        out = yoload.augment(picture, [[30, 20, 90, 50]], [0], augment=settings, imgsz=128, seed=seed)
        green = (out.image[..., 1].astype(int) - out.image[..., 0] > 100).nonzero()
        if len(out.boxes) == 0:
            continue
        x1, y1, x2, y2 = out.boxes[0]
        seen = green[1].min(), green[0].min(), green[1].max() + 1, green[0].max() + 1
        assert np.allclose((x1, y1, x2, y2), seen, atol=1.5), seed
    same = yoload.augment(picture, [[30, 20, 90, 50]], [0], imgsz=128, seed=3)
    again = yoload.augment(picture, [[30, 20, 90, 50]], [0], imgsz=128, seed=3)
    assert np.array_equal(same.image, again.image) and np.array_equal(same.boxes, again.boxes)
    assert same._repr_png_().startswith(b"\x89PNG")


def test_augment_false_is_a_letterbox() -> None:
    picture = noise(2, 64, 128)
    out = yoload.augment(picture, [[0, 0, 128, 64]], augment=False, imgsz=128)
    assert np.array_equal(out.image[32:96], picture)
    assert (out.image[:32] == 114).all()
    assert np.allclose(out.boxes, [[0, 32, 128, 96]], atol=1e-3)


def test_augment_takes_outlines_and_keypoints() -> None:
    picture = noise(4, 96, 96)
    square = [[20, 20], [70, 20], [70, 70], [20, 70]]
    out = yoload.augment(picture, [[20, 20, 70, 70]], polygons=[square], augment=False, imgsz=96)
    assert out.mask is not None and out.mask.max() == 1
    out = yoload.augment(picture, [[20, 20, 70, 70]], keypoints=[[[30, 40], [50, 60]]],
                         augment=False, imgsz=96)  # fmt: skip
    assert out.keypoints is not None
    assert np.allclose(out.keypoints[0], [[30, 40, 2], [50, 60, 2]], atol=1e-3)


@pytest.mark.parametrize("box_format, box", [
    ("xywhn", [0.5, 0.5, 0.5, 0.25]), ("xyxyn", [0.25, 0.375, 0.75, 0.625]),
    ("xyxy", [25, 30, 75, 50]), ("xywh", [25, 30, 50, 20]),
])  # fmt: skip
def test_records_take_every_box_format(box_format: str, box: list[float]) -> None:
    picture = noise(1, 80, 100)
    dataset = yoload.Dataset.from_records(
        [{"image": picture, "boxes": [box], "cls": [1], "name": "first"}, {"image": png(picture)}],
        {0: "a", 1: "b"},
        box_format=box_format,
    )
    assert len(dataset) == 2
    with yoload.Loader(dataset, augment=False, imgsz=100, output="numpy", workers=1) as loader:
        (batch,) = loader
    assert batch["cls"].tolist() == [[1.0]] and batch["batch_idx"].tolist() == [0.0]
    assert batch["im_file"][0] == "first"
    scale = np.array([100, 100, 100, 100], np.float32)
    assert np.allclose(batch["bboxes"][0] * scale, [50, 50, 50, 20], atol=1e-3)


def test_wrong_records_are_refused_by_number_and_field() -> None:
    picture = noise(1, 20, 20)
    good = {"image": picture, "boxes": [[0.5, 0.5, 0.2, 0.2]], "cls": [0]}
    make = yoload.Dataset.from_records
    for error, record, message in [
        (TypeError, {"boxes": []}, "image"),
        (TypeError, {**good, "labels": []}, "labels"),
        (ValueError, {**good, "cls": [0, 1]}, "boxes"),
        (TypeError, {**good, "image": picture.astype(float)}, "uint8"),
        (TypeError, {**good, "boxes": [["a"] * 4]}, "boxes"),
    ]:
        with pytest.raises(error, match=message) as caught:
            make([good, record], ["a"])
        assert "records[1]" in str(caught.value)
    with pytest.raises(ValueError, match="box_format"):
        make([good], ["a"], box_format="yxyx")
    with pytest.raises(ValueError, match=r"records\[0\].*cls"):
        yoload.Loader(make([{**good, "cls": [3]}], ["a"]))
    with pytest.warns(yoload.DataWarning, match="pictures that cannot be used"):
        yoload.Loader(make([good, {"image": b"no picture"}], ["a"]), workers=1).close()


def test_show_makes_a_grid_with_the_boxes_drawn(tmp_path: Path) -> None:
    dataset = yoload.Dataset.from_records(
        [{"image": np.zeros((64, 64, 3), np.uint8), "boxes": [[0.5, 0.5, 0.5, 0.5]], "cls": [0]}] * 5,
        ["a"],
    )
    with yoload.Loader(dataset, augment=False, imgsz=64, output="numpy", workers=1) as loader:
        (batch,) = loader
    grid = yoload.show(batch, columns=3)
    assert grid.pixels.shape == (2 * 66, 3 * 66, 3)
    assert (grid.pixels[16, 16:48] == (255, 0, 0)).all()  # the upper edge of the first box
    grid.save(tmp_path / "grid.png")
    assert np.array_equal(yoload.decode(tmp_path / "grid.png"), grid.pixels)


def test_real_photos_decode_like_the_torture_manifest_says() -> None:
    root = shared_data()
    if root is None:
        pytest.skip("no shared data here")
    photos = sorted((root / "coco256" / "images").rglob("*.jpg"))[:8]
    assert photos
    for photo in photos:
        assert yoload.decode(photo).shape[2] == 3
