"""yoload beside other loaders, interleaved on one machine.

usage: peers.py [--data DIR] [--rounds N] [--json FILE] [--only ROW ...] [--list]

Rows 2 to 6 are the engine's acceptance table. Rows py-* are whole loaders driven from Python, measured together:
one round runs every one of them. Each round runs every side once, in turn, so a machine that slows down slows all
of them. Printed are medians with minimum and maximum; a ratio is the median over the rounds, against its bound.
In the JSON, rows that --only leaves out stay as they were, if the same kind of machine made them.
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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "release"
HERE = pathlib.Path(__file__).resolve().parent
THREADS = 2

Report = dict[str, Any]
Run = Callable[[], Report]


def last_json(command: list[Any], cwd: pathlib.Path, environment: dict[str, str] | None = None) -> Report:
    """Runs one side; whichever way it counts, the report has images_per_s and cpu_s_per_image."""
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=1800,
                            check=False, env={**os.environ, **(environment or {})})
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr[-2000:]}")
    report = json.loads(result.stdout.strip().splitlines()[-1])
    if "wall_s" in report and "images" in report:
        report["images_per_s"] = report["images"] / report["wall_s"]
        report["cpu_s_per_image"] = report["cpu_s"] / report["images"]
    return report


@dataclass(frozen=True)
class Row:
    """One comparison: images/s of `numerator` over those of `denominator`."""

    name: str
    what: str
    numerator: str
    denominator: str
    bound: float | None = None
    beside: tuple[str, ...] = ()  # further sides that are shown, but not compared

    @property
    def sides(self) -> tuple[str, ...]:
        return (self.numerator, *self.beside, self.denominator)


@dataclass(frozen=True)
class Group:
    """Rows that share their sides, so one round serves all of them."""

    runs: dict[str, Run]
    rows: tuple[Row, ...]


class Sides:
    """The commands that a row compares."""

    def __init__(self, data: pathlib.Path, work: pathlib.Path) -> None:
        self.data, self.work = data, work

    def yoload(self, data: pathlib.Path | None = None, threads: int = THREADS, imgsz: int = 640, epochs: int = 5,
               extra: Iterable[str] = ()) -> Run:
        data = data or self.data
        command = [BUILD / "yoload", "bench", data / "data.yaml", "--threads", threads, "--imgsz", imgsz, "--batch", 16,
                   "--epochs", epochs, "--warmup", 1, "--cache-dir", self.work / "cache", "--json", *extra]
        return lambda: last_json(command, data)

    def python(self, script: str, data: pathlib.Path | None = None, imgsz: int = 640, cache: str = "none",
               epochs: int = 2) -> Run:
        data = data or self.data
        command = [sys.executable, HERE / script, data / "data.yaml", "--imgsz", imgsz, "--batch", 16,
                   "--workers", THREADS, "--cache", cache, "--epochs", epochs]
        environment = {"PYTHONPATH": str(ROOT / "python"), "XDG_CACHE_HOME": str(self.work / "cache"),
                       "YOLOAD_LIBRARY": os.environ.get("YOLOAD_LIBRARY", str(BUILD / "libyoload.so")),
                       "YOLO_VERBOSE": "False"}
        return lambda: last_json(command, data, environment)

    def ultralytics(self, data: pathlib.Path | None = None, imgsz: int = 640, cache: str = "none",
                    epochs: int = 2) -> Run:
        return self.python("ultralytics_loader.py", data, imgsz, cache, epochs)

    def libjpeg(self) -> Run:
        return lambda: last_json([BUILD / "bench" / "libjpeg_decode", self.data / "images", THREADS, 5], self.data)


def engine_groups(sides: Sides, big: pathlib.Path) -> list[Group]:
    return [
        Group({"yoload": sides.yoload(), "ultralytics": sides.ultralytics()},
              (Row("2", "full mosaic pipeline / Ultralytics loader, 640", "yoload", "ultralytics", 3.0),)),
        Group({"yoload": sides.yoload(), "libjpeg": sides.libjpeg()},
              (Row("3", "full mosaic pipeline / libjpeg-turbo decode only", "yoload", "libjpeg", 0.70),)),
        Group({"yoload": sides.yoload(imgsz=1280, epochs=2), "ultralytics": sides.ultralytics(imgsz=1280, epochs=1)},
              (Row("4a", "the same as 2 at imgsz 1280", "yoload", "ultralytics", 3.0),)),
        Group({"yoload": sides.yoload(data=big, extra=["--fidelity", "fused"], epochs=2),
               "yoload exact": sides.yoload(data=big, epochs=2), "ultralytics": sides.ultralytics(data=big, epochs=1)},
              (Row("4b", "12-megapixel JPEGs to 640, fused / Ultralytics", "yoload", "ultralytics", 2.0,
                   beside=("yoload exact",)),)),
        Group({"yoload": sides.yoload(epochs=12, extra=["--cache", "pixels"]),
               "ultralytics": sides.ultralytics(cache="ram")},
              (Row("5", "--cache pixels / Ultralytics cache=ram", "yoload", "ultralytics", 8.0),)),
        Group({"2 threads": sides.yoload(), "1 thread": sides.yoload(threads=1)},
              (Row("6", "2 threads / 1 thread", "2 threads", "1 thread", 1.85),)),
    ]


def python_group(sides: Sides) -> Group:
    """Whole loaders from Python. Only yoload and Ultralytics augment; the others decode, letterbox and batch."""
    return Group(
        {"yoload": sides.python("yoload_loader.py", epochs=5),
         "ultralytics": sides.ultralytics(),
         "torchvision": sides.python("torchvision_loader.py", epochs=3),
         "dali": sides.python("dali_loader.py"),
         "spdl": sides.python("spdl_loader.py")},
        (Row("py-ultralytics", "full mosaic pipeline / Ultralytics loader", "yoload", "ultralytics"),
         Row("py-torchvision", "full mosaic pipeline / torch DataLoader, decode and letterbox only", "yoload",
             "torchvision"),
         Row("py-dali", "full mosaic pipeline / DALI on the CPU, decode and letterbox only", "yoload", "dali"),
         Row("py-spdl", "full mosaic pipeline / SPDL, decode and letterbox only", "yoload", "spdl")))


def figures(reports: list[Report]) -> Report:
    rates = [report["images_per_s"] for report in reports]
    summary = {"images_per_s": statistics.median(rates), "min": min(rates), "max": max(rates),
               "cpu_s_per_image": statistics.median(report["cpu_s_per_image"] for report in reports)}
    if "decodes_per_image" in reports[0]:
        summary["decodes_per_image"] = statistics.median(report["decodes_per_image"] for report in reports)
    if "version" in reports[0]:
        summary["version"] = reports[0]["version"]
    return summary


def compare(row: Row, seen: dict[str, list[Report]]) -> Report:
    """Ratios are taken within a round, so what both sides met in it cancels."""
    pairs = list(zip(seen[row.numerator], seen[row.denominator], strict=True))
    rates = [a["images_per_s"] / b["images_per_s"] for a, b in pairs]
    cpu = [b["cpu_s_per_image"] / a["cpu_s_per_image"] for a, b in pairs]
    result = {"row": row.name, "what": row.what, "numerator": row.numerator, "denominator": row.denominator,
              "bound": row.bound, "sides": {side: figures(seen[side]) for side in row.sides},
              "ratio": statistics.median(rates), "ratio_min": min(rates), "ratio_max": max(rates),
              # How many times more images a CPU second gives.
              "cpu_ratio": statistics.median(cpu), "cpu_ratio_min": min(cpu), "cpu_ratio_max": max(cpu)}
    print(f"row {row.name}: {row.what}")
    for side, shown in result["sides"].items():
        print(f"  {side:<14}{shown['images_per_s']:9.1f} img/s  ({shown['min']:.1f} .. {shown['max']:.1f})  "
              f"{1000 * shown['cpu_s_per_image']:.2f} CPU ms an image")
    verdict = "" if row.bound is None else (
        f", bound {row.bound}: {'met' if result['ratio'] >= row.bound else 'NOT MET'}")
    print(f"  ratio {result['ratio']:.2f} ({result['ratio_min']:.2f} .. {result['ratio_max']:.2f}), images a CPU second "
          f"{result['cpu_ratio']:.2f} ({result['cpu_ratio_min']:.2f} .. {result['cpu_ratio_max']:.2f}){verdict}",
          flush=True)
    return result


def measure(group: Group, wanted: set[str], rounds: int) -> list[Report]:
    """Only the sides that a wanted row shows are run."""
    chosen = [row for row in group.rows if row.name in wanted]
    needed = {side for row in chosen for side in row.sides}
    seen: dict[str, list[Report]] = {side: [] for side in group.runs if side in needed}
    for _ in range(rounds):
        for side, reports in seen.items():
            reports.append(group.runs[side]())
    return [compare(row, seen) for row in chosen]


def machine() -> Report:
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return {"cpus": len(os.sched_getaffinity(0)), "architecture": platform.machine(),
            "model": next((line.split(":")[1].strip() for line in cpuinfo if "model name" in line), "")}


def kept_rows(path: pathlib.Path, measured: set[str]) -> dict[str, Report]:
    """Rows of an earlier run on the same machine that this run leaves alone; each says what made it."""
    if not path.exists():
        return {}
    earlier = json.loads(path.read_text())
    if earlier["machine"] != machine():
        return {}
    made_by = {key: earlier[key] for key in ("commit", "threads", "rounds") if key in earlier}
    return {row["row"]: made_by | row for row in earlier["rows"] if row["row"] not in measured}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data" / "coco256")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "bench" / "results" / "peers.json")
    parser.add_argument("--only", nargs="+", metavar="ROW", help="names of rows, see --list")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="yoload_peers_") as folder:
        work = pathlib.Path(folder)
        data, big = work / "photos", work / "big"
        sides = Sides(data, work)
        groups = [*engine_groups(sides, big), python_group(sides)]
        names = [row.name for group in groups for row in group.rows]
        if arguments.list:
            print("\n".join(f"{row.name:<16}{row.what}" for group in groups for row in group.rows))
            return
        wanted = set(arguments.only or names)
        if unknown := wanted - set(names):
            parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(names)}")
        # The other packages write caches beside the labels: everybody reads a copy.
        shutil.copytree(arguments.data, data)
        for path in [data, *data.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        if "4b" in wanted:
            subprocess.run([BUILD / "yoload", "demo", "--only-data", big, "--count", "64", "--width", "4000",
                            "--height", "3000"], check=True, capture_output=True)
        results = [result for group in groups for result in measure(group, wanted, arguments.rounds)]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True,
                            check=False).stdout.strip()
    made_by = {"commit": commit, "threads": THREADS, "rounds": arguments.rounds}
    rows = kept_rows(arguments.json, wanted) | {result["row"]: result | made_by for result in results}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(
        {"machine": machine(), "rows": [rows[name] for name in names if name in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
