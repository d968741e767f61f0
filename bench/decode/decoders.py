"""JPEG decoders that one can install, beside yoload's: one thread each, from bytes to an RGB array.

usage: decoders.py DIR [--rounds N] [--files N] [--json FILE] [--extra NAME=PYTHON ...] [--more NAME=DIR ...]

Every side is a process of its own that decodes whole sets when it is told to, so that no library's threads or
allocator disturb another's; a round runs every side once on every set, in turn. Reported are medians of
milliseconds an image, and of the ratio to yoload's time in the same round, with quartiles. What a library
returns is what is measured: yoload, cv2, Pillow, simplejpeg and imagecodecs H,W,3 arrays, torchvision a C,H,W
tensor. Sides whose package is missing are left out and named. --extra runs a side with another interpreter
(Pillow-SIMD replaces Pillow, so it needs an environment of its own: pillow-simd=DIR/bin/python); --more adds a
folder of JPEG files as a row of its own. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import io
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

Decode = Callable[[list[bytes]], None]


def each(decode: Callable[[bytes], Any]) -> Decode:
    def run(files: list[bytes]) -> None:
        for file in files:
            decode(file)
    return run


def yoload_side(together: bool, decode: str = "auto") -> Decode:
    import yoload
    group = 8 if together else 1

    def run(files: list[bytes]) -> None:
        for first in range(0, len(files), group):
            yoload.decode_many(files[first:first + group], decode=decode)
    return run


def cv2_side() -> Decode:
    import cv2
    import numpy as np
    cv2.setNumThreads(0)
    return each(lambda file: cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_COLOR_RGB))


def pillow_side() -> Decode:
    import numpy as np
    from PIL import Image
    return each(lambda file: np.asarray(Image.open(io.BytesIO(file)).convert("RGB")))


def simplejpeg_side() -> Decode:
    import simplejpeg
    return each(lambda file: simplejpeg.decode_jpeg(file, "RGB", fastdct=False, fastupsample=False))


def torchvision_side() -> Decode:
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg
    torch.set_num_threads(1)
    return each(lambda file: decode_jpeg(torch.frombuffer(bytearray(file), dtype=torch.uint8), ImageReadMode.RGB))


def imagecodecs_side() -> Decode:
    import imagecodecs
    return each(lambda file: imagecodecs.jpeg8_decode(file, outcolorspace="RGB"))


def kornia_side() -> Decode:  # the image crate, which decodes JPEG with zune-jpeg
    from kornia_rs import io as kornia_io
    return each(kornia_io.decode_image_jpeg)


SIDES: dict[str, Callable[[], Decode]] = {
    "yoload": lambda: yoload_side(True),
    "yoload, one by one": lambda: yoload_side(False),
    "yoload, libjpeg-turbo": lambda: yoload_side(True, "libjpeg-turbo"),
    "simplejpeg": simplejpeg_side,
    "cv2": cv2_side,
    "Pillow": pillow_side,
    "pillow-simd": pillow_side,
    "torchvision": torchvision_side,
    "imagecodecs": imagecodecs_side,
    "kornia-rs (zune-jpeg)": kornia_side,
}


def work(side: str) -> None:
    """The other end of Worker: a folder a line on stdin, seconds of wall and CPU time on stdout."""
    try:
        decode = SIDES[side]()
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    print(json.dumps({"ready": True}), flush=True)
    loaded: dict[str, list[bytes]] = {}
    for line in sys.stdin:
        folder = line.strip()
        if folder not in loaded:
            loaded[folder] = [path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())]
            decode(loaded[folder])  # warm-up
        wall, cpu = time.perf_counter(), time.process_time()
        decode(loaded[folder])
        print(json.dumps({"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}), flush=True)


class Worker:
    def __init__(self, side: str, python: str) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "YOLO_OFFLINE": "1"}
        self.process = subprocess.Popen([python, __file__, "--worker", side], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        self.state = self.answer()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"missing": f"ended with {self.process.wait()}"}

    def run(self, folder: pathlib.Path) -> dict[str, float]:
        assert self.process.stdin is not None
        print(folder, file=self.process.stdin, flush=True)
        return self.answer()


def write_sets(photos: list[pathlib.Path], work_dir: pathlib.Path) -> dict[str, pathlib.Path]:
    """The photos as they are and coded in other ways, and four pictures of 12 megapixels made of them."""
    from PIL import Image
    kinds: dict[str, dict[str, Any]] = {
        "4:2:0 q90": {"quality": 90, "subsampling": 2},
        "4:2:0 q75": {"quality": 75, "subsampling": 2},
        "4:2:2 q90": {"quality": 90, "subsampling": 1},
        "gray q90": {"quality": 90},
    }
    sets = {name: work_dir / str(number) for number, name in enumerate(["as it is", *kinds, "12 MP 4:2:0 q90"])}
    for folder in sets.values():
        folder.mkdir()
    for photo in photos:
        (sets["as it is"] / photo.name).write_bytes(photo.read_bytes())
        for name, options in kinds.items():
            image = Image.open(photo).convert("L" if name.startswith("gray") else "RGB")
            image.save(sets[name] / photo.name, **options)
    for number in range(4):
        large = Image.new("RGB", (4000, 3000))
        for place in range(42):
            tile = Image.open(photos[(number * 42 + place) % len(photos)]).convert("RGB")
            large.paste(tile, (place % 7 * 600, place // 7 * 500))
        large.save(sets["12 MP 4:2:0 q90"] / f"{number}.jpg", quality=90, subsampling=2)
    return sets


def quartiles(values: list[float]) -> list[float]:
    ordered = sorted(values)
    last = len(ordered) - 1
    return [statistics.median(ordered), ordered[last // 4], ordered[last - last // 4]]


def measure(sets: dict[str, pathlib.Path], workers: dict[str, Worker], rounds: int) -> list[dict[str, Any]]:
    rows = []
    for name, folder in sets.items():
        images = len(list(folder.iterdir()))
        runs: dict[str, list[dict[str, float]]] = {side: [] for side in workers}
        for _ in range(rounds):
            for side, worker in workers.items():
                runs[side].append(worker.run(folder))
        row: dict[str, Any] = {"set": name, "images": images, "sides": {}}
        own = [run["wall_s"] for run in runs["yoload"]]
        for side, done in runs.items():
            row["sides"][side] = {
                "ms": 1000 * statistics.median(run["wall_s"] for run in done) / images,
                "cpu_ms": 1000 * statistics.median(run["cpu_s"] for run in done) / images,
                "over_yoload": quartiles([run["wall_s"] / mine for run, mine in zip(done, own)]),
            }
        fastest = min(row["sides"], key=lambda side: row["sides"][side]["ms"])
        row["fastest"] = fastest
        rows.append(row)
        print(f"{name}: fastest is {fastest}")
        for side, figures in row["sides"].items():
            ratio = figures["over_yoload"]
            print(f"  {side:<24}{figures['ms']:8.3f} ms {ratio[0]:7.2f} x yoload ({ratio[1]:.2f}..{ratio[2]:.2f})")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=pathlib.Path, nargs="?", help="folder of JPEG files")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--files", type=int, default=256, help="at most so many of each folder")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--extra", action="append", default=[], metavar="SIDE=PYTHON")
    parser.add_argument("--more", action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker)
        return
    if arguments.data is None:
        parser.error("a folder of JPEG files is needed")
    interpreters = dict(extra.split("=", 1) for extra in arguments.extra)
    workers, missing = {}, {}
    for side in SIDES:
        if side == "pillow-simd" and side not in interpreters:
            missing[side] = "no interpreter given (--extra)"
            continue
        worker = Worker(side, interpreters.get(side, sys.executable))
        if "missing" in worker.state:
            missing[side] = worker.state["missing"]
        else:
            workers[side] = worker
    for side, why in missing.items():
        print(f"left out: {side}: {why}")
    photos = sorted(arguments.data.rglob("*.jpg"))[:arguments.files]
    with tempfile.TemporaryDirectory() as scratch:
        work_dir = pathlib.Path(scratch)
        sets = write_sets(photos, work_dir)
        for number, more in enumerate(arguments.more):
            name, source = more.split("=", 1)
            folder = work_dir / f"more{number}"
            folder.mkdir()
            for path in sorted(pathlib.Path(source).rglob("*.jpg"))[:arguments.files]:
                (folder / path.name).write_bytes(path.read_bytes())
            sets[name] = folder
        rows = measure(sets, workers, arguments.rounds)
    if arguments.json:
        report = {"machine": platform.processor() or platform.machine(), "cpus": os.cpu_count(),
                  "rounds": arguments.rounds, "left_out": missing, "rows": rows}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
