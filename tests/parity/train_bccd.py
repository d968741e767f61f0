#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does training end at the same accuracy? YOLOv8n from scratch on blood cells, both loaders, many seeds.

    train_bccd.py BCCD_FOLDER --seeds 8 --epochs 50 --jobs 6 --out result.json

Labels are converted from VOC to YOLO into the work folder, which both sides read. Every run is a process;
each ends with the package's own validator over its own loader. The result has mAP50-95 of each run, the
loss curves, and the 90 % interval of the difference of the means (Welch).
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import statistics
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

NAMES = ["RBC", "WBC", "Platelets"]


def convert(source: Path, target: Path) -> Path:
    """The data set in YOLO's layout; returns its data.yaml."""
    for split in ("trainval", "test"):
        stems = (source / f"ImageSets/Main/{split}.txt").read_text().split()
        for kind in ("images", "labels"):
            (target / kind / split).mkdir(parents=True, exist_ok=True)
        for stem in stems:
            root = ElementTree.parse(source / f"Annotations/{stem}.xml").getroot()
            width, height = (float(root.findtext(f"size/{side}") or 0) for side in ("width", "height"))
            rows = []
            for item in root.iter("object"):
                x1, y1, x2, y2 = (
                    float(item.findtext(f"bndbox/{side}") or 0) for side in ("xmin", "ymin", "xmax", "ymax")
                )
                if x2 > x1 and y2 > y1:
                    box = (x1 + x2) / 2 / width, (y1 + y2) / 2 / height, (x2 - x1) / width, (y2 - y1) / height
                    rows.append(" ".join([str(NAMES.index(item.findtext("name") or "")), *map(str, box)]))
            (target / "labels" / split / f"{stem}.txt").write_text("\n".join(rows) + "\n")
            shutil.copyfile(source / f"JPEGImages/{stem}.jpg", target / "images" / split / f"{stem}.jpg")
    data = target / "data.yaml"
    data.write_text(f"path: {target}\ntrain: images/trainval\nval: images/test\nnames: {NAMES}\n")
    return data


def run_one(args: argparse.Namespace) -> None:
    import ultralytics.engine.trainer as engine
    from ultralytics import YOLO
    from ultralytics.models.yolo.detect import DetectionTrainer, DetectionValidator

    engine.check_amp = lambda model: True  # it downloads a model otherwise
    trainer = DetectionTrainer
    if args.side == "yoload":
        from yoload.ultralytics import DetectionTrainer as trainer  # type: ignore[no-redef]
    project = Path(args.work) / "runs"
    name = f"{args.side}_{args.seed}"
    YOLO(args.model).train(
        data=args.data, trainer=trainer, epochs=args.epochs, imgsz=args.imgsz, batch=16, seed=args.seed,
        deterministic=False, device=args.device, workers=2, val=False, plots=False, project=str(project),
        name=name, exist_ok=True, verbose=False,
    )  # fmt: skip
    weights = project / name / "weights" / "last.pt"
    metrics = YOLO(str(weights)).val(
        data=args.data, validator=DetectionValidator, imgsz=args.imgsz, device=args.device, plots=False,
        workers=2, verbose=False, project=str(project), name=name + "_val", exist_ok=True,
    )  # fmt: skip
    with open(project / name / "results.csv") as file:
        rows = [{key.strip(): value for key, value in row.items()} for row in csv.DictReader(file)]
    losses = {key: [float(r[key]) for r in rows] for key in rows[0] if key.startswith("train/")}
    result = {"side": args.side, "seed": args.seed, "map": metrics.box.map, "map50": metrics.box.map50,
              "losses": losses}  # fmt: skip
    print("RESULT " + json.dumps(result), flush=True)


def interval(a: list[float], b: list[float]) -> tuple[float, float, float]:
    """Mean difference a - b and the half-width of its 90 % interval (Welch's t)."""
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    # Cornish-Fisher: Student's t from the normal quantile; good to 0.001 from 5 degrees on.
    z = 1.6448536
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return statistics.mean(a) - statistics.mean(b), t * math.sqrt(va + vb), freedom


def summarise(runs: list[dict[str, Any]]) -> dict[str, Any]:
    maps = {side: [r["map"] for r in runs if r["side"] == side] for side in ("yoload", "ultralytics")}
    summary: dict[str, Any] = {"maps": maps, "runs": runs}
    if all(len(values) > 1 for values in maps.values()):
        difference, half, freedom = interval(maps["yoload"], maps["ultralytics"])
        summary["difference"] = {"mean": difference, "half_width_90": half, "freedom": freedom}
    return summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="folder with Annotations, ImageSets, JPEGImages")
    parser.add_argument("--work", default="/tmp/parity_bccd")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--model", default="yolov8n.yaml")
    parser.add_argument("--device", default="0")
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=540, help="no run is started after that")
    parser.add_argument("--out", required=True)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        run_one(args)
        return
    data = convert(Path(args.source), Path(args.work) / "set")
    waiting = [(seed, side) for seed in range(args.first_seed, args.first_seed + args.seeds)
               for side in ("yoload", "ultralytics")]  # fmt: skip
    running: list[subprocess.Popen[str]] = []
    runs: list[dict[str, Any]] = []
    start = time.monotonic()
    while waiting or running:
        while waiting and len(running) < args.jobs and time.monotonic() - start < args.seconds:
            seed, side = waiting.pop(0)
            command = [sys.executable, __file__, args.source, "--out", args.out, "--side", side]
            for name in ("work", "epochs", "imgsz", "model", "device"):
                command += [f"--{name}", str(getattr(args, name))]
            log = open(Path(args.work) / f"{side}_{seed}.log", "w+")
            running.append(
                subprocess.Popen([*command, "--seed", str(seed), "--data", str(data)], stdout=log,
                                 stderr=subprocess.STDOUT, text=True)
            )  # fmt: skip
            running[-1].log = log  # type: ignore[attr-defined]
        if not running:
            break
        time.sleep(1)
        for process in [p for p in running if p.poll() is not None]:
            running.remove(process)
            log = process.log  # type: ignore[attr-defined]
            log.seek(0)
            text = log.read()
            found = [line for line in text.splitlines() if line.startswith("RESULT ")]
            if not found:
                print(text[-2000:], file=sys.stderr)
                continue
            runs.append(json.loads(found[0][7:]))
            print(round(time.monotonic() - start), runs[-1]["side"], runs[-1]["seed"], runs[-1]["map"], flush=True)
            Path(args.out).write_text(json.dumps(summarise(runs)))
    print(json.dumps(summarise(runs).get("difference")))


if __name__ == "__main__":
    main()
