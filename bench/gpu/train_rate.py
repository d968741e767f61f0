#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images per second of YOLOv8n training through Ultralytics, by where the batches come from.

    train_rate.py DATA.yaml --sides resident yoload ultralytics --rounds 3 --out result.json

`resident` trains on one batch that never leaves the GPU: the upper bound. `yoload` makes its batches on
the GPU; `yoload-no-engines` without the JPEG engines, `yoload-2-threads` with two threads,
`yoload-cpu` on the CPU. `loader_cores` is the CPU time of yoload's own threads. Sides are interleaved, each
run is a process of its own; the first batches are warm-up. `gpu_busy` is the mean of NVML's utilisation
over the measured batches. CPU seconds are those of the process and its children.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import threading
import time
from typing import Any

# Options of the engine by side.
YOLOAD = {
    "resident": "device=cpu",
    "yoload": "",
    "yoload-no-engines": "hardware_decode=0,workers=12",
    "yoload-2-threads": "workers=2",
    "yoload-cpu": "device=cpu",
}
SIDES = (*YOLOAD, "ultralytics")


class Utilisation(threading.Thread):
    """Samples how busy the GPU is until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        import pynvml

        pynvml.nvmlInit()
        self._nvml = pynvml
        self._gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.samples: list[tuple[float, int]] = []
        self.stopped = False

    def run(self) -> None:
        while not self.stopped:
            busy = self._nvml.nvmlDeviceGetUtilizationRates(self._gpu).gpu
            self.samples.append((time.monotonic(), busy))
            time.sleep(0.1)


class Resident:
    """One batch of the yoload loader on the GPU, again and again."""

    def __init__(self, source: Any, batches: int, device: Any) -> None:
        self._source, self._batches = source, batches
        self.dataset, self.sampler = source.dataset, source.sampler
        self.batch_size, self.num_workers = source.batch_size, 0
        self._batch = {
            key: value.to(device) if hasattr(value, "to") else value
            for key, value in next(iter(source)).items()
        }

    def __len__(self) -> int:
        return self._batches

    def __iter__(self) -> Any:
        for _ in range(self._batches):
            yield dict(self._batch)

    def reset(self) -> None:
        pass

    def close(self) -> None:
        self._source.close()


def run_side(args: argparse.Namespace) -> None:
    import torch
    import ultralytics.engine.trainer as engine
    from ultralytics import YOLO
    from ultralytics.models.yolo.detect import DetectionTrainer

    import yoload.ultralytics as fed

    engine.check_amp = lambda model: True  # it downloads a model otherwise
    os.environ["YOLOAD_OPTIONS"] = YOLOAD.get(args.side, "")
    marks: list[tuple[float, int, float]] = []
    loaders: list[Any] = []
    reports: list[Any] = []

    class Timed(DetectionTrainer if args.side == "ultralytics" else fed.DetectionTrainer):
        def get_dataloader(self, *a: Any, **k: Any) -> Any:
            loader = super().get_dataloader(*a, **k)
            if args.side == "resident" and k.get("mode") == "train":
                loader = Resident(loader, len(loader), self.device)
            elif args.side != "ultralytics":
                loaders.append(loader.loader)
            return loader

        def preprocess_batch(self, batch: Any) -> Any:
            out = super().preprocess_batch(batch)
            marks.append((time.monotonic(), len(out["img"]), sum(os.times()[:4])))
            if loaders and len(marks) - 1 in (args.warmup, args.last):
                reports.append(loaders[0].report())
            return out

    files = sum(1 for _ in (pathlib.Path(args.data).parent / "images").glob("*"))
    args.last = args.epochs * -(-files // args.batch) - 1  # number of the last batch
    utilisation = Utilisation()
    utilisation.start()
    model = YOLO(args.model)
    model.train(
        data=args.data, trainer=Timed, epochs=args.epochs, imgsz=args.imgsz, batch=args.batch,
        workers=args.workers, device=0, val=False, plots=False, save=False, close_mosaic=0,
        project="/tmp/train_rate", exist_ok=True, verbose=False, amp=True,
    )  # fmt: skip
    torch.cuda.synchronize()
    utilisation.stopped = True
    start, _, cpu = marks[args.warmup]
    end, _, cpu_end = marks[-1]
    images = sum(count for _, count, _ in marks[args.warmup : -1])
    own = None
    if len(reports) == 2:
        own = (reports[1]["cpu_s"] - reports[0]["cpu_s"]) / (end - start)
    busy = [value for moment, value in utilisation.samples if start <= moment <= end]
    print(
        "RESULT "
        + json.dumps(
            {
                "side": args.side,
                "images_per_s": images / (end - start),
                "gpu_busy": statistics.mean(busy) / 100 if busy else None,
                "cpu_cores": (cpu_end - cpu) / (end - start),
                "images": images,
                "loader_cores": own,
                "report": reports[-1] if reports else None,
            }
        ),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--sides", nargs="+", default=["resident", "yoload", "ultralytics"])
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--model", default="yolov8n.yaml")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--warmup", type=int, default=40, help="batches")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out")
    args = parser.parse_args()
    if args.side:
        run_side(args)
        return
    results: dict[str, list[dict[str, Any]]] = {side: [] for side in args.sides}
    for round_ in range(args.rounds):
        for side in args.sides:
            # Ultralytics is given all cores; yoload chooses for itself.
            workers = "16" if side == "ultralytics" else str(args.workers)
            command = [sys.executable, __file__, args.data, "--side", side, "--model", args.model]
            for name in ("batch", "imgsz", "epochs", "warmup"):
                command += [f"--{name}", str(getattr(args, name))]
            done = subprocess.run(
                [*command, "--workers", workers], capture_output=True, text=True, timeout=550
            )
            lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
            if not lines:
                print(done.stdout[-2000:], done.stderr[-3000:], file=sys.stderr)
                continue
            result = json.loads(lines[0][7:])
            results[side].append(result)
            print(round_, {k: v for k, v in result.items() if k != "report"}, flush=True)
            summary = summarise(args, results)
            if args.out:
                with open(args.out, "w") as file:
                    json.dump(summary, file, indent=1)
    print(json.dumps(summarise(args, results)["ratios"], indent=1))


def summarise(args: argparse.Namespace, results: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    rates = {side: [r["images_per_s"] for r in runs] for side, runs in results.items() if runs}
    ratios = {}
    for side, values in rates.items():
        bound = rates.get("resident", [])
        pairs = [a / b for a, b in zip(values, bound)]
        if side != "resident" and pairs:
            ratios[f"{side} / resident"] = {
                "median": statistics.median(pairs), "min": min(pairs), "max": max(pairs),
            }  # fmt: skip
    return {
        "what": "images per second of training through Ultralytics",
        "model": args.model, "batch": args.batch, "imgsz": args.imgsz,
        "machine": {"cpu": platform.processor(), "cores": os.cpu_count()},
        "medians": {side: statistics.median(values) for side, values in rates.items()},
        "ratios": ratios, "runs": results,
    }  # fmt: skip


if __name__ == "__main__":
    main()
