#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the picture sets of the GPU benchmarks from one folder of photographs.

    make_sets.py COCO256 OUT

    OUT/as_is     every photograph, REPEAT times, by hard links: an epoch long enough to time
    OUT/q90_420   the same photographs coded anew as quality 90, 4:2:0
    OUT/side1280  scaled up to a longest side of 1280, quality 95, 4:4:4
    OUT/mp12      16 of them scaled up to 12 megapixels, quality 90, 4:2:0, each REPEAT_LARGE times

Each is a data set with images/, labels/ and data.yaml. Needs Pillow.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import shutil

from PIL import Image

REPEAT = 16
REPEAT_LARGE = 16


def coded(source: pathlib.Path, target: pathlib.Path, longest: int, quality: int, sampling: str) -> None:
    picture = Image.open(source).convert("RGB")
    if longest:
        scale = longest / max(picture.size)
        size = (round(picture.width * scale), round(picture.height * scale))
        picture = picture.resize(size, Image.Resampling.BICUBIC)
    picture.save(target, quality=quality, subsampling=sampling)


def make(name: str, photographs: list[pathlib.Path], out: pathlib.Path, repeat: int, **how: object) -> None:
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "images").mkdir(parents=True)
    (folder / "labels").mkdir()
    names = (photographs[0].parents[1] / "data.yaml").read_text().splitlines()
    kept = [line for line in names if not line.startswith(("path:", "train:", "val:", "test:"))]
    (folder / "data.yaml").write_text("\n".join(["train: images", "val: images", *kept]) + "\n")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if how:
            targets = [folder / "images" / f"{p.stem}_0.jpg" for p in photographs]
            list(pool.map(lambda pair: coded(*pair, **how), zip(photographs, targets)))
        for photograph in photographs:
            first = folder / "images" / f"{photograph.stem}_0.jpg"
            if not how:
                shutil.copy(photograph, first)
            label = photograph.parents[1] / "labels" / f"{photograph.stem}.txt"
            for i in range(repeat):
                if i > 0:
                    os.link(first, folder / "images" / f"{photograph.stem}_{i}.jpg")
                if label.exists():
                    shutil.copy(label, folder / "labels" / f"{photograph.stem}_{i}.txt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photographs", type=pathlib.Path, help="a data set with images/ and labels/")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sets", nargs="+", default=["as_is", "q90_420", "side1280", "mp12"])
    args = parser.parse_args()
    found = sorted((args.photographs / "images").rglob("*.jpg"))
    if not found:
        raise SystemExit(f"{args.photographs}: no images/*.jpg")
    if "as_is" in args.sets:
        make("as_is", found, args.out, REPEAT)
    if "q90_420" in args.sets:
        make("q90_420", found, args.out, REPEAT, longest=0, quality=90, sampling="4:2:0")
    if "side1280" in args.sets:
        make("side1280", found, args.out, REPEAT, longest=1280, quality=95, sampling="4:4:4")
    if "mp12" in args.sets:
        make("mp12", found[:16], args.out, REPEAT_LARGE, longest=4000, quality=90, sampling="4:2:0")


if __name__ == "__main__":
    main()
