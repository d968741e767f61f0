"""The measuring half of every side that runs in Python: the same photographs, the same clock, the same report.

A side describes one epoch; report() runs it once unmeasured, then EPOCHS times, and prints one line:
{"images": .., "wall_s": .., "cpu_s": .., "version": ..}. Nothing touches the pictures of a batch that is ready.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import pathlib
import time
from collections.abc import Callable


def arguments(description: str) -> argparse.Namespace:
    """What every side is told; `workers` are threads or processes, whichever the side has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="data.yaml, with the folder images/ beside it")
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--cache", default="none", help="what the side itself calls it")
    return parser.parse_args()


def photographs(data: str) -> list[str]:
    """The pictures for a side that reads no data.yaml."""
    paths = sorted(str(path) for path in (pathlib.Path(data).parent / "images").glob("*.jpg"))
    if not paths:
        raise SystemExit(f"{data}: no images/*.jpg beside it")
    return paths


def cpu_s() -> float:
    """CPU seconds of this process with its threads, and of its living worker processes."""
    total = sum(os.times()[:2])
    tick = os.sysconf("SC_CLK_TCK")
    own = os.getpid()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == own:
            total += (int(fields[11]) + int(fields[12])) / tick
    return total


def report(epoch: Callable[[], int], epochs: int, version: str) -> None:
    """Warms up with one epoch, measures `epochs` of them; `epoch` returns how many images it delivered."""
    per_epoch = epoch()
    cpu_before, start = cpu_s(), time.perf_counter()
    images = sum(epoch() for _ in range(epochs))
    wall_s, used_s = time.perf_counter() - start, cpu_s() - cpu_before
    if per_epoch == 0 or images != per_epoch * epochs:
        raise SystemExit(f"{per_epoch} images in the first epoch, {images} in the {epochs} after it")
    print(json.dumps({"images": images, "wall_s": wall_s, "cpu_s": used_s, "version": version}))
