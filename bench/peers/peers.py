#!/usr/bin/env python3
"""yoload beside other loaders, interleaved on one machine: rows 2 to 6 of the engine's acceptance table.

usage: peers.py [--data DIR] [--rounds N] [--json FILE] [--only ROW ...]

Each round runs every side of a row once, in turn, so a machine that slows down slows all of them. Printed
are medians with minimum and maximum, and the ratio of medians against its bound.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "release"
HERE = pathlib.Path(__file__).resolve().parent
THREADS = 2


def last_json(command, cwd):
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=1800)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr[-2000:]}")
    return json.loads(result.stdout.strip().splitlines()[-1])


class Sides:
    """The commands that a row compares."""

    def __init__(self, data, work):
        self.data, self.work = data, work

    def yoload(self, data=None, threads=THREADS, imgsz=640, epochs=5, extra=()):
        data = data or self.data
        command = [BUILD / "yoload", "bench", data / "data.yaml", "--threads", threads, "--imgsz", imgsz, "--batch", 16,
                   "--epochs", epochs, "--warmup", 1, "--cache-dir", self.work / "cache", "--json", *extra]
        return lambda: last_json(command, data)

    def ultralytics(self, data=None, imgsz=640, cache="none", epochs=2):
        data = data or self.data
        command = [sys.executable, HERE / "ultralytics_loader.py", data / "data.yaml", imgsz, 16, THREADS, cache, epochs]
        return lambda: last_json(command, data)

    def libjpeg(self):
        return lambda: last_json([BUILD / "bench" / "libjpeg_decode", self.data / "images", THREADS, 5], self.data)


def rows(sides, big):
    """name, what, {side: run}, numerator, denominator, bound."""
    yield ("2", "full mosaic pipeline / Ultralytics loader, 640",
           {"yoload": sides.yoload(), "ultralytics": sides.ultralytics()}, "yoload", "ultralytics", 3.0)
    yield ("3", "full mosaic pipeline / libjpeg-turbo decode only",
           {"yoload": sides.yoload(), "libjpeg": sides.libjpeg()}, "yoload", "libjpeg", 0.70)
    yield ("4a", "the same as 2 at imgsz 1280",
           {"yoload": sides.yoload(imgsz=1280, epochs=2), "ultralytics": sides.ultralytics(imgsz=1280, epochs=1)},
           "yoload", "ultralytics", 3.0)
    yield ("4b", "12-megapixel JPEGs to 640, fused / Ultralytics",
           {"yoload": sides.yoload(data=big, extra=["--fidelity", "fused"], epochs=2),
            "yoload exact": sides.yoload(data=big, epochs=2), "ultralytics": sides.ultralytics(data=big, epochs=1)},
           "yoload", "ultralytics", 2.0)
    yield ("5", "--cache pixels / Ultralytics cache=ram",
           {"yoload": sides.yoload(epochs=12, extra=["--cache", "pixels"]), "ultralytics": sides.ultralytics(cache="ram")},
           "yoload", "ultralytics", 8.0)
    yield ("6", "2 threads / 1 thread",
           {"2 threads": sides.yoload(), "1 thread": sides.yoload(threads=1)}, "2 threads", "1 thread", 1.85)


def measure(row, rounds):
    name, what, runs, numerator, denominator, bound = row
    seen = {side: [] for side in runs}
    for _ in range(rounds):
        for side, run in runs.items():
            seen[side].append(run())
    result = {"row": name, "what": what, "bound": bound, "sides": {}}
    for side, reports in seen.items():
        rates = [report["images_per_s"] for report in reports]
        result["sides"][side] = {
            "images_per_s": statistics.median(rates), "min": min(rates), "max": max(rates),
            "cpu_s_per_image": statistics.median(report["cpu_s_per_image"] for report in reports),
            **({"decodes_per_image": statistics.median(report["decodes_per_image"] for report in reports)}
               if "decodes_per_image" in reports[0] else {})}
    sides = result["sides"]
    pairs = [a["images_per_s"] / b["images_per_s"] for a, b in zip(seen[numerator], seen[denominator])]
    result["ratio"] = statistics.median(pairs)
    result["ratio_min"], result["ratio_max"] = min(pairs), max(pairs)
    print(f"row {name}: {what}")
    for side, figures in sides.items():
        print(f"  {side:<14}{figures['images_per_s']:9.1f} img/s  ({figures['min']:.1f} .. {figures['max']:.1f})  "
              f"{1000 * figures['cpu_s_per_image']:.2f} CPU ms an image")
    verdict = "met" if result["ratio"] >= bound else "NOT MET"
    print(f"  ratio {result['ratio']:.2f} ({result['ratio_min']:.2f} .. {result['ratio_max']:.2f}), "
          f"bound {bound}: {verdict}", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data" / "coco256")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "bench" / "results" / "peers.json")
    parser.add_argument("--only", nargs="*", help="names of rows")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="yoload_peers_") as folder:
        work = pathlib.Path(folder)
        # The other package writes caches beside the labels: everybody reads a copy.
        data = work / "photos"
        shutil.copytree(arguments.data, data)
        for path in [data, *data.rglob("*")]:
            os.chmod(path, 0o755 if path.is_dir() else 0o644)
        big = work / "big"
        if arguments.only is None or "4b" in arguments.only:
            subprocess.run([BUILD / "yoload", "demo", "--only-data", big, "--count", "64", "--width", "4000",
                            "--height", "3000"], check=True, capture_output=True)
        results = [measure(row, arguments.rounds) for row in rows(Sides(data, work), big)
                   if arguments.only is None or row[0] in arguments.only]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    machine = {"cpus": len(os.sched_getaffinity(0)), "architecture": platform.machine(),
               "model": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(
        {"machine": machine, "commit": commit.stdout.strip(), "threads": THREADS, "rounds": arguments.rounds,
         "rows": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
